# python/pardo/_sparse/arithmetic.py: operators of sparse arrays, and functions of their values.
from __future__ import annotations

from typing import Any

import numpy as np
from pardo import _core
from pardo._array.creation import zeros
from pardo._base.arguments import SCALARS
from pardo._base.promotion import kind_of
from pardo._core import Array
from pardo._sparse.base import promoted, sparray
from pardo._sparse.merging import merged
from pardo._sparse.multiplication import times_rows
from pardo._sparse.products import columns_times_vector, times_matrix, times_vector
from pardo._sparse.structure import add_to_dense, cast, from_dense

# Functions of one number that give zero for zero, as methods of sparse arrays.
UNARY = (
    "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "deg2rad", "expm1", "floor", "log1p", "rad2deg", "rint", "sign", "sin", "sinh",
    "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip


def _is_number(x: Any) -> bool:
    return isinstance(x, SCALARS) or (type(x) is Array and x.ndim == 0)


class Arithmetic(sparray):
    """Operators, and functions of the values."""

    # --- sums and differences

    def _plus(self, other: Any, op_name: str, reflected: bool = False) -> Any:
        x = self._operand(other, op_name)
        if x is NotImplemented:
            return x
        if _is_number(x):
            if bool(x != 0):
                raise NotImplementedError(f"{op_name}: a nonzero scalar is not supported: every element would be stored")
            return -self if reflected and op_name == "subtract" else self.copy()
        if isinstance(x, sparray):
            return self._merged(x, op_name)
        dtype = promoted(self.dtype, x.dtype, self.queue)
        if dtype == np.bool_ and op_name == "subtract":
            raise TypeError(f"{op_name}: bools cannot be subtracted; use the operator != for exclusive or")
        out = zeros(self.shape, dtype, queue=self.queue)
        dense = cast(self._dense_like(x, op_name), dtype)
        out[...] = -dense if op_name == "subtract" and not reflected else dense
        mine = self._compressed()
        value = cast(mine.data, dtype)
        add_to_dense(
            mine._rows().with_value(-value if op_name == "subtract" and reflected else value), out if mine.format == "csr" else out.T
        )
        return out

    def _merged(self, other: Any, op_name: str) -> Any:
        """A function of the elements of two sparse arrays, in the format of the first."""
        if self.shape != other.shape:
            raise ValueError(f"{op_name}: inconsistent shapes: {self.shape} and {other.shape}")
        a = self._canonical()
        b = other.asformat(a.format)._canonical()
        return a._made(merged(a._rows(), b._rows(), op_name), 2)

    def __add__(self, other: Any) -> Any:
        return self._plus(other, "add")

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, "subtract")

    def __rsub__(self, other: Any) -> Any:
        return self._plus(other, "subtract", True)

    # --- products and quotients of elements

    def multiply(self, other: Any) -> Any:
        """Point-wise multiplication by another array or scalar: the operator ``*``.

        Parameters
        ----------
        other : sparse array, Array, number, or values of the host
            A dense array is broadcast to the shape of this one; of two sparse arrays one may have one row or one column.

        Returns
        -------
        csr_array, csc_array or coo_array
            Of this format; of a coo_array and an array it is a csr_array.

        Raises
        ------
        ValueError
            The shapes do not fit.
        TypeError
            `other` is something else.
        """
        result = self.__mul__(other)
        if result is NotImplemented:
            raise TypeError(f"multiply: expected a sparse array, a pardo.Array or a number, got {type(other).__name__}")
        return result

    def __mul__(self, other: Any) -> Any:
        x: Any = self._operand(other, "multiply")
        if x is NotImplemented:
            return x
        if _is_number(x):
            return self._with_data(self.data * x)
        if type(x) is Array:
            return self._scaled(x, "multiply")
        if x.shape == self.shape:
            return self._merged(x, "multiply")
        if self.shape[1] == x.shape[0] == 1:
            return self @ x
        if self.shape[0] == x.shape[1] == 1:
            return x @ self
        if 1 in x.shape or 1 not in self.shape:
            return self._scaled(x.toarray(), "multiply")
        return x._scaled(self.toarray(), "multiply")

    __rmul__ = __mul__

    def _scaled(self, x: Any, op_name: str) -> Any:
        """Each entry times the element of a dense array, or divided by it."""
        mine = self if op_name == "multiply" else self._canonical()
        mine = mine._compressed()
        value = mine._entries_of(self._dense_like(x, op_name))
        return mine._with_data(mine.data * value if op_name == "multiply" else mine.data / value)

    def __truediv__(self, other: Any) -> Any:
        x = self._operand(other, "divide")
        if x is NotImplemented:
            return x
        if _is_number(x):
            return self._with_data(self.data / x)
        if not isinstance(x, sparray):
            return self._scaled(x, "divide")
        if self.shape != x.shape:
            raise ValueError(f"divide: inconsistent shapes: {self.shape} and {x.shape}")
        return self._of_dense(self.toarray() / x.toarray())

    def _of_dense(self, x: Array) -> Any:
        """A dense result in the format of this array."""
        mine = self._compressed()
        return mine._made(from_dense(x if mine.format == "csr" else x.T), 2)

    # --- products of matrices

    def dot(self, other: Any) -> Any:
        """Ordinary dot product: the operator ``@``, of numbers ``*``.

        Parameters
        ----------
        other : sparse array, Array, number, or values of the host
            Of one or two dimensions.

        Returns
        -------
        Array, or a sparse array
            The product.

        Raises
        ------
        ValueError
            The shapes do not fit.
        TypeError
            `other` is something else.
        """
        result = self * other if _is_number(other) else self.__matmul__(other)
        if result is NotImplemented:
            raise TypeError(f"dot: expected a sparse array, a pardo.Array or a number, got {type(other).__name__}")
        return result

    def __matmul__(self, other: Any) -> Any:
        x = self._operand(other, "matmul")
        if x is NotImplemented:
            return x
        if _is_number(x):
            raise ValueError("matmul: scalar operands are not allowed, use * instead")
        if x.ndim > 2:
            raise ValueError(f"matmul: a sparse array times an array of {x.ndim} dimensions is not supported; at most two are")
        if x.shape[0] != self.shape[1]:
            raise ValueError(f"matmul: dimension mismatch: {self.shape} @ {x.shape}")
        dtype = promoted(self.dtype, x.dtype, self.queue)
        if isinstance(x, sparray):
            return self._times_sparse(x, dtype)
        mine = self._compressed()
        if x.ndim == 1:
            if mine.format == "csc":
                return columns_times_vector(mine._rows(), x, dtype)
            return times_vector(mine._rows(), x, dtype, mine._longest_row())
        mine = mine.tocsr()
        return times_matrix(mine._rows(), x, dtype, mine._longest_row())

    def _times_sparse(self, x: Any, dtype: Any) -> Any:
        mine = self._compressed()
        other = x.asformat(mine.format)
        if mine.format == "csr":
            return mine._made(times_rows(mine._rows(), other._rows(), dtype))
        return mine._made(times_rows(other._rows(), mine._rows(), dtype))

    def __rmatmul__(self, other: Any) -> Any:
        x = self._operand(other, "matmul")
        if x is NotImplemented:
            return x
        if _is_number(x):
            raise ValueError("matmul: scalar operands are not allowed, use * instead")
        if x.ndim > 2:
            raise ValueError(f"matmul: an array of {x.ndim} dimensions times a sparse array is not supported; at most two are")
        if x.shape[-1] != self.shape[0]:
            raise ValueError(f"matmul: dimension mismatch: {x.shape} @ {self.shape}")
        if isinstance(x, sparray):
            return x @ self
        return (self.T @ x.T).T

    # --- comparisons

    def _compared(self, other: Any, op_name: str) -> Any:
        """A comparison; a dense array of bools if one operand is dense."""
        function = getattr(_core, op_name)
        x = self._operand(other, op_name)
        if x is NotImplemented:
            return x
        number = _is_number(x)
        if not number and not isinstance(x, sparray):
            return function(self.toarray(), x)
        if not number and self.shape != x.shape:
            if op_name in ("equal", "not_equal"):
                return op_name == "not_equal"
            raise ValueError(f"{op_name}: inconsistent shapes: {self.shape} and {x.shape}")
        if bool(function(zeros((), self.dtype, queue=self.queue), x if number else 0)):  # most elements are true
            return self._of_dense(function(self.toarray(), x if number else x.toarray()))
        if not number:
            return self._merged(x, op_name)
        mine = self._canonical()
        result = mine._with_data(function(mine.data, x))
        result.eliminate_zeros()
        return result

    def __eq__(self, other: object) -> Any:
        return self._compared(other, "equal")

    def __ne__(self, other: object) -> Any:
        return self._compared(other, "not_equal")

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "less")

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "less_equal")

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, "greater")

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, "greater_equal")

    def maximum(self, other: Any) -> Any:
        """Element-wise maximum between this and another array or a number.

        Parameters
        ----------
        other : sparse array, Array, number, or values of the host
            Of the same shape.

        Returns
        -------
        Array, or a sparse array
            Dense if `other` is a dense array; NaN propagates.

        Raises
        ------
        ValueError
            The shapes differ.
        TypeError
            `other` is something else, or the numbers are complex.
        """
        return self._extreme(other, "maximum")

    def minimum(self, other: Any) -> Any:
        """Element-wise minimum between this and another array or a number.

        Parameters
        ----------
        other : sparse array, Array, number, or values of the host
            Of the same shape.

        Returns
        -------
        Array, or a sparse array
            Dense if `other` is a dense array; NaN propagates.

        Raises
        ------
        ValueError
            The shapes differ.
        TypeError
            `other` is something else, or the numbers are complex.
        """
        return self._extreme(other, "minimum")

    def _extreme(self, other: Any, op_name: str) -> Any:
        function = getattr(_core, op_name)
        x = self._operand(other, op_name)
        if x is NotImplemented:
            raise TypeError(f"{op_name}: expected a sparse array, a pardo.Array or a number, got {type(other).__name__}")
        if isinstance(x, sparray):
            return self._merged(x, op_name)
        if not _is_number(x):
            return function(self.toarray(), x)
        if bool(function(zeros((), self.dtype, queue=self.queue), x) != 0):
            return self._of_dense(function(self.toarray(), x))
        mine = self._canonical()
        return mine._with_data(function(mine.data, x))

    # --- functions of the values

    def __neg__(self) -> Any:
        return self._with_data(-self.data)

    def __pos__(self) -> Any:
        return self.copy()

    def __abs__(self) -> Any:
        mine = self._deduplicated()
        return mine._with_data(abs(mine.data))

    def _deduplicated(self) -> Any:
        """The array with one entry for each place."""
        raise NotImplementedError

    def conjugate(self, copy: bool = True) -> Any:
        """Element-wise complex conjugation.

        Parameters
        ----------
        copy : bool
            Whether a real array is copied too.

        Returns
        -------
        csr_array, csc_array or coo_array
            In the same format.
        """
        if kind_of(self.dtype) == "c":
            return self._with_data(_core.conjugate(self.data))
        return self.copy() if copy else self

    conj = conjugate

    @property
    def real(self) -> Any:
        """The real parts of the elements."""
        return self._with_data(self.data.real._copy())

    @property
    def imag(self) -> Any:
        """The imaginary parts of the elements."""
        return self._with_data(self.data.imag._copy())

    def power(self, n: Any, dtype: Any = None) -> Any:
        """Element-wise power: the operator ``**``.

        Parameters
        ----------
        n : number
            The exponent; not zero, which would make each element one.
        dtype : data type, optional
            The values are cast to it first.

        Returns
        -------
        csr_array, csc_array or coo_array
            In the same format; elements that are not stored stay zero.

        Raises
        ------
        NotImplementedError
            `n` is zero or not a number.
        """
        if not _is_number(n):
            raise NotImplementedError(f"power: n must be a number, not {type(n).__name__}")
        if not bool(n != 0):
            raise NotImplementedError("power: zero power is not supported: every element would be stored")
        mine = self._deduplicated()
        return mine._with_data((mine.data if dtype is None else mine.data.astype(dtype)) ** n)

    def __pow__(self, n: Any) -> Any:
        return self.power(n)

    def _function(self, op_name: str) -> Any:
        """A function of each value."""
        mine = self._deduplicated()
        return mine._with_data(getattr(_core, op_name)(mine.data))


def _method(op_name: str) -> Any:
    def method(self: Arithmetic) -> Any:
        return self._function(op_name)

    method.__name__, method.__qualname__ = op_name, f"sparray.{op_name}"
    method.__doc__ = f"""Element-wise {op_name}: `pardo.{op_name}` of the elements that are stored; it is zero for the others.

        Returns
        -------
        csr_array, csc_array or coo_array
            In the same format.
        """
    return method


for _name in UNARY:
    setattr(Arithmetic, _name, _method(_name))
