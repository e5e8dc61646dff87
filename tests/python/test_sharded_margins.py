# tests/python/test_sharded_margins.py: chains of map_shards, whose results have room for the rows of their neighbours.
from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pardo as pp
import pytest

needs_fusion = pytest.mark.skipif(
    os.environ.get("PARDO_FUSION") == "off", reason="counts the memory traffic of a fused kernel; fusion is off"
)

MODES = [None, "constant", "edge", "wrap"]
PAD = {"constant": {"mode": "constant", "constant_values": 7}, "edge": {"mode": "edge"}, "wrap": {"mode": "wrap"}}


def devices(parts: int) -> list[Any]:
    return [pp.Queue("cpu") for _ in range(parts)]


def shorter(x: Any) -> Any:
    return x[:-2] * 0.25 + x[1:-1] * 0.5 + x[2:] * 0.25


def as_long(x: Any) -> Any:
    y = pp.empty_like(x) if isinstance(x, pp.Array) else np.empty_like(x)
    y[1:-1] = shorter(x)
    y[0], y[-1] = x[0], x[-1]
    return y


def step(host: np.ndarray, f: Any, mode: str | None) -> np.ndarray:
    if mode is None:
        return f(host)
    padded = np.pad(host, [(1, 1)] + [(0, 0)] * (host.ndim - 1), **PAD[mode])
    whole = f(padded)
    return whole[1:-1] if f is as_long else whole


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize(("f", "mode"), [(as_long, m) for m in MODES] + [(shorter, m) for m in MODES[1:]])
@pytest.mark.parametrize("shape", [(12,), (12, 3)])
def test_chains(parts: int, mode: str | None, f: Any, shape: tuple[int, ...]) -> None:
    host = np.random.default_rng(1).random(shape)
    s = pp.shard(host, devices(parts))
    seen = []
    for _ in range(6):
        s = s.map_shards(f, halo=1, mode=mode, cval=7)
        host = step(host, f, mode)
        seen.append((s, host))
    for got, wanted in seen:  # later halos have changed nothing but the room around the parts
        np.testing.assert_array_equal(pp.asnumpy(got), wanted)


def test_two_halos_of_one_array() -> None:
    host = np.random.default_rng(2).random(20)
    s, t = pp.shard(host, devices(2)), host
    for _ in range(4):
        s, t = s.map_shards(shorter, halo=1, mode="wrap"), step(t, shorter, "wrap")
    wide = [s.map_shards(shorter, halo=1, mode=mode, cval=7) for mode in ("wrap", "edge", "wrap", "constant")]
    for got, mode in zip(wide, ("wrap", "edge", "wrap", "constant"), strict=True):
        np.testing.assert_array_equal(pp.asnumpy(got), step(t, shorter, mode))


def test_pending_results_see_their_own_halos() -> None:
    s = pp.shard(np.arange(8.0), devices(2))
    for _ in range(3):
        s = s.map_shards(as_long, halo=1, mode="wrap")
    before = pp.asnumpy(s)
    lazy = s.map_shards(lambda x: x[:-2] + x[2:], halo=1, mode="wrap")  # not computed yet
    s[...] = 100.0
    after = s.map_shards(lambda x: x[:-2] + x[2:], halo=1, mode="wrap")
    np.testing.assert_array_equal(pp.asnumpy(lazy), np.roll(before, 1) + np.roll(before, -1))
    np.testing.assert_array_equal(pp.asnumpy(after), np.full(8, 200.0))


def test_arrays_that_the_function_keeps_do_not_change() -> None:
    kept: list[Any] = []
    views: list[Any] = []

    def keeping(x: Any) -> Any:
        y = as_long(x)
        kept.append(y)
        return y

    def showing(x: Any) -> Any:
        y = as_long(x)
        views.append(y[:2])
        return y

    for f, held in ((keeping, kept), (showing, views)):
        s = pp.shard(np.arange(12.0), devices(2))
        for _ in range(5):
            s = s.map_shards(f, halo=1, mode="wrap")
            copies = [pp.asnumpy(x).copy() for x in held]
            s.map_shards(as_long, halo=1, mode="wrap").wait()
            for x, copy in zip(held, copies, strict=True):
                np.testing.assert_array_equal(pp.asnumpy(x), copy)


ALIASES = [
    lambda p: p[1:-1],
    lambda p: p[2:],
    lambda p: p,
    lambda p: pp.flip(pp.flip(p))[1:-1],
    lambda p: p.astype("f8", copy=False)[1:-1],
    lambda p: pp.asarray(p)[:-2],
]


@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
@pytest.mark.parametrize("alias", ALIASES)
def test_views_of_the_part_are_copied(rounds: int, alias: Any) -> None:
    s = pp.shard(np.arange(8.0), devices(2))
    for _ in range(rounds):
        s = s.map_shards(shorter, halo=1, mode="wrap")
    new, old = s.map_shards(lambda p: (shorter(p), alias(p)), halo=1, mode="wrap")
    one = s.map_shards(alias, halo=1, mode="wrap")
    before = pp.asnumpy(new).copy(), pp.asnumpy(old).copy(), pp.asnumpy(one).copy()
    s += 100
    s.map_shards(shorter, halo=1, mode="wrap").wait()
    for got, wanted in zip((new, old, one), before, strict=True):
        np.testing.assert_array_equal(pp.asnumpy(got), wanted)


def test_results_that_must_not_be_written() -> None:
    def read_only(p: Any) -> Any:
        y = p * 1
        y.wait()
        y.flags.writeable = False
        return y

    s = pp.shard(np.arange(8.0), devices(2))
    for mode in ("wrap", "constant"):
        t = s.map_shards(read_only, halo=1, mode=mode).map_shards(shorter, halo=1, mode=mode)
        np.testing.assert_array_equal(pp.asnumpy(t), step(np.arange(8.0), shorter, mode) if mode == "wrap" else step_of_zeros())


def step_of_zeros() -> np.ndarray:
    return shorter(np.pad(np.arange(8.0), 1))


@pytest.mark.parametrize("cval", [np.nan, 0.0, -0.0, 3, True, np.float32(2), np.inf])
def test_the_constant_is_the_same_in_each_step(cval: Any) -> None:
    s, t = pp.shard(np.arange(8.0), devices(2)), np.arange(8.0)
    for _ in range(4):
        s = s.map_shards(shorter, halo=1, mode="constant", cval=cval)
        t = shorter(np.pad(t, 1, constant_values=cval))
        np.testing.assert_array_equal(pp.asnumpy(s), t)
    with pytest.raises(TypeError, match="cval"):
        s.map_shards(shorter, halo=1, mode="constant", cval=[1, 2])
    with pytest.raises(TypeError, match="cval is 1j"):
        s.map_shards(shorter, halo=1, mode="constant", cval=1j)


def test_what_is_written_into_the_parts_is_exchanged() -> None:
    s = pp.shard(np.zeros(12), devices(3))
    for _ in range(3):
        s = s.map_shards(as_long, halo=1, mode="wrap")
    s.shards[0][-1:] = 8.0
    s.shards[2][:1] = 4.0
    s += 1
    host = np.ones(12)
    host[3], host[8] = 9, 5
    np.testing.assert_array_equal(pp.asnumpy(s), host)
    np.testing.assert_array_equal(pp.asnumpy(s.map_shards(shorter, halo=1, mode="wrap")), step(host, shorter, "wrap"))


@needs_fusion
def test_a_chain_copies_edges_only() -> None:
    s = pp.shard(np.zeros((64, 1000), "float32"), devices(2))
    for _ in range(3):
        s = s.map_shards(shorter, halo=1, mode="wrap")
    s.wait()
    before = pp.counters()
    s = s.map_shards(shorter, halo=1, mode="wrap").wait()
    after = pp.counters()
    assert after["bytes_read"] - before["bytes_read"] <= (64 + 4 + 4) * 4000
    assert after["launched"] - before["launched"] == 2


@needs_fusion
def test_results_in_memory_are_the_room() -> None:
    s = pp.shard(np.zeros((2048, 512)), devices(2))
    for _ in range(3):
        s = s.map_shards(as_long, halo=1, mode="wrap")
    before = pp.counters()
    s = s.map_shards(as_long, halo=1, mode="wrap").wait()
    assert pp.counters()["bytes_written"] - before["bytes_written"] <= 1.02 * s.nbytes


def test_threads_share_an_array() -> None:
    host = np.random.default_rng(3).random((40, 5))
    s, t = pp.shard(host, devices(2)), host
    for _ in range(3):
        s, t = s.map_shards(shorter, halo=1, mode="wrap"), step(t, shorter, "wrap")
    wanted = step(t, shorter, "wrap")
    wrong: list[int] = []

    def work() -> None:
        results = (s.map_shards(shorter, halo=1, mode="wrap") for _ in range(30))
        wrong.extend(k for k, x in enumerate(results) if not np.array_equal(pp.asnumpy(x), wanted))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_results_without_rows() -> None:
    s = pp.shard(np.arange(5.0), devices(3), axis=0).reshard(0, [0, 0, 5, 5])
    t = np.arange(5.0)
    for _ in range(4):
        s, t = s.map_shards(shorter, halo=1, mode="wrap"), step(t, shorter, "wrap")
        np.testing.assert_array_equal(pp.asnumpy(s), t)
