# tests/python/test_cuda.py: arrays on CUDA devices and other CUDA libraries, on the fake driver of the C++ tests where there is no GPU.
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numpy_names import BEFORE_2_1

ROOT = Path(__file__).resolve().parents[2]
FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(ROOT.glob("build/*/libcuda_fake.so"))), "")

pytestmark = [pytest.mark.once, pytest.mark.skipif(not FAKE, reason="libcuda_fake.so is not built (target cuda_fake)")]

PREAMBLE = """
import os
import numpy as np
import pardo as pp

class Tensor:
    '''Another library's array, by DLPack alone.'''
    def __init__(self, x):
        self.x, self.streams = x, []
    def __dlpack_device__(self):
        return self.x.__dlpack_device__()
    def __dlpack__(self, **keywords):
        self.streams.append(keywords.get('stream'))
        return self.x.__dlpack__(**keywords)

class Interface:
    '''And one by CUDA's array interface alone.'''
    def __init__(self, x):
        self.x = x
        self.__cuda_array_interface__ = dict(x.__cuda_array_interface__)

host = np.arange(12.0).reshape(3, 4)
x = pp.asarray(host, device='cuda:1')
"""


def run(code, **environment):
    """Runs code in a process that has the fake driver with two devices; its output."""
    variables = dict(os.environ, PARDO_CUDA_DRIVER=FAKE, FAKE_CUDA_DEVICES="2", **environment)
    variables.pop("PARDO_DEVICES", None)
    done = subprocess.run([sys.executable, "-c", PREAMBLE + code], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_values_go_there_and_back():
    run("""
assert x.device.id == 'cuda:1' and x.device.type == 'gpu'
assert (pp.asnumpy(x) == host).all()
y = x.to_device('cuda:0')
assert y.device.id == 'cuda:0' and (pp.asnumpy(y) == host).all()
assert (pp.asnumpy(y.to_device('cpu')) == host).all()
""")


def test_choosing_the_cpu_starts_no_driver():
    code = "import pardo as pp; x = pp.asarray([1.0]) + 1; print(float(pp.Device('cpu') is not None), x)"
    variables = dict(os.environ, PARDO_CUDA_DRIVER=FAKE, FAKE_CUDA_INIT="999", PARDO_LOG="debug")
    variables.pop("PARDO_DEVICES", None)
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cuInit" not in done.stderr


def test_dlpack_shares_memory_and_passes_streams():
    run("""
t = Tensor(x)
y = pp.from_dlpack(t)
assert y.device.id == 'cuda:1' and (pp.asnumpy(y) == host).all()
assert t.streams == [y.__cuda_array_interface__['stream']]
assert y.__cuda_array_interface__['data'][0] == x.__cuda_array_interface__['data'][0]
z = pp.from_dlpack(Tensor(x), device='cuda:0')
assert z.device.id == 'cuda:0' and (pp.asnumpy(z) == host).all()
try:
    pp.from_dlpack(Tensor(x), device='cuda:0', copy=False)
except ValueError as e:
    assert 'cuda:1' in str(e)
else:
    raise AssertionError
""")


@pytest.mark.skipif(BEFORE_2_1, reason="NumPy 2.0 has DLPack without keywords")
def test_dlpack_to_the_host_copies():
    run("""
assert x.__dlpack_device__() == (2, 1)
y = np.from_dlpack(x, device='cpu')
assert (y == host).all()
""")


@pytest.mark.parametrize(
    ("stream", "error"), [(0, "ValueError"), (-2, "ValueError"), ("'1'", "TypeError"), (1, None), (2, None), (-1, None)]
)
def test_streams_of_the_array_api(stream, error):
    code = f"x.__dlpack__(stream={stream}, max_version=(1, 0))"
    if error:
        code = f"try:\n    {code}\nexcept {error} as e:\n    assert 'stream' in str(e)\nelse:\n    raise AssertionError"
    run(code)


def test_cuda_array_interface_both_ways():
    run("""
i = x.__cuda_array_interface__
assert i['shape'] == (3, 4) and i['typestr'] == '<f8' and i['version'] == 3 and i['strides'] is None and not i['data'][1]
assert i['stream'] > 2
t = x.T.__cuda_array_interface__
assert t['strides'] == (8, 32) and t['data'][0] == i['data'][0]
y = pp.asarray(Interface(x), copy=False)
assert y.device.id == 'cuda:1' and (pp.asnumpy(y) == host).all()
assert not hasattr(pp.asarray(host, device='cpu'), '__cuda_array_interface__')
""")


def test_cuda_array_interface_of_records():
    run("""
kind = np.dtype([('a', 'f8'), ('b', 'i4', (2,)), ('c', 'u1')], align=True)
records = np.zeros((3, 2), kind)
records['a'], records['b'], records['c'] = np.arange(6).reshape(3, 2), 7, 3
r = pp.asarray(records, device='cuda:1')
i = r.__cuda_array_interface__
assert i['shape'] == (3, 2) and i['typestr'] == kind.str and i['descr'] == kind.descr and i['strides'] is None
assert r.T.__cuda_array_interface__['strides'] == (kind.itemsize, 2 * kind.itemsize)
y = pp.asarray(Interface(r), copy=False)
assert y.device.id == 'cuda:1' and y.dtype.names == ('a', 'b', 'c') and y.__cuda_array_interface__['data'] == i['data']
same = lambda found: all((pp.asnumpy(found)[name] == records[name]).all() for name in kind.names)
assert same(y)
turned = pp.asarray(Interface(r.T), copy=False)
assert turned.shape == (2, 3) and turned.strides == r.T.strides
assert same(pp.asarray(Interface(r), device='cpu'))
for x, words in [(pp.zeros(2, dtype='u1, f8', device='cuda:1'), 'align'), (pp.zeros(2, dtype=kind, device='cpu'), 'CUDA')]:
    try:
        x.__cuda_array_interface__
    except AttributeError as e:
        assert words in str(e)
    else:
        raise AssertionError(words)
for lie in [{'descr': 3}, {'descr': [('a', 'f8')]}, {'descr': [('', 'O')]}, {'descr': None},
            {'typestr': '|V5', 'descr': [('a', 'u1'), ('b', 'u4')]}]:
    j = Interface(r)
    j.__cuda_array_interface__ |= lie
    try:
        pp.asarray(j)
    except TypeError:
        pass
    else:
        raise AssertionError(lie)
""")


def test_interfaces_that_lie_are_refused():
    run("""
import copy
good = x.__cuda_array_interface__
address = good['data'][0]
neighbour = pp.asarray(host, device='cuda:1')
other = pp.asarray(host, device='cuda:0')
MAX = 2**63 - 1

def refused(words, **lie):
    i = Interface(x)
    i.__cuda_array_interface__ |= lie
    for keywords in {}, {'copy': False}, {'device': 'cuda:1'}, {'device': 'cpu'}:
        try:
            pp.asnumpy(pp.asarray(i, **keywords))
        except (BufferError, TypeError, ValueError) as e:
            assert words in str(e), (lie, e)
        else:
            raise AssertionError(lie)

refused('strides', strides=(8,))
refused('strides', strides=(8, 8, 8))
refused('description', strides=(2**60, 8))
refused('description', strides=(MAX, MAX))
refused('description', shape=(-1, 4))
refused('description', shape=(2**62, 4))
refused('one allocation', shape=(2**20, 2**20))  # both ends count, not the first byte only
refused('one allocation', strides=(2**25, 8))
refused('one allocation', strides=(-2**20, 8))
refused('one allocation', data=(8, False))
refused('data', data=(2**64, False))
refused('data', data=address)
refused('data', data=[])
refused('data', data=(None, False, 1))
refused('address', data=(0, False))
refused('multiple', data=(address + 1, False), shape=(2,), strides=None)
refused('mask', mask=host)
refused('stream', stream='1')
refused('version', version=None)
empty = Interface(x)
empty.__cuda_array_interface__ |= {'shape': (0, 4), 'strides': (MAX, MAX), 'data': (0, False)}
assert pp.asarray(empty, device='cuda:1').shape == (0, 4)
back = Interface(x)
back.__cuda_array_interface__ |= {'strides': (-32, 8), 'data': (address + 64, False)}
shared = pp.asarray(back, copy=False)
assert shared.strides == (-32, 8) and shared.__cuda_array_interface__['data'][0] == address + 64
""")


def test_tensors_that_lie_about_a_gpu_are_refused():
    run("""
import ctypes

class Lie(Tensor):
    '''A tensor of x, changed before it is handed over.'''
    def __init__(self, x, **changes):
        super().__init__(x)
        self.changes = changes
    def __dlpack__(self, **keywords):
        capsule = self.x.__dlpack__(max_version=(1, 0))
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        at = get(capsule, b'dltensor_versioned') + 32  # the tensor: data, device, ndim, dtype, shape, strides, byte_offset
        offsets = {'data': (0, ctypes.c_uint64), 'type': (8, ctypes.c_int32), 'ndim': (16, ctypes.c_int32), 'shape': (24, ctypes.c_uint64),
                   'byte_offset': (40, ctypes.c_uint64)}
        for name, value in self.changes.items():
            offset, kind = offsets[name]
            kind.from_address(at + offset).value = value
        return capsule

for name, value in [('ndim', 2**31 - 1), ('ndim', -1), ('data', 0), ('data', 4096), ('byte_offset', 2**63), ('byte_offset', 2**40),
                    ('type', 1), ('type', 4)]:
    changes = {name: value}
    try:
        pp.from_dlpack(Lie(x, **changes))
    except BufferError:
        pass
    else:
        raise AssertionError(changes)
assert (pp.asnumpy(pp.from_dlpack(Lie(x))) == host).all()
""")


def test_lent_memory_is_not_used_anew_at_once():
    run("""
import ctypes
fake = ctypes.CDLL(os.environ['PARDO_CUDA_DRIVER'])
fake.fake_cuda_calls.restype = ctypes.c_long
y = pp.zeros(1 << 20, device='cuda:1').wait()
address = y.__cuda_array_interface__['data'][0]
stops = fake.fake_cuda_calls(b'cuCtxSynchronize')
fake.fake_cuda_hold(1)  # the borrower's work does not run yet
del y
z = pp.empty(1 << 20, device='cuda:1')
fake.fake_cuda_hold(0)
assert z.__cuda_array_interface__['data'][0] != address
assert fake.fake_cuda_calls(b'cuCtxSynchronize') == stops
for _ in range(20):  # nor does a tensor that comes back stop the device
    pp.from_dlpack(Tensor(z))
    t = z.__dlpack__(stream=1, max_version=(1, 0))
    del t
assert fake.fake_cuda_calls(b'cuCtxSynchronize') == stops
""")


def test_few_bytes_of_the_host_wait_for_nothing():
    run("""
import ctypes
fake = ctypes.CDLL(os.environ['PARDO_CUDA_DRIVER'])
few = np.arange(5.0)
fake.fake_cuda_hold(1)  # no stream takes work: to wait would take for ever
y = pp.asarray(few, device='cuda:1')
few[:] = 7
fake.fake_cuda_hold(0)
assert (pp.asnumpy(y) == np.arange(5.0)).all()
""")


def test_parameters_are_read_again_when_they_were_written():
    run("""
import ctypes
from pardo._functions.operands import parameters_on_host
fake = ctypes.CDLL(os.environ['PARDO_CUDA_DRIVER'])
fake.fake_cuda_calls.restype = ctypes.c_long
reads = lambda: fake.fake_cuda_calls(b'cuMemcpyDtoHAsync')

def change(f, again=1):
    f()
    before = reads()
    values = parameters_on_host(w, "digitize")
    assert reads() == before + again and (values == pp.asnumpy(w)).all(), f

w = pp.asarray(np.arange(9.0).reshape(3, 3), device='cuda:1')
change(lambda: None)
change(lambda: None, again=0)
change(lambda: w._fill(3))  # by the driver, as far as this one computes
change(lambda: None, again=0)
change(lambda: w.__setitem__((0, 0), 5))
view = w[1]
change(lambda: view._fill(8))
w = pp.asarray(np.ones((3, 3)), device='cuda:1')
change(lambda: None)
change(lambda: None, again=0)
change(lambda: w.__cuda_array_interface__)  # others may write it from now on
change(lambda: None)
""")


def test_lists_of_arrays_that_the_host_does_not_see():
    run("""
y = pp.asarray([x, x])
assert y.device == x.device and y.shape == (2, *x.shape), (y.device, x.device, y.shape)  # this driver runs no kernel
y = pp.asarray([[x[0], x[1]], [x[2], [1, 2, 3, 4]]], device='cuda:1')
assert y.device.id == 'cuda:1' and y.shape == (2, 2, 4)
""")


def test_listing_names_the_reason():
    variables = dict(os.environ, PARDO_CUDA_DRIVER="/nowhere/libcuda.so.1")
    variables.pop("PARDO_DEVICES", None)
    done = subprocess.run([sys.executable, "-m", "pardo", "--list"], env=variables, capture_output=True, text=True, check=False)
    assert "PARDO_CUDA_DRIVER=/nowhere/libcuda.so.1 cannot be loaded" in done.stdout + done.stderr


TEXT = """
import ctypes, os, sys

fake = ctypes.CDLL(os.environ['PARDO_CUDA_DRIVER'])

class Launch(ctypes.Structure):
    _fields_ = [('kernel', ctypes.c_char_p), ('device', ctypes.c_int), ('grid', ctypes.c_uint * 3), ('block', ctypes.c_uint * 3),
                ('shared', ctypes.c_uint), ('count', ctypes.c_int), ('params', ctypes.POINTER(ctypes.c_uint64))]

fake.fake_cuda_launch.restype = ctypes.POINTER(Launch)
fake.fake_cuda_launches.restype = ctypes.c_long
fake.fake_cuda_host_address.restype = ctypes.c_void_p
fake.fake_cuda_host_address.argtypes = [ctypes.c_uint64, ctypes.c_size_t]

def last():
    l = fake.fake_cuda_launch(ctypes.c_long(fake.fake_cuda_launches() - 1)).contents
    return l.kernel, tuple(l.grid), tuple(l.block), l.shared, [l.params[i] for i in range(l.count)]

def raises(error, words, f, *arguments):
    try:
        f(*arguments)
    except error as e:
        assert words in str(e), e
    else:
        raise AssertionError(words)

source = '''
struct Options { int count; double factor; };
extern "C" {
__global__ void axpy(const float *x, float *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
__global__ void turn(int *x) {
    extern __shared__ int shared[];
    int k = threadIdx.x, i = blockIdx.x * blockDim.x + k;
    shared[k] = x[i];
    __syncthreads();
    x[i] = shared[blockDim.x - 1 - k];
}
__global__ void structure(double *out, Options o, unsigned char b, long long n) { out[n] = o.count * o.factor + b; }
__global__ void __launch_bounds__(64) small() {}
}
template <class T> __global__ void decorated(T *x) { *x = 1; }
template __global__ void decorated<int>(int *);
'''
try:
    program = pp.Program('cuda:1', source)
except ImportError as e:
    print('skip', e)
    sys.exit()
"""


def run_text(code, **environment):
    """As run, with a program; skips the test without NVRTC."""
    out = run(TEXT + code, **environment)
    if out.startswith("skip"):
        pytest.skip(out)
    return out


def test_text_becomes_kernels():
    run_text("""
assert set(program.kernels) >= {'axpy', 'turn', 'structure', 'small'} and program.language == 'cuda'
y = pp.asarray(np.ones(12, 'float32'), device='cuda:1')
x = pp.asarray(np.arange(20, dtype='float32'), device='cuda:1')

@ctypes.CFUNCTYPE(None, ctypes.POINTER(Launch))
def axpy(l):
    px, py, a, n = [l.contents.params[i] for i in range(4)]
    n &= 0xffffffff
    at = lambda p: np.ctypeslib.as_array(ctypes.cast(fake.fake_cuda_host_address(p, 4 * n), ctypes.POINTER(ctypes.c_float)), (n,))
    at(py)[:] += np.uint32(a).view('float32') * at(px)

fake.fake_cuda_on_launch(b'axpy', axpy)
program.axpy[pp.NdRange(16, 4)](x[4:16], y, 2, 12)
assert last()[:4] == (b'axpy', (4, 1, 1), (4, 1, 1), 0)
assert (pp.asnumpy(y) == 1 + 2 * np.arange(4, 16)).all()
reader = y + 0
assert reader.pending
program.axpy[pp.Range(12)](x, y, np.float32(1), np.uint32(12)).wait()
assert last()[1:3] == ((1, 1, 1), (12, 1, 1)) and not reader.pending
assert (pp.asnumpy(y) == 1 + 2 * np.arange(4, 16) + np.arange(12)).all()
""")


def test_groups_of_text():
    run_text("""
x = pp.zeros(1 << 16, dtype='int32', device='cuda:1')
program.turn[pp.NdRange(1 << 16, 1024)](x, pp.LocalAccessor(50000, 'int32'))
assert last() == (b'turn', (64, 1, 1), (1024, 1, 1), 200000, [x.__cuda_array_interface__['data'][0]])
raises(TypeError, 'local memory is of a group, and the range has none', program.turn[64], x, pp.LocalAccessor(64, 'int32'))
raises(TypeError, 'give local memory once', program.turn[pp.NdRange(64, 64)], x, *[pp.LocalAccessor(64, 'int32')] * 2)
raises(ValueError, 'local memory of 400000 bytes: cuda:1 has', program.turn[pp.NdRange(64, 64)], x, pp.LocalAccessor(100000, 'int32'))
raises(ValueError, 'groups of 128 x 1 x 1 items: cuda:1 takes at most 64 for this kernel', program.small[pp.NdRange(256, 128)])
raises(ValueError, 'takes at most 64 in dimension 2', program.turn[pp.NdRange((1, 1, 128), (1, 1, 128))], x)
raises(ValueError, 'small: 70000 groups in dimension 1; a device takes 65535 there', program.small[pp.NdRange((1, 70000), (1, 1))])
grids = {}
for extents in [(1000,), (1 << 20,), (12, 10), (4, 5, 8), (640, 480)]:
    program.small[pp.Range(*extents)]()
    kernel, grid, block, shared, params = last()
    assert [g * b for g, b in zip(grid, block)] == [*extents, 1, 1][:3] and params == []
    assert 32 <= np.prod(block) <= 64, block
fallbacks = pp.counters()['fallbacks']
program.small[pp.Range(100003)]()
assert last()[1:3] == ((100003, 1, 1), (1, 1, 1)) and pp.counters()['fallbacks'] == fallbacks + 1
""")


def test_arguments_of_text():
    run_text("""
out = pp.zeros(3, device='cuda:1')
options = np.dtype([('count', 'int32'), ('factor', 'float64')], align=True)
call = program.structure[1]
call(out, np.array((7, 0.5), options)[()], True, -1)
assert last()[4][2:] == [1, (1 << 64) - 1]
call(out, np.array((7, 0.5), options)[()], 255, np.int64(5))
raises(OverflowError, 'argument 2 (8-bit integer): 256 is out of its range', call, out, np.array((7, 0.5), options)[()], 256, 0)
raises(TypeError, '12 bytes, the kernel', call, out, np.zeros((), [('count', 'int32'), ('factor', 'float64')])[()], 1, 0)
raises(TypeError, 'is not known, and a Python scalar has none; write np.int32(7)', call, out, 3, 1, 0)
raises(TypeError, 'argument 2 (8-bit integer): an integer is expected, not a float', call, out, np.zeros((), options)[()], 1.0, 0)
raises(TypeError, 'here is a number of int16', call, out, np.zeros((), options)[()], np.int16(1), 0)
raises(TypeError, 'axpy: argument 3 (32-bit integer): a number is expected, not an array', program.axpy[1], out, out, 1, out)
raises(TypeError, 'axpy: takes 4 arguments, but 3 were given', program.axpy[1], out, out, 1)
raises(pp.ExecutionPlacementError, 'axpy: the arrays are on cuda:0', program.axpy[1], *[out.to_device('cuda:0')] * 2, 1, 1)
try:
    program.decorated
except AttributeError as e:
    assert '_Z9decorated' in str(e) and 'declare the kernels extern "C"' in str(e), e
else:
    raise AssertionError
""")


def test_text_that_does_not_compile():
    run_text("""
def broken():
    pp.Program('cuda:0', 'extern "C" __global__ void f(float *x) {\\n    x[0] = wrong_name;\\n}\\n')
raises(pp.CompileError, '\\nline 2:     x[0] = wrong_name;\\n', broken)
raises(pp.CompileError, 'for sm_90 does not compile it', broken)
raises(pp.CompileError, 'identifier "wrong_name" is undefined', broken)
raises(pp.CompileError, 'there is no kernel in the text', pp.Program, 'cuda:0', '__device__ int one() { return 1; }')
raises(ValueError, 'cuda:0 takes text in "cuda", not "opencl"', pp.Program, 'cuda:0', source, 'opencl')
raises(pp.CompileError, 'no-such-option', pp.Program, 'cuda:0', source, None, '--no-such-option')
text = 'extern "C" __global__ void f(int *x) { *x = VALUE; }'
raises(pp.CompileError, 'VALUE', pp.Program, 'cuda:0', text)
assert pp.Program('cuda:0', text, options='-D VALUE=5').kernels == ('f',)
""")


def test_text_that_fails_while_it_runs():
    run_text("""
y = pp.asarray(np.ones(12, 'float32'), device='cuda:1').wait()  # the copy is known to be complete
fake.fake_cuda_fail_kernel(b'axpy', 700)
def launch():
    program.axpy[12](y, y, 1, 12).wait()
raises(pp.DeviceError, 'in kernel axpy, at <string>', launch)
""")


def test_programs_come_from_disk(tmp_path):
    counts = "print(pp.counters()['compiled'], pp.counters()['from_disk'], repr(program.axpy))"
    first = run_text(counts, PARDO_CACHE_DIR=str(tmp_path), PARDO_CACHE="on").split(maxsplit=2)
    second = run_text(counts, PARDO_CACHE_DIR=str(tmp_path), PARDO_CACHE="on").split(maxsplit=2)
    assert (first[:2], second[:2]) == (["1", "0"], ["0", "1"])
    assert first[2] == second[2]
    assert "32-bit integer" in first[2]
