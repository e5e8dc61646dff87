# python/pardo/_kernel/jit.py: functions with parallel loops: their loops become programs, what is between them stays Python.
from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, overload

from pardo import _core
from pardo._base.arguments import fast_math, flag, optional_flag
from pardo._base.notebook import ShownText, html_table
from pardo._base.public_names import publish_module
from pardo._compiler import source_search
from pardo._compiler.names import function_with_loops
from pardo._compiler.source import problem, shown, source_of
from pardo._data import present
from pardo._kernel import copies, pickling
from pardo._kernel.environment import checks_of, interpreting, race_checking
from pardo._kernel.launchers import Launchable
from pardo._kernel.loop_runners import LoopRunner
from pardo._kernel.parallel_loops import Options, chunk_of, prange
from pardo._kernel.rewriting import Built, build

__all__ = ["jit", "prange"]

P = ParamSpec("P")
R = TypeVar("R")


class JitFunction(_core._FunctionCall, pickling.Unchanging, Generic[P, R]):
    """A function with parallel loops; made by `jit`."""

    __name__: str

    def __init__(
        self,
        function: types.FunctionType,
        fastmath: int = 0,
        bounds_check: bool | int | None = None,
        race_check: bool = False,
        schedule: str | None = None,
        chunk: int | None = None,
        strict: bool = False,
        truncates: bool = False,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = self._pardo_function = function
        source_search.remember(function)
        self._options = Options(fastmath, checks_of(bounds_check), race_check, schedule, chunk, strict, truncates)
        self._built: Built | None = None
        self._made: Any = None  # what the core calls, where nothing is asked of calls

    if TYPE_CHECKING:

        def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R: ...

    def _call(self, *arguments: Any, **keywords: Any) -> Any:
        """A call before the loops are made, while data is mapped, or where the environment may ask for plain Python."""
        if present.in_use:
            return self._on_copies(arguments, keywords)
        if interpreting() and not (self._options.race_check or race_checking()):
            return self._function(*arguments, **keywords)
        return _core._called(self._current().function, arguments, keywords)

    def _on_copies(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """A call while data is mapped; what has been written by one that fails does not go back to the host."""
        given, parts = copies.on_device((*arguments, *keywords.values()))
        count = len(arguments)
        plain = interpreting() and not (self._options.race_check or race_checking())
        function = self._function if plain else self._current().function
        try:
            return _core._called(function, given[:count], dict(zip(keywords, given[count:], strict=True)))
        except BaseException:
            for entry, _ in parts:
                entry.broken = True
            raise

    def _current(self) -> Built:
        """The function with its loops replaced."""
        if self._built is None:
            try:
                self._built = build(self._function, self._options, lambda f: JitFunction(f, *self._options))
            except RecursionError:
                source = source_of(self._function)
                text = "its statements or expressions are nested too deeply; give parts a name, or write a loop"
                raise problem(_core.CompileError, source, source.node, text) from None
            self._made = self._built.function
        return self._built

    def _runners(self) -> list[LoopRunner]:
        """Its compiled loops."""
        built = self._current()
        return [*built.runners, *(r for r in built.inner if r.loop is not None)]

    def _loops(self) -> list[tuple[int, str, str]]:
        """Its loops: their lines, what became of each, and what is said of its programs."""
        loops = [(line, f"left to Python: {why}", "") for line, why in self._current().left]
        return sorted(loops + [(r.line, r.described(), r.told(lambda loop: loop.diagnostics())) for r in self._runners()])

    def _repr_html_(self) -> str:
        """For notebooks: what became of each loop; as much as is known by now."""
        rows = [(str(line), what) for line, what, _ in self._loops()] if self._built else []
        notes = () if self._built else ("It is compiled when it is called first.",)
        return html_table(("line", f"{self.__name__}{inspect.signature(self._function)}"), rows, notes, texts=2)

    def inspect(self, what: str = "ir") -> str:
        """Show what the loops become, for each program made so far.

        Parameters
        ----------
        what : str
            ``'ir'``: pardo's own form. The CPU has ``'llvm'`` and ``'asm'``, OpenCL devices ``'opencl'``, CUDA ``'cuda'`` and ``'ptx'``.

        Returns
        -------
        str
            Programs with the types of their arguments, each followed by its text.

        Raises
        ------
        ValueError
            If the device of a program has no such text.
        """
        return ShownText("\n".join(filter(None, (r.told(lambda loop: loop.inspect_so_far(what)) for r in self._runners()))))

    def types(self) -> str:
        """Show the types that the compiler has found in loops: their text, and what is assigned at each line, for each program so far.

        Returns
        -------
        str
            The text. "A Python int" or "a Python float" takes the dtype of what it is combined with.
        """
        return ShownText("\n".join(filter(None, (r.told(lambda loop: loop.types_so_far()) for r in self._runners()))))

    def diagnostics(self) -> str:
        """Show what became of each loop: parallel, compiled, or left to Python and why; and what its programs run in parallel.

        Statements on whole arrays, which are between loops, are not part of it: `explain` shows how those are fused.

        Returns
        -------
        str
            A line for each loop; below it, for each program made so far, the types of what it uses, and remarks with line numbers.
        """
        lines = [f"{self.__name__}  ({shown(self._function.__code__.co_filename)})"]
        for line, what, programs in self._loops():
            lines.append(f"line {line}: {what}")
            lines += [f"  {text}" for text in programs.splitlines()]
        return ShownText("\n".join(lines) + "\n")

    def interpret(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        """Call the function as it was written, in plain Python, where `prange` is `range`: print, pdb and coverage work in it.

        The environment variable ``PARDO_INTERPRET=1`` makes every call do this. Numbers are then those of Python and NumPy.
        """
        return self._function(*arguments, **keywords)  # type: ignore[no-any-return]

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else types.MethodType(self, owner)

    def __reduce__(self) -> str | tuple[Any, ...]:
        return pickling.reduced(self, self._function, self._options._asdict())

    def __repr__(self) -> str:
        return f"<function {self.__name__} with {len(self._built.runners) if self._built else 0} compiled parts>"


@overload
def jit(
    function: Callable[P, R],
    *,
    fastmath: bool | Literal["estimates"] = ...,
    bounds_check: bool | None = ...,
    race_check: bool = ...,
    schedule: str | None = ...,
    chunk: int | None = ...,
    boundscheck: bool | None = ...,
    strict: bool = ...,
) -> JitFunction[P, R]: ...
@overload
def jit(
    function: None = None,
    *,
    fastmath: bool | Literal["estimates"] = ...,
    bounds_check: bool | None = ...,
    race_check: bool = ...,
    schedule: str | None = ...,
    chunk: int | None = ...,
    boundscheck: bool | None = ...,
    strict: bool = ...,
) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...
def jit(
    function: Any = None,
    *,
    fastmath: bool | Literal["estimates"] = False,
    bounds_check: bool | None = None,
    race_check: bool = False,
    schedule: str | None = None,
    chunk: int | None = None,
    boundscheck: bool | None = None,
    strict: bool = False,
) -> Any:
    """Compile the loops of a function.

    Loops over `prange` run in parallel on the device of the arrays that they use. Serial loops over elements of arrays become programs too;
    those that give a name its only value, or use what kernels do not know (dicts, lists of other things than numbers), stay Python, and so
    do parallel loops over dicts and such lists. Where arrays are concerned, `counters` counts that as a fallback, and a RuntimeWarning says
    it once, with the line and the reason.
    What is between loops stays Python as well: statements on whole arrays are recorded and fused as elsewhere.

    Parameters
    ----------
    function : callable
        A plain function, or one that Numba has decorated.
    fastmath : bool or {'estimates'}, optional
        Sums may be reordered, products contracted into them, and reciprocals of float32 roots estimated, within 2 ulp. With
        ``'estimates'`` these are what a processor with AVX-512 estimates in one step, within 2**-14. Default: False.
    bounds_check : bool, optional
        An index out of range reads and writes nothing and raises IndexError, with the line, the index, the extent and the iteration. What a
        call shows to be in range is not checked again. Default: True, unless the environment variable ``PARDO_CHECKS=off`` is set when the
        function is decorated; without checks, memory of others is read and overwritten. ``PARDO_CHECKS=all`` checks integer division,
        shifts, and reads of arrays made in the loop that nothing has written too.
    race_check : bool, optional
        Parallel loops run as plain Python, one iteration at a time, and raise `RaceError` where two iterations access one element,
        one of them writes, and not both are atomics. For small arrays: an access takes some ten microseconds. The environment variable
        ``PARDO_RACE_CHECK=1`` does the same for all functions. Default: False.
    schedule : {'static', 'dynamic'}, optional
        Of loops over `prange` that do not say it themselves. Default: 'static'.
    chunk : int, optional
        The same for the number of iterations that a thread takes at a time.
    boundscheck : bool, optional
        Numba's name for `bounds_check`.
    strict : bool, optional
        A loop over elements that would be left to Python raises CompileError, with its line and the reason. Default: False, which warns.

    Returns
    -------
    JitFunction
        Called like the function. NumPy arrays are used where they are, on the CPU, without a copy; inside `data` the copies of those that
        it maps are used.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> @pp.jit
    ... def norm(x):
    ...     total = 0.0
    ...     for i in pp.prange(x.shape[0]):
    ...         total += x[i] * x[i]
    ...     return total
    >>> float(norm(np.arange(4.0)))
    14.0
    """
    level, race_check, strict = fast_math(fastmath, "jit: fastmath"), flag(race_check, "jit: race_check"), flag(strict, "jit: strict")
    bounds_check, boundscheck = optional_flag(bounds_check, "jit: bounds_check"), optional_flag(boundscheck, "jit: boundscheck")
    if boundscheck is not None:
        if bounds_check not in (None, boundscheck):
            raise TypeError(f"jit: bounds_check={bounds_check} and boundscheck={boundscheck} are two names of one option; give one")
        bounds_check = boundscheck
    if function is None:
        return functools.partial(
            jit, fastmath=fastmath, bounds_check=bounds_check, race_check=race_check, schedule=schedule, chunk=chunk, strict=strict
        )
    if isinstance(function, Launchable):
        raise TypeError(
            f"jit: {function.__name__} is a kernel already: launch it, {function.__name__}[pardo.Range(n)](…), and decorate what does"
        )
    plain = function_with_loops("jit", function)
    chunk_of("jit", schedule, chunk)
    return JitFunction(plain, level, bounds_check, race_check, schedule, chunk, strict)


publish_module(globals(), "pardo")
