# python/pardo/compat/numba_dpex/kernel_api/__init__.py: what numba-dpex's kernels are written with.
"""What kernels are written with, by numba-dpex's names, which are SYCL's; `call_kernel` runs a plain function as Python, item by item."""

from __future__ import annotations

import functools
from typing import Any

import pardo as _pp
from pardo import Group, Item, NdItem, NdRange, Range
from pardo._extending import KernelFunction, publish_module
from pardo.compat._names import missing
from pardo.compat.numba_dpex.kernel_api.flag_enum import FlagEnum

__all__ = [
    "AddressSpace",
    "AtomicRef",
    "Group",
    "Item",
    "LocalAccessor",
    "MemoryOrder",
    "MemoryScope",
    "NdItem",
    "NdRange",
    "PrivateArray",
    "Range",
    "atomic_fence",
    "call_kernel",
    "group_barrier",
]


class MemoryOrder(FlagEnum):
    """What other memory an atomic operation orders, by SYCL's numbers."""

    RELAXED = 0
    ACQUIRE = 1
    CONSUME_UNSUPPORTED = 2
    RELEASE = 3
    ACQ_REL = 4
    SEQ_CST = 5


class MemoryScope(FlagEnum):
    """Which items see an atomic operation as one step, by SYCL's numbers."""

    WORK_ITEM = 0
    SUB_GROUP = 1
    WORK_GROUP = 2
    DEVICE = 3
    SYSTEM = 4


class AddressSpace(FlagEnum):
    """Kinds of memory, by SYCL's numbers."""

    PRIVATE = 0
    GLOBAL = 1
    CONSTANT = 2
    LOCAL = 3
    GENERIC = 4


class LocalAccessor(_pp.LocalAccessor):
    """Memory of a group: ``LocalAccessor(shape, dtype)``. Outside of kernels it holds nothing.

    Examples
    --------
    >>> from pardo.compat.numba_dpex import kernel_api as kapi
    >>> kapi.LocalAccessor(16, "float32")
    LocalAccessor((16,), float32)
    """

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        raise NotImplementedError("LocalAccessor: it has elements in kernels only")

    def __setitem__(self, index: Any, value: Any) -> None:
        raise NotImplementedError("LocalAccessor: it has elements in kernels only")


# Those below are written in the kernel language, and are what kernels call as well as what Python calls.


def AtomicRef(  # noqa: N802 (numba-dpex's name)
    ref: Any,
    index: Any,
    memory_order: Any = MemoryOrder.RELAXED,
    memory_scope: Any = MemoryScope.DEVICE,
    address_space: Any = None,
) -> Any:
    """Give an element that is changed in single steps: `pardo.AtomicRef`, with SYCL's numbers for order and scope.

    The memory is found by `ref`; `address_space` is not looked at.
    """
    return _pp.AtomicRef(ref, index, order=memory_order, scope=memory_scope)


def atomic_fence(memory_order: Any, memory_scope: Any) -> None:
    """Order what the item does with memory: `pardo.atomic_fence`, with SYCL's numbers."""
    _pp.atomic_fence(memory_order, memory_scope)


def group_barrier(group: Any, fence_scope: Any = MemoryScope.WORK_GROUP) -> None:
    """Wait for all items of the group: `pardo.group_barrier`; with a scope beyond the group, memory is ordered for its items too."""
    if fence_scope >= MemoryScope.DEVICE:
        _pp.atomic_fence(MemoryOrder.ACQ_REL, fence_scope)
    _pp.group_barrier(group)


def PrivateArray(shape: Any, dtype: Any, fill_zeros: Any = False) -> Any:  # noqa: N802 (numba-dpex's name)
    """Give memory of one item alone: `pardo.private_array`; with `fill_zeros` it begins as zeros."""
    made = _pp.private_array(shape, dtype)
    if fill_zeros:
        made[...] = 0
    return made


@functools.lru_cache(maxsize=256)
def _kernel(function: Any) -> KernelFunction[...]:
    return function if isinstance(function, KernelFunction) else _pp.kernel(function)


def call_kernel(kernel_fn: Any, index_space: Any, *kernel_args: Any) -> None:
    """Run a function as plain Python for all items, one after the other: `interpret` of a kernel.

    Parameters
    ----------
    kernel_fn : callable
        A plain function, or a kernel.
    index_space : Range or NdRange
        The items.
    *kernel_args
        Arrays of NumPy's or pardo's, numbers, `LocalAccessor`.

    Examples
    --------
    >>> import numpy as np
    >>> from pardo.compat.numba_dpex import kernel_api as kapi
    >>> def double(item: kapi.Item, x):
    ...     x[item.get_id(0)] *= 2
    >>> x = np.arange(3)
    >>> kapi.call_kernel(double, kapi.Range(3), x)
    >>> x
    array([0, 2, 4])
    """
    _kernel(kernel_fn)[index_space].interpret(*kernel_args)


def __getattr__(name: str) -> Any:
    """Say what to use in place of a name that is not here."""
    raise missing(__name__, name, {}, "numba-dpex has no such name; see the functions of kernels in pardo")


publish_module(globals())
