# python/pardo/_generate/generators.py: functions on arrays made of functions on elements: elementwise, reduction, scan.
from __future__ import annotations

import ast
import functools
import math
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array import contexts
from pardo._array.creation import empty
from pardo._array.interop import asarray
from pardo._base.arguments import array, flag, following, given_count, home_among, on_queue, together
from pardo._base.promotion import is_number_of_bfloat16, kind_of
from pardo._base.public_names import publish_module
from pardo._compiler import frontend, intrinsics, structs
from pardo._compiler.callables import as_function
from pardo._compiler.source import source_of
from pardo._core import Array, Queue
from pardo._data import present
from pardo._generate import templates
from pardo._kernel import copies, pickling
from pardo._kernel.jit import JitFunction
from pardo._kernel.kernel import KernelFunction
from pardo._language.index_space import NdRange, Range
from pardo._runtime.devices import group_size

__all__ = ["elementwise", "reduction", "scan"]

BLOCK, BLOCKS = 2048, 1024  # elements of an item at least, items at most, where items go through many elements each
PER_ITEM = 8  # elements of each item, elsewhere
SERIAL = 1024  # totals that one item goes through
MOST_KEPT = 64  # types of results that a function remembers

# --- calls


def _familiar(combine: Any) -> str | None:
    """The name of what a function does with its two arguments, if there is a loop for it."""
    intrinsics.fill()
    name = intrinsics.known.get(id(combine))
    if name is None and isinstance(combine, types.FunctionType) and combine.__name__ == "<lambda>":
        node = source_of(combine).node
        a = [x.arg for x in node.args.args]
        body = ast.unparse(node.body) if isinstance(node, ast.Lambda) else ""
        texts = {"add": "{} + {}", "multiply": "{} * {}", "min": "min({}, {})", "max": "max({}, {})"}
        if len(a) == 2:
            name = next((known for known, t in texts.items() if body in (t.format(*a), t.format(*reversed(a)))), None)
    return name if name in templates.LOOPS else None


def _named(function: Callable[..., Any], name: str) -> types.FunctionType:
    """The same function under another name, for profiles and messages."""
    assert isinstance(function, types.FunctionType)
    made = types.FunctionType(function.__code__.replace(co_name=name), function.__globals__, name, function.__defaults__)
    made.__annotations__ = function.__annotations__
    return made


def _function(f: Any, op_name: str, what: str) -> Any:
    """Something that kernels can call."""
    f = as_function(f)
    if frontend.function_argument(f) is None:
        raise TypeError(f"{op_name}: {what}: a function is expected, not {type(f).__name__}")
    return f


def _leaves(values: Sequence[Any]) -> list[Array]:
    return [leaf for v in values for leaf in structs.leaves(v) if type(leaf) is Array]


def _arrays_and_numbers(given: Sequence[Any], op_name: str) -> Sequence[Any]:
    """Arguments, of which those that follow the arrays among them are on their queue."""
    home = home_among(_leaves(given))
    if home is not None:
        given = [on_queue(x, home.queue, op_name) if _core._is_host_data(x) else x for x in given]
        given = [structs.mapped(x, lambda v: following(v, home, op_name)) for x in given]
    given = [array(x, op_name) if _core._is_host_data(x) else x for x in given]
    for k, x in enumerate(given):
        if not isinstance(x, (Array, structs.Struct, bool, int, float, complex, np.number, np.bool_)) and not is_number_of_bfloat16(x):
            raise TypeError(f"{op_name}: argument {k}: an array, a struct or a number is expected, not {type(x).__name__}")
    return given


class _Inputs:
    """Arrays and numbers of a call, broadcast against each other."""

    def __init__(self, given: Sequence[Any], op_name: str) -> None:
        if present.in_use:
            given, _ = copies.on_device(tuple(given))
        if all(type(x) is Array for x in given):
            arrays = together(given, op_name)
            self.given = tuple(arrays)
        else:
            self.given = tuple(_arrays_and_numbers(given, op_name))
            arrays = _leaves(self.given)
        if not arrays:
            raise TypeError(f"{op_name}: at least one array is expected among the arguments")
        self.queue: Queue = arrays[0].queue
        self.shape: tuple[int, ...] = tuple(_core._broadcast_arrays(arrays, op_name)[0].shape)
        self.count = math.prod(self.shape)

    @property
    def examples(self) -> tuple[Any, ...]:
        """Values of the types of elements, and the numbers."""
        return tuple(structs.mapped(x, lambda v: v.dtype.type(0) if type(v) is Array else v) for x in self.given)

    def laid_out(self, outputs: tuple[Any, ...] = ()) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[int, ...]]:
        """Inputs, outputs, and extents, the last first: flat and no extents where none has gaps or is broadcast, else all of one shape."""
        flat = all(a.shape == self.shape and a._is_contiguous() for a in _leaves([*self.given, *outputs]))
        if flat and len(self.shape) == 1:
            return self.given, outputs, ()

        def laid(x: Any) -> Any:
            return x.reshape(-1) if flat else _core._broadcast_to(x, self.shape)

        values = tuple(structs.mapped(x, lambda v: laid(v) if type(v) is Array else v) for x in self.given)
        targets = tuple(structs.mapped(x, laid) for x in outputs) if flat else outputs
        return values, targets, () if flat else tuple(reversed(self.shape))

    def key(self) -> Any:
        """What types of results depend on."""
        if all(type(x) is Array for x in self.given):
            return tuple(x.dtype for x in self.given)
        return tuple((type(v), getattr(v, "dtype", None)) for x in self.given for v in structs.leaves(x))

    def returned(self, f: Any, op_name: str) -> Any:
        """Dtypes of what a function gives for the elements."""
        return _returned(f, self.examples, self.queue, op_name)


def _returned(f: Any, examples: tuple[Any, ...], queue: Queue, op_name: str) -> Any:
    translated = frontend.function_argument(f)
    if isinstance(translated, str):  # one that the language knows
        translated = frontend.function_argument(_calling(f))
    return _core._returned_by(translated, examples, queue, op_name)


@functools.cache
def _calling(f: Any) -> Callable[..., Any]:
    def call(*x: Any) -> Any:
        return f(*x)

    return call


def _made(types_: Any, make: Callable[[Any], Any]) -> Any:
    """Something for each dtype of a result: for structs and tuples a struct of them."""
    if isinstance(types_, structs.Struct):
        return types_._map(lambda t: _made(t, make))
    if isinstance(types_, tuple):
        return structs.Columns(tuple(_made(t, make) for t in types_))
    return make(types_)


def _example(types_: Any) -> Any:
    """A value of these types."""
    if isinstance(types_, structs.Struct):
        return types_._map(_example)
    return tuple(map(_example, types_)) if isinstance(types_, tuple) else types_.type(0)


def _plain(value: Any) -> Any:
    """Tuples for what is indexed as an array of tuples."""
    return tuple(map(_plain, value._parts)) if isinstance(value, structs.Columns) else value


class _Made(pickling.Unchanging):
    """What the generators give: a function on arrays."""

    def __init__(self, name: str, fastmath: bool, given: tuple[Any, ...]) -> None:
        op_name = type(self).__name__.lower()
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"{op_name}: name: a Python name is expected, not {name!r}")
        self.__name__ = name
        self.__module__ = pickling.using_module()
        self._given = given
        self._fastmath = flag(fastmath, f"{op_name}: fastmath")
        self._kernels: dict[Any, KernelFunction[...]] = {}
        self._results: dict[Any, Any] = {}

    def _types(self, given: _Inputs, functions: Sequence[Any], make: Callable[[], Any]) -> Any:
        """What `make` finds out about dtypes, from an earlier call where that is known: what functions take from outside may have other
        types now, and then their translations are others."""
        key = (given.queue.device.without_queue, *map(frontend.function_argument, functions), *given.key())
        found = self._results.get(key)
        if found is None:
            if len(self._results) >= MOST_KEPT:
                self._results.clear()
            found = self._results[key] = make()
        return found

    def _kernel(self, function: Callable[..., Any]) -> KernelFunction[...]:
        made = self._kernels.get(function)
        if made is None:
            made = self._kernels[function] = KernelFunction(_named(function, self.__name__), self._fastmath)
        return made

    def _empty(self, types_: Any, shape: Any, queue: Queue) -> Any:
        return _made(types_, lambda dtype: empty(shape, dtype, queue=queue))

    def _outputs(self, types_: Any, out: Any, shape: tuple[int, ...], queue: Queue) -> tuple[tuple[Any, ...], bool]:
        """Arrays for the results, made or given, and whether it is one alone."""
        single = not isinstance(types_, tuple)
        if out is None:
            parts = (types_,) if single else types_
            return tuple(self._empty(t, shape, queue) for t in parts), single
        given = out if isinstance(out, tuple) else (out,)
        wanted = 1 if single else len(types_)
        if len(given) != wanted:
            raise ValueError(f"{self.__name__}: out: {wanted} arrays are expected, but {given_count(len(given))}")
        for x in given:
            for leaf in _leaves([x]) or [x]:
                if type(leaf) is not Array or tuple(leaf.shape) != shape:
                    got = f"one of shape {tuple(leaf.shape)}" if type(leaf) is Array else type(leaf).__name__
                    raise ValueError(f"{self.__name__}: out: an array of shape {shape} is expected, not {got}")
        return given, single

    def __reduce__(self) -> str | tuple[Any, ...]:
        return pickling.reduced_parts(self, self._given)

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.__name__}>"


class Elementwise(_Made):
    """A function on arrays made by `elementwise`."""

    def __init__(self, function: Any, name: str, fastmath: bool) -> None:
        super().__init__(name, fastmath, (function, name, fastmath))
        self._function = _function(function, "elementwise", "function")

    def _call(self, *inputs: Any, out: Any = None) -> Any:
        given = _Inputs(inputs, self.__name__)
        types_ = self._types(given, [self._function], lambda: given.returned(self._function, self.__name__))
        outputs, single = self._outputs(types_, out, given.shape, given.queue)
        if given.count:
            values, targets, extents = given.laid_out(outputs)
            rank = len(extents)
            arguments = (self._function, values, targets, int(single))
            if rank > len(_EACH):
                self._kernel(templates.each_more)[Range(given.count)](*arguments, extents)
            else:
                place = Range(*given.shape) if rank else Range(given.count)
                self._kernel(_EACH[max(rank, 1) - 1])[place](*arguments)
        return out if out is not None else outputs[0] if single else outputs

    __call__ = contexts.copying(_call)


_EACH = (templates.each_1, templates.each_2, templates.each_3)


class Reduction(_Made):
    """A function on arrays made by `reduction`."""

    def __init__(self, function: Any, combine: Any, initial: Any, name: str, fastmath: bool) -> None:
        super().__init__(name, fastmath, (function, combine, initial, name, fastmath))
        self._function = _function(function, "reduction", "map")
        self._combine = _function(combine, "reduction", "combine")
        self._initial = initial
        familiar = _familiar(combine)
        self._loop: JitFunction[..., Any] | None = None
        if familiar:
            self._loop = JitFunction(_named(templates.LOOPS[familiar], name), self._fastmath, False)

    def _call(self, *inputs: Any) -> Any:
        given = _Inputs(inputs, self.__name__)
        op_name = self.__name__
        types_ = self._types(
            given,
            [self._function, self._combine],
            lambda: _total_types(given.returned(self._function, op_name), self._combine, given.queue, op_name),
        )
        if self._loop is not None and isinstance(types_, np.dtype) and given.count:
            values, _, extents = given.laid_out()
            first = self._initial
            if type(first) is int and kind_of(types_) in "fc":
                first = types_.type(first)  # serial loops, as of functions with lists, have one type of total
            total = self._loop(self._function, values, extents, given.count, first)
            return asarray(total, dtype=types_, queue=given.queue)
        like = _example(types_)
        result = self._empty(types_, 1, given.queue)
        totals, count = self._empty(types_, 1, given.queue), 0
        if given.count:
            totals, count = _totals(self, self._function, self._combine, given, types_, like)
        self._kernel(templates.finish)[Range(1)](self._combine, self._initial, totals, count, like, result)
        return _plain(structs.mapped(result, lambda a: a.reshape(())))

    __call__ = contexts.copying(_call)


def _total_types(types_: Any, combine: Any, queue: Queue, op_name: str) -> Any:
    """The types of totals: what `combine` gives for two of its own results."""

    for _ in range(4):
        combined = _returned(combine, (_example(types_), _example(types_)), queue, op_name)
        if combined == types_:
            return types_
        types_ = combined
    raise TypeError(f"{op_name}: combine changes the type of its arguments each time; it must give what it takes")


def _totals(owner: _Made, f: Any, combine: Any, given: _Inputs, types_: Any, like: Any) -> tuple[Any, int]:
    """Totals of blocks, in their order, and how many there are."""
    values, _, extents = given.laid_out()
    n = given.count
    while True:
        source = values, extents, n
        if group := group_size(given.queue.device):
            count = -(-n // (group * PER_ITEM))
            totals = owner._empty(types_, count, given.queue)
            place = NdRange(Range(count * group), Range(group))
            owner._kernel(templates.reduce_groups)[place](f, combine, source, PER_ITEM, like, totals)
        else:
            block = _block(n)
            count = -(-n // block)
            totals = owner._empty(types_, count, given.queue)
            owner._kernel(templates.reduce_blocks)[Range(count)](f, combine, source, block, like, totals)
        if count <= SERIAL:
            return totals, count
        f, values, extents, n = templates.same, (totals,), (), count


def _block(n: int) -> int:
    return max(BLOCK, -(-n // BLOCKS))


class Scan(_Made):
    """A function on arrays made by `scan`."""

    def __init__(
        self, function: Any, combine: Any, initial: Any, output: Any, exclusive: bool, segmented: Any, name: str, fastmath: bool
    ) -> None:
        super().__init__(name, fastmath, (function, combine, initial, output, exclusive, segmented, name, fastmath))
        self._function = _function(function, "scan", "map")
        self._combine = _function(combine, "scan", "combine")
        self._initial = initial
        self._output = None if output is None else _function(output, "scan", "output")
        self._finish = templates.before if exclusive else templates.after
        if segmented is not None:
            starts = _function(segmented, "scan", "segmented")
            self._finish = _before_in_segment(initial) if exclusive else _after_in_segment
            self._function = _with_start(self._function, self._combine, starts, initial)
            self._combine = _in_segments(self._combine)
            self._initial = (False, initial)

    def _call(self, *inputs: Any, out: Any = None) -> Any:
        given = _Inputs(inputs, self.__name__)
        functions = [f for f in (self._function, self._combine, self._finish, self._output) if f is not None]
        types_, result_types = self._types(given, functions, lambda: self._found_types(given))
        outputs, single = self._outputs(result_types, out, given.shape, given.queue)
        if given.count:
            values, targets, extents = given.laid_out(outputs)
            steps = self._function, self._combine, self._finish, self._output or templates.same
            self._run(steps, (values, extents, given.count), given.queue, types_, targets, single, self._output is None)
        return out if out is not None else outputs[0] if single else outputs

    __call__ = contexts.copying(_call)

    def _found_types(self, given: _Inputs) -> tuple[Any, Any]:
        op_name = self.__name__
        value = given.returned(self._function, op_name)
        types_ = _total_types(value, self._combine, given.queue, op_name)
        like = _example(types_)
        prefix = _returned(self._finish, (like, _example(value), like), given.queue, op_name)
        if self._output is not None:
            prefix = _returned(self._output, (_example(prefix), *given.examples), given.queue, op_name)
        return types_, prefix

    def _run(
        self,
        steps: tuple[Any, ...],
        source: tuple[Any, ...],
        queue: Queue,
        types_: Any,
        targets: tuple[Any, ...],
        single: bool,
        plain: bool,
    ) -> None:
        n = source[2]
        like = _example(types_)
        group = group_size(queue.device)
        block = PER_ITEM if group else _block(n)
        count = -(-n // (group * PER_ITEM if group else block))
        place = NdRange(Range(count * group), Range(group)) if group else Range(count)
        totals = self._empty(types_, count, queue)
        self._kernel(templates.reduce_groups if group else templates.reduce_blocks)[place](
            steps[0], self._combine, source, block, like, totals
        )
        offsets = self._empty(types_, count, queue)
        if count <= SERIAL:
            self._kernel(templates.offsets_of)[Range(1)](self._combine, self._initial, totals, count, like, offsets)
        else:
            over = templates.same, self._combine, templates.before, templates.same
            self._run(over, ((totals,), (), count), queue, types_, (offsets,), True, True)
        scan = templates.scan_groups if group else templates.scan_blocks
        self._kernel(scan)[place](steps, source, block, like, offsets, targets, int(single), int(plain))


def _in_segments(combine: Any) -> Any:
    """Combines (starts a segment, total): a start forgets what was before."""

    def both(a: Any, b: Any) -> Any:
        return (a[0] or b[0], b[1] if b[0] else combine(a[1], b[1]))

    return both


def _with_start(function: Any, combine: Any, starts: Any, initial: Any) -> Any:
    """Gives (starts a segment, value) for an element; the first of a segment is combined with the initial value."""

    def with_start(*x: Any) -> Any:
        start = bool(starts(*x))
        value = function(*x)
        return start, combine(initial, value) if start else value

    return with_start


def _after_in_segment(before: Any, value: Any, after: Any) -> Any:
    return after[1]


def _before_in_segment(initial: Any) -> Any:
    def first_or_before(before: Any, value: Any, after: Any) -> Any:
        return initial if value[0] else before[1]

    return first_or_before


# --- the public functions


def elementwise(function: Any = None, *, name: str | None = None, fastmath: bool = False) -> Any:
    """Make a function on arrays of a function on elements.

    Parameters
    ----------
    function : callable
        Takes one element of each argument, and gives a number, a struct, or a tuple for several results. A plain function or a lambda: it
        may branch, loop, and call others. Numbers among the arguments are passed as they are; of structs of arrays it gets structs.
    name : str, optional
        In profiles and messages. Default: that of the function.
    fastmath : bool, optional
        Sums may be reordered, products contracted into them, and reciprocals of float32 roots estimated, within 2 ulp. Default: False.

    Returns
    -------
    Elementwise
        Call it with arrays of shapes that broadcast, and numbers; it gives arrays of the dtypes that the function gives, or fills ``out``.

    Examples
    --------
    >>> import pardo as pp
    >>> collatz = pp.elementwise(lambda n: n // 2 if n % 2 == 0 else 3 * n + 1)
    >>> collatz(pp.arange(6))
    array([ 0,  4,  1, 10,  2, 16])
    """
    if function is None:
        return lambda f: elementwise(f, name=name, fastmath=fastmath)
    return Elementwise(function, name or _name_of(function, "elementwise"), fastmath)


def reduction(map: Any, combine: Any, initial: Any, *, name: str | None = None, fastmath: bool = False) -> Any:
    """Make a function that reduces arrays to one value.

    Parameters
    ----------
    map : callable
        Takes one element of each argument, and gives what is combined: a number, a tuple or a struct.
    combine : callable
        Takes two such values and gives one. It must be associative; the order of the elements is kept, but for sums, products and extremes
        of numbers.
    initial : number, tuple or struct
        What an empty array gives, and what is combined with the first value: 0 for sums, 1 for products.
    name : str, optional
        In profiles and messages. Default: that of `map`.
    fastmath : bool, optional
        Sums may be reordered, products contracted into them, and reciprocals of float32 roots estimated, within 2 ulp. Default: False.

    Returns
    -------
    Reduction
        Call it with arrays of shapes that broadcast, and numbers; it gives an array without dimensions, or a tuple or struct of these. Its
        bits depend on nothing but the arguments and the device.

    Examples
    --------
    >>> import pardo as pp
    >>> dot = pp.reduction(lambda x, y: x * y, lambda a, b: a + b, 0.0)
    >>> float(dot(pp.arange(4.0), pp.ones(4)))
    6.0
    """
    return Reduction(map, combine, initial, name or _name_of(map, "reduction"), fastmath)


def scan(
    map: Any,
    combine: Any,
    initial: Any,
    output: Any = None,
    *,
    exclusive: bool = False,
    segmented: Any = None,
    name: str | None = None,
    fastmath: bool = False,
) -> Any:
    """Make a function that gives for each element what those up to it combine to, in row-major order.

    Parameters
    ----------
    map : callable
        Takes one element of each argument, and gives what is combined: a number, a tuple or a struct.
    combine : callable
        Takes two such values and gives one; associative. The order of the elements is kept.
    initial : number, tuple or struct
        The value before the first element, and before the first of each segment: 0 for sums.
    output : callable, optional
        Takes what an element's scan gives, and one element of each argument; gives what is stored, a tuple for several results. Default:
        what the scan gives.
    exclusive : bool, optional
        Leave out the element itself. Default: False.
    segmented : callable, optional
        Takes one element of each argument; true where a segment, and so the scan, starts again.
    name : str, optional
        In profiles and messages. Default: that of `map`.
    fastmath : bool, optional
        Sums may be reordered, products contracted into them, and reciprocals of float32 roots estimated, within 2 ulp. Default: False.

    Returns
    -------
    Scan
        Call it with arrays of shapes that broadcast, and numbers; it gives arrays of that shape, or fills ``out``.

    Examples
    --------
    >>> import pardo as pp
    >>> running = pp.scan(lambda x: x, lambda a, b: a if a > b else b, 0)
    >>> running(pp.asarray([3, 1, 4, 1, 5]))
    array([3, 3, 4, 4, 5])
    """
    return Scan(map, combine, initial, output, exclusive, segmented, name or _name_of(map, "scan"), fastmath)


def _name_of(function: Any, otherwise: str) -> str:
    name = getattr(function, "__name__", otherwise)
    return name if name.isidentifier() else otherwise


publish_module(globals(), "pardo")
