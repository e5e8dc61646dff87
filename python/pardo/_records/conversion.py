# python/pardo/_records/conversion.py: arrays of records as something else: another dtype, a copy, Python's tuples, NumPy's arrays, texts.
from __future__ import annotations

import itertools
import operator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike
from pardo import _core
from pardo._array.interop import shared_view
from pardo._array.methods import Methods
from pardo._base import promotion
from pardo._base.arguments import DeviceLike, default_queue, dtype_of, index, queue_of, queue_of_pickle
from pardo._base.notebook import ShownValues, bundle
from pardo._base.orders import copied_in_order, read_order
from pardo._base.records import is_described
from pardo._base.sizes import with_bytes
from pardo._core import Queue
from pardo._records.facts import Facts
from pardo._records.memory import as_bytes, uploaded, viewed
from pardo._runtime.transfers import implicit_copies_allowed

C = TypeVar("C", bound="Conversions")


class Conversions(Facts):
    """What `pardo.StructuredArray` is made of."""

    __slots__ = ()

    # --- conversions

    def astype(self, dtype: DTypeLike, order: str = "K", casting: str = "unsafe", *, copy: bool = True, device: DeviceLike = None) -> Any:
        """Copy of the records, cast to a specified type: fields by their positions.

        Parameters
        ----------
        dtype : data type
            A structured dtype of as many fields; a plain one for records of a single field.
        order : {'K', 'C', 'F', 'A'}
            How a new array lies in memory, as for `Array.astype`.
        casting : {'unsafe', 'same_kind', 'safe', 'equiv', 'no'}
            Which conversions are allowed.
        copy : bool
            Whether a new array is made when this one has that dtype already.
        device : Device or str, optional
            Where the result shall be.

        Returns
        -------
        StructuredArray or Array
            The converted records.
        """
        order = read_order(order, "astype")
        target = dtype_of(dtype, "astype", fields=True)
        if casting != "unsafe" and not promotion.can_cast(self._kind, target, casting):
            raise TypeError(f"astype: cannot cast from {self._kind} to {target} with casting rule {casting!r}")
        if target.names is None:
            return self._only_field(target).astype(target, order, device=device)
        made = self if target == self._kind else self._cast(target)
        if order != "K" or (copy and made is self):
            made = made.copy(order)
        return made if device is None else made._on(queue_of(device, None, self.queue, "astype"))

    def copy(self: C, order: str = "C") -> C:
        """Return a copy of the array.

        Parameters
        ----------
        order : {'C', 'F', 'A', 'K'}
            How the copy lies in memory, as for `Array.copy`.

        Returns
        -------
        StructuredArray
            Of the same shape and dtype, on the same queue.
        """
        order = read_order(order, "copy")
        if order == "A":
            order = "F" if self.flags.fnc else "C"
        if order == "F":
            turned = self.transpose()
            return self._shown(as_bytes(copied_in_order(turned._words(), "C"))).transpose()
        return self._moved(lambda words: copied_in_order(words, order))

    def view(self, dtype: DTypeLike | None = None, type: Any = None) -> Any:
        """Return a new view of the same memory, as records or numbers of another dtype.

        Parameters
        ----------
        dtype : data type, optional
            What the bytes are read as. Default: the array's own dtype.
        type : None
            NumPy's; there are no subclasses.

        Returns
        -------
        StructuredArray or Array
            Shares the memory. With a dtype of another size the last axis has another extent.

        Raises
        ------
        ValueError
            Fields of one of the dtypes are not at multiples of their sizes, or the bytes cannot be divided so.
        """
        if type is not None:
            raise TypeError("view: type must be None: pardo's arrays have no subclasses")
        return self._viewed(self._kind if dtype is None else dtype_of(dtype, "view", fields=True))

    def getfield(self, dtype: DTypeLike, offset: int = 0) -> Any:
        """Return the numbers or records that lie at an offset in each record, as a view.

        Parameters
        ----------
        dtype : data type
            What lies there.
        offset : int
            Bytes from the beginning of a record.

        Returns
        -------
        Array or StructuredArray
            Of the same shape.
        """
        wanted, start = dtype_of(dtype, "getfield", fields=True), index(offset, "getfield: offset")
        if start < 0 or start + wanted.itemsize > self.itemsize:
            raise ValueError(f"getfield: {wanted.itemsize} bytes at offset {start} are not inside of a record of {self.itemsize} bytes")
        self._check_as_described("getfield")
        return viewed(type(self), self._memory[..., start : start + wanted.itemsize], wanted, "getfield")

    def setfield(self, val: Any, dtype: DTypeLike, offset: int = 0) -> None:
        """Put a value into the place in each record that `getfield` gives.

        Parameters
        ----------
        val : object
            The value, broadcast.
        dtype : data type
            What lies there.
        offset : int
            Bytes from the beginning of a record.
        """
        self.getfield(dtype, offset)[...] = val

    def item(self, *args: Any) -> Any:
        """Copy a record to a tuple of Python numbers and return it. Waits for it.

        Parameters
        ----------
        *args : int or tuple of int
            Which: an index into the flattened array, or one for each axis. Not needed for arrays of one record.

        Returns
        -------
        tuple
            The fields.
        """
        if not args:
            if self.size != 1:
                raise ValueError(
                    f"item: can only convert an array of size 1 to a Python scalar, and it has {self.size}; say which: item(i)"
                )
            return self._to_host().item()
        place = args[0] if len(args) == 1 else args
        if not isinstance(place, tuple):
            i = operator.index(place)
            if not -self.size <= i < self.size:
                raise IndexError(f"item: index {i} is out of bounds for size {self.size}")
            place = tuple(int(k) for k in np.unravel_index(i % self.size, self.shape))
        if len(place) != self.ndim:
            raise ValueError(f"item: there are {len(place)} indices for {self.ndim} dimensions")
        return self[tuple(map(operator.index, place))]._to_host().item()

    def tolist(self) -> Any:
        """Return the array as nested lists of tuples of Python numbers, one level a dimension. Waits for them."""
        return self._to_host().tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """Construct Python bytes of the records, as their dtype lays them out. Waits for them."""
        letter = read_order(order, "tobytes", default="C")
        return self._to_host().tobytes("F" if letter == "F" or (letter == "A" and self.flags.fnc) else "C")

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the records to a file as bytes, or as text; `pardo.fromfile` reads them."""
        self._to_host().tofile(fid, sep, format)

    def get(self) -> np.ndarray[Any, Any]:
        """Copy the array to the host, as a NumPy array. Waits for it."""
        return self._to_host()

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Copy the array, from any device, to a new NumPy array, as `get`; see `Array.to_numpy`."""
        return self._to_host()

    def _on(self: C, queue: Queue) -> C:
        return self if queue == self.queue else self._shown(self._memory._to_queue(queue))

    def to_device(self: C, device: DeviceLike, /) -> C:
        """Copy the array to a device; on the same memory when it is there already."""
        if device is None:
            raise TypeError("to_device: a device is needed, not None")
        return self._on(queue_of(device, None, self.queue, "to_device"))

    def to_queue(self: C, queue: Queue, /) -> C:
        """Copy the array to a queue; on the same memory when it is there already."""
        if queue is None:
            raise TypeError("to_queue: a queue is needed, not None")
        return self._on(queue_of(None, queue, op_name="to_queue"))

    # --- the host

    def _host_view(self) -> np.ndarray[Any, Any] | None:
        """NumPy's view of the memory; None where the host does not see it, or the fields lie elsewhere than the dtype says."""
        if self._stored != self._kind or not self.device._in_host_memory or not self._kind.itemsize:
            return None
        return shared_view(self._memory).view(self._kind).reshape(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        host = self._to_host() if copy else self._host_view()
        if host is None:
            if copy is False:
                raise ValueError(f"__array__: records of {self._kind} on {self.device} cannot be shown to the host without a copy")
            if not (self.device._in_host_memory or implicit_copies_allowed()):
                raise TypeError(
                    f"implicit conversion to a NumPy array is not possible for an array on {self.device}: use pardo.asnumpy(x); "
                    "pardo.allow_implicit_copies() lets other libraries copy"
                )
            _core._note_transfer("__array__", self.nbytes, self.device.id, False)
            host = self._to_host()
        if dtype is None or np.dtype(dtype) == host.dtype:
            return host
        if copy is False:
            raise ValueError(f"__array__: a conversion from {host.dtype} to {np.dtype(dtype)} needs a copy")
        return host.astype(dtype)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The records' memory for other libraries of the host, version 3 of the protocol, where its description holds the dtype.

        Consumers may write, so the memory is shared from now on: operations on it run at once.
        """
        host = self._host_view() if is_described(self._kind) else None
        if host is None:
            raise AttributeError(f"__array_interface__: records of {self._kind} on {self.device} cannot be described; use pardo.asnumpy(x)")
        return host.__array_interface__

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The records' memory for other libraries on CUDA devices, version 3 of the protocol: elements are ``'|V16'``, `descr` lists the
        fields. Consumers may write, so operations on it run at once from now on."""
        entries: Any = self._memory.__cuda_array_interface__
        try:
            fields = self._kind.descr if self._stored == self._kind else None
        except ValueError:  # they overlap, or are out of order
            fields = None
        if fields is None:
            raise AttributeError(f"__cuda_array_interface__: records of {self._kind} lie otherwise in memory; make them with align=True")
        strides = entries["strides"]
        return {
            **entries,
            "shape": self.shape,
            "strides": None if strides is None else strides[:-1],
            "typestr": self._kind.str,
            "descr": fields,
        }

    @property
    def ctypes(self) -> Any:
        """NumPy's object for calls by the module `ctypes`; only where the memory is the host's and lies as the dtype says."""
        host = self._host_view()
        if host is None:
            raise AttributeError(
                f"ctypes: the host cannot read records of {self._kind} on {self.device} where they are; use pardo.asnumpy(x)"
            )
        return host.ctypes

    @classmethod
    def _of_pickle(cls, host: np.ndarray[Any, Any], device: str, usm_type: str = "device") -> Any:
        """A pickled array, on the device it came from if this process has it, else on the default device."""
        queue = queue_of_pickle(device)
        if queue is None:
            queue, usm_type = default_queue(), "device"
        return cls._made(*uploaded(host, queue, "StructuredArray", usm_type))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self)._of_pickle, (self._to_host(), self.device.id, self.usm_type)

    dump, dumps = Methods.dump, Methods.dumps
    as_future, __await__, __array_namespace__ = Methods.as_future, Methods.__await__, Methods.__array_namespace__
    ipc_handle, external_handle = Methods.ipc_handle, Methods.external_handle

    def __copy__(self: C) -> C:
        return self._copied()

    def __deepcopy__(self: C, memo: dict[int, Any]) -> C:
        memo[id(self)] = made = self._copied()
        return made

    def _printed(self) -> np.ndarray[Any, Any]:
        """The records on the host; of many only those that NumPy prints."""
        options = np.get_printoptions()
        edge = int(options["edgeitems"])
        if self.size <= options["threshold"]:
            return self._to_host()
        host = np.zeros(self.shape, self._kind)
        ends = [[slice(None)] if n <= 2 * edge else [slice(0, edge), slice(n - edge, n)] for n in self.shape]
        for corner in itertools.product(*ends):
            host[corner] = self[corner]._to_host()
        return host

    def __repr__(self) -> str:
        return np.array_repr(self._printed())

    def __str__(self) -> str:
        return np.array_str(self._printed())

    def _shown_values(self) -> ShownValues:
        pending = self.pending
        facts = (f"shape {self.shape}", str(self.dtype), with_bytes(self.nbytes), self.device.id)
        return ShownValues("StructuredArray", facts, pending, self.nbytes, lambda: repr(self), lambda: f"{self.memory_kind} memory")

    def _repr_html_(self) -> str:
        """For notebooks: a line of facts above the values."""
        return self._shown_values().html()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """For notebooks: all formats at once, so that a failure comes once."""
        return bundle(self._shown_values)

    def __format__(self, spec: str) -> str:
        if spec:
            raise TypeError("unsupported format string passed to pardo.StructuredArray.__format__")
        return str(self)
