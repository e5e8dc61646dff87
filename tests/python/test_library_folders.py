# tests/python/test_library_folders.py: libraries are never loaded from the current folder, though the system's loader would, and what that
# finds elsewhere is found as before (SECURITY.md).
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.once, pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")]

HOSTILE = """
#include <stdio.h>
__attribute__((constructor)) static void run(void) { FILE* f = fopen(MARK, "a"); fputs(NAME "\\n", f); fclose(f); }
"""
# What is asked for by name: of a machine with all of these, and of one with none.
NAMES = (
    "libOpenCL.so.1", "libOpenCL.so", "libcuda.so.1", "libnvidia-opencl.so.1", "libamdocl64.so", "libigdrcl.so", "libintelocl.so",
    "libpocl.so.2", "libhostile_driver.so",
    *(f"lib{name}.so.{n}" for name in ("nvrtc", "cublas", "cufft", "cusolver") for n in (10, 11, 12, 13)),
    "libscipy_openblas.so", "libopenblas.so.0", "libopenblas.so",
)  # fmt: skip

PROGRAM = """
import pardo as pp, os
print(*sorted(p.backend + ":" + p.name for p in pp.get_platforms()), sep=", ")
a = pp.ones((40, 40))
(a @ a).wait()
pp.linalg.inv(a + pp.eye(40)).wait()
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder full of libraries that leave a mark where they are loaded; below it the same again."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "hostile.c").write_text(HOSTILE)
    (folder / "lib").mkdir()
    for name in NAMES:
        options = [f'-DMARK="{folder}/mark"', f'-DNAME="{name}"', f"-Wl,-soname,{name}"]
        subprocess.run(["cc", "-shared", "-fPIC", *options, "-o", str(folder / name), str(folder / "hostile.c")], check=True)
        shutil.copy(folder / name, folder / "lib" / name)
    return folder


def run(folder: Path, program: str = PROGRAM, **environment: str) -> str:
    (folder / "mark").unlink(missing_ok=True)
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PARDO_")} | environment
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    mark = folder / "mark"
    assert not mark.exists(), f"LD_LIBRARY_PATH={variables.get('LD_LIBRARY_PATH')!r}: loaded {mark.read_text().split()}"
    return done.stdout.splitlines()[0]


@pytest.mark.parametrize("entry", ["{}:", ":{}", "{}::/nowhere", "{}:.", "{}:lib", "lib:{}"])
def test_nothing_comes_from_the_current_folder(hostile: Path, entry: str):
    path = os.environ.get("LD_LIBRARY_PATH", "/nowhere")
    assert run(hostile, LD_LIBRARY_PATH=entry.format(path)) == run(hostile, LD_LIBRARY_PATH=path)


def test_a_driver_that_is_nowhere_else_is_not_loaded(hostile: Path, tmp_path: Path):
    (tmp_path / "hostile.icd").write_text("libhostile_driver.so\n")
    program = "import pardo as pp\ntry: pp.Device('opencl')\nexcept ValueError as e: print(str(e).replace('\\n', ' '))"
    told = run(hostile, program, LD_LIBRARY_PATH=":/nowhere", OCL_ICD_VENDORS=str(tmp_path))
    assert "it would load libhostile_driver.so from the current folder, to which an entry of LD_LIBRARY_PATH leads" in told


def test_a_missing_one_is_said_to_be_nowhere_else(hostile: Path):
    program = """
import pardo as pp
try: pp.Device('cuda')
except ValueError as e: print(str(e).replace('\\n', ' '))
else: print('cuda is there')
"""
    told = run(hostile, program, LD_LIBRARY_PATH=":/nowhere")
    assert "cuda is there" in told or "libcuda.so.1: not found; the current folder, which LD_LIBRARY_PATH names" in told
