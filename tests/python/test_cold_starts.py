# tests/python/test_cold_starts.py: each public name is used first by eight threads at once, in a process without a cache.
from __future__ import annotations

import doctest
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_doctests import SHOWN

pytestmark = [pytest.mark.once, pytest.mark.slow]

PARTS = 24
# What their examples show or change is the process's: another thread's calls are in it.
OF_THE_PROCESS = (
    "allow_implicit_copies", "clear_cache", "counters", "default_device", "fusion", "get_printoptions", "memory_stats",
    "printoptions", "printstyle", "profile", "queue_manager", "random.get_state", "random.set_bit_generator",
    "random.seed", "random.set_state", "randomstate.",
    "report_memory", "set_allocator", "set_memory_limit", "transfer_guard",
)  # fmt: skip
PROGRAM = Path(__file__).with_name("cold_start.py")


def examples_of(name: str) -> list[tuple[str, str]]:
    """Its statements, and what they show; nothing where that is in part."""
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(SHOWN[name]) or "")
    return [
        (e.source, "" if doctest.ELLIPSIS in e.options or "..." in e.want or e.exc_msg else e.want)
        for e in examples
        if doctest.SKIP not in e.options
    ]


@pytest.mark.parametrize("part", range(PARTS))
def test_eight_threads_use_each_name_first(part, tmp_path):
    names = [n for n in sorted(SHOWN) if not any(p in n.lower() for p in OF_THE_PROCESS)]
    # Neighbours share modules: those of one process are apart, so that most of them are first.
    cases = [(name, examples_of(name)) for name in names[part::PARTS]]
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(cases))
    environment = {**os.environ, "PARDO_CACHE_DIR": str(tmp_path / "cache"), "MALLOC_PERTURB_": "165", "PARDO_DEVICE": "cpu"}
    command = [sys.executable, str(PROGRAM), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=environment, check=False, cwd=tmp_path)
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
