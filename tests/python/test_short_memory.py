# tests/python/test_short_memory.py: near the end of the process's memory there is a MemoryError, and never an abort.
from __future__ import annotations

import errno
import importlib.machinery
import os
import subprocess
import sys

import pardo as pp
import pytest

PROGRAM = """
import inspect, linecache, resource, sys
import numpy as np
import pardo as pp
y = pp.zeros(64)
(y + 1).wait()
inspect.getblock(["x = 1\\n"])  # its expressions are compiled: Python 3.11 gives a SystemError where its stack finds no memory
codes = []  # Python's own compiler gives a SystemError where it finds no memory
for number in range(25):
    body = "".join(f"    s = s * {k + number}.0 + pp.exp(s)\\n" for k in range(6))
    head = "import pardo as pp\\n@pp.kernel\\ndef k(item: pp.Item, y):\\n    s = y[item.get_id(0)]\\n"
    text = f"{head}{body}    y[item.get_id(0)] = s\\n"
    name = f"<executed {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    codes.append(compile(text, name, "exec"))
with open("/proc/self/status") as status:
    used = next(int(line.split()[1]) for line in status if line.startswith("VmSize")) * 1024
room = int(sys.argv[1]) << 20
resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
short = done = 0
for number, code in enumerate(codes):
    space = {}
    try:
        exec(code, space)
        space["k"][pp.Range(64)](y).wait()
        (pp.sin(pp.arange(1000.0 + number) * number) + number).sum().wait()
        pp.ones(10_000_000).wait()
        done += 1
    except MemoryError:
        short += 1
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert done + short == 25
assert float((pp.ones(3) + 1)[0]) == 2  # and afterwards everything works
print("ended")
"""


# MiB. With less than one, nanobind ends the process where it makes an object of its own, and CPython 3.11 forgets its exception.
@pytest.mark.parametrize("room", [1, 4, 16, 48, 90, 128, 180, 260, 600])
def test_memory_that_ends_while_compiling(room, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(room)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr


def test_memory_that_ends_while_a_module_is_read(monkeypatch):
    def failing(name, path=None, target=None):
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), "/a/folder")

    for name in ("pardo.compat.numba_dpex", "pardo.compat"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delitem(pp.__dict__, "compat", raising=False)
    monkeypatch.setattr(importlib.machinery.PathFinder, "find_spec", failing)
    with pytest.raises(MemoryError, match=r"no memory to read the module pardo\.compat"):
        importlib.import_module("pardo.compat")
    monkeypatch.undo()
    assert importlib.import_module("pardo.compat.numba_dpex").kernel
