# tests/python/test_profile.py: what a profile sees, its table, its page in a browser, its trace.
from __future__ import annotations

import gc
import html
import itertools
import json
import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

HERE = Path(__file__).name


def of(p: pp.Profile, *activities: str) -> list[dict]:
    return [r for r in p.records if r["activity"] in (activities or ("kernel",))]


@pytest.fixture
def x() -> pp.Array:
    return pp.wait(made := pp.linspace(0.0, 1.0, 4000)) or made


@pytest.fixture
def two_queues() -> pp.Profile:
    """Kernels on two queues, and memory that is read."""
    other = pp.Queue("cpu", order="out_of_order")
    with pp.profile() as p:
        a = pp.asarray(np.arange(3000.0))
        b = pp.asarray(np.arange(3000.0), queue=other)
        for _ in range(3):
            pp.wait(pp.sqrt(a + 1.0))
            pp.wait(pp.exp(b) * 2.0)
    return p


def test_a_kernel_has_its_line_bytes_and_operations(x):
    with pp.profile() as p:
        pp.wait(x + x)
    (r,) = of(p)
    assert r["name"] == "add_f64"
    assert re.fullmatch(rf".*{HERE}:\d+", r["location"])
    assert (r["device"], r["queue"], r["failed"]) == ("cpu:0", "cpu:0", False)
    assert r["queued"] <= r["start"] <= r["end"]
    assert (r["bytes_read"], r["bytes_written"], r["operations"]) == (32000, 32000, 4000)


@pytest.mark.parametrize("count", [100, 3_000_000])
def test_small_and_large_work_is_seen(count):
    x = pp.ones(count)
    pp.wait(x)
    before = time.monotonic_ns()
    with pp.profile() as p:
        pp.wait(x + 1.0)
    after = time.monotonic_ns()
    (r,) = of(p)
    assert before <= r["queued"] <= r["start"] <= r["end"] <= after
    assert p.duration <= (after - before) / 1e9


OPERATIONS = {
    "add": (lambda x: x + x, 1),
    "transcendental functions count one": (lambda x: pp.sin(pp.exp(x)), 2),
    "division counts one": (lambda x: x / 3.0, 1),
    "comparisons, choices and rounding count none": (lambda x: pp.where(x > 0.5, pp.floor(x), -pp.maximum(x, 0.1)), 0),
    "conversions count none": (lambda x: x.astype("int32"), 0),
    "integers count none": (lambda x: x.astype("int64") * 3 + 1, 0),
    "a complex product is six": (lambda x: x.astype("complex128") * 2.0, 6),
    "a complex sum is two": (lambda x: x.astype("complex128") + 1j, 2),
    "a sum": (lambda x: (x * x).sum(), 2),
    "the largest": (lambda x: x.max(), 0),
    "means divide once": (lambda x: (x.reshape(40, 100) - x.mean()).sum(axis=1), 3 + 1 / 4000),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(x, name):
    f, for_each = OPERATIONS[name]
    with pp.profile() as p:
        pp.wait(f(x))
    assert sum(r["operations"] for r in of(p)) == round(for_each * x.size)


def test_broadcasting_counts_what_is_computed():
    a, b = pp.ones((300, 1)), pp.ones((1, 200))
    pp.wait(a, b)
    with pp.profile() as p:
        pp.wait(a * b)
    assert sum(r["operations"] for r in of(p)) == 60_000


def test_large_sums_in_blocks_count_each_element_once():
    x = pp.ones(2_000_000)
    pp.wait(x)
    with pp.profile() as p:
        pp.wait(x.sum())
    operations = sum(r["operations"] for r in of(p))
    assert 2_000_000 <= operations <= 2_010_000


def test_matmul_tells_its_operations():
    a, b = pp.ones((20, 30)), pp.ones((30, 40))
    pp.wait(a, b)
    with pp.profile() as p:
        pp.wait(a @ b)
    (r,) = of(p, "host task")
    assert (r["name"], r["operations"]) == ("matmul", 2 * 20 * 30 * 40)
    assert (r["bytes_read"], r["bytes_written"]) == (8 * (600 + 1200), 8 * 800)


def test_compilations_are_rows():
    x = pp.ones(50)
    pp.wait(x)
    strange = float(np.random.default_rng().integers(1 << 40))
    with pp.profile() as p:
        # A new chain: 40 choices of two operations.
        y = x
        for bit in f"{int(strange):040b}":
            y = pp.sin(y) if bit == "1" else pp.cos(y)
        pp.wait(y)
    if os.environ.get("PARDO_FUSION") != "off":
        (r,) = of(p, "compile")
        assert (r["queue"], r["device"], r["operations"]) == ("compiler", "", 0)
        assert r["end"] > r["start"]
        assert f"compile {r['name']}" in p.table()
    assert of(p)


def test_all_threads_are_seen(x):
    with pp.profile() as p:
        threads = [threading.Thread(target=lambda: pp.wait(x + 1.0)) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert len(of(p)) == 4


def test_profiles_nest_and_each_sees_everything(x):
    with pp.profile() as outer:
        pp.wait(x + 1.0)
        with pp.profile() as inner:
            pp.wait(x + 2.0)
        pp.wait(x + 3.0)
    assert (len(of(outer)), len(of(inner))) == (3, 1)


def test_nothing_is_recorded_outside(x):
    with pp.profile() as p:
        pass
    pp.wait(x + 1.0)
    assert p.records == []
    assert "nothing was submitted" in p.table()
    assert "pp.wait" in p.table()


def test_a_block_that_raises_keeps_its_records(x):
    p = pp.profile()

    def work():
        with p:
            pp.wait(x + 1.0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert len(of(p)) == 1
    with pp.profile() as after:
        pass
    assert after.records == []


def test_wrong_use():
    p = pp.profile()
    for use in (lambda: p.records, lambda: p.table(), lambda: p.duration, lambda: p.dropped):
        with pytest.raises(RuntimeError, match=r"profile: nothing is recorded yet; write `with pp.profile\(\) as p:`"):
            use()
    with p:
        pass
    with pytest.raises(RuntimeError, match="profile: this one has been used already"), p:
        pass
    with pytest.raises(ValueError, match=r"Profile.table: sort_by is 'speed'; the columns are 'kernel', 'line'"):
        p.table(sort_by="speed")
    with pytest.raises(ValueError, match=r"Profile.table: limit is -1"):
        p.table(limit=-1)
    with pytest.raises(TypeError, match="limit must be an integer, not float"):
        p.table(limit=1.5)
    with pytest.raises(ValueError, match="profile: max_records is -2"):
        pp.profile(max_records=-2)
    with pytest.raises(TypeError, match="max_records must be an integer"):
        pp.profile(max_records="many")
    with pytest.raises(OSError, match="no-such-folder"):
        p.timeline("/no-such-folder/out.html")


def test_a_full_profile_says_so(x):
    with pp.profile(max_records=2) as p:
        for _ in range(5):
            pp.wait(x + 1.0)
    assert len(p.records) + p.dropped >= 5
    assert len(p.records) == 2
    assert f"{p.dropped} later submissions are not recorded: there is room for 2" in p.table()


def test_table(two_queues):
    lines = two_queues.table().splitlines()
    assert lines[0].split() == ["kernel", "line", "launches", "time", "GB/s", "GFLOP/s"]
    assert repr(two_queues.table()) == str(two_queues.table())
    assert re.fullmatch(r"[\d.]+ (ns|µs|ms|s) of work in [\d.]+ (µs|ms|s)", lines[-1])
    assert len({len(line) for line in lines[:-1]}) == 1
    kernels = [line for line in lines if re.search(rf"{HERE}:\d+ +3 ", line)]
    assert len(kernels) >= 2
    assert two_queues.table(limit=1).count("\n") == 3
    assert "more rows are not shown" in two_queues.table(limit=1)
    names = [line.split("  ")[0] for line in two_queues.table(sort_by="kernel").splitlines()[1:-1]]
    assert names == sorted(names)
    counts = [int(re.search(r":\d+ +(\d+)|- +(\d+)", line)[1]) for line in two_queues.table(sort_by="launches").splitlines()[1:-1]]
    assert counts == sorted(counts, reverse=True)


def test_records_keep_no_memory(x):
    gc.collect()
    before = pp.memory_stats().in_use
    with pp.profile() as p:
        for _ in range(20):
            y = pp.ones(1_000_000) + 1.0
            pp.wait(y)
        del y
    gc.collect()
    assert pp.memory_stats().in_use <= before
    assert len(of(p)) >= 20


def test_chrome_trace(two_queues, tmp_path):
    """The format's required keys; events of one thread do not overlap; threads and processes have names."""
    path = tmp_path / "trace.json"
    two_queues.chrome_trace(path)
    trace = json.loads(path.read_text())
    assert set(trace) == {"traceEvents", "displayTimeUnit"}
    named: dict[str, set] = {"process_name": set(), "thread_name": set()}
    spans: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for e in trace["traceEvents"]:
        assert isinstance(e["pid"], int)
        assert isinstance(e["tid"], int)
        assert isinstance(e["name"], str)
        if e["ph"] == "M":
            assert list(e["args"]) == ["name"]
            named[e["name"]].add(e["pid"] if e["name"] == "process_name" else (e["pid"], e["tid"]))
            continue
        assert e["ph"] == "X"
        assert set(e) == {"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"}
        assert e["ts"] >= 0
        assert e["dur"] >= 0
        spans.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
    assert set(spans) == named["thread_name"]
    assert {pid for pid, _ in spans} == named["process_name"]
    assert sum(map(len, spans.values())) == len(two_queues.records)
    for rows in spans.values():
        assert all(a[1] <= b[0] + 1e-6 for a, b in itertools.pairwise(rows))


def page_of(p: pp.Profile, folder: Path) -> str:
    path = folder / "out.html"
    p.timeline(path)
    return path.read_text(encoding="utf-8")


def test_page_is_self_contained(two_queues, tmp_path):
    page = page_of(two_queues, tmp_path)
    assert not re.search(r"(src|href)\s*=|url\(|@import|https?://|fetch\(|XMLHttpRequest", page)
    assert "{{data}}" not in page


def test_page_survives_any_name(x, tmp_path):
    with pp.profile() as p:
        exec(compile("pp.wait(x + 1.0)", "<!--<script>alert(1).py", "exec"), {"pp": pp, "x": x})
    page = page_of(p, tmp_path)
    assert page.count("</script>") == 2
    data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)[1])
    assert any(name == "<!--<script>alert(1).py:1" for name in data["names"])


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> list[str]:
    """Headless Chromium, where there is one and it runs."""
    path = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium here (Debian: apt-get install chromium)")
    command = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,600"]
    command += [f"--user-data-dir={tmp_path_factory.mktemp('browser')}", "--virtual-time-budget=2000", "--dump-dom"]
    try:
        done = subprocess.run([*command, "about:blank"], capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{path} does not open an empty page within a minute on this machine")
    if done.returncode:
        pytest.skip(f"{path} does not run on this machine: {done.stderr.strip()[-300:]}")
    return command


def in_browser(browser: list[str], page: str, folder: Path, script: str) -> dict[str, str]:
    """Runs a script after the page's own; gives the attributes that it leaves on the body."""
    (folder / "page.html").write_text(page.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
    done = subprocess.run([*browser, f"file://{folder / 'page.html'}"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    body = re.search(r"<body([^>]*)>", done.stdout)
    assert body, done.stderr
    return {key: html.unescape(value) for key, value in re.findall(r'data-([\w-]+)="([^"]*)"', body[1])}


def test_page_in_a_browser(browser, two_queues, tmp_path):
    """Lanes and bars are drawn; hovering tells what a bar is; wheel, keys and drag change what is seen; the theme changes."""
    script = """
    const note = (name, value) => document.body.setAttribute("data-" + name, value);
    window.addEventListener("error", e => note("error", e.message));
    const box = view.getBoundingClientRect(), seen = () => (Number(view.dataset.to) - Number(view.dataset.from));
    const send = (kind, type, x, y, more) =>
        view.dispatchEvent(new type(kind, {clientX: x, clientY: y, bubbles: true, cancelable: true, ...more}));
    note("lanes", data.lanes.map(lane => lane.name).join("|"));
    note("legend", [...document.querySelectorAll("#legend li")].map(item => item.textContent).join("|"));
    note("drawn", view.dataset.drawn);
    const row = rows.find(r => r.lane.name === "cpu:0"), bar = row.bars[row.bars.length - 1];
    const x = box.left + x_of(bar[START] + bar[LENGTH] / 2), y = box.top + row.top + 10;
    send("pointermove", PointerEvent, x, y);
    note("tip", tip.textContent);
    note("shown", getComputedStyle(tip).display);
    const before = seen();
    send("wheel", WheelEvent, x, y, {deltaY: -300});
    note("wheel", seen() < before ? "in" : "no");
    note("under", Math.abs(box.left + x_of(bar[START] + bar[LENGTH] / 2) - x) < 1.5 ? "stays" : "moves");
    const left = Number(view.dataset.from);
    send("pointerdown", PointerEvent, x, y); send("pointermove", PointerEvent, x - 100, y); send("pointerup", PointerEvent, x - 100, y);
    note("drag", Number(view.dataset.from) > left ? "right" : "no");
    document.dispatchEvent(new KeyboardEvent("keydown", {key: "0"}));
    note("reset", Math.abs(seen() - before) < 2 ? "all" : "no");
    document.dispatchEvent(new KeyboardEvent("keydown", {key: "+"}));
    note("key", seen() < before ? "in" : "no");
    const theme = document.documentElement.dataset.theme;
    document.getElementById("theme").click();
    note("theme", theme + "|" + document.documentElement.dataset.theme);
    """
    seen = in_browser(browser, page_of(two_queues, tmp_path), tmp_path, script)
    assert "error" not in seen
    assert {"cpu:0", "cpu:0 queue 1 (out of order)"} <= set(seen["lanes"].split("|"))
    assert "kernel" in seen["legend"].split("|")
    assert int(seen["drawn"]) >= 2
    assert seen["shown"] == "block"
    assert f"line: {HERE}:" in seen["tip"]
    assert "GB/s" in seen["tip"]
    assert (seen["wheel"], seen["under"], seen["drag"], seen["reset"], seen["key"]) == ("in", "stays", "right", "all", "in")
    assert set(seen["theme"].split("|")) == {"light", "dark"}


def test_empty_page_in_a_browser(browser, tmp_path):
    with pp.profile() as p:
        pass
    script = 'document.body.setAttribute("data-lanes", view.dataset.lanes); document.body.setAttribute("data-notes", notes.textContent);'
    seen = in_browser(browser, page_of(p, tmp_path), tmp_path, script)
    assert seen["lanes"] == "0"
    assert "nothing was submitted" in seen["notes"]
