# python/pardo/_language/groups.py: what the items of a group do together; written in the kernel language.
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from pardo._base.public_names import publish_module
from pardo._language.index_space import check_group, group_barrier, is_sub_group, local_array, private_array, shuffle

__all__ = [
    "all_of_group",
    "any_of_group",
    "exclusive_scan_over_group",
    "group_broadcast",
    "inclusive_scan_over_group",
    "none_of_group",
    "permute_group_by_xor",
    "reduce_over_group",
    "select_from_group",
    "shift_group_left",
    "shift_group_right",
]


F = TypeVar("F", bound=Callable[..., Any])


def _of_groups(function: F) -> F:
    """Says by the function's name what is wrong where Python calls it; kernels are made from the function itself."""

    @functools.wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        check_group(function.__name__, arguments[0] if arguments else keywords.get("group"))
        return function(*arguments, **keywords)

    checked._pardo_function = function  # type: ignore[attr-defined]
    return checked  # type: ignore[return-value]


@_of_groups
def group_broadcast(group: Any, value: Any, item: Any = 0) -> Any:
    """Broadcast the value of one item to all items of the group; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group or SubGroup
        What ``item.get_group()`` or ``item.get_sub_group()`` gives.
    value : number, tuple or struct
        Of this item.
    item : int, optional
        Linear index in the group of the item whose value is taken. Default: 0.

    Returns
    -------
    number, tuple or struct
        The same for all items.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def last(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.group_broadcast(item.get_group(), x[i], 2)
    >>> x = pp.arange(1, 7)
    >>> last[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([3, 3, 3, 6, 6, 6])
    """
    if is_sub_group(group):
        result = select_from_group(group, value, item)
    else:
        shared = local_array(1, value)
        if group.get_local_linear_id() == item:
            shared[0] = value
        group_barrier(group)
        result = shared[0]
        group_barrier(group)
    return result


def reduce_tree(group: Any, shared: Any, place: Any, count: Any, most: Any, combine: Any) -> None:
    """Combine the first `count` elements, of at most `most`, into the first; the items have come to a barrier before."""
    step = 1
    while step < most:
        if place % (2 * step) == 0 and place + step < count:
            shared[place] = combine(shared[place], shared[place + step])
        group_barrier(group)
        step *= 2


def scan_tree(group: Any, shared: Any, place: Any, count: Any, most: Any, combine: Any) -> None:
    """Combine each of the first `count` elements, of at most `most`, with all before it; the items have come to a barrier before."""
    step = 1
    while step < most:
        total = shared[place]
        if place >= step and place < count:
            total = combine(shared[place - step], total)
        group_barrier(group)
        shared[place] = total
        group_barrier(group)
        step *= 2


def _reduced_by_shuffles(group: Any, value: Any, combine: Any) -> Any:
    place = group.get_local_id()
    total = private_array(1, value)
    total[0] = value
    step = 1
    while step < group.get_max_local_range():
        other = select_from_group(group, total[0], place + step)
        if place + step < group.get_local_range():
            total[0] = combine(total[0], other)
        step *= 2
    return shuffle(group, total[0], 0)


def _scanned_by_shuffles(group: Any, value: Any, combine: Any) -> Any:
    place = group.get_local_id()
    total = private_array(1, value)
    total[0] = value
    step = 1
    while step < group.get_max_local_range():
        other = select_from_group(group, total[0], place - step)
        if place >= step:
            total[0] = combine(other, total[0])
        step *= 2
    return total[0]


@_of_groups
def reduce_over_group(group: Any, value: Any, combine: Any) -> Any:
    """Combine the values of all items of the group; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group or SubGroup
        What ``item.get_group()`` or ``item.get_sub_group()`` gives.
    value : number, tuple or struct
        Of this item.
    combine : callable
        Takes two values and gives one; associative. ``operator.add``, ``min``, ``max`` and functions of your own.

    Returns
    -------
    number, tuple or struct
        The same for all items. Values are combined in the order of the items.

    See Also
    --------
    inclusive_scan_over_group, any_of_group

    Examples
    --------
    >>> import pardo as pp
    >>> import operator
    >>> @pp.kernel
    ... def sums(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.reduce_over_group(item.get_group(), x[i], operator.add)
    >>> x = pp.arange(1, 7)
    >>> sums[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([ 6,  6,  6, 15, 15, 15])
    """
    if is_sub_group(group):
        result = _reduced_by_shuffles(group, value, combine)
    else:
        count = group.get_local_linear_range()
        place = group.get_local_linear_id()
        shared = local_array(count, value)
        shared[place] = value
        group_barrier(group)
        reduce_tree(group, shared, place, count, count, combine)
        result = shared[0]
        group_barrier(group)
    return result


@_of_groups
def inclusive_scan_over_group(group: Any, value: Any, combine: Any) -> Any:
    """Combine the values of all items up to this one; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group or SubGroup
        What ``item.get_group()`` or ``item.get_sub_group()`` gives.
    value : number, tuple or struct
        Of this item.
    combine : callable
        Takes two values and gives one; associative.

    Returns
    -------
    number, tuple or struct
        Of the items before this one and of itself, in their order.

    See Also
    --------
    exclusive_scan_over_group, reduce_over_group

    Examples
    --------
    >>> import pardo as pp
    >>> import operator
    >>> @pp.kernel
    ... def sums(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.inclusive_scan_over_group(item.get_group(), x[i], operator.add)
    >>> x = pp.arange(1, 7)
    >>> sums[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([ 1,  3,  6,  4,  9, 15])
    """
    if is_sub_group(group):
        result = _scanned_by_shuffles(group, value, combine)
    else:
        count = group.get_local_linear_range()
        place = group.get_local_linear_id()
        shared = local_array(count, value)
        shared[place] = value
        group_barrier(group)
        scan_tree(group, shared, place, count, count, combine)
        result = shared[place]
        group_barrier(group)
    return result


@_of_groups
def exclusive_scan_over_group(group: Any, value: Any, combine: Any, initial: Any) -> Any:
    """Combine the values of all items before this one; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group or SubGroup
        What ``item.get_group()`` or ``item.get_sub_group()`` gives.
    value : number, tuple or struct
        Of this item.
    combine : callable
        Takes two values and gives one; associative.
    initial : number, tuple or struct
        What the first item gets; for the others it is combined before the first value.

    Returns
    -------
    number, tuple or struct
        Of the items before this one, in their order.

    See Also
    --------
    inclusive_scan_over_group, reduce_over_group

    Examples
    --------
    >>> import pardo as pp
    >>> import operator
    >>> @pp.kernel
    ... def sums(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.exclusive_scan_over_group(item.get_group(), x[i], operator.add, 0)
    >>> x = pp.arange(1, 7)
    >>> sums[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([0, 1, 3, 0, 4, 9])
    """
    place = group.get_local_linear_id()
    total = inclusive_scan_over_group(group, value, combine)
    own = private_array(1, value)
    own[0] = initial
    if is_sub_group(group):
        before = select_from_group(group, total, place - 1)
    else:
        shared = local_array(group.get_local_linear_range(), value)
        shared[place] = total
        group_barrier(group)
        before = shared[max(place - 1, 0)]
        group_barrier(group)
    if place > 0:
        own[0] = combine(initial, before)
    return own[0]


def _either(a: Any, b: Any) -> Any:
    return a or b


@_of_groups
def any_of_group(group: Any, value: Any) -> Any:
    """Test whether the value of any item of the group is true; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group or SubGroup
        What ``item.get_group()`` or ``item.get_sub_group()`` gives.
    value : number
        Of this item.

    Returns
    -------
    bool
        The same for all items.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def large(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.any_of_group(item.get_group(), x[i] > 5)
    >>> x = pp.arange(1, 7)
    >>> large[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([0, 0, 0, 1, 1, 1])
    """
    return reduce_over_group(group, bool(value), _either)


@_of_groups
def none_of_group(group: Any, value: Any) -> Any:
    """Test whether the values of all items of the group are false; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group or SubGroup
        What ``item.get_group()`` or ``item.get_sub_group()`` gives.
    value : number
        Of this item.

    Returns
    -------
    bool
        The same for all items.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def small(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.none_of_group(item.get_group(), x[i] > 5)
    >>> x = pp.arange(1, 7)
    >>> small[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([1, 1, 1, 0, 0, 0])
    """
    return not any_of_group(group, value)


@_of_groups
def all_of_group(group: Any, value: Any) -> Any:
    """Test whether the values of all items of the group are true; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group or SubGroup
        What ``item.get_group()`` or ``item.get_sub_group()`` gives.
    value : number
        Of this item.

    Returns
    -------
    bool
        The same for all items.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def large(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.all_of_group(item.get_group(), x[i] > 3)
    >>> x = pp.arange(1, 7)
    >>> large[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([0, 0, 0, 1, 1, 1])
    """
    return not any_of_group(group, not value)


@_of_groups
def select_from_group(group: Any, value: Any, item: Any) -> Any:
    """Take the value of another item of the sub-group; in kernels over an `NdRange`, called by all items of the group.

    Parameters
    ----------
    group : SubGroup
        What ``item.get_sub_group()`` gives.
    value : number, tuple or struct
        Of this item.
    item : int
        Which item's value is taken, by its ``get_local_id()``; each item may say another.

    Returns
    -------
    number, tuple or struct
        Of that item; where the sub-group has no such item, the item's own.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def second(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.select_from_group(item.get_sub_group(), x[i], 1)
    >>> x = pp.arange(1, 7)
    >>> second[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([2, 2, 2, 5, 5, 5])
    """
    there = item >= 0 and item < group.get_local_range()
    return shuffle(group, value, item if there else group.get_local_id())


@_of_groups
def shift_group_left(group: Any, value: Any, delta: Any = 1) -> Any:
    """Take the value of the item `delta` places further in the sub-group; in kernels over an `NdRange`, called by all items of the group.

    Parameters
    ----------
    group : SubGroup
        What ``item.get_sub_group()`` gives.
    value : number, tuple or struct
        Of this item.
    delta : int, optional
        Default: 1.

    Returns
    -------
    number, tuple or struct
        Of that item; where the sub-group has no such item, the item's own.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def shift(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.shift_group_left(item.get_sub_group(), x[i])
    >>> x = pp.arange(1, 7)
    >>> shift[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([2, 3, 3, 5, 6, 6])
    """
    return select_from_group(group, value, group.get_local_id() + delta)


@_of_groups
def shift_group_right(group: Any, value: Any, delta: Any = 1) -> Any:
    """Take the value of the item `delta` places before in the sub-group; in kernels over an `NdRange`, called by all items of the group.

    Parameters
    ----------
    group : SubGroup
        What ``item.get_sub_group()`` gives.
    value : number, tuple or struct
        Of this item.
    delta : int, optional
        Default: 1.

    Returns
    -------
    number, tuple or struct
        Of that item; where the sub-group has no such item, the item's own.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def shift(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.shift_group_right(item.get_sub_group(), x[i])
    >>> x = pp.arange(1, 7)
    >>> shift[pp.NdRange(6, 3)](x).wait()
    >>> x
    array([1, 1, 2, 4, 4, 5])
    """
    return select_from_group(group, value, group.get_local_id() - delta)


@_of_groups
def permute_group_by_xor(group: Any, value: Any, mask: Any) -> Any:
    """Take the value of the item whose index differs by the bits of `mask`; in kernels over an `NdRange`, called by all items of the group.

    Parameters
    ----------
    group : SubGroup
        What ``item.get_sub_group()`` gives.
    value : number, tuple or struct
        Of this item.
    mask : int
        Bits of the index.

    Returns
    -------
    number, tuple or struct
        Of that item; where the sub-group has no such item, the item's own.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def swap(item: pp.NdItem, x):
    ...     i = item.get_global_id(0)
    ...     x[i] = pp.permute_group_by_xor(item.get_sub_group(), x[i], 1)
    >>> x = pp.arange(1, 7)
    >>> swap[pp.NdRange(6, 2)](x).wait()
    >>> x
    array([2, 1, 4, 3, 6, 5])
    """
    return select_from_group(group, value, group.get_local_id() ^ mask)


publish_module(globals(), "pardo")
