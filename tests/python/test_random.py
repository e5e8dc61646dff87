# tests/python/test_random.py: counter-based random numbers: known answers, the same bits in kernels, moments.
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

ONES = 0xFFFFFFFF
# Known answers of Random123 1.14, kat_vectors: philox4x32 10.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 4, (ONES,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0), (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]


@pp.kernel
def words(item: pp.Item, counter, key, out):
    w = pp.random.philox(counter, key)
    for k, word in enumerate(w):
        out[k] = word


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(counter, key, answer):
    assert pp.random.philox(counter, key) == answer
    out = pp.zeros(4, dtype="uint32")
    words[pp.Range(1)](counter, key, out).wait()
    assert tuple(pp.asnumpy(out)) == answer


def test_words_left_out_are_zero():
    assert pp.random.philox((5,), (7,)) == pp.random.philox((5, 0, 0, 0), (7, 0))


@pp.kernel
def fill(item: pp.Item, seed, flat, bell, dtype: pp.Const):
    i = item.get_id(0)
    u = pp.random.philox_uniform((i,), (seed,), np.float32 if dtype == 4 else np.float64)
    g = pp.random.philox_normal((i,), (seed,), np.float32 if dtype == 4 else np.float64)
    for k in range(flat.shape[1]):
        flat[i, k] = u[0] if k == 0 else u[1]
        bell[i, k] = g[0] if k == 0 else g[1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributions(dtype):
    n = 20_000
    if dtype == "float64" and not pp.Device().has_aspect("fp64"):
        pytest.skip("this device has no float64")
    flat, bell = pp.zeros((n, 2), dtype=dtype), pp.zeros((n, 2), dtype=dtype)
    fill[pp.Range(n)](11, flat, bell, np.dtype(dtype).itemsize).wait()
    flat, bell = pp.asnumpy(flat), pp.asnumpy(bell)
    assert_array_equal(flat[7], pp.random.philox_uniform((7,), (11,), np.dtype(dtype).type)[:2])
    assert_allclose(bell[7], pp.random.philox_normal((7,), (11,), np.dtype(dtype).type)[:2], rtol=1e-4 if dtype == "float32" else 1e-12)
    assert 0 <= flat.min() < 0.001 < 0.999 < flat.max() < 1
    assert_allclose([flat.mean(), flat.var()], [1 / 2, 1 / 12], atol=0.005)
    assert_allclose([bell.mean(), bell.var(), (bell**3).mean()], [0, 1, 0], atol=0.05)
    assert abs(np.corrcoef(flat[:, 0], flat[:, 1])[0, 1]) < 0.02
