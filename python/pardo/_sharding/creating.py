# python/pardo/_sharding/creating.py: new arrays over several devices: `shard`, and functions that make arrays, with `device=s.device`.
from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import asarray as plain_asarray
from pardo._base import face, promotion
from pardo._base.arguments import SCALARS, DeviceLike, axis_index, device_of
from pardo._base.arguments import shape as read_shape
from pardo._base.public_names import publish_module
from pardo._core import Array, Device, Queue
from pardo._runtime.devices import get_devices
from pardo._sharding import dispatch as dispatch
from pardo._sharding.array import ShardedArray, mapped, sharded
from pardo._sharding.device import ShardedDevice
from pardo._sharding.failures import name_part
from pardo._sharding.functions import call, implements, read_all
from pardo._sharding.group import Group, LocalGroup
from pardo._sharding.layout import Layout
from pardo._sharding.operands import shape_of
from pardo._sharding.reshard import bounds_for, checked_bounds

__all__ = ["ShardedArray", "shard"]

_groups: weakref.WeakValueDictionary[Any, LocalGroup] = weakref.WeakValueDictionary()
_LANES_OF_A_UNIT = 128  # of a multiprocessor of a GPU: float32 operations a cycle


def _found(device: Any) -> list[Queue]:
    """The queues that one item of `devices` names."""
    if isinstance(device, Queue):
        return [device]
    if isinstance(device, str) and device.strip().endswith("*"):
        words = device.strip().removesuffix("*").removesuffix(":")
        backend, _, kind = words.partition(":")
        found = get_devices() if not words else get_devices(backend, kind or None)
        if not found:
            raise ValueError(f"shard: there are no devices {device!r}; python -m pardo lists what there is")
        return [Queue.of(d) for d in found]
    if isinstance(device, (Device, str)):
        return [Queue.of(device_of(device, "shard"))]
    raise TypeError(f"shard: devices must be devices, strings such as 'cuda:0' or 'cuda:*', or queues, not {type(device).__name__}")


def rate(device: Device) -> float:
    """The share of a device with ``weights="facts"``: its compute units, times the float32 operations that each does in a cycle."""
    lanes = _LANES_OF_A_UNIT if device.type == "gpu" else max(1, (device.native_vector_bytes or 16) // 4)
    return float((device.max_compute_units or 1) * lanes)


def group_on(devices: Any, weights: Any = None) -> Group:
    """The group of devices; the same for the same queues and weights."""
    if isinstance(devices, ShardedDevice):
        if weights is None:
            return devices.group
        devices = devices.group.queues if isinstance(devices.group, LocalGroup) else list(devices)
    items = [devices] if isinstance(devices, (str, Device, Queue)) or not isinstance(devices, Iterable) else list(devices)
    queues = [queue for item in items for queue in _found(item)]
    if not queues:
        raise ValueError("shard: at least one device is needed")
    shares = None if weights is None else _shares(weights, queues)
    key = (tuple(queues), shares)
    group = _groups.get(key)
    if group is None:
        group = LocalGroup(queues, shares)
        _groups[key] = group
    return group


def _shares(weights: Any, queues: Sequence[Queue]) -> tuple[float, ...]:
    if isinstance(weights, str):
        if weights != "facts":
            raise ValueError(f"shard: weights is {weights!r}; it must be 'facts', None or one number a device")
        return tuple(rate(queue.device) for queue in queues)
    shares = tuple(float(w) for w in weights)
    if len(shares) != len(queues):
        raise ValueError(f"shard: weights must be one number a device: {len(queues)}, not {len(shares)}")
    if any(not 0 <= w < float("inf") for w in shares) or not sum(shares):
        raise ValueError(f"shard: weights must be finite, not negative, and not all zero: {list(shares)}")
    return shares


def shard(
    x: Any,
    devices: DeviceLike | Queue | ShardedDevice | Iterable[DeviceLike | Queue],
    axis: int | None = 0,
    weights: Sequence[float] | str | None = None,
    *,
    bounds: Sequence[int] | None = None,
    dtype: Any = None,
) -> ShardedArray:
    """Split an array over several devices.

    Parameters
    ----------
    x : array_like
        A plain array, on any device, an array of NumPy's, nested lists, or an array that is split already.
    devices : sequence of Device, str or Queue, or one of these, or ShardedDevice
        Where the parts are, in their order. ``'cuda:*'`` stands for all visible devices of a back end. Two queues of one device are two
        places. `device` of a split array is where that one is.
    axis : int or None, optional
        The axis that is split, the first by default. None: each device gets the whole array.
    weights : sequence of float or 'facts', optional
        The shares of the devices, which are equal by default. ``'facts'``: by a fixed rule of what the devices say of themselves: compute
        units, times lanes of each. Nothing is measured: the same devices give the same parts.
    bounds : sequence of int, optional
        Where the axis is cut, in place of the weights: one more than there are parts, from 0 to the extent.
    dtype : data type, optional
        That of the elements; default: that of `x`.

    Returns
    -------
    ShardedArray
        A copy: part p is on device p. Functions of pardo and NumPy's work on it.

    Raises
    ------
    ValueError
        There are no such devices, or `weights` or `bounds` do not fit.
    AxisError
        There is no such axis.
    TypeError
        `devices` is something else.

    See Also
    --------
    ShardedArray, load_sharded

    Examples
    --------
    >>> import pardo as pp
    >>> cores = pp.Device("cpu").create_sub_devices(1)
    >>> s = pp.shard(pp.arange(8.0), cores, axis=0)
    >>> len(s.shards) == len(cores)
    True
    >>> pp.sqrt(s).sum() > 13
    ShardedArray(True)
    """
    return _shard(x, devices, axis, weights, bounds=bounds, dtype=dtype)


@implements("shard", splits="copied to the devices, or from them to others")
def _shard(x: Any, devices: Any, axis: int | None = 0, weights: Any = None, *, bounds: Any = None, dtype: Any = None) -> ShardedArray:
    read_all()
    group = group_on(devices, weights)
    if dtype is not None:
        x = x.astype(dtype) if type(x) in (ShardedArray, Array) else np.asarray(x).astype(dtype) if _is_host(x) else x
    if type(x) is ShardedArray:
        moved = call("to_device", (x, ShardedDevice(group)), {})
        at = None if axis is None else axis_index(axis, x.ndim, "shard")
        if moved._layout.axis != at or bounds is not None:
            return call("reshard", (moved, axis, bounds), {})  # type: ignore[no-any-return]
        return moved  # type: ignore[no-any-return]
    given = x if type(x) is Array or isinstance(x, np.ndarray) else _whole(x)
    return split(given, group, axis, bounds)


def _is_host(x: Any) -> bool:
    return not (isinstance(x, (list, tuple)) and _core._array_among(x) is not None)


def _whole(x: Any) -> Any:
    """What is neither an array of pardo nor one of NumPy's, as one of these."""
    if isinstance(x, (list, tuple)) and _core._array_among(x) is not None:
        return plain_asarray(x)
    if not (isinstance(x, SCALARS) or hasattr(x, "__dlpack__") or _core._is_host_data(x)):
        raise TypeError(f"shard: an array, or a sequence of numbers, is expected, not {type(x).__name__}")
    return plain_asarray(x) if hasattr(x, "__dlpack__") and not isinstance(x, np.ndarray) else np.asarray(x)


def split(x: Any, group: Group, axis: int | None, bounds: Sequence[int] | None = None) -> ShardedArray:
    """A plain array, or one of NumPy's, in parts, which are copies."""
    layout = layout_of_split(shape_of(x), group, axis, bounds)
    return sharded(group, layout, copies(x, layout, group))


def layout_of_split(shape: tuple[int, ...], group: Group, axis: int | None, bounds: Sequence[int] | None) -> Layout:
    """How `shard` splits an array."""
    if axis is None:
        if bounds is not None:
            raise ValueError("shard: bounds are of an axis, and axis is None")
        return Layout(shape, None, (), group.keys)
    at = axis_index(axis, len(shape), "shard")
    n = shape[at]
    return Layout(shape, at, bounds_for(n, group) if bounds is None else checked_bounds(bounds, n, group, "shard"), group.keys)


def copies(x: Any, layout: Layout, group: Group) -> dict[int, Array]:
    """What each owned part has of a whole array that can be sliced, on the part's device."""
    parts = {}
    for p in group.owned:
        try:
            parts[p] = _copy_on(layout.piece(x, p), group.queue(p))
        except (MemoryError, _core.DeviceError) as error:
            name_part(error, group, p)
            raise
    return parts


def _copy_on(x: Any, queue: Queue) -> Array:
    if type(x) is not Array:
        return plain_asarray(x, queue=queue, copy=True)
    return x._copy() if x.queue == queue else x._to_queue(queue)


# --- functions that make arrays ------------------------------------------------------------------------------------------------------


def _group_in(kwargs: dict[str, Any], name: str) -> Group:
    device = kwargs.pop("device", None)
    if not isinstance(device, ShardedDevice):
        raise TypeError(f"{name}: a ShardedDevice is what device= takes, and nothing else here is an array over several devices")
    if kwargs.pop("queue", None) is not None:
        raise ValueError(f"{name}: device is over several queues; give no queue")
    return device.group


def _filling(name: str) -> Callable[..., Any]:
    """`zeros` and its like, which make each part where it is."""

    def function(shape: Any, *args: Any, **kwargs: Any) -> Any:
        group = _group_in(kwargs, name)
        extents = tuple(read_shape(shape, name))
        layout = Layout(extents, None, (), group.keys) if not extents else Layout(extents, 0, bounds_for(extents[0], group), group.keys)
        plain = getattr(face.namespace(), name)
        return sharded(group, layout, {p: plain(layout.local_shape(p), *args, queue=group.queue(p), **kwargs) for p in group.owned})

    function.__name__ = name
    return function


def _slicing(name: str) -> Callable[..., Any]:
    """`arange` and its like: each part is a slice of what it is on one device, so that the bits are the same; no more is computed."""

    def function(*args: Any, **kwargs: Any) -> Any:
        group = _group_in(kwargs, name)
        plain, parts, layout = getattr(face.namespace(), name), {}, None
        for p in group.owned:
            whole = plain(*args, queue=group.queue(p), **kwargs)
            if type(whole) is not Array:
                return NotImplemented
            layout = layout or Layout(whole.shape, 0, bounds_for(whole.shape[0], group), group.keys)
            parts[p] = whole[layout.extent(p)]._copy()
        assert layout is not None
        return sharded(group, layout, parts)

    function.__name__ = name
    return function


for _name in ("zeros", "ones", "empty", "full"):
    implements(_name, splits="along the first axis, with `device=s.device`")(_filling(_name))
for _name in ("arange", "linspace", "eye", "identity", "tri", "logspace", "geomspace"):
    implements(_name, splits="along the first axis, with `device=s.device`")(_slicing(_name))


def _like(name: str) -> Callable[..., Any]:
    def function(x: Any, *args: Any, device: Any = None, shape: Any = None, **kwargs: Any) -> Any:
        if type(x) is not ShardedArray:
            extents, dtype = (shape_of(x) if shape is None else shape), kwargs.pop("dtype", None) or promotion.result_type(x.dtype)
            order = kwargs.pop("order", "K")
            del order
            return call(name.removesuffix("_like"), (extents, *args), {"dtype": dtype, "device": device, **kwargs})
        if shape is not None or (isinstance(device, ShardedDevice) and device.group.keys != x._group.keys):
            extents = x.shape if shape is None else shape
            where = x.device if device is None else device
            positional = args[:1] if name == "full_like" else ()
            dtype = kwargs.get("dtype") or (args[len(positional)] if len(args) > len(positional) else x.dtype)
            return getattr(face.namespace(), name.removesuffix("_like"))(extents, *positional, dtype=dtype, device=where)
        plain = getattr(face.namespace(), name)
        if name == "full_like" and any(type(v) is ShardedArray for v in (*args, *kwargs.values())):
            fill = args[0] if args else kwargs.pop("fill_value")
            made = call("empty_like", (x, *args[1:]), {"device": device, **kwargs})
            made[...] = fill
            return made
        if device is not None and not isinstance(device, ShardedDevice):
            return plain(call("to_device", (x, device), {}), *args, **kwargs)
        return sharded(x._group, x._layout, mapped(x, lambda part: plain(part, *args, **kwargs)))

    function.__name__ = name
    return function


for _name in ("zeros_like", "ones_like", "empty_like", "full_like"):
    implements(_name, splits="as the array")(_like(_name))


def _converting(name: str) -> Callable[..., Any]:
    """`asarray` and its like."""

    def function(a: Any, dtype: Any = None, *args: Any, device: Any = None, queue: Any = None, copy: Any = None, **kwargs: Any) -> Any:
        if type(a) is not ShardedArray:
            if not isinstance(device, ShardedDevice):
                return NotImplemented  # a list with parts of arrays over several devices
            if copy is False:
                raise ValueError(f"{name}: an array over several devices is a copy, and copy is False")
            whole = a if type(a) is Array or (isinstance(a, np.ndarray) and dtype is None) else _whole(a)
            if dtype is not None:
                whole = whole.astype(dtype)
            return split(whole, device.group, 0 if shape_of(whole) else None)
        target = queue if queue is not None else device
        made = a if dtype is None or np.dtype(dtype) == a.dtype else a.astype(dtype)
        if target is None or (isinstance(target, ShardedDevice) and target == a.device):
            wants_copy = copy if copy is not None else name == "array"
            return call("copy", (made,), {}) if wants_copy and made is a else made
        return call("to_device", (made, target), {})

    function.__name__ = name
    return function


for _name in ("asarray", "array", "asanyarray", "ascontiguousarray"):
    implements(_name, splits="along the first axis, with `device=s.device`; of an array over several devices as it is")(_converting(_name))


@implements("copy", splits="each part by itself")
def copy(a: ShardedArray, order: str = "K", subok: bool = False) -> ShardedArray:
    return sharded(a._group, a._layout, mapped(a, lambda part: part.copy(order)))


publish_module(globals(), "pardo")
