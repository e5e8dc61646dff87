# python/pardo/_generate/lists.py: lists of different lengths, one for each item, that a function appends to.
from __future__ import annotations

import inspect
import types
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.creation import empty
from pardo._base.arguments import dtype_of, index
from pardo._base.public_names import publish_module
from pardo._compiler.classes import struct
from pardo._core import Array, Queue
from pardo._generate.generators import _function
from pardo._kernel.kernel import kernel
from pardo._language.index_space import Item, Range, private_array

__all__ = ["ListOfLists", "ListOfListsBuilder"]


class ListOfLists(NamedTuple):
    """What `ListOfListsBuilder` makes: the list of item `i` is ``lists[starts[i]:starts[i + 1]]``.

    Attributes
    ----------
    total : int
        Elements of all lists.
    starts : Array
        Of int64, one more than there are items.
    lists : Array
        The elements of all lists, those of each item in the order in which they were appended.
    """

    total: int
    starts: Array
    lists: Array


@struct
class Counting:
    """What a function appends to when elements are counted: `place` holds how many there are."""

    place: Any

    def append(self, value: Any) -> None:
        self.place[0] += 1


@struct
class Writing:
    """What a function appends to when elements are written: `place` holds where the next one goes."""

    place: Any
    out: Any

    def append(self, value: Any) -> None:
        self.out[self.place[0]] = value
        self.place[0] += 1


@kernel
def _count(item: Item, generate: Any, arguments: Any, counts: Any) -> None:
    i = item.get_id(0)
    lists: tuple[Any, ...] = ()
    places: tuple[Any, ...] = ()
    for _ in counts:
        place = private_array(1, "int64")
        place[0] = 0
        places = (*places, place)
        lists = (*lists, Counting(place))  # type: ignore[call-arg]
    generate(i, *lists, *arguments)
    for count, place in zip(counts, places, strict=False):
        count[i + 1] = place[0]


@kernel
def _write(item: Item, generate: Any, arguments: Any, starts: Any, outputs: Any) -> None:
    i = item.get_id(0)
    lists: tuple[Any, ...] = ()
    for start, out in zip(starts, outputs, strict=False):
        place = private_array(1, "int64")
        place[0] = start[i]
        lists = (*lists, Writing(place, out))  # type: ignore[call-arg]
    generate(i, *lists, *arguments)


class ListOfListsBuilder:
    """Make lists of different lengths, one for each item, of what a function appends.

    Parameters
    ----------
    generate : callable
        ``generate(i, found, *arguments)`` for item `i`: ``found.append(value)`` adds to its list. With several dtypes it takes as many
        lists after `i`. It is compiled, and called twice for each item: first elements are counted, then they are written. So it must
        append the same each time.
    dtypes : data type or sequence of data type
        Of the elements of each list.

    See Also
    --------
    copy_if

    Notes
    -----
    The name is that of PyOpenCL's. Lists begin where a prefix sum of their lengths says.

    Examples
    --------
    >>> import pardo as pp
    >>> def divisors(i, found, numbers):
    ...     for d in range(1, numbers[i] + 1):
    ...         if numbers[i] % d == 0:
    ...             found.append(d)
    >>> build = pp.algorithm.ListOfListsBuilder(divisors, "int32")
    >>> made = build(3, pp.asarray([6, 7, 4]))
    >>> made.starts, made.lists
    (array([0, 4, 6, 9]), array([1, 2, 3, 6, 1, 7, 1, 2, 4], dtype=int32))
    """

    def __init__(self, generate: Any, dtypes: DTypeLike | Sequence[DTypeLike]) -> None:
        op_name = "ListOfListsBuilder"
        self._generate = _function(generate, op_name, "generate")
        self._single = not isinstance(dtypes, (list, tuple))
        given: Any = [dtypes] if self._single else dtypes
        if not given:
            raise ValueError(f"{op_name}: dtypes: at least one list is expected")
        self._dtypes = [dtype_of(t, op_name) for t in given]

    def _check(self, arguments: tuple[Any, ...]) -> None:
        """Raise TypeError if the function does not take an item, the lists, and these."""
        if isinstance(self._generate, types.FunctionType):
            try:
                inspect.signature(self._generate).bind(0, *self._dtypes, *arguments)
            except TypeError as e:
                name, count = self._generate.__name__, len(self._dtypes)
                lists = "a list" if count == 1 else f"{count} lists"
                raise TypeError(
                    f"ListOfListsBuilder: {name} gets the item, {lists} and {len(arguments)} further argument(s): {name}() {e}"
                ) from None

    def __call__(self, n: int, *arguments: Any, queue: Queue | None = None) -> Any:
        """Make the lists of items 0 to `n` - 1.

        Parameters
        ----------
        n : int
            Items.
        *arguments
            Given to the function: arrays of one queue, numbers.
        queue : Queue, optional
            Where lists are made. Default: the queue of the arrays, else that of the default device.

        Returns
        -------
        ListOfLists, or tuple of them
            One for each dtype; for a single dtype one.
        """
        items = index(n, "ListOfListsBuilder: n")
        if items < 0:
            raise ValueError(f"ListOfListsBuilder: n is {items}; it must not be negative")
        target = queue or next((a.queue for a in arguments if type(a) is Array), None) or Queue.of(_core.Device())
        counts = tuple(_core._full([items + 1], 0, np.dtype(np.int64), target, "ListOfListsBuilder") for _ in self._dtypes)
        for count in counts:
            count.force()
        self._check(arguments)
        if items:
            _count[Range(items), target](self._generate, arguments, counts)
        starts = tuple(count.cumsum() for count in counts)
        totals = [int(start[-1]) for start in starts]
        outputs = tuple(empty(total, dtype, queue=target) for total, dtype in zip(totals, self._dtypes, strict=True))
        if any(totals):
            _write[Range(items), target](self._generate, arguments, starts, outputs)
        made = tuple(map(ListOfLists, totals, starts, outputs))
        return made[0] if self._single else made


publish_module(globals(), "pardo.algorithm")
