# tests/python/test_flat.py: Array.flat, choose, tofile and dump against NumPy's.
from __future__ import annotations

import io
import pickle

import numpy as np
import pardo as pp
import pytest
from against_numpy import compare
from numpy_names import BEFORE_2_1
from support import DTYPES, check, samples

KEYS = [
    0,
    -1,
    7,
    slice(2, 9, 3),
    slice(None, None, -2),
    slice(5, 5),
    ...,
    [0, -1, 3],
    np.array([[1, 2], [11, 0]]),
    np.arange(12) % 3 == 0,
    (4,),
    12,
    [0, 12],
    np.ones(3, bool),
    "a",
]
SHORT_MASK = len(KEYS) - 2
LAYOUTS = [lambda x: x, lambda x: x.T, lambda x: x[:, ::-1]]


@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("key", range(len(KEYS)))
def test_read_and_write(key, layout, rng):
    if BEFORE_2_1 and key == SHORT_MASK:
        pytest.skip("NumPy 2.0 takes masks that are too short")
    host, where, key = samples("int16", (3, 4), rng), LAYOUTS[layout], KEYS[key]
    compare(lambda m, x: where(x).flat[key].copy() if m is pp else np.array(where(x).flat[key]), host)
    for value in (7, [1, 2], np.arange(12), 2.75):

        def write(m, x, v=value):
            where(x).flat[key] = m.asarray(v) if isinstance(v, np.ndarray) else v
            return x

        compare(write, host)


@pytest.mark.parametrize("dtype", DTYPES)
def test_all_dtypes(dtype, rng):
    host = samples(dtype, (2, 3), rng)
    x = pp.asarray(host)[:, ::-1]
    theirs = host.copy()[:, ::-1]
    check(x.flat.copy(), theirs.flat.copy())
    x.flat, theirs.flat = host[0], host[0]
    check(x, theirs)
    check(pp.concatenate([e.reshape(1) for e in x.flat]), np.array(list(theirs.flat)))
    check(x.flat == x.flat, np.ones(6, bool))
    check(x.flat != theirs.flat.copy()[0].item(), theirs.flat != theirs.flat.copy()[0])


def test_iteration_tells_where_it_is():
    ours, theirs = pp.arange(6).reshape(2, 3).flat, np.arange(6).reshape(2, 3).flat
    assert len(ours) == len(theirs) == 6
    for a, b in zip(ours, theirs, strict=True):
        assert int(a) == b
        assert ours.index == theirs.index
        if ours.index < 6:
            assert ours.coords == theirs.coords
    assert ours.base.shape == (2, 3)
    assert repr(ours) == "<pardo.flatiter of 6 elements>"
    assert np.array_equal(np.asarray(ours), np.arange(6))
    assert list(pp.zeros((0, 3)).flat) == []


def test_what_is_refused():
    with pytest.raises(TypeError, match="expected an Array"):
        pp.flatiter([1, 2])
    with pytest.raises(ValueError, match=r"one element is set to a value of shape \(2,\)"):
        pp.ones(3).flat[0] = [1, 2]
    for key in (None, (1, 2)):
        with pytest.raises(IndexError, match="one index"):
            pp.ones((2, 2)).flat[key]


def test_choose():
    compare(lambda m, x: x.choose([m.asarray([1, 2, 3]), m.asarray([10, 20, 30])]), np.array([1, 0, 1]))
    compare(lambda m, x: x.choose([1, 2], mode="clip"), np.array([1, 0, 5]))
    compare(lambda m, x: x.choose([1, 2]), np.array([1, 0, 5]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_files(dtype, rng, tmp_path):
    host = samples(dtype, (3, 4), rng)
    x = pp.asarray(host).T
    x.tofile(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == host.T.tobytes()
    x.tofile(tmp_path / "b", ",", "%s")
    host.T.tofile(tmp_path / "c", ",", "%s")
    assert (tmp_path / "b").read_text() == (tmp_path / "c").read_text()
    check(pickle.loads(x.dumps()), host.T)
    x.dump(tmp_path / "d")
    check(pickle.loads((tmp_path / "d").read_bytes()), host.T)
    file = io.BytesIO()
    x.dump(file)
    check(pickle.loads(file.getvalue()), host.T)
