# tests/python/test_strict.py: loops of jit functions that Python runs: counted, told once with their lines and reasons, or refused.
import warnings

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once


def partitions(x):
    for i in range(x.shape[0]):
        x[i].partition(1)
        x[i, 0] += 1


def tries(x):
    for i in range(x.shape[0]):
        try:
            x[i] += 1
        finally:
            x[0] += 1


@pytest.mark.parametrize(("function", "shape"), [(partitions, (3, 4)), (tries, (3,))])
def test_a_warning_comes_once(function, shape):
    loop = pp.jit(function)
    before = pp.counters()["fallbacks"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loop(np.ones(shape))
        loop(np.ones(shape))
    line = function.__code__.co_firstlineno + 1
    assert [w.category for w in caught] == [RuntimeWarning]
    assert f"{function.__name__}: the loop at line {line} runs as Python: " in str(caught[0].message)
    assert (caught[0].lineno, caught[0].filename.endswith("test_strict.py")) == (line, True)
    assert pp.counters()["fallbacks"] > before
    assert "Python" in loop.diagnostics()


@pytest.mark.parametrize(("function", "shape"), [(partitions, (3, 4)), (tries, (3,))])
def test_strict_refuses(function, shape):
    before = pp.counters()["fallbacks"]
    with pytest.raises(pp.CompileError, match=r"strict=True, and this loop would run as Python: ") as found:
        pp.jit(function, strict=True)(np.ones(shape))
    assert f"line {function.__code__.co_firstlineno + 1}" in str(found.value)
    assert pp.counters()["fallbacks"] == before


def test_strict_leaves_what_is_compiled():
    @pp.jit(strict=True)
    def doubled(x):
        for i in range(x.shape[0]):
            x[i] *= 2
        return list(range(2))

    x = np.ones((2, 3))
    assert doubled(x) == [0, 1]
    assert (x == 2).all()
    with pytest.raises(TypeError, match="strict"):
        pp.jit(strict="yes")
