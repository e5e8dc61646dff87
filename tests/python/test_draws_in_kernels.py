# tests/python/test_draws_in_kernels.py: single draws by counters and keys, in kernels, in loops, and on Python's own numbers.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytestmark = pytest.mark.once

FLOAT = np.float64 if pp.Device().has_fp64 else np.float32
SEED = 2**70 + 12345
make = pp.random.default_rng
drawn = pp.asnumpy


@pp.kernel
def draw(item: pp.Item, counter, key, gammas, events, successes, integers):
    i = item.get_id(0)
    place = (counter[0] + i, counter[1], counter[2])
    gammas[i] = pp.random.philox_gamma(place, key, 0.7, gammas.dtype)
    events[i] = pp.random.philox_poisson(place, key, 14.5, gammas.dtype)
    successes[i] = pp.random.philox_binomial(place, key, 90, 0.4, gammas.dtype)
    integers[i] = pp.random.philox_integers(place, key, -5, 2**40)


@pytest.mark.skipif(not pp.Device().has_fp64, reason="counts are computed in float64 elsewhere")
def test_kernels_draw_what_generators_draw():
    g = make(SEED)
    outs = (pp.zeros(50, dtype=FLOAT), *(pp.zeros(50, dtype="int64") for _ in range(3)))
    draw[pp.Range(50)](g.counter, g.key, *outs)
    gammas, events, successes, integers = map(drawn, outs)
    assert_allclose(gammas, drawn(make(SEED).standard_gamma(0.7, 50)), rtol=1e-12)
    assert_array_equal(events, drawn(make(SEED).poisson(14.5, 50)))
    assert_array_equal(successes, drawn(make(SEED).binomial(90, 0.4, 50)))
    assert ((integers >= -5) & (integers < 2**40)).all()
    assert len(set(integers.tolist())) == 50
    for i in (0, 7, 31):
        place = (g.counter[0] + i, 0, g.counter[2])
        assert_allclose(float(pp.random.philox_gamma(place, g.key, 0.7)), gammas[i], rtol=1e-12)
        assert int(pp.random.philox_poisson(place, g.key, 14.5)) == events[i]
        assert int(pp.random.philox_binomial(place, g.key, 90, 0.4)) == successes[i]
        assert int(pp.random.philox_integers(place, g.key, -5, 2**40)) == integers[i]


def test_exponential():
    for dtype, n in ((np.float32, 4), (np.float64, 2)):
        expected = drawn(make(3).standard_exponential(n, np.dtype(dtype), device="cpu"))
        assert_allclose(pp.random.philox_exponential((0,), (3,), dtype), expected, rtol=1e-5 if n == 4 else 1e-12)


@pp.jit
def rolls(counts, n, seed):
    for i in pp.prange(n):
        pp.atomic.add(counts, pp.random.philox_integers((i,), (seed,), 0, 6), 1)


def test_loops_draw():
    counts = np.zeros(6, "int64")
    rolls(counts, 60_000, 5)
    assert counts.sum() == 60_000
    assert ((counts - 10_000) ** 2 / 10_000).sum() < 21  # of 5 degrees of freedom: one in 1000


def test_integers_of_all_widths():
    for low, high in ((0, 1), (-(2**63), 2**63 - 1), (5, 6), (-3, 2**62 + 7)):
        x = [int(pp.random.philox_integers((i, 1), (2,), low, high)) for i in range(20)]
        assert min(x) >= low
        assert max(x) < high
