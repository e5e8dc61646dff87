# tests/python/native_building.py: extensions for tests: of tests/native by one call of a compiler each, packages by pip without a network.
from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pardo as pp
import pytest

SOURCES = Path(__file__).resolve().parents[1] / "native"
COMPILER = shutil.which("c++") or shutil.which("g++")
HAS_PYTHON = (Path(sysconfig.get_paths()["include"]) / "Python.h").exists()
NEEDS_A_COMPILER = pytest.mark.skipif(not COMPILER or not HAS_PYTHON, reason="no compiler of C++, or no headers of Python")
_NANOBIND = ["-DNB_BACKEND_MODULE=nanobind_backend", "-DNB_BACKEND_PYPI=nanobind-backend", "-DPy_LIMITED_API=0x030B0000"]


def _flags(binding):
    """Of the compiler, for a binding; skips where it is not installed."""
    module = pytest.importorskip(binding)
    if binding == "nanobind":
        return [*_NANOBIND, "-fno-strict-aliasing", f"-isystem{module.include_dir()}"]
    return [f"-isystem{module.get_include()}"] if binding == "pybind11" else []


def folder_of_all(tmp_path_factory):
    """One for all processes of a run, so that each extension is compiled once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "native"
    folder.mkdir(exist_ok=True)
    return folder


def compile_extension(source, folder, binding, *more):
    """The file of a module, named as its source is; the first of several processes makes it."""
    out = folder / (source.stem + (".abi3.so" if binding == "nanobind" else sysconfig.get_config_var("EXT_SUFFIX")))
    flags = _flags(binding)
    with open(folder / f"{source.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            _compile(source, folder, out, [*flags, *more])
    return out


def _compile(source, folder, out, flags):
    if source.suffix == ".pyx":
        made = folder / f"{source.stem}.cpp"
        subprocess.run([sys.executable, "-m", "cython", "-3", "--cplus", str(source), "-o", str(made)], check=True, capture_output=True)
        source = made
    standard = ["-std=c++17", "-O1", "-shared", "-fPIC", "-fvisibility=hidden"]
    includes = [f"-I{pp.get_include()}", f"-isystem{sysconfig.get_paths()['include']}"]
    done = subprocess.run(
        [COMPILER, *standard, *includes, *flags, str(source), "-o", str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def load_extension(path):
    name = path.name.partition(".")[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pip_install(source, site, environment=None):
    """A package in the folder `source`, built with what is installed here, into the folder `site`."""
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # ninja and cython may be commands of the environment
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "--no-cache-dir"]
    command = [sys.executable, "-m", "pip", "install", "-q", *options, "--target", str(site), str(source)]
    environment = {**os.environ, "PATH": tools, **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
