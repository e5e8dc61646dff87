# tests/python/test_structured_arrays.py: arrays of records: memory shared with NumPy, views of other dtypes, loops, and what is refused.
import copy
import pickle

import numpy as np
import pardo as pp
import pytest
from mapped import DEVICES
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

ALIGNED = np.dtype([("n", "i4"), ("v", "f8")], align=True)
PACKED = np.dtype([("n", "i4"), ("v", "f8")])


def three(dtype=ALIGNED, **keywords):
    return pp.array([(1, 2.5), (3, 4.5), (5, 6.5)], dtype=dtype, device="cpu", **keywords)


def test_memory_is_that_of_numpys_array():
    x = three()
    view = np.asarray(x)
    view["v"][0] = 9
    x["n"] = 7
    assert view.tolist() == x.tolist() == [(7, 9.0), (7, 4.5), (7, 6.5)]
    assert np.asarray(three()["v"]).tolist() == [2.5, 4.5, 6.5]
    host = np.zeros(3, ALIGNED)
    shared = pp.asarray(host, copy=False, device="cpu")
    shared["v"] = 2
    host["n"] = 4
    assert shared.tolist() == host.tolist() == [(4, 2.0)] * 3
    backwards = pp.asarray(host[::-2], copy=False, device="cpu")
    backwards[0] = (1, 1)
    assert host[2].item() == (1, 1.0)
    assert x.__array_interface__["typestr"] == "|V16" if np.dtype(ALIGNED.descr) == ALIGNED else not hasattr(x, "__array_interface__")
    assert three([("a", "f4"), ("b", "f4")]).__array_interface__["descr"] == [("a", "<f4"), ("b", "<f4")]


def test_packed_records_are_copied():
    x = three(PACKED)
    assert (x.itemsize, x.strides, x["v"].strides, x["n"].strides) == (12, (16,), (16,), (16,))
    host = np.asarray(x)
    assert host.dtype == PACKED
    assert host.tolist() == x.tolist()
    with pytest.raises(ValueError, match="cannot be shown to the host without a copy"):
        np.asarray(x, copy=False)
    with pytest.raises(ValueError, match=r"asarray: copy=False is impossible: fields of .* are not at multiples of their sizes"):
        pp.asarray(host, copy=False, device="cpu")
    with pytest.raises(ValueError, match=r"view: fields of .* lie further apart in memory"):
        x.view("u1")


def test_views_of_other_dtypes():
    x = three()
    assert x.view("f8")[1::2].tolist() == [2.5, 4.5, 6.5]
    assert x.view("u1").shape == (48,)
    x.view("i8")[1] = 0
    assert x["v"].tolist() == [0, 4.5, 6.5]
    again = x.view([("a", "i4"), ("b", "i4"), ("c", "f8")])
    again["b"] = 3
    assert again.tolist() == [(1, 3, 0.0), (3, 3, 4.5), (5, 3, 6.5)]
    plain = pp.arange(6.0, device="cpu")
    pairs = plain.view([("x", "f8"), ("y", "f8")])
    pairs["y"] = 0
    assert plain.tolist() == [0, 0, 2, 0, 4, 0]
    assert pairs.view("f8").tolist() == plain.tolist()
    assert plain.view([("low", "u4"), ("high", "u4")]).shape == (6,)
    with pytest.raises(ValueError, match="must be a divisor of the total size in bytes"):
        plain.view([("x", "f8", (4,))])
    with pytest.raises(ValueError, match=r"view: fields of .* are not at multiples of their sizes"):
        plain.view(PACKED)
    assert x.getfield("f8", 8).tolist() == x["v"].tolist()
    x.setfield(1, "i4")
    assert x["n"].tolist() == [1, 1, 1]
    x.dtype = np.dtype([("p", "i4"), ("q", "f8")], align=True)
    x.shape = (3, 1)
    assert x["q"].shape == (3, 1)


def test_values_of_numpys_records():
    x = three(PACKED)
    assert x["n"].sum() == 9
    assert [v.tolist() for v in x[1]] == [3, 4.5]
    assert x[1][1] == 4.5
    for moved in (copy.copy(x), copy.deepcopy(x), x.to_device("cpu"), x.wait().force()):
        assert moved.tolist() == x.tolist()
    assert np.concatenate([x, x]).shape == (6,)
    assert type(np.concatenate([x, x])) is pp.StructuredArray
    assert (x.astype([("n", "f4"), ("w", "i2")])).tolist() == [(1.0, 2), (3.0, 4), (5.0, 6)]
    assert x[["v"]].astype("f4").tolist() == [2.5, 4.5, 6.5]
    assert pp.arange(2).astype(PACKED).tolist() == [(0, 0.0), (1, 1.0)]
    assert pp.asarray(x, dtype=ALIGNED).dtype == ALIGNED
    assert pp.asarray(x) is x
    assert pp.array(x) is not x
    assert pp.asarray(np.array([(1, 2)], [("n", ">i4"), ("v", ">f8")])).dtype == PACKED
    assert pp.loadtxt(["1 2", "3 4"], dtype=PACKED).tolist() == [(1, 2.0), (3, 4.0)]
    assert pp.genfromtxt(["n,v", "1,2.5"], delimiter=",", names=True, dtype=None).tolist() == (1, 2.5)
    assert pp.fromiter([(1, 2.0)], PACKED).tolist() == [(1, 2.0)]
    assert pp.result_type(x, PACKED) == PACKED
    assert pp.array_repr(x) == repr(x)
    assert f"{x[0]}" == "(1, 2.5)"
    assert "..." in repr(pp.zeros(5000, PACKED))


def test_in_loops():
    @pp.jit
    def total(r):
        found = 0.0
        for i in pp.prange(len(r)):
            found += r[i]["v"]
            r[i]["n"] += 1
        return found

    for dtype in (ALIGNED, PACKED):
        x = three(dtype)
        assert total(x) == 13.5
        assert x["n"].tolist() == [2, 4, 6]
        assert total.interpret(x) == 13.5


def test_nothing_is_written_that_is_read_only():
    x = three()
    x.setflags(write=False)
    for write in (lambda: x.fill(1), lambda: x["v"].fill(1), lambda: x.__setitem__("n", 1), lambda: x[1].__setitem__("n", 1)):
        with pytest.raises(ValueError, match="read-only"):
            write()


RECORDS = np.array([(3, 1.5), (1, 2.5), (3, 0.5), (0, 0), (1, 2.5), (0, 0)], PACKED)
MASK = np.array([True, False, True, False, True, True])


@pytest.mark.parametrize(
    "function",
    [
        lambda l, x: l.rot90(x.reshape(2, 3)),
        lambda l, x: l.flipud(x),
        lambda l, x: l.fliplr(x.reshape(2, 3)),
        lambda l, x: l.rollaxis(x.reshape(1, 2, 3), 2),
        lambda l, x: l.rollaxis(x.reshape(1, 2, 3), 0, -1),
        lambda l, x: l.matrix_transpose(x.reshape(2, 3)),
        lambda l, x: l.hsplit(x.reshape(2, 3), 3)[1],
        lambda l, x: l.vsplit(x.reshape(2, 3), 2)[1],
        lambda l, x: l.dsplit(x.reshape(1, 2, 3), [1])[1],
        lambda l, x: l.unstack(x.reshape(2, 3), axis=1)[2],
        lambda l, x: l.broadcast_arrays(x, x.reshape(2, 3)[:, :1])[1],
        lambda l, x: l.take_along_axis(x.reshape(2, 3), l.argsort(x.reshape(2, 3), axis=0), 0),
        lambda l, x: l.dstack([x, x]),
        lambda l, x: l.column_stack([x, x]),
        lambda l, x: l.block([[x, x[:2]], [x[:2], x]]),
        lambda l, x: l.insert(x, [1, 4], x[:2]),
        lambda l, x: l.insert(x.reshape(2, 3), 1, x[0], axis=1),
        lambda l, x: l.resize(x, (2, 5)),
        lambda l, x: l.tril(x.reshape(2, 3)),
        lambda l, x: l.triu(x.reshape(2, 3), 1),
        lambda l, x: l.diag(x[:2], 1),
        lambda l, x: l.diag(x.reshape(2, 3)),
        lambda l, x: l.pad(x, 2),
        lambda l, x: l.pad(x.reshape(2, 3), [(1, 0), (2, 1)], "reflect"),
        lambda l, x: l.pad(x, 7, "wrap"),
        lambda l, x: l.trim_zeros(x),
        lambda l, x: l.extract(MASK, x),
        lambda l, x: l.select([MASK, ~MASK], [x, x[::-1]], x[0]),
        lambda l, x: l.choose([0, 1, 1, 0, 1, 0], [x, x[::-1]]),
        lambda l, x: l.partition(x, 2)[2],
        lambda l, x: l.unique_counts(x)[0],
        lambda l, x: l.unique_counts(x)[1],
        lambda l, x: l.unique_inverse(x)[1],
        lambda l, x: l.unique_all(x).indices,
        lambda l, x: l.asfortranarray(x.reshape(2, 3)),
        lambda l, x: l.count_nonzero(x),
        lambda l, x: l.flatnonzero(x),
        lambda l, x: l.array_equiv(x, x[None]),
        lambda l, x: l.shares_memory(x, x[1:3]),
        lambda l, x: l.intersect1d(x, x[2:], return_indices=True)[1],
        lambda l, x: x.byteswap().byteswap(True),
        lambda l, x: x.flat[2:4],
        lambda l, x: x.reshape(2, 3).mT,
    ],
)
def test_functions_as_numpys(function):
    ours, theirs = function(pp, pp.asarray(RECORDS, device="cpu")), function(np, RECORDS.copy())
    assert_array_equal(pp.asnumpy(ours) if isinstance(ours, pp.ndarray) else ours, theirs)
    assert not isinstance(ours, pp.ndarray) or ours.dtype == theirs.dtype


def test_functions_that_write():
    def changed(library, x):
        library.put(x, [0, 9, -1], x[1:3].copy(), mode="clip")
        library.place(x, MASK, x[3:5].copy())
        library.putmask(x, ~MASK, x[::-1].copy())
        matrix = x.reshape(2, 3)
        library.put_along_axis(matrix, np.array([[0], [2]]), matrix[:, 1:2].copy(), 1)
        library.fill_diagonal(matrix, x[5].copy())
        x.put([2], x[:1].copy())
        x.flat[1] = x[4].copy()
        x.resize((7,), refcheck=False)
        return x

    assert_array_equal(pp.asnumpy(changed(pp, pp.asarray(RECORDS, device="cpu"))), changed(np, RECORDS.copy()))
    x = pp.asarray(RECORDS, device="cpu")
    x.setflags(write=False)
    with pytest.raises(ValueError, match="put: assignment destination is read-only"):
        pp.put(x, [0], x[1:2])


def test_an_array_of_records_is_an_array():
    x = three()
    assert isinstance(x, pp.ndarray)
    assert isinstance(x, pp.Array)
    assert isinstance(x, pp.StructuredArray)
    assert not isinstance(pp.zeros(3), pp.StructuredArray)
    assert x.__array_namespace__() is pp
    assert {n for n in vars(np.ndarray) if not n.startswith("_") and n not in ("to_device", "real", "imag")} <= set(dir(x))
    with pytest.raises(TypeError, match=r"sum: there is no such operation on records of n, v"):
        x.sum()
    with pytest.raises(TypeError, match="concatenate: cannot cast from"):
        pp.concatenate([x, x], dtype=[("a", "i4"), ("b", "i4")], casting="safe")
    with pytest.raises(TypeError, match="stack: out and dtype cannot be given both"):
        pp.stack([x, x], out=x, dtype=x.dtype)
    with pytest.raises(ValueError, match=r"concatenate: out has shape \(3,\), but the result has shape \(6,\)"):
        pp.concatenate([x, x], out=x)
    assert pp.concatenate([x[["v"]], x[["v"]]], dtype="f4", casting="unsafe").dtype == np.float32
    rng = pp.random.default_rng(3)
    rng.shuffle(x)
    for drawn in (x, rng.permutation(x), rng.permuted(x), rng.choice(x, 3, replace=False)):
        assert sorted(drawn.tolist()) == [(1, 2.5), (3, 4.5), (5, 6.5)]


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda x: x + 1, TypeError, r"add: there is no such operation on records of n, v; take a field, as x\['n'\]"),
        (lambda x: 1 - x, TypeError, "subtract: there is no such operation on records of n, v"),
        (lambda x: -x, TypeError, "negative: there is no such operation"),
        (lambda x: x < x, TypeError, "less: there is no such operation"),
        (lambda x: float(x[:1]), TypeError, "float: there is no such operation"),
        (pp.sum, TypeError, "sum: there is no such operation on records of n, v; take a field"),
        (lambda x: pp.zeros(3) + x, TypeError, "add: there is no such operation on records"),
        (pp.sin, TypeError, "sin: operand 1 is of type StructuredArray"),
        (lambda x: np.add(x, 1), TypeError, "StructuredArray"),
        (lambda x: np.sum(x), TypeError, "sum: there is no such operation on records"),
        (lambda x: x == 5, TypeError, "Cannot compare structured or void to non-void arrays"),
        (lambda x: x == np.zeros(3, [("a", "f8"), ("b", "f8")]), TypeError, "no common dtype"),
        (lambda x: x["w"], ValueError, "no field of name w: the records have n, v"),
        (lambda x: x[["n", "w"]], KeyError, "no field of name w"),
        (lambda x: x[["n", "n"]], ValueError, "duplicate field of name 'n'"),
        (lambda x: x[0, 0], IndexError, "array is 1-dimensional, but 2 were indexed"),
        (lambda x: x[9], IndexError, "out of bounds"),
        (lambda x: x.__setitem__(0, (1, 2, 3)), ValueError, "could not assign tuple of length 3 to structure with 2 fields"),
        (
            lambda x: x.__setitem__(slice(None), np.zeros(2, PACKED)),
            ValueError,
            r"could not broadcast records of shape \(2,\) to shape \(3,\)",
        ),
        (lambda x: x.__setitem__(0, np.zeros(1, [("a", "f8")])), TypeError, "Cannot cast array data"),
        (lambda x: x.astype("f8"), TypeError, "records of n, v cannot become float64"),
        (lambda x: x.astype([("a", "f4")]), TypeError, "the numbers differ"),
        (lambda x: x.astype([("a", "f4"), ("b", "f4")], casting="safe"), TypeError, "with casting rule 'safe'"),
        (lambda x: pp.zeros(2, "S3,f8"), TypeError, r"zeros: field 'f0' is of dtype '\|S3', which is not supported"),
        (lambda x: pp.array([(1, None)], [("a", "i4"), ("b", [("c", "O")])]), TypeError, "array: field 'b.c' is of dtype 'object'"),
        (lambda x: pp.zeros(1, {"names": ["a", "b"], "formats": ["f8", "f8"], "offsets": [0, 4]}), TypeError, "overlap"),
        (lambda x: pp.sort(x, order="w"), ValueError, "no field of name w"),
        (lambda x: pp.concatenate([x, np.zeros(1, [("q", "f8")])]), TypeError, "have no common dtype"),
        (lambda x: pp.concatenate([x, pp.zeros(2)]), TypeError, "an array of records is expected beside others, not Array"),
        (lambda x: pp.sort(pp.zeros(2, [("a", "f4", (2,))])), TypeError, "field 'a' is a sub-array"),
        (lambda x: pp.StructuredArray(3), TypeError, "make one with pardo.zeros"),
        (hash, TypeError, "unhashable"),
        (bool, ValueError, "ambiguous"),
        (lambda x: x.reshape(2, 2), ValueError, "cannot reshape array of size 3 into shape"),
    ],
)
def test_what_is_refused(wrong, error, text):
    with pytest.raises(error, match=text):
        wrong(three())


def test_fields_equal_to_records_of_numpy():
    x, host = three(PACKED), np.asarray(three(PACKED))
    assert_array_equal(pp.asnumpy(host == x), [True] * 3)
    assert pp.copyto(x, host[::-1], where=pp.asarray([True, False, True], device="cpu")) is None
    assert x["n"].tolist() == [5, 3, 1]


def test_casts_to_records_obey_the_rule():
    kind = [("a", "i4"), ("b", "f4")]
    for x in (pp.arange(3.0), np.arange(3.0)):
        with pytest.raises(TypeError, match=r"casting|according to the rule"):
            x.astype(kind, casting="no")
        assert x.astype(kind)["a"].tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="astype: casting is 'other'"):
        pp.arange(3).astype(kind, casting="other")


# --- functions applied to parts ---------------------------------------------------------------------------------------------------------


def test_functions_along_axes():
    device = pp.Device("cpu")
    kind = [("a", "i4"), ("b", "f8")]
    host = np.zeros((2, 3, 4), kind)
    host["a"], host["b"] = np.arange(24).reshape(2, 3, 4) % 7, np.arange(24.0).reshape(2, 3, 4)
    x = pp.asarray(host, device=device)
    for axis in (0, 1, -1):
        for function in (
            lambda v: v[::-1], lambda v: v["b"].sum(), lambda v: v[:2]["a"], lambda v: v[1], lambda v: v[:1], lambda v: v[:2, None],
        ):  # fmt: skip
            ours, theirs = pp.apply_along_axis(function, axis, x), np.apply_along_axis(function, axis, host)
            assert ours.dtype == theirs.dtype
            assert ours.shape == theirs.shape
            assert ours.device == device
            assert np.array_equal(pp.asnumpy(ours), theirs)
        assert np.array_equal(pp.asnumpy(np.apply_along_axis(np.sort, axis, x)), np.apply_along_axis(np.sort, axis, host))
    numbers = pp.asarray(np.arange(6.0).reshape(2, 3), device=device)
    made = pp.apply_along_axis(lambda v: np.array([(1, 2.5)], kind), 1, numbers)
    assert made.dtype == np.dtype(kind)
    assert pp.asnumpy(made).tolist() == [[(1, 2.5)], [(1, 2.5)]]
    made = pp.apply_along_axis(lambda v: x[0, 0, :2], 0, numbers)
    assert pp.asnumpy(made).tolist() == np.apply_along_axis(lambda v: host[0, 0, :2], 0, np.zeros((2, 3))).tolist()
    for axes in (0, [0, 2], (-1,)):
        for function in (lambda v, axis: np.take(v, [0], axis=axis), lambda v, axis: np.take(v, 0, axis=axis), np.sort):
            ours, theirs = pp.apply_over_axes(function, x, axes), np.apply_over_axes(function, host, axes)
            assert np.array_equal(pp.asnumpy(ours), theirs)
    for wrong, error in [
        (lambda: pp.apply_along_axis(np.sort, 3, x), np.exceptions.AxisError),
        (lambda: pp.apply_along_axis(np.sort, 0, x[:, :0, :0]), ValueError),
        (lambda: pp.apply_over_axes(lambda v, axis: v[0, 0], x, 0), ValueError),
    ]:
        with pytest.raises(error):
            wrong()


NUMBERS_ONLY = {"real", "imag"}


def test_public_names_are_those_of_arrays():
    # pardo.compat adds names of other packages to arrays of numbers when it is imported.
    def comes_from(value):
        return getattr(getattr(value, "fget", value), "__module__", None) or ""

    added = {name for name, value in vars(pp.Array).items() if "compat" in comes_from(value)}
    names = {name for name in dir(pp.zeros(1)) if not name.startswith("_")} - added
    assert names - set(dir(type(pp.zeros(1, ALIGNED)))) == NUMBERS_ONLY


@pp.kernel
def shifted(item: pp.Item, x, z):
    i = item.get_id(0)
    x[i] = z[i + 1]


@pytest.mark.parametrize("device", DEVICES)
def test_fields_fail_by_themselves(device):
    kind = np.dtype([("a", "f4"), ("b", "i4")])
    queue, other = pp.Queue(device), pp.Queue(device)
    x, z = pp.zeros(8, kind, queue=queue), pp.arange(8, dtype="f4", queue=queue)
    shifted[8](x["a"], z)
    for failed in (x, x["a"], x[1:], x.to_queue(other)):
        assert isinstance(failed.failure(), IndexError)
        with pytest.raises(IndexError, match="failure"):
            failed.to_numpy()
    assert x["b"].failure() is None
    assert x["b"].to_queue(other).tolist() == [0] * 8
    x["a"][:4] = 1.0
    assert x[:4].failure() is None
    assert x[:4].to_numpy()["a"].tolist() == [1] * 4
    assert x.accept() is x
    assert x["a"].failure() is None
    assert x.to_numpy()["b"].tolist() == [0] * 8
    shifted[8](x["a"], z)
    assert x["a"].failure() is not None
    x[:] = (3.0, 4)
    assert x.failure() is None
    assert x.tolist() == [(3.0, 4)] * 8


@pytest.mark.parametrize("usm_type", ["device", "shared", "host"])
def test_copies_and_pickles_keep_the_kind_of_memory(usm_type):
    x = pp.ones(3, ALIGNED, device="cpu", usm_type=usm_type)
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert (made.usm_type, made.device, made.tolist()) == (usm_type, x.device, x.tolist())
