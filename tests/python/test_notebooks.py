# tests/python/test_notebooks.py: what cells of notebooks show: values, profiles, progress, failures, the panel of devices.
from __future__ import annotations

import base64
import contextlib
import gc
import io
import os
import pty
import re
import shutil
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from pardo import _core
from pardo._base import notebook
from pardo._pictures import in_notebooks
from support import DTYPES, samples

pytestmark = pytest.mark.once

DEVICES = ["cpu", *(d.id for d in pp.get_devices("opencl"))]


# --- values ---------------------------------------------------------------------------------------------------------------------------


def bundle(x):
    """What IPython asks an object for."""
    return x._repr_mimebundle_(include=None, exclude=None)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (60, 70)])
def test_arrays_show_facts_and_values(dtype, shape, rng):
    host = samples(dtype, shape, rng)
    x = pp.asarray(host).wait()
    shown = bundle(x)
    assert shown["text/plain"] == repr(host)
    facts = re.search(r"<em>(.*?)</em>", shown["text/html"])[1]
    assert facts == f"Array, shape {shape}, {x.dtype}, {pp._base.sizes.with_bytes(x.nbytes)}, {x.device.id}, device memory, computed"
    assert x._repr_html_() == shown["text/html"]


def test_structured_arrays_show_the_same():
    host = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "i4"), ("b", "f8")])
    x = pp.asarray(host).wait()
    shown = bundle(x)
    assert shown["text/plain"] == repr(host)
    assert "<em>StructuredArray, shape (2,), " in shown["text/html"]
    assert "24 bytes, cpu:0, device memory, computed</em>" in shown["text/html"]
    assert x._repr_html_() == shown["text/html"]


def test_arrays_say_the_kind_of_their_memory():
    assert "shared memory" in bundle(pp.zeros(3, usm_type="shared"))["text/html"]


def test_what_is_shown_is_computed_unless_it_is_large(monkeypatch):
    x = pp.arange(8.0) + 1
    shown = bundle(x)
    assert not x.pending
    assert "computed to be shown" in shown["text/html"]
    monkeypatch.setattr(notebook, "_MOST_SHOWN", 63)
    y = pp.arange(8.0) + 1
    for texts in (bundle(y), bundle(y)):
        assert y.pending
        assert texts["text/plain"].startswith("<Array, shape (8,), float64, 64 bytes, cpu:0, pending; too large")
        assert "x.wait()" in texts["text/html"]
        assert "array(" not in texts["text/html"]
    assert y.pending
    small = y.sum()  # the sum alone is shown, whatever it takes
    assert bundle(small)["text/plain"] == "array(36.)"
    assert bundle(y.wait())["text/plain"] == repr(np.arange(8.0) + 1)
    assert repr(pp.arange(8.0) + 1) == repr(np.arange(8.0) + 1)  # repr and print always compute


def test_a_large_array_without_a_limit_is_not_touched():
    x = pp.zeros((2**15, 2**15)) + 1  # 8 GiB
    before = pp.counters()["launched"]
    assert "pending" in bundle(x)["text/plain"]
    assert pp.counters()["launched"] == before
    assert x.pending


def test_split_arrays_show_their_parts(monkeypatch):
    s = pp.shard(pp.arange(12.0), [pp.Queue("cpu") for _ in range(3)])
    t = s * 2
    shown = bundle(t)
    assert shown["text/plain"] == repr(t)
    for text in ("split along axis 0 of 3 devices", "indices of axis 0", "<td", "4 to 7", "96 bytes"):
        assert text in shown["text/html"]
    assert t._repr_html_() == shown["text/html"].replace("computed to be shown", "computed").replace(">pending<", ">computed<")
    assert "whole on each" in bundle(pp.shard(pp.ones(3), s.devices, axis=None))["text/html"]
    assert ">none<" in bundle(pp.shard(pp.ones(1), s.devices))["text/html"]
    monkeypatch.setattr(notebook, "_MOST_SHOWN", 0)
    late = s + 1
    assert "too large" in bundle(late)["text/plain"]
    assert any(x.pending for x in late.shards)


def test_failed_arrays_raise_in_the_display_of_the_bundle():
    def broken():
        raise KeyError("late")

    x = pp.zeros(3, queue=pp.Queue("cpu"))
    x.queue.fill(x, 1.0, depends=x.queue.host_task(broken))
    shown = bundle(x)
    with pytest.raises(KeyError, match="late"):
        bool(shown)
    with pytest.raises(KeyError):
        x._repr_html_()
    x.accept()


def test_queues_show_unfinished_work():
    queue = pp.Queue("cpu")
    assert "nothing" in bundle(queue)["text/html"]
    gate = pp.UserEvent()
    x = pp.zeros(3, queue=queue).wait()
    filled = queue.fill(x, 1.0, depends=gate), queue.fill(x, 2.0)
    html = bundle(queue)["text/html"]
    assert re.search(r"\d, the oldest is \w+ \(.*test_notebooks\.py:\d+\)", html), html
    (work,) = [w for w in _core._unfinished_work() if w[0] == hash(queue)]
    assert work[1] == "cpu:0"
    assert work[2] >= 2
    gate.set_complete()
    pp.wait_all(filled)
    assert not [w for w in _core._unfinished_work() if w[0] == hash(queue)]
    assert "nothing" in bundle(queue)["text/html"]


def test_host_tasks_are_named_as_such():
    go = threading.Event()
    queue = pp.Queue("cpu")
    task = queue.host_task(go.wait)
    (work,) = [w for w in _core._unfinished_work() if w[0] == hash(queue)]
    assert work[3] == "host task"
    go.set()
    task.wait()


def test_events_show_status_times_and_failure():
    queue = pp.Queue("cpu", profiling=True)
    event = (pp.arange(1000.0, queue=queue) * 2).force().event
    event.wait()
    html = bundle(event)["text/html"]
    for text in ("complete", "waited", "took"):
        assert f">{text}</td>" in html
    failed = pp.UserEvent()
    assert ">queued<" in bundle(failed)["text/html"]
    failed.set_failed(ValueError("<b>"))
    for _ in range(2):  # to show a failure is not to see it
        assert "ValueError: &lt;b&gt;" in bundle(failed)["text/html"]
    with pytest.raises(ValueError, match="<b>"):
        failed.wait()


def test_devices_plans_and_profiles_have_bundles():
    with pp.profile() as p:
        (pp.arange(4.0) * 2 + 1).wait()
    for x in (pp.Device("cpu"), pp.explain(pp.arange(3.0) + 1), p, pp.profile()):
        assert bundle(x) == {"text/plain": repr(x), "text/html": x._repr_html_()}


# --- pictures of images -----------------------------------------------------------------------------------------------------------------


def picture_in(html):
    """The picture in HTML, and its size as the page shows it, columns first; None without one."""
    found = re.search(r'<img src="data:image/png;base64,([A-Za-z0-9+/=]+)" [^>]*width="(\d+)" height="(\d+)"', html)
    return found and (base64.b64decode(found[1]), (int(found[2]), int(found[3])))


def file_of(x, **keywords):
    file = io.BytesIO()
    pp.show(x, path=file, **keywords)
    return file.getvalue()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(40, 50), (50, 40, 3)])
def test_images_have_a_picture(dtype, shape, rng):
    x = pp.asarray(rng.integers(0, 2, shape), device="cpu").astype(pp.bfloat16 if dtype == "bfloat16" else dtype)
    shown = bundle(x)
    assert list(shown) == ["text/plain", "text/html"]
    html = shown["text/html"]
    found = picture_in(html)
    assert found == picture_in(x._repr_html_())
    is_image = dtype != "complex64" if len(shape) == 2 else dtype == "uint8" or "float" in dtype
    assert (found is not None) == is_image
    if found:
        assert found == (file_of(x), (250, 200) if len(shape) == 2 else (200, 250))
        assert html.index("<em>") < html.index("<img") < html.index("<pre>")


@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        ((32, 32), (256, 256)),
        ((31, 32), None),  # a table of numbers
        ((256, 32), (32, 256)),
        ((257, 32), None),
        ((300, 1200), (256, 64)),
        ((40, 40, 4), (240, 240)),
        ((40, 40, 2), None),
        ((40, 40, 1), None),
        ((40, 40, 3, 3), None),
        ((3, 40, 40), None),
        ((4000,), None),
        ((0, 40), None),
        ((40, 0, 3), None),
    ],
)
def test_shapes_of_images(shape, shown):
    found = picture_in(bundle(pp.zeros(shape, dtype="uint8"))["text/html"])
    assert shown == (found and found[1])


@pytest.mark.parametrize("device", DEVICES)
def test_a_picture_moves_its_pixels_alone(device, rng):
    host = rng.random((600, 500))
    x = pp.asarray(host, device=device).wait()
    repr(x)
    moved = []
    for show in (lambda: repr(x), lambda: bundle(x)):
        before = pp.counters()["copied_bytes"]
        with pp.transfer_guard("disallow"):
            shown = show()
        moved.append(pp.counters()["copied_bytes"] - before)
    picture, size = picture_in(shown["text/html"])
    assert size == (213, 256)
    assert picture == file_of(x, size=256)
    assert moved[1] - moved[0] <= 213 * 256


def test_pictures_of_large_arrays_do_not_read_all_of_it(rng, monkeypatch):
    x = pp.asarray(rng.random((600, 500)), device="cpu").wait()
    monkeypatch.setattr(in_notebooks, "READ", x.nbytes - 1)
    assert picture_in(bundle(x)["text/html"])[0] == file_of(x, size=256, interpolation="nearest")
    monkeypatch.setattr(in_notebooks, "READ", x.nbytes)
    assert picture_in(bundle(x)["text/html"])[0] == file_of(x, size=256)


def test_pictures_are_not_what_an_array_is_computed_for(monkeypatch):
    monkeypatch.setattr(notebook, "_MOST_SHOWN", 100)
    x = pp.zeros((40, 50)) + 1
    before = pp.counters()["launched"]
    assert "<img" not in bundle(x)["text/html"]
    assert x.pending
    assert pp.counters()["launched"] == before
    assert "<img" in bundle(x.wait())["text/html"]
    s = pp.shard(pp.ones((40, 50)), [pp.Queue("cpu") for _ in range(3)]) + 1
    assert "<img" not in bundle(s)["text/html"]
    assert pp._sharding.pictures.in_notebooks(s) == ""
    assert all(part.pending for part in s.shards)


@pytest.mark.parametrize(("device", "kind"), [("cpu", "device"), *((device, "shared") for device in DEVICES)])
def test_pictures_do_not_wait_for_what_values_do_not_wait_for(device, kind):
    """Work that was submitted before, and waits for an event of a later cell."""
    queue = pp.Queue(device)
    x = pp.ones((40, 50), queue=queue, usm_type=kind).wait()
    gate = pp.UserEvent()
    filled = queue.fill(pp.zeros(3, queue=queue), 1.0, depends=gate)
    shown = bundle(x)["text/html"]
    assert "no picture" not in shown
    assert not filled.done()
    gate.set_complete()
    filled.wait()
    picture = picture_in(bundle(x)["text/html"])
    assert picture[0] == file_of(x)
    assert picture_in(shown) == picture or (device != "cpu" and "<img" not in shown)


def test_an_error_of_the_picture_leaves_the_values(monkeypatch):
    def fails(*_, **keywords):
        raise MemoryError("<none>")

    x = pp.zeros((40, 50))
    monkeypatch.setattr(in_notebooks.making, "png_of", fails)
    shown = bundle(x)
    assert shown["text/plain"] == repr(x)
    assert "<p>no picture: &lt;none&gt;</p><pre>" in shown["text/html"]

    def interrupts(*_, **keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr(in_notebooks.making, "png_of", interrupts)
    with pytest.raises(KeyboardInterrupt):
        bundle(x)
    for variable in ("PARDO_INTERPRET", "PARDO_RACE_CHECK"):
        with monkeypatch.context() as m:
            m.setenv(variable, "1")  # kernels run as plain Python, which takes long
            assert "picture" not in bundle(x)["text/html"]


@pytest.mark.parametrize("axis", [0, 1, None])
def test_split_images_have_a_picture(axis, rng):
    host = rng.random((300, 280))
    queues = [pp.Queue("cpu") for _ in range(3)]
    s = pp.shard(pp.asarray(host), queues, axis=axis)
    for part in s.shards:
        part.wait()
    assert all(in_notebooks.beside_other_work(part).queue not in queues for part in s.shards)
    shown = bundle(s)["text/html"]
    assert shown.index("</table>") < shown.index("<img") < shown.index("<pre>")
    assert picture_in(shown) == (file_of(s, size=256), (239, 256))
    assert "<img" not in bundle(pp.shard(np.zeros((40, 40, 3)), queues))["text/html"]


def test_what_pictures_need_is_read_when_an_image_is_shown():
    program = """
        import sys
        import pardo as pp
        pp.zeros((10, 200))._repr_mimebundle_()
        assert "pardo._pictures.making" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


# --- profiles -------------------------------------------------------------------------------------------------------------------------


def test_profiles_have_counters_and_a_timeline():
    x = pp.arange(4.0).wait()
    with pp.profile() as p:
        (x * 3).wait()
        inside = p.counters["launched"]
    assert p.counters["launched"] == inside == 1
    (x * 4).wait()
    assert p.counters["launched"] == 1  # from the beginning of the block to its end
    assert p.counters.keys() == pp.counters().keys()
    assert re.fullmatch(r"kernels: \d+ compiled, \d+ from the cache, \d+ from the wheel; copies: 0 \(0 bytes\); slow paths: 0", p.summary())
    html = p._repr_html_()
    assert p.summary() in html
    assert html.count("<iframe") == 1
    for call in (pp.profile().summary, lambda: pp.profile().counters):
        with pytest.raises(RuntimeError, match="nothing is recorded yet"):
            call()


def test_long_timelines_are_left_to_files(monkeypatch):
    x = pp.arange(4.0).wait()
    with pp.profile() as p:
        for _ in range(3):
            x = (x + 1).wait()
    monkeypatch.setattr(sys.modules["pardo._runtime.profile"], "_MOST_BARS", 2)
    assert "<iframe" not in p._repr_html_()
    assert "timeline(path)" in p._repr_html_()


# --- progress -------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def progress():
    """The module, which only shells read."""
    from pardo._notebook import progress

    return progress


class Way:
    """A place where lines are shown."""

    def __init__(self, says_compilations=True):
        self.says_compilations = says_compilations
        self.lines = []
        self.news = threading.Semaphore(0)

    def show(self, line):
        self.lines.append(line)
        self.news.release()


def test_long_work_is_shown_and_taken_back(progress):
    way = Way()
    watch = progress._Watch(way, 0.01, lambda: ("matmul on cpu:0", None))
    assert way.news.acquire(timeout=60)
    watch.end()
    assert re.fullmatch(r"matmul on cpu:0 … \d s", way.lines[0])
    assert way.lines[-1] == ""


def test_a_line_goes_when_the_work_is_over(progress, monkeypatch):
    monkeypatch.setattr(progress, "_GAP", 0.02)
    way = Way()
    busy = True
    watch = progress._Watch(way, 0.01, lambda: ("matmul on cpu:0", None) if busy else None)
    assert way.news.acquire(timeout=60)
    busy = False
    while way.lines[-1]:
        assert way.news.acquire(timeout=60)
    watch.end()
    assert way.lines.count("") == 1


def test_what_is_compiled_comes_first_with_its_own_time(progress, monkeypatch):
    monkeypatch.setattr(_core, "_compilations", lambda: [("f" * 80, "opencl:0", 8.2), ("g", "", 1.0)])
    monkeypatch.setattr(_core, "_unfinished_work", lambda: [(1, "cpu:0", 3, "matmul", "/a/b.py:4"), (2, "cpu:0", 1, "", "")])
    assert progress.under_way() == (f"compiling {'f' * 60} and 1 more for opencl:0", 8.2)
    way = Way()
    watch = progress._Watch(way, 5.0)
    assert watch._line(*progress.under_way(), 0.1) == f"compiling {'f' * 60} and 1 more for opencl:0 … 8 s"
    watch.end()
    assert way.lines == []
    terminal = progress._Watch(Way(says_compilations=False), 5.0)  # which the library tells by itself
    assert terminal._line("compiling f", 8.2, 9.0) == ""
    assert terminal._line("matmul", None, 9.0) == "matmul … 9 s"
    assert terminal._line("matmul", None, 4.0) == ""
    terminal.end()
    monkeypatch.setattr(_core, "_compilations", list)
    assert progress.under_way() == ("matmul on cpu:0 (b.py:4) and 3 more", None)
    monkeypatch.setattr(_core, "_unfinished_work", list)
    assert progress.under_way() is None


def test_compilations_are_listed_while_they_run():
    assert _core._compilations() == []


@pytest.mark.parametrize(("text", "seconds"), [("off", None), ("0", None), ("on", 2.0), ("0.5", 0.5), ("3", 3.0)])
def test_settings_of_progress(progress, monkeypatch, text, seconds):
    monkeypatch.setenv("PARDO_PROGRESS", text)
    assert progress.seconds_of(text) == seconds
    assert progress.Setting().get() == seconds


@pytest.mark.parametrize("text", ["", "soon", "-1", "nan", "inf", "1e9"])
def test_wrong_settings_of_progress(progress, monkeypatch, text):
    with pytest.raises(ValueError, match="expected seconds, on, or off"):
        progress.seconds_of(text)
    monkeypatch.setenv("PARDO_PROGRESS", text)
    with pytest.warns(RuntimeWarning, match="PARDO_PROGRESS="):
        assert progress.Setting().get() == 2.0


def test_nothing_is_shown_where_output_is_no_terminal(progress, monkeypatch):
    with open(os.devnull, "w") as nowhere:
        monkeypatch.setattr(sys, "stderr", nowhere)
        assert progress._way_of(object()) is None
        progress.begin(object())
        assert progress._watch is None


def test_plain_python_reads_nothing_of_this():
    program = (
        "import sys, pardo; print([m for m in sys.modules if m.startswith(('IPython', 'ipywidgets', 'pardo._notebook', 'pardo.notebook'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "['pardo._notebook', 'pardo._notebook.cells']\n"


# --- magics ---------------------------------------------------------------------------------------------------------------------------

SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell
InteractiveShell.colors = {colors!r}
shell = InteractiveShell.instance()
def cell(text):
    print("<cell>", flush=True)
    print("<ok>" if shell.run_cell(text, store_history=True).success else "<failed>", flush=True)
    sys.stderr.flush()
"""


def cells(*texts, env=None):
    """What cells print, in a shell of IPython without a front end, each with whether it succeeded."""
    IPython = pytest.importorskip("IPython")
    program = SHELL.format(colors="nocolor" if IPython.version_info >= (9,) else "NoColor")
    program += "".join(f"cell({textwrap.dedent(text)!r})\n" for text in texts)
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        env=os.environ | (env or {}),
    )
    return [part.strip() for part in done.stdout.split("<cell>")[1:]]


def test_cells_are_profiled(tmp_path):
    shown = cells(
        "import pardo as pp\n%load_ext pardo\nx = pp.arange(1000.0).wait()",
        "%%pardo\ny = (x * 2).wait()\nfloat(y[1])",
        "%%pardo -n 1 --sort launches -o p -q\na, b = (x * 3).wait(), (x * 3).wait()\n1;",
        f"print(len(p.records) > 1, p.counters['launched'])\np.timeline({str(tmp_path / 'a.html')!r})",
        f"%%pardo -t {tmp_path / 'b.html'}\n\n1 / 0",
        "%%pardo\n%%pardo\n1",
        "%%pardo --sort size\n1",
        "%%pardo -n -3\n1",
        "%%pardo -o 3x\n1",
        "%%pardo --wrong\n1",
        "%%pardo\nx.queue.host_task(lambda: 1 / 0)",
        "for k in range(2):\n    get_ipython().run_cell('%%pardo -q\\n1;')",
        "%%pardo -q\nget_ipython().run_cell('%%time\\n2;')\nx = (x + 1).wait()",
        "get_ipython().run_cell_magic('pardo', '', '1 / 0')",
        "%reload_ext pardo",
        "%pardo -n 1\nx = (x * 5).wait()\ny = (x + 2).wait()",
        "%unload_ext pardo",
        "%%pardo\n1",
        "%pardo_progress",
        "e = pp.Queue('cpu').host_task(lambda: {}['late'])\nwhile not e.done(): pass",
    )
    ok = [part.endswith("<ok>") for part in shown]
    assert ok == [True] * 4 + [False] * 6 + [True] * 3 + [False] + [True] * 3 + [False] * 2 + [True]
    assert shown[1].startswith("Out[2]: 2.0")
    assert "kernel" in shown[1]
    assert "In[2]:2" in shown[1]
    assert "slow paths: 0" in shown[1]
    assert shown[2] == "<ok>"
    assert shown[3].startswith("True 2")
    assert (tmp_path / "a.html").exists()
    # Errors are IPython's, once, at their line, with no frame of ours; the profile comes after them.
    assert "<html" in (tmp_path / "b.html").read_text()
    assert shown[4].count("ZeroDivisionError: ") == 1
    assert "Cell In[5], line 3" in shown[4]
    assert "---->" in shown[4]
    assert os.path.dirname(pp.__file__) not in shown[4]
    assert shown[4].index("ZeroDivisionError: ") < shown[4].index("nothing was submitted")
    assert "profiled already" in shown[5]
    for k, message in ((6, "--sort is 'size'"), (7, "--limit is -3"), (8, "not '3x'"), (9, "unrecognized arguments: --wrong")):
        assert f"UsageError: {'%%pardo: ' if k < 9 else ''}" in shown[k]
        assert message in shown[k]
    # A late failure of a profiled cell is reported after it, once.
    assert shown[10].count("ZeroDivisionError") == 1
    assert "1 of " in shown[10]
    assert "profiled already" not in shown[11] + shown[12]
    assert shown[13].count("ZeroDivisionError: ") >= 1
    assert "kernel" in shown[15]
    assert " more rows are not shown" in shown[15]
    assert "Cell magic `%%pardo` not found" in shown[17]
    assert "not found" in shown[18]
    assert shown[19].count("KeyError: 'late'") == 1  # without the magics


def test_wrong_options_stop_a_cell_before_it_runs(tmp_path):
    shown = cells(
        "import pardo as pp\n%load_ext pardo",
        "%%pardo -o class\nran = 1",
        f"%%pardo -t {tmp_path / 'none' / 'a.html'}\nran = 1",
        "'ran' in globals()",
        f"%%pardo -t {tmp_path}\npp.ones(3).wait();",
    )
    assert "UsageError: %%pardo: --output takes the name of a variable, not 'class'" in shown[1]
    assert "UsageError: %%pardo: --timeline is" in shown[2]
    assert "there is no folder" in shown[2]
    assert "False" in shown[3]
    assert shown[4].index("slow paths") < shown[4].index("IsADirectoryError")  # what can be shown is


class Shell:
    """What cells are followed in."""

    def __init__(self):
        self.events, self.calls = self, {}

    def register(self, name, call):
        self.calls[name] = call


def test_a_cell_that_has_run_another_shows_progress(progress, monkeypatch):
    from pardo._notebook import cells as module

    seen, shell = [], Shell()
    monkeypatch.setattr(progress, "begin", lambda shell: seen.append("begin"))
    monkeypatch.setattr(progress, "end", lambda: seen.append("end"))
    monkeypatch.setattr(module, "_endings", [])
    monkeypatch.setattr(module, "_begun", 0)
    module.follow(shell)
    shell.calls["post_run_cell"]()
    assert seen == ["begin", "end"]
    for name in ("pre_run_cell", "pre_run_cell", "post_run_cell", "post_run_cell"):
        shell.calls[name]()
    assert seen[2:] == ["begin", "begin", "begin", "end"]


PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "notebooks.md"


@pytest.mark.skipif(not PAGE.exists(), reason="not in a source tree")
def test_cells_of_the_guide_run():
    """Those with magics, and the one that shows what they have made."""
    blocks = re.findall(r"^```text\n((?:%|print).*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert sum(block.startswith("%") for block in blocks) >= 4
    shown = cells(*blocks)
    assert all(part.endswith("<ok>") for part in shown), shown


def test_a_shell_that_knew_nothing_of_the_package():
    """It was imported before IPython; the extension lets cells report failures."""
    pytest.importorskip("IPython")
    program = (
        "import pardo as pp\n"
        + SHELL.format(colors="nocolor")
        + textwrap.dedent(
            """
        cell("%load_ext pardo")
        cell("import pardo as pp\\ne = pp.zeros(1).queue.host_task(lambda: {}['late'])\\nwhile not e.done(): pass")
        print("<end>")
        """
        )
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    assert done.stdout.partition("<end>")[0].count("KeyError: 'late'") == 1


TERMINAL = """
import threading
import pardo as pp
from pardo._notebook import progress
shown, show = threading.Event(), progress._Terminal.show
def told(self, line):
    show(self, line)
    shown.set()
progress._Terminal.show = told
pp.zeros(1).queue.host_task(shown.wait).wait()
"""


@pytest.mark.parametrize("setting", ["0.01", "off"])
def test_a_terminal_shows_one_line(tmp_path, setting):
    """And takes it back."""
    pytest.importorskip("IPython")
    program = TERMINAL if setting != "off" else TERMINAL.replace("shown.wait", "lambda: shown.wait(0.5)")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "IPython", "--no-banner", "--quick", "--colors=NoColor", "-c", program]
    environment = os.environ | {"PARDO_PROGRESS": setting, "IPYTHONDIR": str(tmp_path), "TERM": "xterm"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    text = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(ours, 4096):
            text += part
    os.close(ours)
    out, _ = process.communicate()
    assert process.returncode == 0, (out, text)
    if setting == "off":
        assert text == b""
    else:
        assert re.search(r"\r\x1b\[Kpardo: host task on cpu:0 … \d s", text.decode()), text
        assert text.endswith(b"\r\x1b[K")


# --- the panel ------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def panel_module():
    pytest.importorskip("ipywidgets")
    return pytest.importorskip("pardo._notebook.panel")


def test_the_panel_shows_memory_load_and_queues(panel_module):
    x = pp.zeros(1000).wait()
    panel = pp.notebook.panel("cpu", interval=600)
    table = panel.children[0]
    assert "cpu:0" in table.value
    assert " in use, " in table.value
    assert "idle" in table.value
    gate = pp.UserEvent()
    queue = pp.Queue("cpu")
    filled = queue.fill(pp.zeros(3, queue=queue), 1.0, depends=gate)
    panel.refresh()
    assert f"queue {hash(queue) << 4:#x}: " in table.value
    assert "test_notebooks.py:" in table.value
    assert "50%" in table.value
    gate.set_complete()
    filled.wait()
    panel.children[1].children[1].click()  # releases cached memory, and looks
    assert "idle" in table.value
    panel.close()
    assert x.size == 1000


def test_the_panel_of_all_devices_includes_those_that_come_into_use(panel_module):
    panel = pp.notebook.panel(interval=600)
    part = pp.Device("cpu").create_sub_devices(1)[0]
    pp.zeros(3, device=part).wait()
    panel.refresh()
    assert f"<b>{part.id}</b>" in panel.children[0].value
    for device in pp.get_devices():
        assert f"<b>{device.id}</b>" in panel.children[0].value
    panel.close()


def test_the_panel_looks_until_it_is_closed_or_dropped(panel_module, monkeypatch):
    looks = threading.Semaphore(0)
    look = panel_module._State.look

    def looked(state):
        looks.release()
        return look(state)

    monkeypatch.setattr(panel_module._State, "look", looked)
    panel = pp.notebook.panel(["cpu", "cpu:0"], interval=0.1)
    for _ in range(3):
        assert looks.acquire(timeout=60)
    threads = [t for t in threading.enumerate() if t.name == "pardo panel"]
    panel.children[1].children[0].value = False  # not live: it shows what it showed
    shown = panel.children[0].value
    assert panel.children[0].value == shown
    panel.close()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    panel = pp.notebook.panel("cpu", interval=0.1)
    (thread,) = [t for t in threading.enumerate() if t.name == "pardo panel"]
    panel.close()
    del panel
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("arguments", "keywords", "error", "message"),
    [
        (("nowhere",), {}, ValueError, "panel"),
        ((3,), {}, TypeError, "panel: device must be a pardo.Device or a selection string, not int"),
        ((["cpu", 3],), {}, TypeError, "panel: device must be"),
        (("cpu",), {"interval": 0.05}, ValueError, "at least 0.1 seconds"),
        (("cpu",), {"interval": float("nan")}, ValueError, "at least 0.1 seconds"),
        (("cpu",), {"interval": float("inf")}, ValueError, "at least 0.1 seconds"),
        (("cpu",), {"interval": "1"}, TypeError, "interval is a number of seconds, not str"),
        (("cpu",), {"interval": True}, TypeError, "not bool"),
    ],
)
def test_wrong_arguments_of_the_panel(panel_module, arguments, keywords, error, message):
    with pytest.raises(error, match=message):
        pp.notebook.panel(*arguments, **keywords)
    assert not [t for t in threading.enumerate() if t.name == "pardo panel"]


def test_without_ipywidgets_it_says_what_to_install():
    program = """
        import sys
        sys.modules["ipywidgets"] = None
        import pardo as pp
        try:
            pp.notebook.panel("cpu")
        except ImportError as error:
            print(error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("pardo.notebook.panel needs ipywidgets: pip install 'pardo[notebook]' (")


# --- notebooks ------------------------------------------------------------------------------------------------------------------------


def run_notebook(*texts):
    """Cells as nbclient runs them in a kernel of Python, and all that the kernel displayed meanwhile, by cell."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    displays = [[] for _ in texts]

    class Client(nbclient.NotebookClient):
        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"] in ("display_data", "update_display_data"):
                displays[cell_index].append((msg["msg_type"], msg["content"]["data"]["text/plain"]))
            return super().process_message(msg, cell, cell_index)

    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(text)) for text in texts])
    Client(book, timeout=300, kernel_name="python3", allow_errors=True).execute()
    return [cell.outputs for cell in book.cells], displays


WATCHED = """
import threading
import pardo as pp
from pardo._notebook import progress
shown, show = threading.Event(), progress._Notebook.show
def told(self, line):
    show(self, line)
    shown.set()
progress._Notebook.show = told
"""


@pytest.mark.filterwarnings("ignore")  # of what runs the kernel
def test_a_notebook():
    outputs, displays = run_notebook(
        WATCHED,
        "%load_ext pardo\n%pardo_progress 0.01\n%pardo_progress",
        "print('before')\npp.zeros(1).queue.host_task(shown.wait).wait()\nprint('after')",
        "%pardo_progress off",
        "pp.zeros(1).queue.host_task(lambda: threading.Event().wait(0.3)).wait()",
        "x = pp.arange(6.0).reshape(2, 3)\nx * 2",
        "%%pardo\ny = (x + 1).wait()\nawait y\ny.sum()",
        "%%pardo\n1 / 0",
        "event = pp.UserEvent()\ndisplay(event)\nevent",
        "@pp.kernel\ndef put(item: pp.Item, x, by):\n    i = item.get_id(0)\n    x[i + by] = 1.0",
        "put[pp.Range(8)](z := pp.zeros(8), 5)\nz",
        "import pardo.notebook\npanel = pp.notebook.panel('cpu')\npanel",
        "panel.close()",
        "x = pp.linspace(0.0, 1.0, 40 * 50).reshape(40, 50)\nx",
        "pp.live(lambda frame: x + frame, frames=3)",
        "def update(frame):\n    return x if frame == 0 else x[1:]\npp.live(update)",
    )
    assert outputs[1][0]["text"] == "after 0.01 seconds\n"
    # One line, which goes; nothing of it where it is switched off.
    first, *_, last = displays[2]
    assert first[0] == "display_data"
    assert re.fullmatch(r"host task on cpu:0 … \d s", first[1])
    assert last == ("update_display_data", "")
    assert [o["name"] for o in outputs[2] if o["output_type"] == "stream"] == ["stdout"] * 2
    assert displays[4] == outputs[4] == []
    (value,) = outputs[5]
    assert value["data"]["text/plain"] == repr(np.arange(6.0).reshape(2, 3) * 2)
    assert "shape (2, 3), float64, 48 bytes, cpu:0, device memory, computed to be shown" in value["data"]["text/html"]
    # The cell runs as it does without the magic, `await` included; its profile comes last.
    value, profile = outputs[6]
    assert value["data"]["text/plain"] == "array(21.)"
    assert "In[7]:2" in profile["data"]["text/plain"]
    assert "<iframe" in profile["data"]["text/html"]
    error, profile = outputs[7]
    assert error["ename"] == "ZeroDivisionError"
    assert "nothing was submitted" in profile["data"]["text/plain"]
    # An event is shown where that is asked for, and a launch at the end of a cell is not.
    (event,) = outputs[8]
    assert event["data"]["text/plain"] == "<Event queued>"
    (error,) = outputs[10]
    assert error["ename"] == "IndexError"
    assert "index 8 is out of bounds" in error["evalue"]
    (widget,) = outputs[11]
    assert "application/vnd.jupyter.widget-view+json" in widget["data"]
    (image,) = outputs[13]
    assert image["data"]["text/plain"].startswith("array([[")
    picture, size = picture_in(image["data"]["text/html"])
    assert picture == file_of(pp.linspace(0.0, 1.0, 40 * 50).reshape(40, 50))
    assert size == (250, 200)
    # A live view is one picture, which changes; an error in it is the cell's.
    assert displays[14][0] == ("display_data", "<frame 0>")
    assert displays[14][-1] == ("update_display_data", "<frame 2>")
    picture, count = outputs[14]
    assert base64.b64decode(picture["data"]["image/png"]) == file_of(pp.linspace(0.0, 1.0, 40 * 50).reshape(40, 50) + 2)
    assert count["data"]["text/plain"] == "3"
    picture, error = outputs[15]
    assert error["ename"] == "ValueError"
    assert "update has returned an array of shape (39, 50), and before that (40, 50)" in error["evalue"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("device", [d.id for d in pp.get_devices("opencl")])
def test_compilations_of_drivers_are_seen(device, tmp_path, monkeypatch):
    """A kernel that a driver compiles for seconds; which work is seen first is the machine's matter."""
    for name in ("PARDO_CACHE_DIR", "POCL_CACHE_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("PARDO_PROGRESS", "0.01")
    _, displays = run_notebook(
        "import pardo as pp",
        f"x = pp.linspace(0.1, 0.9, 1000, device={device!r})\npp.special.betainc(x, x, x / 2).wait()\npp.sort(x).wait();",
    )
    lines = [line for _, line in displays[1]]
    assert any(line.startswith("compiling ") and f" for {device} … " in line for line in lines), lines
    assert lines[-1] == ""


OUTPUTS = "[...document.querySelectorAll('.jp-OutputArea-output')].map(o => o.innerText).join('\\n')"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_jupyterlab_shows_all_of_it(tmp_path, monkeypatch):
    """In Chromium: the line of progress comes and goes, values and profiles are tables, the timeline is drawn, the panel is there."""
    pytest.importorskip("jupyterlab")
    chromium = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
    if chromium is None:
        pytest.skip("no Chromium here (Debian: apt-get install chromium)")
    import lab

    monkeypatch.setenv("PARDO_PROGRESS", "0.1")
    monkeypatch.setenv("GO", str(tmp_path / "go"))
    texts = [
        "import os, time\nimport pardo as pp\n%load_ext pardo",
        "def wait():\n    while not os.path.exists(os.environ['GO']):\n        time.sleep(0.05)\npp.zeros(1).queue.host_task(wait).wait()",
        "%%pardo\nx = pp.sqrt(pp.arange(4.0)).wait()\nx",
        "pp.notebook.panel('cpu')",
        "pp.ones((40, 50))",
        "1 / 0",
    ]
    with lab.opened(chromium, tmp_path, texts) as page:
        page.run_all_cells()
        page.wait_for(f"{OUTPUTS}.includes('host task on cpu:0 … ')")
        (tmp_path / "go").touch()
        page.wait_for(f"{OUTPUTS}.includes('ZeroDivisionError')")
        page.wait_for("document.querySelectorAll('.jupyter-widgets').length > 0")
        shown = page.value(OUTPUTS)
        assert "host task" not in shown
        assert "Array, shape (4,), float64, 32 bytes, cpu:0, device memory, computed" in shown
        assert "In[3]:2" in shown
        assert "in use, " in shown
        assert page.wait_for("document.querySelector('.jp-OutputArea-output img[src^=data]').naturalWidth") == 50
        assert "release cached memory" in page.value("document.body.innerText")
        page.value("document.querySelector('details:has(iframe)').open = true")
        drawn = "Number(document.querySelector('iframe[srcdoc]').contentDocument.querySelector('canvas').dataset.drawn)"
        assert page.wait_for(drawn) >= 1
