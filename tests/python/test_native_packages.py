# tests/python/test_native_packages.py: how builds of extensions find pardo: the command, CMake, pkg-config, Cython.
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pardo as pp
import pytest

pytestmark = pytest.mark.once
HEADERS = ["c_api.h", "native.hpp", "native/handles.hpp", "native/python.hpp", "nanobind.h", "pybind11.h"]


def told(option):
    return subprocess.run([sys.executable, "-m", "pardo", option], check=True, capture_output=True, text=True).stdout.strip()


def test_what_the_command_prints():
    assert told("--includes") == f"-I{pp.get_include()}"
    assert Path(told("--cmakedir"), "pardoConfig.cmake").is_file()
    assert Path(told("--pkgconfigdir"), "pardo.pc").is_file()


def test_what_the_package_brings():
    assert all(Path(pp.get_include(), "pardo", name).is_file() for name in HEADERS)
    assert (Path(pp.__file__).parent / "native.pxd").is_file()
    assert not (Path(pp.__file__).parent / "__init__.pxd").exists()
    for name in HEADERS[1:]:
        assert len(Path(pp.get_include(), "pardo", name).read_text().splitlines()) < 400


@pytest.mark.skipif(not shutil.which("pkg-config"), reason="no pkg-config")
def test_pkg_config():
    environment = {**os.environ, "PKG_CONFIG_PATH": told("--pkgconfigdir")}
    flags = subprocess.run(["pkg-config", "--cflags", "pardo"], env=environment, check=True, capture_output=True, text=True).stdout.split()
    assert len(flags) == 1
    assert Path(flags[0].removeprefix("-I")).samefile(pp.get_include())
    version = subprocess.run(["pkg-config", "--modversion", "pardo"], env=environment, check=True, capture_output=True, text=True).stdout
    assert version.strip() == pp.__version__


PROJECT = """
cmake_minimum_required(VERSION 3.18)
project(x LANGUAGES C)
find_package(pardo {version} REQUIRED {components})
add_library(x MODULE x.c)
target_link_libraries(x PRIVATE pardo::native)
"""


def configured(folder, version="", components=""):
    (folder / "CMakeLists.txt").write_text(PROJECT.format(version=version, components=components))
    (folder / "x.c").write_text("#include <pardo/c_api.h>\nunsigned size_of_table(const pardo_api* p) { return p->size; }\n")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    command = ["cmake", *generator, "-S", str(folder), "-B", str(folder / "build"), f"-Dpardo_DIR={told('--cmakedir')}"]
    return subprocess.run(command, check=False, capture_output=True, text=True)


@pytest.mark.skipif(not shutil.which("cmake") or not shutil.which("cc"), reason="no CMake, or no compiler of C")
@pytest.mark.skipif(not shutil.which("ninja") and not shutil.which("make"), reason="nothing that CMake builds with")
def test_cmake(tmp_path):
    done = configured(tmp_path, ".".join(pp.__version__.split(".")[:2]), "COMPONENTS native")
    assert done.returncode == 0, done.stderr
    subprocess.run(["cmake", "--build", str(tmp_path / "build")], check=True, capture_output=True)
    for given, text in ((("99",), "99"), (("", "COMPONENTS library"), "the wheel of pardo has the components native and run")):
        shutil.rmtree(tmp_path / "build")
        done = configured(tmp_path, *given)
        assert done.returncode != 0
        assert text in " ".join(done.stderr.split())
