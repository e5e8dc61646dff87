# python/pardo/_language/atomics.py: elements that are changed in single steps.
from __future__ import annotations

import types
from typing import Any

from pardo._base.public_names import publish_module
from pardo._compiler import intrinsics
from pardo._language.index_space import _item

__all__ = ["AtomicRef", "atomic"]

ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
SCOPES = ("work_group", "device", "system")


def _check_ordering(op_name: str, order: str, scope: str) -> None:
    for name, value, words in (("order", order, ORDERS), ("scope", scope, SCOPES)):
        if value not in words:
            raise ValueError(f"{op_name}: {name} is one of {', '.join(map(repr, words))}, not {value!r}")


def _atomic(name: str, summary: str, shown: int) -> Any:
    def operation(array: Any, index: Any, value: Any, *, order: str = "relaxed", scope: str = "device") -> Any:
        _check_ordering(f"atomic.{name}", order, scope)
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
    scope : {{'work_group', 'device', 'system'}}, optional
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
    _check_ordering("atomic.compare_exchange", order, scope)
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


class AtomicRef:
    """An element that is changed in single steps, as SYCL's `atomic_ref`; in kernels.

    It has ``load()``, ``store(x)``, ``exchange(x)``, ``compare_exchange(expected, desired)``, ``fetch_add(x)``, ``fetch_sub(x)``,
    ``fetch_min(x)``, ``fetch_max(x)``, ``fetch_and(x)``, ``fetch_or(x)`` and ``fetch_xor(x)``; those that change the element give what
    was there before.

    Parameters
    ----------
    array : Array
        Of int32, uint32, int64, uint64, float32 or float64.
    index : int or tuple of int
        The element.
    order : {'relaxed', 'acquire', 'release', 'acq_rel', 'seq_cst'}, optional
        What other memory of the item must be seen before and after each step. Default: 'relaxed'.
    scope : {'work_group', 'device', 'system'}, optional
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

    def __init__(self, array: Any, index: Any, *, order: str = "relaxed", scope: str = "device") -> None:
        _check_ordering("AtomicRef", order, scope)
        _item("AtomicRef")
        self._array, self._index, self._order, self._scope = array, index, order, scope

    def _step(self, name: str, *values: Any) -> Any:
        return _item("AtomicRef").atomic(name, self._array, self._index, *values, order=self._order, scope=self._scope)

    def load(self) -> Any:
        """Read the element."""
        return self._step("load", 0)

    def store(self, value: Any) -> None:
        """Write the element."""
        self._step("store", value)

    def exchange(self, value: Any) -> Any:
        """Write the element; returns the old value."""
        return self._step("exchange", value)

    def compare_exchange(self, expected: Any, desired: Any) -> Any:
        """Store `desired` if the element equals `expected`, to the bit; returns the old value."""
        return self._step("compare_exchange", expected, desired)

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
