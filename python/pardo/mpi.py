# python/pardo/mpi.py: one array over the processes of an MPI program.
"""One array over the processes that ``mpiexec`` has started. ``pip install 'pardo[mpi]'`` installs mpi4py, which needs an MPI library."""

from __future__ import annotations

import fnmatch as _fnmatch
import math as _math
from collections.abc import Sequence as _Sequence
from typing import Any as _Any

try:
    from mpi4py import MPI as _MPI
except (ImportError, RuntimeError) as _error:  # its wheel looks for an MPI library, and has another error for that
    raise ImportError(f"pardo.mpi needs mpi4py, and that an MPI library: pip install 'pardo[mpi]' ({_error})") from None

import numpy as _np
from pardo._array.interop import asarray as _asarray
from pardo._base import public_names as _public_names
from pardo._base.arguments import axis_index as _axis_index
from pardo._base.arguments import queue_of as _queue_of
from pardo._core import Array as _Array
from pardo._core import Queue as _Queue
from pardo._runtime.devices import get_devices as _get_devices
from pardo._sharding.array import ShardedArray as _ShardedArray
from pardo._sharding.array import sharded as _sharded
from pardo._sharding.creating import copies as _copies
from pardo._sharding.creating import layout_of_split as _layout_of_split
from pardo._sharding.functions import read_all as _read_all
from pardo._sharding.layout import Layout as _Layout
from pardo._sharding.mpi_channel import channel_of as _channel_of
from pardo._sharding.mpi_group import MpiGroup as _MpiGroup

__all__ = ["from_parts", "shard"]


def shard(
    x: _Any,
    comm: _MPI.Intracomm,
    axis: int | None = 0,
    weights: _Sequence[float] | None = None,
    device: _Any = None,
    *,
    bounds: _Sequence[int] | None = None,
) -> _ShardedArray:
    """Split an array over the processes of a communicator: each has a part, on its device.

    A collective call: all processes make it, with the same array. So they do with all that is computed of the result.

    Parameters
    ----------
    x : array_like
        The whole array, the same in all processes. Each copies its own part alone: arrays of files that are mapped, of zarr or h5py are not
        read whole.
    comm : mpi4py.MPI.Intracomm
        The processes, such as ``MPI.COMM_WORLD``.
    axis : int, optional
        The axis that is split. None: each part has the whole array. Default: 0.
    weights : sequence of float, optional
        The shares of the parts. Default: all are equal.
    device : Device, Queue, str or sequence of these, optional
        Of this process's part; of several, the process has a part on each. A pattern, as ``'cuda:*'``: that of the matching devices
        whose number is the rank among the processes of the machine, from the first again if there are fewer. Default: the default device.
    bounds : sequence of int, optional
        Where the axis is cut, in place of the weights: one more than there are parts, from 0 to the extent.

    Returns
    -------
    ShardedArray
        Its parts are in the order of the ranks; `shards` are those of this process.

    Raises
    ------
    TypeError
        `comm` is no communicator of these processes, or `x` is over several devices already.
    ValueError
        The processes give different shapes, dtypes, axes or weights; there is no such device.
    AxisError
        There is no such axis.

    Notes
    -----
    An error in one process is raised in all of them, at their next call that exchanges data, and names the rank.

    Examples
    --------
    >>> from mpi4py import MPI                                      # doctest: +SKIP
    >>> import pardo as pp
    >>> from pardo.mpi import shard
    >>> x = shard(pp.arange(8.0), MPI.COMM_WORLD)
    >>> float(x.sum())
    28.0
    """
    group, split, whole = _group(comm, device, weights, "shard", lambda: _described(x, axis))
    shape, _ = whole
    made, others = group.channel.agree("shard", lambda: _layout(x, group, shape, split, bounds), lambda made: made[0].bounds)
    layout, parts = made
    if any(cut != layout.bounds for cut in others):
        raise ValueError(f"shard: all ranks give the same bounds, not {others}")
    return _sharded(group, layout, parts)


def from_parts(part: _Any, comm: _MPI.Intracomm, axis: int = 0, device: _Any = None) -> _ShardedArray:
    """One array of the parts that the processes of a communicator have, one after another.

    A collective call.

    Parameters
    ----------
    part : array_like
        This process's part. All have the same extents but for that of `axis`, and the same dtype.
    comm : mpi4py.MPI.Intracomm
        The processes.
    axis : int
        The axis along which they follow each other. Default: 0.
    device : Device, Queue or str, optional
        As for `shard`. Default: that of `part`, if it is an array of pardo; else the default device.

    Returns
    -------
    ShardedArray
        A part that is on that device already is not copied.

    Raises
    ------
    TypeError
        `comm` is no communicator, or `part` is over several devices.
    ValueError
        The parts do not fit together.

    Examples
    --------
    >>> from mpi4py import MPI                                      # doctest: +SKIP
    >>> import pardo as pp
    >>> from pardo.mpi import from_parts
    >>> rank = MPI.COMM_WORLD.rank
    >>> x = from_parts(pp.full(10, rank), MPI.COMM_WORLD)
    >>> x.shape == (10 * MPI.COMM_WORLD.size,)
    True
    """
    held: list[_Array] = []

    def described() -> tuple[int, _Any]:
        place = part.queue if device is None and type(part) is _Array else _queues(device, _channel_of(comm).local_rank, "from_parts")
        queues = [place] if isinstance(place, _Queue) else place
        if len(queues) != 1:
            raise ValueError("from_parts: device is one, that of the part")
        held.append(part if type(part) is _Array and part.queue == queues[0] else _asarray(part, queue=queues[0], copy=True))
        x = held[0]
        if not x.ndim:
            raise ValueError("from_parts: a part has at least one dimension")
        split = _axis_index(axis, x.ndim, "from_parts")
        return split, (x.shape[:split], x.shape[split + 1 :], x.dtype)

    _check(comm, "from_parts")
    group, split, (before, after, _) = _group(comm, lambda: [held[0].queue], None, "from_parts", described)
    assert split is not None
    lengths = group.all_gather({group.owned[0]: held[0].shape[split]})
    ends = _np.cumsum([0, *lengths]).tolist()
    layout = _Layout((*before, ends[-1], *after), split, ends, group.keys)
    return _sharded(group, layout, {group.owned[0]: held[0]})


def _group(comm: _Any, device: _Any, weights: _Any, op_name: str, describe: _Any) -> tuple[_MpiGroup, int | None, _Any]:
    """The group of the processes' devices, and the axis and the description that all of them have given."""
    _check(comm, op_name)
    _read_all()
    channel = _channel_of(comm)
    (split, said), everywhere = channel.agree(op_name, describe, lambda made: made)
    if any(other != (split, said) for other in everywhere):
        listed = "; ".join(f"rank {rank}: axis {axis}, {_text(what)}" for rank, (axis, what) in enumerate(everywhere))
        raise ValueError(f"{op_name}: the ranks give arrays of different axes, shapes or dtypes: {listed}")
    places = device if callable(device) else lambda: _queues(device, channel.local_rank, op_name)
    return _MpiGroup(channel, places, lambda: _weights(weights, op_name), op_name), split, said


def _text(said: tuple[_Any, ...]) -> str:
    *extents, dtype = said
    return f"{' … '.join(map(str, extents))} of {dtype}"


def _check(comm: _Any, op_name: str) -> None:
    if not isinstance(comm, _MPI.Intracomm):
        given = "MPI.COMM_NULL, of which this process is none" if comm == _MPI.COMM_NULL else type(comm).__name__
        raise TypeError(f"{op_name}: comm must be an mpi4py.MPI.Intracomm, such as MPI.COMM_WORLD, not {given}")


def _described(x: _Any, axis: _Any) -> tuple[int | None, _Any]:
    shape, dtype = (x.shape, x.dtype) if _has_slices(x) else (_np.shape(x), _np.asarray(x).dtype)
    return None if axis is None else _axis_index(axis, len(shape), "shard"), (tuple(map(int, shape)), dtype)


def _layout(x: _Any, group: _MpiGroup, shape: tuple[int, ...], split: int | None, bounds: _Any) -> tuple[_Layout, dict[int, _Array]]:
    """How the array is split, and the parts of this process."""
    layout = _layout_of_split(shape, group, split, bounds)
    return layout, _copies(x if _has_slices(x) else _np.asarray(x), layout, group)


def _has_slices(x: _Any) -> bool:
    return hasattr(x, "shape") and hasattr(x, "dtype") and hasattr(x, "__getitem__")


def _weights(weights: _Any, op_name: str) -> tuple[float, ...] | None:
    if weights is None:
        return None
    numbers = tuple(map(float, weights))
    if not all(_math.isfinite(w) and w >= 0 for w in numbers) or not sum(numbers) > 0:
        raise ValueError(f"{op_name}: weights must be numbers that are not negative, and not all 0, not {list(numbers)}")
    return numbers


def _queues(device: _Any, local_rank: int, op_name: str) -> list[_Queue]:
    """Those of this process's parts."""
    if isinstance(device, (list, tuple)):
        if not device:
            raise ValueError(f"{op_name}: device is an empty list; a process has at least one part")
        return [queue for one in device for queue in _queues(one, local_rank, op_name)]
    if isinstance(device, _Queue):
        return [device]
    if isinstance(device, str) and "*" in device:
        ids = [d.id for d in _get_devices()]
        matching = [name for name in ids if _fnmatch.fnmatch(name, device)]
        if not matching:
            raise ValueError(f"{op_name}: no visible device is named {device!r}; there are {ids}")
        device = matching[local_rank % len(matching)]
    return [_queue_of(device, None, op_name=op_name)]


_public_names.publish_module(globals())
