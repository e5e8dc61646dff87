# python/pardo/_vulkan/turns.py: the time in which pardo alone uses memory that is Vulkan's too.
from __future__ import annotations

from types import TracebackType
from typing import Any

from pardo import _core
from pardo._core import Array
from pardo._vulkan import memory

_taken: set[int] = set()  # identities of what is shown in a turn


class turn:  # noqa: N801
    """The time of a `with` block in which pardo alone uses arrays whose memory is Vulkan's too.

    Elsewhere an operation on such an array runs, and is waited for, when it is written down. In the block work with them is recorded,
    fused and submitted as with other arrays. At its end what is pending is submitted, and all of it is waited for.

    Parameters
    ----------
    *arrays : Array
        That `empty` or `from_handle` made, and views of them.

    Raises
    ------
    RuntimeError
        When the block begins: an array is in another block, or the block has begun already.
    TypeError
        No array is given, or something else.
    ValueError
        The memory of an array is not Vulkan's too; or arrays of two calls of `from_handle` are the same memory.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.vulkan.empty(1000, device="cpu")
    >>> with pp.vulkan.turn(x):
    ...     x[...] = pp.sqrt(pp.arange(1000.0) + 1)
    >>> float(x[3])
    2.0
    """

    def __init__(self, *arrays: Array) -> None:
        op_name = "vulkan.turn"
        if not arrays:
            raise TypeError(f"{op_name}: expected arrays of pp.vulkan.empty or pp.vulkan.from_handle")
        self._parts: dict[int, tuple[Array, memory.Shown]] = {}
        for x in arrays:
            plain: Any = getattr(x, "_memory", x)
            if not isinstance(plain, Array):
                raise TypeError(f"{op_name}: expected arrays, not {type(x).__name__}")
            if x.size == 0:
                continue
            shown, _ = memory.find(plain, op_name)
            self._parts.setdefault(id(shown), (plain, shown))
        self._inside = False

    def __enter__(self) -> None:
        op_name = "vulkan.turn"
        if self._inside or any(key in _taken for key in self._parts):
            raise RuntimeError(f"{op_name}: an array is in another block already; end that first")
        if any(memory.shown_elsewhere(shown) for _, shown in self._parts.values()):
            raise ValueError(f"{op_name}: arrays of another call are the same memory; keep one of them, and take views of it")
        _taken.update(self._parts)
        self._inside = True
        for x, _ in self._parts.values():
            _core._take_memory(x)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None) -> None:
        if not self._inside:
            raise RuntimeError("vulkan.turn: the block has not begun")
        self._inside = False
        try:
            for x, _ in self._parts.values():
                _core._leave_memory(x)
        finally:
            _taken.difference_update(self._parts)
        for x, _ in self._parts.values():
            _core._finish_memory(x)
