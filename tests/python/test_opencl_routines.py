# tests/python/test_opencl_routines.py: routines on OpenCL devices that are the host's processor: the host computes, in place.
from __future__ import annotations

import os
import subprocess
import sys

import pardo as pp
import pytest

DEVICES = [d.id for d in pp.get_devices(backend="opencl", device_type="cpu")]
pytestmark = pytest.mark.skipif(not DEVICES, reason="no OpenCL implementation for processors is installed")

PROGRAM = """
import sys
import numpy as np
import pardo as pp

device = pp.Device(sys.argv[1])
rng = np.random.default_rng(1)
NAMES = ("threads", "OpenBLAS", "loops", "LAPACK", "lanes")
by = set()
before = pp.counters()["fallbacks"]


def there(x):
    return pp.asarray(x, device=device)


def same(made, wanted, exact=True):
    by.update(w for w in NAMES if w in str(pp.explain(made)))
    assert made.device == device
    got = pp.asnumpy(made)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (got.dtype, wanted.dtype, got.shape, wanted.shape)
    np.testing.assert_array_equal(got, wanted) if exact else np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


def late(error, text, f):
    try:
        result = f()  # LINE
        (result[0] if isinstance(result, tuple) else result).wait()
    except error as e:
        assert text in str(e) and "<string>:" in str(e), str(e)
    else:
        raise AssertionError(text)


for dtype in ("float32", "complex64"):
    for shape in ((100_003,), (3, 50, 4), (0, 3)):
        x = np.rint(9 * rng.standard_normal(shape)).astype(dtype)
        a = there(x)
        for axis in range(x.ndim):
            same(pp.sort(a, axis=axis), np.sort(x, axis=axis))
            same(pp.argsort(a, axis=axis, stable=True), np.argsort(x, axis=axis, stable=True))
            same(pp.cumsum(a, axis=axis), np.cumsum(x, axis=axis), exact=False)
            if x.shape[axis] > 2:
                same(pp.partition(a, 2, axis=axis).take([2], axis=axis), np.partition(x, 2, axis=axis).take([2], axis=axis))
        same(a[::-1][there(x > 0)], x[::-1][x > 0])
        same(pp.nonzero(a)[0], np.nonzero(x)[0])
        for k, wanted in enumerate(np.unique(x, return_index=True, return_inverse=True, return_counts=True)):
            same(pp.unique(a, return_index=True, return_inverse=True, return_counts=True)[k], wanted.reshape(np.shape(wanted)))
        if x.size:
            places = rng.integers(-x.shape[0], x.shape[0], (5, 2))
            same(a[there(places)], x[places])
            y = np.sort(x.ravel())
            same(pp.searchsorted(there(y), a.ravel()), np.searchsorted(y, x.ravel()))
            a[there(places)], x[places] = 1, 1
            a[there(x == 1)], x[x == 1] = 0, 0
            same(a, x)
            late(IndexError, "out of bounds", lambda: a[there(np.array([x.shape[0]]))])
x = rng.standard_normal(100_003).astype("float32")
same(pp.top_k(there(x), 5)[0], np.sort(x)[::-1][:5])
same(pp.median(there(x)), np.median(x))
places = rng.integers(0, 50, 100_003)
same(pp.bincount(there(places)), np.bincount(places))
got, wanted = pp.zeros(50, dtype="int64", device=device), np.zeros(50, dtype="int64")
pp.add.at(got, there(places), 3), np.add.at(wanted, places, 3)
same(got, wanted)
for dtype in ("complex64", "int32"):
    x, y = (9 * rng.standard_normal(shape) for shape in ((3, 40, 30), (30, 50)))
    x, y = np.rint(x).astype(dtype), np.rint(y).astype(dtype)
    a, b = there(x), there(y)
    same(a @ b, x @ y, exact=False)
    same(a[:, ::-2] @ b, x[:, ::-2] @ y, exact=False)
    same(a[..., ::-1] @ b, x[..., ::-1] @ y, exact=False)
    same(b.T @ a[0].T, y.T @ x[0].T, exact=False)
    same((a + 1) @ b[:, 0], (x + 1) @ y[:, 0], exact=False)
later = pp.sort(a[0].astype("float32") * 2 @ b)  # what is before and after runs on the device
same(later + 1, np.sort(x[0].astype("float32") * 2 @ y) + 1, exact=False)

la, nla, sla = pp.linalg, np.linalg, pp.scipy.linalg
host = pp.asnumpy
for dtype in ("float32", "complex128"):
    for shape in ((40, 40), (20, 8, 8), (2, 0, 5, 5), (0, 0)):
        n = shape[-1]
        x = (rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype[0] == "c" else 0)).astype(dtype)
        x += 2 * n**0.5 * np.eye(n, dtype=dtype)
        y = np.ones((*shape[:-1], 2), dtype=dtype)
        square = x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(n, dtype=dtype)
        a, b, h = there(np.swapaxes(x, -1, -2).copy()).mT, there(y), there(square)
        same(la.solve(a, b), nla.solve(x, y), exact=False)
        same(la.inv(a), nla.inv(x), exact=False)
        same(la.det(a), nla.det(x), exact=False)
        same(la.cholesky(h), nla.cholesky(square), exact=False)
        q, r = la.qr(a)
        same(r, host(q).conj().swapaxes(-1, -2) @ x, exact=False)
        u, s, vh = la.svd(a)
        same(u, x @ host(vh).conj().swapaxes(-1, -2) / host(s)[..., None, :], exact=False)
        w, v = la.eigh(h)
        same(v, square @ host(v) / host(w)[..., None, :], exact=False)
        w, v = la.eig(a)
        same(v, x @ host(v) / host(w)[..., None, :], exact=False)
        if n and x.ndim == 2:
            same(sla.solve_triangular(a, b, lower=True), nla.solve(np.tril(x), y), exact=False)
            same(la.lstsq(a, b, rcond=None)[0], nla.lstsq(x, y, rcond=None)[0], exact=False)
            same(sla.lu_solve(sla.lu_factor(a), b), nla.solve(x, y), exact=False)
            column = there(np.r_[9.0, np.ones(n - 1)].astype(dtype))
            same(sla.solve_toeplitz(column, b), nla.solve(host(sla.toeplitz(column)), y), exact=False)
            same(sla.solve_banded((0, 0), column[None], b), y / host(column)[:, None], exact=False)
stack = pp.stack([pp.eye(9, device=device), pp.zeros((9, 9), device=device)])
for f, text in ((la.inv, "inv: Singular matrix"), (la.cholesky, "cholesky: Matrix is not positive definite")):
    late(la.LinAlgError, text + " (matrix 1 of the stack)", lambda: f(stack))
late(la.LinAlgError, "svd: SVD did not converge", lambda: la.svd(pp.full((50, 50), pp.nan, device=device)))
late(la.LinAlgError, "eig: Array must not contain infs or NaNs", lambda: la.eig(pp.full((3, 3), pp.inf, device=device)))
assert pp.counters()["fallbacks"] == before
print(*sorted(by))
"""


def run(device: str, routines: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PARDO_OPENCL_ROUTINES": routines}
    return subprocess.run([sys.executable, "-c", PROGRAM, device], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("device", DEVICES)
def test_the_host_computes_in_the_memory_of_the_device(device: str):
    done = run(device, "host")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["LAPACK", "OpenBLAS", "lanes", "loops", "threads"]


def test_only_two_values():
    assert "PARDO_OPENCL_ROUTINES=here: it is host or kernels" in run(DEVICES[0], "here").stderr
