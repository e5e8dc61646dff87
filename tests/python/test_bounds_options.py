# tests/python/test_bounds_options.py: how checks of indices are turned off, and where they cost nothing.
import os
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once


# --- how it is turned off


def test_the_decorators_turn_it_off():
    def shift(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[i + 1]

    whole = pp.arange(10.0)
    y = pp.zeros(4)
    pp.kernel(shift, bounds_check=False)[4](whole[:4], y).wait()  # what it reads is memory of ours
    assert_array_equal(pp.asnumpy(y), [1, 2, 3, 4])
    with pytest.raises(IndexError):
        pp.kernel(shift, bounds_check=True)[4](whole[:4], y).wait()
    with pytest.raises(IndexError):
        pp.kernel(shift)[4](whole[:4], y).wait()


@pytest.mark.parametrize("keyword", ["bounds_check", "boundscheck"])
def test_jit_takes_numba_s_spelling(keyword):
    def shift(x, y):
        for i in range(len(y)):
            y[i] = x[i + 1]

    whole, y = np.arange(10.0), np.zeros(4)
    pp.jit(**{keyword: False})(shift)(whole[:4], y)
    assert_array_equal(y, [1, 2, 3, 4])
    with pytest.raises(IndexError):
        pp.jit(**{keyword: True})(shift)(whole[:4], y)
    with pytest.raises(TypeError, match="boundscheck"):
        pp.jit(shift, bounds_check=True, boundscheck=False)


PROGRAM = """
import numpy as np, pardo as pp

@pp.jit
def shift(x, y):
    for i in range(len(y)):
        y[i] = x[i + 1]

try:
    shift(np.arange(10.0)[:4], np.zeros(4))
    print("ran")
except IndexError:
    print("checked")
"""


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "checked"),
        ({"PARDO_CHECKS": "on"}, "checked"),
        ({"PARDO_CHECKS": "off"}, "ran"),
        ({"PARDO_BOUNDS_CHECK": "0"}, "ran"),
        ({"PARDO_BOUNDS_CHECK": "1"}, "checked"),
        ({"PARDO_CHECKS": "off", "PARDO_BOUNDS_CHECK": "1"}, "ran"),
        ({"PARDO_CHECKS": "maybe"}, "ValueError: PARDO_CHECKS: 'on', 'off' or 'all' is expected, not 'maybe'"),
    ],
)
def test_the_environment_decides_for_what_says_nothing(variables, expected, tmp_path):
    environment = {k: v for k, v in os.environ.items() if k not in ("PARDO_CHECKS", "PARDO_BOUNDS_CHECK")} | variables
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, check=False)
    assert expected in done.stdout + done.stderr


def test_the_interpreter_says_the_same(monkeypatch):
    @pp.kernel
    def shift(item: pp.Item, x, y):
        i = item.get_id(0)
        y[i] = x[i + 1]

    monkeypatch.setenv("PARDO_INTERPRET", "1")
    with pytest.raises(IndexError, match="index 4 is out of bounds for"):
        shift[4](pp.arange(4.0), pp.zeros(4)).wait()


# --- what is shown costs nothing


def test_what_a_launch_shows_is_not_checked():
    def pairwise(item: pp.Item, x, d):
        i, j = item.get_id(0), item.get_id(1)
        s = 0.0
        for k in range(x.shape[1]):
            s += (x[i, k] - x[j, k]) ** 2
        d[i, j] = s

    x, d = pp.zeros((20, 7)), pp.zeros((20, 20))
    texts = [pp.kernel(pairwise, bounds_check=c)[20, 20].inspect(x, d) for c in (False, True)]
    assert texts[0] == texts[1]  # the same program
    checked = pp.kernel(pairwise)[21, 20].inspect(x, d)
    assert "report" in checked
    assert checked != texts[0]


def test_only_what_depends_on_data_is_checked():
    @pp.kernel
    def take(item: pp.Item, x, index, y):
        i = item.get_id(0)
        y[i] = x[index[i]]

    text = take[5].inspect(pp.zeros(9), pp.zeros(5, dtype="int64"), pp.zeros(5))
    assert text.count("report") == 1
