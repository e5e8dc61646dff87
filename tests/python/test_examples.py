# tests/python/test_examples.py: the programs of examples/ run as they are, on the CPU and on OpenCL devices; each checks its own result.
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pardo as pp
import pytest

pytestmark = pytest.mark.once

FOLDER = Path(__file__).resolve().parents[2] / "examples"
NEEDS = {
    "climatology": ("xarray", "zarr"),
    "k_means_cluster": ("distributed",),
    "nearest_neighbours": ("sklearn",),
    "particles": ("moderngl",),
}
ALL_DEVICES = {"asyncio_pipeline", "devices", "overlap"}  # these use every device in one run
CPU_ALONE = {"fission", "nearest_neighbours"}
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))
DEVICES = [str(d.id) for d in pp.get_devices() if d.backend in ("cpu", "opencl")]


def runs(name: str, device: str) -> bool:
    return device.startswith("cpu") or name not in ALL_DEVICES | CPU_ALONE


@pytest.mark.skipif(not EXAMPLES, reason="not in a source tree")
def test_examples_are_found():
    assert {"mandelbrot", "n_body", "overlap"} <= set(EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "device"), [(n, d) for n in EXAMPLES for d in DEVICES if runs(n, d)])
def test_example_runs(name, device, tmp_path):
    for needed in NEEDS.get(name, ()):
        pytest.importorskip(needed)
    command = [sys.executable, "-W", "error", str(FOLDER / f"{name}.py")]
    environment = {**os.environ, "PARDO_DEVICE": device}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout
