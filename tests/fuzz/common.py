# tests/fuzz/common.py: runs programs in processes of their own, so that a crash or a hang is a finding; replays and shrinks what failed.
from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import importlib
import json
import math
import os
import random
import re
import resource
import select
import signal
import subprocess
import sys
import time
import traceback
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).resolve().parent
FUZZERS = ["arrays", "kernels", "groups", "hostile", "queues", "placements", "failures", "sharded"]
SESSION = 200  # programs that share a process: what one leaves in caches may be another's trouble
Program = dict[str, Any]


def fuzzer(name: str) -> ModuleType:
    """A module with `generate(rng, device)`, `run(program, device)` and `script(program, device)`; perhaps `smaller(program)`."""
    return importlib.import_module(f"fuzz.{name}")


def seed_of_commit() -> int:
    """The same commit always runs the same programs. Without git: 0."""
    if given := os.environ.get("PARDO_TEST_SEED", "").partition("/")[0]:
        return zlib.crc32(given.encode())
    try:
        text = subprocess.run(["git", "rev-parse", "HEAD"], cwd=FOLDER, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return 0
    return zlib.crc32(text[:12].encode())


def make(module: ModuleType, seed: int, device: str) -> Program:
    return module.generate(random.Random(seed), device)


@dataclass
class Finding:
    """What went wrong with a program: it differs, it crashed, it hangs, or the fuzzer itself raised."""

    kind: str
    text: str
    seed: int = -1

    def sort(self) -> tuple[str, str]:
        """What a smaller program has to fail with: a wrong value stays one, an exception stays of its type."""
        named = re.match(r"\w*(Error|Exception|Warning)\b", self.text)
        return self.kind, named[0] if named else ""

    def headline(self, name: str, device: str) -> str:
        return f"fuzz {name}: seed {self.seed} {self.kind} on {device}: {self.text}"


@dataclass
class Outcome:
    done: int
    finding: Finding | None
    memory: list[int] = field(default_factory=list)  # MiB resident after every so many programs


def resident() -> int:
    """MiB of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() >> 20


def describe_exit(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit status {os.WEXITSTATUS(status)}"


def in_child(work: Callable[[Callable[[str], None]], None], timeout: float) -> Iterator[str]:
    """Forks, runs `work(say)` there and yields the lines that it says. Then ("exit", status) as `!exit STATUS`, or `!hang` after so many
    seconds without a word."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.setpgid(0, 0)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it ends with the driver
        code = 1
        try:
            faulthandler.enable()
            with os.fdopen(writer, "w", buffering=1) as pipe:
                work(lambda line: pipe.write(line + "\n") and None)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    os.close(writer)
    rest, end = b"", time.monotonic() + timeout
    try:
        while True:
            ready, _, _ = select.select([reader], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGABRT)  # faulthandler prints where the threads of Python are
                    time.sleep(1)
                yield "!hang"
                return
            piece = os.read(reader, 1 << 16)
            if not piece:
                break
            end = time.monotonic() + timeout
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield line.decode()
        _, status = os.waitpid(child, 0)
        child = 0
        yield f"!exit {status}"
    finally:
        os.close(reader)
        if child:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)


def session(
    module: ModuleType,
    seeds: Sequence[int],
    device: str,
    timeout: float,
    programs: list[Program] | None = None,
    end: float = math.inf,
) -> Outcome:
    """Runs programs one after the other in one child, until one fails or time.monotonic() is `end`."""

    def work(say: Callable[[str], None]) -> None:
        for k, seed in enumerate(seeds):
            if k % 100 == 0:
                say(f"memory {resident()}")
            if time.monotonic() > end:
                return
            say(f"begin {k}")
            program = programs[k] if programs else make(module, seed, device)
            wrong = module.run(program, device)
            if wrong is not None:
                say("wrong " + json.dumps(wrong))
                return
        say(f"begin {len(seeds)}")

    at, wrong, memory = 0, None, []
    for line in in_child(work, timeout):
        word, _, rest = line.partition(" ")
        if word == "begin":
            at = int(rest)
        elif word == "memory":
            memory.append(int(rest))
        elif word == "wrong":
            wrong = Finding("differs", json.loads(rest))
        elif word == "!hang":
            wrong = wrong or Finding("hangs", f"no end after {timeout:.0f} s")
        elif word == "!exit" and int(rest) != 0 and wrong is None:
            wrong = Finding("crashes", describe_exit(int(rest)) + (" while the process ended" if at == len(seeds) else ""))
    if wrong is not None:
        wrong.seed = seeds[min(at, len(seeds) - 1)]
    return Outcome(at, wrong, memory)


# --- shrinking ----------------------------------------------------------------------------------------------------------------


def halves(program: Program) -> Iterator[Program]:
    """Candidates without some of the statements: long runs first."""
    ops = program["ops"]
    size = len(ops) // 2
    while size >= 1:
        for start in range(len(ops) - size, -1, -size):
            yield {**program, "ops": ops[:start] + ops[start + size :]}
        size //= 2


def shrink(module: ModuleType, program: Program, device: str, failed: Finding, timeout: float, tries: int = 250) -> Program:
    """The smallest program found that still fails in the same way, each candidate in a process of its own."""
    smaller = getattr(module, "smaller", halves)
    again = True
    while again and tries > 0:
        again = False
        for candidate in smaller(program):
            tries -= 1
            if tries <= 0:
                break
            found = session(module, [0], device, timeout, [candidate]).finding
            if found is not None and found.sort() == failed.sort():
                program, again = candidate, True
                break
    return program


def needed(module: ModuleType, before: list[int], seed: int, device: str, timeout: float) -> list[int] | None:
    """The programs before, in one process, without which this one does not fail; None if it does not fail again."""

    def fails(first: list[int]) -> bool:
        found = session(module, [*first, seed], device, timeout).finding
        return found is not None and found.seed == seed

    if fails([]):
        return []
    if not fails(before):
        return None
    size = max(1, len(before) // 2)
    while before:
        for start in range(0, len(before), size):
            if fails(rest := before[:start] + before[start + size :]):
                before = rest
                break
        else:
            if size == 1:
                break
            size //= 2
    return before


# --- what the driver and the tests call -------------------------------------------------------------------------------------------


def report(module: ModuleType, finding: Finding, before: list[int], device: str, timeout: float, shrinking: bool) -> str:
    name = module.__name__.rpartition(".")[2]
    history = needed(module, before, finding.seed, device, timeout)
    seeds = ",".join(str(s) for s in [*(before if history is None else history), finding.seed])
    lines = [
        finding.headline(name, device),
        f"replay: ./dev fuzz {name} --device {device} --replay {seeds}",
    ]
    program = make(module, finding.seed, device)
    if history is None:
        lines.append(
            "It did not fail again, alone or after the programs before it in its process: timing or the state of the machine matters."
        )
    elif history:
        lines.append("It fails only after the others named there, in one process.")
    elif shrinking:
        program = shrink(module, program, device, finding, timeout)
        found = session(module, [0], device, timeout, [program]).finding
        if found is not None:
            lines.append(f"smallest: {found.text}")
    lines += ["", module.script(program, device)]
    return "\n".join(lines)


def explore(
    name: str,
    seed: int,
    device: str,
    programs: int | None = None,
    seconds: float | None = None,
    timeout: float = 120.0,
    shrinking: bool = True,
    brief: bool = False,
    failures: int = 1,
    say: Callable[[str], None] = print,
    one_process: bool = False,
) -> tuple[int, list[str]]:
    """Runs so many programs, or for so long; returns how many ran, and a report of each failure, at most so many. In one process: says how
    much memory that has."""
    module = fuzzer(name)
    start, done, found = time.monotonic(), 0, []
    while (programs is None or done < programs) and (seconds is None or time.monotonic() - start < seconds) and len(found) < failures:
        count = SESSION if programs is None else min(SESSION, programs - done)
        if seconds is not None:
            count = min(count, 50)
        if one_process:
            count = 1 << 40 if programs is None else programs - done
        seeds = range(seed + done, seed + done + count)
        outcome = session(module, seeds, device, timeout, end=start + seconds if one_process and seconds is not None else math.inf)
        if one_process:
            series = outcome.memory[:: max(1, len(outcome.memory) // 12)]
            say(f"fuzz {name}: resident memory over {outcome.done} programs, MiB: {' '.join(map(str, [*series, outcome.memory[-1]]))}")
        done += min(outcome.done + (outcome.finding is not None), count)
        if outcome.finding is not None:
            text = outcome.finding.headline(name, device)
            if not brief:
                text = report(module, outcome.finding, list(seeds[: outcome.done]), device, timeout, shrinking)
            say(text)
            found.append(text)
    return done, found


def replay(name: str, seeds: list[int], device: str, timeout: float) -> bool:
    """Runs the programs in one process again and prints the last one; True if it fails."""
    module = fuzzer(name)
    finding = session(module, seeds, device, timeout).finding
    print(module.script(make(module, seeds[-1], device), device))
    print(f"# {finding.kind}: {finding.text}" if finding else "# no difference")
    return finding is not None
