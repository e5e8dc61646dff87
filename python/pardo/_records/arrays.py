# python/pardo/_records/arrays.py: arrays of records: indices, assignment, comparison, conversions, by NumPy's names.
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.methods import Methods
from pardo._base import face, promotion
from pardo._base.arguments import integers
from pardo._base.records import function_for, listed
from pardo._base.tracebacks import show_classes
from pardo._core import Array
from pardo._records.conversion import Conversions
from pardo._records.memory import RecordMemory, uploaded

__all__ = ["StructuredArray"]

_INTEGERS = (int, np.integer)
_OF_ONE = {  # operators that records have not got, by the names of NumPy's functions
    "neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal", "int": "int", "float": "float", "complex": "complex", "index": "index",
}  # fmt: skip
_METHODS = (
    "all", "any", "argmax", "argmin", "choose", "clip", "conj", "conjugate", "cumprod", "cumsum", "dot", "max", "mean", "min", "prod",
    "round", "std", "sum", "trace", "var",
)  # fmt: skip
_OF_TWO = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder", "pow": "power",
    "divmod": "divmod", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
    "rshift": "right_shift",
}  # fmt: skip


class StructuredArray(Conversions):
    """An array whose elements are records of several fields, as NumPy's arrays of structured dtypes.

    `zeros`, `empty`, `ones`, `full`, `array` and `asarray` make one when they are given a structured dtype or records of NumPy's.
    ``x["a"]`` is a view of a field: an array like any other, with all operations; what is written to it is written to the records. Kernels
    and compiled loops take the array for an array of records.

    See Also
    --------
    zeros, asarray, struct

    Notes
    -----
    ``isinstance(x, pardo.ndarray)`` is true, as in NumPy; ``type(x)`` is a class of its own. Arithmetic on whole records is a TypeError, as
    in NumPy.

    Devices read numbers at multiples of their sizes. A dtype that has them there is stored as it is, and NumPy's arrays share memory with
    it. Fields of others, as ``"u1, f8"`` without padding, lie further apart in the memory of devices: `strides` tells, and `view` with
    another dtype and sharing memory with NumPy's arrays are refused.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.array([(1, 2.0), (3, 4.0)], dtype=[("n", "i4"), ("v", "f8")])
    >>> x["v"] *= 10
    >>> x
    array([(1, 20.), (3, 40.)], dtype=[('n', '<i4'), ('v', '<f8')])
    >>> x[x["n"] > 2]
    array([(3, 40.)], dtype=[('n', '<i4'), ('v', '<f8')])
    """

    __module__ = "pardo"
    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    __array_priority__ = 1000.0

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """What `isinstance` asks beside the type: to users there is one class of arrays."""
        return Array

    # --- indices

    def __len__(self) -> int:
        if self._element:
            return len(self._fields)
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the first axis; of a single record over its fields."""
        if self._element:
            return map(self.__getitem__, self._fields)
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return map(self.__getitem__, range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool(_core.any(self._compared(value)))

    def _place(self, key: Any) -> tuple[tuple[Any, ...], bool, bool]:
        """An index with an ellipsis; whether it gives a view; whether it takes out one record."""
        parts = key if isinstance(key, tuple) else (key,)
        kinds = ["i" if isinstance(p, _INTEGERS) and not isinstance(p, bool) else "s" if isinstance(p, slice) else "." if p is Ellipsis else
                 "n" if p is None else "a" for p in parts]  # fmt: skip
        taken = sum(k in "is" for k in kinds)
        if "a" not in kinds and taken > self.ndim:
            raise IndexError(f"too many indices for array: array is {self.ndim}-dimensional, but {taken} were indexed")
        if "." not in kinds:
            parts = (*parts, Ellipsis)
        return parts, "a" not in kinds, taken == self.ndim and all(k == "i" for k in kinds)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._field(self._name_of(key))
        if isinstance(key, list) and key and all(isinstance(k, str) for k in key):
            return self._several(key)
        if self._element and isinstance(key, _INTEGERS):
            return self._field(self._fields[key])
        place, basic, one = self._place(key)
        if not basic:
            return self._moved(lambda words: words[(*place, slice(None))])
        view = self._shown(self._memory[(*place, slice(None))])
        view._element = one
        return view

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._element and isinstance(key, _INTEGERS):
            key = self._fields[key]
        if isinstance(key, str):
            field = self._field(self._name_of(key))
            if isinstance(field, RecordMemory):
                field._store(value)
            else:
                field[...] = value
            return
        if isinstance(key, list) and key and all(isinstance(k, str) for k in key):
            self._several(key)._store(value)
            return
        place, basic, _ = self._place(key)
        if basic:
            self._shown(self._memory[(*place, slice(None))])._store(value)
        else:
            self._store_at(place, self._given(value, "x[...] = value"))

    def fill(self, value: Any) -> None:
        """Store one record, or a number for all fields, in every record."""
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        """Sort the records in place, by the fields one after the other.

        Parameters
        ----------
        axis : int
            The axis along which is sorted.
        kind : {'quicksort', 'mergesort', 'heapsort', 'stable'}, optional
            NumPy's choice of algorithm; there is one, which is stable.
        order : str or list of str, optional
            Which fields are compared first; the others follow in their order.

        Raises
        ------
        TypeError
            A field is a sub-array.
        ValueError
            There is no such field.
        """
        self[...] = function_for("sort", TypeError(), (self,))(self, axis, kind, order)

    def compress(self, condition: Any, axis: int | None = None) -> StructuredArray:
        """As `pardo.compress` of this array."""
        return function_for("compress", TypeError(), (self,))(condition, self, axis)  # type: ignore[no-any-return]

    def partition(self, kth: Any, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        """Order the records in place so that those at some places are where sorting puts them; all others are sorted too.

        Parameters
        ----------
        kth : int or sequence of int
            The places.
        axis : int
            The axis along which is ordered.
        kind : {'introselect'}, optional
            NumPy's choice of algorithm; there is one.
        order : str or list of str, optional
            Which fields are compared first.
        """
        self.sort(axis, None, order)

    def byteswap(self, inplace: bool = False) -> StructuredArray:
        """Swap the bytes of all numbers in the records; see `Array.byteswap`."""
        made = self if inplace else self._copied()
        for leaf, _ in made._leaves():
            leaf.byteswap(True)
        return made

    def resize(self, *new_shape: Any, refcheck: bool = True) -> None:
        """Change the shape and the number of the records in place; see `Array.resize`."""
        given = new_shape[0] if len(new_shape) == 1 else new_shape
        if given is not None and given != ():
            self._parts = None
            self._memory.resize((*integers(given, "resize: shape"), self._stored.itemsize), refcheck=refcheck)

    flat = Methods.flat

    @property
    def mT(self) -> StructuredArray:  # noqa: N802
        """Matrices transposed: the last two axes swapped."""
        return face.namespace().matrix_transpose(self)  # type: ignore[no-any-return]

    # --- comparison, and what records have not got

    def _compared(self, other: Any) -> Array:
        if not isinstance(other, RecordMemory):
            host = other if isinstance(other, np.ndarray) else np.asarray(other)
            if type(other) is Array or host.dtype.names is None:
                raise TypeError("equal: Cannot compare structured or void to non-void arrays.")
            other = self._made(*uploaded(host, self.queue, "equal"))
        try:
            common = promotion.result_type(self._kind, other._kind)
        except TypeError:
            raise TypeError(f"equal: records of {self._kind} and of {other._kind} have no common dtype") from None
        if common.names != self._fields:
            raise TypeError(f"equal: records of {self._kind} and of {other._kind} have no common dtype")
        return self._equals(other)

    def __eq__(self, other: object) -> Any:
        return self._compared(other)

    def __ne__(self, other: object) -> Any:
        return _core.logical_not(self._compared(other))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth value of an array with more than one element is ambiguous; use any() or all() of a comparison")
        return bool(self._to_host())

    def __array_function__(self, func: Callable[..., Any], types: Sequence[type], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        found = function_for(func.__name__, TypeError(), (self,))
        if found is None:
            raise TypeError(f"{func.__name__}: {self._what()}")
        return found(*args, **kwargs)

    def _what(self) -> str:
        return f"there is no such operation on records of {listed(self._kind)}; take a field, as x[{(self._fields or ('f',))[0]!r}]"


def _as_function(name: str) -> Callable[..., Any]:
    def method(self: StructuredArray, *arguments: Any, **keywords: Any) -> Any:
        return function_for(name, TypeError(), (self,))(self, *arguments, **keywords)

    method.__name__, method.__qualname__ = name, f"StructuredArray.{name}"
    method.__doc__ = f"As `pardo.{name}` of this array."
    return method


def _refused(name: str) -> Callable[..., Any]:
    def refuse(self: StructuredArray, *_: Any) -> Any:
        raise TypeError(f"{name}: {self._what()}")

    return refuse


for _name in ("argpartition", "argsort", "diagonal", "nonzero", "put", "repeat", "searchsorted", "squeeze", "take"):
    setattr(StructuredArray, _name, _as_function(_name))
for _name in _METHODS:
    setattr(StructuredArray, _name, _refused(_name))
for _name, _numpy in _OF_ONE.items():
    setattr(StructuredArray, f"__{_name}__", _refused(_numpy))
for _name, _numpy in _OF_TWO.items():
    for _side in ("", "r", "i"):
        setattr(StructuredArray, f"__{_side}{_name}__", _refused(_numpy))


show_classes(__name__)
