# tests/python/test_fft.py: what surrounds Fourier transforms: arguments, warnings, out, frequencies, threads, plans, NumPy's functions.
from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy_names import BEFORE_2_1
from support import check, samples

pytestmark = pytest.mark.once

RAW = np.array([[0.25, 2.0, 3.0, -1.0], [0.5, 1.0, 9.0, 4.0], [7.0, 0.0, -3.0, 2.5]])


def same(actual: pp.Array, expected: np.ndarray, label: str = "") -> None:
    check(actual, expected, ulp=64, label=label)


def test_out():
    x, out = pp.asarray(RAW), pp.zeros((3, 4), dtype="complex128")
    for f, theirs in ((pp.fft.fft, np.fft.fft), (pp.fft.ifft2, np.fft.ifft2), (pp.fft.fftn, np.fft.fftn)):
        assert f(x, out=out) is out
        same(out, theirs(RAW))
    real = pp.zeros((3, 6))
    assert pp.fft.irfft(x, out=real) is real
    same(real, np.fft.irfft(RAW))
    assert pp.fft.hfft(x, out=real) is real
    same(real, np.fft.hfft(RAW))
    single = pp.zeros((3, 4), dtype="complex64")
    pp.fft.fft(x, out=single)
    np.testing.assert_allclose(pp.asnumpy(single), np.fft.fft(RAW), rtol=1e-6)
    z = pp.asarray(RAW + 0j)
    same(pp.fft.fft(z, out=z), np.fft.fft(RAW))
    wide = pp.zeros((8, 8), dtype="complex128")
    same(pp.fft.fftn(x, (8, 8), (0, 1), out=wide), np.fft.fftn(RAW, (8, 8), (0, 1)))
    with pytest.raises(ValueError, match=r"^fft: out has shape \(2, 4\)"):
        pp.fft.fft(x, out=pp.zeros((2, 4), dtype="complex128"))
    with pytest.raises(TypeError, match=r"^fft: cannot cast the result from complex128 to float64"):
        pp.fft.fft(x, out=pp.zeros((3, 4)))
    with pytest.raises(TypeError, match=r"^rfft: out must be a pardo\.Array"):
        pp.fft.rfft(x, out=[1])


def test_axes_that_repeat_and_none():
    x = pp.asarray(RAW)
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        for keywords in ({"axes": (0, 0)}, {"axes": (1, 0, 1)}, {"axes": (0, 1, 0), "s": (2, 5, 4), "norm": "ortho"}):
            same(getattr(pp.fft, name)(x, **keywords), getattr(np.fft, name)(RAW, **keywords), f"{name} {keywords}")
    assert pp.fft.fftn(x, axes=()) is x
    same(pp.fft.fftn(pp.asarray(3.5)), np.fft.fftn(np.asarray(3.5)))
    for name in ("rfftn", "irfftn", "rfft2"):
        with pytest.raises(IndexError, match=f"^{name}: axes is empty"):
            getattr(pp.fft, name)(x, axes=())


def test_what_numpy_deprecates():
    x = pp.asarray(RAW)
    for name, keywords in (("fftn", {"s": (4,)}), ("irfftn", {"s": (None, None), "axes": (0, 1)}), ("fft2", {"s": (None, 3)})):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            got = getattr(pp.fft, name)(x, **keywords)
            expected = getattr(np.fft, name)(RAW, **keywords)
        assert [w.category for w in told] == [DeprecationWarning] * 2
        assert told[0].filename == __file__
        same(got, expected, name)


WRONG = [
    ("fft", {"n": 0}, ValueError, r"^fft: Invalid number of FFT data points \(0\)"),
    ("irfft", {"n": -4}, ValueError, r"^irfft: Invalid number of FFT data points \(-4\)"),
    ("fft", {"n": 2.0}, TypeError, "^fft: n must be an integer, not float"),
    ("fft", {"axis": 2}, np.exceptions.AxisError, "^fft: axis 2 is out of bounds"),
    ("fft", {"axis": 1.0}, TypeError, "^fft: axis must be an integer"),
    ("fft", {"norm": "unitary"}, ValueError, "^fft: Invalid norm value unitary"),
    ("hfft", {"norm": 3}, ValueError, "^hfft: Invalid norm value 3"),
    ("fft", {"n": 2**62}, (MemoryError, ValueError), "^fft: "),
    ("fftn", {"s": 3}, TypeError, "^fftn: s must be a sequence of integers, not int"),
    ("fftn", {"axes": 1}, TypeError, "^fftn: axes must be a sequence of integers, not int"),
    ("fftn", {"s": (2, 3), "axes": (0,)}, ValueError, "^fftn: Shape and axes have different lengths: 2 and 1"),
    ("rfft2", {"axes": (0, 5)}, IndexError, "^rfft2: axis 5 is out of bounds"),
    ("fft2", {"s": (0, 3)}, ValueError, r"^fft2: Invalid number of FFT data points \(0\)"),
    ("dct", {"type": 5}, ValueError, "^dct: type is 5; it must be 1, 2, 3 or 4"),
    ("dct", {"type": 1, "n": 1}, ValueError, "^dct: the transform of type 1"),
    ("dst", {"norm": "full"}, ValueError, "^dst: Invalid norm value full"),
    ("dctn", {"axes": (0, 0)}, ValueError, "^dctn: all axes must be unique"),
    ("idstn", {"axes": (0,), "s": (2, 2)}, ValueError, "^idstn: when given, axes and s"),
]


@pytest.mark.parametrize(("name", "keywords", "error", "message"), WRONG, ids=lambda v: v if isinstance(v, str) and v.isalnum() else "")
def test_wrong_arguments(name, keywords, error, message):
    with pytest.raises(error, match=message):
        getattr(pp.fft, name)(pp.asarray(RAW), **keywords)
    if hasattr(np.fft, name) and keywords.get("n") != 2**62:
        with pytest.raises(IndexError if error is np.exceptions.AxisError else error):
            getattr(np.fft, name)(RAW, **keywords)


def test_wrong_operands():
    for name in ("rfft", "ihfft", "rfftn"):
        with pytest.raises(TypeError, match=f"^{name}: the input must be real, not complex128"):
            getattr(pp.fft, name)(pp.asarray(RAW + 0j))
    assert isinstance(pp.fft.fft([1, 2, 3]), pp.Array)
    for name in ("fft", "irfft"):
        with pytest.raises(IndexError):
            getattr(pp.fft, name)(pp.asarray(1.0))
        with pytest.raises(ValueError, match="Invalid number of FFT data points"):
            getattr(pp.fft, name)(pp.zeros((3, 0)))
    assert pp.fft.fft(pp.zeros((3, 0)), 4).tolist() == [[0] * 4] * 3
    assert pp.fft.rfft(pp.zeros((0, 5))).shape == (0, 3)


def test_frequencies_and_shifts():
    for n in (1, 2, 5, 8, np.int64(9)):
        for d in (1.0, 0.1, np.float64(3), 2):
            check(pp.fft.fftfreq(n, d), np.fft.fftfreq(n, d))
            check(pp.fft.rfftfreq(n, d), np.fft.rfftfreq(n, d))
    assert pp.fft.fftfreq(4, dtype="float32").dtype == np.float32
    assert pp.fft.rfftfreq(4, device="cpu", dtype="float16").dtype == np.float16
    for axes in (None, 0, -1, (1, 0), (0, 0)):
        check(pp.fft.fftshift(pp.asarray(RAW), axes), np.fft.fftshift(RAW, axes))
        check(pp.fft.ifftshift(pp.asarray(RAW), axes), np.fft.ifftshift(RAW, axes))
    check(pp.fft.fftshift(pp.asarray(RAW), ()), RAW)  # NumPy fails
    check(pp.fft.ifftshift(pp.asarray(2)), np.asarray(2))
    for f in (pp.fft.fftfreq, pp.fft.rfftfreq):
        with pytest.raises(ValueError, match="n should be an integer, not float"):
            f(3.0)
        with pytest.raises(ZeroDivisionError):
            f(0)
        with pytest.raises(TypeError, match="dtype must be a floating-point one"):
            f(3, dtype="int64")
    with pytest.raises(ValueError, match="negative dimensions"):
        pp.fft.fftfreq(-3)
    with pytest.raises(IndexError):
        pp.fft.fftshift(pp.asarray(RAW), 2)


def _smooth(n: int, primes: tuple[int, ...]) -> bool:
    for p in primes:
        while n and n % p == 0:
            n //= p
    return n <= 1


def test_fast_lengths():
    for real, primes in ((False, (2, 3, 5, 7, 11)), (True, (2, 3, 5))):
        fast = [n for n in range(5000) if _smooth(n, primes)]
        for n in (*range(300), 1009, 2049, 4097):
            assert pp.fft.next_fast_len(n, real) == next(f for f in fast if f >= n)
            assert pp.fft.prev_fast_len(n, real) == max(f for f in fast if f <= n)
    assert pp.fft.next_fast_len(10**12 + 1) >= 10**12 + 1
    for f in (pp.fft.next_fast_len, pp.fft.prev_fast_len):
        with pytest.raises(ValueError, match="must not be negative"):
            f(-1)
        with pytest.raises(TypeError, match="target must be an integer"):
            f(2.5)


@given(st.data())
def test_random_calls(data):
    """Any shape, axes and lengths, of a view, against NumPy."""
    shape = tuple(data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=4)))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    a = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    x = pp.asarray(a)
    order = data.draw(st.permutations(range(len(shape))))
    steps = tuple(slice(None, None, data.draw(st.sampled_from([1, -1, 2]))) for _ in shape)
    a, x = a.transpose(order)[steps], pp.permute_dims(x, order)[steps]
    name = data.draw(st.sampled_from(["fftn", "ifftn", "rfftn", "irfftn"]))
    if name == "rfftn":
        a, x = a.real, x.real
    once = (lambda axis: axis % len(shape)) if BEFORE_2_1 else None  # NumPy 2.0 does not take an axis twice as later versions do
    axes = data.draw(st.lists(st.integers(-len(shape), len(shape) - 1), min_size=1, max_size=3, unique_by=once))
    s = data.draw(st.none() | st.tuples(*[st.integers(1, 8) | st.just(-1) for _ in axes]))
    norm = data.draw(st.sampled_from([None, "backward", "ortho", "forward"]))
    try:
        expected = getattr(np.fft, name)(a, s, axes, norm)
    except ValueError:
        with pytest.raises(ValueError, match="Invalid number"):
            getattr(pp.fft, name)(x, s, axes, norm)
        return
    got = pp.asnumpy(getattr(pp.fft, name)(x, s, axes, norm))
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * max(np.abs(expected).max(), 1))


def test_functions_of_numpy_and_contexts():
    x = pp.asarray(RAW)
    for name in ("fft", "rfft2", "irfft", "fftshift"):
        got = getattr(np.fft, name)(x)
        assert type(got) is pp.Array
        same(got, getattr(np.fft, name)(RAW))
    with pp.device_context("cpu"):
        got = pp.fft.fft(RAW)
    assert type(got) is np.ndarray
    np.testing.assert_allclose(got, np.fft.fft(RAW))


def test_recorded_with_what_surrounds_it():
    x = pp.asarray(RAW)
    y = pp.fft.ifft(pp.fft.fft(x + 1) * 2).real - 1
    assert "call fft by" in pp.explain(y)
    np.testing.assert_allclose(pp.asnumpy(y), (RAW + 1) * 2 - 1, rtol=1e-14)
    big = pp.zeros(4096) + 1
    z = pp.fft.rfft(big)
    big += 1  # the transform is of what was there
    assert z[0].real == 4096


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", "int64"])
def test_long_convolutions(dtype, rng):
    """By transforms, where errors are those of the largest sum, by a kernel that sums products, or by a fused sum."""
    sizes = ((40, 40), (100, 17), (17, 300), (1000, 60), (1000, 333), (9000, 31))
    for n, m in sizes:
        a, v = samples(dtype, (n,), rng), samples(dtype, (m,), rng)
        for mode in ("full", "same", "valid"):
            for name in ("convolve", "correlate"):
                expected = getattr(np, name)(a, v, mode)
                got = getattr(pp, name)(pp.asarray(a), pp.asarray(v), mode)
                assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
                close = 0 if dtype == "int64" else 40 * np.finfo(dtype).eps * np.abs(expected).max()
                np.testing.assert_allclose(pp.asnumpy(got), expected, rtol=0, atol=close, err_msg=f"{name} {mode} {n} {m}")


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_convolutions_with_few_hundred_weights_are_exact(name, rng):
    """Sums of whole numbers, and sums that are small beside others: with weights that transforms would not be much faster for."""
    for dtype, n, m in (("float64", 2000, 250), ("float32", 40_000, 500), ("complex128", 900, 120)):
        a, v = (rng.integers(-20, 21, k).astype(dtype) for k in (n, m))
        for module, peer in ((pp, np), (pp.signal, pytest.importorskip("scipy.signal"))):
            exact = {} if peer is np else {"method": "direct"}
            got = pp.asnumpy(getattr(module, name)(pp.asarray(a), pp.asarray(v), "full"))
            np.testing.assert_array_equal(got, getattr(peer, name)(a, v, "full", **exact))
    a, v = np.exp(np.linspace(0, -40, 3000)), rng.random(66)
    np.testing.assert_allclose(pp.asnumpy(getattr(pp, name)(pp.asarray(a), pp.asarray(v))), getattr(np, name)(a, v), rtol=1e-13)


def test_convolutions_of_integers_are_exact(rng):
    for dtype in ("int64", "uint8", "bool"):
        a, v = (rng.integers(0, 2**20, k).astype(dtype) for k in (3000, 700))
        np.testing.assert_array_equal(pp.asnumpy(pp.convolve(pp.asarray(a), v)), np.convolve(a, v))
        np.testing.assert_array_equal(pp.asnumpy(pp.signal.convolve(pp.asarray(a), v)), np.convolve(a, v))


def test_convolutions_of_what_is_not_finite():
    a = np.linspace(-1, 1, 300)
    for value in (np.inf, np.nan, 1e308, 1e200):
        a[30] = value
        v = np.full(280, 1.0 if value != 1e200 else 1e150)
        with np.errstate(all="ignore"):
            expected = np.convolve(a, v)
        got = pp.asnumpy(pp.convolve(pp.asarray(a), v))
        np.testing.assert_allclose(got, expected, rtol=1e-13, atol=1e-13 * value if value < 1e250 else 1e-13)


def test_plans_are_bounded():
    """Many long prime lengths, whose plans are large: the memory of the process stays."""
    code = """
import pardo as pp
from own_memory import peak
x = pp.ones((2, 60000), dtype="complex128")
for n in range(40001, 40013): pp.fft.fft(x[:, :n]).wait()
first = peak()
for n in range(41001, 41061): pp.fft.fft(x[:, :n]).wait()
assert peak() - first < 60 << 20, (first, peak())
"""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


SETTINGS = [{"PARDO_CPU_VECTOR_BYTES": "16"}, {"PARDO_NUM_THREADS": "3"}, {"PARDO_ROUTINES": "fft_in_parts=parts"}]


@pytest.mark.varied("settings")
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_other_code_and_threads(settings):
    """Without AVX2; with more threads than cores; with factors and directions apart, as for cuFFT. In a child of fork() too."""
    code = """
import os, numpy as np, pardo as pp
rng = np.random.default_rng(3)
def compare():
    for shape in ((1 << 17,), (5, 1000), (200, 300), (3, 1 << 17)):
        for t in ("float32", "float64"):
            a = rng.standard_normal(shape).astype(t)
            x = pp.asarray(a, device="cpu")
            for name in ("fft", "rfft", "irfft", "hfft", "ihfft", "irfftn"):
                f, theirs = getattr(pp.fft, name), getattr(np.fft, name)
                got, expected = pp.asnumpy(f(x, norm="ortho")), theirs(a, norm="ortho")
                assert np.abs(got - expected).max() < 1e2 * np.finfo(t).eps * np.abs(expected).max(), (name, shape, t)
            assert np.abs(pp.asnumpy(pp.fft.idct(pp.fft.dct(x))) - a).max() < 1e2 * np.finfo(t).eps
compare()
child = os.fork()
if child == 0:
    try: compare()
    except BaseException: os._exit(1)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={**os.environ, **settings})
    assert done.returncode == 0, done.stderr
