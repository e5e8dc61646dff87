# tests/python/test_native.py: pardo/c_api.h: native code over arrays and queues, called through the table as an extension calls it.
from __future__ import annotations

import ctypes
import gc
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time
from ctypes import byref, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from native_api import DESTROY, HEADER, PART, SHAPE, TABLE, THEN, WORK, Api, C, Info, Memory, NativeDevice, NativeError, options, uses

api = Api()
FLOAT64 = C["PARDO_FLOAT64"]
READ, WRITE, DISCARD = C["PARDO_READ"], C["PARDO_WRITE"], C["PARDO_DISCARD"]


@pytest.fixture(autouse=True)
def no_handle_left(old_objects_left_alone):
    def living():
        counts = pp.counters()
        return counts["handles"] - counts["handles_back"]

    gc.collect()
    before = living()
    yield
    gc.collect()
    deadline = time.monotonic() + 10
    while living() != before and time.monotonic() < deadline:  # a thread of the library's may hold the last one for a moment
        time.sleep(0.01)
    assert living() == before


def info_of(handle):
    info = Info(size=ctypes.sizeof(Info))
    api.array_info(handle, byref(info))
    return info


def values(work, k):
    """What uses[k] shows, as NumPy's; on the CPU."""
    info, memory = work.info[k], work.memory[k]
    dtype = np.dtype(["", "?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"][info.dtype])
    raw = (
        (ctypes.c_char * 0).from_address(memory.address) if info.count == 0 else (ctypes.c_char * info.nbytes).from_address(memory.address)
    )
    shape = tuple(info.shape[d] for d in range(info.ndim))
    strides = tuple(info.strides[d] * info.itemsize for d in range(info.ndim))
    return (
        np.ndarray(shape, dtype, raw, 0, strides)
        if info.flags & C["PARDO_C_CONTIGUOUS"]
        else np.lib.stride_tricks.as_strided(np.frombuffer(raw, dtype), shape, strides)
    )


def submit(queue, pairs, function, **given):
    """Hands a function of Python over as native code; gives an Event."""
    own = api.queue(queue)
    handles = [api.array(x) for x, _ in pairs]
    out = c_void_p()
    call = WORK(function)
    kept[ctypes.addressof(call)] = call
    try:
        api.submit(
            own,
            uses(*[(h, access) for h, (_, access) in zip(handles, pairs, strict=True)]),
            len(pairs),
            call,
            None,
            byref(options(**given)),
            byref(out),
        )
        return api.object(out, C["PARDO_IS_EVENT"]) if out.value else pp.Event()
    finally:
        api.release(own, *handles, out)


kept = {}  # callbacks, which may be called after the test has gone on


def test_the_header_is_c99_and_cxx(tmp_path):
    if not shutil.which("gcc"):
        pytest.skip("no C compiler")
    (tmp_path / "c_api.h").write_text(HEADER)
    for compiler, suffix, standard in (("gcc", "c", "c99"), ("g++", "cpp", "c++17")):
        if not shutil.which(compiler):
            continue
        source = tmp_path / f"x.{suffix}"
        source.write_text('#include "c_api.h"\nint main(void) { return sizeof(pardo_api) == 0; }\n')
        flags = ["-Wall", "-Wextra", "-pedantic", "-Werror", f"-std={standard}", "-fsyntax-only"]
        subprocess.run([compiler, *flags, str(source)], check=True)


def test_the_table_says_its_version():
    assert (api.head.major, api.head.minor) == (C["PARDO_ABI_MAJOR"], C["PARDO_ABI_MINOR"])
    assert api.head.version.decode() == pp.__version__
    assert api.head.size == ctypes.sizeof(type(api.head)) + 8 * len(TABLE)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float16", "float32", "float64", "complex64", "complex128"])
def test_facts_of_arrays(dtype):
    x = pp.ones((3, 4), dtype=dtype)
    x.wait()
    handle = api.array(x)
    info = info_of(handle)
    assert (info.dtype, info.ndim, list(info.shape[:2]), list(info.strides[:2])) == (C[f"PARDO_{dtype.upper()}"], 2, [3, 4], [4, 1])
    assert (info.count, info.itemsize, info.nbytes) == (12, np.dtype(dtype).itemsize, x.nbytes)
    assert info.flags & (C["PARDO_C_CONTIGUOUS"] | C["PARDO_F_CONTIGUOUS"] | C["PARDO_PENDING"]) == C["PARDO_C_CONTIGUOUS"]
    turned = api.array(x.T)
    assert info_of(turned).flags & 3 == C["PARDO_F_CONTIGUOUS"]
    assert np.array_equal(np.asarray(api.object(turned, C["PARDO_IS_ARRAY"])), np.ones((4, 3), dtype))
    api.release(handle, turned)


def test_facts_compute_nothing():
    x = pp.arange(10.0) + 1
    handle = api.array(x)
    info = info_of(handle)
    assert info.flags & C["PARDO_PENDING"]
    assert not info.strides
    event = c_void_p()
    api.array_force(handle, byref(event))
    api.event_wait(event, -1)
    assert not info_of(handle).flags & C["PARDO_PENDING"]
    api.release(handle, event)


def test_what_is_checked():
    x = pp.zeros((2, 3), dtype="float32")
    x.wait()
    handle, turned = api.array(x), api.array(x.T)
    info = Info(size=ctypes.sizeof(Info))
    api.array_check(handle, b"gemv: a", C["PARDO_FLOAT32"], 2, C["PARDO_C_CONTIGUOUS"], byref(info))
    assert info.count == 6
    api.array_check(handle, b"gemv: a", C["PARDO_ANY"], C["PARDO_ANY"], 0, None)
    for given, status, text in (
        ((handle, FLOAT64, 2, 0), "TYPE", 'gemv: a: an array of float64 is expected, not of float32; convert it with x.astype("float64")'),
        ((handle, C["PARDO_ANY"], 1, 0), "VALUE", "gemv: a: an array of 1 dimension is expected, not of the shape (2, 3)"),
        ((turned, C["PARDO_ANY"], 2, 1), "VALUE", "gemv: a: the elements are to be row-major and without gaps; give x.copy()"),
    ):
        with pytest.raises(NativeError) as caught:
            api.array_check(given[0], b"gemv: a", *given[1:], None)
        assert (caught.value.status, str(caught.value)) == (C[f"PARDO_E_{status}"], text)
    api.release(handle, turned)


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
@pytest.mark.parametrize("cost", [0, 1000.0])
def test_work_reads_and_writes(order, cost):
    queue = pp.Queue("cpu", order=order)
    a, out = pp.arange(12.0, queue=queue).reshape(3, 4) + 1, pp.zeros(4, queue=queue)
    before = out + 5  # recorded before the work: it sees the zeros

    def add_rows(w, user, done):
        assert w[0].n == 2
        assert not w[0].stream
        assert w[0].backend == C["PARDO_CPU"]
        values(w[0], 1)[...] = values(w[0], 0).sum(0)
        return 0

    event = submit(queue, [(a, READ), (out, WRITE | DISCARD)], add_rows, name=b"add_rows", cost_ns=cost)
    after = out * 2
    assert np.array_equal(after, [30, 36, 42, 48])
    assert np.array_equal(before, [5, 5, 5, 5])
    event.wait()
    assert event.status == "complete"


def test_small_work_runs_at_once_and_other_work_does_not():
    queue, threads = pp.Queue("cpu"), []

    def note(w, user, done):
        threads.append(threading.get_ident())
        return 0

    submit(queue, [], note, cost_ns=20000.0).wait()
    submit(queue, [], note, cost_ns=20001.0).wait()
    submit(queue, [], note).wait()
    assert threads[0] == threading.get_ident()


@pytest.mark.parametrize("cost", [0, 1000.0])
def test_failures_have_code_text_and_line(cost):
    queue = pp.Queue("cpu")
    x = pp.zeros(3, queue=queue)

    def fail(w, user, done):
        api.pointer("set_error", c_int32, c_int32, ctypes.c_char_p)(C["PARDO_E_VALUE"], b"the matrix is singular")
        return 1

    event = submit(queue, [(x, WRITE)], fail, name=b"solve", cost_ns=cost)
    with pytest.raises(ValueError, match=r"solve: the matrix is singular.*native_api\.py:\d+"):
        event.wait()
    with pytest.raises(ValueError, match="the matrix is singular"):
        np.asarray(x)

    event = submit(queue, [], lambda w, user, done: 7, name=b"other", cost_ns=cost)
    own = api.handle(event, C["PARDO_IS_EVENT"])
    for _ in range(2):
        with pytest.raises(NativeError, match="other: the work function gave 7") as caught:
            api.event_wait(own, -1)
        assert caught.value.status == C["PARDO_E_USER"] + 7
    api.release(own)


def test_work_that_needs_what_failed_does_not_run():
    queue = pp.Queue("cpu")
    x, ran = pp.zeros(3, queue=queue), []
    first = submit(queue, [(x, WRITE)], lambda w, user, done: 1, name=b"first")
    second = submit(queue, [(x, READ)], lambda w, user, done: ran.append(1) or 0, name=b"second")
    with pytest.raises(RuntimeError, match="first: the work function gave 1"):
        second.wait()
    assert not ran
    first.done()
    with pytest.raises(RuntimeError, match="first"):
        np.asarray(x)


def test_waits_in_work_are_errors():
    queue, found = pp.Queue("cpu"), []
    x = pp.arange(5.0, queue=queue)

    def wait(w, user, done):
        own = c_void_p(w[0].queue)
        for call in (lambda: api.queue_wait(own), lambda: api.array_force(handle, None)):
            try:
                call()
            except NativeError as e:
                found.append(str(e))
        nested = c_void_p()
        api.submit(own, None, 0, inner, None, None, byref(nested))
        api.release(nested)
        return 0

    inner = WORK(lambda w, user, done: found.append("inner") or 0)
    handle = api.array(x)
    submit(queue, [], wait, name=b"waiting").wait()
    queue.wait()
    api.release(handle)
    assert [text.split(":")[0] for text in found] == ["queue_wait", "array_force", "inner"]
    assert "a work function must not wait" in found[0]


def test_what_user_keeps_is_destroyed_once():
    queue, gone = api.queue(pp.Queue("cpu")), []
    destroy = DESTROY(lambda user: gone.append(user))
    work = WORK(lambda w, user, done: 0)
    given = options(destroy=destroy)
    out = c_void_p()
    api.submit(queue, None, 0, work, c_void_p(11), byref(given), byref(out))
    api.event_wait(out, -1)
    for wrong in (
        lambda: api.submit(queue, None, 0, None, c_void_p(12), byref(given), None),
        lambda: api.submit(None, None, 0, work, c_void_p(13), byref(given), None),
    ):
        with pytest.raises(NativeError):
            wrong()
    deadline = time.monotonic() + 10
    while len(gone) < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
    assert sorted(gone) == [11, 12, 13]
    api.release(queue, out)


def test_scratch_memory_and_cores():
    queue, seen = pp.Queue("cpu"), []

    def work(w, user, done):
        scratch = w[0].memory[0]
        assert w[0].n == 0
        assert scratch.address % 64 == 0
        ctypes.memset(scratch.address, 7, 1 << 20)
        part = PART(lambda begin, end, user: seen.append((begin, end)))
        api.parallel_for(c_void_p(w[0].queue), 1000, 1, part, None)
        return 0

    submit(queue, [], work, scratch_bytes=1 << 20).wait()
    seen.sort()
    assert seen[0][0] == 0
    assert seen[-1][1] == 1000
    assert all(a[1] == b[0] for a, b in itertools.pairwise(seen))


def test_parts_of_a_range():
    queue = api.queue(pp.Queue("cpu"))
    for n, grain in ((0, 0), (1, 0), (7, 100), (10**6, 1000), (5, 1)):
        seen = []
        api.parallel_for(queue, n, grain, PART(lambda begin, end, user, seen=seen: seen.append((begin, end))), None)
        seen.sort()
        assert sum(end - begin for begin, end in seen) == n
        assert grain == 0 or all(end - begin >= min(grain, n) for begin, end in seen)
    with pytest.raises(NativeError, match="neither can be negative"):
        api.parallel_for(queue, -1, 0, PART(lambda *a: None), None)
    assert api.pointer("thread_count", c_int32, c_void_p)(queue) >= 1
    api.release(queue)


def test_events_of_ones_own():
    queue = pp.Queue("cpu")
    signal = c_void_p()
    api.event_new(byref(signal))
    after = (c_void_p * 1)(signal.value)
    ran, called = [], []
    event = submit(queue, [], lambda w, user, done: ran.append(1) or 0, after=after, n_after=1, cost_ns=1.0)
    then = THEN(lambda status, user: called.append(status))
    own = api.handle(event, C["PARDO_IS_EVENT"])
    api.event_then(own, then, None, None)
    with pytest.raises(NativeError) as caught:
        api.event_wait(own, 1_000_000)
    assert caught.value.status == C["PARDO_E_TIMEOUT"]
    assert not ran
    assert api.status_of(signal) == C["PARDO_QUEUED"]
    api.event_complete(signal, 0, None)
    event.wait()
    assert ran == [1]
    with pytest.raises(NativeError, match="complete already"):
        api.event_complete(signal, 0, None)
    with pytest.raises(NativeError, match="is one of pardo's own"):
        api.event_complete(own, 0, None)
    deadline = time.monotonic() + 10
    while not called and time.monotonic() < deadline:
        time.sleep(0.001)
    assert called == [0]
    api.release(signal, own)


def test_an_event_that_nobody_completes_fails():
    queue = pp.Queue("cpu")
    signal = c_void_p()
    api.event_new(byref(signal))
    event = submit(queue, [], lambda w, user, done: 0, after=(c_void_p * 1)(signal.value), n_after=1)
    api.release(signal)
    with pytest.raises(Exception, match="it was dropped before it was set"):
        event.wait()


def test_memory_of_others():
    host = np.arange(6.0)
    queue, out, gone = api.queue(pp.Queue("cpu")), c_void_p(), []
    destroy = DESTROY(lambda owner: gone.append(owner))
    shape = (c_int64 * 2)(2, 3)
    api.array_wrap(queue, c_void_p(host.ctypes.data), FLOAT64, 2, shape, None, 0, None, c_void_p(5), destroy, byref(out))
    x = api.object(out, C["PARDO_IS_ARRAY"])
    api.release(out)
    assert np.array_equal(x + 1, host.reshape(2, 3) + 1)
    host[0] = 100
    assert float(x[0, 0]) == 100
    assert not gone
    del x
    gc.collect()
    api.queue_wait(queue)
    assert gone == [5]
    with pytest.raises(NativeError, match="array_wrap"):
        api.array_wrap(queue, None, FLOAT64, 2, shape, None, 0, None, c_void_p(6), destroy, byref(out))
    assert gone == [5]
    api.release(queue)


def test_arrays_made_converted_and_copied():
    queue, made, turned, narrow = api.queue(pp.Queue("cpu")), c_void_p(), c_void_p(), c_void_p()
    api.array_empty(queue, FLOAT64, 2, (c_int64 * 2)(3, 2), 0, byref(made))
    x = api.object(made, C["PARDO_IS_ARRAY"])
    x[...] = np.arange(6.0).reshape(3, 2)
    other = api.array(x.T)
    api.array_contiguous(other, C["PARDO_ANY"], byref(turned))
    assert info_of(turned).flags & 1
    api.array_contiguous(made, C["PARDO_FLOAT32"], byref(narrow))
    assert np.array_equal(api.object(narrow, 4), np.arange(6, dtype="float32").reshape(3, 2))
    target = pp.zeros((2, 3))
    to, event = api.array(target), c_void_p()
    api.array_copy(queue, to, turned, None, 0, byref(event))
    api.event_wait(event, -1)
    assert np.array_equal(target, np.asarray(x).T)
    place = Memory(size=ctypes.sizeof(Memory))
    api.array_memory(made, byref(place))
    assert place.address == x.__array_interface__["data"][0]
    for given in (
        (99, 1, (c_int64 * 1)(1), 0),
        (FLOAT64, 33, None, 0),
        (FLOAT64, 1, (c_int64 * 1)(-1), 0),
        (FLOAT64, 1, (c_int64 * 1)(1), 9),
    ):
        with pytest.raises(NativeError, match="array_empty"):
            api.array_empty(queue, *given, byref(c_void_p()))
    api.release(queue, made, turned, narrow, other, to, event)


def double(w, user, done):
    values(w[0], 1)[...] = values(w[0], 0) * 2
    return 0


def same_shape(inputs, n_inputs, results, n_results, user):
    results[0].dtype, results[0].ndim = inputs[0].dtype, inputs[0].ndim
    for d in range(inputs[0].ndim):
        results[0].shape[d] = inputs[0].shape[d]
    return 0


def record(queue, inputs, shape, function, results=1, **given):
    own, handles = api.queue(queue), [api.array(x) for x in inputs]
    out = (c_void_p * results)()
    calls = SHAPE(shape), WORK(function)
    kept[ctypes.addressof(calls[1])] = calls
    try:
        api.record(
            own, (c_void_p * len(handles))(*[h.value for h in handles]), len(handles), results, *calls, None, byref(options(**given)), out
        )
        return [api.object(c_void_p(h), C["PARDO_IS_ARRAY"]) for h in out]
    finally:
        api.release(own, *handles, *[c_void_p(h) for h in out])


@pytest.mark.parametrize("n", [5, 5000])
def test_a_recorded_call(n):
    queue = pp.Queue("cpu")
    x = pp.arange(float(n), queue=queue)
    (y,) = record(queue, [x + 1], same_shape, double, name=b"my_filter")
    z = y + 1
    if n > 1024:
        assert "my_filter" in pp.explain(z) or "native call" in pp.explain(z)
    x[...] = 0  # a later write: the call sees the values from before
    assert np.array_equal(z, (np.arange(n) + 1.0) * 2 + 1)


def of_first(inputs, n_inputs, results, n_results, user):
    for k in range(n_results):
        results[k].dtype, results[k].ndim = FLOAT64, 1
        results[k].shape[0] = inputs[0].shape[0] if n_inputs else 2000
    return 0


@pytest.mark.parametrize(("n", "m"), [(0, 1), (1, 5), (4, 1), (5, 9), (10, 2), (30, 4)])
@pytest.mark.parametrize("written", [None, 0, -1])
def test_a_recorded_call_of_many_arrays(n, m, written):
    """It is recorded whatever their numbers, and a later write of one of them does not change what it sees."""
    queue, calls = pp.Queue("cpu"), []
    kept_values = [pp.full(2000, float(k), queue=queue).wait() for k in range(n)]
    xs = [x if k % 2 else x + 1 for k, x in enumerate(kept_values)]  # some are to be computed

    def total(w, user, done):
        calls.append(w[0].n)
        for j in range(m):
            values(w[0], n + j)[...] = sum((values(w[0], k) for k in range(n)), np.zeros(2000)) + j
        return 0

    results = record(queue, xs, of_first, total, m, name=b"total")
    sums = [y + 0.5 for y in results]
    assert "total" in str(pp.explain(*sums))
    assert not calls
    if written is not None and n:
        kept_values[written][...] = 100
        queue.wait()
    del results, xs
    wanted = sum(k + (k + 1) % 2 for k in range(n)) + 0.5
    for j, y in enumerate(sums):
        assert np.array_equal(y, np.full(2000, wanted + j))
    assert calls == [n + m]


def test_a_recorded_call_of_many_arrays_that_nobody_needs():
    queue, destroyed = pp.Queue("cpu"), []
    free = DESTROY(lambda user: destroyed.append(1))
    kept[ctypes.addressof(free)] = free
    xs = [pp.full(2000, float(k), queue=queue).wait() for k in range(7)]
    results = record(queue, xs, of_first, lambda w, user, done: 3, 5, name=b"unused", destroy=free)
    del results
    gc.collect()
    queue.wait()
    assert destroyed == [1]
    (y, *_) = record(queue, xs, of_first, lambda w, user, done: 3, 5, name=b"bad", destroy=free)
    with pytest.raises(RuntimeError, match="bad: the work function gave 3"):
        np.asarray(y)


def many(*handles):
    return (c_void_p * len(handles))(*[h.value for h in handles])


def test_arrays_by_a_declaration():
    a, x, y = (api.array(z) for z in (pp.zeros((3, 5)), pp.zeros(5), pp.zeros(3)))
    extents = (c_int64 * 2)()
    text = b"float64 a[m,n], any x[ n ] , float64 y[m]"

    def checked(parameters, *arrays):
        api.arrays_check(b"gemv", parameters, many(*arrays), c_size_t(len(arrays)), extents)

    checked(text, a, x, y)
    assert extents[:] == [3, 5]
    checked(b"float64 a[3,m]", a)
    assert extents[0] == 5
    checked(b"")
    wrong = api.array(pp.zeros(5, "float32"))
    turned = api.array(pp.zeros((5, 3)).wait().T)
    for arrays, parameters, status, message in (
        ((a, y, x), text, "VALUE", r"gemv: the shapes do not fit: x is of the shape \(3,\), where n is 5 as in a"),
        ((a, x, x), text, "VALUE", r"gemv: the shapes do not fit: y is of the shape \(5,\), where m is 3 as in a"),
        ((x, x, y), text, "VALUE", r"gemv: a: an array of 2 dimensions is expected, not of the shape \(5,\)"),
        ((a, x, wrong), text, "TYPE", "gemv: y: an array of float64 is expected, not of float32"),
        ((turned, x, y), text, "VALUE", "gemv: a: the elements are to be row-major"),
        ((a,), b"any a[4, n]", "VALUE", r"gemv: .*a is of the shape \(3, 5\), where 4 is expected"),
        ((a, x), text, "VALUE", "gemv: 3 arrays are declared, and 2 given"),
        ((a, x), b"any a[m,n]", "VALUE", "gemv: 1 arrays are declared, and 2 given"),
        ((a,), b"double a[m,n]", "VALUE", "arrays_check: parameters are written as"),
        ((a,), b"any a[m,n", "VALUE", "arrays_check: parameters are written as"),
        ((a,), b"any a", "VALUE", "arrays_check: parameters are written as"),
        ((c_void_p(),), b"any a[m]", "HANDLE", "a is NULL"),
    ):
        with pytest.raises(NativeError, match=message) as caught:
            checked(parameters, *arrays)
        assert caught.value.status == C[f"PARDO_E_{status}"]
    api.release(a, x, y, wrong, turned)


def test_functions_of_libraries():
    found = (c_void_p * 2)()
    api.library_functions(b"libnothing.so.7 libm.so.6", b"cos floor", found)
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(found[0])(0.0) == 1
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(found[1])(2.5) == 2
    found[0] = 7
    for libraries, text in ((b"libm.so.6", "does not have nothing"), (b"libnothing.so.7", "libnothing.so.7 is needed"), (b"", "is needed")):
        with pytest.raises(NativeError, match=f"library_functions: .*{text}") as caught:
            api.library_functions(libraries, b"cos nothing", found)
        assert caught.value.status == C["PARDO_E_IMPORT"]
    assert found[0] == 7


MAKE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(c_void_p))


def test_what_threads_do_not_share():
    made = []

    def make(out):
        made.append(threading.get_ident())
        out[0] = len(made)
        return 0

    makes = MAKE(make), MAKE(lambda out: 5)

    def work(w, user, done):
        for _ in range(2):
            out = c_void_p()
            assert (
                api.pointer("kept_for", c_int32, c_void_p, MAKE, ctypes.POINTER(c_void_p))(ctypes.cast(w, c_void_p), makes[0], byref(out))
                == 0
            )
            assert made[out.value - 1] == threading.get_ident()
        return api.pointer("kept_for", c_int32, c_void_p, MAKE, ctypes.POINTER(c_void_p))(ctypes.cast(w, c_void_p), makes[1], byref(out))

    queue = pp.Queue("cpu", order="out_of_order")
    function = WORK(work)
    for cost in (100.0, 0.0, 0.0):
        own, event = api.queue(queue), c_void_p()
        api.submit(own, None, c_size_t(0), function, None, byref(options(name=b"kept", cost_ns=cost)), byref(event))
        with pytest.raises(NativeError, match="kept: kept_for: the function that makes it gave 5"):
            api.event_wait(event, -1)
        api.release(own, event)
    assert len(made) == len(set(made))


CALL = ctypes.CFUNCTYPE(c_int32, ctypes.POINTER(c_void_p), c_size_t, c_void_p, ctypes.POINTER(c_void_p))


def test_a_function_of_c_for_objects_of_python():
    seen = []

    def call(kinds, function, *objects, result=0, name=b"f"):
        types = [ctypes.c_char_p, ctypes.c_char_p, c_void_p, c_size_t, c_int32, CALL, c_void_p]
        given = (ctypes.py_object * len(objects))(*objects)
        f = CALL(function)
        return api.pointer("call_from_py", ctypes.py_object, *types, gil=True)(name, kinds, given, len(objects), result, f, None)

    def same(handles, n, user, out):
        seen.append(n)
        api.pointer("retain", None, c_void_p)(handles[n - 1])
        out[0] = handles[n - 1]
        return 0

    queue, x = pp.Queue("cpu"), pp.arange(3.0)
    signal = pp.UserEvent()
    assert call(b"qa", same, queue, x, result=C["PARDO_IS_ARRAY"]) is not None
    assert call(b"dq", same, pp.Device("cpu"), queue, result=C["PARDO_IS_QUEUE"]) == queue
    assert call(b"qe*", lambda *_: 0, queue) is None
    assert isinstance(call(b"qe*", same, queue, signal, signal, result=C["PARDO_IS_EVENT"]), pp.Event)
    assert call(b"", lambda *_: 0) is None
    assert np.array_equal(call(b"a", same, np.ones(3), result=C["PARDO_IS_ARRAY"]), np.ones(3))
    assert seen == [2, 2, 3, 1]

    def fails(status, text):
        def f(handles, n, user, out):
            return api.pointer("set_error", c_int32, c_int32, ctypes.c_char_p)(C[status], text)

        return f

    for kinds, function, objects, kind, text in (
        (b"qa", same, (x, x), TypeError, "f: argument 1: a pardo.Queue is expected, not Array"),
        (b"qa", same, (queue, "x"), TypeError, "f: argument 2: an array is expected, not str"),
        (b"qe*", same, (queue, signal, 3), TypeError, "f: argument 3: a pardo.Event is expected, not int"),
        (b"qa", same, (queue,), TypeError, r"f\(\) takes 2 arguments, and 1 was given"),
        (b"qa", same, (queue, x, x), TypeError, r"f\(\) takes 2 arguments, and 3 were given"),
        (b"qe*", same, (), TypeError, r"f\(\) takes 1 arguments and more, and 0 were given"),
        (b"qz", same, (queue, x), ValueError, "f: kinds are letters"),
        (b"*", same, (), ValueError, "f: kinds are letters"),
        (b"", fails("PARDO_E_INDEX", b"f: no row 7"), (), IndexError, "f: no row 7"),
        (b"", fails("PARDO_E_TIMEOUT", b"f: too late"), (), TimeoutError, "f: too late"),
        (b"", fails("PARDO_E_HANDLE", b"f: not alive"), (), ValueError, "f: not alive"),
        (b"", fails("PARDO_E_NO_DEVICE", b"f: none"), (), pp.DeviceNotFoundError, "f: none"),
        (b"", lambda *_: 1234, (), RuntimeError, "f gave 1234"),
    ):
        with pytest.raises(kind, match=text):
            call(kinds, function, *objects)


def test_a_recorded_call_that_fails():
    queue = pp.Queue("cpu")
    x = pp.arange(5000.0, queue=queue)
    (y,) = record(queue, [x], same_shape, lambda w, user, done: 3, name=b"bad_filter")
    with pytest.raises(RuntimeError, match="bad_filter: the work function gave 3"):
        np.asarray(y + 1)

    def no_shape(inputs, n_inputs, results, n_results, user):
        return api.pointer("set_error", c_int32, c_int32, ctypes.c_char_p)(C["PARDO_E_VALUE"], b"bad_filter: no")

    with pytest.raises(NativeError, match="bad_filter: no") as caught:
        record(queue, [x], no_shape, double, name=b"bad_filter")
    assert caught.value.status == C["PARDO_E_VALUE"]


def test_objects_that_are_none():
    for o, kind, text in (
        (3, 4, "an array is expected, not int"),
        ("q", 2, "a pardo.Queue is expected, not str"),
        (3, 3, "a pardo.Event is expected, not int"),
    ):
        with pytest.raises(NativeError, match=text) as caught:
            api.handle(o, kind)
        assert caught.value.status == C["PARDO_E_TYPE"]
    shared = api.array(np.arange(3.0))
    assert info_of(shared).flags & C["PARDO_FOREIGN"]
    device = api.handle("cpu", C["PARDO_IS_DEVICE"])
    assert api.object(device, C["PARDO_IS_DEVICE"]) == pp.Device("cpu")
    with pytest.raises(ValueError, match="is to be an array, and is a device"):
        api.object(device, C["PARDO_IS_ARRAY"])
    assert api.handle(None, C["PARDO_IS_EVENT"]).value is None
    api.release(shared, device)


def test_handles_of_another_kind():
    queue, x = api.queue(pp.Queue("cpu")), api.array(pp.zeros(3))
    info = Info(size=ctypes.sizeof(Info))
    for call, text in (
        (lambda: api.array_info(queue, byref(info)), "array is to be an array, and is a queue"),
        (lambda: api.array_info(None, byref(info)), "array is NULL"),
        (lambda: api.array_info(x, byref(Info(size=0))), "out->size is 0; set it"),
        (lambda: api.queue_wait(x), "queue is to be a queue, and is an array"),
        (lambda: api.submit(queue, uses((x, 0)), 1, WORK(lambda *a: 0), None, None, None), "an access is PARDO_READ"),
    ):
        with pytest.raises(NativeError, match=text):
            call()
    api.release(queue, x, None)


def test_writes_of_what_is_read_only():
    x = pp.broadcast_to(pp.zeros(3), (4, 3))
    with pytest.raises(NativeError, match="read-only") as caught:
        submit(pp.Queue("cpu"), [(x, WRITE)], double)
    assert caught.value.status == C["PARDO_E_VALUE"]


def test_devices():
    count = c_size_t()
    api.device_list(None, 0, byref(count))
    assert count.value == len(pp.get_devices())
    device, number, needed = c_void_p(), c_int64(), c_size_t()
    api.device_find(b"cpu", byref(device))
    text = ctypes.create_string_buffer(4)
    api.device_text(device, C["PARDO_DEVICE_ID"], text, 4, byref(needed))
    assert (text.value, needed.value) == (b"cpu", 6)
    api.device_number(device, C["PARDO_DEVICE_COMPUTE_UNITS"], byref(number))
    assert number.value == pp.Device("cpu").max_compute_units
    native = NativeDevice(size=ctypes.sizeof(NativeDevice))
    api.device_native(device, byref(native))
    assert (native.backend, native.device) == (C["PARDO_CPU"], None)
    with pytest.raises(NativeError, match="no device"):
        api.device_find(b"nothing:7", byref(device))


def test_threads_submit_to_one_queue():
    queue = pp.Queue("cpu")
    x = pp.zeros(1, queue=queue)
    x.wait()

    def one_more(w, user, done):
        values(w[0], 0)[...] += 1
        return 0

    call = WORK(one_more)

    def many():
        own, handle = api.queue(queue), api.array(x)
        for _ in range(200):
            api.submit(own, uses((handle, READ | WRITE)), 1, call, None, None, None)
        api.release(own, handle)

    threads = [threading.Thread(target=many) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    queue.wait()
    assert float(x[0]) == 1600


def test_work_of_another_device_is_refused():
    others = [d for d in pp.get_devices() if d.id != "cpu:0"]
    if not others:
        pytest.skip("one device only")
    x = pp.zeros(3, device=others[0])
    with pytest.raises(NativeError, match=r"the queue is of cpu:0; bring it with x\.to_device\(device\)"):
        submit(pp.Queue("cpu"), [(x, READ)], double)


WRITES_WHAT_IT_READS = """
import sys
sys.path.insert(0, {folder!r})
import ctypes
from ctypes import byref, c_void_p
import pardo as pp
from native_api import WORK, Api, C, options, uses
api = Api()

def work(w, user, done):
    (ctypes.c_double * 3).from_address(w[0].memory[{use}].address)[1] = 5
    return 0

call = WORK(work)
queue, x, y = pp.Queue("cpu"), pp.zeros((3, 2)), pp.zeros(3)
x.wait()
x = x[:, 0]
handles = [api.queue(queue), api.array(x), api.array(y)]
out = c_void_p()
pairs = uses((handles[1], C["PARDO_READ"]), (handles[2], C["PARDO_READ"] | {more}))
api.submit(handles[0], pairs, 2, call, None, byref(options(name=b"careless")), byref(out))
try:
    api.object(out, C["PARDO_IS_EVENT"]).wait()
    print("nothing")
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("use", "more", "checks", "text"),
    [
        (1, 0, "all", "careless: the work function has written uses[1], which it declares that it reads; say PARDO_READ | PARDO_WRITE"),
        (1, C["PARDO_WRITE"], "all", "nothing"),
        (0, 0, "all", "nothing"),  # a place between its elements
        (1, 0, "on", "nothing"),
    ],
)
def test_writes_of_what_is_declared_read(use, more, checks, text):
    code = WRITES_WHAT_IT_READS.format(folder=str(Path(__file__).parent), use=use, more=more)
    got = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PARDO_CHECKS": checks}
    )
    assert got.stdout.startswith(text)
