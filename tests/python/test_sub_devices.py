# tests/python/test_sub_devices.py: devices cut into parts: what they are, that they compute, and what cannot be cut.
from __future__ import annotations

import concurrent.futures
import os
import pickle
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest
from support import check

pytestmark = pytest.mark.once

CPU = pp.Device("cpu")
UNITS = CPU.max_compute_units
several = pytest.mark.skipif(UNITS < 2, reason="one core")


@several
def test_equal_parts():
    parts = CPU.create_sub_devices(1)
    assert len(parts) == UNITS == len(set(parts))
    assert parts == CPU.create_sub_devices(1)
    assert [d.id for d in parts] == [f"cpu:0/1.{i}" for i in range(UNITS)]
    assert all(pp.Device(d.id) == d == pickle.loads(pickle.dumps(d)) for d in parts)
    assert all(d.parent == CPU and d.max_compute_units == 1 for d in parts)
    assert parts[0].partition_type_property == "partition_equally"
    assert not parts[0].has_aspect("partitionable")
    assert len(CPU.create_sub_devices(UNITS)) == 1
    assert parts[0] not in pp.get_devices()


@several
def test_counts():
    small, large = CPU.create_sub_devices([1, UNITS - 1])
    assert (small.max_compute_units, large.max_compute_units) == (1, UNITS - 1)
    assert CPU.create_sub_devices((1,))[0].id == "cpu:0/1+.0"
    assert CPU.create_sub_devices(np.int64(1)) == CPU.create_sub_devices(1)
    if UNITS >= 4:
        halves = CPU.create_sub_devices(UNITS // 2)
        assert halves[0].create_sub_devices(1)[1].id == f"cpu:0/{UNITS // 2}.0/1.1"


@several
def test_domains():
    for domain in CPU.partition_affinity_domains:
        parts = CPU.create_sub_devices(domain)
        assert sum(d.max_compute_units for d in parts) == UNITS
        assert parts[0].partition_type_affinity_domain == domain
    if "L3_cache" in CPU.partition_affinity_domains:
        assert CPU.create_sub_devices("l3") == CPU.create_sub_devices("L3_cache")


@several
@pytest.mark.parametrize(
    ("partition", "error", "words"),
    [
        ([UNITS, 1], ValueError, f"add up to {UNITS + 1}; it has {UNITS} compute units"),
        ([1, 0], ValueError, "at least 1"),
        ([], ValueError, "empty"),
        (0, ValueError, "at least 1"),
        (-3, ValueError, "at least 1"),
        (UNITS + 1, ValueError, "cannot be made"),
        ("socket", ValueError, "is not an affinity domain; there are numa"),
        (1.5, TypeError, "a number of compute units"),
        (True, TypeError, "a number of compute units"),
        ([1, "2"], TypeError, "a number of compute units"),
        (None, TypeError, "a number of compute units"),
    ],
)
def test_refused(partition, error, words):
    with pytest.raises(error, match=r"create_sub_devices: ") as raised:
        CPU.create_sub_devices(partition)
    assert words in str(raised.value)


def test_devices_without_parts_say_what_they_offer():
    with pytest.raises(pp.DeviceError, match="create_sub_devices: null:0 cannot be cut by partition_equally; it offers nothing"):
        pp.Device("null").create_sub_devices(1)


@several
def test_they_compute():
    host = np.linspace(0.0, 1.0, 300_000)
    for d in CPU.create_sub_devices(1):
        x = pp.asarray(host, device=d)
        assert x.device == d
        check(pp.sqrt(x) + 1, np.sqrt(host) + 1)
        assert pp.sort(x[::-1]).device == d
        check(x.to_device(CPU) * 2, host * 2)
        with pytest.raises(pp.ExecutionPlacementError):
            x + pp.asarray(host)
        with pp.device_context(d):
            assert pp.ones(3).device == d


@several
def test_they_compute_side_by_side():
    host = np.arange(200_000.0)

    def work(d):
        x = pp.asarray(host, device=d)
        return [float((x * k).sum()) for k in range(20)]

    parts = CPU.create_sub_devices(1)
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        for sums in pool.map(work, parts * 2):
            assert sums == [host.sum() * k for k in range(20)]


@several
def test_as_the_default_device_and_after_a_fork():
    code = (
        "import os, warnings, pardo as pp\n"
        "warnings.simplefilter('ignore')\n"
        "assert pp.Device().id == 'cpu:0/1.1', pp.Device()\n"
        "x = pp.arange(1_000_000.0)\n"
        "assert float(x.sum()) == 499999500000.0\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(float((x * 2).sum()) != 999999000000.0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert float((x * 3).sum()) == 1499998500000.0\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ, "PARDO_DEVICE": "cpu/1.1"}
    )
    assert done.returncode == 0, done.stderr
