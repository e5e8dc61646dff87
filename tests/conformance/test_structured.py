# tests/conformance/test_structured.py: arrays of records against NumPy's, on each device: padded, packed, nested, with sub-arrays.
import io
import pickle

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

NESTED = [("k", "u1"), ("in", [("p", "c8"), ("q", "f4", (2, 3))]), ("b", "?")]
DTYPES = {
    "even": np.dtype([("x", "f4"), ("y", "i4")]),
    "padded": np.dtype([("x", "u1"), ("y", "i4"), ("z", "i8")], align=True),
    "packed": np.dtype([("x", "u1"), ("y", "i4"), ("z", "f4")]),
    "nested": np.dtype(NESTED),
    "nested and padded": np.dtype(NESTED, align=True),
    "out of order": np.dtype({"names": ["x", "y"], "formats": ["f4", "i2"], "offsets": [8, 0], "itemsize": 24}),
    "overlapping": np.dtype({"names": ["x", "y"], "formats": ["f4", "u2"], "offsets": [0, 2]}),
    "doubles": np.dtype([("x", "i4"), ("y", "f8"), ("z", "c16")]),
    "titles": np.dtype([(("first", "x"), "i2"), (("second", "y"), "f4")]),
}
INDICES = [
    1, -1, (2, 1), (slice(None), 1), (slice(None, None, -1), slice(0, 2)), Ellipsis, (Ellipsis, 0), None, np.array([2, 0]),
    ([0, 1], [2, 2]), (slice(1, 1),), ([], slice(None)), (1, np.array([[0, 1], [2, 2]])), np.arange(12).reshape(4, 3) % 3 == 0,
]  # fmt: skip
pytestmark = pytest.mark.once


def filled(values, rng):
    for name in values.dtype.names:
        field = values[name]
        if field.dtype.names:
            filled(field, rng)
        else:
            values[name] = rng.integers(0, 4, field.shape)
    return values


@pytest.fixture(params=DTYPES, ids=str)
def dtype(request, device):
    if "double" in request.param and not device.has_fp64:
        pytest.skip("no float64")
    return DTYPES[request.param]


@pytest.fixture
def host(dtype):
    return filled(np.zeros((4, 3), dtype), np.random.default_rng(3))


@pytest.fixture
def x(host, device):
    return pp.asarray(host, device=device)


def assert_same(ours, theirs):
    """The same records, byte for byte where they are numbers."""
    assert type(ours) is pp.StructuredArray
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    assert_array_equal(pp.asnumpy(ours), theirs)


def test_facts(x, host, dtype, device):
    assert_same(x, host)
    assert (x.ndim, x.size, x.itemsize, x.nbytes, len(x)) == (host.ndim, host.size, dtype.itemsize, host.nbytes, 4)
    assert x.device == device
    assert repr(x) == repr(host)
    assert str(x[0]) == str(host[0])
    assert repr(x.tolist()) == repr(host.tolist())
    assert repr(x.item(2, 1)) == repr(x.item(7)) == repr(host.item(7))
    assert x.tobytes() == np.array(host.tolist(), dtype).tobytes() or dtype.names == ("k", "in", "b") or "z" in dtype.names
    assert_same(pickle.loads(pickle.dumps(x)), host)
    assert_same(x.copy("F"), host)
    assert x.copy("F").flags.f_contiguous


def test_files(x, host, device):
    try:
        np.lib.format.dtype_to_descr(host.dtype)
    except ValueError:  # NumPy has no description of such a dtype
        return
    file = io.BytesIO()
    pp.save(file, x)
    file.seek(0)
    assert_array_equal(np.load(file), host)
    file.seek(0)
    assert_same(pp.load(file, device=device), host)
    assert_same(pp.frombuffer(host.tobytes(), host.dtype, device=device), np.frombuffer(host.tobytes(), host.dtype))


@pytest.mark.varied("index")
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indices(x, host, index, device):
    assert_same(x[index], host[index] if not isinstance(host[index], np.void) else np.asarray(host[index]))
    value = host[3, 2].copy()
    x[index] = value
    host[index] = value
    assert_same(x, host)
    x[index] = x[0, 0]
    host[index] = host[0, 0].copy()
    assert_same(x, host)
    if isinstance(index, np.ndarray):
        assert_same(x[pp.asarray(index, device=device)], host[index])


def test_fields_are_views(x, host, dtype):
    first, last = dtype.names[0], dtype.names[-1]
    field = x[first]
    assert type(field) is pp.Array
    assert field.dtype == dtype[first]
    field[1:, ::2] = 1
    host[first][1:, ::2] = 1
    x[::-1][last][0] = 0
    host[::-1][last][0] = 0
    assert_same(x, host)
    assert_array_equal(pp.asnumpy(field), host[first])
    x[first] += 1
    host[first] += 1
    one = x[2, 1]
    one[first] = 3
    one[len(dtype.names) - 1] = 1
    host[2, 1][first] = 3
    host[2, 1][last] = 1
    assert_same(x, host)
    assert len(one) == len(dtype.names)
    assert repr(tuple(v.tolist() for v in one)) == repr(tuple(host[2, 1][n].tolist() for n in dtype.names))


def test_several_fields(x, host, dtype):
    names = [dtype.names[-1], dtype.names[0]]
    some = x[names]
    assert_same(some, host[names])
    some[1] = host[names][0].copy()
    host[names][1] = host[names][0].copy()
    assert_same(x, host)
    some[...] = 1
    for name in names:
        host[name] = np.ones((), host[name].dtype) if host[name].dtype.names is None else host[name].dtype.type(1)
    assert_same(x, host)


def test_nested(device):
    host = filled(np.zeros(5, [("k", "u1"), ("in", [("p", "f4"), ("q", "i2")], (2,))]), np.random.default_rng(4))
    x = pp.asarray(host, device=device)
    assert_same(x["in"], host["in"])
    x["in"]["q"][1] = 7
    host["in"]["q"][1] = 7
    x["in"][2, 1] = (9, 8)
    host["in"][2, 1] = (9, 8)
    x["in"][3] = host["in"][0]
    host["in"][3] = host["in"][0]
    x[4] = (1, [(2, 3), (4, 5)])
    host[4] = (1, [(2, 3), (4, 5)])
    assert_same(x, host)
    assert (x == x).tolist() == [True] * 5
    assert_array_equal(pp.asnumpy(x == x[0]), host == host[0])


def test_assignment_by_numpys_rules(device):
    host = np.zeros(3, [("x", "i4"), ("y", "f4")])
    x = pp.asarray(host, device=device)
    other = np.array([(1.7, 2), (2.7, 300), (3.7, 1)], [("q", "f4"), ("r", "i2")])
    for value in (other, (5, 6.5), 3, [(1, 2), (3, 4), (5, 6)], [1, 2, 3], other[1]):
        x[:] = value
        host[:] = value
        assert_same(x, host)
    x[::2] = pp.asarray(other, device=device)[1:]
    host[::2] = other[1:]
    x[["y", "x"]] = x[["x", "y"]]
    host[["y", "x"]] = host[["x", "y"]].copy()
    x[1:] = x[:-1]
    host[1:] = host[:-1].copy()
    assert_same(x, host)
    x[:] = pp.asarray([9, 8, 7], dtype="i4", device=device)
    host[:] = np.array([9, 8, 7])
    assert_same(x, host)


def test_made(dtype, device):
    assert_same(pp.zeros((2, 3), dtype, device=device), np.zeros((2, 3), dtype))
    assert_same(pp.ones(3, dtype, device=device), np.ones(3, dtype))
    assert_same(pp.full((2, 2), 3, dtype, order="F", device=device), np.full((2, 2), 3, dtype))
    assert pp.empty((2, 0), dtype, device=device).tolist() == [[], []]
    assert_same(pp.zeros((), dtype, device=device), np.zeros((), dtype))
    like = pp.zeros((2, 3), dtype, device=device)
    assert_same(pp.ones_like(like), np.ones((2, 3), dtype))
    assert_same(pp.zeros_like(pp.arange(3, device=device), dtype=dtype), np.zeros(3, dtype))
    assert pp.empty_like(like).dtype == dtype


@pytest.mark.parametrize(
    "function",
    [
        lambda l, x: l.reshape(x, (3, 4)),
        lambda l, x: l.reshape(x, (2, -1), order="F"),
        lambda l, x: x.T,
        lambda l, x: x.T.reshape(-1),
        lambda l, x: l.concatenate([x, x[:1]]),
        lambda l, x: l.concatenate([x, x], axis=None),
        lambda l, x: l.stack([x, x], axis=1),
        lambda l, x: l.vstack([x, x]),
        lambda l, x: l.hstack([x, x]),
        lambda l, x: l.take(x, [2, 0, 2], axis=1),
        lambda l, x: x.take([5, 1]),
        lambda l, x: l.flip(x, 0),
        lambda l, x: l.roll(x, 2),
        lambda l, x: l.roll(x, 1, axis=1),
        lambda l, x: l.repeat(x, 2, axis=0),
        lambda l, x: l.tile(x, (2, 1)),
        lambda l, x: l.moveaxis(x, 0, 1),
        lambda l, x: l.swapaxes(x, 0, 1),
        lambda l, x: l.expand_dims(x, 1),
        lambda l, x: l.squeeze(x[:1]),
        lambda l, x: l.broadcast_to(x[0], (2, 3)),
        lambda l, x: l.split(x, 2)[1],
        lambda l, x: l.delete(x, 1, 0),
        lambda l, x: l.append(x, x),
        lambda l, x: l.diagonal(x, 1),
        lambda l, x: l.compress([True, False, True], x, axis=1),
        lambda l, x: l.where(np.arange(3) > 1, x, x[1, 0]),
        lambda l, x: x.astype(x.dtype),
        lambda l, x: l.atleast_3d(x),
        lambda l, x: x.flatten("F"),
        lambda l, x: l.ravel(x),
        lambda l, x: l.copy(x),
    ],
)
def test_functions(x, host, function):
    assert_same(function(pp, x), function(np, host))


@pytest.mark.varied("name")
@pytest.mark.parametrize("name", ["even", "padded", "packed", "out of order"])
def test_order(name, device):
    dtype = DTYPES[name]
    host = filled(np.zeros((5, 20), dtype), np.random.default_rng(5))
    x = pp.asarray(host, device=device)
    for order in (None, "y", ["y", "x"]):
        assert_same(pp.sort(x, order=order), np.sort(host, order=order))
        assert_array_equal(pp.asnumpy(pp.argsort(x, axis=0, order=order)), np.argsort(host, axis=0, order=order, kind="stable"))
    for ours, theirs in zip(pp.unique(x, True, True, True), np.unique(host, True, True, True), strict=True):
        assert_array_equal(pp.asnumpy(ours), theirs)
    x.sort(order="y")
    host.sort(order="y")
    assert_same(x, host)


@pytest.mark.varied("name")
@pytest.mark.parametrize("name", ["even", "padded", "packed", "nested"])
def test_searches(name, device):
    host = filled(np.zeros((3, 10), DTYPES[name]), np.random.default_rng(7))
    x = pp.asarray(host, device=device)
    for call in (lambda l, v: l.nonzero(v), lambda l, v: l.where(v[0]), lambda l, v: l.meshgrid(v[0], v[1, :2], indexing="ij")):
        for ours, theirs in zip(call(pp, x), call(np, host), strict=True):
            assert_array_equal(pp.asnumpy(ours), theirs)
    assert_array_equal(pp.asnumpy(pp.argwhere(x)), np.argwhere(host))
    if name == "nested":
        return  # sub-arrays have no order
    ordered, sorted_host = pp.sort(x[0]), np.sort(host[0])
    for side in ("left", "right"):
        assert_array_equal(pp.asnumpy(pp.searchsorted(ordered, x, side)), np.searchsorted(sorted_host, host, side))
    assert pp.searchsorted(ordered, host[1, 0]).item() == np.searchsorted(sorted_host, host[1, 0])
    places = np.argsort(host[0])
    assert_array_equal(pp.asnumpy(x[0].searchsorted(host[1], sorter=pp.argsort(x[0]))), host[0].searchsorted(host[1], sorter=places))
    for function in ("union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"):
        assert_array_equal(pp.asnumpy(getattr(pp, function)(x[0], x[1])), getattr(np, function)(host[0], host[1]))


def test_joins_with_keywords(x, host, dtype, device):
    out, their_out = pp.zeros((8, 3), dtype, device=device), np.zeros((8, 3), dtype)
    assert pp.concatenate([x, x], out=out) is out
    np.concatenate([host, host], out=their_out)
    assert_same(out, their_out)
    assert_same(
        pp.stack([x, x], 1, out=pp.zeros((4, 2, 3), dtype, device=device)), np.stack([host, host], 1, out=np.zeros((4, 2, 3), dtype))
    )
    other = np.dtype([(f"n{i}", dtype[name]) for i, name in enumerate(dtype.names)])
    for join in ("concatenate", "vstack", "hstack"):
        assert_same(getattr(pp, join)([x, host[:1] if join == "vstack" else x], dtype=other, casting="unsafe"),
                    getattr(np, join)([host, host[:1] if join == "vstack" else host], dtype=other, casting="unsafe"))  # fmt: skip


def test_comparison(x, host):
    other = host.copy()
    other[1] = other[0]
    assert_array_equal(pp.asnumpy(x == other), host == other)
    assert_array_equal(pp.asnumpy(other != x), host != other)
    assert pp.array_equal(x, host)
    assert not pp.array_equal(x, host[1:])
    assert host[0, 0] in x


@pp.kernel
def moved(item: pp.Item, r, out):
    i = item.get_id(0)
    q = r[i]
    out[i] = q["y"] * 2
    r["x"][i] = i
    q["y"] = 5


@pytest.mark.varied("name")
@pytest.mark.parametrize("name", ["even", "padded", "packed", "out of order"])
def test_in_kernels(name, device):
    host = filled(np.zeros(16, DTYPES[name]), np.random.default_rng(6))
    x, out = pp.asarray(host, device=device), pp.zeros(16, "i4", device=device)
    moved[pp.Range(16)](x, out).wait()
    assert_array_equal(pp.asnumpy(out), host["y"] * 2)
    host["x"], host["y"] = np.arange(16), 5
    assert_same(x, host)
