# tests/python/test_libraries.py: arrays of pardo in other libraries: those that plot, hold tables and images, label, chunk and store.
from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest

RAW = np.linspace(0.0, 1.0, 12).reshape(3, 4)
ROW = np.arange(5.0)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # warnings of other libraries are not ours


@pytest.fixture
def x():
    return pp.asarray(RAW)


@pytest.fixture
def v():
    return pp.asarray(ROW)


def test_matplotlib(x, v):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    (line,) = axes.plot(v, v**2)
    np.testing.assert_array_equal(line.get_xydata(), np.stack([ROW, ROW**2], axis=1))
    axes.set_xlim(v[0], v[-1])
    axes.set_ylim(v.min(), (v**2).max())
    assert axes.get_xlim() == (0, 4)
    assert axes.get_ylim() == (0, 16)
    image = axes.imshow(x, vmin=x.min(), vmax=x.max())
    np.testing.assert_array_equal(image.get_array(), RAW)
    axes.scatter(v, v, c=v, s=v * 10)
    axes.bar(v, v)
    axes.errorbar(v, v, yerr=v)
    axes.fill_between(v, v, v * 2)
    axes.axhline(v.mean())
    counts, _, _ = axes.hist(v, bins=5)
    assert counts.tolist() == [1] * 5
    axes.contour(x)
    axes.pcolormesh(x)
    figure.canvas.draw()
    plt.close(figure)


def test_pandas(x, v):
    pd = pytest.importorskip("pandas")
    series, frame = pd.Series(v, name="a"), pd.DataFrame({"a": v, "b": v * 2})
    assert series.sum() == 10
    frame = frame.assign(c=v + 1)
    frame["d"] = v
    np.testing.assert_array_equal(frame.to_numpy(), np.stack([ROW, 2 * ROW, ROW + 1, ROW], axis=1))
    np.testing.assert_array_equal(pd.DataFrame(x).to_numpy(), RAW)
    assert series[np.asarray(v > 2)].tolist() == [3, 4]
    assert series.where(v > 2, -v).tolist() == [0, -1, -2, 3, 4]
    assert series.iloc[pp.asarray([1, 2])].tolist() == [1, 2]
    # With a Series first pandas computes, on the host; with ours first, or in our function, the result stays on the device.
    assert type(series + v) is pd.Series
    for result in (v + series, pp.add(series, v), pp.add(v, series)):
        assert type(result) is pp.Array
        np.testing.assert_array_equal(pp.asnumpy(result), 2 * ROW)
    np.testing.assert_array_equal(pp.asnumpy(pp.asarray(frame["b"])), 2 * ROW)


def test_pandas_compares(v):
    """pandas asks whether an array is a number (it is a sequence), and whether elements are in a table of hashes."""
    pd = pytest.importorskip("pandas")
    series, index = pd.Series(ROW), pd.Index(v)
    other = pp.asarray([0.0, 2.0, 2.0, 9.0, 4.0])
    host = pp.asnumpy(other)
    assert index.tolist() == ROW.tolist()
    assert pd.isna(v).tolist() == [False] * 5
    for result, expected in ((series > other, host < ROW), (series == other, host == ROW), (series.eq(other), host == ROW)):
        assert result.tolist() == expected.tolist()
    assert series.isin(other).tolist() == pd.Series(ROW).isin(host).tolist()
    assert (series > v[2]).tolist() == (ROW > 2).tolist()
    assert series.isin([v[1], v[3]]).tolist() == [False, True, False, True, False]
    assert series.reindex(pp.asarray([0, 3])).tolist() == [0, 3]
    with pytest.raises(KeyError):  # pandas takes lists and arrays of NumPy for masks, and says so of all others
        series[v > 2]


def test_pillow(x):
    image_module = pytest.importorskip("PIL.Image")
    pixels = (x * 255).astype("uint8")
    for part in (pixels, pixels.T, pixels[::2]):
        image = image_module.fromarray(part)
        np.testing.assert_array_equal(np.asarray(image), pp.asnumpy(part))
        np.testing.assert_array_equal(pp.asnumpy(pp.asarray(image)), pp.asnumpy(part))
    assert image_module.fromarray(pp.zeros((4, 4, 3), dtype="uint8")).mode == "RGB"


REDUCTIONS = ["sum", "mean", "std", "var", "min", "max", "prod", "median", "all", "any", "count", "cumsum"]


def test_xarray(x):
    xr = pytest.importorskip("xarray")
    variable = xr.Variable(("a", "b"), x)
    array = xr.DataArray(x, dims=("a", "b"), coords={"b": [10, 20, 30, 40]})
    dataset = xr.Dataset({"u": array, "w": array * 2})
    for made, expected in (
        (variable + 1, RAW + 1),
        (variable.mean("a"), RAW.mean(axis=0)),
        (variable * RAW, RAW * RAW),
        (array + x, 2 * RAW),
        (x + array, 2 * RAW),
        (array.isel(a=0), RAW[0]),
        (array.sel(b=30), RAW[:, 2]),
        (array.T, RAW.T),
        (np.sqrt(array), np.sqrt(RAW)),
        (array.where(array > 0.5, 0.0), np.where(RAW > 0.5, RAW, 0.0)),
        (xr.concat([array, array], "a"), np.concatenate([RAW, RAW])),
        (dataset.mean("b").w, 2 * RAW.mean(axis=1)),
    ):
        assert type(made.data) is pp.Array
        np.testing.assert_allclose(pp.asnumpy(made.data), expected, rtol=1e-12)
    for name in REDUCTIONS:
        made = getattr(array, name)("a")
        assert type(made.data) is pp.Array, name
        np.testing.assert_allclose(pp.asnumpy(made.data), getattr(xr.DataArray(RAW, dims=("a", "b")), name)("a").data, rtol=1e-12)
    assert "xarray.DataArray" in repr(array)


def test_dask(x):
    da = pytest.importorskip("dask.array")
    d = da.from_array(x, chunks=(3, 2), asarray=False)
    for lazy, expected in (
        (d + 1, RAW + 1),
        (d.sum(axis=0), RAW.sum(axis=0)),
        (d.std(axis=1), RAW.std(axis=1)),
        (d.map_blocks(lambda block: block * 2), RAW * 2),
        (da.concatenate([d, d]), np.concatenate([RAW, RAW])),
        (da.stack([d, d]), np.stack([RAW, RAW])),
        (da.tensordot(d, d.T, 1), RAW @ RAW.T),
        (d @ d.T, RAW @ RAW.T),
        (d.rechunk((1, 4)), RAW),
        (da.where(d > 0.5, d, 0.0), np.where(RAW > 0.5, RAW, 0.0)),
        (np.sqrt(d)[1:], np.sqrt(RAW)[1:]),
    ):
        made = lazy.compute(scheduler="synchronous")
        assert type(made) is pp.Array
        np.testing.assert_allclose(pp.asnumpy(made), expected, rtol=1e-12)
    da.register_chunk_type(pp.Array)  # so that Dask takes the operator, whoever is first
    for lazy in (x + d, d + x, np.add(x, d), np.concatenate([d, x])[:3] * 2):
        assert type(lazy) is da.Array
        np.testing.assert_allclose(pp.asnumpy(lazy.compute(scheduler="synchronous")), 2 * RAW)


def test_einops(x):
    einops = pytest.importorskip("einops.array_api")
    for made, expected in (
        (einops.rearrange(x, "a b -> b a"), RAW.T),
        (einops.reduce(x, "a b -> a", "mean"), RAW.mean(axis=1)),
        (einops.repeat(x, "a b -> a c b", c=2), np.stack([RAW, RAW], axis=1)),
    ):
        assert type(made) is pp.Array
        np.testing.assert_allclose(pp.asnumpy(made), expected)


def test_h5py(x, v, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        stored = file.create_dataset("x", data=x)
        stored[0] = v[:4]
        expected = RAW.copy()
        expected[0] = ROW[:4]
        np.testing.assert_array_equal(stored[...], expected)
        for made in (pp.asarray(stored), pp.asarray(stored[...])):
            np.testing.assert_array_equal(pp.asnumpy(made), expected)
        np.testing.assert_array_equal(pp.asnumpy(x + stored), RAW + expected)  # read from the file once, as any operand of the host


def test_zarr(x, v):
    zarr = pytest.importorskip("zarr")
    stored = zarr.array(np.asarray(x), chunks=(2, 2))
    stored[0] = np.asarray(v[:4])
    expected = RAW.copy()
    expected[0] = ROW[:4]
    np.testing.assert_array_equal(pp.asnumpy(pp.asarray(stored[:])), expected)
    np.testing.assert_array_equal(pp.asnumpy(x + stored), RAW + expected)


def test_sparse(x):
    sparse = pytest.importorskip("sparse")
    s = sparse.COO.from_numpy(np.where(RAW > 0.5, RAW, 0.0))
    np.testing.assert_allclose(s @ np.asarray(x.T), s.todense() @ RAW.T)
    assert float(s.sum().todense()) == pytest.approx(float(pp.where(x > 0.5, x, 0.0).sum()))


def test_numba(x):
    numba = pytest.importorskip("numba")
    kind = numba.typeof(x)
    assert (kind.dtype, kind.ndim, kind.layout) == (numba.float64, 2, "C")
    assert numba.njit(lambda a: a[0, 1])(x) == RAW[0, 1]
    assert numba.njit(lambda a: a.sum())(np.asarray(x)) == pytest.approx(RAW.sum())


def test_joblib_hash_and_files(v, tmp_path):
    joblib = pytest.importorskip("joblib")
    joblib.dump({"v": v}, tmp_path / "v.pkl")
    np.testing.assert_array_equal(pp.asnumpy(joblib.load(tmp_path / "v.pkl")["v"]), ROW)
    assert joblib.hash(v) == joblib.hash(v + 0)


def test_matplotlib_of_other_devices():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    (line,) = axes.plot(pp.arange(4, dtype="float32", device="null:1"))
    assert line.get_ydata().tolist() == [0, 1, 2, 3]
    far = pp.arange(4, dtype="float32", device="null:1")
    axes.step(far, far)
    axes.stem(far, far)
    axes.boxplot(far)
    axes.violinplot(far)
    assert axes.hist(far, bins=4)[0].tolist() == [1] * 4
    with pytest.raises(TypeError, match=r"null:1: use pardo\.asnumpy"):
        axes.imshow(far.reshape(2, 2))
    plt.close(figure)


def test_writable_buffers_are_what_others_write(v):
    pd, signal = pytest.importorskip("pandas"), pytest.importorskip("scipy.signal")
    sections = pp.asarray(signal.butter(2, 0.1, output="sos"))
    with pp.writable_buffers(sections, v):
        filtered = signal.sosfilt(sections, v)
        np.asarray(v)[1] = 9
        ctypes.c_double.from_buffer(v).value = 5
    np.testing.assert_allclose(np.asarray(filtered), signal.sosfilt(pp.asnumpy(sections), ROW))
    assert v.tolist()[:2] == [5, 9]
    assert pd.Series(v).iloc[1] == 9


def test_sklearn():
    """Estimators that know the array API, as the page says they are asked for it; more of them: tests/suites."""
    pytest.importorskip("sklearn")
    code = """
import numpy as np, pardo as pp, sklearn
from sklearn.preprocessing import StandardScaler
from sklearn.linear_model import Ridge
sklearn.set_config(array_api_dispatch=True)
host = np.random.default_rng(0).random((50, 3))
x, y = pp.asarray(host), pp.asarray(host @ [1.0, 2.0, 3.0])
scaled = StandardScaler().fit_transform(x)
fitted = Ridge(alpha=1e-8, solver="svd").fit(x, y)
print(type(scaled).__name__, type(fitted.coef_).__name__, np.allclose(pp.asnumpy(fitted.coef_), [1, 2, 3]))
"""
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["Array", "Array", "True"], done.stderr
