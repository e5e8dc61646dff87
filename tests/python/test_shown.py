# tests/python/test_shown.py: what prompts, notebooks and messages show of objects, and of names that are not there.
import contextlib
import os
import pty
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once


def test_a_profile_prints_its_table():
    x = pp.arange(4.0)
    with pp.profile() as p:
        (x * 2 + 1).wait()
    assert str(p) == str(p.table())
    assert str(p).split()[:4] == ["kernel", "line", "launches", "time"]
    assert repr(p).startswith("<Profile: ")
    assert "of work" in repr(p)
    html = p._repr_html_()
    assert html.count("<tr>") == 1 + len(p.table().splitlines()) - 2  # a header, rows; the table has a header and a line of notes
    assert "<table>" in html
    assert "of work in" in html


def test_a_profile_that_was_never_opened():
    p = pp.profile()
    assert "nothing" in str(p)
    assert "nothing" in repr(p)
    assert "nothing" in p._repr_html_()


def test_an_empty_profile():
    with pp.profile() as p:
        pass
    assert "nothing was submitted" in str(p)
    assert "nothing was submitted" in p._repr_html_()


def test_plans_show_as_they_print():
    plan = pp.explain(pp.arange(3.0) + 1)
    assert isinstance(plan, str)
    assert repr(plan) == str(plan)
    assert "\n" in repr(plan)


def test_devices_and_queues_in_notebooks():
    device = pp.Device("cpu")
    assert device.name in device._repr_html_().replace("&amp;", "&")
    html = pp.Queue("cpu", order="out_of_order", profiling=True)._repr_html_()
    assert "cpu:0" in html
    assert "out_of_order" in html
    assert "True" in html


def test_text_in_tables_is_escaped():
    x = pp.arange(4.0)
    with pp.profile() as p:
        exec(compile("x = (x + 1).wait()", "<b>.py", "exec"), {"x": x})
    assert "<b>" not in p._repr_html_()


def test_versions(capsys):
    pp.show_config()
    shown = capsys.readouterr().out
    for word in ("pardo", pp.__version__, "NumPy", np.__version__, "cpu:0"):
        assert word in shown
    done = subprocess.run([sys.executable, "-m", "pardo", "--version"], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == f"pardo {pp.__version__}\n"


def test_a_terminal_shows_what_a_compiler_works_on(tmp_path):
    """A line on stderr, taken back when the kernel is there; nothing where stderr is no terminal."""
    program = "import pardo as pp; x = pp.ones(3, device='cpu') / 2; pp.special.betainc(x, x, x / 2).wait()"  # a tenth of a second
    variables = os.environ | {"PARDO_PROGRESS": "0.0001", "PARDO_CACHE_DIR": str(tmp_path)}
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", program], stderr=theirs, env=variables, check=True)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while part := os.read(ours, 4096):
            shown += part
    os.close(ours)
    assert b"\r\x1b[Kpardo: compiling " in shown
    assert shown.endswith(b"\r\x1b[K")
    variables["PARDO_CACHE_DIR"] = str(tmp_path / "other")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=variables, check=True)
    assert done.stderr == b""


def test_texts_of_several_lines_are_shown_as_lines():
    """At the prompt and in notebooks, without print()."""

    @pp.jit
    def total(x):
        s = 0.0
        for i in pp.prange(x.shape[0]):
            s += x[i]
        return s

    @pp.kernel
    def double(item: pp.Item, x):
        i = item.get_id(0)
        x[i] = x[i] * 2.0

    x = pp.ones(4, device="cpu")
    total(x)
    double[pp.Range(4)](x).wait()
    for text in (
        *(f() for f in (total.types, total.diagnostics, total.inspect, double.types, double.diagnostics, double.inspect)),
        double[pp.Range(4)].types(x),
        double[pp.Range(4)].inspect(x),
    ):
        assert "\n" in text
        assert repr(text) == str(text)
        assert isinstance(text, str)


def test_a_launch_as_the_last_line_of_a_cell_shows_nothing():
    """What it would show is how far it was by then; print() and `status` tell that."""
    event = pp.Queue("cpu").marker()
    assert event._ipython_display_() is None
    assert repr(event).startswith("<Event ")
    formatters = pytest.importorskip("IPython.core.formatters")
    assert formatters.DisplayFormatter().format(event) == ({}, {})
