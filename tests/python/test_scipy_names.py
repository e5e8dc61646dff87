# tests/python/test_scipy_names.py: what NumPy has too gives under SciPy's name what SciPy gives: other defaults, shapes and results.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest

scipy_linalg = pytest.importorskip("scipy.linalg")
scipy_fft = pytest.importorskip("scipy.fft")
pytestmark = pytest.mark.once

linalg, fft = pp.scipy.linalg, pp.scipy.fft
DTYPES = ["float32", "float64", "complex64", "complex128"]
RNG = np.random.default_rng(3)


def matrix(*shape: int, dtype: str = "float64") -> np.ndarray:
    a = RNG.standard_normal(shape)
    return (a + 1j * RNG.standard_normal(shape) if dtype.startswith("complex") else a).astype(dtype)


def close(mine: pp.Array, expected: object, rtol: float = 0) -> None:
    expected = np.asarray(expected)
    assert mine.shape == expected.shape
    assert mine.dtype == expected.dtype
    rtol = rtol or (2e-3 if expected.dtype.itemsize // (1 + np.iscomplexobj(expected)) == 4 else 1e-9)
    np.testing.assert_allclose(pp.asnumpy(mine), expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [False, True])
def test_cholesky_reads_the_upper_triangle(dtype: str, lower: bool):
    a = matrix(5, 5, dtype=dtype)
    a = a @ a.conj().T + 5 * np.eye(5, dtype=dtype)
    half = np.tril(a) if lower else np.triu(a)
    close(linalg.cholesky(pp.asarray(half), lower=lower), scipy_linalg.cholesky(half, lower=lower))
    close(linalg.cholesky(pp.asarray(a)), scipy_linalg.cholesky(a))


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5), (2, 4, 3), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr(dtype: str, shape: tuple[int, ...]):
    a = matrix(*shape, dtype=dtype)
    x = pp.asarray(a)
    m, n = shape[-2:]
    q, r = linalg.qr(x)
    assert (q.shape, r.shape) == ((*shape[:-2], m, m), (*shape[:-2], m, n))
    close(q @ r, a)
    q, r = linalg.qr(x, mode="economic")
    assert (q.shape, r.shape) == ((*shape[:-2], m, min(m, n)), (*shape[:-2], min(m, n), n))
    close(q @ r, a)
    (alone,) = linalg.qr(x, mode="r")
    close(abs(alone), abs(pp.asnumpy(linalg.qr(x)[1])))
    (both, factors), r = linalg.qr(x, mode="raw")
    assert (both.shape, factors.shape) == (shape, (*shape[:-2], min(m, n)))
    close(r, np.triu(pp.asnumpy(both))[..., : min(m, n), :])
    if len(shape) == 2 and dtype.startswith("float"):
        (their_both, their_factors), their_r = scipy_linalg.qr(a, mode="raw")
        for mine, theirs in zip((both, factors, r), (their_both, their_factors, their_r), strict=True):
            close(mine, np.asarray(theirs, dtype))


ASSUMED = [None, "general", "sym", "her", "pos", "diagonal", "upper triangular", "lower triangular", "tridiagonal"]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("assume", ASSUMED)
def test_solve_and_inv_read_what_is_assumed(dtype: str, lower: bool, assume: str | None):
    a = matrix(6, 6, dtype=dtype)
    if assume in ("sym", "her", "pos"):  # the other triangle is not read
        whole = a + a.T if assume == "sym" else a @ a.conj().T + 3 * np.eye(6)
        a = np.tril(whole) + np.triu(a, 1) if lower else np.triu(whole) + np.tril(a, -1)
    elif assume == "tridiagonal":
        whole = a = np.triu(np.tril(a, 1), -1) + 3 * np.eye(6)
    else:
        whole = {"diagonal": np.diag(np.diag(a)), "upper triangular": np.triu(a), "lower triangular": np.tril(a)}.get(assume or "", a)
    b = matrix(6, 2, dtype=dtype)
    x = pp.asarray(a)
    close(linalg.solve(x, pp.asarray(b), lower=lower, assume_a=assume), np.linalg.solve(whole, b))
    close(linalg.solve(x, pp.asarray(b[:, 0]), lower=lower, assume_a=assume), np.linalg.solve(whole, b[:, 0]))
    close(linalg.inv(x, lower=lower, assume_a=assume), np.linalg.inv(whole))


@pytest.mark.parametrize("assume", [None, "sym", "pos", "upper triangular", "lower triangular"])
@pytest.mark.parametrize("lower", [False, True])
def test_solve_transposed(assume: str | None, lower: bool):
    a = matrix(5, 5)
    a = a @ a.T + np.eye(5) if assume in ("sym", "pos") else a
    b = matrix(5, 3)
    whole = {"upper triangular": np.triu(a), "lower triangular": np.tril(a)}.get(assume or "", a)
    close(linalg.solve(pp.asarray(a), pp.asarray(b), lower=lower, assume_a=assume, transposed=True), np.linalg.solve(whole.T, b))


def test_eigenvalues():
    a = matrix(5, 5)
    w, v = linalg.eig(pp.asarray(a))
    close(pp.asarray(a) @ v, pp.asnumpy(v * w))
    assert isinstance(linalg.eig(pp.asarray(a), right=False), pp.Array)
    close(linalg.eigvals(pp.asarray(a), homogeneous_eigvals=True)[1], np.ones(5, complex))
    h, b = a + a.T, a @ a.T + np.eye(5)
    close(linalg.eigvalsh(pp.asarray(h), pp.asarray(b)), scipy_linalg.eigvalsh(h, b))
    close(linalg.eigvalsh(pp.asarray(h), subset_by_index=(1, 3)), scipy_linalg.eigvalsh(h, subset_by_index=(1, 3)))


@pytest.mark.parametrize("shape", [(6, 3), (3, 6), (4, 4)], ids=str)
@pytest.mark.parametrize("columns", [None, 2])
@pytest.mark.parametrize("driver", [None, "gelsy", "gelss"])
def test_lstsq(shape: tuple[int, int], columns: int | None, driver: str | None):
    a, b = matrix(*shape), matrix(shape[0]) if columns is None else matrix(shape[0], columns)
    mine = linalg.lstsq(pp.asarray(a), pp.asarray(b), lapack_driver=driver)
    theirs = scipy_linalg.lstsq(a, b, lapack_driver=driver)
    close(mine[0], theirs[0])
    close(mine[1], theirs[1])
    assert int(mine[2]) == theirs[2]
    if theirs[3] is None:
        assert mine[3] is None
    else:
        close(mine[3], theirs[3])


@pytest.mark.parametrize("keywords", [{}, {"rtol": 0.2}, {"atol": 1.0}, {"atol": 0.5, "rtol": 0.1}], ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_pinv(dtype: str, keywords: dict[str, float]):
    a = matrix(5, 3, dtype=dtype)
    mine, rank = linalg.pinv(pp.asarray(a), return_rank=True, **keywords)
    theirs, their_rank = scipy_linalg.pinv(a, return_rank=True, **keywords)
    close(mine, theirs)
    assert int(rank) == their_rank
    assert linalg.pinv(pp.asarray(a)).shape == (3, 5)


def test_others():
    a = matrix(4, 3)
    u, s, vh = linalg.svd(pp.asarray(a), lapack_driver="gesvd")
    close((u[:, :3] * s) @ vh, a)
    close(linalg.svdvals(pp.asarray(a)), scipy_linalg.svdvals(a))
    close(linalg.norm(pp.asarray(a), "nuc"), scipy_linalg.norm(a, "nuc"))
    close(linalg.det(pp.asarray(a[:3])), scipy_linalg.det(a[:3]))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["cholesky", "det", "eig", "eigvals", "eigvalsh", "inv", "norm", "pinv", "qr", "svd", "svdvals"])
def test_elements_that_are_not_finite(name: str, bad: float):
    x = pp.asarray(np.array([[2.0, 1.0], [1.0, bad]]))

    def used() -> None:
        result = getattr(linalg, name)(x)
        for part in result if isinstance(result, tuple) else (result,):
            part.wait()

    with pytest.raises(ValueError, match=name):
        used()
    for other in (linalg.solve, linalg.lstsq):
        with pytest.raises(ValueError, match="array must not contain infs or NaNs"):
            other(x, x)


def test_what_is_refused_says_what_to_do():
    x = pp.eye(3)
    for call, words in (
        (lambda: linalg.qr(x, pivoting=True), "qr: pivoting is not there: singular values tell the rank"),
        (lambda: linalg.eig(x, x), r"eig: b is taken by eigh and eigvalsh alone; .* solve\(b, a\)"),
        (lambda: linalg.eig(x, left=True), r"eig: left is not there: the right eigenvectors of a\.conj\(\)\.T"),
        (lambda: fft.fft(x, plan=1), "fft: plan must be None"),
    ):
        with pytest.raises(NotImplementedError, match=words):
            call()
    for call, words in (
        (lambda: linalg.qr(x, mode="reduced"), "qr: mode"),
        (lambda: linalg.solve(x, x, assume_a="round"), "solve: assume_a must be one of 'general'"),
        (lambda: linalg.pinv(x, atol=-1), "pinv: atol"),
        (lambda: fft.fft(x, workers=0), "fft: workers must not be zero"),
        (lambda: fft.dctn(x, workers=-(10**6)), "dctn: workers value out of range"),
        (lambda: fft.fftn(x, axes=(0, 0)), "fftn: all axes must be unique"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", "int32"])
@pytest.mark.parametrize("name", [*ONE, *(n + "2" for n in ONE), *(n + "n" for n in ONE), "dct", "idst", "dctn", "idstn"])
def test_transforms(name: str, dtype: str):
    real = name.strip("2n").endswith(("rfft", "ihfft", "dct", "dst")) and not name.startswith(("irfft", "hfft"))
    if real and dtype.startswith("complex"):
        pytest.skip("takes real numbers")
    x = (RNG.standard_normal((5, 6, 4)) * 4).astype(dtype) if not dtype.startswith("complex") else matrix(5, 6, 4, dtype=dtype)
    mine, theirs = getattr(fft, name), getattr(scipy_fft, name)
    several = name.endswith(("2", "n"))
    for keywords in (
        {},
        {"norm": "ortho"},
        {"s": (4, 6)} if several else {"n": 7, "axis": 0},
        {"axes": (0, 1)} if several else {"axis": 1},
    ):
        close(
            mine(pp.asarray(x), workers=1, overwrite_x=True, **keywords),
            theirs(x, **keywords),
            rtol=1e-4 if x.itemsize < 8 or dtype == "complex64" else 1e-9,
        )


def test_workers():
    with fft.set_workers(2):
        assert fft.get_workers() == 2
        with fft.set_workers(-1):
            assert fft.get_workers() >= 1
    assert fft.get_workers() == 1
    assert fft.fftfreq(8, 0.5, device="cpu").device == pp.Device("cpu")
    np.testing.assert_array_equal(pp.asnumpy(fft.rfftfreq(8, xp=np)), scipy_fft.rfftfreq(8))
