# python/pardo/_kernel/launchers.py: a kernel with its range, which is called to launch it; what the core is told before.
from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, ParamSpec, Protocol

import numpy as np
from pardo import _core
from pardo._array import contexts
from pardo._array.interop import asarray
from pardo._base.arguments import HOST
from pardo._base.notebook import ShownText
from pardo._base.tracebacks import show_classes
from pardo._compiler import classes, frontend, intrinsics, structs
from pardo._data import present
from pardo._kernel import copies
from pardo._kernel.environment import plainly, race_checking
from pardo._language import list_functions, row_functions
from pardo._language.index_space import Constant, LocalAccessor, NdRange, Range

if TYPE_CHECKING:
    from pardo._core import Event

Place = Any  # a Range, an NdRange, or numbers of items
P = ParamSpec("P")  # of a kernel's parameters but the item


class Given(NamedTuple):
    """What ``k[place]`` says."""

    global_range: list[int]
    local_range: list[int]
    bare: bool  # plain numbers, whose meaning in CUDA is another one
    queue: Any
    depends: Any


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, np.integer))


def _is_sizes(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and not isinstance(value, Range)


def _refuse_pair(place: tuple[Any, ...], op_name: str) -> NoReturn:
    """Say what may be meant by sizes of groups and items, or by global and local sizes."""
    first, second = (tuple(p) if _is_sizes(p) else (p,) for p in place[:2])
    items = tuple(f"{g} * {t}" for g, t in zip(first, second, strict=False))

    def written(sizes: tuple[Any, ...]) -> str:
        return f"({', '.join(map(str, sizes))}{',' * (len(sizes) == 1)})"

    raise TypeError(
        f"{op_name}[{written(first)}, {written(second)}] may be groups and items of each, as for numba.cuda and CuPy: "
        f"NdRange({written(items)}, {written(second)}); or all items and those of a group, as for PyOpenCL: "
        f"NdRange({written(first)}, {written(second)}); say which one"
    )


def place_of(place: Place, op_name: str) -> Given:
    """What ``k[place]`` says: a range, a number of items or a tuple of such numbers, and with one of them a queue and what to wait for."""
    queue = depends = None
    if type(place) is tuple and place:
        first, *others = place
        numbers = [_is_number(p) for p in place]
        if others and (numbers[0] or _is_sizes(first)) and (_is_sizes(others[0]) or (numbers[1] and not numbers[0])):
            _refuse_pair(place, op_name)
        if others and (isinstance(first, (Range, NdRange)) or _is_sizes(first) or (numbers[0] and not any(numbers[1:]))):
            if len(place) > 3:
                raise TypeError(f"{op_name}[range, queue, depends]: at most three are expected, not {len(place)}")
            place, queue, depends = first, others[0], others[1] if len(others) > 1 else None
        elif numbers[:2] == [True, True] and not all(numbers):
            sizes = ", ".join(str(p) for p, n in zip(place, numbers, strict=True) if n)
            raise TypeError(
                f"{op_name}[{sizes}, …]: numbers of items are integers, not {type(place[numbers.index(False)]).__name__}; a range and a "
                f"queue are {op_name}[Range({sizes}), queue], and CUDA's [groups, items, stream] is "
                f"{op_name}[NdRange(groups * items, items), queue]"
            )
        elif isinstance(first, (Range, NdRange)):
            place = first
    if type(place) is NdRange:
        return Given(list(place.global_range), list(place.local_range), False, queue, depends)
    if type(place) is Range:
        return Given(list(place), [], False, queue, depends)
    extents = list(Range(place))
    return Given(extents, [], len(extents) > 1, queue, depends)


class Launchable:
    """What is launched over a range: ``k[range](*arguments)``."""

    __slots__ = ()
    __name__: str

    def __getitem__(self, place: Place) -> Callable[..., Event]:
        raise NotImplementedError

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.__name__}: say over which items the kernel runs: {self.__name__}[pardo.Range(n)](...)")


if TYPE_CHECKING:

    class TypedLauncher(Protocol[P]):
        """What type checkers know of a `Launcher`: it takes the parameters of the function but the item."""

        def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> Event: ...
        def interpret(self, *arguments: P.args, **keywords: P.kwargs) -> None: ...
        def inspect(self, *arguments: Any, what: str = "ir") -> str: ...
        def types(self, *arguments: Any) -> str: ...


class Launcher(_core._Launcher):
    """A kernel with its range, as ``k[range]`` gives it: call it with the arguments."""

    __slots__ = ("_bare", "_depends", "_global", "_kernel", "_local", "_queue", "_space")

    def __init__(self, kernel: Any, place: Place) -> None:
        super().__init__()
        self._kernel = kernel
        self._global, self._local, self._bare, self._queue, self._depends = place_of(place, kernel.__name__)
        self._space = _core._Space(self._global, self._local, self._bare)

    def __copy__(self) -> Launcher:
        return self

    def __deepcopy__(self, memo: Any) -> Launcher:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        place: Place = tuple(self._global) if self._bare else Range(*self._global)
        if self._local:
            place = NdRange(place, Range(*self._local))
        if self._queue is not None or self._depends is not None:
            place = (place, self._queue, self._depends)
        return operator.getitem, (self._kernel, place)

    def _launch(self, *arguments: Any, **keywords: Any) -> Event:
        """Launch.

        Parameters
        ----------
        *arguments
            Arrays of one queue, numbers, tuples and structs of these, functions, and memory of groups (`LocalAccessor`). Inside
            `device_context` also NumPy arrays: they are copied to the context's device, and those that the kernel writes are copied back
            before this returns. Inside `data` also NumPy arrays that it maps, whose copies on the device are used.
        **keywords
            The same by name.

        Returns
        -------
        Event
            Completes when all items have run; what fails while they run is raised by the next wait.
        """
        k = self._kernel
        arguments = k._bound(arguments, keywords)
        parts: copies.Parts = []
        if present.in_use:
            arguments, parts = copies.on_device(arguments, self._queue)
        if k._race_check or plainly():
            self.interpret(*arguments)
            return _core.Event()
        program, arguments, translation = k._program(arguments, self._local)
        if not keywords and len(arguments) <= 64:
            shift = int(k._takes_item(len(arguments), bool(self._local)))
            constants = sum(1 << place - shift for place in k._constants)
            given = (k.__name__, len(arguments), constants, translation.for_core())
            self._prepare(program, self._space, self._queue, self._depends, *given)  # the next time there is no Python in between
        if contexts.current.get() is not None and any(isinstance(a, (np.ndarray, tuple, structs.Struct)) for a in arguments):
            return self._offloaded(program, arguments)
        if parts:
            every = [leaf for a in arguments for leaf in structs.leaves(a)]
            return copies.launched(
                lambda: program.launch(arguments, self._space, self._queue, self._depends, k.__name__),
                parts,
                lambda: zip(every, program.uses(arguments, self._space, self._queue, k.__name__), strict=True),
            )
        event: Event = program.launch(arguments, self._space, self._queue, self._depends, k.__name__)
        return event

    def _offloaded(self, program: _core._Kernel, arguments: tuple[Any, ...]) -> Event:
        """A launch with NumPy arrays, inside `device_context`."""
        k = self._kernel
        arguments = tuple(structs.mapped(a, lambda x: x) for a in arguments)
        every = [leaf for a in arguments for leaf in structs.leaves(a)]
        home = next((a.queue for a in every if type(a) is _core.Array), None)
        target = self._queue or home or _core.Queue.of(_core.Device())
        made: dict[int, Any] = {}
        given = tuple(structs.mapped(a, lambda x: contexts.copied_in(x, target, made)) for a in arguments)
        written = copies.written(k.__name__, every, program.uses(given, self._space, self._queue, k.__name__))
        event: Event = program.launch(given, self._space, self._queue, self._depends, k.__name__)
        for a in written:
            np.copyto(a, contexts.on_host(made[id(a)]))
        return event

    def interpret(self, *arguments: Any, **keywords: Any) -> None:
        """Run the kernel as plain Python, item by item, so that ``print``, ``breakpoint()``, pdb and coverage work in it.

        The environment variable ``PARDO_INTERPRET=1`` makes every launch do this, and calls of what `jit` made.

        Parameters
        ----------
        *arguments
            As for a launch. NumPy arrays are changed in place, wherever the kernel is launched.
        **keywords
            The same by name.

        Raises
        ------
        RuntimeError
            Items of one group come to different barriers, or one returns while others wait; the message names the item and the line.
        RaceError
            With ``race_check=True``: two items touch one element, and nothing says which is first.

        Notes
        -----
        It is for small ranges: an item takes some microseconds, and tens of them at each barrier. Items run one at a time: those of a
        group in their order up to a barrier, then in their order up to the next; the groups one after the other. The first item of a
        group runs in the calling thread, the others too if there is no barrier, else in threads of their own. Memory of items and groups
        begins as NaN or the greatest integer, so that what is read too early shows.

        Numbers are those of Python and NumPy. Kernels compute as these do, with two exceptions: results of ``math.*`` and of NumPy's
        functions on Python numbers are NumPy's float64 here and weak in kernels, so that what is combined with them and float32 arrays has
        float64 between loads and stores; and Python's integers do not wrap here.
        """
        from pardo._debug import interpreter

        k = self._kernel
        arguments = k._bound(arguments, keywords)
        if self._bare:
            self._check_dimensions(arguments)
        takes_item = k._takes_item(len(arguments), bool(self._local))
        for event in _core._events(self._depends, k.__name__):
            event.wait()
        race_check = k._race_check or race_checking()
        interpreter.interpret(k._function, k.__name__, self._global, self._local, k._sub_group_size, takes_item, arguments, race_check)

    def _check_dimensions(self, arguments: tuple[Any, ...]) -> None:
        """Refuse plain numbers in brackets that are more than the kernel asks for, before it runs as plain Python."""
        k = self._kernel
        try:
            on_cpu = [structs.mapped(a, lambda x: asarray(x, device=HOST) if isinstance(x, np.ndarray) else x) for a in arguments]
            program, given, _ = k._program(tuple(on_cpu), self._local)
            program.uses(given, self._space, None, k.__name__)
        except Exception as e:  # what is wrong with the kernel itself, Python says where it runs
            if isinstance(e, ValueError) and str(e).startswith(f"{k.__name__}: range ("):
                raise

    def inspect(self, *arguments: Any, what: str = "ir") -> str:
        """Show what a kernel becomes for these arguments: ``'ir'``, ``'llvm'``, ``'asm'``, ``'opencl'``, ``'cuda'``, ``'ptx'``."""
        k = self._kernel
        program, arguments, _ = k._program(k._bound(arguments, {}), self._local)
        return ShownText(program.inspect(arguments, self._space, self._queue, what, k.__name__))

    def types(self, *arguments: Any) -> str:
        """Show the types that the compiler finds for these arguments: the function's text, and what is assigned at each line.

        Parameters
        ----------
        *arguments
            As for a launch. Nothing runs.

        Returns
        -------
        str
            The text. "A Python int" or "a Python float" takes the dtype of what it is combined with.
        """
        k = self._kernel
        program, arguments, _ = k._program(k._bound(arguments, {}), self._local)
        return ShownText(program.types(arguments, self._space, self._queue, k.__name__))


def _print(text: str, values: list[Any]) -> None:
    """Print what a kernel has printed.

    The name keeps the file alive. Before CPython 3.13.3 `print` alone does not, and the process crashes if another thread sets sys.stdout
    anew meanwhile.
    """
    out = getattr(sys, "stdout", None)
    print(text.format(*values), end="", file=out)


_core._install(
    {
        "local_class": LocalAccessor,
        "constant_class": Constant,
        "struct_class": structs.Struct,
        "function_argument": frontend.function_argument,
        "make_struct": classes.remade,
        "print": _print,
    }
)
intrinsics.write(row_functions.FUNCTIONS, row_functions.METHODS, row_functions.VALUES, list_functions.METHODS)
show_classes(__name__)
