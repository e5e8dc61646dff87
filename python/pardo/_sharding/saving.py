# python/pardo/_sharding/saving.py: arrays over several devices in folders, a file a part; and in pickles.
from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pardo._array.interop import asarray as plain_asarray
from pardo._array.interop import asnumpy as plain_asnumpy
from pardo._base import promotion
from pardo._base.arguments import DeviceLike
from pardo._core import Device, Queue
from pardo._sharding.array import ShardedArray, mapped, sharded
from pardo._sharding.creating import group_on, split
from pardo._sharding.device import ShardedDevice
from pardo._sharding.functions import implements, read_all
from pardo._sharding.group import LocalGroup
from pardo._sharding.layout import Layout, along
from pardo._sharding.reshard import asnumpy, bounds_for

__all__ = ["load_sharded"]

_TABLE = "layout.json"
_FORMAT = "pardo.ShardedArray"


def _file(part: int) -> str:
    return f"part-{part:05d}.npy"


@implements("save by shards", splits="a file a part")
def save(x: ShardedArray, folder: Any) -> None:
    """Each process writes its parts into a folder beside the wanted one, which the first one then puts in its place: it is there whole or
    not at all."""
    target, group, layout = Path(folder), x._group, x._layout
    if target.exists() and not (target / _TABLE).is_file():
        raise FileExistsError(f"save: {target} is there, and not a folder that save has made")
    if promotion.is_bfloat16(x.dtype):
        raise TypeError("save: NumPy's files hold no bfloat16; save s.astype('float32')")
    beside = target.with_name(f".{target.name}.part")
    first = 0 in group.owned
    if first:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
    group.all_gather(dict.fromkeys(group.owned, 0))  # the folder is there
    parts = x._parts if layout.axis is not None else {p: part for p, part in x._parts.items() if p == 0}
    for p, host in mapped(sharded(group, layout, x._parts), plain_asnumpy).items():
        if p in parts:
            np.save(beside / _file(p), host)
    group.all_gather(dict.fromkeys(group.owned, 0))  # all files are there
    if first:
        count = group.size if layout.axis is not None else 1
        told = {
            "format": _FORMAT,
            "version": 1,
            "shape": list(x.shape),
            "dtype": x.dtype.str,
            "axis": layout.axis,
            "bounds": list(layout.bounds),
            "files": [_file(p) for p in range(count)],
        }
        (beside / _TABLE).write_text(json.dumps(told, indent=1) + "\n")
        if target.exists():
            old = target.with_name(f".{target.name}.old")
            shutil.rmtree(old, ignore_errors=True)
            os.replace(target, old)
            os.replace(beside, target)
            shutil.rmtree(old)
        else:
            os.replace(beside, target)
    group.all_gather(dict.fromkeys(group.owned, 0))


def _one_file(name: str) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{name}: a file holds arrays of one device; use s.save(folder), a file a part, or {name} with pardo.asnumpy(s)")

    function.__name__ = name
    return function


for _name in ("save", "savez", "savez_compressed", "savetxt"):
    implements(_name, splits="")(_one_file(_name))


def load_sharded(
    folder: Any,
    devices: DeviceLike | Queue | ShardedDevice | Iterable[DeviceLike | Queue],
    axis: int | str | None = "same",
    weights: Sequence[float] | str | None = None,
) -> ShardedArray:
    """Load an array that `ShardedArray.save` has saved, over any devices.

    Parameters
    ----------
    folder : str or path
        Where it was saved.
    devices : sequence of Device, str or Queue, or one of these, or ShardedDevice
        As `shard` takes them; there may be more or fewer than there were.
    axis : int or None, optional
        The axis that is split; default: the one that was.
    weights : sequence of float or 'facts', optional
        The shares of the devices, as in `shard`.

    Returns
    -------
    ShardedArray
        The array. Each part reads the rows that it needs, and no others, if it is split along the axis that was; as many devices as there
        were parts, without weights, get the parts as they were.

    Raises
    ------
    FileNotFoundError
        There is no such folder.
    ValueError
        The folder was not made by `ShardedArray.save`.

    See Also
    --------
    shard, load

    Examples
    --------
    >>> import pardo as pp, tempfile
    >>> cores = pp.Device("cpu").create_sub_devices(1)
    >>> folder = tempfile.mkdtemp() + "/x"
    >>> pp.shard(pp.arange(4.0), cores).save(folder)
    >>> pp.load_sharded(folder, cores)
    ShardedArray([0., 1., 2., 3.])
    """
    return _load_sharded(folder, devices, axis, weights)


@implements("load_sharded", splits="each part reads what it needs")
def _load_sharded(folder: Any, devices: Any, axis: Any = "same", weights: Any = None) -> ShardedArray:
    read_all()
    if not isinstance(folder, (str, os.PathLike)):
        raise TypeError(f"load_sharded: the folder must be a str or a path, not {type(folder).__name__}")
    source = Path(folder)
    try:
        told = json.loads((source / _TABLE).read_text())
        shape, dtype, saved, files = tuple(told["shape"]), np.dtype(told["dtype"]), told["axis"], told["files"]
        ends = told["bounds"]
        if told["format"] != _FORMAT or told["version"] != 1:
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"load_sharded: {source / _TABLE} does not say how an array was saved") from None
    group = group_on(devices, weights)
    maps = [np.load(source / name, mmap_mode="r", allow_pickle=False) for name in files]
    at = saved if axis == "same" else axis
    if saved is None:
        return split(np.asarray(maps[0]), group, at)
    if at != saved:
        return split(np.concatenate(maps, axis=saved), group, at)
    kept = axis == "same" and weights is None and group.weights is None and group.size == len(files)
    bounds = tuple(ends) if kept else bounds_for(shape[saved], group)
    layout, parts = Layout(shape, saved, bounds, group.keys), {}
    for p in group.owned:
        rows = []
        for q, values in enumerate(maps):
            low, high = max(bounds[p], ends[q]), min(bounds[p + 1], ends[q + 1])
            if low < high:
                rows.append(values[along(saved, low - ends[q], high - ends[q])])
        host = np.concatenate(rows, axis=saved) if rows else np.empty(layout.local_shape(p), dtype)
        parts[p] = plain_asarray(host, queue=group.queue(p))
    return sharded(group, layout, parts)


@implements("pickle", splits="")
def reduce(x: ShardedArray) -> Any:
    """In pickles: values, names of devices, and the split."""
    if not isinstance(x._group, LocalGroup):
        raise TypeError("an array whose parts are in several processes is not pickled; pickle pardo.asnumpy(s), or use s.save(folder)")
    names = [x._group.name(p) for p in range(x._group.size)]
    return _unpickled, (asnumpy(x), names, x._group.weights, x._layout.axis, x._layout.bounds)


def _unpickled(values: Any, names: list[str], weights: Any, axis: int | None, bounds: Any) -> ShardedArray:
    read_all()
    return split(values, group_on([Device(name) for name in names], weights), axis, None if axis is None else bounds)
