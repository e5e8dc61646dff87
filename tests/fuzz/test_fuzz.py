# tests/fuzz/test_fuzz.py: some programs of each fuzzer, the same ones for a commit; `./dev fuzz` runs others for as long as asked.
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.common import seed_of_commit

pytestmark = pytest.mark.once

PROGRAMS = {"arrays": 80, "kernels": 50, "groups": 60, "hostile": 150, "queues": 60, "placements": 80, "failures": 60, "sharded": 40}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    """In a process of their own: what other tests have left in this one takes no part."""
    command = [sys.executable, str(Path(__file__).parent), name, "--programs", str(PROGRAMS[name]), "--seed", str(seed_of_commit())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
