# tests/python/test_memory_order.py: order= of everything that has it in NumPy, and the order of the axes that results have.
import copy
import ctypes

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st

ORDERS = ["C", "F", "A", "K"]


def same(x, host):
    assert x.shape == host.shape
    assert x.dtype == host.dtype
    if host.size and all(extent > 1 for extent in host.shape):
        assert x.strides == host.strides
        assert (x.flags.c_contiguous, x.flags.f_contiguous) == (host.flags.c_contiguous, host.flags.f_contiguous)
    np.testing.assert_allclose(pp.asnumpy(x), host)


@st.composite
def operands(draw, count):
    """Arrays of one shape whose axes lie in memory in different orders."""
    shape = draw(st.lists(st.integers(2, 4), min_size=1, max_size=4))
    hosts = []
    for k in range(count):
        axes = draw(st.permutations(range(len(shape))) | st.just(list(range(len(shape)))) | st.just(list(range(len(shape)))[::-1]))
        host = np.empty([shape[a] for a in axes]).transpose(np.argsort(axes))
        host[...] = np.arange(host.size).reshape(shape) % 7 + k + 1
        hosts.append(host)
    return hosts


ELEMENTWISE = {
    "add": lambda m, a, b: a + b,
    "less": lambda m, a, b: a < b,
    "where": lambda m, a, b: m.where(a < b, a, b),
    "exp": lambda m, a, b: m.exp(-a),
    "chain": lambda m, a, b: m.sqrt(a * b + 1) - a,
    "astype": lambda m, a, b: a.astype("float32"),
    "number": lambda m, a, b: m.add(a, 1),
    "slices": lambda m, a, b: a[1:] * b[1:],
    "transposes": lambda m, a, b: a.T + b.T,
    "broadcast": lambda m, a, b: a + b[:1],
    "zeros_like": lambda m, a, b: m.zeros_like(a),
    "full_like": lambda m, a, b: m.full_like(b, 3.0),
    "sort": lambda m, a, b: m.sort(a, axis=0),
    "partition": lambda m, a, b: m.partition(a, 1, axis=0)[1:2] if a.shape[0] == 2 else m.sort_complex(a),
    "cumsum": lambda m, a, b: m.cumsum(a, axis=-1),
    "concatenate": lambda m, a, b: m.concatenate([a, b], axis=0),
    "stack": lambda m, a, b: m.stack([a, b], axis=-1),
    "copy": lambda m, a, b: m.copy(a),
    "copy.copy": lambda m, a, b: copy.copy(a),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
@given(hosts=operands(2))
def test_results_have_the_order_of_their_operands(name, hosts):
    arrays = [pp.asarray(h) for h in hosts]
    for x, h in zip(arrays, hosts, strict=True):
        same(x, h)
    same(ELEMENTWISE[name](pp, *arrays), ELEMENTWISE[name](np, *hosts))


@given(hosts=operands(1), data=st.data())
def test_reductions_have_the_order_of_their_operand(hosts, data):
    (host,) = hosts
    axis = data.draw(st.integers(0, host.ndim - 1))
    x = pp.asarray(host)
    for name in ("sum", "mean", "max", "std", "argmax"):
        for keepdims in (False, True):
            ours, theirs = (getattr(m, name)(v, axis=axis, keepdims=keepdims) for m, v in ((pp, x), (np, host)))
            if name == "argmax" or host.ndim < 2:
                np.testing.assert_allclose(pp.asnumpy(ours), theirs)
            elif keepdims:
                assert [s for d, s in enumerate(ours.strides) if d != axis] == [s for d, s in enumerate(theirs.strides) if d != axis]
                np.testing.assert_allclose(pp.asnumpy(ours), theirs)
            else:
                same(ours, theirs)


@given(hosts=operands(1), order=st.sampled_from(ORDERS))
def test_copies_in_an_order(hosts, order):
    (host,) = hosts
    for x, h in ((pp.asarray(host), host), (pp.asarray(host) + 1, host + 1), (pp.asarray(host)[1:], host[1:])):
        same(x.copy(order), h.copy(order))
        same(pp.copy(x, order), np.copy(h, order))
        same(pp.array(x, order=order), np.array(h, order=order))
        same(pp.array(h, order=order), np.array(h, order=order))
        same(pp.asarray(x, order=order), np.asarray(h, order=order))
        same(x.astype("f4", order), h.astype("f4", order))
        same(x.astype("f8", order, copy=False), h.astype("f8", order, copy=False))
        same(pp.ones_like(x, order=order), np.ones_like(h, order=order))
        same(pp.empty_like(x, order=order) * 0, np.zeros_like(h, order=order))
        same(pp.add(x, 1, order=order), np.add(h, 1, order=order))
        same(pp.modf(x, order=order)[1], np.modf(h, order=order)[1])
        np.testing.assert_array_equal(pp.asnumpy(x.ravel(order)), h.ravel(order))
        np.testing.assert_array_equal(pp.asnumpy(x.flatten(order)), h.flatten(order))
        if order != "K":
            same(
                x.reshape((2, -1) if h.size % 2 == 0 else (-1,), order=order), h.reshape((2, -1) if h.size % 2 == 0 else (-1,), order=order)
            )


def test_repeated_axes_have_no_say():
    host = np.arange(12.0).reshape(1, 3, 4)
    x = pp.asarray(host)
    for axes in ((0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0)):
        ours, theirs = pp.broadcast_to(x, (4, 3, 4)).transpose(axes), np.broadcast_to(host, (4, 3, 4)).transpose(axes)
        for order in ("K", "k"):
            np.testing.assert_array_equal(pp.asnumpy(ours.ravel(order)), theirs.ravel(order))
            np.testing.assert_array_equal(pp.asnumpy(ours.flatten(order)), theirs.flatten(order))


def test_bytes_in_an_order():
    kind = [("a", "i4"), ("b", "f8")]
    for host in (np.arange(6.0).reshape(2, 3), np.zeros((2, 3), kind)):
        if host.dtype.names:
            host["a"] = np.arange(6).reshape(2, 3)
        for h in (host, np.asfortranarray(host), host[:, ::2], host[0]):
            x = pp.asarray(h, device="cpu")
            for order in ("C", "F", "A", "K", "a", None):
                assert x.tobytes(order) == h.tobytes(order)
            with pytest.raises(ValueError, match=r"^tobytes: order"):
                x.tobytes("X")


@pytest.mark.parametrize("order", ["C", "F"])
def test_creation(order):
    for shape in ((3, 4), (2, 3, 4), (5,), ()):
        same(pp.zeros(shape, order=order), np.zeros(shape, order=order))
        same(pp.ones(shape, "i4", order), np.ones(shape, "i4", order))
        same(pp.full(shape, 2.5, order=order), np.full(shape, 2.5, order=order))
        assert pp.empty(shape, order=order).strides == np.empty(shape, order=order).strides
        assert pp.zeros(shape, order=order).flags.owndata
    same(pp.full((2, 3), pp.arange(3.0), order=order), np.full((2, 3), np.arange(3.0), order=order))
    same(pp.eye(3, 4, 1, order=order), np.eye(3, 4, 1, order=order))
    x = pp.zeros((3, 4), order=order)
    x[1] = 2
    x += 1
    h = np.zeros((3, 4), order=order)
    h[1] = 2
    h += 1
    same(x, h)


@pytest.mark.parametrize("f", [pp.zeros, pp.ones, pp.empty, pp.eye])
def test_unknown_orders(f):
    for order in ("K", "A", "X", ""):
        with pytest.raises(ValueError, match=f"^{f.__name__}: order is"):
            f(2, order=order)
    with pytest.raises(TypeError, match=f"^{f.__name__}: order must be str"):
        f(2, order=3)
    for g in (pp.zeros_like, pp.asarray, pp.array, pp.copy):
        with pytest.raises(ValueError, match="order is 'X'"):
            g(pp.zeros(2), order="X")
    with pytest.raises(ValueError, match="add: order is 'X'"):
        pp.add(pp.zeros(2), 1, order="X")


def test_layout_functions():
    host = np.arange(6.0).reshape(2, 3)
    x = pp.asarray(host)
    for y, h in ((x, host), (x.T, host.T), (x[:, ::2], host[:, ::2])):
        same(pp.asfortranarray(y), np.asfortranarray(h))
        same(pp.ascontiguousarray(y), np.ascontiguousarray(h))
        assert pp.isfortran(y) == np.isfortran(h)
    with pytest.raises(ValueError, match="copy=False is impossible"):
        pp.asarray(x, order="F", copy=False)


def test_other_libraries_see_the_strides():
    f = pp.asfortranarray(pp.arange(6.0, device="cpu").reshape(2, 3))
    for seen in (np.asarray(f), np.from_dlpack(f), np.asarray(memoryview(f))):
        assert seen.strides == (8, 16)
        assert seen.flags.f_contiguous
    assert f.__array_interface__["strides"] == (8, 16)
    assert f.ctypes.strides_as(ctypes.c_long)[:] == [8, 16]
    assert f.ctypes.data == f.data.ptr
    assert type(f.__array_struct__).__name__ == "PyCapsule"
    assert pp.from_dlpack(np.asfortranarray(np.ones((2, 3))), device="cpu").flags.f_contiguous


def test_kernels_take_them_without_a_copy():
    @pp.jit
    def scale(x, y):
        for i in pp.prange(x.shape[0]):
            for j in range(x.shape[1]):
                y[i, j] = 2 * x[i, j]

    x, y = pp.asfortranarray(pp.arange(12.0).reshape(3, 4)), pp.zeros((3, 4), order="F")
    x.wait(), y.wait()
    copies = pp.counters()["copies"]
    scale(x, y)
    assert pp.counters()["copies"] == copies
    same(y, np.asfortranarray(np.arange(12.0).reshape(3, 4) * 2))


def test_pending_values_stay_pending():
    x = pp.arange(12.0).reshape(3, 4) + 1
    assert x.pending
    y = [pp.zeros_like(x), x.copy(), x.astype("f4", "C"), pp.add(x, 1, order="F"), pp.concat([x[:1]])]
    assert x.pending or y
    z = pp.zeros((3, 4), order="F") + 1
    assert z.pending
    same(z, np.zeros((3, 4), order="F") + 1) if z.flags.f_contiguous else None
