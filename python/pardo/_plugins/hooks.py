# python/pardo/_plugins/hooks.py: when another library is imported, before pardo or after, it is told of arrays. Nothing is imported for it.
from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from pardo._plugins import dask_budgets

# Module whose import makes it worth it -> the module here whose `register` does it.
LIBRARIES = {
    "numba": "numba_arrays",
    "einops._backends": "einops_arrays",
    "joblib.externals.loky.backend.reduction": "joblib_arrays",
    "scipy.fft": "scipy_fft",
    "xarray": "xarray_arrays",
}
# Libraries that have entry points of their own, which pyproject.toml lists: nothing waits for the import of these. They are told when
# pardo is imported after them, and else when they first ask an array something.
MET = {
    "dask.sizeof": "dask_sizes",
    "dask.array.backends": "dask_arrays",
    "distributed.protocol.cuda": "dask_frames",
}


def _register(module: str) -> None:
    """Tell a library of arrays; that it has changed is no reason to stop the import of it."""
    name = LIBRARIES.pop(module, None) or MET.pop(module, None)
    if name is None:
        return
    try:
        importlib.import_module(f"pardo._plugins.{name}").register()
    except Exception as error:
        library = module.partition(".")[0]
        version = getattr(sys.modules.get(library), "__version__", "")
        warnings.warn(f"pardo: {library} {version} does not take arrays of pardo: {type(error).__name__}: {error}", RuntimeWarning, 2)


class _Finder:
    """Finds what others find, and registers behind the module's own code."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in LIBRARIES:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                _runs_then_registers(spec)
                return spec
        return None


def _runs_then_registers(spec: ModuleSpec) -> None:
    loader: Any = spec.loader
    run = getattr(loader, "exec_module", None)
    if run is None:
        return

    def exec_module(module: ModuleType) -> None:
        run(module)
        vars(loader).pop("exec_module", None)
        _register(spec.name)

    try:
        loader.exec_module = exec_module
    except AttributeError:  # a loader without attributes: the library is not told
        return


def _register_loaded(modules: Iterable[str]) -> None:
    for module in list(modules):
        found = sys.modules.get(module)
        if found is not None and not getattr(getattr(found, "__spec__", None), "_initializing", False):
            _register(module)


def met() -> None:
    """Register with those of MET that have been imported since."""
    if MET:
        _register_loaded(MET)


def begin() -> None:
    """Register with what is there already, and watch for the rest."""
    dask_budgets.leave_threads_of_nanny()
    _register_loaded(LIBRARIES)
    met()
    if LIBRARIES and not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
