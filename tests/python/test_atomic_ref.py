# tests/python/test_atomic_ref.py: atomics with order and scope, and references to elements.
import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once

ORDERS = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]
DTYPES = ["int32", "uint32", "int64", "uint64", "float32", "float64"]


@pp.kernel
def all_of_it(item: pp.Item, x, seen):
    i = item.get_id(0)
    total = pp.AtomicRef(x, 0)
    seen[i] = total.fetch_add(2)
    pp.AtomicRef(x, 1, order="acq_rel").fetch_sub(1)
    pp.AtomicRef(x, 2, scope="work_group").fetch_min(i)
    pp.AtomicRef(x, 3, order="seq_cst", scope="device").fetch_max(i)
    pp.AtomicRef(x, 4).exchange(7)
    pp.AtomicRef(x, 5).compare_exchange(5, 50)
    if i == 0:
        last = pp.AtomicRef(x, 6)
        last.store(3)
        last.store(last.load() + 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_operation(dtype):
    n = 100
    x, seen = pp.asarray(np.array([0, 1000, 50, 0, 0, 5, 0], dtype)), pp.zeros(n, dtype=dtype)
    all_of_it[pp.Range(n)](x, seen).wait()
    assert list(pp.asnumpy(x)) == [2 * n, 900, 0, n - 1, 7, 50, 4]
    assert sorted(pp.asnumpy(seen)) == list(range(0, 2 * n, 2))
    again = np.array([0, 1000, 50, 0, 0, 5, 0], dtype)
    all_of_it[pp.Range(n)].interpret(again, np.zeros(n, dtype))
    assert list(again) == [2 * n, 900, 0, n - 1, 7, 50, 4]


@pytest.mark.parametrize("dtype", ["int32", "uint64"])
def test_bits(dtype):
    @pp.kernel
    def bits(item: pp.Item, x):
        i = item.get_id(0)
        pp.AtomicRef(x, 0).fetch_or(1 << i)
        pp.AtomicRef(x, (1,)).fetch_and(~(1 << i))
        pp.AtomicRef(x, -1).fetch_xor(1 << i)

    x = pp.asarray(np.array([0, 255, 255], dtype))
    bits[pp.Range(8)](x).wait()
    assert list(pp.asnumpy(x)) == [255, 0, 0]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("scope", ["work_group", "device"])
def test_orders_and_scopes(order, scope):
    @pp.kernel
    def count(item: pp.NdItem, x):
        shared = pp.local_array(1, "int32")
        if item.get_local_id(0) == 0:
            shared[0] = 0
        pp.group_barrier(item.get_group())
        pp.atomic.add(shared, 0, 1, order=order, scope=scope)
        pp.group_barrier(item.get_group())
        if item.get_local_id(0) == 0:
            pp.atomic.add(x, 0, shared[0], order=order, scope=scope)

    x = pp.zeros(1, dtype="int32")
    count[pp.NdRange(256, 64)](x).wait()
    assert int(x[0]) == 256


def test_a_lock_orders_what_it_guards():
    @pp.kernel
    def add(item: pp.NdItem, lock, x):
        if item.get_local_id(0) == 0:
            taken = 0
            while taken == 0:
                if pp.atomic.compare_exchange(lock, 0, 0, 1, order="acquire") == 0:
                    x[0] = x[0] + 1
                    pp.AtomicRef(lock, 0, order="release").store(0)
                    taken = 1

    lock, x = pp.zeros(1, dtype="int32"), pp.zeros(1, dtype="int64")
    add[pp.NdRange(640, 64)](lock, x).wait()
    assert int(x[0]) == 10


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda x: pp.AtomicRef(x, 0, order="strong"), ValueError, "order is one of 'relaxed', 'acquire'"),
        (
            lambda x: pp.AtomicRef(x, 0, scope="world"),
            ValueError,
            "scope is one of 'work_group', 'device', 'system', 'work_item', 'sub_group', not 'world'",
        ),
        (lambda x: pp.atomic_fence("now"), ValueError, "atomic_fence: order is one of .*, not 'now'"),
        (lambda x: pp.AtomicRef(3, 0), TypeError, "the first argument is an array"),
        (lambda x: pp.AtomicRef(x, 0).fetch_or(1), TypeError, "and, or, xor are for integers"),
        (lambda x: pp.AtomicRef(x, 0).add(1), TypeError, "has no method `add` in a kernel; it has compare_exchange"),
    ],
)
def test_what_is_refused(make, error, text):
    @pp.kernel
    def use(item: pp.Item, x):
        make(x)

    with pytest.raises(error, match=text):
        use[pp.Range(1)](pp.zeros(3, dtype="float32"))


def test_outside_of_kernels():
    x = pp.zeros(3, dtype="float32")
    assert pp.AtomicRef(x, 1).fetch_add(pp.asarray(2, dtype="float32")) == 0
    assert x.tolist() == [0, 2, 0]
    with pytest.raises(TypeError, match="give an index for each, as a tuple"):
        pp.AtomicRef(pp.zeros((3, 3)), 0).load()
    with pytest.raises(TypeError, match="atomic_fence: this is an operation of kernels"):
        pp.atomic_fence()


@pytest.mark.parametrize("dtype", DTYPES)
def test_compare_exchange_with_a_reference(dtype):
    @pp.kernel
    def k(item: pp.Item, x, expected, gave):
        i = item.get_id(0)
        gave[i] = pp.AtomicRef(x, i).compare_exchange(expected, 9, (0, i))

    def fresh():
        return np.array([1, 2, 3], dtype), np.array([[1, 7, 3]], dtype), np.zeros(3, bool)

    host = fresh()
    k[pp.Range(3)].interpret(*host)
    on = [pp.asarray(a) for a in fresh()]
    k[pp.Range(3)](*on).wait()
    for x, expected, gave in (host, on):
        assert x.tolist() == [9, 2, 9]
        assert expected.tolist() == [[1, 2, 3]]
        assert gave.tolist() == [True, False, True]
    with pytest.raises(TypeError, match="what is expected is"):
        k[pp.Range(3)](on[0], pp.zeros((1, 3), dtype="int32" if dtype != "int32" else "int64"), on[2])
    with pytest.raises(IndexError, match="`expected` has 1 dimension, but is indexed with 2 indices"):
        k[pp.Range(3)](on[0], pp.zeros(3, dtype=dtype), on[2])


@pytest.mark.parametrize("order", [*ORDERS, 0, 1, 2, 3, 4, 5])
def test_fences_and_numbers(order):
    @pp.kernel
    def last(item: pp.Item, x, count):
        x[item.get_id(0)] = 2
        pp.atomic_fence(order)
        if pp.AtomicRef(count, 0, order=order, scope=3).fetch_add(1) == 63:
            pp.atomic_fence(order, scope="work_group")
            pp.atomic_fence(order, scope="sub_group")
            pp.atomic_fence(order, "work_item")
            for i in range(64):
                count[1] += x[i]

    count = pp.zeros(2, dtype="int32")
    last[pp.Range(64)](pp.zeros(64, dtype="int32"), count).wait()
    assert count.tolist() == [64, 128]
    assert ("fence" in last.inspect("ir")) == (order not in ("relaxed", 0))
