# tests/python/test_commits.py: what tests/commits.py finds wrong with messages.
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import commits

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("Let sums of bool count", None),
        ("Bring the kernels\n\nBecause.", None),
        ("Speed sums up", None),
        ("Let " + "x" * 69, "73 characters"),
        ("[cpu] Let sums of bool count", "tag"),
        ("lib: let sums of bool count", "tag"),
        ("let sums of bool count", "capital"),
        ("Let sums of bool count.", "full stop"),
        ("Added sums", "imperative"),
        ("Fixing sums", "imperative"),
        ("Let sums count\nbecause", "second line"),
    ],
)
def test_first_lines(message, fault):
    found = commits.faults(message)
    assert (found == []) if fault is None else any(fault in text for text in found)
