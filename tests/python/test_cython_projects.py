# tests/python/test_cython_projects.py: projects with regions of Cython, built to wheels by the back ends that build them.
import importlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("Cython")
from cython_regions import NEEDS_A_COMPILER

pytestmark = [pytest.mark.once, pytest.mark.slow, NEEDS_A_COMPILER]

PROJECTS = Path(__file__).parent / "cython_projects"
USED = """
import numpy as np, doubling
x = np.arange(3.0)
doubling.doubled(x)
assert x.tolist() == [0, 2, 4]
"""


BACKENDS = {"setuptools": "setuptools.build_meta", "meson_python": "mesonpy", "scikit_build_core": "scikit_build_core.build"}
NEEDED = {"setuptools": "setuptools.command.bdist_wheel"}  # since 70.1


@pytest.mark.parametrize("project", BACKENDS)
def test_project(tmp_path, project):
    backend = BACKENDS[project]
    try:
        importlib.import_module(NEEDED.get(project, backend))
    except ImportError:
        pytest.skip(f"what builds with {project} is not installed")
    source = tmp_path / "source"
    shutil.copytree(PROJECTS / project, source)
    shutil.copy(PROJECTS / "doubling.pyx", source)
    code = f"import sys, {backend} as backend; backend.build_wheel(sys.argv[1])"
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # meson and cython are commands of the environment
    command = [sys.executable, "-c", code, str(tmp_path)]
    built = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False, env={**os.environ, "PATH": tools})
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    subprocess.run([sys.executable, "-c", USED], cwd=installed, check=True)


def test_the_command_reports_what_is_refused(tmp_path):
    head = "from cython.parallel import prange\ndef f():\n    cdef int i\n"
    (tmp_path / "wrong.pyx").write_text(head + "    for i in prange(3, nogil=True, device={}):\n        with gil: pass\n")
    command = [sys.executable, "-m", "pardo.cython", "compile", "wrong.pyx", "-o", "wrong.c"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 1
    assert "wrong.pyx:5:13: `with gil` cannot be in a region on a device" in ran.stdout + ran.stderr
    assert not (tmp_path / "wrong.c").exists() or "region" not in (tmp_path / "wrong.c").read_text()
