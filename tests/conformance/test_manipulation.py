# tests/conformance/test_manipulation.py: shapes changed, arrays joined, split, moved and selected, against NumPy.
import numpy as np
import pardo as pp
import pytest
from data import DTYPES, assert_same, rng_for, values

A = np.arange(24).reshape(2, 3, 4)


# One expression a case, evaluated with NumPy and with pardo: `xp` is the library, `x` an array of shape (2, 3, 4).
CASES = [
    "x.reshape(4, 6)",
    "x.reshape(-1)",
    "x.reshape(2, -1, 2)",
    "xp.reshape(x, (6, 4))",
    "x.T",
    "x.transpose(1, 0, 2)",
    "xp.permute_dims(x, (2, 0, 1))",
    "x.mT",
    "xp.matrix_transpose(x)",
    "xp.swapaxes(x, 0, 2)",
    "xp.moveaxis(x, 0, -1)",
    "xp.moveaxis(x, (0, 1), (1, 0))",
    "xp.expand_dims(x, 1)",
    "xp.expand_dims(x, (0, 3))",
    "xp.squeeze(x[:1])",
    "xp.squeeze(x[:, :1], axis=1)",
    "xp.flip(x)",
    "xp.flip(x, axis=1)",
    "xp.flip(x, axis=(0, 2))",
    "xp.roll(x, 5)",
    "xp.roll(x, 1, axis=2)",
    "xp.roll(x, (1, -2), axis=(0, 2))",
    "xp.repeat(x, 2)",
    "xp.repeat(x, 3, axis=1)",
    "xp.tile(x, 2)",
    "xp.tile(x, (2, 1, 3))",
    "xp.concat([x, x], axis=1)",
    "xp.concat([x, x[:1]], axis=0)",
    "xp.concat([x, x], axis=None)",
    "xp.stack([x, x])",
    "xp.stack([x, x], axis=-1)",
    "xp.broadcast_to(x, (5, 2, 3, 4))",
    "xp.unstack(x)[1]",
    "xp.diagonal(x)",
    "xp.diagonal(x, 1, 1, 2)",
    "xp.tril(x)",
    "xp.triu(x, 1)",
    "xp.tril(x, -1)",
    "xp.diff(x)",
    "xp.diff(x, axis=0)",
    "xp.diff(x, n=2, axis=2)",
    "xp.where(x > 5, x, 0)",
    "xp.clip(x, 3, 17)",
    "xp.ravel(x)",
    "x.flatten()",
    "xp.nonzero(x > 5)[1]",
    "xp.atleast_2d(x[0, 0])",
    "xp.hstack([x, x])",
    "xp.vstack([x, x])",
    "xp.broadcast_arrays(x, x[:1])[1]",
    "xp.meshgrid(x[0, 0], x[1, 1])[0]",
    "xp.split(x, 2, axis=2)[1]",
    "xp.argwhere(x > 20)",
    "xp.permute_dims(x, (2, 0, 1))[::-1, :, ::2].reshape(-1)",
    "x[::-1].reshape(6, 4)[:, ::2].T.reshape(12)",
]


@pytest.mark.parametrize("case", CASES)
def test_expressions(case, device):
    for dtype in ("int64", "float32"):
        a = A.astype(dtype)
        expected = eval(case, {"xp": np, "x": a})
        assert_same(eval(case, {"xp": pp, "x": pp.asarray(a, device=device)}), expected, case)


@pytest.mark.parametrize("dtype", DTYPES)
def test_joining_every_dtype(dtype, device):
    a = values(dtype, 12, rng_for(dtype)).reshape(3, 4)
    x = pp.asarray(a, device=device)
    assert_same(pp.concat([x, x[::-1]], axis=0), np.concatenate([a, a[::-1]], axis=0))
    assert_same(pp.roll(x, 1), np.roll(a, 1))
    assert_same(pp.stack([x, x], axis=1), np.stack([a, a], axis=1))


def test_joining_promotes(device):
    x, y = pp.ones(2, dtype="int8", device=device), pp.ones(2, dtype="float32", device=device)
    assert_same(pp.concat([x, y]), np.ones(4, "float32"))


def test_views_write_through(device):
    a = A.copy()
    x = pp.asarray(a, device=device)
    for view in ("x.T", "x.reshape(6, 4)", "x[::-1]", "x.swapaxes(0, 1)", "x[0].reshape(-1)"):
        eval(view, {"x": a})[1] = 77
        eval(view, {"x": x})[1] = 77
        assert_same(x, a, view)


@pytest.mark.parametrize(
    "wrong",
    [
        "x.reshape(5, 5)",
        "x.reshape(-1, -1)",
        "pp.concat([x, x[:, :2]])",
        "pp.stack([x, x[0]])",
        "pp.broadcast_to(x, (3, 3))",
        "pp.squeeze(x, axis=0)",
        "pp.permute_dims(x, (0, 0, 1))",
        "pp.expand_dims(x, 7)",
        "pp.flip(x, axis=5)",
        "pp.concat([])",
    ],
)
def test_wrong_arguments(wrong, device):
    with pytest.raises((ValueError, IndexError)):
        eval(wrong, {"pp": pp, "x": pp.asarray(A, device=device)})
