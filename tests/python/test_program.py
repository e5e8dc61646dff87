# tests/python/test_program.py: kernels as text in OpenCL C on every OpenCL device: launches, arguments, what is refused, the cache.
from __future__ import annotations

import os
import subprocess
import sys
import threading

import groups
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

DEVICES = [d for d in groups.DEVICES if d.backend == "opencl"]

TEXT = """
__kernel void add(__global const float *a, __global const float *b, __global float *c, float factor, int n) {
    int i = get_global_id(0);
    if (i < n) c[i] = a[i] + factor * b[i];
}
__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }
__kernel void where(__global int *out) {
    int i = get_global_id(0), j = get_global_id(1), k = get_global_id(2);
    out[(i * get_global_size(1) + j) * get_global_size(2) + k] = 10000 * i + 100 * j + k;
}
__kernel void turn(__global int *x, __local int *shared) {
    int k = get_local_id(0), n = get_local_size(0);
    shared[k] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = shared[n - 1 - k];
}
typedef struct { int count; float factor; } options;
__kernel void structure(__global float *out, options o) { out[get_global_id(0)] = o.count * o.factor; }
__kernel __attribute__((reqd_work_group_size(8, 1, 1))) void eights(__global int *x) { x[get_global_id(0)] = get_local_size(0); }
__kernel void from_table(__constant int *table, __global int *out) { out[get_global_id(0)] = table[get_global_id(0) % 3]; }
__kernel void unless_null(__global int *x, __global const int *y, int n) {
    int i = get_global_id(0);
    if (x) x[i] = y ? y[i] : n;
}
__kernel void pair(float2 z, __global float2 *out) { out[get_global_id(0)] = z; }
"""


@pytest.fixture(params=DEVICES or [None], ids=lambda d: d.id if d else "none")
def device(request):
    if request.param is None:
        pytest.skip("no OpenCL device")
    return request.param


@pytest.fixture
def program(device):
    return pp.Program(device, TEXT)


def floats(device, n=100, start=0.0):
    return pp.arange(start, start + n, dtype="float32", device=device)


def test_none_is_a_null_pointer(program, device):
    x, y = pp.zeros(5, dtype="int32", device=device), pp.arange(5, dtype="int32", device=device)
    program.unless_null[5](x, None, 7)
    assert pp.asnumpy(x).tolist() == [7] * 5
    program.unless_null[5](x, y, 7)
    assert pp.asnumpy(x).tolist() == [0, 1, 2, 3, 4]
    program.unless_null[5](None, None, 7).wait()
    with pytest.raises(TypeError, match=r"`n` .*a number is expected, not None"):
        program.unless_null[5](x, y, None)


def test_kernels_are_attributes_and_items(program, device):
    assert set(program.kernels) == {"add", "twice", "where", "turn", "structure", "eights", "from_table", "pair", "unless_null"}
    assert program["add"] is program.add
    assert "add" in dir(program)
    assert program.device == device
    assert program.language == "opencl"
    assert "add" in repr(program)
    assert repr(program.add) == f"<kernel add(const float* a, const float* b, float* c, float factor, int n) on {device.id}>"


@pytest.mark.parametrize("factor", [2, 2.0, np.float32(2), True + 1])
def test_numbers_take_the_kernels_types(program, device, factor):
    a, b, c = floats(device), floats(device, start=5), pp.zeros(100, dtype="float32", device=device)
    event = program.add[pp.Range(100)](a, b, c, factor, 90)
    assert isinstance(event, type(a.event))
    event.wait()
    expected = pp.asnumpy(a) + 2 * pp.asnumpy(b)
    expected[90:] = 0
    assert_array_equal(pp.asnumpy(c), expected)


def test_arrays_that_are_pending_and_readers_of_what_is_written(program, device):
    x = floats(device) + 1
    before = x * 10
    program.twice[pp.Range(100)](x)
    after = x * 10
    program["twice"][100](x)
    assert_array_equal(pp.asnumpy(before), 10 * np.arange(1, 101, dtype="float32"))
    assert_array_equal(pp.asnumpy(after), 20 * np.arange(1, 101, dtype="float32"))
    assert_array_equal(pp.asnumpy(x), 4 * np.arange(1, 101, dtype="float32"))


def test_pointers_to_const_are_only_read(program, device):
    a, b, c = floats(device), floats(device), floats(device)
    of_a, of_c = (a.wait() + 1), (c.wait() + 1)
    program.add[100](a, b, c, 1, 100)
    assert of_a.pending
    assert not of_c.pending


def test_numbers_of_the_cpu_follow_where_they_are_read(program, device):
    text = "__kernel void add(__global float *x, __global const float *c, float n, __global float *out) { out[0] = x[0] + c[0] + n; }"
    adds = pp.Program(device, text).add
    x, out, c = floats(device, start=1.0), pp.zeros(1, dtype="float32", device=device), pp.asarray(2.0, dtype="float32")
    before = pp.counters()["copies"]
    adds[1](x, c, np.asarray(3.0, "float32"), out).wait()
    assert pp.counters()["copies"] - before == 1
    assert out.tolist() == [6]
    with pytest.raises(pp.ExecutionPlacementError, match=r"^add: operands are on different queues"):
        adds[1](x, c, 3.0, c)
    with pytest.raises(pp.ExecutionPlacementError, match=r"^add: operands are on different queues"):
        adds[1](x, c[None], 3.0, out)


def test_dimensions_of_the_range(program, device):
    out = pp.zeros((3, 4, 5), dtype="int32", device=device)
    program.where[pp.Range(3, 4, 5)](out)
    i, j, k = np.indices((3, 4, 5))
    assert_array_equal(pp.asnumpy(out), 10000 * i + 100 * j + k)
    program.where[pp.NdRange((4, 15), (2, 3))](out)
    i, j = np.indices((4, 15))
    assert_array_equal(pp.asnumpy(out).reshape(4, 15), 10000 * i + 100 * j)


def test_an_empty_range_does_nothing(program, device):
    x = floats(device)
    assert program.twice[pp.Range(0)](x).done()
    assert_array_equal(pp.asnumpy(x), np.arange(100))


def test_groups_share_memory(program, device):
    x = pp.arange(24, dtype="int32", device=device)
    program.turn[pp.NdRange(24, 8)](x, pp.LocalAccessor(8, "int32"))
    assert_array_equal(pp.asnumpy(x), np.arange(24).reshape(3, 8)[:, ::-1].ravel())


def test_groups_of_the_size_that_the_text_names(program, device):
    x = pp.zeros(24, dtype="int32", device=device)
    program.eights[pp.Range(24)](x)
    assert_array_equal(pp.asnumpy(x), 8)
    with pytest.raises(ValueError, match="eights: groups of 4 x 1 x 1 items, and the text says that they are of 8 x 1 x 1"):
        program.eights[pp.NdRange(24, 4)](x)
    with pytest.raises(ValueError, match="not a multiple of the local one, 8"):
        program.eights[pp.Range(23)](x)


def test_structures_by_their_bytes(program, device):
    options = np.dtype([("count", "int32"), ("factor", "float32")], align=True)
    out = pp.zeros(3, dtype="float32", device=device)
    program.structure[3](out, np.array((6, 1.5), options)[()])
    assert_array_equal(pp.asnumpy(out), 9)


def test_complex_numbers_are_pairs(program, device):
    out = pp.zeros(2, dtype="complex64", device=device)
    program.pair[2](1 + 2j, out)
    assert_array_equal(pp.asnumpy(out), 1 + 2j)
    program.pair[2](np.complex64(3 - 1j), out)
    assert_array_equal(pp.asnumpy(out), 3 - 1j)
    floats_of_it = pp.zeros(4, dtype="float32", device=device)
    program.pair[2](7, floats_of_it)
    assert_array_equal(pp.asnumpy(floats_of_it), [7, 0, 7, 0])


def test_constant_memory(program, device):
    out = pp.zeros(6, dtype="int32", device=device)
    program.from_table[6](pp.asarray(np.array([5, 6, 7], "int32"), device=device), out)
    assert_array_equal(pp.asnumpy(out), [5, 6, 7, 5, 6, 7])


INTEGERS = {"char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32", "long": "int64",
            "ulong": "uint64"}  # fmt: skip


def test_integers_of_every_type_at_their_bounds(device):
    program = pp.Program(device, "\n".join(f"__kernel void f_{c}({c} v, __global {c} *out) {{ out[0] = v; }}" for c in INTEGERS))
    for c, dtype in INTEGERS.items():
        kernel, info = program[f"f_{c}"], np.iinfo(dtype)
        out = pp.zeros(1, dtype=dtype, device=device)
        for v in (info.min, info.max, np.dtype(dtype).type(info.max), 1, True):
            kernel[1](v, out)
            assert int(pp.asnumpy(out)[0]) == int(v)
        for v in (info.min - 1, info.max + 1):
            with pytest.raises(OverflowError):
                kernel[1](v, out)


@pytest.mark.varied("arguments", "error", "message")
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ("a, b, c, 2.0", TypeError, r"takes 5 arguments, but 4 were given: add\(const float\* a, .*, int n\)"),
        ("a, b, c, 2.0, 7, 7", TypeError, "takes 5 arguments, but 6 were given"),
        ("a, b, c, 2.0, 7.5", TypeError, r"`n` \(int\): an integer is expected, not a float"),
        ("a, b, c, 2j, 7", TypeError, r"`factor` \(float\): a real number is expected, not a complex one"),
        ("a, b, c, 2.0, 1 << 31", OverflowError, r"`n` \(int\): 2147483648 is out of its range"),
        ("a, b, c, np.float64(2), 7", TypeError, "here is a number of float64; a Python scalar, or a number of float32, is taken"),
        ("a, b, c, 2.0, np.int64(7)", TypeError, "here is a number of int64; a Python scalar, or a number of int32, is taken"),
        ("a, b, c, 2.0, a", TypeError, r"`n` \(int\): a number is expected, not an array"),
        ("a, 3, c, 2.0, 7", TypeError, r"`b` \(float\*\): an array is expected, not a number"),
        ("a, pp.LocalAccessor(8, 'float32'), c, 2.0, 7", TypeError, "`b`.*: an array is expected, not local memory"),
        ("a, b, c, 2.0, 'seven'", TypeError, "argument 4: an array or a number is expected, not str"),
        ("a, b, pp.asnumpy(c), 2.0, 7", TypeError, "argument 2 is a NumPy array, and data does not move by itself"),
        ("a, b, pp.zeros(10, dtype='int32', device=device), 2.0, 7", TypeError, r"`c` \(float\*\): here is an array of int32; .*float32"),
        ("a, b, c[::2], 2.0, 7", ValueError, r"`c` \(float\*\): the array has strides.*x\.copy\(\)"),
        ("a, b, pp.broadcast_to(c[:1], (10,)), 2.0, 7", ValueError, "`c`.*read-only"),
    ],
)
def test_arguments_that_do_not_fit(program, device, arguments, error, message):
    a, b, c = floats(device), floats(device), floats(device)
    given = eval(arguments, {"a": a, "b": b, "c": c, "np": np, "pp": pp, "device": device})
    with pytest.raises(error, match="^add: .*" + message):
        program.add[10](*given)
    assert_array_equal(pp.asnumpy(c), np.arange(100))


def test_ranges_that_do_not_fit(program, device):
    x, memory = pp.arange(24, dtype="int32", device=device), pp.LocalAccessor(8, "int32")
    with pytest.raises(TypeError, match="turn: local memory is of a group, and the range has none"):
        program.turn[24](x, memory)
    with pytest.raises(ValueError, match=r"turn: the global range, 24 .*not a multiple"):
        program.turn[pp.NdRange(24, 7)](x, memory)
    with pytest.raises(ValueError, match=rf"turn: groups of {1 << 20} x 1 x 1 items: {device.id} takes at most"):
        program.turn[pp.NdRange(1 << 20, 1 << 20)](x, memory)
    with pytest.raises(ValueError, match=r"turn: local memory of \d+ bytes: .* for a group"):
        program.turn[pp.NdRange(24, 8)](x, pp.LocalAccessor(1 << 40, "int32"))
    with pytest.raises(TypeError, match=r"twice: say over which items the kernel runs: twice\[pardo.Range\(n\)\]"):
        program.twice(x)
    with pytest.raises(TypeError, match="at most three"):
        program.twice[pp.Range(1), None, None, None]


def test_names_that_do_not_exist(program):
    with pytest.raises(AttributeError, match=r"there is no kernel 'subtract'; there are .*add"):
        program.subtract
    with pytest.raises(KeyError, match="there is no kernel 'subtract'"):
        program["subtract"]
    assert not hasattr(program, "__wrapped__")


def test_arrays_elsewhere(program, device):
    with pytest.raises(pp.ExecutionPlacementError, match=rf"twice: the arrays are on cpu:0, the program was compiled for {device.id}"):
        program.twice[3](pp.zeros(3, dtype="float32", device="cpu"))
    with pytest.raises(pp.ExecutionPlacementError, match="add: "):
        program.add[3](floats(device), pp.zeros(3, dtype="float32", device="cpu"), floats(device), 1, 3)
    other = pp.Queue(device)
    with pytest.raises(pp.ExecutionPlacementError, match="twice: the arrays are on another queue"):
        program.twice[pp.Range(3), other](floats(device))
    with pytest.raises(pp.ExecutionPlacementError, match="twice: the arrays are on another"):
        program.twice[pp.Range(3), pp.Queue("cpu")](floats(device))


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_queues_order_and_events(program, device, order):
    queue = pp.Queue(device, order=order)
    x = pp.asarray(np.ones(1000, "float32"), queue=queue)
    gate = pp.UserEvent()
    event = program.twice[pp.Range(1000), queue, gate](x)
    for _ in range(5):
        program.twice[pp.Range(1000), queue](x)
    last = program.add[pp.Range(1000)](x, x, x, 1, 1000)
    assert not event.done()
    gate.set_complete()
    last.wait()
    assert event.done()
    assert_array_equal(pp.asnumpy(x), 128)


def test_a_failure_of_what_it_waits_for_is_its_own(program, device):
    gate = pp.UserEvent()
    x = floats(device)
    event = program.twice[pp.Range(100), None, gate](x)
    gate.set_failed(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        event.wait()


def test_call_kernel(program, device):
    x = floats(device)
    pp.call_kernel(program.twice, pp.Range(100), x)
    pp.call_kernel_async(program.twice, 100, None, x).wait()
    assert_array_equal(pp.asnumpy(x), 4 * np.arange(100))


def test_numpy_arrays_in_a_context(program, device):
    a, b, c = np.arange(5, dtype="float32"), np.ones(5, "float32"), np.zeros(5, "float32")
    a.flags.writeable = False  # it is not copied back
    with pp.device_context(device):
        program.add[5](a, b, c, 3, 5)
    assert_array_equal(c, np.arange(5) + 3)


def test_views_begin_where_they_begin(program, device):
    x = floats(device)
    program.twice[10](x[32:42])
    expected = np.arange(100, dtype="float32")
    expected[32:42] *= 2
    assert_array_equal(pp.asnumpy(x), expected)
    rows = pp.zeros((4, 64), dtype="float32", device=device) + 1
    program.twice[64](rows[2])
    assert_array_equal(pp.asnumpy(rows).sum(axis=1), [64, 64, 128, 64])


WAYS = """
import sys, numpy as np, pardo as pp
try:
    n = max(32, pp.Device(sys.argv[1]).mem_base_addr_align // 32)  # elements between places where parts of buffers may begin
    x = pp.arange(4 * n, dtype='float32', device=sys.argv[1])
except pp.DeviceError as e:
    assert 'PARDO_OPENCL_MEMORY' in str(e), e
    sys.exit()
program = pp.Program(sys.argv[1], sys.argv[2])
program.twice[10](x[n:n + 10])
program.add[n](x[n:2 * n], x[2 * n:3 * n], x[:n], 1, n)
small = [pp.ones(3, dtype='float32', device=sys.argv[1]) for _ in range(20)]
for s in small:
    program.twice[3](s)
for s in small:
    assert (pp.asnumpy(s) == 2).all()
program.twice[0](x[:0])
empty = x[:0]
program.add[1](empty, empty, empty, 1, 0).wait()
expected = np.arange(4 * n, dtype='float32')
expected[n:n + 10] *= 2
expected[:n] = expected[n:2 * n] + expected[2 * n:3 * n]
try:
    program.twice[1](x[1:2])
    expected[1] *= 2
except ValueError as e:
    assert sys.argv[3] == 'buffer' and 'begins 4 bytes after the start of its memory, and this device takes multiples of' in str(e), e
np.testing.assert_array_equal(pp.asnumpy(x), expected)
"""


@pytest.mark.parametrize("path", ["usm", "svm", "buffer"])
def test_every_way_to_memory(device, path):
    environment = os.environ | {"PARDO_OPENCL_MEMORY": path}
    command = [sys.executable, "-c", WAYS, device.id, TEXT, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
    assert done.returncode == 0, done.stderr


def test_threads_share_a_kernel(program, device):
    arrays = [floats(device) for _ in range(8)]

    def work(x, n):
        for _ in range(n):
            program.twice[100](x)

    threads = [threading.Thread(target=work, args=(x, n)) for n, x in enumerate(arrays)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for n, x in enumerate(arrays):
        assert_array_equal(pp.asnumpy(x), np.arange(100) * 2**n)


BROKEN = """__kernel void broken(__global float *x) {
    int i = get_global_id(0);
    x[i] = undeclared_name;
}
"""


def test_the_compilers_words(device):
    with pytest.raises(pp.CompileError, match="Program: the compiler of ") as caught:
        pp.Program(device, BROKEN)
    text = str(caught.value)
    assert device.id in text
    assert "CL_BUILD_PROGRAM_FAILURE" in text
    assert "\nline 3:     x[i] = undeclared_name;\n" in text
    assert text.count("undeclared_name") > 1
    assert len(text) < 4000


def test_options(device):
    text = "__kernel void f(__global int *x) { x[0] = VALUE; }"
    x = pp.zeros(1, dtype="int32", device=device)
    for options, value in [("-D VALUE=5", 5), (["-D", "VALUE=6"], 6), (("-DVALUE=7", "-cl-fast-relaxed-math"), 7)]:
        pp.Program(device, text, "opencl", options=options).f[1](x)
        assert int(x[0]) == value
    with pytest.raises(pp.CompileError):
        pp.Program(device, text)
    with pytest.raises(pp.CompileError):
        pp.Program(device, text, options="-no-such-option")


def test_texts_that_are_none(device):
    with pytest.raises(pp.CompileError, match="Program: there is no kernel in the text: no function is marked __kernel"):
        pp.Program(device, "int one(void) { return 1; }")
    with pytest.raises(TypeError, match="Program: the source is a str, a sequence of them, or bytes of a binary, not NoneType"):
        pp.Program(device, None)


def test_languages(device):
    with pytest.raises(ValueError, match=rf'Program: {device.id} takes text in "opencl", not "cuda"'):
        pp.Program(device, TEXT, language="cuda")
    with pytest.raises(ValueError, match='Program: the language is "cuda", "opencl", "spirv" or "binary", not "metal"'):
        pp.Program(device, TEXT, language="metal")


def test_the_cpu_device_has_no_language():
    for language in (None, "opencl", "cuda"):
        with pytest.raises(pp.DeviceError, match=r"Program: cpu:0 compiles no text; write the kernel in Python .*get_devices\(.opencl.\)"):
            pp.Program("cpu", TEXT, language)


CACHED = """
import sys, pardo as pp
program = pp.Program(sys.argv[1], sys.argv[2])
x = pp.asarray([1.0, 2.0], dtype='float32', device=sys.argv[1])
program.add[2](x, x, x, 2, 2)
assert pp.asnumpy(x).tolist() == [3, 6]
counters = pp.counters()
print(counters['from_disk'] > 0 or counters['fallbacks'] > 0)
"""


def test_programs_are_kept(device, tmp_path):
    unseen = TEXT + f"// {os.urandom(8).hex()}\n"
    before = pp.counters()["compiled"]
    pp.Program(device, unseen)
    assert pp.counters()["compiled"] == before + 1
    pp.Program(device, unseen)
    assert pp.counters()["compiled"] == before + 1
    outputs = []
    for _ in range(2):
        command = [sys.executable, "-c", CACHED, device.id, unseen]
        environment = os.environ | {"PARDO_CACHE_DIR": str(tmp_path), "PARDO_CACHE": "on"}
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout.strip())
    assert outputs == ["False", "True"]


def test_programs_that_read_files_are_not_kept(device, tmp_path):
    header = tmp_path / "value.h"
    text = '#include "value.h"\n__kernel void f(__global int *x) { x[0] = VALUE; }'
    x = pp.zeros(1, dtype="int32", device=device)
    for value in (3, 4):
        header.write_text(f"#define VALUE {value}\n")
        pp.Program(device, text, options=["-I", str(tmp_path)]).f[1](x)
        assert int(x[0]) == value


def spirv() -> bytes:
    """A module whose kernel `scale` takes floats and a number, and multiplies each by it (SPIR-V 1.0, section 3)."""

    def text(s: str) -> list[int]:
        padded = s.encode() + b"\0" * (4 - len(s) % 4)
        return [int.from_bytes(padded[k : k + 4], "little") for k in range(0, len(padded), 4)]

    void, single, index, triple, ids, pointer, kind, where, main, x, factor, label, at, i, place, value, product = range(1, 18)
    code = [
        (17, 4),  # OpCapability Addresses
        (17, 6),  # Kernel
        (17, 11),  # Int64
        (14, 2, 2),  # OpMemoryModel Physical64 OpenCL
        (15, 6, main, *text("scale"), where),  # OpEntryPoint Kernel
        (71, where, 11, 28),  # OpDecorate BuiltIn GlobalInvocationId
        (71, where, 22),  # Constant
        (71, where, 41, *text("__spirv_BuiltInGlobalInvocationId"), 1),  # LinkageAttributes Import
        (19, void),
        (22, single, 32),
        (21, index, 64, 0),
        (23, triple, index, 3),
        (32, ids, 1, triple),  # OpTypePointer Input
        (32, pointer, 5, single),  # CrossWorkgroup
        (33, kind, void, pointer, single),
        (59, ids, where, 1),  # OpVariable
        (54, void, main, 0, kind),  # OpFunction
        (55, pointer, x),
        (55, single, factor),
        (248, label),
        (61, triple, at, where, 2, 32),  # OpLoad Aligned 32
        (81, index, i, at, 0),  # OpCompositeExtract
        (70, pointer, place, x, i),  # OpInBoundsPtrAccessChain
        (61, single, value, place, 2, 4),
        (133, single, product, value, factor),  # OpFMul
        (62, place, product, 2, 4),  # OpStore
        (253,),
        (56,),
    ]
    words = [0x07230203, 0x00010000, 0, 18, 0]
    for operation, *operands in code:
        words += [(len(operands) + 1) << 16 | operation, *operands]
    return np.array(words, "<u4").tobytes()


def test_modules_of_spirv(device):
    if "cl_khr_il_program" not in device.extensions:
        with pytest.raises(pp.DeviceError, match="takes no SPIR-V; give it OpenCL C"):
            pp.Program(device, spirv())
        return
    program = pp.Program(device, spirv())
    assert (program.language, program.kernels) == ("spirv", ("scale",))
    x = floats(device)
    program.scale[100](x, np.float32(3))
    assert_array_equal(pp.asnumpy(x), 3 * np.arange(100, dtype="float32"))
    assert pp.Program(device, spirv(), "spirv").kernels == ("scale",)
    with pytest.raises(TypeError, match=r"a Python scalar has none; write np.int32"):
        program.scale[100](x, 3)
    # In the last one an instruction has no words: Intel's driver does not come back from it.
    for cut in (spirv()[:40], spirv()[:20], spirv()[:-6], spirv() + b"\1", spirv()[:20] + bytes(20)):
        with pytest.raises(pp.CompileError, match="the module of SPIR-V is damaged or cut off"):
            pp.Program(device, cut)


def test_what_is_no_spirv(device):
    with pytest.raises(ValueError, match="this is not a SPIR-V module: its first word would be 0x07230203"):
        pp.Program(device, TEXT, "spirv")
    with pytest.raises(ValueError, match="takes no such binary"):
        pp.Program(device, TEXT.encode())
    for language in ("cuda", "opencl"):
        with pytest.raises(ValueError, match=r"a module of SPIR-V is for devices of pardo.get_devices"):
            pp.Program(device, spirv(), language)


# --- binaries, facts, parts


def test_binaries_are_loaded_again(device):
    program = pp.Program(device, TEXT, options="-D UNUSED")
    assert program.source == TEXT
    again = pp.Program(device, program.binary)
    assert (again.language, again.kernels, again.source) == ("binary", program.kernels, program.binary)
    assert repr(again.add) == repr(program.add)
    x = floats(device, 8)
    again.twice[pp.Range(8)](x)
    assert_array_equal(pp.asnumpy(x), 2 * np.arange(8, dtype=np.float32))
    assert pp.Program(device, again.binary, language="binary").binary == program.binary
    for damaged in (program.binary[:30], b"pardo program 1\n" + b"x" * 100, b"nothing of the kind"):
        with pytest.raises(ValueError, match=r"the binary is damaged|takes no such binary"):
            pp.Program(device, damaged)
    with pytest.raises(ValueError, match="the binary has no bytes"):
        pp.Program(device, b"")


def test_build_log(device):
    assert isinstance(pp.Program(device, TEXT).build_log, str)
    warned = pp.Program(device, "#warning take care\n__kernel void f(__global int *x) { *x = 1; }")
    assert warned.build_log == "" or "take care" in warned.build_log


def test_headers_and_linked_texts(device):
    texts = [
        '#include "sizes.h"\nint sum(int a, int b);\n__kernel void f(__global int *x) { x[get_global_id(0)] = sum(N, get_global_id(0)); }',
        '#include "sizes.h"\nint sum(int a, int b) { return a + b + N; }',
    ]
    program = pp.Program(device, texts, headers={"sizes.h": "#define N 5\n"})
    assert program.source == tuple(texts)
    x = pp.zeros(4, dtype="int32", device=device)
    program.f[pp.Range(4)](x)
    assert x.tolist() == [10, 11, 12, 13]
    other = pp.Program(device, texts, headers={"sizes.h": "#define N 6\n"})
    other.f[pp.Range(4)](x)
    assert x.tolist() == [12, 13, 14, 15]
    with pytest.raises(pp.CompileError, match=r"line 1: int sum\(int a\) { return b; }"):
        pp.Program(device, [texts[0], "int sum(int a) { return b; }"], headers={"sizes.h": "#define N 5\n"})
    with pytest.raises(pp.CompileError):
        pp.Program(device, texts[:1], headers={"sizes.h": "#define N 5\n"})  # nothing defines `sum`
    with pytest.raises(TypeError, match="headers: a dict of texts by their names is expected"):
        pp.Program(device, texts, headers={"sizes.h": b"N"})
    with pytest.raises(TypeError, match="headers: a dict of texts by their names is expected"):
        pp.Program(device, texts, headers=["sizes.h"])
    with pytest.raises(TypeError, match="the source is a str, a sequence of them, or bytes of a binary, not int"):
        pp.Program(device, 7)


def test_facts_of_kernels(device):
    program = pp.Program(device, TEXT)
    assert 1 <= program.add.max_work_group_size <= device.max_work_group_size
    assert program.add.preferred_work_group_size_multiple >= 1
    assert program.add.compile_work_group_size is None
    assert program.eights.compile_work_group_size == (8, 1, 1)
    assert program.add.local_mem_size >= 0
    assert program.add.private_mem_size is None or program.add.private_mem_size >= 0
    assert program.add.registers is None or program.add.registers > 0


def test_offsets(device):
    program = pp.Program(device, TEXT)
    x = floats(device, 8)
    program.twice.with_offset(5)[pp.Range(3)](x)
    program.twice.with_offset(1)[pp.NdRange(2, 2)](x)
    assert_array_equal(pp.asnumpy(x), [0, 2, 4, 3, 4, 10, 12, 14])
    with pytest.raises(ValueError, match="twice: the range has 1 dimension, its offset 2"):
        program.twice.with_offset(1, 2)[pp.Range(3)](x)
    with pytest.raises(ValueError, match=r"twice.with_offset: an offset is negative: \(-1,\)"):
        program.twice.with_offset(-1)
