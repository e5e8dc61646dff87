# tests/python/test_exits.py: processes that end while daemon threads are in calls of every kind.
from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pardo as pp
import pytest
from groups import DEVICES

pytestmark = [pytest.mark.once, pytest.mark.slow]

PLACES = [d.id for d in DEVICES]

START = """
    import asyncio, atexit, gc, io, os, pickle, sys, threading, time
    import numpy as np
    {before}
    import pardo as pp
    sys.setswitchinterval(1e-4)
    device = pp.Device(sys.argv[1])
    queue = pp.Queue.of(device)
    here = dict(device=device)
    host = np.arange(1000.0)
    x, y, i, s = pp.arange(1000.0, **here), pp.ones((30, 30), **here), pp.arange(1000, **here), pp.float32

    @pp.kernel
    def add(item: pp.Item, x, n): x[item.get_id(0)] += n

    @pp.kernel
    def outside(item: pp.Item, x): x[item.get_id(0) + 900] = 1

    @pp.kernel
    def says(item: pp.Item, x): print("", end="") if item.get_id(0) == 0 else None

    @pp.jit
    def total(x):
        s = 0.0
        for i in pp.prange(x.shape[0]): s += x[i]
        return s

    @pp.jit
    def serial(x, n):
        s = 0.0
        for i in range(n): s += x[i] * 2
        return s

    def new_kernel(n):
        @pp.kernel
        def k(item: pp.Item, x): x[item.get_id(0)] += n
        return k

    def new_jit(n):
        @pp.jit
        def f(x):
            s = 0.0
            for i in pp.prange(x.shape[0]): s += x[i] * n
            return s
        return f

    def caught(error, f):
        try: f()
        except error: pass

    async def awaited(): await add[1000](x, 1)
"""

# What a thread does over and over; `n` counts. Nothing starts threads: Python 3.11 crashes by itself where one begins while it ends.
KINDS = {
    "recording": "z = x\nfor _ in range(40): z = z + 1",
    "forcing": "(x + n).force()",
    "values": "float((x * 2)[3]); bool(x.any())",
    "reductions": "float(x.sum()); x.max(); pp.var(x)",
    "waits": "(x * n).wait()",
    "printing": "repr(x[:5] + n)",
    "indexing": "x[i[::2]]; x[x > 3]; x[2:500:3] = n; x[i]",
    "sorting": "pp.sort(x); pp.argsort(x); pp.cumsum(x); pp.unique(i)",
    "matrices": "y @ y; pp.linalg.inv(y + pp.eye(30, **here) * 40).wait(); pp.linalg.eigh(y)",
    "fourier": "pp.fft.fft(x).wait(); pp.fft.irfft(pp.fft.rfft(x))",
    "special functions": "pp.special.erf(x).wait(); pp.special.gamma(y)",
    "filters": "pp.ndimage.convolve(y, y[:3, :3]).wait(); pp.signal.fftconvolve(x, x)",
    "sparse": "(pp.sparse.csr_array(y) @ x[:30]).wait()",
    "statistics": "pp.histogram(x, 10); pp.percentile(x, 30); pp.polynomial.polynomial.polyval(x, x[:3])",
    "ufuncs": "pp.add.reduce(x); pp.add.outer(x[:30], x[:30]); pp.add.at(x, i, 1); pp.add(x, 1, order='C')",
    "random": "pp.random.default_rng(n).normal(size=1000); pp.random.rand(10)",
    "kernels": "add[1000](x, n)",
    "waited kernels": "add[1000](x, n).wait()",
    "new kernels": "new_kernel(n)[1000](x).wait()",
    "failing kernels": "caught(IndexError, lambda: outside[1000](pp.zeros(1000, **here)).wait())",
    "printing kernels": "says[1000](x).wait()",
    "plain kernels": "add[3].interpret(x, 1)",
    "jit": "total(x)",
    "jit of NumPy's arrays": "total(host); serial(host, 500)",
    "new jit": "new_jit(n)(x)",
    "generated": "pp.vectorize(lambda a: a + 1)(x)",
    "host tasks": "pp.Queue(device).host_task(lambda: float((x + 1).sum())).wait(); queue.host_task(lambda: n)",
    "user events": "e = pp.UserEvent(); add[pp.Range(1000), None, [e]](x, 1); e.set_complete(n); e.wait()",
    "waits with a limit": "caught(TimeoutError, lambda: pp.UserEvent().wait(0.002)); pp.wait_any([add[1000](x, 1)])",
    "callbacks": "add[1000](x, 1).add_done_callback(lambda: (x + 1).force())",
    "coroutines": "asyncio.run(awaited())",
    "futures": "add[1000](x, 1).as_future().result()",
    "copies": "pp.asarray(host, **here); pp.asnumpy(x); x.copy().wait(); pp.asarray(list(range(50)), **here); x.tobytes()",
    "exchange": "pp.from_dlpack(host, copy=True); a = pp.asarray(host, copy=False); a + 1; memoryview(a)[3]; np.from_dlpack(a)",
    "pickles": "pickle.loads(pickle.dumps(x)); pickle.dumps(add)",
    "files": "f = io.BytesIO(); pp.save(f, x); f.seek(0); pp.load(f)",
    "own queues": "q = pp.Queue(device); z = pp.ones(1000, queue=q); add[1000](z, 1); float(z.sum())",
    "parts of devices": "[float(pp.ones(100, device=d).sum()) for d in pp.Device('cpu').create_sub_devices(1)[:2]]",
    "contexts": "with pp.device_context(device): add[1000](host, 1); pp.sin(host)",
    "float errors": "with pp.errstate(all='call', call=lambda *a: None): (x / 0).wait()",
    "profiles": "with pp.profile(): add[1000](x, 1).wait()",
    "NumPy's functions": "np.sin(x); np.sum(x); np.add(x, 1); np.asarray(x[:3].copy()) if device.backend == 'cpu' else 0",
    "warnings": "with pp.errstate(all='warn'): (x / 0).wait(); pp.counters()",
    "wrong calls": "caught(Exception, lambda: x + 'a'); caught(Exception, lambda: add[1000](1)); caught(Exception, lambda: y @ x)",
    "plans": "pp.explain(x + n); pp.counters(); add.diagnostics()",
    "rubbish": "z = [x + 1]; z.append(z); del z; gc.collect(0)",
    "devices": "pp.get_devices(); device.name; queue.wait(); repr(queue)",
    "hooks at the exit": "atexit.register(lambda: float((x + n).sum())) if n < 5 else 0; x + 1",
}  # fmt: skip

# They compile over and over, which takes a driver most of the time: among other kinds they run on the CPU alone.
COMPILING = ("new kernels", "new jit")

FINISH = """
    started = [threading.Event() for _ in kinds]

    def run(text, started):
        code, names, n = compile(text, "<kind>", "exec"), dict(globals()), 0
        while True:
            names["n"] = n = n + 1
            exec(code, names)
            started.set()

    for each in zip(kinds, started):
        threading.Thread(target=run, args=each, daemon=True).start()
    for kind, event in zip(kinds, started):
        assert event.wait(100), kind
    time.sleep(float(sys.argv[2]))
    print("ends")
"""


def ends(kinds: list[str], device: str, tmp_path: Path, moment: float, before: str = "", after: str = "") -> None:
    """A process that runs threads in these kinds of calls ends as one that has none."""
    program = textwrap.dedent(START.replace("{before}", before))
    program += f"kinds = {[KINDS[k] for k in kinds]!r}\n" + textwrap.dedent(after) + textwrap.dedent(FINISH)
    file = tmp_path / "program.py"
    file.write_text(program)
    command = [sys.executable, str(file), device, str(moment)]
    environment = {**os.environ, "MALLOC_PERTURB_": "165"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment, check=False)
    told = f"{kinds} on {device}, after {moment} s: {done.returncode}\n{done.stderr[-3000:]}"
    assert done.returncode == 0, told
    assert done.stdout == "ends\n", told
    assert "terminate" not in done.stderr, told
    assert "Fatal" not in done.stderr, told


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_daemon_threads_in_calls(kind, device, tmp_path):
    ends([kind, kind], device, tmp_path, random.Random(kind).random() / 20)


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize("number", range(8))
def test_daemon_threads_in_calls_of_many_kinds(number, device, tmp_path):
    """Among the exit's own work: hooks of the user's, older than the package and newer, that compute."""
    known = [k for k in sorted(KINDS) if device.startswith("cpu") or k not in COMPILING]
    some = random.Random(number).sample(known, 6)
    before = "atexit.register(lambda: float((x + 1).sum()))"
    after = "atexit.register(lambda: float(total(x)))\n"
    ends(some, device, tmp_path, number / 100, before, after)


# What a hook does that is older than the package, so that it runs after the package's own: no thread of the library begins Python's code
# any more. What it prints, the class of what is raised, or neither.
LATE = {
    "host task and a value": ("queue.host_task(lambda: n); print(float(x.sum()))", "499500.0"),
    "host task": ("queue.host_task(lambda: n).wait()", "DeviceError"),
    "host task's result": ("queue.host_task(lambda: n).as_future().result()", "DeviceError"),
    "host task on a queue of its own": ("pp.Queue(device).host_task(lambda: n).wait()", "DeviceError"),
    "host task and the queue": ("queue.host_task(lambda: n); queue.wait()", ""),
    "what needs a host task": ("queue.fill(x, 1.0, depends=[queue.host_task(lambda: n)]); float(x[0])", "DeviceError"),
    "kernel that needs one": ("add[pp.Range(1000), None, [queue.host_task(lambda: n)]](x, 1).wait()", "DeviceError"),
    "awaited host task": ("async def f(): await queue.host_task(lambda: n)\nasyncio.run(f())", "DeviceError"),
    "callback": ("queue.fill(x, 1.0).add_done_callback(print)", "DeviceError"),
    "future to come": ("pp.UserEvent().as_future()", "DeviceError"),
    "value in a thread": ("t = threading.Thread(target=lambda: print(float((x + 1).sum()))); t.start(); t.join()", "500500.0"),
    "host task of a thread": (
        "t = threading.Thread(target=lambda: caught(pp.DeviceError, queue.host_task(lambda: n).wait)); t.start(); t.join()", ""
    ),
    "user event of a thread": (
        "e = pp.UserEvent(); f = queue.fill(x, 1.0, depends=[e]); threading.Thread(target=e.set_complete).start(); print(float(x[0]))",
        "1.0"
    ),
    "printing kernel": ("tells[1](x).wait()", "0.0"),
    "failing kernel": ("outside[1000](pp.zeros(1000, **here)).wait()", "IndexError"),
}  # fmt: skip

LATE_HOOK = """
    import traceback

    @pp.kernel
    def tells(item: pp.Item, x): print(x[0])

    float(x.sum()), float((x + 1).sum())

    def late():
        try: exec(compile(kind, "<late>", "exec"), dict(globals(), n=3))
        except pp.DeviceError as error:
            assert "exiting" in str(error), error
            print("DeviceError")
        except IndexError as error: print("IndexError")
"""


@pytest.mark.parametrize("device", PLACES)
@pytest.mark.parametrize("kind", [*LATE, *(k for k in KINDS if k != "rubbish")])
def test_hooks_older_than_the_package(kind, device, tmp_path):
    text, told = LATE.get(kind) or (KINDS[kind], None)
    program = (
        textwrap.dedent(START.replace("{before}", "atexit.register(lambda: late())")) + f"kind = {text!r}\n" + textwrap.dedent(LATE_HOOK)
    )
    file = tmp_path / "program.py"
    file.write_text(program)
    done = subprocess.run([sys.executable, str(file), device], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    if told is not None:
        assert done.stdout.strip() == told, done.stderr
        assert done.stderr == ""


def test_calls_of_python_are_guarded():
    """Each function of Python's that the module calls is in python_calls.def, or runs no code that could take the GIL again."""
    module = pp._core.__file__
    try:
        listed = subprocess.run(["nm", "-D", "--undefined-only", module], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        pytest.skip("nm is not installed")
    called = set(re.findall(r"\bU (_?Py\w+)", listed))
    definitions = Path(__file__).parents[2] / "python" / "bind" / "python_calls.def"
    guarded = set(re.findall(r"^CALL\([^,]+, (\w+),", definitions.read_text(), re.M))
    data = {n for n in called if re.search(r"_Type$|^PyExc_|Struct$|Object$|^Py_Version$", n)}
    assert sorted(called - guarded - data - set(HARMLESS.split())) == []
    assert sorted(guarded - called) == []


# They look at objects and make them, or are called while the module is made.
HARMLESS = """
    PyBool_FromLong PyBytes_AsString PyBytes_FromStringAndSize PyBytes_Size PyCMethod_New PyCallable_Check PyCapsule_GetName
    PyCapsule_GetPointer PyCapsule_IsValid PyCapsule_New PyCapsule_SetName PyComplex_FromDoubles PyComplex_ImagAsDouble
    PyComplex_RealAsDouble PyDescr_NewMethod PyDict_GetItemWithError PyDict_New PyDict_Next PyDict_Size PyErr_Clear
    PyErr_ExceptionMatches PyErr_Fetch PyErr_Format PyErr_GivenExceptionMatches PyErr_NewExceptionWithDoc PyErr_NoMemory
    PyErr_Occurred PyErr_Restore PyErr_SetInterrupt PyErr_SetString PyEval_GetFrame PyEval_SaveThread PyException_SetContext
    PyException_SetTraceback PyFloat_FromDouble PyFrame_GetCode PyFrame_GetLineNumber PyGILState_GetThisThreadState PyIndex_Check
    PyInterpreterState_Get PyInterpreterState_GetID PyList_Append PyList_GetItem PyList_Size PyLong_AsUnsignedLongLong
    PyLong_AsVoidPtr PyLong_FromDouble PyLong_FromLong PyLong_FromLongLong PyLong_FromSsize_t PyLong_FromUnsignedLong
    PyLong_FromUnsignedLongLong PyMem_Free PyObject_CallMethod PyObject_CheckBuffer PyObject_GC_UnTrack PyObject_GenericGetDict
    PyObject_GenericSetDict PyObject_HashNotImplemented PyObject_SelfIter PySequence_Check PyTuple_GetItem PyTuple_Pack
    PyTuple_SetItem PyTuple_Size PyType_FromSpec PyType_GetFlags PyType_GetSlot PyType_IsSubtype PyUnicode_AsEncodedString
    PyUnicode_AsUTF8AndSize PyUnicode_Compare PyUnicode_CompareWithASCIIString PyUnicode_DecodeUTF8 PyUnicode_FromFormat
    PyUnicode_FromString PyUnicode_FromStringAndSize PyUnicode_InternFromString Py_AddPendingCall Py_BuildValue Py_IsInitialized
"""
