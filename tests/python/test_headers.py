# tests/python/test_headers.py: the public headers are a library: each compiles alone, where it lies and where it is installed, without
# warnings; what serves the bindings is apart; and ops.h is as the tables of operations are.
from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
BUILD = ROOT / "build" / "release"
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h*"))
FOR_EXTENSIONS = re.compile(r"pardo/(c_api|native|nanobind|pybind11)\b")  # C++17 is enough for these
PUBLIC = [name for name in HEADERS if not name.startswith("pardo/binding/")]

# Views of native.hpp are what the standard library has of the kind.
SPANS = """
#ifdef __cpp_lib_span
std::span<double> whole(const pardo::native::work& w) { return w.elements<double, 1>(0); }
#endif
#ifdef __cpp_lib_mdspan
double first(const pardo::native::work& w) { return w.elements<const double, 2>(0).mdspan()[0, 0]; }
#endif
"""

pytestmark = [pytest.mark.once, pytest.mark.skipif(not HEADERS, reason="not in a source tree")]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of headers as they are installed."""
    cmake = shutil.which("cmake")
    if not cmake or not (BUILD / "CMakeCache.txt").exists():
        pytest.skip("no build to install from")
    prefix = tmp_path_factory.mktemp("installed")
    subprocess.run([cmake, "--install", str(BUILD), "--component", "headers", "--prefix", str(prefix)], check=True, capture_output=True)
    return prefix / "include"


def others(name):
    """Folders of headers that a header for extensions of Python needs beside its own; skips where they are not installed."""
    library = {"pardo/nanobind.h": "nanobind", "pardo/pybind11.h": "pybind11"}.get(name)
    if library is None and name != "pardo/native/python.hpp":
        return []
    python = Path(sysconfig.get_paths()["include"])
    if not (python / "Python.h").exists():
        pytest.skip("no headers of Python")
    folders = [python]
    if library:
        module = pytest.importorskip(library)
        folders.append(module.include_dir() if library == "nanobind" else module.get_include())
    return [f"-isystem{folder}" for folder in folders]


def compile_headers(names, include, standard, folder, more=""):
    source = folder / "alone.cpp"
    source.write_text("".join(f"#include <{name}>\n" for name in names) + more)
    folders = [f"-I{include}", *(option for name in dict.fromkeys(names) for option in others(name))]
    command = [COMPILER, f"-std={standard}", "-fsyntax-only", *WARNINGS, *folders, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not COMPILER, reason="no compiler of C++")
@pytest.mark.parametrize("name", HEADERS)
def test_header_compiles_alone(name, tmp_path):
    for standard in ["c++17", "c++20"] if FOR_EXTENSIONS.match(name) else ["c++20"]:
        compile_headers([name, name], INCLUDE, standard, tmp_path, SPANS if name == "pardo/native.hpp" else "")


def test_installed_headers_are_those(installed):
    assert sorted(str(path.relative_to(installed)) for path in installed.rglob("*.h*")) == HEADERS
    assert all((installed / name).read_bytes() == (INCLUDE / name).read_bytes() for name in HEADERS)


@pytest.mark.skipif(not COMPILER, reason="no compiler of C++")
def test_installed_headers_compile(installed, tmp_path):
    """All but those that need another library: nothing is included that is not installed."""
    names = [name for name in HEADERS if name not in ("pardo/nanobind.h", "pardo/pybind11.h")]
    compile_headers(names, installed, "c++20", tmp_path)


@pytest.mark.skipif(not COMPILER, reason="no compiler of C++")
def test_an_older_standard_is_named_first(tmp_path):
    """GCC 12 takes C++17 where nothing is said."""
    source = tmp_path / "older.cpp"
    source.write_text("#include <pardo/ops.h>\n")
    command = [COMPILER, "-std=c++17", "-fsyntax-only", f"-I{INCLUDE}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    assert "pardo is a library of C++20: compile with -std=c++20" in errors[0]


def test_ops_header_is_as_the_rows_are():
    done = subprocess.run([sys.executable, str(ROOT / "cmake" / "make_ops.py"), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_functions_of_ops_header_are_written_out_and_documented():
    text = (INCLUDE / "pardo" / "ops.h").read_text()
    assert not re.search(r"^#(?!include|pragma once)", text, re.MULTILINE)
    for row in re.findall(r"^OP\((\w+), .*(?:elementwise|special),", (ROOT / "src" / "graph" / "ops.def").read_text(), re.MULTILINE):
        assert re.search(rf"^///.*\nPARDO_API Array {row}\(const Operand& x1?[,)]", text, re.MULTILINE), row


@pytest.mark.parametrize("name", ["ops", "linalg", "fft", "random", "sparse"])
def test_functions_on_arrays_say_what_they_give(name):
    """An editor shows the `///` above a function, and no comment of a section."""
    lines = (INCLUDE / "pardo" / f"{name}.h").read_text().splitlines()
    undocumented = [line for before, line in itertools.pairwise(lines) if line.startswith("PARDO_API ") and not before.startswith("///")]
    assert undocumented == []


@pytest.mark.parametrize("name", HEADERS)
def test_what_serves_the_bindings_is_apart(name):
    text = (INCLUDE / name).read_text()
    if name in PUBLIC:
        assert "<pardo/binding/" not in text
    else:
        assert "// For pardo's own bindings: no stability.\n" in text
