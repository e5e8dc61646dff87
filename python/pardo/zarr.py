# python/pardo/zarr.py: zarr reads straight into arrays on a device, and writes from them.
"""Zarr reads straight into arrays on a device, and writes from them. ``pip install pardo[zarr]`` installs what it needs."""

from __future__ import annotations

from typing import Any as _Any

from numpy.lib import NumpyVersion as _NumpyVersion

try:
    import zarr as _zarr
    from zarr.core.buffer import BufferPrototype as _BufferPrototype
    from zarr.core.buffer import cpu as _cpu
except ImportError as _error:
    raise ImportError(f"pardo.zarr needs zarr 3.1.3 or later: pip install 'pardo[zarr]' ({_error})") from None
if _NumpyVersion(_zarr.__version__) < "3.1.3":
    raise ImportError(f"pardo.zarr needs zarr 3.1.3 or later, and {_zarr.__version__} is installed: pip install 'pardo[zarr]'")

from pardo._base import public_names as _public_names
from pardo._base.arguments import DeviceLike as _DeviceLike
from pardo._base.arguments import device_of as _device_of
from pardo._plugins import zarr_buffers as _buffers
from pardo._plugins.zarr_buffers import NDBuffer

__all__ = ["NDBuffer", "buffer_prototype", "enable"]


def enable(device: _DeviceLike = None) -> _Any:
    """Let zarr give arrays of pardo for what it reads, and write from arrays of any device.

    Chunks are fetched and decoded on the host, by zarr's threads, straight into the memory of the array where the host sees that, as on
    the CPU; else into pinned memory where the device has it, which is copied to the device once.

    Parameters
    ----------
    device : Device or str, optional
        Where arrays are made. Default: where the program reads: the device of `device_context`, else the default one.

    Returns
    -------
    context manager
        At the end of a `with` block zarr gives what it gave before. Without one that stays so.

    Raises
    ------
    ValueError
        There is no such device.

    Notes
    -----
    This is a setting of ``zarr.config``, which holds for all threads of the process, as ``zarr.config.enable_gpu()`` is. Where threads read
    to several devices, each says so by `device_context`, or by `buffer_prototype` in the call.

    Elements that no device has (texts, times, objects) are in NumPy's arrays also then. A single element, ``z[0, 0]``, is an
    array without dimensions.

    Examples
    --------
    >>> import numpy as np                                          # doctest: +SKIP
    >>> import pardo as pp
    >>> import pardo.zarr
    >>> import zarr
    >>> z = zarr.create_array({}, data=np.arange(6.0).reshape(2, 3))
    >>> with pp.zarr.enable("cpu"):
    ...     x = z[:, 1:]
    ...     z[0] = x[1, 0] * pp.ones(3)
    >>> x
    array([[1., 2.],
           [4., 5.]])
    >>> z[0]
    array([4., 4., 4.])
    """
    return _zarr.config.set({"ndbuffer": _buffers.qualified_name(_class_of(device, "enable"))})


def buffer_prototype(device: _DeviceLike = None) -> _Any:
    """Return the prototype of buffers by which one call of zarr reads to a device: ``z.get_basic_selection(..., prototype=...)``.

    Parameters
    ----------
    device : Device or str, optional
        Where the array is made. Default: the device of `device_context`, else the default one.

    Returns
    -------
    zarr.core.buffer.BufferPrototype
        It can be pickled, for processes that have the device too.

    Raises
    ------
    ValueError
        There is no such device.

    Notes
    -----
    Zarr reads shards with the prototype of its configuration alone: for them use `enable`.

    Examples
    --------
    >>> import numpy as np                                          # doctest: +SKIP
    >>> import pardo as pp
    >>> import pardo.zarr
    >>> import zarr
    >>> z = zarr.create_array({}, data=np.arange(4))
    >>> z.get_basic_selection(slice(1, 3), prototype=pp.zarr.buffer_prototype("cpu"))
    array([1, 2])
    """
    return _BufferPrototype(_cpu.Buffer, _class_of(device, "buffer_prototype"))


def _class_of(device: _DeviceLike, op_name: str) -> _Any:
    return _buffers.of_device(None if device is None else _device_of(device, op_name).without_queue.id)


_buffers.register()
_public_names.publish_module(globals())
