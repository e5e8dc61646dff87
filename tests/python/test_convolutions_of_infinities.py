# tests/python/test_convolutions_of_infinities.py: infinities and NaN at every place of what is convolved: only factors that exist meet.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

MODES = ["full", "same", "valid"]
SIZES = range(1, 7)


def with_one(value, place, dtype, *sizes):
    """Sequences of small numbers, zeros too, one of whose elements is this."""
    made = [(np.arange(n) - k).astype(dtype) for k, n in enumerate(sizes)]
    for x in made:
        if place < len(x):
            x[place] = value
            break
        place -= len(x)
    return made


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", SIZES)
def test_small_sequences(n, dtype, name):
    for m in SIZES:
        for place in range(n + m):
            for value in (np.inf, np.nan):
                x, y = with_one(value, place, dtype, n, m)
                for mode in MODES:
                    expected = getattr(np, name)(x, y, mode)
                    assert_array_equal(pp.asnumpy(getattr(pp, name)(pp.asarray(x), y, mode)), expected)


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize(("n", "m"), [(9, 5), (40, 17), (40, 40), (700, 30), (3000, 20), (3000, 5)])
def test_of_every_way_to_sum(n, m, dtype, device):
    for place in (0, m // 2, n - 1, n, n + m // 2, n + m - 1):
        x, y = with_one(np.inf, place, dtype, n, m)
        for name in ("convolve", "correlate"):
            for mode in MODES:
                expected = getattr(np, name)(x, y, mode)
                got = pp.asnumpy(getattr(pp, name)(pp.asarray(x, device=device), y, mode))
                assert_array_equal(np.isfinite(got), np.isfinite(expected))
                if dtype == "float32":  # NumPy's complex products have parts that are NaN where others have infinite ones, by length
                    assert_array_equal(np.isnan(got), np.isnan(expected))


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("n", "m"), [(5, 3), (3, 5), (4, 4), (1, 6), (50, 20), (20, 50)])
def test_of_signal(n, m, mode, name):
    signal = pytest.importorskip("scipy.signal")
    if mode == "same" and n < m:
        pytest.skip("SciPy puts zeros around the first one, and multiplies them")
    for place in range(0, n + m, 3):
        for value in (np.inf, np.nan, 1.0):
            x, y = with_one(value, place, "float64", n, m)
            expected = getattr(signal, name)(x, y, mode, method="direct")
            got = pp.asnumpy(getattr(pp.signal, name)(pp.asarray(x), y, mode, method="direct"))
            assert_array_equal(got, expected)


def test_of_coefficients():
    assert_array_equal(pp.asnumpy(pp.polymul(pp.asarray([1.0, 2.0, 3.0]), [np.inf, 1.0])), np.polymul([1.0, 2.0, 3.0], [np.inf, 1.0]))
    x = np.arange(60.0)
    y = np.r_[np.inf, np.ones(25)]
    assert_array_equal(pp.asnumpy(pp.polymul(pp.asarray(x), y)), np.polymul(x, y))
