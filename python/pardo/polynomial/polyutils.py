# python/pardo/polynomial/polyutils.py: what the modules of series share.
"""Helpers for series of polynomials, by the names of `numpy.polynomial.polyutils`."""

from collections.abc import Sequence as _Sequence
from typing import Any as _Any

from numpy.polynomial.polyutils import format_float
from pardo import _core
from pardo._array.contexts import copying as _copying
from pardo._base import public_names as _public_names
from pardo._base.arguments import SCALARS as _SCALARS
from pardo._core import Array as _Array
from pardo._functions.operands import on_host as _on_host
from pardo._polynomials import coefficients as _coefficients
from pardo._polynomials.series import ends as _ends
from pardo._polynomials.series import parameters as _parameters

__all__ = ["as_series", "format_float", "getdomain", "mapdomain", "mapparms", "trimcoef", "trimseq"]


@_copying
def as_series(alist: _Sequence[_Any], trim: bool = True) -> list[_Array]:
    """Return argument as a list of 1-d arrays.

    Parameters
    ----------
    alist : sequence of Array or of sequences of numbers
        The coefficients of several series.
    trim : bool
        Whether zeros behind the last coefficient that is none are left out, which waits.

    Returns
    -------
    list of Array
        On one queue, in their common floating dtype.

    Raises
    ------
    ValueError
        One is empty, has more than one dimension, or is of bools.
    TypeError
        What is given are not numbers.

    See Also
    --------
    trimseq

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polynomial.polyutils.as_series([[1, 2, 0], [3]])
    [array([1., 2.]), array([3.])]
    """
    made = _coefficients.series(list(alist), "as_series")
    return [_coefficients.trimmed(c) for c in made] if trim else [c._copy() for c in made]


@_copying
def trimseq(seq: _Any) -> _Array:
    """Remove small Poly series coefficients.

    Parameters
    ----------
    seq : Array or sequence of numbers
        The coefficients.

    Returns
    -------
    Array
        Without zeros behind the last coefficient that is none, which is waited for; one at least, if there are any.

    Raises
    ------
    TypeError
        They are not numbers, or have no dimension.

    See Also
    --------
    trimcoef

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polynomial.polyutils.trimseq([1, 0, 2, 0, 0])
    array([1, 0, 2])
    """
    (x,) = _coefficients.given([seq], "trimseq")
    if x.ndim == 0:
        raise TypeError("trimseq: a sequence is expected, not a single number")
    return _coefficients.trimmed(x) if x.shape[0] else x


@_copying
def trimcoef(c: _Any, tol: float = 0) -> _Array:
    """Remove "small" "trailing" coefficients from a polynomial.

    Parameters
    ----------
    c : Array of shape (n,) or sequence of numbers
        The coefficients, the lowest degree first.
    tol : number
        Coefficients behind the last one whose magnitude is above this are removed, which waits.

    Returns
    -------
    Array of shape (n,)
        What is left; a 0 if that is nothing.

    Raises
    ------
    ValueError
        `tol` is negative, or `c` is empty, has more than one dimension, or is of bools.
    TypeError
        What is given are not numbers.

    See Also
    --------
    trimseq

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polynomial.polyutils.trimcoef([0, 0, 3, 0, 5, 0, 1e-9], 1e-6)
    array([0., 0., 3., 0., 5.])
    """
    return _coefficients.trim(c, tol, "trimcoef")


@_copying
def getdomain(x: _Any) -> _Array:
    """Return a domain suitable for given abscissae.

    Parameters
    ----------
    x : Array of shape (n,) or sequence of numbers
        The points.

    Returns
    -------
    Array of shape (2,)
        The least and the largest of them; of complex points the corners of the rectangle around them.

    Raises
    ------
    ValueError
        There are none, or they have more than one dimension or are bools.
    TypeError
        What is given are not numbers.

    See Also
    --------
    mapparms, mapdomain

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polynomial.polyutils.getdomain(pp.asarray([2.0, -1.0, 5.0]))
    array([-1.,  5.])
    """
    (points,) = _coefficients.series([x], "getdomain")
    parts = [_core._stack(pair, 0) for pair in _ends(points)]
    return parts[0] if len(parts) == 1 else _core.add(parts[0], _core.multiply(parts[1], 1j))


def mapparms(old: _Any, new: _Any) -> tuple[_Any, _Any]:
    """Linear map parameters between domains.

    Parameters
    ----------
    old, new : Array or sequence of two numbers
        The domains. They are read on the host.

    Returns
    -------
    tuple of number
        `off` and `scl` of ``off + scl*x``, which maps the first to the second.

    Raises
    ------
    IndexError
        There are fewer than two numbers.

    See Also
    --------
    getdomain, mapdomain

    Examples
    --------
    >>> import pardo as pp
    >>> off, scl = pp.polynomial.polyutils.mapparms((-1, 1), (0, 4))
    >>> float(off), float(scl)
    (2.0, 2.0)
    """
    numbers = [x if isinstance(x, (list, tuple)) else _on_host(x, "mapparms") for x in (old, new)]
    return _parameters(*numbers)


@_copying
def mapdomain(x: _Any, old: _Any, new: _Any) -> _Any:
    """Apply linear map to input points.

    Parameters
    ----------
    x : Array, number or sequence of numbers
        The points.
    old, new : Array or sequence of two numbers
        The domains. They are read on the host.

    Returns
    -------
    Array, or a number
        ``off + scl*x``, which maps the first domain to the second.

    Raises
    ------
    TypeError
        Points are not numbers.

    See Also
    --------
    getdomain, mapparms

    Examples
    --------
    >>> import pardo as pp
    >>> pp.polynomial.polyutils.mapdomain(pp.asarray([-1.0, 0.0, 1.0]), (-1, 1), (0, 4))
    array([0., 2., 4.])
    """
    off, scl = mapparms(old, new)
    if isinstance(x, _SCALARS):
        return off + scl * x
    (points,) = _coefficients.given([x], "mapdomain")
    return off + scl * points


_public_names.publish_module(globals())
