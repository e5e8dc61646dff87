# tests/python/test_rng.py: random.Generator: the words of Philox in their places, bounds, distributions, order, arguments.
from __future__ import annotations

import copy
import doctest
import inspect
import itertools
import math
import pickle
import re
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pardo._random import kernels
from support import message_of_wrong_draw

pytestmark = pytest.mark.once

FLOATS = ["float32", "float64"] if pp.Device().has_fp64 else ["float32"]
FLOAT = np.dtype(FLOATS[-1])
INTEGERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
PER_BLOCK = {"float32": 4, "float64": 2}
SEED = 2**70 + 12345678901
make = pp.random.default_rng


def drawn(x):
    return pp.asnumpy(x)


# --- seeds and streams


@pytest.mark.parametrize(
    ("seed", "key", "third"),
    [
        (0, (0, 0), 0),
        (42, (42, 0), 0),
        (np.int64(7), (7, 0), 0),
        ([9], (9, 0), 0),
        (2**32 + 5, (5, 1), 0),
        (2**96 - 1, (2**32 - 1,) * 2, 2**32 - 1),
        (2**96, (3891880048, 3038527733), 2651275198),
        ([1, 2], (2025407032, 36582450), 3552463738),
        (np.array([1, 2]), (2025407032, 36582450), 3552463738),
    ],
)
def test_words_of_a_seed(seed, key, third):
    g = make(seed)
    assert (g.key, g.counter) == (key, (0, 0, third, 0))


def test_seeds_without_end():
    assert make(10**10_000).key != make(10**10_000 + 1).key
    assert make().key != make().key
    g = make(3)
    assert make(g) is g
    assert isinstance(g, pp.random.Generator)


@pytest.mark.parametrize(
    ("seed", "error"), [(-1, ValueError), ([1, -1], ValueError), (1.5, TypeError), ("a", TypeError), ([0.5], TypeError)]
)
def test_wrong_seeds(seed, error):
    with pytest.raises(error, match="default_rng: seed"):
        make(seed)
    with pytest.raises(error):
        np.random.default_rng(seed)


def test_words_are_those_of_philox():
    g = make(SEED)
    words = [w for i in range(3) for w in pp.random.philox((i, 0, g.counter[2]), g.key)]
    assert_array_equal(drawn(g.integers(0, 2**32, 10, dtype="uint32")), words[:10])
    assert g.counter == (3, 0, SEED >> 64, 0)
    assert make(SEED).bytes(11) == np.array(words, "<u4").tobytes()[:11]
    assert_array_equal(drawn(make(SEED).integers(0, 2**64, 5, dtype="uint64")), np.array(words[:10], "<u4").view("<u8"))


@pp.kernel
def by_kernel(item: pp.Item, function, counter, key, out):
    i = item.get_id(0)
    values = function((counter[0] + i, counter[1], counter[2]), key, out.dtype)
    for k, value in enumerate(values):
        out[i, k] = value


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("method", "function"), [("random", pp.random.philox_uniform), ("standard_normal", pp.random.philox_normal)])
def test_kernels_give_the_same_numbers(method, function, dtype):
    n = PER_BLOCK[dtype]
    g = make(SEED)
    g.random(6, dtype)
    out = pp.zeros((10, n), dtype=dtype)
    by_kernel[pp.Range(10)](function, g.counter, g.key, out)
    assert_array_equal(drawn(getattr(g, method)((5, 2 * n - 1), dtype)).ravel(), drawn(out).ravel()[: 5 * (2 * n - 1)])


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_numbers_are_known(dtype):
    expected = [u for i in range(3) for u in pp.random.philox_uniform((i,), (42,), np.dtype(dtype).type)]
    assert_array_equal(drawn(make(42).random(len(expected), dtype)), expected)
    if dtype == "float64":
        assert drawn(make(42).random(1)).tolist() == [(2632642643 >> 5) * 2.0**-27 + (2012563771 >> 6) * 2.0**-53]


@pytest.mark.parametrize("dtype", [*FLOATS, "uint16"])
def test_a_draw_begins_like_a_longer_one(dtype):
    def draw(n):
        return drawn(make(1).integers(1000, size=n, dtype=dtype) if dtype == "uint16" else make(1).standard_normal(n, dtype))

    for n in range(12):
        assert_array_equal(draw(n), draw(12)[:n])
    assert_array_equal(draw(100_001)[:12], draw(12))


def test_draws_take_whole_blocks():
    g, h = make(5), make(5)
    parts = [drawn(g.random(n, "float32")) for n in (4, 8, 3, 1)]
    together = drawn(h.random(20, "float32"))
    assert_array_equal(np.concatenate(parts), together[[*range(15), 16]])
    assert g.counter == h.counter


def test_children_have_streams_of_their_own():
    g = make(1)
    before = g.counter
    first, second = g.spawn(2)
    (third,) = g.spawn(1)
    assert g.counter == before
    assert len({x.key for x in (g, first, second, third)}) == 4
    assert [x.key for x in make(1).spawn(3)] == [x.key for x in (first, second, third)]
    assert first.spawn(1)[0].key != second.spawn(1)[0].key
    assert g.spawn(0) == []
    with pytest.raises(ValueError, match="n_children"):
        g.spawn(-1)
    with pytest.raises(TypeError, match="n_children"):
        g.spawn(1.5)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_copies_go_on_alike(again):
    g = make(SEED)
    g.random(3)
    g.spawn(2)
    h = again(g)
    assert h is not g
    assert repr(h) == repr(g) == f"Generator(key={g.key}, counter={g.counter})"
    assert_array_equal(drawn(h.random(5)), drawn(g.random(5)))
    assert h.spawn(1)[0].key == g.spawn(1)[0].key


def test_threads_share_a_generator():
    g, found = make(8), []

    def draw():
        found.extend([drawn(g.integers(0, 2**64, 2, dtype="uint64")) for _ in range(50)])

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    expected = drawn(make(8).integers(0, 2**64, 400, dtype="uint64"))
    assert sorted(np.concatenate(found)) == sorted(expected)


# --- integers


def reference(g, i, low, last, wide):
    """Element i of a draw of integers, by the description in the docstring, with Python's integers."""
    of_block, bits = (2, 64) if wide else (4, 32)
    count = last - low + 1
    for attempt in itertools.count():
        words = pp.random.philox((i // of_block, 0, g.counter[2], attempt), g.key)
        k = i % of_block
        word = int(words[2 * k]) | int(words[2 * k + 1]) << 32 if wide else int(words[k])
        if word * count % 2**bits >= 2**bits % count:
            return low + (word * count >> bits)
    raise AssertionError


@given(st.data(), st.sampled_from(INTEGERS), st.integers(0, 2**96 - 1), st.integers(0, 9), st.booleans())
def test_integers_are_those_described(data, dtype, seed, n, endpoint):
    least, greatest = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    low = data.draw(st.integers(least, greatest))
    last = data.draw(st.integers(low, greatest))
    x = make(seed).integers(low, last if endpoint else last + 1, n, dtype=dtype, endpoint=endpoint)
    assert (x.dtype, x.shape) == (np.dtype(dtype), (n,))
    assert drawn(x).astype(object).tolist() == [reference(make(seed), i, low, last, last - low >= 2**32) for i in range(n)]


@pytest.mark.parametrize("count", [1, 2**31 + 1, 2**32 - 1, 2**32, 2**32 + 1, 2**63 + 1, 2**64 - 1, 2**64])
def test_integers_that_are_drawn_again(count):
    x = drawn(make(4).integers(0, count - 1, 101, dtype="uint64", endpoint=True))
    assert [int(v) for v in x] == [reference(make(4), i, 0, count - 1, count > 2**32) for i in range(101)]


@pytest.mark.parametrize("dtype", ["int64", "uint8"])
@pytest.mark.parametrize("count", [6, 2**31 + 1, 2**32])
@pytest.mark.parametrize("n", [1, 35, 64, 1000])
def test_groups_draw_the_same_integers(n, count, dtype):
    """What GPUs run; here by the default device."""
    out = pp.zeros(n, dtype=dtype)
    numbers = map(np.uint64, (3, count, 2**32 % count))
    kernels.random_integers_across[pp.NdRange(-(-n // 64) * 16, 16)](np.uint64(5), 7, (1, 2), *numbers, out)
    rng = pp.random.Generator(pp.random.Philox(key=(1, 2), counter=(5, 0, 7)))
    assert_array_equal(drawn(out), drawn(3 + rng.integers(0, count, n)).astype(dtype))


@given(st.data(), st.sampled_from(INTEGERS[1:]), st.booleans())
def test_integers_between_arrays(data, dtype, endpoint):
    info = np.iinfo(dtype)
    ends = st.integers(info.min, info.max - 1)
    pairs = [sorted(pair) for pair in data.draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=5))]
    low, last = (np.array(x, dtype) for x in zip(*pairs, strict=True))
    high = last if endpoint else last + 1
    x = drawn(make(6).integers(pp.asarray(low), pp.asarray(high.astype(dtype)), dtype=dtype, endpoint=endpoint))
    assert x.astype(object).tolist() == [reference(make(6), i, *map(int, pair), True) for i, pair in enumerate(pairs)]


def test_arrays_of_ends_are_broadcast():
    x = drawn(make(2).integers(pp.asarray([[0], [10]]), pp.asarray([3, 20, 30]) + 10, (4, 2, 3), dtype="int16"))
    assert (x.shape, x.dtype) == ((4, 2, 3), np.int16)
    assert ((x >= [[0], [10]]) & (x < [13, 30, 40])).all()
    assert drawn(make(2).integers([5, 7], [6, 8])).tolist() == [5, 7]
    assert drawn(make(2).integers(pp.asarray(5), 6)).tolist() == 5
    assert drawn(make(2).integers(pp.asarray([5, 8]), 9, (100, 2))).min(axis=0).tolist() == [5, 8]
    for dtype in INTEGERS:
        assert (
            make(2).integers(pp.zeros((0,)), 1, dtype=dtype).shape == make(2).integers(0, pp.zeros((0, 2)), dtype=dtype).shape[:1] == (0,)
        )
    assert drawn(make(2).integers(pp.asarray([False, True]), 2, dtype=bool)).tolist()[1] is True
    most = pp.asarray(np.array([2**63, 2**63], "uint64"))
    assert drawn(make(2).integers(2**63 - 1, most)).tolist() == [2**63 - 1] * 2


def test_all_integers_are_equally_likely():
    for dtype in INTEGERS:
        count = 2 if dtype == "bool" else 6
        counts = np.bincount(drawn(make(10).integers(count, size=60_000, dtype=dtype)).astype(int), minlength=count)
        assert ((counts - 60_000 / count) ** 2 / (60_000 / count)).sum() < 21  # of 5 degrees of freedom: one in 1000


# --- distributions

erf = np.vectorize(math.erf)


def normal_cdf(x):
    return (1 + erf(x / math.sqrt(2))) / 2


DISTRIBUTIONS = {
    "random": ((), lambda x: x, 1 / 2, 1 / 12),
    "uniform": ((-2.0, 3.0), lambda x: (x + 2) / 5, 1 / 2, 25 / 12),
    "standard_normal": ((), normal_cdf, 0, 1),
    "normal": ((2.0, 3.0), lambda x: normal_cdf((x - 2) / 3), 2, 9),
    "lognormal": ((0.5, 0.25), lambda x: normal_cdf((np.log(x) - 0.5) / 0.25), math.exp(0.53125), math.expm1(0.0625) * math.exp(1.0625)),
    "standard_exponential": ((), lambda x: -np.expm1(-x), 1, 1),
    "exponential": ((2.0,), lambda x: -np.expm1(-x / 2), 2, 4),
    "laplace": ((1.0, 2.0), lambda x: np.where(x < 1, np.exp((x - 1) / 2) / 2, 1 - np.exp((1 - x) / 2) / 2), 1, 8),
    "logistic": ((1.0, 2.0), lambda x: 1 / (1 + np.exp((1 - x) / 2)), 1, 4 * math.pi**2 / 3),
    "gumbel": ((1.0, 2.0), lambda x: np.exp(-np.exp((1 - x) / 2)), 1 + 2 * np.euler_gamma, 4 * math.pi**2 / 6),
    "rayleigh": ((2.0,), lambda x: -np.expm1(-(x**2) / 8), 2 * math.sqrt(math.pi / 2), 4 * (2 - math.pi / 2)),
    "weibull": ((2.0,), lambda x: -np.expm1(-(x**2)), math.gamma(1.5), 1 - math.gamma(1.5) ** 2),
    "pareto": ((5.0,), lambda x: 1 - (1 + x) ** -5.0, 1 / 4, 5 / 48),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name, dtype):
    parameters, cdf, mean, variance = DISTRIBUTIONS[name]
    n = 40_000
    x = getattr(make(77), name)(*parameters, size=n, dtype=dtype)
    assert x.dtype == dtype
    x = np.sort(drawn(x).astype("float64"))
    assert np.isfinite(x).all()
    p = cdf(x)  # Kolmogorov and Smirnov: beyond 1.95 by chance once in 1000
    assert max(np.abs(p - np.arange(n) / n).max(), np.abs(p - np.arange(1, n + 1) / n).max()) * math.sqrt(n) < 1.95
    assert_allclose([x.mean(), x.var()], [mean, variance], rtol=0.06, atol=0.02)
    g, h = make(3), make(3)
    arrays = [pp.asarray([p, p], dtype=dtype) for p in parameters]
    assert_allclose(
        drawn(getattr(g, name)(*arrays, size=(3, 2), dtype=dtype)),
        drawn(getattr(h, name)(*parameters, size=(3, 2), dtype=dtype)),
        rtol=1e-5,
    )


@pytest.mark.parametrize("name", ["laplace", "logistic", "gumbel", "standard_exponential", "standard_normal"])
def test_ends_of_the_interval_are_no_infinities(name):
    """Some of the 2**22 numbers of 24 bits are 0."""
    x = getattr(make(2), name)(size=2**26 if name == "gumbel" else 2**22, dtype="float32")
    assert bool(pp.isfinite(x).all())


def test_neighbours_are_independent():
    for draw in (make(1).random, make(1).standard_normal):
        for dtype in FLOATS:
            x = drawn(draw(100_000, dtype))
            for lag in (1, 2, 3, 4):
                assert abs(np.corrcoef(x[lag:], x[:-lag])[0, 1]) < 0.015


def test_parameters_decide_shape_and_dtype():
    g = make(0)
    loc, scale = pp.asarray([[0.0], [100.0]], dtype="float32"), pp.asarray([0, 1, 2])
    x = g.normal(loc, scale)
    assert (x.shape, x.dtype) == ((2, 3), FLOAT)
    assert drawn(x)[:, 0].tolist() == [0, 100]
    assert g.normal(loc, scale, dtype="float32").dtype == np.float32
    assert g.normal([1, 2], 0).shape == (2,)
    assert g.normal(size=()).shape == g.normal().shape == ()
    assert g.uniform(loc, loc + 1, (5, 2, 1)).shape == (5, 2, 1)
    assert g.exponential(pp.zeros((0, 2))).shape == (0, 2)
    assert drawn(g.weibull(pp.asarray([0.0, 1.0]), (50, 2))).max(axis=0)[0] == 0
    assert drawn(g.weibull(0, 3)).tolist() == [0, 0, 0]
    assert np.isnan(drawn(g.normal(math.nan, 1, 2))).all()


# --- out, places


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential"])
def test_out(name, dtype):
    expected = drawn(getattr(make(9), name)((3, 5), dtype))
    out = pp.zeros((3, 5), dtype=dtype)
    g = make(9)
    assert getattr(g, name)(dtype=dtype, out=out) is out
    assert_array_equal(drawn(out), expected)
    wide = pp.zeros((3, 10), dtype=dtype)
    getattr(make(9), name)((3, 5), dtype, out=wide[:, ::2])
    assert_array_equal(drawn(wide)[:, ::2], expected)
    assert not drawn(wide)[:, 1::2].any()
    with pytest.raises(ValueError, match=r"size is 4, but out has shape \(3, 5\)"):
        getattr(g, name)(4, dtype, out=out)
    with pytest.raises(TypeError, match="out has dtype int32"):
        getattr(g, name)(dtype=dtype, out=pp.zeros(3, dtype="int32"))
    with pytest.raises(TypeError, match=r"out must be a pardo.Array"):
        getattr(g, name)(dtype=dtype, out=np.zeros(3, dtype))
    with pytest.raises(ValueError, match="leave device, queue and usm_type away"):
        getattr(g, name)(dtype=dtype, out=out, queue=pp.Queue(pp.Device()))


CALLS = {
    "random": (3,), "uniform": (0, 1, 3), "integers": (5, None, 3), "standard_normal": (3,), "normal": (0, 1, 3), "lognormal": (0, 1, 3),
    "standard_exponential": (3,), "exponential": (1, 3), "laplace": (0, 1, 3), "logistic": (0, 1, 3), "gumbel": (0, 1, 3),
    "rayleigh": (1, 3), "weibull": (1, 3), "pareto": (1, 3), "permutation": (3,), "choice": (5, 3),
}  # fmt: skip


@pytest.mark.varied("name")
@pytest.mark.parametrize("name", CALLS)
def test_places(name):
    expected = drawn(getattr(make(5), name)(*CALLS[name]))
    queue = pp.Queue(pp.Device())
    x = getattr(make(5), name)(*CALLS[name], queue=queue)
    assert x.queue == queue
    assert_array_equal(drawn(x), expected)
    if pp.Device().has_aspect("usm_host_allocations"):
        x = getattr(make(5), name)(*CALLS[name], device=pp.Device(), usm_type="host")
        assert (x.device, x.usm_type) == (pp.Device(), "host")
        assert_array_equal(drawn(x), expected)
    for device in pp.get_devices():
        x = getattr(make(5), name)(*CALLS[name], device=device)
        assert x.device == device
        if device.has_fp64 == pp.Device().has_fp64:
            if name in ("random", "uniform", "integers", "permutation", "choice"):
                assert_array_equal(drawn(x), expected)
            else:
                assert_allclose(drawn(x), expected, rtol=1e-4 if expected.dtype == np.float32 else 1e-12)
    with pytest.raises(ValueError, match="nowhere"):
        getattr(make(5), name)(*CALLS[name], usm_type="nowhere")
    with pytest.raises(ValueError, match="nosuchdevice"):
        getattr(make(5), name)(*CALLS[name], device="nosuchdevice")


def test_draws_stay_with_their_parameters():
    queue = pp.Queue(pp.Device())
    loc = pp.zeros(3, queue=queue)
    assert make(0).normal(loc).queue == make(0).integers(loc, 5).queue == make(0).choice(loc).queue == queue
    assert make(0).permutation(loc).queue == queue
    assert make(0).normal(loc, device=pp.Device()).device == pp.Device()
    with pytest.raises(pp.ExecutionPlacementError):
        make(0).normal(loc, pp.ones(3))


def test_numpy_arrays_are_taken_in_contexts():
    loc, a = np.arange(3, dtype=FLOAT), np.arange(6).reshape(3, 2)
    for draw in (lambda: make(0).normal(loc), lambda: make(0).permutation(a), lambda: make(0).choice(a, 2)):
        assert isinstance(draw(), pp.Array)
        with pp.device_context(pp.Device()):
            assert isinstance(draw(), np.ndarray)
    out = np.zeros(3, FLOAT)
    with pp.device_context(pp.Device()):
        assert make(0).random(out=out) is out
        assert isinstance(make(0).random(3), pp.Array)
    assert_array_equal(out, drawn(make(0).random(3)))


# --- order


def test_permutation():
    g = make(11)
    x = drawn(g.permutation(1000))
    assert x.dtype == np.int64
    assert (x != np.arange(1000)).any()
    assert_array_equal(np.sort(x), np.arange(1000))
    a = np.arange(24).reshape(2, 3, 4)
    for axis in (0, 1, -1):
        y = drawn(g.permutation(pp.asarray(a), axis=axis))
        assert sorted(map(tuple, np.moveaxis(y, axis, 0).reshape(a.shape[axis], -1))) == sorted(
            map(tuple, np.moveaxis(a, axis, 0).reshape(a.shape[axis], -1))
        )
    assert sorted(drawn(g.permutation([3, 1, 2])).tolist()) == [1, 2, 3]
    assert g.permutation(0).shape == (0,)
    assert g.permutation(pp.zeros((0, 3))).shape == (0, 3)
    assert g.permutation(np.int32(1)).tolist() == [0]


def test_all_orders_are_equally_likely():
    g = make(12)
    counts = Counter(tuple(drawn(g.permutation(4)).tolist()) for _ in range(2400))
    assert len(counts) == 24
    assert sum((n - 100) ** 2 / 100 for n in counts.values()) < 50  # of 23 degrees of freedom: one in 1000


@given(st.integers(0, 30), st.integers(0, 2**32))
def test_shuffle(n, seed):
    order = drawn(make(seed).permutation(n))
    x, view = pp.arange(n), pp.arange(2 * n)
    for some in (x, view[::2]):
        make(seed).shuffle(some)
    assert_array_equal(drawn(x), order)
    assert_array_equal(drawn(view), np.stack([2 * order, 2 * np.arange(n) + 1], axis=1).ravel())
    items, host = [str(i) for i in range(n)], np.arange(n)
    make(seed).shuffle(items)
    assert items == [str(i) for i in order]
    make(seed).shuffle(host)
    assert_array_equal(host, order)


def test_shuffle_along_an_axis():
    x = pp.arange(12).reshape(3, 4)
    host = np.arange(12).reshape(3, 4)
    assert make(1).shuffle(x, axis=1) is None
    make(1).shuffle(host, axis=1)
    assert_array_equal(drawn(x), host)
    assert_array_equal(np.sort(host[0]), range(4))
    assert_array_equal(host - host[0], np.repeat([[0], [4], [8]], 4, axis=1))


@given(st.integers(1, 20), st.integers(0, 20), st.booleans(), st.booleans(), st.integers(0, 1000))
@example(5, 5, False, True, 0)
def test_choice(n, k, replace, weighted, seed):
    weights = np.arange(n) % 3 + (n == 1)
    assume(replace or k <= (np.count_nonzero(weights) if weighted else n))
    p = pp.asarray(weights / weights.sum(), dtype=FLOAT) if weighted else None
    x = drawn(make(seed).choice(n, k, replace, p))
    assert (x.dtype, x.shape) == (np.int64, (k,))
    assert ((x >= 0) & (x < n)).all()
    assert replace or len(set(x.tolist())) == k
    assert not weighted or weights[x].all()
    values = np.arange(n) * 10
    assert_array_equal(drawn(make(seed).choice(pp.asarray(values), k, replace, p)), values[x])


def test_choice_of_rows():
    a = np.arange(12).reshape(4, 3)
    g = make(3)
    assert g.choice(pp.asarray(a)).shape == (3,)
    assert g.choice(pp.asarray(a), (2, 5)).shape == (2, 5, 3)
    assert g.choice(pp.asarray(a), (2, 5), axis=1).shape == (4, 2, 5)
    assert g.choice(pp.asarray(a), (2, 2), replace=False).shape == (2, 2, 3)
    assert g.choice(5).shape == g.choice([1.5]).shape == ()
    assert g.choice(0, 0).shape == (0,)


def test_choice_follows_the_probabilities():
    p = [0.1, 0.2, 0.0, 0.7]
    n = 20_000
    counts = np.bincount(drawn(make(4).choice(4, n, p=p)), minlength=4)
    assert_allclose(counts / n, p, atol=0.01)
    assert counts[2] == 0
    g = make(5)
    pairs = Counter(tuple(drawn(g.choice(4, 2, replace=False, p=p)).tolist()) for _ in range(4000))
    for i, j in itertools.permutations((0, 1, 3), 2):
        assert abs(pairs[i, j] / 4000 - p[i] * p[j] / (1 - p[i])) < 0.025


# --- wrong arguments

WRONG = [
    "random(-1)", "random(2.5)", "random('a')", "random(3, dtype='int32')", "random(3, dtype='nope')", "random(3, 'float16')",
    "standard_normal(3, 'complex64')", "standard_exponential(3, 'int32')", "uniform(1, 0)", "uniform(0, float('inf'))",
    "uniform(float('nan'), 1)", "uniform([0, 2], 1)", "uniform(0, [1, 2], 3)", "uniform(0, [1, 2], (3, 1))", "normal([1, 2], [1, 2, 3])",
    "normal(0, -1)", "normal(0, [-1, 1])", "normal('a')", "normal(1j)", "exponential(-1)", "lognormal(0, -1)", "laplace(0, -1)",
    "logistic(0, -1)", "gumbel(0, -1)", "rayleigh(-1)", "weibull(-1)", "pareto(0)", "pareto([1, 0])", "integers(0)", "integers(5, 5)",
    "integers(5, 4, endpoint=True)", "integers(-1, 3, dtype='uint8')", "integers(0, 257, dtype='uint8')", "integers(0, 3, dtype=bool)",
    "integers(0, 256, dtype='uint8', endpoint=True)", "integers(0, 2**64)", "integers(0, 2**70, dtype='uint64')", "integers('a')",
    "integers(0, 3, dtype='float64')", "integers(0, 3, dtype=None)", "integers(float('nan'))", "integers(float('inf'))", "integers(None)",
    "integers([0, 5], [3, 4])", "integers([0, 5], 3)", "integers(0, [3, 4], 5)", "integers([0, 300], 400, dtype='uint8')",
    "integers(-200, [5, 6], dtype='int8')", "integers(0, [0, 1], dtype='uint8')", "integers(5, -3, dtype='uint8')",
    "permutation([1, 2], axis=1)", "permutation([1, 2], axis='a')", "shuffle(3)", "shuffle((1, 2))",
    "shuffle([1, 2], axis=1)", "choice(0)", "choice(-1)", "choice([])", "choice(5, 6, replace=False)", "choice(5, -1)", "choice(5.0)",
    "choice('a')", "choice(3, 2.5)", "choice(3, p=[0.5, 0.5])", "choice(2, p=[0.5, 0.6])", "choice(2, p=[-0.5, 1.5])",
    "choice(2, p=[float('nan'), 1])", "choice(2, p=[[0.5, 0.5]])", "choice(3, 3, replace=False, p=[0.5, 0.5, 0])", "choice(3, p=0.5)",
    "choice(2, p='a')",
    "choice([1, 2], axis=1)", "bytes('a')",
]  # fmt: skip


@pytest.mark.parametrize("call", WRONG)
def test_wrong_arguments_raise_what_numpy_raises(call):
    message = message_of_wrong_draw(call)
    name = call.partition("(")[0]
    assert message.startswith(name) or "NaN" in call or "float" in call or name == "permutation" or "axis" in call


@pytest.mark.parametrize("call", ["bytes(-1)", "permutation(-1)", "standard_exponential(3, method='x')"])
def test_what_numpy_does_not_see_is_an_error_too(call):
    with pytest.raises(ValueError, match=call.partition("(")[0]):
        eval(f"g.{call}", {"g": make(0)})


def test_a_permutation_of_no_integer_is_refused():
    with pytest.raises(TypeError, match=r"permutation: x must be an integer, .* not float"):
        make(0).permutation(5.0)


def test_devices_without_float64_refuse_it():
    for device in pp.get_devices():
        if not device.has_fp64:
            assert make(0).random(2, device=device).dtype == np.float32
            with pytest.raises(Exception, match="float64"):
                make(0).random(2, "float64", device=device)


def test_all_of_numpy_is_there():
    theirs = [name for name in dir(np.random.Generator) if not name.startswith("_")]
    assert [name for name in theirs if not hasattr(pp.random.Generator, name)] == []
    assert [name for name in dir(np.random.RandomState) if not name.startswith("_") and not hasattr(pp.random.RandomState, name)] == []
    with pytest.raises(AttributeError, match=r"has no 'poison'; it has beta, binomial, .*weibull"):
        make(0).poison
    assert not hasattr(make(0), "seed")


METHODS = [name for name in dir(pp.random.Generator) if not name.startswith("_") and name not in ("bit_generator", "counter", "key")]


@pytest.mark.parametrize("name", METHODS)
def test_signatures_and_documentation(name):
    mine = inspect.signature(getattr(pp.random.Generator, name)).parameters
    text = inspect.getdoc(getattr(pp.random.Generator, name))
    theirs = getattr(np.random.Generator, name).__doc__.strip().split("\n\n")[0]
    names = [part.split("=")[0].strip() for part in theirs[theirs.index("(") + 1 : -1].split(",")]
    names = [n for n in names if n != "*"]
    assert list(mine)[1 : len(names) + 1] == names
    assert all(p.kind is p.KEYWORD_ONLY for p in list(mine.values())[len(names) + 1 :])
    assert "{" not in text.replace("{float64, float32}", "").replace("{'", "")
    for section in ("Parameters\n", "Raises\n"):
        assert section in text
    for p in list(mine)[1:]:
        assert f"{p} : " in text or f"{p}, " in text or f", {p} : " in text, p


REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "random.md"


@pytest.mark.skipif(not REFERENCE.exists(), reason="not in a source tree")
def test_the_reference_lists_all():
    listed = set(re.findall(r"(?m)^   (\w\S*)$", REFERENCE.read_text()))
    others = {f"{kind.__name__}.{n}" for kind in (pp.random.Philox, pp.random.RandomState) for n in vars(kind) if not n.startswith("_")}
    functions = {n for n in pp.random.__all__ if not hasattr(pp.random.RandomState, n)} - {"SeedSequence", "ranf", "sample"}
    attributes = {"Philox.counter", "Philox.key"}
    assert listed == functions | {f"Generator.{n}" for n in METHODS} | others - attributes


def test_examples_of_the_docstring():
    case = doctest.DocTestParser().get_doctest(pp.random.default_rng.__doc__, {}, "default_rng", None, 0)
    report: list[str] = []
    assert doctest.DocTestRunner().run(case, out=report.append).failed == 0, "".join(report)
