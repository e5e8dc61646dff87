# python/pardo/_polynomials/classes.py: series as objects, a class for each family.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pardo._array.interop import asnumpy
from pardo._array.ranges import linspace
from pardo._base.arguments import SCALARS
from pardo._core import Array
from pardo._functions.operands import operand
from pardo._polynomials import calculus, coefficients, values
from pardo._polynomials.families import CHEBYSHEV, FAMILIES, Family
from pardo._polynomials.series import Operators, parameters, set_style, span, two_numbers


class Series(Operators):
    """With values, calculus, and what makes them."""

    def __call__(self, arg: Any) -> Any:
        if not isinstance(arg, (*SCALARS, Series)):
            arg = operand(arg, self.coef, type(self).__name__)
        arg = self._mapped(arg, self.domain, self.window)
        if isinstance(arg, Series):
            return values.evaluated(self._family, arg, self.coef)
        return values.values(self._family, arg, self.coef, True, type(self).__name__)

    def _mapped(self, x: Any, old: Any, new: Any) -> Any:
        off, scl = (self._number(v) for v in parameters(old, new))
        return off + scl * x

    def _number(self, v: Any) -> Any:
        """A number in double precision, as NumPy has it, where the device has that."""
        return v if self.coef.device.has_fp64 else v.item()

    def __iter__(self) -> Iterator[Array]:
        return iter(self.coef)

    def __len__(self) -> int:
        return len(self.coef)

    def copy(self) -> Any:
        """Return a copy.

        Returns
        -------
        series
            With coefficients of its own.
        """
        return self._made(self.coef)

    def degree(self) -> int:
        """The degree of the series.

        Returns
        -------
        int
            One less than it has coefficients, zeros included.
        """
        return len(self) - 1

    def cutdeg(self, deg: int) -> Any:
        """Truncate series to the given degree.

        Parameters
        ----------
        deg : int
            The highest degree that is kept.

        Returns
        -------
        series
            Without the others.
        """
        return self.truncate(deg + 1)

    def trim(self, tol: float = 0) -> Any:
        """Remove trailing coefficients.

        Parameters
        ----------
        tol : number
            Coefficients behind the last one whose magnitude is above this are removed; waits.

        Returns
        -------
        series
            What is left.
        """
        return self._made(coefficients.trim(self.coef, tol, type(self).__name__))

    def truncate(self, size: int) -> Any:
        """Truncate series to length `size`.

        Parameters
        ----------
        size : int
            How many coefficients are kept.

        Returns
        -------
        series
            Without the others.
        """
        count = int(size)
        if count != size or count < 1:
            raise ValueError(f"{type(self).__name__}: size must be a positive integer, got {size}")
        return self._made(self.coef[:count])

    def convert(self, domain: Any = None, kind: Any = None, window: Any = None) -> Any:
        """Convert series to a different kind and/or domain and/or window.

        Parameters
        ----------
        domain, window : sequence of two numbers, optional
            Those of the result. Default: those of `kind`.
        kind : class, optional
            The class of the result. Default: this one.

        Returns
        -------
        series
            The same polynomial.
        """
        kind = type(self) if kind is None else kind
        identity = kind.identity(domain, kind.window if window is None else window, self.symbol)
        identity.coef = operand(asnumpy(identity.coef), self.coef, type(self).__name__)
        return self(identity)

    def mapparms(self) -> tuple[Any, Any]:
        """Return the mapping parameters.

        Returns
        -------
        tuple of number
            `off` and `scl` of ``off + scl*x``, which maps the domain to the window.
        """
        return parameters(self.domain, self.window)

    def integ(self, m: int = 1, k: Any = (), lbnd: Any = None) -> Any:
        """Integrate.

        Parameters
        ----------
        m : int
            How often.
        k : number or sequence of numbers
            The constants of integration, the first for the first integral. Default: zeros.
        lbnd : number, optional
            Where the integrals have the value of their constants. Default: the place that is mapped to 0.

        Returns
        -------
        series
            The integral.
        """
        off, scl = self.mapparms()
        start = 0 if lbnd is None else self._number(off + scl * lbnd)
        return self._made(calculus.integral(self._family, self.coef, m, k, start, self._number(1 / scl), 0, type(self).__name__))

    def deriv(self, m: int = 1) -> Any:
        """Differentiate.

        Parameters
        ----------
        m : int
            How often.

        Returns
        -------
        series
            The derivative.
        """
        return self._made(calculus.derivative(self._family, self.coef, m, self._number(self.mapparms()[1]), 0, type(self).__name__))

    def roots(self) -> Array:
        """Return the roots of the series polynomial.

        Returns
        -------
        Array
            The roots, ascending; real if all of them are. Waits.
        """
        found: Array = self._mapped(coefficients.roots(self._family, self.coef, type(self).__name__), self.window, self.domain)
        return found

    def linspace(self, n: int = 100, domain: Any = None) -> tuple[Array, Array]:
        """Return x, y values at equally spaced points in domain.

        Parameters
        ----------
        n : int
            How many points.
        domain : sequence of two numbers, optional
            The first and the last point. Default: the domain.

        Returns
        -------
        tuple of Array
            The points and the values.
        """
        first, last = self.domain if domain is None else domain
        x = linspace(first, last, n, queue=self.coef.queue)
        return x, self(x)

    # --- makers -------------------------------------------------------------------------------------------------------------------------

    @classmethod
    def fit(
        cls,
        x: Any,
        y: Any,
        deg: Any,
        domain: Any = None,
        rcond: float | None = None,
        full: bool = False,
        w: Any = None,
        window: Any = None,
        symbol: str = "x",
    ) -> Any:
        """Least squares fit to data.

        Parameters
        ----------
        x : Array of shape (M,)
            Where the points lie.
        y : Array of shape (M,)
            Their values.
        deg : int or sequence of int
            The highest degree, or all degrees that take part.
        domain : sequence of two numbers, optional
            Default: from the smallest to the largest of `x`, which are waited for; that of the class for ``[]``.
        rcond : float, optional
            Singular values below this share of the largest one count as zero. Default: M times the precision of the dtype.
        full : bool
            Whether diagnostics are returned.
        w : Array of shape (M,), optional
            A weight for each point.
        window : sequence of two numbers, optional
            Default: that of the class.
        symbol : str
            The name of the variable.

        Returns
        -------
        series, or tuple
            The fit. With `full` a tuple of it and a list: the sum of squared residuals, the rank, the singular values, `rcond`.
        """
        name = f"{cls.__name__}.fit"
        x, y, *ws = coefficients.given([x, y] if w is None else [x, y, w], name)
        if domain is None:
            domain = span(x, name)
            if domain[0] == domain[1]:
                domain = domain + np.asarray([-1, 1], domain.dtype)
        domain = cls.domain if isinstance(domain, list) and not domain else two_numbers(domain, f"{name}: domain")
        window = cls.window if window is None else two_numbers(window, f"{name}: window")
        off, scl = (v if x.device.has_fp64 else v.item() for v in parameters(domain, window))
        found = values.fit(cls._family, off + scl * x, y, deg, rcond, full, ws[0] if ws else None, name)
        made = cls(found[0] if full else found, domain, window, symbol)
        return (made, found[1]) if full else made

    @classmethod
    def fromroots(cls, roots: Any, domain: Any = (), window: Any = None, symbol: str = "x") -> Any:
        """Return series instance that has the specified roots.

        Parameters
        ----------
        roots : Array or sequence of numbers
            The roots.
        domain : sequence of two numbers, optional
            Default: that of the class; from the smallest to the largest root for None.
        window : sequence of two numbers, optional
            Default: that of the class.
        symbol : str
            The name of the variable.

        Returns
        -------
        series
            The product of ``x - r`` over all roots.
        """
        name = f"{cls.__name__}.fromroots"
        (x,) = coefficients.series([roots], name)
        if domain is None:
            domain = span(x, name)
        domain = cls.domain if isinstance(domain, (list, tuple)) and not domain else two_numbers(domain, f"{name}: domain")
        window = cls.window if window is None else two_numbers(window, f"{name}: window")
        off, scl = (v if x.device.has_fp64 else v.item() for v in parameters(domain, window))
        return cls(coefficients.from_roots(cls._family, off + scl * x, name) / scl**x.size, domain, window, symbol)

    @classmethod
    def identity(cls, domain: Any = None, window: Any = None, symbol: str = "x") -> Any:
        """Identity function.

        Parameters
        ----------
        domain, window : sequence of two numbers, optional
            Default: those of the class.
        symbol : str
            The name of the variable.

        Returns
        -------
        series
            The one whose value at x is x.
        """
        domain = cls.domain if domain is None else two_numbers(domain, f"{cls.__name__}: domain")
        window = cls.window if window is None else two_numbers(window, f"{cls.__name__}: window")
        off, scl = parameters(window, domain)
        return cls([v.item() for v in cls._family.line(off, scl)] if scl else [off.item()], domain, window, symbol)

    @classmethod
    def basis(cls, deg: int, domain: Any = None, window: Any = None, symbol: str = "x") -> Any:
        """Series basis polynomial of degree `deg`.

        Parameters
        ----------
        deg : int
            The degree.
        domain, window : sequence of two numbers, optional
            Default: those of the class.
        symbol : str
            The name of the variable.

        Returns
        -------
        series
            With the coefficient 1 of that degree alone.
        """
        n = int(deg)
        if n != deg or n < 0:
            raise ValueError(f"{cls.__name__}: deg must be non-negative integer, got {deg}")
        return cls([0] * n + [1], domain, window, symbol)

    @classmethod
    def cast(cls, series: Any, domain: Any = None, window: Any = None) -> Any:
        """Convert series to series of this class.

        Parameters
        ----------
        series : series
            Of any class.
        domain, window : sequence of two numbers, optional
            Default: those of the class.

        Returns
        -------
        series
            The same polynomial.
        """
        return series.convert(domain, cls, window)


def _class_of(f: Family) -> type[Series]:
    title = "A power series" if f.basis_name is None else f"A {f.title} series"
    namespace: dict[str, Any] = {
        "__doc__": _CLASS.format(title=title, kind=f.kind, p=f.prefix, module=f.module),
        "__module__": f"pardo.polynomial.{f.module}",
        "_family": f,
        "domain": np.array(f.domain),
        "window": np.array(f.domain),
        "basis_name": f.basis_name,
    }
    if f is CHEBYSHEV:
        namespace["interpolate"] = classmethod(_interpolate)
    return type(f.kind, (Series,), namespace)


def _interpolate(cls: Any, func: Any, deg: int, domain: Any = None, args: Sequence[Any] = ()) -> Any:
    """Interpolate a function at the Chebyshev points of the first kind.

    Parameters
    ----------
    func : callable
        Gets an Array of points, and `args`.
    deg : int
        The degree of the series.
    domain : sequence of two numbers, optional
        Where the function is interpolated. Default: that of the class.
    args : sequence
        Further arguments of `func`.

    Returns
    -------
    series
        Equal to the function at the points.
    """
    domain = cls.domain if domain is None else two_numbers(domain, f"{cls.__name__}: domain")
    off, scl = (v.item() for v in parameters(cls.window, domain))
    made = values.interpolated(cls._family, lambda x: func(off + scl * x, *args), deg, (), f"{cls.__name__}.interpolate")
    return cls(made, domain)


_interpolate.__name__ = "interpolate"
_interpolate.__qualname__ = "Chebyshev.interpolate"

_CLASS = """{title} class.

Operators ``+ - * // % divmod ** ()`` are those of polynomials; NumPy's class of this name says more about each method.

Parameters
----------
coef : Array of shape (n,) or sequence of numbers
    The coefficients, the lowest degree first.
domain, window : sequence of two numbers, optional
    Points are mapped from the domain to the window before the series is evaluated. Default: both are those of the family.
symbol : str
    The name of the variable in texts.

Attributes
----------
coef : Array
    The coefficients, on their device.
domain, window : numpy.ndarray
    Two numbers each, on the host, because each operation reads them.
symbol, basis_name : str
    Names of the variable and of the polynomials in texts.

Raises
------
ValueError
    There are no coefficients, or they have more than one dimension; or another argument is not as above.
TypeError
    Coefficients are not numbers, or `symbol` is no str.

See Also
--------
polynomial.{module}.{p}val, polynomial.{module}.{p}fit, polynomial.{module}.{p}fromroots

Notes
-----
Sums and products wait for the number of coefficients that are not 0 at the end, comparisons and `roots` for more. Texts show a copy of the
coefficients on the host.

Examples
--------
>>> import pardo as pp
>>> p = pp.polynomial.{kind}.fromroots([1.0, 2.0], domain=[0, 1], window=[0, 1])
>>> p(pp.asarray([0.0, 1.0, 3.0])).round(6)
array([2., 0., 2.])
"""

CLASSES: dict[str, Any] = {module: _class_of(f) for module, f in FAMILIES.items()}


def set_default_printstyle(style: str) -> None:
    """Set the default format for the string representation of polynomials.

    Parameters
    ----------
    style : {'unicode', 'ascii'}
        How ``str`` writes series from now on.

    Raises
    ------
    ValueError
        `style` is something else.

    See Also
    --------
    Polynomial

    Examples
    --------
    >>> import pardo as pp
    >>> p = pp.polynomial.Polynomial([1.0, 2.0, 3.0])
    >>> pp.polynomial.set_default_printstyle("ascii")
    >>> print(p)
    1.0 + 2.0 x + 3.0 x**2
    >>> pp.polynomial.set_default_printstyle("unicode")
    """
    if style not in ("unicode", "ascii"):
        raise ValueError(f"set_default_printstyle: style must be 'unicode' or 'ascii', not {style!r}")
    set_style(style)
