# tests/python/test_budgets.py: several processes on one machine: threads and memory of each, by environment, launcher, joblib and Dask.
from __future__ import annotations

import os
import subprocess
import sys

import pardo as pp
import pytest

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore")]  # warnings of other libraries are not ours

CORES = len(os.sched_getaffinity(0))
TWO = pytest.mark.skipif(CORES < 2, reason="one core")
OTHERS = (
    "PARDO_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MPI_LOCALNRANKS",
    "MV2_COMM_WORLD_LOCAL_SIZE",
    "LOCAL_WORLD_SIZE",
)

COUNT = """
import os
import numpy as np
import pardo as pp
x = pp.ones((600, 600), device="cpu")
before = len(os.listdir("/proc/self/task"))
for _ in range(20):
    pp.wait(pp.exp(pp.sin(x)), pp.sort(x.ravel()), x @ x, pp.linalg.inv(x[:200, :200] + pp.eye(200)))
print(len(os.listdir("/proc/self/task")) - before)
"""


def threads_made(**variables: str) -> int:
    """How many threads operations of all kinds make in a process with this environment, and no other of this kind."""
    environment = {name: value for name, value in os.environ.items() if name not in OTHERS} | variables
    done = subprocess.run([sys.executable, "-c", COUNT], env=environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.fixture(scope="module")
def with_one():
    return threads_made(PARDO_NUM_THREADS="1")


@TWO
@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"])
def test_a_share_of_the_cores(name, with_one):
    """As many processes as cores, or one thread as the environment wishes: neither oneTBB nor OpenBLAS has more."""
    assert threads_made(**{name: "1" if name.startswith("OMP_") else str(CORES)}) <= with_one
    assert threads_made() > with_one


@TWO
def test_pardos_own_variable_is_above_the_others():
    others = {"OMP_NUM_THREADS": "1", "MPI_LOCALNRANKS": "64"}
    assert threads_made(PARDO_NUM_THREADS="2", **others) > threads_made(**others)


def count_here() -> int:
    return int(subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True).stdout)


@TWO
def test_workers_of_joblib(with_one, monkeypatch):
    """It sets OMP_NUM_THREADS in its workers, so that all together have a thread a core."""
    joblib = pytest.importorskip("joblib")
    for name in OTHERS:
        monkeypatch.delenv(name, raising=False)
    assert joblib.Parallel(n_jobs=CORES)([joblib.delayed(count_here)()])[0] <= with_one


def limits() -> tuple[str | None, int]:
    return os.environ.get("PARDO_NUM_THREADS"), pp.memory_stats("cpu").limit


@pytest.mark.slow
@pytest.mark.parametrize("prepared", [False, True])
def test_limits_of_dask(prepared, monkeypatch):
    """Of a cluster of Dask's own, where workers are prepared for pardo; elsewhere OMP_NUM_THREADS=1, which Dask sets, is not for pardo."""
    distributed = pytest.importorskip("distributed")
    for name in ("PARDO_NUM_THREADS", "PARDO_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    preload = {"preload": ["pardo.dask"]} if prepared else {}
    keywords = {"dashboard_address": None, "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"}, **preload}
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, memory_limit="500MB", **keywords) as cluster,
        cluster.get_client() as client,
    ):
        ((threads, memory),) = client.run(limits).values()
    if prepared:
        assert (threads, memory) == ("1", 400_000_000)
    else:
        assert int(threads) >= min(CORES, 2)
