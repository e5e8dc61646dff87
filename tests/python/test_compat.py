# tests/python/test_compat.py: modules by the names of numba-dpex, Numba, dpctl and dpnp.
import concurrent.futures
import ctypes
import doctest
import importlib
import os
import pickle
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest
from pardo.compat import dpctl, dpnp, numba, numba_dpex
from pardo.compat.numba_dpex import kernel_api as kapi
from pardo.compat.numba_dpex.core.exceptions import ExecutionQueueInferenceError, InvalidKernelSpecializationError
from pardo.compat.numba_dpex.core.types.kernel_api.index_space_ids import ItemType

pytestmark = pytest.mark.once
MODULES = [
    "compat",
    "compat.dpctl",
    "compat.dpctl.memory",
    "compat.dpctl.program",
    "compat.dpctl.tensor",
    "compat.dpctl.utils",
    "compat.dpnp",
    "compat.dpnp.random",
    "compat.numba",
    "compat.numba.core.errors",
    "compat.numba.core.types",
    "compat.numba_dpex",
    "compat.numba_dpex.core.exceptions",
    "compat.numba_dpex.core.types",
    "compat.numba_dpex.kernel_api",
    "compat.pyopencl",
    "compat.pyopencl.array",
    "compat.pyopencl.clmath",
    "compat.pyopencl.clrandom",
]


def test_import_of_pardo_reads_none_of_it():
    program = "import sys, pardo; print([m for m in sys.modules if 'compat' in m and 'pardo' in m])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize("name", MODULES)
def test_missing_names_say_what_to_use(name):
    module = importlib.import_module(f"pardo.{name}")
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing_of_the_kind'[:;] \w+"):
        module.nothing_of_the_kind
    for public in getattr(module, "__all__", ()):
        assert getattr(module, public) is not None


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    pp.set_default_device("cpu")
    module = importlib.import_module(f"pardo.{name}")
    try:
        for test in doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__):
            assert doctest.DocTestRunner(verbose=False).run(test).failed == 0, test.name
    finally:
        pp.set_default_device(None)


# --- numba-dpex


@numba_dpex.kernel
def add(item: kapi.Item, a, b, c):
    i = item.get_id(0)
    c[i] = a[i] + b[i]


def test_kernels():
    a, b, c = dpnp.arange(5), dpnp.ones(5, dtype="int64"), dpnp.zeros(5, dtype="int64")
    numba_dpex.call_kernel(add, numba_dpex.Range(5), a, b, c)
    assert c.asnumpy().tolist() == [1, 2, 3, 4, 5]
    host, event = numba_dpex.call_kernel_async(add, numba_dpex.Range(5), (dpctl.SyclEvent(),), c, b, a)
    event.wait()
    assert isinstance(host, dpctl.SyclEvent)
    assert a.tolist() == [2, 3, 4, 5, 6]
    with pytest.raises(TypeError, match="must be passed as a tuple, not list"):
        numba_dpex.call_kernel_async(add, numba_dpex.Range(5), [event], c, b, a)
    with pytest.raises(ExecutionQueueInferenceError, match="no argument is an array"):
        numba_dpex.call_kernel(add, numba_dpex.Range(5), 1, 2, 3)
    with pytest.raises(ExecutionQueueInferenceError, match=r"use dpnp\.asarray"):
        numba_dpex.call_kernel(add, numba_dpex.Range(5), *[np.ones(5)] * 3)
    with pytest.raises(ExecutionQueueInferenceError):
        numba_dpex.call_kernel(add, numba_dpex.Range(5), a, b, dpnp.zeros(5, sycl_queue=dpctl.SyclQueue()))
    with pytest.raises(TypeError, match="decorate the function with @kernel"):
        numba_dpex.call_kernel(len, numba_dpex.Range(5), a)
    with pytest.raises(TypeError, match="unknown option 'fast'"):
        numba_dpex.kernel(fast=True)


def test_specialised_kernels():
    array = numba_dpex.DpnpNdArray(ndim=1, dtype=numba_dpex.int64, layout="C")
    made = numba_dpex.kernel([(ItemType(1), array, array, array)])(add.py_func)
    x = dpnp.ones(3, dtype="int64")
    numba_dpex.call_kernel(made, numba_dpex.Range(3), x, x, x)
    assert x.tolist() == [2, 2, 2]
    assert len(made.overloads) == 1
    with pytest.raises(TypeError, match=r"add: it has no specialisation for array"):
        numba_dpex.call_kernel(made, numba_dpex.Range(3), *[dpnp.ones(3)] * 3)
    with pytest.raises(InvalidKernelSpecializationError, match="use DpnpNdArray"):
        numba_dpex.kernel((ItemType(1), numba_dpex.int64[::1]))(add.py_func)
    with pytest.raises(NotImplementedError, match="types, not texts"):
        numba_dpex.kernel("(array)")


def test_device_functions_convert():
    half = numba_dpex.device_func(numba.float64(numba.int32, numba.float64))(lambda a, b: a + b)
    whole = numba_dpex.device_func((numba.int32,) * 4)(lambda a, b, c, d: a + b + c + d)

    @numba_dpex.device_func(numba.void(numba.float64[:], numba.int64))
    def clear(z, k):
        z[k] = 0

    @numba_dpex.kernel
    def k(item, x, y):
        i = item.get_id(0)
        clear(y, i)
        y[i] += half(x[i], x[i]) + whole(x[i], x[i], x[i], x[i])

    x, y = dpnp.asarray([1.5, 2.75]), dpnp.zeros(2)
    numba_dpex.call_kernel(k, numba_dpex.Range(2), x, y)
    assert y.tolist() == [2.5 + 4, 4.75 + 8]


METHOD = "fetch_add"


def everything(item: kapi.NdItem, x, seen, memory):
    i, j = item.get_global_id(0), item.get_local_id(0)
    own = kapi.PrivateArray((2, 2), seen.dtype, fill_zeros=True)
    own[1, 1] += i
    memory[(j,)] = own[1, 1] + own[0, 1]
    kapi.group_barrier(item.get_group(), kapi.MemoryScope.WORK_GROUP)
    kapi.atomic_fence(kapi.MemoryOrder.ACQ_REL, kapi.MemoryScope.DEVICE)
    total = kapi.AtomicRef(x, index=0, memory_order=kapi.MemoryOrder.SEQ_CST, memory_scope=kapi.MemoryScope.DEVICE)
    getattr(total, METHOD)(memory[j])
    seen[i] = item.dimensions * 100 + item.get_group().dimensions * 10 + item.get_global_linear_range() + kapi.MemoryOrder.SEQ_CST
    if i == 0:
        x[1] = kapi.AtomicRef(x, 1).compare_exchange(expected_ref=x, desired=x[4], expected_idx=3)


@pytest.mark.parametrize("call", [numba_dpex.call_kernel, kapi.call_kernel])
def test_kernel_api(call):
    x, seen = dpnp.asarray([0, 7, 0, 7, 9]), dpnp.zeros(8, dtype="int64")
    call(numba_dpex.kernel(everything), kapi.NdRange(global_size=(8,), local_size=(4,)), x, seen, kapi.LocalAccessor(4, seen.dtype))
    assert x.tolist() == [28, 1, 0, 7, 9]
    assert seen.tolist() == [123] * 8
    with pytest.raises(NotImplementedError):
        kapi.LocalAccessor(4)[0]


def test_atomic_ref_outside_of_kernels():
    for x in (np.arange(5), pp.arange(5)):
        assert kapi.AtomicRef(x, 2).fetch_add(5) == 2
        assert not kapi.AtomicRef(x, 0).compare_exchange(x, 9, 1)
        assert kapi.AtomicRef(x, 0).compare_exchange(x, 9, 1)
        assert x.tolist() == [9, 0, 7, 3, 4]
        assert kapi.AtomicRef(x, 4).load() == 4
    with pytest.raises(TypeError, match="AtomicRef: an array is expected, not int"):
        kapi.AtomicRef(1, 0)


def test_dpjit():
    @numba_dpex.dpjit
    def f(a, b):
        total = a.dtype.type(0)
        for i in numba_dpex.prange(a.shape[0]):
            total += a[i] * b[i]
        return total, a + b, numba_dpex.Range(a.shape[0])

    total, both, space = f(dpnp.arange(4.0), dpnp.ones(4))
    assert float(total) == 6
    assert both.tolist() == [1, 2, 3, 4]
    assert space == numba_dpex.Range(4)
    assert numba_dpex.NdRange(4, 2) == pp.NdRange(pp.Range(4), 2)
    assert hash(numba_dpex.NdRange(4, 2)) != hash(numba_dpex.NdRange(4, 1))
    with pytest.raises(TypeError, match="NdRange: local_range is missing"):
        numba_dpex.NdRange(4)
    with pytest.raises(TypeError, match="NdRange: global_range is given twice, as global_size too"):
        numba_dpex.NdRange(4, 2, global_size=4)


# --- Numba


@numba.njit("float64(float64[:])", parallel=True, cache=True)
def total(x):
    s = 0.0
    for i in numba.prange(x.shape[0]):
        s += numba.float64(numba.int32(x[i]))
    return s


def test_njit_and_types():
    assert float(total(np.array([1.5, 2.5]))) == 3
    assert str(numba.typeof(np.ones((2, 3), np.float32).T)) == "array(float32, 2d, F)"
    assert numba.typeof(pp.ones(3)).dtype == numba.float64
    assert numba.typeof(np.uint8(1)) is numba.uint8
    assert numba.int32(7.9) == 7
    assert (numba.float64[:, ::1].ndim, numba.float64[:, ::1].layout) == (2, "C")
    assert issubclass(TypeError, numba.errors.TypingError)
    assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS == pp.Device("cpu").max_compute_units
    with pytest.raises(ValueError, match="PARDO_NUM_THREADS=100000"):
        numba.set_num_threads(100000)
    with pytest.raises(TypeError, match="jit: unknown option 'paralel'"):
        numba.njit(paralel=True)
    assert [str(numba.typeof(v)) for v in ((1, 2), (1, 2.0), "x", None)] == [
        "UniTuple(int64 x 2)",
        "Tuple(int64, float64)",
        "unicode_type",
        "none",
    ]
    assert numba.typeof((1, 2)) == numba.types.UniTuple(numba.int64, 2)
    assert numba.from_dtype("f4") is numba.float32
    assert numba.TypingError is numba.errors.TypingError
    assert issubclass(numba.NumbaDeprecationWarning, Warning)
    with pytest.raises(TypeError, match="typeof: numbers, arrays, texts, None and tuples have types here, not list"):
        numba.typeof([1])
    with pytest.raises(TypeError, match="numbers of the dtype float16 have no type here; there are bool, complex128"):
        numba.typeof(np.float16(1))


def test_dispatchers(capsys):
    assert total.py_func(np.array([2.5])) == 2
    total(np.ones(3))
    total.inspect_types()
    total.parallel_diagnostics(level=4)
    printed = capsys.readouterr().out
    assert "x: a float64 array of 1 dimension" in printed
    assert "a parallel loop over `i`" in printed
    assert pickle.loads(pickle.dumps(total)) is total
    assert float(numba.njit(fastmath={"reassoc"})(total.py_func)(np.array([2.5]))) == 2


def test_settings(monkeypatch):
    def last(x):
        for i in numba.prange(4):
            x[i] = numba.literally(i)
        return x[-1]

    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert numba.njit(last) is last
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    with pytest.raises(IndexError):
        numba.njit(last, boundscheck=False)(np.zeros(3))
    assert numba.njit(last)(np.zeros(4)) == 3


def test_ndindex():
    @numba.njit
    def numbered(x):
        for i, j in numba.pndindex(x.shape):
            x[i, j] = 10 * i + j
        return x

    assert numbered(np.zeros((2, 2))).tolist() == [[0, 1], [10, 11]]


def test_threads():
    @numba.njit(parallel=True)
    def doubled(x):
        for i in numba.prange(len(x)):
            x[i] *= 2

    most, x = numba.config.NUMBA_NUM_THREADS, np.arange(100_000.0)
    try:
        for n in {1, most}:
            numba.set_num_threads(n)
            assert numba.get_num_threads() == n
            doubled(x)
            with concurrent.futures.ThreadPoolExecutor(1) as other:
                assert other.submit(numba.get_num_threads).result() == most
    finally:
        numba.set_num_threads(most)
    assert np.array_equal(x, np.arange(100_000.0) * 2 ** len({1, most}))
    assert numba.threading_layer() == "tbb"
    with pytest.raises(TypeError, match="must be an integer"):
        numba.set_num_threads(1.5)
    with pytest.raises(AttributeError, match="iterations do not know which thread runs them"):
        numba.get_thread_id()


def test_threads_inside_of_loops():
    @numba.njit(parallel=True)
    def counted(x, own):
        acc = 0
        for i in numba.prange(len(x)):
            x[i] = numba.get_num_threads()
            numba.set_num_threads(own)
            if i % 2:
                acc += numba.get_num_threads()
        return acc

    most, x = numba.config.NUMBA_NUM_THREADS, np.zeros(9)
    assert counted(x, 1) == 4
    assert counted.py_func.__code__.co_varnames[:2] == ("x", "own")
    assert x.tolist() == [most] * 9
    assert numba.get_num_threads() == most

    @numba.njit(parallel=True)
    def chunks(n, size):
        sizes = np.ones(n)
        with numba.parallel_chunksize(size):
            inside = numba.get_parallel_chunksize()
            for i in numba.prange(n):
                sizes[i] = numba.get_parallel_chunksize()
        return sizes.sum(), inside, numba.get_parallel_chunksize()

    assert [chunks(n, size) for n in (1, 97) for size in (0, 5)] == [(0, 0, 0), (0, 5, 0)] * 2
    assert numba.set_parallel_chunksize(3) == 0
    assert numba.set_parallel_chunksize(0) == 3
    for wrong, kind in ((-1, ValueError), (1.5, TypeError)):
        with pytest.raises(kind, match="chunksize must be"):
            numba.set_parallel_chunksize(wrong)


@pytest.mark.parametrize("parallel", [False, True])
def test_integers_take_floats(parallel):
    def in_parallel(x, c, rows):
        for i in numba.prange(len(c)):
            c[i] = x[i]
            c[i] += 0.75
            rows[i, :] = x[:2] * x[i]
        return c, rows

    def in_order(x, c, rows):
        for i in range(len(c)):
            c[i] = x[i] * 2.5
            c[i] += 0.75
            rows[i, :] = x[:2] * x[i]
        return c, rows

    function = in_parallel if parallel else in_order
    x = np.array([1.5, -1.5, 2.999, -0.5, 1e6])
    for dtype in (np.int64, np.int32, np.int8):
        given = x[:4], np.zeros(4, dtype), np.zeros((4, 2), dtype)
        mine = numba.njit(function)(*(g.copy() for g in given))
        for a, b in zip(mine, function(*given), strict=True):
            assert np.array_equal(a, b)
    with pytest.raises(TypeError, match="`c` holds int64, which cannot take float64 without loss"):
        pp.jit(in_parallel)(x, np.zeros(4, int), np.zeros((4, 2)))


def test_vectorize():
    @numba.vectorize(["int64(int64, int64)", numba.float64(numba.float64, numba.float64)], nopython=True)
    def f(a, b):
        return a if a > b else b + b

    assert f(3, 2) == 3
    assert f(np.array([1, 5], np.int32), 3).tolist() == [6, 5]
    assert f(np.array([1, 5], np.int32), 3).dtype == np.int64
    assert f(np.array([1.5, 5]), 3).tolist() == [6, 5]
    assert type(f(pp.arange(3), 1)) is pp.Array
    out = np.zeros(3)
    assert f(np.zeros((2, 3)), np.arange(3), out=np.zeros((2, 3))).tolist() == [[0, 2, 4]] * 2
    assert f(np.arange(3.0), 1.0, out=out) is out
    with pytest.raises(TypeError, match="f: no signature takes complex128, float; there are"):
        f(np.ones(3, complex), 1.0)
    assert numba.vectorize(f.py_func)(np.arange(3), 1).tolist() == [2, 2, 2]
    assert f(np.arange(3.0), 1.0, out) is out
    assert f(np.arange(3.0), 1.0, out=(out,)) is out
    assert (f.nin, f.nout, f.nargs, f.types) == (2, 1, 3, ["ll->l", "dd->d"])
    for wrong, message in [
        (lambda: f(1), "f: takes 2 arguments, but 1 was given"),
        (lambda: numba.vectorize(["int32(int32)"])(f.py_func), r"f takes 2 arguments, the signature \(int32\) -> int32 is of 1"),
        (lambda: numba.vectorize(["integer(integer)"]), r"vectorize: 'integer\(integer\)' is no signature; write float64"),
        (lambda: numba.vectorize(["float64(1)"]), r"vectorize: .float64\(1\). is no signature; write float64"),
    ]:
        with pytest.raises(TypeError, match=message):
            wrong()
    with pytest.raises(ValueError, match=r"f: the result has the shape \(3,\), the array for it \(4,\)"):
        f(np.arange(3.0), 1.0, out=np.zeros(4))


def test_methods_of_vectorized_functions():
    @numba.vectorize(["float64(float64, float64)"], identity=0)
    def less(a, b):
        return a - b

    x = np.random.default_rng(1).random((3, 4, 2))
    for axis in (0, 1, -1):
        assert np.allclose(less.reduce(x, axis), np.subtract.reduce(x, axis))
        assert np.allclose(less.accumulate(x, axis), np.subtract.accumulate(x, axis))
    assert less.reduce(x, 1, keepdims=True).shape == (3, 1, 2)
    assert type(less.reduce(pp.asarray(x))) is pp.Array
    assert np.array_equal(less.outer(x, x[0]), np.subtract.outer(x, x[0]))
    assert less.reduce(np.zeros((0, 2))).tolist() == [0, 0]
    assert less.reduce(np.zeros((2, 0))).shape == (0,)
    with pytest.raises(ValueError, match="there are no elements, and the function has no identity"):
        numba.vectorize(less.py_func).reduce(np.zeros(0))
    with pytest.raises(ValueError, match="only functions of two arguments combine elements; this one takes 1"):
        numba.vectorize(lambda a: a).reduce(x)
    with pytest.raises(TypeError, match="an array with at least one dimension is expected"):
        less.reduce(3.0)


def test_guvectorize():
    @numba.guvectorize(["void(float64[:], float64[:], float64[:])", "void(int64[:], int64[:], int64[:])"], "(n),(n)->()")
    def dot(a, b, out):
        s = a[0] - a[0]
        for i in range(a.shape[0]):
            s += a[i] * b[i]
        out[0] = s

    a, b = np.arange(12.0).reshape(2, 2, 3), np.arange(3.0)
    assert np.array_equal(dot(a, b), a @ b)
    assert dot(np.arange(3), np.arange(3)) == 5
    assert dot(np.arange(3), np.arange(3)).dtype == np.float64  # the first signature takes them
    assert dot(pp.asarray(a), pp.asarray(b)).tolist() == (a @ b).tolist()
    out = np.zeros((2, 2))
    dot(a, b, out)
    assert np.array_equal(out, a @ b)
    assert dot(np.zeros((0, 3)), np.zeros(3)).shape == (0,)

    @numba.guvectorize([(numba.int64[:], numba.int64, numba.int64[:])], "(n),()->(n)")
    def plus(x, y, out):
        for i in range(x.shape[0]):
            out[i] += x[i] + y

    place = np.full(3, 100)
    assert plus(np.arange(3), 1, place) is place
    assert place.tolist() == [101, 102, 103]  # what is there counts
    plus(np.arange(3), 1, out=place)
    assert place.tolist() == [102, 104, 106]
    numba.guvectorize("(n),()->(n)")(plus.py_func)(np.arange(3), 1, place)
    assert place.tolist() == [103, 106, 109]
    for wrong, kind, message in [
        (lambda: numba.guvectorize("(n),()->(n)")(plus.py_func)(np.arange(3), 1), TypeError, "it has no signatures"),
        (lambda: numba.guvectorize("(n)->(n)")(plus.py_func), TypeError, "is of 2 arguments and results, plus of 3"),
        (lambda: numba.guvectorize("(n)->(")(plus.py_func), ValueError, "guvectorize: not a valid gufunc signature"),
        (lambda: plus(np.arange(3), 1, np.zeros(4, int)), ValueError, r"plus: the result has the shape \(3,\)"),
        (lambda: numba.guvectorize([], "(n)->()", writable_args=("x",)), TypeError, "writable_args is not taken"),
    ]:
        with pytest.raises(kind, match=message):
            wrong()
    with pytest.raises(TypeError, match="dot: takes 2 arguments, but 1 was given"):
        dot(a)
    with pytest.raises(ValueError, match="dimension n is 3 and 4"):
        dot(np.ones(3), np.ones(4))


# --- dpctl and dpnp


def test_queues():
    queue = dpctl.SyclQueue("cpu", property=("in_order", "enable_profiling"))
    x = dpnp.arange(6, dtype=dpnp.float32, sycl_queue=queue)
    assert (queue.is_in_order, queue.has_enable_profiling, queue.sycl_device.is_cpu) == (True, True, True)
    assert x.sycl_queue == queue
    assert hash(x.sycl_queue) == hash(queue)
    assert dpctl.SyclQueue() != dpctl.SyclQueue()
    assert dpctl._sycl_queue_manager.get_device_cached_queue("cpu") == dpnp.zeros(1, device="cpu").sycl_queue
    assert dpnp.ones_like(x, sycl_queue=dpctl.SyclQueue("cpu")).sycl_queue != queue
    block, host = dpctl.memory.MemoryUSMHost(24, queue=queue), np.zeros(6, np.float32)
    queue.memcpy(block, x.usm_data, 24)
    queue.memcpy_async(host, block, 24, [dpctl.SyclEvent()]).wait()
    assert host.tolist() == list(range(6))
    assert dpctl.memory.MemoryUSMDevice(block, copy=True).tobytes() == host.tobytes()
    assert block.sycl_queue == queue
    queue.submit_barrier().wait()
    with pytest.raises(ValueError, match="property is of 'default', 'enable_profiling', 'in_order', not 'fast'"):
        dpctl.SyclQueue(property="fast")
    with pytest.raises(dpctl.SyclQueueCreationError):
        dpctl.SyclQueue("level_zero:gpu:77")
    with pytest.raises(TypeError, match="`device` and `sycl_queue` are exclusive keywords"):
        dpnp.zeros(3, device="cpu", sycl_queue=queue)
    with pytest.raises(ValueError, match="elements are not contiguous"):
        x[::2].usm_data
    queue.memset(block, 1)
    queue.memset(block, 2, 4)
    assert block.tobytes() == b"\x02" * 4 + b"\x01" * 20
    assert block.get_usm_type(queue) == "host"
    manager = dpctl.utils.SequentialOrderManager[queue]
    event = queue.memset_async(block, 3, 4, manager.submitted_events)
    manager.add_event_pair(queue._submit_keep_args_alive((block,), [event]), event)
    assert manager.num_submitted_events == 1
    manager.wait()
    assert (manager.num_submitted_events, block.tobytes()[:5]) == (0, b"\x03" * 4 + b"\x01")
    assert event.profiling_info_submit <= event.profiling_info_start <= event.profiling_info_end
    dpctl.SyclEvent.wait_for([event])
    with pytest.raises(TypeError, match=r"SyclEvent\.wait_for: events are expected, not int"):
        dpctl.SyclEvent.wait_for(7)
    timer = dpctl.SyclTimer(time_scale=1e3)
    with timer(queue):
        (x + 1).force()
    assert timer.dt.host_dt > 0
    assert timer.dt.device_dt >= 0


def test_devices():
    device = dpctl.SyclDevice("cpu")
    assert device.filter_string == "cpu:cpu:0"
    assert dpctl.SyclDevice(device.filter_string) == device
    assert device.get_filter_string(include_backend=False).startswith("cpu:")
    assert device.backend == dpctl.backend_type.cpu
    assert device.device_type is dpctl.device_type.cpu
    assert device.has_aspect_fp64 == device.has_fp64
    assert device.sycl_platform in dpctl.get_platforms()
    assert dpctl.get_num_devices(backend=dpctl.backend_type.level_zero) == 0
    assert dpctl.get_devices(backend="cpu") == [device]
    assert max(dpctl.get_devices(), key=lambda d: d.default_selector_score) == dpctl.select_device_with_aspects([])
    assert dpctl.has_cpu_devices()
    assert dpctl.SyclContext([device]).device_count == dpctl.SyclContext("cpu").device_count == 1
    context = dpctl.SyclContext()
    assert context.get_devices() == [dpctl.SyclDevice()]
    assert dpctl.SyclContext(context) is context
    assert isinstance(context, dpctl.SyclContext)
    for wrong in (3, "nope"):
        with pytest.raises((ValueError, TypeError), match="Context"):
            dpctl.SyclContext(wrong)
    with pytest.raises(ValueError, match="no device will do"):
        dpctl.select_device_with_aspects(["cpu", "gpu"])
    event = (pp.arange(3) + 1).force().event
    event.wait()
    assert event.execution_status is dpctl.event_status_type.complete


def test_programs_of_dpctl():
    for device in dpctl.get_devices("opencl"):
        queue = dpctl.SyclQueue(device)
        text = "__kernel void place(__global int *x, int n) { x[get_global_id(1) * get_global_size(0) + get_global_id(0)] = n; }"
        program = dpctl.program.create_program_from_source(queue, text)
        assert program.has_sycl_kernel("place")
        x = dpctl.tensor.zeros((2, 3), dtype="int32", sycl_queue=queue)
        queue.submit(program.get_sycl_kernel("place"), [x.usm_data, ctypes.c_int(7)], [2, 3])
        assert x.tolist() == [[7] * 3] * 2
        y = dpctl.tensor.usm_ndarray((2, 3), dtype="int32", buffer="device", buffer_ctor_kwargs={"queue": queue})
        assert isinstance(y, dpctl.tensor.usm_ndarray)
        assert y.sycl_queue == queue
        with pytest.raises(dpctl.program.SyclProgramCompilationError):
            dpctl.program.create_program_from_source(queue, "what is that")


def test_names_of_dpnp():
    x = dpnp.asarray([[1, 2], [3, 4]])
    assert dpnp.hypot is pp.hypot
    assert dpnp.get_usm_ndarray(x) is x
    assert dpnp.erf(0.0) == 0
    assert isinstance(x, dpnp.ndarray)
    assert dpnp.linalg.det(x.astype(float)) == pytest.approx(-2)
    assert dpctl.utils.get_coerced_usm_type(["host", "shared"]) == "shared"
    with pytest.raises(AttributeError, match=r"module 'pardo\.compat\.dpnp' has no attribute 'matrix': there are no matrices"):
        dpnp.matrix


def test_device_context_of_dpctl():
    from pardo.compat import dpctl

    with dpctl.device_context("cpu") as queue:
        assert isinstance(queue, dpctl.SyclQueue)
        assert queue.sycl_device == pp.Device("cpu")
    far = pp.Device("null:1")
    for given in (far, dpctl.SyclQueue(far)):
        with dpctl.device_context(given) as queue:
            assert queue.sycl_device == pp.Device() == dpctl.get_current_queue().sycl_device == far
            with dpctl.device_context("cpu"):
                assert pp.Device() == pp.Device("cpu")
            assert pp.Device() == far
    assert pp.Device() != far
    with pytest.raises(ValueError, match="nowhere"):
        dpctl.device_context("nowhere")


@pytest.mark.parametrize(
    ("name", "text", "selection"),
    [
        ("of_oneapi", "opencl:gpu", "opencl:gpu"),
        ("of_oneapi", "level_zero:gpu;opencl:cpu", "opencl:gpu,opencl:cpu"),
        ("of_oneapi", "*:cpu", "cpu"),
        ("of_oneapi", "OpenCL:0,1", "opencl:0,opencl:1"),
        ("of_oneapi", "opencl:0.1; cuda:*", "opencl:0,cuda"),
        ("of_oneapi", "!opencl:*;hip:gpu", ""),
        ("of_sycl", "opencl:gpu:0,cpu", "opencl:gpu:0,cpu"),
        ("of_sycl", "gpu", "gpu"),
        ("of_sycl", "host", "cpu"),
        ("of_sycl", "level_zero:0", "opencl:0"),
        ("of_sycl", "opencl:acc:1", "opencl:accelerator:1"),
        ("of_sycl", "hip", ""),
    ],
)
def test_selectors_of_sycl(name, text, selection):
    from pardo.compat import _selectors

    assert getattr(_selectors, name)(text) == selection


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "device", "note"),
    [
        ({"ONEAPI_DEVICE_SELECTOR": "native_cpu:cpu"}, "cpu:0", "makes cpu:0 the default device"),
        ({"SYCL_DEVICE_FILTER": "host"}, "cpu:0", "makes cpu:0 the default device"),
        ({"SYCL_DEVICE_FILTER": "hip:gpu"}, "cpu:0", "names no device that pardo has"),
        ({"ONEAPI_DEVICE_SELECTOR": "hip:gpu", "PARDO_DEVICE": "null:1"}, "null:1", ""),
        ({}, "cpu:0", ""),
    ],
)
def test_variables_of_sycl(variables, device, note):
    environment = {k: v for k, v in os.environ.items() if k not in ("ONEAPI_DEVICE_SELECTOR", "SYCL_DEVICE_FILTER", "PARDO_DEVICE")}
    code = "import pardo.compat.dpctl, pardo; print(pardo.Device().id)"
    done = subprocess.run([sys.executable, "-c", code], env={**environment, **variables}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [device]
    assert note in done.stderr
    assert bool(done.stderr) == bool(note)
    assert not note or done.stderr.startswith("<string>:1: ")  # the line of the import


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions_of_dpctl(dtype, axis):
    """Those of dpctl.tensor that the standard does not have, against NumPy."""
    tensor = dpctl.tensor
    host = np.arange(1, 13).reshape(3, 4).astype(dtype)
    x, tolerance = pp.asarray(host), 1e-6 if dtype == "float32" else 1e-12
    for keepdims in (False, True):
        got = tensor.logsumexp(x, axis=axis, keepdims=keepdims)
        np.testing.assert_allclose(pp.asnumpy(got), np.log(np.exp(host).sum(axis=axis, keepdims=keepdims)), rtol=tolerance)
        got = tensor.reduce_hypot(x, axis=axis, keepdims=keepdims)
        np.testing.assert_allclose(pp.asnumpy(got), np.sqrt((host**2.0).sum(axis=axis, keepdims=keepdims)), rtol=tolerance)
    if axis is not None:
        for initial in (False, True):
            got = pp.asnumpy(tensor.cumulative_logsumexp(x, axis=axis, include_initial=initial))
            expected = np.logaddexp.accumulate(host, axis=axis)
            np.testing.assert_allclose(got[1:] if initial and axis == 0 else got[:, 1:] if initial else got, expected, rtol=tolerance)
    values, _ = tensor.top_k(x, 2, axis=axis, mode="smallest")
    flat = host.ravel() if axis is None else host
    np.testing.assert_array_equal(pp.asnumpy(values), np.sort(flat, axis=-1 if axis is None else axis).take(range(2), axis=axis or 0))
    np.testing.assert_allclose(pp.asnumpy(tensor.rsqrt(x)), 1 / np.sqrt(host), rtol=tolerance)


def test_reductions_of_dpctl_at_the_edges():
    tensor = dpctl.tensor
    big = pp.asarray([3e200, 4e200])
    assert tensor.reduce_hypot(big).item() == pytest.approx(5e200)
    assert tensor.reduce_hypot(pp.zeros(0)).item() == tensor.reduce_hypot(pp.zeros(3)).item() == 0
    assert tensor.reduce_hypot(pp.asarray([np.inf, 1.0])).item() == np.inf
    assert np.isnan(tensor.reduce_hypot(pp.asarray([np.nan, 1.0])).item())
    out = pp.zeros(())
    assert tensor.logsumexp(big, out=out) is out
    assert out.item() == 4e200
    with pytest.raises(ValueError, match="cumulative_logsumexp: axis"):
        tensor.cumulative_logsumexp(pp.zeros((2, 2)))
    with pytest.raises(ValueError, match="top_k: mode"):
        tensor.top_k(big, 1, mode="most")


def test_more_names_of_dpctl():
    tensor = dpctl.tensor
    assert tensor.__array_namespace_info__().default_device() == pp.__array_namespace_info__().default_device()
    queue = dpctl.SyclQueue()
    assert queue.get_sycl_device() == queue.sycl_device
    assert queue.get_sycl_context() == queue.sycl_context
    assert queue.get_sycl_backend() == queue.backend
    x = pp.asarray([1.23456789])
    before = tensor.get_print_options()
    with tensor.print_options(precision=2):
        assert "1.23]" in str(x)
    assert tensor.get_print_options() == before
    assert "1.2]" in tensor.usm_ndarray_str(x, precision=1)
    assert "1.2])" in tensor.usm_ndarray_repr(x, precision=1)
    tensor.set_print_options(precision=before["precision"])


@pytest.mark.parametrize("strides", [None, (4, 1), (1, 3), (-4, 2), (0, 1)])
@pytest.mark.parametrize("kind", ["device", "shared", "host"])
def test_arrays_of_dpctl_on_memory(strides, kind):
    """Strides and offsets in elements, as NumPy's in bytes."""
    offset = 8 if strides and strides[0] < 0 else 1
    memory = {"device": pp.MemoryDevice, "shared": pp.MemoryShared, "host": pp.MemoryHost}[kind](26 * 4)
    memory.copy_from_host(np.arange(26, dtype="int32").tobytes())
    x = dpctl.tensor.usm_ndarray((3, 4), "i4", strides, memory, offset)
    in_bytes = None if strides is None else [4 * s for s in strides]
    expected = np.ndarray((3, 4), "i4", np.arange(26, dtype="i4"), 4 * offset, in_bytes)
    np.testing.assert_array_equal(pp.asnumpy(x), expected)
    assert x.usm_type == kind
    memory.array("i4")[offset] = 77
    assert x[0, 0].item() == 77
    made = dpctl.tensor.usm_ndarray((3, 4), "i4", strides, kind, offset)
    assert (made.strides, made.usm_type) == (x.strides, kind)
    shown = dpctl.tensor.usm_ndarray((2, 6), "i4", buffer=pp.asarray(np.arange(12, dtype="i4")), order="F")
    np.testing.assert_array_equal(pp.asnumpy(shown), np.arange(12).reshape(2, 6, order="F"))


def test_arrays_of_dpctl_that_are_refused():
    make = dpctl.tensor.usm_ndarray
    assert make((2, 3)).dtype == np.float64
    assert make((0, 3), strides=(3, 1)).shape == (0, 3)
    assert isinstance(make(3), make)
    memory = pp.MemoryDevice(24)
    for call, error, text in (
        (
            lambda: make((2, 2), buffer=memory),
            ValueError,
            "usm_ndarray: elements would lie outside of the memory, which has room for 3 of float64",
        ),
        (lambda: make(2, strides=-1), ValueError, "usm_ndarray: elements would lie outside"),
        (lambda: make((2, 2), strides=(1,)), ValueError, "usm_ndarray: 1 strides are given for 2 dimensions"),
        (lambda: make(3, order="A", strides=(1,)), ValueError, "usm_ndarray: order is 'C' or 'F'"),
        (lambda: make(3, buffer=[1.0]), TypeError, "usm_ndarray: buffer is 'device', 'shared' or 'host', memory, or an array, not list"),
        (lambda: make(3, buffer=pp.arange(8).wait()[::2]), ValueError, "usm_ndarray: the elements of buffer are not contiguous"),
        (lambda: make(3, offset=1.5), TypeError, "usm_ndarray: offset must be an integer"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_put_of_dpctl():
    put, x = dpctl.tensor.put, pp.zeros((3, 4))
    put(x, pp.asarray([0, -1, 9]), pp.asarray([1.0, 2.0, 3.0]), axis=1)
    assert x.tolist() == [[1, 0, 0, 3]] * 3 or x.tolist() == [[1, 0, 0, 2]] * 3
    put(x, pp.asarray([-9, 1]), 5.0, axis=0, mode="clip")
    assert x[:2].tolist() == [[5] * 4] * 2
    line = pp.zeros(3)
    put(line, pp.asarray([-1]), 4)
    assert line.tolist() == [0, 0, 4]
    with pytest.raises(ValueError, match="put: axis is needed for an array of 2 dimensions"):
        put(x, pp.asarray([0]), 1)
    with pytest.raises(ValueError, match="put: mode is"):
        put(line, pp.asarray([0]), 1, mode="raise")
    with pytest.raises(TypeError, match="put: an array is expected, not list"):
        put([1], pp.asarray([0]), 1)


def test_platforms_of_dpctl(capsys):
    platform = dpctl.SyclPlatform()
    assert platform == dpctl.SyclDevice().sycl_platform == dpctl.SyclPlatform(platform)
    assert isinstance(platform, dpctl.SyclPlatform)
    assert dpctl.SyclPlatform("cpu").backend == dpctl.backend_type.cpu
    assert isinstance(platform.default_context, dpctl.SyclContext)
    assert platform.get_devices() == list(platform.devices)
    assert platform.get_devices(dpctl.device_type.gpu) == [d for d in platform.devices if d.is_gpu]
    for verbosity in range(3):
        platform.print_platform_info(verbosity)
    assert capsys.readouterr().out.count(platform.name) >= 3
    with pytest.warns(UserWarning, match="verbosity"):
        platform.print_platform_info(7)
    for arg in ("abc", "cpu:-1", 3):
        with pytest.raises(ValueError):
            dpctl.SyclPlatform(arg)
    with pytest.raises(ValueError, match="get_devices: device_type is of"):
        platform.get_devices("cpus")


def test_devices_of_dpctl_know_more():
    device = dpctl.SyclDevice("cpu")
    assert dpctl.utils.intel_device_info(device) == {}
    with pytest.raises(TypeError, match="intel_device_info: a SyclDevice is expected, not str"):
        dpctl.utils.intel_device_info("cpu")
    assert [len(getattr(device, f"max_work_item_sizes{n}d")) for n in (1, 2, 3)] == [1, 2, 3]
    assert dpctl.get_devices()[device.get_device_id()] == device
    assert device.get_unpartitioned_parent_device() == device
    assert not device.can_access_peer(device)
    for name in ("is_component", "is_composite", "ext_oneapi_ipc_memory"):
        assert not getattr(device, f"has_aspect_{name}")
    assert device.backend_version == device.version


@pytest.mark.parametrize("method", ["auto", "direct", "fft"])
@pytest.mark.parametrize("mode", ["full", "same", "valid", 1])
def test_convolutions_of_dpnp(mode, method):
    for n, m in ((7, 3), (7, 4), (3, 7), (4, 7), (6, 6), (1, 5)):
        for dtype in ("i4", "f8", "c16"):
            a, v = np.arange(n).astype(dtype) + 1, np.arange(m).astype(dtype) * (2 if dtype == "i4" else 0.5) - 1
            if dtype == "c16":
                v = v * 1j + 1
            for name in ("convolve", "correlate"):
                got = getattr(dpnp, name)(pp.asarray(a), pp.asarray(v), mode, method=method)
                expected = getattr(np, name)(a, v, mode)
                assert got.dtype == expected.dtype
                np.testing.assert_allclose(pp.asnumpy(got), expected, atol=1e-12)
    assert dpnp.convolve([1, 2], [1, 1], method=method).tolist() == [1, 3, 2]
    with pytest.raises(ValueError, match="convolve: method"):
        dpnp.convolve(pp.ones(3), pp.ones(2), method="quick")
    with pytest.raises(ValueError, match="correlate: a sequence is empty"):
        dpnp.correlate(pp.ones(3), pp.ones(0), method=method)


def test_arrays_go_to_queues_of_dpctl():
    queue, x = dpctl.SyclQueue("cpu"), dpctl.tensor.arange(3)
    for target in (queue, queue._queue):
        y = x.to_device(target)
        assert y.sycl_queue == queue
        assert y.tolist() == [0, 1, 2]
    assert x.to_device("cpu").sycl_queue == x.to_device(x.device).sycl_queue == x.sycl_queue
    with pytest.raises(ValueError, match="to_device: stream must be None"):
        x.to_device(queue, stream=1)
    with pytest.raises(TypeError, match="to_device: device must be"):
        x.to_device(3)


def test_memory_is_its_own_memory():
    memory = dpctl.memory.MemoryUSMShared(16)
    assert dpctl.memory.as_usm_memory(memory) is memory
    view = dpctl.memory.as_usm_memory(dpctl.tensor.zeros(2))
    assert dpctl.memory.as_usm_memory(view) is view
    with pytest.raises(TypeError, match="as_usm_memory: an array or memory is expected, not list"):
        dpctl.memory.as_usm_memory([1])


def test_draws_of_dpnp():
    queue = dpctl.SyclQueue("cpu")
    assert dpnp.default_float_type() == dpnp.default_float_type(sycl_queue=queue) == np.float64
    state, same = dpnp.random.RandomState(7, sycl_queue=queue), pp.random.RandomState(7)
    assert state.get_sycl_queue() == queue
    assert state.get_sycl_device() == queue.sycl_device
    for name, given in (
        ("rand", (2, 3)),
        ("randn", (4,)),
        ("randint", (1, 7, 5)),
        ("random_sample", (3,)),
        ("standard_normal", (3,)),
        ("normal", (1.0, 2.0, 3)),
        ("uniform", (1.0, 2.0, 3)),
    ):
        x = getattr(state, name)(*given, usm_type="shared")
        assert (x.sycl_queue, x.usm_type) == (queue, "shared")
        np.testing.assert_array_equal(pp.asnumpy(x), pp.asnumpy(getattr(same, name)(*given)))
        assert getattr(dpnp.random, name)(*given, sycl_queue=queue).sycl_queue == queue
    assert dpnp.random.random(3, device=queue).sycl_queue == queue
    assert dpnp.random.beta(1.0, 2.0, 3).shape == (3,)
    with pytest.raises(TypeError, match="rand: `device` and `sycl_queue` are exclusive keywords"):
        dpnp.random.rand(3, device="cpu", sycl_queue=queue)
    with pytest.raises(AttributeError, match=r"use pardo\.random\.RandomState"):
        state.beta(1.0, 2.0)
