# tests/python/test_coverage.py: every public name of NumPy's is here, or the error that asks for it says what takes its place.
from __future__ import annotations

import inspect

import numpy as np
import pardo as pp
import pytest
from pardo._base import absent

NAMES = sorted(name for name in set(np.__all__) if not name.startswith("_") and name not in ("in1d", "trapz"))  # deprecated in NumPy 2.0


@pytest.mark.parametrize("name", NAMES)
def test_here_or_explained(name):
    if name in absent.REASONS:
        with pytest.raises(AttributeError) as raised:
            getattr(pp, name)
        assert str(raised.value) == f"module 'pardo' has no attribute {name!r}: {absent.REASONS[name]}"
        assert name not in dir(pp)
    else:
        assert hasattr(pp, name)
        assert name in dir(pp)


def test_how_many_functions_there_are():
    functions = [n for n in dir(np) if not n.startswith("_") and callable(getattr(np, n)) and not inspect.isclass(getattr(np, n))]
    assert sum(hasattr(pp, n) for n in functions) >= 0.953 * len(functions)


def test_names_of_nobody():
    with pytest.raises(AttributeError, match=r"^module 'pardo' has no attribute 'arrange'$"):
        pp.arrange
    assert not hasattr(pp, "_private")
