# tests/python/test_sharding_failures.py: arrays over several devices of which one fails, is lost or has no memory left.
from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(ROOT.glob("build/*/libcuda_fake.so"))), "")
WITH_FAKE = pytest.mark.skipif(not FAKE, reason="libcuda_fake.so is not built (target cuda_fake)")

pytestmark = pytest.mark.once
X = np.arange(12.0).reshape(6, 2)


def places():
    return [pp.Queue("cpu"), pp.Queue("cpu"), pp.Queue("cpu")]


def failed_part(s, part=1):
    """The same array, of which a row of one part was taken that is not there."""
    queue = s.group.queue(part)

    def rows(x):
        return x[pp.asarray([0, 9 if x.queue == queue else 1], queue=x.queue)]

    return s.map_shards(rows)


USES = {
    "wait": lambda s: s.wait(),
    "host": pp.asnumpy,
    "text": repr,
    "number": lambda s: float(s[3, 0]),
    "sum": lambda s: float(s.sum()),
    "operation": lambda s: pp.asnumpy(s * 2 + 1),
    "all parts": lambda s: s.reshard(None).wait(),
    "other axis": lambda s: s.reshard(1).wait(),
    "slice": lambda s: pp.asnumpy(s[1:4]),
    "part": lambda s: s.map_shards(lambda x: x + 1).wait(),
}


@pytest.mark.parametrize("use", USES)
def test_a_part_that_fails(use):
    """Each use raises the error, with the part where it happened, also where another part has the result; other values are whole."""
    s = pp.shard(X, places())
    bad = failed_part(s)
    for _ in range(2):
        with pytest.raises(IndexError, match=r"^part 1 on cpu:0: .*index 9 is out of bounds"):
            USES[use](bad)
    np.testing.assert_array_equal(pp.asnumpy(s), X)
    assert isinstance(bad.failure(), IndexError)
    assert s.failure() is None
    np.testing.assert_array_equal(pp.asnumpy(bad[:2]), X[:2])  # of a part that is whole
    bad[...] = 7.0
    assert bad.failure() is None
    np.testing.assert_array_equal(pp.asnumpy(bad), np.full((6, 2), 7.0))


@pytest.fixture
def bounded():
    """A function that bounds the memory of the CPU to so many bytes more than are in use."""
    yield lambda more: pp.set_memory_limit(pp.memory_stats("cpu").in_use + more, "cpu")
    pp.set_memory_limit(0, "cpu")


def test_no_memory_for_a_part(bounded):
    s = pp.shard(np.ones(3_000_000), places()).wait()
    pp.trim_memory("cpu")
    bounded(12_000_000)
    for use in (lambda: (s * 2).wait(), lambda: s.reshard(None).wait(), lambda: (s.copy(), s.copy())[1].wait()):
        with pytest.raises(MemoryError, match=r"^part \d on cpu:0: .*cannot allocate .* on cpu:0 .*limit"):
            use()
    bounded(64_000_000)
    assert float((s * 2).sum()) == 6_000_000  # nothing has failed for good


def test_blocks_that_nobody_uses_are_given_back(bounded):
    s = pp.shard(np.ones(3_000_000), places()).wait()
    (s * 2).wait()
    stats = pp.memory_stats("cpu")
    assert stats.cached >= 24_000_000
    bounded(stats.cached)
    other = pp.shard(np.ones(2_500_000), places()).wait()  # blocks of a size that is not among them
    assert float(other.sum()) == 2_500_000
    stats = pp.memory_stats("cpu")
    assert stats.in_use + stats.cached <= stats.limit


BEGIN = """
import ctypes, os
import numpy as np
import pardo as pp
X = np.arange(4000.0)
s = pp.shard(X, ["cuda:0", "cuda:1"]).wait()
driver = ctypes.CDLL(os.environ["PARDO_CUDA_DRIVER"])

def raises(kind, words, call):
    try:
        result = call()
    except kind as error:
        for word in words:
            assert word in str(error), error
    else:
        raise AssertionError(f"{kind.__name__} was not raised, but {result} returned")
"""


def on_two_gpus(code: str) -> None:
    """In a process that has the fake driver with two devices."""
    variables = dict(os.environ, PARDO_CUDA_DRIVER=FAKE, FAKE_CUDA_DEVICES="2")
    variables.pop("PARDO_DEVICES", None)
    program = BEGIN + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@WITH_FAKE
def test_a_gpu_that_is_lost():
    """Its arrays raise DeviceError, which says what to do; those of the other GPU and of the CPU go on."""
    on_two_gpus("""
    other = pp.asarray(X, device="cuda:0").wait()
    plain = pp.asarray(X, device="cuda:1").wait()
    pp.Queue.of("cuda:1").wait()
    words = ["part 1 on cuda:1: ", "CUDA_ERROR_ILLEGAL_ADDRESS", "the context of cuda:1 is lost", "restarted"]
    driver.fake_cuda_fail_next(b"cuMemcpyDtoHAsync", 700, 1)
    raises(pp.DeviceError, words, lambda: pp.asnumpy(s))
    raises(pp.DeviceError, words[:1] + words[2:], lambda: pp.asnumpy(s))
    raises(pp.DeviceError, ["the context of cuda:1 is lost"], lambda: pp.asnumpy(plain))
    raises(pp.DeviceError, ["part 1 on cuda:1: "], lambda: pp.shard(X, ["cuda:0", "cuda:1"]).wait())
    assert (pp.asnumpy(other) == X).all()
    assert (pp.asnumpy(s.shards[0]) == X[:2000]).all()
    assert float(pp.asarray(X).sum()) == X.sum()
    """)


@WITH_FAKE
def test_no_memory_on_one_gpu():
    on_two_gpus("""
    pp.set_memory_limit(pp.memory_stats("cuda:1").in_use + 4096, "cuda:1")
    raises(MemoryError, ["part 1 on cuda:1: ", "on cuda:1"], lambda: pp.shard(X, ["cuda:0", "cuda:1"]).wait())
    assert pp.asarray(X, device="cuda:0").wait() is not None
    pp.set_memory_limit(0, "cuda:1")
    t = pp.shard(X, ["cuda:0", "cuda:1"])
    assert (pp.asnumpy(t) == X).all()
    """)
