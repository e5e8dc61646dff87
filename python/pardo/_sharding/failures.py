# python/pardo/_sharding/failures.py: errors of a part say which one it is, and on which device.
from __future__ import annotations

from typing import Any

from pardo._core import Array, DeviceError
from pardo._sharding.group import Group


def name_part(error: BaseException, group: Group, part: int, x: Any = None) -> None:
    """Let the message of what has failed on a device begin with "part 1 on cuda:1: ". Errors of a call itself, which all parts would raise,
    stay as they are: `x` tells them apart, the array of that part."""
    failed = isinstance(error, (MemoryError, DeviceError)) or (type(x) is Array and x.failure() is not None)
    if not failed or "_pardo_part" in error.__dict__ or not error.args or not isinstance(error.args[0], str):
        return
    error.__dict__["_pardo_part"] = part
    error.args = (f"part {part} on {group.name(part)}: {error.args[0]}", *error.args[1:])
