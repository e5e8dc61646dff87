# tests/python/test_compat_pyopencl.py: pyopencl.array, clmath and clrandom by pardo's arrays, against NumPy.
from __future__ import annotations

import subprocess
import sys

import numpy as np
import pardo as pp
import pardo.compat.pyopencl as cl
import pytest
from groups import DEVICES
from pardo.compat.pyopencl import array as cl_array
from pardo.compat.pyopencl import clmath, clrandom

pytestmark = pytest.mark.once

RAW = np.array([[3.0, -1.0, 2.5], [0.5, -2.5, 7.0]], "float32")


@pytest.fixture(params=DEVICES, ids=str)
def queue(request):
    return cl.CommandQueue(pp.Queue(request.param).context)


def same(x, expected, queue):
    assert type(x) is pp.Array
    assert (x.dtype, x.shape, x.queue) == (np.asarray(expected).dtype, np.shape(expected), queue)
    np.testing.assert_allclose(x.get(), expected, rtol=1e-6)


def test_import_changes_no_array_before():
    code = "import pardo as pp, pardo.compat; assert not hasattr(pp.Array, 'set'); import pardo.compat.pyopencl.array; pp.Array.set"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_queues():
    context = cl.create_some_context()
    plain, timed = cl.CommandQueue(context), cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
    assert isinstance(plain, cl.CommandQueue)
    assert isinstance(cl.CommandQueue(context, context.devices[0]), pp.Queue)
    assert (plain.order, timed.profiling) == ("in_order", True)
    assert cl.CommandQueue(properties=cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE).order == "out_of_order"
    cl.wait_for_events([plain.barrier()])
    with pytest.raises(TypeError, match=r"^CommandQueue: context is of the type str, where a pardo\.Context is expected"):
        cl.CommandQueue("cpu")
    for name, text in (
        ("Buffer", "pardo.MemoryDevice"),
        ("Program", "pardo.Program"),
        ("enqueue_copy", "queue.copy"),
        ("nothing", "guide"),
    ):
        with pytest.raises(AttributeError, match=text):
            getattr(cl, name)
    for module, name in ((cl_array, "multi_put"), (clmath, "bessel_jn"), (clrandom, "ThreefryGenerator")):
        with pytest.raises(AttributeError, match=r"use|store|see"):
            getattr(module, name)


def test_arrays_are_made(queue):
    same(cl_array.to_device(queue, RAW), RAW, queue)
    turned = cl_array.to_device(queue, np.asfortranarray(RAW))
    assert turned.flags.f_contiguous
    same(turned, RAW, queue)
    same(cl_array.zeros(queue, (2, 3), np.int32), np.zeros((2, 3), "int32"), queue)
    same(cl_array.zeros(queue, 3), np.zeros(3), queue)
    same(cl_array.zeros_like(turned), np.zeros((2, 3), "float32"), queue)
    assert cl_array.empty_like(turned).flags.f_contiguous
    assert cl_array.empty(queue, (2, 3), np.float32, order="F").strides == (4, 8)
    assert cl_array.Array(queue, (2, 3), np.float32, strides=(4, 8)).strides == (4, 8)
    assert cl_array.Array(queue.context, 3).shape == (3,)
    same(cl_array.arange(queue, 2, 20, 3, dtype=np.int32), np.arange(2, 20, 3, dtype=np.int32), queue)
    same(cl_array.arange(queue, 0, 1, 0.25, np.dtype("float32")), np.arange(0, 1, 0.25, "float32"), queue)
    assert isinstance(turned, cl_array.Array)
    for call, error, text in (
        (lambda: cl_array.to_device(None, RAW), TypeError, "^to_device: a queue is expected first, not NoneType"),
        (lambda: cl_array.to_device(queue, np.array([None])), TypeError, "asarray"),
        (lambda: cl_array.arange(queue, 3), TypeError, "^arange: dtype is needed"),
        (lambda: cl_array.Array(queue, 3, np.float32, strides=(8,)), ValueError, "^Array: strides"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_methods(queue):
    x, other = cl_array.to_device(queue, RAW), cl.CommandQueue(queue.context)
    assert x.with_queue(None) is x.with_queue(queue) is x
    copy = x.with_queue(other)
    same(copy, RAW, other)
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 1
    host, event = x.get_async()
    event.wait()
    np.testing.assert_array_equal(host, RAW)
    target = np.zeros((2, 3), "float32")
    assert x.get(queue, target) is x.get(ary=target) is target
    np.testing.assert_array_equal(target, RAW)
    same(x.copy(other), RAW, other)
    same(
        x.astype(np.float64 if queue.device.has_fp64 else np.int32, other),
        RAW.astype(np.float64 if queue.device.has_fp64 else np.int32),
        other,
    )
    same(x.reverse(), RAW.ravel()[::-1].reshape(2, 3), queue)
    same(x.mul_add(2, x, 3), 5 * RAW, queue)
    assert x.context == queue.context
    x.add_event(queue.barrier())
    cl.wait_for_events(x.events)
    x.finish()
    x.setitem((slice(None), 0), 9)
    assert x[:, 0].get().tolist() == [9, 9]
    x.set(RAW[::-1].copy())
    same(x, RAW[::-1], queue)
    assert x.fill(4, queue) is None
    same(x, np.full((2, 3), 4, "float32"), queue)
    for call, error, text in (
        (lambda: x.set(RAW.astype("f8")), TypeError, "^set: an array of NumPy's of float32 is expected, not of float64"),
        (lambda: x.set(RAW[:1]), ValueError, "^set: the array has 6 elements, and `ary` 3"),
        (lambda: x.fill(1, other), pp.ExecutionPlacementError, "^fill: the array is on"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_functions(queue):
    x = cl_array.to_device(queue, RAW)
    places = cl_array.to_device(queue, np.array([4, 0, 4]))
    same(cl_array.take(x, places), RAW.ravel()[[4, 0, 4]], queue)
    out = cl_array.zeros(queue, 3, np.float32)
    assert cl_array.take(x, places, out=out) is out
    same(cl_array.multi_take([x, x + 1], places)[1], RAW.ravel()[[4, 0, 4]] + 1, queue)
    same(cl_array.concatenate([x, x], 1), np.concatenate([RAW, RAW], 1), queue)
    same(cl_array.hstack([x, x]), np.concatenate([RAW, RAW], -1), queue)
    same(cl_array.stack([x, x], -1), np.stack([RAW, RAW], -1), queue)
    same(cl_array.diff(x[0]), np.diff(RAW[0]), queue)
    same(cl_array.transpose(x), RAW.T, queue)
    same(cl_array.reshape(x, (3, 2)), RAW.reshape(3, 2), queue)
    same(cl_array.as_strided(x, (3, 2), (4, 12)), RAW.T, queue)
    same(cl_array.if_positive(x, x, -x), np.where(RAW > 0, RAW, -RAW), queue)
    same(cl_array.if_positive(x, np.float32(1), x), np.where(RAW > 0, np.float32(1), RAW), queue)
    same(cl_array.maximum(x, 1), np.maximum(RAW, np.float32(1)), queue)
    same(cl_array.minimum(1, x), np.minimum(RAW, np.float32(1)), queue)
    assert cl_array.maximum(1, 2) == 2
    same(cl_array.logical_and(x > 0, x < 3), ((RAW > 0) & (RAW < 3)).astype("int8"), queue)
    same(cl_array.logical_or(x > 3, 0), (RAW > 3).astype("int8"), queue)
    same(cl_array.logical_not(x > 0), (RAW <= 0).astype("int8"), queue)
    with pytest.raises(ValueError, match=r"^if_positive: then_ is of float32, and else_ of int64"):
        cl_array.if_positive(x, x, 1)
    with pytest.raises(ValueError, match=r"^if_positive: criterion has shape \(2, 3\), and then_ \(3,\)"):
        cl_array.if_positive(x, x[0], x)
    with pytest.raises(ValueError, match=r"^diff: an array of one dimension"):
        cl_array.diff(x)


def test_reductions(queue):
    x, small = cl_array.to_device(queue, RAW), np.array([100, 100, 27], "int8")
    y = cl_array.to_device(queue, small)
    same(cl_array.sum(x), RAW.sum(), queue)
    same(cl_array.sum(y), small.sum(dtype="int8"), queue)
    same(cl_array.sum(y, dtype=np.int32, initial=5), np.int32(232), queue)
    same(cl_array.sum(x, slice=slice(1, 4)), RAW.ravel()[1:4].sum(), queue)
    same(cl_array.dot(x, x), np.vdot(RAW, RAW), queue)
    z = cl_array.to_device(queue, np.array([1 + 2j, 3j], "complex64"))
    same(cl_array.dot(z, z), np.dot(z.get(), z.get()), queue)
    same(cl_array.vdot(z, z), np.vdot(z.get(), z.get()), queue)
    places = cl_array.to_device(queue, np.array([4, 0, 2]))
    flat = RAW.ravel()[[4, 0, 2]]
    same(cl_array.subset_dot(places, x, x), np.dot(flat, flat), queue)
    same(cl_array.subset_min(places, x), flat.min(), queue)
    same(cl_array.subset_max(places, x, slice=slice(0, 1)), flat[:1].max(), queue)
    same(cl_array.max(x), RAW.max(), queue)
    same(cl_array.min(x, initial=-9), np.float32(-9), queue)
    assert cl_array.max(3.0) == 3
    assert (bool(cl_array.any(x > 6)), bool(cl_array.all(x > 6))) == (True, False)
    same(cl_array.cumsum(x), RAW.cumsum().reshape(2, 3), queue)
    event, sums = cl_array.cumsum(y, np.int32, return_event=True)
    event.wait()
    same(sums, small.cumsum(dtype="int32"), queue)
    for call, error, text in (
        (lambda: cl_array.dot(x, y), ValueError, r"^dot: arrays of one shape are expected, not of \(2, 3\) and \(3,\)"),
        (lambda: cl_array.min(cl_array.zeros(queue, 0)), ValueError, "zero-size"),
        (lambda: cl_array.sum(x, initial="1"), ValueError, "^sum: initial is a number, not str"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_clmath(queue):
    host = np.array([0.25, 0.5, 0.75], "float32")
    x = cl_array.to_device(queue, host)
    for name, expected in (
        ("sin", np.sin),
        ("fabs", np.fabs),
        ("exp10", lambda h: 10**h),
        ("rsqrt", lambda h: 1 / np.sqrt(h)),
        ("acospi", lambda h: np.arccos(h) / np.float32(np.pi)),
    ):
        got = getattr(clmath, name)(x)
        assert (got.dtype, got.queue) == (np.float32, queue)
        np.testing.assert_allclose(got.get(), expected(host), rtol=1e-5)
    halves = cl_array.to_device(queue, np.array([-1.5, -0.5, 0.49999997, 0.5, 2.5], "float32"))
    assert clmath.round(halves).get().tolist() == [-2, -1, 0, 1, 3]
    assert clmath.rint(halves).get().tolist() == [-2, 0, 0, 0, 2]
    other = cl.CommandQueue(queue.context)
    assert clmath.atan2(x, x, other).queue == clmath.sqrt(x, queue=other).queue == other
    np.testing.assert_allclose(clmath.lgamma(x).get(), [1.2880225, 0.5723649, 0.2032809], rtol=1e-5)
    parts, exponents = clmath.frexp(x)
    np.testing.assert_array_equal(clmath.ldexp(parts, exponents).get(), host)


def test_clrandom(queue):
    generator, again = clrandom.PhiloxGenerator(queue.context, seed=7), clrandom.PhiloxGenerator(queue.context, seed=7)
    x = generator.uniform(queue, (50, 20), np.float32, a=2, b=3)
    assert (x.shape, x.dtype, x.queue) == ((50, 20), np.float32, queue)
    assert 2 <= x.get().min() < x.get().max() < 3.0001
    np.testing.assert_array_equal(x.get(), again.uniform(queue, (50, 20), np.float32, a=2, b=3).get())
    y = generator.normal(queue, 1000, np.float32, mu=5, sigma=0.1)
    assert abs(float(y.mean()) - 5) < 0.05
    integers = clrandom.rand(queue, 100, np.int32, a=1, b=4)
    assert set(integers.get().tolist()) == {1, 2, 3}
    clrandom.fill_rand(x)
    assert 0 <= x.get().min() < x.get().max() < 1
    with pytest.raises(TypeError, match=r"^PhiloxGenerator: key and counter are not taken"):
        clrandom.PhiloxGenerator(queue.context, key=[1, 2])
