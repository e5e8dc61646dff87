# tests/conformance/test_bfloat16_values.py: arrays of bfloat16 against NumPy in float32, rounded once by ml_dtypes.
import ml_dtypes
import numpy as np
import pardo as pp
import pytest
from data import DTYPES, FLOATS, LAYOUTS, as_on, layouts_for, rng_for, values
from hypothesis import given, settings
from hypothesis import strategies as st
from test_elementwise import DRIVER_ULPS, EITHER_ZERO, EXACT, ROWS, function_of, reference_of

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Of those that are left out tests of their own are below, or NumPy has no such function.
LEFT_OUT = {"nextafter", "where", "round", "float_power"}
REAL = [row for row in ROWS if row[2] not in ("INTEGER", "BOOLEAN") and row[0] not in LEFT_OUT and reference_of(row[0], row[4]) is not None]
PATTERNS = np.arange(1 << 16, dtype=np.uint16).view(BFLOAT16)


def numbers(size, rng, small=False):
    a = values("float32", size, rng, special=not small, small=small)
    return a.astype(BFLOAT16)


def rounded(x):
    """What arrays of bfloat16 hold of a result that was computed in float32."""
    return x.astype(BFLOAT16) if x.dtype == np.float32 else x


def bits(x):
    """The bits, with one pattern for NaN."""
    host = pp.asnumpy(x) if isinstance(x, pp.Array) else np.asarray(x)
    assert host.dtype == BFLOAT16
    return np.where(np.isnan(host.astype("f4")), np.uint16(0x7FC0), host.view(np.uint16))


def steps(mine, reference):
    """How many numbers of bfloat16 lie between two; those of both signs are in one order, and both zeros are one number."""
    places = [np.where(b & 0x8000, -(b & 0x7FFF).astype(np.int32), b.astype(np.int32)) for b in (bits(mine), bits(reference))]
    return np.abs(places[0] - places[1])


def assert_same(mine, reference, what=""):
    got, expected = pp.asnumpy(mine), np.asarray(reference)
    assert got.dtype == expected.dtype, what
    assert got.shape == expected.shape, what
    if expected.dtype == BFLOAT16:
        np.testing.assert_array_equal(bits(got), bits(expected), err_msg=what)
    else:
        np.testing.assert_array_equal(got, expected, err_msg=what)


@pytest.mark.parametrize(("name", "arity", "dtypes", "result", "numpy_name", "_doc"), REAL, ids=[row[0] for row in REAL])
def test_elementwise(name, arity, dtypes, result, numpy_name, _doc, device):
    reference, function = reference_of(name, numpy_name), function_of(name, numpy_name)
    for layout in layouts_for(device, name, "bfloat16"):
        rng = rng_for(name, "bfloat16", layout.name)
        hosts, ours = [], []
        for _ in range(int(arity)):
            base = numbers(int(np.prod(layout.base)), rng).reshape(layout.base)
            hosts.append(layout.view(np, base).astype("f4"))
            ours.append(layout.view(pp, pp.asarray(base, device=device)))
        try:
            expected = np.asarray(reference(*hosts))
        except TypeError:
            with pytest.raises(TypeError):
                function(*ours)
            return
        got = function(*ours)
        what = f"{name}, {layout.name}"
        if expected.dtype == np.float64:  # erf
            expected = expected.astype("f4")
        if expected.dtype != np.float32:
            assert_same(got, expected, what)
        elif name in EITHER_ZERO:
            assert got.dtype == BFLOAT16, what
            assert steps(got, rounded(expected)).max(initial=0) == 0, what
        elif name in EXACT:
            assert_same(got, rounded(expected), what)
        else:
            assert got.dtype == BFLOAT16, what
            assert steps(got, rounded(expected)).max(initial=0) <= (1 if device.backend == "cpu" else DRIVER_ULPS), what


def test_other_elementwise_functions(device):
    a, b = numbers(500, rng_for("a")), numbers(500, rng_for("b"))
    x, y = pp.asarray(a, device=device), pp.asarray(b, device=device)
    assert_same(pp.nextafter(x, y), np.nextafter(a, b))
    assert_same(pp.where(x > y, x, y), np.where(a > b, a, b))
    assert_same(pp.where(x > y, x, 1.5), np.where(a > b, a, BFLOAT16.type(1.5)))
    assert_same(pp.round(x), np.rint(a))
    assert_same(pp.clip(x, -1, 2.5), np.clip(a.astype("f4"), -1, 2.5).astype(BFLOAT16))
    if device.has_fp64:
        assert pp.float_power(x, y).dtype == np.float64


@pytest.mark.parametrize("target", [*DTYPES, "bfloat16"])
def test_casts_to(target, device):
    to = BFLOAT16 if target == "bfloat16" else np.dtype(target)
    whole = np.arange(-100, 100, dtype="f4").astype(BFLOAT16) if to.kind in "iu" else PATTERNS
    if to.kind == "u":
        whole = np.abs(whole)
    if to.kind in "iu" and to.itemsize == 1:
        whole = whole[whole < 100]
    x = pp.asarray(whole, device=device)
    with np.errstate(all="ignore"):
        assert_same(x.astype(target), whole.astype("f4").astype(to), target)


@pytest.mark.parametrize("source", [name for name in DTYPES if not name.startswith("complex")])
def test_casts_from(source, device):
    a = values(source, 500, rng_for("to bfloat16", source))
    with np.errstate(all="ignore"):
        assert_same(pp.asarray(a, device=device).astype("bfloat16"), a.astype(BFLOAT16), source)


def test_float32_is_rounded_to_nearest_even(device):
    rng = rng_for("rounding")
    a = np.concatenate([rng.integers(0, 1 << 32, 100_000, dtype=np.uint32), np.arange(0x7F800000 - 70_000, 0x7F800000, dtype=np.uint32)])
    a = np.concatenate([a, (rng.integers(0, 1 << 16, 10_000, dtype=np.uint32) << 16) | 0x8000, np.arange(70_000, dtype=np.uint32)]).view(
        "f4"
    )
    assert_same(pp.asarray(a, device=device).astype("bfloat16"), a.astype(BFLOAT16))


def test_all_patterns_go_there_and_back(device):
    x = pp.asarray(PATTERNS, device=device)
    np.testing.assert_array_equal(pp.asnumpy(x).view("u2"), PATTERNS.view("u2"))
    assert_same(x.astype("float32"), PATTERNS.astype("f4"))
    assert_same(x.astype("float32").astype("bfloat16"), PATTERNS)


def test_a_chain_rounds_after_every_operation(device):
    """As NumPy's arrays of ml_dtypes do: fused or not, the same bits."""
    rng = rng_for("chain")
    a, b = numbers(1000, rng, small=True), numbers(1000, rng, small=True)
    x, y = pp.asarray(a, device=device), pp.asarray(b, device=device)
    assert_same((x + y) * x - y / (x * x + 1), (a + b) * a - b / (a * a + BFLOAT16.type(1)))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min", "var", "std", "argmax", "argmin", "any", "all", "nansum", "nanmax"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions(name, axis, device):
    a = numbers(30 * 40, rng_for(name, axis), small=True).reshape(30, 40)
    if name == "prod":
        a = np.abs(a[:5, :5]) + BFLOAT16.type(0.5)
    got, exact = getattr(pp, name)(pp.asarray(a, device=device), axis=axis), np.asarray(getattr(np, name)(a.astype("f4"), axis=axis))
    if exact.dtype != np.float32:
        assert_same(got, exact)
        return
    assert got.dtype == BFLOAT16
    scale = np.abs(a.astype("f4")).sum() if "sum" in name else 1
    np.testing.assert_allclose(pp.asnumpy(got).astype("f4"), exact, rtol=2**-8, atol=1e-6 * scale)


def test_sums_are_kept_in_float32(device):
    assert float(pp.ones(10_000, dtype="bfloat16", device=device).sum()) == 9984  # 10000, rounded once
    assert float(pp.mean(pp.full(1000, 3.0, dtype="bfloat16", device=device))) == 3


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_results(name, device):
    a = np.where(rng_for(name).integers(0, 2, 300), 1, -1).astype(BFLOAT16)
    assert_same(getattr(pp, name)(pp.asarray(a, device=device)), getattr(np, name)(a.astype("f4")).astype(BFLOAT16))


def test_sorting(device):
    a = numbers(3000, rng_for("sort"))
    x, wide = pp.asarray(a, device=device), a.astype("f4")
    assert steps(pp.sort(x), np.sort(wide).astype(BFLOAT16)).max() == 0
    order = pp.asnumpy(pp.argsort(x, stable=True))
    np.testing.assert_array_equal(order, np.argsort(wide, stable=True))
    some = np.unique(wide[np.isfinite(wide)])
    np.testing.assert_array_equal(pp.asnumpy(pp.unique(pp.asarray(a[np.isfinite(wide)], device=device))).astype("f4"), some)
    edges = np.sort(some)[::7].astype(BFLOAT16)
    at = pp.searchsorted(pp.asarray(edges, device=device), pp.asarray(a[np.isfinite(wide)], device=device))
    np.testing.assert_array_equal(pp.asnumpy(at), np.searchsorted(edges.astype("f4"), wide[np.isfinite(wide)]))


@pytest.mark.parametrize("shapes", [((40, 50), (50, 30)), ((3, 16, 16), (16, 16)), ((50,), (50,)), ((200, 300), (300,))], ids=str)
def test_products(shapes, device):
    a, b = (numbers(int(np.prod(s)), rng_for(shapes, k), small=True).reshape(s) for k, s in enumerate(shapes))
    got, exact = pp.asarray(a, device=device) @ pp.asarray(b, device=device), a.astype("f8") @ b.astype("f8")
    assert got.dtype == BFLOAT16
    np.testing.assert_allclose(pp.asnumpy(got).astype("f8"), exact, rtol=2**-8, atol=1e-5 * a.shape[-1])


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_layouts_and_copies(layout, device):
    base = numbers(int(np.prod(layout.base)), rng_for(layout.name)).reshape(layout.base)
    a, x = layout.view(np, base), layout.view(pp, pp.asarray(base, device=device))
    assert_same(x, a)
    assert_same(x.copy(), a)
    assert_same(pp.concatenate([x.ravel(), x.ravel()]), np.concatenate([a.ravel(), a.ravel()]))


def test_indices(device):
    a = numbers(500, rng_for("indices"))
    x, places = pp.asarray(a, device=device), rng_for("places").integers(-500, 500, 70)
    assert_same(x[places], a[places])
    assert_same(x[x > 0], a[a > 0])
    x[places], a[places] = 2.5, 2.5
    x[3:9], a[3:9] = x[:6] + 1, a[:6] + BFLOAT16.type(1)
    assert_same(x, a)
    np.testing.assert_array_equal(pp.asnumpy(pp.where(x > 1, x, 0)).astype("f4"), np.where(a > 1, a, 0).astype("f4"))


@pytest.mark.parametrize("other", [name for name in DTYPES if name not in FLOATS])
def test_operands_of_other_dtypes_are_promoted(other, device):
    wanted = as_on(device, np.empty(0, pp.result_type(BFLOAT16, other))).dtype
    a, b = numbers(50, rng_for(other), small=True), values(other, 50, rng_for(other, 1), special=False, small=True)
    got = pp.asarray(a, device=device) + pp.asarray(b, device=device)
    assert got.dtype == wanted
    wide = np.float32 if wanted == BFLOAT16 else wanted
    assert_same(got, (a.astype(wide) + b.astype(wide)).astype(wanted))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 0xFFFF), st.integers(0, 0xFFFF)), min_size=1, max_size=40))
def test_arithmetic_is_that_of_ml_dtypes(pairs):
    a, b = np.array(pairs, np.uint16).T.copy().view(BFLOAT16)
    x, y = pp.asarray(a), pp.asarray(b)
    with np.errstate(all="ignore"):
        for f in (np.add, np.subtract, np.multiply, np.divide, np.less, np.equal, np.copysign):
            assert_same(getattr(pp, f.__name__)(x, y), f(a, b), f.__name__)
        for f in (np.sqrt, np.negative, np.absolute, np.floor, np.rint, np.isnan, np.isfinite, np.signbit):
            assert_same(getattr(pp, f.__name__)(x), f(a), f.__name__)
