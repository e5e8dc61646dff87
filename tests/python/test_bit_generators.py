# tests/python/test_bit_generators.py: random.Philox, seeds and states; RandomState and the functions of pardo.random; orders.
from __future__ import annotations

import copy
import inspect
import pickle
from collections import Counter

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytestmark = pytest.mark.once

ONES = 2**32 - 1
drawn = pp.asnumpy
Philox = pp.random.Philox
make = pp.random.default_rng


# --- Philox


def test_known_answer():
    """Of Random123 1.14, kat_vectors, philox4x32 10: the one whose counter ends by 0; the others are in test_random.py."""
    answer = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert drawn(Philox(counter=(0, 0, 0), key=(0, 0)).random_raw(4)).tolist() == answer


def test_raw_words_are_those_of_philox():
    bits = Philox(key=(3, 5), counter=(ONES, 7, 9))
    expected = [w for c in ((ONES, 7, 9), (0, 8, 9)) for w in pp.random.philox(c, (3, 5))]
    assert_array_equal(drawn(bits.random_raw((2, 3))).ravel(), expected[:6])
    assert bits.counter == (1, 8, 9, 0)
    assert Philox(key=1).random_raw() == int(pp.random.philox((0,), (1,))[0])
    assert Philox(key=1).random_raw(7, output=False) is None
    assert Philox(key=1).random_raw((0, 3)).shape == (0, 3)


@pytest.mark.parametrize("given", [(5, 6), [5, 6], 5 + 6 * 2**32, np.array([5, 6], "uint32"), np.uint64(5 + 6 * 2**32)])
def test_words_and_numbers(given):
    assert Philox(key=given).key == (5, 6)
    assert Philox(key=0, counter=given).counter == (5, 6, 0, 0)


def test_advance_and_jumped():
    bits = Philox(2**70 + 9)
    assert bits.advance(10) is bits
    assert bits.counter == (10, 0, 64, 0)
    assert bits.advance(-3).counter == (7, 0, 64, 0)
    assert bits.advance(2**64 - 1).counter == (6, 0, 65, 0)
    assert Philox(key=1).advance(-1).counter == (ONES, ONES, ONES, 0)
    other = bits.jumped(3)
    assert (other.key, other.counter, bits.counter) == (bits.key, (6, 0, 68, 0), (6, 0, 65, 0))
    g, h = make(4), make(4)
    g.random(8)
    h.bit_generator.advance(4)
    assert_array_equal(drawn(g.random(3)), drawn(h.random(3)))


def test_draws_stay_in_their_stream():
    g = pp.random.Generator(Philox(key=1, counter=(ONES, ONES, 5)))
    words = drawn(g.integers(0, 2**32, 8, dtype="uint32"))
    expected = [*pp.random.philox((ONES, ONES, 5), (1,)), *pp.random.philox((0, 0, 5), (1,))]
    assert_array_equal(words, expected)
    assert g.counter == (1, 0, 5, 0)
    with pytest.raises(AttributeError):
        g.bit_generator.counter = 3


def test_state_in_and_out():
    bits = Philox(2**80 + 5)
    pp.random.Generator(bits).spawn(3)
    bits.random_raw(9)
    state = bits.state
    assert state["bit_generator"] == "Philox"
    assert (state["state"]["counter"].tolist(), state["state"]["key"].tolist()) == ([3, 0, 2**16, 0], [5, 0])
    other = Philox()
    other.state = state
    assert (other.key, other.counter) == (bits.key, bits.counter)
    assert_array_equal(drawn(other.random_raw(5)), drawn(bits.random_raw(5)))
    assert other.spawn(1)[0].key == bits.spawn(1)[0].key
    for wrong in ({}, {"bit_generator": "PCG64"}, np.random.Philox(1).state, {**state, "state": {"counter": [1, 2, 3, 4], "key": [0, 0]}}):
        with pytest.raises(ValueError, match="Philox"):
            other.state = wrong
    with pytest.raises(TypeError, match="state must be a dict, not int"):
        other.state = 5


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_copies(again):
    bits = Philox(np.random.SeedSequence(3))
    bits.random_raw(3)
    other = again(bits)
    assert (repr(other), other.counter) == (f"Philox(key={bits.key}, counter={bits.counter})", (1, *bits.counter[1:]))
    assert other.seed_seq.entropy == 3
    state = pp.random.RandomState(5)
    assert type(again(state)) is pp.random.RandomState
    assert again(state).key == (5, 0)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"seed": 1, "key": 1}, ValueError), ({"key": -1}, ValueError), ({"key": 2**64}, ValueError), ({"key": (1, 2, 3)}, ValueError),
        ({"key": (2**32,)}, ValueError), ({"key": 1.5}, TypeError), ({"key": 0, "counter": 2**96}, ValueError), ({"seed": "a"}, TypeError),
        ({"counter": (0, 0, 0, 1)}, ValueError), ({"seed": -1}, ValueError),
    ],
)  # fmt: skip
def test_wrong_arguments_of_philox(arguments, error):
    with pytest.raises(error):
        Philox(**arguments)


# --- seeds


def test_all_seeds_of_numpy():
    sequence = pp.random.SeedSequence(12)
    assert pp.random.SeedSequence is np.random.SeedSequence
    g = make(sequence)
    assert [*g.key, g.counter[2]] == sequence.generate_state(3).tolist()
    assert g.bit_generator.seed_seq is sequence
    children, theirs = g.spawn(2), np.random.SeedSequence(12).spawn(2)
    assert [list(c.key) for c in children] == [s.generate_state(3)[:2].tolist() for s in theirs]
    bits = Philox(3)
    shared, same = make(bits), pp.random.Generator(bits)
    assert shared.bit_generator is same.bit_generator is bits
    first, second = drawn(shared.random(2)), drawn(same.random(2))
    assert_array_equal(np.concatenate([first, second]), drawn(make(3).random(4)))
    state = pp.random.RandomState(9)
    g = make(state)
    assert type(g) is pp.random.Generator
    assert g.bit_generator is state.bit_generator
    assert make(np.array([1, 2])).key == make([1, 2]).key == make((1, 2)).key
    for seed in (np.random.PCG64(1), np.random.default_rng(1), {}.keys):
        with pytest.raises(TypeError, match=r"seed must be None, an integer, .* a SeedSequence, a Philox or a Generator"):
            make(seed)


def test_former_pickles():
    from pardo._random import stream

    g = stream._restored(pp.random.Generator, (1, 2, 3), 2**32 + 7, 4)
    assert (g.key, g.counter, g.bit_generator.state["children"]) == ((1, 2), (7, 1, 3, 0), 4)


# --- RandomState and the functions of the module

SHARED = [n for n in dir(np.random.RandomState) if not n.startswith("_") and hasattr(np.random, n)]


def test_random_state():
    state = pp.random.RandomState(7)
    g = make(7)
    assert_array_equal(drawn(state.rand(2, 3)), drawn(g.random((2, 3))))
    assert_array_equal(drawn(state.randn(4)), drawn(g.standard_normal(4)))
    assert state.rand().shape == state.randn().shape == ()
    g.random(), g.standard_normal()
    assert_array_equal(drawn(state.randint(3, 9, 5, "int16")), drawn(g.integers(3, 9, 5, "int16")))
    assert_array_equal(drawn(state.random_sample(3)), drawn(g.random(3)))
    with pytest.warns(DeprecationWarning, match="randint"):
        assert_array_equal(drawn(state.random_integers(6, size=50)), drawn(g.integers(1, 7, 50)))
    with pytest.warns(DeprecationWarning, match="randint"):
        state.random_integers(3, 6)
    g.integers(4)
    assert_array_equal(drawn(state.tomaxint((2, 2))), drawn(g.integers(0, 2**63 - 1, (2, 2), endpoint=True)))
    saved = state.get_state()
    first = drawn(state.gamma(2.0, 3.0, 4))
    state.set_state(saved)
    assert_array_equal(drawn(state.gamma(2.0, 3.0, 4)), first)
    state.seed(7)
    assert_array_equal(drawn(state.rand(3)), drawn(make(7).random(3)))
    state.seed(pp.random.SeedSequence(7))
    assert state.bit_generator.seed_seq.entropy == 7
    for wrong in (lambda: state.rand(-1), lambda: state.randint(3, 3), lambda: state.seed(-1)):
        with pytest.raises(ValueError, match=r"negative|low"):
            wrong()


def test_functions_of_the_module():
    assert set(SHARED) == {n for n in SHARED if hasattr(pp.random, n)}
    assert {"ranf", "sample", "get_bit_generator", "set_bit_generator"} <= set(pp.random.__all__)
    before = pp.random.get_bit_generator()
    try:
        pp.random.set_bit_generator(Philox(11))
        found = [drawn(pp.random.normal(1.0, 2.0, 3)), drawn(pp.random.ranf(3)), drawn(pp.random.poisson(3.0, 3))]
        pp.random.seed(11)
        assert_array_equal(drawn(pp.random.normal(1.0, 2.0, 3)), found[0])
        g = make(11)
        expected = [g.normal(1.0, 2.0, 3), g.random(3), g.poisson(3.0, 3)]
        assert_array_equal(np.concatenate(found), np.concatenate([drawn(x) for x in expected]))
        with pytest.raises(TypeError, match=r"bitgen must be a pardo\.random\.Philox, not PCG64"):
            pp.random.set_bit_generator(np.random.PCG64())
    finally:
        pp.random.set_bit_generator(before)


@pytest.mark.parametrize("name", SHARED)
def test_signatures(name):
    mine = list(inspect.signature(getattr(pp.random, name)).parameters)
    theirs = getattr(np.random, name).__doc__.strip().split("\n\n")[0]
    names = [part.split("=")[0].strip() for part in theirs[theirs.index("(") + 1 : -1].split(",")]
    if "..." not in names:
        assert mine[: len(names)] == [n for n in names if n]
    assert getattr(pp.random, name).__module__ == "pardo.random"


def test_kernels_tell_how_to_draw():
    @pp.kernel
    def wrong(item: pp.Item, x):
        x[item.get_id(0)] = pp.random.normal()

    with pytest.raises(pp.CompileError, match=r"in kernels write pardo\.random\.philox"):
        wrong[pp.Range(3)](pp.zeros(3))


# --- orders


@pytest.mark.parametrize("n", [1, 2, 4095, 4096, 4097, 5000, 8191, 8192, 8193, 100_000])
def test_permutations_are_some(n):
    x = drawn(make(n).permutation(n))
    assert_array_equal(np.sort(x), np.arange(n))


def test_large_permutations_look_random():
    n = 6000
    orders = np.stack([drawn(make(s).permutation(n)) for s in range(60)])
    assert abs(orders.mean(axis=0) - (n - 1) / 2).max() < 5 * n / np.sqrt(12 * 60)
    x = orders.ravel().astype(float)
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 4 / np.sqrt(x.size)
    assert abs((orders == np.arange(n)).sum() - 60) < 5 * np.sqrt(60)  # fixed points: one each
    assert abs((np.diff(orders, axis=1) == 1).sum() - 60) < 5 * np.sqrt(60)
    places = np.searchsorted([n / 4, n / 2, 3 * n / 4], orders[:, : n // 2])
    counts = np.bincount((places[:, ::2] * 4 + places[:, 1::2]).ravel(), minlength=16)
    assert ((counts - counts.mean()) ** 2 / counts.mean()).sum() < 38  # of 15 degrees of freedom: one in 1000
    inversions = [(np.argsort(o)[:500][:, None] > np.argsort(o)[:500]).astype(int)[np.tril_indices(500, -1)].mean() for o in orders[:20]]
    assert abs(np.mean(inversions) - 0.5) < 0.02


def test_few_of_many():
    x = np.stack([drawn(make(s).choice(10**6, 8, replace=False)) for s in range(300)])
    assert (np.diff(np.sort(x, axis=1), axis=1) > 0).all()
    assert abs(x.mean() / 1e6 - 0.5) < 5 / np.sqrt(12 * x.size)
    assert drawn(make(1).choice(2**40, 1000, replace=False)).max() > 2**39
    assert len(set(drawn(make(1).choice(5000, 5000, replace=False, shuffle=False)).tolist())) == 5000
    assert drawn(make(1).choice(10**12, (0, 2), replace=False)).shape == (0, 2)
    assert_array_equal(drawn(make(2).choice(10**5, 10, replace=False)), drawn(make(2).permutation(10**5))[:10])


def test_permuted():
    a = np.arange(60).reshape(3, 4, 5)
    for dtype, axes in (("int64", (0, 1, -1)), ("bool", (1,)), ("complex64", (2,))):
        x = pp.asarray(a.astype(dtype))
        for axis in axes:
            y = make(5).permuted(x, axis=axis)
            assert (y.dtype, y.shape) == (x.dtype, x.shape)
            assert_array_equal(np.sort(drawn(y), axis=axis), np.sort(a.astype(dtype), axis=axis))
    y = drawn(make(5).permuted(pp.asarray(a), axis=1))
    assert any((y[0, :, k] - a[0, :, k] != y[0, :, 0] - a[0, :, 0]).any() for k in range(5)), "each line has its own order"
    flat = drawn(make(5).permuted(pp.asarray(a)))
    assert flat.shape == a.shape
    assert_array_equal(np.sort(flat.ravel()), a.ravel())
    x = pp.asarray(a)
    assert make(5).permuted(x, axis=1, out=x) is x
    assert_array_equal(drawn(x), y)
    turned = [make(5).permuted(pp.asarray(x), axis=1) for x in (a.T, np.ascontiguousarray(a.T))]
    assert_array_equal(*map(drawn, turned))
    assert make(5).permuted(pp.zeros((0, 3)), axis=0).shape == (0, 3)
    assert make(5).permuted([3, 1]).shape == (2,)
    long = drawn(make(5).permuted(pp.asarray(np.arange(10_000).reshape(2, 5000)), axis=1))
    assert_array_equal(np.sort(long, axis=1), np.arange(10_000).reshape(2, 5000))
    assert (long[0] != long[1] - 5000).any()
    with pytest.raises(ValueError, match="out has shape"):
        make(5).permuted(pp.arange(4), out=pp.zeros(3, dtype="int64"))
    with pytest.raises(TypeError, match="cannot cast"):
        make(5).permuted(pp.arange(4.0), out=pp.zeros(4, dtype="int64"))
    with pytest.raises(TypeError, match="permuted: x must be"):
        make(5).permuted(5)


def test_orders_of_permuted_are_equally_likely():
    x = drawn(make(6).permuted(pp.asarray(np.tile(np.arange(4), (4800, 1))), axis=1))
    counts = Counter(map(tuple, x.tolist()))
    assert len(counts) == 24
    assert sum((n - 200) ** 2 / 200 for n in counts.values()) < 50  # of 23 degrees of freedom: one in 1000
    assert_allclose(x.mean(axis=0), 1.5, atol=0.08)
