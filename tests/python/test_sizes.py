# tests/python/test_sizes.py: a program is planned once, whatever its sizes, and what is made of its plan is what would be planned.
from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pardo as pp
import pytest
from support import check

FUSION = os.environ.get("PARDO_FUSION", "on") not in ("off", "0")


def written(x):
    y = x.copy()
    y[1:] = x[:-1] * 2
    return y


def rows(np_, x):
    return x - x.mean(axis=1, keepdims=True)


# Each takes NumPy or pardo, and an array of n or of n times n + 3 elements.
PROGRAMS = {
    "chain": (1, lambda np_, x: np_.sqrt(x * x + 1) - x),
    "sum": (1, lambda np_, x: np_.abs(x).sum()),
    "stencil": (1, lambda np_, x: x[2:] - 2 * x[1:-1] + x[:-2]),
    "backwards": (1, lambda np_, x: x[::-1] + x),
    "outer": (1, lambda np_, x: x[:, None] * x[None, :]),
    "position": (1, lambda np_, x: x.argmax()),
    "written": (1, lambda np_, x: written(x)),
    "iota": (1, lambda np_, x: x + np_.arange(x.shape[0])),
    "rows": (2, rows),
    "columns": (2, lambda np_, x: x.max(axis=0) - x.min(axis=0)),
    "turned": (2, lambda np_, x: x.T + 1),
    "both": (2, lambda np_, x: x.sum() + x.max(axis=1)),
    "five points": (2, lambda np_, x: x[1:-1, 1:-1] * 4 - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:]),
    "steps": (2, lambda np_, x: x[::2, ::3] * 2),
}


def operand(dims: int, n: int) -> np.ndarray:
    shape = (n,) if dims == 1 else (n, n + 3)
    return ((np.arange(np.prod(shape)) * 7919) % 1013 / 8.0).reshape(shape) - 60


@pytest.mark.parametrize("name", PROGRAMS)
def test_many_sizes(name):
    dims, program = PROGRAMS[name]
    before = pp.counters()["planned"]
    for n in range(300, 360):
        host = operand(dims, n)
        check(program(pp, pp.asarray(host)).wait(), np.asarray(program(np, host)), ulp=1024 if name in ("sum", "rows", "both") else 0)
    if FUSION and "PARDO_CHECK_PLANS" not in os.environ:
        assert pp.counters()["planned"] - before <= 3


def test_three_hundred_sizes():
    before = pp.counters()
    for n in range(1, 301):
        assert float((pp.ones(n * 10) * 2 + 1).sum()) == 30 * n
    after = pp.counters()
    if "PARDO_CHECK_PLANS" not in os.environ:
        most = 3 if pp.ones(1).device.backend == "cpu" else 12  # GPUs take other programs for larger sizes
        assert after["planned"] - before["planned"] <= (most if FUSION else 3 * most)


def test_sizes_around_one_and_none():
    for n in (5, 1, 0, 2, 1, 7, 0, 3):
        host = operand(1, n)
        check(pp.asarray(host) * 2 + 1, host * 2 + 1)
        assert float((pp.asarray(host) + 1).sum()) == (host + 1).sum()
        for m in (4, 1, 0, n):
            wide = np.ones((n, m))
            check(pp.asarray(wide) + pp.asarray(host)[:, None], wide + host[:, None])
            check((pp.asarray(wide) * 3).sum(axis=0), (wide * 3).sum(axis=0))


def test_adapted_plans_are_what_would_be_planned():
    """The programs of this file, each plan that is made of another one compared with one that the planner makes."""
    program = textwrap.dedent("""
        import numpy as np, pardo as pp, test_sizes
        rng = np.random.default_rng(8)
        for name, (dims, program) in test_sizes.PROGRAMS.items():
            for n in [*rng.integers(4, 60, 12), *rng.integers(100, 500, 12), *rng.integers(1000, 1500, 3)]:
                host = test_sizes.operand(dims, int(n))
                program(pp, pp.asarray(host)).wait()
        for n in rng.integers(20_000, 3_000_000, 12):
            (pp.ones(int(n)) * 2).sum().wait()
    """)
    environment = {**os.environ, "PARDO_CHECK_PLANS": "1", "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
