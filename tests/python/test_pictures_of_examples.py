# tests/python/test_pictures_of_examples.py: the pictures that programs of examples/ write, against pictures that NumPy computes.
from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal
from pardo._pictures.colours import NONE, palette_of

FOLDER = Path(__file__).resolve().parents[2] / "examples"

pytestmark = [pytest.mark.once, pytest.mark.skipif(not FOLDER.is_dir(), reason="not in a source tree")]

DEVICES = ["cpu", *(str(d.id) for d in pp.get_devices("opencl")[:1]), *(str(d.id) for d in pp.get_devices("cuda")[:1])]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FOLDER))
    return importlib.import_module


def picture_of(program: ModuleType, device: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> np.ndarray:
    """Colours of the file that a program writes, which its function `picture` gives too, as what a notebook shows as a picture."""
    path = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", ["program", "--device", device, "--size", str(size), "--picture", str(path), *more])
    program.main()  # compares its result with NumPy's
    image = pytest.importorskip("PIL.Image").open(path)
    image.load()
    found = np.asarray(image.convert("RGBA"))
    if not more:
        shown = program.picture(device=device, size=size)
        assert shown.device == pp.Device(device)
        assert_array_equal(pp.asnumpy(shown), found[..., : shown.shape[2]])
        assert "<img " in shown._repr_mimebundle_()["text/html"]
    return found


def coloured(values: np.ndarray, low: float, high: float, cmap: str, bad: str) -> np.ndarray:
    """Colours of values between two limits, by NumPy."""
    ok = ~np.isnan(values)
    levels = np.clip(np.floor((np.where(ok, values, low) - low) / (high - low) * 255), 0, 254)
    return palette_of(cmap, bad, "test")[np.where(ok, levels, NONE).astype(int)]


def apart(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Pixels whose colours are further apart than those of two levels that follow each other, which a rounding decides between."""
    assert found.shape == expected.shape
    return (abs(found.astype(int) - expected.astype(int)) > 7).any(axis=-1)


@pytest.mark.parametrize("zoom", [1, 40])
def test_mandelbrot(device, zoom, example, tmp_path, monkeypatch):
    program = example("mandelbrot")
    found = picture_of(program, device, 96, tmp_path, monkeypatch, *(["--zoom", str(zoom)] if zoom > 1 else []))
    steps = program.with_numpy(72, 96, zoom).astype(float)
    steps[steps == program.view(72, 96, zoom)[-1]] = np.nan
    steps = np.log(steps)
    expected = coloured(steps, np.nanmin(steps), np.nanmax(steps), "inferno", "#000000")
    assert apart(found, expected).mean() < 0.005, "points on the border escape earlier or later by roundings"
    assert 0.05 < (found == (0, 0, 0, 255)).all(axis=-1).mean() < 0.6


def test_a_zoom_compiles_nothing(example):
    program = example("mandelbrot")
    program.picture(size=64).wait()
    before = pp.counters()["compiled"]
    program.picture(size=64, zoom=300.0).wait()
    assert pp.counters()["compiled"] == before


def test_game_of_life(device, example, tmp_path, monkeypatch):
    program = example("game_of_life")
    found = picture_of(program, device, 50, tmp_path, monkeypatch)
    expected = 255 * program.with_numpy(program.random_world(50))
    for channel in range(3):
        assert_array_equal(found[..., channel], expected)
    assert 0 < expected.mean() < 128


def test_median_filter(device, example, tmp_path, monkeypatch):
    program = example("median_filter")
    found = picture_of(program, device, 64, tmp_path, monkeypatch)
    *_, last = program.camera(64)
    expected = np.hstack([last, program.with_numpy(last)])
    for channel in range(3):
        assert_array_equal(found[..., channel], expected)


def test_frames_are_taken_one_by_one(device, example):
    program = example("median_filter")
    taken = []
    results = program.with_pardo((taken.append(frame) or frame for frame in program.camera(40)), device)
    for k, (image, out) in enumerate(results):
        assert len(taken) == k + 1
        assert_array_equal(pp.asnumpy(image), taken[k])
        assert_array_equal(pp.asnumpy(out), program.with_numpy(taken[k]))
    assert k + 1 == program.FRAMES


def test_shallow_water(device, example, tmp_path, monkeypatch):
    program = example("shallow_water")
    found = picture_of(program, device, 64, tmp_path, monkeypatch)
    right, down, land, height = program.sea(48, 64)
    height = np.where(land, np.nan, program.with_numpy(right, down, height))
    most = abs(np.nanpercentile(height, (1, 99))).max()
    assert not apart(found, coloured(height, -most, most, "coolwarm", "#50603c")).any()
    assert 0.01 < land.mean() < 0.2


def test_n_body(device, example, tmp_path, monkeypatch):
    program = example("n_body")
    found = picture_of(program, device, 128, tmp_path, monkeypatch)
    position, velocity, mass = program.galaxies(128)
    position = program.move(position, velocity, mass, program.with_numpy)
    counts = np.histogram2d(position[:, 1], position[:, 0], program.SHAPE, program.RANGE[::-1])[0]
    counts = np.log(np.where(counts > 0, counts, np.nan))
    rows = np.kron(counts, np.ones((3, 3)))[::-1]
    expected = coloured(rows, 0.0, np.nanmax(counts), "inferno", "#000000")
    seen = (expected != (0, 0, 0, 255)).any(axis=-1)
    assert apart(found, expected)[seen].mean() < 0.1, "a rounding moves a body at an edge to the next pixel"


def test_ray_marching(device, example, tmp_path, monkeypatch):
    program = example("ray_marching")
    found = picture_of(program, device, 64, tmp_path, monkeypatch)
    expected = np.rint(np.clip(program.with_numpy(48, 64), 0, 1) * 255)
    assert apart(found[..., :3], expected).mean() < 0.01, "at edges a rounding decides what a ray meets"
    assert (found[..., 3] == 255).all()


def test_wrong_arguments_of_examples(example, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["program", "--size", "32", "--picture", str(tmp_path / "picture.jpg")])
    with pytest.raises(ValueError, match=r"picture.jpg' does not end with \.png"):
        example("game_of_life").main()
    with pytest.raises(ValueError, match="64"):  # the groups of n_body
        example("n_body").picture(size=100)
