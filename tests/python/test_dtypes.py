# tests/python/test_dtypes.py: data types: promotion tables, casts, limits, kinds; all as NumPy's.
from __future__ import annotations

import itertools

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support import DTYPES, check, samples


def test_names_are_numpys():
    for name in DTYPES:
        t = getattr(pp, name)
        assert np.dtype(t) == np.dtype(name)
        assert pp.zeros(1, dtype=t).dtype == t
        hash(t)


@pytest.mark.parametrize("left", DTYPES)
def test_result_type(left):
    for right in DTYPES:
        expected = np.result_type(left, right)
        assert pp.result_type(getattr(pp, left), getattr(pp, right)) == expected
        assert pp._core._promote(left, right) == expected
        assert pp.can_cast(left, right) == np.can_cast(left, right)
        assert pp._core._can_cast_safe(left, right) == np.can_cast(left, right)
        assert pp._core._can_cast_same_kind(left, right) == np.can_cast(left, right, "same_kind")
    for number in (True, 1, 1.5, 1j):
        expected = np.result_type(np.zeros(1, left), number)
        assert pp.result_type(pp.zeros(1, left), number) == expected
        assert pp._core._promote_weak(left, number) == expected


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("source", DTYPES)
def test_casts(source, rng):
    host = np.abs(samples(source, (20,), rng))
    for target in DTYPES:
        check(pp.asarray(host).astype(target), host.astype(target), label=f"{source} to {target}")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_casts_out_of_range(source):
    host = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9, 300, -300, 128, -129], source)
    for target in ("int32", "int64"):
        check(pp.asarray(host).astype(target), host.astype(target), label=f"{source} to {target}")
    # NumPy's own results for the others depend on the machine; ours must at least be the same every time.
    for target in DTYPES[:9]:
        check(pp.asarray(host[:1]).astype(target), pp.asnumpy(pp.asarray(host).astype(target))[:1], label=f"{source} to {target}")


@given(hnp.arrays(np.int64, st.integers(0, 30)), st.sampled_from(DTYPES))
def test_integer_casts_wrap(host, target):
    with np.errstate(all="ignore"):
        check(pp.asarray(host).astype(target), host.astype(target))


def test_astype_keywords():
    x = pp.zeros(3)
    assert pp.astype(x, "float64", copy=False) is x or np.shares_memory(np.asarray(pp.astype(x, "float64", copy=False)), np.asarray(x))
    y = x.astype("float64")
    y[0] = 1
    assert x[0].item() == 0
    with pytest.raises(TypeError):
        x.astype("S3")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_finfo(dtype):
    ours, theirs = pp.finfo(dtype), np.finfo(dtype)
    for field in ("bits", "eps", "max", "min", "smallest_normal", "dtype", "tiny", "resolution", "precision"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert type(ours.eps) is float
    assert pp.finfo(pp.zeros(1, dtype)) == ours


@pytest.mark.parametrize("dtype", DTYPES[1:9])
def test_iinfo(dtype):
    ours, theirs = pp.iinfo(dtype), np.iinfo(dtype)
    assert (ours.bits, ours.max, ours.min, ours.dtype) == (theirs.bits, theirs.max, theirs.min, theirs.dtype)


def test_isdtype():
    for name in DTYPES:
        if name == "float16":
            continue
        for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"):
            assert pp.isdtype(np.dtype(name), kind) == np.isdtype(np.dtype(name), kind)
    assert pp.isdtype(pp.float32, ("integral", pp.float32))
    with pytest.raises(ValueError, match="kind"):
        pp.isdtype(pp.float32, "no kind")


def test_info():
    info = pp.__array_namespace_info__()
    assert info.default_dtypes() == {
        "real floating": pp.float64, "complex floating": pp.complex128, "integral": pp.int64, "indexing": pp.int64,
    }  # fmt: skip
    assert set(info.dtypes()) == set(DTYPES) - {"float16"}
    assert set(info.dtypes(kind="bool")) == {"bool"}
    assert set(info.dtypes(kind=("real floating", "bool"))) == {"bool", "float32", "float64"}
    assert info.default_device() in info.devices()
    assert info.capabilities()["max dimensions"] == 32


PROMOTIONS = {
    "concatenate": lambda lib, a, b, c: lib.concatenate([a, b, c]),
    "stack": lambda lib, a, b, c: lib.stack([a, b, c]),
    "vstack": lambda lib, a, b, c: lib.vstack([a, b, c]),
    "block": lambda lib, a, b, c: lib.block([a, b, c]),
    "diff": lambda lib, a, b, c: lib.diff(a, prepend=b, append=c),
    "choose": lambda lib, a, b, c: lib.choose(lib.asarray([0, 1, 2]), [a, b, c]),
    "select": lambda lib, a, b, c: lib.select([lib.asarray([True, False, False]), lib.asarray([False, True, False])], [a, b], c),
    "clip": lambda lib, a, b, c: lib.clip(a, b, c),
}


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.varied("name")
@pytest.mark.parametrize("name", PROMOTIONS)
def test_promotion_of_three(name):
    # A fold from the left would make float64 of int16, uint16 and float32.
    make = PROMOTIONS[name]
    for dtypes in itertools.product(DTYPES, repeat=3):
        hosts = [np.arange(1, 4).astype(t) for t in dtypes]
        try:
            expected = make(np, *hosts)
        except (TypeError, ValueError):
            with pytest.raises((TypeError, ValueError)):
                make(pp, *map(pp.asarray, hosts))
            continue
        assert make(pp, *map(pp.asarray, hosts)).dtype == expected.dtype, dtypes


def test_arange_promotes_three():
    for dtypes in itertools.permutations(["int16", "uint16", "float32", "float16"], 3):
        bounds = [np.array(v, t) for v, t in zip((1, 9, 2), dtypes, strict=True)]
        assert pp.arange(*map(pp.asarray, bounds)).dtype == np.result_type(*dtypes), dtypes
