# tests/python/test_sharded.py: arrays over several devices: functions give what NumPy gives, and the bits of one device.
from __future__ import annotations

import functools
import importlib.util
import json
import logging
import pickle
import runpy
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pardo as pp
import pytest
from pardo._sharding import functions
from pardo._sharding.layout import Layout, balanced_bounds
from support import DTYPES, samples

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.once


@functools.cache
def places(name: str) -> list[Any]:
    """Devices for the parts: halves of the processor, queues of one device, other back ends."""
    halves = pp.Device("cpu").create_sub_devices(max(1, pp.Device("cpu").max_compute_units // 2))
    if name == "one":
        return [halves[0]]
    if name == "halves":
        return list(halves)
    if name == "queues":
        return [pp.Queue("cpu"), pp.Queue("cpu", order="out_of_order"), pp.Queue("cpu")]
    others = pp.get_devices("opencl")
    return [*halves, others[0] if others else pp.Queue("cpu")]


MIXTURES = ["one", "halves", "queues", "mixed"]


@pytest.fixture(params=MIXTURES)
def devices(request: Any) -> list[Any]:
    return places(request.param)


def same(s: Any, expected: Any, exact: bool = True) -> None:
    """Shape, dtype and values, and parts of the shapes that the layout says, on the devices of the group."""
    assert type(s) is pp.ShardedArray
    for p, part in enumerate(s.shards):
        assert part.shape == s.layout.local_shape(p)
        assert part.device == s.devices[p]
        assert part.dtype == s.dtype
    host, expected = pp.asnumpy(s), np.asarray(expected)
    assert host.dtype == expected.dtype
    assert host.shape == expected.shape
    if exact:
        np.testing.assert_array_equal(host, expected)
    else:
        np.testing.assert_allclose(host, expected, rtol=1e-5 if expected.dtype.itemsize < 8 else 1e-12, atol=1e-12)


# --- layouts ---------------------------------------------------------------------------------------------------------------------------


def test_bounds_follow_weights() -> None:
    assert balanced_bounds(7, [1, 1]) in ((0, 4, 7), (0, 3, 7))
    assert balanced_bounds(10, [3, 1, 1]) == (0, 6, 8, 10)
    assert balanced_bounds(0, [1, 1]) == (0, 0, 0)
    assert balanced_bounds(5, [0, 1]) == (0, 0, 5)
    assert balanced_bounds(2**62, [1, 1]) == (0, 2**61, 2**62)
    assert balanced_bounds(9, [0.5, 0.25, 0.25])[-1] == 9


def test_layouts_are_values() -> None:
    a, b = Layout((4, 2), 0, (0, 1, 4), ("a", "b")), Layout((4, 2), 0, [0, 1, 4], ["a", "b"])
    assert a == b
    assert hash(a) == hash(b)
    assert a != a.with_axis(1)
    assert a.local_shape(1) == (3, 2)
    assert a.extent(0) == slice(0, 1)
    assert [a.owner(i) for i in range(4)] == [0, 1, 1, 1]
    assert a.with_axis(None).local_shape(0) == (4, 2)
    with pytest.raises(AttributeError, match="cannot be set"):
        a.axis = 1


# --- making ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (0, 3), (5, 0), (6, 4), (2, 3, 4)])
def test_every_axis_of_every_shape(devices: list[Any], shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    for axis in [None, *range(-len(shape), len(shape))]:
        s = pp.shard(x, devices, axis)
        same(s, x)
        assert s.axis == (None if axis is None else axis % len(shape))
        assert (s.ndim, s.size, s.nbytes, s.itemsize, len(s)) == (x.ndim, x.size, x.nbytes, x.itemsize, len(x))
        for other in [None, *range(len(shape))]:
            same(s.reshard(other), x)
            same(s.reshard(other) + s, x + x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(devices: list[Any], dtype: str) -> None:
    x = samples(dtype, (9,), np.random.default_rng(1))
    same(pp.shard(x, devices), x)
    same(pp.shard(pp.asarray(x), devices), x)


def test_a_shard_is_a_copy() -> None:
    x = pp.zeros(4, device=places("halves")[0])
    s = pp.shard(x, places("halves")[:1])
    s += 1
    assert float(x.sum()) == 0
    t = pp.shard(s, s.device)
    r = s.reshard(0)
    t += 1
    r += 1
    same(s, np.ones(4))


def test_forms_of_devices() -> None:
    halves = places("halves")
    names = [d.id for d in halves]
    assert pp.shard([1, 2, 3], names).devices == tuple(halves)
    assert pp.shard([1, 2, 3], "cpu:*").devices == (pp.Device("cpu"),)
    assert pp.shard([1, 2, 3], [*names, "cpu:*"]).devices == (*halves, pp.Device("cpu"))
    assert pp.shard([1, 2, 3], "cpu").devices == (pp.Device("cpu"),)
    queue = pp.Queue("cpu")
    assert pp.shard([1, 2, 3], queue).shards[0].queue == queue
    s = pp.shard(np.arange(10), [queue, pp.Queue("cpu")], weights=[4, 1])
    assert s.bounds == (0, 8, 10)
    assert pp.shard(np.arange(5), s.device).bounds == (0, 4, 5)
    facts = pp.shard(np.arange(10), [queue, pp.Queue("cpu")], weights="facts")
    assert facts.bounds == (0, 5, 10)
    assert pp.shard([[1, 2], [3, 4]], names, axis=1, bounds=[0, *[2] * len(names)]).bounds[1] == 2
    assert pp.shard([1.5], names, dtype="float32").dtype == np.float32
    assert pp.shard([pp.asarray(1.0), pp.asarray(2.0)], names).shape == (2,)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda d: pp.shard([1], "cuda:*" if not pp.get_devices("cuda") else "null:7*"), ValueError, "shard: .*device"),
        (lambda d: pp.shard([1], []), ValueError, "at least one device"),
        (lambda d: pp.shard([1], 3), TypeError, "shard: devices must be"),
        (lambda d: pp.shard([1], [*d, 2.5]), TypeError, "shard: devices must be"),
        (lambda d: pp.shard([1], "nothing:1"), ValueError, "shard"),
        (lambda d: pp.shard([1], d, weights=[1] * 9), ValueError, "one number a device"),
        (lambda d: pp.shard([1], d, weights=[-1] * len(d)), ValueError, "not negative"),
        (lambda d: pp.shard([1], d, weights="speed"), ValueError, "'facts'"),
        (lambda d: pp.shard([1], d, bounds=[0, 1]), ValueError, "bounds"),
        (lambda d: pp.shard([1], d, bounds=[0, *[2] * (len(d) - 1), 1]), ValueError, "not decrease"),
        (lambda d: pp.shard([1], d, axis=1), np.exceptions.AxisError, "shard"),
        (lambda d: pp.shard(1, d), np.exceptions.AxisError, "shard"),
        (lambda d: pp.shard([1], d, axis=None, bounds=[0]), ValueError, "axis is None"),
        (lambda d: pp.ShardedArray([1]), TypeError, "use pardo.shard"),
    ],
)
def test_bad_input(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call([*places("halves"), pp.Queue("cpu")])


def test_devices_are_a_value(devices: list[Any]) -> None:
    s, t = pp.shard([1, 2], devices), pp.shard([3.0], devices)
    assert s.device == t.device
    assert {s.device: 1}[t.device] == 1
    assert s.device != pp.shard([1], [pp.Queue("cpu")]).device
    assert s.device != pp.shard([1, 2], devices, weights=[1, *[0] * (len(devices) - 1)]).device
    assert len(s.device) == len(devices)
    assert list(s.device) == list(s.devices)
    assert "ShardedDevice" in repr(s.device)
    assert str(s.device) == s.device.id == ",".join(s.device.names)


def test_functions_that_make_arrays(devices: list[Any]) -> None:
    d = pp.shard([0], devices).device
    for call in (
        lambda m, **k: m.zeros((5, 2), **k),
        lambda m, **k: m.zeros(5, dtype="int32", **k),
        lambda m, **k: m.ones((0, 2), **k),
        lambda m, **k: m.full((4,), 2.5, **k),
        lambda m, **k: m.full(4, 7, dtype="float32", **k),
        lambda m, **k: m.zeros((), **k),
        lambda m, **k: m.arange(9, **k),
        lambda m, **k: m.arange(1.0, 3.0, 0.1, **k),
        lambda m, **k: m.eye(5, 4, k=1, **k),
        lambda m, **k: m.tri(5, 4, k=1, **k),
        lambda m, **k: m.identity(3, **k),
        lambda m, **k: m.asarray(np.arange(6).reshape(3, 2), **k),
        lambda m, **k: m.asarray([1, 2], dtype="float32", **k),
        lambda m, **k: m.array(3.0, **k),
    ):
        same(call(pp, device=d), call(np))
    same(pp.linspace(0, 1, 17, device=d), pp.asnumpy(pp.linspace(0, 1, 17)))  # the bits of one device
    assert pp.empty((3, 2), device=d).shape == (3, 2)
    s = pp.shard(np.arange(6.0), devices)
    for name in ("zeros_like", "ones_like"):
        same(getattr(pp, name)(s), getattr(np, name)(np.arange(6.0)))
        same(getattr(np, name)(s, dtype="int8"), getattr(np, name)(np.arange(6), dtype="int8"))
    same(pp.full_like(s, 3), np.full(6, 3.0))
    same(pp.full_like(s, 3, shape=(2, 2)), np.full((2, 2), 3.0))
    same(np.zeros(4, like=s), np.zeros(4))
    assert pp.asarray(s) is s
    assert pp.asarray(s, device=s.device) is s
    assert pp.array(s) is not s
    assert type(pp.asarray(s, device="cpu")) is pp.Array


# --- elementwise -----------------------------------------------------------------------------------------------------------------------

UFUNCS = sorted({f.__name__: f for f in vars(pp).values() if type(f) is pp.ufunc and f.signature is None}.items(), key=lambda item: item[0])


@pytest.mark.parametrize("name", ["halves", "queues"])
def test_universal_functions_give_the_bits_of_one_device(name: str) -> None:
    rng = np.random.default_rng(3)
    for _, f in UFUNCS:
        for dtype in ("float64", "int32", "complex64", "bool"):
            host = [samples(dtype, shape, rng) for shape in ((7, 3), (3,), (7, 1))[: f.nin]]
            host = [abs(x) for x in host] if dtype == "int32" else host  # no negative powers, and no shifts by them
            try:
                expected = f(*map(pp.asarray, host))
            except TypeError:
                with pytest.raises(TypeError):
                    f(pp.shard(host[0], places(name)), *host[1:])
                continue
            got = f(pp.shard(host[0], places(name)), *host[1:])
            for one, several in zip(*(r if isinstance(r, tuple) else (r,) for r in (expected, got)), strict=True):
                same(several, pp.asnumpy(one))


def test_special_functions_are_elementwise(devices: list[Any]) -> None:
    x = np.linspace(0.1, 3, 11)
    s = pp.shard(x, devices)
    same(pp.special.erf(s), pp.asnumpy(pp.special.erf(pp.asarray(x))), exact=False)
    same(pp.special.gammaln(s), pp.asnumpy(pp.special.gammaln(pp.asarray(x))), exact=False)


OPERATIONS: dict[str, Any] = {
    "add": lambda x, y: x + y,
    "numbers": lambda x, y: 2 - x * 3 + (x > 1) * x**2,
    "reflected": lambda x, y: (1.5 + x, 2 / (x + 9), 3 - x, 2**x, 7 // (x + 9), 7 % (x + 9)),
    "comparisons": lambda x, y: (x < y, x <= y, x == y, x != y, x > y, x >= y),
    "unary": lambda x, y: (-x, +x, abs(x), ~(x > 0)),
    "divmod": lambda x, y: divmod(x, 2),
    "row": lambda x, y: x + y[0],
    "column": lambda x, y: x + y[:, :1],
    "where": lambda x, y: np.where(x > 0, x, y),
    "clip": lambda x, y: np.clip(x, -1, y),
    "round": lambda x, y: np.round(x / 3, 1),
    "isclose": lambda x, y: np.isclose(x, y),
    "nan_to_num": lambda x, y: np.nan_to_num(np.log(x), nan=3.0, posinf=1.0, neginf=-1.0),
    "angle": lambda x, y: np.angle(x + 1j * y),
    "real": lambda x, y: ((x + 1j * y).real, (x + 1j * y).imag, np.conj(x + 1j * y)),
    "astype": lambda x, y: x.astype("int32"),
    "modf": lambda x, y: np.modf(x / 2),
    "truth": lambda x, y: (np.array(np.allclose(x, x)), np.array(np.array_equal(x, y))),
    "copies": lambda x, y: (x.copy(), np.copy(x)),
    "shapes": lambda x, y: (
        x.T,
        x.reshape(-1),
        x.reshape(3, -1),
        x[None],
        np.expand_dims(x, 1),
        np.swapaxes(x, 0, 1),
        np.moveaxis(x, 0, -1),
    ),
    "joins": lambda x, y: (np.concatenate([x, y]), np.concatenate([x, y], axis=1), np.stack([x, y], axis=1), np.vstack([x, y])),
    "splits": lambda x, y: tuple(np.split(x, [2, 3])) + tuple(np.array_split(x, 4, axis=1)),
    "turns": lambda x, y: (np.flip(x), np.flip(x, 0), np.flipud(x), np.fliplr(x), np.roll(x, 2, 0), np.roll(x, -1, 1), np.roll(x, 5)),
    "triangles": lambda x, y: (np.tril(x), np.triu(x, 1), np.tril(x, -2)),
    "differences": lambda x, y: (np.diff(x), np.diff(x, axis=0), np.diff(x, 2, axis=0), x[1:] - x[:-1]),
    "broadcast": lambda x, y: (np.broadcast_to(x[:1], (4, 6)), np.broadcast_to(x, (2, *x.shape)), *np.broadcast_arrays(x, y[0])),
    "indices": lambda x, y: (x[2], x[2:5], x[::2], x[::-1], x[4:0:-2, ::-1], x[:, 1], x[..., 2], x[-1, -2], x[1:1], x[3, None, 1:]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_as_numpy(devices: list[Any], name: str) -> None:
    rng = np.random.default_rng(5)
    x, y = rng.integers(-6, 7, (9, 6)).astype("float64"), rng.integers(-6, 7, (9, 6)).astype("float64")
    with np.errstate(all="ignore"):
        expected = OPERATIONS[name](x, y)
    for axis, other in ((0, 0), (1, 1), (0, 1), (None, None)):
        got = OPERATIONS[name](pp.shard(x, devices, axis), pp.shard(y, devices, other))
        for mine, theirs in zip(*(r if isinstance(r, tuple) else (r,) for r in (got, expected)), strict=True):
            if type(mine) is not pp.ShardedArray:
                np.testing.assert_array_equal(mine, theirs)
            else:
                same(mine, theirs, exact=name not in ("nan_to_num", "angle", "reflected"))


def test_numpys_functions_and_dispatch(devices: list[Any]) -> None:
    x = np.arange(12.0).reshape(4, 3)
    s = pp.shard(x, devices)
    assert s.__array_namespace__() is pp
    same(np.sin(s), np.sin(x), exact=False)
    same(x + s, x + x)
    same(np.float64(2) * s, 2 * x)
    same(np.add(x, s), x + x)
    same(np.sum(s, axis=0), x.sum(axis=0))
    same(np.concatenate([x, s]), np.concatenate([x, x]))
    assert np.shape(s) == (4, 3)
    assert np.ndim(s) == 2
    assert pp.result_type(s, np.float32) == np.float64
    with pytest.raises(TypeError, match="to_device"):
        np.add.reduceat(s, [0])
    with pytest.raises(TypeError, match=r"to_device|asnumpy"):
        np.apply_along_axis(lambda v: v, 0, s)


def test_out_and_where(devices: list[Any]) -> None:
    x = np.arange(10.0)
    s, out = pp.shard(x, devices), pp.shard(np.zeros(10), devices)
    assert pp.add(s, 1, out=out) is out
    same(out, x + 1)
    pp.multiply(s, 2, out=out, where=s > 4)
    same(out, np.where(x > 4, x * 2, x + 1))
    assert np.sqrt(s, out=out) is out
    assert pp.sum(pp.shard(np.ones((10, 3)), devices), axis=1, out=out) is out
    same(out, np.full(10, 3.0))
    if len(devices) > 1:
        with pytest.raises(TypeError, match="out must be a ShardedArray"):
            pp.add(s, 1, out=pp.zeros(10))
    with pytest.raises(ValueError, match="out has shape"):
        pp.add(s, 1, out=pp.shard(np.zeros(3), devices))
    host = np.zeros(10)
    with pytest.raises(TypeError, match="asnumpy"):
        np.add(s, 1, out=host)


# --- in place --------------------------------------------------------------------------------------------------------------------------


def test_in_place_and_views(devices: list[Any]) -> None:
    for axis in (0, 1, None):
        x = np.arange(24).reshape(8, 3)
        s = pp.shard(x, devices, axis)
        view, theirs = s[2:7, 1:], x[2:7, 1:]
        kept = s
        s += 2
        x += 2
        assert kept is s
        s[1:4] = s[4:7]
        x[1:4] = x[4:7]
        s[::-2, 0] = np.arange(4)
        x[::-2, 0] = np.arange(4)
        s[5] = [7, 8, 9]
        x[5] = [7, 8, 9]
        s[3, 1] = 100
        x[3, 1] = 100
        s[s > 20] = -1
        x[x > 20] = -1
        view *= 2
        theirs *= 2
        s[:, 2] -= 1
        x[:, 2] -= 1
        s[2:3] = pp.shard([[5, 6, 7]], devices, None)
        x[2:3] = [[5, 6, 7]]
        same(s, x)
        same(view, theirs)
        for part in s.shards[:1] if axis is None else s.shards:
            part += 1
        x += 1
        same(s, x) if axis is not None or len(s.shards) == 1 else None
    first, last = s[0, 0], s[..., 7, 2]
    first += 100  # elements are values
    last += 0
    same(s, x)
    with pytest.raises(TypeError, match="cast"):
        s += 1.5
    with pytest.raises(ValueError, match="broadcast"):
        s[1:3] = np.ones((5, 5))


def test_whole_arrays_of_one_queue_are_written_once() -> None:
    queue = pp.Queue("cpu")
    s = pp.shard(np.ones(6), [queue, queue])
    total = s.sum(keepdims=True)
    total += 1
    total[...] += 1
    same(total, [8.0])


def test_plain_arrays_stay_plain(devices: list[Any]) -> None:
    s = pp.shard(np.ones(4), devices)
    x = pp.ones(4, device=s.devices[0])
    with pytest.raises(TypeError, match="to_device"):
        x += s
    with pytest.raises(TypeError):
        x[...] = s
    y = pp.ones(4, queue=pp.Queue("cpu"))
    with pytest.raises(pp.ExecutionPlacementError):
        x + y
    if pp.Device("cpu") not in [d.without_queue for d in s.devices]:
        with pytest.raises(pp.ExecutionPlacementError, match="different devices"):
            s + pp.ones(4, device="cpu")
    with pytest.raises(pp.ExecutionPlacementError, match="over different devices"):
        s + pp.shard(np.ones(4), [pp.Queue("cpu")])
    same(s + pp.asarray(3.0), np.full(4, 4.0))  # arrays of the host without dimensions follow
    same(x + s, np.full(4, 2.0))


# --- reductions ------------------------------------------------------------------------------------------------------------------------

REDUCTIONS = [
    "sum", "prod", "mean", "var", "std", "min", "max", "any", "all", "count_nonzero", "ptp", "nansum", "nanprod", "nanmean", "nanvar",
    "nanstd", "nanmin", "nanmax",
]  # fmt: skip


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("mixture", ["halves", "mixed"])
def test_reductions_as_numpy(mixture: str, name: str) -> None:
    rng = np.random.default_rng(7)
    f, theirs, devices = getattr(pp, name), getattr(np, name), places(mixture)
    dtypes = ["float64", "int32", "bool", "float32", "complex128"] if mixture == "halves" else ["float64"]
    for dtype in dtypes:
        exact = np.dtype(dtype).kind in "ib" and not name.endswith(("var", "std"))
        x = samples(dtype, (7, 3, 4), rng)
        if (dtype == "complex128" and name in ("min", "max", "ptp", "nanmin", "nanmax")) or (dtype == "bool" and name == "ptp"):
            continue
        if name.startswith("nan") and dtype == "float64":
            x[2, 1, 1] = np.nan
        for axis in (0, -1, (0, 2), (1, 2), None, ()) if mixture == "halves" else (0, None):
            if axis == () and name not in ("sum", "max", "any"):
                continue
            for split, keepdims in ((0, False), (1, True), (None, False)) if mixture == "halves" else ((0, True),):
                got = f(pp.shard(x, devices, split), axis=axis, keepdims=keepdims)
                same(got, theirs(x, axis=axis, keepdims=keepdims), exact=exact)


@pytest.mark.parametrize("name", ["argmin", "argmax", "nanargmin", "nanargmax"])
def test_positions_as_numpy(devices: list[Any], name: str) -> None:
    rng = np.random.default_rng(9)
    for x in (rng.integers(0, 3, (7, 5)), rng.integers(0, 3, (7, 5)).astype("float64"), rng.integers(0, 2, (7, 5)).astype(bool)):
        if x.dtype.kind == "f":
            x[3, 2] = x[5, 1] = np.nan
        for axis in (None, 0, 1):
            for split in (0, 1, None):
                for keepdims in (False, True):
                    got = getattr(pp, name)(pp.shard(x, devices, split), axis=axis, keepdims=keepdims)
                    same(got, getattr(np, name)(x, axis=axis, keepdims=keepdims))


def test_reductions_without_elements_and_with_masks(devices: list[Any]) -> None:
    empty = pp.shard(np.zeros((0, 3)), devices)
    same(empty.sum(axis=0), np.zeros(3))
    same(empty.sum(axis=1), np.zeros(0))
    same(pp.max(empty, axis=0, initial=2.0), np.full(3, 2.0))
    for call in (lambda: empty.min(), lambda: empty.max(axis=0), lambda: pp.argmin(empty, axis=0), lambda: pp.argmax(empty)):
        with pytest.raises(ValueError, match=r"zero-size|empty"):
            call()
    x = np.arange(12.0).reshape(4, 3)
    s = pp.shard(x, devices)
    mask = x > 4
    for m in (mask, pp.shard(mask, devices), pp.shard(mask, devices, 1)):
        same(pp.sum(s, where=m), x.sum(where=mask))
        same(pp.mean(s, axis=0, where=m), x.mean(axis=0, where=mask))
        same(pp.var(s, where=m), x.var(where=mask), exact=False)
        same(pp.max(s, axis=0, where=m, initial=1.0), x.max(axis=0, where=mask, initial=1.0))
        same(pp.any(s, axis=0, where=m), x.any(axis=0, where=mask))
    same(pp.sum(s, axis=0, initial=10.0), x.sum(axis=0, initial=10.0))
    same(pp.sum(s, dtype="float32"), x.sum(dtype="float32"))
    same(pp.std(s, axis=0, ddof=1), x.std(axis=0, ddof=1), exact=False)
    same(pp.average(s, axis=0, weights=[1, 2, 3, 4]), np.average(x, axis=0, weights=[1, 2, 3, 4]), exact=False)
    for call in (lambda: s.sum(axis=2), lambda: s.sum(axis=(0, 0)), lambda: pp.argmax(s, axis=-3)):
        with pytest.raises((ValueError, np.exceptions.AxisError)):
            call()
    with pytest.raises(TypeError, match="unexpected keyword"):
        pp.sum(s, axes=0)


def test_sums_have_the_same_bits_each_time(devices: list[Any]) -> None:
    x = np.random.default_rng(11).standard_normal(10_007)
    sums = {float(pp.shard(x, devices).sum()) for _ in range(5)}
    assert len(sums) == 1
    parts = [pp.asnumpy(p.sum()) for p in pp.shard(x, devices).shards]
    assert sums == {float(functools.reduce(lambda a, b: a + b, parts))}  # in the parts' order


# --- moving ----------------------------------------------------------------------------------------------------------------------------


def test_bounds_of_slices_and_reshards() -> None:
    devices = [pp.Queue("cpu") for _ in range(3)]
    s = pp.shard(np.arange(9), devices)
    assert s[2:7].bounds == (0, 1, 4, 5)
    assert s[2:7].shards[0].base is not None  # a view
    assert s[::2].bounds == (0, 2, 3, 5)
    assert s[2:7].reshard(0).bounds == (0, 2, 3, 5)
    assert s.reshard(0, [0, 0, 9, 9]).bounds == (0, 0, 9, 9)
    same(s.reshard(0, [0, 0, 9, 9]).sum(), 36)
    assert pp.shard(np.ones(8), devices, weights=[2, 1, 1]).reshard(0).bounds == (0, 4, 6, 8)
    with pytest.raises(ValueError, match="bounds"):
        s.reshard(0, [0, 9])
    with pytest.raises(np.exceptions.AxisError):
        s.reshard(1)


def test_to_other_devices(devices: list[Any]) -> None:
    x = np.arange(14.0).reshape(7, 2)
    for axis in (0, 1, None):
        s = pp.shard(x, devices, axis)
        one = s.to_device("cpu")
        assert type(one) is pp.Array
        np.testing.assert_array_equal(pp.asnumpy(one), x)
        other = pp.shard([0], [pp.Queue("cpu"), pp.Queue("cpu")]).device
        same(s.to_device(other), x)
        same(pp.shard(s, other, 1), x)
        same(pp.shard(one, devices), x)
        one += 1
        same(s, x)


@pytest.mark.parametrize("mode", [None, "constant", "edge", "wrap"])
@pytest.mark.parametrize("halo", [0, 1, 3, (2, 0), (0, 9)])
def test_halos_as_pad(devices: list[Any], mode: str | None, halo: Any) -> None:
    before, after = (halo, halo) if isinstance(halo, int) else halo
    for shape in ((8, 2), (5,), (1, 3)):
        x = np.arange(np.prod(shape, dtype=float)).reshape(shape)
        wide = x if mode is None else np.pad(x, [(before, after), *[(0, 0)] * (x.ndim - 1)], mode)
        s = pp.shard(x, devices)
        n = max(0, len(wide) - before - after)
        short = s.map_shards(lambda v: v[before + after :] - v[: max(0, len(v) - before - after)], halo=halo, mode=mode)
        same(short, wide[before + after :] - wide[:n])
        same(s.map_shards(lambda v: v * 2, halo=halo, mode=mode), x * 2)  # as long as what it got: cut off


def test_map_shards() -> None:
    devices = [pp.Queue("cpu") for _ in range(3)]
    x = np.arange(10.0)
    s = pp.shard(x, devices)
    same(s.map_shards(lambda a, b, c: a * b + c, s, 2.0), x * x + 2)
    low, high = s.map_shards(lambda v: (v - 1, v + 1))
    same(low, x - 1)
    same(high, x + 1)
    same(s.map_shards(lambda v: v[v > 4.5]), x[x > 4.5])  # parts of other lengths
    same(s.map_shards(lambda v, w: v + w.sum(), pp.ones(3, queue=devices[0])), x + 3)
    same(s.map_shards(lambda v: v.sum()[None]), [3.0, 18.0, 24.0])
    same(s.map_shards(lambda v: v[:0].sum(), axis=None), 0.0)
    same(s.map_shards(lambda v: pp.stack([v, v])[:, :], axis=1), np.stack([x, x]))
    with pytest.raises(ValueError, match="halo must not be negative"):
        s.map_shards(lambda v: v, halo=-1)
    with pytest.raises(TypeError, match="halo must be an integer"):
        s.map_shards(lambda v: v, halo=1.5)
    with pytest.raises(ValueError, match="mode is 'mirror'"):
        s.map_shards(lambda v: v, halo=1, mode="mirror")
    with pytest.raises(TypeError, match="must give an array"):
        s.map_shards(lambda v: 3.0)
    with pytest.raises(TypeError, match="a function of a part"):
        s.map_shards(3)
    with pytest.raises(ValueError, match="must have dimensions"):
        s.map_shards(lambda v: v.sum())
    with pytest.raises(ValueError, match="has the whole array"):
        s.reshard(None).map_shards(lambda v: v, halo=1)

    def store(v: pp.Array) -> None:
        v[0] = 1

    with pytest.raises((ValueError, TypeError, RuntimeError), match="read-only"):
        s.map_shards(store, halo=1)


@pp.jit
def add_one(x):  # type: ignore[no-untyped-def]
    for i in pp.prange(x.shape[0]):
        x[i] += 1.0


@pp.kernel
def doubled(item: pp.Item, x, last):  # type: ignore[no-untyped-def]
    i = item.get_id(0)
    assert x[i] < last
    x[i] = x[i] * 2.0


def test_loops_and_kernels_name_map_shards(devices: list[Any]) -> None:
    s = pp.shard(np.arange(6.0), devices)
    for call in (lambda: add_one(s), lambda: doubled[pp.Range(3)](s, 9.0), lambda: pp.call_kernel(doubled, pp.Range(3), s, 9.0)):
        with pytest.raises(TypeError, match="map_shards"):
            call()
    assert s.map_shards(add_one) is None
    s.map_shards(lambda x: doubled[pp.Range(x.size)](x, 100.0))
    same(s, (np.arange(6.0) + 1) * 2)


# --- what is told ----------------------------------------------------------------------------------------------------------------------


def test_what_is_not_there_says_so(devices: list[Any]) -> None:
    s = pp.shard(np.ones(4), devices)
    for call in (lambda: pp.convolve(s, s), lambda: pp.add.reduceat(s, [0]), lambda: pp.add.outer(s, s), lambda: pp.interp(s, s, s)):
        with pytest.raises(TypeError, match="to_device"):
            call()
    with pytest.raises(BufferError, match="to_device"):
        np.from_dlpack(s)
    with pytest.raises(TypeError, match="asnumpy"):
        np.asarray(s)
    with pp.allow_implicit_copies():
        np.testing.assert_array_equal(np.asarray(s), np.ones(4))
        with pytest.raises(ValueError, match="without a copy"):
            np.asarray(s, copy=False)


def test_implicit_copies_are_seen_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    devices = [pp.Queue("cpu"), pp.Queue("cpu")]
    s, t = pp.shard(np.ones(6), devices), pp.shard(np.ones(6), devices, bounds=[0, 1, 6])
    before = pp.counters()
    s + t
    after = pp.counters()
    assert after["unasked_between_devices"] - before["unasked_between_devices"] == 1
    with pp.transfer_guard("disallow"):
        same(s + 1, np.full(6, 2.0))
        same(s * s, np.ones(6))
        same(s / s.sum(), np.full(6, 1 / 6))
        same(s + t.reshard(0), np.full(6, 2.0))
        for call in (lambda: s + t, lambda: s + np.ones(6), lambda: s + pp.ones(6), lambda: s.__setitem__(slice(None), t)):
            with pytest.raises(pp.ExecutionPlacementError, match="would copy"):
                call()
    with caplog.at_level(logging.WARNING, logger="pardo"), pp.transfer_guard("log"):
        s + t
    assert "add: copies 16 bytes from cpu:0 to cpu:0" in caplog.text


def test_explain_has_a_lane_for_each_device() -> None:
    s = pp.shard(np.ones(6), places("mixed"))
    text = str(pp.explain(s + 1))
    for p, device in enumerate(s.devices):
        assert f"part {p} on {device.id}\n| 1 group" in text
    assert "nothing is pending" in str(pp.explain(s.wait()))


def test_printing(devices: list[Any]) -> None:
    x = np.arange(6.0).reshape(3, 2)
    s = pp.shard(x, devices)
    assert str(s) == str(x)
    assert repr(s) == "ShardedArray([[0., 1.],\n              [2., 3.],\n              [4., 5.]])"
    assert repr(s.sum()) == "ShardedArray(15.)"
    assert f"{s.sum():.2f}" == "15.00"
    large = np.arange(12_000).reshape(4000, 3)
    assert str(pp.shard(large, devices)) == str(large)
    assert str(pp.shard(large.T.copy(), devices, 1)) == str(large.T)


def test_numbers(devices: list[Any]) -> None:
    s = pp.shard(np.arange(4.0), devices)
    total = s.sum()
    assert (float(total), int(total), complex(total), total.item(), bool(s.any())) == (6, 6, 6, 6, True)
    assert (s[2:3].item(), s.item(3)) == (2, 3)
    assert s.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert [float(v) for v in s] == s.tolist()
    assert 3.0 in s
    assert 9.0 not in s
    with pytest.raises(ValueError, match="ambiguous"):
        bool(s)
    with pytest.raises(TypeError):
        float(s)
    with pytest.raises(TypeError, match="unhashable"):
        hash(s)
    with pytest.raises(IndexError, match="out of bounds"):
        s[4]
    with pytest.raises(IndexError, match="too many indices"):
        s[1, 2]
    assert (s == None).shape == (4,)  # noqa: E711
    with pytest.raises(TypeError):
        s + object()


def test_files_and_pickles(devices: list[Any], tmp_path: Path) -> None:
    x = np.arange(14.0).reshape(7, 2)
    for axis in (0, 1, None):
        s = pp.shard(x, devices, axis)
        s.save(tmp_path / "x")
        s.save(tmp_path / "x")  # again, in its place
        again = pp.load_sharded(tmp_path / "x", devices)
        same(again, x)
        assert again.layout == s.layout
        same(pp.load_sharded(tmp_path / "x", [pp.Queue("cpu"), pp.Queue("cpu")], 1), x)
        same(pp.load_sharded(tmp_path / "x", s.device, weights=[1] * len(devices)), x)
        assert json.loads((tmp_path / "x" / "layout.json").read_text())["axis"] == axis
        same_again = pickle.loads(pickle.dumps(s))
        np.testing.assert_array_equal(pp.asnumpy(same_again), x)
        assert same_again.bounds == s.bounds
    (tmp_path / "other").mkdir()
    with pytest.raises(FileExistsError, match="not a folder that save has made"):
        s.save(tmp_path / "other")
    with pytest.raises(FileNotFoundError):
        pp.load_sharded(tmp_path / "nothing", devices)
    (tmp_path / "other" / "layout.json").write_text("{}")
    with pytest.raises(ValueError, match="does not say"):
        pp.load_sharded(tmp_path / "other", devices)


# --- failures and threads --------------------------------------------------------------------------------------------------------------


def test_a_failed_part_is_named() -> None:
    devices = [pp.Queue("cpu"), pp.Queue("cpu")]
    s = pp.shard(np.arange(6.0), devices)
    s.map_shards(lambda x: doubled[pp.Range(x.size)](x, 4.0))
    for use in (lambda: s.wait(), lambda: pp.asnumpy(s), lambda: repr(s), lambda: pp.asnumpy(s + 1), lambda: (s * 2).wait()):
        with pytest.raises(AssertionError, match=r"part 1 on cpu:0: "):
            use()
    with pytest.raises(AssertionError):
        float(s.sum())
    assert "part 1 on cpu:0" in str(s.failure())
    same(s[:3], [0.0, 2.0, 4.0])  # the first part is whole
    s[...] = 1.0  # overwritten whole
    assert s.failure() is None
    same(s, np.ones(6))


def test_out_of_memory_says_which_part() -> None:
    device = pp.shard([0], [pp.Queue("cpu"), pp.Queue("cpu")], weights=[0, 1]).device
    with pytest.raises(MemoryError, match=r"part 1 on cpu:0: .*cannot allocate"):
        pp.zeros(2**46, device=device).wait()


def test_threads(devices: list[Any]) -> None:
    x = np.random.default_rng(0).standard_normal(501)
    found: list[Any] = [None] * 4

    def work(k: int) -> None:
        s = pp.shard(x, devices)
        for _ in range(20):
            s = s * 0.5 + s.mean() + s[::-1]
        found[k] = pp.asnumpy(s)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_nothing_of_this_is_read_before_it_is_used() -> None:
    program = """
        import sys
        import pardo as pp
        pp.sin(pp.ones(3)).sum().wait()
        assert not [name for name in sys.modules if name.startswith("pardo._sharding")]
        s = pp.shard([1.0, 2.0], ["cpu"])
        assert float(pp.sin(s).sum()) > 1
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


# --- documents -------------------------------------------------------------------------------------------------------------------------


def test_the_guide_has_the_table_of_functions() -> None:
    """It is made of what dispatches them: else `python docs/make_sharding.py --write`."""
    if not (ROOT / "docs" / "make_sharding.py").exists():
        pytest.skip("not in a source tree")
    maker = runpy.run_path(str(ROOT / "docs" / "make_sharding.py"))
    page = (ROOT / "docs" / "guide" / "sharding.md").read_text()
    assert maker["filled"](page) == page


def test_rows_of_the_table_are_public_functions() -> None:
    functions.read_all()
    for name, row in functions.TABLE.items():
        if (
            row.splits
            and " " not in name
            and "[" not in name
            and name not in ("repr", "str", "save", "to_device", "reshard", "map_shards", "flatten")
        ):
            found: Any = pp
            for part in name.split("."):
                found = getattr(found, part)
            assert callable(found)


def test_files_of_the_table_are_there() -> None:
    for name in functions.FILES:
        assert importlib.util.find_spec(f"pardo._sharding.{name}")


def test_messages_say_what_to_do() -> None:
    s = pp.shard(np.ones(4), places("halves"))
    for call, error, message in (
        (lambda: pp.save("x.npy", s), TypeError, r"s\.save\(folder\)"),
        (lambda: pp.r_[s, s], TypeError, "to_device"),
        (lambda: s.queue, AttributeError, r"s\.shards\[0\]\.queue"),
        (lambda: s.nothing, AttributeError, "no attribute 'nothing'$"),
        (lambda: pp.zeros("a", device=s.device), TypeError, "zeros: shape must be"),
        (lambda: pp.zeros((-1,), device=s.device), ValueError, "negative dimensions"),
        (lambda: pp.zeros(device=s.device), TypeError, r"zeros\(\) missing"),
        (lambda: pp.zeros(3, device=s.device, queue=pp.Queue("cpu")), ValueError, "give no queue"),
        (lambda: pp.shard("abc", ["cpu"]), TypeError, "not str"),
        (lambda: pp.shard({1: 2}, ["cpu"]), TypeError, "not dict"),
        (lambda: s.to_device(3), TypeError, "device must be"),
        (lambda: s.to_device("cpu", stream=1), ValueError, "stream must be None"),
        (lambda: s[1.5], IndexError, "only integers"),
        (lambda: s[..., ...], IndexError, "single ellipsis"),
        (lambda: s.item(), ValueError, "size 1"),
        (lambda: len(s.sum()), TypeError, "without dimensions"),
        (lambda: pp.reshape(s, (3,)), ValueError, "cannot reshape"),
        (lambda: pp.permute_dims(s, (1,)), np.exceptions.AxisError, "out of bounds"),
        (lambda: pp.concat([s, pp.zeros((2, 2), device=s.device)]), ValueError, "must be the same"),
    ):
        with pytest.raises(error, match=message):
            call()
    same(pp.full_like(s, s.sum()), np.full(4, 4.0))


def test_flips_without_dimensions_are_written_as_on_one_device() -> None:
    """They are no numbers of their own, which `x -= 2` would bind anew."""
    for x in (pp.asarray(np.array(True)), pp.shard(np.array(True), [pp.Queue("cpu"), pp.Queue("cpu")], axis=None)):
        flipped = pp.flip(x)
        with pytest.raises(TypeError, match="same_kind"):
            flipped -= 2
        flipped[...] = False
        assert not x


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_parts_of_complex_numbers_are_views(axis: int | None) -> None:
    host = np.arange(6).reshape(2, 3) * (1 + 2j)
    s = pp.shard(host, [pp.Queue("cpu"), pp.Queue("cpu")], axis=axis)
    for x in (host, s):
        x.real[...] += 1
        x.imag = x.real * 3
        x.real[0, 1:] = 7
    np.testing.assert_array_equal(pp.asnumpy(s), host)
    whole = pp.shard(np.array(1 + 2j), [pp.Queue("cpu"), pp.Queue("cpu")], axis=None)
    real = whole.real
    real -= 3
    assert complex(whole) == -2 + 2j
    plain = pp.shard(np.arange(3.0), [pp.Queue("cpu"), pp.Queue("cpu")])
    plain.real[1] = 5
    assert plain.tolist() == [0, 5, 2]
    with pytest.raises(ValueError, match="read-only"):
        plain.imag[...] = 1


def test_broadcasts_cannot_be_written() -> None:
    s = pp.shard(np.arange(3.0), [pp.Queue("cpu"), pp.Queue("cpu")])
    for shape in ((3,), (2, 3)):
        with pytest.raises(ValueError, match="read-only"):
            pp.broadcast_to(s, shape)[...] = 1
