# python/pardo/_language/atomics.py: elements that are changed in single steps.
from __future__ import annotations

import types
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import asnumpy
from pardo._base.public_names import publish_module
from pardo._compiler import intrinsics
from pardo._language.index_space import _item, _running
from pardo._language.steps import step

__all__ = ["AtomicRef", "atomic", "atomic_fence"]

ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
SCOPES = ("work_group", "device", "system", "work_item", "sub_group")
# By SYCL's numbers: consume is acquire, and what items of less than a group see is seen by the group.
NUMBERED = {
    "order": ("relaxed", "acquire", "acquire", "release", "acq_rel", "seq_cst"),
    "scope": ("work_group", "work_group", "work_group", "device", "system"),
}
NARROWER: dict[Any, Any] = {"work_item": "work_group", "sub_group": "work_group"}


def _ordering(op_name: str, order: str | int, scope: str | int) -> tuple[str, str]:
    """The words for an order and a scope, which may be SYCL's numbers."""
    found = []
    for name, value, words in (("order", order, ORDERS), ("scope", scope, SCOPES)):
        if isinstance(value, int) and 0 <= value < len(NUMBERED[name]):
            value = NUMBERED[name][value]
        value = NARROWER.get(value, value) if isinstance(value, str) else value
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"{op_name}: {name} is one of {', '.join(map(repr, words))}, not {value!r}")
        found.append(str(value))
    return found[0], found[1]


def _atomic(name: str, summary: str, shown: int) -> Any:
    def operation(array: Any, index: Any, value: Any, *, order: str = "relaxed", scope: str = "device") -> Any:
        order, scope = _ordering(f"atomic.{name}", order, scope)
        return _item(f"atomic.{name}").atomic(name, array, index, value, order=order, scope=scope)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = f"""{summary}, as one step; in kernels.

    Parameters
    ----------
    array : Array
        Of int32, uint32, int64, uint64, float32 or float64.
    index : int or tuple of int
        The element.
    value : number
        What it is combined with.
    order : {{'relaxed', 'acquire', 'release', 'acq_rel', 'seq_cst'}}, optional
        What other memory of the item must be seen before and after it, as in SYCL. Default: 'relaxed'.
    scope : {{'work_item', 'sub_group', 'work_group', 'device', 'system'}}, optional
        The items that must see it as one step. Default: 'device'.

    Returns
    -------
    number
        What was there before.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def k(item: pp.Item, x, y):
    ...     pp.atomic.{name}(y, 0, x[item.get_id(0)])
    >>> y = pp.asarray([12])
    >>> k[pp.Range(2)](pp.asarray([10, 10]), y).wait()
    >>> y
    array([{shown}])
    """
    return intrinsics.mark(operation, f"atomic.{name}")


def _compare_exchange(array: Any, index: Any, expected: Any, desired: Any, *, order: str = "relaxed", scope: str = "device") -> Any:
    """Store `desired` if the element equals `expected`, to the bit, as one step; returns the old value. The rest as for `atomic.add`.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def k(item: pp.Item, y):
    ...     pp.atomic.compare_exchange(y, item.get_id(0), 1, 9)
    >>> y = pp.asarray([0, 1, 2])
    >>> k[pp.Range(3)](y).wait()
    >>> y
    array([0, 9, 2])
    """
    order, scope = _ordering("atomic.compare_exchange", order, scope)
    return _item("atomic.compare_exchange").atomic("compare_exchange", array, index, expected, desired, order=order, scope=scope)


atomic = types.SimpleNamespace(
    add=_atomic("add", "Add to an element", 32),
    sub=_atomic("sub", "Subtract from an element", -8),
    min=_atomic("min", "Keep the smaller", 10),
    max=_atomic("max", "Keep the greater", 12),
    and_=_atomic("and_", "Combine bits by and", 8),
    or_=_atomic("or_", "Combine bits by or", 14),
    xor=_atomic("xor", "Combine bits by exclusive or", 12),
    exchange=_atomic("exchange", "Put a value in place of another", 10),
    compare_exchange=intrinsics.mark(_compare_exchange, "atomic.compare_exchange"),
)


def atomic_fence(order: str | int = "acq_rel", scope: str | int = "device") -> None:
    """Order what this item does with memory before and after the fence, as SYCL's `atomic_fence`; in kernels.

    Parameters
    ----------
    order : {'relaxed', 'acquire', 'release', 'acq_rel', 'seq_cst'}, optional
        What may not pass it: with 'release' what was done before, with 'acquire' what is done after, with the last two both. With
        'relaxed' it does nothing. SYCL's number is taken too. Default: 'acq_rel'.
    scope : {'work_item', 'sub_group', 'work_group', 'device', 'system'}, optional
        The items that see it so; or SYCL's number. Default: 'device'.

    See Also
    --------
    group_barrier, AtomicRef

    Notes
    -----
    Items of a range may run one after the other: one that waits in a loop for another may wait for ever.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def publish(item: pp.Item, x, count):
    ...     i = item.get_id(0)
    ...     x[i] = i + 1
    ...     pp.atomic_fence("release")
    ...     if pp.AtomicRef(count, 0).fetch_add(1) == x.shape[0] - 1:  # the last one sees what all have written
    ...         pp.atomic_fence("acquire")
    ...         count[0] = x[0] + x[1] + x[2]
    >>> count = pp.zeros(1, dtype="int32")
    >>> publish[pp.Range(3)](pp.zeros(3, dtype="int32"), count).wait()
    >>> count
    array([6], dtype=int32)
    """
    _ordering("atomic_fence", order, scope)
    _item("atomic_fence")


intrinsics.mark(atomic_fence, "atomic_fence")


class AtomicRef:
    """An element that is changed in single steps, as SYCL's `atomic_ref`; in kernels.

    It has ``load()``, ``store(x)``, ``exchange(x)``, ``compare_exchange(expected, desired)``, ``fetch_add(x)``, ``fetch_sub(x)``,
    ``fetch_min(x)``, ``fetch_max(x)``, ``fetch_and(x)``, ``fetch_or(x)`` and ``fetch_xor(x)``; those that change the element give what
    was there before. ``compare_exchange(array, desired, index)`` is SYCL's: what is expected is an element of `array`, which becomes what
    was found where that is another value; it gives whether the exchange was made.

    Outside of kernels it does the same, by plain steps: so functions for kernels can be tried as Python.

    Parameters
    ----------
    array : Array
        Of int32, uint32, int64, uint64, float32 or float64.
    index : int or tuple of int
        The element.
    order : {'relaxed', 'acquire', 'release', 'acq_rel', 'seq_cst'}, optional
        What other memory of the item must be seen before and after each step. Default: 'relaxed'.
    scope : {'work_item', 'sub_group', 'work_group', 'device', 'system'}, optional
        The items that must see them as single steps. Default: 'device'.

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.kernel
    ... def count(item: pp.Item, x, bins):
    ...     pp.AtomicRef(bins, x[item.get_id(0)]).fetch_add(1)
    >>> bins = pp.zeros(3, dtype="int32")
    >>> count[pp.Range(5)](pp.asarray([0, 2, 2, 1, 2]), bins).wait()
    >>> bins
    array([1, 1, 3], dtype=int32)
    """

    __slots__ = ("_array", "_index", "_order", "_scope")

    def __init__(self, array: Any, index: Any, *, order: str | int = "relaxed", scope: str | int = "device") -> None:
        if not isinstance(array, (np.ndarray, _core.Array)):
            raise TypeError(f"AtomicRef: an array is expected, not {type(array).__name__}")
        self._order, self._scope = _ordering("AtomicRef", order, scope)
        self._array, self._index = array, index

    def _step(self, name: str, *values: Any) -> Any:
        item = _running.get()
        if item is not None:
            return item.atomic(name, self._array, self._index, *values, order=self._order, scope=self._scope)
        values = tuple(asnumpy(v)[()] if type(v) is _core.Array else v for v in values)
        if isinstance(self._array, np.ndarray):
            return step(name, self._array, self._index, *values)
        place = self._array[self._index]
        if place.ndim:
            raise TypeError(f"AtomicRef: the array has {place.ndim} dimensions more; give an index for each, as a tuple")
        element = asnumpy(place).reshape(1)
        old = step(name, element, 0, *values)
        self._array[self._index] = element[0]
        return old

    def load(self) -> Any:
        """Read the element."""
        return self._step("load", 0)

    def store(self, value: Any) -> None:
        """Write the element."""
        self._step("store", value)

    def exchange(self, value: Any) -> Any:
        """Write the element; returns the old value."""
        return self._step("exchange", value)

    def compare_exchange(
        self, expected: Any = None, desired: Any = None, index: Any = 0, *, expected_ref: Any = None, expected_idx: Any = None
    ) -> Any:
        """Store `desired` if the element equals `expected`, to the bit; returns the old value.

        Of an array the element at `index` is meant, as in SYCL: it becomes the old value; returns whether the exchange was made.
        """
        expected = expected if expected_ref is None else expected_ref
        index = index if expected_idx is None else expected_idx
        if not isinstance(expected, (np.ndarray, _core.Array)):
            return self._step("compare_exchange", expected, desired)
        wanted = np.asarray(expected[index].item(), expected.dtype)[()]
        old = self._step("compare_exchange", wanted, desired)
        expected[index] = old
        return np.asarray(old).tobytes() == wanted.tobytes()

    def fetch_add(self, value: Any) -> Any:
        """Add to the element; returns the old value."""
        return self._step("add", value)

    def fetch_sub(self, value: Any) -> Any:
        """Subtract from the element; returns the old value."""
        return self._step("sub", value)

    def fetch_min(self, value: Any) -> Any:
        """Keep the smaller; returns the old value."""
        return self._step("min", value)

    def fetch_max(self, value: Any) -> Any:
        """Keep the greater; returns the old value."""
        return self._step("max", value)

    def fetch_and(self, value: Any) -> Any:
        """Combine bits by and; returns the old value."""
        return self._step("and_", value)

    def fetch_or(self, value: Any) -> Any:
        """Combine bits by or; returns the old value."""
        return self._step("or_", value)

    def fetch_xor(self, value: Any) -> Any:
        """Combine bits by exclusive or; returns the old value."""
        return self._step("xor", value)


intrinsics.mark(AtomicRef, "AtomicRef")


publish_module(globals(), "pardo")
