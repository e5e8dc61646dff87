# tests/python/test_linear_algebra.py: linear algebra: errors and where they come, extents of zero, keywords, what is recorded.
from __future__ import annotations

import inspect
import itertools
import os
import pickle

import numpy as np
import pardo as pp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

linalg = pp.linalg
A = np.random.default_rng(3).standard_normal((40, 40)) + 8 * np.eye(40)  # large enough to be recorded
SINGULAR = np.ones((40, 40))


def close(mine, expected, tolerance=1e-10):
    assert mine.shape == np.shape(expected)
    np.testing.assert_allclose(pp.asnumpy(mine), expected, rtol=tolerance, atol=tolerance)


# --- names ----------------------------------------------------------------------------------------------------------------------------


def test_every_function_of_numpy():
    names = [name for name in np.linalg.__all__ if name != "linalg"]
    assert len(names) >= 31
    for name in names:
        ours, theirs = getattr(linalg, name), getattr(np.linalg, name)
        if name == "LinAlgError":
            assert ours is theirs
            continue
        assert ours.__module__ == "pardo.linalg"
        mine, numpys = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
        assert [(p.name, p.kind) for p in mine.values()] == [(p.name, p.kind) for p in numpys.values()], name
        for p in mine.values():
            assert p.default == numpys[p.name].default or name in ("tensorinv",), name


@pytest.mark.parametrize("name", ["solve", "inv", "det", "svd", "eigh", "norm", "matrix_rank", "pinv", "qr", "cholesky", "trace"])
def test_numpys_functions(name):
    p = A @ A.T
    arguments = (pp.asarray(p), pp.asarray(A)) if name == "solve" else (pp.asarray(p),)
    host = (p, A) if name == "solve" else (p,)
    mine, expected = getattr(np.linalg, name)(*arguments), getattr(np.linalg, name)(*host)
    if isinstance(mine, tuple):
        assert type(mine).__name__ == type(expected).__name__
        assert mine._fields == expected._fields
        mine, expected = mine[1], expected[1]
    assert type(mine) is pp.Array
    if name != "qr":
        close(pp.abs(mine), np.abs(expected), 1e-8)


def test_results_are_pickled():
    found = pickle.loads(pickle.dumps(linalg.slogdet(pp.asarray(A))))
    assert type(found) is linalg.SlogdetResult
    assert float(found.sign) == 1


def test_values_of_the_host():
    x = pp.asarray(A)
    close(linalg.solve(x, A[0]), np.linalg.solve(A, A[0]))
    with pp.device_context("cpu"):
        q, r = linalg.qr(A)
        assert type(q) is np.ndarray
        np.testing.assert_allclose(q @ r, A)
    assert linalg.inv(A).queue == pp.Queue.of(pp.Device())
    close(linalg.inv(A), np.linalg.inv(A))


# --- errors ---------------------------------------------------------------------------------------------------------------------------

SQUARE = ["inv", "det", "slogdet", "cholesky", "eig", "eigvals", "eigh", "eigvalsh"]


@pytest.mark.parametrize("name", SQUARE)
def test_not_square(name):
    with pytest.raises(np.linalg.LinAlgError, match=rf"^{name}: Last 2 dimensions of the array must be square, got shape \(2, 3\)"):
        getattr(linalg, name)(pp.ones((2, 3)))
    with pytest.raises(np.linalg.LinAlgError, match=rf"^{name}: 1-dimensional array given. Array must be at least two-dimensional"):
        getattr(linalg, name)(pp.ones(3))
    with pytest.raises(TypeError, match=rf"^{name}: array type float16 is unsupported in linalg"):
        getattr(linalg, name)(pp.ones((2, 2), dtype="float16"))


def test_wrong_shapes():
    x = pp.asarray(A)
    for call, text in (
        (lambda: linalg.solve(x, pp.ones(3)), r"solve: b has 3 rows, but the matrices of a have 40"),
        (lambda: linalg.solve(x, pp.ones(())), r"solve: b has no dimensions"),
        (lambda: linalg.solve(pp.ones((2, 3, 3)) + pp.eye(3), pp.ones((3, 3, 1))), r"solve: .*\(2,\).*\(3,\)"),
        (lambda: linalg.lstsq(x, pp.ones(3)), r"lstsq: Incompatible dimensions: a has 40 rows, b has 3"),
        (lambda: linalg.lstsq(pp.ones((2, 2, 2)), pp.ones(2)), r"lstsq: 3-dimensional array given. Array must be two-dimensional"),
        (lambda: linalg.qr(pp.ones(3)), r"qr: 1-dimensional array given"),
        (lambda: linalg.svd(pp.ones(3)), r"svd: 1-dimensional array given"),
        (lambda: linalg.qr(x, mode="wrong"), r"qr: Unrecognized mode: mode is 'wrong'; it must be 'reduced', 'complete', 'r' or 'raw'"),
        (lambda: linalg.eigh(x, UPLO="X"), r"eigh: UPLO is 'X'; it must be 'L' or 'U'"),
        (lambda: linalg.cond(pp.ones((0, 0))), r"cond: cond is not defined on empty arrays"),
        (lambda: linalg.norm(pp.ones((2, 2, 2)), 2), r"norm: Improper number of dimensions to norm: 3"),
        (lambda: linalg.norm(x, "wrong"), r"norm: Invalid norm order 'wrong' for matrices"),
        (lambda: linalg.norm(x, 3), r"norm: Invalid norm order 3 for matrices"),
        (lambda: linalg.norm(x, "fro", axis=0), r"norm: Invalid norm order 'fro' for vectors"),
        (lambda: linalg.norm(x, axis=(1, -1)), r"norm: Duplicate axes given"),
        (lambda: linalg.tensorinv(x, ind=0), r"tensorinv: Invalid ind argument"),
        (lambda: linalg.tensorsolve(pp.ones((2, 3)), pp.ones(2)), r"tensorsolve: a must have prod"),
        (lambda: linalg.multi_dot([x]), r"multi_dot: Expecting at least two arrays, got 1"),
        (lambda: linalg.multi_dot([x, x[:3]]), r"multi_dot: shapes \(40, 40\) and \(3, 40\) are not aligned"),
        (lambda: linalg.outer(x, x[0]), r"outer: Input arrays must be one-dimensional"),
        (lambda: linalg.cross(x, x), r"cross: Both input arrays must be"),
        (lambda: linalg.matrix_rank(x, tol=1, rtol=1), r"matrix_rank: `tol` and `rtol` can't be both set"),
        (lambda: linalg.pinv(x, 1, rtol=1), r"pinv: `rtol` and `rcond` can't be both set"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    with pytest.raises(TypeError, match="matrix_power: exponent must be an integer, not float"):
        linalg.matrix_power(x, 1.5)
    with pytest.raises(pp.ExecutionPlacementError, match="solve"):
        linalg.solve(x, x.to_queue(pp.Queue("cpu")))


FAILING = {
    "solve": (lambda x: linalg.solve(x, x), SINGULAR, "Singular matrix"),
    "inv": (linalg.inv, SINGULAR, "Singular matrix"),
    "cholesky": (linalg.cholesky, -A @ A.T, "Matrix is not positive definite"),
    "svd": (lambda x: linalg.svd(x)[1], np.full_like(A, np.nan), "SVD did not converge"),
    "eig": (lambda x: linalg.eig(x)[0], np.full_like(A, np.inf), "Array must not contain infs or NaNs"),
    "eigvals": (linalg.eigvals, np.full_like(A, np.nan), "Array must not contain infs or NaNs"),
}


@pytest.mark.parametrize("name", FAILING)
def test_failures_come_late_with_line_and_place(name):
    function, bad, text = FAILING[name]
    line = inspect.currentframe().f_lineno + 1
    late = function(pp.asarray(bad))
    if function.__name__ == "<lambda>":
        line = function.__code__.co_firstlineno
    for _ in range(2):  # each use raises it
        with pytest.raises(np.linalg.LinAlgError, match=rf"^{name}: {text} \(at .*test_linear_algebra.py:{line}\)"):
            pp.asnumpy(late + 1)
    good = A @ A.T
    stack = np.stack([good, good, good, bad, good, bad])
    with pytest.raises(np.linalg.LinAlgError, match=rf"^{name}: {text} \(matrix 3 of the stack\)"):
        function(pp.asarray(stack)).wait()
    with pytest.raises(np.linalg.LinAlgError, match=rf"^{name}: {text} \(matrix \(1, 1\) of the stack\)"):
        function(pp.asarray(stack.reshape(3, 2, 40, 40))).wait()
    small = bad[:2, :2] if name != "cholesky" else -np.eye(2)
    with pytest.raises(np.linalg.LinAlgError, match=rf"^{name}: {text}"):
        function(pp.asarray(small)).wait()


def test_the_name_that_was_called():
    nan = pp.full((3, 3), np.nan)
    for name in ("pinv", "matrix_rank", "cond", "svdvals"):
        with pytest.raises(np.linalg.LinAlgError, match=rf"^{name}: SVD did not converge"):
            getattr(linalg, name)(nan).wait()
    with pytest.raises(np.linalg.LinAlgError, match=r"^norm: SVD did not converge"):
        linalg.norm(nan, 2).wait()
    with pytest.raises(np.linalg.LinAlgError, match=r"^matrix_power: Singular matrix"):
        linalg.matrix_power(pp.ones((3, 3)), -2).wait()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["solve", "inv", "det", "slogdet", "cholesky", "qr", "eigvalsh", "lstsq", "svdvals"])
def test_what_is_not_finite(name, bad):
    """An error where NumPy has one, else not finite where NumPy's result is."""
    a = np.eye(4) * 4 + 1
    a[2, 1] = a[1, 2] = bad
    arguments = (a, np.ones((4, 2))) if name in ("solve", "lstsq") else (a,)

    def outcome(module, convert):
        try:
            with np.errstate(all="ignore"):
                result = getattr(module, name)(*map(convert, arguments))
            return [
                bool(np.isfinite(pp.asnumpy(r) if type(r) is pp.Array else r).all())
                for r in (result if isinstance(result, tuple) else [result])
            ]
        except np.linalg.LinAlgError:
            return "LinAlgError"

    def alike(mine, theirs):
        """Libraries, and versions of one, iterate differently with infinities: what one refuses is not finite with another."""
        if np.isnan(bad) and pp.zeros(1).device.backend == "cpu":
            return mine == theirs
        return (mine == "LinAlgError" or not all(mine)) == (theirs == "LinAlgError" or not all(theirs))

    assert alike(outcome(linalg, pp.asarray), outcome(np.linalg, np.asarray))
    if name != "lstsq":
        arguments = tuple(np.stack([np.eye(4, x.shape[-1])] * 19 + [x]) for x in arguments)
        assert alike(outcome(linalg, pp.asarray), outcome(np.linalg, np.asarray))


def test_singular_matrices_that_are_no_error():
    x = pp.asarray(SINGULAR)
    assert float(linalg.det(x)) == 0
    sign, logabsdet = linalg.slogdet(x)
    assert (float(sign), float(logabsdet)) == (0, -np.inf)
    assert float(linalg.cond(x, 1)) == np.inf
    assert int(linalg.matrix_rank(x)) == 1
    close(linalg.pinv(x), np.linalg.pinv(SINGULAR))


@pytest.mark.parametrize("n", [1, 3, 40])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_singular_matrices_without_right_hand_sides(n, dtype):
    """NumPy factorizes them, so they are errors; and not where there is no matrix."""
    single, none = np.ones((n, n), dtype) * (n > 1), np.zeros((n, 0), dtype)
    stack = np.stack([np.eye(n, dtype=dtype), single])
    for a, b in ((single, none), (stack, none), (stack, np.stack([none, none])), (single, np.stack([none] * 3))):
        for module, convert in ((linalg, pp.asarray), (np.linalg, np.asarray)):
            with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
                module.solve(convert(a), convert(b))
    for a, b in ((single, none[None][:0]), (stack[:0], none), (stack[:1], none), (np.eye(n, dtype=dtype), none)):
        close(linalg.solve(pp.asarray(a), pp.asarray(b)), np.linalg.solve(a, b))
    with pytest.raises(np.linalg.LinAlgError, match="tensorsolve: Singular matrix"):
        linalg.tensorsolve(pp.zeros((1, 1)), pp.zeros((1,))).wait()


def test_determinants_that_overflow_on_the_way():
    d = np.diag([1e200, 1e200, 1e-200, 1e-200, 3.0])
    close(linalg.det(pp.asarray(d)), 3.0)
    close(linalg.det(pp.asarray(d * 1j)), 3j)
    assert float(linalg.det(pp.asarray(np.diag([1e200, 1e200])))) == np.inf
    assert float(linalg.det(pp.asarray(np.diag([1e-200, 1e-200])))) == 0


# --- extents of zero ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0, 0), (3, 0, 0), (0, 3, 3), (2, 0, 3, 3), (0, 0, 0)], ids=str)
@pytest.mark.parametrize("name", [*SQUARE, "svd", "svdvals", "qr", "pinv"])
def test_without_elements(name, shape):
    mine, expected = getattr(linalg, name)(pp.zeros(shape)), getattr(np.linalg, name)(np.zeros(shape))
    for m, e in zip(mine, expected, strict=True) if isinstance(mine, tuple) else [(mine, expected)]:
        assert m.shape == e.shape
        assert m.dtype == e.dtype or name.startswith("eig")
        np.testing.assert_array_equal(pp.asnumpy(m), e)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3), (2, 3, 0)], ids=str)
def test_no_rows_or_no_columns(shape):
    x, a = pp.zeros(shape), np.zeros(shape)
    for mine, expected in (
        (linalg.svd(x), np.linalg.svd(a)),
        (linalg.svd(x, full_matrices=False), np.linalg.svd(a, full_matrices=False)),
        (linalg.qr(x), np.linalg.qr(a)),
        (linalg.qr(x, mode="complete"), np.linalg.qr(a, mode="complete")),
        (linalg.qr(x, mode="raw"), np.linalg.qr(a, mode="raw")),
        ([linalg.pinv(x), linalg.matrix_rank(x)], [np.linalg.pinv(a), np.zeros(shape[:-2])]),
    ):
        for m, e in zip(mine, expected, strict=True):
            assert m.shape == np.shape(e)
            np.testing.assert_array_equal(pp.asnumpy(m), e)


@pytest.mark.parametrize(("m", "n", "k"), [(0, 3, 2), (3, 0, 2), (4, 2, 0), (0, 0, 0)])
def test_least_squares_of_nothing(m, n, k):
    a, b = np.ones((m, n)) + np.eye(m, n), np.ones((m, k))
    mine, expected = linalg.lstsq(pp.asarray(a), pp.asarray(b)), np.linalg.lstsq(a, b)
    for x, e in zip(mine, expected, strict=True):
        close(x, e)


def test_solving_nothing():
    assert linalg.solve(pp.zeros((0, 0)), pp.zeros((0, 2))).shape == (0, 2)
    assert linalg.solve(pp.asarray(A), pp.zeros((40, 0))).shape == (40, 0)
    assert linalg.solve(pp.zeros((0, 3, 3)), pp.zeros((1, 3, 2))).shape == (0, 3, 2)
    assert linalg.norm(pp.zeros((0, 3)), 1).item() == 0


# --- what is computed ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64"])
def test_integers(dtype):
    a = np.eye(3, dtype=dtype)
    for name in (*SQUARE, "svdvals", "pinv", "norm"):
        mine, expected = getattr(linalg, name)(pp.asarray(a)), getattr(np.linalg, name)(a)
        for m, e in zip(mine, expected, strict=True) if isinstance(mine, tuple) else [(mine, expected)]:
            assert m.dtype == e.dtype or name in ("eig", "eigvals")
            np.testing.assert_allclose(pp.asnumpy(m), e, atol=1e-12)
    assert linalg.solve(pp.ones((1, 1), dtype="float32"), pp.ones(1, dtype=dtype)).dtype == "float64"
    assert linalg.solve(pp.ones((1, 1), dtype="complex64"), pp.ones(1, dtype="float64")).dtype == "complex128"


def test_one_triangle_is_read():
    p = A @ A.T
    with np.errstate(all="ignore"):
        lower, upper = np.tril(p) + np.triu(np.full_like(p, np.nan), 1), np.triu(p) + np.tril(np.full_like(p, np.nan), -1)
    close(linalg.cholesky(pp.asarray(lower)), np.linalg.cholesky(p))
    close(linalg.cholesky(pp.asarray(upper), upper=True), np.linalg.cholesky(p).T)
    close(linalg.eigvalsh(pp.asarray(lower)), np.linalg.eigvalsh(p))
    close(linalg.eigh(pp.asarray(upper), "u")[0], np.linalg.eigvalsh(p))


def test_broadcast_of_systems():
    a = np.stack([A, A + 1, A * 2])
    for b in (A[0], A[:, :2], np.stack([A[:, :1]] * 3), np.ones((2, 1, 40, 2))):
        close(linalg.solve(pp.asarray(a), pp.asarray(b)), np.linalg.solve(a, b))
    close(linalg.solve(pp.asarray(A), pp.asarray(a)), np.linalg.solve(A, a))


@pytest.mark.parametrize("hermitian", [True, False])
def test_hermitian_ones(hermitian):
    h = np.stack([A + A.T, np.diag([1.0] * 20 + [-3.0] * 19 + [0.0])])
    x = pp.asarray(h)
    u, s, vh = linalg.svd(x, hermitian=hermitian)
    close((u * s[..., None, :]) @ vh, h)
    close(s, np.linalg.svd(h, compute_uv=False))
    close(linalg.svd(x, compute_uv=False, hermitian=hermitian), np.linalg.svd(h, compute_uv=False))
    close(linalg.matrix_rank(x, hermitian=hermitian), [40, 39])
    close(linalg.pinv(x, hermitian=hermitian), np.linalg.pinv(h))


def test_tolerances():
    d = np.stack([np.diag([1.0, 1e-3, 1e-6]), np.eye(3)])
    x = pp.asarray(d)
    for keywords in ({"tol": 1e-4}, {"rtol": 1e-5}, {"tol": np.array([1e-2, 2.0])}):
        close(linalg.matrix_rank(x, **keywords), np.linalg.matrix_rank(d, **keywords))
    for keywords in ({"rcond": 1e-4}, {"rtol": 1e-2}, {"rtol": None}, {"rcond": np.array([1e-4, 1e-2])}):
        close(linalg.pinv(x, **keywords), np.linalg.pinv(d, **keywords))
    mine, expected = linalg.lstsq(x[0], x[0], rcond=1e-4), np.linalg.lstsq(d[0], d[0], rcond=1e-4)
    assert int(mine[2]) == expected[2] == 2
    close(mine[0], expected[0])
    assert int(linalg.matrix_rank(pp.zeros(3))) == 0
    assert int(linalg.matrix_rank(pp.asarray(2.0))) == 1


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 3, 5, 8])
def test_powers(n):
    a = np.stack([A[:3, :3], np.eye(3)])
    close(linalg.matrix_power(pp.asarray(a), n), np.linalg.matrix_power(a, n))
    if n >= 0:
        whole = np.array([[1, 2], [3, 4]])
        power = linalg.matrix_power(pp.asarray(whole), n)
        assert power.dtype == whole.dtype
        np.testing.assert_array_equal(pp.asnumpy(power), np.linalg.matrix_power(whole, n))


def test_a_power_is_no_view():
    x = pp.asarray(A.copy())
    y = linalg.matrix_power(x, 1)
    y[...] = 0
    close(x, A)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_matrices_times_their_own_transposed(dtype, rng):
    """Half of it is computed: exactly symmetric, in stacks too, where BLAS takes the layout."""
    a = (rng.standard_normal((2, 205, 40)) + (1j * rng.standard_normal((2, 205, 40)) if "complex" in dtype else 0)).astype(dtype)
    wide = np.concatenate([a, a], axis=-1)
    tolerance = 1e-4 if np.finfo(dtype).bits == 32 else 1e-12
    for x, host in (
        (pp.asarray(a), a),
        (pp.asarray(a[0]), a[0]),
        (pp.asarray(a[0].T.copy()).T, a[0]),
        (pp.asarray(wide)[:, :, ::2], wide[:, :, ::2]),
        (pp.asarray(a[1])[:, ::-1], a[1][:, ::-1]),
    ):
        product = pp.asnumpy(x @ x.mT)
        if x.strides[-1] == x.itemsize or x.strides[-2] == x.itemsize:
            np.testing.assert_array_equal(product, product.mT)
        np.testing.assert_allclose(product, host @ host.mT, rtol=tolerance, atol=tolerance)
    x = pp.asarray(a[0])
    np.testing.assert_allclose(pp.asnumpy(x @ pp.asarray(a[1]).T), a[0] @ a[1].T, rtol=tolerance, atol=tolerance)  # of another one


def test_vectors_times_large_matrices(rng):
    """Where rows are summed in parts: wide, narrow, one row, vectors of one element that is repeated."""
    for m, n in ((1000, 300), (70, 5000), (1, 140_000), (300, 4097)):
        a, v = rng.standard_normal((m, n)), rng.standard_normal(m)
        x = pp.asarray(a)
        for mine, host in (
            (pp.asarray(v), v),
            (pp.broadcast_to(pp.asarray(v[:1]), (m,)), np.full(m, v[0])),
            (pp.asarray(v)[::-1], v[::-1]),
        ):
            np.testing.assert_allclose(pp.asnumpy(mine @ x), host @ a, rtol=1e-11, atol=1e-10)
            np.testing.assert_allclose(pp.asnumpy(x.T @ mine), host @ a, rtol=1e-11, atol=1e-10)
            np.testing.assert_allclose(pp.asnumpy(mine[None, None] @ pp.stack([x, x]))[1, 0], host @ a, rtol=1e-11, atol=1e-10)


def test_chains_of_products():
    rng = np.random.default_rng(5)
    sizes = [7, 3, 20, 4, 9]
    chain = [rng.standard_normal(s) for s in itertools.pairwise(sizes)]
    close(linalg.multi_dot([*map(pp.asarray, chain)]), np.linalg.multi_dot(chain))
    for first, last in ((True, False), (False, True), (True, True)):
        some = [chain[0][0] if first else chain[0], *chain[1:-1], chain[-1][:, 0] if last else chain[-1]]
        close(linalg.multi_dot([*map(pp.asarray, some)]), np.linalg.multi_dot(some))
    out = pp.zeros((7, 20))
    assert linalg.multi_dot([pp.asarray(chain[0]), pp.asarray(chain[1])], out=out) is out
    close(out, chain[0] @ chain[1])


def test_tensors():
    rng = np.random.default_rng(6)
    a = rng.standard_normal((2, 3, 6)) + np.eye(6).reshape(2, 3, 6) * 5
    b = rng.standard_normal((2, 3))
    close(linalg.tensorsolve(pp.asarray(a), pp.asarray(b)), np.linalg.tensorsolve(a, b))
    moved = np.moveaxis(a, -1, 0)
    close(linalg.tensorsolve(pp.asarray(moved), pp.asarray(b), axes=(0,)), np.linalg.tensorsolve(moved, b, axes=(0,)))
    close(linalg.tensorinv(pp.asarray(a)), np.linalg.tensorinv(a))
    close(linalg.tensorinv(pp.asarray(moved), 1), np.linalg.tensorinv(moved, 1))
    stack = rng.standard_normal((4, 3, 5))
    x = pp.asarray(stack)
    close(linalg.trace(x, offset=1), np.linalg.trace(stack, offset=1))
    close(linalg.diagonal(x, offset=-1), np.linalg.diagonal(stack, offset=-1))
    close(linalg.matrix_transpose(x), np.linalg.matrix_transpose(stack))
    close(linalg.cross(x, x[::-1], axis=1), np.linalg.cross(stack, stack[::-1], axis=1))
    close(linalg.vecdot(x, x, axis=1), np.linalg.vecdot(stack, stack, axis=1))
    close(linalg.tensordot(x, x, axes=([0, 1], [0, 1])), np.linalg.tensordot(stack, stack, axes=([0, 1], [0, 1])))
    close(linalg.matmul(x, x.mT), stack @ stack.swapaxes(1, 2))
    close(linalg.outer(x[0, 0], x[0, 1]), np.outer(stack[0, 0], stack[0, 1]))


# --- when it is computed ------------------------------------------------------------------------------------------------------------------


def test_recorded_and_not_computed():
    x = pp.asarray(A) * 1.0
    before = pp.counters()
    results = [linalg.solve(x, x), *linalg.svd(x), *linalg.eigh(x), *linalg.qr(x), linalg.inv(x), linalg.cholesky(x)]
    between = pp.counters()
    assert between["launched"] == before["launched"]
    del results
    x.wait()
    assert pp.counters()["launched"] <= before["launched"] + 1


def test_one_of_several_results():
    x = pp.asarray(A) * 1.0
    u, s, vh = linalg.svd(x)
    del u, vh
    close(s, np.linalg.svd(A, compute_uv=False))
    w, v = linalg.eigh(x + x.T)
    total = v * 2
    del w, v
    close(pp.abs(total), 2 * np.abs(np.linalg.eigh(A + A.T)[1]))


def test_what_explain_says():
    x = pp.asarray(A)
    known = ("LAPACK",) if x.device.backend == "cpu" else ("blocks", "cuSOLVER")
    text = str(pp.explain(linalg.solve(x + 1, x)))
    assert any(f"solve by {name}" in text for name in known)


@pytest.mark.skipif(os.environ.get("PARDO_FUSION") == "off", reason="without fusion each operation is a kernel")
def test_norms_are_fused():
    x = pp.asarray(A)
    linalg.norm(x * 2, axis=1).wait()
    before = pp.counters()["launched"]
    linalg.norm(x * 3, axis=1).wait()
    assert pp.counters()["launched"] == before + 1


def test_devices_without_code_go_through_the_host():
    x = pp.asarray(A.astype("float32"), device="null:1")
    before = pp.counters()["fallbacks"]
    close(linalg.inv(x), np.linalg.inv(A), 1e-3)
    assert pp.counters()["fallbacks"] > before
    with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match=r"^inv: would copy 6400 bytes"):
        linalg.inv(x)
    with pytest.raises(np.linalg.LinAlgError, match=r"^solve: Singular matrix"):
        linalg.solve(pp.ones((40, 40), device="null:1", dtype="float32"), x).wait()
    with pp.transfer_guard("disallow"):
        linalg.inv(pp.asarray(A, device="cpu")).wait()


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 40),
    st.integers(1, 5),
    st.integers(1, 70),
    st.sampled_from(["float32", "float64", "complex64", "complex128"]),
    st.integers(0, 99),
)
def test_systems_of_all_sizes(n, k, count, dtype, seed):
    rng = np.random.default_rng(seed)
    a = (
        (rng.standard_normal((count, n, n)) + 1j * rng.standard_normal((count, n, n))).astype(dtype)
        if dtype[0] == "c"
        else rng.standard_normal((count, n, n)).astype(dtype)
    )
    a += np.eye(n, dtype=dtype) * 3 * n
    a = np.take_along_axis(a, rng.random((count, n, 1)).argsort(axis=1), axis=1)  # rows that are to be exchanged
    b = rng.standard_normal((count, n, k)).astype(dtype)
    tolerance = 1e-3 if np.finfo(dtype).eps > 1e-10 else 1e-9
    x, y = pp.asarray(a), pp.asarray(b)
    close(linalg.solve(x, y), np.linalg.solve(a, b), tolerance)
    close(linalg.inv(x), np.linalg.inv(a), tolerance)
    for mine, expected in zip(linalg.slogdet(x), np.linalg.slogdet(a), strict=True):
        close(mine, expected, tolerance)
    scale = np.asarray(2 * n, dtype)
    close(linalg.det(x / scale), np.linalg.det(a / scale), tolerance * 10)
    p = a @ a.conj().swapaxes(-1, -2)
    close(linalg.cholesky(pp.asarray(p)), np.linalg.cholesky(p), tolerance)
    close(linalg.cholesky(pp.asarray(p), upper=True), np.linalg.cholesky(p).conj().swapaxes(-1, -2), tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_small_matrices_that_fail(dtype):
    """They are computed in groups: the place is that of the first one that fails."""
    a = np.stack([np.eye(5, dtype=dtype)] * 70)
    a[37, 4, 4] = a[61, 0, 0] = 0
    x = pp.asarray(a)
    for call in (linalg.inv, lambda y: linalg.solve(y, y)):
        with pytest.raises(np.linalg.LinAlgError, match=r"Singular matrix \(matrix 37 of the stack\)"):
            call(x).wait()
    with pytest.raises(np.linalg.LinAlgError, match=r"Matrix is not positive definite \(matrix 37 of the stack\)"):
        linalg.cholesky(x).wait()
    assert np.flatnonzero(pp.asnumpy(linalg.det(x)) == 0).tolist() == [37, 61]
    assert np.flatnonzero(pp.asnumpy(linalg.slogdet(x)[1]) == -np.inf).tolist() == [37, 61]
    assert np.flatnonzero(pp.asnumpy(linalg.cond(x, 1)) == np.inf).tolist() == [37, 61]


def test_lstsq_without_columns_squares_in_floats():
    for b in (np.full(3, 100, "int8"), np.array([3 + 4j, 0, 1])):
        got, expected = pp.linalg.lstsq(pp.zeros((3, 0)), pp.asarray(b))[1], np.linalg.lstsq(np.zeros((3, 0)), b)[1]
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(pp.asnumpy(got), expected)
