# tests/conformance/test_casts.py: astype between all dtypes, also where the value does not fit.
import numpy as np
import pardo as pp
import pytest
from data import DTYPES, assert_same, rng_for, values


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_every_pair(source, target, device):
    special = not (np.dtype(source).kind in "fc" and np.dtype(target).kind in "iu")
    a = values(source, 203, rng_for(source, target), special=special, small=not special)
    x = pp.asarray(a, device=device)
    assert_same(x.astype(target), a.astype(target), f"{source} to {target}")
    assert_same((x.astype(target))[::-3], a.astype(target)[::-3])


@pytest.mark.parametrize("target", ["int32", "int64"])
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_not_a_number_to_integer_is_as_numpy(source, target, device):
    a = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 1.9, -1.9], source)
    assert_same(pp.asarray(a, device=device).astype(target), a.astype(target))


def test_copy_keyword(device):
    x = pp.ones(4, device=device)
    same = x.astype("float64", copy=False)
    same[0] = 5
    assert float(x[0]) == 5
    fresh = x.astype("float64")
    fresh[0] = 7
    assert float(x[0]) == 5
