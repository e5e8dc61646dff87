# tests/python/test_einsum.py: Einstein's sums against NumPy's.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from against_numpy import compare
from support import check, samples

SHAPES = {"i": 2, "j": 3, "k": 4, "l": 2}
SUBSCRIPTS = [
    "i->i",
    "i->",
    "ij->ji",
    "ij",
    "ji",
    "ij->j",
    "ii->i",
    "ii",
    "iji->j",
    "i,i",
    "i,j",
    "ij,jk",
    "ij,jk->ki",
    "ij,kj->ik",
    "ij,ij->ij",
    "ij,ij",
    "ijk,jk->i",
    "ij,jk,kl->il",
    "ij,jk,k",
    "i,i,i->i",
    "ijk->kj",
    "...j->j...",
    "i...,...j->...ij",
    "...->...",
    "ij,j->ij",
    ",ij->ij",
    "i j , j k -> i k",
    "ij,jk->",
    "i,j,k->kij",
]
WRONG = ["ij", "i,j", "i->j", "ijk->ii", "ij.k", "i$k", "ijkl", "...ij...", "ijk->i,j"]


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
@pytest.mark.varied("dtype")
def test_sums(subscripts, dtype, rng):
    terms = subscripts.replace(" ", "").split("->")[0].split(",")
    hosts = [samples(dtype, tuple({**SHAPES, "x": 1}[c] for c in t.replace("...", "kl")), rng) for t in terms]
    for optimize in (False, True):
        compare(lambda m, *xs: m.einsum(subscripts, *xs, optimize=optimize), *hosts, ulp=2**9 if dtype != "int16" else 0)  # noqa: B023
    if len(hosts) > 2:
        arrays = list(map(pp.asarray, hosts))
        assert pp.einsum_path(subscripts, *arrays)[0] == np.einsum_path(subscripts, *hosts)[0]


@pytest.mark.parametrize("subscripts", WRONG)
def test_wrong_subscripts(subscripts, rng):
    compare(lambda m, x: m.einsum(subscripts, x), rng.standard_normal((2, 3, 4)))


def test_other_arguments(rng):
    a, b = rng.standard_normal((2, 3)), rng.standard_normal((3, 4))
    compare(lambda m, x, y: m.einsum(x, [0, 1], y, [1, 2], [2, 0]), a, b, ulp=16)
    compare(lambda m, x, y: m.einsum(x, [0, 1], y, [1, 2]), a, b, ulp=16)
    compare(lambda m, x: m.einsum(x, [..., 0], [0, ...]), a)
    compare(lambda m, x: m.einsum("ij->i", x, dtype="complex128"), a, ulp=16)
    compare(lambda m, x: m.einsum("ij->i", x, dtype="float32"), a)
    compare(lambda m, x, y: m.einsum("ij,jk", x, y[:1]), a[:, :1], b, ulp=16)
    compare(lambda m, x, y: m.einsum("ij,jk", x, y[:2]), a, b)
    for order in ("C", "F", "A", "K"):
        made = pp.einsum("ij,jk", pp.asarray(a), pp.asarray(b), order=order)
        check(made, a @ b, ulp=16)
        assert made.flags.f_contiguous == (order == "F")
        columns = [pp.asarray(np.asfortranarray(x), device="cpu") for x in (a, b)]
        assert pp.einsum("ij,jk", *columns, order=order).flags.f_contiguous == (order in "FA")
    with pytest.raises(ValueError, match=r"^einsum: casting"):
        pp.einsum("ij", pp.asarray(a), casting="bogus")
    with pytest.raises(ValueError, match=r"^einsum: order"):
        pp.einsum("ij", pp.asarray(a), order="Z")
    out = pp.zeros((2, 4))
    assert pp.einsum("ij,jk", pp.asarray(a), pp.asarray(b), out=out) is out
    check(out, a @ b, ulp=16)
    with pytest.raises(TypeError, match=r"^einsum: an array, a number or a sequence of numbers is expected"):
        pp.einsum("i", "ab")
