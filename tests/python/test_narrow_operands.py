# tests/python/test_narrow_operands.py: operands of a narrower or unsigned dtype than the place where a result goes: nothing is negated,
# squared or added up before the cast. Every function that changes places is tried with every pair of dtypes.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pardo as pp
import pytest
from support import DTYPES

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning", "ignore::RuntimeWarning")

OF_TWO = [
    name for name, f in sorted(vars(np).items())
    if isinstance(f, np.ufunc) and (f.nin, f.nout, f.signature) == (2, 1, None) and isinstance(getattr(pp, name, None), pp.ufunc)
]  # fmt: skip

# What these give before the cast to integers is right to a unit in the last place.
ROUNDED = ("arctan2", "atan2", "float_power", "hypot", "logaddexp", "pow")


def whole_range(dtype: str, count: int, seed: int = 1) -> np.ndarray:
    """Values up to the ends of an integer dtype; of a float some that a sum keeps apart."""
    rng, of = np.random.default_rng(seed), np.dtype(dtype)
    if of.kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    if of.kind in "iu":
        info = np.iinfo(of)
        values = rng.integers(info.min, info.max, count, dtype=of, endpoint=True)
        values[:2] = info.min, info.max
        return values
    real = rng.normal(size=count) * 10
    return np.asarray(real + 1j * rng.normal(size=count) if of.kind == "c" else real).astype(of)


def outcome(f: Callable[[], Any]) -> Any:
    """What comes out, or the kind of exception."""
    try:
        return f()
    except (TypeError, ValueError) as error:
        return TypeError if isinstance(error, TypeError) else ValueError


def agree(mine: Any, theirs: Any, label: str) -> None:
    if isinstance(theirs, type) or isinstance(mine, type):
        assert mine is theirs, label
        return
    got = pp.asnumpy(mine)
    assert (got.dtype, got.shape) == (theirs.dtype, theirs.shape), label
    if theirs.dtype.kind in "iu" and label.startswith(ROUNDED):
        np.testing.assert_allclose(got.astype(float), theirs.astype(float), rtol=1e-12, atol=1, err_msg=label)
    elif theirs.dtype.kind in "biu":
        np.testing.assert_array_equal(got, theirs, err_msg=label)
    else:
        near = 64 * float(np.finfo(theirs.dtype).eps)
        np.testing.assert_allclose(got, theirs, rtol=near, atol=near, err_msg=label)


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("name", OF_TWO)
def test_at_with_every_pair_of_dtypes(name: str, left: str) -> None:
    """The second operand is used in the dtype that the function computes in."""
    places = np.random.default_rng(2).integers(0, 6, 8)
    for right in DTYPES:
        x, values = whole_range(left, 6), whole_range(right, 8, 3)
        if name == "floor_divide" and np.dtype(left).kind == "f":
            values[values == 0] = 1  # of infinities the array API standard has the quotient

        def theirs(x: np.ndarray = x, values: np.ndarray = values) -> np.ndarray:
            changed = x.copy()
            getattr(np, name).at(changed, places, values)
            return changed

        def mine(x: np.ndarray = x, values: np.ndarray = values) -> pp.Array:
            changed = pp.asarray(x)
            getattr(pp, name).at(changed, pp.asarray(places), pp.asarray(values))
            changed.wait()
            return changed

        agree(outcome(mine), outcome(theirs), f"{name}.at({left}, {right})")


def test_what_was_wrong() -> None:
    x = pp.zeros(2)
    pp.subtract.at(x, pp.asarray([0, 0]), pp.asarray([1, 2], dtype="uint32"))
    agree(x, np.array([-3.0, 0.0]), "unsigned into float")
    pp.subtract.at(x, pp.asarray([0, 1]), pp.asarray([True, True]))
    agree(x, np.array([-4.0, -1.0]), "bool into float")
