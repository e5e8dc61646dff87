# tests/python/test_out_of_every_dtype.py: what NumPy stores in `out`, of any dtype and strides, is stored; what is refused changes nothing.
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore")]

X, LINE, PLACES = np.array([[3.0, 1, 2], [6, 5, 4]]), np.array([3.0, 1, 2]), np.array([2, 0, 1])
SQUARE, MASK, COMPLEX = np.eye(3) * 2 + 1, np.array([True, False, True]), np.array([3 + 1j, 1, 2])
REDUCTIONS = [
    "argmax",
    "argmin",
    "nanargmax",
    "nanargmin",
    "sum",
    "prod",
    "mean",
    "std",
    "var",
    "max",
    "min",
    "any",
    "all",
    "cumsum",
    "cumprod",
    "median",
    "nanmedian",
    "nanmean",
    "nansum",
    "nanprod",
    "nanstd",
    "nanvar",
    "nanmax",
    "nanmin",
    "nancumsum",
    "nancumprod",
    "ptp",
]
CALLS = [
    *((name, (X,), {"axis": axis}) for name in REDUCTIONS for axis in (None, 0)),
    *((name, (COMPLEX,), {}) for name in ("mean", "nanmean", "sum", "nansum", "cumsum")),
    *((name, (X, q), {"axis": 0}) for name in ("quantile", "nanquantile") for q in (0.5, [0.25, 0.5])),
    *((name, (X, 50), {}) for name in ("percentile", "nanpercentile")),
    ("take", (LINE, PLACES), {}),
    ("take", (X, [0, 1]), {"axis": 1}),
    ("compress", (MASK, LINE), {}),
    ("choose", (PLACES, [LINE, LINE + 1, LINE + 2]), {}),
    ("dot", (SQUARE, LINE), {}),
    ("matmul", (SQUARE, SQUARE), {}),
    ("outer", (LINE, LINE), {}),
    ("clip", (LINE, 1, 2), {}),
    ("round", (LINE,), {}),
    ("concatenate", ([LINE, LINE],), {}),
    ("stack", ([LINE, LINE],), {}),
    ("trace", (SQUARE,), {}),
    ("add", (LINE, LINE), {}),
    ("equal", (LINE, LINE), {}),
    ("absolute", (COMPLEX,), {}),
]
DTYPES = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"]


def ours(x):
    if isinstance(x, list) and isinstance(x[0], np.ndarray):
        return [pp.asarray(part) for part in x]
    return pp.asarray(x) if isinstance(x, np.ndarray) else x


def called(name, arguments, keywords, out):
    return getattr(pp, name)(*map(ours, arguments), **keywords, out=out)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("name", "arguments", "keywords"), CALLS, ids=lambda v: v if isinstance(v, str) else "")
def test_out(name, arguments, keywords, dtype):
    plain = np.asarray(getattr(np, name)(*arguments, **keywords))
    spaced = tuple(slice(None, None, 2) for _ in plain.shape)
    for part in (..., spaced) if plain.ndim else (...,):
        shape = plain.shape if part is ... else tuple(2 * n for n in plain.shape)
        expected, memory = np.zeros(shape, dtype), pp.zeros(shape, dtype=dtype)
        try:
            getattr(np, name)(*arguments, **keywords, out=expected[part])
            accepts = True
        except (TypeError, ValueError):
            accepts = False
        out = memory[part]
        if not accepts and not (np.can_cast(plain.dtype, dtype, "same_kind") or name in ("take", "compress")):
            with pytest.raises((TypeError, ValueError), match=f"^{name}: "):
                called(name, arguments, keywords, out)
            assert not pp.asnumpy(memory).any()
            continue
        got = called(name, arguments, keywords, out)
        assert got is out
        if not accepts:  # some of NumPy's functions take less than its rule for casts
            expected[part] = plain
        assert_allclose(pp.asnumpy(memory), expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(("name", "arguments", "keywords"), CALLS, ids=lambda v: v if isinstance(v, str) else "")
def test_out_that_is_an_operand(name, arguments, keywords):
    plain = np.asarray(getattr(np, name)(*arguments, **keywords))
    for k, x in enumerate(arguments):
        if not isinstance(x, np.ndarray) or x.ndim != plain.ndim or x.dtype != plain.dtype:
            continue
        if any(n < m for n, m in zip(x.shape, plain.shape, strict=True)):
            continue
        given = [ours(v) for v in arguments]
        out = given[k][tuple(slice(n) for n in plain.shape)]
        getattr(pp, name)(*given, **keywords, out=out)
        assert_allclose(pp.asnumpy(out), plain)
        given = [ours(v) for v in arguments]
        if plain.ndim == 1 and len(x) == len(plain):
            out = given[k][::-1]
            getattr(pp, name)(*given, **keywords, out=out)
            assert_allclose(pp.asnumpy(out), plain)
