# tests/conformance/test_native_queues.py: queues and events of the driver as pardo's, and pardo's as the driver's.
from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import sys
import weakref
from ctypes import byref, c_int32, c_size_t, c_uint64, c_void_p
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from native_api import DESTROY, Api, C, NativeDevice, NativeError

api = Api()
OUT_OF_ORDER, PROFILING = 1, 2  # CL_QUEUE_…
QUEUE = C["PARDO_IS_QUEUE"]

pytestmark = pytest.mark.skipif(bool(os.environ.get("PARDO_TEST_COMPILE_ONLY")), reason="nothing is computed there")


class OpenCl:
    """What PyOpenCL would do, in the context of a device of pardo's."""

    finish_name = "clFinish"

    def __init__(self, native):
        self.native, self.cl = native, ctypes.CDLL("libOpenCL.so.1")
        for name in ("clCreateCommandQueue", "clCreateUserEvent", "clCreateContext"):
            getattr(self.cl, name).restype = c_void_p

    def made(self, handle, code):
        assert code.value == 0
        return c_void_p(handle)

    def queue(self, properties=0, context=None):
        code = c_int32()
        context = context or c_void_p(self.native.context)
        return self.made(self.cl.clCreateCommandQueue(context, c_void_p(self.native.device), c_uint64(properties), byref(code)), code)

    def other_context(self):
        code = c_int32()
        return self.made(self.cl.clCreateContext(None, 1, (c_void_p * 1)(self.native.device), None, None, byref(code)), code)

    def user_event(self, context=None):
        code = c_int32()
        return self.made(self.cl.clCreateUserEvent(context or c_void_p(self.native.context), byref(code)), code)

    def end(self, event):
        assert self.cl.clSetUserEventStatus(event, 0) == 0
        assert self.cl.clReleaseEvent(event) == 0

    def is_complete(self, event):
        status = c_int32()
        assert self.cl.clGetEventInfo(event, 0x11D3, c_size_t(4), byref(status), None) == 0
        return status.value == 0

    def wait(self, event):
        assert self.cl.clWaitForEvents(1, (c_void_p * 1)(event.value)) == 0
        assert self.cl.clReleaseEvent(event) == 0

    def release(self, queue):
        assert self.cl.clReleaseCommandQueue(queue) == 0


class Cuda:
    """What torch would do."""

    def __init__(self, native):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        assert self.cuda.cuCtxSetCurrent(c_void_p(native.context)) == 0

    def queue(self, properties=0):
        stream = c_void_p()
        assert self.cuda.cuStreamCreate(byref(stream), 1) == 0
        return stream

    def event_after(self, stream):
        event = c_void_p()
        assert self.cuda.cuEventCreate(byref(event), 2) == 0
        assert self.cuda.cuEventRecord(event, stream) == 0
        return event

    def is_complete(self, event):
        return self.cuda.cuEventQuery(event) == 0

    def wait(self, event):
        assert self.cuda.cuEventSynchronize(event) == 0
        assert self.cuda.cuEventDestroy_v2(event) == 0

    def release(self, queue):
        assert self.cuda.cuStreamSynchronize(queue) == 0
        assert self.cuda.cuStreamDestroy_v2(queue) == 0


def native_of(device):
    native = NativeDevice(size=ctypes.sizeof(NativeDevice))
    handle = api.handle(device, C["PARDO_IS_DEVICE"])
    api.device_native(handle, byref(native))
    return handle, native


@pytest.fixture
def driver(device):
    if device.backend in ("cpu", "null"):
        pytest.skip("it has no driver")
    handle, native = native_of(device)
    made = (OpenCl if device.backend == "opencl" else Cuda)(native)
    made.device = handle
    return made


def adopt(driver, stream, gone=None):
    destroy = DESTROY((lambda _: gone.append(1)) if gone is not None else 0)
    out = c_void_p()
    api.queue_from_native(driver.device, stream, None, destroy, byref(out))
    queue = api.object(out, QUEUE)
    api.release(out)
    return queue, destroy


def stream_of(queue):
    handle, out = api.queue(queue), c_void_p()
    api.queue_native(handle, byref(out))
    api.release(handle)
    return out.value


def imported(driver, native):
    out = c_void_p()
    api.event_from_native(driver.device, native, byref(out))
    event = api.object(out, C["PARDO_IS_EVENT"]) if out.value else pp.Event()
    api.release(out)
    return event


def exported(driver, event):
    handle, out = api.handle(event, C["PARDO_IS_EVENT"]), c_void_p()
    api.event_to_native(handle, driver.device, byref(out))
    api.release(handle)
    return out


@pytest.mark.parametrize("properties", [0, OUT_OF_ORDER, OUT_OF_ORDER | PROFILING, PROFILING])
def test_a_queue_of_the_driver(device, driver, properties):
    if properties and device.backend == "cuda":
        pytest.skip("streams are in order, and keep no times")
    stream, gone = driver.queue(properties), []
    queue, destroy = adopt(driver, stream, gone)
    assert queue.device == device
    assert queue.order == ("out_of_order" if properties & OUT_OF_ORDER else "in_order")
    assert queue.profiling == bool(properties & PROFILING)
    assert stream_of(queue) == stream.value
    x = pp.arange(5000, dtype="float32", queue=queue)
    for _ in range(4):
        x = pp.sort(x * -1 + 1)
    total = (x @ x) / 2
    assert x.queue == queue
    rng = np.arange(5000, dtype="float32")
    for _ in range(4):
        rng = np.sort(rng * -1 + 1)
    assert np.array_equal(pp.asnumpy(x), rng)
    assert np.isclose(float(total), rng.astype(float) @ rng / 2, rtol=1e-5)
    assert not gone
    queue.wait()
    del x, total, queue
    assert gone == [1]
    driver.release(stream)
    del destroy


def test_two_queues_of_one_stream(driver):
    stream = driver.queue()
    first, second = adopt(driver, stream)[0], adopt(driver, stream)[0]
    x = pp.full(1000, 2.0, "float32", queue=first)
    x.wait()
    assert float((pp.full(1000, 3.0, "float32", queue=second) * 2).sum()) == 6000
    assert float(x.sum()) == 2000
    driver.release(stream)  # OpenCL counts references; CUDA's is destroyed by its owner after the queues' work
    del first, second, x


def test_an_event_of_the_driver_that_ends_later(device, driver):
    if device.backend == "cuda":
        pytest.skip("only OpenCL has events that the host ends")
    native = driver.user_event()
    event = imported(driver, native)
    other = imported(driver, native)
    queue = pp.Queue(device)
    x = pp.zeros(100, "float32", queue=queue)
    x.wait()
    later = queue.fill(x, 5, depends=[event])
    assert not event.done()
    assert not later.done()
    driver.end(native)
    later.wait()
    other.wait()
    assert float(x.sum()) == 500


def test_an_event_of_the_driver_that_is_complete(device, driver):
    stream = driver.queue()
    if device.backend == "cuda":
        native = driver.event_after(stream)
        event = imported(driver, native)
        driver.wait(native)  # destroyed
    else:
        native = driver.user_event()
        driver.cl.clRetainEvent(native)
        driver.end(native)
        event = imported(driver, native)
        driver.wait(native)
    event.wait()
    driver.release(stream)


def test_an_event_for_the_driver(device, driver):
    queue = pp.Queue(device)
    x = pp.full(1 << 20, 1.0, "float32", queue=queue)
    for _ in range(5):
        x = x * 1.5 + 1
    event = queue.submit(x)
    native = exported(driver, event)
    driver.wait(native)
    assert event.done()
    complete = exported(driver, pp.Event())
    assert driver.is_complete(complete)
    driver.wait(complete)


def test_an_event_for_the_driver_of_work_that_it_does_not_know_yet(device, driver):
    queue = pp.Queue(device, order="out_of_order")
    ready = queue.host_task(lambda: __import__("time").sleep(0.05))
    x = pp.zeros(100, "float32", queue=queue)
    event = queue.fill(x, 3, depends=[ready])
    driver.wait(exported(driver, event))
    assert event.done()


def test_events_that_wait_for_nothing_of_each_other(device, driver):
    if device.backend == "cuda":
        pytest.skip("only OpenCL has events that the host ends")
    never = driver.user_event()
    blocked = imported(driver, never)
    done = exported(driver, pp.Event())
    driver.wait(done)
    x = pp.full(10, 1.0, "float32", device=device)
    driver.wait(exported(driver, x.queue.submit(x)))
    assert not blocked.done()
    driver.end(never)
    blocked.wait()


def test_a_failure_is_the_status(device, driver):
    queue = pp.Queue(device)

    def fail():
        raise ValueError("it has failed")

    failed = queue.host_task(fail)
    with pytest.raises(NativeError, match="it has failed"):
        exported(driver, failed)
    assert failed.done()
    failed.wait()  # it has been raised


def test_another_context(device, driver):
    if device.backend == "cuda":
        pytest.skip("streams of other contexts need a device more")
    context = driver.other_context()
    stream, event, gone = driver.queue(context=context), driver.user_event(context), []
    with pytest.raises(NativeError, match=r"queue_from_native: the stream is of another context than .*device_native") as raised:
        adopt(driver, stream, gone)
    assert raised.value.status == C["PARDO_E_VALUE"]
    assert not gone
    with pytest.raises(NativeError, match=r"event_from_native: the event is of another context than .*device_native"):
        imported(driver, event)
    driver.end(event)
    driver.release(stream)
    driver.cl.clReleaseContext(context)


class Holder:
    """An object of a library, with the address of what it stands for."""

    def __init__(self, address, name="int_ptr"):
        setattr(self, name, address)


class CudaStream:
    def __init__(self, address):
        self.address = address

    def __cuda_stream__(self):
        return (0, self.address)


def test_in_python(device, driver):
    stream = driver.queue()
    native = device.native
    assert native.context
    assert (native.platform != 0) == (device.backend == "opencl")
    holder = Holder(stream.value) if device.backend == "opencl" else CudaStream(stream.value)
    alive = weakref.ref(holder)
    queue = pp.Queue.from_native(holder, device)
    del holder
    gc.collect()
    assert alive() is not None
    assert queue.native == stream.value
    x = pp.arange(1000.0, dtype="float32", queue=queue) + 1
    event = queue.submit(x)
    address = event.to_native(device)
    again = pp.Event.from_native(Holder(address, "ptr"), device)
    again.wait()
    assert event.done()
    driver.wait(c_void_p(address))
    assert float(x.sum()) == 500500
    del x, queue, event
    gc.collect()
    assert alive() is None
    assert float(pp.ones(5, "float32", queue=pp.Queue.from_native(stream.value, device.id)).sum()) == 5
    driver.release(stream)


def test_mistakes_in_python(device, driver):
    with pytest.raises(TypeError, match=r"Queue\.from_native: stream is the address of one, or an object that has it .*, not str"):
        pp.Queue.from_native("0", device)
    with pytest.raises(ValueError, match=r"Queue\.from_native: stream is -1, which is no address"):
        pp.Queue.from_native(-1, device)
    with pytest.raises(ValueError, match=r"Event\.from_native: event is 0, which is no address"):
        pp.Event.from_native(0, device)
    with pytest.raises(TypeError, match=r"Event\.from_native: event is the address of one"):
        pp.Event.from_native(None, device)
    with pytest.raises(pp.DeviceError, match=r"Event\.to_native: cpu:0 has no events of a driver's"):
        pp.Event().to_native("cpu")


PROGRAM = """
import sys
sys.path[:0] = {folders}
import pardo as pp
from test_native_queues import OpenCl, imported, native_of
device = pp.Device("{device}")
handle, native = native_of(device)
driver = OpenCl(native)
driver.device = handle
kept = imported(driver, driver.user_event())
later = driver.user_event()
younger = imported(driver, later)
driver.end(later)  # what is told is not the youngest work
print("over", flush=True)
print("last words")
"""


def test_work_that_never_ends_is_told_at_exit(device, driver, tmp_path):
    if device.backend == "cuda":
        pytest.skip("only OpenCL has events that the host ends")
    here = Path(__file__).parent
    code = tmp_path / "never.py"
    code.write_text(PROGRAM.format(folders=[str(here), str(here.parent / "python")], device=device.id))
    process = subprocess.Popen([sys.executable, code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "over\n"
        told = process.stderr.readline()
        assert "pardo: the program has ended, and the process waits for work that has not ended: event_from_native (" in told
        assert f") on {device.id}; Ctrl-C ends it" in told
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert "pardo: interrupted; left unfinished: event_from_native (" in process.stderr.read()
        assert process.stdout.read() == "last words\n"
    finally:
        process.kill()
        process.communicate()


def test_a_device_without_a_driver(device):
    if device.backend not in ("cpu", "null"):
        pytest.skip("it has a driver")
    handle, _ = native_of(device)
    out = c_void_p()
    with pytest.raises(NativeError, match=r"queue_from_native: .* has no queues of a driver's; make one with queue_new") as raised:
        api.queue_from_native(handle, c_void_p(8), None, DESTROY(0), byref(out))
    assert raised.value.status == C["PARDO_E_DEVICE"]
    with pytest.raises(NativeError, match=r"event_from_native: .* has no events of a driver's"):
        api.event_from_native(handle, c_void_p(8), byref(out))
    with pytest.raises(NativeError, match=r"event_to_native: .* has no events of a driver's"):
        api.event_to_native(None, handle, byref(out))
    with pytest.raises(NativeError, match=r"event_from_native: native is NULL"):
        api.event_from_native(handle, None, byref(out))
    queue = pp.Queue(device)
    assert stream_of(queue) is None
    assert queue.native is None
    with pytest.raises(pp.DeviceError, match="has no driver, and no handles of one"):
        device.native
    with pytest.raises(pp.DeviceError, match=r"Queue\.from_native: .* has no queues of a driver's"):
        pp.Queue.from_native(8, device)
