# tests/python/test_images.py: images and samplers: in kernels in Python on every device, in programs of OpenCL C, and what is refused.
from __future__ import annotations

import copy
import itertools
import math
import pickle

import groups
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytestmark = pytest.mark.once

INTEGERS = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
FORMATS = [(t, False) for t in (*INTEGERS, "float16", "float32")] + [("uint8", True), ("uint16", True)]
FORMAT_IDS = [t + "-normalized" * n for t, n in FORMATS]
SHAPES = [((5,), False), ((3, 4), False), ((2, 3, 4), False), ((3, 5), True), ((2, 3, 4), True)]
SHAPE_IDS = ["1d", "2d", "3d", "1d-layers", "2d-layers"]
ADDRESSING = ("clamp_to_edge", "clamp", "repeat", "mirrored_repeat")
MODES = [m for m in itertools.product((True, False), ADDRESSING, ("nearest", "linear")) if m[0] or not m[1].endswith("repeat")]


@pytest.fixture(params=groups.DEVICES, ids=lambda d: d.id)
def device(request):
    return request.param


def opencl(device):
    if device.backend != "opencl":
        pytest.skip("programs of OpenCL C")


def values_of(shape, dtype, channels, seed=0):
    """Any values, with the channels as last axis where there are several."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    full = (*shape, channels) if channels > 1 else shape
    if dtype.kind == "f":
        return rng.normal(size=full).astype(dtype)
    return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, full, dtype=dtype, endpoint=True)


@pp.kernel
def move_1(item: pp.Item, a, b):
    x = item.get_id(0)
    b.write(x, a.read(x))


@pp.kernel
def move_2(item: pp.Item, a, b):
    y, x = item.get_id(0), item.get_id(1)
    b.write((x, y), a.read((x, y)))


@pp.kernel
def move_3(item: pp.Item, a, b):
    z, y, x = item.get_id(0), item.get_id(1), item.get_id(2)
    b.write((x, y, z), a.read((x, y, z)))


MOVES = (None, move_1, move_2, move_3)
PLACES = (None, "G(0)", "(int2)(G(1), G(0))", "(int4)(G(2), G(1), G(0), 0)")


SOME = [  # each format and each shape
    (("uint8", False), SHAPES[0], 1),
    (("int16", False), SHAPES[1], 2),
    (("float16", False), SHAPES[2], 4),
    (("float32", False), SHAPES[3], 1),
    (("uint32", False), SHAPES[4], 2),
    (("uint8", True), SHAPES[1], 4),
    (("uint16", True), SHAPES[2], 1),
    (("int8", False), SHAPES[4], 4),
    (("int32", False), SHAPES[3], 4),
    (("uint16", False), SHAPES[0], 2),
]


@pytest.mark.varied("form", "channels")
@pytest.mark.parametrize(("form", "shape", "channels"), SOME, ids=str)
def test_kernels_read_and_write_what_the_host_sees(form, shape, channels, device):
    (dtype, normalized), (shape, layers) = form, shape
    data = values_of(shape, dtype, channels)
    a = pp.Image.from_array(data, channels, normalized=normalized, layers=layers, device=device)
    b = pp.Image(shape, dtype, channels, normalized=normalized, layers=layers, device=device)
    assert_array_equal(a.to_numpy(), data)
    MOVES[len(shape)][pp.Range(*shape)](a, b)
    assert_array_equal(b.to_numpy(), data)


@pytest.mark.varied("channels")
@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize("shape", SHAPES, ids=SHAPE_IDS)
def test_programs_read_and_write_images(shape, channels, device):
    opencl(device)
    shape, layers = shape
    type_ = f"image{len(shape) - layers}d{'_array' * layers}_t"
    at = PLACES[len(shape)]
    write = "__write_only" if len(shape) - layers < 3 or "cl_khr_3d_image_writes" in device.extensions else None
    text = "#define G(d) get_global_id(d)\n#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n" + "".join(
        f"__kernel void move_{f}(__read_only {type_} a, {write} {type_} b) {{ write_image{f}(b, {at}, read_image{f}(a, {at})); }}\n"
        for f in ("f", "i", "ui")
    )
    program = pp.Program(device, text)
    for dtype, normalized in FORMATS:
        f = "f" if normalized or dtype.startswith("float") else "i" if dtype.startswith("i") else "ui"
        data = values_of(shape, dtype, channels)
        a = pp.Image.from_array(data, channels, normalized=normalized, layers=layers, device=device)
        b = pp.Image(shape, dtype, channels, normalized=normalized, layers=layers, device=device)
        if dtype == "float16" and channels == 1 and device.platform == "Portable Computing Language":
            with pytest.raises(pp.DeviceError, match=r"has no such images for programs; it has those of (2 or )?4 channels"):
                program[f"move_{f}"][pp.Range(*shape)](a, b)
            continue
        program[f"move_{f}"][pp.Range(*shape)](a, b)
        assert_array_equal(b.to_numpy(), data, err_msg=f"{dtype} {normalized}")


def test_images_of_two_channels_are_there_or_refused(device):
    opencl(device)
    program = pp.Program(device, "__kernel void f(__read_only image2d_t a, __global float4 *o) { o[0] = read_imagef(a, (int2)(0, 0)); }")
    image, out = pp.Image.from_array(np.ones((1, 1, 2), "f4"), 2, device=device), pp.zeros(4, dtype="float32", device=device)
    try:
        program.f[1](image, out)
        assert pp.asnumpy(out).tolist() == [1, 1, 0, 1]
    except pp.DeviceError as e:
        assert "of 2 channels of float32: the driver of" in str(e)  # noqa: PT017
        assert "it has those of 1 or 4 channels" in str(e)  # noqa: PT017


# --- sampling ---------------------------------------------------------------------------------------------------------------------------


def axis(u, n, normalized, addressing, linear):
    """The texels along an axis and their weights, as OpenCL's specification says it, in float64; None for what is not there."""
    if addressing == "repeat":
        u = (u - math.floor(u)) * n
    elif addressing == "mirrored_repeat":
        u = abs(u - 2 * round(0.5 * u)) * n
    elif normalized:
        u = u * n
    if not linear:
        places = [(math.floor(u), 1.0)]
    else:
        i = math.floor(u - 0.5)
        a = u - 0.5 - i
        places = [(i, 1 - a), (i + 1, a)]
    found = []
    for i, weight in places:
        if addressing == "repeat":
            i %= n
        elif addressing == "clamp":
            i = i if 0 <= i < n else None
        else:
            i = min(max(i, 0), n - 1)
        found.append((i, weight))
    return found


def sampled(data, at, mode, layers=False):
    """Channels at coordinates; x first."""
    normalized, addressing, filter_mode = mode
    extents = data.shape[:-1][::-1]
    axes = [axis(float(u), n, normalized, addressing, filter_mode == "linear") for u, n in zip(at, extents, strict=True)]
    total = np.zeros(data.shape[-1])
    for corner in itertools.product(*axes):
        if all(i is not None for i, _ in corner):
            total = total + np.prod([w for _, w in corner]) * data[tuple(i for i, _ in reversed(corner))]
    return total


@pp.kernel
def sample_1(item: pp.Item, image, sampler, at, out):
    k = item.get_id(0)
    values = image.sample(sampler, at[k, 0])
    for c in range(4):
        out[k, c] = values[c]


@pp.kernel
def sample_2(item: pp.Item, image, sampler, at, out):
    k = item.get_id(0)
    values = image.sample(sampler, (at[k, 0], at[k, 1]))
    for c in range(4):
        out[k, c] = values[c]


@pp.kernel
def sample_3(item: pp.Item, image, sampler, at, out):
    k = item.get_id(0)
    values = image.sample(sampler, (at[k, 0], at[k, 1], at[k, 2]))
    for c in range(4):
        out[k, c] = values[c]


SAMPLES = (None, sample_1, sample_2, sample_3)
POINTS = (None, "at[3 * k]", "(float2)(at[3 * k], at[3 * k + 1])", "(float4)(at[3 * k], at[3 * k + 1], at[3 * k + 2], 0)")
SAMPLE_TEXT = "".join(
    f"__kernel void sample_{d}(__read_only image{d}d_t image, sampler_t s, __global const float *at, __global float4 *out)"
    f" {{ int k = get_global_id(0); out[k] = read_imagef(image, s, {POINTS[d]}); }}\n"
    for d in (1, 2, 3)
)


@pytest.mark.varied("rank", "mode")
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("mode", MODES, ids=lambda m: f"{m[1]}-{m[2]}{'' if m[0] else '-texels'}")
def test_sampling_is_as_opencl_says(mode, rank, device):
    rng = np.random.default_rng(rank)
    # By NVIDIA's OpenCL the weights between texels have 8 bits, here of numbers up to 1.
    tolerance = rank / 512 if device.platform == "NVIDIA CUDA" and device.backend == "opencl" and mode[2] == "linear" else 3e-6
    shape = (5, 4, 7)[-rank:]
    data = rng.random((*shape, 4)).astype("f4")
    # Apart from the middles and edges of texels, where rounding decides.
    n = np.array(shape[::-1] + (1,) * (3 - rank))
    at = (rng.integers(-12, 24, (60, 3)) + rng.uniform(0.05, 0.45, (60, 3))) / 2
    at = (at / n if mode[0] else at).astype("f4")
    wanted = np.array([sampled(data.astype("f8"), p[:rank], mode) for p in at])
    image, out = pp.Image.from_array(data, 4, device=device), pp.zeros((60, 4), dtype="float32", device=device)
    points, sampler = pp.asarray(at, device=device), pp.Sampler(*mode)
    SAMPLES[rank][pp.Range(60)](image, sampler, points, out)
    assert_allclose(pp.asnumpy(out), wanted, atol=tolerance)
    if device.backend == "opencl":
        out[...] = 0
        pp.Program(device, SAMPLE_TEXT)[f"sample_{rank}"][pp.Range(60)](image, sampler, points, out)
        assert_allclose(pp.asnumpy(out), wanted, atol=tolerance)


@pp.kernel
def sample_one(item: pp.Item, image, sampler, at, out):
    k = item.get_id(0)
    out[k] = image.sample(sampler, (at[k, 0], at[k, 1]))


def test_layers_are_the_nearest_ones(device):
    image = pp.Image.from_array(np.arange(12, dtype="f4").reshape(3, 4), layers=True, device=device)
    assert (image.layers, image.ndim, image.width, image.height) == (3, 1, 4, 1)
    at = pp.asarray(np.array([[1, -3], [1, 0.4], [1, 0.6], [1.5, 1.7], [3.5, 9]], "f4"), device=device)
    out = pp.zeros(5, dtype="float32", device=device)
    sample_one[pp.Range(5)](image, pp.Sampler(False, filter_mode="linear"), at, out)
    assert pp.asnumpy(out).tolist() == [0.5, 0.5, 4.5, 9.0, 11.0]


@pytest.mark.varied("form")
@pytest.mark.parametrize("form", FORMATS, ids=FORMAT_IDS)
def test_nearest_texels_of_all_formats(form, device):
    dtype, normalized = form
    data = values_of((3, 4), dtype, 1)
    image = pp.Image.from_array(data, normalized=normalized, device=device)
    out = pp.zeros(1, dtype="int64" if dtype in INTEGERS and not normalized else "float32", device=device)
    at = pp.asarray(np.array([[2.5, 1.5]], "f4"), device=device)
    sample_one[pp.Range(1)](image, pp.Sampler(False), at, out)
    wanted = np.float32(data[1, 2]) / np.float32(np.iinfo(dtype).max) if normalized else data[1, 2]
    assert pp.asnumpy(out)[0] == wanted


def test_coordinates_that_are_no_numbers_stay_inside(device):
    image = pp.Image.from_array(np.arange(6, dtype="f4").reshape(2, 3), device=device)
    at = pp.asarray(np.array([[np.nan, np.nan], [np.inf, -np.inf], [3e38, -3e38]], "f4"), device=device)
    for mode in MODES:
        out = pp.zeros(3, dtype="float32", device=device)
        sample_one[pp.Range(3)](image, pp.Sampler(*mode), at, out).wait()


# --- values written -------------------------------------------------------------------------------------------------------------------


@pp.kernel
def write_one(item: pp.Item, image, values):
    k = item.get_id(0)
    image.write(k, values[k])


def test_what_is_written_is_bounded_and_rounded(device):
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32"):
        values = np.array([-(2**40), -5, 0, 5, 300, 70000, 2**40])
        image = pp.Image(7, dtype, 1, device=device)
        write_one[pp.Range(7)](image, pp.asarray(values, device=device))
        assert_array_equal(image.to_numpy(), np.clip(values, np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype))
    values = np.array([-0.5, 0.25, 0.5, 1.5, np.nan], "f4")
    for dtype, most in (("uint8", 255), ("uint16", 65535)):
        image = pp.Image(5, dtype, 1, normalized=True, device=device)
        write_one[pp.Range(5)](image, pp.asarray(values, device=device))
        assert_array_equal(image.to_numpy(), np.array([0, np.rint(0.25 * most), np.rint(0.5 * most), most, 0], dtype))


# --- one image in kernels of both kinds -----------------------------------------------------------------------------------------------

TURNS = """
__kernel void ten_more(__read_only image2d_t a, __write_only image2d_t b) {
    int2 p = (int2)(get_global_id(1), get_global_id(0));
    write_imagei(b, p, read_imagei(a, p) + 10);
}
"""


@pp.kernel
def one_more(item: pp.Item, image):
    y, x = item.get_id(0), item.get_id(1)
    image.write((x, y), image.read((x, y)) + 1)


@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_programs_and_kernels_take_turns(order, device):
    opencl(device)
    program = pp.Program(device, TURNS)
    queue = pp.Queue(device, order=order)
    data = np.arange(12, dtype="i4").reshape(3, 4)
    a, b = pp.Image.from_array(data, queue=queue), pp.Image((3, 4), "int32", 1, queue=queue)
    space = pp.Range(3, 4)
    for k in range(1, 4):
        one_more[space](a)
        program.ten_more[space](a, b)
        before = b[...]
        program.ten_more[space](b, a)
        a[0, 0] = 100
        data = data + 21
        assert_array_equal(pp.asnumpy(before), data - 10)
        data[0, 0] = 100
        assert_array_equal(a.to_numpy(), data)
        assert_array_equal(pp.asnumpy(a[1:, ::2]), data[1:, ::2])
        if k == 2:
            b = pp.Image((3, 4), "int32", 1, queue=queue)  # the one before goes while its work is under way


def test_images_go_while_programs_use_them(device):
    opencl(device)
    program = pp.Program(device, TURNS)
    b = pp.Image((3, 4), "int32", 1, device=device)
    gate = pp.UserEvent()
    program.ten_more[pp.Range(3, 4), None, [gate]](pp.Image.from_array(np.ones((3, 4), "i4"), device=device), b)
    gate.set_complete()
    assert (b.to_numpy() == 11).all()


# --- arguments --------------------------------------------------------------------------------------------------------------------------

SAMPLER = pp.Sampler(False, "clamp")


@pp.kernel
def beyond(item: pp.Item, image, out):
    k = item.get_id(0)
    out[k] = image.sample(SAMPLER, k + 0.5)


def test_samplers_may_come_from_outside(device):
    out = pp.zeros(4, dtype="float32", device=device)
    beyond[pp.Range(4)](pp.Image.from_array(np.arange(1, 4, dtype="f4"), device=device), out)
    assert pp.asnumpy(out).tolist() == [1, 2, 3, 0]


@pp.jit
def blur(image, sampler, out):
    total = 0.0
    for i in pp.prange(out.shape[0]):
        out[i] = image.sample(sampler, (i + 1.0, 0.5))
        total += image.width
    return total


def test_loops_take_images():
    image, out = pp.Image.from_array(np.arange(6, dtype="f4").reshape(2, 3)), np.zeros(3)
    assert blur(image, pp.Sampler(False, filter_mode="linear"), out) == 9
    assert out.tolist() == [0.5, 1.5, 2.0]


def test_plain_python_runs_the_same(device):
    if device.backend != "cpu":
        pytest.skip("plain Python")
    rng = np.random.default_rng(3)
    data = rng.random((3, 5)).astype("f4")
    at = rng.uniform(-1, 2, (20, 2)).astype("f4")
    for mode in MODES:
        image = pp.Image.from_array(data)
        out, plain = np.zeros(20, "f4"), np.zeros(20, "f4")
        sample_one[pp.Range(20)].interpret(image, pp.Sampler(*mode), at, plain)
        with pp.device_context("cpu"):
            sample_one[pp.Range(20)](image, pp.Sampler(*mode), at, out)
        assert_allclose(out, plain, atol=1e-6)


def test_programs_take_images_beside_copies_of_host_arrays(device):
    opencl(device)
    program = pp.Program(device, "__kernel void f(__read_only image2d_t a, __global int *o) { o[0] = read_imagei(a, (int2)(1, 0)).x; }")
    image, host = pp.Image.from_array(np.arange(4, dtype="i4").reshape(2, 2) + 3, device=device), np.zeros(3, "i4")
    with pp.data(tofrom=(host,), device=device):
        program.f[1](image, host)
    with pp.device_context(device):
        other = np.zeros(1, "i4")
        program.f[1](image, other)
    assert (host[0], other[0]) == (4, 4)


@pytest.mark.parametrize("name", ["null:0", "null:1"])
def test_the_null_back_end_takes_images(name):
    device = pp.Device(name)
    image = pp.Image.from_array(np.arange(3, dtype="f4"), device=device)
    out = pp.zeros(4, device=device)
    beyond[pp.Range(4)](image, out).wait()
    assert name == "null:0" or pp.asnumpy(out).tolist() == [0, 1, 2, 0]


def test_regions_and_facts(device):
    data = values_of((4, 6), "uint8", 4)
    image = pp.Image.from_array(data, 4, device=device)
    assert (image.shape, image.width, image.height, image.depth, image.ndim, image.layers) == ((4, 6), 6, 4, 1, 2, None)
    assert (image.dtype, image.channels, image.nbytes, len(image), image.device) == (np.uint8, 4, 96, 4, device)
    image[1:3, 2:] = data[:2, :4]
    data[1:3, 2:] = data[:2, :4].copy()
    image[0] = pp.asarray(data[3], device=device)
    data[0] = data[3]
    image[-1, ...] = 7
    data[-1] = 7
    assert_array_equal(np.asarray(image), data)
    assert_array_equal(pp.asnumpy(image[::2, 1]), data[::2, 1])
    assert_array_equal(pp.asnumpy(image[..., 3]), data[:, 3])
    for made in (pickle.loads(pickle.dumps(image)), copy.copy(image), copy.deepcopy(image)):
        assert (made.device, made.dtype, made.channels) == (device, image.dtype, 4)
        assert_array_equal(made.to_numpy(), data)
        made[0] = 0
    assert_array_equal(image.to_numpy(), data)
    layered = pp.Image.from_array(data, 4, normalized=True, layers=True, queue=pp.Queue(device))
    copied = copy.copy(layered)
    assert (copied.queue, copied.normalized, copied.layers) == (layered.queue, True, layered.layers)
    assert pickle.loads(pickle.dumps(SAMPLER)) == SAMPLER
    assert "4 x 6 texels of 4 channels of uint8" in repr(image)


# --- what is refused ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: pp.Image((0, 3)), ValueError, "extents are positive"),
        (lambda: pp.Image((1, 2, 3, 4)), ValueError, "1 to 3 extents"),
        (lambda: pp.Image(3, layers=True), ValueError, "2 to 3 extents are expected with layers"),
        (lambda: pp.Image("x"), TypeError, "integers are expected"),
        (lambda: pp.Image(3, "float64"), TypeError, "not float64"),
        (lambda: pp.Image(3, "int8", normalized=True), TypeError, "those of int8 not"),
        (lambda: pp.Image(3, channels=3), ValueError, "channels are 1, 2 or 4, not 3"),
        (lambda: pp.Image.from_array(np.zeros((3, 3), "f4"), 2), ValueError, "of 2 channels"),
        (lambda: pp.Image(3)[0, 0], IndexError, "1 indices are expected at most"),
        (lambda: pp.Image(3)["a"], IndexError, "integers and slices"),
        (lambda: pp.Sampler(False, "repeat"), ValueError, "needs normalized_coords"),
        (lambda: pp.Sampler(addressing_mode="wrap"), ValueError, "'clamp_to_edge'"),
        (lambda: pp.Sampler(filter_mode="cubic"), ValueError, "'nearest' or 'linear'"),
        (lambda: pp.Image(3, "int8").sampled(pp.Sampler(filter_mode="linear")), TypeError, "nothing between integers"),
        (lambda: pp.Image(3).sampled("linear"), TypeError, "a Sampler is expected, not str"),
        (lambda: pp.Image(3).read(0), TypeError, "is for kernels"),
        (lambda: pp.Image(3).write(0, 0), TypeError, "is for kernels"),
        (lambda: pp.Image(3).sample(SAMPLER, 0), TypeError, "is for kernels"),
        (lambda: beyond[pp.Range(1)](pp.Image((3, 3), channels=1), pp.zeros(1)), TypeError, "unpacked into 2 names"),
        (lambda: beyond[pp.Range(1)](pp.Image(3), pp.zeros(1)), TypeError, "a tuple fills one dimension"),
    ],
)  # fmt: skip
def test_bad_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_there_is_nothing_between_integers():
    image, at, out = pp.Image((3, 3), "int8", 1), pp.zeros((1, 2), dtype="float32"), pp.zeros(1)
    with pytest.raises(TypeError, match=r"nothing between the integers of an image of int8(.|\n)*test_images.py"):
        sample_one[pp.Range(1)](image, pp.Sampler(filter_mode="linear"), at, out)


@pp.kernel
def read_one(item: pp.Item, image, out):
    k = item.get_id(0)
    out[k] = image.read(k + 1)


def test_reading_outside_is_an_index_error():
    with pytest.raises(IndexError, match="index 3 is out of bounds for an axis of size 3"):
        read_one[pp.Range(3)](pp.Image(3, "int8", 1), pp.zeros(3)).wait()


def test_programs_refuse_what_does_not_fit(device):
    opencl(device)
    text = (
        "__kernel void f(__read_only image2d_t a, sampler_t s, __global float *o, int n)"
        " { if (n) o[0] = read_imagef(a, s, (float2)(0)).x; }"
    )
    program = pp.Program(device, text)
    out, image, sampler = pp.zeros(1, dtype="float32", device=device), pp.Image((3, 3), device=device), pp.Sampler()
    cases = [
        ((out, sampler, out, 0), TypeError, r"`a` \(image2d_t\): an Image is expected, not an array"),
        ((image, image, out, 0), TypeError, r"`s` \(sampler_t\): a Sampler is expected, not an Image"),
        ((image, sampler, image, 0), TypeError, r"`o` \(float\*\): an array is expected, not an Image"),
        ((image, sampler, out, sampler), TypeError, r"`n` \(int\): a number is expected, not a Sampler"),
        ((image.sampled(sampler), sampler, out, 0), TypeError, "an Image is expected, not a sampled Image"),
        ((pp.Image(3, device=device), sampler, out, 0), TypeError, "here is a 1-D image of 3 texels .*, which is an image1d_t"),
        ((pp.Image((3, 3), device="cpu"), sampler, out, 0), pp.ExecutionPlacementError, "f: "),
        ((pp.Image((1, 2**20), "uint8", 4, device=device), sampler, out, 0), ValueError, "takes a width of at most"),
    ]
    for arguments, error, message in cases:
        with pytest.raises(error, match=message):
            program.f[pp.Range(1)](*arguments)
    program.f[pp.Range(1)](image, sampler, out, 1).wait()
