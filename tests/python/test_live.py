# tests/python/test_live.py: live views and windows: frames in files, notebooks and windows, what users do there, and how it ends.
from __future__ import annotations

import gc
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import displays
import groups
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytestmark = pytest.mark.once


@pytest.fixture(params=groups.DEVICES, ids=lambda d: d.id)
def device(request: pytest.FixtureRequest) -> pp.Device:
    return request.param


@pytest.fixture(autouse=True)
def no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    """A display is only there for tests that start one."""
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def x_server() -> Iterator[str]:
    glfw = pytest.importorskip("glfw", reason="glfw opens the windows")
    for name in displays.started():
        yield name
        glfw.terminate()  # it would end the process with the server


@pytest.fixture
def display(x_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DISPLAY", x_server)
    return x_server


@pytest.fixture
def user(display: str) -> Iterator[displays.User]:
    made = displays.User(display)
    made.move(1200, 1000)
    yield made
    made.close()


@pytest.fixture(scope="module")
def egl() -> None:
    from pardo._live import contexts

    try:
        with contexts.kept():
            contexts.Offscreen("test").close()
    except RuntimeError as error:
        pytest.skip(str(error))


def decoded(path: Any) -> np.ndarray:
    image = pytest.importorskip("PIL.Image").open(path)
    image.load()
    return np.asarray(image.convert("RGBA"))


def waves(frame: int, shape: tuple[int, int] = (30, 40), device: Any = None) -> pp.Array:
    y, x = (pp.linspace(-3, 3, n, dtype="float32", device=device) for n in shape)
    return pp.sin(x + 0.3 * frame) + pp.cos(y)[:, None]


# --- files ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", [{}, {"cmap": "magma", "origin": "lower", "size": 25}, {"percentiles": (5, 95)}, {"vmin": -1, "vmax": 1}])
def test_a_file_for_each_frame(device, look, tmp_path):
    numbers = []

    def update(frame):
        numbers.append(frame)
        return waves(frame, device=device)

    assert pp.live(update, frames=4, to=tmp_path / "wave{:02d}.png", **look) == 4
    assert numbers == [0, 1, 2, 3]
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"wave0{k}.png" for k in range(4)]
    for k in range(4):
        assert_array_equal(decoded(tmp_path / f"wave0{k}.png"), pp.asnumpy(pp.plot.pixels(waves(k, device=device), **look)))


def test_one_file_of_the_last_frame(tmp_path):
    before = pp.counters()["copied_bytes"]
    pp.live(waves, frames=5, to=str(tmp_path / "last.png"))
    assert pp.counters()["copied_bytes"] - before <= 30 * 40  # the others are not brought to the host
    assert_array_equal(decoded(tmp_path / "last.png"), pp.asnumpy(pp.plot.pixels(waves(4))))


def test_data_is_changed_in_place(device, tmp_path):
    x = pp.zeros((8, 8), dtype="int32", device=device)

    def update(frame, view):
        assert view.data is x
        assert view.frame == frame
        view.data[frame] = 1

    pp.live(update, x, frames=3, to=tmp_path / "x.png", cmap="gray")
    assert_array_equal(decoded(tmp_path / "x.png")[..., 0], [[255] * 8] * 3 + [[0] * 8] * 5)


def test_data_of_numpy_and_of_parts(tmp_path):
    """What `update` changes is an array of pardo's; one over several devices is not data."""
    host = np.zeros((8, 8))

    def update(frame, view):
        assert isinstance(view.data, pp.Array)
        view.data[frame] = 1

    pp.live(update, host, frames=8, to=tmp_path / "x.png", cmap="gray", vmin=0, vmax=1)
    assert (decoded(tmp_path / "x.png")[..., 0] == 255).all()
    assert not host.any()
    with pytest.raises((TypeError, NotImplementedError, pp.ExecutionPlacementError), match="to_device"):
        pp.live(update, pp.shard(host, ["cpu"]), frames=1, to=tmp_path / "x.png")


@pytest.mark.parametrize("dtype", ["uint8", "float32", "bool", "host"])
def test_colours_bools_and_arrays_of_numpy(dtype, tmp_path):
    rng = np.random.default_rng(0)
    values = {
        "uint8": rng.integers(0, 256, (2, 5, 6, 4), dtype=np.uint8),
        "float32": rng.random((2, 5, 6, 3), dtype=np.float32),
        "bool": rng.random((2, 5, 6)) > 0.5,
        "host": rng.random((2, 5, 6)),
    }[dtype]
    pp.live(lambda k: values[k] if dtype == "host" else pp.asarray(values[k]), frames=2, to=tmp_path / "{}.png")
    for k in range(2):
        assert_array_equal(decoded(tmp_path / f"{k}.png"), pp.asnumpy(pp.plot.pixels(pp.asarray(values[k]))))


def test_arrays_over_several_devices(tmp_path):
    x = np.arange(48.0).reshape(6, 8)
    queues = [pp.Queue("cpu"), pp.Queue("cpu")]
    pp.live(lambda k: pp.shard(x * (k + 1), queues), frames=2, to=tmp_path / "s.png", cmap="inferno")
    found = decoded(tmp_path / "s.png").astype(int)
    assert abs(found - pp.asnumpy(pp.plot.pixels(pp.asarray(x), cmap="inferno"))).max() <= 7


def test_a_gif_has_the_colours_of_the_map(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pp.live(waves, frames=3, to=tmp_path / "x.gif", fps=25)
    with image.open(tmp_path / "x.gif") as found:
        assert (found.n_frames, found.info["duration"], found.info["loop"]) == (3, 40, 0)
        for k in range(3):
            found.seek(k)
            assert_array_equal(np.asarray(found.convert("RGB")), pp.asnumpy(pp.plot.pixels(waves(k)))[..., :3])


@pytest.mark.parametrize("kind", ["mp4", "webm"])
def test_movies(kind, tmp_path):
    av = pytest.importorskip("av", reason="PyAV writes movies")
    pp.live(lambda k: waves(k, (63, 65)), frames=4, to=tmp_path / f"x.{kind}", fps=30, cmap="gray")
    with av.open(str(tmp_path / f"x.{kind}")) as container:
        found = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    del container
    gc.collect()  # tests that fork: a child would wait for the threads of what it frees
    assert len(found) == 4
    for k, frame in enumerate(found):
        assert frame.shape == (64, 66, 3)
        expected = pp.asnumpy(pp.plot.pixels(waves(k, (63, 65)), cmap="gray"))[..., :3]
        assert abs(frame[:63, :65].astype(int) - expected).mean() < 6


def test_the_view_ends_it(tmp_path):
    views = []

    def update(frame, view):
        views.append(view)
        assert "frame 2" in repr(view) or frame != 2
        if frame == 2:
            view.close()
            assert view.closed
        return waves(frame)

    assert pp.live(update, to=tmp_path / "{}.png") == 3
    assert len(list(tmp_path.iterdir())) == 3
    with pytest.raises(RuntimeError, match=r"LiveView\.save: the view was closed"):
        views[0].save(tmp_path / "x.png")
    views[0].close()


def test_what_update_changes_in_place_is_ours(tmp_path):
    """A copy of the user's array is shown: what would show the first frame for ever is refused."""
    a = np.zeros((4, 4))
    with pytest.raises(TypeError, match="update has returned None, and before that an array that is not pardo's"):
        pp.live(lambda frame: a if frame == 0 else None, frames=2, to=tmp_path / "x.png")

    def update(frame, view):
        view.data += frame
        with pytest.raises(TypeError, match=r"LiveView\.data: it is changed in place"):
            view.data = a

    assert pp.live(update, a, frames=2, to=tmp_path / "x.png") == 2


def test_views_save_what_is_seen(tmp_path):
    def update(frame, view):
        if frame == 0:
            with pytest.raises(RuntimeError, match="no frame yet"):
                view.save(tmp_path / "early.png")
        if frame == 2:
            view.save(tmp_path / "second.png")
            with pytest.raises(ValueError, match=r"does not end with \.png"):
                view.save("x.jpg")
            errors = []
            thread = threading.Thread(target=lambda: errors.append(outcome(view.save, "x.png")))
            thread.start()
            thread.join()
            assert "belongs to the thread" in str(errors[0])
        return waves(frame)

    pp.live(update, frames=3, to=tmp_path / "last.png")
    assert_array_equal(decoded(tmp_path / "second.png"), pp.asnumpy(pp.plot.pixels(waves(1))))


def outcome(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        return error


def test_a_view_in_a_forked_process(tmp_path):
    def update(frame, view):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, f"{outcome(view.close)} {outcome(view.save, 'x.png')}".encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(reader, 1000).count(b"that this one was forked from") == 2
        os.close(reader), os.close(writer)
        return waves(frame)

    pp.live(update, frames=1, to=tmp_path / "x.png")


# --- what fails -------------------------------------------------------------------------------------------------------------------------


def test_an_error_in_update_is_raised(tmp_path):
    def update(frame):
        if frame == 2:
            raise KeyError("mine")  # here
        return waves(frame)

    with pytest.raises(KeyError, match="mine") as caught:
        pp.live(update, frames=10, to=tmp_path / "{}.png")
    *_, last = traceback.extract_tb(caught.value.__traceback__)
    assert last.line.endswith("# here")
    assert not any("pardo/_live" in frame.filename for frame in traceback.extract_tb(caught.value.__traceback__))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0.png", "1.png"]


def failing(device: Any) -> Any:
    @pp.kernel
    def fill(item: pp.Item, x, n):
        assert item.get_id(1) != n, "it is wrong"
        x[item.get_id(0), item.get_id(1)] = n

    def update(frame):
        x = pp.zeros((4, 5), device=device)
        fill[pp.Range(4, 5)](x, 9 - 3 * frame)
        return x

    return update


def test_a_late_error_is_raised(device, tmp_path):
    with pytest.raises(AssertionError, match="it is wrong"):
        pp.live(failing(device), frames=10, to=tmp_path / "{}.png")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0.png", "1.png"]


@pytest.mark.parametrize("name", ["last.png", "x.gif"])
def test_a_late_error_of_a_frame_that_is_not_written_is_raised(device, name, tmp_path):
    with pytest.raises(AssertionError, match="it is wrong"):
        pp.live(failing(device), frames=10, to=tmp_path / name)


RESULTS = {
    "another shape": (lambda k: pp.zeros((3 + k, 4)), ValueError, r"shape \(4, 4\), and before that \(3, 4\)"),
    "nothing": (lambda k: None, ValueError, "update has returned None"),
    "a vector": (lambda k: pp.zeros(4), ValueError, r"live: a picture has the shape \(rows, columns\)"),
    "complex": (lambda k: pp.zeros((4, 4), dtype="complex64"), TypeError, "complex values have no order"),
    "no elements": (lambda k: pp.zeros((0, 4)), ValueError, "has no pixels"),
    "a text": (lambda k: "text", (TypeError, ValueError), "text|str"),
}


@pytest.mark.parametrize("case", RESULTS)
def test_wrong_results(case, tmp_path):
    update, error, message = RESULTS[case]
    with pytest.raises(error, match=message):
        pp.live(update, frames=3, to=tmp_path / "x.png")


CALLS = {
    "no function": (lambda to: pp.live(3, to=to, frames=1), TypeError, "update is a function"),
    "no arguments": (lambda to: pp.live(lambda: 1, to=to, frames=1), TypeError, r"update\(frame\) or update\(frame, view\)"),
    "three arguments": (lambda to: pp.live(lambda a, b, c: 1, to=to, frames=1), TypeError, r"update\(frame\) or update\(frame, view\)"),
    "a keyword": (lambda to: pp.live(eval("lambda a, *, b: 1"), to=to, frames=1), TypeError, r"update\(frame\) or"),
    "kind": (lambda to: pp.live(waves, kind="volume", to=to, frames=1), ValueError, "kind"),
    "frames": (lambda to: pp.live(waves, frames=0, to=to), ValueError, "at least one"),
    "frames of floats": (lambda to: pp.live(waves, frames=1.5, to=to), TypeError, "frames is a number"),
    "fps": (lambda to: pp.live(waves, frames=1, fps=0, to=to), ValueError, "fps is 0"),
    "endless": (lambda to: pp.live(lambda k: waves(k), to=to), ValueError, "how many frames"),
    "cmap": (lambda to: pp.live(waves, frames=1, to=to, cmap="nothing"), ValueError, "colour map"),
    "size": (lambda to: pp.live(waves, frames=1, to=to, size=0), ValueError, "at least one pixel"),
    "range": (lambda to: pp.live(waves, frames=1, to=to, range=((0, 1), (0, 1))), ValueError, "range is of points"),
    "ranges": (lambda to: pp.live(waves, frames=1, to=to, kind="points", range=((0, 1),)), TypeError, "2 pairs"),
    "a falling range": (lambda to: pp.live(waves, frames=1, to=to, kind="points", range=((1, 0), (0, 1))), ValueError, "rises"),
    "color": (lambda to: pp.live(waves, frames=1, to=to, kind="points", color="#12"), ValueError, "no colour"),
    "vmin of points": (lambda to: pp.live(waves, frames=1, to=to, kind="points", vmin=1), ValueError, "vmin is of points that a cmap"),
    "point_size": (lambda to: pp.live(waves, frames=1, to=to, kind="points", point_size=-1), ValueError, "point_size is -1"),
    "window": (lambda to: pp.live(waves, frames=1, window="yes"), TypeError, "window is True, False or None"),
    "title": (lambda to: pp.live(waves, frames=1, to=to, title=3), TypeError, "title is a str"),
    "kind of file": (lambda to: pp.live(waves, frames=1, to=f"{to}.jpg"), ValueError, r"does not end with \.png, \.gif, \.mp4"),
    "no file": (lambda to: pp.live(waves, frames=1, to=3), TypeError, "to is the name of a file"),
    "folder": (lambda to: pp.live(waves, frames=1, to=os.path.join(to, "x", "y.png")), FileNotFoundError, "there is no folder"),
    "fields": (lambda to: pp.live(waves, frames=1, to=f"{to}{{}}{{}}.png"), ValueError, "one field takes the frame's number"),
    "points of one row": (lambda to: pp.live(waves, pp.zeros((1, 9)), kind="points", frames=1, to=to), ValueError, "points are an array"),
    "complex points": (lambda to: pp.live(waves, pp.zeros((2, 9), dtype="c8"), kind="points", frames=1, to=to), TypeError, "real numbers"),
    "path and window": (lambda to: pp.show(waves(0), path=to, window=True), ValueError, "not both"),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_wrong_calls(case, tmp_path):
    call, error, message = CALLS[case]
    with pytest.raises(error, match=message) as caught:
        call(str(tmp_path / "x.png") if case != "folder" else str(tmp_path))
    assert re.match(r"(live|show)\b", str(caught.value)) or case in ("kind",)
    assert not list(tmp_path.iterdir())


def test_without_a_display_it_says_what_to_do():
    with pytest.raises(RuntimeError, match=r"neither DISPLAY nor WAYLAND_DISPLAY is set; live\(update, frames=100, to="):
        pp.live(waves)
    with pytest.raises(RuntimeError, match="window=False leaves nothing"):
        pp.live(waves, window=False)
    with pytest.raises(RuntimeError, match=r"not run in a notebook.*show\(x, path='picture\.png'\)"):
        pp.show(waves(0))


def test_a_display_that_does_not_answer():
    pytest.importorskip("glfw", reason="glfw opens the windows")
    script = "import pardo as pp\npp.show(pp.zeros((4, 4)))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, env={**os.environ, "DISPLAY": ":987"}, timeout=120
    )
    assert "RuntimeError: show: there is no display for a window (X11: Failed to open display :987)" in done.stderr
    assert "path='picture.png'" in done.stderr


def test_without_the_extra(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":987")
    monkeypatch.setitem(sys.modules, "glfw", None)
    for call in (lambda: pp.live(waves), lambda: pp.show(waves(0))):
        with pytest.raises(ImportError, match=r"a window needs glfw: pip install 'pardo\[gl\]'.*path='picture\.png'"):
            call()
    for package, kind in (("PIL", "gif"), ("av", "mp4")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=r"pip install (pillow|av)"):
            pp.live(waves, frames=1, to=f"x.{kind}")


def test_windows_of_other_threads(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":987")
    errors = []
    thread = threading.Thread(target=lambda: errors.append(outcome(pp.live, waves)), name="other")
    thread.start()
    thread.join()
    assert isinstance(errors[0], RuntimeError)
    assert "main thread of a program, not by 'other'" in str(errors[0])


# --- notebooks --------------------------------------------------------------------------------------------------------------------------


def test_in_a_notebook_pictures_take_the_place_of_those_before(monkeypatch):
    shown: list[tuple[str, bytes]] = []

    def show(data, raw, display_id=None):
        assert raw
        shown.append(("new", data["image/png"]))
        return SimpleNamespace(update=lambda data, raw: shown.append(("update", data["image/png"])))

    monkeypatch.setattr("pardo._base.notebook.shell", lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setattr("pardo._live.places.display", lambda: show)
    assert pp.live(waves, frames=8, fps=40) == 8
    assert [how for how, _ in shown] == ["new"] + ["update"] * (len(shown) - 1)
    assert 2 <= len(shown) <= 8
    assert_array_equal(decoded(io.BytesIO(shown[-1][1])), pp.asnumpy(pp.plot.pixels(waves(7))))


# --- points -----------------------------------------------------------------------------------------------------------------------------

SQUARE = ((0, 8), (0, 8))


def points_of(tmp_path: Path, x: Any, **keywords: Any) -> np.ndarray:
    pp.live(lambda k: x, frames=1, to=tmp_path / "p.png", **{"kind": "points", "range": SQUARE, "size": 8, **keywords})
    return decoded(tmp_path / "p.png")


@pytest.mark.parametrize("layout", ["rows", "columns", "more rows", "float64"])
def test_points_are_where_their_coordinates_are(egl, device, layout, tmp_path):
    x, y = np.array([0.5, 3.5, 7.5, 100, np.nan]), np.array([0.5, 6.5, 2.5, 2.5, 1.5])
    points = np.stack([x, y, 0 * x + 7] if layout == "more rows" else [x, y]).astype("f8" if layout == "float64" else "f4")
    if layout == "float64" and not device.has_fp64:
        pytest.skip("the device has no float64")
    found = points_of(tmp_path, pp.asarray(points.T if layout == "columns" else points, device=device), color="#ff8000")
    expected = np.zeros((8, 8, 4), np.uint8)
    expected[..., 3] = 255
    for column, row in ((0, 7), (3, 1), (7, 5)):
        expected[row, column] = (255, 128, 0, 255)
    assert_array_equal(found, expected)


def test_points_in_memory_of_opengl(egl, device, tmp_path):
    start = pp.asarray([[0.5, 1.5, 9], [0.5, 0.5, 9], [1, 2, 0]], device=device, dtype="float32")

    @pp.kernel
    def move(item: pp.Item, p):
        i = item.get_id(0)
        p[0, i] += p[2, i]

    seen = []

    def update(frame, view):
        assert view.data.device == device
        assert view.data.dtype == np.float32
        seen.append(view.data)
        move[pp.Range(3)](view.data)

    before = pp.counters()["copied_bytes"]
    pp.live(update, start, kind="points", frames=3, range=SQUARE, size=8, to=tmp_path / "p.png")
    if device._takes_host_memory:
        assert pp.counters()["copied_bytes"] == before
    found = decoded(tmp_path / "p.png")[..., 0]
    assert_array_equal(np.argwhere(found), [[7, 3], [7, 7]])
    with pytest.raises(ValueError, match="has ended"):
        seen[0].wait()


def test_points_coloured_by_values(egl, device, tmp_path):
    points = pp.asarray([[0.5, 2.5, 4.5, 6.5], [0.5] * 4, [0.0, 5.0, 10.0, np.nan]], device=device, dtype="float32")
    found = points_of(tmp_path, points, cmap="magma")
    expected = pp.asnumpy(pp.plot.pixels(points[2:], cmap="magma"))[0]
    assert_array_equal(found[7, [0, 2, 4]], expected[:3])
    assert_array_equal(found[7, 6], (0, 0, 0, 255))  # the background


def test_points_in_three_dimensions(egl, tmp_path):
    points = np.array([[4.0, 4.0], [4.0, 4.0], [1.0, 7.0], [0.0, 1.0]], np.float32)  # the second one is nearer
    found = points_of(tmp_path, points, kind="points3d", range=(*SQUARE, (0, 8)), cmap="gray", size=9, point_size=3)
    assert_array_equal(found[4, 4], (255, 255, 255, 255))
    found = points_of(tmp_path, points[:, ::-1].copy(), kind="points3d", range=(*SQUARE, (0, 8)), cmap="gray", size=9, point_size=3)
    assert_array_equal(found[4, 4], (255, 255, 255, 255))


def test_ranges_and_shapes_of_points(egl, tmp_path):
    x = np.array([[0.0, 10.0], [5.0, 5.0]])
    pp.live(lambda k: x, frames=1, kind="points", to=tmp_path / "p.png")
    found = decoded(tmp_path / "p.png")
    assert found.shape[:2] == (400, 800) or found.shape[:2] == (800, 800)
    assert len(np.argwhere(found[..., 0])) == 2
    with pytest.raises(ValueError, match=r"points of shape \(2, 3\), and before that \(2, 2\)"):
        pp.live(lambda k: np.zeros((2, 2 + k)), frames=2, kind="points", to=tmp_path / "p.png")
    with pytest.raises(ValueError, match="update has returned None"):
        pp.live(lambda k: None, frames=2, kind="points", to=tmp_path / "p.png")


def test_late_errors_of_points(egl, device, tmp_path):
    @pp.kernel
    def wrong(item: pp.Item, p, n):
        assert item.get_id(0) != n, "it is wrong"
        p[0, item.get_id(0)] = 0

    def update(frame, view):
        wrong[pp.Range(5)](view.data, 5 - frame)

    for _ in range(2):  # nothing stays mapped
        with pytest.raises(AssertionError, match="it is wrong"):
            pp.live(update, pp.zeros((2, 5), device=device), kind="points", frames=4, to=tmp_path / "p.png")


def test_contexts_of_the_user_stay(egl, tmp_path):
    moderngl = pytest.importorskip("moderngl", reason="moderngl makes the user's context")
    ctx = moderngl.create_context(standalone=True, backend="egl")
    mine = pp.gl.empty(4)

    def update(frame):
        if frame == 1:
            with ctx, mine.map("cpu") as x:  # the view's is made current again
                x[...] = 3
        if frame == 2:
            ctx.__enter__()
        return np.full((2, 3), 0.5)

    pp.live(update, frames=3, kind="points", range=((0, 1), (0, 1)), to=tmp_path / "p.png")
    with mine.map("cpu", access="read") as x:
        assert_array_equal(pp.asnumpy(x), [3, 3, 3, 3])
    assert ctx.error == "GL_NO_ERROR"
    assert decoded(tmp_path / "p.png")[..., 0].any()
    mine.release()
    ctx.release()


def test_processes_that_were_forked_after_opengl_began(egl):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, str(outcome(lambda: pp.live(lambda k: np.zeros((2, 2)), kind="points", frames=1, to="x.png"))).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert b"OpenGL was started by the process that this one was forked from" in os.read(reader, 1000)
    os.close(reader), os.close(writer)


# --- windows ----------------------------------------------------------------------------------------------------------------------------


MANY = 3000  # frames: a test that has what it waits for ends before


class Play:
    """What a user does, one after the other, each when the one before is seen; then the view ends."""

    def __init__(self, *steps: tuple[Any, Any]) -> None:
        self._steps = list(steps)
        self._acted = False
        self.done = False

    def __call__(self, view: Any) -> None:
        if view.frame < 2 or self.done:
            return
        act, seen = self._steps[0]
        if not self._acted:
            act()
            self._acted = True
        elif seen(view):
            self._acted = False
            del self._steps[0]
            if not self._steps:
                self.done = True
                view.close()


def until(condition: Any) -> None:
    """Waits in another thread."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it has not come about in a minute"
        time.sleep(0.01)


def beside(*steps: Any) -> threading.Thread:
    """Does one after the other in another thread."""
    thread = threading.Thread(target=lambda: [step() for step in steps])
    thread.start()
    return thread


def test_the_window_shows_the_picture(display, user, device):
    """On the screen, with the pixels of the array, in the middle of a window that is resized."""
    glfw = pytest.importorskip("glfw")
    x = pp.asarray(np.arange(12.0, dtype=np.float32).reshape(3, 4), device=device)
    expected = pp.asnumpy(pp.plot.pixels(x))[..., :3]

    def resize():
        glfw.set_window_size(glfw.get_current_context(), 512, 512)

    play = Play(
        (lambda: None, lambda view: (user.sees(384, 512)[64::128, 64::128] == expected).all()),
        (resize, lambda view: (user.sees(512, 512)[[10, 500], 256] == (0x20, 0x30, 0x40)).all()),
        (lambda: None, lambda view: (user.sees(512, 512)[64 + 64 : 448 : 128, 64::128] == expected).all()),
    )
    pp.live(lambda frame, view: play(view) or x, background="#203040", frames=MANY)
    assert play.done


def test_pictures_larger_than_the_window_are_means(display, user):
    x = np.zeros((600, 800), np.float32)
    x[::2] = 1
    play = Play((lambda: None, lambda view: (user.sees(300, 400) == 128).all()))
    pp.live(lambda frame, view: play(view) or x, size=400, vmin=0, vmax=1, cmap="gray", frames=MANY)
    assert play.done


def test_colours_and_their_opacity(display, user):
    x = np.zeros((8, 8, 4), np.uint8)
    x[:4] = (200, 100, 50, 255)
    x[4:, :4] = (200, 100, 50, 128)
    expected = [(200, 100, 50), (100, 50, 152), (0, 0, 255)]
    play = Play((lambda: None, lambda view: np.allclose(user.sees(512, 512)[[100, 400, 400], [100, 100, 400]], expected, atol=1)))
    pp.live(lambda frame, view: play(view) or x, background="#0000ff", frames=MANY)
    assert play.done


def test_keys_and_the_mouse_are_handed_over(display, user):
    told: list[Any] = []

    def has(key, value):
        return lambda view: value in getattr(view, key)

    play = Play(
        (lambda: user.move(100, 64), lambda view: view.mouse == (1.0, 1.5625)),
        (lambda: user.key("a", up=False), has("keys", "a")),
        (lambda: user.key("a", down=False), lambda view: not view.keys),
        (lambda: user.key("Left"), has("pressed", "left")),
        (lambda: user.key("F2"), has("pressed", "f2")),
        (lambda: user.button(1, up=False), has("buttons", "left")),
        (lambda: user.move(228, 192), lambda view: view.mouse == (3.0, 3.5625)),
        (lambda: user.button(1, down=False), lambda view: not view.buttons),
        (lambda: (user.button(4), user.button(4), user.button(5)), lambda view: sum(step[2] for step in told) == 1),
        (lambda: user.move(1000, 900), lambda view: view.mouse is None),
    )

    def update(frame, view):
        told.append((view.pressed, view.clicks, view.wheel, view.drag))
        play(view)
        return np.zeros((8, 8))

    pp.live(update, frames=MANY)
    assert play.done
    pressed = [key for step in told for key in step[0]]
    assert list(dict.fromkeys(pressed)) == ["a", "left", "f2"]  # keys may repeat while they are held
    assert [click for step in told for click in step[1]] == [("left", (1.0, 1.5625))]
    assert_allclose(np.sum([step[3] for step in told], axis=0), (2, 2))


@pytest.mark.parametrize("key", ["q", "Escape"])
def test_keys_close_the_window(display, user, key):
    user.move(100, 100)

    def update(frame):
        if frame == 3:
            user.key(key)
        return np.zeros((8, 8))

    assert 4 <= pp.live(update, frames=MANY) < MANY
    pressed = []

    def watch(frame, view):
        if frame == 3:
            user.key(key)
        if "q" in view.pressed:
            pressed.append(frame)
            view.close()
        return np.zeros((8, 8))

    assert pp.live(watch, controls=False, frames=MANY) < MANY
    assert bool(pressed) is (key == "q")  # then q is a key like all others


def test_pause_step_and_save(display, user, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    user.move(100, 100)
    views, paused = [], []

    def update(frame, view):
        views.append(view)
        if frame == 2:
            user.key("space")
        return np.full((8, 8), frame)

    thread = beside(
        lambda: until(lambda: views and views[0].paused),
        lambda: paused.append(len(views)),
        lambda: user.key("period"),
        lambda: until(lambda: len(views) == paused[0] + 1),
        lambda: user.key("period"),
        lambda: until(lambda: len(views) == paused[0] + 2),
        lambda: user.key("s"),
        lambda: until(lambda: list(tmp_path.iterdir())),
        lambda: user.key("space"),
        lambda: until(lambda: len(views) > paused[0] + 2),
        lambda: user.key("q"),
    )
    assert pp.live(update, title="my view", fps=200, frames=MANY) < MANY
    thread.join()
    assert [p.name for p in tmp_path.iterdir()] == [f"my_view-{paused[0] + 1}.png"]
    assert decoded(tmp_path / f"my_view-{paused[0] + 1}.png").shape == (8, 8, 4)


def test_show_in_a_window(display, user):
    user.move(100, 100)
    seen = []

    def right():
        seen[:] = [user.sees(512, 512)[128::256, 128::256, 0]]
        return (seen[0] == [[0, 85], [171, 255]]).all()

    thread = beside(lambda: until(right), lambda: user.key("q"))
    assert pp.show(pp.asarray([[0.0, 1.0], [2.0, 3.0]]), cmap="gray", title="x") is None
    thread.join()
    assert_array_equal(seen[0], [[0, 85], [171, 255]])
    with pytest.raises(TypeError, match="complex"):
        pp.show(pp.zeros((3, 3), dtype="complex64"))
    with pytest.raises(RuntimeError, match="window=False"):
        pp.show(pp.zeros((3, 3)), window=False)


@pytest.mark.parametrize("kind", [list, np.asarray, lambda x: pp.shard(np.asarray(x, float), ["cpu", "cpu"])])
def test_values_of_the_host_and_of_parts_in_a_window(display, user, kind):
    user.move(100, 100)
    thread = beside(lambda: until(lambda: user.sees(512, 512)[400, 400, 0] == 255), lambda: user.key("q"))
    pp.show(kind([[0, 1], [2, 3]]), cmap="gray")
    thread.join()


def test_folders_that_cannot_be_written(display, user, tmp_path, monkeypatch):
    """A key that saves does not end the view: the title says why."""
    from pardo._live import window

    gone, said = tmp_path / "gone", []
    gone.mkdir()
    monkeypatch.chdir(gone)
    monkeypatch.setattr(window.Window, "say", lambda self, title: said.append(title))
    user.move(100, 100)
    play = Play((lambda: (gone.rmdir(), user.key("s")), lambda view: said))
    assert pp.live(lambda frame, view: play(view) or waves(frame), frames=MANY) < MANY
    assert "No such file" in said[0]


def test_on_wayland(display, tmp_path):
    """A window of a desktop of Wayland, which is itself a window here."""
    if shutil.which("weston") is None:
        pytest.skip("weston is not installed, a desktop of Wayland")
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder)}
    command = ["weston", "--backend=x11-backend.so", "--use-pixman", "--socket=wayland-test", "--idle-time=0"]
    desktop = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: (folder / "wayland-test").exists() or desktop.poll() is not None)
        if desktop.poll() is not None:
            pytest.skip("weston does not start here")
        del environment["DISPLAY"]
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", "import pardo as pp\nprint(pp.live(lambda k: pp.ones((9, 9)) * k, frames=20))"],
            capture_output=True, text=True, env={**environment, "WAYLAND_DISPLAY": "wayland-test"}, timeout=120,
        )  # fmt: skip
        assert done.stdout == "20\n", done.stderr
    finally:
        desktop.terminate()
        desktop.wait()


def test_points_in_a_window(display, user, device):
    start = pp.asarray([[0.5, 1.5, 99], [0.5, 7.5, 0]], device=device, dtype="float32")

    def green(view):  # 32 pixels a unit: two points, moved by two units
        return (user.sees(256, 256)[[239, 15], [80, 112]] == (0, 255, 0)).all()

    play = Play((lambda: None, green), (lambda: user.move(64, 32), lambda view: view.mouse == (2.0, 7.0)))

    def update(frame, view):
        if frame < 2:
            view.data[0] = view.data[0] + 1
        play(view)

    pp.live(update, start, kind="points", range=SQUARE, size=256, point_size=8, color="#00ff00", frames=MANY)
    assert play.done


def test_errors_close_the_window(display, device):
    glfw = pytest.importorskip("glfw")

    def update(frame):
        if frame == 2:
            raise KeyError("mine")
        return np.zeros((8, 8))

    for wrong, error in ((update, KeyError), (failing(device), AssertionError), (lambda k: np.zeros((3, 3 + k)), ValueError)):
        with pytest.raises(error):
            pp.live(wrong)
        assert not glfw.get_current_context()
    assert pp.live(waves, frames=2) == 2


@pytest.mark.parametrize("paused", [False, True])
def test_an_interrupt_closes_the_window(display, paused):
    glfw = pytest.importorskip("glfw")
    views = []

    def update(frame, view):
        view.paused = paused
        views.append(view)
        if not paused and frame == 3:
            os.kill(os.getpid(), signal.SIGINT)
        assert frame < MANY
        return np.zeros((8, 8))

    thread = beside(lambda: until(lambda: views), lambda: paused and os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        pp.live(update)
    thread.join()
    assert views[0].closed
    assert not glfw.get_current_context()


def test_a_window_and_files(display, tmp_path):
    pp.live(waves, frames=2, window=True, to=tmp_path / "{}.png")
    for k in range(2):
        assert_array_equal(decoded(tmp_path / f"{k}.png"), pp.asnumpy(pp.plot.pixels(waves(k))))


@pytest.mark.parametrize("way", ["EGL", "GLX"])
def test_windows_of_the_user_stay(display, way):
    """A window of the user's is current before and afterwards, and its keys are not ours."""
    glfw = pytest.importorskip("glfw")
    assert glfw.init()
    glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API if way == "EGL" else glfw.NATIVE_CONTEXT_API)
    mine = glfw.create_window(64, 64, "mine", None, None)
    glfw.default_window_hints()
    glfw.make_context_current(mine)
    buffer = pp.gl.empty(4)
    assert pp.live(waves, frames=2) == 2
    assert glfw.get_current_context()
    with buffer.map("cpu", access="write") as x:
        x[...] = 1
    buffer.release()
    glfw.make_context_current(None)
    glfw.destroy_window(mine)
    gc.collect()


def test_a_window_inside_of_another(display):
    def update(frame):
        if frame == 1:
            assert pp.live(waves, frames=2) == 2
        return np.zeros((8, 8))

    assert pp.live(update, frames=3) == 3
