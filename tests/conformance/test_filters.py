# tests/conformance/test_filters.py: pardo.ndimage against windows that NumPy gathers: every mode, dtype, layout and number of dimensions.
import math

import numpy as np
import pardo as pp
import pytest
from data import DTYPES, rng_for, values

nd = pp.ndimage
MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-constant", "grid-wrap"]
PADS = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "nearest": "edge", "mirror": "reflect", "wrap": "wrap", "grid-wrap": "wrap",
}  # fmt: skip


def windows(a, sizes, modes="reflect", cval=0.0, origins=0):
    """For each element, those of a window around it, in float64 or complex128; as SciPy places it."""
    sizes = np.broadcast_to(sizes, a.ndim)
    origins = np.broadcast_to(origins, a.ndim)
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    for d, (size, origin) in enumerate(zip(sizes, origins, strict=True)):
        mode = modes if isinstance(modes, str) else modes[d]
        width = [(0, 0)] * a.ndim
        width[d] = (size // 2 + origin, size - size // 2 - 1 - origin)
        if mode in PADS:
            wide = np.pad(wide, width, PADS[mode])
        else:
            wide = np.pad(wide, width, constant_values=cval)
    return np.lib.stride_tricks.sliding_window_view(wide, sizes)


def as_stored(result, dtype):
    """Floats in an array of SciPy's: truncated; negative ones wrap where there are none."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.trunc(result) != 0
    return result.astype(np.int64).astype(dtype) if dtype.kind in "iu" and result.dtype.kind == "f" else result.astype(dtype)


def correlated(a, weights, dtype=None, **keywords):
    seen = windows(a, weights.shape, **keywords)
    total = np.einsum(seen, list(range(2 * a.ndim)), weights, list(range(a.ndim, 2 * a.ndim)), list(range(a.ndim)))
    return as_stored(total, dtype or (a.dtype if weights.dtype.kind != "c" else np.result_type(a.dtype, np.complex64)))


def data(dtype, shape, device, small=True):
    a = values(dtype, math.prod(shape), rng_for(dtype, shape), special=False, small=small).reshape(shape)
    return a, pp.asarray(a, device=device)


WEIGHTS = np.array([[1, 2, 0], [0, -3, 1], [2, 1, 1], [-1, 0, 2]], np.float64)


def close(got, want, device):
    exact = want.dtype.kind in "biu"
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if exact:
        np.testing.assert_array_equal(pp.asnumpy(got), want)
    else:
        tolerance = {2: 2e-3, 4: 2e-6, 8: 1e-13, 16: 1e-13}[want.dtype.itemsize if want.dtype != np.complex64 else 4]
        if not device.has_fp64:
            tolerance = max(tolerance, 2e-6)
        np.testing.assert_allclose(pp.asnumpy(got), want, rtol=tolerance, atol=tolerance * 10)


@pytest.mark.parametrize("dtype", DTYPES)
def test_correlate(dtype, device):
    a, x = data(dtype, (9, 11), device)
    close(nd.correlate(x, WEIGHTS), correlated(a, WEIGHTS), device)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(13,), (6, 7), (3, 4, 5), (1, 1), (2, 3, 2, 3)], ids=str)
def test_modes(mode, shape, device):
    """Windows larger than the array too."""
    a, x = data("int32", shape, device)
    weights = np.arange(1, 1 + 4 * 3 ** (len(shape) - 1), dtype=np.float64).reshape((4,) + (3,) * (len(shape) - 1))
    close(nd.correlate(x, weights, mode=mode, cval=2.5), correlated(a, weights, modes=mode, cval=2.5), device)


@pytest.mark.parametrize("name", ["strided", "negative", "transposed", "broadcast"])
def test_layouts(name, device):
    a, x = data("float32", (14, 33), device)
    view = {
        "strided": lambda xp, x: x[::2, ::3],
        "negative": lambda xp, x: x[::-1, ::-1],
        "transposed": lambda xp, x: x.T,
        "broadcast": lambda xp, x: xp.broadcast_to(x[:, :1], (14, 12)),
    }[name]
    close(nd.correlate(view(pp, x), WEIGHTS), correlated(view(np, a), WEIGHTS), device)
    close(nd.minimum_filter(view(pp, x), (2, 3)), windows(view(np, a), (2, 3)).min((2, 3)).astype(a.dtype), device)


@pytest.mark.parametrize("shape", [(200, 150), (70, 20, 30), (40_000,)], ids=str)
def test_edges_and_middles(shape, device):
    """Arrays so large that what lies inside is computed where it is, and what lies at the edges from copies."""
    a, x = data("float32", shape, device)
    weights = rng_for(shape).normal(size=(5, 4, 3)[: len(shape)])
    close(nd.correlate(x, weights, mode="mirror"), correlated(a, weights, modes="mirror"), device)
    integers = (a * 20).astype("int16")
    quarters = np.rint(weights * 4) / 4  # sums are exact in float32 too
    want = correlated(integers, quarters, modes="constant", cval=0.5)
    close(nd.correlate(pp.asarray(integers, device=device), quarters, mode="constant", cval=0.5), want, device)
    want = windows(a, (3,) * len(shape), "wrap").reshape(*shape, -1)
    close(nd.median_filter(x, 3, mode="wrap"), np.sort(want, -1)[..., want.shape[-1] // 2].astype("float32"), device)


@pytest.mark.parametrize("size", [5, 8, 40])
def test_columns(size, device):
    """Several results at a time, by one column of elements; no more is read than belongs to the windows."""
    a, x = data("float32", (3, 93, 70), device)
    a[1, 30], x[1, 30] = np.nan, np.nan
    weights = rng_for(size).normal(size=size)
    close(nd.correlate1d(x, weights, 1, mode="wrap"), correlated(a, weights[None, :, None], modes="wrap"), device)


def test_many_weights(device):
    """More than are unrolled."""
    a, x = data("float32", (150, 130), device)
    weights = rng_for("many").normal(size=(9, 8))
    close(nd.correlate(x, weights), correlated(a, weights), device)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex(dtype, device):
    a, x = data(dtype, (6, 7), device)
    r, y = data("float32", (6, 7), device)
    weights = WEIGHTS + 1j * WEIGHTS.T.reshape(4, 3)
    close(nd.convolve(x, weights[::-1, ::-1], origin=(-1, 0)), correlated(a, weights), device)
    close(nd.correlate(x, weights, mode="constant", cval=1 + 2j), correlated(a, weights.conj(), modes="constant", cval=1 + 2j), device)
    close(nd.correlate(y, weights), correlated(r, weights.conj()), device)
    close(nd.uniform_filter1d(x, 3), windows(a, (1, 3)).mean((2, 3)).astype(dtype), device)


@pytest.mark.parametrize("origin", [-1, 0, 1])
def test_origins(origin, device):
    a, x = data("int64", (6, 9), device)
    close(nd.correlate(x, WEIGHTS, origin=origin), correlated(a, WEIGHTS, origins=origin), device)
    close(nd.correlate(x, WEIGHTS, origin=(origin, 0)), correlated(a, WEIGHTS, origins=(origin, 0)), device)
    close(nd.correlate1d(x, [1, 2, 3], 0, origin=origin), correlated(a, np.array([[1.0], [2.0], [3.0]]), origins=(origin, 0)), device)
    close(nd.maximum_filter1d(x, 3, origin=origin), windows(a, (1, 3), origins=(0, origin)).max((2, 3)).astype("int64"), device)
    close(nd.rank_filter(x, 2, (3, 3), origin=origin), ranked(a, 2, (3, 3), origins=origin), device)


def ranked(a, rank, sizes, **keywords):
    seen = windows(a, sizes, **keywords).reshape(*a.shape, -1)
    return as_stored(np.sort(seen, -1)[..., rank], a.dtype)


def test_convolutions_are_flipped_correlations(device):
    a, x = data("float32", (8, 9), device)
    for weights, back in ((np.arange(6.0).reshape(2, 3), -1), (np.arange(9.0).reshape(3, 3), 0)):
        origins = (back, 0)
        close(nd.convolve(x, weights), correlated(a, weights[::-1, ::-1], origins=origins), device)
    close(nd.convolve1d(x, [1, 2, 3, 5]), correlated(a, np.array([[5.0, 3, 2, 1]]), origins=(0, -1)), device)


@pytest.mark.parametrize("dtype", [t for t in DTYPES if not t.startswith("complex")])
def test_ranks(dtype, device):
    a, x = data(dtype, (7, 10), device)
    for rank in (0, 3, 8):
        close(nd.rank_filter(x, rank, 3), ranked(a, rank, (3, 3)), device)
    close(nd.rank_filter(x, -4, 9, mode="nearest"), ranked(a, -4, (9, 9), modes="nearest"), device)  # counted
    if dtype in ("int16", "float32"):
        close(nd.median_filter(x, (1, 4)), ranked(a, 2, (1, 4)), device)
        close(nd.percentile_filter(x, -20, (5, 2)), ranked(a, 8, (5, 2)), device)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "float32", "int8"])
def test_counting_takes_extreme_values(dtype, device):
    a = values(dtype, 90, rng_for("extreme", dtype)).reshape(9, 10)
    a = np.where(np.isnan(a), np.inf, a).astype(dtype) if a.dtype.kind == "f" else a
    x = pp.asarray(a, device=device)
    padded = np.pad(a, 4, "symmetric")
    seen = np.lib.stride_tricks.sliding_window_view(padded, (8, 8))[: a.shape[0], : a.shape[1]].reshape(*a.shape, -1)
    for rank in (5, 40):
        np.testing.assert_array_equal(pp.asnumpy(nd.rank_filter(x, rank, 8)), np.sort(seen, -1)[..., rank])


@pytest.mark.parametrize("dtype", ["float32", "uint8", "bool"])
@pytest.mark.parametrize("size", [17, 70])
def test_long_windows(dtype, size, device):
    """Of blocks, which do not have to fit; longer than the axis too."""
    a, x = data(dtype, (3, 40, 70), device)
    for axis, mode, origin in ((1, "constant", 3), (2, "mirror", -7)) if size == 17 else ((0, "wrap", 8), (2, "reflect", 0)):
        sizes, origins = np.ones(3, int), np.zeros(3, int)
        sizes[axis], origins[axis] = size, origin
        seen = windows(a, sizes, mode, 0.5, origins).reshape(*a.shape, -1)
        keywords = {"axis": axis, "mode": mode, "cval": 0.5, "origin": origin}
        close(nd.minimum_filter1d(x, size, **keywords), as_stored(seen.min(-1), dtype), device)
        close(nd.maximum_filter1d(x, size, **keywords), as_stored(seen.max(-1), dtype), device)
        close(nd.uniform_filter1d(x, size, **keywords), as_stored(seen.sum(-1) / size, dtype), device)


def test_footprints(device):
    a, x = data("int16", (8, 9), device)
    footprint = np.array([[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1]], bool)
    seen = np.sort(windows(a, footprint.shape)[..., footprint], -1).astype("int16")
    close(nd.minimum_filter(x, footprint=footprint), seen[..., 0], device)
    close(nd.maximum_filter(x, footprint=footprint), seen[..., -1], device)
    close(nd.median_filter(x, footprint=footprint.tolist()), seen[..., 3], device)
    close(nd.percentile_filter(x, 20, footprint=pp.asarray(footprint, device=device)), seen[..., 1], device)


def test_nan(device):
    a, x = data("float32", (9, 9), device)
    a[4, 4] = np.nan
    x[4, 4] = np.nan
    near = windows(a, (3, 3))
    for rank in range(9):
        close(nd.rank_filter(x, rank, 3), np.where(np.isnan(near).any((2, 3)), np.nan, ranked(a, rank, 3)).astype("float32"), device)
    assert np.isnan(pp.asnumpy(nd.median_filter(x, 9, mode="nearest"))[4, 4])
    weights = np.ones((3, 3))
    weights[0, 0] = 0
    spread = np.isnan(pp.asnumpy(nd.correlate(x, weights)))
    assert spread.sum() == 8
    assert not spread[5, 5]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (4, 0, 2)], ids=str)
def test_empty(shape, device):
    x = pp.zeros(shape, dtype="float32", device=device)
    for y in (
        nd.correlate(x, np.ones((3,) * len(shape))),
        nd.gaussian_filter(x, 2),
        nd.median_filter(x, 3),
        nd.maximum_filter(x, 3),
        nd.sobel(x),
    ):
        assert y.shape == shape


def test_no_dimensions(device):
    x = pp.asarray(np.float32(3), device=device)
    assert float(nd.correlate(x, 2.0)) == 6
    assert float(nd.gaussian_filter(x, 1.0)) == 3
    assert float(nd.median_filter(x, footprint=True)) == 3
    assert float(nd.uniform_filter(x)) == 3


# --- those that are made of others ------------------------------------------------------------------------------------------------------


def along(a, weights, axis, **keywords):
    return correlated(a, np.reshape(np.asarray(weights, np.float64), [-1 if d == axis else 1 for d in range(a.ndim)]), **keywords)


def bell(sigma, radius):
    w = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    return w / w.sum()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8"])
def test_gaussians(dtype, device):
    a, x = data(dtype, (12, 15), device)
    want = along(along(a, bell(1.5, 6), 0, modes="mirror"), bell(0.8, 3), 1, modes="wrap")
    got = nd.gaussian_filter(x, (1.5, 0.8), mode=("mirror", "wrap"))
    if a.dtype.kind == "f":
        close(got, want, device)
    else:  # sums close to integers may be truncated to either side
        assert np.abs(pp.asnumpy(got).astype(int) - want).max() <= 1
    if a.dtype.kind == "f":
        close(nd.gaussian_filter1d(x, 2, 0, radius=3), along(a, bell(2, 3), 0), device)
        close(nd.gaussian_filter(x, (1, 0)), along(a, bell(1, 4), 0), device)
        close(nd.gaussian_filter(x, 1, axes=-1), along(a, bell(1, 4), 1), device)
        u = np.arange(-4, 5.0)
        for order, factor in ((1, u), (2, u**2 - 1), (3, u**3 - 3 * u)):  # Hermite's polynomials
            close(nd.gaussian_filter1d(x, 1, order=order), along(a, factor * bell(1, 4), 1), device)


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8", "bool"])
def test_differences(dtype, device):
    a, x = data(dtype, (7, 8, 5), device)
    for filtered, across in ((nd.sobel, [1, 2, 1]), (nd.prewitt, [1, 1, 1])):
        want = along(along(along(a, [-1, 0, 1], 1), across, 0), across, 2)
        close(filtered(x, 1), want, device)
    parts = [along(a, [1, -2, 1], d) for d in range(3)]
    close(nd.laplace(x), parts[0] + parts[1] + parts[2], device)
    close(nd.laplace(x, axes=(2,)), parts[2], device)


def test_gaussian_derivatives(device):
    a, x = data("float32", (9, 10), device)
    bells = {0: bell(1, 4), 1: -np.arange(-4, 5.0) * bell(1, 4), 2: (np.arange(-4, 5.0) ** 2 - 1) * bell(1, 4)}
    turned = {n: w[::-1] for n, w in bells.items()}
    first = [along(along(a, turned[d == 0], 0), turned[d == 1], 1) for d in range(2)]
    second = [along(along(a, turned[2 * (d == 0)], 0), turned[2 * (d == 1)], 1) for d in range(2)]
    close(nd.gaussian_gradient_magnitude(x, 1), np.sqrt(first[0] ** 2 + first[1] ** 2), device)
    close(nd.gaussian_laplace(x, 1), second[0] + second[1], device)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "uint16", "bool"])
@pytest.mark.parametrize("size", [1, 3, 4, 40])
def test_means(dtype, size, device):
    a, x = data(dtype, (6, 9), device)
    want = as_stored(windows(a, (1, size)).sum((2, 3)) / size, dtype)
    close(nd.uniform_filter1d(x, size), want, device)
    both = as_stored(windows(want, (size, 1)).sum((2, 3)) / size, dtype)
    close(nd.uniform_filter(x, size, axes=(1, 0)), both, device)
