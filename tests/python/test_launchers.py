# tests/python/test_launchers.py: `k[range]` as an object: called many times, with everything that Python has to look at in between.
import gc
import sys
import weakref

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once


def test_launchers_that_know_their_program(monkeypatch):
    @pp.kernel
    def scale(item: pp.Item, x, factor):
        assert factor != 13
        x[item.get_id(0)] *= factor

    x, two = pp.ones(4, device="cpu"), np.float32(2)
    launch = scale[pp.Range(4)]
    for _ in range(3):  # from the second on without Python in between
        launch(x, two)
    launch(factor=0.5, x=x)
    launch(x, factor=2)
    assert_array_equal(pp.asnumpy(x), np.full(4, 8.0))
    with pytest.raises(TypeError, match="scale: takes 2 arguments, but 1 was given"):
        launch(x)
    with pytest.raises(TypeError, match="scale: `factor`: an array, a number, a tuple or a function is expected, not str"):
        launch(x, "2")
    host = np.ones(4)
    with pytest.raises(TypeError, match="scale: `x` is a NumPy array"):
        launch(host, 2)
    with pp.device_context("cpu"):
        launch(host, 3)
    assert_array_equal(host, np.full(4, 3.0))
    with pytest.raises(AssertionError, match="factor != 13"):
        launch(x, 13).wait()
    x.accept()
    with pp.profile() as p:
        line = sys._getframe().f_lineno + 1
        launch(x, 1).wait()
    assert f"test_launchers.py:{line}" in p.table()
    monkeypatch.setenv("PARDO_INTERPRET", "1")
    seen = []
    monkeypatch.setattr(type(launch), "interpret", lambda self, *arguments: seen.append(arguments[1]))
    launch(x, 5)
    assert seen == [5]
    monkeypatch.setenv("PARDO_INTERPRET", "0")
    monkeypatch.setenv("PARDO_RACE_CHECK", "1")
    launch(x, 6)
    assert seen == [5, 6]
    monkeypatch.delenv("PARDO_RACE_CHECK")
    before = sys.getrefcount(x)
    for _ in range(1000):
        launch(x, 1)
    assert sys.getrefcount(x) == before
    known = weakref.ref(launch._kernel)
    del scale, launch
    gc.collect()
    assert known() is None


def test_constants_and_groups_need_no_python_either():
    @pp.kernel
    def fill(item: pp.NdItem, x, n: pp.Const[int], y, m: pp.Const[float]):
        for _ in range(n):
            x[item.get_global_id(0)] += m
        y[item.get_global_id(0)] = n

    x, y = pp.zeros(8, device="cpu"), pp.zeros(8, dtype="int64", device="cpu")
    space = pp.NdRange(8, 4)
    assert fill[space] is fill[pp.NdRange(8, 4)] is not fill[pp.NdRange(8, 2)]
    for n, m in ((1, 1.0), (3, 2.0), (3, 0.5), (1, 1.0)):
        x[:] = 0
        fill[space](x, n, y, m)
        assert_array_equal(pp.asnumpy(x), np.full(8, n * m))
        assert_array_equal(pp.asnumpy(y), np.full(8, n))
    x[:] = 0
    fill[space].interpret(x, 2, m=1.5, y=y)
    assert_array_equal(pp.asnumpy(x), np.full(8, 3.0))
    with pytest.raises(TypeError, match="fill: `n`: a constant is a number, not list"):
        fill[space](x, [1], y, 1.0)
