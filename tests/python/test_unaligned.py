# tests/python/test_unaligned.py: NumPy arrays whose elements are not at multiples of their size, as messages and packed records have them.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest

DTYPES = ["int16", "int32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]


def unaligned(values, shift=1):
    """The same elements, at an address that is no multiple of their size; what Dask's workers are handed."""
    values = np.asarray(values)
    raw = np.zeros(values.nbytes + shift, np.uint8)
    made = raw[shift:].view(values.dtype).reshape(values.shape)
    made[...] = values
    assert not (made.size and made.flags.aligned)
    return made


def packed(values, dtype="f8"):
    records = np.zeros(len(values), [("c", "i1"), ("v", dtype), ("w", dtype)])
    records["v"] = values
    return records


@pp.jit
def double(a, b):
    for i in pp.prange(a.shape[0]):
        b[i] = a[i] * 2


@pp.jit
def accumulate(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i] + a[i - 1]


@pp.jit
def shifted(a, b):
    for i in range(a.shape[0]):
        b[i] += a[i]


@pp.jit
def of_records(r):
    for i in pp.prange(r.shape[0]):
        r[i].w = r[i].v + 1


@pp.jit
def histogram(places, counts):
    for i in pp.prange(places.shape[0]):
        counts[places[i]] += 1


@pp.jit
def total(a):
    s = 0.0
    for i in pp.prange(a.shape[0]):
        s += a[i]
    return s


@pp.kernel
def twice(item: pp.Item, a, b):
    i = item.get_id(0)
    b[i] = a[i] * 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_jit_copies_in_and_back(dtype):
    a, b = unaligned(np.arange(9).astype(dtype)), unaligned(np.zeros(9, dtype))
    double(a, b)
    assert b.tolist() == (2 * np.arange(9).astype(dtype)).tolist()
    assert a.tolist() == np.arange(9).astype(dtype).tolist()
    accumulate(a)
    assert a.tolist() == np.cumsum(np.arange(9)).astype(dtype).tolist()


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 5)])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[::-1], lambda x: x.T, lambda x: x[..., ::2]])
def test_layouts(shape, view):
    host = np.arange(float(np.prod(shape))).reshape(shape)

    @pp.jit
    def negate(x):
        for i in pp.prange(x.shape[0]):
            x[i] = -x[i]

    whole = unaligned(host)
    negate(view(whole))
    expected = host.copy()
    view(expected)[...] *= -1
    np.testing.assert_array_equal(whole, expected)


def test_fields_of_packed_records():
    r, s = packed(np.arange(5.0)), packed(np.zeros(5))
    double(r["v"], s["w"])
    assert s["w"].tolist() == [0, 2, 4, 6, 8]
    assert s["v"].tolist() == s["c"].tolist() == [0] * 5
    of_records(r)
    assert r["w"].tolist() == [1, 2, 3, 4, 5]
    assert total(r["v"]) == 10
    line = np.zeros(4, [("c", "i1"), ("p", "f8", 3)])  # (25, 8) bytes apart
    line["p"] = np.arange(12.0).reshape(4, 3)

    @pp.jit
    def add(x):
        for i in pp.prange(x.shape[0]):
            for j in range(3):
                x[i, j] += 1

    add(line["p"])
    np.testing.assert_array_equal(line["p"], np.arange(12.0).reshape(4, 3) + 1)


def test_views_of_one_array_stay_views():
    a = unaligned(np.ones(6))
    shifted(a[:-1], a[1:])
    assert a.tolist() == [1, 2, 3, 4, 5, 6]
    r = packed(np.ones(6))
    shifted(r["v"][:-1], r["v"][1:])
    assert r["v"].tolist() == [1, 2, 3, 4, 5, 6]
    double(a, a)
    assert a.tolist() == [2, 4, 6, 8, 10, 12]
    raw = np.zeros(17, np.uint8)
    with pytest.raises(ValueError, match=r"double: .* share elements"):
        double(raw[1:3], raw[1:].view("f8"))
    both = unaligned(np.arange(2.0))
    double(both, unaligned(np.zeros(2)))
    assert total(both) + total(both.view("i8")[:0]) == 1


def test_results_and_reductions():
    assert total(unaligned(np.arange(10.0))) == 45
    counts = unaligned(np.zeros(4, np.int64))
    histogram(unaligned(np.array([0, 1, 1, 3, 3, 3])), counts)
    assert counts.tolist() == [1, 2, 0, 3]


def test_other_byte_orders():
    a, b = np.arange(5.0).astype(">f8"), np.zeros(5, ">f8")
    double(a, b)
    assert b.tolist() == [0, 2, 4, 6, 8]
    shifted(a[:-1], a[1:])
    assert a.tolist() == [0, 1, 3, 6, 10]
    assert total(a) == 20


def test_read_only_stays_so():
    a = unaligned(np.arange(4.0))
    a.flags.writeable = False
    b = np.zeros(4)
    double(a, b)
    assert b.tolist() == [0, 2, 4, 6]
    with pytest.raises(ValueError, match="read-only"):
        double(b, a)


def test_a_failure_leaves_what_was_written():
    @pp.jit
    def too_far(a, n):
        for i in range(n):
            a[i] = 7

    a, plain = unaligned(np.zeros(3)), np.zeros(3)
    for x in (a, plain):
        with pytest.raises(IndexError):
            too_far(x, 5)
    assert a.tolist() == plain.tolist()


def test_copies_are_counted_and_guarded():
    a, b = unaligned(np.arange(4.0)), np.zeros(4)
    double(a, b)
    before = pp.counters()
    double(a, b)
    after = pp.counters()
    assert after["copies"] - before["copies"] == 1  # it is only read
    assert after["copied_bytes"] - before["copied_bytes"] == 32
    assert after["fallbacks"] - before["fallbacks"] == 1
    with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match="double: would copy 32 bytes"):
        double(a, b)


@pytest.mark.parametrize("device", ["cpu", "null:1"])
def test_data_and_contexts(device):
    expected = [0, 2, 4, 6, 8]
    for call in (double, twice[5]):
        a, b = unaligned(np.arange(5, dtype="f4")), unaligned(np.zeros(5, "f4"))
        with pp.data(to=(a,), from_=(b,), device=device):
            call(a, b)
        assert b.tolist() == expected
        r, s = packed(np.arange(5), "f4"), packed(np.zeros(5), "f4")
        with pp.data(to=(r["v"],), tofrom=(s["w"],), device=device):
            call(r["v"], s["w"])
        assert s["w"].tolist() == expected
        a, b = unaligned(np.arange(5, dtype="f4")), unaligned(np.zeros(5, "f4"))
        with pp.device_context(device):
            call(a, b)
        assert b.tolist() == expected
        r = packed(np.arange(5), "f4")
        with pp.data(tofrom=(r,), device=device), pytest.raises(ValueError, match=r"data: .*align=True"):
            call(r["v"], r["w"])
    a, b = unaligned(np.arange(5, dtype="f4")), unaligned(np.zeros(5, "f4"))
    pp.offload(double.__wrapped__, on=device)(a, b)
    assert b.tolist() == expected
