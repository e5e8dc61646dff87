# python/pardo/_sharding/functions.py: the table of the functions that work on arrays over several devices, and how they split.
from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn, TypeVar

from pardo import _core
from pardo._base import face
from pardo._sharding.failures import group_among, name_device

F = TypeVar("F", bound=Callable[..., Any])


class Row(NamedTuple):
    """A function of the package on arrays over several devices."""

    function: Callable[..., Any]
    splits: str  # how, in a few words: the table in docs/guide/sharding.md
    universal: bool = False  # made when it was asked for, because the function is a universal one


# The files whose functions are listed; they are read when the first array over several devices is made.
ALGORITHMS = ["products", "sorting", "cumulative", "gather", "transforms", "linear", "random", "pictures"]
FILES = [
    "dispatch",
    "creating",
    "elementwise",
    "reductions",
    "indexing",
    "shaping",
    "halos",
    "reshard",
    "printing",
    "saving",
    "asking",
    *ALGORITHMS,
]
TABLE: dict[str, Row] = {}
_read: list[bool] = []


def implements(*names: str, splits: str) -> Callable[[F], F]:
    """Decorator: the function takes the place of those of the package with these public names, as "sort" and "linalg.norm", when an
    argument, or an item of a list or tuple among them, is a `ShardedArray` or a `ShardedDevice`. It is called with the arguments as the
    user gave them, and gives NotImplemented for what it cannot do, which raises a TypeError that says so and names ``s.to_device(d)``."""

    def put(function: F) -> F:
        if "<locals>" in function.__qualname__:
            function.__qualname__ = function.__name__  # which messages on wrong arguments show
        for name in names:
            TABLE[name] = Row(function, splits)
        return function

    return put


def read_all() -> None:
    """Read the files whose functions are in the table."""
    if not _read:
        for name in FILES:
            importlib.import_module(f"pardo._sharding.{name}")
        _read.append(True)


def call(name: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The function of that public name on arrays over several devices."""
    row = TABLE.get(name)
    if row is None:
        read_all()
        row = TABLE.get(name) or _universal(name)
        if row is None:
            refuse(name)
    try:
        result = row.function(*args, **kwargs)
    except (MemoryError, _core.DeviceError) as error:
        group = group_among((*args, *kwargs.values()))
        if group is not None:
            name_device(error, group)
        raise
    if result is NotImplemented:
        refuse(name, "with these arguments ")
    return result


def _universal(name: str) -> Row | None:
    """The row of a universal function, which is made when it is asked for first."""
    found = getattr(face.namespace(), name, None)
    return None if type(found) is not _core.ufunc else row_of(found)


def row_of(ufunc: Any) -> Row:
    """The row of a universal function: element by element, unless the table says something else."""
    name = ufunc.__name__
    read_all()
    if name not in TABLE:
        compute = TABLE["universal function"].function
        TABLE[name] = Row(lambda *args, **kwargs: compute(ufunc, args, kwargs), "each part by itself", True)
    return TABLE[name]


def refuse(name: str, what: str = "") -> NoReturn:
    """The error for what is not there."""
    remedy = f"{name}(s.to_device(d))" if name.replace(".", "").isidentifier() else "s.to_device(d)"
    raise TypeError(
        f"{name}: {what}not there for arrays over several devices; "
        f"gather the array on one first: {remedy}, or use s.map_shards(f) for what each part can do by itself"
    )
