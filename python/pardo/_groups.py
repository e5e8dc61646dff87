# python/pardo/_groups.py: what the items of a group do together; written in the kernel language.
from __future__ import annotations

from typing import Any

from pardo._items import group_barrier, local_array

__all__ = [
    "all_of_group",
    "any_of_group",
    "exclusive_scan_over_group",
    "group_broadcast",
    "inclusive_scan_over_group",
    "none_of_group",
    "reduce_over_group",
]


def group_broadcast(group: Any, value: Any, item: Any = 0) -> Any:
    """Give all items of the group the value of one; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group
        What ``item.get_group()`` gives.
    value : number, tuple or struct
        Of this item.
    item : int, optional
        Linear index in the group of the item whose value is taken. Default: 0.

    Returns
    -------
    number, tuple or struct
        The same for all items.
    """
    shared = local_array(1, value)
    if group.get_local_linear_id() == item:
        shared[0] = value
    group_barrier(group)
    result = shared[0]
    group_barrier(group)
    return result


def reduce_over_group(group: Any, value: Any, combine: Any) -> Any:
    """Combine the values of all items of the group; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group
        What ``item.get_group()`` gives.
    value : number, tuple or struct
        Of this item.
    combine : callable
        Takes two values and gives one; associative. ``operator.add``, ``min``, ``max`` and functions of your own.

    Returns
    -------
    number, tuple or struct
        The same for all items. Values are combined in the order of the items.
    """
    count = group.get_local_linear_range()
    place = group.get_local_linear_id()
    shared = local_array(count, value)
    shared[place] = value
    group_barrier(group)
    step = 1
    while step < count:
        if place % (2 * step) == 0 and place + step < count:
            shared[place] = combine(shared[place], shared[place + step])
        group_barrier(group)
        step *= 2
    result = shared[0]
    group_barrier(group)
    return result


def inclusive_scan_over_group(group: Any, value: Any, combine: Any) -> Any:
    """Combine the values of all items up to this one; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group
        What ``item.get_group()`` gives.
    value : number, tuple or struct
        Of this item.
    combine : callable
        Takes two values and gives one; associative.

    Returns
    -------
    number, tuple or struct
        Of the items before this one and of itself, in their order.
    """
    count = group.get_local_linear_range()
    place = group.get_local_linear_id()
    shared = local_array(count, value)
    shared[place] = value
    group_barrier(group)
    step = 1
    while step < count:
        total = shared[place]
        if place >= step:
            total = combine(shared[place - step], total)
        group_barrier(group)
        shared[place] = total
        group_barrier(group)
        step *= 2
    result = shared[place]
    group_barrier(group)
    return result


def exclusive_scan_over_group(group: Any, value: Any, combine: Any, initial: Any) -> Any:
    """Combine the values of all items before this one; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group
        What ``item.get_group()`` gives.
    value : number, tuple or struct
        Of this item.
    combine : callable
        Takes two values and gives one; associative.
    initial : number, tuple or struct
        What the first item gets; for the others it stands before the first value.

    Returns
    -------
    number, tuple or struct
        Of the items before this one, in their order.
    """
    count = group.get_local_linear_range()
    place = group.get_local_linear_id()
    total = inclusive_scan_over_group(group, value, combine)
    shared = local_array(count + 1, value)
    shared[place + 1] = combine(initial, total)
    if place == 0:
        shared[0] = initial
    group_barrier(group)
    result = shared[place]
    group_barrier(group)
    return result


def _either(a: Any, b: Any) -> Any:
    return a or b


def any_of_group(group: Any, value: Any) -> Any:
    """Tell whether the value of any item of the group is true; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group
        What ``item.get_group()`` gives.
    value : number
        Of this item.

    Returns
    -------
    bool
        The same for all items.
    """
    return reduce_over_group(group, bool(value), _either)


def none_of_group(group: Any, value: Any) -> Any:
    """Tell whether the values of all items of the group are false; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group
        What ``item.get_group()`` gives.
    value : number
        Of this item.

    Returns
    -------
    bool
        The same for all items.
    """
    return not any_of_group(group, value)


def all_of_group(group: Any, value: Any) -> Any:
    """Tell whether the values of all items of the group are true; in kernels over an `NdRange`, called by all of its items.

    Parameters
    ----------
    group : Group
        What ``item.get_group()`` gives.
    value : number
        Of this item.

    Returns
    -------
    bool
        The same for all items.
    """
    return not any_of_group(group, not value)
