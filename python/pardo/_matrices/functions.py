# python/pardo/_matrices/functions.py: the exponential of matrices, and eigenvalues by SciPy's rules.
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.arguments import flag, index, word
from pardo._base.docstrings import filled
from pardo._base.promotion import is_narrow
from pardo._core import Array
from pardo._matrices.results import adjoint, both_triangles, in_floats, require_square
from pardo._matrices.systems import lower_factor, together

__all__ = ["eigh", "expm"]

# N. J. Higham: The scaling and squaring method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26 (2005): up to which
# 1-norm the Padé approximant of a degree is exact to the precision.
_DEGREES = {
    "float64": (
        (3, 1.495585217958292e-2),
        (5, 2.539398330063230e-1),
        (7, 9.504178996162932e-1),
        (9, 2.097847961257068),
        (13, 5.371920351148152),
    ),
    "float32": ((3, 4.258730016922831e-1), (5, 1.880152677804762), (7, 3.925724783138660)),
}


def _coefficient(degree: int, k: int) -> float:
    """Of the numerator; the denominator has them with alternating signs."""
    top = math.factorial(2 * degree - k) * math.factorial(degree)
    return top / (math.factorial(2 * degree) * math.factorial(k) * math.factorial(degree - k))


@filled
def expm(A: Any) -> Array:
    """Compute the matrix exponential of an array.

    Parameters
    ----------
    A : Array of shape (..., M, M)
        The matrices.

    Returns
    -------
    Array of shape (..., M, M)
        Their exponentials; of NaN for a matrix with elements that are not finite.

    Raises
    ------
    {matrix_raises}
    LinAlgError
        Matrices are not square.

    See Also
    --------
    pardo.linalg.matrix_power

    Notes
    -----
    By scaling and squaring with Padé approximants, whose degree and number of squarings are those of the matrix with the largest norm:
    the norms are waited for.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.scipy.linalg.expm(pp.asarray([[0.0, 1.0], [0.0, 0.0]]))
    array([[1., 1.],
           [0., 1.]])
    """
    a = require_square(in_floats(A, "expm"), "expm")
    if is_narrow(a.dtype):
        raise TypeError(f"expm: array type {a.dtype} is unsupported in linalg")
    if a.size == 0:
        return a.copy()
    norms = _core._reduce(_core._MAX, _core._reduce(_core._SUM, _core.absolute(a), [-2], False), [-1], False)
    finite = _core.isfinite(norms)
    largest = float(_core._reduce(_core._MAX, _core._where(finite, norms, 0), None, False))
    choices = _DEGREES["float32" if a.dtype in (np.float32, np.complex64) else "float64"]
    degree, limit = next(((d, bound) for d, bound in choices if largest <= bound), choices[-1])
    squarings = max(0, math.ceil(math.log2(largest / limit))) if largest > limit else 0
    unit = _core._eye(a.shape[-1], a.shape[-1], 0, a.dtype, a.queue)
    x = _core._where(finite[..., None, None], _core.multiply(a, 2.0**-squarings), 0)
    # exp(x) is about (even - odd)^-1 (even + odd): powers of x² with every second coefficient.
    c = [_coefficient(degree, k) for k in range(degree + 1)]
    square = _core._matmul(x, x)
    power, even, odd = unit, _core.multiply(unit, c[0]), _core.multiply(unit, c[1])
    for k in range(2, degree + 1, 2):
        power = square if k == 2 else _core._matmul(power, square)
        even = _core.add(even, _core.multiply(power, c[k]))
        if k + 1 <= degree:
            odd = _core.add(odd, _core.multiply(power, c[k + 1]))
    odd = _core._matmul(x, odd)
    result = _core._solve(_core.subtract(even, odd), _core.add(even, odd), "expm")
    for _ in range(squarings):
        result = _core._matmul(result, result)
    return _core._where(finite[..., None, None], result, math.nan)


@filled
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    type: int = 1,
    check_finite: bool = True,
    subset_by_index: Sequence[int] | None = None,
    subset_by_value: Sequence[float] | None = None,
    driver: str | None = None,
) -> Any:
    """Solve a standard or generalized eigenvalue problem for a complex Hermitian or real symmetric matrix.

    Parameters
    ----------
    a : Array of shape (..., M, M)
        Hermitian (symmetric, if real) matrices.
    b : Array of shape (..., M, M), optional
        Hermitian positive-definite matrices. Default: unit matrices.
    lower : bool
        Which triangles are read, the lower or the upper ones.
    eigvals_only : bool
        Whether only the eigenvalues are computed.
    {overwrite_a}
    {overwrite_b}
    type : {1, 2, 3}
        The problem, if `b` is given: ``a @ v == w * (b @ v)``, ``a @ b @ v == w * v``, or ``b @ a @ v == w * v``.
    {check_finite}
    subset_by_index : pair of int, optional
        The first and the last eigenvalue that is wanted, counted from 0 in ascending order.
    subset_by_value : pair of float, optional
        The half-open interval of the eigenvalues that are wanted, ``low < w <= high``. For one matrix; the eigenvalues are waited for.
    driver : str, optional
        SciPy's choice of LAPACK's function, which has no effect here.

    Returns
    -------
    Array, or tuple of Array
        The eigenvalues, of shape (..., K), real and ascending; and unless `eigvals_only` the eigenvectors as columns, of shape (..., M,
        K). Of types 1 and 2 ``v.conj().T @ b @ v`` is the unit matrix, of type 3 ``v.conj().T @ inv(b) @ v``.

    Raises
    ------
    {matrix_raises}
    ValueError
        A subset is none of the eigenvalues, both are given, or `type` is something else.
    LinAlgError
        Matrices are not square; or, when a result is used, `b` is not positive definite, elements are infinite or NaN, or the eigenvalues
        did not converge.

    See Also
    --------
    pardo.linalg.eigh

    Notes
    -----
    All eigenvalues by LAPACK's syevd and heevd, a subset by syevr and heevr. `b` is factorized (potrf), and the problem brought to that
    of one matrix.

    {matrix_notes}

    Examples
    --------
    >>> import pardo as pp
    >>> a = pp.asarray([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> pp.scipy.linalg.eigh(a, eigvals_only=True, subset_by_index=(1, 2)).round(6)
    array([2.      , 3.414214])
    """
    return hermitian_problem("eigh", a, b, lower, eigvals_only, type, check_finite, subset_by_index, subset_by_value, driver)


def hermitian_problem(
    op_name: str,
    a: Any,
    b: Any,
    lower: Any,
    eigvals_only: Any,
    type: Any,
    check_finite: Any,
    subset_by_index: Sequence[int] | None,
    subset_by_value: Sequence[float] | None,
    driver: str | None,
) -> Any:
    """What `eigh` and `eigvalsh` say."""
    given = together([a] if b is None else [a, b], op_name)
    x = require_square(given[0], op_name)
    upper, values_only = not flag(lower, f"{op_name}: lower"), flag(eigvals_only, f"{op_name}: eigvals_only")
    if driver is not None:
        word(driver, f"{op_name}: driver", ("ev", "evd", "evr", "evx", "gv", "gvd", "gvx"))
    if type not in (1, 2, 3):
        raise ValueError(f"{op_name}: type must be 1, 2 or 3, not {type!r}")
    if subset_by_index is not None and subset_by_value is not None:
        raise ValueError(f"{op_name}: subset_by_index and subset_by_value are both given")
    finite = flag(check_finite, f"{op_name}: check_finite")
    factor = None if b is None else lower_factor(given[1], upper, finite, op_name)
    if factor is not None:
        x, upper = _reduced_problem(x, factor, upper, type, op_name), False
    first, last = (0, -1) if subset_by_index is None else (index(k, f"{op_name}: subset_by_index") for k in subset_by_index)
    if subset_by_index is not None and not 0 <= first <= last < x.shape[-1]:
        raise ValueError(
            f"{op_name}: subset_by_index is {subset_by_index}; the {x.shape[-1]} eigenvalues are counted from 0, in ascending order"
        )
    w, v = _core._eigh_subset(x, upper, first, last, not values_only, finite, op_name)
    if subset_by_value is not None:
        if x.ndim != 2:
            raise ValueError(f"{op_name}: subset_by_value takes one matrix: numbers of eigenvalues may differ in a stack")
        low, high = (float(bound) for bound in subset_by_value)
        inside = _core.logical_and(_core.greater(w, low), _core.less_equal(w, high))
        start = int(_core._reduce(_core._SUM, _core.less_equal(w, low), None, False))
        stop = start + int(_core._reduce(_core._SUM, inside, None, False))
        w, v = w[start:stop], None if v is None else v[:, start:stop]
    if v is None:
        return w
    if factor is not None:
        v = _core._matmul(factor, v) if type == 3 else _core._solve_triangular(factor, v, False, 2, False, False, op_name)
    return w, v


def _reduced_problem(x: Array, factor: Array, upper: bool, type: int, op_name: str) -> Array:
    """The matrix with the same eigenvalues: L^-1 a L^-H, or L^H a L."""
    whole = both_triangles(x, upper)
    if type == 1:
        half = _core._solve_triangular(factor, whole, False, 0, False, False, op_name)
        return _core._solve_triangular(factor, adjoint(half), False, 0, False, False, op_name)
    return _core._matmul(adjoint(factor), _core._matmul(whole, factor))
