# python/pardo/_sharding/asking.py: functions that compute, wait, and tell how: of all parts.
from __future__ import annotations

from typing import Any

from pardo._core import Array
from pardo._runtime.plan import Plan
from pardo._runtime.statistics import explain as explain_plain
from pardo._runtime.statistics import force as force_plain
from pardo._runtime.statistics import wait as wait_plain
from pardo._sharding.array import ShardedArray
from pardo._sharding.functions import implements


@implements("wait", splits="all parts begin, then each is waited for")
def wait(*xs: Any, **keywords: Any) -> Any:
    for x in xs:
        if type(x) is ShardedArray:
            x.force()
    plain = [x for x in xs if type(x) is not ShardedArray]
    if plain:
        wait_plain(*plain, **keywords)
    for x in xs:
        if type(x) is ShardedArray:
            x.wait()


@implements("force", splits="all parts of a device together")
def force(*arrays: Any) -> None:
    for parts in _lanes(arrays)[1].values():
        force_plain(*parts)


def _lanes(arrays: Any) -> tuple[dict[Any, str], dict[Any, list[Array]]]:
    """The arrays of each queue, and what that is called."""
    names: dict[Any, str] = {}
    lanes: dict[Any, list[Array]] = {}
    for x in arrays:
        if type(x) is not ShardedArray:
            lanes.setdefault(x.queue, []).append(x)
            names.setdefault(x.queue, str(x.device.id))
            continue
        for p, part in x._parts.items():
            lanes.setdefault(part.queue, []).append(part)
            names.setdefault(part.queue, f"part {p} on {x._group.name(p)}")
    return names, lanes


@implements("explain", splits="a lane a device")
def explain(*arrays: Any) -> Any:
    names, lanes = _lanes(arrays)
    texts: list[str] = []
    steps: list[Any] = []
    for queue, parts in lanes.items():
        plan: Any = explain_plain(*parts)
        lines = str(plan).rstrip("\n").split("\n")
        texts += [names[queue], *(f"| {line}".rstrip() for line in lines)]
        steps += plan._steps
    return Plan("\n".join(texts) + "\n", steps)
