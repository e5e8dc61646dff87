# python/pardo/_kernel/kernel.py: kernels: a function that runs once for each item of a range.
from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, ParamSpec, Protocol, TypedDict, Unpack, overload

from pardo import _core
from pardo._base.arguments import fast_math, flag, integer, optional_flag
from pardo._base.notebook import ShownText, html_table
from pardo._base.public_names import publish_module
from pardo._compiler import frontend, source_search, translations
from pardo._compiler.names import python_function, refuse_suspended
from pardo._kernel import pickling
from pardo._kernel.environment import checks_of
from pardo._kernel.launchers import Launchable, Launcher, P, Place
from pardo._language.index_space import Constant, Item, NdItem, NdRange, Range

if TYPE_CHECKING:
    from pardo._core import Event
    from pardo._kernel.launchers import TypedLauncher

__all__ = ["call_kernel", "call_kernel_async", "kernel"]

USES = {"read_only": 1, "write_only": 2, "read_write": 3}
Q = ParamSpec("Q")


MOST_LAUNCHERS = 64  # that a kernel remembers


class KernelFunction(pickling.Unchanging, Launchable, Generic[P]):
    """A function that runs once for each item of a range; made by `kernel`."""

    def __init__(
        self,
        function: types.FunctionType,
        fastmath: int = 0,
        bounds_check: bool | None = None,
        race_check: bool = False,
        sub_group_size: int = 32,
        access: dict[str, Sequence[str]] | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self._function = self._pardo_function = function
        source_search.remember(function)
        self._given = {
            "fastmath": fastmath,
            "bounds_check": bounds_check,
            "race_check": race_check,
            "sub_group_size": sub_group_size,
            "access": access,
        }
        self._sub_group_size = integer(sub_group_size, "kernel: sub_group_size")
        if not 1 <= self._sub_group_size <= 2**30 or self._sub_group_size & (self._sub_group_size - 1):
            raise ValueError(f"kernel: sub_group_size is a power of two, at most 2**30, not {sub_group_size}")
        self._options = (fastmath, checks_of(bounds_check), self._sub_group_size)
        self._race_check = race_check
        self._made: tuple[translations.Translation | None, dict[bool, _core._Kernel]] = (None, {})
        self._variants: translations.Variants[dict[bool, _core._Kernel]] = translations.Variants()
        self._launchers: dict[Any, Launcher] = {}
        code = function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        annotations = function.__annotations__
        self._names = names
        first = _annotation(annotations.get(names[0])) if names else ""
        self._item = first if first in ("Item", "NdItem") else None
        self._constants = {k for k, name in enumerate(names) if _annotation(annotations.get(name)).startswith("Const")}
        self._uses = self._asserted({} if access is None else access)

    def __getitem__(self, place: Place) -> TypedLauncher[P]:
        """Say over which items it runs: ``k[range]``, ``k[range, queue]``, ``k[range, queue, depends]``."""
        key: Any = place
        if type(place) is tuple and all(type(n) is int for n in place):
            key = (place,)  # a Range of the same numbers is another thing
        elif type(place) is not int and type(place) is not Range and type(place) is not NdRange:
            return Launcher(self, place)
        launcher = self._launchers.get(key)
        if launcher is None:
            if len(self._launchers) >= MOST_LAUNCHERS:
                self._launchers.clear()
            launcher = self._launchers[key] = Launcher(self, place)
        return launcher

    def __reduce__(self) -> str | tuple[Any, ...]:
        return pickling.reduced(self, self._function, self._given)

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"

    def _repr_html_(self) -> str:
        """For notebooks: its arguments, and for which types there are programs."""
        rows = [(line,) for line in self.diagnostics().splitlines() if line.startswith("program ")]
        notes = () if rows else ("It is compiled when it is launched first.",)
        return html_table((f"{self.__name__}{inspect.signature(self._function)}",), rows, notes)

    def inspect(self, what: str = "ir") -> str:
        """Show what the kernel has become, for each program made so far; ``k[range].inspect(*arguments)`` does it for some arguments.

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
        return ShownText("\n".join(program.inspect_so_far(what) for program in self._made[1].values()))

    def types(self) -> str:
        """Show the types that the compiler has found: the function's text, and what is assigned at each line, for each program made so far.

        A launch with new types of arguments makes a program; ``k[range].types(*arguments)`` shows the types for some arguments.

        Returns
        -------
        str
            The text. "A Python int" or "a Python float" takes the dtype of what it is combined with.
        """
        return ShownText("\n".join(program.types_so_far() for program in self._made[1].values()))

    def diagnostics(self) -> str:
        """Show for each program made so far what of it runs in parallel, and what keeps the rest from it.

        On the CPU: what the lanes of vectors are, where lanes part, and which accesses to memory are not of neighbours.

        Returns
        -------
        str
            Programs with the types of their arguments, and remarks with line numbers.
        """
        return ShownText("\n".join(program.diagnostics() for program in self._made[1].values()))

    def _asserted(self, access: dict[str, Sequence[str]]) -> dict[str, int]:
        """What `access` says of each parameter."""
        uses: dict[str, int] = {}
        if not isinstance(access, Mapping):
            raise TypeError(f"{self.__name__}: access: a dict such as {{'read_only': ['x']}} is expected, not {type(access).__name__}")
        for kind, listed in access.items():
            if kind not in USES:
                raise ValueError(f"{self.__name__}: access: {', '.join(map(repr, USES))} are known, not {kind!r}")
            if isinstance(listed, str):
                raise TypeError(f"{self.__name__}: access: a list of names is expected for {kind!r}; write [{listed!r}]")
            if not isinstance(listed, Iterable):
                raise TypeError(f"{self.__name__}: access: a list of names is expected for {kind!r}, not {type(listed).__name__}")
            for name in listed:
                if name not in self._names[self._item is not None :]:
                    raise ValueError(f"{self.__name__}: access: there is no parameter {name!r}")
                if name in uses:
                    raise ValueError(f"{self.__name__}: access: {name!r} is listed twice")
                uses[name] = USES[kind]
        return uses

    def _takes_item(self, arguments: int, groups: bool) -> bool:
        """True if the first parameter is the item; says so if the range does not fit it."""
        if self._item == "NdItem" and not groups:
            raise TypeError(f"{self.__name__}: takes an NdItem, and a plain Range has no groups; launch it over an NdRange")
        return self._item is not None or arguments == len(self._names) - 1

    def _bound(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments in order, with those given by name and the defaults."""
        f = self._function
        if not (keywords or f.__defaults__ or f.__kwdefaults__):
            return arguments
        item = self._item is not None or (len(arguments) + len(keywords) < len(self._names) and self._names[0] not in keywords)
        names = self._names[int(item) :]
        by_place = self._names[: f.__code__.co_argcount]
        defaults = {**dict(zip(reversed(by_place), reversed(f.__defaults__ or ()), strict=False)), **(f.__kwdefaults__ or {})}
        if len(arguments) > len(names):
            return arguments  # the launch says so
        values = dict(zip(names, arguments, strict=False))
        for name, value in keywords.items():
            if name not in names:
                raise TypeError(f"{self.__name__}: there is no parameter `{name}`")
            if name in values:
                raise TypeError(f"{self.__name__}: `{name}` is given twice")
            values[name] = value
        if missing := [n for n in names if n not in values and n not in defaults]:
            raise TypeError(f"{self.__name__}: no argument for {', '.join(f'`{n}`' for n in missing)}")
        return tuple(values[n] if n in values else defaults[n] for n in names)

    def _program(self, arguments: tuple[Any, ...], local: list[int]) -> tuple[_core._Kernel, tuple[Any, ...], translations.Translation]:
        """The program for the arguments, these as it takes them, and what it was made of."""
        translation, programs = self._made  # of each other, whatever other threads make
        if translation is None or (translation.captured and translation.changed()):
            frontend.check_parameters(self._function)
            translation, programs = self._made = self._variants.current(lambda: (frontend.translate(self._function), {}))
        takes_item = self._takes_item(len(arguments), bool(local))
        program = programs.get(takes_item)
        if program is None:
            access = [self._uses.get(name, 0) for name in self._names[takes_item:]] if self._uses else []
            program = programs.setdefault(takes_item, _core._Kernel(translation.function, takes_item, *self._options, access))
        if self._constants:
            shift = int(takes_item)
            arguments = tuple(Constant(a) if k + shift in self._constants else a for k, a in enumerate(arguments))
        return program, arguments, translation


def _annotation(annotation: Any) -> str:
    """The bare name of an annotation: 'Item', 'Const[int]'."""
    if annotation is None:
        return ""
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] if "[" not in annotation else annotation.partition("[")[0].rpartition(".")[2]
    origin = getattr(annotation, "__origin__", annotation)
    return getattr(origin, "__name__", "")


class Told(TypedDict, total=False):
    """The options of `kernel`."""

    fastmath: bool | Literal["estimates"]
    bounds_check: bool | None
    race_check: bool
    sub_group_size: int
    access: dict[str, Sequence[str]] | None


class Decorator(Protocol):
    """What `kernel` gives without a function."""

    @overload
    def __call__(self, function: Callable[Concatenate[Item, Q], Any], /) -> KernelFunction[Q]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[NdItem, Q], Any], /) -> KernelFunction[Q]: ...
    @overload
    def __call__(self, function: Callable[Q, Any], /) -> KernelFunction[Q]: ...


@overload
def kernel(function: Callable[Concatenate[Item, P], Any], **options: Unpack[Told]) -> KernelFunction[P]: ...
@overload
def kernel(function: Callable[Concatenate[NdItem, P], Any], **options: Unpack[Told]) -> KernelFunction[P]: ...
@overload
def kernel(function: Callable[P, Any], **options: Unpack[Told]) -> KernelFunction[P]: ...
@overload
def kernel(function: None = None, **options: Unpack[Told]) -> Decorator: ...
def kernel(
    function: Any = None,
    *,
    fastmath: bool | Literal["estimates"] = False,
    bounds_check: bool | None = None,
    race_check: bool = False,
    sub_group_size: int = 32,
    access: dict[str, Sequence[str]] | None = None,
) -> Any:
    """Make a kernel of a function: it runs once for each item of an index space, on the device of its arrays.

    Parameters
    ----------
    function : callable
        A plain function. Its first parameter may be annotated as `Item` or `NdItem`; the others are the arguments of launches: arrays,
        numbers, tuples, structs, functions, and `LocalAccessor`. It returns nothing.
    fastmath : bool or {'estimates'}, optional
        Sums may be reordered, products contracted into them, and reciprocals of float32 roots estimated, within 2 ulp. With
        ``'estimates'`` these are what a processor with AVX-512 estimates in one step, within 2**-14. Default: False.
    bounds_check : bool, optional
        An index out of range reads and writes nothing, stops no other item, and raises IndexError at the next wait, with the line, the
        index, the extent and the item. What a launch shows to be in range is not checked again. Default: True, unless the environment
        variable ``PARDO_CHECKS=off`` is set when the function is decorated; without checks, memory of others is read and overwritten.
        ``PARDO_CHECKS=all`` checks integer division, shifts, and reads of local memory that nothing has written too.
    race_check : bool, optional
        Launches run as plain Python, one item at a time, and raise `RaceError` where two items touch one element, one of them writes, and
        neither a barrier of their group is between nor are both atomics. For small ranges: an access takes some ten microseconds. The
        environment variable ``PARDO_RACE_CHECK=1`` does the same for all kernels. Default: False.
    sub_group_size : int, optional
        Items of a `SubGroup`, a power of two. Default: 32.
    access : dict of str to sequence of str, optional
        What the kernel does with its arrays: names of parameters under ``'read_only'``, ``'write_only'`` and ``'read_write'``. It changes
        nothing, and is checked when a program is made: TypeError, with the line, if the kernel does something else. Nothing is asked of
        parameters that are not listed.

    Returns
    -------
    KernelFunction
        Launch it with ``k[range](*arguments)``, ``k[range, queue, depends](*arguments)`` or `call_kernel`.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def add(item: pp.Item, a, b, c):
    ...     i = item.get_id(0)
    ...     c[i] = a[i] + b[i]
    >>> c = pp.empty(3)
    >>> add[pp.Range(3)](pp.arange(3.0), pp.ones(3), c).wait()
    >>> c
    array([1., 2., 3.])
    """
    if function is None:
        return lambda f: kernel(
            f, fastmath=fastmath, bounds_check=bounds_check, race_check=race_check, sub_group_size=sub_group_size, access=access
        )
    if not isinstance(function, types.FunctionType):
        if (inner := python_function(function)) is not None:
            raise TypeError(
                f"kernel: {inner.__name__} is decorated already, as a {type(function).__name__}; a function is one of these alone"
            )
        raise TypeError(f"kernel: decorates a function, not {type(function).__name__}")
    refuse_suspended("kernel", function)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    if names[:1] in (("self",), ("cls",)) and names[0] not in function.__annotations__:
        raise TypeError(
            f"kernel: {function.__qualname__} is a method, and kernels take no `{names[0]}`: write a function or a staticmethod, and give "
            f"what it needs of `{names[0]}` as arguments"
        )
    level, race_check = fast_math(fastmath, "kernel: fastmath"), flag(race_check, "kernel: race_check")
    bounds_check = optional_flag(bounds_check, "kernel: bounds_check")
    return KernelFunction(function, level, bounds_check, race_check, sub_group_size, access)


def _kernel_of(k: Any, op_name: str) -> Launchable:
    if not isinstance(k, Launchable):
        raise TypeError(f"{op_name}: a kernel is expected, not {type(k).__name__}; decorate the function with @pardo.kernel")
    return k


def call_kernel(k: Launchable, range: Place, *arguments: Any) -> None:
    """Launch a kernel and wait for it.

    Parameters
    ----------
    k : KernelFunction
        What `kernel` made, or a kernel of a `Program`.
    range : Range, NdRange or int
        The items.
    *arguments
        Of the kernel.

    See Also
    --------
    call_kernel_async, kernel

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def double(item: pp.Item, x):
    ...     i = item.get_id(0)
    ...     x[i] = 2 * x[i]
    >>> x = pp.arange(4)
    >>> pp.call_kernel(double, pp.Range(4), x)
    >>> x
    array([0, 2, 4, 6])
    """
    _kernel_of(k, "call_kernel")[range](*arguments).wait()


def call_kernel_async(k: Launchable, range: Place, depends: Any = None, *arguments: Any) -> Event:
    """Launch a kernel and do not wait.

    Parameters
    ----------
    k : KernelFunction
        What `kernel` made, or a kernel of a `Program`.
    range : Range, NdRange or int
        The items.
    depends : Event, Array, or sequence of these, optional
        The kernel begins after these.
    *arguments
        Of the kernel.

    Returns
    -------
    Event
        Completes when all items have run.

    See Also
    --------
    call_kernel, kernel

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def double(item: pp.Item, x):
    ...     i = item.get_id(0)
    ...     x[i] = 2 * x[i]
    >>> x = pp.arange(4)
    >>> first = pp.call_kernel_async(double, pp.Range(4), None, x)
    >>> second = pp.call_kernel_async(double, pp.Range(4), [first], x)
    >>> second.wait()
    >>> x
    array([ 0,  4,  8, 12])
    """
    return _kernel_of(k, "call_kernel_async")[range, None, depends](*arguments)


publish_module(globals(), "pardo")
