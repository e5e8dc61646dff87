# tests/python/test_cubed.py: cubed with arrays of pardo: its own tests, and work of many GiB in little memory.
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

cubed = pytest.importorskip("cubed")
pytestmark = [pytest.mark.once, pytest.mark.slow]
HERE = Path(__file__).parent
TESTS = Path(cubed.__file__).parent / "tests"
# Other machines and services, Dask before 2024.12, and measurements of minutes (those of memory: below).
ELSEWHERE = ("test_dask", "test_icechunk", "test_lithops", "test_mem_utilization", "test_modal")
FILES = sorted(str(path.relative_to(TESTS)) for path in TESTS.rglob("test_*.py") if not path.name.startswith(ELSEWHERE))


@pytest.mark.skipif(not FILES, reason="this cubed comes without its tests")
@pytest.mark.parametrize("file", FILES)
def test_file(file, tmp_path):
    for needed in ("dill", "numpy_groupies", "obstore", "rich", "seaborn"):
        pytest.importorskip(needed, reason="cubed's tests import it")
    environment = {**os.environ, "CUBED_BACKEND_ARRAY_API_MODULE": "pardo", "PYTHONPATH": str(HERE)}
    options = ["-p", "cubed_here", "-p", "no:cacheprovider", "-p", "no:xdist", "-c", os.devnull, f"--rootdir={tmp_path}", "-W", "ignore"]
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", *options, str(TESTS / file)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 5), done.stdout[-5000:] + done.stderr[-2000:]  # 5: nothing of it is for this machine


@pytest.mark.parametrize("gib", [0.25, 8])
def test_memory_is_bounded(gib, tmp_path):
    """All of the process, Python's modules and what zarr holds too, stays below what cubed is allowed."""
    if gib > 1 and os.environ.get("PARDO_TEST_SEED"):
        pytest.skip("minutes of work: a short run has the smaller one")
    command = [sys.executable, str(HERE / "bounded_memory.py"), str(gib), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    work, peak = map(int, done.stdout.split())
    assert work > 0.9 * gib * 2**30
    assert peak < 500_000_000
