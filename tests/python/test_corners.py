# tests/python/test_corners.py: where array functions meet NumPy's corners: signs of zeros, powers of integers, parts of complex numbers,
# masks, integers of 64 bits with and without sign, and the names by which public objects are found.
from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pardo as pp
import pytest
from numpy_names import BEFORE_2_1
from support import check


def same(actual, expected):
    """As support.check, and zeros have the same sign."""
    check(actual, expected)
    got, expected = pp.asnumpy(actual), np.asarray(expected)
    if expected.dtype.kind in "fc":
        for part in ("real", "imag"):
            np.testing.assert_array_equal(np.signbit(getattr(got, part)), np.signbit(getattr(expected, part)))


# --- real and imaginary parts are views ----------------------------------------------------------------------------------------------


def complex_values(shape, dtype, rng):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


LAYOUTS = {
    "whole": lambda x: x,
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[::-1, ::2],
    "column": lambda x: x[:, 1],
    "inner": lambda x: x[1:, 1:-1],
    "wider": lambda x: x[None, :, None],
}
SOURCES = {
    "memory": lambda x: x,
    "pending": lambda x: x * 2 + 1,
    "pending view": lambda x: (x * 2)[:],
}


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("part", ["real", "imag"])
def test_parts_are_views(dtype, layout, source, part, rng):
    host = SOURCES[source](complex_values((4, 6), dtype, rng))
    x = SOURCES[source](pp.asarray((host - 1) / 2 if source == "pending" else host / 2 if source == "pending view" else host))
    host = pp.asnumpy(x)
    x = SOURCES[source](x) if source == "memory" else x
    mine, theirs = getattr(LAYOUTS[layout](x), part), getattr(LAYOUTS[layout](host), part)
    same(mine, theirs)
    before = mine + 0  # recorded, and never sees what comes later
    old = theirs.copy()
    mine[...] = 9
    theirs[...] = 9
    same(x, host)
    mine += 1
    theirs += 1
    same(x, host)
    pp.multiply(mine, -1, out=mine)
    np.multiply(theirs, -1, out=theirs)  # `negative` is wrong here in NumPy 2.4, for strided floats in place
    same(x, host)
    mine[0] = -0.0
    theirs[0] = -0.0
    same(x, host)
    same(mine, theirs)
    same(before, old + 0)
    x[...] = 2 - 3j  # and what is written to the whole is seen in the part
    host[...] = 2 - 3j
    same(mine, theirs)


def test_parts_of_a_pending_array_see_its_later_writes():
    x = pp.asarray([1 + 2j, 3 + 4j]) * 2
    re, im, total = x.real, x.imag, x.real + x.imag
    x[0] = 10 - 20j
    assert (re.tolist(), im.tolist(), total.tolist()) == ([10, 6], [-20, 8], [6, 14])
    x.real += 1
    x.imag = [7, 8]
    assert x.tolist() == [11 + 7j, 7 + 8j]
    x.imag[...] = x.real
    x.real[::-1] = x.imag
    assert x.tolist() == [7 + 11j, 11 + 7j]
    x.real[...] = abs(x)
    np.testing.assert_allclose(pp.asnumpy(x.real), np.hypot([7, 11], [11, 7]))
    x.real[...] = x.real[::-1] * 2
    assert x.real.shape == (2,)


def test_parts_in_expressions_are_computed_without_memory_of_their_own():
    x, y = pp.asarray([1 + 2j, 3 - 4j]), pp.asarray([2 + 1j, 1 + 1j])
    before = pp.counters()["launched"]
    z = (x * y).real ** 2 + (x * y).imag ** 2
    assert z.tolist() == [25, 50]
    if os.environ.get("PARDO_FUSION") != "off":
        assert pp.counters()["launched"] == before + 1


def test_parts_of_numbers_are_numbers():
    x = pp.asarray([1 + 2j, 3 + 4j])
    z = x[0]
    t = z.real
    t += 5
    assert (t.item(), z.item(), x.tolist()) == (6, 1 + 2j, [1 + 2j, 3 + 4j])
    same(x.real.imag, np.zeros(2))
    r = pp.arange(3.0)
    assert r.real is r
    r.real[0] = 7
    assert r.tolist() == [7, 1, 2]


# --- powers --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(BEFORE_2_1, reason="NumPy 2.0 looks at the value of an exponent: the square of integers by 2.0 has integers")
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int64", "uint64", "float32"])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, True, 2.0, np.int8(2), np.uint8(3)])
def test_powers_have_numpys_dtypes(dtype, exponent):
    host = np.array([0, 1, 1, 0]).astype(dtype)
    same(pp.asarray(host) ** exponent, host**exponent)
    same(pp.power(pp.asarray(host), exponent), np.power(host, exponent))


NEGATIVE = "Integers to negative integer powers are not allowed"


@pytest.mark.parametrize("dtype", ["bool", "int8", "int32", "int64"])
def test_negative_powers_of_integers_are_refused_at_once(dtype):
    x = pp.asarray(np.ones(3, dtype))
    for exponent in (-1, -2, np.int8(-1), np.int64(-3)):
        with pytest.raises(ValueError, match=NEGATIVE):
            x**exponent
        with pytest.raises(ValueError, match=NEGATIVE):
            pp.power(x, exponent)
    same(x[:0] ** -1, np.ones(0, dtype) ** -1)


def test_negative_powers_that_only_the_data_tells():
    x = pp.asarray([2, 3, 4])
    for exponents in ([1, -1, 2], [[0], [-5]]):
        y = pp.asarray(exponents)
        for power in (
            lambda y: x**y,
            lambda y: pp.power(x, y),
            lambda y: 2**y,
            lambda y: x ** y.astype("int8"),
            lambda y: (x + 1) ** (y * 1),
        ):
            with pytest.raises(ValueError, match=NEGATIVE):
                power(y).wait()
            assert y.tolist() == exponents  # the exponents themselves are no failure
        with pytest.raises(ValueError, match=NEGATIVE):
            ((x**y).sum() * 2).item()
    check(x ** pp.asarray([0, 1, 2]), np.array([1, 3, 16]))
    check(x ** pp.asarray([1, 2, 3], dtype="uint8"), np.array([2, 9, 64]))
    check(pp.asarray([2.0, 1.0]) ** pp.asarray([-1, -2]), np.array([0.5, 1.0]))  # GPUs round other powers otherwise
    pp.Queue.of("cpu").wait()


def test_a_negative_power_names_the_line():
    x, y = pp.asarray([2]), pp.asarray([-1]) * 1
    go = threading.Event()
    x.queue.host_task(go.wait)  # so that the failure comes late
    z = x**y + 1
    go.set()
    with pytest.raises(ValueError, match=r"power.*test_corners\.py") as e:
        z.wait()
    assert NEGATIVE in str(e.value)


def test_negative_powers_that_where_leaves_out():
    x, y, out = pp.asarray([2, 3, 4]), pp.asarray([2, -1, 3]), pp.zeros(3, dtype=int)
    pp.power(x, y, where=y >= 0, out=out)
    assert out.tolist() == [4, 0, 64]
    with pytest.raises(ValueError, match=NEGATIVE):
        pp.power(x, y, where=y < 2, out=out).wait()


# --- zeros of both signs -------------------------------------------------------------------------------------------------------------

ZEROS = [-0.0, 0.0, 0.0, -0.0]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("copies", [1, 20, 700, 40000])
def test_sort_keeps_zeros_in_order(dtype, descending, copies):
    host = np.array([*ZEROS, 1, -1, 0.0, -0.0, np.inf, np.nan, -np.inf, -0.0] * copies, dtype)
    x = pp.asarray(host)
    order = np.argsort(-host if descending else host, kind="stable")  # of negated elements NaN is last too
    expected = host[order]
    if descending:
        expected = np.concatenate([expected[np.isnan(expected)], expected[~np.isnan(expected)]])
    same(pp.sort(x, descending=descending), expected)
    rows = host.reshape(-1, 12)
    same(pp.sort(pp.asarray(rows), axis=1), np.sort(rows, axis=1, kind="stable"))
    same(pp.sort(pp.asarray(rows), axis=0), np.sort(rows, axis=0, kind="stable"))
    rows = host.reshape(4, -1)
    same(pp.sort(pp.asarray(rows), axis=1), np.sort(rows, axis=1, kind="stable"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("where", [slice(0, None, 997), slice(5000, 9000), slice(-1, None), slice(0, None, 20000)])
def test_sort_keeps_few_zeros_in_order(dtype, where):
    host = (np.random.default_rng(5).random((3, 40001)) - 0.5).astype(dtype)
    host[1, where] *= 0
    host[2, where] = np.abs(host[2, where]) * 0
    same(pp.sort(pp.asarray(host), axis=1), np.sort(host, axis=1, kind="stable"))
    same(pp.sort(pp.asarray(host[1])), np.sort(host[1], kind="stable"))


@pytest.mark.skipif(BEFORE_2_1, reason="NumPy 2.0 takes the other zero where a limit equals an element")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_clip_of_zeros(dtype):
    host = np.array([*ZEROS, np.nan, -1, 2] * 5, dtype)
    x = pp.asarray(host)
    zero = [0.0, -0.0]
    limits = (
        [(a, b) for a in zero for b in (1.0, *zero)] + [(-1.0, b) for b in zero] + [(a, None) for a in zero] + [(None, a) for a in zero]
    )
    limits += [(np.nan, 1.0), (0.0, np.nan), (1.0, 0.0)]
    for low, high in limits:
        same(pp.clip(x, low, high), np.clip(host, low, high))
        arrays = [None if e is None else np.full(host.shape, e, dtype) for e in (low, high)]
        mine = [None if e is None else pp.asarray(e) for e in arrays]
        same(pp.clip(x, *mine), np.clip(host, *arrays))


@pytest.mark.parametrize("dtype", ["bool", "int32", "float64", "complex64"])
def test_clip_without_limits_where(dtype):
    x, where = pp.asarray(np.array([1, 0, 1]).astype(dtype)), pp.asarray([False, True, True])
    out = pp.asarray(np.array([0, 1, 0]).astype(dtype))
    assert pp.clip(x, out=out, where=where) is out
    assert out.tolist() == [0, 0, 1]


# --- integers of 64 bits -------------------------------------------------------------------------------------------------------------


def test_isin_of_mixed_signs_is_exact():
    signed = np.array([2**53, 2**53 + 1, -1, -(2**63), 2**63 - 1, 0])
    unsigned = np.array([2**53, 2**53 + 2, 2**64 - 1, 2**63, 2**63 - 1], np.uint64)
    for a, b in ((signed, unsigned), (unsigned, signed), (signed[:0], unsigned), (signed, unsigned[:0])):
        expected = np.array([int(v) in set(b.tolist()) for v in a], bool)
        check(pp.isin(pp.asarray(a), pp.asarray(b)), expected)
        check(pp.isin(pp.asarray(a), pp.asarray(b), invert=True), ~expected)


@pytest.mark.skipif(BEFORE_2_1, reason="NumPy 2.0 takes no uint64 for an index")
def test_indices_beyond_int64():
    x, host = pp.arange(5), np.arange(5)
    for big in (2**63, 2**63 + 1, 2**64 - 1, 2**64 - 7):
        indices = np.array([big, 3], np.uint64)
        check(pp.take(x, indices, mode="clip"), np.take(host, indices, mode="clip"))
        check(pp.take(x, pp.asarray(indices), mode="clip"), np.take(host, indices, mode="clip"))
    with pytest.raises(IndexError):
        pp.take(x, np.array([2**63], np.uint64))
    with pytest.raises(IndexError):
        pp.take(x, pp.asarray(np.array([2**63 + 1], np.uint64))).wait()


# --- what holds nothing, what is masked, what is nested ------------------------------------------------------------------------------


def test_indices_of_empty_arrays_are_checked():
    x = pp.zeros((3, 0))
    for index in ([7], [-4]):
        for take in (lambda i: pp.take(x, i, axis=0), lambda i: x[i]):
            for given in (index, pp.asarray(index)):
                with pytest.raises(IndexError):  # where the device looks at them, at a wait
                    _ = take(given).wait(), x.queue.wait()
    assert pp.take(x, pp.asarray([2, -3]), axis=0).wait().shape == (2, 0)
    assert x[pp.asarray([[0, 1]])].shape == (1, 2, 0)
    with pytest.raises(IndexError):
        _ = pp.zeros((0, 3))[pp.asarray([0])].wait(), x.queue.wait()

    def write():
        x[pp.asarray([7])] = 1
        x.queue.wait()

    with pytest.raises(IndexError):
        write()


def test_masked_arrays_are_refused():
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    queue, memory = pp.Queue("cpu"), pp.MemoryHost(24)
    x = pp.zeros(3, queue=queue)

    @pp.jit
    def add_one(a):
        for i in pp.prange(a.shape[0]):
            a[i] += 1

    calls = [
        lambda: pp.asarray(masked),
        lambda: pp.asarray(masked, copy=False),
        lambda: pp.asarray([masked, masked]),
        lambda: pp.array([[1.0, 2.0, 3.0], masked]),
        lambda: pp.from_dlpack(masked),
        lambda: pp.full(3, masked),
        lambda: x.__setitem__(..., masked),
        lambda: x + masked,
        lambda: add_one(masked),
        lambda: queue.copy(x, masked),
        lambda: queue.copy(masked, x),
        lambda: queue.copy_rect(masked, x, region=(24, 1)),
        lambda: pp.asnumpy(masked),
        lambda: memory.copy_to_host(masked),
        lambda: memory.copy_from_host(masked),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"mask|asarray"):
            call()
    with pytest.raises(TypeError, match=r"asarray: a masked array would lose its mask; use x\.filled"):
        pp.asarray(masked)
    check(pp.asarray(masked.filled(0.0)), np.array([1.0, 0.0, 3.0]))


def test_lists_of_arrays():
    rows = [pp.arange(3.0), pp.ones(3) * 2]
    check(pp.asarray(rows), np.array([[0, 1, 2], [2, 2, 2.0]]))
    check(pp.asarray([rows, rows]), np.array([[[0, 1, 2], [2, 2, 2.0]]] * 2))
    check(pp.asarray([rows[0], [5, 6, 7]]), np.array([[0, 1, 2], [5, 6, 7.0]]))


def test_texts_that_are_no_text():
    for call, error, match in [
        (lambda: pp.Device("\ud800"), ValueError, r'Device: no device matches "\\ud800"'),
        (lambda: pp.zeros(3, device="\ud800"), ValueError, r'no device matches "\\ud800"'),
        (lambda: pp.add(pp.ones(3), 1, dtype="\ud800"), TypeError, r"dtype '\\ud800' is not supported"),
        (lambda: pp.add(pp.ones(3), 1, **{"\ud800": 1}), TypeError, r"add\(\) got an unexpected keyword argument '\\ud800'"),
        (lambda: pp.zeros(3, usm_type="\ud800"), ValueError, r"zeros: usm_type is '\\ud800'"),
        (lambda: pp.Queue("cpu", order="\ud800"), ValueError, r"Queue: order is '\\ud800'"),
        (lambda: pp.Device("cpu").has_aspect("\ud800"), ValueError, r'has_aspect: "\\ud800" is not an aspect'),
        (lambda: pp.Device("cpu").create_sub_devices("\ud800"), ValueError, r'create_sub_devices: "\\ud800"'),
        (lambda: pp.get_devices("\ud800"), ValueError, r'get_devices: no back end "\\ud800"'),
        (lambda: pp.ones(3).__dlpack__(max_version="\ud800"), TypeError, r"max_version must be a pair of integers, not '\\ud800'"),
        (lambda: pp.LocalAccessor(1 << 64, "int32"), ValueError, "LocalAccessor"),
    ]:
        with pytest.raises(error, match=match):
            call()


def test_failures_that_are_no_text():
    def fails():
        raise ValueError("\ud800")

    event = pp.UserEvent()
    event.set_failed(ValueError("\ud800"))
    for failed in (event, pp.Queue("cpu").host_task(fails)):
        with pytest.raises(ValueError) as caught:
            failed.wait()
        assert str(caught.value) == "\ud800"


def test_literals_and_names_that_are_no_text():
    @pp.kernel
    def asserts(item: pp.Item, x):
        assert x[item.get_id(0)] > 5, "\ud800"

    @pp.jit
    def raises(x):
        for i in range(3):
            if x[i] < 5:
                raise ValueError("\ud800 bad")

    def named(item: pp.Item, x):
        x[item.get_id(0)] = 2

    named.__name__ = "\ud800"
    x = pp.ones(3)
    with pytest.raises(TypeError, match=r"^\\ud800: `x`: an array"):
        pp.kernel(named)[1]("a")
    pp.kernel(named)[1](x)
    assert x.tolist() == [2, 1, 1]
    with pytest.raises(AssertionError, match=r"asserts: \\ud800 \(item 0\)"):
        asserts[1](x).wait()
    with pytest.raises(ValueError, match=r"raises: \\ud800 bad"):
        raises(x)


@pytest.mark.once
@pytest.mark.parametrize("name", ["PARDO_DEVICE", "PARDO_DEVICES", "PARDO_NUM_THREADS", "PARDO_MEMORY", "PARDO_FUSION", "PARDO_LOG"])
def test_variables_that_are_no_text(name):
    """Bytes that are not UTF-8 are shown; the message is not lost to them."""
    done = subprocess.run(
        [sys.executable, "-c", "import pardo as pp; print(pp.ones(3) + 1)"],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {name: "a\udcf3b"},
        check=False,
    )
    assert rf"{name}=a\xf3b: " in done.stderr


# --- names ---------------------------------------------------------------------------------------------------------------------------


def test_public_objects_say_where_they_are_public():
    spaces = {"pardo": [n for n in dir(pp) if not n.startswith("_")]}
    spaces |= {f"pardo.{m}": getattr(pp, m).__all__ for m in ("random", "algorithm", "fft", "special")}
    for space, names in spaces.items():
        for name in names:
            value = getattr(sys.modules[space], name)
            module = getattr(value, "__module__", None)
            if module is None or not module.startswith("pardo"):
                continue
            assert not module.startswith("pardo._"), f"{space}.{name} says that it is from {module}"
            assert getattr(sys.modules[module], value.__name__) is value, f"{space}.{name}"
    assert repr(pp.Array) == "<class 'pardo.Array'>"


def test_pickles_name_public_places_only():
    x = pp.arange(5.0)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        data = pickle.dumps(x, protocol)
        assert b"pardo._" not in data
        check(pickle.loads(data), np.arange(5.0))
    assert pickle.loads(pickle.dumps(x)[:0] + b"\x80\x02cpardo\n_rebuild_array\nq\x00.") is pp._rebuild_array
    assert pickle.loads(b"\x80\x02cpardo._interop\n_rebuild\nq\x00.") is pp._rebuild_array  # of pickles of the first release
    for module, name in (("_statistics", "sum"), ("_items", "Range"), ("_rng", "default_rng"), ("_sorting", "TopK")):
        found = pickle.loads(f"cpardo.{module}\n{name}\n.".encode())
        assert found.__name__ == name
        assert found.__module__ in ("pardo", "pardo.random", "pardo._array.sorting")
    for thing in (pp.sum, pp.sin, pp.Array, pp.Range, pp.random.default_rng, pp.algorithm.unique):
        assert pickle.loads(pickle.dumps(thing)) is thing
        assert b"pardo._" not in pickle.dumps(thing)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(("shape", "axis"), [((), None), ((), ()), ((), 0), ((1,), ()), ((3,), ()), ((1, 1), None), ((2, 1), 1)])
@pytest.mark.parametrize("name", ["sum", "mean", "prod"])
def test_sums_start_at_zero(name, shape, axis, dtype):
    zeros = np.full(shape, -0.0, dtype)
    x = pp.asarray(zeros)
    if name == "mean" and shape == () and axis == 0:
        return  # an AxisError, in both
    for keepdims in (False, True):
        same(getattr(pp, name)(x, axis=axis, keepdims=keepdims), getattr(np, name)(zeros, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("statement", ["x += y", "pp.add(x, y, out=x)", "pp.sqrt(y, out=x)", "pp.add(x, 1, out=x, where=mask)"])
def test_outputs_of_a_wrong_shape_are_refused_before_anything_is_computed(statement):
    memory = np.zeros(1 << 20)
    x = pp.asarray(memory, copy=False)  # what reads it is computed when it is recorded
    y = pp.broadcast_to(x[:, None], (1 << 20, 1 << 20))
    mask = pp.broadcast_to(pp.zeros(1, dtype=bool), (2, 1 << 20))
    with pytest.raises(ValueError, match="non-broadcastable output operand"):
        exec(statement, {"pp": pp, "x": x, "y": y, "mask": mask})
