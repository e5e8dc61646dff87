# tests/python/test_integers.py: Python's integers among narrow ones keep their values, and what wraps is not taken for larger than it is.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

U = np.array([[200, 3, 254, 7], [240, 255, 0, 250], [100, 90, 80, 110]], "uint8")


def greatest_from(start):
    def f(u, y):
        for i in pp.prange(u.shape[0]):
            m = start
            for k in range(u.shape[1]):
                m = max(m, u[i, k])
            y[i] = m

    return f


def by_test(u, y):
    for i in pp.prange(u.shape[0]):
        m = -1
        for k in range(u.shape[1]):
            if u[i, k] > m:
                m = u[i, k]
        y[i] = m


def least_from_a_thousand(u, y):
    for i in pp.prange(u.shape[0]):
        m = 1000
        for k in range(u.shape[1]):
            m = min(m, u[i, k])
        y[i] = m


def chosen(u, y):
    for i in pp.prange(u.shape[0]):
        total = 0
        for k in range(u.shape[1]):
            v = -1 if k < 2 else u[i, k]
            total += int(v)
        y[i] = total


def of_counters(u, y):
    for i in pp.prange(u.shape[0]):
        total = 0
        for k in range(u.shape[1]):
            total += int(max(k - 10, u[i, k])) + 1000 * int(min(k + 300, u[i, k]))
        y[i] = total


def of_tuples(u, y):
    for i in pp.prange(u.shape[0]):
        best = (-1, -1)
        for k in range(u.shape[1]):
            best = max(best, (u[i, k], k))
        y[i] = 1000 * best[1] + int(best[0])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint32", "int64"])
@pytest.mark.parametrize(
    "program", [greatest_from(-1), greatest_from(0), greatest_from(300), by_test, least_from_a_thousand, chosen, of_counters, of_tuples]
)
def test_values_are_kept(program, dtype):
    u = U.astype(dtype)
    expected, y = np.zeros(len(u), "int64"), pp.zeros(len(u), dtype="int64")
    program(u.astype("int64"), expected)
    pp.jit(program)(pp.asarray(u), y)
    assert_array_equal(pp.asnumpy(y), expected)


def test_sums_of_narrow_integers_stay_narrow():
    @pp.jit
    def f(u, y):
        for i in pp.prange(u.shape[0]):
            s = 0
            for k in range(u.shape[1]):
                s += u[i, k]
            y[i] = s

    y = pp.zeros(len(U), dtype="int64")
    f(pp.asarray(U), y)
    assert_array_equal(pp.asnumpy(y), U.sum(axis=1, dtype="uint8"))


def test_no_common_dtype():
    @pp.jit
    def f(u, y, n):
        for i in pp.prange(u.shape[0]):
            m = n
            for k in range(u.shape[1]):
                m = max(m, u[i, k])
            y[i] = m

    with pytest.raises(TypeError, match="no common integer dtype; convert one of the two"):
        f(pp.asarray(U.astype("uint64")), pp.zeros(len(U)), 3)


def test_constants_beyond_int64():
    @pp.jit
    def f(u, y):
        for i in pp.prange(u.shape[0]):
            y[i] = min(2**63, u[i, 0])

    with pytest.raises(TypeError, match="no common integer dtype; convert one of the two"):
        f(pp.asarray(U), pp.zeros(len(U)))


@pytest.mark.parametrize("start", [-1, 300])
def test_reductions_start_with_what_fits(start):
    @pp.jit
    def f(u, m):
        for i in pp.prange(u.shape[0]):
            m = max(m, u[i])
        return m

    with pytest.raises(OverflowError, match=f"{start} does not fit uint8, which the loop makes of it; start with np.int64"):
        f(pp.asarray(U[1]), start)
    assert f(pp.asarray(U[1]), 7) == 255
    assert f(pp.asarray(U[1]), np.int64(start)) == max(255, start)
    if start < 0:
        with pytest.raises(OverflowError, match="-1 does not fit uint64"):
            f(pp.asarray(U[1].astype("uint64")), start)


@pytest.mark.parametrize("dtypes", [("uint8", "int8"), ("uint32", "int32"), ("uint64", "int64")])
def test_indices_that_a_conversion_makes_negative(dtypes, rng):
    wide, signed = (np.dtype(d).type for d in dtypes)
    top = int(np.iinfo(dtypes[0]).max)

    @pp.jit
    def f(x, y, ends):
        for i in pp.prange(y.shape[0]):
            for k in range(y.shape[1]):
                y[i, k] = x[i, ends[k].astype(signed)]

    x = rng.random((5, 40))
    ends = np.array([wide(top - k % 5) for k in range(40)])
    y = pp.zeros(x.shape)
    f(pp.asarray(x), y, pp.asarray(ends))
    assert_array_equal(pp.asnumpy(y), x[:, ends.astype(signed)])


def test_indices_that_wrap(rng):
    @pp.jit
    def f(x, y, u):
        for i in pp.prange(y.shape[0]):
            for k in range(y.shape[1]):
                v = u[k]
                if v > 100:
                    y[i, k] = x[i, v * np.int8(2)]

    x, u = rng.random((5, 40)), (120 + np.arange(40) % 7).astype("int8")
    y = pp.zeros(x.shape)
    f(pp.asarray(x), y, pp.asarray(u))
    assert_array_equal(pp.asnumpy(y), x[:, (2 * u.astype("int64") - 256)])


NAMES = 24
DELAY = "import pardo as pp\n\n\n@pp.jit\ndef delay(x, y):\n    for i in pp.prange(y.shape[0]):\n"
DELAY += "".join(f"        a{n} = 0\n" for n in range(NAMES)) + "        for k in range(y.shape[1]):\n            y[i, k] = a0\n"
DELAY += "".join(f"            a{n} = a{n + 1}\n" for n in range(NAMES - 1)) + f"            a{NAMES - 1} = 0.5 + x[i, k]\n"


def test_types_that_take_many_walks(tmp_path, monkeypatch, rng):
    (tmp_path / "delay_line.py").write_text(DELAY)
    monkeypatch.syspath_prepend(tmp_path)
    from delay_line import delay

    x = rng.random((3, 40))
    y, expected = pp.zeros(x.shape), np.zeros(x.shape)
    expected[:, NAMES:] = x[:, :-NAMES] + 0.5
    delay(pp.asarray(x), y)
    assert_array_equal(pp.asnumpy(y), expected)


@pp.kernel
def masked_in_loops(item: pp.Item, x, y):
    i = item.get_id(0)
    for k in range(64):
        y[i, 0, k] = x[(k * 5) & 63]
    for k in range(64):
        y[i, 1, k] = x[(k * 3) % 64]
    for k in range(64):
        y[i, 2, k] = x[np.uint8(k * 7)]
    for k in range(64):
        y[i, 3, k] = x[(-k * 3) % 64]


@pp.kernel
def masked_in_groups(item: pp.NdItem, x, y):
    i, k = item.get_group_id(0), item.get_local_id(0)
    a = pp.local_array(256, x.dtype)
    for j in range(4):
        a[k + 64 * j] = x[k + 64 * j]
    pp.group_barrier(item.get_group())
    y[i, 0, k] = a[(k * 5) & 63]
    pp.group_barrier(item.get_group())
    y[i, 1, k] = a[(k * 3) % 64]
    pp.group_barrier(item.get_group())
    y[i, 2, k] = a[np.uint8(k * 7)]
    pp.group_barrier(item.get_group())
    y[i, 3, k] = a[(-k * 3) % 64]


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64"])
@pytest.mark.parametrize("kernel", [masked_in_loops, masked_in_groups], ids=["loops", "groups"])
def test_masked_multiples_of_counters(kernel, dtype, device):
    """LLVM's loop vectoriser, and with it PoCL, took these for even steps: wrong elements (llvm/llvm-project#225086)."""
    host, k = np.arange(256).astype(dtype), np.arange(64)
    x, y = pp.asarray(host, device=device), pp.zeros((3, 4, 64), dtype, device=device)
    kernel[pp.Range(3) if kernel is masked_in_loops else pp.NdRange((192,), (64,))](x, y)
    assert_array_equal(pp.asnumpy(y), [[host[k * 5 & 63], host[k * 3 % 64], host[k * 7 % 256], host[-k * 3 % 64]]] * 3)
