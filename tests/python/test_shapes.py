# tests/python/test_shapes.py: creation, shapes, joining, sorting, sets and products against NumPy.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy_names import BEFORE_2_1
from support import DTYPES, check, samples


@pytest.mark.parametrize("dtype", DTYPES)
def test_filled(dtype):
    for shape in ((), 3, (2, 0), (2, 3)):
        check(pp.zeros(shape, dtype), np.zeros(shape, dtype))
        check(pp.ones(shape, dtype), np.ones(shape, dtype))
        check(pp.full(shape, 3, dtype), np.full(shape, 3, dtype))
        assert pp.empty(shape, dtype).dtype == np.dtype(dtype)
        x = pp.zeros(shape, dtype)
        check(pp.ones_like(x), np.ones(shape, dtype))
        check(pp.full_like(x, 1, shape=(2,)), np.ones(2, dtype))
    check(pp.full(2, 7), np.full(2, 7))
    check(pp.full(2, 7.5), np.full(2, 7.5))
    check(pp.full((2, 3), pp.arange(3)), np.full((2, 3), np.arange(3)))


@pytest.mark.parametrize(
    "arguments",
    [(5,), (2, 9), (2, 9, 3), (9, 2, -2), (0,), (5, 2), (0.5,), (0, 1, 0.1), (1, 0, -0.25), (2.5, 7), (np.int8(3),), (0.0, 3)],
)
def test_arange(arguments):
    check(pp.arange(*arguments), np.arange(*arguments), ulp=2)
    check(pp.arange(*arguments, dtype="float32"), np.arange(*arguments, dtype="float32"), ulp=4)


def test_linspace_eye_tri():
    for args in [(0, 1, 5), (0, 1, 1), (0, 1, 0), (2.5, -1, 7)]:
        check(pp.linspace(*args), np.linspace(*args), ulp=2)
        check(pp.linspace(*args, endpoint=False), np.linspace(*args, endpoint=False), ulp=2)
    assert pp.linspace(0, 1).size == 50
    assert pp.linspace(0, 1, 5, retstep=True)[1] == 0.25
    check(pp.linspace(0, 10, 5, dtype="int64"), np.linspace(0, 10, 5, dtype="int64"))
    for args in [(3,), (3, 4), (4, 2)]:
        for k in (-5, -1, 0, 2, 1 << 40, -(1 << 63), 1 << 63, -(1 << 70)):
            check(pp.eye(*args, k=k), np.eye(*args, k=k))
    host = np.arange(24.0).reshape(2, 3, 4)
    for k in (-1, 0, 2):
        check(pp.tril(pp.asarray(host), k=k), np.tril(host, k=k))
        check(pp.triu(pp.asarray(host), k=k), np.triu(host, k=k))
    for indexing in ("xy", "ij"):
        for sparse in (False, True):
            ours = pp.meshgrid(pp.arange(3), pp.arange(4), pp.arange(2), indexing=indexing, sparse=sparse)
            for got, expected in zip(ours, np.meshgrid(range(3), range(4), range(2), indexing=indexing, sparse=sparse), strict=True):
                check(got, expected)


@given(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4), st.data())
def test_shapes(shape, data):
    host = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    x = pp.asarray(host)
    order = data.draw(st.permutations(range(len(shape))))
    for ours, theirs in ((x, host), (x + 1, host + 1)):
        moved, expected = pp.permute_dims(ours, order), np.transpose(theirs, order)
        check(moved, expected)
        check(moved.reshape(-1), expected.reshape(-1))
        check(moved.T, expected.T)
        check(pp.flip(moved), np.flip(expected))
        check(moved.ravel(order="F"), expected.ravel(order="F"))
        check(moved.flatten(), expected.flatten())


def test_reshape_rules():
    x = pp.arange(12)
    view = pp.reshape(x, (3, 4))
    view[0, 0] = 99
    assert x[0].item() == 99
    check(pp.reshape(view, (2, -1)), np.asarray(view).reshape(2, -1))
    check(view.reshape(4, 3, order="F"), np.asarray(view).reshape(4, 3, order="F"))
    with pytest.raises(ValueError):
        pp.reshape(view.T, -1, copy=False)
    for bad in [(5,), (-1, -1), (-2, 6), (0, -1)]:
        with pytest.raises(ValueError):
            pp.reshape(x, bad)
    with pytest.raises(TypeError):
        pp.reshape(x, 2.5)


def test_axes():
    host = np.arange(24).reshape(2, 1, 3, 4)
    x = pp.asarray(host)
    check(pp.moveaxis(x, 0, -1), np.moveaxis(host, 0, -1))
    check(pp.moveaxis(x, (0, 2), (1, 0)), np.moveaxis(host, (0, 2), (1, 0)))
    check(pp.swapaxes(x, 0, 3), np.swapaxes(host, 0, 3))
    check(pp.expand_dims(x, (0, -1)), np.expand_dims(host, (0, -1)))
    check(pp.squeeze(x), np.squeeze(host))
    check(pp.squeeze(x, axis=1), np.squeeze(host, axis=1))
    check(pp.matrix_transpose(x), np.matrix_transpose(host))
    check(pp.diagonal(x, 1, 2, 3), np.diagonal(host, 1, 2, 3))
    check(pp.trace(x, 0, 2, 3), np.trace(host, 0, 2, 3))
    check(pp.broadcast_to(x, (5, 2, 7, 3, 4)), np.broadcast_to(host, (5, 2, 7, 3, 4)))
    assert pp.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    with pytest.raises(ValueError):
        pp.broadcast_shapes((2,), (3,))
    with pytest.raises(ValueError):
        pp.broadcast_to(x, (3,))
    with pytest.raises(ValueError):
        pp.squeeze(x, axis=0)
    with pytest.raises(np.exceptions.AxisError):
        pp.moveaxis(x, 0, 7)
    with pytest.raises(ValueError):
        pp.permute_dims(x, (0, 0, 1, 2))
    with pytest.raises(ValueError):
        pp.permute_dims(x, (0, 1))


def test_joining(rng):
    a, b = samples("int32", (2, 3), rng), samples("float64", (4, 3), rng)
    check(pp.concat([pp.asarray(a), pp.asarray(b)]), np.concatenate([a, b]))
    check(pp.concat([pp.asarray(a), pp.asarray(b)], axis=None), np.concatenate([a, b], axis=None))
    check(pp.stack([pp.asarray(a), pp.asarray(a)], axis=-1), np.stack([a, a], axis=-1))
    for name in ("vstack", "hstack", "dstack", "column_stack"):
        for items in ([a, a], [a[0], a[1]]):
            check(getattr(pp, name)([pp.asarray(i) for i in items]), getattr(np, name)(items))
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        for item in (a, a[0], a[0, 0]):
            check(getattr(pp, name)(pp.asarray(item)), getattr(np, name)(item))
    for got, expected in zip(pp.unstack(pp.asarray(a), axis=1), a.T, strict=True):
        check(got, expected)
    for args in [(3,), ([1, 3],)]:
        for got, expected in zip(pp.array_split(pp.asarray(b), *args), np.array_split(b, *args), strict=True):
            check(got, expected)
    with pytest.raises(ValueError):
        pp.concat([])
    with pytest.raises(ValueError):
        pp.concat([pp.zeros((2, 3)), pp.zeros((2, 4))])
    with pytest.raises(ValueError):
        pp.stack([pp.zeros(2), pp.zeros(3)])
    with pytest.raises(ValueError):
        pp.split(pp.zeros(4), 3)


def test_repeating(rng):
    host = samples("int64", (3, 4), rng)
    x = pp.asarray(host)
    for shift, axis in [(1, None), (-5, None), (2, 0), ((1, -1), (0, 1)), ((1, 2), 1), (3, (0, 1))]:
        check(pp.roll(x, shift, axis=axis), np.roll(host, shift, axis=axis))
    check(pp.repeat(x, 3), np.repeat(host, 3))
    check(pp.repeat(x, 2, axis=1), np.repeat(host, 2, axis=1))
    check(pp.repeat(x, pp.asarray([0, 2, 1]), axis=0), np.repeat(host, [0, 2, 1], axis=0))
    check(x.repeat([1, 0, 2], 0), host.repeat([1, 0, 2], 0))
    for reps in (2, (2, 1), (2, 1, 3), 0):
        check(pp.tile(x, reps), np.tile(host, reps))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sorting(dtype, rng):
    host = samples(dtype, (5, 40), rng)
    if host.dtype.kind == "f":
        host[0, :3] = np.nan
        host[1, :2] = np.inf
    x = pp.asarray(host)
    for axis in (-1, 0, None):
        check(pp.sort(x, axis=axis), np.sort(host, axis=axis))
        check(pp.argsort(x, axis=axis), np.argsort(host, axis=axis, kind="stable"))
    if host.dtype.kind != "c":
        clean = pp.asarray(np.nan_to_num(host))
        check(pp.sort(clean, descending=True), np.sort(np.nan_to_num(host))[:, ::-1])
    y = x.copy()
    assert y.sort(axis=0) is None
    check(y, np.sort(host, axis=0))


def test_partition_top_k_searchsorted(rng):
    host = samples("float64", (6, 50), rng)
    x = pp.asarray(host)
    part = pp.asnumpy(pp.partition(x, 20))
    np.testing.assert_array_equal(part[:, 20], np.sort(host)[:, 20])
    assert (part[:, :20] <= part[:, 20:21]).all()
    index = pp.argpartition(x, (5, 20))
    taken = np.take_along_axis(host, pp.asnumpy(index), -1)
    np.testing.assert_array_equal(taken[:, [5, 20]], np.sort(host)[:, [5, 20]])
    values, indices = pp.top_k(x, 3)
    check(values, np.sort(host)[:, :-4:-1])
    check(pp.take_along_axis(x, indices), np.sort(host)[:, :-4:-1])
    check(pp.top_k(x, 2, largest=False).values, np.sort(host)[:, :2])
    line, wanted = np.sort(host.ravel()), samples("float64", (3, 4), rng)
    for side in ("left", "right"):
        check(pp.searchsorted(pp.asarray(line), pp.asarray(wanted), side), np.searchsorted(line, wanted, side))
    check(pp.searchsorted(pp.asarray(line), 0.5), np.asarray(np.searchsorted(line, 0.5)))
    with pytest.raises(ValueError, match="side"):
        pp.searchsorted(pp.asarray(line), 0.5, "middle")


@pytest.mark.parametrize("dtype", ["int64", "float64", "uint8", "bool", "float32"])
def test_sets(dtype, rng):
    host = samples(dtype, (4, 9), rng)
    host = host.round() if host.dtype.kind == "f" else host
    values, indices, inverse, counts = pp.unique_all(pp.asarray(host))
    expected = np.unique(host, return_index=True, return_inverse=True, return_counts=True)
    for got, other in zip((values, indices, counts), (expected[0], expected[1], expected[3]), strict=True):
        check(got, other)
    check(inverse, expected[2].reshape(host.shape))
    check(pp.unique_values(pp.asarray(host)), expected[0])
    check(pp.unique_counts(pp.asarray(host)).counts, expected[3])
    check(pp.isin(pp.asarray(host), pp.asarray(host[0])), np.isin(host, host[0]))
    check(pp.isin(pp.asarray(host), pp.asarray(host[0]), invert=True), np.isin(host, host[0], invert=True))


def test_unique_nan():
    x = pp.asarray([1.0, np.nan, 1.0, np.nan])
    assert pp.unique_values(x).size == 3
    got = pp.unique(x, return_counts=True, return_inverse=True, return_index=True)
    for a, b in zip(got, np.unique(np.asarray(x), True, True, True), strict=True):
        check(a, b)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64", "uint8", "bool"])
def test_products(dtype, rng):
    def new(*shape):
        return samples(dtype, shape, rng)

    for a, b in [
        (new(3, 4), new(4, 5)),
        (new(4), new(4, 5)),
        (new(3, 4), new(4)),
        (new(4), new(4)),
        (new(2, 1, 3, 4), new(6, 4, 2)),
        (new(3, 0), new(0, 2)),
    ]:
        check(pp.matmul(pp.asarray(a), pp.asarray(b)), np.asarray(np.matmul(a, b)), ulp=64)
    a, b = new(3, 4, 5), new(4, 3, 2)
    check(pp.tensordot(pp.asarray(a), pp.asarray(b), axes=([0, 1], [1, 0])), np.tensordot(a, b, axes=([0, 1], [1, 0])), ulp=256)
    v, w = new(6, 5), new(6, 5)
    check(pp.vecdot(pp.asarray(v), pp.asarray(w)), np.vecdot(v, w), ulp=64)
    check(pp.vecdot(pp.asarray(v), pp.asarray(w), axis=0), np.vecdot(v, w, axis=0), ulp=64)
    check(pp.outer(pp.asarray(v[0]), pp.asarray(w[0])), np.outer(v[0], w[0]), ulp=4)
    check(pp.dot(pp.asarray(v), pp.asarray(w.T)), np.dot(v, w.T), ulp=64)
    with pytest.raises(ValueError):
        pp.matmul(pp.asarray(new(3, 4)), pp.asarray(new(3, 4)))
    with pytest.raises(ValueError):
        pp.matmul(pp.asarray(new(3)), pp.zeros(()))


def test_copyto():
    x = pp.zeros((2, 3))
    pp.copyto(x, pp.arange(3))
    check(x, np.tile(np.arange(3.0), (2, 1)))
    pp.copyto(x, 9, where=pp.asarray([True, False, False]))
    assert x.tolist() == [[9, 1, 2], [9, 1, 2]]
    with pytest.raises(TypeError, match="same_kind"):
        pp.copyto(pp.zeros(3, dtype="int32"), pp.zeros(3))


def test_meshgrid_copies():
    """Writing to a grid must not change the vector it was made of."""
    v = pp.asarray([1.0, 2.0])
    for keywords in ({}, {"sparse": True}, {"indexing": "ij"}):
        for grids in (pp.meshgrid(v, **keywords), pp.meshgrid(v, v, **keywords)):
            grids[0][...] = 7.0
    check(v, np.asarray([1.0, 2.0]))
    view = pp.meshgrid(v, sparse=True, copy=False)[0]
    view[0] = 5.0
    check(v, np.asarray([5.0, 2.0]))


@pytest.mark.parametrize("start", [0, 0.5, np.float32(1), np.float16(1), np.int8(1), 1j, np.complex64(1)])
@pytest.mark.parametrize("stop", [3, np.float32(3), np.float64(3), True])
def test_linspace_dtypes(start, stop):
    check(pp.linspace(start, stop, 5), np.linspace(start, stop, 5), ulp=2)
    got, expected = pp.linspace(start, stop, 5, retstep=True)[1], np.linspace(start, stop, 5, retstep=True)[1]
    assert complex(got) == pytest.approx(complex(expected), rel=1e-3)


@given(
    hnp.arrays(st.sampled_from(["f4", "f8", "i4"]), hnp.array_shapes(min_dims=0, max_dims=2, max_side=3), elements=st.integers(-9, 9)),
    st.integers(0, 5), st.booleans(), st.integers(-1, 0),
)  # fmt: skip
def test_linspace_between_arrays(stop, num, endpoint, axis):
    start = stop.astype("f4") - 2
    check(
        pp.linspace(pp.asarray(start), pp.asarray(stop), num, endpoint, axis=axis),
        np.linspace(start, stop, num, endpoint, axis=axis),
        ulp=4,
    )
    check(pp.linspace(1, pp.asarray(stop), 4, dtype="i4"), np.linspace(1, stop, 4, dtype="i4"))


def test_numpys_positional_and_named_forms():
    host = np.arange(6.0).reshape(2, 3)
    x = pp.asarray(host)
    check(pp.repeat(x, 2, 0), np.repeat(host, 2, 0))
    check(pp.repeat(x, repeats=[1, 2], axis=0), np.repeat(host, repeats=[1, 2], axis=0))
    check(pp.stack([x, x], 1), np.stack([host, host], 1))
    check(pp.linspace(0, 1, 5, False), np.linspace(0, 1, 5, False))
    check(pp.linspace(start=0, stop=1, num=3), np.linspace(start=0, stop=1, num=3))
    check(pp.eye(2, 2, 0, "f4"), np.eye(2, 2, 0, "f4"))
    check(pp.eye(N=2, M=3), np.eye(N=2, M=3))
    check(pp.arange(start=1, stop=5), np.arange(start=1, stop=5))
    check(pp.arange(stop=5), np.arange(stop=5))
    check(pp.moveaxis(x, source=0, destination=1), np.moveaxis(host, source=0, destination=1))
    check(pp.tile(x, reps=(2, 1)), np.tile(host, reps=(2, 1)))
    check(pp.append(x, values=x, axis=1), np.append(host, values=host, axis=1))
    check(pp.append(arr=x, values=1), np.append(arr=host, values=1))
    check(pp.vstack(tup=[x, x]), np.vstack(tup=[host, host]))
    target = pp.zeros(3)
    pp.copyto(dst=target, src=x[0])
    check(target, host[0])
    check(pp.transpose(x[0], 0), np.transpose(host[0], 0))
    check(pp.reshape(x, np.array([3, 2])), np.reshape(host, np.array([3, 2])))
    for n in (3, np.int64(3), pp.asarray(3)):
        for got, expected in zip(pp.split(x, n, 1), np.split(host, 3, 1), strict=True):
            check(got, expected)
    for got, expected in zip(pp.array_split(x, np.array([1, 2]), 1), np.array_split(host, [1, 2], 1), strict=True):
        check(got, expected)
    check(pp.repeat(pp.zeros(0), []), np.repeat(np.zeros(0), []))
    check(pp.roll(x, 2**70), np.roll(host, 2**70))
    check(pp.roll(x, (1, 2, -4), (0, 1, 1)), np.roll(host, (1, 2, -4), (0, 1, 1)))
    check(pp.full((2, 3), [1, 2, 3]), np.full((2, 3), [1, 2, 3]))
    check(pp.full(3, [[1, 2, 3]]), np.full(3, [[1, 2, 3]]))
    check(pp.full((2, 0), 3.0 * pp.ones(1)), np.full((2, 0), [3.0]))
    check(pp.full_like(x, [1, 2, 3]), np.full_like(host, [1, 2, 3]))
    check(pp.full(2, 2**70, "f8"), np.full(2, 2**70, "f8"))


@pytest.mark.parametrize("name", ["concat", "stack", "vstack", "hstack"])
def test_joining_with_a_dtype(name):
    host = np.asarray([1.0, 2.5])
    x, join, reference = pp.asarray(host), getattr(pp, name), getattr(np, "concatenate" if name == "concat" else name)
    check(join([x, x], dtype="f4"), reference([host, host], dtype="f4"))
    check(join([x, x], dtype="i4", casting="unsafe"), reference([host, host], dtype="i4", casting="unsafe"))
    for wrong, error in (({"dtype": "i4"}, TypeError), ({"dtype": "f4", "casting": "safe"}, TypeError), ({"casting": "x"}, ValueError)):
        with pytest.raises(error, match=f"{name}: "):
            join([x, x], **wrong)
    with pytest.raises(ValueError, match=f"{name}: "):
        join([])


def test_concat_casts_before_it_joins():
    """int64 and uint64 meet in float64, which loses digits that uint64 would keep."""
    a, b = np.asarray([2**62 + 1]), np.asarray([2**63 + 1], np.uint64)
    got = pp.concat([pp.asarray(a), pp.asarray(b)], dtype="u8", casting="unsafe")
    check(got, np.concatenate([a, b], dtype="u8", casting="unsafe"))
    out = pp.zeros(2, "i4")
    pp.concat([pp.ones(2)], out=out, casting="unsafe")
    check(out, np.ones(2, "i4"))
    with pytest.raises(TypeError, match="concat"):
        pp.concat([pp.ones(2)], out=out)


def test_orders():
    host = np.arange(6).reshape(2, 3)
    for order in ("C", "F", "K", "A"):
        check(pp.asarray(host, order=order), host)
    x = pp.asarray(host).wait()
    for view, reference in ((x, host), (x.T, host.T), (x[::-1, ::2].T, host[::-1, ::2].T)):
        for order in "CFAK":
            check(pp.ravel(view, order), np.ravel(reference, order))
        for order in "CFA":
            check(pp.reshape(view, (-1,), order), np.reshape(reference, (-1,), order))


@pytest.mark.skipif(BEFORE_2_1, reason="NumPy 2.0 takes numbers for arrays of the smallest dtype there")
def test_copyto_checks_numbers():
    for dtype in ("bool", "uint8", "int64", "float32", "complex64"):
        for value in (True, 1, 1.5, 1j, np.float64(2), np.int8(3), [1, 1], np.asarray([1.5, 2.5])):
            for casting in ("safe", "same_kind", "unsafe"):
                host = np.zeros(2, dtype)
                x = pp.asarray(host)
                try:
                    with np.errstate(all="ignore"):
                        np.copyto(host, value, casting=casting)
                except TypeError:
                    with pytest.raises(TypeError, match="copyto"):
                        pp.copyto(x, value, casting=casting)
                except Exception:
                    continue
                else:
                    if not (np.iscomplexobj(value) and dtype != "complex64"):  # pardo drops no imaginary parts
                        pp.copyto(x, value, casting=casting)
                        check(x, host)
    with pytest.raises(OverflowError):
        pp.copyto(pp.zeros(2, "u1"), 300)
    with pytest.raises(ValueError, match="copyto: casting"):
        pp.copyto(pp.zeros(2), 1, casting="bogus")
    x = pp.zeros(2)
    pp.copyto(x, 1, where=[True, False])
    check(x, np.asarray([1.0, 0.0]))
    with pytest.raises(TypeError, match="copyto"):
        pp.copyto(x, 1, where="both")
