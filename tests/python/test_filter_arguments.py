# tests/python/test_filter_arguments.py: what ndimage and signal do with outputs, axes, other arguments, and bad ones.
import numpy as np
import pardo as pp
import pytest
from pardo._filters import windows

nd, signal = pp.ndimage, pp.signal


@pytest.fixture
def image(rng):
    return rng.normal(size=(6, 7)).astype("float32")


FILTERS = {
    "correlate": lambda x, **k: nd.correlate(x, np.ones((3, 3)), **k),
    "convolve1d": lambda x, **k: nd.convolve1d(x, [1, 2, 1], **k),
    "gaussian_filter": lambda x, **k: nd.gaussian_filter(x, 1, **k),
    "uniform_filter": lambda x, **k: nd.uniform_filter(x, 3, **k),
    "median_filter": lambda x, **k: nd.median_filter(x, 3, **k),
    "minimum_filter": lambda x, **k: nd.minimum_filter(x, 3, **k),
    "maximum_filter1d": lambda x, **k: nd.maximum_filter1d(x, 3, **k),
    "sobel": lambda x, **k: nd.sobel(x, **k),
    "laplace": lambda x, **k: nd.laplace(x, **k),
    "gaussian_gradient_magnitude": lambda x, **k: nd.gaussian_gradient_magnitude(x, 1, **k),
}


@pytest.mark.parametrize("name", FILTERS)
def test_outputs(name, image):
    f = FILTERS[name]
    x = pp.asarray(image)
    want = pp.asnumpy(f(x))
    out = pp.zeros(x.shape, dtype="float64")
    assert f(x, output=out) is out
    np.testing.assert_allclose(pp.asnumpy(out), want, rtol=1e-6, atol=1e-6)
    assert f(x, output="float64").dtype == np.float64
    strided = pp.zeros((12, 7), dtype="float32")
    f(x, output=strided[::2])
    np.testing.assert_array_equal(pp.asnumpy(strided)[::2], want)
    assert not pp.asnumpy(strided)[1::2].any()
    same = pp.asarray(image)
    f(same, output=same)
    np.testing.assert_array_equal(pp.asnumpy(same), want)
    with pytest.raises(RuntimeError, match=r"output has shape \(3,\)"):
        f(x, output=pp.zeros(3))
    with pytest.raises(TypeError, match="dtype"):
        f(x, output="datetime64")


def test_results_do_not_share_memory_with_the_input(image):
    x = pp.asarray(image)
    for y in (nd.gaussian_filter(x, 0), nd.uniform_filter(x, 1), nd.median_filter(x, 1), nd.laplace(x, axes=())):
        y[0, 0] = 100
    np.testing.assert_array_equal(pp.asnumpy(x), image)


def test_axes(rng):
    a = rng.normal(size=(4, 5, 6))
    x = pp.asarray(a)
    weights = rng.normal(size=(2, 3))
    want = np.stack([pp.asnumpy(nd.correlate(x[:, k], weights, origin=(0, 1))) for k in range(5)], 1)
    np.testing.assert_allclose(pp.asnumpy(nd.correlate(x, weights, axes=(0, 2), origin=(0, 1))), want, rtol=1e-12)
    np.testing.assert_allclose(pp.asnumpy(nd.correlate(x, weights.T, axes=(-1, 0), origin=(1, 0))), want, rtol=1e-12)
    want = np.stack([pp.asnumpy(nd.median_filter(x[:, k], (3, 2), mode="wrap")) for k in range(5)], 1)
    np.testing.assert_array_equal(pp.asnumpy(nd.median_filter(x, (3, 2), axes=(0, 2), mode="wrap")), want)
    assert pp.asnumpy(nd.gaussian_filter(x, 1, axes=())).tolist() == a.tolist()


def test_generic_functions_get_their_arguments(image):
    x = pp.asarray(image)
    calls = []

    def derivative(a, axis, output, mode, cval, factor, extra=0):
        calls.append((axis, mode, cval, factor, extra))
        return nd.correlate1d(a, [factor, 0, extra], axis, output, mode, cval)

    got = nd.generic_gradient_magnitude(x, derivative, None, ("wrap", "constant"), 2.0, (3,), {"extra": 4})
    assert calls == [(0, "wrap", 2.0, 3, 4), (1, "constant", 2.0, 3, 4)]
    parts = [pp.asnumpy(nd.correlate1d(x, [3, 0, 4], d, None, m, 2.0)) for d, m in enumerate(("wrap", "constant"))]
    np.testing.assert_allclose(pp.asnumpy(got), np.hypot(*parts), rtol=1e-5)
    np.testing.assert_allclose(pp.asnumpy(nd.generic_laplace(x, derivative, None, "wrap", 2.0, (3, 4), axes=0)),
                               pp.asnumpy(nd.correlate1d(x, [3, 0, 4], 0, None, "wrap")), rtol=1e-5)  # fmt: skip


def test_arrays_of_numpy_follow_those_of_pardo(image):
    alone = nd.correlate(image, np.ones((3, 3)))
    assert alone.queue == pp.Queue.of(pp.Device())
    np.testing.assert_array_equal(pp.asnumpy(alone), pp.asnumpy(nd.correlate(pp.asarray(image), np.ones((3, 3)))))
    with pp.device_context("cpu"):
        got = nd.uniform_filter(image, 3)
    assert type(got) is np.ndarray
    np.testing.assert_array_equal(got, pp.asnumpy(nd.uniform_filter(pp.asarray(image), 3)))
    assert signal.convolve(image, pp.ones((2, 2))).shape == (7, 8)


BAD = {
    "boundary mode not supported": (RuntimeError, lambda x: nd.correlate(x, np.ones((3, 3)), mode="edge")),
    "mode must be a text": (TypeError, lambda x: nd.correlate(x, np.ones((3, 3)), mode=("wrap", "wrap"))),
    "mode has 3 entries": (RuntimeError, lambda x: nd.gaussian_filter(x, 1, mode=("wrap",) * 3)),
    r"weights have shape \(3,\); 2 dimensions": (RuntimeError, lambda x: nd.correlate(x, np.ones(3))),
    r"no filter weights given: weights have shape \(0,\)": (RuntimeError, lambda x: nd.correlate1d(x, [])),
    "invalid origin 2; for 3 elements it must be from -1 to 1": (ValueError, lambda x: nd.correlate1d(x, [1, 2, 3], origin=2)),
    "origin must be an integer, not float": (TypeError, lambda x: nd.correlate1d(x, [1, 2, 3], origin=0.5)),
    "axis 2 is out of bounds": (ValueError, lambda x: nd.correlate1d(x, [1], axis=2)),
    "repeated axis": (ValueError, lambda x: nd.gaussian_filter(x, 1, axes=(0, 0))),
    "incorrect filter size: 0": (RuntimeError, lambda x: nd.uniform_filter1d(x, 0)),
    "size must be an integer, not str": (TypeError, lambda x: nd.median_filter(x, "3")),
    "no footprint or filter size": (RuntimeError, lambda x: nd.median_filter(x)),
    "all-zero footprint": (ValueError, lambda x: nd.maximum_filter(x, footprint=np.zeros((2, 2)))),
    "footprint has 1 dimensions": (RuntimeError, lambda x: nd.maximum_filter(x, footprint=[1, 1])),
    "rank is 9, of 9 elements": (RuntimeError, lambda x: nd.rank_filter(x, 9, 3)),
    "invalid percentile 101": (RuntimeError, lambda x: nd.percentile_filter(x, 101, 3)),
    "complex type not supported": (TypeError, lambda x: nd.median_filter(x.astype("complex64"), 3)),
    "cval is complex": (ValueError, lambda x: nd.correlate1d(x, [1], cval=1j)),
    "cval must be a number": (TypeError, lambda x: nd.correlate1d(x, [1], cval="1")),
    "radius must be a nonnegative integer": (ValueError, lambda x: nd.gaussian_filter(x, 1, radius=-1)),
    "order must be non-negative": (ValueError, lambda x: nd.gaussian_filter(x, 1, order=-1)),
    "sigma must be a number": (TypeError, lambda x: nd.gaussian_filter1d(x, None)),
    "output must have a complex dtype": (RuntimeError, lambda x: nd.correlate1d(x, [1j], output=x)),
    "the derivative must be callable": (TypeError, lambda x: nd.generic_laplace(x, 3)),
    "spline order not supported: 6": (RuntimeError, lambda x: nd.zoom(x, 2, order=6)),
    "it must be from 2 to 5": (RuntimeError, lambda x: nd.spline_filter(x, 1)),
    "invalid shape for coordinate array": (RuntimeError, lambda x: nd.map_coordinates(x, np.zeros((3, 2)))),
    "coordinates are complex": (TypeError, lambda x: nd.map_coordinates(x, np.zeros((2, 2)) * 1j)),
    "wrong number of rows: 3": (RuntimeError, lambda x: nd.affine_transform(x, np.eye(3)[:, :2])),
    "wrong number of columns: 2; 3 are expected": (RuntimeError, lambda x: nd.affine_transform(x, np.eye(2), output_shape=(2, 2, 2))),
    "last row of a homogeneous matrix": (ValueError, lambda x: nd.affine_transform(x, np.ones((3, 3)))),
    "shift: shift must be a number": (TypeError, lambda x: nd.shift(x, "far")),
    "zoom: zoom has 3 entries": (RuntimeError, lambda x: nd.zoom(x, (1, 2, 3))),
    "invalid rotation plane": (ValueError, lambda x: nd.rotate(x, 30, (0, 2))),
    "should be at least 2D": (ValueError, lambda x: nd.rotate(x[0], 30)),
    "first element of a must not be 0": (ValueError, lambda x: signal.lfilter([1.0], [0.0, 1.0], x)),
    "b must be one-dimensional": (ValueError, lambda x: signal.lfilter([[1.0]], [1.0], x)),
    r"expected \(6, 1\), found \(2,\)": (ValueError, lambda x: signal.lfilter([1.0], [1.0, 0.5], x, zi=[1.0, 2.0])),
    r"expected \(2, 7\), found \(1, 7\)": (ValueError, lambda x: signal.lfilter([1.0, 2, 3], [1.0], x, axis=0, zi=pp.ones((1, 7)))),
    "must be shape": (ValueError, lambda x: signal.sosfilt([1.0, 0, 0, 1, 0, 0], x)),
    "should be all ones": (ValueError, lambda x: signal.sosfilt([[1.0, 0, 0, 2, 0, 0]], x)),
    "invalid zi shape": (ValueError, lambda x: signal.sosfilt([[1.0, 0, 0, 1, 0, 0]], x, zi=[[1.0, 2.0]])),
    "same dimensionality": (ValueError, lambda x: signal.convolve(x, [1, 2])),
    "'valid' mode": (ValueError, lambda x: signal.convolve(x, pp.ones((7, 2)), "valid")),
    "mode is 'all'": (ValueError, lambda x: signal.correlate(x, x, "all")),
    "method is 'slow'": (ValueError, lambda x: signal.correlate(x, x, method="slow")),
    "boundary is 'reflect'": (ValueError, lambda x: signal.convolve2d(x, x, boundary="reflect")),
    "must both be 2-D": (ValueError, lambda x: signal.convolve2d(x, [1, 2])),
    "fillvalue must be a number": (ValueError, lambda x: signal.convolve2d(x, x, fillvalue=[1, 2])),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_arguments(message, image):
    error, call = BAD[message]
    with pytest.raises(error, match=message):
        call(pp.asarray(image))


def test_warnings(image):
    x = pp.asarray(image)
    with pytest.warns(UserWarning, match="ignoring size because footprint is set"):
        nd.median_filter(x, 3, footprint=[[1, 1, 1]])
    with pytest.warns(UserWarning, match="promoting the dtype of the output, float32, to a complex one"):
        assert nd.correlate1d(x, [1j], output="float32").dtype == np.complex64


def test_few_programs_serve_many_windows(image):
    """Sizes are no part of a program; only the number of few weights is."""
    x = pp.asarray(image)
    nd.correlate(x, np.ones((3, 3))).wait()
    nd.correlate(x, np.ones((40, 1))).wait()
    compiled = pp.counters()["compiled"]
    nd.correlate(x[:5], np.arange(9.0).reshape(3, 3) + 1, mode="wrap", origin=1).wait()
    nd.correlate(x, np.ones((1, 9))).wait()
    nd.correlate(x, np.ones((50, 2))).wait()
    assert pp.counters()["compiled"] == compiled


# --- signal -----------------------------------------------------------------------------------------------------------------------------


def full(a, b):
    out = np.zeros([n + m - 1 for n, m in zip(a.shape, b.shape, strict=True)], np.result_type(a, b))
    for place, factor in np.ndenumerate(b):
        out[tuple(slice(p, p + n) for p, n in zip(place, a.shape, strict=True))] += factor * a
    return out


def centred(x, shape):
    return x[tuple(slice((n - m) // 2, (n - m) // 2 + m) for n, m in zip(x.shape, shape, strict=True))]


def inside(x, a, b):
    low = [min(n, m) - 1 for n, m in zip(a.shape, b.shape, strict=True)]
    return x[tuple(slice(p, n - p) for p, n in zip(low, x.shape, strict=True))]


SHAPES = [((9,), (4,)), ((3,), (8,)), ((6, 7), (3, 2)), ((3, 4, 5), (2, 3, 3)), ((40, 3), (35, 2))]
CASES = [("float32", s) for s in SHAPES] + [(t, SHAPES[2]) for t in ("float64", "int32", "uint8", "bool")] + [("complex128", SHAPES[1])]


@pytest.mark.parametrize(("dtype", "shapes"), CASES, ids=str)
def test_convolve(dtype, shapes, rng):
    a, b = (rng.normal(size=s) * 5 for s in shapes)
    a, b = (x.astype(dtype) + (1j * x[::-1] if dtype == "complex128" else 0) for x in (a, b))
    a, b = a.astype(dtype), b.astype(dtype)
    want = full(a, b)
    same = {"rtol": 1e-5 if dtype == "float32" else 1e-12, "atol": 1e-4 if dtype == "float32" else 1e-11}
    x, y = pp.asarray(a), pp.asarray(b)
    np.testing.assert_allclose(pp.asnumpy(signal.convolve(x, y)), want, **same)
    assert signal.convolve(x, y).dtype == want.dtype
    np.testing.assert_allclose(pp.asnumpy(signal.convolve(x, y, "same")), centred(want, a.shape), **same)
    np.testing.assert_allclose(pp.asnumpy(signal.convolve(x, y, "valid")), inside(want, a, b), **same)
    for mode, part in (("full", want), ("same", centred(want, a.shape)), ("valid", inside(want, a, b))):
        got = signal.convolve(x, y, mode, "fft")
        assert got.dtype == want.dtype
        np.testing.assert_allclose(pp.asnumpy(got), part, rtol=same["rtol"], atol=1e-3 if dtype == "float32" else 1e-10)
    back = full(a, np.flip(b).conj())
    if dtype != "bool":
        got = signal.correlate(x, y, "valid", "fft")
        np.testing.assert_allclose(pp.asnumpy(got), inside(back, a, b), rtol=same["rtol"], atol=1e-3 if dtype == "float32" else 1e-10)
    np.testing.assert_allclose(pp.asnumpy(signal.correlate(x, y)), back, **same)
    np.testing.assert_allclose(pp.asnumpy(signal.correlate(x, y, "same")), centred(back, a.shape), **same)
    np.testing.assert_allclose(pp.asnumpy(signal.correlate(x, y, "valid")), inside(back, a, b), **same)


@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize("shape", [(3, 2), (2, 4), (9, 1)], ids=str)
def test_convolve2d(boundary, shape, rng):
    a, b = rng.normal(size=(6, 5)), rng.normal(size=shape)
    width = [(m - 1, m - 1) for m in shape]
    pad = {"fill": {"constant_values": 1.5}, "wrap": {"mode": "wrap"}, "symm": {"mode": "symmetric"}}[boundary]
    want = inside(full(np.pad(a, width, **pad), b), np.pad(a, width), b)
    x = pp.asarray(a)
    keywords = {"boundary": boundary, "fillvalue": 1.5}
    np.testing.assert_allclose(pp.asnumpy(signal.convolve2d(x, b, **keywords)), want, rtol=1e-12)
    np.testing.assert_allclose(pp.asnumpy(signal.convolve2d(x, b, "same", **keywords)), centred(want, a.shape), rtol=1e-12)
    np.testing.assert_allclose(pp.asnumpy(signal.correlate2d(x, b[::-1, ::-1], **keywords)), want, rtol=1e-12)
    if shape[0] <= 6:
        np.testing.assert_allclose(pp.asnumpy(signal.convolve2d(x, b, "valid", **keywords)), inside(full(a, b), a, b), rtol=1e-12)
        np.testing.assert_allclose(pp.asnumpy(signal.convolve2d(pp.asarray(b), a, "valid")), inside(full(a, b), a, b), rtol=1e-12)


def test_fftconvolve(rng):
    a, b = rng.normal(size=(3, 20, 5)), rng.normal(size=(3, 7, 1))
    want = np.stack([np.stack([np.convolve(a[i, :, j], b[i, :, 0]) for j in range(5)], 1) for i in range(3)])
    x = pp.asarray(a)
    np.testing.assert_allclose(pp.asnumpy(signal.fftconvolve(x, b, axes=1)), want, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(pp.asnumpy(signal.fftconvolve(x, b, "same", axes=[1])), want[:, 3:23], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(pp.asnumpy(signal.fftconvolve(b, x, "valid", axes=-2)), want[:, 6:20], rtol=1e-10, atol=1e-12)
    for small in ("bool", "int8", "uint8", "int16", "int32"):
        assert signal.fftconvolve(pp.ones(2, dtype=small), pp.ones(3, dtype=small)).dtype == np.float64
    assert signal.fftconvolve(pp.ones(2, dtype="float16"), pp.ones(3, dtype="float16")).dtype == np.float32
    assert signal.fftconvolve(x.astype("complex64"), pp.ones((1, 1, 1), dtype="complex64")).dtype == np.complex64
    with pytest.raises(ValueError, match="incompatible shapes"):
        signal.fftconvolve(x, b[:2], axes=1)


def test_long_convolutions_use_transforms(rng):
    a, b = rng.normal(size=6000), rng.normal(size=3000)
    got = signal.convolve(pp.asarray(a), b, "valid")
    np.testing.assert_allclose(pp.asnumpy(got), np.convolve(a, b, "valid"), atol=1e-9)
    spread = a.copy()
    spread[0] = np.nan
    assert np.isnan(pp.asnumpy(signal.convolve(pp.asarray(spread), b))).all()
    assert np.isnan(pp.asnumpy(signal.convolve(pp.asarray(spread), b, method="direct"))).sum() == 3000


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_axes_of_one_element(mode, rng):
    """They broadcast, and the middle of a result has the shape of the first array."""
    peer = pytest.importorskip("scipy.signal")
    cases = [((1, 5), (4, 2), None), ((1, 5), (4, 2), [1]), ((3, 1), (2, 4), [0]), ((3, 4), (1, 2), [0, 1]), ((1, 1), (1, 3), [0])]
    for n, m, axes in cases:
        a, b = rng.normal(size=n), rng.normal(size=m)
        expected = peer.fftconvolve(a, b, mode, axes=axes)
        got = signal.fftconvolve(pp.asarray(a), pp.asarray(b), mode, axes=axes)
        assert got.shape == expected.shape
        np.testing.assert_allclose(pp.asnumpy(got), expected, rtol=1e-12, atol=1e-14)


def test_convolution_of_nothing():
    assert signal.convolve(pp.zeros(0), [1.0]).shape == (0,)
    for f in (signal.convolve, signal.correlate):
        shapes = [f(pp.zeros((2, 0, 2)), pp.zeros((2, 0, 2)), mode, method="direct").shape for mode in ("full", "same", "valid")]
        assert shapes == [(3, 0, 3), (2, 0, 2), (1, 1, 1)]
        assert f(pp.zeros((2, 0)), pp.zeros((1, 1))).shape == (2, 0)
        with pytest.raises(ValueError, match="for 'valid' mode, one array must be at least as large"):
            f(pp.zeros((2, 0)), pp.zeros((1, 1)), "valid")
    assert float(signal.convolve(pp.asarray(3.0), 2.0)) == 6


@pytest.mark.parametrize("shape", [(5, 6), (150, 140), (3, 40, 70)])
@pytest.mark.parametrize("mode", ["reflect", "constant", "wrap"])
def test_edges_of_planes_by_one_launch(shape, mode, rng, monkeypatch):
    """As on GPUs; those of arrays smaller than the window too."""
    ndimage = pytest.importorskip("scipy.ndimage")
    monkeypatch.setattr(windows, "one_frame", lambda device: True)
    monkeypatch.setattr(windows, "_plans", {})
    host = rng.normal(size=shape)
    x = pp.asarray(host)
    window = rng.normal(size=(1,) * (len(shape) - 2) + (5, 3))
    calls = [("convolve", (window,)), ("gaussian_filter", (1.2,)), ("correlate1d", ([1.0, 2.0, 4.0], -2)), ("sobel", ())]
    box = (1,) * (len(shape) - 2) + (4, 3)
    calls += [(f, (box,)) for f in ("uniform_filter", "median_filter", "maximum_filter", "minimum_filter")]
    for f, arguments in calls:
        want = getattr(ndimage, f)(host, *arguments, mode=mode)
        np.testing.assert_allclose(pp.asnumpy(getattr(nd, f)(x, *arguments, mode=mode)), want, rtol=1e-12, atol=1e-12)
    whole = (host * 40).astype("uint8")
    for f in ("uniform_filter", "median_filter"):
        want = getattr(ndimage, f)(whole, box, mode=mode, cval=30)
        np.testing.assert_array_equal(pp.asnumpy(getattr(nd, f)(pp.asarray(whole), box, mode=mode, cval=30)), want)


@pytest.mark.parametrize("name", [*FILTERS, "convolve2d"])
def test_later_calls_with_other_values(name, rng):
    """Launches of the first call are used again."""
    f = FILTERS.get(name) or (lambda x: signal.convolve2d(x, x[:2, :3], boundary="symm"))
    for host in rng.normal(size=(3, 6, 7)).astype("float32"):
        again = pp.asnumpy(f(pp.asarray(host)))
        fresh = pp.Queue(pp.Device())
        np.testing.assert_array_equal(again, pp.asnumpy(f(pp.asarray(host, queue=fresh))))
