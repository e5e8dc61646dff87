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
    rows = "fft of 2*,solve 2048*,cholesky 10*,sort 10⁸ f32,gamma*,var*,convolution*,scatter*1000*"
    command = [sys.executable, str(BENCH / "routines.py"), "--device", "cpu", "--size", "1e-4", "--budget", "0.01", "--rows", rows]
    done = subprocess.run(
        [*command, "--peers", "numpy,scipy,nothing", "--no-first", "--json", str(tmp_path / "numbers.json")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PARDO_DEVICE": "cpu"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "not installed: nothing" in done.stdout
    assert "failed" not in done.stdout, done.stdout
    results = json.loads((tmp_path / "numbers.json").read_text())["routines"]
    for name, mine in results["pardo"]["results"].items():
        assert mine["median"] > 0
        assert results["numpy"]["results"][name] or results["scipy"]["results"][name], name
