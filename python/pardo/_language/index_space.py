# python/pardo/_language/index_space.py: what kernels are written with: index spaces, items and their groups, memory of groups and of items.
from __future__ import annotations

import contextvars
import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import numpy as np
from pardo._base.arguments import dtype_of
from pardo._base.public_names import publish_module
from pardo._compiler.intrinsics import device_only, mark

__all__ = [
    "Const",
    "Group",
    "Item",
    "LocalAccessor",
    "NdItem",
    "NdRange",
    "Range",
    "SubGroup",
    "get_global_id",
    "get_global_size",
    "get_group_id",
    "get_local_id",
    "get_local_size",
    "get_num_groups",
    "group_barrier",
    "local_array",
    "private_array",
]

T = TypeVar("T")


class Constant(Generic[T]):
    """Annotation of a kernel's parameter whose value becomes part of the program: ``n: pp.Const[int]``.

    Each new value compiles again; loops over it can be unrolled, and it can be the shape of a private or local array.

    See Also
    --------
    kernel

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def power(item: pp.Item, x, n: pp.Const[int]):
    ...     i = item.get_id(0)
    ...     y = 1
    ...     for _ in range(n):
    ...         y *= x[i]
    ...     x[i] = y
    >>> x = pp.arange(5)
    >>> power[pp.Range(5)](x, 3).wait()
    >>> x
    array([ 0,  1,  8, 27, 64])
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


if TYPE_CHECKING:
    Const = Annotated[T, "part of the program"]
else:
    Constant.__name__ = Constant.__qualname__ = "Const"
    Const = Constant


class LocalAccessor:
    """An argument of a launch: memory that the items of each group share.

    Parameters
    ----------
    shape : int or tuple of int
        Elements; it becomes part of the program.
    dtype : DTypeLike
        Of the elements.

    See Also
    --------
    local_array

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def reverse(item: pp.NdItem, x, shared):
    ...     i, j = item.get_global_id(0), item.get_local_id(0)
    ...     shared[j] = x[i]
    ...     pp.group_barrier(item.get_group())
    ...     x[i] = shared[2 - j]
    >>> x = pp.arange(6)
    >>> reverse[pp.NdRange(6, 3)](x, pp.LocalAccessor(3, "int64")).wait()
    >>> x
    array([2, 1, 0, 5, 4, 3])
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: int | Sequence[int], dtype: Any = np.float64) -> None:
        extents = [shape] if isinstance(shape, (int, np.integer)) else list(shape)
        self.shape = [operator.index(n) for n in extents]
        if not self.shape or min(self.shape) < 1:
            raise ValueError(f"LocalAccessor: extents are positive, not {tuple(self.shape)}")
        if hasattr(dtype, "_fields") and isinstance(dtype, type):
            raise TypeError(
                f"LocalAccessor: dtype: {dtype.__name__} is a struct; make memory of structs in the kernel, by pardo.local_array, or give "
                "one LocalAccessor for each field"
            )
        self.dtype = dtype_of(dtype, "LocalAccessor: dtype", fields=True)
        if math.prod(self.shape) * self.dtype.itemsize >= 1 << 63:
            raise ValueError(f"LocalAccessor: {tuple(self.shape)} elements of {self.dtype} are more than any memory holds")

    def __repr__(self) -> str:
        return f"LocalAccessor({tuple(self.shape)}, {self.dtype})"


def extents_of(values: Sequence[Any], op_name: str, what: str = "extent") -> tuple[int, ...]:
    """One to three numbers of items, as a range or an offset has them."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        values = values[0]
    if not 1 <= len(values) <= 3:
        raise ValueError(f"{op_name}: one to three {what}s are expected, not {len(values)}")
    try:
        extents = tuple(map(operator.index, values))
    except TypeError:
        raise TypeError(f"{op_name}: {what}s are integers, not {', '.join(type(n).__name__ for n in values)}") from None
    if min(extents) < 0:
        raise ValueError(f"{op_name}: an {what} is negative: {extents}")
    if max(extents) >= 2**63:
        raise OverflowError(f"{op_name}: an {what} does not fit 64 bits: {extents}")
    return extents


class Range(tuple):  # type: ignore[type-arg]
    """The items of an index space of one to three dimensions: ``Range(n)``, ``Range(rows, columns)``.

    See Also
    --------
    NdRange, Item

    Examples
    --------
    >>> import pardo as pp
    >>> pp.Range(4, 8)
    Range(4, 8)
    >>> len(pp.Range(4, 8)), pp.Range(4, 8)[1]
    (2, 8)
    """

    __slots__ = ()

    def __new__(cls, *extents: Any) -> Range:
        """Check the extents."""
        if (
            len(extents) == 1 and type(extents[0]) is int and 0 <= extents[0] < 2**63
        ):  # most of them, in launches that make a new one each time
            return tuple.__new__(cls, extents)
        return tuple.__new__(cls, extents_of(extents, "Range"))

    def __repr__(self) -> str:
        return f"Range({', '.join(map(str, self))})"


def _one_of(name: str, value: Any, other: str, other_value: Any) -> Any:
    """The one of two spellings of an argument that is given."""
    if (value is None) == (other_value is None):
        how = "missing" if value is None else f"given twice, as {other} too"
        raise TypeError(f"NdRange: {name} is {how}")
    return other_value if value is None else value


class NdRange:
    """An index space in groups: ``NdRange(Range(n), Range(256))``.

    Parameters
    ----------
    global_range : Range, int or tuple of int
        Items in each dimension; a multiple of `local_range`. It may also be given as ``global_size=``, as in numba-dpex.
    local_range : Range, int or tuple of int
        Items of a group in each dimension; also ``local_size=``.

    Raises
    ------
    ValueError
        The two have different numbers of dimensions, or an extent is negative.

    See Also
    --------
    Range, NdItem

    Examples
    --------
    >>> import pardo as pp
    >>> space = pp.NdRange(pp.Range(64, 8), pp.Range(16, 8))
    >>> space.global_range, space.local_range
    (Range(64, 8), Range(16, 8))
    """

    __slots__ = ("global_range", "local_range")

    def __init__(self, global_range: Any = None, local_range: Any = None, *, global_size: Any = None, local_size: Any = None) -> None:
        global_range = _one_of("global_range", global_range, "global_size", global_size)
        local_range = _one_of("local_range", local_range, "local_size", local_size)
        self.global_range = global_range if type(global_range) is Range else Range(global_range)
        self.local_range = local_range if type(local_range) is Range else Range(local_range)
        whole, part = tuple(self.global_range), tuple(self.local_range)
        if len(whole) != len(part):
            raise ValueError(f"NdRange: the global range {whole} and the local range {part} have different numbers of dimensions")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NdRange) and (self.global_range, self.local_range) == (other.global_range, other.local_range)

    def __hash__(self) -> int:
        return hash((self.global_range, self.local_range))

    def __repr__(self) -> str:
        return f"NdRange({self.global_range}, {self.local_range})"


class Item:
    """The place of an item in a `Range`: the annotation of a kernel's first parameter.

    In kernels it has ``get_id(d)``, ``get_range(d)``, ``get_linear_id()``, ``get_linear_range()``, ``dimensions`` and ``item[d]``; the
    dimension may be left out where there is one alone. Launched over an `NdRange` it is an `NdItem`.

    See Also
    --------
    Range, NdItem

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def number(item: pp.Item, x):
    ...     i, j = item.get_id(0), item.get_id(1)
    ...     x[i, j] = item.get_linear_id()
    >>> x = pp.zeros((2, 3), dtype="int32")
    >>> number[pp.Range(2, 3)](x).wait()
    >>> x
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """

    if TYPE_CHECKING:

        @property
        def dimensions(self) -> int: ...

        def get_id(self, dimension: int | None = None) -> int: ...
        def get_range(self, dimension: int | None = None) -> int: ...
        def get_linear_id(self) -> int: ...
        def get_linear_range(self) -> int: ...
        def __getitem__(self, dimension: int) -> int: ...


class NdItem:
    """The place of an item in an `NdRange`: the annotation of a kernel's first parameter.

    In kernels it has ``get_global_id(d)``, ``get_local_id(d)``, ``get_group_id(d)``, ``get_global_range(d)``, ``get_local_range(d)``,
    ``get_group_range(d)``, each of them also of all dimensions together, as ``get_global_linear_id()`` and so on, ``dimensions``,
    ``get_group()``, ``get_sub_group()``, and what an `Item` has: ``get_id(d)`` is ``get_global_id(d)``.

    See Also
    --------
    NdRange, Item

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def places(item: pp.NdItem, x):
    ...     x[item.get_global_id(0)] = 10 * item.get_group_id(0) + item.get_local_id(0)
    >>> x = pp.zeros(6, dtype="int32")
    >>> places[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([ 0,  1,  2, 10, 11, 12], dtype=int32)
    """

    if TYPE_CHECKING:

        @property
        def dimensions(self) -> int: ...

        def get_id(self, dimension: int | None = None) -> int: ...
        def get_range(self, dimension: int | None = None) -> int: ...
        def get_linear_id(self) -> int: ...
        def get_linear_range(self) -> int: ...
        def get_global_id(self, dimension: int | None = None) -> int: ...
        def get_local_id(self, dimension: int | None = None) -> int: ...
        def get_group_id(self, dimension: int | None = None) -> int: ...
        def get_global_range(self, dimension: int | None = None) -> int: ...
        def get_local_range(self, dimension: int | None = None) -> int: ...
        def get_group_range(self, dimension: int | None = None) -> int: ...
        def get_global_linear_id(self) -> int: ...
        def get_local_linear_id(self) -> int: ...
        def get_group_linear_id(self) -> int: ...
        def get_global_linear_range(self) -> int: ...
        def get_local_linear_range(self) -> int: ...
        def get_group_linear_range(self) -> int: ...
        def get_group(self) -> Group: ...
        def get_sub_group(self) -> SubGroup: ...
        def __getitem__(self, dimension: int) -> int: ...


class Group:
    """What ``NdItem.get_group()`` gives: a group of items.

    In kernels it has ``get_group_id(d)``, ``get_local_id(d)``, ``get_group_range(d)``, ``get_local_range(d)``,
    ``get_group_linear_id()``, ``get_group_linear_range()``, ``get_local_linear_id()``, ``get_local_linear_range()``, ``dimensions`` and
    ``leader()``.

    See Also
    --------
    NdItem, SubGroup, reduce_over_group

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def leaders(item: pp.NdItem, x):
    ...     group = item.get_group()
    ...     x[item.get_global_id(0)] = group.leader()
    >>> x = pp.zeros(6, dtype="int32")
    >>> leaders[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([1, 0, 0, 1, 0, 0], dtype=int32)
    """

    if TYPE_CHECKING:

        @property
        def dimensions(self) -> int: ...

        def get_group_id(self, dimension: int | None = None) -> int: ...
        def get_local_id(self, dimension: int | None = None) -> int: ...
        def get_group_range(self, dimension: int | None = None) -> int: ...
        def get_local_range(self, dimension: int | None = None) -> int: ...
        def get_group_linear_id(self) -> int: ...
        def get_group_linear_range(self) -> int: ...
        def get_local_linear_id(self) -> int: ...
        def get_local_linear_range(self) -> int: ...
        def leader(self) -> bool: ...


class SubGroup:
    """What ``NdItem.get_sub_group()`` gives: items of a group that exchange values, on GPUs without memory.

    The items of a group, in row-major order, form sub-groups of 32, or of what the kernel's ``sub_group_size`` says; the last may have
    fewer. In kernels it has ``get_local_id()``, ``get_local_range()``, ``get_max_local_range()``, ``get_group_id()``,
    ``get_group_range()``, all but the third also as ``get_local_linear_id()`` and so on, ``dimensions`` (1), and ``leader()``.
    `shift_group_left`, `shift_group_right`, `permute_group_by_xor` and `select_from_group` exchange values;
    `reduce_over_group` and its like take it as they take a `Group`.

    All items of the *group* come to each exchange, as to a barrier. Where a device has shuffles they are used: CUDA's, and OpenCL's where
    kernels can ask for the size of sub-groups; elsewhere values go through memory of the group.

    See Also
    --------
    NdItem, Group, shift_group_left

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def sums(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.reduce_over_group(item.get_sub_group(), x[i], max)
    >>> x = pp.arange(6)
    >>> sums[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([2, 2, 2, 5, 5, 5])
    """

    if TYPE_CHECKING:

        @property
        def dimensions(self) -> int: ...

        def get_local_id(self) -> int: ...
        def get_local_linear_id(self) -> int: ...
        def get_local_range(self) -> int: ...
        def get_local_linear_range(self) -> int: ...
        def get_max_local_range(self) -> int: ...
        def get_group_id(self) -> int: ...
        def get_group_linear_id(self) -> int: ...
        def get_group_range(self) -> int: ...
        def get_group_linear_range(self) -> int: ...
        def leader(self) -> bool: ...


_running: contextvars.ContextVar[Any] = contextvars.ContextVar("pardo._running", default=None)  # the item of an interpreted kernel


def _item(name: str) -> Any:
    """The item that asks, in an interpreted kernel."""
    item = _running.get()
    if item is None:
        raise TypeError(f"{name}: this is an operation of kernels; call it in a function decorated with @pardo.kernel or @pardo.func")
    return item


def check_group(name: str, group: Any) -> None:
    """Raise unless an interpreted kernel calls a function of groups with one."""
    _item(name)
    if not isinstance(group, (Group, SubGroup)):
        raise TypeError(f"{name}: a group is expected, of item.get_group() or item.get_sub_group(), not {type(group).__name__}")


@device_only("local_array")
def local_array(shape: Any, dtype: Any = np.float64) -> Any:
    """Memory that the items of a group share; in kernels over an `NdRange`.

    Parameters
    ----------
    shape : int or tuple of int
        Constants, or parameters annotated as `Const`.
    dtype : DTypeLike, optional
        Of the elements; or a struct, or a value whose type is meant, which may be a tuple. Default: float64.

    Returns
    -------
    Array
        Not initialised. Of structs and tuples: indexed as one array of them.

    See Also
    --------
    LocalAccessor, private_array, group_barrier

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def reverse(item: pp.NdItem, x):
    ...     i, j = item.get_global_id(0), item.get_local_id(0)
    ...     shared = pp.local_array(3, "int64")
    ...     shared[j] = x[i]
    ...     pp.group_barrier()
    ...     x[i] = shared[2 - j]
    >>> x = pp.arange(6)
    >>> reverse[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([2, 1, 0, 5, 4, 3])
    """
    return _item("local_array").local_array(shape, dtype)


@device_only("private_array")
def private_array(shape: Any, dtype: Any = np.float64) -> Any:
    """Memory of one item alone; in kernels.

    Parameters
    ----------
    shape : int or tuple of int
        Constants, or parameters annotated as `Const`.
    dtype : DTypeLike, optional
        Of the elements; or a struct, or a value whose type is meant, which may be a tuple. Default: float64.

    Returns
    -------
    Array
        Not initialised. Of structs and tuples: indexed as one array of them.

    See Also
    --------
    local_array

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def digits(item: pp.Item, x):
    ...     i = item.get_id(0)
    ...     digit = pp.private_array(2, "int64")
    ...     digit[0], digit[1] = x[i] // 10, x[i] % 10
    ...     x[i] = 10 * digit[1] + digit[0]
    >>> x = pp.asarray([12, 34, 56])
    >>> digits[pp.Range(3)](x).wait()
    >>> x
    array([21, 43, 65])
    """
    return _item("private_array").private_array(shape, dtype)


@device_only("shuffle")
def shuffle(sub_group: Any, value: Any, item: Any) -> Any:
    """Take the value of the item of that index in the sub-group; it must exist."""
    return _item("shuffle").shuffle(sub_group, value, item)


@device_only("is_sub_group")
def is_sub_group(group: Any) -> bool:
    """Tell a `SubGroup` from a `Group`, before the kernel runs."""
    check_group("is_sub_group", group)
    return isinstance(group, SubGroup)


@device_only("group_barrier")
def group_barrier(group: Any = None) -> None:
    """Wait until all items of the group have come here, and see what each other has written; in kernels over an `NdRange`.

    Parameters
    ----------
    group : Group or SubGroup, optional
        What ``item.get_group()`` gives; there is one alone. A `SubGroup` waits for the whole group too.

    See Also
    --------
    local_array, Group

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def swap(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     shared = pp.local_array(2, "int64")
    ...     shared[item.get_local_id(0)] = x[i]
    ...     pp.group_barrier(item.get_group())
    ...     x[i] = shared[1 - item.get_local_id(0)]
    >>> x = pp.arange(4)
    >>> swap[pp.NdRange(4, 2)](x).wait()
    >>> x
    array([1, 0, 3, 2])
    """
    _item("group_barrier").barrier()


def _position(name: str, place: str, summary: str, returns: str, shown: str) -> Callable[..., int]:
    """A function of OpenCL C that says where an item is; `place` is what interpreted items call it, `shown` what six items get."""

    def position(dimension: int | None = None) -> int:
        number: int = _item(name).at(place, name, dimension)
        return number

    position.__name__ = position.__qualname__ = name
    position.__doc__ = f"""{summary}, as in OpenCL C.

    Parameters
    ----------
    dimension : int, optional
        A constant, from 0. It may be left out where there is one alone.

    Returns
    -------
    int
        {returns}

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def k(x):
    ...     x[pp.get_global_id(0)] = pp.{name}(0)
    >>> x = pp.zeros(6, dtype="int32")
    >>> k[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([{shown}], dtype=int32)
    """
    marked: Callable[..., int] = mark(position, name)
    return marked


IN_GROUPS = "in kernels over an `NdRange`"
get_global_id = _position("get_global_id", "global_id", "Index of this item in the range; in kernels", "From 0.", "0, 1, 2, 3, 4, 5")
get_local_id = _position("get_local_id", "local_id", f"Index of this item in its group; {IN_GROUPS}", "From 0.", "0, 1, 2, 0, 1, 2")
get_group_id = _position("get_group_id", "group_id", f"Index of this item's group; {IN_GROUPS}", "From 0.", "0, 0, 0, 1, 1, 1")
get_global_size = _position("get_global_size", "global_range", "Items in the range; in kernels", "Of all groups.", "6, 6, 6, 6, 6, 6")
get_local_size = _position(
    "get_local_size", "local_range", f"Items in a group; {IN_GROUPS}", "Known before the kernel runs.", "3, 3, 3, 3, 3, 3"
)
get_num_groups = _position("get_num_groups", "group_range", f"Groups in the range; {IN_GROUPS}", "In this dimension.", "2, 2, 2, 2, 2, 2")


publish_module(globals(), "pardo")
