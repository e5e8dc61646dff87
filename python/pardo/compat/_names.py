# python/pardo/compat/_names.py: what the modules of compat have in common: names that are missing, keywords of dpctl's.
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from pardo import Array, Queue
from pardo._extending import device_of, unknown


class Constructor(type):
    """A class that stands for one of pardo's, `_kind`: called it makes an object of that, and these are instances of it."""

    _kind: type = Array

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        return cls._make(*arguments, **keywords)  # type: ignore[attr-defined]

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._kind)


def missing(module: str, name: str, table: dict[str, str], otherwise: str) -> AttributeError | ImportError:
    """The exception for a name that a module does not have: what to use, by a table of names in groups, else in general."""
    told = next((text for names, text in table.items() if name in names.split()), "")
    return unknown(module, name, told or otherwise, bool(told))


def queue_of(queue: Any) -> Queue | None:
    """The queue behind a `SyclQueue`; queues themselves, and None."""
    found: Queue | None = getattr(queue, "_queue", queue)
    return found


def placed(op_name: str, device: Any, sycl_queue: Any) -> Queue:
    """The queue that is meant by a device, by a queue, or by none of them."""
    if device is not None and sycl_queue is not None:
        raise TypeError(f"{op_name}: `device` and `sycl_queue` are exclusive keywords")
    given: Any = queue_of(sycl_queue if device is None else device)
    return given if isinstance(given, Queue) else Queue.of(device_of(given, op_name))


def with_queue(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which takes ``sycl_queue=`` for ``queue=``, and the device of a queue or an array for ``device=``."""

    @functools.wraps(function)
    def call(*arguments: Any, sycl_queue: Any = None, **keywords: Any) -> Any:
        if sycl_queue is not None:
            if keywords.get("device") is not None:
                raise TypeError(f"{function.__name__}: `device` and `sycl_queue` are exclusive keywords")
            keywords["queue"] = queue_of(sycl_queue)
        elif hasattr(keywords.get("device"), "_queue"):
            keywords["queue"] = queue_of(keywords.pop("device"))
        return function(*arguments, **keywords)

    return call
