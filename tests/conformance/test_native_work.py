# tests/conformance/test_native_work.py: native code on the queues of each device: on the host, a kernel of OpenCL, calls of CUDA's driver.
from __future__ import annotations

import ctypes
import os
import sys
import threading
from ctypes import byref, c_char_p, c_int32, c_size_t, c_void_p
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from native_api import SHAPE, WORK, Api, C, options, uses

api = Api()
READ, WRITE, DISCARD = C["PARDO_READ"], C["PARDO_WRITE"], C["PARDO_DISCARD"]
SOURCE = b"kernel void twice(global const float* x, global float* y) { y[get_global_id(0)] = 2 * x[get_global_id(0)]; }"

pytestmark = pytest.mark.skipif(bool(os.environ.get("PARDO_TEST_COMPILE_ONLY")), reason="nothing is computed there")
kept = []


class OpenCl:
    """One kernel of a context, as an extension would keep it: one a thread."""

    def __init__(self, native):
        self.cl = ctypes.CDLL("libOpenCL.so.1")
        for name in ("clCreateProgramWithSource", "clCreateKernel"):
            getattr(self.cl, name).restype = c_void_p
        code = c_int32()
        text = (c_char_p * 1)(SOURCE)
        program = c_void_p(self.cl.clCreateProgramWithSource(c_void_p(native.context), 1, text, None, byref(code)))
        assert code.value == 0
        device = (c_void_p * 1)(native.device)
        assert self.cl.clBuildProgram(program, 1, device, b"", None, None) == 0
        self.kernel = c_void_p(self.cl.clCreateKernel(program, b"twice", byref(code)))
        assert code.value == 0

    def enqueue(self, w, done):
        api.opencl_set_array(w, self.kernel, 0, 0)
        api.opencl_set_array(w, self.kernel, 1, 1)
        size = c_size_t(w[0].info[0].count)
        return self.cl.clEnqueueNDRangeKernel(
            c_void_p(w[0].stream), self.kernel, 1, None, byref(size), None, w[0].n_wait, w[0].wait, done if w[0].info[1].ndim == 1 else None
        )


kernels = {}
kernels_lock = threading.Lock()


def twice(w, user, done):
    """uses[1] = 2 * uses[0], float32, row-major."""
    work = w[0]
    bytes_ = work.info[0].nbytes
    if work.backend == C["PARDO_CPU"]:
        x, y = ((ctypes.c_float * work.info[k].count).from_address(work.memory[k].address) for k in range(2))
        np.frombuffer(y, "float32")[...] = np.frombuffer(x, "float32") * 2
        return 0
    if work.backend == C["PARDO_CUDA"]:
        driver = ctypes.CDLL("libcuda.so.1")
        stream = c_void_p(work.stream)
        code = driver.cuMemcpyDtoDAsync_v2(c_void_p(work.memory[1].address), c_void_p(work.memory[0].address), c_size_t(bytes_), stream)
        # Twice the 0.5 of the tests.
        return code or driver.cuMemsetD32Async(c_void_p(work.memory[1].address), 0x3F800000, c_size_t(bytes_ // 4), stream)
    with kernels_lock:
        key = (work.native.context, work.native.device)
        if key not in kernels:
            kernels[key] = OpenCl(work.native)
        return kernels[key].enqueue(w, done)


TWICE = WORK(twice)


def submit(queue, x, y, call=TWICE, **given):
    own, a, b, out = api.queue(queue), api.array(x), api.array(y), c_void_p()
    api.submit(own, uses((a, READ), (b, WRITE | DISCARD)), 2, call, None, byref(options(name=b"twice", **given)), byref(out))
    event = api.object(out, C["PARDO_IS_EVENT"]) if out.value else pp.Event()
    api.release(own, a, b, out)
    return event


@pytest.fixture(params=["in_order", "out_of_order", "profiling"])
def queue(device, request):
    if device.backend == "null":
        pytest.skip("its memory has no address that native code could use")
    order = request.param if request.param != "profiling" else "in_order"
    return pp.Queue(device, order=order, profiling=request.param == "profiling")


def test_between_operations(queue):
    x = pp.full(1000, 0.25, "float32", queue=queue)
    for _ in range(30):
        y = pp.zeros(1000, "float32", queue=queue)
        before = y + 3
        submit(queue, x + x, y)
        assert float((y * 2).sum()) == 2000
        assert float(before.sum()) == 3000


def test_parts_of_memory(queue):
    whole = pp.full(2048, 0.5, "float32", queue=queue)
    out = pp.zeros((2, 1024), "float32", queue=queue)
    event = submit(queue, whole[1024:], out[1])
    event.wait()
    assert np.array_equal(pp.asnumpy(out), np.repeat([0.0, 1.0], 1024).reshape(2, 1024))


def test_two_dimensions_and_an_event_that_pardo_records(queue):
    x, out = pp.full((8, 128), 0.5, "float32", queue=queue), pp.zeros((8, 128), "float32", queue=queue)
    submit(queue, x, out).wait()
    assert float(out.sum()) == 1024


def test_behind_a_user_event(queue):
    x, out, ready = pp.full(1000, 0.5, "float32", queue=queue), pp.zeros(1000, "float32", queue=queue), pp.UserEvent()
    x.wait()
    out.wait()
    handle = api.handle(ready, C["PARDO_IS_EVENT"])
    event = submit(queue, x, out, after=(c_void_p * 1)(handle.value), n_after=1)
    later = submit(queue, out, pp.zeros(1000, "float32", queue=queue))
    assert not event.done()
    ready.set_complete()
    later.wait()
    assert float(out.sum()) == 1000
    api.release(handle)


def test_failures(queue):
    x, out = pp.full(1000, 0.5, "float32", queue=queue), pp.zeros(1000, "float32", queue=queue)
    bad = WORK(lambda w, user, done: 5)
    kept.append(bad)
    event = submit(queue, x, out, bad)
    with pytest.raises(RuntimeError, match=r"twice: the work function gave 5.*native_api\.py:\d+"):
        event.wait()
    with pytest.raises(RuntimeError, match="twice: the work function gave 5"):
        pp.asnumpy(out + 1)
    submit(queue, x, out).wait()  # it writes all elements: they are whole again
    assert float(out.sum()) == 1000


def test_what_a_driver_leaves_where_it_fails(queue):
    x, out = pp.full(1000, 0.5, "float32", queue=queue), pp.zeros(1000, "float32", queue=queue)

    def fail(w, user, done):
        done[0] = 0xDEADBEEF
        return -57

    bad = WORK(fail)
    kept.append(bad)
    with pytest.raises(RuntimeError, match="twice: the work function gave -57"):
        submit(queue, x, out, bad).wait()
    submit(queue, x, out).wait()
    assert float(out.sum()) == 1000


def test_work_in_work(queue):
    x, out, other = (pp.full(1000, v, "float32", queue=queue) for v in (0.5, 0.0, 0.0))
    for a in (x, out, other):
        a.wait()
    inner = []

    def nested(w, user, done):
        inner.append(submit(queue, x, other))
        return twice(w, user, done)

    call = WORK(nested)
    kept.append(call)
    submit(queue, x, out, call).wait()
    inner[0].wait()
    assert float(out.sum()) == float(other.sum()) == 1000


def test_scratch_memory(queue):
    x, out = pp.full(1000, 0.5, "float32", queue=queue), pp.zeros(1000, "float32", queue=queue)
    seen = []

    def call(w, user, done):
        seen.append((w[0].n, w[0].memory[2].address or w[0].memory[2].object))
        return twice(w, user, done)

    call = WORK(call)
    kept.append(call)
    submit(queue, x, out, call, scratch_bytes=1 << 16).wait()
    assert seen[0][0] == 2
    assert seen[0][1]
    assert float(out.sum()) == 1000


def same(inputs, n_inputs, results, n_results, user):
    results[0].dtype, results[0].ndim = inputs[0].dtype, inputs[0].ndim
    results[0].shape[0] = inputs[0].shape[0]
    return 0


SAME = SHAPE(same)


def test_recorded(queue):
    x = pp.full(5000, 0.25, "float32", queue=queue)
    own, a, out = api.queue(queue), api.array(x * 2), (c_void_p * 1)()
    api.record(own, (c_void_p * 1)(a.value), 1, 1, SAME, TWICE, None, byref(options(name=b"twice")), out)
    y = api.object(c_void_p(out[0]), C["PARDO_IS_ARRAY"])
    api.release(own, a, c_void_p(out[0]))
    z = y + 1
    x[...] = 7
    assert float(z.sum()) == 10000


def test_threads(queue):
    wrong = []

    def many():
        try:
            for _ in range(20):
                x, out = pp.full(500, 0.5, "float32", queue=queue), pp.zeros(500, "float32", queue=queue)
                submit(queue, x, out)
                if float(out.sum()) != 500:
                    wrong.append(float(out.sum()))
        except BaseException as e:
            wrong.append(e)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
