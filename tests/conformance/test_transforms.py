# tests/conformance/test_transforms.py: Fourier transforms on every device, against NumPy; cosine and sine transforms against their sums.
import numpy as np
import pardo as pp
import pytest
from data import DTYPES, rng_for, values

NAMES = {
    "fft": ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"],
    "fftn": ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"],
}
TO_HALF = ("rfft", "ihfft", "rfft2", "rfftn")
REAL = [name for name in DTYPES if not name.startswith("complex")]
FLOATS = [name for name in ("float16", "float32", "float64", "complex64", "complex128") if name in DTYPES]


def close(actual, expected, label="", given=""):
    """The dtype and shape, and the values to some units in the last place of the largest one; NumPy rounds factors to the dtype given."""
    got = pp.asnumpy(actual)
    narrow = {np.dtype("float64"): np.dtype("float32"), np.dtype("complex128"): np.dtype("complex64")}
    wanted = expected.dtype if actual.device.has_fp64 else narrow.get(expected.dtype, expected.dtype)
    assert (got.dtype, got.shape) == (wanted, expected.shape), label
    size = np.abs(expected).max(initial=1.0)
    assert np.isfinite(size)
    np.testing.assert_allclose(
        got, expected, rtol=0, atol=(60 * np.finfo(wanted).eps + (2e-3 if given == "float16" else 0)) * size, err_msg=label
    )


def operand(name, dtype, shape):
    a = values(dtype, int(np.prod(shape)), rng_for(name, dtype, *shape), special=False).reshape(shape)
    if a.dtype.kind in "fc":
        a = np.where(np.abs(a) < 100, a, 1).astype(dtype)  # sums of those in float16 are finite
    return a.real.copy() if name in TO_HALF and a.dtype.kind == "c" else a


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES["fft"])
def test_along_one_axis(name, dtype, device):
    a = operand(name, dtype, (3, 10))
    x, mine, theirs = pp.asarray(a, device=device), getattr(pp.fft, name), getattr(np.fft, name)
    for keywords in ({}, {"axis": 0, "n": 2}, {"n": 13, "norm": "ortho"}, {"n": 7, "norm": "forward", "axis": -1}):
        close(mine(x, **keywords), theirs(a, **keywords), f"{name} {keywords}", dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", NAMES["fftn"])
def test_along_axes(name, dtype, device):
    a = operand(name, dtype, (2, 6, 5))
    x, mine, theirs = pp.asarray(a, device=device), getattr(pp.fft, name), getattr(np.fft, name)
    for keywords in (
        {},
        {"s": (4, 9), "axes": (2, 0)},
        {"s": (-1, 3), "axes": (0, 1), "norm": "ortho"},
        {"axes": (-2,), "norm": "forward"},
    ):
        close(mine(x, **keywords), theirs(a, **keywords), f"{name} {keywords}", dtype)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 7, 11, 13, 16, 30, 60, 97, 121, 128, 211, 1009, 1024, 3600])
def test_lengths(n, dtype, device):
    a = operand("fft", dtype, (n,))
    x = pp.asarray(a, device=device)
    close(pp.fft.fft(x), np.fft.fft(a))
    close(pp.fft.rfft(x.real), np.fft.rfft(a.real))
    close(pp.fft.irfft(x, n), np.fft.irfft(a, n))
    close(pp.fft.ifft(pp.fft.fft(x)), a)


LAYOUTS = {
    "columns": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-2],
    "steps": lambda a: a[1::2, ::3],
    "broadcast": lambda a: np.broadcast_to(a[0], (3, 12)) if isinstance(a, np.ndarray) else pp.broadcast_to(a[0], (3, 12)),
    "empty": lambda a: a[:0],
    "pending": lambda a: a * 2 + 1,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_layouts(layout, dtype, device):
    a = operand("fft", dtype, (9, 12))
    x, a = LAYOUTS[layout](pp.asarray(a, device=device)), LAYOUTS[layout](a)
    for axis in (0, 1):
        if a.shape[axis]:
            close(pp.fft.fft(x, axis=axis), np.fft.fft(a, axis=axis))
            close(pp.fft.irfft(x, axis=axis, n=7), np.fft.irfft(a, axis=axis, n=7))
            close(pp.fft.rfft(x.real, axis=axis), np.fft.rfft(a.real, axis=axis))
    if a.size:
        close(pp.fft.fft2(x), np.fft.fft2(a))


def cosines(n, which):
    """The matrix of a cosine transform, as SciPy defines it."""
    k, i = np.arange(n)[:, None], np.arange(n)[None, :]
    if which == 1:
        m = 2 * np.cos(np.pi * k * i / (n - 1))
        m[:, 0] /= 2
        m[:, -1] /= 2
        return m
    if which == 3:
        m = 2 * np.cos(np.pi * (2 * k + 1) * i / (2 * n))
        m[:, 0] /= 2
        return m
    return 2 * np.cos(np.pi * (2 * i + 1) * (k if which == 2 else 2 * k + 1) / ((2 if which == 2 else 4) * n))


def sines(n, which):
    k, i = np.arange(n)[:, None], np.arange(n)[None, :]
    if which == 1:
        return 2 * np.sin(np.pi * (k + 1) * (i + 1) / (n + 1))
    if which == 3:
        m = 2 * np.sin(np.pi * (2 * k + 1) * (i + 1) / (2 * n))
        m[:, -1] /= 2
        return m
    return 2 * np.sin(np.pi * (2 * i + 1) * (k + 1 if which == 2 else 2 * k + 1) / ((2 if which == 2 else 4) * n))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("which", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["dct", "dst"])
def test_cosines_and_sines(kind, which, dtype, device):
    forward, inverse = getattr(pp.fft, kind), getattr(pp.fft, f"i{kind}")
    for n in (2, 5, 12):
        a = operand(kind, dtype, (3, n))
        x = pp.asarray(a, device=device)
        wide = a.astype("complex128" if a.dtype.kind == "c" else "float64")
        matrix = (cosines if kind == "dct" else sines)(n, which)
        result = np.result_type(dtype, "float32")
        close(forward(x, which), (wide @ matrix.T).astype(result))
        close(inverse(forward(x, which), which), a.astype(result))
        close(inverse(forward(x, which, norm="forward"), which, norm="forward"), a.astype(result))
        there = forward(x, which, norm="ortho")
        assert np.allclose(np.linalg.norm(pp.asnumpy(there), axis=1), np.linalg.norm(wide, axis=1), rtol=1e-4)
        close(inverse(there, which, norm="ortho"), a.astype(result))


@pytest.mark.parametrize("kind", ["dct", "dst"])
def test_cosines_and_sines_along_axes(kind, device):
    a = operand(kind, "float32", (4, 3, 5))
    x = pp.asarray(a, device=device)
    one, many, back = (getattr(pp.fft, name) for name in (kind, f"{kind}n", f"i{kind}n"))
    expected = one(one(one(x, axis=0), axis=1), axis=2)
    close(many(x), pp.asnumpy(expected))
    close(many(x, s=[6, 2], axes=[2, 0]), pp.asnumpy(one(one(x, axis=2, n=6), axis=0, n=2)))
    close(many(x, 3, s=4), pp.asnumpy(one(x, 3, n=4)))
    close(many(x, axes=1, norm="ortho"), pp.asnumpy(one(x, axis=1, norm="ortho")))
    close(back(many(x, 1), 1), a)
    close(back(many(x, 4, norm="ortho"), 4, norm="ortho"), a)


@pytest.mark.parametrize("shape", [(1 << 18,), (3, 1 << 17), (300, 256), (64, 9, 70), (262147,)], ids=str)
def test_shared_out(shape, device):
    """Sizes that several threads work on; the last one is a prime number."""
    a = rng_for(*shape).standard_normal(shape).astype("float32")
    x = pp.asarray(a, device=device)
    close(pp.fft.fft(x), np.fft.fft(a))
    close(pp.fft.rfft(x), np.fft.rfft(a))
    close(pp.fft.irfft(x), np.fft.irfft(a))
    if len(shape) > 1:
        close(pp.fft.fftn(x, axes=(1, 0)), np.fft.fftn(a, axes=(1, 0)))
        close(pp.fft.irfftn(pp.fft.rfftn(x), s=shape, axes=range(len(shape))), a)
        close(
            pp.fft.dct(x, axis=0),
            pp.asnumpy(pp.fft.dct(pp.asarray(np.ascontiguousarray(np.moveaxis(a, 0, -1)), device=device))).swapaxes(0, -1)
            if len(shape) == 2
            else pp.asnumpy(pp.fft.dctn(x, axes=[0])),
        )
