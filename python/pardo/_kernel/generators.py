# python/pardo/_kernel/generators.py: generators of random numbers that loops draw from: NumPy's, and those of pardo.random.
"""An iteration draws by counters, as it does from `np.random`; the generator gives the key of a run, two words for each loop that draws."""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from pardo._array.interop import asnumpy
from pardo._base import face

_SAME = (
    "uniform normal standard_normal lognormal exponential standard_exponential gamma standard_gamma beta chisquare standard_t poisson "
    "binomial choice shuffle permutation"
)
_METHODS = {
    "Generator": {"random": "random_sample", "integers": "randint"},
    "RandomState": {n: n for n in ("rand", "randn", "randint", "random_sample")} | {"random": "random_sample"},
}
_OWNERS = ("numpy.random", "pardo")


def _is_generator(kind: Any) -> bool:
    return any(c.__name__ == "Generator" and c.__module__.startswith(_OWNERS) for c in kind.__mro__) or (
        kind.__name__ == "RandomState" and kind.__module__.startswith(_OWNERS)
    )


is_generator: Callable[[Any], bool] = functools.cache(_is_generator)


def _methods_of(kind: Any) -> types.SimpleNamespace:
    """What stands for a generator in a program: its methods, as functions of the kernel language."""
    known = face.file("random numbers in loops")
    names = {n: n for n in _SAME.split()} | _METHODS["RandomState" if kind.__name__ == "RandomState" else "Generator"]
    return types.SimpleNamespace(**{method: getattr(known, function) for method, function in names.items()})


methods_of: Callable[[Any], types.SimpleNamespace] = functools.cache(_methods_of)


class _UnderWay(threading.local):
    """The generators that the loop draws from which a thread runs."""

    generators: tuple[Any, ...] = ()


under_way = _UnderWay()


def key(generators: Iterable[Any]) -> tuple[int, int]:
    """Two words that generators draw, and of all of them their exclusive or."""
    low = high = 0
    for g in generators:
        draw = g.integers if hasattr(g, "integers") else g.randint
        a, b = (int(v) for v in np.asarray(_on_host(draw(0, 2**32, 2, np.uint32))))
        low, high = low ^ a, high ^ b
    return low, high


def _on_host(values: Any) -> Any:
    return values if isinstance(values, np.ndarray) else asnumpy(values)


def key_of(draws: bool) -> tuple[Any, ...]:
    """What random numbers of a run are made of, as an argument: drawn from NumPy's, so that np.random.seed decides."""
    if not draws:
        return ()
    if under_way.generators:
        words = key(under_way.generators)
        return ((np.uint32(words[0]), np.uint32(words[1])),)
    low, high = np.random.randint(0, 2**32, 2, np.uint32)  # noqa: NPY002 (the state that np.random.seed sets)
    return ((low, high),)


def drawing(captured: tuple[Any, ...], run: Callable[..., Any], *arguments: Any) -> Any:
    """Run a variant, which draws random numbers from the generators among a loop's arguments."""
    found = tuple(v for v in captured if is_generator(type(v)))
    if not found:
        return run(*arguments)
    outer, under_way.generators = under_way.generators, found
    try:
        return run(*arguments)
    finally:
        under_way.generators = outer
