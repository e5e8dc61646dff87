# tests/python/test_summary.py: the closing line of `./dev test` counts every case, and a process that dies is a failure.
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once
SUMMARY = Path(__file__).resolve().parents[1] / "summary.py"
CASES = '<testsuites><testsuite><testcase name="a"/><testcase name="b"><{}/></testcase></testsuite></testsuites>'
PROCESSES = '<testsuite><testcase name="plan" status="run"/><testcase name="base" status="fail"><failure/></testcase></testsuite>'


def closing_line(folder: Path) -> tuple[str, int]:
    done = subprocess.run([sys.executable, str(SUMMARY), str(folder)], capture_output=True, text=True)
    return done.stdout.splitlines()[-1], done.returncode


def test_cases(tmp_path):
    (tmp_path / "python-on.xml").write_text(CASES.format("skipped"))
    assert closing_line(tmp_path) == ("1 passed, 0 failed, 1 skipped", 0)
    (tmp_path / "python-off.xml").write_text(CASES.format("failure"))
    assert closing_line(tmp_path) == ("2 passed, 1 failed, 1 skipped", 1)


@pytest.mark.parametrize(
    ("reports", "line"),
    [
        ({"plan": CASES.format("skipped"), "base": CASES.format("failure")}, "2 passed, 1 failed, 1 skipped"),
        ({"plan": CASES.format("skipped"), "base": CASES.format("skipped")}, "2 passed, 1 failed, 2 skipped"),  # it died at its end
        ({"plan": CASES.format("skipped")}, "1 passed, 1 failed, 1 skipped"),  # it died before
        ({"plan": CASES.format("skipped"), "base": "<testsuites><tests"}, "1 passed, 1 failed, 1 skipped"),  # and while it wrote
        ({"base": CASES.format("failure")}, "1 passed, 2 failed"),  # one ended well and ran nothing
    ],
)
def test_processes(tmp_path, reports, line):
    (tmp_path / "units.xml").write_text(PROCESSES)
    (tmp_path / "units").mkdir()
    for name, text in reports.items():
        (tmp_path / "units" / f"{name}.xml").write_text(text)
    assert closing_line(tmp_path) == (line, 1)


def test_nothing_ran(tmp_path):
    assert closing_line(tmp_path) == ("0 passed, 0 failed", 1)
