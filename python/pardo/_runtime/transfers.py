# python/pardo/_runtime/transfers.py: copies between the host and devices that no call asks for by name: watched, refused, or allowed.
from __future__ import annotations

import contextlib
import contextvars
import os
from typing import Any

from pardo import _core
from pardo._base.forks import held_lock
from pardo._base.package import users_line
from pardo._base.sizes import with_bytes
from pardo._base.undisturbed import Undisturbed

__all__ = ["allow_implicit_copies", "transfer_guard"]

_MODES = ("allow", "log", "disallow")
_VARIABLE = "PARDO_TRANSFER_GUARD"
_FLAG = "PARDO_IMPLICIT_COPIES"
_WORDS = {"": False, "0": False, "off": False, "false": False, "no": False, "1": True, "on": True, "true": True, "yes": True}

# What the contexts that are entered say, the innermost last.
_modes: contextvars.ContextVar[tuple[str, ...]] = contextvars.ContextVar("pardo.transfer_guards", default=())
_copies: contextvars.ContextVar[tuple[bool, ...]] = contextvars.ContextVar("pardo.implicit_copies", default=())


class transfer_guard(contextlib.ContextDecorator):  # noqa: N801 (used like a function)
    """Allow, log or forbid implicit copies between the host and devices inside of a `with` block.

    Lists, NumPy arrays and other values of the host are copied to the device of the arrays that they meet, once a call; so are 0-d arrays
    of the CPU. Functions for which a device has no code copy their operands to the host, and results back. These copies are implicit: none
    is asked for by name, as `asarray` and `asnumpy` do, which a guard lets pass.

    Parameters
    ----------
    mode : {'allow', 'log', 'disallow'}
        What happens at such a copy: nothing; a warning of the logger ``pardo`` with the line of Python, the function and the bytes (of
        its operands, where it computes on the host); or ExecutionPlacementError with the same.

    Returns
    -------
    context manager
        It holds for this thread or task of asyncio, and can be entered again, also inside of itself. It decorates functions too.

    Raises
    ------
    TypeError
        `mode` is not a string.
    ValueError
        `mode` is something else.

    See Also
    --------
    allow_implicit_copies, counters, asarray, asnumpy

    Notes
    -----
    Outside of all contexts the environment variable ``PARDO_TRANSFER_GUARD`` says what holds; without it copies are allowed. All are
    counted: see `counters`, entries ``copies`` and ``copied_bytes``. Python's numbers and NumPy's scalars are arguments of kernels and no
    copies.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> x = pp.arange(3.0)
    >>> x + np.ones(3)
    array([1., 2., 3.])
    >>> with pp.transfer_guard("disallow"):
    ...     try:
    ...         y = x + np.ones(3)
    ...     except pp.ExecutionPlacementError as e:
    ...         print(str(e)[:27])
    add: would copy 24 bytes of
    """

    def __init__(self, mode: str) -> None:
        if not isinstance(mode, str):
            raise TypeError(f"transfer_guard: mode must be one of {', '.join(map(repr, _MODES))}, not {type(mode).__name__}")
        if mode not in _MODES:
            raise ValueError(f"transfer_guard: mode is {mode!r}; it must be one of {', '.join(map(repr, _MODES))}")
        self._mode = mode

    def __enter__(self) -> None:
        _core._install({"transfer_guard": _noted})
        _modes.set((*_modes.get(), self._mode))

    def __exit__(self, *exception: object) -> None:
        _modes.set(_modes.get()[:-1])


class allow_implicit_copies(contextlib.ContextDecorator):  # noqa: N801 (used like a function)
    """Let `numpy.asarray` copy arrays from devices whose memory the host cannot read, inside of a `with` block.

    Libraries that know NumPy alone, such as those that plot, convert what they get with `numpy.asarray`. That is a view without a copy on
    the CPU, and a TypeError elsewhere, unless it is allowed here.

    Parameters
    ----------
    allowed : bool
        False forbids them again inside of an outer context.

    Returns
    -------
    context manager
        It holds for this thread or task of asyncio, and can be entered again, also inside of itself. It decorates functions too.

    Raises
    ------
    TypeError
        `allowed` is not a bool.

    See Also
    --------
    asnumpy, transfer_guard, counters

    Notes
    -----
    The environment variable ``PARDO_IMPLICIT_COPIES=1`` allows them everywhere. Each copy is counted (`counters`), and `transfer_guard`
    sees it.

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> x = pp.arange(3.0)
    >>> with pp.allow_implicit_copies():
    ...     y = np.asarray(x)
    >>> y
    array([0., 1., 2.])
    """

    def __init__(self, allowed: bool = True) -> None:
        if not isinstance(allowed, bool):
            raise TypeError(f"allow_implicit_copies: allowed must be True or False, not {type(allowed).__name__}")
        self._allowed = allowed

    def __enter__(self) -> None:
        _copies.set((*_copies.get(), self._allowed))

    def __exit__(self, *exception: object) -> None:
        _copies.set(_copies.get()[:-1])


def implicit_copies_allowed() -> bool:
    """Whether NumPy's conversions may copy from a device."""
    entered = _copies.get()
    if entered:
        return entered[-1]
    word = os.environ.get(_FLAG, "").lower()
    if word not in _WORDS:
        raise ValueError(f"{_FLAG}={word}: expected 1, on, true, yes, or 0, off, false, no")
    return _WORDS[word]


def _mode_now() -> str:
    entered = _modes.get()
    if entered:
        return entered[-1]
    mode = os.environ.get(_VARIABLE, "").lower() or "allow"
    if mode not in _MODES:
        raise ValueError(f"{_VARIABLE}={mode}: expected {', '.join(_MODES[:-1])} or {_MODES[-1]}")
    return mode


def _noted(op_name: str, nbytes: int, device: str, to_device: bool, without: str | None = None) -> None:
    """What the core calls before it copies; nothing is called as long as there is no guard. `without`: of a routine for which the device
    has no code, why faster ones are not taken."""
    mode = _mode_now()
    if mode == "allow":
        return
    way = f"of the host to {device}" if to_device else f"from {device} to the host"
    if mode == "log":
        with Undisturbed():
            import logging  # not before it is needed: it takes a tenth of the time of `import pardo`

        logging.getLogger("pardo").warning("%s: copies %d bytes %s, at %s%s", op_name, nbytes, way, users_line(), _reason(device, without))
        return
    if without is not None:
        remedy = f'move operands by name with x.to_device("cpu"){_reason(device, without)}'
    else:
        remedy = "copy by name with " + (f'pardo.asarray(X, device="{device}")' if to_device else "pardo.asnumpy(x)")
    raise _core.ExecutionPlacementError(
        f"{op_name}: would copy {with_bytes(nbytes)} {way}, at {users_line()}; transfer_guard forbids implicit copies: {remedy}"
    )


def note_copy(op_name: str, nbytes: int, device: str, to_device: bool) -> None:
    """What is called before a copy that no call asks for by name: the guard is asked."""
    _noted(op_name, nbytes, device, to_device)


def _reason(device: str, without: str | None) -> str:
    if without is None:
        return ""
    return f"; {device} has no code for this" + (f" ({without})" if without else "")


_counted = [0]  # copies between devices that no call asks for by name
_counting = held_lock()


def note_between(op_name: str, nbytes: int, source: str, target: str) -> None:
    """What is called before an implicit copy from a device to another: it is counted, and the guard asked."""
    mode = _mode_now()
    if mode == "disallow":
        raise _core.ExecutionPlacementError(
            f"{op_name}: would copy {with_bytes(nbytes)} from {source} to {target}, at {users_line()}; transfer_guard forbids implicit "
            "copies: move operands by name, with pardo.shard(x, s.device), s.reshard(axis, bounds=t.bounds) or x.to_device(device)"
        )
    if mode == "log":
        with Undisturbed():
            import logging

        logging.getLogger("pardo").warning("%s: copies %d bytes from %s to %s, at %s", op_name, nbytes, source, target, users_line())
    with _counting:
        _counted[0] += 1


def copies_between() -> int:
    """How many there were."""
    return _counted[0]


def begin() -> None:
    """Lets the core ask from the start on if the environment says so."""
    watcher: Any = _noted if os.environ.get(_VARIABLE) else None
    _core._install({"transfer_guard": watcher})
