# python/pardo/_sparse/stored.py: how sparse arrays are made of what is given, what they share in all formats, and the way to SciPy.
from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import asarray, asnumpy, shared_view
from pardo._base.arguments import DeviceLike, default_on, dtype_of, index, optional_dtype, queue_of
from pardo._base.promotion import kind_of
from pardo._core import Array, Queue, _is_host_data
from pardo._sparse.base import KINDS, is_scipy, sparray
from pardo._sparse.indexing import Indexing
from pardo._sparse.structure import cast, from_dense, index_dtype, no_rows


def extent_of(shape: Any, op_name: str) -> tuple[int, int]:
    """A shape of two dimensions."""
    try:
        extents = [index(n, f"{op_name}: shape") for n in shape]
    except TypeError:
        raise TypeError(f"{op_name}: shape must be two integers, not {shape!r}") from None
    if len(extents) != 2:
        raise ValueError(f"{op_name}: sparse arrays have two dimensions; shape is {tuple(extents)}")
    if min(extents) < 0:
        raise ValueError(f"{op_name}: 'shape' elements cannot be negative: {tuple(extents)}")
    return extents[0], extents[1]


def _is_shape(x: Any) -> bool:
    return len(x) == 2 and all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in x)


def _home_of(parts: Any) -> Queue | None:
    """The queue of the first array of pardo among some values."""
    return next((x.queue for x in parts if type(x) is Array), None)


def line_of(x: Any, queue: Queue, copy: bool, what: str, dtype: Any = None) -> Array:
    """An array of one dimension: that itself, or memory of the host where the device can use it, or a copy."""
    if type(x) is not Array:
        shares = not copy and isinstance(x, np.ndarray) and queue.device._takes_host_memory and x.flags.aligned
        shares = shares and x.dtype.isnative and kind_of(x.dtype) in "biufc" and (dtype is None or x.dtype == dtype)
        x = asarray(x, queue=queue, copy=False if shares else None)
    elif x.queue != queue:
        raise _core.ExecutionPlacementError(f"{what} is on {x.queue!r}, and other parts are on {queue!r}; copy it with to_queue")
    elif copy:
        x = x._copy()
    if x.ndim != 1:
        raise ValueError(f"{what} should be 1-D, and has {x.ndim} dimensions")
    line: Array = x if dtype is None else cast(x, dtype)
    return line


def indices_of(given: Any, queue: Queue, copy: bool, what: str) -> Array:
    x = line_of(given, queue, copy, what)
    if x._kind not in "iu":
        if x.size:
            raise TypeError(f"{what} must be integers, not {x.dtype}")
        x = cast(x, np.int32)
    return x


def check_inside(x: Array, extent: int, what: str) -> None:
    least, most = int(x.min()), int(x.max())
    if least < 0:
        raise ValueError(f"{what} must be >= 0, and one is {least}")
    if most >= extent:
        raise ValueError(f"{what} must be < {extent}, and one is {most}")


def no_axes(axes: Any) -> None:
    if axes not in (None, (1, 0)):
        raise ValueError(f"transpose: axes must be None: a sparse array has two axes, which are swapped, not {axes!r}")


class Stored(Indexing):
    """What the constructors of all formats share."""

    def __init__(
        self,
        arg1: Any,
        shape: Any = None,
        dtype: Any = None,
        copy: bool = False,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
    ) -> None:
        op_name = type(self).__name__
        wanted = optional_dtype(dtype, op_name)
        given = None if shape is None else extent_of(shape, op_name)
        if isinstance(arg1, sparray):
            self._take(arg1, device, queue, copy)
        elif is_scipy(arg1):
            self._take(from_scipy(arg1, queue_of(device, queue, None, op_name), copy), None, None, False)
        elif isinstance(arg1, tuple) and _is_shape(arg1):
            extent = extent_of(arg1, op_name)
            target = queue_of(device, queue, None, op_name)
            self._take(KINDS["csr"]._made(no_rows(extent, wanted or default_on(target, np.float64), target), 2), None, None, False)
        elif isinstance(arg1, tuple):
            target = queue_of(device, queue, _home_of([*arg1, *(arg1[1] if len(arg1) == 2 and isinstance(arg1[1], (tuple, list)) else ())]))
            self._fill(arg1, given, target, copy)
        else:
            if type(arg1) is not Array and not _is_host_data(arg1):
                raise TypeError(f"{op_name}: a sparse or dense array, a shape or a tuple of arrays is expected, not {type(arg1).__name__}")
            x = asarray(arg1, device=device, queue=queue)
            if x.ndim != 2:
                raise ValueError(f"{op_name}: expected an array of two dimensions, got {x.ndim}")
            self._take(KINDS["csr"]._made(from_dense(x), 2), None, None, False)
        if given is not None and given != self.shape:
            raise ValueError(f"{op_name}: inconsistent shapes: {self.shape} != {given}")
        if wanted is not None and wanted != self.dtype:
            self.data = cast(self.data, wanted)

    def _take(self, other: sparray, device: DeviceLike, queue: Queue | None, copy: bool) -> None:
        """Become what another sparse array is, on a device."""
        other = other.asformat(self.format, copy=copy)
        if device is not None or queue is not None:
            other = other.to_queue(queue_of(device, queue, other.queue))  # type: ignore[attr-defined]
        self.__dict__.update(other.__dict__)

    def _fill(self, parts: tuple[Any, ...], shape: tuple[int, int] | None, queue: Queue, copy: bool) -> None:
        """Become what a tuple of arrays says."""
        raise NotImplementedError

    def _read(self, x: Any, queue: Queue) -> Any:
        return from_scipy(x, queue, False)

    def _arrays(self) -> dict[str, Array]:
        """The arrays that it consists of, by the names of the attributes."""
        return {name: x for name, x in self.__dict__.items() if type(x) is Array}

    def to_queue(self, queue: Queue, /) -> Any:
        """Copy the array to a queue.

        Parameters
        ----------
        queue : Queue
            The target.

        Returns
        -------
        csr_array, csc_array or coo_array
            The array itself if it is there already.

        Raises
        ------
        TypeError
            `queue` is not a Queue.
        """
        target = queue_of(None, queue, None, "to_queue")
        if queue is None or target == self.queue:
            return self
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.__dict__.update({name: x.to_queue(target) for name, x in self._arrays().items()})
        return made

    def to_device(self, device: DeviceLike, /) -> Any:
        """Copy the array to a device.

        Parameters
        ----------
        device : Device or str
            The target.

        Returns
        -------
        csr_array, csc_array or coo_array
            The array itself if it is there already.

        Raises
        ------
        TypeError
            `device` is neither a Device nor a string.
        ValueError
            There is no such device.
        """
        if device is None:
            raise TypeError("to_device: a device is needed, not None")
        return self.to_queue(queue_of(device, None, self.queue, "to_device"))

    def to_scipy(self, copy: bool = False) -> Any:
        """Make a sparse array of SciPy's of the same format.

        Parameters
        ----------
        copy : bool
            Whether it has memory of its own in any case. Without it, an array on the CPU shares its memory.

        Returns
        -------
        scipy.sparse.csr_array, csc_array or coo_array
            The same entries, in the same order.

        Raises
        ------
        ImportError
            SciPy is not installed.
        """
        scipy = importlib.import_module("scipy.sparse")
        shares = not copy and self.device._in_host_memory
        parts = {name: shared_view(x) if shares and x.size else asnumpy(x) for name, x in self._arrays().items()}
        kind = getattr(scipy, f"{self.format}_array")
        if self.format == "coo":
            return kind((parts["data"], (parts["row"], parts["col"])), shape=self.shape)
        return kind((parts["data"], parts["indices"], parts["indptr"]), shape=self.shape)

    def reshape(self, *shape: Any, order: str = "C", copy: bool = False) -> Any:
        """Give a new shape to a sparse array without changing its data.

        Parameters
        ----------
        *shape : int or tuple of int
            Two numbers of the same product; one of them may be -1.
        order : {'C', 'F'}
            In which order the elements are counted.
        copy : bool
            Whether an array of this shape is copied too.

        Returns
        -------
        csr_array, csc_array or coo_array
            In the same format.

        Raises
        ------
        ValueError
            There is another number of elements, or there are not two dimensions.
        """
        wanted = list(shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape)
        if order not in ("C", "F"):
            raise ValueError(f"reshape: order must be 'C' or 'F', not {order!r}")
        m, n = self.shape
        if len(wanted) != 2:
            raise ValueError(f"reshape: sparse arrays have two dimensions; shape is {tuple(wanted)}")
        if -1 in wanted:
            other = wanted[1 - wanted.index(-1)]
            wanted[wanted.index(-1)] = m * n // other if other else 0
        extent = extent_of(wanted, "reshape")
        if extent[0] * extent[1] != m * n:
            raise ValueError(f"reshape: cannot reshape array of size {m * n} into shape {extent}")
        if extent == self.shape:
            return self.copy() if copy else self
        if order == "F":
            return self.T.reshape(extent[::-1]).T.asformat(self.format)
        coo = self.tocoo()
        flat = cast(coo.row, np.int64) * n + coo.col
        dtype = index_dtype(*extent, self.nnz)
        row = flat // max(extent[1], 1)
        return KINDS["coo"]._of(cast(row, dtype), cast(flat - row * extent[1], dtype), coo.data._copy(), extent).asformat(self.format)


def from_scipy(x: Any, queue: Queue, copy: bool) -> Any:
    """A sparse array or matrix of SciPy's, in its format or as a csr_array; memory is shared where the device allows it."""
    if x.ndim != 2:
        raise ValueError(f"a sparse array of SciPy's with {x.ndim} dimension{'s' * (x.ndim != 1)}: two are expected")
    if x.format not in ("csr", "csc", "coo"):
        x = x.tocsr()
    kind = KINDS[x.format]
    dtype_of(x.dtype, kind.__name__, any_order=True)
    parts = (x.data, (x.row, x.col)) if x.format == "coo" else (x.data, x.indices, x.indptr)
    return kind(parts, x.shape, copy=copy, queue=queue)
