# python/pardo/_array/methods.py: the methods of Array that are written in Python. Most are the functions of the same name.
from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from pardo import _core
from pardo._array import interop, joining, manipulation, printing, products, reductions, searching, sorting
from pardo._array.conversion import Conversions
from pardo._array.elementwise import clip
from pardo._array.elementwise import round as round_
from pardo._base import absent, face
from pardo._base.arguments import axis_index
from pardo._base.attributes import attribute, changeable
from pardo._base.docstrings import filled
from pardo._base.public_names import as_method, unquote
from pardo._base.tracebacks import show_class
from pardo._base.undisturbed import Undisturbed
from pardo._core import Array, conjugate

if TYPE_CHECKING:
    import concurrent.futures
    from types import ModuleType


def _array_namespace(self: Array, /, *, api_version: str | None = None) -> ModuleType:
    """Return the namespace of the array API: the module `pardo`."""
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"version {api_version!r} of the array API is not known; 2021.12 to 2025.12 are")
    namespace: ModuleType = face.namespace()
    return namespace


def _iter(self: Array) -> Iterator[Array]:
    """Iterate over the first axis."""
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    self.force()
    return (self[i] for i in range(self.shape[0]))


def _contains(self: Array, value: Any) -> bool:
    """Tell whether an element equals the value."""
    return bool(_core.any(_core.equal(self, value)))


def _complex(self: Array) -> complex:
    """Return the element of an array without dimensions as a complex number."""
    if self.ndim != 0:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return complex(self._item())


def _round(self: Array, ndigits: int | None = None) -> Any:
    """Round as the built-in function does: to an int without a number of digits."""
    return round_(self, 0 if ndigits is None else ndigits) if self.ndim or ndigits is not None else int(round_(self))


def as_future(self: Array) -> concurrent.futures.Future[Array]:
    """Hand the computation over and return a future of it.

    Returns
    -------
    concurrent.futures.Future
        Resolves to the array when it is computed; a failure becomes its exception, with kernel and line. Cancelling it leaves
        the computation as it is.
    """
    from pardo._runtime import futures

    return futures.future_of_array(self)


def _await(self: Array) -> Generator[Any, None, Array]:
    """Compute the array while other tasks of asyncio run; `await x` gives the array, or raises its failure."""
    from pardo._runtime import futures

    return futures.await_array(self)


def flatten(self: Array, order: str = "C") -> Array:
    """Return a copy of the array collapsed into one dimension.

    Parameters
    ----------
    order : {'C', 'F', 'A', 'K'}
        Whether elements are taken in C order or in Fortran order; 'A' means Fortran order if the array lies so in memory,
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


def fill(self: Array, value: Any) -> None:
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
        The value is not a number, or of a kind that the dtype cannot hold.
    ValueError
        The value is an array of another shape, or this array is read-only.
    """
    self[...] = value


def put(self: Array, indices: Any, values: Any, mode: str = "raise") -> None:
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
        Indices are not integers, or the values are of a kind that the dtype cannot hold.
    ValueError
        `mode` is something else, or this array is read-only.
    """
    searching.put(self, indices, values, mode)


# --- attributes ------------------------------------------------------------------------------------------------------------


def choose(self: Array, choices: Any, out: Array | None = None, mode: str = "raise") -> Array:
    """Use this array of indices to construct a new array from a list of choices; see `pardo.choose`.

    Parameters
    ----------
    choices : sequence of Array or number
        Broadcast against this array and each other. Lists and NumPy arrays are taken too.
    out : Array, optional
        Receives the result and is returned.
    mode : {'raise', 'wrap', 'clip'}
        What happens to indices that are out of bounds; 'raise' waits.

    Returns
    -------
    Array
        The chosen elements, in the dtype that the choices promote to.

    Raises
    ------
    TypeError
        The elements are not integers, or `out` is not an Array or of a dtype of another kind.
    ValueError
        An index is out of bounds, there are no choices, `mode` is something else, or shapes do not fit.
    """
    return face.namespace().choose(self, choices, out, mode)  # type: ignore[no-any-return]


def flat(self: Array) -> Any:
    """The elements in row-major order under one index, to be read and written; see `pardo.flatiter`."""
    return face.namespace().flatiter(self)


def _set_flat(self: Array, value: Any) -> None:
    face.namespace().flatiter(self)[...] = value


def tofile(self: Array, fid: Any, sep: str = "", format: str = "%s") -> None:
    """Write the elements to a file as bytes, or as text; `pardo.fromfile` reads them.

    Parameters
    ----------
    fid : file or str or Path
        An open file, or the name of one.
    sep : str
        What stands between elements in a text; empty: bytes are written, in the machine's byte order.
    format : str
        How an element becomes text.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    interop.asnumpy(self).tofile(fid, sep, format)


def dumps(self: Array) -> bytes:
    """Return the pickle of this array.

    Returns
    -------
    bytes
        What `pickle.loads` makes an Array of.
    """
    with Undisturbed():
        import pickle

    return pickle.dumps(self)


def dump(self: Array, file: Any) -> None:
    """Write the pickle of this array to a file.

    Parameters
    ----------
    file : file or str or Path
        A file open for bytes, or the name of one.

    Raises
    ------
    OSError
        The file cannot be written.
    """
    data = self.dumps()
    if hasattr(file, "write"):
        file.write(data)
        return
    with open(file, "wb") as opened:
        opened.write(data)


def T(self: Array) -> Array:  # noqa: N802
    """The array with its axes reversed."""
    return manipulation.permute_dims(self)


def mT(self: Array) -> Array:  # noqa: N802
    """Matrices transposed: the last two axes swapped."""
    return manipulation.matrix_transpose(self)


def real(self: Array) -> Array:
    """The real parts, as a view: writing to them writes here. An array of real numbers is its own."""
    return _core._part(self, 0) if self._kind == "c" else self


def _set_real(self: Array, value: Any) -> None:
    _core._part(self, 0)[...] = value


def imag(self: Array) -> Array:
    """The imaginary parts, as a view: writing to them writes here. Those of an array of real numbers are read-only zeros."""
    if self._kind == "c":
        return _core._part(self, 1)
    zeros = _core.imag(self)
    zeros._set_writeable(False)
    return zeros


def _set_imag(self: Array, value: Any) -> None:
    if self._kind != "c":
        raise TypeError(f"imag: an array of {self.dtype} has no imaginary parts to set")
    _core._part(self, 1)[...] = value


def ipc_handle(self: Array) -> Any:
    """Return what another process of this machine needs to use this array's memory; see `pardo.from_ipc`.

    The array is computed, and what is submitted for it is complete when this returns. Keep the array until the others have opened it: a
    handle keeps nothing alive. From then on operations on it run at once, since others may write it at any time.

    Returns
    -------
    IpcHandle
        It can be pickled, and has bytes.

    Raises
    ------
    DeviceError
        Processes cannot share memory of the device, or the driver refuses.
    ValueError
        The memory is of this process alone: on the CPU `pardo.ipc_empty` makes arrays that are not.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.ipc_empty(3)
    >>> x.ipc_handle().shape
    (3,)
    """
    return face.file("arrays of processes").handle_of(self)


def external_handle(self: Array, kind: str = "opaque_fd") -> Any:
    """Return what Vulkan needs to import this array's memory; see `pardo.vulkan.empty`.

    The array is computed, and what is submitted for it is complete when this returns.

    Parameters
    ----------
    kind : {'opaque_fd', 'host_pointer'}, optional
        A file descriptor, for memory of GPUs; or an address, for memory of the host (`VK_EXT_external_memory_host`).

    Returns
    -------
    pardo.vulkan.ExternalHandle
        With `fd` or `pointer`, the size of the memory (`nbytes`), and where in it the array begins (`offset`). A descriptor is the
        caller's: Vulkan takes it when it imports it.

    Raises
    ------
    ValueError
        Vulkan cannot use the memory: `pardo.vulkan.empty` makes arrays for it. Or it has no handle of this kind.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.vulkan.empty(3, device="cpu")
    >>> x.external_handle("host_pointer").nbytes
    4096
    """
    return face.file("arrays of Vulkan").handle_of(self, kind)


# --- shape -----------------------------------------------------------------------------------------------------------------


def reshape(self: Array, *shape: Any, order: str = "C", copy: bool | None = None) -> Array:
    """Return an array containing the same data with a new shape; see `pardo.reshape`.

    Parameters
    ----------
    *shape : int or tuple of int
        The new shape; one extent may be -1 and is then found from the others.
    order : {'C', 'F', 'A'}
        Whether elements are taken and placed in C order or in Fortran order; 'A' means Fortran order if the array lies so in
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
        An extent is not an integer.
    ValueError
        The number of elements would change, `order` is something else, or `copy=False` is impossible.
    """
    return manipulation.reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)


def transpose(self: Array, *axes: Any) -> Array:
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
        An axis is not an integer.
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


@filled
def partition(self: Array, kth: Any, axis: int = -1, kind: str | None = None, order: Any = None) -> None:
    """Partially sort the elements in the array in-place; see `pardo.partition`.

    Parameters
    ----------
    kth : int or sequence of int
        The places where elements shall be as sorting puts them.
    axis : int
        The axis.
    kind : {'introselect'}, optional
        NumPy's choice of algorithm; there is one.
    {order_of_fields}

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `kth` or `axis` are not integers.
    ValueError
        A place is out of bounds, `kind` is something else, or this array is read-only.
    """
    axis_index(axis, self.ndim, "partition")
    self._assign(sorting.partition(self, kth, axis, kind, order))


@filled
def sort(self: Array, axis: int = -1, kind: str | None = None, order: Any = None, *, descending: bool = False, stable: bool = True) -> None:
    """Sort an array in-place; NaN comes last. See `pardo.sort`.

    Parameters
    ----------
    axis : int
        The axis.
    {kind}
    {order_of_fields}
    descending : bool
        Whether the largest element comes first.
    stable : bool
        Whether equal elements keep their order.

    Raises
    ------
    AxisError
        There is no such axis; a ValueError and an IndexError.
    TypeError
        `axis` is not an integer.
    ValueError
        `kind` is something else, or this array is read-only.
    """
    axis_index(axis, self.ndim, "sort")
    self._assign(sorting.sort(self, axis, kind, order, descending=descending, stable=stable))


def searchsorted(self: Array, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """Find indices where elements should be inserted to maintain order; see `pardo.searchsorted`.

    Parameters
    ----------
    v : Array or number
        The values.
    side : {'left', 'right'}
        Whether values go before or after elements that are equal.
    sorter : Array of int, optional
        Indices that sort this array, as `argsort` gives them.

    Returns
    -------
    Array
        Of int64 and the shape of `v`.

    Raises
    ------
    TypeError
        `v` is neither an Array nor a number, or `sorter` is not an Array of integers.
    ValueError
        This array has not one dimension, or `side` is something else.
    """
    return searching.searchsorted(self, v, side, sorter)


def repeat(self: Array, repeats: Any, axis: int | None = None) -> Array:
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
        `repeats` or `axis` are not integers.
    ValueError
        A number is negative, or there is not one for each element along the axis.
    """
    return joining.repeat(self, repeats, axis=axis)


@filled
def compress(self: Array, condition: Any, axis: int | None = None, out: Array | None = None) -> Array:
    """Return selected slices of this array along given axis; see `pardo.compress`.

    Parameters
    ----------
    condition : Array
        One-dimensional; may be shorter than the axis. Lists and NumPy arrays are taken too.
    axis : int, optional
        The axis. Default: the array is flattened.
    {out_cast}

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
        `axis` is not an integer, or `out` is not an Array.
    ValueError
        `condition` has not one dimension, or the shape of `out` does not fit.
    """
    return searching.compress(condition, self, axis, out)


def conj(self: Array, out: Array | None = None) -> Array:
    """Complex-conjugate all elements.

    Parameters
    ----------
    out : Array, optional
        Where the result is stored.

    Returns
    -------
    Array
        A new array of the same dtype, or `out`; real numbers stay as they are.
    """
    return conjugate(self, out)


class Methods(Conversions):
    """Is copied into `pardo.Array`; type checkers see it as a base class."""

    __slots__ = ()

    # --- conversion ----------------------------------------------------------------------------------------------------------
    __array__ = interop.to_array
    __reduce_ex__ = interop.reduce_ex
    __copy__ = interop.copy_array
    __deepcopy__ = interop.deepcopy_array
    __repr__ = printing.array_repr
    __str__ = printing.array_str
    __format__ = printing.array_format
    _repr_html_ = printing.array_html
    _repr_mimebundle_ = printing.array_mimebundle
    __array_namespace__ = _array_namespace
    __iter__ = _iter
    __contains__ = _contains
    __complex__ = _complex
    __round__ = _round
    as_future = as_future
    ipc_handle = ipc_handle
    external_handle = external_handle
    __await__ = _await
    flatten = flatten
    fill = fill
    put = put

    choose = choose
    flat = changeable(flat, _set_flat)
    tofile = tofile
    dumps = dumps
    dump = dump
    T = attribute(T)
    mT = attribute(mT)  # noqa: N815
    real = changeable(real, _set_real)
    imag = changeable(imag, _set_imag)

    reshape = reshape
    transpose = transpose
    partition = partition
    sort = sort
    searchsorted = searchsorted
    repeat = repeat
    compress = compress
    conj = conj
    conjugate = conj
    ravel = manipulation.ravel
    squeeze = manipulation.squeeze
    swapaxes = manipulation.swapaxes
    diagonal = manipulation.diagonal
    mean = reductions.mean
    var = reductions.var
    std = reductions.std
    nonzero = searching.nonzero
    take = searching.take
    argsort = sorting.argsort
    argpartition = sorting.argpartition
    clip = clip
    round = round_
    dot = products.dot
    trace = products.trace


class Elsewhere:
    """An attribute that arrays of others have: it says what takes its place. `hasattr` is False."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:  # dir of the class lists it
            return self
        raise AttributeError(f"'{owner.__name__}' object has no attribute '{self._name}': {self._text}", name=self._name, obj=instance)


def _dir(self: Array) -> list[str]:
    return [name for name in object.__dir__(self) if name not in absent.OF_ARRAYS]


def attach(methods: type, target: type) -> None:
    """Copies methods into a class of the core; messages of Python itself shall say `Array.astype()` and not `astype()`."""
    skip = {"__module__", "__qualname__", "__doc__", "__slots__", "__dict__", "__weakref__", "__annotations__"}
    skip |= {"__static_attributes__", "__firstlineno__"}
    for name, value in vars(methods).items():
        if name in skip:
            continue
        for part in (value.fget, value.fset) if isinstance(value, property) else (value,):
            if isinstance(part, FunctionType) and part.__module__ == methods.__module__:
                if "." not in part.__qualname__:  # the first name that the class gives it
                    part.__name__, part.__qualname__ = name, f"{target.__name__}.{name}"
                elif part is value and part.__qualname__.startswith(f"{methods.__name__}."):
                    part.__qualname__ = f"{target.__name__}.{name}"
        if isinstance(value, FunctionType) and not name.startswith("_"):
            if value.__code__.co_varnames[:1] not in (("self",), ()):  # a function of arrays
                value = as_method(value, target.__name__, name)
            unquote(value)
        setattr(target, name, value)
    show_class(target, again=True)


def attach_names_of_others(target: type) -> None:
    """What arrays of others have says what to write."""
    for name, text in absent.OF_ARRAYS.items():
        setattr(target, name, Elsewhere(name, text))
    target.__dir__ = _dir  # type: ignore[assignment]
