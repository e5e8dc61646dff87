# tests/python/test_opencl_routines.py: sorting and products on OpenCL devices that are the host's processor: the host computes, in place.
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
by = set()


def same(made, wanted, exact=True):
    by.update(w for w in ("threads", "OpenBLAS") if w in str(pp.explain(made)))
    got = pp.asnumpy(made)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_array_equal(got, wanted) if exact else np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


for dtype in ("float32", "int16", "complex64", "bool"):
    for shape in ((7,), (100_003,), (40, 65), (3, 50, 4), (0, 3)):
        x = np.rint(9 * rng.standard_normal(shape)).astype(dtype)
        a = pp.asarray(x, device=device)
        for axis in range(x.ndim):
            same(pp.sort(a[::-1], axis=axis), np.sort(x[::-1], axis=axis))
            same(pp.argsort(a, axis=axis, stable=True), np.argsort(x, axis=axis, stable=True))
            if x.shape[axis] > 2:
                same(pp.partition(a, 2, axis=axis).take([2], axis=axis), np.partition(x, 2, axis=axis).take([2], axis=axis))
x = rng.standard_normal(100_003).astype("float32")
same(pp.top_k(pp.asarray(x, device=device), 5)[0], np.sort(x)[::-1][:5])
for dtype in ("float32", "complex64"):
    x, y = rng.standard_normal((3, 40, 30)).astype(dtype), rng.standard_normal((30, 50)).astype(dtype)
    a, b = (pp.asarray(v, device=device) for v in (x, y))
    same(a @ b, x @ y, exact=False)
    same(a[:, ::2] @ b, x[:, ::2] @ y, exact=False)
    same(b.T @ a[0].T, y.T @ x[0].T, exact=False)
    same((a + 1) @ b[:, 0], (x + 1) @ y[:, 0], exact=False)
later = pp.sort(pp.asarray(x, device=device)[0] * 2 @ b)  # what is before and after runs on the device
same(later + 1, np.sort(x[0] * 2 @ y) + 1, exact=False)
print(*sorted(by))
"""


def run(device: str, routines: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PARDO_OPENCL_ROUTINES": routines}
    return subprocess.run([sys.executable, "-c", PROGRAM, device], capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("device", DEVICES)
def test_the_host_computes_in_the_memory_of_the_device(device: str):
    done = run(device, "host")
    assert done.returncode == 0, done.stderr
    assert {"threads", "OpenBLAS"} <= set(done.stdout.split())


def test_only_two_values():
    assert "PARDO_OPENCL_ROUTINES=here: it is host or kernels" in run(DEVICES[0], "here").stderr
