# tests/python/cubed_here.py: a plugin of pytest for cubed's own tests: leaves out executors and stores that are not of this machine.
from __future__ import annotations

import importlib.util
import shutil
import sys

import pytest

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
    here = [item for item in items if not item.get_closest_marker("cloud")]
    config.hook.pytest_deselected(items=[item for item in items if item not in here])
    items[:] = here
