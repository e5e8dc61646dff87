# python/pardo/_plugins/dask_frames.py: arrays in messages between GPUs, for transports such as UCXX, which take memory where it is.
"""Other messages need nothing of this: pickles hold the bytes of arrays out of band, so that they are sent from where they lie."""

from __future__ import annotations

import sys
from typing import Any

from pardo._array.interop import asarray
from pardo._base.arguments import default_queue
from pardo._base.orders import axes_like
from pardo._core import Array, _laid_out, _permute_dims


def register() -> None:
    """Register with distributed's families of messages."""
    protocol: Any = sys.modules["distributed.protocol.cuda"]
    protocol.cuda_serialize.register(Array)(serialize)
    protocol.cuda_deserialize.register(Array)(deserialize)


def serialize(x: Array) -> tuple[dict[str, Any], list[Any]]:
    """The elements as bytes with `__cuda_array_interface__`; raises where the memory is not CUDA's, so that Dask sends a pickle."""
    header, frame = parts(x)
    if not hasattr(frame, "__cuda_array_interface__"):
        raise NotImplementedError(f"memory of {x.device} is not CUDA's")
    return header, [frame]


def parts(x: Array) -> tuple[dict[str, Any], Array]:
    """What an array is made again of, and its bytes in the order in which they lie."""
    axes = axes_like(x, "K")
    laid_out = x if axes is None else _permute_dims(x, list(axes))
    flat = laid_out.reshape(-1)
    frame = flat.view("u1")
    return {"dtype": x.dtype.str, "shape": x.shape, "axes": None if axes is None else tuple(axes)}, frame


def deserialize(header: dict[str, Any], frames: list[Any]) -> Array:
    """The array, on this process's default device if that is a GPU, else where the frame is."""
    (frame,) = frames
    shape, axes = tuple(header["shape"]), header["axes"]
    received = asarray(frame)
    queue = default_queue()
    if hasattr(received, "__cuda_array_interface__") and queue.device.type == received.device.type:
        received = received.to_queue(queue)
    lying = received.view(header["dtype"]).reshape(shape if axes is None else tuple(shape[a] for a in axes))
    return lying if axes is None else _laid_out(lying, list(axes))
