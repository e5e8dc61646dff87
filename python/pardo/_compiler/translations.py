# python/pardo/_compiler/translations.py: what a function is translated to, with what it captured; what was made of the last ones.
from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from pardo import _core
from pardo._compiler.names import Captured, Names

T = TypeVar("T")
MOST_VARIANTS = 4  # of a function, whose translations and programs are kept


class Translation(NamedTuple):
    """A function as the compiler takes it."""

    function: _core._Function
    captured: tuple[Captured, ...]

    def changed(self) -> bool:
        """True when a captured value is another one now."""
        return any(c.changed() for c in self.captured)

    def for_core(self) -> list[tuple[Any, ...]]:
        """What it captured, for the core to compare."""
        return [c.for_core() for c in self.captured]

    def moved(self, old: types.FunctionType, new: types.FunctionType) -> Translation:
        """The same for another function of the same code: its captured values are in its own cells."""
        cells = {id(a): b for a, b in zip(old.__closure__ or (), new.__closure__ or (), strict=True)}
        captured = []
        for c in self.captured:
            cell = cells.get(id(c.owner))
            captured.append(c if cell is None else c._replace(owner=cell, value=cell.cell_contents))
        own = [c for c in captured if c.owner is not old and c.owner is not old.__kwdefaults__]
        return Translation(self.function, (*own, *Names(new).captured_defaults()))

    def has_own_numbers(self, function: types.FunctionType) -> bool:
        """True if launches read numbers from cells or defaults of the function: another one of its code has others."""
        own = set(map(id, (function, function.__kwdefaults__, *(function.__closure__ or ()))))
        return any(c.cells is not None and id(c.owner) in own for c in self.captured)


class Variants(Generic[T]):
    """What was made of a function's last translations: True and False from outside may change to and fro."""

    def __init__(self) -> None:
        self._kept: tuple[tuple[Translation, T], ...] = ()

    def current(self, make: Callable[[], tuple[Translation, T]]) -> tuple[Translation, T]:
        """The translation for the present values of the function's names; `make` makes it when there is none."""
        kept = self._kept
        found = next((each for each in kept if not each[0].changed()), None) or make()
        self._kept = (found, *[each for each in kept if each is not found][: MOST_VARIANTS - 1])
        return found
