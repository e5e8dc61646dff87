# tests/python/test_sharded_merging.py: sorted runs: exact cuts of several, and merges, by the routine, in stretches and in tiles.
from __future__ import annotations

from typing import Any

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pardo._sharding import merging
from support import DTYPES

OTHERS = [d.id for d in pp.get_devices() if d.backend in ("opencl", "cuda")]
CASES = [("cpu", dtype, down) for dtype in DTYPES for down in (False, True)] + [(d, t, False) for d in OTHERS for t in ("float32", "int64")]


@pytest.fixture(params=["routine", "stretches", "tiles"])
def way(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which code merges: that of the CPU, or kernels."""
    monkeypatch.setattr(merging, "STRETCH", 50)
    if request.param == "stretches":
        monkeypatch.setattr(merging._core, "_merge_runs", lambda *_: None)
    if request.param == "tiles":
        monkeypatch.setattr(merging, "TILED", {"cpu", "gpu", "accelerator"})
        monkeypatch.setattr(merging, "WIDTH", 8)


def drawn(dtype: Any, n: int, seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2 if np.dtype(dtype).kind == "b" else 40, n).astype(dtype)
    if x.dtype.kind in "fc":
        x[rng.random(n) < 0.1] = np.nan
        x[rng.random(n) < 0.1] *= -1
    if x.dtype.kind == "c":
        x.imag = rng.integers(0, 3, n)
        x.imag[rng.random(n) < 0.1] = np.nan
    return x


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(("device", "dtype", "descending"), CASES)
def test_merges(device: str, dtype: Any, descending: bool) -> None:
    x = pp.asarray(drawn(dtype, 700, 1), device=device)
    runs, start = [], 0
    for n in (300, 1, 250, 149):
        order = pp.argsort(x[start : start + n], descending=descending)
        runs.append((x[start : start + n][order], order + start))
        start += n
    values, places = merging.merged(runs, descending)
    np.testing.assert_array_equal(pp.asnumpy(values), pp.asnumpy(pp.sort(x, descending=descending)))
    np.testing.assert_array_equal(pp.asnumpy(places), pp.asnumpy(pp.argsort(x, descending=descending)))
    assert merging.merged([(v, None) for v, _ in runs], descending)[1] is None
    np.testing.assert_array_equal(pp.asnumpy(merging.merged([(v, None) for v, _ in runs], descending)[0]), pp.asnumpy(values))


@given(
    lengths=st.lists(st.sampled_from([0, 1, 7, 600, 5000, 20000]), min_size=1, max_size=4),
    kinds=st.sampled_from([1, 3, 100]),
    dtype=st.sampled_from(DTYPES),
    descending=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_merges_runs_of_other_queues(lengths: list[int], kinds: int, dtype: Any, descending: bool, seed: int) -> None:
    """Runs of very different lengths, where they are; bit by bit, for zeros and NaN have an order too."""
    rng = np.random.default_rng(seed)
    host = rng.integers(0, kinds, sum(lengths)).astype("float64")
    host[rng.random(len(host)) < 0.1] = np.nan
    host[rng.random(len(host)) < 0.3] *= -1
    host = np.nan_to_num(np.abs(host)).astype(dtype) if np.dtype(dtype).kind in "biu" else host.astype(dtype)
    runs, start = [], 0
    for n in lengths:
        x = pp.asarray(host[start : start + n], queue=pp.Queue("cpu"))
        order = pp.argsort(x, descending=descending)
        runs.append((x[order], order + start))
        start += n
    queue = pp.Queue("cpu")
    values, places = merging.merged(runs, descending, queue)
    alone, _ = merging.merged([(x, None) for x, _ in runs], descending, queue)
    assert values.queue == places.queue == alone.queue == queue
    order = pp.asnumpy(pp.argsort(pp.asarray(host), descending=descending))
    np.testing.assert_array_equal(pp.asnumpy(places), order)
    assert pp.asnumpy(values).tobytes() == pp.asnumpy(alone).tobytes() == host[order].tobytes()


@pytest.mark.parametrize(("make", "copied"), [(np.random.default_rng(0).permutation, False), (np.sort, False), (np.flip, True)])
def test_parts_of_the_cpu_read_each_other(make: Any, copied: bool) -> None:
    """Only a run that is all of another part is copied."""
    host = make(np.arange(400_000.0)).copy()
    s = pp.shard(host, [pp.Queue("cpu"), pp.Queue("cpu")])
    s.wait()
    before = pp.counters()["copied_bytes"]
    found = pp.sort(s)
    found.wait()
    assert (pp.counters()["copied_bytes"] - before > host.nbytes // 8) == copied
    np.testing.assert_array_equal(pp.asnumpy(found), np.sort(host))


@given(
    lengths=st.lists(st.integers(0, 90), min_size=1, max_size=5),
    kinds=st.integers(1, 50),
    descending=st.booleans(),
    looks=st.integers(3, 60),
    seed=st.integers(0, 1000),
)
def test_cuts_are_exact(lengths: list[int], kinds: int, descending: bool, looks: int, seed: int) -> None:
    """By the routine, and whatever number of elements a round looks at."""
    rng = np.random.default_rng(seed)
    bounds = np.cumsum([0, *lengths])
    host = rng.integers(0, kinds, bounds[-1]).astype("float64")
    if len(host):
        host[rng.random(len(host)) < 0.1] = np.nan
    s = pp.shard(host, [pp.Queue("cpu") for _ in lengths]).reshard(0, bounds.tolist())
    rows = {p: pp.sort(x, descending=descending) for p, x in s._parts.items()}
    targets = sorted(rng.integers(0, bounds[-1] + 1, 3).tolist())
    at_once = merging.cuts(s.group, rows, lengths, targets, descending)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "LOOKS", looks)
        patch.setattr(merging, "FEWEST", 3)
        found = merging._cuts_by_looks(s.group, rows, lengths, targets, descending)
    assert at_once == found
    order = pp.asnumpy(pp.argsort(pp.asarray(host), descending=descending))
    part = np.searchsorted(bounds, order, side="right") - 1
    for k, target in enumerate(targets):
        assert [f[k] for f in found] == np.bincount(part[:target], minlength=len(lengths)).tolist()
