# tests/python/test_schedules.py: how the iterations of a parallel loop are given to threads: `schedule` and `chunk`.
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

prange = pp.prange


@pytest.mark.parametrize(
    "options", [{}, {"schedule": "static"}, {"schedule": "dynamic"}, {"schedule": "dynamic", "chunk": 7}, {"chunk": 10**12}]
)
@pytest.mark.parametrize("n", [0, 1, 5, 1000, 70_001])
def test_schedules_change_nothing(options, n):
    def shifted(x, y):
        s = 0.0
        for i in prange(len(x)):
            y[i] = x[i] + 1
        for i in prange(len(x)):
            s += y[i]
        return s

    x = np.random.default_rng(7).random(n)
    y, expected = np.zeros(n), np.zeros(n)
    assert pp.jit(**options)(shifted)(x, y) == pp.jit(shifted)(x, expected)
    assert_array_equal(y, x + 1)


def test_loops_say_their_own_schedule():
    @pp.jit(chunk=3)
    def fill(x, n):
        for i in pp.prange(x.shape[0], schedule="dynamic", chunk=n * 2):
            for j in prange(x.shape[1], schedule="static"):
                x[i, j] += i * j
        for i in prange(x.shape[0], chunk=n):
            x[i, 0] += 1
        for i in prange(0, x.shape[0], 2, schedule="static"):
            for j in range(x.shape[1]):
                for k in prange(1, chunk=1):
                    x[i, j] += k

    x = np.zeros((50, 9))
    fill(x, 4)
    expected = np.multiply.outer(np.arange(50.0), np.arange(9.0))
    expected[:, 0] += 1
    assert_array_equal(x, expected)
    assert "parallel loop over `i` and `j`" in fill.diagnostics()


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"schedule": "guided"}, ValueError, "schedule is 'static' or 'dynamic', not 'guided'"),
        ({"schedule": "static", "chunk": 3}, ValueError, "chunk goes with schedule='dynamic'"),
        ({"chunk": 0}, ValueError, "chunk is a positive number of iterations, not 0"),
        ({"schedule": "dynamic", "chunk": 1.5}, TypeError, "chunk must be an integer, not float"),
    ],
)
def test_schedules_that_there_are_not(options, kind, message):
    def loop(x):
        for i in prange(len(x)):
            x[i] = 1

    with pytest.raises(kind, match=f"jit: {message}"):
        pp.jit(loop, **options)
    with pytest.raises(kind, match=f"prange: {message}"):
        pp.prange(3, **options)
    chunk = options.get("chunk")

    @pp.jit
    def static(x):
        for i in prange(len(x), schedule="static", chunk=chunk):
            x[i] = 1

    @pp.jit
    def dynamic(x):
        for i in prange(len(x), chunk=chunk):
            x[i] = 1

    if "schedule" in options and chunk == 3:
        with pytest.raises(kind, match=f"prange: {message}"):
            static(np.zeros(3))
    elif chunk is not None:
        with pytest.raises(kind, match=f"prange: {message}"):
            dynamic(np.zeros(3))


def test_schedules_are_plain_words():
    word = "dynamic"

    @pp.jit
    def named(x):
        for i in prange(len(x), schedule=word):
            x[i] = 1

    @pp.jit
    def wrong(x):
        for i in prange(len(x), schedule="guided"):
            x[i] = 1

    @pp.jit
    def unknown(x):
        for i in prange(len(x), threads=3):
            x[i] = 1

    with pytest.raises(ValueError, match=r"named: schedule must be a plain string: 'static' or 'dynamic'[\s\S]*\^\^\^\^"):
        named(np.zeros(3))
    with pytest.raises(ValueError, match=r"wrong: schedule must be 'static' or 'dynamic'[\s\S]*\^\^\^\^"):
        wrong(np.zeros(3))
    with pytest.raises(pp.CompileError, match="prange takes one to three integers"):
        unknown(np.zeros(3))
