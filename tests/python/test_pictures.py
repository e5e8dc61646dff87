# tests/python/test_pictures.py: pictures of arrays: pixels, files, notebooks; points and lines counted in pixels.
from __future__ import annotations

import glob
import io
import math
import os
import re
import subprocess
import sys
import textwrap
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pardo as pp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pardo._pictures import canvas, points

pytestmark = pytest.mark.once

DEVICES = ["cpu", *(str(d.id) for d in (*pp.get_devices("opencl"), *pp.get_devices("cuda")))]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def file_of(x: Any, **keywords: Any) -> bytes:
    file = io.BytesIO()
    pp.show(x, path=file, **keywords)
    return file.getvalue()


def decoded(png: bytes) -> np.ndarray:
    image = pytest.importorskip("PIL.Image").open(io.BytesIO(png))
    image.load()
    return np.asarray(image.convert("RGBA"))


def pixels(x: Any, **keywords: Any) -> np.ndarray:
    """The pixels, which the file has too."""
    found = pp.asnumpy(pp.plot.pixels(x, **keywords))
    assert found.dtype == np.uint8
    assert_array_equal(decoded(file_of(x, **keywords)), found)
    return found


def gray(x: Any, **keywords: Any) -> np.ndarray:
    """Levels from 0 to 254 as the bytes of a map from black to white."""
    found = pixels(x, cmap="gray", **keywords)
    assert_array_equal(found[..., 0], found[..., 2])
    return found[..., 0]


def level(t: Any) -> np.ndarray:
    """The byte of a share of the range."""
    return np.rint(np.clip(np.floor(np.asarray(t) * 255), 0, 254) * (255 / 254)).astype(np.uint8)


# --- values -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "float32", "float64", "bool"])
def test_levels_of_every_dtype(dtype, rng):
    x = (rng.integers(0, 2, (5, 7)) if dtype == "bool" else rng.integers(0, 100, (5, 7))).astype(dtype)
    low, high = (0, 1) if dtype == "bool" else (int(x.min()), int(x.max()))
    found = gray(pp.asarray(x)).astype(int)
    assert abs(found - level((x.astype(float) - low) / (high - low))).max() <= 1
    assert found.min() == 0
    assert found.max() == 255


def test_limits_clip_and_missing_values_are_transparent():
    x = pp.asarray([[-5.0, 0.0, 0.5], [1.0, math.nan, math.inf]])
    found = pixels(x, vmin=0, vmax=1, cmap="gray")
    assert found[..., 0].tolist() == [[0, 0, level(0.5)], [255, 0, 255]]
    assert found[..., 3].tolist() == [[255, 255, 255], [255, 0, 255]]
    assert pixels(x, vmin=0, vmax=1, bad="#10203040")[1, 1].tolist() == [16, 32, 48, 64]
    assert pixels(x, vmin=0, vmax=1, bad=(1, 0.5, 0))[1, 1].tolist() == [255, 128, 0, 255]
    assert gray(x, vmax=1).tolist() == [[0, level(5 / 6), level(5.5 / 6)], [255, 0, 255]], "the least finite value is the first colour"


def test_automatic_limits_of_odd_values():
    assert set(gray(pp.full((3, 3), 7.0)).ravel()) == {0}
    assert set(pixels(pp.full((3, 3), math.nan))[..., 3].ravel()) == {0}
    assert gray(pp.asarray([[math.inf, -math.inf]])).tolist() == [[0, 0]]
    big = 1.7e308
    assert gray(pp.asarray([[-big, 0.0, big]])).tolist() == [[0, level(0.5), 255]], "the range is larger than the largest number"
    assert gray(pp.asarray([[1.0, 2.0]]), vmin=5).tolist() == [[0, 0]]
    assert gray(pp.asarray([[2**53, 2**53 + 2, 2**53 + 4]])).tolist() == [[0, level(0.5), 255]]
    assert set(gray(pp.full((3, 3), True)).ravel()) == {255}


def test_norms():
    x = pp.asarray([[-1.0, 0.0, 1.0], [10.0, 100.0, 1000.0]])
    found = pixels(x, norm="log", cmap="gray")
    assert found[..., 3].tolist() == [[0, 0, 255], [255, 255, 255]]
    assert abs(found[1, :, 0].astype(int) - level([1 / 3, 2 / 3, 1])).max() <= 1
    y = pp.asarray([[-1.0, 0.0, 3.0]])
    assert gray(y, norm="centered").tolist() == [[level(1 / 3), level(0.5), 255]]
    assert gray(y, norm="centered", vmax=1).tolist() == [[0, level(0.5), 255]]
    assert gray(y, norm="centered", vmin=-6).tolist() == [[level(5 / 12), level(0.5), level(0.75)]]


def test_percentiles(rng):
    x = rng.standard_normal((40, 50))
    x[3, 4], x[5, 6] = math.nan, math.inf
    low, high = np.percentile(x[np.isfinite(x)], [5, 90])
    found = gray(pp.asarray(x), percentiles=(5, 90)).astype(int)
    ok = ~np.isnan(x)
    assert abs(found - level((np.where(ok, x, 0) - low) / (high - low)))[ok].max() <= 1
    assert_array_equal(found, gray(pp.asarray(x), percentiles=(5, 90)))


@given(st.data())
@settings(max_examples=8)
def test_pictures_of_numpys_arithmetic(data):
    """Means of blocks, NaN left out, then levels, by NumPy."""
    height, width, rows, columns = (data.draw(st.integers(1, 12)) for _ in range(4))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    x = rng.standard_normal((height, width))
    x[rng.random(x.shape) < 0.2] = math.nan
    mean = np.full((rows, columns), math.nan)
    for i in range(rows):
        for j in range(columns):
            r, c = i * height // rows, j * width // columns
            block = x[r : max((i + 1) * height // rows, r + 1), c : max((j + 1) * width // columns, c + 1)]
            if not np.isnan(block).all():
                mean[i, j] = np.nanmean(block)
    found = pixels(pp.asarray(x), size=(rows, columns), vmin=-2, vmax=2, cmap="gray")
    assert_array_equal(found[..., 3] == 0, np.isnan(mean))
    assert abs(found[..., 0].astype(int) - level((np.nan_to_num(mean, nan=-2) + 2) / 4))[~np.isnan(mean)].max(initial=0) <= 1
    middle = x[(2 * np.arange(rows) + 1) * height // (2 * rows)][:, (2 * np.arange(columns) + 1) * width // (2 * columns)]
    nearest = pixels(pp.asarray(x), size=(rows, columns), interpolation="nearest", vmin=-2, vmax=2)
    assert_array_equal(nearest[..., 3] == 0, np.isnan(middle))


def test_the_mean_of_equal_values_is_that_value():
    assert set(gray(pp.full((1000, 1000), 0.1, dtype="float32"), size=7).ravel()) == {0}


@pytest.mark.parametrize("shape", [(2, 8_500_000), (8_500_000, 2)])
def test_means_of_more_elements_than_float32_counts(shape):
    rows = np.array([[0], [200]], "uint8")
    x = pp.broadcast_to(pp.asarray(rows if shape[0] == 2 else rows.T), shape)
    assert gray(x, size=1, vmin=0, vmax=200).ravel().tolist() == [level(0.5)]
    colours = pp.broadcast_to(x[:, :, None], (*shape, 3))
    assert pp.plot.pixels(colours, size=1).ravel().tolist() == [100, 100, 100, 255]


def test_sizes_and_views(rng):
    x = rng.random((6, 8))
    a = pp.asarray(x)
    assert pixels(a, size=4).shape == (3, 4, 4)
    assert pixels(a, size=(2, 9)).shape == pixels(a, size=np.array([2, 9])).shape == (2, 9, 4)
    assert_array_equal(pixels(a, size=(12, 16))[::2, ::2], pixels(a))
    assert_array_equal(pixels(a, origin="lower"), pixels(a)[::-1])
    assert_array_equal(pixels(a[::-1, ::2].T), pixels(pp.asarray(np.ascontiguousarray(x[::-1, ::2].T))))
    assert pp.plot.pixels(pp.zeros((0, 3))).shape == (0, 3, 4)
    assert pixels(pp.zeros((1, 5000)), size=10).shape == (1, 10, 4)


def test_every_device_makes_the_same_picture(device, rng):
    """Of floats with a reduction, and of colours."""
    x = rng.standard_normal((90, 70)).astype("float32")
    x[40:50, 30:40] = math.nan
    keywords: dict[str, Any] = {"size": 20, "norm": "centered", "cmap": "coolwarm", "bad": "#123456"}
    difference = abs(pixels(pp.asarray(x, device=device), **keywords).astype(int) - pixels(pp.asarray(x), **keywords))
    assert difference.max() <= 5
    assert (difference > 0).mean() < 0.02, "of quotients that a device rounds in another way"
    colours = rng.integers(0, 256, (9, 8, 4)).astype(np.uint8)
    assert_array_equal(pixels(pp.asarray(colours, device=device), size=4), pixels(pp.asarray(colours), size=4))


# --- colours ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["viridis", "magma", "inferno", "coolwarm", "gray", "viridis_r"])
def test_tables_are_those_of_matplotlib(name):
    matplotlib = pytest.importorskip("matplotlib")
    ramp = np.linspace(0.0, 1.0, 255)
    found = pixels(pp.asarray(ramp[None, :]), cmap=name)[0].astype(int)
    assert abs(found - np.rint(matplotlib.colormaps[name](ramp) * 255)).max() <= 5


def test_maps_of_matplotlib_and_of_colours():
    matplotlib = pytest.importorskip("matplotlib")
    colors = pytest.importorskip("matplotlib.colors")
    x = pp.asarray([[0.0, 0.5, 1.0, math.nan]])
    theirs = matplotlib.colormaps["plasma"].with_extremes(bad="red")
    assert pixels(x, cmap=theirs)[0, 3].tolist() == [255, 0, 0, 255]
    assert pixels(x, cmap=theirs, bad="none")[0, 3].tolist() == [0, 0, 0, 0]
    assert pixels(x, bad="tomato")[0, 3].tolist() == [255, 99, 71, 255]
    assert_array_equal(pixels(x, cmap="plasma")[:, :3], pixels(x, cmap=theirs)[:, :3])
    assert pixels(x, cmap=colors.ListedColormap(["k", "w"]))[0, :3, 0].tolist() == [0, 255, 255]
    assert pixels(x, cmap=[(0, 0, 0), (1, 0, 0), (1, 1, 1)])[0, :3].tolist() == [[0, 0, 0, 255], [255, 0, 0, 255], [255, 255, 255, 255]]
    assert pixels(x, cmap=np.asarray([[0, 0, 1, 0.5]]))[0, 0].tolist() == [0, 0, 255, 128]


def test_arrays_of_colours(rng):
    x = rng.random((4, 5, 3))
    opaque = np.full((4, 5, 1), 255)
    assert_array_equal(pixels(pp.asarray(x)), np.concatenate([np.rint(x * 255), opaque], axis=2))
    bytes_ = rng.integers(0, 256, (4, 5, 4)).astype(np.uint8)
    bytes_[..., 3] |= 1
    assert_array_equal(pixels(pp.asarray(bytes_)), bytes_)
    wide = pp.asarray(rng.integers(-300, 600, (4, 5, 3)))
    assert_array_equal(pixels(wide)[..., :3], np.clip(pp.asnumpy(wide), 0, 255))
    x[1, 2, 0] = math.nan
    assert pixels(pp.asarray(x), bad="#ff0000")[1, 2].tolist() == [255, 0, 0, 255]
    assert pixels(pp.asarray(x[:, :, :1])).shape == (4, 5, 4)


def test_means_of_colours_are_weighted_by_opacity():
    x = np.array([[[255, 0, 0, 255], [0, 0, 255, 0]]], np.uint8)
    assert pixels(pp.asarray(x), size=(1, 1)).tolist() == [[[255, 0, 0, 128]]]
    assert pixels(pp.asarray(x[..., :3]), size=(1, 1)).tolist() == [[[128, 0, 128, 255]]]
    assert pixels(pp.asarray(x), size=(1, 1), interpolation="nearest").tolist() == [[[0, 0, 0, 0]]]


# --- what moves, and where it is shown ----------------------------------------------------------------------------------------------------


def test_one_byte_of_a_pixel_moves(device, rng):
    x = pp.asarray(rng.random((300, 400)), device=device)
    x.wait()
    cases: list[tuple[dict[str, Any], int]] = [({}, 0), ({"vmin": 0, "vmax": 1}, 0)]
    if device == "cpu":
        cases.append(({"percentiles": (1, 99)}, 16))  # the percentages go to the device
    for keywords, more in cases:
        before = pp.counters()["copied_bytes"]
        with pp.transfer_guard("disallow"):
            file_of(x, size=(30, 40), **keywords)
        assert pp.counters()["copied_bytes"] - before <= 30 * 40 + more
    if device == "cpu":
        before = pp.counters()["copied_bytes"]
        file_of(pp.zeros((30, 40, 3), dtype="uint8"))
        assert pp.counters()["copied_bytes"] - before <= 30 * 40 * 3


def test_files(tmp_path):
    x = pp.arange(6.0).reshape(2, 3)
    for path in (tmp_path / "a.png", str(tmp_path / "b.PNG"), os.fsencode(tmp_path / "c.png")):
        pp.show(x, path=path)
        assert Path(os.fsdecode(path)).read_bytes() == file_of(x)
    with pytest.raises(ValueError, match=r"'a.jpg' does not end with \.png; .*pardo\.plot\.pixels"):
        pp.show(x, path="a.jpg")
    with pytest.raises(TypeError, match=r"path is the name of a file, .* not int"):
        pp.show(x, path=1)
    with pytest.raises(FileNotFoundError):
        pp.show(x, path=tmp_path / "none" / "a.png")


def test_chunks_of_the_file():
    """Checked without a library that reads such files."""
    for x in (pp.arange(6.0).reshape(2, 3), pp.zeros((2, 3, 3)), pp.zeros((2, 3, 4), dtype="uint8")):
        data = file_of(x)
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        at, names = 8, []
        while at < len(data):
            length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
            body = data[at + 8 : at + 8 + length]
            assert int.from_bytes(data[at + 8 + length : at + 12 + length], "big") == zlib.crc32(kind + body)
            names.append(kind)
            at += 12 + length
        assert names[0] == b"IHDR"
        assert names[-2:] == [b"IDAT", b"IEND"]


def test_notebooks(monkeypatch):
    python = pytest.importorskip("IPython")
    shown = []
    monkeypatch.setattr(python, "get_ipython", lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append((data, raw)))
    pp.show(pp.zeros((3, 10)))
    pp.show(pp.zeros((3000, 1000)))
    pp.show([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]] * 3)
    assert all(raw for _, raw in shown)
    assert [decoded(data["image/png"]).shape[:2] for data, _ in shown] == [(78, 260), (1024, 341), (78, 260)]
    assert shown[0][0]["text/plain"] == "<picture of 78 rows and 260 columns>"
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(python, "get_ipython", lambda: SimpleNamespace())  # a terminal
    with pytest.raises(RuntimeError, match="does not run in a notebook"):
        pp.show(pp.zeros((3, 10)))


def test_elsewhere_it_says_what_to_do():
    program = "import pardo as pp\nimport sys\npp.show(pp.zeros((2, 2)))"
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert done.stderr.splitlines()[-1].startswith(
        "RuntimeError: show: the program does not run in a notebook, and there is no display for a window"
    )


def test_lists_and_arrays_of_numpy(tmp_path):
    x = [[0.0, 1.0], [2.0, 3.0]]
    assert file_of(x) == file_of(np.asarray(x)) == file_of(pp.asarray(x))
    assert_array_equal(pp.plot.density([0.5], [0.5], (1, 1)), [[1]])


def test_failures_reach_the_picture():
    @pp.kernel
    def wrong(item: pp.Item, x: Any) -> None:
        i = item.get_id(0)
        assert x[i, 0] > 0
        x[i, 0] = 1.0

    x = pp.zeros((4, 4))
    wrong[pp.Range(4)](x)
    with pytest.raises(AssertionError):
        file_of(x)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_arrays_over_several_devices(axis, rng):
    x = rng.random((37, 53))
    x[4:9, 10:14] = math.nan
    queues = [pp.Queue("cpu") for _ in range(3)]
    s = pp.shard(x, queues, axis=axis)
    for size in (None, 20, (7, 5), (80, 100)):
        for keywords in ({}, {"interpolation": "nearest"}, {"origin": "lower", "norm": "log"}):
            difference = abs(pixels(s, size=size, **keywords).astype(int) - pixels(pp.asarray(x), size=size, **keywords))
            assert difference.max() <= 5
            assert (difference > 0).mean() < 0.05, "of sums in another order"
    assert set(gray(pp.shard(np.full((64, 64), 0.1), queues, axis=axis), size=10).ravel()) == {0}
    assert_array_equal(pixels(pp.shard(x > 0.5, queues, axis=axis)), pixels(pp.asarray(x > 0.5)))
    with pytest.raises(TypeError, match=r"show: arrays of three dimensions .*s\.to_device"):
        file_of(pp.shard(np.zeros((4, 4, 3)), queues))


# --- points -----------------------------------------------------------------------------------------------------------------------------


def by_numpy(x, y, shape, range_, weights=None):
    ok = np.isfinite(x) & np.isfinite(y)
    weights = None if weights is None else weights[ok]
    return np.histogram2d(y[ok], x[ok], shape, (range_[1], range_[0]), weights=weights)[0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8"])
def test_counts_are_those_of_histogram2d(dtype, rng):
    for n in (0, 1, 30_000):
        x, y = ((rng.standard_normal(n) * 20).astype(dtype) for _ in range(2))
        if n > 10 and x.dtype.kind == "f":
            x[3], y[5], x[7] = math.nan, math.inf, -math.inf
        a, b = pp.asarray(x), pp.asarray(y)
        for shape, range_ in (
            ((17, 31), ((-30, 30), (-20, 25))),
            ((60, 64), ((-32, 32), (-30, 30))),
            ((300, 200), ((-0.3, 13), (-7, 0.001))),
        ):
            found = pp.plot.density(a, b, shape, range=range_)
            assert found.dtype == np.int64
            assert_array_equal(pp.asnumpy(found), by_numpy(x, y, shape, range_))


def test_coordinates_that_are_views(rng):
    both = rng.standard_normal((2000, 2))
    a = pp.asarray(both)
    expected = by_numpy(both[:, 0], both[:, 1], (9, 8), ((-2, 2), (-2, 2)))
    for x, y in ((a[:, 0], a[:, 1]), (a[::-1, 0], a[::-1, 1]), (a[:, 0].reshape(40, 50), a[:, 1].reshape(40, 50))):
        assert_array_equal(pp.asnumpy(pp.plot.density(x, y, (9, 8), range=((-2, 2), (-2, 2)))), expected)


def test_points_on_edges_and_beside_them(device, monkeypatch):
    """Each neighbour of each edge, in pieces that are looked at again."""
    edges = np.linspace(-0.3, 0.7, 50)
    x = np.concatenate([edges, np.nextafter(edges, -9), np.nextafter(edges, 9), [0.7, -0.3, math.nan]])
    y = np.linspace(0, 1, x.size)
    expected = by_numpy(x, y, (3, 49), ((-0.3, 0.7), (0, 1)))
    for parts in [None, 0, 1, 3] if device == "cpu" else [None]:
        if parts is not None:
            monkeypatch.setattr(canvas, "parts_of", lambda *_, p=parts: p)
        found = pp.plot.density(pp.asarray(x, device=device), pp.asarray(y, device=device), (3, 49), range=((-0.3, 0.7), (0, 1)))
        assert_array_equal(pp.asnumpy(found), expected)


def test_sums_and_means(device, rng):
    x, y = rng.random(20_000), rng.random((20_000, 2))[:, 1]
    a, b = pp.asarray(x, device=device), pp.asarray(y, device=device)
    shape, range_ = (30, 40), ((0.2, 1), (0, 1.5))
    counts = by_numpy(x, y, shape, range_)
    kinds = [rng.integers(-9, 9, x.size), rng.random(x.size), rng.random(x.size) < 0.5, rng.random(x.size).astype("float32")]
    for weights in kinds if device == "cpu" else kinds[1:2]:
        w = pp.asarray(weights, device=device)
        expected = by_numpy(x, y, shape, range_, weights)
        found = pp.plot.density(a, b, shape, range=range_, weights=w)
        assert found.dtype == (np.float64 if weights.dtype.kind == "f" else np.int64)
        assert_allclose(pp.asnumpy(found), expected, rtol=1e-12, atol=1e-12)
        mean = pp.plot.density(a, b, shape, range=range_, weights=w, how="mean")
        with np.errstate(invalid="ignore"):
            assert_allclose(pp.asnumpy(mean), expected / counts, rtol=1e-12, atol=1e-12)
    missing = rng.random(x.size)
    missing[0] = math.nan
    found = pp.plot.density(a, b, (1, 1), range=((0, 1), (0, 1)), weights=missing)
    assert np.isnan(found.item())


def test_weights_where_there_are_no_atomics(monkeypatch, rng):
    """Sorted by pixel, as on devices that add in 32 bits alone."""
    x, y, w = rng.random(5000), rng.random(5000), rng.random(5000)
    expected = pp.asnumpy(pp.plot.density(pp.asarray(x), y, (9, 7), weights=w))
    monkeypatch.setattr(canvas, "parts_of", lambda *_: 0)
    atomic = pp.plot.density(pp.asarray(x), y, (9, 7), weights=w)
    assert_allclose(pp.asnumpy(atomic), expected, rtol=1e-12)
    monkeypatch.setattr(points, "adds_64_bits", lambda _: False)
    by_sorting = pp.plot.density(pp.asarray(x), y, (9, 7), weights=w)
    assert_allclose(pp.asnumpy(by_sorting), expected, rtol=1e-12)


def test_many_points_are_counted_in_turns(monkeypatch, rng):
    x, y = rng.random(1000), rng.random(1000)
    expected = pp.asnumpy(pp.plot.density(pp.asarray(x), y, (5, 6)))
    monkeypatch.setattr(canvas, "MOST", 64)
    assert_array_equal(pp.asnumpy(pp.plot.density(pp.asarray(x), y, (5, 6))), expected)


def test_limits():
    x = pp.asarray([1.0, math.nan, 3.0, math.inf])
    assert pp.plot.limits(x, x * 2) == ((1, 3), (2, 6))
    assert pp.plot.limits(x, [5, 2, 9, 7]) == ((1, 3), (2, 9))
    assert pp.plot.limits(x[:0], x[1:2]) == ((0, 1), (0, 1))
    assert pp.plot.limits(pp.asarray([True, False]), [1, 2]) == ((0, 1), (1, 2))
    assert pp.asnumpy(pp.plot.density(x, x, (2, 2))).tolist() == [[1, 0], [0, 1]]
    assert pp.asnumpy(pp.plot.density(x[:1], x[:1], (3, 3)))[1, 1] == 1, "of one number the range is half a unit to each side"


def test_limits_are_found_in_one_pass(rng):
    x = pp.asarray(rng.random(100_000)).wait()
    y = pp.asarray(rng.random(100_000)).wait()
    with pp.profile() as profile:
        pp.plot.limits(x, y)
    kernels = [record for record in profile.records if record["activity"] == "kernel"]
    assert sum(k["bytes_read"] for k in kernels) < 1.1 * 2 * x.nbytes
    assert sum(k["bytes_written"] for k in kernels) < 0.1 * x.nbytes


@pytest.mark.parametrize("axis", [0, 1, None])
def test_points_over_several_devices(axis, rng):
    x, y, w = rng.random((31, 5)), rng.random((31, 5)), rng.integers(0, 9, (31, 5))
    x[3, 4] = x[:11] = math.nan
    x[11:] += 5
    queues = [pp.Queue("cpu") for _ in range(3)]
    a, b, c = (pp.shard(v, queues, axis=axis) for v in (x, y, w))
    assert pp.plot.limits(a, b) == pp.plot.limits(pp.asarray(x), y)
    for keywords, split in (({}, {}), ({"weights": w}, {"weights": c}), ({"weights": w, "how": "mean"}, {"weights": c, "how": "mean"})):
        found = pp.plot.density(a, b, (4, 3), **split)
        assert_allclose(pp.asnumpy(found), pp.asnumpy(pp.plot.density(pp.asarray(x), y, (4, 3), **keywords)), rtol=1e-12)
    much = pp.plot.density(a, b, (1, 1), range=((-9, 9), (-9, 9)), weights=c * 0 + 2**62, how="mean")
    assert pp.asnumpy(much).tolist() == [[2.0**62]]
    with pytest.raises(TypeError, match=r"plot\.density: with these arguments not there for arrays over several devices"):
        pp.plot.density(a, y)
    with pytest.raises(ValueError, match="needs weights"):
        pp.plot.density(a, b, how="mean")
    with pytest.raises(TypeError, match=r"plot.lines: not there .*plot.lines\(s.to_device\(d\)\)"):
        pp.plot.lines(a, b)


# --- lines ------------------------------------------------------------------------------------------------------------------------------


def lines_by_python(x, y, shape, range_):
    """The rule of the docstring, word by word."""
    (height, width), ((left, right), (low, high)) = shape, range_
    counts = np.zeros(shape, np.int64)

    def pixel(u, v):
        return (min(math.floor(v), height - 1), min(math.floor(u), width - 1)) if 0 <= u <= width and 0 <= v <= height else None

    for xs, ys in zip(*np.broadcast_arrays(np.atleast_2d(x), np.atleast_2d(y)), strict=True):
        before = None
        for a, b in zip(xs.tolist(), ys.tolist(), strict=True):
            u, v = (a - left) * (width / (right - left)), (b - low) * (height / (high - low))
            if not (math.isfinite(u) and math.isfinite(v)):
                before = None
                continue
            touched = {pixel(u, v)}
            if before is not None:
                steep = abs(u - before[0]) < abs(v - before[1])
                (p0, q0), (p1, q1) = (before[::-1], (v, u)) if steep else (before, (u, v))
                long, short = shape if steep else shape[::-1]
                if p0 != p1:
                    slope = (q1 - q0) / (p1 - p0)
                    for c in range(max(math.ceil(min(p0, p1) - 0.5), 0), min(math.floor(max(p0, p1) - 0.5), long - 1) + 1):
                        q = q0 + ((c + 0.5) - p0) * slope
                        if 0 <= q < short:
                            touched.add((c, math.floor(q)) if steep else (math.floor(q), c))
                touched.discard(pixel(*before))
            for place in touched - {None}:
                counts[place] += 1
            before = u, v
    return counts


def test_lines(device, rng):
    range_ = ((-1, 1.5), (-2, 2))
    for shape in ((7, 9), (1, 1), (60, 33)):
        for k, n in ((1, 1), (3, 2), (6, 30)):
            x, y = rng.standard_normal((k, n)), rng.standard_normal((k, n)) * 2
            if n > 10:
                x[0, 3], y[1, 5], x[2, 7], y[2, 9] = math.nan, math.inf, 1e6, -1e300
                x[3], y[3] = np.round(x[3]), np.round(y[3])
                x[4] = 0.5
            a, b = pp.asarray(x, device=device), pp.asarray(y, device=device)
            found = pp.plot.lines(a, b, shape, range=range_)
            assert found.dtype == np.int64
            assert_array_equal(pp.asnumpy(found), lines_by_python(x, y, shape, range_))
            if device != "cpu":  # each layout is a program, which takes drivers seconds
                continue
            assert_array_equal(pp.asnumpy(pp.plot.lines(a[0], b, shape, range=range_)), lines_by_python(x[0], y, shape, range_))
            assert_array_equal(pp.asnumpy(pp.plot.lines(a[0], b[0], shape, range=range_)), lines_by_python(x[0], y[0], shape, range_))


def test_lines_to_points_far_away(device):
    for far in (1e3, 1e10, 1e25) if not pp.Device(device).has_fp64 else (1e3, 1e19, 1e25, 1e300):
        for x, y in (([-far, far], [0.5, 0.5]), ([far, -far], [0.5, 0.5]), ([0.5, 0.5], [-far, far])):
            a, b = pp.asarray(x, device=device), pp.asarray(y, device=device)
            found = pp.plot.lines(a, b, (2, 4), range=((0, 1), (0, 1)))
            assert_array_equal(pp.asnumpy(found), [[0] * 4, [1] * 4] if y == [0.5, 0.5] else [[0, 0, 1, 0]] * 2)
        for x in ([far, 2 * far], [-far, -2 * far]):
            assert not pp.asnumpy(pp.plot.lines(pp.asarray(x, device=device), [0.5, 0.5], (2, 4), range=((0, 1), (0, 1)))).any()


def test_lines_by_parts_and_by_atomics(monkeypatch, rng):
    x, y = rng.standard_normal((40, 50)), rng.standard_normal((40, 50))
    expected = pp.asnumpy(pp.plot.lines(pp.asarray(x), y, (50, 60)))
    for parts in (0, 1, 5):
        monkeypatch.setattr(canvas, "parts_of", lambda *_, p=parts: p)
        assert_array_equal(pp.asnumpy(pp.plot.lines(pp.asarray(x), y, (50, 60))), expected)


def test_lines_of_nothing():
    for shape in ((0,), (3, 0), (0, 4)):
        assert not pp.asnumpy(pp.plot.lines(pp.zeros(shape), pp.zeros(shape), (2, 3))).any()


# --- GPUs -------------------------------------------------------------------------------------------------------------------------------

FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(Path(__file__).parents[2].glob("build/*/libcuda_fake.so"))), "")
try:
    import nvidia

    NVRTC = next((p for folder in nvidia.__path__ for p in sorted(glob.glob(f"{folder}/c*/lib/libnvrtc.so.*"))), "")
except ImportError:
    NVRTC = ""
FOR_GPUS = """
import io
import numpy as np
import pardo as pp
from pardo._pictures import points
D = "cuda:0"
pp.show(pp.zeros((300, 400), device=D), path=io.BytesIO(), size=100)
pp.show(pp.zeros((300, 400), dtype="bool", device=D)[::2, ::-1].T, path=io.BytesIO(), norm="log", interpolation="nearest", vmin=1, vmax=2)
pp.show(pp.zeros((30, 40, 4), device=D), path=io.BytesIO(), size=20)
pp.plot.pixels(pp.zeros((30, 40), dtype="uint8", device=D), vmin=0, vmax=1).wait()
x, y = pp.zeros((2, 5000), dtype="float32", device=D)
pp.plot.density(x, y, (30, 40)).wait()
pp.plot.density(x, y, (30, 40), weights=x, range=((0, 1), (0, 1))).wait()
pp.plot.lines(x, y.reshape(1, -1), (30, 40), range=((0, 1), (0, 1))).wait()
points.adds_64_bits = lambda _: False
pp.plot.density(x, y, (30, 40), weights=x, range=((0, 1), (0, 1))).wait()
"""


def on_a_fake_gpu(program: str, **environment: str) -> str:
    """What a program prints where a driver runs no kernel."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PARDO_")}
    variables |= {"PARDO_CUDA_DRIVER": FAKE, "FAKE_CUDA_MEMORY": "8000000000"} | environment
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not FAKE, reason="libcuda_fake.so is not built (target cuda_fake)")
@pytest.mark.skipif(not NVRTC, reason="needs pardo[cuda]")
@pytest.mark.varied("arch")
@pytest.mark.parametrize("arch", [80, 90])
def test_kernels_are_compiled_for_gpus(arch):
    """By NVRTC; each of them that devices with groups of items use."""
    program = f"import pardo as pp\nwith pp.profile() as profile:\n{textwrap.indent(FOR_GPUS, '    ')}"
    program += "print(*sorted({r['name'] for r in profile.records if r['activity'] in ('compile', 'load')}))"
    compiled = on_a_fake_gpu(program, PARDO_NVRTC=NVRTC, FAKE_CUDA_ARCH=str(arch)).split()
    assert {"block_means", "block_colours", "find_levels", "look_up", "sum_by_atomics", "find_pixels", "draw_by_atomics"} <= set(compiled)
    assert not {"sum_in_parts", "draw_in_parts"} & set(compiled)


@pytest.mark.skipif(not FAKE, reason="libcuda_fake.so is not built (target cuda_fake)")
def test_notebooks_show_values_where_nothing_compiles_pictures():
    program = """if True:
        import numpy as np
        import pardo as pp
        np.set_printoptions(threshold=10_000)
        shown = pp.asarray(np.zeros((40, 50)), device="cuda:0")._repr_mimebundle_()
        print(shown["text/plain"].startswith("array([[0., 0., 0.,"), shown["text/html"])
    """
    found = on_a_fake_gpu(program, PARDO_NVRTC="/nowhere.so", PARDO_CACHE="off")
    assert found.startswith("True <div><em>Array, ")
    assert re.search(r"<p>no picture: .*pip install pardo\[cuda\].*</p><pre>array", found), found


# --- bad input ----------------------------------------------------------------------------------------------------------------------------

X, NAN = pp.zeros((3, 4)), math.nan
WRONG = [
    (lambda: file_of(X + 1j), TypeError, r"show: complex values have no order: take abs\(x\)"),
    (lambda: file_of(X[0]), ValueError, r"not \(4,\); x\[None, :\] is one of a row"),
    (lambda: file_of(pp.zeros((9, 3, 2))), ValueError, r"not \(9, 3, 2\); x\[k\] is one of them"),
    (lambda: file_of(pp.zeros((2, 2, 3), dtype="bool")), TypeError, "colours are floats"),
    (lambda: file_of(pp.zeros((0, 4))), ValueError, r"shape \(0, 4\) has no pixels"),
    (lambda: file_of(pp.asarray(1.0)), ValueError, "a picture has the shape"),
    (lambda: file_of("abc"), TypeError, "show: an array, .* is expected, not str"),
    (lambda: file_of(X, cmap="nothing"), ValueError, "colour map 'nothing'; pardo has viridis"),
    (lambda: file_of(X, cmap=3), TypeError, "show: cmap is a name"),
    (lambda: file_of(X, cmap=[(0, 0, 2)]), ValueError, "from 0 to 1"),
    (lambda: file_of(X, bad="no colour"), ValueError, "'no colour' is no colour"),
    (lambda: file_of(X, bad=(1, 2)), ValueError, "is no colour"),
    (lambda: file_of(X, vmin=2, vmax=1), ValueError, "vmin is 2 and vmax 1"),
    (lambda: file_of(X, vmin=NAN), ValueError, "must be finite"),
    (lambda: file_of(X, vmin="a"), TypeError, "vmin is a number, not str"),
    (lambda: file_of(X, norm="log", vmin=0), ValueError, "must be positive"),
    (lambda: file_of(X, norm="power"), ValueError, "norm is one of 'linear', 'log', 'centered'"),
    (lambda: file_of(X, origin="left"), ValueError, "origin is 'upper' or 'lower'"),
    (lambda: file_of(X, interpolation="bilinear"), ValueError, "interpolation is 'auto'"),
    (lambda: file_of(X, percentiles=(5, 1)), ValueError, "they rise"),
    (lambda: file_of(X, percentiles=5), TypeError, "a pair of numbers"),
    (lambda: file_of(X, percentiles=(1, 99), vmin=0, vmax=1), ValueError, "both vmin and vmax are"),
    (lambda: file_of(X, size=0), ValueError, "at least one pixel"),
    (lambda: file_of(X, size=(1, 2, 3)), TypeError, "size is a number of pixels"),
    (lambda: file_of(X, size=True), TypeError, "size is a number of pixels"),
    (lambda: file_of(X, size=np.array([2.0, 3.0])), TypeError, "size is a number of pixels"),
    (lambda: file_of(X, size=1.5), TypeError, "size is a number of pixels"),
    (lambda: file_of(pp.zeros((3, 4, 3)), vmin=0, vmax=1), ValueError, "has colours already"),
    (lambda: pp.plot.pixels(pp.zeros((0, 4)), size=(2, 2)), ValueError, "has no elements for pixels"),
    (lambda: pp.plot.density(X, X[0]), ValueError, r"x has the shape \(3, 4\) and y \(4,\)"),
    (lambda: pp.plot.density(X, X, how="sum"), ValueError, "how='sum' needs weights"),
    (lambda: pp.plot.density(X, X, how="count", weights=X), ValueError, "takes no weights"),
    (lambda: pp.plot.density(X, X, how="max"), ValueError, "how is one of"),
    (lambda: pp.plot.density(X, X, weights=X[0]), ValueError, "12 points and 4 weights"),
    (lambda: pp.plot.density(X, X, weights=X * 1j), TypeError, "real numbers, not complex128"),
    (lambda: pp.plot.density(X, X, (3,)), TypeError, "shape is a pair of integers"),
    (lambda: pp.plot.density(X, X, (0, 3)), ValueError, "at least one row"),
    (lambda: pp.plot.density(X, X, (2**16, 2**16)), ValueError, "at most"),
    (lambda: pp.plot.density(X, X, (3, 3), range=(1, 2)), TypeError, "range is a pair of pairs"),
    (lambda: pp.plot.density(X, X, (3, 3), range=((2, 1), (0, 1))), ValueError, "must not be above the second"),
    (lambda: pp.plot.density(X, X, (3, 3), range=((0, NAN), (0, 1))), ValueError, "must be finite"),
    (lambda: pp.plot.density(X, X, (3, 3), range=((0, 5e-324), (0, 1))), ValueError, "cannot be told apart"),
    (lambda: pp.plot.density(X, X, (3, 3), range=((-1e308, 1e308), (0, 1))), ValueError, "density: the range from .* is wider than"),
    (lambda: pp.plot.lines(pp.asarray([-1e308, 1e308]), [0, 1]), ValueError, "lines: the range from .* is wider than"),
    (lambda: pp.plot.density(X * 1j, X), TypeError, "real numbers, not complex128"),
    (lambda: pp.plot.density(X, pp.zeros((3, 4), queue=pp.Queue("cpu"))), pp.ExecutionPlacementError, "different queues"),
    (lambda: pp.plot.lines(X, X[:2]), ValueError, "lines have as many of each"),
    (lambda: pp.plot.lines(X[None], X[None]), ValueError, "a row for each of several"),
    (lambda: pp.plot.lines(X, X, range=((0, 5e-324), (0, 1))), ValueError, "cannot be told apart"),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_bad_input(case):
    call, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        call()


def test_nothing_of_this_is_read_before_it_is_used():
    program = """
        import sys
        import pardo as pp
        pp.ones(3).sum().wait()
        assert not [name for name in sys.modules if name.startswith(("pardo._pictures", "pardo.plot"))]
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)
