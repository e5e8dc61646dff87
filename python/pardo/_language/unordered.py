# python/pardo/_language/unordered.py: reads of elements that other iterations write, where the user knows that they may.
from __future__ import annotations

from typing import TypeVar

from pardo._base.public_names import publish_module
from pardo._compiler.intrinsics import mark

__all__ = ["unordered"]

A = TypeVar("A")


def _unordered(x: A) -> A:
    """Read elements of an array that other iterations of a parallel loop may write: give the array, whose neighbours are not asked for.

    A parallel loop that reads what another of its iterations writes is refused, because which comes first is not known. Where it is known
    that those are not written now (red and black cells in turn), or where an older value does too, ``unordered(u)[i - 1, j]`` says so.
    What is read of an element that another iteration writes at the same time is its old or its new value.

    Parameters
    ----------
    x : Array or ndarray
        The array.

    Returns
    -------
    Array or ndarray
        The same one. With ``race_check=True`` what is read of it is not looked at.

    See Also
    --------
    prange

    Examples
    --------
    >>> import numpy as np
    >>> import pardo as pp
    >>> @pp.jit
    ... def relax(u, color):
    ...     for i in pp.prange(1, u.shape[0] - 1):
    ...         for j in range(1 + (i + color) % 2, u.shape[1] - 1, 2):
    ...             old = pp.unordered(u)
    ...             u[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])
    >>> u = np.zeros((4, 4))
    >>> u[0] = 1.0
    >>> relax(u, 0)
    >>> relax(u, 1)
    >>> u[1, 1:3].tolist()
    [0.3125, 0.25]
    """
    plain = getattr(x, "_unwatched", None)
    return x if plain is None else plain()


_unordered.__name__ = _unordered.__qualname__ = "unordered"
unordered = mark(_unordered, "unordered")

publish_module(globals(), "pardo")
