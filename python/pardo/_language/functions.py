# python/pardo/_language/functions.py: functions that kernels call.
from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from pardo._base.public_names import publish_module
from pardo._compiler.names import refuse_suspended

__all__ = ["func"]


def func(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that kernels call.

    It stays an ordinary Python function; any plain function can be called from a kernel, and this says so to the reader.

    Parameters
    ----------
    function : callable
        A plain function. It may not call itself.

    Returns
    -------
    callable
        The function.

    See Also
    --------
    kernel, struct

    Examples
    --------
    >>> import pardo as pp
    >>> @pp.func
    ... def cube(v):
    ...     return v * v * v
    >>> @pp.kernel
    ... def cubes(item: pp.Item, x):
    ...     i = item.get_id(0)
    ...     x[i] = cube(x[i])
    >>> x = pp.arange(4)
    >>> cubes[pp.Range(4)](x).wait()
    >>> x
    array([ 0,  1,  8, 27])
    """
    if not isinstance(function, types.FunctionType):
        raise TypeError(f"func: decorates a function, not {type(function).__name__}")
    refuse_suspended("func", function)
    return function


publish_module(globals(), "pardo")
