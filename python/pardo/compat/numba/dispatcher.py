# python/pardo/compat/numba/dispatcher.py: what Numba's `jit` gives: a function of `pardo.jit` with Numba's names.
"""Functions with compiled loops that have Numba's attributes."""

from __future__ import annotations

from typing import Any

from pardo._extending import Built, JitFunction, build, publish_module
from pardo.compat.numba.threads import for_loops

__all__ = ["Dispatcher"]


class Dispatcher(JitFunction[Any, Any]):
    """A function with compiled loops, with Numba's names beside pardo's."""

    @classmethod
    def of(cls, made: JitFunction[Any, Any]) -> Dispatcher:
        """One of what `pardo.jit` has made; its arrays of integers take floats without their fractions."""
        return cls(made._function, *made._options._replace(truncates=True))

    def _current(self) -> Built:
        if self._built is None:
            self._built = build(for_loops(self._function), self._options, lambda f: Dispatcher(f, *self._options))
        return self._built

    @property
    def py_func(self) -> Any:
        """The function as it was written."""
        return self._function

    def inspect_types(self, file: Any = None) -> None:
        """Print the types that were found in loops."""
        print(self.types(), file=file)

    def parallel_diagnostics(self, signature: Any = None, level: int = 1) -> None:
        """Print what became of each loop."""
        print(self.diagnostics())


publish_module(globals())
