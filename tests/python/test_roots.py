# tests/python/test_roots.py: polynomials by their roots and through points, against NumPy; what the host computes is counted.
from __future__ import annotations

import warnings

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_allclose

CASES = [
    [1.0, -3.0, 2.0],
    [1, 0, 1],
    [0, 0, 2, 4, 0, 0],
    [1j, 2, 3],
    [],
    [0.0],
    [5],
    [1, 2, 3, 4, 5, 6, 7],
    np.array([1, -6, 11, -6], "f4"),
    [True, True, False],
]


def same(ours, theirs):
    theirs = np.asarray(theirs)
    assert isinstance(ours, pp.Array)
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    tolerance = 1e-5 if theirs.dtype in ("f4", "c8") else 1e-10
    assert_allclose(pp.asnumpy(ours), theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_roots_and_poly(case):
    p = CASES[case]
    same(pp.roots(pp.asarray(p)), np.roots(p))
    same(pp.roots(p), np.roots(p))
    same(pp.poly(pp.asarray(p)), np.poly(p))
    same(pp.poly(p), np.poly(p))
    same(pp.poly(pp.roots(p)), np.poly(np.roots(p)))


def test_poly_of_matrices_and_wrong_calls(rng):
    m = rng.standard_normal((4, 4))
    same(pp.poly(pp.asarray(m)), np.poly(m))
    same(pp.poly(pp.asarray([1 + 1j, 1 - 1j])), np.poly([1 + 1j, 1 - 1j]))
    same(pp.poly(pp.asarray([1 + 1j, 2])), np.poly([1 + 1j, 2]))
    for f, x, error in [
        (pp.poly, np.zeros((2, 3)), ValueError), (pp.poly, np.zeros((2, 2, 2)), ValueError),
        (pp.roots, np.zeros((2, 2)), ValueError),
    ]:  # fmt: skip
        with pytest.raises(error, match=f"^{f.__name__}: "):
            f(pp.asarray(x))
    with pytest.raises(np.linalg.LinAlgError):
        pp.roots(pp.asarray([1.0, np.nan, 2.0]))


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("columns", [(), (3,)])
def test_polyfit(device, columns, rng):
    x, y, w = rng.standard_normal(20), rng.standard_normal((20, *columns)), rng.random(20) + 0.1
    d = [pp.asarray(v, device=device) for v in (x, y, w)]
    tolerance = 1e-9 if d[0].device.has_fp64 else 1e-3
    for keywords in ({}, {"w": 1}, {"full": True}, {"cov": True}, {"cov": "unscaled"}, {"rcond": 1e-3}, {"full": True, "w": 1}):
        theirs = np.polyfit(x, y, 3, **{**keywords, **({"w": w} if "w" in keywords else {})})
        ours = pp.polyfit(d[0], d[1], 3, **{**keywords, **({"w": d[2]} if "w" in keywords else {})})
        assert isinstance(theirs, tuple) is isinstance(ours, tuple)
        for a, b in zip(theirs if isinstance(theirs, tuple) else [theirs], ours if isinstance(ours, tuple) else [ours], strict=True):
            assert_allclose(pp.asnumpy(b) if isinstance(b, pp.Array) else b, a, rtol=tolerance, atol=tolerance)
            assert not isinstance(b, pp.Array) or b.device == d[0].device


def test_wrong_fits_raise_what_numpy_raises():
    x, y = np.arange(3.0), np.arange(3.0)
    calls = [lambda m, a, b: m.polyfit(a, b, -1), lambda m, a, b: m.polyfit(a[:2], b, 1), lambda m, a, b: m.polyfit(a[:0], b[:0], 1),
             lambda m, a, b: m.polyfit(a, b, 1, w=b[:2]), lambda m, a, b: m.polyfit(a, b, 2, cov=True)]  # fmt: skip
    for call in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises((TypeError, ValueError)) as theirs:
                call(np, x, y)
            with pytest.raises(theirs.type):
                call(pp, pp.asarray(x), pp.asarray(y))
    with pytest.warns(np.exceptions.RankWarning):
        pp.polyfit(pp.ones(3), pp.asarray(y), 2)


def test_copies_are_counted_and_guarded():
    x = pp.asarray([1.0, -3.0, 2.0]).wait()
    before = pp.counters()["copies"]
    pp.roots(x)
    assert pp.counters()["copies"] - before == 2
    for call in (lambda: pp.roots(x), lambda: pp.polyfit(x, x, 1), lambda: pp.poly(pp.ones((2, 2)))):
        with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match="would copy"):
            call()
