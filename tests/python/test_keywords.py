# tests/python/test_keywords.py: arguments by name in kernels, and loops over enumerate and zip in each other.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_atomics(device):
    @pp.kernel
    def count(item: pp.Item, b):
        i = item.get_id(dimension=0)
        pp.atomic.add(b, index=0, value=1)
        pp.atomic.max(array=b, value=i, index=1, order="relaxed")
        pp.atomic.compare_exchange(b, 2, expected=0, desired=7, scope="device")
        ref = pp.AtomicRef(b, index=3)
        ref.fetch_add(value=2)
        pp.AtomicRef(index=(4,), array=b, order="relaxed").store(value=5)
        pp.AtomicRef(b, 5).compare_exchange(desired=9, expected=0)

    b = pp.zeros(6, dtype="int32", device=device)
    count[10](b).wait()
    assert_array_equal(pp.asnumpy(b), [10, 9, 7, 20, 5, 9])


def test_arrays_and_rounding():
    @pp.kernel
    def f(item: pp.Item, x):
        a = np.full(fill_value=2.5, shape=3)
        b = np.zeros(shape=2, dtype=np.float64)
        c = pp.private_array(dtype=np.int32, shape=(2, 2))
        c[1, 1] = 4
        x[0] = a[2] + b[1] + c[1, 1]
        x[1] = round(x[2], ndigits=1)
        x[2] = x[2].astype(dtype="int64")

    x = pp.asarray([0.0, 0.0, 1.25, 3.0])
    f[1](x).wait()
    assert_array_equal(pp.asnumpy(x), [6.5, 1.2, 1.0, 3.0])


def nested(x, y, out):
    for k, (a, b) in enumerate(zip(x, y, strict=False)):
        out[k] = a + 10 * b
    for a, (k, b) in zip(x, enumerate(y, 5), strict=False):
        out[0] += a * k + b
    for j, (k, (a, b)) in enumerate(enumerate(zip(x, y, strict=False), start=2)):
        out[1] += (k - j) * a * b
    for (a, b), c in zip(zip(x, y, strict=False), out, strict=False):
        out[2] += a + b + c
    for k, (n, v) in enumerate(((1, 2.5), (2, 3.5))):
        out[k] += n * v


def test_enumerate_and_zip_in_each_other():
    x, y = np.arange(5.0), np.arange(1.0, 8.0)
    expected = np.zeros(5)
    nested(x, y, expected)
    out = np.zeros(5)
    loop = pp.jit(nested)
    loop(x, y, out)
    assert_array_equal(out, expected)
    assert loop.diagnostics().count("a serial loop, compiled\n") == 5

    @pp.kernel
    def kernel(item: pp.Item, x, y, out):
        nested(x, y, out)

    device = pp.zeros(5)
    kernel[1](pp.asarray(x), pp.asarray(y), device).wait()
    assert_array_equal(pp.asnumpy(device), expected)


def test_names_of_rounds():
    @pp.jit
    def read_in_the_loop(x):
        m = 0
        for i in pp.prange(len(x)):
            m += x[i]
            if m == 2:
                x[i] = 1

    with pytest.raises(
        TypeError, match="`m` collects something from all rounds of the parallel loop, and this uses it before they have ended"
    ):
        read_in_the_loop(np.ones(3))

    @pp.jit
    def not_assigned_above(x):
        m = 0
        for i in pp.prange(len(x)):
            if x[i] > m:
                m = x[i]

    with pytest.raises(NameError, match="`m` has no value here: the parallel loop assigns it, so each round has its own"):
        not_assigned_above(np.ones(3))
