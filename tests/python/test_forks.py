# tests/python/test_forks.py: children of processes whose threads are in calls of every kind find no lock that nobody gives back.
from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from groups import DEVICES
from test_exits import KINDS, START

pytestmark = [pytest.mark.once, pytest.mark.slow]

# Of functions whose text comes from a file, and of what ends within seconds beside other tests.
CHOSEN = [kind for kind in KINDS if kind not in ("generated", "warnings")]

FORKS = """
    import faulthandler, warnings
    warnings.simplefilter("ignore")  # Python's own, of forks beside threads
    codes = [compile(text, "<kind>", "exec") for text in kinds]
    ended, begun = threading.Event(), threading.Barrier(len(codes) + 1)

    def run(code):
        names = dict(globals(), n=0)
        while not ended.is_set():
            names["n"] += 1
            exec(code, names)
            if names["n"] == 1: begun.wait(100)

    def child(code):
        faulthandler.dump_traceback_later(30, exit=True)
        try:
            exec(code, dict(globals(), n=1000))
        except pp.DeviceError as refused:
            assert "after fork()" in str(refused), refused
        os._exit(0)

    threads = [threading.Thread(target=run, args=[code], daemon=True) for code in codes]
    for thread in threads: thread.start()
    begun.wait(100)
    results = []
    for number in range(int(sys.argv[2])):
        time.sleep(0.002)
        process = os.fork()
        if not process: child(codes[number % len(codes)])
        results.append(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
    ended.set()
    for thread in threads: thread.join(100)
    assert not any(results), results
    print("ends")
"""


def forks(kinds: list[str], device: str, tmp_path: Path, count: int) -> None:
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(START.replace("{before}", "")) + f"kinds = {[KINDS[k] for k in kinds]!r}\n" + textwrap.dedent(FORKS))
    done = subprocess.run([sys.executable, str(file), device, str(count)], capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, f"{kinds} on {device}\n{done.stderr[-6000:]}"
    assert done.stdout == "ends\n", done.stderr[-6000:]


@pytest.mark.parametrize("device", [d.id for d in DEVICES if d.backend == "cpu"])
@pytest.mark.parametrize("kind", CHOSEN)
def test_forks_beside_calls(kind, device, tmp_path):
    forks([kind] * 4, device, tmp_path, 10)


@pytest.mark.parametrize("first", ["", "(x @ x).wait()"])
def test_a_child_ends_where_products_were_queued(first: str) -> None:
    code = f"""
import os, sys
import numpy as np
import pardo as pp
x = pp.asarray(np.random.default_rng(0).random((400, 400)))
x.wait()
{first}
y = [x @ x for _ in range(9)]
child = os.fork()
if child == 0:
    sys.exit(0 if np.allclose(y[8], np.asarray(x) @ np.asarray(x)) else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)
