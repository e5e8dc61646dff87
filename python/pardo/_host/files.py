# python/pardo/_host/files.py: arrays from files, texts and buffers, and into files: NumPy reads and writes, and the values are copied.
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from pardo import _core
from pardo._array.interop import asarray, asnumpy
from pardo._base import promotion
from pardo._base.arguments import DeviceLike
from pardo._base.docstrings import filled
from pardo._base.orders import is_column_major
from pardo._core import Array
from pardo._host import npy

__all__ = [
    "frombuffer",
    "fromfile",
    "fromiter",
    "fromregex",
    "fromstring",
    "genfromtxt",
    "load",
    "loadtxt",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
]


def _read(read: Callable[[Any], NDArray[Any]], dtype: DTypeLike | None, device: DeviceLike) -> Array:
    """What a function of NumPy reads as a dtype; it reads no bfloat16, and those are made of float64."""
    if dtype is None or not promotion.is_bfloat16(promotion.host_dtype(dtype)):
        return asarray(read(dtype), device=device)
    return asarray(promotion.to_bfloat16(read(np.float64)), device=device)


@filled
def frombuffer(buffer: Any, dtype: DTypeLike = float, count: int = -1, offset: int = 0, *, device: DeviceLike = None) -> Array:
    """Interpret a buffer as a 1-dimensional array; its bytes are copied.

    Parameters
    ----------
    buffer : object
        Something with the buffer protocol.
    dtype, count, offset : optional
        As for `numpy.frombuffer`.
    {device}

    Returns
    -------
    Array
        The values.

    Raises
    ------
    TypeError, ValueError
        As `numpy.frombuffer` and `asarray`.

    See Also
    --------
    asarray, fromfile

    Examples
    --------
    >>> import pardo as pp
    >>> pp.frombuffer(bytes([1, 2]), dtype="uint8")
    array([1, 2], dtype=uint8)
    """
    return asarray(np.frombuffer(buffer, dtype, count, offset), device=device)


@filled
def fromfile(file: Any, dtype: DTypeLike = float, count: int = -1, sep: str = "", offset: int = 0, *, device: DeviceLike = None) -> Array:
    """Construct an array from data in a text or binary file.

    Parameters
    ----------
    file : file, str or Path
        What is read.
    dtype, count, sep, offset : optional
        As for `numpy.fromfile`.
    {device}

    Returns
    -------
    Array
        The values.

    Raises
    ------
    OSError, TypeError, ValueError
        As `numpy.fromfile` and `asarray`.

    See Also
    --------
    load, frombuffer

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pardo as pp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "numbers"
    >>> written = path.write_bytes(bytes([1, 2]))
    >>> pp.fromfile(path, dtype="uint8")
    array([1, 2], dtype=uint8)
    """
    return asarray(np.fromfile(file, dtype, count, sep, offset), device=device)


@filled
def fromiter(iter: Any, dtype: DTypeLike, count: int = -1, *, device: DeviceLike = None) -> Array:
    """Create a new one-dimensional array from an iterable object.

    Parameters
    ----------
    iter : iterable
        What gives the values.
    dtype, count : optional
        As for `numpy.fromiter`.
    {device}

    Returns
    -------
    Array
        The values.

    Raises
    ------
    TypeError, ValueError
        As `numpy.fromiter` and `asarray`.

    See Also
    --------
    fromfunction, asarray

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fromiter((k * k for k in range(4)), int)
    array([0, 1, 4, 9])
    """
    return _read(lambda t: np.fromiter(iter, t, count), dtype, device)


@filled
def fromregex(file: Any, regexp: Any, dtype: DTypeLike, encoding: str | None = None, *, device: DeviceLike = None) -> Array:
    """Construct an array from a text file, using regular expression parsing.

    Parameters
    ----------
    file : file, str or Path
        What is read.
    regexp : str or compiled pattern
        A match is an element; each field of the dtype is a group.
    dtype : data type
        A structured dtype, as NumPy's function takes it, or one of numbers for the values of a single group.
    encoding : str, optional
        As for `numpy.fromregex`.
    {device}

    Returns
    -------
    Array
        The values, of one dimension.

    Raises
    ------
    OSError, TypeError, ValueError
        As `numpy.fromregex` and `asarray`.

    See Also
    --------
    fromstring, loadtxt

    Examples
    --------
    >>> import io
    >>> import pardo as pp
    >>> pp.fromregex(io.StringIO("a=1 b=22"), r"=([0-9]+)", int)
    array([ 1, 22])
    """
    wanted = np.dtype(dtype)
    if wanted.names is not None:
        return asarray(np.fromregex(file, regexp, wanted, encoding), device=device)
    found = np.fromregex(file, regexp, np.dtype([("value", wanted)]), encoding)
    return asarray(found["value"], device=device)


@filled
def fromstring(string: str, dtype: DTypeLike = float, count: int = -1, *, sep: str, device: DeviceLike = None) -> Array:
    """Create a new 1-D array from text data in a string.

    Parameters
    ----------
    string : str
        The text.
    dtype, count : optional
        As for `numpy.fromstring`.
    sep : str
        What stands between the numbers.
    {device}

    Returns
    -------
    Array
        The values.

    Raises
    ------
    TypeError, ValueError
        As `numpy.fromstring` and `asarray`.

    See Also
    --------
    fromfile, loadtxt

    Examples
    --------
    >>> import pardo as pp
    >>> pp.fromstring("1 2", dtype=int, sep=" ")
    array([1, 2])
    """
    return _read(lambda t: np.fromstring(string, t, count, sep=sep), dtype, device)


@filled
def loadtxt(
    fname: Any,
    dtype: DTypeLike = float,
    comments: Any = "#",
    delimiter: str | None = None,
    converters: Any = None,
    skiprows: int = 0,
    usecols: Any = None,
    unpack: bool = False,
    ndmin: Any = 0,
    encoding: str | None = None,
    max_rows: int | None = None,
    *,
    quotechar: str | None = None,
    device: DeviceLike = None,
) -> Array:
    """Load data from a text file.

    Parameters
    ----------
    fname : file, str, Path, or iterable of str
        What is read.
    dtype, comments, delimiter, converters, skiprows, usecols, unpack, ndmin, encoding, max_rows, quotechar : optional
        As for `numpy.loadtxt`; the dtype is one of numbers, or of records of them.
    {device}

    Returns
    -------
    Array
        The values.

    Raises
    ------
    OSError, TypeError, ValueError
        As `numpy.loadtxt` and `asarray`.

    See Also
    --------
    savetxt, genfromtxt, load

    Examples
    --------
    >>> import pardo as pp
    >>> pp.loadtxt(["0 1", "2 3"])
    array([[0., 1.],
           [2., 3.]])
    """
    rest = comments, delimiter, converters, skiprows, usecols, unpack, ndmin, encoding, max_rows
    return _read(lambda t: np.loadtxt(fname, t, *rest, quotechar=quotechar), dtype, device)


@filled
def genfromtxt(fname: Any, dtype: DTypeLike | None = float, *args: Any, device: DeviceLike = None, **kwargs: Any) -> Array:
    """Load data from a text file, with missing values handled as specified.

    Parameters
    ----------
    fname : file, str, Path, or sequence of str
        What is read.
    dtype : data type, optional
        One of numbers, or of records of them.
    *args, **kwargs : optional
        As for `numpy.genfromtxt`.
    {device}

    Returns
    -------
    Array
        The values.

    Raises
    ------
    OSError, TypeError, ValueError
        As `numpy.genfromtxt` and `asarray`: a TypeError for masks and for columns of texts.

    See Also
    --------
    loadtxt

    Examples
    --------
    >>> import pardo as pp
    >>> pp.genfromtxt(["1,2", "3,"], delimiter=",")
    array([[ 1.,  2.],
           [ 3., nan]])
    """
    return _read(lambda t: np.genfromtxt(fname, t, *args, **kwargs), dtype, device)


class Archive(Mapping[str, Array]):
    """What `load` gives for a file of several arrays: they are read when they are asked for."""

    def __init__(self, file: Any, device: DeviceLike) -> None:
        self._file, self._device = file, device

    @property
    def files(self) -> list[str]:
        """The names of the arrays."""
        return list(self._file.files)

    def __getitem__(self, name: str) -> Array:
        return asarray(self._file[name], device=self._device)

    def __iter__(self) -> Any:
        return iter(self._file.files)

    def __len__(self) -> int:
        return len(self._file.files)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


@filled
def load(
    file: Any,
    mmap_mode: Any = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: Any = "ASCII",
    *,
    max_header_size: int = 10000,
    device: DeviceLike = None,
) -> Any:
    """Load arrays from ``.npy`` and ``.npz`` files.

    Parameters
    ----------
    file : file, str or Path
        What is read.
    mmap_mode, allow_pickle, fix_imports, encoding, max_header_size : optional
        As for `numpy.load`.
    {device}

    Returns
    -------
    Array or mapping
        The array; of an ``.npz`` file a mapping of names to arrays, to be closed or used in a `with` statement. Of a pickle what was
        pickled.

    Raises
    ------
    OSError, EOFError, TypeError, ValueError
        As `numpy.load` and `asarray`.

    See Also
    --------
    save, savez, loadtxt

    Notes
    -----
    A ``.npy`` file goes to the device in parts of 4 MiB: the host never holds all of it. Arrays of an ``.npz`` file are read whole.

    Examples
    --------
    >>> import io
    >>> import pardo as pp
    >>> file = io.BytesIO()
    >>> pp.save(file, pp.asarray([1, 2, 3]))
    >>> position = file.seek(0)
    >>> pp.load(file)
    array([1, 2, 3])
    """
    if isinstance(file, (str, os.PathLike)) and _core._is_saved_program(os.fsdecode(file)):
        raise ValueError(f"load: {os.fsdecode(file)} is a program of pardo.export: pardo.load_program runs it")
    if mmap_mode is None:
        x = npy.read(file, max_header_size, device)
        if x is not None:
            return x
    options: dict[str, Any] = {"encoding": encoding, "max_header_size": max_header_size}
    found = np.load(file, mmap_mode, allow_pickle, fix_imports, **options)
    if isinstance(found, np.lib.npyio.NpzFile):
        return Archive(found, device)
    if type(found) is Array:  # a pickle, of `Array.dump`
        return found if device is None else found.to_device(device)
    return asarray(found, device=device) if isinstance(found, np.ndarray) else found


def _values(x: Any) -> Any:
    """On the host: a file is asked for by name."""
    return x if isinstance(x, np.ndarray) else asnumpy(x)


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Save an array to a binary file in NumPy ``.npy`` format.

    Parameters
    ----------
    file : file, str or Path
        What is written.
    arr : Array
        The array; waited for.
    allow_pickle : bool
        As for `numpy.save`.

    Raises
    ------
    OSError, ValueError
        As `numpy.save`.

    See Also
    --------
    load, savez, savetxt

    Notes
    -----
    An array goes into the file in parts of 4 MiB: the host never holds all of it.

    Examples
    --------
    >>> import io
    >>> import pardo as pp
    >>> file = io.BytesIO()
    >>> pp.save(file, pp.zeros((2, 3)))
    >>> len(file.getvalue()) > 48
    True
    """
    if type(arr) is Array:
        npy.write(file, arr)
    else:
        npy.check_dtype(getattr(arr, "dtype", np.dtype(bool)))
        np.save(file, _values(arr), allow_pickle)


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Save several arrays into a single file in uncompressed ``.npz`` format.

    Parameters
    ----------
    file : file, str or Path
        What is written.
    *args : Array
        Arrays, which are named ``arr_0`` and so on; waited for.
    allow_pickle : bool
        As for `numpy.savez`.
    **kwds : Array
        Arrays with their names.

    Raises
    ------
    OSError, ValueError
        As `numpy.savez`.

    See Also
    --------
    load, save, savez_compressed

    Examples
    --------
    >>> import io
    >>> import pardo as pp
    >>> file = io.BytesIO()
    >>> pp.savez(file, x=pp.arange(3), y=pp.ones(2))
    >>> position = file.seek(0)
    >>> with pp.load(file) as arrays:
    ...     print(arrays["y"])
    [1. 1.]
    """
    _save_several(np.savez, file, args, kwds, allow_pickle)


def savez_compressed(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Save several arrays into a single file in compressed ``.npz`` format.

    Parameters
    ----------
    file : file, str or Path
        What is written.
    *args : Array
        Arrays, which are named ``arr_0`` and so on; waited for.
    allow_pickle : bool
        As for `numpy.savez_compressed`.
    **kwds : Array
        Arrays with their names.

    Raises
    ------
    OSError, ValueError
        As `numpy.savez_compressed`.

    See Also
    --------
    load, save, savez

    Examples
    --------
    >>> import io
    >>> import pardo as pp
    >>> file = io.BytesIO()
    >>> pp.savez_compressed(file, pp.arange(3))
    >>> position = file.seek(0)
    >>> with pp.load(file) as arrays:
    ...     print(arrays.files)
    ['arr_0']
    """
    _save_several(np.savez_compressed, file, args, kwds, allow_pickle)


def _save_several(write: Any, file: Any, args: Any, kwds: Any, allow_pickle: bool) -> None:
    options: dict[str, Any] = {} if allow_pickle else {"allow_pickle": False}
    write(file, *map(_in_its_order, args), **options, **{name: _in_its_order(x) for name, x in kwds.items()})


def _in_its_order(x: Any) -> Any:
    """A copy on the host that lies in memory by columns if the array does."""
    npy.check_dtype(getattr(x, "dtype", np.dtype(bool)))
    return _values(x.T).T if type(x) is Array and x.ndim > 1 and is_column_major(x) else _values(x)


def savetxt(
    fname: Any,
    X: Any,
    fmt: Any = "%.18e",
    delimiter: str = " ",
    newline: str = "\n",
    header: str = "",
    footer: str = "",
    comments: str = "# ",
    encoding: str | None = None,
) -> None:
    """Save an array to a text file.

    Parameters
    ----------
    fname : file, str or Path
        What is written.
    X : Array
        Of one or two dimensions; waited for.
    fmt, delimiter, newline, header, footer, comments, encoding : optional
        As for `numpy.savetxt`.

    Raises
    ------
    OSError, TypeError, ValueError
        As `numpy.savetxt`.

    See Also
    --------
    loadtxt, save

    Examples
    --------
    >>> import io
    >>> import pardo as pp
    >>> file = io.StringIO()
    >>> pp.savetxt(file, pp.asarray([[1, 2], [3, 4]]), fmt="%d")
    >>> print(file.getvalue(), end="")
    1 2
    3 4
    """
    np.savetxt(fname, _values(X), fmt, delimiter, newline, header, footer, comments, encoding)
