# python/pardo/_polynomials/series.py: what series of all families have as objects: texts, comparisons and arithmetic.
from __future__ import annotations

import numbers
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._array.interop import asnumpy, fetched
from pardo._base.promotion import kind_of
from pardo._core import Array, ExecutionPlacementError
from pardo._functions.operands import on_host
from pardo._polynomials import coefficients
from pardo._polynomials.families import Family

_style = ["unicode"]  # of texts


def set_style(style: str) -> None:
    """Write the texts of all polynomials in one style."""
    _style[0] = style


class Operators:
    """What the classes of all families have: texts, comparisons and arithmetic."""

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # arrays leave operators to this class
    maxpower = 100
    _family: ClassVar[Family]
    domain: NDArray[Any]
    window: NDArray[Any]
    basis_name: ClassVar[str | None]

    def __init__(self, coef: Any, domain: Any = None, window: Any = None, symbol: str = "x") -> None:
        name = type(self).__name__
        (x,) = coefficients.series([coef], name)
        self.coef: Array = x._copy()
        if domain is not None:
            self.domain = two_numbers(domain, f"{name}: domain")
        if window is not None:
            self.window = two_numbers(window, f"{name}: window")
        if not isinstance(symbol, str):
            raise TypeError(f"{name}: symbol must be a str, not {type(symbol).__name__}")
        if not symbol.isidentifier():
            raise ValueError(f"{name}: symbol must be a valid Python identifier, got {symbol!r}")
        self._symbol = symbol

    @property
    def symbol(self) -> str:
        """The name of the variable in texts."""
        return self._symbol

    # --- texts: those of NumPy's class, of a copy of the coefficients ------------------------------------------------------------------

    def _on_host(self) -> Any:
        kind = getattr(np.polynomial, type(self)._family.kind)
        return kind(asnumpy(self.coef), self.domain, self.window, self.symbol)

    def __repr__(self) -> str:
        return repr(self._on_host()).replace(type(self)._family.kind, type(self).__name__, 1)

    def __str__(self) -> str:
        return format(self._on_host(), _style[0])

    def __format__(self, format_spec: str) -> str:
        return format(self._on_host(), format_spec) if format_spec else str(self)

    def _repr_latex_(self) -> str:
        return str(self._on_host()._repr_latex_())

    # --- comparisons --------------------------------------------------------------------------------------------------------------------

    def has_samecoef(self, other: Any) -> bool:
        """Check if coefficients match.

        Parameters
        ----------
        other : series of the same class
            Has as many coefficients, or other ones.

        Returns
        -------
        bool
            Waits for the comparison.
        """
        if self.coef.shape != other.coef.shape:
            return False
        return not bool(_core._reduce(_core._ANY, _core.not_equal(self.coef, other.coef), None, False))

    def has_samedomain(self, other: Any) -> bool:
        """Check if domains match.

        Parameters
        ----------
        other : series
            The other one.

        Returns
        -------
        bool
            Whether they are equal.
        """
        return bool(np.all(self.domain == other.domain))

    def has_samewindow(self, other: Any) -> bool:
        """Check if windows match.

        Parameters
        ----------
        other : series
            The other one.

        Returns
        -------
        bool
            Whether they are equal.
        """
        return bool(np.all(self.window == other.window))

    def has_sametype(self, other: Any) -> bool:
        """Check if types match.

        Parameters
        ----------
        other : object
            Anything.

        Returns
        -------
        bool
            Whether it is of this class.
        """
        return isinstance(other, type(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)) or self.symbol != other.symbol:
            return False
        return self.has_samedomain(other) and self.has_samewindow(other) and self.has_samecoef(other)

    # --- arithmetic ---------------------------------------------------------------------------------------------------------------------

    def _made(self, coef: Any) -> Any:
        return type(self)(coef, self.domain, self.window, self.symbol)

    def _coefficients_of(self, other: Any) -> Any:
        if not isinstance(other, Operators):
            return other
        if not isinstance(other, type(self)):
            raise TypeError(f"Polynomial types differ: {type(self).__name__} and {type(other).__name__}")
        if not self.has_samedomain(other):
            raise TypeError(f"Domains differ: {self.domain} and {other.domain}")
        if not self.has_samewindow(other):
            raise TypeError(f"Windows differ: {self.window} and {other.window}")
        if self.symbol != other.symbol:
            raise ValueError(f"Polynomial symbols differ: {self.symbol!r} and {other.symbol!r}")
        return other.coef

    def _combined(self, function: Any, *operands: Any) -> Any:
        """NotImplemented for what are not coefficients."""
        try:
            return function(*operands)
        except (ZeroDivisionError, ExecutionPlacementError):
            raise
        except (TypeError, ValueError):
            return NotImplemented

    def _sum(self, a: Any, b: Any, negative: bool) -> Any:
        return self._combined(lambda: self._made(coefficients.added(a, b, type(self).__name__, negative)))

    def _product(self, a: Any, b: Any) -> Any:
        return self._combined(lambda: self._made(coefficients.multiplied(self._family, a, b, type(self).__name__)))

    def _quotients(self, a: Any, b: Any) -> Any:
        return self._combined(lambda: tuple(map(self._made, coefficients.divided(self._family, a, b, type(self).__name__))))

    def __neg__(self) -> Any:
        return self._made(-self.coef)

    def __pos__(self) -> Any:
        return self

    def __add__(self, other: Any) -> Any:
        return self._sum(self.coef, self._coefficients_of(other), False)

    def __radd__(self, other: Any) -> Any:
        return self._sum(other, self.coef, False)

    def __sub__(self, other: Any) -> Any:
        return self._sum(self.coef, self._coefficients_of(other), True)

    def __rsub__(self, other: Any) -> Any:
        return self._sum(other, self.coef, True)

    def __mul__(self, other: Any) -> Any:
        return self._product(self.coef, self._coefficients_of(other))

    def __rmul__(self, other: Any) -> Any:
        return self._product(other, self.coef)

    def __divmod__(self, other: Any) -> Any:
        return self._quotients(self.coef, self._coefficients_of(other))

    def __rdivmod__(self, other: Any) -> Any:
        return self._quotients(other, self.coef)

    def __floordiv__(self, other: Any) -> Any:
        found = divmod(self, other)
        return found[0]

    def __rfloordiv__(self, other: Any) -> Any:
        found = self.__rdivmod__(other)
        return found if found is NotImplemented else found[0]

    def __mod__(self, other: Any) -> Any:
        found = divmod(self, other)
        return found[1]

    def __rmod__(self, other: Any) -> Any:
        found = self.__rdivmod__(other)
        return found if found is NotImplemented else found[1]

    def __truediv__(self, other: Any) -> Any:
        number = isinstance(other, numbers.Number) or (type(other) is Array and other.ndim == 0)
        if not number or isinstance(other, bool):
            raise TypeError(f"unsupported types for true division: '{type(self).__name__}', '{type(other).__name__}'")
        return self // other

    def __pow__(self, other: Any) -> Any:
        return self._made(coefficients.power(self._family, self.coef, other, self.maxpower, type(self).__name__))


def two_numbers(x: Any, what: str) -> NDArray[Any]:
    """On the host: each operation reads them."""
    host = np.array(on_host(x, what.partition(":")[0]), ndmin=1)
    if host.ndim != 1 or host.size != 2:
        raise ValueError(f"{what} has wrong number of elements: two are expected, got shape {host.shape}")
    if kind_of(host.dtype) not in "iufc":
        raise ValueError(f"{what} must be numbers, got dtype {host.dtype}")
    return host if kind_of(host.dtype) in "fc" else host.astype(np.float64)


def parameters(old: Any, new: Any) -> tuple[Any, Any]:
    """`off` and `scl` of the line that maps one interval to another."""
    size = old[1] - old[0]
    return (old[1] * new[0] - old[0] * new[1]) / size, (new[1] - new[0]) / size


def ends(x: Array) -> list[list[Array]]:
    """The smallest and the largest point; of complex ones those of the real and of the imaginary parts."""
    parts = [_core.real(x), _core.imag(x)] if x._kind == "c" else [coefficients.floating(x)]
    return [[_core._reduce(kind, part, None, False) for kind in (_core._MIN, _core._MAX)] for part in parts]


def span(x: Array, op_name: str) -> NDArray[Any]:
    """From the smallest to the largest point, which are waited for."""
    if x.size == 0:
        raise ValueError(f"{op_name}: there are no points")
    numbers_of = [np.asarray([fetched(end, op_name) for end in both]) for both in ends(x)]
    return numbers_of[0] if len(numbers_of) == 1 else numbers_of[0] + 1j * numbers_of[1]
