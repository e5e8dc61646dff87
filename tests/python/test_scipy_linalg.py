# tests/python/test_scipy_linalg.py: linear algebra by SciPy's names, against what defines it.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest

linalg = pp.scipy.linalg
RNG = np.random.default_rng(11)
DTYPES = ["float32", "float64", "complex64", "complex128"]
TOLERANCE = {"float32": 1e-3, "float64": 1e-9, "complex64": 1e-3, "complex128": 1e-9}


def matrices(*shape, dtype="float64"):
    a = RNG.standard_normal(shape)
    return (a + 1j * RNG.standard_normal(shape) if dtype.startswith("complex") else a).astype(dtype)


def positive(*shape, dtype="float64"):
    a = matrices(*shape, dtype=dtype)
    return a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype) * 3


def close(mine, expected):
    expected = np.asarray(expected)
    assert mine.shape == expected.shape
    assert mine.dtype == expected.dtype
    tolerance = TOLERANCE.get(str(expected.dtype), 0)
    np.testing.assert_allclose(pp.asnumpy(mine), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [(1, 1), (6, 6), (2, 5, 3), (2, 3, 5), (40, 40)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_lu(dtype, shape):
    a = matrices(*shape, dtype=dtype)
    x = pp.asarray(a)
    p, low, up = linalg.lu(x)
    close(p.astype(dtype) @ low @ up, a)
    assert p.dtype == np.zeros(0, dtype).real.dtype
    np.testing.assert_array_equal(pp.asnumpy(pp.tril(low)), pp.asnumpy(low))
    np.testing.assert_array_equal(pp.asnumpy(pp.triu(up)), pp.asnumpy(up))
    low, up = linalg.lu(x, permute_l=True)
    close(low @ up, a)
    if x.ndim == 2:
        places, low, up = linalg.lu(x, p_indices=True)
        close(low[places] @ up, a)
    both, exchanges = linalg.lu_factor(x)
    assert exchanges.dtype == np.int32
    rows = pp.asnumpy(x).copy()
    for matrix, swaps in zip(rows.reshape(-1, *shape[-2:]), pp.asnumpy(exchanges).reshape(-1, min(shape[-2:])), strict=True):
        for i, j in enumerate(swaps):
            matrix[[i, j]] = matrix[[j, i]]
    k = min(shape[-2:])
    close((pp.tril(both[..., :k], -1) + pp.eye(shape[-2], k, dtype=dtype)) @ pp.triu(both[..., :k, :]), rows)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
def test_systems(dtype, trans):
    a, b = matrices(3, 7, 7, dtype=dtype) + np.eye(7, dtype=dtype) * 9, matrices(3, 7, 2, dtype=dtype)
    as_taken = {0: lambda m: m, 1: lambda m: m.swapaxes(-1, -2), 2: lambda m: m.conj().swapaxes(-1, -2)}[
        {"N": 0, "T": 1, "C": 2}.get(trans, trans)
    ]
    x, y = pp.asarray(a), pp.asarray(b)
    close(linalg.lu_solve(linalg.lu_factor(x), y, trans=trans), np.linalg.solve(as_taken(a), b))
    close(linalg.lu_solve(linalg.lu_factor(x[0]), y, trans=trans), np.linalg.solve(as_taken(a[0]), b))
    close(linalg.lu_solve(linalg.lu_factor(x), y[0, :, 0], trans=trans), np.linalg.solve(as_taken(a), b[0, :, 0]))
    for lower, half in ((True, np.tril), (False, np.triu)):
        close(linalg.solve_triangular(x, y, trans=trans, lower=lower), np.linalg.solve(as_taken(half(a)), b))
        ones = half(a, -1 if lower else 1) * np.asarray(0.1, dtype) + np.eye(7, dtype=dtype)
        close(
            linalg.solve_triangular(pp.asarray(ones * 1 + np.diag([5] * 7)).astype(dtype), y, trans=trans, lower=lower, unit_diagonal=True),
            np.linalg.solve(as_taken(ones), b),
        )


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_cholesky(dtype, lower):
    a, b = positive(2, 6, 6, dtype=dtype), matrices(2, 6, 3, dtype=dtype)
    factor = linalg.cho_factor(pp.asarray(a), lower=lower)
    assert factor[1] is lower
    c = pp.asnumpy(factor[0])
    np.testing.assert_allclose(c @ c.conj().swapaxes(-1, -2) if lower else c.conj().swapaxes(-1, -2) @ c, a, rtol=1e-4)
    close(linalg.cho_solve(factor, pp.asarray(b)), np.linalg.solve(a, b))
    close(linalg.cho_solve(factor, pp.asarray(b[0, :, 0])), np.linalg.solve(a, b[0, :, 0]))


@pytest.mark.parametrize(("below", "above"), [(0, 0), (1, 1), (2, 1), (0, 3)])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_banded(dtype, below, above):
    n = 9
    ab, b = matrices(2, below + 1 + above, n, dtype=dtype), matrices(2, n, 3, dtype=dtype)
    ab[:, above] += 6
    full = np.zeros((2, n, n), dtype)
    for i in range(n):
        for j in range(max(0, i - below), min(n, i + above + 1)):
            full[:, i, j] = ab[:, above + i - j, j]
    close(linalg.solve_banded((below, above), pp.asarray(ab), pp.asarray(b)), np.linalg.solve(full, b))
    close(linalg.solve_banded((below, above), pp.asarray(ab[0]), pp.asarray(b[0, :, 0])), np.linalg.solve(full[0], b[0, :, 0]))
    half = np.triu(full)
    hermitian = half + np.triu(half, 1).conj().swapaxes(-1, -2)
    hermitian[..., range(n), range(n)] = 20
    upper = ab[:, : above + 1].copy()
    upper[:, above] = 20
    close(linalg.solveh_banded(pp.asarray(upper), pp.asarray(b)), np.linalg.solve(hermitian, b))
    lower = np.zeros_like(upper)
    for d in range(above + 1):
        lower[:, d, : n - d] = hermitian[:, range(d, n), range(n - d)]
    close(linalg.solveh_banded(pp.asarray(lower), pp.asarray(b), lower=True), np.linalg.solve(hermitian, b))


@pytest.mark.parametrize("dtype", DTYPES)
def test_toeplitz(dtype):
    c, r = matrices(6, dtype=dtype), matrices(4, dtype=dtype)
    expected = np.array([[c[i - j] if i >= j else r[j - i] for j in range(4)] for i in range(6)])
    close(linalg.toeplitz(pp.asarray(c), pp.asarray(r)), expected)
    close(linalg.toeplitz(pp.asarray(c)), np.array([[c[i - j] if i >= j else c[j - i].conj() for j in range(6)] for i in range(6)]))
    c, r, b = (matrices(*shape, dtype=dtype) for shape in ((2, 30), (2, 30), (2, 30, 3)))
    c[:, 0] += 40
    full = pp.asnumpy(linalg.toeplitz(pp.asarray(c), pp.asarray(r)))
    close(linalg.solve_toeplitz((pp.asarray(c), pp.asarray(r)), pp.asarray(b)), np.linalg.solve(full, b))
    close(linalg.solve_toeplitz((pp.asarray(c[0]), pp.asarray(r[0])), pp.asarray(b[0, :, 0])), np.linalg.solve(full[0], b[0, :, 0]))
    close(linalg.solve_toeplitz(pp.asarray([4.0]), pp.asarray([2.0])), np.array([0.5]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponentials(dtype):
    for scale in (1e-3, 0.1, 1.0, 30.0):
        h = matrices(2, 5, 5, dtype=dtype) * np.asarray(scale, dtype) / 5
        h = h - h.conj().swapaxes(-1, -2)  # normal, so that eigenvalues tell the result
        w, v = np.linalg.eig(h.astype("complex128"))
        expected = (v * np.exp(w)[..., None, :]) @ np.linalg.inv(v)
        close(linalg.expm(pp.asarray(h)), (expected if dtype[0] == "c" else expected.real).astype(dtype))
    close(linalg.expm(pp.zeros((0, 3, 3))), np.zeros((0, 3, 3)))
    close(linalg.expm(pp.asarray([[0, 2], [0, 0]])), np.array([[1.0, 2.0], [0.0, 1.0]]))
    mixed = linalg.expm(pp.asarray(np.stack([np.eye(2), np.full((2, 2), np.nan), np.full((2, 2), np.inf)])))
    np.testing.assert_allclose(pp.asnumpy(mixed)[0], np.eye(2) * np.e)
    assert np.isnan(pp.asnumpy(mixed)[1:]).all()


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_hermitian_eigenvalues(dtype, lower):
    a = matrices(2, 7, 7, dtype=dtype)
    a = a + a.conj().swapaxes(-1, -2)
    half = pp.asarray((np.tril if lower else np.triu)(a))
    expected = np.linalg.eigvalsh(a)
    w, v = linalg.eigh(half, lower=lower)
    close(w, expected)
    close(pp.asarray(a) @ v, pp.asnumpy(v * w[..., None, :]))
    w, v = linalg.eigh(half, lower=lower, subset_by_index=(2, 4))
    close(w, expected[..., 2:5])
    assert v.shape == (2, 7, 3)
    close(pp.asarray(a) @ v, pp.asnumpy(v * w[..., None, :]))
    close(linalg.eigh(half, lower=lower, eigvals_only=True, subset_by_index=(0, 0)), expected[..., :1])
    low, high = float(expected[0, 1] + expected[0, 2]) / 2, float(expected[0, 5] + expected[0, 6]) / 2
    w, v = linalg.eigh(half[0], lower=lower, subset_by_value=(low, high))
    close(w, expected[0, 2:6])
    assert v.shape == (7, 4)
    b = positive(2, 7, 7, dtype=dtype)
    other = pp.asarray((np.tril if lower else np.triu)(b))
    for kind in (1, 2, 3):
        w, v = linalg.eigh(half, other, lower=lower, type=kind)
        x, y = pp.asnumpy(v), pp.asnumpy(w)[..., None, :]
        left, right = {1: (a @ x, b @ x * y), 2: (a @ b @ x, x * y), 3: (b @ a @ x, x * y)}[kind]
        scale = 10 * np.abs(left).max()
        np.testing.assert_allclose(left / scale, right / scale, atol=TOLERANCE[dtype])
        metric = b if kind < 3 else np.linalg.inv(b)
        np.testing.assert_allclose(
            x.conj().swapaxes(-1, -2) @ metric @ x, np.broadcast_to(np.eye(7), (2, 7, 7)), atol=10 * TOLERANCE[dtype]
        )


def test_errors():
    x, nan = pp.asarray(matrices(4, 4)), pp.full((4, 4), np.nan)
    zero = pp.zeros((4, 4))
    for call, text in (
        (lambda: linalg.lu(nan)[1], "lu: Array must not contain infs or NaNs"),
        (lambda: linalg.lu_factor(nan)[0], "lu_factor: Array must not contain infs or NaNs"),
        (lambda: linalg.lu_solve(linalg.lu_factor(x), nan), "lu_solve: Array must not contain infs or NaNs"),
        (lambda: linalg.lu_solve((x, pp.asarray([0, 1, 2, 4])), x), "lu_solve: A row of the exchanges is out of bounds"),
        (lambda: linalg.solve_triangular(zero, x), "solve_triangular: Singular matrix"),
        (lambda: linalg.cho_factor(zero)[0], "cho_factor: Matrix is not positive definite"),
        (lambda: linalg.cho_factor(nan)[0], "cho_factor: Array must not contain infs or NaNs"),
        (lambda: linalg.solve_banded((1, 2), zero, x), "solve_banded: Singular matrix"),
        (lambda: linalg.solveh_banded(zero, x), "solveh_banded: Matrix is not positive definite"),
        (lambda: linalg.solve_toeplitz(zero[0], x), "solve_toeplitz: Singular principal minor"),
        (lambda: linalg.eigh(nan)[0], "eigh: Array must not contain infs or NaNs"),
        (lambda: linalg.eigh(x, zero)[0], "eigh: Matrix is not positive definite"),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=f"^{text}"):
            call().wait()
    for call, text in (
        (lambda: linalg.lu_solve(linalg.lu_factor(x), x, trans=3), "lu_solve: trans must be"),
        (lambda: linalg.lu_solve(linalg.lu_factor(x), x[:3]), "lu_solve: b has 3 rows, but the matrices have 4"),
        (lambda: linalg.lu_solve((x, pp.zeros(3)), x), "lu_solve: the exchanges must be 4 integers"),
        (lambda: linalg.solve_triangular(x[:3], x), "solve_triangular: Last 2 dimensions of the array must be square"),
        (lambda: linalg.solve_banded((1, 1), x, x), "solve_banded: ab must have l"),
        (lambda: linalg.solve_toeplitz((x[0], x[0, :2]), x), "solve_toeplitz: columns of 4 and rows of 2 elements make no square"),
        (lambda: linalg.toeplitz(pp.asarray(1.0)), "toeplitz: the first column"),
        (lambda: linalg.eigh(x, subset_by_index=(1, 4)), "eigh: subset_by_index is"),
        (
            lambda: linalg.eigh(x, subset_by_index=(1, 2), subset_by_value=(0, 1)),
            "eigh: subset_by_index and subset_by_value are both given",
        ),
        (lambda: linalg.eigh(x, x, type=4), "eigh: type must be 1, 2 or 3"),
    ):
        with pytest.raises(ValueError, match=f"^{text}"):
            call()


def test_unchecked():
    bad = pp.asarray(np.array([[1.0, 0.0], [np.nan, 2.0]]))
    assert pp.asnumpy(linalg.solve_triangular(bad, pp.ones(2), check_finite=False)).tolist() == [1.0, 0.5]
    assert np.isnan(pp.asnumpy(linalg.lu_factor(bad, check_finite=False)[0])).any()


def test_without_elements():
    empty, none = pp.zeros((0, 0)), pp.zeros((0, 2))
    assert linalg.lu_solve(linalg.lu_factor(empty), none).shape == (0, 2)
    assert [v.shape for v in linalg.lu(pp.zeros((3, 0)))] == [(3, 3), (3, 0), (0, 0)]
    assert linalg.cho_solve(linalg.cho_factor(empty), none).shape == (0, 2)
    assert linalg.solve_banded((1, 1), pp.zeros((3, 0)), none).shape == (0, 2)
    assert linalg.toeplitz(pp.zeros(0), pp.zeros(2)).shape == (0, 2)
    assert linalg.eigh(empty)[1].shape == (0, 0)


def test_without_right_hand_sides():
    """Matrices are looked through for what is not finite, and no more, as in SciPy."""
    bad, none = pp.full((3, 3), np.inf), pp.zeros((3, 0))
    for solve in (
        lambda a, **keywords: linalg.solve_triangular(a, none, **keywords),
        lambda a, **keywords: linalg.cho_solve((a, True), none, **keywords),
        lambda a, **keywords: linalg.solve_banded((1, 1), a, none, **keywords),
        lambda a, **keywords: linalg.solveh_banded(a, none, **keywords),
        lambda a, **keywords: linalg.solve_toeplitz(a[0], none, **keywords),
        lambda a, **keywords: linalg.solve_triangular(pp.stack([pp.eye(3), a]), none, **keywords),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=r"^\w+: Array must not contain infs or NaNs"):
            solve(bad)
        assert solve(bad, check_finite=False).shape[-2:] == (3, 0)
        assert solve(pp.zeros((3, 3))).shape[-2:] == (3, 0)
    assert linalg.solve_triangular(bad, pp.zeros((0, 3, 0))).shape == (0, 3, 0)
    assert linalg.solve_toeplitz(pp.zeros(0), pp.zeros(0)).shape == (0,)
    assert linalg.solve_toeplitz(pp.zeros(0), pp.zeros((0, 2))).shape == (0, 2)


def test_values_of_the_host_and_contexts():
    a = positive(5, 5)
    close(linalg.cho_solve(linalg.cho_factor(pp.asarray(a)), a[0]), np.linalg.solve(a, a[0]))
    with pp.device_context("cpu"):
        low, up = linalg.lu(a, permute_l=True)
    assert type(low) is np.ndarray
    np.testing.assert_allclose(low @ up, a)
