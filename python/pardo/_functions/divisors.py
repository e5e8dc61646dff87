# python/pardo/_functions/divisors.py: greatest common divisors and least common multiples, by a kernel: Euclid's loop ends when it ends.
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._base.docstrings import filled
from pardo._core import Array
from pardo._functions.operands import cast
from pardo._functions.operands import elementwise as applied
from pardo._generate.generators import elementwise

__all__ = [
    "gcd",
    "lcm",
]


@elementwise
def _euclid(a: Any, b: Any) -> Any:
    """Of unsigned numbers."""
    while b != 0:
        rest = a % b
        a = b
        b = rest
    return a


def _magnitude(x: Array) -> Array:
    """Absolute values as unsigned numbers: that of the least integer too."""
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    return cast(_core.absolute(x) if x.dtype.kind == "i" else x, unsigned)


def _divisor(a: Array, b: Array, op_name: str) -> tuple[Array, np.dtype[Any]]:
    """The divisors, as unsigned numbers, and the dtype of the operands."""
    dtype: np.dtype[Any] = np.result_type(a.dtype, b.dtype)
    if dtype.kind not in "iu":
        raise TypeError(f"{op_name}: the operands must be integers of a common dtype, not {a.dtype} and {b.dtype}")
    a, b = (_magnitude(cast(x, dtype)) for x in (a, b))
    wide = np.uint32 if dtype.itemsize < 4 else a.dtype
    a, b = _core._broadcast_arrays([cast(a, wide), cast(b, wide)])
    return _euclid(a, b), dtype


@filled
def gcd(
    x1: Any, x2: Any, /, out: Array | None = None, *, where: Any = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """Return the greatest common divisor of ``|x1|`` and ``|x2|``, element-wise.

    Parameters
    ----------
    x1, x2 : Array of int or int
        The operands, broadcast against each other.
    {ufunc_keywords}

    Returns
    -------
    Array
        Of the operands' dtype.

    Raises
    ------
    {ufunc_raises}

    See Also
    --------
    lcm

    Notes
    -----
    Euclid's algorithm, in a kernel of its own: the operands are computed first.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.gcd(pp.arange(6), 20)
    array([20,  1,  2,  1,  4,  5])
    """

    def compute(a: Array, b: Array) -> Array:
        divisor, common = _divisor(a, b, "gcd")
        return cast(divisor, common)

    return applied("gcd", compute, [x1, x2], out, where, dtype, casting)


@filled
def lcm(
    x1: Any, x2: Any, /, out: Array | None = None, *, where: Any = True, dtype: DTypeLike | None = None, casting: str = "same_kind"
) -> Array:
    """Return the lowest common multiple of ``|x1|`` and ``|x2|``, element-wise.

    Parameters
    ----------
    x1, x2 : Array of int or int
        The operands, broadcast against each other.
    {ufunc_keywords}

    Returns
    -------
    Array
        Of the operands' dtype; 0 where one of them is 0. Multiples that it cannot hold wrap around.

    Raises
    ------
    {ufunc_raises}

    See Also
    --------
    gcd

    Examples
    --------
    >>> import pardo as pp
    >>> pp.lcm(pp.arange(6), 20)
    array([ 0, 20, 20, 60, 20, 20])
    """

    def compute(a: Array, b: Array) -> Array:
        divisor, common = _divisor(a, b, "lcm")
        first, second = (_magnitude(cast(x, common)) for x in (a, b))
        divisor = cast(divisor, first.dtype)
        quotient = _core.floor_divide(first, _core.maximum(divisor, 1))
        return cast(_core.multiply(quotient, second), common)

    return applied("lcm", compute, [x1, x2], out, where, dtype, casting)
