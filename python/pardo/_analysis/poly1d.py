# python/pardo/_analysis/poly1d.py: polynomials as objects, by NumPy's class of this name.
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._analysis import polynomials
from pardo._analysis import roots as zeros
from pardo._array.interop import asnumpy
from pardo._base.arguments import SCALARS
from pardo._base.public_names import publish_module
from pardo._core import Array
from pardo._functions.operands import operand, taken

__all__ = ["poly1d"]


class poly1d(polynomials.Coefficients):  # noqa: N801 (NumPy's name)
    """A one-dimensional polynomial class.

    Parameters
    ----------
    c_or_r : Array, sequence of numbers or poly1d
        The coefficients, the highest power first. Zeros in front are left out, for which they are waited for. NumPy's `poly1d` is taken
        too.
    r : bool
        Whether these are the roots and not the coefficients.
    variable : str, optional
        The name of the variable in texts. Default: that of `c_or_r`, else ``'x'``.

    Raises
    ------
    TypeError
        Coefficients are not numbers.
    ValueError
        Coefficients have more than one dimension.

    See Also
    --------
    polyval, roots, polymul, pardo.polynomial.Polynomial

    Notes
    -----
    ``p + q``, ``p - q`` and ``p * q`` are polynomials, of polynomials, sequences of coefficients and numbers; ``p / q`` is a pair,
    quotient and remainder, but with a number a polynomial; ``p ** n`` a power; ``p(x)`` the values of `polyval`; ``p[k]`` the coefficient
    of the power k. An array on the left is a sequence of coefficients as well, where NumPy adds the elements of arrays.

    Examples
    --------
    >>> import pardo as pp
    >>> p = pp.poly1d([1, 2, 3])
    >>> p(2)
    array(11)
    >>> p * p
    poly1d([ 1,  4, 10, 12,  9])
    >>> print(p)
       2
    1 x + 2 x + 3
    """

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # arrays and NumPy's numbers leave operators to this class

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        named = "x"
        if isinstance(c_or_r, (poly1d, np.poly1d)):
            named, c_or_r = c_or_r.variable, c_or_r.coeffs
        if r:
            c_or_r = zeros.poly(c_or_r)
        x = taken(c_or_r, None, "poly1d")
        if x.ndim > 1:
            raise ValueError(f"poly1d: polynomial must be 1d only: coefficients have one dimension, not shape {x.shape}")
        self._coeffs = polynomials.trimmed(_core._reshape(x, [x.size]), "poly1d")
        self._variable = named if variable is None else variable

    # --- what it is made of -------------------------------------------------------------------------------------------------------------

    @property
    def coeffs(self) -> Array:
        """The polynomial coefficients, the highest power first."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value: Any) -> None:
        if value is not self._coeffs:  # `p.coeffs += 1` stores the array itself
            raise AttributeError("poly1d: coefficients cannot be replaced; change them in place, or make another polynomial")

    c = coef = coefficients = coeffs

    @property
    def variable(self) -> str:
        """The name of the polynomial variable."""
        return self._variable

    @property
    def order(self) -> int:
        """The order or degree of the polynomial."""
        return self._coeffs.size - 1

    o = order

    @property
    def roots(self) -> Array:
        """The roots of the polynomial, where self(x) == 0."""
        return zeros.roots(self._coeffs)

    r = roots

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self._coeffs, dtype) if copy is None else np.array(self._coeffs, dtype, copy=copy)

    def get(self) -> np.poly1d:
        """The same polynomial of NumPy's, as CuPy has it.

        Returns
        -------
        numpy.poly1d
            With a copy of the coefficients, which are waited for.
        """
        return np.poly1d(asnumpy(self._coeffs), variable=self._variable)

    def set(self, polyin: np.poly1d) -> None:
        """Take coefficients and variable of a polynomial of NumPy's, as CuPy has it.

        Parameters
        ----------
        polyin : numpy.poly1d
            Of the same order.

        Raises
        ------
        ValueError
            It has another number of coefficients.
        """
        if polyin.coeffs.shape != self._coeffs.shape:
            raise ValueError(f"poly1d.set: {self._coeffs.size} coefficients are expected, not {polyin.coeffs.size}")
        self._variable = polyin.variable
        self._coeffs[...] = polyin.coeffs

    def __str__(self) -> str:
        return str(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[Array]:
        return iter(self._coeffs)

    def __getitem__(self, val: int) -> Array:
        if 0 <= val <= self.order:
            return self._coeffs[self.order - val]
        return _core._full([], 0, self._coeffs.dtype, self._coeffs.queue)

    def __setitem__(self, key: int, val: Any) -> None:
        if key < 0:
            raise ValueError(f"poly1d: there are no negative powers, and the coefficient of {key} cannot be set")
        x = self._coeffs
        if key > self.order:
            self._coeffs = _core._concat([_core._full([key - self.order], 0, x.dtype, x.queue), x], 0)
        self._coeffs[self.order - key] = val

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, (poly1d, np.poly1d)):
            return NotImplemented
        theirs = operand(other.coeffs, self._coeffs, "poly1d")
        if theirs.shape != self._coeffs.shape:
            return False
        return not bool(_core._reduce(_core._ANY, _core.not_equal(self._coeffs, theirs), None, False))

    # --- values, calculus and arithmetic ------------------------------------------------------------------------------------------------

    def __call__(self, val: Any) -> Any:
        """The values at `val`, as `polyval` has them; of a polynomial the composition."""
        return polynomials.polyval(self._coeffs, val)

    def deriv(self, m: int = 1) -> poly1d:
        """Return a derivative of this polynomial.

        Parameters
        ----------
        m : int
            The order.

        Returns
        -------
        poly1d
            The derivative.

        See Also
        --------
        polyder
        """
        return poly1d(polynomials.polyder(self._coeffs, m))

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """Return an antiderivative (indefinite integral) of this polynomial.

        Parameters
        ----------
        m : int
            The order.
        k : number, or sequence of them
            The constants of integration, the first for the first integral.

        Returns
        -------
        poly1d
            The integral.

        See Also
        --------
        polyint
        """
        return poly1d(polynomials.polyint(self._coeffs, m, k))

    def __neg__(self) -> poly1d:
        return poly1d(_core.negative(self._coeffs))

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other: Any) -> Any:
        return polynomials.polyadd(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return polynomials.polysub(self, other)

    def __rsub__(self, other: Any) -> Any:
        return polynomials.polysub(other, self)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, SCALARS):
            return poly1d(_core.multiply(self._coeffs, other))
        return polynomials.polymul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return self * other if isinstance(other, SCALARS) else polynomials.polymul(other, self)

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, SCALARS):
            return poly1d(_core.divide(self._coeffs, other))
        return polynomials.polydiv(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        if isinstance(other, SCALARS):  # of the number by each coefficient, as in NumPy
            return poly1d(_core.divide(other, self._coeffs))
        return polynomials.polydiv(other, self)

    def __pow__(self, val: int) -> poly1d:
        if not isinstance(val, (int, float, np.integer, np.floating)) or val < 0 or int(val) != val:
            raise ValueError(f"poly1d: powers are of integers that are not negative, not {val!r}")
        result = _core._full([1], 1, np.int64, self._coeffs.queue)
        for _ in range(int(val)):
            result = polynomials.polymul(self._coeffs, result)
        return poly1d(result)


publish_module(globals(), "pardo")
