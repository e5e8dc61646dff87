# tests/python/test_doctests.py: the examples of docstrings run and print what they say; every public function and class has some.
from __future__ import annotations

import doctest
import inspect
import itertools
import os
import re
import types
from typing import Any

import pardo as pp
import pytest

pytestmark = pytest.mark.once

MODULES = (
    pp,
    pp.algorithm,
    pp.fft,
    pp.lib.stride_tricks,
    pp.linalg,
    pp.ndimage,
    pp.plot,
    pp.polynomial,
    *(getattr(pp.polynomial, name) for name in ("polynomial", "chebyshev", "legendre", "laguerre", "hermite", "hermite_e", "polyutils")),
    pp.random,
    pp.scipy.fft,
    pp.scipy.linalg,
    pp.signal,
    pp.sparse,
    pp.special,
)
MADE_BY_OTHERS = "made by a function of the library, whose example shows it"
NO_EXAMPLES = {
    "pardo.FloatInfo": MADE_BY_OTHERS,
    "pardo.IntegerInfo": MADE_BY_OTHERS,
    "pardo.MemoryStats": MADE_BY_OTHERS,
    "pardo.Platform": MADE_BY_OTHERS,
    "pardo.TopK": MADE_BY_OTHERS,
    "pardo.UniqueAllResult": MADE_BY_OTHERS,
    "pardo.UniqueCountsResult": MADE_BY_OTHERS,
    "pardo.UniqueInverseResult": MADE_BY_OTHERS,
    "pardo.algorithm.ListOfLists": MADE_BY_OTHERS,
    "pardo.linalg.EigResult": MADE_BY_OTHERS,
    "pardo.linalg.EighResult": MADE_BY_OTHERS,
    "pardo.linalg.QRResult": MADE_BY_OTHERS,
    "pardo.linalg.SVDResult": MADE_BY_OTHERS,
    "pardo.linalg.SlogdetResult": MADE_BY_OTHERS,
}


def names_of(module: types.ModuleType) -> list[str]:
    return list(getattr(module, "__all__", dir(module)))


def is_ours(value: Any) -> bool:
    """Neither a module nor a constant, nor a dtype of NumPy's or ml_dtypes', nor an exception, which users do not make."""
    failure = isinstance(value, type) and issubclass(value, BaseException)
    return callable(value) and not failure and not getattr(value, "__module__", "").startswith(("numpy", "ml_dtypes"))


PUBLIC = {f"{module.__name__}.{name}": getattr(module, name) for module in MODULES for name in names_of(module) if not name.startswith("_")}
OURS = {name: value for name, value in PUBLIC.items() if is_ours(value)}
ATOMICS = {f"pardo.atomic.{name}": f for name, f in vars(pp.atomic).items()}
METHODS = {
    f"{kind.__module__}.{kind.__name__}.{name}": method
    for kind in OURS.values()
    if isinstance(kind, type)
    for name, method in inspect.getmembers(kind, callable)
    if not name.startswith("_") and ">>> " in (inspect.getdoc(method) or "")
}
SHOWN = {"pardo": pp, **{name: value for name, value in (OURS | ATOMICS | METHODS).items() if ">>> " in (inspect.getdoc(value) or "")}}


@pytest.fixture
def default_device():
    """Examples are written for the CPU."""
    pp.set_default_device("cpu")
    yield
    pp.set_default_device(None)


@pytest.mark.parametrize("name", sorted(SHOWN))
@pytest.mark.usefixtures("default_device")
def test_example(name):
    """In a namespace of its own, with what the example imports. Arrays print alike with every NumPy from 2.0 on: no scalar is shown."""
    if name == "pardo.explain" and os.environ.get("PARDO_FUSION") == "off":
        pytest.skip("the example shows what is fused")
    case = doctest.DocTestParser().get_doctest(inspect.getdoc(SHOWN[name]), {}, name, None, 0)
    report: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(case, out=report.append)
    assert result.failed == 0, "".join(report)


@pytest.mark.parametrize("name", sorted(OURS.keys() | ATOMICS.keys()))
def test_examples_are_given(name):
    text = inspect.getdoc((OURS | ATOMICS)[name]) or ""
    shown = "Examples\n--------\n>>> " in text
    assert shown != (name in NO_EXAMPLES), "docstring without Examples, or one with them in NO_EXAMPLES"
    if shown:
        printed = re.sub(r"(?m)^(>>>|\.\.\.).*", "", text.split("Examples\n")[1])
        assert not re.search(r"\bnp\.\w+\(", printed), "a scalar of NumPy's, which prints otherwise in other versions"


BOUND_IN_THE_CORE = {"Array.force", "Array.wait", "Queue.marker", "Queue.of", "Queue.wait"}  # a line each


@pytest.mark.parametrize("kind", [pp.Array, pp.random.Generator, pp.Queue, pp.MemoryShared], ids=lambda kind: kind.__name__)
def test_examples_of_methods_are_given(kind):
    own = [
        name
        for name, member in inspect.getmembers(kind, callable)
        if not name.startswith("_") and not str(getattr(member, "__module__", "")).startswith("pardo.compat")  # which may be read
    ]
    names = [f"{kind.__name__}.{name}" for name in own]
    without = {name for name in names if f"{kind.__module__}.{name}" not in SHOWN}
    assert without == BOUND_IN_THE_CORE.intersection(names)


def test_order_of_sections():
    order = ["Parameters", "Attributes", "Returns", "Yields", "Raises", "See Also", "Notes", "References", "Examples"]
    for name, value in OURS.items():
        lines = (inspect.getdoc(value) or "").split("\n")
        titles = [title for title, line in itertools.pairwise(lines) if title and line == "-" * len(title)]
        assert titles == sorted(titles, key=order.index), name


def test_see_also_names_what_there_is():
    for name, value in OURS.items():
        _, found, section = (inspect.getdoc(value) or "").partition("See Also\n--------\n")
        for line in section.split("\n\n")[0].split("\n") if found else ():
            for other in line.partition(" : ")[0].split(", "):
                place = name.rpartition(".")[0]
                assert {f"{place}.{other}", f"pardo.{other}", other} & PUBLIC.keys(), f"{name}: See Also {other!r}"
