# python/pardo/_sharding/array.py: ShardedArray: the parts of one array on several devices.
from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._base import face
from pardo._base.notebook import ShownValues, bundle, html_table, is_image
from pardo._base.sizes import with_bytes
from pardo._core import Array
from pardo._runtime.transfers import implicit_copies_allowed
from pardo._sharding.device import ShardedDevice
from pardo._sharding.failures import name_part
from pardo._sharding.functions import call
from pardo._sharding.group import Group
from pardo._sharding.layout import Layout

if TYPE_CHECKING:
    from types import ModuleType

_NUMBERS = frozenset((int, float, bool, complex, np.float64, np.float32, np.int64))


def _binary(function: Callable[[Any, Any], Any], name: str, reflected: bool = False) -> Any:
    """An operator; two arrays of one layout, and Python's numbers, go straight to the parts."""

    def method(self: ShardedArray, other: Any) -> Any:
        kind, parts, made, p = type(other), self._parts, {}, -1
        try:
            if kind in _NUMBERS:
                for p, x in parts.items():
                    made[p] = function(other, x) if reflected else function(x, other)
            elif kind is ShardedArray and (other._layout is self._layout or other._layout == self._layout):
                others = other._parts
                for p, x in parts.items():
                    made[p] = function(x, others[p])
            else:
                return _general(name, (other, self) if reflected else (self, other))
        except Exception as error:
            if p >= 0:
                name_part(error, self._group, p, parts[p])
            raise
        return sharded(self._group, self._layout, made)

    return method


def _general(name: str, operands: tuple[Any, Any]) -> Any:
    for x in operands:
        if not (isinstance(x, (ShardedArray, Array, np.ndarray, np.generic, int, float, complex, list, tuple)) or _core._is_host_data(x)):
            if name in ("equal", "not_equal") and (x is None or isinstance(x, (str, bytes))):  # equal to no number
                this = operands[0] if type(operands[0]) is ShardedArray else operands[1]
                compare = operator.eq if name == "equal" else operator.ne
                return sharded(this._group, this._layout, mapped(this, functools.partial(_compared, compare, x)))
            return NotImplemented
    return call(name, operands, {})


def _compared(compare: Callable[[Any, Any], Any], other: Any, part: Any) -> Any:
    return compare(part, other)


def _unary(function: Callable[[Any], Any]) -> Any:
    def method(self: ShardedArray) -> ShardedArray:
        return sharded(self._group, self._layout, mapped(self, function))

    return method


def _in_place(function: Callable[[Any, Any], Any], name: str) -> Any:
    def method(self: ShardedArray, other: Any) -> Any:
        if not self.shape and any(x._is_scalar_value() for x in self._parts.values()):
            return function(self, other)  # results without dimensions are values, as numbers are: a new one takes the name
        return call("in place", (self, name, other), {})

    return method


def _named(name: str) -> Any:
    """The method that is the function of that name."""

    def method(self: ShardedArray, /, *args: Any, **kwargs: Any) -> Any:
        return call(name, (self, *args), kwargs)

    method.__name__ = name
    method.__qualname__ = f"ShardedArray.{name}"
    method.__doc__ = f"`pardo.{name}` of the array."
    return method


class ShardedArray:
    """One array whose parts are on several devices.

    `shard` makes it. It has the names of `Array`; functions of pardo, and NumPy's, work on it as on a plain array, part by part. The page
    "More than one device" of the documentation lists which functions split, and how.

    Attributes
    ----------
    shards : tuple of Array
        The parts of this process, in their order. They are the array's memory: what is written into them is written into it.
    axis : int or None
        The axis that is split; None where each device has the whole array.
    bounds : tuple of int
        Part p has the indices ``bounds[p]`` to ``bounds[p + 1]`` of the axis.
    devices : tuple of Device
        One a part.
    device : ShardedDevice
        What `device` of functions that make arrays takes.

    See Also
    --------
    shard

    Examples
    --------
    >>> import pardo as pp
    >>> s = pp.shard(pp.arange(6.0), pp.Device("cpu").create_sub_devices(1), axis=0)
    >>> (s * 2).sum()
    ShardedArray(30.)
    >>> s[1:4]
    ShardedArray([1., 2., 3.])
    """

    __slots__ = ("__weakref__", "_device", "_dtype", "_group", "_layout", "_margins", "_parts")
    _group: Group
    _layout: Layout
    _parts: dict[int, Array]
    _dtype: np.dtype[Any]
    _device: ShardedDevice | None
    _margins: Any  # room around the parts for rows of their neighbours (halos.py)

    __array_priority__ = 2000.0
    __hash__ = None  # type: ignore[assignment]

    def __new__(cls, *args: Any, **kwargs: Any) -> ShardedArray:
        raise TypeError("ShardedArray: use pardo.shard(x, devices, axis=0)")

    # --- what it is ---------------------------------------------------------------------------------------------------------------

    @property
    def group(self) -> Group:
        """The parts' places, and what is exchanged between them."""
        return self._group

    @property
    def layout(self) -> Layout:
        """Axis and bounds of the split."""
        return self._layout

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the whole array."""
        return self._layout.shape

    @property
    def axis(self) -> int | None:
        """The axis that is split; None where each device has the whole array."""
        return self._layout.axis

    @property
    def bounds(self) -> tuple[int, ...]:
        """Part p has the indices ``bounds[p]`` to ``bounds[p + 1]`` of the axis; empty where nothing is split."""
        return self._layout.bounds

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._layout.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self._layout.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, counted once."""
        return self.size * self._dtype.itemsize

    @property
    def device(self) -> ShardedDevice:
        """The devices, as one object that `device` of functions that make arrays takes."""
        if self._device is None:
            self._device = ShardedDevice(self._group)
        return self._device

    @property
    def devices(self) -> tuple[Any, ...]:
        """The device of each part."""
        return self._group.keys

    @property
    def shards(self) -> tuple[Array, ...]:
        """The parts of this process, in their order: plain arrays, which are this one's memory."""
        return tuple(self._parts.values())

    @property
    def T(self) -> ShardedArray:  # noqa: N802 (NumPy's name)
        """The array with its axes in reverse order: a view."""
        return call("permute_dims", (self, tuple(range(self.ndim))[::-1]), {})  # type: ignore[no-any-return]

    @property
    def mT(self) -> ShardedArray:  # noqa: N802 (the array API's name)
        """The array with its last two axes exchanged: a view."""
        return call("matrix_transpose", (self,), {})  # type: ignore[no-any-return]

    @property
    def real(self) -> ShardedArray:
        """The real parts: a view; the array itself if its elements are real."""
        return sharded(self._group, self._layout, mapped(self, operator.attrgetter("real")))

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> ShardedArray:
        """The imaginary parts: a view; zeros that cannot be written if its elements are real."""
        return sharded(self._group, self._layout, mapped(self, operator.attrgetter("imag")))

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(Array, name):
            raise AttributeError(
                f"'ShardedArray' object has no attribute {name!r}: it is over several devices; take one of a part, s.shards[0].{name}, or "
                f"gather the array on one device, s.to_device(d).{name}"
            )
        raise AttributeError(f"'ShardedArray' object has no attribute {name!r}")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType:
        """The namespace of the array API: the module `pardo`."""
        return self._parts[self._group.owned[0]].__array_namespace__(api_version=api_version)

    # --- where it is --------------------------------------------------------------------------------------------------------------

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Copy the array to one device, or to several others.

        Parameters
        ----------
        device : Device, str or ShardedDevice
            The target. A copy over several devices is split along the same axis.
        stream : None
            Queues of pardo order the copy; nothing else is supported.

        Returns
        -------
        Array or ShardedArray
            The copy.
        """
        if stream is not None:
            raise ValueError("to_device: stream must be None: queues of pardo order the copy")
        return call("to_device", (self, device), {})

    def reshard(self, axis: int | None, bounds: Sequence[int] | None = None) -> ShardedArray:
        """Split the array along another axis, or at other bounds.

        Parameters
        ----------
        axis : int or None
            The axis to split. None: each device gets the whole array.
        bounds : sequence of int, optional
            One more than there are parts, from 0 to the extent of the axis, not decreasing. Default: equal parts, or those of the weights
            of the array's devices.

        Returns
        -------
        ShardedArray
            A copy. Each part sends each other what that needs, and nothing else.

        Raises
        ------
        AxisError
            There is no such axis.
        ValueError
            The bounds do not fit.
        """
        return call("reshard", (self, axis, bounds), {})  # type: ignore[no-any-return]

    def map_shards(
        self, f: Callable[..., Any], *others: Any, halo: Any = 0, mode: str | None = None, cval: Any = 0, axis: Any = "same"
    ) -> Any:
        """Call a function with each part: a `jit` function, a kernel's launch, or anything else that works on plain arrays.

        Parameters
        ----------
        f : callable
            Takes the part of this array, then those of `others`, and gives a plain array on the same queue, a tuple of such, or None
            where it writes into the parts.
            With a halo the part is for this call: it is read-only, and later calls overwrite it. A function that keeps it takes a copy;
            results that are views of it are copied.
        *others : ShardedArray, Array, number
            Further operands: arrays over the same devices by their parts, at the bounds of this one; plain arrays whole, on each device;
            numbers as they are.
        halo : int or (int, int), optional
            How many rows of the neighbours a part gets before and after its own, along the split axis. Only those are exchanged.
        mode : {None, 'constant', 'edge', 'wrap'}, optional
            What is beyond the ends of the array, as `pad` has it. None: nothing, so that the first and the last part have no halo there.
        cval : number, optional
            What is there with ``mode='constant'``.
        axis : int or None, optional
            Which axis of the results is split; default: the same as of this array.

        Returns
        -------
        ShardedArray, tuple of ShardedArray, or None
            What `f` gave, put together. If all results are as long along the split axis as the parts with their halos, the halos are cut
            off; else they are taken as they are, as those of a stencil that is shorter by its halo.

        Raises
        ------
        TypeError
            `f` gives something else.
        ValueError
            The results do not fit together, or `halo` or `mode` is not possible.

        Examples
        --------
        >>> import pardo as pp
        >>> s = pp.shard(pp.arange(6.0), pp.Device("cpu").create_sub_devices(1), axis=0)
        >>> s.map_shards(lambda x: x[2:] - x[:-2], halo=1, mode="wrap")
        ShardedArray([-4.,  2.,  2.,  2.,  2., -4.])
        """
        return call("map_shards", (self, f, *others), {"halo": halo, "mode": mode, "cval": cval, "axis": axis})

    def save(self, folder: Any) -> None:
        """Save the array by its parts: a folder with a ``.npy`` file a part and one that says how they lie; `load_sharded` reads it.

        Parameters
        ----------
        folder : str or path
            It is made; if it is there already it must be one that this method has made, and is replaced.
        """
        call("save by shards", (self, folder), {})

    def wait(self) -> ShardedArray:
        """Compute the array, wait for all parts, and return it. A part that has failed raises its error, with part and device."""
        self._group.together("wait", self._wait)
        return self

    def _wait(self) -> None:
        mapped(self, lambda x: x.force())  # all begin before one is waited for
        mapped(self, lambda x: x.wait())

    block_until_ready = wait

    def force(self) -> ShardedArray:
        """Hand the computation of all parts over; does not wait."""
        self._group.together("force", lambda: mapped(self, lambda x: x.force()))
        return self

    def failure(self) -> BaseException | None:
        """The error of the first part that has failed, with part and device; None if none has. Waits for the parts."""
        try:
            self._group.together("failure", self._raise_failure)
        except Exception as error:
            return error.with_traceback(None)
        return None

    def _raise_failure(self) -> None:
        for p, x in self._parts.items():
            error = x.failure()
            if error is not None:
                name_part(error, self._group, p, x)
                raise error

    # --- conversions --------------------------------------------------------------------------------------------------------------

    def item(self, *args: Any) -> Any:
        """An element as a Python number: of an array of one element, or the one at an index."""
        if args:
            index = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
            where = np.unravel_index(operator.index(index[0]), self.shape) if len(index) == 1 else index
            return self[tuple(map(int, where))].item()
        if self.size != 1:
            raise ValueError("item: can only convert an array of size 1 to a Python number")
        return _one_element(self).item()

    def tolist(self) -> Any:
        """The array as nested lists of Python numbers."""
        return call("asnumpy", (self,), {}).tolist()

    def numpy(self) -> NDArray[Any]:
        """A copy as an array of NumPy's."""
        return call("asnumpy", (self,), {})  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError("the truth value of an array with more than one element is ambiguous; use x.any() or x.all()")
        return bool(_one_element(self))

    def __int__(self) -> int:
        return int(self._number("int"))

    def __float__(self) -> float:
        return float(self._number("float"))

    def __complex__(self) -> complex:
        return complex(self._number("complex"))

    def __index__(self) -> int:
        return operator.index(self._number("an index"))

    def _number(self, what: str) -> Any:
        if self.shape:
            raise TypeError(f"only arrays without dimensions can be converted to {what}; use x.item()")
        return _one_element(self)

    def __round__(self, ndigits: int | None = None) -> Any:
        if ndigits is None and not self.shape:
            return round(_one_element(self))
        return call("round", (self, 0 if ndigits is None else ndigits), {})

    def __iter__(self) -> Iterator[ShardedArray]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> NDArray[Any]:
        if not implicit_copies_allowed():
            raise TypeError(
                "an array over several devices is not turned into an array of NumPy's in silence: use pardo.asnumpy(s), or "
                "pardo.allow_implicit_copies"
            )
        if copy is False:
            raise ValueError("an array over several devices cannot be an array of NumPy's without a copy")
        host = call("asnumpy", (self,), {})
        return host if dtype is None else host.astype(dtype, copy=False)  # type: ignore[no-any-return]

    def __dlpack__(self, **keywords: Any) -> Any:
        raise BufferError("__dlpack__: the array is on several devices; gather it on one: s.to_device(d), or pass on s.shards")

    def __dlpack_device__(self) -> Any:
        raise BufferError("__dlpack_device__: the array is on several devices; gather it on one: s.to_device(d), or pass on s.shards")

    def __copy__(self) -> ShardedArray:
        return call("copy", (self,), {})  # type: ignore[no-any-return]

    def __deepcopy__(self, memo: Any) -> ShardedArray:
        return call("copy", (self,), {})  # type: ignore[no-any-return]

    def __reduce__(self) -> Any:
        return call("pickle", (self,), {})

    # --- NumPy's protocols --------------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return call("numpy's ufunc", (ufunc, method, inputs, kwargs), {})

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return call("numpy's function", (self, func, types, args, kwargs), {})

    # --- indexing and showing -----------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> ShardedArray:
        return call("x[key]", (self, key), {})  # type: ignore[no-any-return]

    def __setitem__(self, key: Any, value: Any) -> None:
        call("x[key] = value", (self, key, value), {})

    def __repr__(self) -> str:
        return call("repr", (self,), {})  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return call("str", (self,), {})  # type: ignore[no-any-return]

    def _shown_values(self) -> ShownValues:
        # Where other processes have parts, all of them show the values together, whatever is pending here.
        pending = len(self._parts) == self._layout.parts and any(x.pending for x in self._parts.values())
        split = "whole on each" if self.axis is None else f"split along axis {self.axis}"
        nbytes = math.prod(self.shape) * self.dtype.itemsize
        facts = (f"shape {self.shape}", str(self.dtype), with_bytes(nbytes), f"{split} of {self._layout.parts} devices")
        return ShownValues("ShardedArray", facts, pending, nbytes, lambda: repr(self))

    def _table_of_parts(self) -> str:
        """The parts of this process: where they are, and what they have."""

        def row(part: int, x: Array) -> tuple[str, ...]:
            first, end = (0, 0) if self.axis is None else self.bounds[part : part + 2]
            indices = "all" if self.axis is None else f"{first} to {end - 1}" if end > first else "none"
            return str(part), self._group.name(part), indices, with_bytes(x.nbytes), "pending" if x.pending else "computed"

        header = ("part", "device", "indices" if self.axis is None else f"indices of axis {self.axis}", "size", "values")
        return html_table(header, [row(part, x) for part, x in self._parts.items()], texts=5)

    def _parts_and_picture(self) -> str:
        """The table of parts, and a small picture of an image whose values have been shown."""
        found = face.file("pictures of split arrays").in_notebooks(self) if self.ndim == 2 and is_image(self.shape, self.dtype) else ""
        return self._table_of_parts() + found

    def _repr_html_(self) -> str:
        """For notebooks: facts, the parts, a picture of what is an image, the values."""
        return self._shown_values().html(self._parts_and_picture)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """For notebooks: all formats at once, so that a failure comes once."""
        return bundle(self._shown_values, self._parts_and_picture)

    def __format__(self, spec: str) -> str:
        if not self.shape:
            return format(self.item(), spec)
        if spec:
            raise TypeError("unsupported format string passed to pardo.ShardedArray.__format__")
        return str(self)

    # --- operators ----------------------------------------------------------------------------------------------------------------

    __neg__ = _unary(operator.neg)
    __pos__ = _unary(operator.pos)
    __abs__ = _unary(operator.abs)
    __invert__ = _unary(operator.invert)
    __lt__ = _binary(operator.lt, "less")
    __le__ = _binary(operator.le, "less_equal")
    __gt__ = _binary(operator.gt, "greater")
    __ge__ = _binary(operator.ge, "greater_equal")
    __eq__ = _binary(operator.eq, "equal")
    __ne__ = _binary(operator.ne, "not_equal")
    __add__, __radd__ = _binary(operator.add, "add"), _binary(operator.add, "add", True)
    __sub__, __rsub__ = _binary(operator.sub, "subtract"), _binary(operator.sub, "subtract", True)
    __mul__, __rmul__ = _binary(operator.mul, "multiply"), _binary(operator.mul, "multiply", True)
    __truediv__, __rtruediv__ = _binary(operator.truediv, "divide"), _binary(operator.truediv, "divide", True)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv, "floor_divide"), _binary(operator.floordiv, "floor_divide", True)
    __mod__, __rmod__ = _binary(operator.mod, "remainder"), _binary(operator.mod, "remainder", True)
    __pow__, __rpow__ = _binary(operator.pow, "power"), _binary(operator.pow, "power", True)
    __lshift__, __rlshift__ = _binary(operator.lshift, "left_shift"), _binary(operator.lshift, "left_shift", True)
    __rshift__, __rrshift__ = _binary(operator.rshift, "right_shift"), _binary(operator.rshift, "right_shift", True)
    __and__, __rand__ = _binary(operator.and_, "bitwise_and"), _binary(operator.and_, "bitwise_and", True)
    __or__, __ror__ = _binary(operator.or_, "bitwise_or"), _binary(operator.or_, "bitwise_or", True)
    __xor__, __rxor__ = _binary(operator.xor, "bitwise_xor"), _binary(operator.xor, "bitwise_xor", True)
    __iadd__ = _in_place(operator.add, "add")
    __isub__ = _in_place(operator.sub, "subtract")
    __imul__ = _in_place(operator.mul, "multiply")
    __itruediv__ = _in_place(operator.truediv, "divide")
    __ifloordiv__ = _in_place(operator.floordiv, "floor_divide")
    __imod__ = _in_place(operator.mod, "remainder")
    __ipow__ = _in_place(operator.pow, "power")
    __ilshift__ = _in_place(operator.lshift, "left_shift")
    __irshift__ = _in_place(operator.rshift, "right_shift")
    __iand__ = _in_place(operator.and_, "bitwise_and")
    __ior__ = _in_place(operator.or_, "bitwise_or")
    __ixor__ = _in_place(operator.xor, "bitwise_xor")

    def __divmod__(self, other: Any) -> Any:
        return call("divmod", (self, other), {})

    def __rdivmod__(self, other: Any) -> Any:
        return call("divmod", (other, self), {})

    def __matmul__(self, other: Any) -> Any:
        return call("matmul", (self, other), {})

    def __rmatmul__(self, other: Any) -> Any:
        return call("matmul", (other, self), {})

    # --- methods that are functions -----------------------------------------------------------------------------------------------

    all, any = _named("all"), _named("any")
    argmax, argmin = _named("argmax"), _named("argmin")
    argpartition, argsort = _named("argpartition"), _named("argsort")
    astype, choose, clip, compress = _named("astype"), _named("choose"), _named("clip"), _named("compress")
    conj, conjugate, copy = _named("conj"), _named("conjugate"), _named("copy")
    cumprod, cumsum = _named("cumprod"), _named("cumsum")
    diagonal, dot = _named("diagonal"), _named("dot")
    flatten = _named("flatten")
    max, mean, min = _named("max"), _named("mean"), _named("min")
    nonzero, prod, ptp, put = _named("nonzero"), _named("prod"), _named("ptp"), _named("put")
    ravel, repeat, round = _named("ravel"), _named("repeat"), _named("round")
    searchsorted, squeeze, std, sum = _named("searchsorted"), _named("squeeze"), _named("std"), _named("sum")
    swapaxes, take, trace, var = _named("swapaxes"), _named("take"), _named("trace"), _named("var")

    def fill(self, value: Any) -> None:
        """Store a number in all elements."""
        self[...] = value

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> ShardedArray:
        """`pardo.reshape` of the array; the extents may be given one by one."""
        given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return call("reshape", (self, given), {"order": order, "copy": copy})  # type: ignore[no-any-return]

    def transpose(self, *axes: Any) -> ShardedArray:
        """`pardo.transpose` of the array; the axes may be given one by one."""
        given = None if not axes else axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return call("transpose", (self, given), {})  # type: ignore[no-any-return]

    def sort(self, axis: int = -1, **keywords: Any) -> None:
        """Sort the array in place."""
        self[...] = call("sort", (self,), {"axis": axis, **keywords})

    def partition(self, kth: Any, axis: int = -1) -> None:
        """Partition the array in place."""
        self[...] = call("partition", (self, kth), {"axis": axis})


def sharded(group: Group, layout: Layout, parts: Mapping[int, Array]) -> ShardedArray:
    """The array of these parts: `parts` has those that the group owns, of the shapes of the layout, on the group's queues."""
    made = object.__new__(ShardedArray)
    made._group, made._layout, made._device, made._margins = group, layout, None, None
    made._parts = parts if type(parts) is dict else dict(parts)
    made._dtype = made._parts[group.owned[0]].dtype
    return made


def replicated(group: Group, parts: Mapping[int, Array]) -> ShardedArray:
    """An array that each part has whole, as `all_reduce` and `broadcast` of a group give it."""
    return sharded(group, Layout(parts[group.owned[0]].shape, None, (), group.keys), parts)


def mapped(x: ShardedArray, function: Callable[[Any], Any]) -> dict[int, Any]:
    """What a function gives for each owned part; its errors name the part."""
    made, p = {}, -1
    seen = dict[int, Any]()  # parts of one queue may be the same array, where each has the whole: so are views of it
    try:
        for p, part in x._parts.items():
            made[p] = seen[id(part)] if id(part) in seen else function(part)
            seen[id(part)] = made[p]
    except Exception as error:
        if p >= 0:
            name_part(error, x._group, p, x._parts[p])
        raise
    return made


def _one_element(x: ShardedArray) -> Any:
    """The element of an array that has one, on this process's first device."""
    whole = x if x._layout.axis is None else call("reshard", (x, None), {})
    first = x._group.owned[0]
    part = whole._parts[first]
    return x._group.together("item", lambda: mapped(sharded(x._group, whole._layout, {first: part}), lambda x: x.wait()))[first]
