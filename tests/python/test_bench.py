# tests/python/test_bench.py: the benchmark of routines runs, on sizes of no account: figures are not looked at.
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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
