# python/pardo/_ufunc/methods.py: the methods and properties of ufunc that are written in Python. What they do is in the other files here,
# which are read when a method is called first.
from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
from pardo import _core
from pardo._base.attributes import attribute
from pardo._base.docstrings import filled
from pardo._base.takers import taken_over

if TYPE_CHECKING:
    from numpy.typing import DTypeLike
    from pardo._core import Array, ufunc

_TABLE = _core._op_table()
_IDENTITIES = {"ZERO": 0, "ONE": 1, "MINUS_ONE": -1, "MINUS_INFINITY": -np.inf}
_DTYPES = "?bBhHiIlLefdFD"


class _Signature:
    """The signature of a call, of each ufunc; the class itself has none."""

    def __get__(self, f: ufunc | None, owner: type) -> inspect.Signature:
        if f is None:
            raise AttributeError("__signature__")
        if f._function is not None:
            return inspect.signature(f._function)
        operands = ["x"] if f.nin == 1 else [f"x{k + 1}" for k in range(f.nin)]
        p = inspect.Parameter
        parameters = [p(name, p.POSITIONAL_ONLY) for name in operands] + [p("out", p.POSITIONAL_OR_KEYWORD, default=None)]
        keywords = {"where": True, "dtype": None, "casting": "same_kind"}
        return inspect.Signature([*parameters, *(p(name, p.KEYWORD_ONLY, default=value) for name, value in keywords.items())])


def nargs(self: ufunc) -> int:
    """Number of operands and results."""
    return self.nin + self.nout


def types(self: ufunc) -> list[str]:
    """What it computes in: characters of the operands' dtypes, an arrow, those of the results', as in NumPy."""
    if self._row < 0:
        return list(vars(self)["_types"])
    found = []
    for t in map(np.dtype, _DTYPES):
        try:
            loop, result = _core._loop_of(self._row, [t] * self.nin)
        except TypeError:
            continue
        found.append(f"{loop.char * self.nin}->{result.char}")
    return list(dict.fromkeys(found))


def ntypes(self: ufunc) -> int:
    """Number of dtypes that it computes in."""
    return len(self.types)


def identity(self: ufunc) -> Any:
    """The operand that leaves the other one as it is; None if there is none."""
    if self._row < 0:
        return None
    *_, dtypes, _, _, word = _TABLE[self._row]
    value = _IDENTITIES.get(word)
    return bool(value) if value is not None and dtypes == "TRUTH" else value


def _reorderable(self: ufunc) -> bool:
    """Whether elements may be taken together in any order."""
    return self._row >= 0 and _TABLE[self._row][-1] != "NONE"


@filled
def reduce(
    self: ufunc,
    array: Any,
    /,
    axis: int | tuple[int, ...] | None = 0,
    dtype: DTypeLike | None = None,
    out: Array | None = None,
    keepdims: bool = False,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Array:
    """Reduce axes by applying the function along them, element after element.

    Parameters
    ----------
    array : Array
        The elements.
    axis : int, tuple of int or None
        The axes that are reduced; None for all. Several only where the order of the elements does not matter.
    dtype : data type, optional
        What is computed in. Default: the dtype of the elements, or of `out`; of sums and products of integers at least 64 bits.
    {out}
    {keepdims}
    initial : number, optional
        What comes first. Default: nothing; of no elements the identity. None: nothing, and no elements are an error.
    {where}

    Returns
    -------
    Array
        Without the axes.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `array` is neither an Array nor a number, or the function does not give what it takes for these dtypes.
    ValueError
        The function does not take two operands and give one result; there are several axes and their order matters; there are no
        elements, or `where` is given, without an identity or `initial`; the shape of `out` or `where` does not fit.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.reshape(pp.arange(6), (2, 3))
    >>> pp.add.reduce(x)
    array([3, 5, 7])
    >>> pp.subtract.reduce(x, axis=1)
    array([-3, -6])
    >>> pp.maximum.reduce(x, axis=None, initial=10)
    array(10)
    """
    from pardo._ufunc import folding

    other = taken_over(folding.reduce, (array,))
    return (other or folding.reduce)(self, array, axis, dtype, out, keepdims, initial, where)


@filled
def accumulate(self: ufunc, array: Any, /, axis: int = 0, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
    """Give all that is on the way of `reduce` along one axis.

    Parameters
    ----------
    array : Array
        The elements.
    axis : int
        The axis.
    dtype : data type, optional
        What is computed in. Default: the dtype of the elements, or of `out`; of sums and products of integers at least 64 bits.
    {out}

    Returns
    -------
    Array
        Of the same shape.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `array` is neither an Array nor a number or has no dimensions, or the function does not give what it takes for these dtypes.
    ValueError
        The function does not take two operands and give one result; several axes are given, or the shape of `out` does not fit.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.multiply.accumulate(pp.asarray([2, 3, 5]))
    array([ 2,  6, 30])
    >>> pp.subtract.accumulate(pp.asarray([10.0, 3.0, 5.0]))
    array([10.,  7.,  2.])
    """
    from pardo._ufunc import folding

    other = taken_over(folding.accumulate, (array,))
    return (other or folding.accumulate)(self, array, axis, dtype, out)


@filled
def reduceat(self: ufunc, array: Any, /, indices: Any, axis: int = 0, dtype: DTypeLike | None = None, out: Array | None = None) -> Array:
    """Reduce slices of one axis: from each index to before the next one, from the last one to the end.

    Parameters
    ----------
    array : Array
        The elements.
    indices : Array of int or sequence of int
        Where slices start. Where the next one is not larger, the result is the element at the index alone.
    axis : int
        The axis.
    dtype : data type, optional
        What is computed in. Default: the dtype of the elements, or of `out`; of sums and products of integers at least 64 bits.
    {out}

    Returns
    -------
    Array
        With as many elements along the axis as there are indices.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    IndexError
        An index is negative or beyond the axis: of indices on a device this is raised later, at the next wait.
    TypeError
        `array` is neither an Array nor a number or has no dimensions, the indices are no integers, or the function does not give what
        it takes for these dtypes.
    ValueError
        The function does not take two operands and give one result; the indices have not one dimension, or the shape of `out` does not
        fit.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.add.reduceat(pp.arange(8), [0, 4, 1, 5])
    array([ 6,  4, 10, 18])
    """
    from pardo._ufunc import folding

    other = taken_over(folding.reduceat, (array,))
    return (other or folding.reduceat)(self, array, indices, axis, dtype, out)


def outer(self: ufunc, a: Any, b: Any, /, **keywords: Any) -> Any:
    """Apply the function to all pairs of an element of the first and one of the second operand.

    Parameters
    ----------
    a, b : Array or number
        The operands.
    **keywords
        As in a call: out, where, dtype, casting.

    Returns
    -------
    Array
        Of shape ``(*a.shape, *b.shape)``.

    Raises
    ------
    TypeError
        An operand is neither an Array nor a number, or the function takes vectors or matrices.
    ValueError
        The function does not take two operands.

    Examples
    --------
    >>> import pardo as pp
    >>> pp.add.outer(pp.asarray([1, 2]), pp.asarray([10, 20, 30]))
    array([[11, 21, 31],
           [12, 22, 32]])
    """
    from pardo._ufunc import places

    return places.outer(self, a, b, keywords)


def at(self: ufunc, a: Array, indices: Any, b: Any = np._NoValue, /) -> None:
    """Apply the function in place to the elements that an index names, once for each time that it names one.

    Parameters
    ----------
    a : Array
        The elements; written to.
    indices : Array of int, int, slice, ellipsis, Array of bool, or tuple of these
        As in ``a[indices]``.
    b : Array or number, optional
        The second operand, if the function takes one; broadcast to what the index names. What the function gives is cast to the dtype
        of `a`, whatever that is.

    Raises
    ------
    IndexError
        An index is out of bounds: of indices on a device this is raised later, at the next wait.
    TypeError
        An operand is neither an Array nor a number, or of a dtype that the function does not take.
    ValueError
        `b` is missing, not wanted, or does not fit; `a` is read-only; the function gives several results.

    Notes
    -----
    Where an element is named more than once, the function is applied in the order of the indices; where many indices name few elements,
    parts of them are taken together, in an order that the sizes decide. So the same input gives the same bits on the same device.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.zeros(4, dtype="int64")
    >>> pp.add.at(x, pp.asarray([0, 1, 1, 3]), 1)
    >>> x
    array([1, 2, 0, 1])
    """
    from pardo._ufunc import places

    (taken_over(places.at, (a,)) or places.at)(self, a, indices, b)


class Methods:
    """Is copied into `pardo.ufunc`; type checkers see it as a base class."""

    __slots__ = ()

    nargs = attribute(nargs)
    types = attribute(types)
    ntypes = attribute(ntypes)
    identity = attribute(identity)
    _reorderable = attribute(_reorderable)
    __signature__ = _Signature()
    reduce = reduce
    accumulate = accumulate
    reduceat = reduceat
    outer = outer
    at = at
