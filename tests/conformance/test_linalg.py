# tests/conformance/test_linalg.py: products of matrices and vectors on every dtype and layout, against NumPy.
import numpy as np
import pardo as pp
import pytest
from data import DTYPES, assert_close, assert_same, rng_for, values

RTOL = {"float16": 5e-3, "float32": 1e-5, "float64": 1e-13, "complex64": 1e-5, "complex128": 1e-13}
SHAPES = [
    ((3, 4), (4, 5)),
    ((4,), (4,)),
    ((3, 4), (4,)),
    ((4,), (4, 5)),
    ((2, 3, 4), (4, 5)),
    ((2, 3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (7, 4, 5)),
    ((0, 4), (4, 5)),
    ((3, 0), (0, 5)),
    ((1, 1), (1, 1)),
    ((65, 33), (33, 129)),
    ((5, 3, 4), (4,)),
]


def pair(dtype, shapes, device):
    arrays = [values(dtype, int(np.prod(s)), rng_for(dtype, s), special=False, small=True).reshape(s) for s in shapes]
    return [*arrays, *(pp.asarray(a, device=device) for a in arrays)]


def compare(mine, expected, what=""):
    expected = np.asarray(expected)
    if expected.dtype.kind in "biu":
        assert_same(mine, expected, what)
    else:
        assert_close(mine, expected, RTOL[str(expected.dtype)], 10 * RTOL[str(expected.dtype)], what)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_matmul(shapes, dtype, device):
    a, b, x, y = pair(dtype, shapes, device)
    compare(x @ y, a @ b)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int32"])
def test_layouts(dtype, device):
    a, b, x, y = pair(dtype, [(12, 20), (20, 14)], device)
    compare(y.T @ x.T, b.T @ a.T)
    compare(x[::2, ::-1] @ y, a[::2, ::-1] @ b)
    compare(x[:, 1::3] @ y[1::3, ::2], a[:, 1::3] @ b[1::3, ::2])
    compare(pp.broadcast_to(x[:1], (12, 20)) @ y, np.broadcast_to(a[:1], (12, 20)) @ b)
    compare((x + 1) @ (y * 2), (a + 1) @ (b * 2))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shapes", [((300, 1, 3), (300, 3, 5)), ((257, 8, 7), (257, 7, 8)), ((2, 130, 16, 9), (130, 9, 16)), ((4, 4), (259, 4, 1))], ids=str
)
def test_stacks_of_small_matrices(shapes, dtype, device):
    a, b, x, y = pair(dtype, shapes, device)
    compare(x @ y, a @ b)
    turned_a, turned_b = (np.ascontiguousarray(m.swapaxes(-1, -2)) for m in (a, b))
    compare(pp.asarray(turned_a, device=device).mT @ pp.asarray(turned_b, device=device).mT, a @ b, "columns that are contiguous")
    compare(x[..., ::-1] @ y[..., ::-1, :], a @ b, "read backwards")
    if a.ndim == b.ndim == 3:
        compare(x[:1] @ y, a[:1] @ b, "one matrix for all")
        compare(x[::-1] @ y, a[::-1] @ b, "the last one first")


@pytest.mark.parametrize("dtype", ["float64", "complex64", "int64"])
def test_products(dtype, device):
    a, b, x, y = pair(dtype, [(3, 4, 5), (3, 4, 5)], device)
    compare(pp.vecdot(x, y), np.vecdot(a, b))
    compare(pp.tensordot(x, y, axes=3), np.tensordot(a, b, axes=3))
    compare(pp.tensordot(x, y, axes=([0, 1], [0, 1])), np.tensordot(a, b, axes=([0, 1], [0, 1])))
    compare(pp.tensordot(x, y.T, axes=1), np.tensordot(a, b.T, axes=1))


@pytest.mark.parametrize("shapes", [((3, 4), (5, 6)), ((), (3,)), ((2, 3, 4), (3, 4, 5))], ids=str)
def test_wrong_shapes(shapes, device):
    x, y = (pp.ones(shape, device=device) for shape in shapes)
    with pytest.raises(ValueError, match="matmul"):
        x @ y
