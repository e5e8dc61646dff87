# tests/python/test_cpp_page.py: the code of docs/guide/cpp.md compiles against the headers and the library as it is, and runs.
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
