# tests/python/test_scipy_signatures.py: what has SciPy's name has SciPy's parameters and defaults; modules are those of the top where
# SciPy's names mean nothing else.
from __future__ import annotations

import importlib
import inspect
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

scipy = pytest.importorskip("scipy", minversion="1.17")
pytestmark = pytest.mark.once

MODULES = ("fft", "linalg", "ndimage", "signal", "special")
# Parameters of SciPy's that are left out, and why: all of what the page of SciPy says.
LEFT_OUT = {
    "special": {"out", "where", "casting", "order", "dtype", "subok", "signature"},  # of ufuncs, which are tested as such
}
# What SciPy has from 1.18 on.
NEWER = {("linalg", "eigvals"): {"overwrite_b"}}


def parameters(f: object) -> dict[str, tuple[object, bool]]:
    """By name: the default, and whether it is given by its name only."""
    found = inspect.signature(f).parameters.values()  # type: ignore[arg-type]
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {p.name: (p.default, p.kind is p.KEYWORD_ONLY) for p in found if p.kind not in kinds}


def names() -> list[tuple[str, str]]:
    pairs = []
    for module in MODULES:
        ours, theirs = importlib.import_module(f"pardo.scipy.{module}"), importlib.import_module(f"scipy.{module}")
        for name in ours.__all__:
            f = getattr(theirs, name, None)
            if inspect.isfunction(f) and inspect.isfunction(inspect.unwrap(getattr(ours, name))):
                pairs.append((module, name))
    return pairs


def alike(a: object, b: object) -> bool:
    """Defaults, of which None, NumPy's and SciPy's marks stand for no value."""
    nothing = [x is None or x is np._NoValue or type(x) is object for x in (a, b)]
    return a == b or all(nothing) or str(a) == str(b)


@pytest.mark.parametrize(("module", "name"), names())
def test_signature(module: str, name: str):
    ours = parameters(getattr(importlib.import_module(f"pardo.scipy.{module}"), name))
    theirs = parameters(getattr(importlib.import_module(f"scipy.{module}"), name))
    ours = {p: of for p, of in ours.items() if p in theirs or p not in NEWER.get((module, name), ())}
    missing = [p for p in theirs if p not in ours and p not in LEFT_OUT.get(module, ())]
    assert missing == []
    for p, (default, _) in theirs.items():
        if p in ours:
            assert alike(ours[p][0], default), f"{p}: {ours[p][0]!r}, and SciPy's {default!r}"
    places = [[p for p, (_, by_name) in of.items() if not by_name] for of in (ours, theirs)]
    assert places[0][: len(places[1])] == places[1]


def test_modules():
    for name in ("ndimage", "signal", "sparse", "special"):
        assert importlib.import_module(f"pardo.scipy.{name}") is getattr(pp, name) is getattr(pp.scipy, name)
    for name in ("fft", "linalg"):
        assert importlib.import_module(f"pardo.scipy.{name}") is getattr(pp.scipy, name) is not getattr(pp, name)
    with pytest.raises(AttributeError, match=r"pardo\.scipy"):
        pp.scipy.optimize


@pytest.mark.parametrize("first", ["from pardo.scipy.ndimage import zoom", "import pardo.scipy.special", "from pardo.scipy import sparse"])
def test_modules_in_a_fresh_process(first: str):
    program = f"{first}\nimport pardo as pp, sys\nfor n in ('ndimage', 'sparse', 'special'): assert getattr(pp.scipy, n) is getattr(pp, n)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_factorial_of_all_numbers():
    from scipy import special

    for x in (np.array([-2.5, -1.0, -2.0, 0.0, 0.5, 5.0]), np.array([-1, 0, 4]), np.array([1 + 2j, -0.5 - 1j])):
        mine = pp.special.factorial(pp.asarray(x), extend="complex")
        expected = special.factorial(x, extend="complex")
        assert mine.dtype == expected.dtype
        np.testing.assert_allclose(pp.asnumpy(mine), expected, rtol=1e-13)
    with pytest.raises(ValueError, match="factorial: extend"):
        pp.special.factorial(3, extend="all")


def test_page_of_scipy():
    """Its tables name all that is here, and notes are of functions that are there."""
    maker = runpy.run_path(str(Path(__file__).resolve().parents[2] / "docs" / "scipy_names.py"))
    for module in maker["DEVICES"]:
        text = maker["table"](module)
        assert all(f"`{name}`" in text for name in maker["ours"](module))
    there = {(module, name) for module in maker["DEVICES"] for name in maker["ours"](module)}
    assert set(maker["NOTES"]) <= there
    assert {(module, name) for module, names in maker["SINGLE"].items() for name in names} <= there
    assert "`scipy.optimize`" in maker["tables"]()
