# python/pardo/_analysis/roots.py: polynomials by their roots, and through points: what needs eigenvalues is computed by NumPy on the host.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._analysis.differences import products_of_sequences
from pardo._analysis.polynomials import plain
from pardo._array.interop import fetched
from pardo._base.arguments import default_on, default_queue, home_queue
from pardo._base.promotion import kind_of
from pardo._core import Array, Queue
from pardo._functions.operands import cast, on_host, taken, to_queue

__all__ = ["poly", "polyfit", "roots"]


def _queue(*xs: Any) -> Queue:
    return home_queue(*xs) or default_queue()


def _placed(host: Any, queue: Queue, op_name: str) -> Array:
    values = np.asarray(host)
    if not queue.device.has_fp64:
        values = values.astype({"f": np.float32, "c": np.complex64}.get(kind_of(values.dtype), values.dtype))
    _core._note_transfer(op_name, values.nbytes, queue.device.id, True)
    return to_queue(values, queue)


def poly(seq_of_zeros: Any) -> Array:
    """Find the coefficients of a polynomial with the given sequence of roots.

    Parameters
    ----------
    seq_of_zeros : Array or sequence of numbers
        The roots; or a square matrix, whose eigenvalues are the roots.

    Returns
    -------
    Array
        The coefficients, the highest power first; the first is 1, alone and without dimensions if there are no roots.
        They are real where complex roots come in conjugate pairs.

    Raises
    ------
    ValueError
        It is neither of one dimension nor a square matrix.
    TypeError
        Roots are not numbers.

    See Also
    --------
    roots, polyval, polymul

    Notes
    -----
    Eigenvalues of a matrix are computed by NumPy on the host, from a copy (`transfer_guard`, `counters`). Complex roots are waited for.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.poly([1.0, 2.0])
    array([ 1., -3.,  2.])
    """
    given = taken(plain(seq_of_zeros), None, "poly")
    if given.ndim == 2 and given.shape[0] == given.shape[1] != 0:
        given = _placed(np.linalg.eigvals(fetched(given, "poly")), given.queue, "poly")
    elif given.ndim > 1:
        raise ValueError(f"poly: expected roots in one dimension or a square matrix, got shape {given.shape}")
    if not given.size:
        return _core._full([], 1, default_on(given.queue, np.float64), given.queue)
    if given.dtype.char not in "fdFD":
        given = cast(given, default_on(given.queue, np.float64))
    given = _core._reshape(given, [-1])
    one = _core._full([1], 1, given.dtype, given.queue)
    result = one
    for k in range(given.shape[0]):
        result = products_of_sequences(result, _core._concat([one, _core.subtract(0, given[k : k + 1])], 0))
    if given._kind == "c":
        host = on_host(given, "poly")
        if np.all(np.sort(host) == np.sort(host.conjugate())):
            result = _core.real(result)
    return result


def roots(p: Any) -> Array:
    """Return the roots of a polynomial with coefficients given in p.

    Parameters
    ----------
    p : Array, sequence of numbers or poly1d
        The coefficients, the highest power first.

    Returns
    -------
    Array
        The roots, on the queue of `p`.

    Raises
    ------
    ValueError
        `p` has more than one dimension.
    TypeError
        Coefficients are not numbers.
    numpy.linalg.LinAlgError
        Coefficients are infinite or NaN.

    See Also
    --------
    poly, polyval

    Notes
    -----
    They are eigenvalues of a matrix: computed by NumPy on the host, from a copy (`transfer_guard`, `counters`).

    Examples
    --------
    >>> import pardo as pp
    >>> pp.roots([1.0, -3.0, 2.0])
    array([2., 1.])
    """
    p = plain(p)
    host = np.asarray(fetched(p, "roots"))
    if kind_of(host.dtype) not in "biufc":
        raise TypeError(f"roots: coefficients must be numbers, not elements of dtype '{host.dtype}'")
    if host.ndim > 1:
        raise ValueError(f"roots: coefficients have one dimension, got shape {host.shape}")
    return _placed(np.roots(host), _queue(p), "roots")


def polyfit(x: Any, y: Any, deg: Any, rcond: float | None = None, full: bool = False, w: Any = None, cov: Any = False) -> Any:
    """Least squares polynomial fit.

    Parameters
    ----------
    x : Array of shape (M,)
        Where the points lie.
    y : Array of shape (M,) or (M, K)
        Their values; of K fits at once.
    deg : int
        The degree of the polynomial.
    rcond : float, optional
        Singular values below this share of the largest one count as zero. Default: M times the precision of the dtype.
    full : bool
        Whether diagnostics are returned.
    w : Array of shape (M,), optional
        A weight for each point.
    cov : bool or {'unscaled'}
        Whether the covariance matrix of the coefficients is returned, scaled by the mean square of the residuals or not.

    Returns
    -------
    Array or tuple
        The coefficients, the highest power first, of shape (deg + 1,) or (deg + 1, K). With `full` a tuple of these, the sums of squared
        residuals, the rank, the singular values and `rcond`; with `cov` one of these and the covariance matrix.

    Raises
    ------
    TypeError
        The dimensions or lengths do not fit, or there are no points.
    ValueError
        `deg` is negative, or there are too few points for `cov`.
    numpy.linalg.LinAlgError
        The computation of the singular values does not converge.

    See Also
    --------
    polyval, roots

    Notes
    -----
    Computed by NumPy on the host, from copies (`transfer_guard`, `counters`); the results go to the queue of `x`, or of `y`.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.asarray([0.0, 1.0, 2.0, 3.0])
    >>> pp.polyfit(x, 2 * x + 1, 1).round(6)
    array([2., 1.])
    """
    queue = _queue(x, y, w)
    hosts = [None if v is None else np.asarray(fetched(v, "polyfit")) for v in (x, y, w)]
    found = np.polyfit(hosts[0], hosts[1], deg, rcond, full, hosts[2], cov)  # type: ignore[call-overload]
    if not isinstance(found, tuple):
        return _placed(found, queue, "polyfit")
    if full:
        return *(_placed(v, queue, "polyfit") for v in found[:2]), int(found[2]), _placed(found[3], queue, "polyfit"), float(found[4])
    return tuple(_placed(v, queue, "polyfit") for v in found)
