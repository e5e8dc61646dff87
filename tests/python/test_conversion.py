# tests/python/test_conversion.py: arrays in and out: asarray, asnumpy, numbers, nested lists, sharing, foreign writes.
from __future__ import annotations

import array as array_module
import copy
import pickle

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support import DTYPES, check, samples


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4), (2, 0, 3), (2, 3, 4)])
def test_round_trip(dtype, shape, rng):
    host = samples(dtype, shape, rng)
    check(pp.asarray(host), host)
    check(pp.asarray(np.array(host, order="F")), host)
    assert pp.asarray(host).tolist() == host.tolist()


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4)), st.data())
def test_strided_hosts(host, data):
    steps = tuple(slice(None, None, data.draw(st.sampled_from([1, 2, -1, -2]))) for _ in host.shape)
    view = host[steps].transpose(data.draw(st.permutations(range(host.ndim))))
    check(pp.asarray(view), view)


def test_numbers():
    for value, dtype in [(True, "bool"), (3, "int64"), (2.5, "float64"), (1 + 2j, "complex128"), (2**63, "uint64")]:
        x = pp.asarray(value)
        assert (x.shape, x.dtype) == ((), np.dtype(dtype))
        assert x.item() == value
        assert type(x.item()) is type(value)
    assert float(pp.asarray(2)) == 2.0
    assert int(pp.asarray(7.9)) == 7
    assert complex(pp.asarray(1.5)) == 1.5
    assert [10, 20, 30][pp.asarray(1)] == 20
    assert bool(pp.asarray([[1]])) is True


def test_nested_lists():
    check(pp.asarray([[1, 2], [3, 4]]), np.asarray([[1, 2], [3, 4]]))
    check(pp.asarray([[1, 2.5], [True, 4]]), np.asarray([[1, 2.5], [True, 4]]))
    check(pp.asarray([pp.asarray([1, 2]), pp.asarray([3, 4])]), np.asarray([[1, 2], [3, 4]]))
    check(pp.asarray([pp.asarray([1.0, 2.0])[0], 3]), np.asarray([1.0, 3.0]))
    check(pp.asarray([]), np.asarray([]))
    with pytest.raises(ValueError):
        pp.asarray([[1, 2], [3]])


def test_other_sources():
    check(pp.asarray(array_module.array("d", [1, 2, 3])), np.asarray([1.0, 2, 3]))
    check(pp.asarray(memoryview(b"abc")), np.frombuffer(b"abc", np.uint8))
    check(pp.asarray(range(5)), np.arange(5))
    check(pp.asarray(np.arange(5, dtype=">i4")), np.arange(5, dtype="i4"))
    check(pp.asarray(np.float32(1.5)), np.asarray(1.5, np.float32))

    class HasArray:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3.0)

    check(pp.asarray(HasArray()), np.arange(3.0))


@pytest.mark.parametrize("bad", [np.longdouble(1), "text", object(), np.datetime64("2020-01-01"), ["a"], b"abc", None])
def test_unsupported_data(bad):
    with pytest.raises(TypeError):
        pp.asarray(bad)


@pytest.mark.parametrize("bad", [">f8", "O", "S3", "M8[s]", np.longdouble, "no such type", None])
def test_unsupported_dtypes(bad):
    if bad is None:
        assert pp.zeros(2, dtype=None).dtype == np.float64
        return
    with pytest.raises(TypeError, match="supported are bool, int8"):
        pp.zeros(2, dtype=bad)


@pytest.mark.parametrize("dtype", [float, int, bool, complex, "f4", np.float32, np.dtype("u2"), pp.int8, "single"])
def test_dtype_arguments(dtype):
    assert pp.zeros(2, dtype=dtype).dtype == np.dtype(dtype)


def test_copy_keyword():
    host = np.arange(4.0)
    copied = pp.asarray(host)
    host[0] = 9
    assert copied[0].item() == 0
    x = pp.asarray([1.0, 2.0])
    assert pp.asarray(x) is x
    y = pp.asarray(x, copy=True)
    y[0] = 7
    assert x[0].item() == 1
    with pytest.raises(ValueError, match="copy=False"):
        pp.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="dtype would change"):
        pp.asarray(host, dtype="f4", copy=False)
    with pytest.raises(ValueError, match="dtype would change"):
        pp.asarray(x, dtype="f4", copy=False)


def test_shared_memory_is_read_when_recorded():
    host = np.arange(4.0)
    x = pp.asarray(host, copy=False)
    y = x + 1
    host[:] = 100
    assert y.tolist() == [1, 2, 3, 4]
    assert x.tolist() == [100] * 4
    x[1] = -1
    x.wait()
    assert host[1] == -1


def test_shared_strided_memory():
    host = np.arange(12.0).reshape(3, 4)
    view = host[::-1, ::2]
    x = pp.asarray(view, copy=False)
    check(x * 2, view * 2)
    x[0, 0] = 77
    x.wait()
    assert host[2, 0] == 77


def test_shared_read_only_memory():
    host = np.arange(3.0)
    host.flags.writeable = False
    x = pp.asarray(host, copy=False)
    assert not x.writeable
    check(x + 1, host + 1)
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1


def test_numpy_view():
    x = pp.asarray([1.0, 2.0, 3.0])
    view = np.asarray(x)
    assert not view.flags.writeable
    assert np.shares_memory(view, np.asarray(x))
    assert np.array(x).flags.writeable
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert np.asarray(x[::-1]).tolist() == [3, 2, 1]
    host = pp.asnumpy(x)
    host[0] = 5
    assert x[0].item() == 1
    assert np.asarray(pp.asarray(2.5)).shape == ()
    assert np.asarray(pp.zeros((2, 0, 3))).shape == (2, 0, 3)


def test_views_survive_their_array():
    view = np.asarray(pp.arange(1000.0) + 1)
    for _ in range(20):
        pp.full(1000, 5.0).wait()
    assert view[999] == 1000.0


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", DTYPES)
def test_pickle(protocol, dtype, rng):
    host = samples(dtype, (3, 4), rng)
    check(pickle.loads(pickle.dumps(pp.asarray(host)[:, ::2], protocol)), host[:, ::2])


@pytest.mark.parametrize("usm_type", ["device", "shared", "host"])
def test_pickle_keeps_the_kind_of_memory(usm_type):
    assert pickle.loads(pickle.dumps(pp.ones(3, usm_type=usm_type))).usm_type == usm_type


def test_pickle_out_of_band():
    buffers = []
    x = pp.arange(1000.0)
    data = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 500
    assert len(buffers) == 1
    check(pickle.loads(data, buffers=buffers), np.arange(1000.0))


def test_pickle_functions_and_devices():
    for f in (pp.sin, pp.sum, pp.special.erf):
        assert pickle.loads(pickle.dumps(f)) is f
    assert pickle.loads(pickle.dumps(pp.Device())) == pp.Device()


def test_copies():
    x = pp.asarray([1.0, 2.0])
    for y in (copy.copy(x), copy.deepcopy(x), x.copy()):
        y[0] = 9
        assert x[0].item() == 1
    shared = [x, x]
    first, second = copy.deepcopy(shared)
    assert first is second


def test_item():
    x = pp.reshape(pp.arange(6), (2, 3))
    assert x.item(4) == 4
    assert x.item(-1) == 5
    assert x.item(1, 0) == 3
    assert x.item((0, 2)) == 2
    with pytest.raises(ValueError, match="size 1"):
        x.item()
    with pytest.raises(IndexError):
        x.item(6)


@pytest.mark.parametrize("device", [d for d in DEVICES if d.has_fp64], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("repeats", [1, 3, 1000])
def test_floats_that_do_not_fit_uint32(device, dtype, repeats):
    """The lower half of the cast to int64, wherever an element is; NumPy's depend on its place."""
    edges = [2.0**n + by for n in (0, 8, 31, 32, 33, 40, 62, 63, 64, 100) for by in (-1, 0, 1)]
    host = np.array([np.nan, -np.nan, np.inf, *edges, -np.inf, *(-e for e in edges), -0.5, -1.5, 3e9, 4.3e9], dtype)
    wide = [int(v) if np.isfinite(v) and -(2.0**63) <= v < 2.0**63 else 0 for v in host.tolist()]
    expected = np.array([w % 2**32 for w in wide], "uint32")
    x = pp.asarray(np.repeat(host, repeats), device=device)
    for got in (x.astype("uint32"), (x * 1).astype("uint32"), x[::-1].astype("uint32")[::-1]):
        np.testing.assert_array_equal(pp.asnumpy(got), np.repeat(expected, repeats))
