# tests/python/test_sharing.py: whether arrays share memory, and arrays visited element by element, as NumPy says.
from __future__ import annotations

import itertools

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES

VIEWS = [
    lambda x: x, lambda x: x[::2], lambda x: x[1::2], lambda x: x[:3], lambda x: x[3:], lambda x: x[::-3], lambda x: x[2:2],
    lambda x: x[:, 1:],    lambda x: x[:, 0], lambda x: x[1::3, ::2].T, lambda x: x[None, 5], lambda x: x[::-1, ::-1][2:4],
]  # fmt: skip


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
def test_views_share_as_numpys(device, dtype):
    host = np.zeros((8, 4), dtype)
    x = pp.asarray(host, device=device)
    other = pp.asarray(host, device=device)
    for f, g in itertools.product(VIEWS, VIEWS):
        assert pp.shares_memory(f(x), g(x)) is np.shares_memory(f(host), g(host))
        assert pp.may_share_memory(f(x), g(x)) is np.may_share_memory(f(host), g(host))
        assert not pp.shares_memory(f(x), g(other))
    if dtype == "complex128":
        assert not pp.shares_memory(x.real, x.imag)
        assert pp.shares_memory(x.imag, x)


def test_hard_problems(rng):
    """Small ones are solved, and `max_work` bounds the others, as in NumPy."""

    def outcome(module, x, first, second, work):
        try:
            return module.shares_memory(x[first], x[second], max_work=work)
        except np.exceptions.TooHardError:
            return "too hard"

    host = np.zeros((3, 5, 7, 11, 13), "uint8")
    x = pp.asarray(host)
    seen = set()
    for _ in range(300):
        first, second = (
            tuple(slice(int(rng.integers(0, 2)), None, int(rng.choice([1, 2, 3, -1, -2]))) for _ in host.shape) for _ in range(2)
        )
        for work in (-1, 0, 1, 2, 10):
            theirs = outcome(np, host, first, second, work)
            assert outcome(pp, x, first, second, work) == theirs
            seen.add(theirs)
    assert seen == {True, False, "too hard"}


def test_memory_of_the_host():
    host = np.arange(6.0)
    x = pp.asarray(host, copy=False, device="cpu")
    assert pp.shares_memory(x, host)
    assert pp.shares_memory(host[2:], x[:3])
    assert not pp.shares_memory(x[:2], host[2:])
    assert not pp.may_share_memory(pp.asarray(host, device="cpu"), host)
    assert np.shares_memory(x, x[1:])
    assert np.may_share_memory(x, x + 1) is False
    for wrong in ([1], 3, None):
        with pytest.raises(TypeError, match=r"^shares_memory: expected a pardo\.Array"):
            pp.shares_memory(x, wrong)
        with pytest.raises(TypeError, match=r"^may_share_memory: expected a pardo\.Array"):
            pp.may_share_memory(wrong, x)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3), (2, 1, 2)])
def test_ndenumerate(shape):
    host = np.arange(np.prod(shape)).reshape(shape)
    theirs = [(place, int(v)) for place, v in np.ndenumerate(host)]
    assert [(place, int(v)) for place, v in pp.ndenumerate(pp.asarray(host))] == theirs
    if len(shape) == 2:
        assert [(place, int(v)) for place, v in pp.ndenumerate(pp.asarray(host).T)] == [(p, int(v)) for p, v in np.ndenumerate(host.T)]
    with pytest.raises(TypeError, match=r"^ndenumerate: an array is expected, not list"):
        pp.ndenumerate([1])


@pytest.mark.parametrize("shapes", [[()], [(3,)], [(2, 1), (3,)], [(2, 1, 2), (3, 1), ()], [(0, 1), (3,)], [(2, 2)] * 5])
def test_broadcast(shapes):
    hosts = [np.arange(np.prod(s)).reshape(s) + 10 * k for k, s in enumerate(shapes)]
    theirs, ours = np.broadcast(*hosts), pp.broadcast(*map(pp.asarray, hosts))
    for name in ("shape", "ndim", "nd", "size", "numiter", "index"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for _ in range(2):
        assert [tuple(map(int, values)) for values in ours] == [tuple(map(int, values)) for values in theirs]
        assert ours.index == theirs.index
        ours.reset()
        theirs.reset()
    assert [[int(v) for v in f] for f in ours.iters] == [[int(v) for v in f] for f in theirs.iters]


def test_broadcast_of_others():
    b = pp.broadcast(pp.asarray([1, 2]), 3, np.array([[5], [6]]))
    assert b.shape == (2, 2)
    assert [tuple(map(int, v)) for v in b] == [(1, 3, 5), (2, 3, 5), (1, 3, 6), (2, 3, 6)]
    assert repr(b) == "<pardo.broadcast of 3 arrays to (2, 2)>"
    with pytest.raises(ValueError, match=r"^broadcast"):
        pp.broadcast(pp.zeros(2), pp.zeros(3))
    with pytest.raises(TypeError, match=r"^broadcast: "):
        pp.broadcast("a")
    assert pp.broadcast().shape == np.broadcast().shape


def test_ndmax():
    assert pp.array([[1, 2], [3, 4]], ndmax=2).shape == (2, 2)
    assert pp.array(3, ndmax=0).shape == ()
    assert (
        pp.array(pp.zeros((2, 2)), ndmax=1).shape == np.array(np.zeros((2, 2)), ndmax=1).shape
        if np.lib.NumpyVersion(np.__version__) >= "2.4.0"
        else True
    )
    for nested, most in (([[1, 2], [3, 4]], 1), ([1, 2], 0), ([1], -1), ([1], 65)):
        with pytest.raises(ValueError, match=r"^array: .*ndmax is"):
            pp.array(nested, ndmax=most)
    with pytest.raises(TypeError, match=r"^array: ndmax"):
        pp.array([1], ndmax=1.5)
