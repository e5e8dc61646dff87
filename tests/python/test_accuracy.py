# tests/python/test_accuracy.py: functions that pardo computes itself keep the accuracy that is promised, rare arguments included.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="the reference needs long double to be wider than double")
@pytest.mark.parametrize("name", ["sin", "cos", "exp"])
def test_inline_functions_stay_within_one_ulp(name):
    rng = np.random.default_rng(0)
    quarters = np.arange(-4000, 4000) * (np.pi / 2)  # where most of the argument cancels
    x = np.concatenate([quarters, np.nextafter(quarters, np.inf), *(rng.uniform(-s, s, 20_000) for s in (1e-3, 1, 700, 1e5, 1e6))])
    if name == "exp":
        x = x[np.abs(x) < 708]
    exact = getattr(np, name)(x.astype(np.longdouble))
    got = pp.asnumpy(getattr(pp, name)(pp.asarray(x)))
    ulp = np.spacing(np.abs(exact.astype(np.float64)))
    assert np.max(np.abs(got - exact) / ulp) < 1


@pytest.mark.parametrize("name", ["sin", "cos", "exp"])
def test_one_rare_argument_does_not_touch_its_neighbours(name):
    x = np.linspace(-3, 3, 40)
    for rare in (np.inf, -np.inf, np.nan, 1e22, -1e22, 708.5, -745.0, 5e-324):
        for at in (0, 7, 8, 39):
            y = x.copy()
            y[at] = rare
            with np.errstate(all="ignore"):
                expected = getattr(np, name)(y)
            np.testing.assert_allclose(pp.asnumpy(getattr(pp, name)(pp.asarray(y))), expected, rtol=3e-16)
