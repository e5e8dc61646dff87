# tests/python/test_small_products.py: stacks of small matrices by each width of vectors, against NumPy.
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.once

PROGRAM = """
import itertools, numpy as np, pardo as pp
from numpy.testing import assert_array_equal

rng = np.random.default_rng(0)

def whole(*shape, dtype):
    return rng.integers(-8, 9, shape).astype(dtype)  # sums of their products are exact

for dtype, n in itertools.product(("float32", "float64"), range(1, 18)):
    for m, k in itertools.product((1, 2, 5, 8, 15), (1, 3, 8)):
        a, b = whole(3, m, k, dtype=dtype), whole(3, k, n, dtype=dtype)
        x, y = pp.asarray(a), pp.asarray(b)
        wanted = a @ b
        assert_array_equal(pp.asnumpy(x @ y), wanted, err_msg=f"{dtype} {m} {k} {n}")
    column_major = pp.asarray(np.ascontiguousarray(a.mT)).mT  # rows of a that lie apart
    wide = pp.zeros((3, k + 1, n + 2), dtype=dtype)
    wide[...] = np.nan  # what lies between the rows of b is not computed with
    wide[:, :k, 1:-1] = y
    assert_array_equal(pp.asnumpy(column_major @ wide[:, :k, 1:-1]), wanted)
    assert_array_equal(pp.asnumpy(x[:, :, ::-1] @ y[:, ::-1]), wanted)
    assert_array_equal(pp.asnumpy(x[:1] @ y), a[:1] @ b)
    out = pp.full((4, m, n), 7, dtype=dtype)
    pp.matmul(x, y, out=out[:3])
    assert_array_equal(pp.asnumpy(out[:3]), wanted)
    assert (pp.asnumpy(out[3]) == 7).all()
    nothing = np.full((2, 3, n), np.inf, dtype=dtype)
    assert_array_equal(pp.asnumpy(pp.asarray(nothing[:, :, :0]) @ pp.asarray(nothing[:, :0])), 0)
    assert np.isinf(pp.asnumpy(pp.asarray(nothing) @ pp.ones((2, n, 3), dtype=dtype))).all()
print("ended")
"""


@pytest.mark.parametrize("vector_bytes", ["16", "32", "64"])
def test_stacks_of_small_matrices(vector_bytes):
    environment = os.environ | {"PARDO_CPU_VECTOR_BYTES": vector_bytes, "PARDO_DEVICE": "cpu", "PARDO_CACHE": "off"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "ended\n", done.stderr
