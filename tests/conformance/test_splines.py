# tests/conformance/test_splines.py: interpolation of pardo.ndimage against B-splines whose coefficients a dense system of equations gives.
import math

import numpy as np
import pardo as pp
import pytest
from data import rng_for

nd = pp.ndimage
MODES = ["reflect", "constant", "grid-constant", "nearest", "mirror", "wrap", "grid-wrap"]
BEYOND = {"reflect": "symmetric", "mirror": "reflect", "constant": "reflect", "wrap": "reflect", "grid-wrap": "wrap", "nearest": "edge"}
AROUND = 40


def basis(order, t):
    """The cardinal B-spline, by its truncated powers."""
    terms = [(-1) ** k * math.comb(order + 1, k) * np.maximum(t + (order + 1) / 2 - k, 0) ** order for k in range(order + 2)]
    return np.where(np.abs(t) < (order + 1) / 2, sum(terms) / math.factorial(order), 0)


def weights(order, c, n, mode):
    """How much of each of n coefficients there is at coordinates, and how much of the constant."""
    c = np.asarray(c, float)
    start = np.floor(c + 0.5) if order % 2 == 0 else np.floor(c)
    if mode == "grid-constant":
        place = np.pad(np.arange(n), AROUND, constant_values=n)
    else:
        place = np.pad(np.arange(n), AROUND, mode=BEYOND[mode] if n > 1 else "edge")
    made = np.zeros((len(c), n + 1))
    for k in range(-(order // 2), order - order // 2 + 1):
        w = np.ones(len(c)) if order == 0 else basis(order, c - start - k)
        np.add.at(made, (np.arange(len(c)), place[(start + k).astype(int) + AROUND]), w)
    return made


def moved(c, n, mode):
    """Coordinates inside of an axis; NaN for the constant."""
    c, last = np.array(c, float), n - 1
    outside = (c < 0) | (c > last)
    if mode == "constant":
        return np.where(outside, np.nan, c)
    if mode in ("nearest", "grid-constant"):
        return np.clip(c, -AROUND / 2, n + AROUND / 2)
    period = {"wrap": last, "grid-wrap": n, "mirror": 2 * last, "reflect": 2 * n}[mode] or 1
    return np.where(outside, c % period, c)


def coefficients(a, order, mode):
    """By solving for them; those of 'nearest' and 'grid-constant' for an array with more elements around."""
    for d, n in enumerate(a.shape):
        inside = "mirror" if mode in ("constant", "wrap") else mode
        system = weights(order, np.arange(n), n, inside)[:, :n]
        a = np.moveaxis(np.tensordot(np.linalg.inv(system), a, (1, d)), 0, d)
    return a


def evaluated(a, coordinates, order, mode, cval=0.0):
    """At points, of which each column of coordinates is one."""
    around = 0
    if order > 1:
        if mode in ("nearest", "grid-constant"):
            around = 12
            keywords = {"mode": "edge"} if mode == "nearest" else {"constant_values": cval}
            a = np.pad(a, around, **keywords)
        a = coefficients(a, order, {"nearest": "reflect", "grid-constant": "mirror"}.get(mode, mode))
    coordinates = [moved(c, n - 2 * around, mode) + around for c, n in zip(coordinates, a.shape, strict=True)]
    outside = np.isnan(coordinates).any(0)
    rows = [weights(order, np.nan_to_num(c), n, mode) for c, n in zip(coordinates, a.shape, strict=True)]
    extended = np.pad(a, [(0, 1)] * a.ndim, constant_values=cval)
    result = np.einsum(extended, list(range(a.ndim)), *(x for d, r in enumerate(rows) for x in (r, [9, d])), [9])
    return np.where(outside, cval, result)


def close(got, want, device, scale=1.0):
    got = pp.asnumpy(got)
    tolerance = 1e-10 if device.has_fp64 and got.dtype.itemsize >= 8 else 2e-4
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * scale * 10)


def points(coordinates, device):
    return coordinates if device.has_fp64 else coordinates.astype("float32")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1, 3])
def test_modes(mode, order, device):
    a = rng_for(mode, order).normal(size=(9, 7)).astype("float32")
    coordinates = rng_for(mode).uniform(-0.8, 1.8, size=(2, 40)) * np.array(a.shape)[:, None]
    got = nd.map_coordinates(pp.asarray(a, device=device), points(coordinates, device).reshape(2, 8, 5), order=order, mode=mode, cval=1.5)
    close(pp.reshape(got, (40,)), evaluated(a.astype(float), coordinates, order, mode, 1.5), device)


@pytest.mark.parametrize("mode", ["reflect", "mirror", "grid-wrap"])
@pytest.mark.parametrize("order", [2, 3, 4, 5])
@pytest.mark.parametrize("n", [2, 3, 30])
def test_coefficients(n, order, mode, device):
    """Of short lines too, at which SciPy's coefficients for 'reflect' miss the elements."""
    a = rng_for(n, order).normal(size=(3, n))
    x = pp.asarray(a.astype("float64" if device.has_fp64 else "float32"), device=device)
    want = coefficients(a[0], order, mode)
    scale = np.abs(want).max()
    close(nd.spline_filter1d(x, order, mode=mode, output=x.dtype)[0], want, device, scale)
    if n == 3:
        close(nd.spline_filter(x, order, mode=mode, output=x.dtype), coefficients(a, order, mode), device, scale)


def test_long_lines_are_filtered_in_blocks(device):
    a = rng_for("long").normal(size=2000)
    x = pp.asarray(a.astype("float64" if device.has_fp64 else "float32"), device=device)
    for mode in ("mirror", "reflect", "grid-wrap"):
        got = nd.spline_filter1d(x, 5, mode=mode, output=x.dtype)
        again = nd.map_coordinates(got, points(np.arange(2000.0)[None, :], device), order=5, mode=mode, prefilter=False)
        close(again, a, device, 10)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "bool", "complex64", "float16"])
def test_dtypes(dtype, device):
    a = (rng_for(dtype).normal(size=(8, 9)) * 200).astype("float64")
    if dtype == "complex64":
        a = a + a[::-1] * 1j
    a = np.clip(a, 0, 255).astype(dtype) if dtype == "uint8" else (a > 0 if dtype == "bool" else a).astype(dtype)
    x = pp.asarray(a, device=device)
    coordinates = rng_for("points").uniform(0, 7, size=(2, 30))
    wide = a.astype("complex128" if a.dtype.kind == "c" else "float64")
    parts = [evaluated(p, coordinates, 2, "mirror") for p in ((wide.real, wide.imag) if a.dtype.kind == "c" else (wide,))]
    want = parts[0] + (1j * parts[1] if len(parts) == 2 else 0)
    got = nd.map_coordinates(x, points(coordinates, device), order=2, mode="mirror")
    assert got.dtype == a.dtype
    if dtype == "bool":  # truncated: values close to 1 may be either
        got = nd.map_coordinates(x, points(coordinates, device), order=0)
        np.testing.assert_array_equal(pp.asnumpy(got), evaluated(a.astype(float), coordinates, 0, "mirror") != 0)
    elif a.dtype.kind in "iu":  # rounded, half away from zero, and limited
        info = np.iinfo(dtype)
        assert np.abs(pp.asnumpy(got).astype(float) - np.clip(want, info.min, info.max)).max() <= 0.5 + 1e-3
    else:
        np.testing.assert_allclose(
            pp.asnumpy(got), want, rtol=2e-3 if dtype == "float16" else 1e-4, atol=2e-1 if dtype == "float16" else 1e-2
        )


def test_integers_are_rounded_half_away_from_zero(device):
    x = pp.asarray(np.array([-3, -2, 0, 1, 4], "int32"), device=device)
    got = nd.shift(x, -0.5, order=1, mode="nearest")
    np.testing.assert_array_equal(pp.asnumpy(got), [-3, -1, 1, 3, 4])


def grid(shape):
    return np.indices(shape).reshape(len(shape), -1).astype(float)


@pytest.mark.parametrize("shape", [(11,), (6, 7), (3, 4, 5)], ids=str)
def test_zoom_and_shift(shape, device):
    a = rng_for(shape).normal(size=shape).astype("float32")
    x = pp.asarray(a, device=device)
    for grid_mode in (False, True):
        got = nd.zoom(x, 1.7, order=3, mode="mirror", grid_mode=grid_mode)
        extents = tuple(round(n * 1.7) for n in shape)
        at = grid(extents)
        for d, (n, m) in enumerate(zip(shape, extents, strict=True)):
            at[d] = (at[d] + 0.5) * n / m - 0.5 if grid_mode else at[d] * (n - 1) / (m - 1)
        close(pp.reshape(got, (-1,)), evaluated(a.astype(float), at, 3, "mirror"), device)
        assert got.shape == extents
    moves = np.arange(1, 1 + len(shape)) * 0.7
    got = nd.shift(x, moves, order=1, mode="grid-constant", cval=2)
    close(pp.reshape(got, (-1,)), evaluated(a.astype(float), grid(shape) - moves[:, None], 1, "grid-constant", 2), device)
    assert pp.asnumpy(nd.zoom(x, 1)).tolist() == a.tolist()


def test_affine_transform(device):
    a = rng_for("affine").normal(size=(6, 7)).astype("float32")
    x = pp.asarray(a, device=device)
    matrix, offset = np.array([[0.8, 0.3], [-0.2, 1.1]]), np.array([0.5, -0.25])
    want = evaluated(a.astype(float), matrix @ grid((5, 8)) + offset[:, None], 3, "reflect")
    got = nd.affine_transform(x, matrix, offset, (5, 8), mode="reflect")
    close(pp.reshape(got, (-1,)), want, device)
    homogeneous = np.block([[matrix, offset[:, None]], [np.zeros(2), np.ones(1)]])
    close(nd.affine_transform(x, homogeneous, output_shape=(5, 8), mode="reflect"), pp.asnumpy(got), device)
    close(nd.affine_transform(x, homogeneous[:2], output_shape=(5, 8), mode="reflect"), pp.asnumpy(got), device)
    want = evaluated(a.astype(float), np.diag([0.5, 2]) @ grid((6, 7)) + 0.25, 1, "constant", 3)
    close(pp.reshape(nd.affine_transform(x, [0.5, 2], 0.25, order=1, cval=3), (-1,)), want, device)
    columns = np.array([[1.0], [0.5]])
    want = evaluated(a.astype(float), columns @ grid((5,)), 1, "constant")
    close(nd.affine_transform(x, columns, output_shape=(5,), order=1), want, device)


def test_rotate(device):
    a = rng_for("rotate").normal(size=(6, 7)).astype("float32")
    x = pp.asarray(a, device=device)
    for k in range(1, 4):
        close(nd.rotate(x, 90 * k, order=1), np.rot90(a, k), device)
    turn = np.deg2rad(30)
    matrix = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    centre = np.array([2.5, 3.0])
    want = evaluated(a.astype(float), matrix @ (grid(a.shape) - centre[:, None]) + centre[:, None], 3, "grid-wrap")
    got = nd.rotate(x, 30, reshape=False, mode="grid-wrap")
    close(pp.reshape(got, (-1,)), want, device)
    stack = pp.stack([x, 2 * x, -x], axis=1)  # planes are rotated one by one
    for axes, moved_to in (((2, 0), 1), ((0, 2), 1)):
        turned = nd.rotate(stack, 30, axes, reshape=False, mode="grid-wrap")
        close(turned, np.stack([pp.asnumpy(got) * f for f in (1, 2, -1)], moved_to), device)
    assert nd.rotate(stack, 45, (0, 2)).shape == (9, 3, 9)


def test_far_and_bad_coordinates(device):
    x = pp.asarray(np.array([1.0, 2.0, 4.0], "float32"), device=device)
    at = points(np.array([[np.nan, np.inf, -np.inf, 1e30, -1e30, 1.0]]), device)
    for mode in MODES:
        got = pp.asnumpy(nd.map_coordinates(x, at, order=1, mode=mode, cval=7))
        assert got[5] == 2
        if mode in ("constant", "mirror", "reflect", "wrap", "grid-wrap"):
            assert got[0] == 7
    assert pp.asnumpy(nd.map_coordinates(x, at[:, :5], order=3)).tolist() == [0] * 5


def test_outputs(device):
    x = pp.asarray(np.arange(12, dtype="float32").reshape(3, 4), device=device)
    out = pp.zeros((6, 8), dtype="float32", device=device)
    assert nd.zoom(x, 2, out, order=1) is out
    close(out, pp.asnumpy(nd.zoom(x, 2, order=1)), device)
    assert nd.shift(x, 1, "int16", order=0).dtype == np.int16
    same = x + 0
    nd.shift(same, 0.5, same, mode="wrap")
    close(same, pp.asnumpy(nd.shift(x, 0.5, mode="wrap")), device)
    assert nd.zoom(pp.zeros((0, 3), device=device, dtype="float32"), 2).shape == (0, 6)
    assert pp.asnumpy(nd.affine_transform(x[:0], np.eye(2), output_shape=(2, 2), cval=3)).tolist() == [[3, 3]] * 2
    assert nd.spline_filter(pp.zeros((0, 3), device=device, dtype="float32"), output="float32").shape == (0, 3)
