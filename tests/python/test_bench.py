# tests/python/test_bench.py: the benchmarks of routines and of handing arrays over run, on sizes of no account: figures are not looked at.
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from native_building import NEEDS_A_COMPILER

pytestmark = [pytest.mark.once]
BENCH = Path(__file__).resolve().parents[2] / "bench"


def test_routines_beside_numpy(tmp_path):
    rows = "fft of 2*,solve 2048*,sort 10⁸ f32,var*,gammaln*"
    command = [sys.executable, str(BENCH / "routines.py"), "--device", "cpu", "--size", "1e-4", "--budget", "0.01", "--rows", rows]
    done = subprocess.run(
        [*command, "--peers", "numpy,nothing", "--no-first", "--json", str(tmp_path / "numbers.json")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PARDO_DEVICE": "cpu"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not installed: nothing" in done.stdout
    assert "failed" not in done.stdout, done.stdout
    results = json.loads((tmp_path / "numbers.json").read_text())["routines"]
    assert len(results["pardo"]["results"]) == 7
    assert all(row["median"] > 0 for row in results["pardo"]["results"].values())
    assert [name for name, row in results["numpy"]["results"].items() if row is None] == ["gammaln 10⁷ f64"]


@NEEDS_A_COMPILER
@pytest.mark.slow
def test_calls_of_native_extensions():
    """Each row of "What each way costs" (docs/guide/extensions.md) is measured by one of the two."""
    printed = ""
    for command in (["native.py", "--loose", "--short"], ["exchange.py", "--loose"]):
        done = subprocess.run([sys.executable, str(BENCH / command[0]), *command[1:]], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        printed += done.stdout
    for row in ("nanobind", "pybind11", "cython", "a handle", "array_info", "submit of nothing", "memoryview(x)", "C exchange"):
        assert f"\n{row}" in printed, row
    assert "left out" not in printed
