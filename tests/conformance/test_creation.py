# tests/conformance/test_creation.py: creation functions against NumPy.
import numpy as np
import pardo as pp
import pytest
from data import DTYPES, assert_same

CASES = [
    "xp.zeros(5)",
    "xp.zeros((2, 3), dtype='int8')",
    "xp.ones(())",
    "xp.ones((0, 4))",
    "xp.full((2, 2), 7)",
    "xp.full(3, 2.5)",
    "xp.full(3, True)",
    "xp.full(3, 1j)",
    "xp.arange(10)",
    "xp.arange(2, 10, 3)",
    "xp.arange(1.0, 2.0, 0.3)",
    "xp.arange(5, 0, -2)",
    "xp.arange(0)",
    "xp.arange(4, dtype='float32')",
    "xp.linspace(0, 1, 11)",
    "xp.linspace(3, -4, 5, endpoint=False)",
    "xp.linspace(0, 1, 1)",
    "xp.linspace(1, 2, 4, dtype='float32')",
    "xp.eye(4)",
    "xp.eye(3, 5, k=1)",
    "xp.eye(4, 2, k=-1, dtype='int16')",
    "xp.zeros_like(xp.ones((2, 3), dtype='int16'))",
    "xp.ones_like(xp.zeros(3, dtype='complex64'))",
    "xp.full_like(xp.zeros((2, 1)), 4)",
    "xp.asarray([[1, 2], [3, 4]])",
    "xp.asarray([1, 2.5])",
    "xp.asarray(3)",
    "xp.asarray([True, False])",
    "xp.asarray([1j, 2])",
    "xp.asarray([], dtype='int32')",
    "xp.asarray([1, 2], dtype='uint8')",
]


@pytest.mark.parametrize("case", CASES)
def test_expressions(case):
    assert_same(eval(case, {"xp": pp}), eval(case, {"xp": np}), case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_there_and_back(dtype, device):
    a = np.arange(24).reshape(2, 3, 4).astype(dtype)
    for view in (a, a.T, a[::-1, ::2], a[:, 1], np.broadcast_to(a[:1], a.shape)):
        assert_same(pp.asarray(view, device=device), view)
    x = pp.asarray(a, device=device)
    a[...] = 0
    assert int(pp.count_nonzero(x)) == 23
    assert x.device == device
    if x.__dlpack_device__()[0] == 1:  # the host's
        assert_same(np.asarray(x), pp.asnumpy(x))
    else:
        with pytest.raises(TypeError, match="asnumpy"):
            np.asarray(x)


@pytest.mark.parametrize("wrong", ["pp.zeros(-1)", "pp.full((2, -3), 1)", "pp.linspace(0, 1, -1)"])
def test_wrong_arguments(wrong):
    with pytest.raises(ValueError):
        eval(wrong, {"pp": pp})


@pytest.mark.parametrize("step", [0, 0.0])
def test_a_step_of_zero(step):
    for xp in (np, pp):
        with pytest.raises(ZeroDivisionError):
            xp.arange(0, 1, step)


def test_too_large_is_a_memory_error():
    with pytest.raises(MemoryError):
        pp.empty((1 << 30, 1 << 30)).wait()
    with pytest.raises((MemoryError, ValueError)):
        pp.empty((1 << 40, 1 << 40))
    assert float(pp.ones(3).sum()) == 3
