# tests/python/test_dask_cluster.py: pardo.dask.LocalCluster: workers of devices and parts of the CPU, one that is killed, ports, budgets.
from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

da = pytest.importorskip("dask.array")
dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
pytestmark = [pytest.mark.once, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # warnings of other libraries are not ours

CORES = len(os.sched_getaffinity(0))
TWO = pytest.mark.skipif(CORES < 2, reason="one core")


def state():
    threads = [len(os.sched_getaffinity(int(thread))) for thread in os.listdir("/proc/self/task")]
    names = ("PARDO_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    units = pp.Device("cpu").max_compute_units
    return pp.Device().id, units, sorted(os.sched_getaffinity(0)), max(threads), [os.environ[n] for n in names], os.getpid()


def listening(processes):
    """Addresses on which they wait for connections, as the system writes them."""
    held = set()
    for process in processes:
        for file in Path(f"/proc/{process}/fd").iterdir():
            try:
                held.add(os.readlink(file))
            except OSError:
                continue
    lines = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]]
    return {words[1].partition(":")[0] for words in lines if words[3] == "0A" and f"socket:[{words[9]}]" in held}


@pytest.fixture(scope="module")
def cluster():
    from pardo.dask import LocalCluster

    with LocalCluster(min(CORES, 2)) as made:
        yield made


@pytest.fixture
def client(cluster):
    with cluster.get_client() as made:
        yield made


@TWO
def test_budgets_and_ports(client):
    found = list(client.run(state).values())
    assert len(found) == 2
    assert [device for device, *_ in found] == ["cpu:0"] * 2
    assert not set(found[0][2]) & set(found[1][2])  # no core is two workers'
    for _, units, cores, widest, budgets, _ in found:
        assert units == len(cores) == widest
        assert budgets == [str(units)] * 4
    assert sum(units for _, units, *_ in found) <= CORES
    assert listening([os.getpid(), *(pid for *_, pid in found)]) == {"0100007F"}


def busy_threads(seconds=0.5):
    """Operations of all kinds, and how many threads the process has then that have computed."""
    x, stop = pp.ones((700, 700)), time.perf_counter() + seconds
    while time.perf_counter() < stop:
        pp.wait(x @ x, pp.sin(x), pp.sort(x.ravel()), pp.linalg.inv(x[:100, :100] + pp.eye(100)))
        np.asarray(x) @ np.asarray(x)
    used = 0
    for thread in os.listdir("/proc/self/task"):
        words = Path(f"/proc/self/task/{thread}/stat").read_text().rpartition(")")[2].split()
        used += int(words[11]) + int(words[12]) >= 5  # hundredths of a second
    return used, pp.Device("cpu").max_compute_units


@TWO
def test_workers_do_not_take_more_threads_than_cores(client):
    found = client.run(busy_threads).values()
    for used, units in found:
        assert used <= units + 2  # the threads that serve Dask, and the one that runs tasks


def test_results(client):
    with dask.config.set({"array.backend": "pardo"}):
        x = da.random.default_rng(1).normal(size=(400, 50), chunks=(100, 50))
        host = pp.asnumpy(x.compute())
        for lazy, expected in ((x.T @ x, host.T @ host), (x.std(axis=0), host.std(axis=0)), (x[::-3] + 1, host[::-3] + 1)):
            made = lazy.compute()
            assert type(made) is pp.Array
            np.testing.assert_allclose(pp.asnumpy(made), expected, rtol=1e-9)
        q, r = da.linalg.qr(x)
        np.testing.assert_allclose(pp.asnumpy((q @ r).compute()), host, atol=1e-9)
    y = da.from_array(pp.asarray(np.asfortranarray(host), order="K"), chunks=200)
    assert float(da.unique(y.round()).sum().compute()) == np.unique(host.round()).sum()


def test_what_a_kernel_fails_with_is_the_task_s(client):
    x = da.from_array(pp.arange(10), chunks=5)
    with pytest.raises(IndexError, match="out of bounds"):
        x.map_blocks(lambda block: block[block + 7], dtype="int64", meta=pp.arange(0)).compute()
    assert int(x.sum().compute()) == 45


def slow_block(block, seconds):
    time.sleep(seconds)
    return block * 2


@TWO
def test_a_worker_that_is_killed_loses_nothing(client):
    """What it held is computed again by the other, and by the one that takes its place."""
    host = np.arange(4000.0)
    x = da.from_array(pp.asarray(host), chunks=200)
    held = x.map_blocks(slow_block, 0, dtype="f8", meta=pp.zeros(0)).persist()
    late = held.map_blocks(slow_block, 0.1, dtype="f8", meta=pp.zeros(0)).sum()
    future = client.compute(late)
    time.sleep(0.5)
    victim = next(iter(client.run(os.getpid).values()))
    os.kill(victim, signal.SIGKILL)
    assert float(future.result(timeout=60)) == 4 * host.sum()
    assert float(held.sum().compute()) == 2 * host.sum()
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()


def held_on_disk(dask_worker):
    return len(dask_worker.data.disk), os.getpid()


def test_more_than_the_memory_of_a_worker():
    """640 MB in a worker of 600: some of it is on disk, and the process lives."""
    from pardo.dask import LocalCluster

    with LocalCluster(1, memory_limit="600MB") as cluster, cluster.get_client() as client:
        ((_, process),) = client.run(held_on_disk).values()
        with dask.config.set({"array.backend": "pardo"}):
            x = da.random.default_rng(1).random(size=80_000_000, chunks=5_000_000).persist()
            assert abs(float(x.mean().compute()) - 0.5) < 1e-3
            ((on_disk, same),) = client.run(held_on_disk).values()
            assert on_disk > 0
            assert float((x * 2).max().compute()) < 2
            assert same == process


@pytest.mark.parametrize("devices", [["opencl:0", "cpu"], ["null:1", "null:1"]], ids=str)
def test_devices(devices):
    """Chunks go between workers, and are on the device of the one that has them."""
    from pardo.dask import LocalCluster

    try:
        ids = [pp.Device(device).id for device in devices]
    except ValueError as error:
        pytest.skip(str(error))
    with LocalCluster(devices, device_memory_limit=0.5) as cluster, cluster.get_client() as client:
        assert sorted(device for device, *_ in client.run(state).values()) == sorted(ids)
        with dask.config.set({"array.backend": "pardo"}):
            x = da.ones((40, 10), chunks=10, dtype="f4")
            assert float((x.T @ x).sum().compute()) == 4000
        places = client.gather(client.map(where, [pp.ones(5, dtype="f4")] * 4, pure=False))
        assert all(came == default for came, default in places)


def where(x):
    return x.device.id, pp.Device().id


def test_what_cannot_be():
    from pardo.dask import LocalCluster

    for devices, message in (
        (10**6, "of the CPU; they must be between 1 and its cores"),
        (["cpu"] * 10**4, "10000 workers of the CPU"),
        ("cud:*", "no visible device"),
        ("nothing", "nothing"),
        ([], "devices is empty"),
    ):
        with pytest.raises(ValueError, match=message):
            LocalCluster(devices)
    with pytest.raises(TypeError, match="integer"):
        LocalCluster(1.5)
    with pytest.raises(TypeError, match="holds selection strings, not int"):
        LocalCluster(["cpu", 3])
