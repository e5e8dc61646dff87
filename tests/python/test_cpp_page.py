# tests/python/test_cpp_page.py: the code of docs/guide/cpp.md compiles against the headers and the library as it is, and runs; CMake and
# pkg-config find the installed tree, also where it was moved.
from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guide" / "cpp.md"
BUILD = ROOT / "build" / "release"
COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
BLOCKS = re.findall(r"^```cpp\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL) if PAGE.exists() else []
HEADERS = ["ops", "recorded_kernel"]

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not BLOCKS, reason="not in a source tree"),
    pytest.mark.skipif(not COMPILER, reason="no compiler of C++"),
    pytest.mark.skipif(not (BUILD / "libpardo.so").exists(), reason="no library for C++"),
]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_code_of_the_page_runs(number, tmp_path):
    text = BLOCKS[number]
    if "int main" not in text:
        includes = "".join(f"#include <pardo/{header}.h>\n" for header in HEADERS)
        text = f"#include <iostream>\n#include <vector>\n{includes}int main() {{\n{text}\npardo::Queue().wait();\n}}\n"
    source, program = tmp_path / "page.cpp", tmp_path / "page"
    source.write_text(text)
    link = [f"-L{BUILD}", "-lpardo", f"-Wl,-rpath,{BUILD}"]
    command = [COMPILER, "-std=c++20", f"-I{ROOT / 'include'}", str(source), "-o", str(program), *link]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


# --- the installed tree ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """What `cmake --install` makes, in another place than it was made for."""
    if not shutil.which("cmake"):
        pytest.skip("no CMake")
    folder = tmp_path_factory.mktemp("installed")
    made = folder / "made"
    subprocess.run(["cmake", "--install", str(BUILD), "--component", "cpp", "--prefix", str(made)], check=True, capture_output=True)
    return made.rename(folder / "moved")


def runs(program):
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[1.41421356 2.23606798 3.16227766]\n"


@pytest.mark.slow
def test_cmake_finds_the_installed_tree(prefix, tmp_path):
    """The project of the page."""
    (tmp_path / "CMakeLists.txt").write_text(re.search(r"^```cmake\n(# CMakeLists.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)[1])
    (tmp_path / "program.cpp").write_text(BLOCKS[0])
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    configure = ["cmake", *generator, "-S", str(tmp_path), "-B", str(tmp_path / "build"), f"-DCMAKE_PREFIX_PATH={prefix}"]
    for command in (configure, ["cmake", "--build", str(tmp_path / "build")]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    runs(tmp_path / "build" / "program")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("pkg-config"), reason="no pkg-config")
def test_pkg_config_finds_the_installed_tree(prefix, tmp_path):
    (folder,) = {path.parent for path in prefix.rglob("pardo.pc")}
    environment = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    told = subprocess.run(["pkg-config", "--cflags", "--libs", "pardo"], env=environment, check=True, capture_output=True, text=True)
    (tmp_path / "program.cpp").write_text(BLOCKS[0])
    (library,) = {path.parent for path in prefix.rglob("libpardo.so")}
    command = [COMPILER, "-std=c++20", "program.cpp", "-o", "program", *told.stdout.split(), f"-Wl,-rpath,{library}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs(tmp_path / "program")
    needed = subprocess.run(["readelf", "-d", str(tmp_path / "program")], check=True, capture_output=True, text=True).stdout
    version = subprocess.run(["pkg-config", "--modversion", "pardo"], env=environment, check=True, capture_output=True, text=True).stdout
    assert f"[libpardo.so.{version.rpartition('.')[0]}]" in needed  # C++ has no stable ABI: each minor version is another library
