# tests/python/test_hostile.py: descriptions of memory that lie are refused, and nothing is touched. A crash would end the run, so each
# family of lies is told in a process of its own.
import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.once

PREAMBLE = """
import ctypes, faulthandler, sys
import numpy as np
import pardo as pp

faulthandler.enable()
I64, U64, I32, U32, PTR = ctypes.c_int64, ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint32, ctypes.c_void_p
MAX, MIN = 2**63 - 1, -2**63

class Tensor(ctypes.Structure):
    _fields_ = [('data', PTR), ('device_type', I32), ('device_id', I32), ('ndim', I32), ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8),
                ('lanes', ctypes.c_uint16), ('shape', PTR), ('strides', PTR), ('byte_offset', U64)]
DELETER = ctypes.CFUNCTYPE(None, PTR)
class Legacy(ctypes.Structure):
    _fields_ = [('tensor', Tensor), ('context', PTR), ('deleter', PTR)]
class Versioned(ctypes.Structure):
    _fields_ = [('major', U32), ('minor', U32), ('context', PTR), ('deleter', PTR), ('flags', U64), ('tensor', Tensor)]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [PTR, ctypes.c_char_p, PTR]
memory = np.arange(64.0)
memory.flags.writeable = False
HERE = memory.ctypes.data
alive, deleted = [], []

@DELETER
def delete(address):
    deleted.append(address)

def numbers(values):
    if values is None:
        return None
    made = (I64 * max(len(values), 1))(*values)
    alive.append(made)
    return ctypes.addressof(made)

class Producer:
    '''An object that speaks DLPack and says what it is told to say.'''
    def __init__(self, versioned=True, says=(1, 0), name=None, *, data=HERE, device=(1, 0), ndim=None, dtype=(2, 64, 1), shape=(4,),
                 strides=None, byte_offset=0, major=1, minor=1, flags=0):
        ndim = (0 if shape is None else len(shape)) if ndim is None else ndim
        tensor = Tensor(data, *device, ndim, *dtype, numbers(shape), numbers(strides), byte_offset)
        function = ctypes.cast(delete, PTR)
        self.made = Versioned(major, minor, None, function, flags, tensor) if versioned else Legacy(tensor, None, function)
        self.name = name or (b'dltensor_versioned' if versioned else b'dltensor')
        self.says = says
        alive.append(self)
    def __dlpack_device__(self):
        return self.says
    def __dlpack__(self, **keywords):
        return new_capsule(ctypes.addressof(self.made), self.name, None)

def outcome(f):
    try:
        x = f()
        return repr(pp.asnumpy(x + 1).tolist())
    except Exception as e:
        return f'{type(e).__name__}: {e}'

def expect(name, words, f):
    print(name, end=': ', flush=True)
    got = outcome(f)
    print(got, flush=True)
    assert words in got, (name, got, words)
"""


def run(code, **environment):
    """Runs code in a process of its own; shows what it said last if it fails."""
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(code)],
        env=dict(os.environ, **environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"exit status {done.returncode} after\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


@pytest.mark.parametrize("versioned", [True, False])
def test_tensors_that_lie(versioned):
    run(
        f"versioned = {versioned}\n"
        """
def refused(name, words='BufferError: from_dlpack', **lie):
    for copy in None, True, False:
        before = len(deleted)
        expect(f'{name}, copy={copy}', words, lambda: pp.from_dlpack(Producer(versioned, **lie), copy=copy))
        assert len(deleted) == before + 1, 'the tensor is given back, once'

for ndim in 2**31 - 1, -1, -2**31, 33, 65:
    refused(f'ndim {ndim}', ndim=ndim)
    refused(f'ndim {ndim} without a shape', ndim=ndim, shape=None)
refused('no shape', shape=None, ndim=1)
refused('no data', data=None)
refused('no data, offset', data=None, byte_offset=HERE)
refused('no data, 0-d', data=None, shape=())
for shape in (-1,), (4, -1), (0, -3), (MIN,), (2**62, 4), (2**61,), (2**60,), (2**32, 2**32), (MAX, 2), (2**31, 2**31, 4), (MAX,):
    refused(f'shape {shape}', shape=shape)
for strides in (2**62,), (2**60,), (MAX,), (MIN,), (-(2**60),), (-(HERE // 8) - 1,), (2**59,):
    refused(f'strides {strides}', strides=strides)
for strides in (2**61, -(2**61)), (MAX, MAX), (MIN, MIN), (2**58, 2**59):
    refused(f'strides {strides}', shape=(2, 2), strides=strides)
for offset in 2**64 - 1, 2**64 - 8, 2**63, 2**64 - HERE, 2**63 - HERE:
    refused(f'byte_offset {offset}', byte_offset=offset)
for dtype in (2, 64, 4), (2, 64, 0), (2, 0, 1), (2, 63, 1), (99, 64, 1), (4, 32, 1), (3, 64, 1), (2, 128, 1), (6, 1, 1), (0, 4, 1):
    refused(f'dtype {dtype}', dtype=dtype)
for device in (2, 0), (4, 0), (7, 1), (14, 0), (0, 0), (-1, 0), (2**31 - 1, 0):
    refused(f'device {device}', device=device)
"""
    )


def test_tensors_that_are_strange_and_right():
    run("""
def says(name, values, **facts):
    for versioned in True, False:
        expect(name, str(values), lambda: pp.from_dlpack(Producer(versioned, **facts)))

says('nothing', [], data=None, shape=(0,))
says('nothing in many rows', [[], []], data=None, shape=(2, 0), strides=(MAX, MIN))
says('empty beside a large extent', [], data=None, shape=(0, 2**40))
assert pp.from_dlpack(Producer(data=None, shape=(0, MAX))).shape == (0, MAX)
says('strides of single elements are not used', [[1.0], [2.0]], shape=(2, 1), strides=(1, MAX))
says('one element', 1.0, shape=(), ndim=0)
says('repeated', [1.0, 1.0, 1.0], shape=(3,), strides=(0,))
says('backwards', [4.0, 3.0], shape=(2,), strides=(-1,), byte_offset=24)
x = pp.from_dlpack(Producer(shape=(1, 0, 5), strides=(MAX, MAX, MIN)))
assert x[::-1, :, 1:].shape == (1, 0, 4) and x.sum() == 0
x = pp.from_dlpack(Producer(shape=(1, 4), strides=(MAX, 1)))
assert (pp.asnumpy(x[::-1].T.reshape(2, 2)) == [[0, 1], [2, 3]]).all()
expect('misaligned', str([1.0]), lambda: pp.from_dlpack(Producer(shape=(1,), data=HERE)))
misaligned = Producer(shape=(2,), data=ctypes.addressof(alive[0]) if alive else HERE, byte_offset=1)
expect('copy of what is not aligned', '[', lambda: pp.from_dlpack(misaligned))
expect('shared though not aligned', 'ValueError: from_dlpack: copy=False is impossible: the memory is not aligned',
       lambda: pp.from_dlpack(Producer(shape=(2,), byte_offset=1), copy=False))
""")


def test_versions_flags_and_capsules():
    run("""
for major in 0, 2, 2**32 - 1:  # of another major version nothing but the deleter may be used
    expect(f'version {major}', 'BufferError: from_dlpack: DLPack version',
           lambda: pp.from_dlpack(Producer(major=major, ndim=-1, shape=None)))
expect('newer minor version', str([1.0, 2.0]), lambda: pp.from_dlpack(Producer(minor=2**32 - 1, shape=(2,))))
assert not pp.from_dlpack(Producer(flags=1)).writeable
assert pp.from_dlpack(Producer(flags=0)).writeable
assert pp.from_dlpack(Producer(flags=2**64 - 2)).writeable  # flags of later versions
assert not pp.from_dlpack(Producer(flags=2**64 - 1)).writeable
assert not pp.from_dlpack(Producer(False)).writeable

def broken(**replaced):
    return type('Broken', (Producer,), {name: (lambda value: lambda self, **k: value)(value) for name, value in replaced.items()})()

for says in (1,), (1, 0, 0), 'ab', None, 1, (2**70, 0), (1.5, 0), ('cpu', 0):
    expect(f'device {says!r}', 'TypeError: from_dlpack: __dlpack_device__', lambda: pp.from_dlpack(broken(__dlpack_device__=says)))
names = b'used_dltensor', b'dltensor_', None
for capsule in None, 5, b'dltensor', *[new_capsule(HERE, name, None) for name in names]:
    expect(f'capsule {capsule!r}', 'BufferError: from_dlpack: __dlpack__ returned', lambda: pp.from_dlpack(broken(__dlpack__=capsule)))
twice = Producer().__dlpack__()
assert pp.from_dlpack(broken(__dlpack__=twice)).tolist() == [0, 1, 2, 3]
expect('a used capsule', 'BufferError', lambda: pp.from_dlpack(broken(__dlpack__=twice)))
class Raises(Producer):
    def __dlpack__(self, **keywords):
        raise ZeroDivisionError('producer')
expect('a producer that fails', 'ZeroDivisionError: producer', lambda: pp.from_dlpack(Raises()))
""")


INTERFACES = """
class Object:
    pass
class Interface(Object):
    def __init__(self, **entries):
        entries = {'shape': (4,), 'typestr': '<f8', 'data': (HERE, False), 'version': 3} | entries
        setattr(Interface, NAME, property(lambda self: self.entries))
        self.entries = {k: v for k, v in entries.items() if v is not Object}

def refused(name, error, **lie):
    expect(name, error, lambda: pp.asarray(Interface(**lie)))

for shape in None, 5, 'ab', (1.5,), ('a',), (None,), {3}:
    refused(f'shape {shape!r}', f'TypeError: asarray: {NAME}: shape', shape=shape)
for shape in (-1,), (2**62, 4), (2**60,), (2**70,), (MIN,), (0, -1), (1,) * 65:
    refused(f'shape {shape!r}', f'asarray: {NAME}', shape=shape)
for strides in (8, 8), (), 5, ('a',), (1.0,):
    refused(f'strides {strides!r}', f'TypeError: asarray: {NAME}: strides', strides=strides)
for strides in (2**62,), (MIN,), (2**70,), (-HERE - 8,), (2**61,):
    refused(f'strides {strides!r}', f'asarray: {NAME}', strides=strides)
for data in (HERE,), (HERE, False, 0), 'ab', (1.5, False), ('a', False), HERE, (None, 5, 5):
    refused(f'data {data!r}', f'TypeError: asarray: {NAME}: data', data=data)
for data in (-8, False), (2**64, False), (2**64 - 8, False), (2**63, False), (0, False), (None, False):
    refused(f'data {data!r}', f'asarray: {NAME}', data=data)
for typestr in None, 5, 'nonsense', '<f3', '|O8', '|S3', '|V8', '<U1', '<M8[s]', '<f16', '':
    refused(f'typestr {typestr!r}', 'TypeError: asarray: ', typestr=typestr)
for version in Object, None, 'three', -1:
    refused(f'version {version!r}', f'TypeError: asarray: {NAME}: version', version=version)
refused('mask', 'TypeError: asarray: ', mask=np.ones(4))
refused('descr', 'TypeError: asarray: ', descr=[('a', '<f4'), ('b', '<f4')])
refused('no shape', f'TypeError: asarray: {NAME}: shape', shape=Object)
refused('no typestr', f'TypeError: asarray: {NAME}: typestr', typestr=Object)
for entries in None, 5, [], 'x':
    broken = Interface()
    broken.entries = entries
    expect(f'entries {entries!r}', f'TypeError: asarray: {NAME} must be a dict', lambda: pp.asarray(broken))
"""


def test_the_array_interface():
    run(
        "NAME = '__array_interface__'\n"
        + INTERFACES
        + """
expect('as it is', '[1.0, 2.0, 3.0, 4.0]', lambda: pp.asarray(Interface()))
expect('strides', '[1.0, 3.0]', lambda: pp.asarray(Interface(shape=(2,), strides=(16,))))
expect('backwards', '[2.0, 1.0]', lambda: pp.asarray(Interface(shape=(2,), strides=(-8,), data=(HERE + 8, True))))
expect('any alignment', '[', lambda: pp.asarray(Interface(shape=(2,), data=(HERE + 1, True))))
expect('nothing', '[]', lambda: pp.asarray(Interface(shape=(0,), data=(0, False))))
expect('descr that says the same', '[1.0,', lambda: pp.asarray(Interface(descr=[('', '<f8')])))
expect('not shared', 'ValueError: asarray: copy=False is impossible', lambda: pp.asarray(Interface(), copy=False))
big = np.arange(2.0).astype('>f8')
expect('another byte order', '[1.0, 2.0]', lambda: pp.asarray(Interface(shape=(2,), typestr='>f8', data=(big.ctypes.data, True))))
expect('a buffer, with an offset', '[2.0, 3.0]', lambda: pp.asarray(Interface(shape=(2,), data=memory, offset=8)))
for offset in -8, 8 * 63, 2**62, 2**70, 'a':
    expect(f'offset {offset!r}', 'Error: asarray: __array_interface__',
           lambda: pp.asarray(Interface(shape=(2,), data=memory, offset=offset)))
expect('a buffer that is too short', 'asarray: __array_interface__', lambda: pp.asarray(Interface(shape=(65,), data=memory)))
expect('strides that leave a buffer', 'asarray: __array_interface__', lambda: pp.asarray(Interface(shape=(2,), strides=(-8,), data=memory)))
expect('a buffer and right strides', '[64.0, 63.0]', lambda: pp.asarray(Interface(shape=(2,), strides=(-8,), data=memory, offset=8 * 63)))
for f in pp.array, lambda x: pp.full(4, x), lambda x: pp.stack([pp.ones(4), x]):
    expect('other functions', 'Error', lambda: f(Interface(strides=(2**62,))))
"""
    )


def test_cudas_array_interface_without_a_gpu():
    run(
        "NAME = '__cuda_array_interface__'\n"
        + INTERFACES
        + """
refused('typestr of another byte order', 'TypeError: asarray: ', typestr='>f8')
expect('memory that no device has', 'BufferError: asarray: the memory of __cuda_array_interface__', lambda: pp.asarray(Interface()))
for stream in 'a', 1.5, -1, 2**70:
    expect(f'stream {stream!r}', 'asarray: __cuda_array_interface__: stream', lambda: pp.asarray(Interface(stream=stream)))
"""
    )


def test_memory_of_sycl():
    run("""
class Usm:
    __sycl_usm_array_interface__ = {'shape': (2**62,), 'typestr': '<f8', 'data': (8, False), 'version': 1, 'syclobj': None}
for copy in None, True:
    expect(f'copy={copy}', 'TypeError: asarray: Usm has __sycl_usm_array_interface__ only', lambda: pp.asarray(Usm(), copy=copy))
expect('not shared', 'ValueError: asarray: copy=False is impossible: Usm', lambda: pp.asarray(Usm(), copy=False))
class Both(Producer):
    __sycl_usm_array_interface__ = Usm.__sycl_usm_array_interface__
expect('with DLPack', '[1.0, 2.0]', lambda: pp.asarray(Both(shape=(2,))))
""")


def test_arrays_of_numpy_that_leave_memory():
    run("""
from numpy.lib.stride_tricks import as_strided
for shape, strides in [((3,), (2**62,)), ((2, 2), (2**62, 2**62)), ((2,), (-HERE - 8,)), ((3,), (MIN // 2,))]:
    strange = as_strided(memory, shape, strides)
    for copy in None, True, False:
        expect(f'{shape} {strides}', 'BufferError: asarray', lambda: pp.asarray(strange, copy=copy))
    x = pp.zeros(shape)
    expect('assigned', 'BufferError', lambda: x.__setitem__(..., strange))
strange = as_strided(np.zeros(2)[:1], (1, 4), (MAX, 0))
assert pp.asarray(strange).tolist() == [[0, 0, 0, 0]]
""")
