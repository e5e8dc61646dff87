# python/pardo/_runtime/config.py: which versions are at work, and which devices there are.
from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np
from pardo import _core
from pardo._base.package import FOLDER

__all__ = ["get_include", "show_config"]


def _openblas() -> str:
    try:
        from importlib.metadata import version

        return version("scipy-openblas32")
    except ImportError:
        return "not installed (pip install scipy-openblas32); needed by matmul and its relatives"


def versions(backends: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The package and what it works with, each with its version."""
    rows = [("pardo", _core._version), ("Python", platform.python_version()), ("NumPy", np.__version__), ("OpenBLAS", _openblas())]
    return rows + [(f"back end {b['name']}", b["versions"]) for b in backends if b["versions"]]


def show_config() -> None:
    """Print the versions of what is at work, and the devices: what belongs into a report of a fault.

    See Also
    --------
    get_devices : the devices themselves.

    Notes
    -----
    ``python -m pardo`` prints the same and more: why a back end has no device, what the cache holds, and a test of each device.

    Examples
    --------
    >>> pp.show_config()  # doctest: +SKIP
    pardo         0.1.0
    Python        3.11.2
    NumPy         2.4.1
    OpenBLAS      0.3.30
    back end cpu  LLVM 19.1.7 · SLEEF 3.5.1 · oneTBB 2021.8
    cpu:0         AMD EPYC 9554P 64-Core Processor, 2 units
    """
    backends = _core._get_backends()
    rows = versions(backends)
    rows += [(d.id, f"{d.name}, {d.max_compute_units or '?'} units") for b in backends for d in b["devices"]]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name.ljust(width)}  {value}")


def get_include() -> str:
    """Return the folder of the headers for native extensions: ``#include <pardo/c_api.h>``.

    Returns
    -------
    str
        What a compiler takes after ``-I``. An extension links nothing of pardo; it gets its functions from the capsule ``pardo._C_API``.

    Notes
    -----
    ``python -m pardo --includes`` prints the option for a compiler's command line.

    Examples
    --------
    >>> import os
    >>> import pardo as pp
    >>> os.path.exists(os.path.join(pp.get_include(), "pardo", "c_api.h"))
    True
    """
    return os.path.join(FOLDER, "include")
