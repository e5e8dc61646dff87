# tests/python/cubed_here.py: a plugin of pytest for cubed's own tests: leaves out executors and stores that are not of this machine.
from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import zlib

import pytest

# These fail with NumPy's arrays too: Numba compiles no functools.partial; what processes measure depends on the machine; and numpy_groupies
# refuses what it is given.
KNOWN = ("test_check_compilation[single-threaded-jit]", "test_check_compilation[threads-jit]", "test_check_compilation[processes-jit]")
KNOWN += ("test_mem_warn[processes]", "test_groupby_blockwise_axis1")
KNOWN += ("test_default_device",)  # the device of cubed's arrays is the text "cpu", and the namespace's is a pardo.Device
KNOWN += ("test_broadcast_trick",)  # asks for the bytes of the base of a broadcast constant, which has no memory here
# Dask's executor is for a Dask before 2024.12; the others start clusters.
for name in ("ray", "apache_beam", "lithops", "modal", "cubed.runtime.executors.dask", "cubed.runtime.executors.ray"):
    sys.modules[name] = None  # type: ignore[assignment]

if shutil.which("dot") is None and importlib.util.find_spec("pydot"):  # Graphviz draws plans; that they are drawn is not the subject
    import pydot

    pydot.Dot.create = lambda self, *arguments, **keywords: b"<svg xmlns='http://www.w3.org/2000/svg'/>"


def pytest_configure(config: pytest.Config) -> None:
    for marker in ("cloud", "slow"):
        config.addinivalue_line("markers", f"{marker}: of cubed")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = [item for item in items if not item.get_closest_marker("cloud") and item.name not in KNOWN]
    if seed := os.environ.get("PARDO_TEST_SEED"):  # a short run: a twentieth, and no executor that starts processes
        chosen = [item for item in here if zlib.crc32(f"{seed} {item.nodeid}".encode()) % 20 == 0]
        here = [item for item in chosen if "processes" not in item.nodeid]
    config.hook.pytest_deselected(items=[item for item in items if item not in here])
    items[:] = here
