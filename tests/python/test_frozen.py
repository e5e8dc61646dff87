# tests/python/test_frozen.py: a program that PyInstaller has frozen, with pardo's hook.
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pardo
import pytest
from pardo._plugins.pyinstaller import hook_dirs

MODULE = """
import pardo as pp


@pp.jit
def total(x):
    s = 0.0
    for i in pp.prange(len(x)):
        s += x[i] * 2
    return s
"""
PROGRAM = """
import pardo as pp
import sums


@pp.jit
def lost(x):
    return x + 1


x = pp.arange(1000.0)
print(float((x * 2 + 1).sum()), float(sums.total(x)), float((pp.eye(64) @ pp.eye(64)).sum()), float(pp.linalg.det(pp.eye(3))))
print(complex(pp.fft.fft(x)[0]), pp.random.default_rng(1).random(3).shape, pp.ndimage.median_filter(x, 3).shape)
try:
    lost(x)
except TypeError as error:
    print(error)
"""
SPEC = """
a = Analysis(["program.py"], hookspath={hooks}, pathex={path}, module_collection_mode={{"sums": "pyz+py"}})
exe = EXE(PYZ(a.pure), a.scripts, exclude_binaries=True, name="program")
COLLECT(exe, a.binaries, a.datas, name="program")
"""


@pytest.mark.slow
@pytest.mark.once
def test_a_frozen_program_runs(tmp_path: Path) -> None:
    pytest.importorskip("PyInstaller", reason="PyInstaller is not installed")
    (tmp_path / "sums.py").write_text(MODULE)
    (tmp_path / "program.py").write_text(PROGRAM)
    folder = Path(pardo.__file__).parent.parent
    (tmp_path / "program.spec").write_text(SPEC.format(hooks=hook_dirs(), path=[str(folder)]))
    freeze = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR", "program.spec"]
    done = subprocess.run(freeze, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    (tmp_path / "program.py").unlink()
    environment = {"HOME": str(tmp_path), "PARDO_DEVICE": "cpu"} | {n: v for n, v in os.environ.items() if n == "PARDO_FUSION"}
    done = subprocess.run(
        [tmp_path / "dist/program/program"], cwd="/", env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[:2] == ["1000000.0 999000.0 64.0 1.0", "(499500+0j) (3,) (1000,)"]
    assert "a frozen program has no texts unless it is told to" in lines[2]
