# python/pardo/_runtime/float_errors.py: divisions by zero, overflows and the like: who hears of them, and how.
from __future__ import annotations

import contextlib
import contextvars
import warnings
from typing import Any

from pardo import _core
from pardo._base.public_names import publish_module

__all__ = ["errstate", "geterr", "geterrcall", "seterr", "seterrcall"]

_BITS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
_MODES = ("ignore", "warn", "raise", "call", "print", "log")
_DEFAULT = (("divide", "ignore"), ("over", "ignore"), ("under", "ignore"), ("invalid", "ignore"))

_Modes = tuple[tuple[str, str], ...]

# What holds in this thread or task: (bits watched, bits raised, modes, callback), or None where all is ignored. The core reads the bits.
_state: contextvars.ContextVar[tuple[int, int, _Modes, Any] | None] = contextvars.ContextVar("pardo.float_errors", default=None)
_entered = 0  # contexts that watch something: while there are none, operations do not look at results
_registry: dict[Any, Any] = {}  # of warnings that were shown


def _report(state: tuple[int, int, _Modes, Any], bit: int, found: int, text: str, location: str) -> None:
    """Called by the core for each event that is not raised, in the order of the operations."""
    name = next(name for name, b in _BITS.items() if b == bit)
    mode, callback = dict(state[2])[name], state[3]
    if mode == "warn":
        file, _, line = location.rpartition(":")
        if line.isdecimal():
            warnings.warn_explicit(text, RuntimeWarning, file, int(line), registry=_registry)
        else:
            warnings.warn(text, RuntimeWarning, stacklevel=2)
    elif mode == "print":
        print(f"Warning: {text}")
    elif mode == "log":
        callback.write(f"Warning: {text}\n")
    elif mode == "call":
        callback(text.partition(" encountered")[0], found)


_core._install({"report_float_errors": _report})


def _modes_now() -> tuple[_Modes, Any]:
    state = _state.get()
    return (_DEFAULT, None) if state is None else (state[2], state[3])


def _state_of(modes: _Modes, callback: Any) -> tuple[int, int, _Modes, Any] | None:
    watched = sum(_BITS[name] for name, mode in modes if mode != "ignore")
    if not watched and callback is None:
        return None
    return watched, sum(_BITS[name] for name, mode in modes if mode == "raise"), modes, callback


def _changed(op_name: str, every: str | None, changes: dict[str, str | None], modes: _Modes, callback: Any) -> _Modes:
    """The modes with changes; an error where one is none of NumPy's."""
    new = dict(modes)
    for name in _BITS:
        mode = every if changes[name] is None else changes[name]
        if mode is None:
            continue
        if mode not in _MODES:
            raise ValueError(
                f"{op_name}: {name if changes[name] is not None else 'all'} is {mode!r}; it must be one of {', '.join(_MODES)}"
            )
        if mode == "call" and not callable(callback):
            raise ValueError(f"{op_name}: {name}='call' needs a function: set one with pardo.seterrcall, or by errstate(call=...)")
        if mode == "log" and not callable(getattr(callback, "write", None)):
            raise ValueError(
                f"{op_name}: {name}='log' needs an object with a method write: set one with pardo.seterrcall, or by errstate(call=...)"
            )
        new[name] = mode
    return tuple(new.items())


def _checked_callback(op_name: str, callback: Any) -> Any:
    if callback is not None and not callable(callback) and not callable(getattr(callback, "write", None)):
        raise ValueError(f"{op_name}: expected a function, an object with a method write, or None, not {type(callback).__name__}")
    return callback


def _count(change: int) -> None:
    """One more or less that watches: the core asks while there is one."""
    global _entered
    _entered += change
    _core._install({"float_errors": _state if _entered else None})


def geterr() -> dict[str, str]:
    """Get the current way of handling floating-point errors.

    Returns
    -------
    dict
        With keys ``divide``, ``over``, ``under`` and ``invalid``; values as of `seterr`.

    See Also
    --------
    seterr, errstate, geterrcall

    Notes
    -----
    In pardo all are ignored until a program asks for them; NumPy warns of all but ``under``.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.geterr()
    {'divide': 'ignore', 'over': 'ignore', 'under': 'ignore', 'invalid': 'ignore'}
    """
    return dict(_modes_now()[0])


def seterr(
    all: str | None = None,
    divide: str | None = None,
    over: str | None = None,
    under: str | None = None,
    invalid: str | None = None,
) -> dict[str, str]:
    """Set how floating-point errors are handled.

    Parameters
    ----------
    all : {'ignore', 'warn', 'raise', 'call', 'print', 'log'}, optional
        How all of them are handled:

        - 'ignore': nothing happens, and nothing is computed for it;
        - 'warn': a RuntimeWarning with the line that recorded the operation;
        - 'raise': FloatingPointError, by the next wait, as all late failures;
        - 'call': the function of `seterrcall` is called with the kind of error and bits;
        - 'print': a line on stdout;
        - 'log': a line to the object of `seterrcall`.
    divide : str, optional
        Division of a finite number by zero, and other poles, as log(0).
    over : str, optional
        Overflow: an infinite result of finite operands.
    under : str, optional
        Underflow: a result that is smaller than the least normal number, and not exact.
    invalid : str, optional
        No number as a result of numbers, as 0 / 0 and sqrt(-1); a float that the integer dtype it is cast to does not hold.

    Returns
    -------
    dict
        The ways before, as of `geterr`.

    Raises
    ------
    ValueError
        Another way; 'call' or 'log' without what `seterrcall` sets.

    See Also
    --------
    errstate, geterr, seterrcall

    Notes
    -----
    It holds for operations that are recorded from now on, in this thread or task of asyncio. They are watched when they are computed, by
    a look at operands and results; a wait for the result returns after its errors are told, at most one of a kind for each operation.
    An operation that is watched is a kernel of its own, because what reads its result waits for the verdict: programs get slower. NumPy's
    names of operations are in the texts. Elementwise operations, `sum` and `prod` and what is made of them are watched; products of
    matrices, kernels and compiled loops are not.

    Examples
    --------
    >>> import pardo as pp
    >>> old = pp.seterr(divide="raise")
    >>> try:
    ...     (1 / pp.arange(3.0)).wait()
    ... except FloatingPointError as e:
    ...     print(str(e)[:36])
    divide by zero encountered in divide
    >>> old = pp.seterr(**old)
    """
    modes, callback = _modes_now()
    new = _state_of(
        _changed("seterr", all, {"divide": divide, "over": over, "under": under, "invalid": invalid}, modes, callback), callback
    )
    _replace(new)
    return dict(modes)


def _replace(new: tuple[int, int, _Modes, Any] | None) -> None:
    """For good, in this context."""
    if new is not None and new[0]:
        _count(1)  # other contexts may be copies of this one: they are watched until the end
    _state.set(new)


def seterrcall(func: Any) -> Any:
    """Set the function or object that is told of floating-point errors.

    Parameters
    ----------
    func : callable, object with a method write, or None
        A function is called with the kind of error (``'divide by zero'``, ``'overflow'``, ``'underflow'``, ``'invalid value'``) and the
        bits (1, 2, 4, 8) of all that the operation has noted, for errors that are set to 'call'. The method gets a line, for those that
        are set to 'log'.

    Returns
    -------
    callable, object or None
        What was set before.

    Raises
    ------
    ValueError
        `func` is something else.

    See Also
    --------
    seterr, geterrcall, errstate

    Examples
    --------
    >>> import pardo as pp
    >>> old = pp.seterrcall(lambda kind, bit: print(kind, bit))
    >>> with pp.errstate(divide="call"):
    ...     y = (1 / pp.arange(3.0)).wait()
    divide by zero 1
    >>> old = pp.seterrcall(old)
    """
    modes, before = _modes_now()
    _state.set(_state_of(modes, _checked_callback("seterrcall", func)))
    return before


def geterrcall() -> Any:
    """Return what is told of floating-point errors.

    Returns
    -------
    callable, object or None
        What `seterrcall` has set.

    See Also
    --------
    seterrcall, geterr

    Examples
    --------
    >>> import pardo as pp
    >>> pp.geterrcall() is None
    True
    """
    return _modes_now()[1]


class errstate(contextlib.ContextDecorator):  # noqa: N801 (used like a function)
    """Context manager for the handling of floating-point errors.

    Parameters
    ----------
    call : callable or object with a method write, optional
        As of `seterrcall`, inside of the block.
    all, divide, over, under, invalid : {'ignore', 'warn', 'raise', 'call', 'print', 'log'}, optional
        As of `seterr`, inside of the block.

    Raises
    ------
    ValueError
        As of `seterr` and `seterrcall`, when the block is entered.
    TypeError
        It is entered twice.

    See Also
    --------
    seterr, geterr, seterrcall

    Notes
    -----
    It holds for operations that are *recorded* inside of the block. They may be computed after it: errors are told by the wait for the
    result, with the line that recorded the operation. It decorates functions too.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(3.0)
    >>> with pp.errstate(invalid="raise"):
    ...     y = pp.sqrt(x - 1)
    >>> try:
    ...     y.wait()
    ... except FloatingPointError as e:
    ...     print(str(e)[:33])
    invalid value encountered in sqrt
    """

    _UNCHANGED = object()

    def __init__(
        self,
        *,
        call: Any = _UNCHANGED,
        all: str | None = None,
        divide: str | None = None,
        over: str | None = None,
        under: str | None = None,
        invalid: str | None = None,
    ) -> None:
        self._call = call
        self._every = all
        self._changes = {"divide": divide, "over": over, "under": under, "invalid": invalid}
        self._outer: list[Any] = []
        self._watches = 0

    def __enter__(self) -> None:
        if self._outer:
            raise TypeError("errstate: it is entered already; make another one")
        modes, callback = _modes_now()
        if self._call is not errstate._UNCHANGED:
            callback = _checked_callback("errstate", self._call)
        new = _state_of(_changed("errstate", self._every, self._changes, modes, callback), callback)
        self._outer.append(_state.get())
        self._watches = int(new is not None and new[0] != 0)
        _state.set(new)
        if self._watches:
            _count(1)

    def __exit__(self, *exception: object) -> None:
        _state.set(self._outer.pop())
        if self._watches:
            _count(-1)

    def _recreate_cm(self) -> errstate:
        changes: dict[str, Any] = dict(self._changes)
        return errstate(call=self._call, all=self._every, **changes)


publish_module(globals(), "pardo")
