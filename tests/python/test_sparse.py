# tests/python/test_sparse.py: constructors, errors and conversions of sparse arrays; SciPy's, where it is installed.
import copy
import pickle

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pardo._sparse import products

pytestmark = pytest.mark.once

sp = pp.sparse
FORMATS = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array}
X = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, -4, 0]], dtype="float64")


def random_dense(rng, shape, share=0.3, dtype="float64"):
    x = rng.integers(-4, 5, shape).astype(dtype)
    x[rng.random(shape) > share] = 0
    return x


@pytest.fixture(params=sorted(FORMATS))
def kind(request):
    return FORMATS[request.param]


# --- constructors


def test_of_dense(kind):
    for given_ in (X, X.tolist(), pp.asarray(X), X.T.copy().T, X[::-1][::-1]):
        a = kind(given_)
        assert type(a) is kind
        assert a.shape == (3, 4)
        assert a.nnz == a.size == 4
        assert a.ndim == 2
        assert a.dtype == np.float64
        assert np.array_equal(pp.asnumpy(a.toarray()), X)


def test_of_a_shape(kind):
    a = kind((2, 5))
    assert a.shape == (2, 5)
    assert a.nnz == 0
    assert a.dtype == np.float64
    assert kind((2, 5), dtype="int8").dtype == np.int8
    assert np.array_equal(pp.asnumpy(kind((0, 3)).toarray()), np.zeros((0, 3)))


def test_of_coordinates_with_duplicates(kind):
    a = kind(([1.0, 2.0, 3.0, 4.0], ([0, 2, 0, 1], [1, 0, 1, 1])))
    assert a.shape == (3, 2)
    assert np.array_equal(pp.asnumpy(a.toarray()), [[0, 4], [0, 4], [2, 0]])
    assert a.nnz == (4 if kind is sp.coo_array else 3)
    assert kind(([1.0], ([0], [1])), shape=(4, 4), dtype="float32").toarray().dtype == np.float32


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_of_three_arrays(format):
    kind = FORMATS[format]
    a = kind(([1, 2, 3], [2, 0, 1], [0, 2, 2, 3]))
    dense = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]])
    assert np.array_equal(pp.asnumpy(a.toarray()), dense if format == "csr" else dense.T)
    assert a.indices.dtype == a.indptr.dtype == np.int64
    assert kind((np.ones(1), np.zeros(1, "int32"), np.array([0, 1], "int32"))).indices.dtype == np.int32
    assert not a.has_sorted_indices
    a.sort_indices()
    assert a.has_sorted_indices
    assert a.has_canonical_format
    assert a.indices.tolist() == [0, 2, 1]
    assert kind(([1, 2, 3, 9], [2, 0, 1, 0], [0, 2, 2, 3])).nnz == 3


def test_memory_is_shared_unless_copied():
    data, indices, indptr = np.ones(2), np.array([0, 1], np.int32), np.array([0, 1, 2], np.int32)
    shared, copied = sp.csr_array((data, indices, indptr)), sp.csr_array((data, indices, indptr), copy=True)
    data[0] = 7
    assert float(shared[0, 0]) == 7
    assert float(copied[0, 0]) == 1
    x = pp.ones(2)
    assert sp.csr_array((x, indices, indptr)).data is x
    assert sp.csr_array(shared).data is shared.data
    assert sp.csr_array(shared, copy=True).data is not shared.data


WRONG = [
    (lambda: sp.csr_array([1, 2]), ValueError, "csr_array: expected an array of two dimensions, got 1"),
    (lambda: sp.csr_array(np.zeros((2, 2, 2))), ValueError, "got 3"),
    (lambda: sp.csr_array("text"), TypeError, "a sparse or dense array, a shape or a tuple of arrays is expected, not str"),
    (lambda: sp.csr_array(([1.0],)), ValueError, "unrecognized tuple"),
    (lambda: sp.csr_array((2, -1)), ValueError, "cannot be negative"),
    (lambda: sp.csr_array(X, shape=(4, 3)), ValueError, r"inconsistent shapes: \(3, 4\) != \(4, 3\)"),
    (lambda: sp.csr_array(X, shape=(3, 4, 1)), ValueError, "two dimensions"),
    (lambda: sp.csr_array(([1.0], [0], [0, 1, 1]), shape=(1, 3)), ValueError, "index pointer size 3 should be 2"),
    (lambda: sp.csr_array(([1.0], [0], [1, 1]), shape=(1, 3)), ValueError, "index pointer should start with 0, not 1"),
    (lambda: sp.csr_array(([1.0], [0, 1], [0, 1]), shape=(1, 3)), ValueError, "same size, and have 2 and 1"),
    (lambda: sp.csr_array(([1.0], [0], [0, 2]), shape=(1, 3)), ValueError, "at most 1, the size of data, not 2"),
    (lambda: sp.csr_array(([1.0, 2], [0, 1], [0, 2, 1, 2]), shape=(3, 3)), ValueError, "non-decreasing"),
    (lambda: sp.csr_array(([1.0], [3], [0, 1]), shape=(1, 3)), ValueError, "indices must be < 3, and one is 3"),
    (lambda: sp.csr_array(([1.0], [-1], [0, 1]), shape=(1, 3)), ValueError, "indices must be >= 0, and one is -1"),
    (lambda: sp.csr_array(([1.0], [0.5], [0, 1]), shape=(1, 3)), TypeError, "indices must be integers, not float64"),
    (lambda: sp.csr_array(([[1.0]], [0], [0, 1]), shape=(1, 3)), ValueError, "data should be 1-D"),
    (lambda: sp.csr_array(([], [], [0, 0])), ValueError, "unable to infer the shape"),
    (lambda: sp.coo_array(([1.0], ([0], [5])), shape=(2, 2)), ValueError, "column indices must be < 2, and one is 5"),
    (lambda: sp.coo_array(([1.0], ([-2], [0])), shape=(2, 2)), ValueError, "row indices must be >= 0, and one is -2"),
    (lambda: sp.coo_array(([1.0, 2.0], ([0], [0]))), ValueError, "must have the same size, and have 1, 1 and 2"),
    (lambda: sp.coo_array(([], ([], []))), ValueError, "cannot infer the shape"),
    (lambda: sp.csr_array(X, dtype="datetime64[s]"), TypeError, "csr_array: dtype"),
    (lambda: sp.csr_array(X) @ np.ones(3), ValueError, r"matmul: dimension mismatch: \(3, 4\) @ \(3,\)"),
    (lambda: np.ones(2) @ sp.csr_array(X), ValueError, r"matmul: dimension mismatch: \(2,\) @ \(3, 4\)"),
    (lambda: sp.csr_array(X) @ sp.csr_array(X), ValueError, "dimension mismatch"),
    (lambda: sp.csr_array(X) @ 2, ValueError, "scalar operands are not allowed"),
    (lambda: 2 @ sp.csr_array(X), ValueError, "scalar operands are not allowed"),
    (lambda: sp.csr_array(X) @ np.ones((4, 2, 2)), ValueError, "3 dimensions"),
    (lambda: sp.csr_array(X) + 1, NotImplementedError, "nonzero scalar"),
    (lambda: sp.csr_array(X) + sp.csr_array((2, 2)), ValueError, "add: inconsistent shapes"),
    (lambda: sp.csr_array(X) + np.ones((2, 2)), ValueError, "add: inconsistent shapes"),
    (lambda: sp.csr_array(X) * np.ones((2, 2)), ValueError, "multiply: inconsistent shapes"),
    (lambda: sp.csr_array(X != 0) - sp.csr_array(X != 0), TypeError, "bools cannot be subtracted"),
    (lambda: sp.csr_array(X * 1j).max(), TypeError, "no order"),
    (lambda: sp.csr_array(X * 1j) < sp.csr_array(X * 1j), TypeError, "no order"),
    (lambda: sp.csr_array((0, 3)).max(), ValueError, "zero-size array"),
    (lambda: sp.csr_array(X).sum(axis=2), np.exceptions.AxisError, "axis 2 is out of bounds"),
    (lambda: sp.csr_array(X) ** 0, NotImplementedError, "zero power"),
    (lambda: sp.csr_array(X).power("2"), NotImplementedError, "n must be a number, not str"),
    (lambda: sp.csr_array(X)[3], IndexError, "index 3 is out of bounds for axis 0 with size 3"),
    (lambda: sp.csr_array(X)[0], NotImplementedError, "a row of one dimension is not supported; write A.i : i . 1"),
    (lambda: sp.csr_array(X)[:, 0], NotImplementedError, "a column of one dimension"),
    (lambda: sp.csr_array(X)[[0, 1], [0, 1]], NotImplementedError, "two arrays as indices"),
    (lambda: sp.csr_array(X)[0, 0, 0], IndexError, "too many indices"),
    (lambda: sp.csr_array(X)[None], IndexError, "None as an index"),
    (lambda: sp.csr_array(X)[0.5], IndexError, "only integers, slices and arrays"),
    (lambda: sp.csr_array(X)[[0.5]], IndexError, "integers or bools, not float64"),
    (lambda: sp.csr_array(X)[[7]], IndexError, "index 7 is out of bounds"),
    (lambda: sp.csr_array(X)[[True, False]], IndexError, "a mask of 2 elements for an axis of extent 3"),
    (lambda: len(sp.csr_array(X)), TypeError, "sparse array length is ambiguous"),
    (lambda: bool(sp.csr_array(X)), ValueError, "ambiguous"),
    (lambda: iter(sp.csr_array(X)), TypeError, "loop over A"),
    (lambda: sp.csr_array(X).asformat("dia"), ValueError, "'csr', 'csc', 'coo'"),
    (lambda: sp.csr_array(X).reshape(5, 5), ValueError, "cannot reshape array of size 12 into shape"),
    (lambda: sp.csr_array(X).reshape(12), ValueError, "two dimensions"),
    (lambda: sp.csr_array(X).transpose((0, 1)), ValueError, "axes must be None"),
    (lambda: sp.csr_array(X).toarray(out=pp.zeros((2, 2))), ValueError, "out has shape"),
    (lambda: sp.csr_array(X).toarray(out=np.zeros((3, 4))), TypeError, "out must be a pardo.Array"),
    (lambda: sp.csr_array(X).toarray("C", pp.zeros((3, 4))), ValueError, "order cannot be specified"),
    (lambda: np.sqrt(sp.csr_array(X)), TypeError, "does not support ufuncs"),
    (lambda: sp.sparray(X), TypeError, "base class"),
    (lambda: hash(sp.csr_array(X)), TypeError, "unhashable"),
    (lambda: sp.diags_array([[1, 2], [3]], offsets=[0], shape=(2, 2)), ValueError, "different number of diagonals and offsets"),
    (lambda: sp.diags_array([[1, 2], [3, 4]], offsets=[0, 0]), ValueError, "given twice"),
    (lambda: sp.diags_array([[1, 2, 3]], offsets=[0], shape=(2, 2)), ValueError, "does not agree with array size"),
    (lambda: sp.random_array((2, 2), density=2), ValueError, "density must be between 0 and 1"),
    (lambda: sp.vstack([sp.csr_array(X), sp.csr_array((1, 1))]), ValueError, "incompatible columns of blocks.1..0.: expected 4, got 1"),
    (lambda: sp.block_array([[None, None]]), ValueError, "all blocks of row 0 are None"),
    (lambda: sp.hstack([]), ValueError, "at least one"),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_what_is_wrong(case):
    call, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        call()


def test_operands_of_two_queues():
    a, other = sp.csr_array(X), pp.Queue("cpu")
    x = pp.ones(4, queue=other)
    for call in (lambda: a @ x, lambda: x @ a.T, lambda: a + a.to_queue(other), lambda: a[pp.zeros(2, "int64", queue=other)]):
        with pytest.raises(pp.ExecutionPlacementError):
            call()
    assert np.array_equal(pp.asnumpy(a.to_queue(other) @ x), X @ np.ones(4))
    assert a.to_device("cpu") is a


# --- operands


def test_operands_on_either_side(kind):
    a, v, m = kind(X), np.arange(4.0), np.arange(12.0).reshape(4, 3)
    for x in (v, v.tolist(), pp.asarray(v)):
        assert np.array_equal(pp.asnumpy(a @ x), X @ v)
    for x in (m, m.tolist(), pp.asarray(m)):
        assert np.array_equal(pp.asnumpy(a @ x), X @ m)
        assert np.array_equal(pp.asnumpy(x @ a), m @ X)
    assert np.array_equal(pp.asnumpy(v[:3] @ a), v[:3] @ X)
    for x in (m.T, pp.asarray(m.T)):
        for got, expected in ((a + x, X + m.T), (x + a, X + m.T), (a - x, X - m.T), (x - a, m.T - X)):
            assert type(got) is pp.Array
            assert np.array_equal(pp.asnumpy(got), expected)
        for got in (a * x, x * a, a.multiply(x)):
            assert np.array_equal(pp.asnumpy(got.toarray()), X * m.T)
        assert np.array_equal(pp.asnumpy((a / (x + 1)).toarray()), X / (m.T + 1))
    assert np.array_equal(pp.asnumpy((a * v).toarray()), X * v)
    assert np.array_equal(pp.asnumpy((a * v[:3, None]).toarray()), X * v[:3, None])
    total = np.ones((3, 4))
    assert np.array_equal(pp.asnumpy(total + a), X + 1)


def test_scalars(kind):
    a = kind(X)
    for got, expected in ((a * 2, X * 2), (2 * a, X * 2), (a / 4, X / 4), (-a, -X), (+a, X), (abs(a), abs(X)), (a**2, X**2)):
        assert type(got) is kind
        assert np.array_equal(pp.asnumpy(got.toarray()), expected)
    assert (kind(X.astype("float32")) * 2.0).dtype == np.float32
    assert (kind(X.astype("int8")) / 2).dtype == np.float64
    assert np.array_equal(pp.asnumpy((a + 0).toarray()), X)
    assert np.array_equal(pp.asnumpy((0 - a).toarray()), -X)
    assert np.array_equal(pp.asnumpy((a * pp.asarray(3.0)).toarray()), 3 * X)
    assert np.array_equal(pp.asnumpy((np.float64(2) * a).toarray()), 2 * X)
    with pytest.raises(TypeError):
        1 / a


@pytest.mark.parametrize("number", [0, 1.5, -1])
def test_comparisons_with_numbers(number, kind):
    a = kind(X)
    for op in ("eq", "ne", "lt", "le", "gt", "ge"):
        got = getattr(a, f"__{op}__")(number)
        assert got.dtype == np.bool_
        assert np.array_equal(pp.asnumpy(got.toarray()), getattr(X, f"__{op}__")(number)), op
    for op in ("maximum", "minimum"):
        assert np.array_equal(pp.asnumpy(getattr(a, op)(number).toarray()), getattr(np, op)(X, number))


def test_quotients_of_two_sparse_arrays(kind):
    y = np.array([[1, 2, 0, 0], [0, 0, 0, 2], [1, 0, 8, 0.5]])
    with np.errstate(all="ignore"):
        assert np.array_equal(pp.asnumpy((kind(X) / kind(y)).toarray()), X / y, equal_nan=True)


def test_outer_products_and_broadcast_sparse(kind):
    row, column = X[:1], X[:, 1:2]
    assert np.array_equal(pp.asnumpy((kind(row) * kind(column)).toarray()), row * column)
    assert np.array_equal(pp.asnumpy((kind(column) * kind(row)).toarray()), row * column)
    assert np.array_equal(pp.asnumpy((kind(X) * kind(row)).toarray()), X * row)
    assert np.array_equal(pp.asnumpy((kind(column) * kind(X)).toarray()), X * column)


def test_zeros_of_results_are_left_out():
    a = sp.csr_array(X)
    assert (a - a).nnz == 0
    assert (a * 0).nnz == 4
    b = a * 0
    b.eliminate_zeros()
    assert b.nnz == 0
    with np.errstate(all="ignore"):
        assert (sp.csr_array(np.array([[np.inf, 0]])) * sp.csr_array(np.array([[0, 1.0]]))).nnz == 1


def test_functions_of_the_values(kind):
    x = X / 5
    a = kind(x)
    for name in ("sqrt", "sin", "tanh", "arcsin", "log1p", "expm1", "rint", "floor", "ceil", "trunc", "sign", "deg2rad", "rad2deg"):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(x)
        np.testing.assert_allclose(pp.asnumpy(getattr(a, name)().toarray()), expected, rtol=1e-13)
    z = kind(X * (1 + 2j))
    assert np.array_equal(pp.asnumpy(z.real.toarray()), X)
    assert np.array_equal(pp.asnumpy(z.imag.toarray()), 2 * X)
    assert np.array_equal(pp.asnumpy(z.conj().toarray()), X * (1 - 2j))
    assert a.conj(copy=False) is a


def test_reductions(kind):
    a = kind(X)
    for axis in (None, 0, 1, -1, -2, (0, 1), (1,)):
        for name in ("sum", "mean", "max", "min"):
            got = getattr(a, name)(axis=axis)
            assert np.array_equal(pp.asnumpy(got), getattr(X, name)(axis=axis)), (name, axis)
    assert a.count_nonzero(axis=0).tolist() == [1, 1, 1, 1]
    assert int(a.count_nonzero()) == 4
    assert a.sum(axis=0, dtype="float32").dtype == np.float32
    assert kind(X.astype("int8")).sum(axis=1).dtype == np.int64
    assert kind(X.astype("int8")).mean(axis=1).dtype == np.float64
    out = pp.zeros(4)
    assert a.sum(axis=0, out=out) is out
    assert out.tolist() == X.sum(0).tolist()
    assert float(a.trace()) == np.trace(X)
    assert float(a.trace(offset=1)) == np.trace(X, 1)
    expected = [[2, 0, 2, 0], [0, 1, 2, 3]] if kind is sp.csc_array else [x.tolist() for x in np.nonzero(X)]
    assert [x.tolist() for x in a.nonzero()] == expected


# --- conversions


def test_formats(kind):
    a = kind(X)
    for format, other in FORMATS.items():
        b = a.asformat(format)
        assert type(b) is other
        assert (b is a) == (other is kind)
        assert np.array_equal(pp.asnumpy(b.toarray()), X)
        assert a.asformat(format, copy=True).data is not a.data
    assert type(a.T) is {sp.csr_array: sp.csc_array, sp.csc_array: sp.csr_array}.get(kind, kind)
    assert a.T.data is a.data
    assert a.transpose(copy=True).data is not a.data
    assert np.array_equal(pp.asnumpy(a.T.toarray()), X.T)
    for shape, order in (((4, 3), "C"), ((2, -1), "C"), ((6, 2), "F"), ((3, 4), "C")):
        b = a.reshape(shape, order=order)
        assert type(b) is kind
        assert np.array_equal(pp.asnumpy(b.toarray()), X.reshape(shape, order=order))
    out = pp.ones((3, 4))
    assert a.toarray(out=out) is out
    assert np.array_equal(pp.asnumpy(out), X)
    assert a.todense("F").flags.f_contiguous
    assert a.astype("int16").dtype == np.int16
    assert a.astype("float64", copy=False) is a


def test_copies(kind):
    a = kind(X)
    for b in (a.copy(), copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert type(b) is kind
        assert np.array_equal(pp.asnumpy(b.toarray()), X)
    b = a.copy()
    b.data[...] = 0
    assert float(a.sum()) == X.sum()


def test_indices_that_are_replaced():
    a = sp.csr_array(X)
    assert a.has_sorted_indices
    a.indices = pp.asarray([3, 1, 0, 2], dtype="int32")
    assert not a.has_sorted_indices
    assert np.array_equal(pp.asnumpy((a + a).toarray()), 2 * pp.asnumpy(a.toarray()))


def test_text(kind):
    a = kind(X)
    assert repr(a) == f"<{kind.__name__} of float64 with 4 stored elements and shape (3, 4) on cpu:0>"
    assert "  (0, 1)\t2.0\n" in str(a)
    assert sp.issparse(a)
    assert isinstance(a, sp.sparray)
    assert not sp.issparse(X)


def test_equality_of_other_things(kind):
    a = kind(X)
    assert (a == None) is False  # noqa: E711
    assert (a != "text") is True
    assert (a == kind((2, 2))) is False
    assert (a != kind((2, 2))) is True


def test_the_module_is_read_late():
    assert sp.csr_array.__module__ == "pardo.sparse"
    assert "sparse" in dir(pp)


# --- construction


def test_eye_and_diagonals():
    for m, n, k in ((3, 3, 0), (3, 5, 2), (5, 3, -1), (2, 2, 4), (0, 3, 0)):
        assert np.array_equal(pp.asnumpy(sp.eye_array(m, n, k=k).toarray()), np.eye(m, n, k))
    assert sp.eye_array(3, dtype="int8", format="csc").format == "csc"
    d = sp.diags_array([[1, 2, 3], [4, 5]], offsets=[0, -1])
    assert np.array_equal(pp.asnumpy(d.toarray()), np.diag([1, 2, 3]) + np.diag([4, 5], -1))
    assert np.array_equal(pp.asnumpy(sp.diags_array([1, 2, 0]).toarray()), np.diag([1, 2, 0]))
    assert sp.diags_array([1, 2, 0]).nnz == 2
    assert np.array_equal(pp.asnumpy(sp.diags_array([2.5], offsets=[1], shape=(2, 4)).toarray()), 2.5 * np.eye(2, 4, 1))


def test_blocks():
    a, b = sp.csr_array(X), sp.csc_array(X[:, :2])
    assert np.array_equal(pp.asnumpy(sp.hstack([a, b, X]).toarray()), np.hstack([X, X[:, :2], X]))
    assert np.array_equal(pp.asnumpy(sp.vstack([a, X]).toarray()), np.vstack([X, X]))
    assert sp.vstack([a, a]).format == "csr"
    assert sp.hstack([b, b]).format == "csc"
    assert sp.hstack([a, b]).format == "coo"
    both = sp.block_array([[a, None], [None, b]], format="csr")
    assert np.array_equal(pp.asnumpy(both.toarray()), pp.asnumpy(sp.block_diag([a, b]).toarray()))
    assert both.shape == (6, 6)
    assert both.format == "csr"
    assert np.array_equal(pp.asnumpy(sp.kron(a, b).toarray()), np.kron(X, X[:, :2]))
    for k in (-1, 0, 2):
        assert np.array_equal(pp.asnumpy(sp.tril(a, k).toarray()), np.tril(X, k))
        assert np.array_equal(pp.asnumpy(sp.triu(a, k, format="csc").toarray()), np.triu(X, k))
    row, col, data = sp.find(a)
    assert np.array_equal(np.transpose([row.tolist(), col.tolist()]), np.argwhere(X))
    assert data.tolist() == X[X != 0].tolist()


@pytest.mark.parametrize("density", [0, 0.01, 0.2, 0.9, 1])
def test_random(density):
    a = sp.random_array((40, 50), density=density, rng=3, format="csr")
    assert a.nnz == round(density * 2000)
    assert a.has_canonical_format
    assert density == 0 or 0 <= float(a.data.min()) <= float(a.data.max()) < 1
    assert (a != sp.random_array((40, 50), density=density, rng=pp.random.default_rng(3))).nnz == 0
    assert sp.random_array((4, 5), density=density, dtype="int8").dtype == np.int8
    assert sp.random_array((4, 5), density=density, dtype="complex64").dtype == np.complex64
    assert set(sp.random_array((4, 5), density=density, data_sampler=lambda size: np.full(size, 7)).data.tolist()) <= {7}


# --- any matrices


matrices = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed))


@given(rng=matrices, m=st.integers(0, 9), n=st.integers(0, 9), k=st.integers(0, 9), share=st.sampled_from([0.05, 0.4, 0.9]))
def test_products_and_sums_of_any(rng, m, n, k, share):
    x, y, z = (random_dense(rng, s, share) for s in ((m, n), (n, k), (m, n)))
    formats = rng.choice(sorted(FORMATS), 3)
    a, b, c = (FORMATS[f](v) for f, v in zip(formats, (x, y, z), strict=True))
    assert np.array_equal(pp.asnumpy((a @ b).toarray()), x @ y)
    assert np.array_equal(pp.asnumpy((a + c).toarray()), x + z)
    assert np.array_equal(pp.asnumpy((a - c).toarray()), x - z)
    assert np.array_equal(pp.asnumpy((a * c).toarray()), x * z)
    assert np.array_equal(pp.asnumpy(a.maximum(c).toarray()), np.maximum(x, z))
    assert np.array_equal(pp.asnumpy(a @ y), x @ y)


# --- SciPy


@pytest.fixture
def scipy_sparse():
    return pytest.importorskip("scipy.sparse")


def same_parts(ours, theirs):
    names = ("data", "row", "col") if theirs.format == "coo" else ("data", "indices", "indptr")
    for name in names:
        x, y = pp.asnumpy(getattr(ours, name)), getattr(theirs, name)
        assert x.dtype == y.dtype, name
        assert np.array_equal(x, y), name


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_from_and_to_scipy(scipy_sparse, format, rng):
    x = random_dense(rng, (30, 20))
    theirs = getattr(scipy_sparse, f"{format}_array")(x)
    for other in ("csr", "csc", "coo", "dia", "lil"):
        ours = FORMATS[format](theirs.asformat(other))
        assert type(ours) is FORMATS[format]
        assert np.array_equal(pp.asnumpy(ours.toarray()), x)
    ours = FORMATS[format](theirs)
    same_parts(ours, theirs)
    theirs.data[0] = 99  # shared
    assert float(ours.data[0]) == 99
    back = ours.to_scipy()
    assert type(back) is type(theirs)
    assert np.shares_memory(back.data, theirs.data)
    assert not np.shares_memory(ours.to_scipy(copy=True).data, theirs.data)
    assert np.array_equal(back.toarray(), theirs.toarray())
    theirs.data[0] = 98
    copied = FORMATS[format](theirs, copy=True)
    theirs.data[0] = 97
    assert float(copied.data[0]) == 98


def test_operands_of_scipy(scipy_sparse, rng):
    x, y = random_dense(rng, (12, 12)), random_dense(rng, (12, 12))
    a, b = sp.csr_array(x), scipy_sparse.csc_array(y)
    assert np.array_equal(pp.asnumpy((a @ b).toarray()), x @ y)
    assert np.array_equal(pp.asnumpy((a + b).toarray()), x + y)


def test_parts_are_as_scipys(scipy_sparse, rng):
    """Not only the same elements: the same entries, in the same order, with indices of the same dtype."""
    x, y = random_dense(rng, (25, 18)), random_dense(rng, (25, 18))
    row, col, data = rng.integers(0, 25, 80), rng.integers(0, 18, 80), rng.integers(-3, 4, 80).astype("float64")
    for kind in ("csr", "csc"):
        ours, theirs = FORMATS[kind], getattr(scipy_sparse, f"{kind}_array")
        a, b = ours(x), theirs(x)
        same_parts(a, b)
        same_parts(ours((data, (row, col)), shape=(25, 18)), theirs((data, (row, col)), shape=(25, 18)))
        same_parts(a + ours(y), b + theirs(y))
        same_parts(a * ours(y), b * theirs(y))
        same_parts(a.T, b.T)
        same_parts(a[3:9, 2:11], b[3:9, 2:11])
        if kind == "csr":
            same_parts(a[[4, 1, 4]], b[[4, 1, 4]])
        same_parts(a.tocoo(), b.tocoo())
        same_parts(a.sorted_indices(), b.sorted_indices())
    same_parts(sp.csr_array(x).tocsc(), scipy_sparse.csr_array(x).tocsc())
    for k in (-2, 0, 3):
        same_parts(sp.eye_array(6, 9, k=k), scipy_sparse.eye_array(6, 9, k=k, format="csr"))


# --- rows that several items share, and long ones, as on GPUs


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16, 0])
def test_products_where_a_device_has_many_items(lanes, monkeypatch):
    """Empty rows, rows of one entry, rows that are cut, and more rows than a group has places."""
    monkeypatch.setattr(products, "has_few_items", lambda queue: False)
    monkeypatch.setattr(products, "SHORT", 32)
    monkeypatch.setattr(products, "_lanes", lambda device, mean: lanes)
    rng = np.random.default_rng(3)
    dense = random_dense(rng, (301, 77), 0.1)
    dense[50:90] = 0
    dense[7], dense[300] = 1, 2
    a = sp.csr_array(dense)
    for x in (rng.integers(-4, 5, 77).astype("float64"), rng.integers(-4, 5, (77, 3)).astype("float64")):
        assert np.array_equal(pp.asnumpy(a @ pp.asarray(x)), dense @ x)
    turned = sp.csr_array(dense.astype("complex64") * 1j)
    assert np.array_equal(pp.asnumpy(turned @ pp.asarray(x[:, 0].astype("complex64"))), 1j * dense @ x[:, 0])
    assert np.array_equal(pp.asnumpy(a.sum(axis=1)), dense.sum(axis=1))
    assert np.array_equal(np.ravel(pp.asnumpy(a.max(axis=1))), dense.max(axis=1))


def test_lanes_of_rows():
    class Device:
        sub_group_sizes = (32,)

    assert [products._lanes(Device, mean) for mean in (0, 1, 2, 3, 4, 7, 8, 31, 32, 1000)] == [1, 1, 2, 2, 4, 4, 8, 16, 0, 0]
    Device.sub_group_sizes = (8, 16, 32)
    assert [products._lanes(Device, mean) for mean in (1, 7, 8, 9)] == [1, 4, 0, 0]
    Device.sub_group_sizes = None
    assert [products._lanes(Device, mean) for mean in (1, 7, 8)] == [1, 1, 0]
