# tests/conformance/test_native_programs.py: kernels of text compiled and launched through the table of pardo/c_api.h.
from __future__ import annotations

import ctypes
import os
import sys
from ctypes import Structure, byref, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

from native_api import Api, C, NativeError

api = Api()
TEXTS = {
    "opencl": """
struct pair { int first; float second; };
kernel void axpy(global const float* x, global float* y, float a, struct pair b, local float* part, global int* none) {
    size_t i = get_global_id(0);
    part[get_local_id(0)] = a * x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[i] += part[get_local_id(0)] + b.first + b.second + (none ? 1000 : 0);
}""",
    "cuda": """
struct pair { int first; float second; };
extern "C" __global__ void axpy(const float* x, float* y, float a, pair b, int* none) {
    extern __shared__ float part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = a * x[i];
    __syncthreads();
    y[i] += part[threadIdx.x] + b.first + b.second + (none ? 1000 : 0);
}""",
}


class Argument(Structure):
    _fields_ = [("kind", c_int32), ("dtype", c_int32), ("array", c_void_p), ("value", c_void_p), ("bytes", c_size_t)]


class Range(Structure):
    _fields_ = [("size", c_uint32), ("ndim", c_int32), ("global_", c_int64 * 3), ("local", c_int64 * 3)]


class Pair(Structure):
    _fields_ = [("first", c_int32), ("second", ctypes.c_float)]


def compiled(device, text, language=None, options=(), length=0):
    handle, out = api.handle(device, C["PARDO_IS_DEVICE"]), c_void_p()
    api.program_new(
        handle, c_char_p(text.encode()), c_size_t(length), language, (c_char_p * len(options))(*options), c_size_t(len(options)), byref(out)
    )
    return out


def extent(n, local=0):
    return Range(ctypes.sizeof(Range), 1, (c_int64 * 3)(n, 1, 1), (c_int64 * 3)(local, 1, 1))


@pytest.fixture
def text(device):
    if device.backend not in TEXTS:
        pytest.skip("it has no language of text")
    if os.environ.get("PARDO_TEST_COMPILE_ONLY"):
        pytest.skip("nothing is computed there")
    return TEXTS[device.backend]


def launch(queue, program, x, y, *, a=2.0, name=b"axpy", space=None, after=(), changed=None):
    own, arrays = api.queue(queue), [api.array(x), api.array(y)]
    number, pair = ctypes.c_float(a), Pair(3, 0.5)
    array, kind = C["PARDO_ARG_ARRAY"], C["PARDO_ARG_NUMBER"]
    local = Argument(C["PARDO_ARG_LOCAL"], bytes=4 * 64)
    given = [
        Argument(array, array=arrays[0].value),
        Argument(array, array=arrays[1].value),
        Argument(kind, C["PARDO_FLOAT32"], value=ctypes.addressof(number)),
        Argument(C["PARDO_ARG_BYTES"], value=ctypes.addressof(pair), bytes=ctypes.sizeof(pair)),
        *([local] if queue.device.backend == "opencl" else []),
        Argument(C["PARDO_ARG_NULL"]),
        *([local] if queue.device.backend == "cuda" else []),
    ]
    if changed:
        changed(given)
    handles = [api.handle(e, C["PARDO_IS_EVENT"]) for e in after]
    waits, out = (c_void_p * len(handles))(*[h.value for h in handles]), c_void_p()
    try:
        api.program_launch(
            own, program, name, (Argument * len(given))(*given), c_size_t(len(given)), byref(space or extent(x.size, 64)), waits,
            c_size_t(len(handles)), byref(out),
        )  # fmt: skip
    finally:
        api.release(own, *arrays, *handles)
    event = api.object(out, C["PARDO_IS_EVENT"]) if out.value else pp.Event()
    api.release(out)
    return event


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_a_program(device, text, order):
    queue, program = pp.Queue(device, order=order), compiled(device, text)
    x = pp.arange(1024, dtype="float32", queue=queue)
    y = pp.ones(1024, "float32", queue=queue) * 2
    for _ in range(5):
        launch(queue, program, x + 1, y)
        y = y * 1
    assert np.array_equal(pp.asnumpy(y), 2 + 5 * (2 * (np.arange(1024) + 1) + 3.5).astype("float32"))
    api.release(program)


def test_after_an_event(device, text):
    queue, program, ready = (
        pp.Queue(device),
        compiled(device, text, language=b"opencl" if device.backend == "opencl" else b"cuda"),
        pp.UserEvent(),
    )
    x, y = pp.zeros(64, "float32", queue=queue), pp.zeros(64, "float32", queue=queue)
    x.wait()
    y.wait()
    event = launch(queue, program, x, y, after=[ready])
    assert not event.done()
    ready.set_complete()
    event.wait()
    assert float(y.sum()) == 64 * 3.5
    api.release(program)


def test_text_with_a_length_and_options(device, text):
    if device.backend == "cuda":
        text = text.replace("extern", "#ifndef ON\n#error off\n#endif\nextern", 1)
    program = compiled(device, text + "garbage", options=[b"-DON=1"], length=len(text))
    x, y = pp.zeros(64, "float32", device=device), pp.zeros(64, "float32", device=device)
    launch(x.queue, program, x, y)
    assert float(y[5]) == 3.5
    api.release(program)


def test_what_is_wrong(device, text):
    with pytest.raises(NativeError) as raised:
        compiled(device, "this is no program")
    assert raised.value.status == C["PARDO_E_COMPILE"]
    with pytest.raises(NativeError, match="language") as raised:
        compiled(device, text, language=b"fortran")
    with pytest.raises(NativeError, match="program_new: an option is NULL") as raised:
        compiled(device, text, options=[None])
    assert raised.value.status == C["PARDO_E_VALUE"]
    program = compiled(device, text)
    x, y = pp.zeros(64, "float32", device=device), pp.zeros(64, "float32", device=device)

    def wrong(match, status=None, **given):
        with pytest.raises(NativeError, match=match) as raised:
            launch(x.queue, program, x, y, **given)
        assert status is None or raised.value.status == C[status]

    wrong("no kernel|has no", name=b"axpi")
    wrong("program_launch: the range has 4 dimensions; 1 to 3", "PARDO_E_VALUE", space=Range(ctypes.sizeof(Range), 4))
    wrong("program_launch: range->size is 0; set it to sizeof", "PARDO_E_VALUE", space=Range(0, 1))
    wrong("argument 2 is of the kind 9, which does not exist", "PARDO_E_VALUE", changed=lambda g: setattr(g[2], "kind", 9))
    wrong("argument 2's value is NULL", "PARDO_E_VALUE", changed=lambda g: setattr(g[2], "value", None))
    wrong("argument 0 is NULL", "PARDO_E_HANDLE", changed=lambda g: setattr(g[0], "array", None))
    wrong("there is no dtype 99", "PARDO_E_TYPE", changed=lambda g: setattr(g[2], "dtype", 99))
    wrong("axpy", changed=lambda g: g.pop(0))
    if device.backend == "opencl":
        wrong("`a` .float.: here is a number of float64", "PARDO_E_TYPE", changed=lambda g: setattr(g[2], "dtype", C["PARDO_FLOAT64"]))
    with pytest.raises(NativeError, match="program_launch: program is to be a program, and is a queue") as raised:
        launch(x.queue, api.queue(x.queue), x, y)
    assert raised.value.status == C["PARDO_E_HANDLE"]
    launch(x.queue, program, x, y).wait()
    assert float(y.sum()) == 64 * 3.5
    api.release(program)


def test_handles_of_programs(device, text):
    program = compiled(device, text)
    retain = api.pointer("retain", None, c_void_p)
    retain(program)
    api.release(program)
    x, y = pp.zeros(64, "float32", device=device), pp.zeros(64, "float32", device=device)
    launch(x.queue, program, x, y).wait()
    api.release(program)
    assert float(y.sum()) == 64 * 3.5


def test_a_device_without_text(device):
    if device.backend in TEXTS:
        pytest.skip("it has a language of text")
    with pytest.raises(NativeError) as raised:
        compiled(device, "kernel void f() {}")
    assert raised.value.status == C["PARDO_E_DEVICE"]


def test_a_text_that_is_launched(device, text):
    queue = pp.Queue(device)
    x, y = pp.arange(64, dtype="float32", queue=queue), pp.ones(64, "float32", queue=queue)
    plain = {
        "opencl": b"kernel void twice(global const float* x, global float* y) { y[get_global_id(0)] = 2 * x[get_global_id(0)]; }",
        "cuda": b'extern "C" __global__ void twice(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }',
    }[device.backend]
    own, arrays, out = api.queue(queue), [api.array(x), api.array(y)], c_void_p()
    given = (Argument * 2)(*[Argument(C["PARDO_ARG_ARRAY"], array=a.value) for a in arrays])

    def launched(text, kernel=b"twice", n=2, space=None):
        space = space or extent(64, 64)
        api.launch_text(own, text, kernel, given, c_size_t(n), byref(space), None, c_size_t(0), byref(out))
        api.release(out)

    for _ in range(3):
        launched(plain)
    assert np.array_equal(pp.asnumpy(y), np.arange(64) * 2)
    with pytest.raises(NativeError) as caught:
        launched(b"kernel void twice(")
    assert caught.value.status == C["PARDO_E_COMPILE"]
    for arguments, message in (
        ((plain, b"thrice"), 'there is no kernel "thrice", only twice'),
        ((plain, b"twice", 1), "twice: takes 2 arguments, but 1 was given"),
        ((plain, b"twice", 2, Range(ctypes.sizeof(Range), 9)), "launch_text: the range has 9 dimensions"),
        ((None,), "launch_text: text is NULL"),
    ):
        with pytest.raises(NativeError, match=message):
            launched(*arguments)
    api.release(own, *arrays)


def test_an_empty_range_comes_after_events(device, text):
    queue, program = pp.Queue(device, order="out_of_order"), compiled(device, text)
    x, y = pp.zeros(0, "float32", queue=queue), pp.zeros(0, "float32", queue=queue)
    signal = pp.UserEvent()
    event = launch(queue, program, x, y, space=extent(0, 64), after=[signal])
    assert not event.done()
    signal.set_complete()
    event.wait()
    failed = pp.UserEvent()
    event = launch(queue, program, x, y, space=extent(0, 64), after=[failed])
    failed.set_failed(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        event.wait()
    api.release(program)
