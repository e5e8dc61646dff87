# tests/python/test_native_bindings.py: pardo/native.hpp, nanobind.h, pybind11.h and native.pxd: handles, signatures, failures, bad input.
from __future__ import annotations

import ctypes
import gc
import os
import threading
import time

import numpy as np
import pardo as pp
import pytest
from native_api import TABLE, Api, C
from native_building import NEEDS_A_COMPILER, SOURCES, compile_extension, folder_of_all, load_extension

pytestmark = [pytest.mark.once, NEEDS_A_COMPILER]
api = Api()
WANTED = os.environ.get("PARDO_TEST_DEVICES", "opencl").split(",")
OPENCL = [d for d in pp.get_devices() if d.backend == "opencl" and not {d.backend, d.id}.isdisjoint(WANTED)]


def living():
    counts = pp.counters()
    return counts["handles"] - counts["handles_back"]


@pytest.fixture(autouse=True)
def no_handle_left(old_objects_left_alone):
    gc.collect()
    before = living()
    yield
    gc.collect()
    deadline = time.monotonic() + 10
    while living() != before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert living() == before


@pytest.fixture(scope="module", params=["nanobind", "pybind11"])
def ext(request, tmp_path_factory):
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
    folder = folder_of_all(tmp_path_factory)
    return load_extension(compile_extension(SOURCES / f"{request.param}_checks.cpp", folder, request.param, *warnings))


@pytest.fixture(scope="module")
def in_cython(tmp_path_factory):
    return load_extension(compile_extension(SOURCES / "cython_checks.pyx", folder_of_all(tmp_path_factory), "Cython"))


@pytest.fixture
def queue():
    return pp.Queue("cpu")


def test_work_of_a_lambda(ext, queue):
    a, x = pp.full((2, 2), 3.0, queue=queue).wait(), pp.arange(4.0, queue=queue)
    event = ext.scale(queue, a, x)
    assert isinstance(event, pp.Event)
    assert np.array_equal(x + 1, [1, 4, 7, 10])
    event.wait()


def test_tensors_streams_and_events_there_and_back(ext, queue):
    x = pp.arange(6.0, queue=queue).reshape(2, 3)[:, ::2]
    y = ext.through_dlpack(x)
    assert np.array_equal(y, [[0, 2], [3, 5]])
    y[0, 0] = 7
    assert float(x[0, 0]) == 7
    with pytest.raises(pp.DeviceError, match="queue_from_native: cpu:0 has no queues of a driver's"):
        ext.through_stream(queue)
    with pytest.raises(pp.DeviceError, match="event_to_native: cpu:0 has no events of a driver's"):
        ext.through_native(pp.Event(), pp.Device("cpu"))
    with pytest.raises(pp.DeviceError):
        ext.axpy(queue, x, y, 1.0, pp.Event())


@pytest.mark.parametrize("device", OPENCL, ids=str)
def test_programs_streams_and_events_of_opencl(ext, device):
    first = pp.Queue(device)
    queue, ready = ext.through_stream(first), pp.UserEvent()
    assert queue.native == first.native
    x, y = pp.arange(64, dtype="float32", queue=queue), pp.zeros(64, "float32", queue=queue)
    y.wait()
    event = ext.axpy(queue, x + 1, y, 2.0, ready)
    assert not event.done()
    ready.set_complete()
    ext.through_native(event, device).wait()
    assert event.done()
    assert np.array_equal(pp.asnumpy(y), 2 * np.arange(64) + 3.5)


def test_signatures_are_shown(ext):
    text = ext.scale.__doc__
    assert "queue: pardo.Queue, a: typing.Annotated[pardo.Array, 'float64, 2 dimensions, row-major']" in text
    assert "x: typing.Annotated[pardo.Array, 'float64, 1 dimension, writable, on the CPU']) -> pardo.Event" in text


def test_arrays_that_do_not_suit(ext, queue):
    a, x = pp.full((2, 2), 3.0, queue=queue).wait(), pp.arange(4.0, queue=queue)
    first, second = "array argument 1: float64, 2 dimensions, row-major", "array argument 2: float64, 1 dimension, writable, on the CPU"
    for given, text in (
        ((a.astype("float32"), x), f"{first} is expected, not float32 of the shape (2, 2), row-major, on cpu:0"),
        ((x, x), f"{first} is expected, not float64 of the shape (4,), row-major, on cpu:0"),
        ((a.T, x), f"{first} is expected, not float64 of the shape (2, 2), column-major, on cpu:0"),
        ((pp.ones((4, 4)).wait()[::2, ::2], x), f"{first} is expected, not float64 of the shape (2, 2), with gaps, on cpu:0"),
        ((x, a), f"{first} is expected, not float64 of the shape (4,), row-major, on cpu:0"),  # the first of two
        ((a, a), f"{second} is expected, not float64 of the shape (2, 2), row-major, on cpu:0"),
        ((a, pp.broadcast_to(x[:1], (3,))), f"{second} is expected, not float64 of the shape (3,), "),
        ((a, np.arange(3)), f"{second} is expected, not int64 of the shape (3,), row-major, on cpu:0"),
        ((3, x), "array argument 1: an array is expected, not int"),
        ((a, [1.0]), "array argument 2: an array is expected, not list"),
    ):
        with pytest.raises(TypeError) as caught:
            ext.scale(queue, *given)
        assert str(caught.value).startswith(text)
    with pytest.raises(TypeError, match="array argument 1: any dtype, on CUDA is expected, not float64 of the shape"):
        ext.only_cuda(x)
    with pytest.raises(TypeError, match="array argument 1: float32, 2 dimensions, column-major is expected"):
        ext.columns(1, a)  # the first of its arrays, not of its arguments
    assert ext.columns(1, pp.ones((3, 4), "float32").wait().T) == 4


def test_other_objects_are_the_bindings_own_errors(ext, queue):
    a, x = pp.full((2, 2), 3.0, queue=queue).wait(), pp.arange(4.0, queue=queue)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        ext.scale("cpu", a, x)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        ext.event(x)
    with pytest.raises(ValueError, match="no device matches"):
        ext.device("nothing:7")


def test_overloads_by_dtype(ext):
    assert (ext.dtype(pp.ones(2, "float32")), ext.dtype(pp.ones(2))) == ("float", "double")
    with pytest.raises(TypeError, match="incompatible function arguments"):
        ext.dtype(pp.ones(2, "int32"))


def test_containers(ext):
    """What does not suit in a container is an error as everywhere, and not the end of the process."""
    x = pp.ones(3)
    assert ext.all_sizes([x, np.ones(4), x]) == 10
    assert (ext.maybe(None), ext.maybe(x)) == (-1, 3)
    assert ext.pair((x, "cpu")) == "cpu:03"
    assert ext.all_devices(["cpu", pp.Device("cpu")]) == [pp.Device("cpu")] * 2
    for call in (
        lambda: ext.all_sizes([x, x.astype("float32")]),
        lambda: ext.all_sizes([x, 3]),
        lambda: ext.maybe(x.reshape(3, 1)),
        lambda: ext.maybe("x"),
        lambda: ext.pair((x.astype("int32"), "cpu")),
    ):
        with pytest.raises(TypeError):
            call()
    for call in (lambda: ext.all_devices(["cpu", "nothing:7"]), lambda: ext.pair((x, "nothing:7"))):
        with pytest.raises((TypeError, ValueError)):
            call()


def test_there_and_back(ext, queue):
    x = pp.arange(3.0, queue=queue)
    assert np.array_equal(ext.array(x), x)
    host = np.arange(3.0)
    shared = ext.array(host)
    host[0] = 9
    assert float(shared[0]) == 9
    assert ext.queue(queue) == queue
    assert ext.device("cpu") == ext.device_of(queue) == pp.Device("cpu")
    assert ext.device_ids().split() == [d.id for d in pp.get_devices()]
    signal = pp.UserEvent()
    assert not ext.event(signal).done()
    signal.set_complete()
    assert ext.event(pp.Event()).done()
    made = ext.empty(queue)
    assert (made.shape, made.dtype) == ((2, 3), np.dtype("float32"))


def test_copies(ext, queue):
    x, signal = pp.arange(6.0, queue=queue).reshape(2, 3), pp.UserEvent()
    threading.Timer(0.02, signal.set_complete).start()
    assert np.array_equal(ext.copied(queue, x + 1, signal), np.arange(6.0).reshape(2, 3) + 1)
    assert ext.contiguous(x.T).dtype == np.dtype("float32")
    assert not ext.has_context("cpu")
    assert all(ext.has_context(d) for d in OPENCL)


def test_events_of_ones_own(ext):
    def told(code, drop=False):
        event, called = ext.user_event(), []
        assert ext.wait(event, 1000) is False
        ext.then(event, called.append)
        ext.drop() if drop else ext.complete(code)
        deadline = time.monotonic() + 10
        while not called and time.monotonic() < deadline:
            time.sleep(0.001)
        ext.drop()
        return event, called

    event, called = told(0)
    assert called == [0]
    event.wait()
    event, called = told(C["PARDO_E_VALUE"])
    assert called == [C["PARDO_E_VALUE"]]
    with pytest.raises(ValueError, match="told so"):
        event.wait()
    event, called = told(0, drop=True)
    assert len(called) == 1
    with pytest.raises(pp.DeviceError, match="dropped before it was set"):
        event.wait()
    with pytest.raises(ValueError, match="event_complete: event is one of pardo's own"):
        ext.complete_other(event)


def test_waits_without_the_gil(ext, queue):
    ran = []
    event = queue.host_task(lambda: ran.append(time.sleep(0.05)))  # needs the GIL
    ext.wait_free(queue, np.arange(3.0), event)  # the array is let go without it
    assert ran == [None]
    with pytest.raises(IndexError, match="without the GIL"):
        ext.throw_free(queue)


@pytest.mark.parametrize("cost", [0.0, 1000.0])
@pytest.mark.parametrize(
    ("how", "kind", "text"),
    [
        ("error", IndexError, "fail: no such row"),
        ("own code", RuntimeError, "fail: five"),
        ("invalid_argument", ValueError, "fail: not an argument"),
        ("bad_alloc", MemoryError, "fail: out of memory"),
        ("int", RuntimeError, "fail: an exception that says nothing of itself"),
        ("status", RuntimeError, "fail: the work function gave 9"),
        ("half-way", RuntimeError, "fail: half-way"),
        ("dtype", TypeError, "fail: work: use 0 is of float64, not of float32"),
        ("rank", ValueError, "fail: work: use 0 has 1 dimensions, not 2"),
        ("use", IndexError, "fail: work: use 7 of 1"),
        ("range", ValueError, "fail: view: the elements are to be row-major and without gaps for a range"),
        ("waits", pp.DeviceError, "fail: queue_wait: a work function must not wait"),
        ("part", IndexError, "fail: part 500"),
    ],
)
def test_exceptions_in_work(ext, queue, how, kind, text, cost):
    x = pp.zeros(6, queue=queue).wait()[::2]
    event = ext.fail(queue, x, how, cost)
    with pytest.raises(kind, match=rf"{text}.*test_native_bindings\.py:\d+"):
        event.wait()
    with pytest.raises(kind, match=text):
        np.asarray(x + 1)


def test_a_failure_that_is_a_timeout_is_no_wait_that_ended_early(ext, queue):
    event = ext.fail(queue, pp.zeros(3, queue=queue), "timeout", 1000.0)
    for limit in (-1, 10**9):
        with pytest.raises(TimeoutError, match="fail: the instrument did not answer"):
            ext.wait(event, limit)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("VALUE", ValueError),
        ("TYPE", TypeError),
        ("INDEX", IndexError),
        ("OVERFLOW", OverflowError),
        ("MEMORY", MemoryError),
        ("BUFFER", BufferError),
        ("PLACEMENT", pp.ExecutionPlacementError),
        ("DEVICE", pp.DeviceError),
        ("COMPILE", pp.CompileError),
        ("IMPORT", ImportError),
        ("RUNTIME", RuntimeError),
        ("HANDLE", ValueError),
        ("TIMEOUT", TimeoutError),
        ("USER", RuntimeError),
    ],
)
def test_exceptions_at_once(ext, code, kind):
    with pytest.raises(kind, match="as asked"):
        ext.fails_now(C[f"PARDO_E_{code}"])


def test_parts_on_the_cores(ext, queue):
    x, y = pp.arange(5000.0, queue=queue), pp.zeros(5000, queue=queue)
    ext.stencil(queue, x * 2, y)
    assert np.array_equal(y[1:-1], np.arange(1, 4999) * 2.0)


def test_strided_elements(ext, queue):
    x, y = pp.arange(100.0, queue=queue), pp.zeros(100, queue=queue)
    ext.stencil(queue, x[::2], y[1::2])
    assert np.array_equal(y[3:-1:2], np.arange(2, 98, 2.0))


def test_a_recorded_function(ext, queue):
    x = pp.arange(5000.0, queue=queue)
    y = ext.twice(queue, x + 1) + 1
    assert "twice" in pp.explain(y)
    x[...] = 0
    assert np.array_equal(y, (np.arange(5000) + 1.0) * 2 + 1)
    assert float(ext.least(queue, y)) == 3
    assert ext.greatest(queue, y).shape == (1,)
    with pytest.raises(ValueError, match="ends: no element"):
        ext.least(queue, pp.zeros(0, queue=queue))


def test_what_work_holds_goes_once(ext, queue):
    before = ext.destroyed()
    ext.holds_once(queue).wait()
    with pytest.raises(ValueError, match="array is NULL"):  # refused: destroyed all the same
        ext.holds(queue, True)
    deadline = time.monotonic() + 10
    while ext.destroyed() < before + 2 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert ext.destroyed() == before + 2


def test_memory_of_an_object(ext, queue):
    class Owner(bytearray):
        gone = False

        def __del__(self):
            Owner.gone = True

    owner = Owner(np.arange(4.0).tobytes())
    x = ext.wrap(queue, owner, ctypes.addressof((ctypes.c_char * 32).from_buffer(owner)), 4)
    del owner
    gc.collect()
    assert not Owner.gone
    assert np.array_equal(x + 1, [1, 2, 3, 4])
    worker = threading.Thread(target=lambda x: None, args=(x,))  # a thread drops the last reference
    del x
    worker.start()
    worker.join()
    del worker
    gc.collect()
    deadline = time.monotonic() + 10
    while not Owner.gone and time.monotonic() < deadline:
        queue.wait()
        time.sleep(0.001)
    assert Owner.gone


def test_null_handles_are_errors_and_no_crash(ext):
    assert ext.null_handles() == f"array_info: array is NULL{C['PARDO_COMPLETE']}"


def copied_table(size=None, **changed):
    """The table with another head."""
    head = type(api.head).from_buffer_copy(ctypes.string_at(api.address, ctypes.sizeof(api.head)))
    raw = ctypes.create_string_buffer(ctypes.string_at(api.address, api.head.size) + bytes(64))
    for name, value in {"size": size or head.size, **changed}.items():
        setattr(head, name, value)
    ctypes.memmove(raw, ctypes.addressof(head), ctypes.sizeof(head))
    return raw


def test_tables_that_do_not_suit(ext):
    needed = ctypes.sizeof(api.head) + 8 * (TABLE.index("call_from_py") + 1)  # of version 1.0
    for table, text in (
        (copied_table(major=2), f"load: pardo {pp.__version__} has version 2 of the table, and this extension was built for version 1"),
        (copied_table(major=0), "has version 0 of the table"),
        (copied_table(size=needed - 8), f"load: the table has {needed - 8} bytes, and {needed} are needed; install a newer pardo"),
        (copied_table(size=4), "load: the table has 4 bytes"),
        (copied_table(size=api.head.size + 8, minor=1), ""),
    ):
        found = ext.load_error(ctypes.addressof(table))
        assert text in found
        assert bool(found) == bool(text)
    assert ext.load_error(0) == "load: there is no table; import pardo first"
    assert ext.member_error(api.address) == ""
    old = copied_table(size=needed - 8)
    assert ext.member_error(ctypes.addressof(old)) == f"call_from_py: pardo {pp.__version__} does not have it; install a newer one"


def test_an_array_of_another_device(ext, queue):
    others = [d for d in pp.get_devices() if d.id != "cpu:0"]
    if not others:
        pytest.skip("one device only")
    a = pp.full((2, 2), 3.0, "float64", device=others[0])
    with pytest.raises(pp.ExecutionPlacementError, match=r"scale: an array is on .*, the queue is of cpu:0"):
        ext.scale(queue, a, pp.arange(4.0, queue=queue))


@pytest.mark.skipif(not OPENCL, reason="no OpenCL")
@pytest.mark.parametrize("device", OPENCL)
def test_work_on_opencl(ext, device):
    for order in ("in_order", "out_of_order"):
        queue = pp.Queue(device, order=order)
        x = pp.arange(100, dtype="float32", queue=queue)
        for _ in range(3):
            ext.on_opencl(queue, x, "")
        assert np.array_equal(pp.asnumpy(x + 1), np.arange(100) * 8 + 1)
    for how, kind, text in (
        ("library", ImportError, "libnothing.so.1 libnothing.so.2 with f is needed, and cannot be opened"),
        ("function", ImportError, "libnothing.so.1 libOpenCL.so.1 with clNothing is needed"),
        ("host", pp.DeviceError, "work: the host cannot touch elements of another device"),
        ("use", IndexError, "opencl_set_array: use 3 of 1"),
    ):
        x = pp.arange(100, dtype="float32", queue=queue)
        with pytest.raises(kind, match=f"native work: {text}"):
            ext.on_opencl(queue, x, how).wait()
        with pytest.raises(kind, match=text):
            pp.asnumpy(x)
    for how, kind, text in (
        ("text", pp.CompileError, "Program: "),
        ("name", ValueError, 'Program: there is no kernel "thrice", only twice'),
        ("launch", TypeError, r"twice: takes 1 argument, but 2 were given: twice\("),
    ):
        with pytest.raises(kind, match=text):
            ext.on_opencl(queue, x, how)


def test_threads(ext, queue):
    a = pp.full((1, 1), 1.0, queue=queue).wait()
    x = pp.ones(1, queue=queue).wait()

    def many():
        for _ in range(200):
            ext.scale(queue, a, x)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert float(x[0]) == 1


def test_cython(in_cython, queue):
    a, x = pp.full((2, 2), 3.0, queue=queue).wait(), pp.arange(4.0, queue=queue)
    signal = pp.UserEvent()
    event = in_cython.scale(queue, a, x, signal)
    assert not event.done()
    signal.set_complete()
    assert np.array_equal(x + 1, [1, 4, 7, 10])
    for given, kind, text in (
        ((queue, a.astype("float32"), x), TypeError, "scale: a: an array of float64 is expected, not of float32"),
        ((queue, a, a), ValueError, "scale: x: an array of 1 dimension is expected, not of the shape"),
        ((queue, a.T, x), ValueError, "scale: a: the elements are to be row-major"),
        ((3, a, x), TypeError, "a pardo.Queue is expected, not int"),
        ((queue, 3, x), TypeError, "an array is expected, not int"),
    ):
        with pytest.raises(kind, match=text):
            in_cython.scale(*given)
    with pytest.raises(TypeError, match="scale: work: use 1 is of float32, not of float64"):
        in_cython.scale(queue, a, pp.ones(3, "float32", queue=queue)).wait()
    with pytest.raises(RuntimeError, match="native work: the work function gave 4"):
        in_cython.fail(queue).wait()


@pytest.mark.parametrize("device", OPENCL)
def test_text_in_cython(in_cython, device):
    queue = pp.Queue(device)
    x = pp.arange(5, dtype="float32", queue=queue)
    in_cython.times(queue, x + 1, 3).wait()
    in_cython.times(queue, x, 3)
    assert pp.asnumpy(x).tolist() == [0, 3, 6, 9, 12]
    with pytest.raises(TypeError, match=r"times: `x`.*: here is an array of int32"):
        in_cython.times(queue, x.astype("int32"), 3)


def test_parts_and_parameters_in_cython(in_cython, queue):
    x, y = pp.arange(5000.0, queue=queue), pp.zeros(5000, queue=queue)
    in_cython.stencil(queue, x * 2, y, 0.5).wait()
    assert np.array_equal(y[1:-1], np.arange(1, 4999) * 3.0)
    with pytest.raises(TypeError, match="work: use 1 is of float32"):
        in_cython.stencil(queue, x, y.astype("float32"), 0.5).wait()
