# python/pardo/_cython/loading.py: files and cells of Cython that are compiled where they are used: an import hook, and a magic of Jupyter.
from __future__ import annotations

import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from pardo import __version__
from pardo._cython.building import build

__all__ = ["install", "load_ipython_extension", "uninstall"]


def folder_of(path: str, text: bytes) -> str:
    """Where the extension of a file is kept: by what it holds, what its path is, and who compiles it."""
    import Cython

    key = hashlib.sha256(b"\0".join([path.encode(), text, Cython.__version__.encode(), __version__.encode()])).hexdigest()[:24]
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "pardo", "cython", key)


def built(path: str, name: str, folder: str) -> str:
    """The extension of a file, compiled unless it has been."""
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    target = os.path.join(folder, name.rpartition(".")[2] + suffix)
    if not os.path.exists(target):
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:  # one process sees nothing of what another has half done
            (made,) = build([path], folder=work, temporary=work, name=name)
            os.replace(made, target)
    return target


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `name.pyx` where Python looks for `name.py`."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        last = name.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            file = os.path.join(folder or os.getcwd(), f"{last}.pyx")
            if os.path.isfile(file):
                with open(file, "rb") as text:
                    place = folder_of(os.path.abspath(file), text.read())
                extension = built(os.path.abspath(file), name, place)
                loader = importlib.machinery.ExtensionFileLoader(name, extension)
                return importlib.util.spec_from_file_location(name, extension, loader=loader)
        return None


_finder = _Finder()


def install() -> None:
    """Let `import` compile ``.pyx`` files.

    Extensions are kept in the user's cache folder, by what their files hold. A module of Python of the same name comes first.

    See Also
    --------
    uninstall, build
    """
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)


def uninstall() -> None:
    """Take back what `install` did; modules that were imported stay.

    See Also
    --------
    install
    """
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)


def run_cell(shell: Any, line: str, cell: str) -> None:
    """Compile a cell of Cython, and give its names to the notebook."""
    text = cell.encode()
    key = folder_of("cell", text + line.encode())
    name = f"_pardo_cell_{os.path.basename(key)}"
    os.makedirs(key, exist_ok=True)
    file = os.path.join(key, f"{name}.pyx")
    if not os.path.exists(file):
        with open(file, "wb") as target:
            target.write(text)
    extension = built(file, name, key)
    loader = importlib.machinery.ExtensionFileLoader(name, extension)
    spec = importlib.util.spec_from_file_location(name, extension, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    shell.push({n: v for n, v in vars(module).items() if not n.startswith("_")})


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext pardo.cython`` calls: cells that begin with ``%%pardo_cython`` are compiled, and their names are the notebook's."""
    shell.register_magic_function(lambda line, cell: run_cell(shell, line, cell), "cell", "pardo_cython")
