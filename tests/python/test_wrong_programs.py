# tests/python/test_wrong_programs.py: what users read when a kernel is wrong, word for word; programs.txt is written again with
# PARDO_TEST_REWRITE=1, and must be read then.
import inspect
import os
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once

FOLDER = Path(__file__).parent / "wrong"
GOLDEN = FOLDER / "programs.txt"

spec = __import__("importlib.util").util.spec_from_file_location("programs", FOLDER / "programs.py")
programs = __import__("importlib.util").util.module_from_spec(spec)
spec.loader.exec_module(programs)
PROGRAMS = {
    name: f for name, f in vars(programs).items() if inspect.isfunction(f) and f.__module__ == "programs" and name not in ("half", "again")
}
ARGUMENTS = {"x": np.zeros(8), "y": np.zeros(8), "n": np.zeros(8, "int64"), "b": np.zeros(8, "uint8"), "z": np.zeros(8, "complex128")}


def message(function):
    """The exception that a launch raises, with the file's folder left out."""
    names = list(inspect.signature(function).parameters)[1:]
    with pytest.raises(Exception) as caught:
        pp.kernel(function)[pp.Range(4)](*(pp.asarray(ARGUMENTS[n]) for n in names)).wait()
    return f"{caught.type.__name__}: {caught.value}".replace(str(FOLDER) + "/", "")


def golden():
    texts = {}
    for block in GOLDEN.read_text().split("\n\n"):
        if block.strip():
            name, _, text = block.strip("\n").partition("\n")
            texts[name.strip("[]")] = text
    return texts


@pytest.mark.skipif("PARDO_TEST_REWRITE" not in os.environ, reason="writes what the other tests compare with")
def test_rewrite():
    GOLDEN.write_text("\n\n".join(f"[{name}]\n{message(f)}" for name, f in PROGRAMS.items()) + "\n")


@pytest.mark.parametrize("name", PROGRAMS)
def test_message(name):
    assert message(PROGRAMS[name]) == golden()[name]


def test_messages_are_short_and_show_the_line():
    for name, text in golden().items():
        lines = text.split("\n")
        assert len(lines) <= 10, name
        assert "/pardo/" not in text, name
        assert "^" in lines[-1], name
