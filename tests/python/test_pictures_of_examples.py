# tests/python/test_pictures_of_examples.py: the pictures that programs of examples/ write, against pictures that NumPy computes.
from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import displays
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


# --- watched: frames of `watch`, which windows and notebooks show too --------------------------------------------------------------------


@pytest.fixture(scope="module")
def egl() -> None:
    from pardo._live import contexts

    try:
        with contexts.kept():
            contexts.Offscreen("test").close()
    except RuntimeError as error:
        pytest.skip(str(error))


def frames_of(program: ModuleType, device: str, tmp_path: Path, frames: int, *size: int) -> list[np.ndarray]:
    """Colours of each frame."""
    image = pytest.importorskip("PIL.Image")
    assert program.watch(device, *size, frames=frames, to=tmp_path / "{}.png") == frames
    found = []
    for k in range(frames):
        with image.open(tmp_path / f"{k}.png") as picture:
            found.append(np.asarray(picture.convert("RGBA")))
    return found


def test_generations_are_watched(device, example, tmp_path, monkeypatch):
    program = example("game_of_life")
    monkeypatch.setattr(program, "GENERATIONS", 1)
    world = program.random_world(40)
    for found in frames_of(program, device, tmp_path, 4, 40):
        assert_array_equal(found[..., 0], 255 * world)
        world = program.with_numpy(world)


def test_waves_are_watched(device, example, tmp_path):
    program = example("shallow_water")
    *_, found = frames_of(program, device, tmp_path, 6, 64)
    right, down, land, height = program.sea(48, 64)
    u, v = np.zeros((48, 65), np.float32), np.zeros((49, 64), np.float32)
    for _ in range(20):
        program.step(right, down, height, u, v)
    assert not apart(found, coloured(np.where(land, np.nan, height), -0.4, 0.4, "coolwarm", "#50603c")).any()


def test_a_light_that_moves_is_watched(device, example, tmp_path):
    program = example("ray_marching")
    for k, found in enumerate(frames_of(program, device, tmp_path, 3, 64)):
        expected = np.rint(np.clip(program.with_numpy(48, 64, k / 240), 0, 1) * 255)
        assert apart(found[..., :3], expected).mean() < 0.01, "at edges a rounding decides what a ray meets"


def test_a_stream_is_watched(device, example, tmp_path):
    program = example("median_filter")
    images = program.camera(64, range(3))
    for found, image in zip(frames_of(program, device, tmp_path, 3, 64), images, strict=True):
        values = np.hstack([image, program.with_numpy(image)]).astype(float)
        assert not apart(found, coloured(values, 0, 255, "gray", "none")).any()


def test_a_zoom_is_watched(device, example, tmp_path):
    program = example("mandelbrot")
    for k, found in enumerate(frames_of(program, device, tmp_path, 3, 64)):
        steps = program.with_numpy(48, 64, 1.02**k).astype(float)
        steps = np.log(np.where(steps < program.view(48, 64, 1.02**k)[-1], steps, np.nan))
        expected = coloured(steps, np.nanmin(steps), np.nanmax(steps), "inferno", "none")
        assert apart(found, expected).mean() < 0.01, "points on the border escape earlier or later by roundings"


def test_the_mouse_zooms_around_its_place(example):
    program = example("mandelbrot")
    real, imaginary, width = program.zoomed(-2.0, -1.5, 0.1, 10.0, 5.0, 2.0)
    assert math.isclose(width, 0.05)
    assert math.isclose(real + width * 5, -2.0 + 0.1 * 5)
    assert math.isclose(imaginary + width * 10, -1.5 + 0.1 * 10)


def where_points_are(found: np.ndarray, x: np.ndarray, y: np.ndarray, range_of: Any) -> float:
    """The share of pixels that are lit and have no point, or have one and are not lit, of those that have or are."""
    counts = np.histogram2d(y, x, found.shape[:2], range_of[::-1])[0][::-1]
    lit = found[..., :3].any(axis=-1)
    return float(((counts > 0) != lit).sum() / ((counts > 0) | lit).sum())


def test_bodies_are_watched(egl, device, example, tmp_path):
    program = example("n_body")
    found = frames_of(program, device, tmp_path, 4, 128)[-1]
    position, velocity, mass = program.galaxies(128)
    for _ in range(3):
        position, velocity = program.moved(position, velocity, mass, program.with_numpy)
    assert where_points_are(found, position[:, 0], position[:, 1], program.RANGE) < 0.1, "a rounding moves a body to the next pixel"


def test_particles_are_watched(egl, device, example, tmp_path):
    pytest.importorskip("moderngl", reason="particles.py draws with moderngl too")
    program = example("particles")
    found = frames_of(program, device, tmp_path, 5, 3000)[-1]
    p = program.disc(3000)
    for _ in range(4):
        program.advance_in_numpy(p, np.float32(program.DT))
    assert where_points_are(found, p[0], p[1], ((-1.43, 1.43),) * 2) < 0.1, "a rounding moves a particle to the next pixel"


WATCHED = ["game_of_life", "mandelbrot", "median_filter", "n_body", "particles", "ray_marching", "shallow_water"]


@pytest.fixture(scope="module")
def x_server() -> Iterator[str]:
    glfw = pytest.importorskip("glfw", reason="glfw opens the windows")
    for name in displays.started():
        yield name
        glfw.terminate()


@pytest.mark.parametrize("name", WATCHED)
def test_examples_in_windows(name, example, x_server, monkeypatch):
    if name == "particles":
        pytest.importorskip("moderngl", reason="particles.py draws with moderngl too")
    monkeypatch.setenv("DISPLAY", x_server)
    program = example(name)
    watch = program.watch
    frames = []

    def some(*arguments, **keywords):
        frames.append(watch(*arguments, frames=3, **keywords))
        return frames[-1]

    monkeypatch.setattr(program, "watch", some)
    monkeypatch.setattr(sys, "argv", ["program", "--window", *([] if name == "particles" else ["--size", "128"])])
    program.main()
    assert frames == [3]


@pytest.mark.parametrize("name", WATCHED)
def test_examples_in_notebooks(name, example, monkeypatch, request):
    if name in ("n_body", "particles"):
        request.getfixturevalue("egl")
        pytest.importorskip("moderngl", reason="particles.py draws with moderngl too")
    shown = []

    def show(data, raw, display_id):
        shown.append(data["image/png"])
        return SimpleNamespace(update=lambda data, raw: shown.append(data["image/png"]))

    monkeypatch.setattr("pardo._base.notebook.shell", lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setattr("pardo._live.places.display", lambda: show)
    assert example(name).watch("cpu", 128, frames=2) == 2
    assert 1 <= len(shown) <= 2
    assert shown[-1].startswith(b"\x89PNG")


def test_wrong_arguments_of_examples(example, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["program", "--size", "32", "--picture", str(tmp_path / "picture.jpg")])
    with pytest.raises(ValueError, match=r"picture.jpg' does not end with \.png"):
        example("game_of_life").main()
    with pytest.raises(ValueError, match="64"):  # the groups of n_body
        example("n_body").picture(size=100)
