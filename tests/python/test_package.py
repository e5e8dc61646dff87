# tests/python/test_package.py: what the installed module brings along: nothing of LLVM is visible, nothing foreign or newer is needed.
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
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
    # And what the wheel's oneTBB calls of a newer libstdc++ than it may find (cmake/glibc/older.py).
    own = {f"_ZNSt15__exception_ptr13exception_ptr{name}" for name in ("9_M_addrefEv", "10_M_releaseEv")}
    assert {line.split()[-1] for line in lines} - own == {"PyInit__core"}


def test_it_is_linked_to_no_shared_llvm_or_z3():
    needed = run("readelf", "-d", str(CORE))
    for name in ("libLLVM", "libz3", "libxml2", "libtinfo", "libedit", "libffi", "libpython", "libzstd", "libz.so"):
        assert name not in needed


def test_symbols_are_resolved_when_it_is_loaded():
    """And their table is read-only from then on."""
    assert re.search(r"\(FLAGS\) +BIND_NOW", run("readelf", "-d", str(CORE)))
    assert "GNU_RELRO" in run("readelf", "-lW", str(CORE))


def test_no_path_of_the_build_is_in_it():
    found = set(re.findall(rb"(?<![\w.])(?:/[\w.+-]+)+\.(?:cpp|cc|c|h|hpp|cxx)\b", CORE.read_bytes()))
    assert {path.decode() for path in found if path.count(b"/") > 1} == set()


# What glibc and libstdc++ of a Linux that manylinux_2_28 names have at most: auditwheel's policy.
NEWEST = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}


def symbols(file):
    """Type, binding, whether imported, name and version of each dynamic symbol."""
    for line in run("readelf", "-W", "--dyn-syms", str(file)).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].rstrip(":").isdigit():
            name, _, version = fields[7].partition("@")
            yield fields[3], fields[4], fields[6] == "UND", name, version.lstrip("@")


@pytest.mark.skipif(
    "manylinux_2_28" not in importlib.metadata.distribution("pardo").read_text("WHEEL"),
    reason="wheels for older Linux are made on Debian 12",
)
def test_every_imported_symbol_is_in_glibc_2_28():
    libraries = [CORE, *sorted(CORE.parent.parent.joinpath("pardo.libs").glob("*.so*"))]
    assert len(libraries) >= 3, "the module, oneTBB and SLEEF"
    brought = {name for file in libraries for _, _, imported, name, _ in symbols(file) if not imported}
    for file in libraries:
        for _, binding, imported, name, version in symbols(file):
            if not imported or not name:
                continue
            if version:
                family, _, number = version.partition("_")
                assert tuple(map(int, number.split("."))) <= NEWEST[family], f"{file.name} needs {name}@{version}"
            elif binding != "WEAK" and name not in brought:  # without a version: only Python's own functions have none
                assert re.match("_?Py", name), f"{file.name} needs {name}, which has no version"


def test_libraries_are_searched_where_packages_are_installed_only(tmp_path):
    """And not in the folder that `python -m` is called in, nor in others that PYTHONPATH names."""
    (tmp_path / "program.py").write_text("from pardo._runtime import devices\nprint(*devices.package_folders(), sep='\\n')\n")
    other = tmp_path / "other"
    other.mkdir()
    path = os.pathsep.join(filter(None, (str(other), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "program"], cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    folders = list(map(Path, done.stdout.splitlines()))
    assert folders[0] == CORE.parent.parent
    assert not {tmp_path, other} & set(folders)


def test_it_is_an_abi3_module():
    assert CORE.name == "_core.abi3.so"


def test_the_version_is_one():
    assert pardo.__version__ == importlib.metadata.version("pardo")


def test_types_are_shipped():
    folder = Path(pardo.__file__).parent
    assert (folder / "py.typed").exists()
    assert "class Array" in (folder / "_core.pyi").read_text()
