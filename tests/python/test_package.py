# tests/python/test_package.py: what the installed module brings along: nothing of LLVM is visible, nothing foreign is needed.
import importlib.metadata
import shutil
import subprocess
from pathlib import Path

import pardo._core
import pytest

CORE = Path(pardo._core.__file__)


def run(*command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_only_the_init_function_is_exported():
    lines = run("nm", "-D", "--defined-only", str(CORE)).splitlines()
    assert [line.split()[-1] for line in lines] == ["PyInit__core"]


def test_it_is_linked_to_no_shared_llvm_or_z3():
    needed = run("readelf", "-d", str(CORE))
    for name in ("libLLVM", "libz3", "libxml2", "libtinfo", "libedit", "libffi", "libpython"):
        assert name not in needed


def test_it_is_an_abi3_module():
    assert CORE.name == "_core.abi3.so"


def test_the_version_is_one():
    assert pardo.__version__ == importlib.metadata.version("pardo")


def test_types_are_shipped():
    folder = Path(pardo.__file__).parent
    assert (folder / "py.typed").exists()
    assert "class Array" in (folder / "_core.pyi").read_text()
