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


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_numpy_views_memory_that_the_host_sees(kind, device):
    if kind != "device" and not device.has_aspect(f"usm_{kind}_allocations"):
        pytest.skip(f"{device} has no {kind} memory")
    x = pp.asarray(np.arange(100_003.0, dtype="f4"), device=device, usm_type=kind)
    x += 1  # under way when NumPy asks
    try:
        place = x.__dlpack_device__()
    except BufferError:
        place = (0, 0)
    # The CPU's own, CUDA's pinned and managed. Memory of the kind 'device' is treated alike on all OpenCL devices, whatever DLPack says.
    seen = place[0] in (1, 3, 13) and (device.backend != "opencl" or kind != "device")
    assert seen == (device.backend == "cpu" or kind != "device" or (place[0] == 1 and device.backend != "opencl"))
    if not seen:
        for function in (np.asarray, np.array):
            with pytest.raises(TypeError, match="asnumpy"):
                function(x)
        with pytest.raises(BufferError, match="asnumpy"):
            memoryview(x)
        return
    view = np.asarray(x)
    assert not view.flags.writeable
    assert np.shares_memory(view, np.asarray(x))
    assert_same(view, np.arange(1, 100_004, dtype="f4"))
    if place[0] == 1:
        assert np.shares_memory(view, np.from_dlpack(x))


@pytest.mark.parametrize("dtype", ["int8", "complex64"])
def test_arrays_of_numpy_by_dlpack(dtype, device):
    a = np.arange(24).reshape(4, 6).astype(dtype)
    for view in (a, a.T, a[::-1, ::2]):
        assert_same(pp.from_dlpack(view, device=device), view)
        assert_same(pp.from_dlpack(view, device=device, copy=True), view)
    if device.backend == "cuda" or not device.has_aspect("usm_system_allocations"):
        for function in (pp.from_dlpack, pp.asarray):
            with pytest.raises(ValueError, match="copy=False is impossible"):
                function(a, device=device, copy=False)
        return
    x = pp.from_dlpack(a, device=device, copy=False)
    assert_same(pp.asarray(a, device=device, copy=False), a)
    a[0, 0] = 7
    assert_same(x, a)


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


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "complex64", "complex128"])
def test_linspace_computes_in_the_dtype_of_its_ends(device, dtype):
    """To the last bit: edges of bins, and what lies on them, depend on it."""
    if dtype in ("float64", "int8") and not device.has_fp64:
        pytest.skip("the device has no fp64")
    rng = np.random.default_rng(3)
    for number in range(12):
        ends = np.sort(rng.normal(size=2)) * 50
        low, high = (ends + 1j * ends[::-1] if dtype[0] == "c" else ends).astype(dtype)
        low = low.item() if number % 3 == 0 else low  # a number of Python takes the other's
        for wanted in (None, "complex128") if dtype[0] == "c" else (None, "float32", "float64", "int32"):
            expected, step = np.linspace(low, high, 5 + number, number % 2 == 0, True, wanted)
            x, distance = pp.linspace(low, high, 5 + number, number % 2 == 0, True, wanted, device=device)
            assert_same(x, expected)
            assert distance == step
    ends = pp.asarray(np.array([low, high], dtype), device=device)
    assert_same(pp.linspace(ends[0], ends[1], 7, device=device), np.linspace(np.asarray(low, dtype), high, 7))
