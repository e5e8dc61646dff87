# tests/python/cython_regions.py: what tests of pardo.cython share: a program compiled without optimization, its devices, an array.
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

PROGRAMS = Path(__file__).parent / "cython_programs"
DEVICES = ["cpu", *(d.id for d in pp.get_devices() if d.backend in ("opencl", "cuda") and d.has_fp64)]
NEEDS_A_COMPILER = pytest.mark.skipif(shutil.which("gcc") is None and shutil.which("cc") is None, reason="no C compiler")


def compiled(folder, program, name=""):
    """A program as a module."""
    from pardo.cython import build

    program = PROGRAMS / program
    if program.parent != folder:
        shutil.copy(program, folder)
    before = os.environ.get("CFLAGS")
    os.environ["CFLAGS"] = f"-O0 -I{np.get_include()}"
    try:
        (path,) = build([str(folder / program.name)])
    finally:
        if before is None:
            del os.environ["CFLAGS"]
        else:
            os.environ["CFLAGS"] = before
    spec = importlib.util.spec_from_file_location(program.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name or program.stem] = module
    spec.loader.exec_module(module)
    return module


def matrix(n=6, m=3):
    return np.random.default_rng(1).random((n, m))
