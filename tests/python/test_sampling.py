# tests/python/test_sampling.py: what a short run of the tests takes: the same by the same seed, and something of everything.
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import sampling

pytestmark = pytest.mark.once
TESTS = Path(__file__).resolve().parents[1]
PROGRAM = """
import pytest

class Operation:
    pass  # its repr shows an address, which is another one in each process

@pytest.mark.parametrize("device", ["cpu:0", "opencl:0", "opencl:1"])
@pytest.mark.parametrize("operation", [Operation(), *"abc"], ids=["object", *"abc"])
@pytest.mark.parametrize("dtype", range(10))
def test_operations(device, operation, dtype): ...

@pytest.mark.slow
@pytest.mark.parametrize("program", range(100))
def test_programs(program): ...

@pytest.mark.once
def test_once(): ...
"""


def taken(folder: Path, seed: str, keep: str) -> list[str]:
    """The tests that a run takes."""
    (folder / "test_program.py").write_text(PROGRAM)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "-p",
        "conftest",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore",
        str(folder),
    ]
    settings = {"PARDO_TEST_SEED": seed, "PARDO_TEST_KEEP": keep, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment = {**os.environ, "PYTHONPATH": str(TESTS), **settings}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if "::" in line]
    assert (f"sample: {len(lines)} of 221 tests, seed {seed}, " in done.stdout) == bool(seed)
    return lines


def test_runs(tmp_path):
    whole = taken(tmp_path, "", "opencl=0.1")
    assert len(whole) == 221
    first = taken(tmp_path, "one", "opencl=0.2,slow=0.3,once=0")
    assert taken(tmp_path, "one", "opencl=0.2,slow=0.3,once=0") == first
    other = taken(tmp_path, "two", "opencl=0.2,slow=0.3,once=0")
    assert other != first
    for names in (first, other):
        assert sum("[" in name and "cpu:0" in name for name in names) == 40
        assert sum("opencl" in name for name in names) == 4 * 4  # of each operation four of ten dtypes on two drivers
        for operation in ("object", *"abc"):
            assert sum(f"-{operation}-opencl" in name for name in names) == 4
        assert sum("test_programs" in name for name in names) in (30, 31)
        assert not any("test_once" in name for name in names)


def test_choices_are_spread_by_the_seed():
    names = [str(n) for n in range(10)]
    seen = set()
    for seed in range(50):
        chosen = sampling.choose({"a": names, "b": ["x"]}, {"a": 0.1, "b": 0.1}, str(seed), least={"b": 0.0})
        assert len(chosen - {"x"}) == 1
        seen |= chosen
    assert seen == {*names, "x"}  # what one commit leaves out another takes
    assert sampling.choose({"a": names}, {"a": 1.0}, "seed") == set(names)
    assert sampling.choose({"a": names}, {"a": 0.0}, "seed") == set()
    assert sampling.choose({"a": names}, {"a": 0.0}, "seed", least={"a": 0.9}) == set()
    often = sum(len(sampling.choose({"a": ["x"]}, {"a": 0.01}, str(seed), least={"a": 0.5})) for seed in range(200))
    assert 70 < often < 130


def test_the_least_that_is_taken():
    shares = {"least.opencl": 0.5, "opencl": 0.02}
    assert sampling.least_of(["cpu"], shares) == 1
    assert sampling.least_of(["opencl"], shares) == 0.5
    assert sampling.least_of(["cpu", "slow"], shares) == 0
    assert sampling.least_of(["cpu"], {"least": 0.0}) == 0
    assert all(0 <= sampling.position("key", seed=str(seed)) < 1 for seed in range(100))
