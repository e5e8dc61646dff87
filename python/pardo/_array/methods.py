# python/pardo/_array/methods.py: the methods of Array that are written in Python. Most are the functions of the same name.
from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array import interop, joining, manipulation, printing, products, reductions, searching, sorting
from pardo._array.elementwise import clip
from pardo._array.elementwise import round as round_
from pardo._base.arguments import DeviceLike, axis_index, default_on, index, optional_dtype, queue_of, warn
from pardo._base.docstrings import filled
from pardo._core import Array, conjugate

if TYPE_CHECKING:
    import concurrent.futures
    from types import ModuleType


class Methods:
    """Is copied into `pardo.Array`; type checkers see it as a base class."""

    __slots__ = ()

    # NumPy's binary operators leave arrays of pardo alone: ours raise an error that says what to do.
    __array_ufunc__ = None
    __array_priority__ = 1000.0

    # --- conversion ----------------------------------------------------------------------------------------------------------

    __array__ = interop.to_array
    __reduce_ex__ = interop.reduce_ex
    __copy__ = interop.copy_array
    __deepcopy__ = interop.deepcopy_array
    __repr__ = printing.array_repr
    __str__ = printing.array_str
    __format__ = printing.array_format
    _repr_html_ = printing.array_html

    def __array_namespace__(self: Array, /, *, api_version: str | None = None) -> ModuleType:  # type: ignore[misc]
        """Return the namespace of the array API: the module `pardo`."""
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError(f"version {api_version!r} of the array API is not known; 2021.12 to 2025.12 are")
        return sys.modules["pardo"]

    def __iter__(self: Array) -> Iterator[Array]:  # type: ignore[misc]
        """Iterate over the first axis."""
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        self.force()
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self: Array, value: Any) -> bool:  # type: ignore[misc]
        """Tell whether an element equals the value."""
        return bool(reductions.any(_core.equal(self, value)))

    def __complex__(self: Array) -> complex:  # type: ignore[misc]
        """Return the element of an array without dimensions as a complex number."""
        if self.ndim != 0:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return complex(self._item())

    def __round__(self: Array, ndigits: int | None = None) -> Any:  # type: ignore[misc]
        """Round as the built-in function does: to an int without a number of digits."""
        return round_(self, 0 if ndigits is None else ndigits) if self.ndim or ndigits is not None else int(round_(self))

    def item(self: Array, *args: Any) -> Any:  # type: ignore[misc]
        """Copy an element of an array to a standard Python scalar and return it. Waits for it.

        Parameters
        ----------
        *args : int or tuple of int
            Which: an index into the flattened array, or one for each axis. Not needed for arrays of one element.

        Returns
        -------
        bool, int, float or complex
            The element.

        Raises
        ------
        IndexError
            An index is out of bounds.
        TypeError
            An index is no integer.
        ValueError
            The array has not one element, or there is not one index for each axis.
        """
        if not args:
            if self.size != 1:
                raise ValueError(
                    f"item: can only convert an array of size 1 to a Python scalar, and it has {self.size}; say which: item(i)"
                )
            return self._item()
        place = args[0] if len(args) == 1 else args
        if isinstance(place, tuple):
            if len(place) != self.ndim:
                raise ValueError(f"item: there are {len(place)} indices for {self.ndim} dimensions")
            for i, extent in zip(place, self.shape, strict=True):
                if not -extent <= _place(i) < extent:
                    raise IndexError(f"item: index {i} is out of bounds for an axis of size {extent}")
            return self[tuple(_place(i) for i in place)]._item()
        i = _place(place)
        if not -self.size <= i < self.size:
            raise IndexError(f"item: index {i} is out of bounds for size {self.size}")
        return self[tuple(int(k) for k in np.unravel_index(i % self.size, self.shape))]._item()

    def tolist(self: Array) -> Any:  # type: ignore[misc]
        """Return the array as nested lists of Python scalars, one level a dimension. Waits for them.

        Returns
        -------
        list, or a number
            As deep as the array has dimensions; the number itself for an array without dimensions.
        """
        return interop.asnumpy(self).tolist()

    def tobytes(self: Array, order: str = "C") -> bytes:  # type: ignore[misc]
        """Construct Python bytes containing the raw data bytes in the array. Waits for them.

        Parameters
        ----------
        order : {'C', 'F'}
            Whether they come row by row or column by column.

        Returns
        -------
        bytes
            ``nbytes`` of them, in the byte order of the machine.

        Raises
        ------
        ValueError
            `order` is something else.
        """
        return interop.asnumpy(self).tobytes(order)  # type: ignore[arg-type]

    def astype(  # type: ignore[misc]
        self: Array, dtype: DTypeLike, order: str = "K", casting: str = "unsafe", *, copy: bool = True, device: DeviceLike = None
    ) -> Array:
        """Copy of the array, cast to a specified type, as C does: floats are truncated, integers wrap.

        Parameters
        ----------
        dtype : data type
            The dtype of the result; None means float64, as in NumPy (float32 on a device that has no float64).
        order : {'K', 'C', 'A'}
            NumPy's choice of layout; new arrays lie row by row.
        casting : {'unsafe', 'same_kind', 'safe', 'equiv', 'no'}
            Which conversions are allowed; the default allows all.
        copy : bool
            Whether a new array is made when this one has that dtype already.
        device : Device or str, optional
            Where the result shall be.

        Returns
        -------
        Array
            The converted array.

        Raises
        ------
        TypeError
            `casting` does not allow the conversion, or pardo has no such dtype.
        ValueError
            `order` or `casting` is something else, or there is no such device.

        Warns
        -----
        ComplexWarning
            Complex numbers become real ones: their imaginary parts are lost.
        """
        if order not in _ORDERS:
            raise ValueError(f"astype: order is {order!r}; arrays are made row by row: 'C'")
        target = optional_dtype(dtype, "astype") or default_on(self.queue, np.float64)
        if casting != "unsafe":
            if casting not in ("same_kind", "safe", "equiv", "no"):
                raise ValueError(f"astype: casting is {casting!r}; it must be 'unsafe', 'same_kind', 'safe', 'equiv' or 'no'")
            if not np.can_cast(self.dtype, target, casting):  # type: ignore[arg-type]
                raise TypeError(f"astype: cannot cast from {self.dtype} to {target} with casting rule {casting!r}")
        r = self._astype(target, copy)
        if self.dtype.kind == "c" and r.dtype.kind in "iuf":
            warn("astype: the imaginary parts are discarded; take x.real to say so", np.exceptions.ComplexWarning)
        return r if device is None else r._to_queue(queue_of(device, None, self.queue, "astype"))

    def to_device(self: Array, device: DeviceLike, /, *, stream: Any = None) -> Array:  # type: ignore[misc]
        """Copy the array to a device.

        Parameters
        ----------
        device : Device or str
            The target.
        stream : None
            Queues of pardo order the copy; nothing else is supported.

        Returns
        -------
        Array
            On the same memory when it is there already, else a copy on the canonical queue of the device.

        Raises
        ------
        TypeError
            `device` is neither a Device nor a string.
        ValueError
            There is no such device, or `stream` is not None.
        """
        if stream is not None:
            raise ValueError("to_device: stream must be None; pardo orders the copy itself")
        if device is None:
            raise TypeError("to_device: a device is needed, not None")
        return self._to_queue(queue_of(device, None, self.queue, "to_device"))

    def as_future(self: Array) -> concurrent.futures.Future[Array]:  # type: ignore[misc]
        """Hand the computation over and return a future of it.

        Returns
        -------
        concurrent.futures.Future
            Resolves to the array when it is computed; a failure becomes its exception, with kernel and line. Cancelling it leaves
            the computation as it is.
        """
        from pardo._runtime import futures

        return futures.future_of_array(self)

    def __await__(self: Array) -> Generator[Any, None, Array]:  # type: ignore[misc]
        """Compute the array while other tasks of asyncio run; `await x` gives the array, or raises its failure."""
        from pardo._runtime import futures

        return futures.await_array(self)

    def to_queue(self: Array, queue: _core.Queue, /) -> Array:  # type: ignore[misc]
        """Copy the array to a queue.

        Parameters
        ----------
        queue : Queue
            The target.

        Returns
        -------
        Array
            On the same memory when it is there already, else a copy.

        Raises
        ------
        TypeError
            `queue` is no Queue.
        """
        if queue is None:
            raise TypeError("to_queue: a queue is needed, not None")
        return self._to_queue(queue_of(None, queue, who="to_queue"))

    def copy(self: Array, order: str = "C") -> Array:  # type: ignore[misc]
        """Return a copy of the array.

        Parameters
        ----------
        order : {'C', 'K', 'A'}
            NumPy's choice of layout; new arrays lie row by row.

        Returns
        -------
        Array
            Of the same shape and dtype, on the same queue.

        Raises
        ------
        ValueError
            `order` is something else.
        """
        if order not in _ORDERS:
            raise ValueError(f"copy: order is {order!r}; arrays are made row by row: 'C'")
        return self._copy()

    def flatten(self: Array, order: str = "C") -> Array:  # type: ignore[misc]
        """Return a copy of the array collapsed into one dimension.

        Parameters
        ----------
        order : {'C', 'F', 'A', 'K'}
            Whether elements are taken row by row or column by column; 'A' means column by column if the array lies so in memory,
            'K' as they lie in memory.

        Returns
        -------
        Array
            The elements; never a view.

        Raises
        ------
        ValueError
            `order` is something else.
        """
        return manipulation.ravel(self, order)._copy()

    def fill(self: Array, value: Any) -> None:  # type: ignore[misc]
        """Fill the array with a scalar value.

        Parameters
        ----------
        value : number or Array
            The value; converted to the dtype of this array as in ``x[...] = value``.

        Raises
        ------
        OverflowError
            A Python integer does not fit the dtype.
        TypeError
            The value is no number, or of a kind that the dtype cannot hold.
        ValueError
            The value is an array of another shape, or this array is read-only.
        """
        self[...] = value

    def put(self: Array, indices: Any, values: Any, mode: str = "raise") -> None:  # type: ignore[misc]
        """Set elements of the flattened array to values.

        Parameters
        ----------
        indices : Array of int
            Which; negative ones count from the end. Lists, numbers and NumPy arrays are taken too.
        values : Array or number
            What is stored there, in order; repeated from the start if there are fewer than indices. Lists and NumPy arrays are
            taken too.
        mode : {'raise', 'wrap', 'clip'}
            What happens to indices that are out of bounds; see `pardo.take`.

        Raises
        ------
        IndexError
            An index is out of bounds; late, at the next wait, if `indices` is an Array.
        TypeError
            Indices are no integers, or the values are of a kind that the dtype cannot hold.
        ValueError
            `mode` is something else, or this array is read-only.
        """
        searching.put(self, indices, values, mode)

    # --- attributes ------------------------------------------------------------------------------------------------------------

    @property
    def T(self: Array) -> Array:  # type: ignore[misc]  # noqa: N802
        """The array with its axes reversed."""
        return manipulation.permute_dims(self)

    @property
    def mT(self: Array) -> Array:  # type: ignore[misc]  # noqa: N802
        """Matrices transposed: the last two axes swapped."""
        return manipulation.matrix_transpose(self)

    @property
    def real(self: Array) -> Array:  # type: ignore[misc]
        """The real parts, as a view: writing to them writes here. An array of real numbers is its own."""
        return _core._part(self, 0) if self.dtype.kind == "c" else self

    @real.setter
    def real(self: Array, value: Any) -> None:  # type: ignore[misc]
        _core._part(self, 0)[...] = value

    @property
    def imag(self: Array) -> Array:  # type: ignore[misc]
        """The imaginary parts, as a view: writing to them writes here. Those of an array of real numbers are new zeros."""
        return _core._part(self, 1) if self.dtype.kind == "c" else _core.imag(self)

    @imag.setter
    def imag(self: Array, value: Any) -> None:  # type: ignore[misc]
        if self.dtype.kind != "c":
            raise TypeError(f"imag: an array of {self.dtype} has no imaginary parts to set")
        _core._part(self, 1)[...] = value

    # --- shape -----------------------------------------------------------------------------------------------------------------

    def reshape(self: Array, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:  # type: ignore[misc]
        """Return an array containing the same data with a new shape; see `pardo.reshape`.

        Parameters
        ----------
        *shape : int or tuple of int
            The new shape; one extent may be -1 and is then found from the others.
        order : {'C', 'F', 'A'}
            Whether elements are taken and placed row by row or column by column; 'A' means column by column if the array lies so in
            memory.
        copy : bool, optional
            True always copies, False refuses to; by default the result is a view if strides can express it.

        Returns
        -------
        Array
            A view where that is possible, else a copy.

        Raises
        ------
        TypeError
            An extent is no integer.
        ValueError
            The number of elements would change, `order` is something else, or `copy=False` is impossible.
        """
        return manipulation.reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)

    def transpose(self: Array, *axes: Any) -> Array:  # type: ignore[misc]
        """Return a view of the array with axes transposed; see `pardo.permute_dims`.

        Parameters
        ----------
        *axes : int or tuple of int
            For each axis of the result, the axis of this array. Default: the axes are reversed.

        Returns
        -------
        Array
            A view.

        Raises
        ------
        AxisError
            There is no such axis; a ValueError and an IndexError.
        TypeError
            An axis is no integer.
        ValueError
            There is not one axis for each dimension, or one is given twice.
        """
        one = len(axes) == 1 and (axes[0] is None or (isinstance(axes[0], Iterable) and getattr(axes[0], "ndim", None) != 0))
        order = axes[0] if one else axes or None
        if order is None:
            return manipulation.permute_dims(self)
        order = [axis_index(a, self.ndim, "transpose") for a in order]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"transpose: axes {tuple(order)} do not name each of {self.ndim} dimensions once")
        return _core._permute_dims(self, order)

    def partition(self: Array, kth: Any, axis: int = -1, kind: str | None = None) -> None:  # type: ignore[misc]
        """Partially sort the elements in the array in-place; see `pardo.partition`.

        Parameters
        ----------
        kth : int or sequence of int
            The places where elements shall be as sorting puts them.
        axis : int
            The axis.
        kind : {'introselect'}, optional
            NumPy's choice of algorithm; there is one.

        Raises
        ------
        AxisError
            There is no such axis; a ValueError and an IndexError.
        TypeError
            `kth` or `axis` are no integers.
        ValueError
            A place is out of bounds, `kind` is something else, or this array is read-only.
        """
        axis_index(axis, self.ndim, "partition")
        self._assign(sorting.partition(self, kth, axis, kind))

    @filled
    def sort(  # type: ignore[misc]
        self: Array, axis: int = -1, kind: str | None = None, *, descending: bool = False, stable: bool = True
    ) -> None:
        """Sort an array in-place; NaN comes last. See `pardo.sort`.

        Parameters
        ----------
        axis : int
            The axis.
        {kind}
        descending : bool
            Whether the largest element comes first.
        stable : bool
            Whether equal elements keep their order.

        Raises
        ------
        AxisError
            There is no such axis; a ValueError and an IndexError.
        TypeError
            `axis` is no integer.
        ValueError
            `kind` is something else, or this array is read-only.
        """
        axis_index(axis, self.ndim, "sort")
        self._assign(sorting.sort(self, axis, kind, descending=descending, stable=stable))

    def searchsorted(self: Array, v: Any, side: str = "left", sorter: Any = None) -> Array:  # type: ignore[misc]
        """Find indices where elements should be inserted to maintain order; see `pardo.searchsorted`.

        Parameters
        ----------
        v : Array or number
            The values.
        side : {'left', 'right'}
            Whether values go before or behind elements that are equal.
        sorter : Array of int, optional
            Indices that sort this array, as `argsort` gives them.

        Returns
        -------
        Array
            Of int64 and the shape of `v`.

        Raises
        ------
        TypeError
            `v` is neither an Array nor a number, or `sorter` is no Array of integers.
        ValueError
            This array has not one dimension, or `side` is something else.
        """
        return searching.searchsorted(self, v, side, sorter)

    def repeat(self: Array, repeats: Any, axis: int | None = None) -> Array:  # type: ignore[misc]
        """Repeat elements of an array; see `pardo.repeat`.

        Parameters
        ----------
        repeats : int, or Array or sequence of int
            How often: one number for all elements, or one for each along the axis.
        axis : int, optional
            The axis. Default: the array is flattened.

        Returns
        -------
        Array
            A new array.

        Raises
        ------
        AxisError
            There is no such axis; a ValueError and an IndexError.
        TypeError
            `repeats` or `axis` are no integers.
        ValueError
            A number is negative, or there is not one for each element along the axis.
        """
        return joining.repeat(self, repeats, axis=axis)

    @filled
    def compress(self: Array, condition: Any, axis: int | None = None, out: Array | None = None) -> Array:  # type: ignore[misc]
        """Return selected slices of this array along given axis; see `pardo.compress`.

        Parameters
        ----------
        condition : Array
            One-dimensional; may be shorter than the axis. Lists and NumPy arrays are taken too.
        axis : int, optional
            The axis. Default: the array is flattened.
        {out}

        Returns
        -------
        Array
            A new array. Waits: the shape depends on the values.

        Raises
        ------
        IndexError
            The condition holds beyond the end of the axis.
        AxisError
            There is no such axis; a ValueError and an IndexError.
        TypeError
            `axis` is no integer, or `out` is no Array or of a dtype of another kind.
        ValueError
            `condition` has not one dimension, or the shape of `out` does not fit.
        """
        return searching.compress(condition, self, axis, out)

    def conj(self: Array) -> Array:  # type: ignore[misc]
        """Complex-conjugate all elements.

        Returns
        -------
        Array
            A new array of the same dtype; real numbers stay as they are.
        """
        return conjugate(self)

    conjugate = conj
    ravel = manipulation.ravel
    squeeze = manipulation.squeeze
    swapaxes = manipulation.swapaxes
    diagonal = manipulation.diagonal
    sum = reductions.sum
    prod = reductions.prod
    max = reductions.max
    min = reductions.min
    mean = reductions.mean
    var = reductions.var
    std = reductions.std
    all = reductions.all
    any = reductions.any
    cumsum = reductions.cumsum
    cumprod = reductions.cumprod
    argmax = searching.argmax
    argmin = searching.argmin
    nonzero = searching.nonzero
    take = searching.take
    argsort = sorting.argsort
    argpartition = sorting.argpartition
    clip = clip
    round = round_
    dot = products.dot
    trace = products.trace


_ORDERS = ("C", "K", "A")


def _place(i: Any) -> int:
    """An index of `item`; a bool is none, though Python takes it for an integer."""
    if isinstance(i, bool):
        raise TypeError("item: index must be an integer, not bool")
    return index(i, "item: index")


def attach(methods: type, target: type) -> None:
    """Copies methods into a class of the core; messages of Python itself shall say `Array.astype()` and not `Methods.astype()`."""
    skip = {"__module__", "__qualname__", "__doc__", "__slots__", "__dict__", "__weakref__", "__annotations__"}
    skip |= {"__static_attributes__", "__firstlineno__"}
    for name, value in vars(methods).items():
        if name not in skip:
            if getattr(value, "__qualname__", "").startswith(f"{methods.__name__}."):
                value.__qualname__ = f"{target.__name__}.{name}"
            setattr(target, name, value)
