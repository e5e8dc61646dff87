# tests/fuzz/hostile.py: hostile input: exchange objects, rectangles, selection strings, shapes, pickles, environment variables, cache files.
#
# What is expected: an exception of a documented type (docs/guide/errors.md), or success that is right. The memory that descriptions are of
# lies between two pages without access, so that what reads beyond it crashes. Descriptions are either true or wrong by themselves
# (negative, overflowing, null): a DLPack capsule that lies about the size of its memory is believed, here as everywhere.
from __future__ import annotations

import io
import os
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.exchange import NUMBERS, documented, make_dlpack, make_interface, run_dlpack, run_interface

TEXTS = [
    "cpu",
    "gpu",
    "opencl",
    "cuda",
    "null",
    "0",
    "1",
    "-1",
    "99999999999999999999",
    ":",
    ",",
    "!",
    "*",
    " ",
    "",
    "\ud800",
    "\0",
    "é",
    "accelerator",
    "cpu:0",
    "%s",
    "a" * 3000,
    "::",
    "all",
]


# --- rectangles, shapes, strings, pickles --------------------------------------------------------------------------------------------


def run_rectangle(given: dict[str, Any]) -> str | None:
    import pardo as pp

    queue = pp.Queue(given["device"])
    src, dst = pp.full(256, 7, dtype="uint8", queue=queue), pp.full(256, 1, dtype="uint8", queue=queue)
    try:
        queue.copy_rect(dst, src, **given["arguments"]).wait()
    except documented():
        return None
    except Exception as e:
        return f"copy_rect: {type(e).__name__}: {e}"
    if not np.isin(pp.asnumpy(dst), [1, 7]).all() or not (pp.asnumpy(src) == 7).all():
        return "copy_rect: the target holds bytes that are in neither block"
    return None


def make_rectangle(r: random.Random) -> dict[str, Any]:
    number = lambda: r.choice([0, 0, 1, 2, 4, 16, 64, 256, -1, -16, *NUMBERS[-8:]]) if r.random() < 0.35 else r.choice([0, 1, 2, 4])
    arguments: dict[str, Any] = {
        "region": [r.choice([1, 2, 4, 16, 16, number()]), r.choice([1, 1, 2, number()]), r.choice([1, 1, 1, 2, number()])]
    }
    for side in ("src", "dst"):
        if r.random() < 0.6:
            arguments[f"{side}_origin"] = [number(), number(), number()]
        if r.random() < 0.6:
            arguments[f"{side}_pitches"] = [r.choice([0, 16, 32, number(), -4096]), r.choice([0, 0, 64, number()])]
    return {"kind": "rectangle", "arguments": arguments}


def run_text(given: dict[str, Any]) -> str | None:
    import pardo as pp

    text = given["text"]
    for call in (
        pp.Device,
        lambda t: pp.get_devices(t),
        lambda t: pp.select_device(required=t),
        lambda t: pp.zeros(1, device=t),
        pp.set_default_device,
        lambda t: pp.zeros(1, dtype=t),
    ):
        try:
            call(text)
        except documented():
            continue
        except Exception as e:
            return f"{text!r}: {type(e).__name__}: {e}"
    return None


def run_shape(given: dict[str, Any]) -> str | None:
    """Extents that no machine has memory for, index spaces that wrap."""
    import pardo as pp

    a, b = given["numbers"]

    def nothing(item: pp.Item, x) -> None:  # type: ignore[no-untyped-def]
        x[0] = 1

    calls = {
        "zeros": lambda: (pp.zeros((a, b), device=given["device"]) + 1).wait(),
        "empty": lambda: pp.empty((a, 0, b), device=given["device"]).sum().wait(),
        "arange": lambda: pp.arange(0, a, max(1, abs(a) // 4), device=given["device"]).wait(),
        "reshape": lambda: pp.zeros(16, device=given["device"]).reshape(a, b).wait(),
        "broadcast": lambda: pp.broadcast_to(pp.zeros(1, device=given["device"]), (a, b)),
        "tile": lambda: pp.tile(pp.zeros(2, device=given["device"]), b if abs(b) < 4 or b > 1 << 40 else 1).wait(),
        "local": lambda: pp.LocalAccessor(a, np.float64),
        "range": lambda: pp.Range(a, b),
        "eye": lambda: pp.eye(3, k=a, device=given["device"]).wait(),
        "roll": lambda: pp.roll(pp.arange(5, device=given["device"]), a).wait(),
        "take": lambda: pp.take(pp.arange(5, device=given["device"]), [a]).wait(),
        "linspace": lambda: pp.linspace(0, 1, b if b < 1 << 24 or b > 1 << 40 else 3, device=given["device"]).wait(),
    }
    if given["call"] in ("zeros",) and 1 << 24 < max(a, 0) * max(b, 0) < 1 << 40:
        return None
    try:
        calls[given["call"]]()
    except documented():
        return None
    except Exception as e:
        return f"{given['call']} of {a}, {b}: {type(e).__name__}: {e}"
    return None


class Careful(pickle.Unpickler):
    """Pickles that were changed may name anything: only what ours name is given."""

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] not in ("pardo", "numpy"):
            raise pickle.UnpicklingError(module)
        return super().find_class(module, name)


def run_pickle(given: dict[str, Any]) -> str | None:
    import pardo as pp

    data = bytearray(pickle.dumps(pp.arange(6.0).reshape(2, 3), protocol=given["protocol"]))
    for at, byte in given["changes"]:
        # LONG_BINPUT: Python makes a memo of as many entries as the next four bytes say. BYTEARRAY8: where there is no memory for as many
        # bytes as the next eight say, Python drops an object that it has not filled in, and prints a SystemError about its buffers.
        if byte not in b"r\x96":
            data[at % len(data)] = byte
    try:
        x = Careful(io.BytesIO(bytes(data[: len(data) - given["cut"]]))).load()
        if isinstance(x, pp.Array):
            pp.asnumpy(x + x)
    except Exception:
        return None  # whatever pickle raises
    return None


# --- the environment and the cache: each in an interpreter of its own ----------------------------------------------------------------------

PROGRAM = (
    "import pardo as pp\nx = pp.arange(10.0)\ny = float((x * 2 + 1).sum())\nassert y == 100 or x.device.backend == 'null'\nprint('fine')\n"
)


def run_process(env: dict[str, str]) -> str | None:
    command, whole = [sys.executable, "-c", PROGRAM], {**os.environ, **env}
    try:
        with tempfile.TemporaryDirectory() as folder:  # a variable may name a folder here
            done = subprocess.run(command, env=whole, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    except subprocess.TimeoutExpired:
        return f"{env}: no end after 100 s"
    if done.returncode < 0:
        return f"{env}: signal {-done.returncode}: {done.stderr[-300:]}"
    if done.returncode == 0 and "fine" in done.stdout:
        return None
    last = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
    names = [k.__name__ for k in documented()]
    return None if any(n in last.split(":")[0] for n in names) else f"{env}: status {done.returncode}: {last}"


def run_environment(given: dict[str, Any]) -> str | None:
    return run_process(given["env"])


def make_environment(r: random.Random) -> dict[str, Any]:
    names = ["PARDO_DEVICE", "PARDO_DEVICES", "PARDO_NUM_THREADS", "PARDO_FUSION", "PARDO_LOG", "PARDO_CACHE", "PARDO_CACHE_DIR", "PARDO_CACHE_SIZE", "PARDO_OPENBLAS",
             "PARDO_CUDA_DRIVER", "PARDO_NVRTC", "PARDO_CPU_VECTOR_BYTES", "PARDO_CPU_FP64", "PARDO_CPU_DISCRETE", "PARDO_CHECKS"]  # fmt: skip
    env = {}
    for _ in range(r.randint(1, 3)):
        word = r.choice(
            [
                *TEXTS[:12],
                "off",
                "on",
                "4K",
                "-5",
                "1e9",
                "999999999999999999999G",
                "/",
                "/dev/null",
                "/nowhere",
                "16",
                "0.5",
                "cpu,!cpu",
                "!cpu",
                "a" * 5000,
            ]
        )
        env[r.choice(names)] = word.replace("\0", "").replace("\ud800", "?")
    return {"kind": "environment", "env": env}


def run_cache(given: dict[str, Any]) -> str | None:
    """A program's entries are damaged between two runs: the second one compiles again."""
    folder = tempfile.mkdtemp(prefix="pardo-fuzz-")
    try:
        env = {"PARDO_CACHE_DIR": folder, "PARDO_CACHE": "on"}
        if wrong := run_process(env):
            return wrong
        files = sorted(p for p in Path(folder).rglob("*") if p.is_file() and p.stat().st_size)
        if not files:
            return "no entries were made"
        path = files[given["which"] % len(files)]
        data = bytearray(path.read_bytes())
        kind = given["damage"]
        if kind == "bytes":
            for at, byte in given["changes"]:
                data[at % len(data)] = byte
            path.write_bytes(bytes(data))
        elif kind == "cut":
            path.write_bytes(bytes(data[: given["changes"][0][0] % (len(data) + 1)]))
        elif kind == "longer":
            path.write_bytes(bytes(data) + b"x" * 100)
        elif kind == "sparse":
            with path.open("r+b") as f:
                f.truncate(8 << 30)
        else:
            path.unlink()
            if kind == "fifo":
                os.mkfifo(path)
            elif kind == "folder":
                path.mkdir()
            elif kind == "link":
                path.symlink_to("/dev/zero")
            elif kind == "loop":
                path.symlink_to(path)
        return run_process(env)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# --- what the driver calls ----------------------------------------------------------------------------------------------------------


def generate(rng: random.Random, device: str) -> dict[str, Any]:
    r = rng
    kinds = {"dlpack": 30, "interface": 25, "rectangle": 20, "text": 8, "shape": 12, "pickle": 15, "environment": 0.8, "cache": 0.5}
    kind = r.choices(list(kinds), list(kinds.values()))[0]
    given: dict[str, Any]
    if kind == "dlpack":
        given = make_dlpack(r)
    elif kind == "interface":
        given = make_interface(r)
    elif kind == "rectangle":
        given = make_rectangle(r)
    elif kind == "text":
        given = {"text": "".join(r.choice(TEXTS) for _ in range(r.randint(1, 5)))}
    elif kind == "shape":
        calls = ["zeros", "empty", "arange", "reshape", "broadcast", "tile", "local", "range", "eye", "roll", "take", "linspace"]
        given = {
            "call": r.choice(calls),
            "numbers": [r.choice([*NUMBERS, 1 << 64, 1 << 70]), r.choice(NUMBERS)],
        }
    elif kind == "pickle":
        given = {
            "protocol": r.choice([2, 3, 4, 5]),
            "changes": [[r.randrange(400), r.randrange(256)] for _ in range(r.randint(1, 4))],
            "cut": r.choice([0, 0, 0, 5]),
        }
    elif kind == "environment":
        given = make_environment(r)
    else:
        given = {"which": r.randrange(9), "damage": r.choice(["bytes", "bytes", "cut", "longer", "sparse", "fifo", "folder", "link", "loop"]),
                 "changes": [[r.randrange(1 << 16), r.randrange(256)] for _ in range(r.randint(1, 4))]}  # fmt: skip
    return {**given, "kind": kind, "device": device, "ops": []}


def run(program: dict[str, Any], device: str) -> str | None:
    return RUN[program["kind"]](program)


RUN = {"dlpack": run_dlpack, "interface": run_interface, "rectangle": run_rectangle, "text": run_text, "shape": run_shape, "pickle": run_pickle,
       "environment": run_environment, "cache": run_cache}  # fmt: skip


def script(program: dict[str, Any], device: str) -> str:
    folder = str(Path(__file__).resolve().parent.parent)
    return f"import sys\n\nsys.path.insert(0, {folder!r})\nfrom fuzz import hostile\n\nprint(hostile.run({program!r}, {device!r}))\n"
