# python/pardo/_sharding/failures.py: errors of a part say which one it is, and on which device.
from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pardo._core import Array, DeviceError, _failed_first_on
from pardo._sharding.group import Group


def name_part(error: BaseException, group: Group, part: int, x: Any = None) -> None:
    """Let the message of what has failed on a device begin with "part 1 on cuda:1: ". Errors of a call itself, which all parts would raise,
    stay as they are: `x` tells them apart, the array of that part. What it has failed by may have happened to another part."""
    failed = type(x) is Array and x.failure() is not None
    if "_pardo_part" in error.__dict__ or not (failed or isinstance(error, (MemoryError, DeviceError))):
        return
    first = _where(error, group, part, x if failed else None)
    if first is None or not error.args or not isinstance(error.args[0], str):
        return
    error.__dict__["_pardo_part"] = first
    error.args = (f"part {first} on {group.name(first)}: {error.args[0]}", *error.args[1:])


def name_device(error: BaseException, group: Group) -> None:
    """The same of what is raised where no part is known: of the part whose device the message names, if there is one."""
    parts = _named(error, group)
    if parts:
        name_part(error, group, parts[0])


def _where(error: BaseException, group: Group, part: int, x: Array | None) -> int | None:
    """The owned part that an error is of: by the queue whose work has failed, else by the device that the message names, which may be that
    of several parts; None where memory of another device was wanted."""
    if x is not None:
        for p in (part, *group.owned):
            if _failed_first_on(x, group.queue(p)):
                return p
    parts = _named(error, group)
    if part in parts or not parts:
        return part if parts or not isinstance(error, MemoryError) else None
    return parts[0]


def _named(error: BaseException, group: Group) -> list[int]:
    """The owned parts whose device is named in a message."""
    named = set(re.findall(r"\b[a-z]+:\d+\b", str(error)))
    return [p for p in group.owned if group.queue(p).device.id.partition("/")[0] in named]


def group_among(values: Iterable[Any]) -> Group | None:
    """The group of the first array over several devices among arguments, and in their lists and tuples."""
    for x in values:
        group = getattr(x, "_group", None) if not isinstance(x, (list, tuple)) else group_among(x)
        if isinstance(group, Group):
            return group
    return None
