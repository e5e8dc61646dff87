# python/pardo/compat/_arrays.py: pardo's functions on arrays for modules of other names: creation takes `sycl_queue=`.
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pardo
from pardo._extending import shown
from pardo.compat import _attributes  # noqa: F401 (attaches dpctl's names)
from pardo.compat._names import missing, with_queue

CREATION = [
    "arange",
    "array",
    "asarray",
    "asanyarray",
    "ascontiguousarray",
    "asfortranarray",
    "copy",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "frombuffer",
    "fromfile",
    "fromfunction",
    "fromiter",
    "fromstring",
    "full",
    "full_like",
    "geomspace",
    "identity",
    "linspace",
    "logspace",
    "loadtxt",
    "meshgrid",
    "ones",
    "ones_like",
    "tri",
    "zeros",
    "zeros_like",
]
# Names of dpctl's and dpnp's for functions that pardo calls otherwise.
RENAMED = {"to_numpy": "asnumpy", "from_numpy": "asarray", "get_usm_ndarray": "asarray", "as_usm_ndarray": "asarray"}


@functools.cache
def namespace(name: str) -> Callable[..., Any]:
    """pardo's function of a name; creation functions take `sycl_queue=`."""
    function: Callable[..., Any] = getattr(pardo, RENAMED.get(name, name))
    if RENAMED.get(name, name) in CREATION:
        return shown(with_queue(function), name, "pardo.compat")  # type: ignore[no-any-return]
    return function


def served(module: str, own: dict[str, Any], name: str, instead: dict[str, str]) -> Any:
    """A name of a module, which it keeps; else the exception that says what to use."""
    if not name.startswith("_") or name in ("__array_namespace_info__", "__array_api_version__"):
        try:
            own[name] = namespace(name)
        except AttributeError as e:
            reason = str(e).partition(": ")[2]
            raise missing(module, name, instead, reason or "pardo has no such name") from None
        return own[name]
    raise missing(module, name, instead, "pardo has no such name")


def names(own: dict[str, Any]) -> list[str]:
    """The public names of such a module."""
    return sorted({*(n for n in own if not n.startswith("_")), *pardo.__dir__(), *RENAMED})
