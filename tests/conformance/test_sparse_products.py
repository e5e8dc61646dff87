# tests/conformance/test_sparse_products.py: sparse arrays on every dtype, format and device, against NumPy on dense arrays.
import numpy as np
import pardo as pp
import pytest
from data import DTYPES, assert_close, assert_same, rng_for, values
from pardo._sparse import multiplication, products, reductions, structure

FORMATS = ["csr", "csc", "coo"]
RTOL = {"float16": 5e-3, "float32": 1e-5, "float64": 1e-13, "complex64": 1e-5, "complex128": 1e-13}
SOME = ["bool", "uint32", "float16", "complex64"]
NARROW = "float32"  # each device has it


def dense(dtype, shape, share=0.3):
    """An array of which many elements are zero; one row and one column have none that is not."""
    rng = rng_for(dtype, shape, share)
    x = values(dtype, int(np.prod(shape)), rng, special=False, small=True).reshape(shape)
    x[rng.random(shape) > share] = 0
    x[shape[0] // 2 : shape[0] // 2 + 1], x[:, -1:] = 0, 0
    return x


def made(x, device, format="csr", shuffled=False):
    """A sparse array of a dense one; `shuffled`: its entries are in no order, and those of a place are halves, one of them zero."""
    if not shuffled:
        return getattr(pp.sparse, f"{format}_array")(pp.asarray(x, device=device))
    row, col = np.nonzero(x)
    order = rng_for(x.shape).permutation(2 * row.size)
    parts = np.concatenate([x[row, col], np.zeros(row.size, x.dtype)])[order]
    places = (np.tile(row, 2)[order], np.tile(col, 2)[order])
    coo = pp.sparse.coo_array((parts, places), shape=x.shape, device=device)
    return coo if format == "coo" else without_order(coo, format)


def without_order(coo, format):
    """A csr_array or csc_array with the entries of each row as they come, places that are named twice included."""
    row, col = (coo.row, coo.col) if format == "csr" else (coo.col, coo.row)
    rows = coo.shape[0] if format == "csr" else coo.shape[1]
    order = pp.argsort(row, stable=True)
    indptr = pp.searchsorted(row[order], pp.arange(rows + 1, dtype=row.dtype, device=coo.device))
    return getattr(pp.sparse, f"{format}_array")((coo.data[order], col[order], indptr), shape=coo.shape)


def compare(mine, expected, what=""):
    expected = np.asarray(expected)
    if pp.sparse.issparse(mine):
        mine = mine.toarray()
    if expected.dtype.kind in "biu":
        assert_same(mine, expected, what)
    else:
        tolerance = RTOL[str(expected.dtype)]
        assert_close(mine, expected, tolerance, 10 * tolerance, what)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype, device):
    x = dense(dtype, (9, 13))
    v = dense(dtype, (13, 1))[:, 0]
    a = made(x, device)
    assert a.dtype == dtype
    assert a.nnz == np.count_nonzero(x)
    compare(a, x)
    compare(a @ pp.asarray(v, device=device), x @ v)
    compare(a.sum(axis=0), x.sum(axis=0))


@pytest.mark.parametrize("dtype", SOME)
def test_every_format(dtype, device):
    x = dense(dtype, (9, 13))
    v, m = dense(dtype, (13, 1))[:, 0], dense(dtype, (13, 6))
    for format in FORMATS:
        a = made(x, device, format)
        assert a.format == format
        compare(a, x)
        compare(a @ pp.asarray(v, device=device), x @ v)
        compare(a @ pp.asarray(m, device=device), x @ m)
        compare(a @ made(m, device), x @ m)
        compare(a + made(x, device), x + x)
        compare(a.sum(axis=1), x.sum(axis=1))
        compare(a.sum(axis=0), x.sum(axis=0))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", ["bool", "float32"])
def test_entries_in_no_order(dtype, format, device):
    x = dense(dtype, (8, 11), 0.5)
    a = made(x, device, format, shuffled=True)
    assert a.nnz == 2 * np.count_nonzero(x)
    v = dense(dtype, (11, 1))[:, 0]
    compare(a, x)
    compare(a @ pp.asarray(v, device=device), x @ v)
    compare(a @ a.T, x @ x.T)
    compare(a + a, x + x)
    compare(abs(a), abs(x))
    compare(a.tocsr(), x)
    compare(a.tocsc(), x)
    compare(a.T, x.T)
    a.sum_duplicates()
    assert a.nnz == np.count_nonzero(x)
    compare(a, x)


SHAPES = [(0, 4), (4, 0), (0, 0), (1, 1), (1, 70), (70, 1), (300, 7)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes(shape, device):
    x = dense(NARROW, shape)
    for format in FORMATS:
        a = made(x, device, format)
        compare(a, x)
        compare(a @ pp.ones(shape[1], NARROW, device=device), x @ np.ones(shape[1], NARROW))
        compare(a @ pp.ones((shape[1], 3), NARROW, device=device), x @ np.ones((shape[1], 3), NARROW))
        compare(a @ a.T, x @ x.T)
        compare(a.T @ a, x.T @ x)
        compare(a - a.copy(), x - x)
        compare(a * a, x * x)
        for axis in (None, 0, 1):
            compare(a.sum(axis=axis), x.sum(axis=axis))
        assert a.T.shape == shape[::-1]


LAYOUTS = [lambda x: x, lambda x: x[::-1, ::-1], lambda x: x.T.copy().T, lambda x: np.repeat(x, 2, 0)[::2], lambda x: x[:, :1] + 0 * x]


@pytest.mark.parametrize("layout", LAYOUTS, ids=["plain", "negative", "columns", "gaps", "computed"])
def test_layouts_of_dense_operands(layout, device):
    x, m = dense(NARROW, (20, 12)), dense(NARROW, (12, 12), 0.9)
    a, theirs = made(x, device), pp.asarray(m, device=device)
    views = {
        0: lambda t: t,
        1: lambda t: t[::-1, ::-1],
        2: lambda t: t.T.copy().T,
        3: lambda t: pp.repeat(t, 2, axis=0)[::2],
        4: lambda t: t[:, :1] + 0 * t,
    }
    view = views[LAYOUTS.index(layout)](theirs)
    compare(a @ view, x @ layout(m))
    compare(a @ view[0], x @ layout(m)[0])
    compare(a @ view[:, 0], x @ layout(m)[:, 0])
    compare(view @ a.T, layout(m) @ x.T)
    compare(made(layout(m), device), layout(m))
    compare(a[:12] * view, x[:12] * layout(m))
    compare(a[:12] + view, x[:12] + layout(m))


def rows_of_lengths(lengths, columns, dtype=NARROW):
    rng = rng_for(tuple(lengths[:3]), columns)
    x = np.zeros((len(lengths), columns), dtype)
    for i, n in enumerate(lengths):
        x[i, rng.permutation(columns)[:n]] = rng.random(n) + 0.5
    return x


@pytest.mark.parametrize("cut", [False, True])
def test_rows_of_very_different_lengths(cut, device, monkeypatch):
    if cut:  # in pieces of four entries
        monkeypatch.setattr(products, "LONG", 4)
        monkeypatch.setattr(products, "has_few_items", lambda queue: False)
    x = rows_of_lengths([0, 1, 90, 0, 0, 3, 17, 64, 1, 0], 97)
    a, v = made(x, device), rng_for("v").random(97).astype(NARROW)
    compare(a @ pp.asarray(v, device=device), x @ v)
    compare(a @ pp.asarray(np.stack([v, v + 1], 1), device=device), x @ np.stack([v, v + 1], 1))
    compare(a.sum(axis=1), x.sum(axis=1))
    compare(a.max(axis=1), x.max(axis=1))
    compare((-a).max(axis=1), (-x).max(axis=1))
    compare(a @ a.T, x @ x.T)


@pytest.mark.parametrize("few", [False, True])
def test_kernels_of_processors_and_of_others(few, device, monkeypatch):
    """Each device can run both: parts of many rows on items that are alone, and rows on sub-groups."""
    for module in (structure, products, multiplication, reductions):
        monkeypatch.setattr(module, "has_few_items", lambda queue: few)
    monkeypatch.setattr(structure, "BLOCK", 16)
    monkeypatch.setattr(structure, "PER_ITEM", 5)
    monkeypatch.setattr(products, "NARROW", 16)
    x = rows_of_lengths([40, 0, 3, 12, 33, 1, 0, 7, 20, 9, 11], 41)
    y = dense(NARROW, (11, 41))
    a, b = made(x, device), made(y, device)
    v = np.ones(41, NARROW)
    compare(a @ pp.asarray(v, device=device), x @ v)
    compare(a @ b.T, x @ y.T)
    compare(a + b, x + y)
    compare(a.tocsc().tocsr(), x)
    compare(a @ pp.asarray(y.T.copy(), device=device), x @ y.T)
    compare(a.min(axis=1), x.min(axis=1))
    compare(a.sum(axis=0), x.sum(axis=0))


def test_products_in_several_launches(device, monkeypatch):
    monkeypatch.setattr(multiplication, "PLACES", 64)
    x, y = dense("int32", (30, 20)), dense("int32", (20, 25))
    compare(made(x, device) @ made(y, device), x @ y)


@pytest.mark.parametrize("dense_from", [1, 10**9])
def test_products_with_places_for_columns_and_with_tables(dense_from, device, monkeypatch):
    for module in (structure, products, multiplication):
        monkeypatch.setattr(module, "has_few_items", lambda queue: True)
    monkeypatch.setattr(multiplication, "DENSE", dense_from)
    for share in (0.1, 0.7):
        x, y = dense(NARROW, (30, 20), share), dense(NARROW, (20, 17), share)
        compare(made(x, device) @ made(y, device), x @ y)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32"])
def test_extremes(dtype, device):
    x = dense(dtype, (6, 7), 0.8)
    x[0] = 3  # a row without zeros
    x[1] = -4 * np.ones(7)
    for format in FORMATS:
        a = made(x, device, format)
        for axis in (None, 0, 1):
            compare(a.max(axis=axis), x.max(axis=axis))
            compare(a.min(axis=axis), x.min(axis=axis))
    if dtype == "float32":
        x[0, 2] = np.nan
        compare(made(x, device).max(axis=1), x.max(axis=1))
        compare(made(x, device).min(axis=0), x.min(axis=0))


@pytest.mark.parametrize("op", ["add", "sub", "mul", "ne", "lt", "gt", "eq", "le", "ge"])
@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_operators_on_elements(op, dtype, device):
    if op == "sub" and dtype == "bool":
        pytest.skip("refused, as by NumPy")
    f = getattr(np.ndarray, f"__{op}__")
    x, y = dense(dtype, (7, 9)), dense(dtype, (7, 9), 0.6)
    for format in FORMATS:
        a, b = made(x, device, format), made(y, device)
        compare(getattr(a, f"__{op}__")(b), f(x, y))
        compare(getattr(a, f"__{op}__")(pp.asarray(y, device=device)), f(x, y))


def test_places_are_as_numpys(device):
    x = dense(NARROW, (12, 15), 0.4)
    for format in FORMATS:
        a = made(x, device, format)
        rows, columns = np.array([3, 0, 11, 3]), np.array([14, 2, 2])
        for key in (slice(2, 9), slice(None, None, 2), slice(9, 2, -3), slice(5, 5), slice(-4, None)):
            compare(a[key], x[key])
            compare(a[:, key], x[:, key])
            compare(a[key, 1:6], x[key, 1:6])
        compare(a[rows], x[rows])
        compare(a[:, columns], x[:, columns])
        compare(a[pp.asarray(rows, device=device), 3:9], x[rows, 3:9])
        compare(a[1:8, columns - 15], x[1:8, columns - 15])
        compare(a[x[:, 0] > 0], x[x[:, 0] > 0])
        compare(a[rows][:, columns], x[rows][:, columns])
        compare(a[4, 5], x[4, 5])
        compare(a[-1, -2], x[-1, -2])
        for k in (-12, -3, 0, 2, 14, 20):
            compare(a.diagonal(k), np.diagonal(x, k) if -12 < k < 15 else np.zeros(0, NARROW))
