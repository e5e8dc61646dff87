# tests/conformance/test_matrices.py: factorizations and what is made of them, on every device, against NumPy and against their definitions.
import numpy as np
import pardo as pp
import pytest
from data import rng_for, values

linalg = pp.linalg
DTYPES = ["float32", "float64", "complex64", "complex128"]
TOLERANCE = {"float32": 2e-4, "float64": 1e-10, "complex64": 2e-4, "complex128": 1e-10}
STACKS = [(1, 1), (5, 5), (3, 4, 4), (2, 1, 3, 3)]


def matrices(dtype, shape, kind="any"):
    a = values(dtype, int(np.prod(shape)), rng_for(dtype, shape, kind), special=False, small=True).reshape(shape)
    if kind == "regular":
        a = a + np.eye(shape[-1], dtype=dtype) * (3 + 2 * shape[-1])
    if kind == "hermitian":
        a = a + a.conj().swapaxes(-1, -2)
    if kind == "positive":
        a = a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype)
    return a


def check(mine, expected, scale=1.0):
    expected = np.asarray(expected)
    assert mine.dtype == expected.dtype
    assert mine.shape == expected.shape
    tolerance = TOLERANCE[str(expected.dtype)] * scale
    np.testing.assert_allclose(pp.asnumpy(mine), expected, rtol=tolerance, atol=tolerance)


def adjoint(x):
    return pp.conj(x).mT


@pytest.mark.parametrize("shape", STACKS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_solving(dtype, shape, device):
    a = matrices(dtype, shape, "regular")
    b = matrices(dtype, (*shape[:-1], 3))
    x, y = pp.asarray(a, device=device), pp.asarray(b, device=device)
    check(linalg.solve(x, y), np.linalg.solve(a, b))
    check(linalg.solve(x, y[..., 0].reshape(-1)[: shape[-1]]), np.linalg.solve(a, b[..., 0].reshape(-1)[: shape[-1]]))
    check(linalg.inv(x), np.linalg.inv(a))
    check(linalg.det(x) / 10.0 ** shape[-1], np.linalg.det(a) / 10.0 ** shape[-1])
    for mine, expected in zip(linalg.slogdet(x), np.linalg.slogdet(a), strict=True):
        check(mine, expected)


@pytest.mark.parametrize("shape", STACKS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_hermitian(dtype, shape, device):
    a, p = matrices(dtype, shape, "hermitian"), matrices(dtype, shape, "positive")
    x, y = pp.asarray(a, device=device), pp.asarray(p, device=device)
    check(linalg.cholesky(y), np.linalg.cholesky(p))
    check(linalg.cholesky(y, upper=True), np.linalg.cholesky(p).conj().swapaxes(-1, -2))
    w, v = linalg.eigh(x)
    check(w, np.linalg.eigvalsh(a))
    check(linalg.eigvalsh(x, UPLO="U"), np.linalg.eigvalsh(a), 10)
    check((v * w[..., None, :]) @ adjoint(v), a, 10)
    check(adjoint(v) @ v, np.broadcast_to(np.eye(shape[-1], dtype=dtype), shape))


@pytest.mark.parametrize("shape", [(40, 17, 17), (2, 33, 33), (75, 75)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_sizes(dtype, shape, device):
    """More than a team, a block, or a panel has."""
    a = matrices(dtype, shape, "regular")
    a = a[..., np.random.default_rng(1).permutation(shape[-1]), :]  # rows that are to be exchanged
    x = pp.asarray(a, device=device)
    for k in (1, 20):
        b = matrices(dtype, (*shape[:-1], k))
        check(linalg.solve(x, pp.asarray(b, device=device)), np.linalg.solve(a, b), 10)
    check(linalg.inv(x), np.linalg.inv(a))
    check(linalg.det(x / (2 * shape[-1])), np.linalg.det(a / np.asarray(2 * shape[-1], dtype)), 10)
    for mine, expected in zip(linalg.slogdet(x), np.linalg.slogdet(a), strict=True):
        check(mine, expected)
    p = matrices(dtype, shape, "positive")
    for upper in (False, True):
        factor = np.linalg.cholesky(p).conj().swapaxes(-1, -2) if upper else np.linalg.cholesky(p)
        check(linalg.cholesky(pp.asarray(p, device=device), upper=upper), factor, 10)


@pytest.mark.parametrize("n", [1, 6, 40])
def test_matrices_that_fail(n, device):
    a = np.stack([np.eye(n)] * 7)
    a[4] = a[5] = 0
    x = pp.asarray(a, device=device)
    for call, text in (
        (lambda: linalg.inv(x), "inv: Singular matrix"),
        (lambda: linalg.solve(x, x), "solve: Singular matrix"),
        (lambda: linalg.cholesky(x), "cholesky: Matrix is not positive definite"),
        (lambda: pp.scipy.linalg.solve_triangular(x, x), "solve_triangular: Singular matrix"),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=rf"^{text} \(matrix 4 of the stack\) \(at .*test_matrices.py:\d+\)"):
            call().wait()
    check(linalg.det(x), np.linalg.det(a))
    for mine, expected in zip(linalg.slogdet(x), np.linalg.slogdet(a), strict=True):
        check(mine, expected)
    assert np.flatnonzero(~np.isfinite(pp.asnumpy(linalg.cond(x, 1)))).tolist() == [4, 5]
    a = a + np.eye(n) * 3
    a[4:6, 0, 0] = np.nan
    x = pp.asarray(a, device=device)
    for found in (linalg.inv(x), linalg.solve(x, x)):
        assert np.flatnonzero(np.isnan(pp.asnumpy(found)).reshape(7, -1).any(1)).tolist() == [4, 5]
    with pytest.raises(np.linalg.LinAlgError, match=r"^cho_factor: Array must not contain infs or NaNs \(matrix 4 of the stack\)"):
        pp.scipy.linalg.cho_factor(x)[0].wait()


@pytest.mark.parametrize("shape", [(31, 31), (3, 32, 20), (20, 40), (45, 17), (100, 33)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_orthogonal_sizes(dtype, shape, device):
    """More than a team, a panel or a launch has."""
    a = matrices(dtype, shape)
    x = pp.asarray(a, device=device)
    k, batch = min(shape[-2:]), shape[:-2]
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(x, mode=mode)
        check(q @ r, a, 10)
        check(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1], dtype=dtype), (*batch, q.shape[-1], q.shape[-1])))
    check(linalg.qr(x, mode="r"), np.linalg.qr(a, mode="r"), 10)
    u, s, vh = linalg.svd(x)
    check(s, np.linalg.svd(a, compute_uv=False), 10)
    check((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, 10)
    for v in (u, vh):
        check(v @ adjoint(v), np.broadcast_to(np.eye(v.shape[-1], dtype=dtype), (*batch, v.shape[-1], v.shape[-1])))
    if not batch:
        b = matrices(dtype, (shape[0], 3))
        mine, expected = linalg.lstsq(x, pp.asarray(b, device=device)), np.linalg.lstsq(a, b)
        check(mine[0], expected[0], 10)
        check(mine[1] / shape[0], expected[1] / np.asarray(shape[0], real(dtype)))
        assert int(mine[2]) == expected[2]
        check(mine[3], expected[3], 10)


@pytest.mark.parametrize("n", [33, 70])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_hermitian_sizes(dtype, n, device):
    a = matrices(dtype, (n, n), "hermitian")
    for upper in (False, True):
        half = np.triu(a) if upper else np.tril(a)
        w, v = linalg.eigh(pp.asarray(half, device=device), UPLO="U" if upper else "L")
        check(w, np.linalg.eigvalsh(a), 10)
        check((v * w) @ adjoint(v), a, 10)
        check(adjoint(v) @ v, np.eye(n, dtype=dtype))
    x = pp.asarray(a, device=device)
    w, v = pp.scipy.linalg.eigh(x, subset_by_index=(n - 5, n - 2))
    check(w, np.linalg.eigvalsh(a)[n - 5 : n - 1], 10)
    check(x @ v, pp.asnumpy(v * w), 10)


@pytest.mark.parametrize("shape", [(9, 9), (9, 5), (5, 9), (40, 40)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_less_rank(dtype, shape, device):
    """Vectors of singular values that are zero, eigenvalues that are equal, least squares of least norm."""
    m, n = shape
    low = (matrices(dtype, (m, 3)) @ matrices(dtype, (3, n))).astype(dtype)
    b = matrices(dtype, (m, 2))
    for a in (low, np.zeros(shape, dtype), np.eye(m, n, dtype=dtype), np.ones(shape, dtype)):
        x = pp.asarray(a, device=device)
        u, s, vh = linalg.svd(x)
        check(s, np.linalg.svd(a, compute_uv=False), 10)
        for v in (u, vh):
            check(v @ adjoint(v), np.eye(v.shape[-1], dtype=dtype))
        check((u[:, : min(m, n)] * s) @ vh[: min(m, n)], a, 10)
        mine, expected = linalg.lstsq(x, pp.asarray(b, device=device), rcond=1e-4), np.linalg.lstsq(a, b, rcond=1e-4)
        check(mine[0], expected[0], 10)
        assert int(mine[2]) == expected[2]
        h = (a @ a.conj().T / max(np.abs(a).max() ** 2, 1) - np.eye(m)).astype(dtype)
        w, v = linalg.eigh(pp.asarray(h, device=device))
        check(w, np.linalg.eigvalsh(h), 10)
        check(v @ adjoint(v), np.eye(m, dtype=dtype))


@pytest.mark.parametrize("n", [3, 40])
def test_spectra_that_fail(n, device):
    a = np.stack([np.eye(n)] * 4)
    a[2, n - 1, 0] = np.nan
    x = pp.asarray(a, device=device)
    with pytest.raises(np.linalg.LinAlgError, match=r"^svd: SVD did not converge \(matrix 2 of the stack\) \(at .*test_matrices.py:\d+\)"):
        linalg.svd(x)[0].wait()
    with pytest.raises(np.linalg.LinAlgError, match=r"did not converge"):
        linalg.lstsq(x[2], x[0])[0].wait()
    large = np.diag(np.linspace(1, 2, n)) * 1e200
    check(linalg.svdvals(pp.asarray(large, device=device)) / 1e200, np.linspace(2, 1, n))
    check(linalg.eigvalsh(pp.asarray(large / 1e300 / 1e100, device=device)) * 1e200, np.linspace(1, 2, n))


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_triangles(dtype, device):
    for shape, k in (((3, 7, 7), 2), ((40, 40), 1)):
        a = matrices(dtype, shape, "regular")
        b = matrices(dtype, (*shape[:-1], k))
        x, y = pp.asarray(a, device=device), pp.asarray(b, device=device)
        for lower in (False, True):
            half = np.tril(a) if lower else np.triu(a)
            for trans, taken in ((0, half), (1, half.swapaxes(-1, -2)), (2, half.conj().swapaxes(-1, -2))):
                check(pp.scipy.linalg.solve_triangular(x, y, trans=trans, lower=lower), np.linalg.solve(taken, b))
            ones = half / (4 * shape[-1])
            ones[..., range(shape[-1]), range(shape[-1])] = 1
            z = pp.asarray(a / np.asarray(4 * shape[-1], dtype), device=device)
            check(pp.scipy.linalg.solve_triangular(z, y, lower=lower, unit_diagonal=True), np.linalg.solve(ones.astype(dtype), b))


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (2, 6, 3), (2, 3, 6)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_orthogonal(dtype, shape, device):
    a = matrices(dtype, shape)
    x = pp.asarray(a, device=device)
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(x, mode=mode)
        assert (q.shape, r.shape) == tuple(v.shape for v in np.linalg.qr(a, mode=mode))
        check(q @ r, a)
        check(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1], dtype=dtype), (*shape[:-2], q.shape[-1], q.shape[-1])))
        check(pp.triu(r), pp.asnumpy(r))
    check(linalg.qr(x, mode="r"), np.linalg.qr(a, mode="r"))
    for mine, expected in zip(linalg.qr(x, mode="raw"), np.linalg.qr(a, mode="raw"), strict=True):
        check(mine, expected)
    for full in (True, False):
        u, s, vh = linalg.svd(x, full_matrices=full)
        k = min(shape[-2:])
        check(s, np.linalg.svd(a, compute_uv=False))
        assert (u.shape, vh.shape) == tuple(v.shape for v in np.linalg.svd(a, full_matrices=full)[::2])
        check((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a)
        check(adjoint(u) @ u, np.broadcast_to(np.eye(u.shape[-1], dtype=dtype), (*shape[:-2], u.shape[-1], u.shape[-1])))
    check(linalg.svdvals(x), np.linalg.svd(a, compute_uv=False))
    check(linalg.pinv(x), np.linalg.pinv(a), 10)


@pytest.mark.parametrize("shape", STACKS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues(dtype, shape, device):
    a = matrices(dtype, shape)
    x = pp.asarray(a, device=device)
    w, v = linalg.eig(x)
    assert w.dtype == v.dtype == np.result_type(dtype, "complex64")
    check(x @ v, pp.asnumpy(v * w[..., None, :]), 10)
    check(linalg.vector_norm(v, axis=-2), np.ones(shape[:-1], real(dtype)))
    mine, expected = np.sort(pp.asnumpy(linalg.eigvals(x))), np.sort(np.linalg.eigvals(a).astype(w.dtype))
    np.testing.assert_allclose(mine.sum(-1), expected.sum(-1), rtol=1e-3, atol=1e-3)


def real(dtype):
    return np.zeros(0, dtype).real.dtype


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4), (1, 1)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_least_squares(dtype, shape, device):
    a, b = matrices(dtype, shape), matrices(dtype, (shape[0], 2))
    x, y = pp.asarray(a, device=device), pp.asarray(b, device=device)
    for right, host in ((y, b), (y[:, 0], b[:, 0])):
        mine, expected = linalg.lstsq(x, right), np.linalg.lstsq(a, host)
        check(mine[0], expected[0], 10)
        check(mine[1], expected[1], 10)
        assert int(mine[2]) == expected[2]
        check(mine[3], expected[3])


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_layouts(dtype, device):
    a = matrices(dtype, (4, 6, 6), "regular")
    x = pp.asarray(a, device=device)
    for view, host in (
        (x.mT, a.swapaxes(-1, -2)),
        (x[::2, ::-1, ::-1], a[::2, ::-1, ::-1]),
        (x[1:, 1:5, 2:6], a[1:, 1:5, 2:6]),
        (pp.broadcast_to(x[0], (2, 6, 6)), np.broadcast_to(a[0], (2, 6, 6))),
        (x + 1, a + np.asarray(1, dtype)),
    ):
        check(linalg.inv(view), np.linalg.inv(host))
        check(linalg.svdvals(view), np.linalg.svd(host, compute_uv=False))
        check(linalg.solve(view, x[0, : view.shape[-1], 0]), np.linalg.solve(host, a[0, : host.shape[-1], 0]))


@pytest.mark.parametrize("ord", [None, 0, 1, 2, 3, 0.5, -1, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_vector_norms(dtype, ord, device):
    a = matrices(dtype, (3, 4, 5))
    x = pp.asarray(a, device=device)
    check(linalg.norm(x, ord, axis=1), np.linalg.norm(a, ord, axis=1))
    if ord is not None:
        check(linalg.vector_norm(x, axis=(0, 2), keepdims=True, ord=ord), np.linalg.vector_norm(a, axis=(0, 2), keepdims=True, ord=ord))


@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_matrix_norms(dtype, ord, device):
    a = matrices(dtype, (3, 4, 5))
    x = pp.asarray(a, device=device)
    check(linalg.norm(x, ord, axis=(2, 0), keepdims=True), np.linalg.norm(a, ord, axis=(2, 0), keepdims=True))
    check(linalg.matrix_norm(x, ord=ord or "fro"), np.linalg.matrix_norm(a, ord=ord or "fro"))
    if ord is not None and ord != "nuc":
        square = matrices(dtype, (2, 4, 4), "regular")
        check(linalg.cond(pp.asarray(square, device=device), ord), np.linalg.cond(square, ord).real, 10)  # complex in NumPy 2.0
