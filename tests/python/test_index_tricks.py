# tests/python/test_index_tricks.py: r_, c_, mgrid, ogrid, s_, index_exp and NumPy's names of scalar types.
from __future__ import annotations

import pickle

import numpy as np
import pardo as pp
import pytest
from against_numpy import compare
from support import check, samples

JOINED = [
    lambda m, x, v: m.r_[v, 0, 0, v],
    lambda m, x, v: m.r_[1:4, v, 7],
    lambda m, x, v: m.r_[-1:1:6j, [0] * 3, 5, 6],
    lambda m, x, v: m.r_[x, x],
    lambda m, x, v: m.r_["-1", x, x],
    lambda m, x, v: m.r_["1", x, x],
    lambda m, x, v: m.r_["0,2", [1, 2, 3, 4], x],
    lambda m, x, v: m.r_["0,2,0", v, v],
    lambda m, x, v: m.r_["1,2,0", v, v],
    lambda m, x, v: m.r_["0,3", v, v],
    lambda m, x, v: m.r_["0,3,1", v, v],
    lambda m, x, v: m.r_[2.5],
    lambda m, x, v: m.r_[:3],
    lambda m, x, v: m.r_[0:1:0.25, v],
    lambda m, x, v: m.c_[v],
    lambda m, x, v: m.c_[v, v],
    lambda m, x, v: m.c_[x, x],
    lambda m, x, v: m.c_[0, v[:1], 5],
    lambda m, x, v: m.c_[1:6, v],
    lambda m, x, v: m.r_[x, v],
    lambda m, x, v: m.r_["zero", v],
    lambda m, x, v: m.r_[v, "0"],
    lambda m, x, v: m.r_[()],
]
GRIDS = [
    lambda m: m.mgrid[0:5],
    lambda m: m.mgrid[0:5, 0:3],
    lambda m: m.mgrid[-1:1:5j],
    lambda m: m.mgrid[-1:1:5j, 0:3],
    lambda m: m.mgrid[0:4:0.5, 3:1:-1, :2],
    lambda m: m.mgrid[2:2, 0:3],
    lambda m: m.ogrid[0:5],
    lambda m: m.ogrid[0:5, -1:1:3j],
    lambda m: m.ogrid[0:5, 1:7:2, 0:0],
    lambda m: m.ogrid[:4],
]


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint64", "float32", "complex128"])
@pytest.mark.parametrize("case", range(len(JOINED)))
def test_joined(case, dtype, rng):
    compare(JOINED[case], samples(dtype, (3, 4), rng), samples(dtype, (5,), rng), ulp=2)


@pytest.mark.parametrize("case", range(len(GRIDS)))
def test_grids(case):
    compare(GRIDS[case], ulp=2)


def test_what_is_refused(rng):
    x = pp.ones(3)
    with pytest.raises(pp.ExecutionPlacementError):
        pp.r_[x, pp.ones(3, queue=pp.Queue("cpu"))]
    with pytest.raises(ValueError, match=r"numpy.matrix"):
        pp.r_["r", x]
    for wrong in (3, (slice(3), 2), [1]):
        with pytest.raises(TypeError, match="a slice for each dimension"):
            pp.mgrid[wrong]
    with pytest.raises(TypeError, match="without an end"):
        pp.ogrid[1:, 2:3]


def test_they_stay_on_the_queue_of_their_arrays():
    queue = pp.Queue("cpu")
    x = pp.ones(3, queue=queue)
    for made in (pp.r_[x, 1:4, [2, 3]], pp.c_[x, 0:3]):
        assert made.queue == queue


def test_they_pickle_by_name():
    for name in ("r_", "c_", "mgrid", "ogrid"):
        assert pickle.loads(pickle.dumps(getattr(pp, name))) is getattr(pp, name)
        assert repr(getattr(pp, name)) == f"pardo.{name}"


def test_index_expressions():
    assert pp.s_[1:3, ::2] == np.s_[1:3, ::2]
    assert pp.index_exp[0] == (0,)
    check(pp.arange(9)[pp.s_[2::3]], np.arange(9)[2::3])


def test_names_of_scalar_types():
    for name in [
        "intp",
        "uint",
        "half",
        "double",
        "csingle",
        "integer",
        "floating",
        "complexfloating",
        "generic",
        "unsignedinteger",
        "ushort",
    ]:
        assert getattr(pp, name) is getattr(np, name)
    assert pp.issubdtype(pp.ones(2, dtype=pp.single).dtype, pp.floating)
    assert list(pp.ndindex(2, 2)) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_values_of_the_host_that_meet_arrays_are_guarded():
    x = pp.arange(3.0)
    with pp.transfer_guard("disallow"):
        with pytest.raises(pp.ExecutionPlacementError, match="r_"):
            pp.r_[x, [1.0, 2.0]]
        np.testing.assert_array_equal(pp.asnumpy(pp.r_[x, 7.0, 1:3]), [0, 1, 2, 7, 1, 2])
        np.testing.assert_array_equal(pp.asnumpy(pp.r_[[1.0, 2.0], 3.0]), [1, 2, 3])
    before = pp.counters()["copied_bytes"]
    joined = pp.r_[x, [1.0, 2.0]]
    assert pp.counters()["copied_bytes"] == before + 16
    np.testing.assert_array_equal(pp.asnumpy(joined), [0, 1, 2, 1, 2])
