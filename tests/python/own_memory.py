# tests/python/own_memory.py: the most memory that a program has had, for tests that run one.
from __future__ import annotations

from pathlib import Path


def peak() -> int:
    """The most memory that this program has had, in bytes. `ru_maxrss` is not it: that begins with what the process had before `exec`, and
    a program that pytest starts would show pytest's own memory."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) * 1024
