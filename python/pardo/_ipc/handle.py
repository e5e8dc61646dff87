# python/pardo/_ipc/handle.py: what one process sends to another, so that it opens an array's memory.
from __future__ import annotations

import json
from typing import Any

import numpy as np
from pardo._ipc.files import Place

__all__ = ["IpcHandle"]

_MAGIC = b"pardo array of a process, form 1\n"
_MOST_BYTES, _MOST_AXES = 1 << 62, 32
_PLACE = {"boot": str, "space": int, "process": int, "started": int, "file": int, "inode": int}


class IpcHandle:
    """Tells another process of the same machine where the memory of an array is; `pardo.from_ipc` opens it there.

    `Array.ipc_handle` makes one. It is a few hundred bytes of plain data: pickles, queues of `multiprocessing` and messages of MPI
    carry it, and so does everything that carries `bytes(handle)`. It keeps nothing alive: the process that made it has to keep the array.

    See Also
    --------
    from_ipc, ipc_empty

    Examples
    --------
    >>> import pardo as pp
    >>> handle = pp.ipc_empty((2, 3)).ipc_handle()
    >>> handle.shape, handle.memory
    ((2, 3), 'host')
    """

    __module__ = "pardo"
    __slots__ = ("_facts",)
    _facts: dict[str, Any]

    def __init__(self) -> None:
        raise TypeError("IpcHandle: x.ipc_handle() makes one, and IpcHandle.from_bytes(data) one of bytes(handle)")

    @classmethod
    def from_bytes(cls, data: bytes) -> IpcHandle:
        """Return the handle whose bytes these are.

        Parameters
        ----------
        data : bytes-like
            What `bytes(handle)` gave.

        Returns
        -------
        IpcHandle
            An equal handle.

        Raises
        ------
        TypeError
            These are no bytes.
        ValueError
            They are not those of a handle, or damaged.

        Examples
        --------
        >>> import pardo as pp
        >>> x = pp.ipc_empty(3)
        >>> h = x.ipc_handle()
        >>> pp.IpcHandle.from_bytes(bytes(h)) == h
        True
        """
        try:
            data = bytes(memoryview(data))
        except TypeError:
            raise TypeError(f"IpcHandle.from_bytes: expected bytes, not {type(data).__name__}") from None
        if not data.startswith(_MAGIC):
            raise ValueError("IpcHandle.from_bytes: these are not the bytes of a handle; bytes(x.ipc_handle()) are")
        try:
            facts = json.loads(data[len(_MAGIC) :])
            return made(_checked(facts))
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ValueError("IpcHandle.from_bytes: the handle is damaged; send all of bytes(x.ipc_handle())") from None

    @property
    def memory(self) -> str:
        """Whose memory it is: 'host', or 'device' for that of a GPU."""
        return str(self._facts["memory"])

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the array."""
        return tuple(self._facts["shape"])

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from element to element, for each axis."""
        return tuple(self._facts["strides"])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the array."""
        return _dtype_of(self._facts["dtype"])

    @property
    def writable(self) -> bool:
        """Whether other processes may write the array."""
        return bool(self._facts["writable"])

    @property
    def process(self) -> int:
        """The number of the process that made the handle, and has to keep the array."""
        return int(self._facts["place"]["process"]) if self._facts["place"] else 0

    def __bytes__(self) -> bytes:
        return _MAGIC + json.dumps(self._facts, sort_keys=True, separators=(",", ":")).encode()

    def __reduce__(self) -> Any:
        return IpcHandle.from_bytes, (bytes(self),)

    def __eq__(self, other: object) -> bool:
        return self._facts == other._facts if isinstance(other, IpcHandle) else NotImplemented

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __repr__(self) -> str:
        kept = f", of process {self.process}" if self._facts["place"] else ""
        return f"<IpcHandle {self.dtype} {self.shape} in memory of the {self.memory}{kept}>"


def made(facts: dict[str, Any]) -> IpcHandle:
    """A handle of facts that are known to be right."""
    handle = object.__new__(IpcHandle)
    handle._facts = json.loads(json.dumps(facts))  # as they are on the other side
    return handle


def facts_of(handle: IpcHandle) -> dict[str, Any]:
    """memory, shape, strides, dtype, writable, offset, bytes, place; of the memory of GPUs also uuid and name."""
    return handle._facts


def described(dtype: np.dtype[Any]) -> Any:
    """A dtype as plain data."""
    if dtype.name == "bfloat16":
        return dtype.name
    try:
        descr = np.lib.format.dtype_to_descr(dtype)
        if _dtype_of(json.loads(json.dumps(descr))) == dtype:
            return descr
    except (ValueError, TypeError):
        pass
    raise ValueError(f"ipc_handle: records of {dtype} cannot be described: fields need plain names, in their order in memory")


def _dtype_of(text: Any) -> np.dtype[Any]:
    if text == "bfloat16":
        import ml_dtypes

        narrow: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return narrow
    found: np.dtype[Any] = np.lib.format.descr_to_dtype(_tuples(text))
    return found


def _tuples(descr: Any) -> Any:
    """Descriptions of fields are tuples, which JSON makes lists."""
    if isinstance(descr, list):
        return [
            tuple(_tuples(part) if isinstance(part, list) and not _is_shape(part) else _shape_of(part) for part in field) for field in descr
        ]
    return descr


def _is_shape(part: list[Any]) -> bool:
    return all(isinstance(n, int) for n in part)


def _shape_of(part: Any) -> Any:
    return tuple(part) if isinstance(part, list) else part


def _number(value: Any, least: int) -> int:
    if type(value) is not int or not least <= value < _MOST_BYTES:
        raise ValueError
    return value


def _checked(facts: Any) -> dict[str, Any]:
    """The facts, if they are of the types that they have to be, and the elements lie in the memory."""
    shape, strides = facts["shape"], facts["strides"]
    offset, size = _number(facts["offset"], 0), _number(facts["bytes"], 0)
    if type(shape) is not list or type(strides) is not list or len(shape) != len(strides):
        raise ValueError
    dtype = _dtype_of(facts["dtype"])
    if dtype.hasobject or dtype.kind not in "biufcV" or (dtype.kind == "V" and dtype.names is None and facts["dtype"] != "bfloat16"):
        raise ValueError
    if len(shape) > _MOST_AXES or type(facts["writable"]) is not bool or facts["memory"] not in ("host", "device"):
        raise ValueError
    low, high, count = 0, dtype.itemsize, 1
    for extent, stride in zip(shape, strides, strict=True):
        count *= _number(extent, 0)
        reach = _number(stride, -_MOST_BYTES) * max(extent - 1, 0)
        low, high = low + min(reach, 0), high + max(reach, 0)
    if count and (offset + low < 0 or offset + high > size):
        raise ValueError
    place: Place | None = facts["place"]
    if (place is None) != (count == 0):
        raise ValueError
    if place is not None and any(type(place[key]) is not kind for key, kind in _PLACE.items()):  # type: ignore[literal-required]
        raise ValueError
    if facts["memory"] == "device" and (type(facts["uuid"]) is not str or (count and not bytes.fromhex(facts["name"]))):
        raise ValueError
    return dict(facts)
