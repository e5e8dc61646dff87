# tests/conformance/test_generated.py: reductions, scans and selections that users make: in groups as large as the device has them.
import numpy as np
import pardo as pp
import pytest
from data import assert_same, rng_for, values
from pardo.algorithm import copy_if


def data(size, device):
    a = values("int32", size, rng_for(size), special=False, small=True)
    return a, pp.asarray(a, device=device)


@pytest.mark.parametrize("size", [1, 15, 129, 5000, 40_000])
def test_reductions(size, device):
    a, x = data(size, device)
    largest = pp.reduction(lambda v: v * v, lambda p, q: p if p > q else q, 0)
    assert int(largest(x)) == int((a * a).max())


@pytest.mark.parametrize("size", [1, 15, 129, 5000, 40_000])
def test_scans(size, device):
    a, x = data(size, device)
    running = pp.scan(lambda v: v, lambda p, q: p if p > q else q, -100)
    assert_same(running(x), np.maximum.accumulate(a))


@pytest.mark.parametrize("size", [1, 129, 5000])
def test_selections(size, device):
    a, x = data(size, device)
    assert_same(copy_if(x, lambda v: v > 0), a[a > 0])
