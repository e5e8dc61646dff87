# tests/conformance/data.py: values, layouts and comparisons that all conformance tests share.
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pardo as pp
import sampling

# PARDO_TEST_COMPILE_ONLY=1 is for the fake driver of tests/fake_cuda, which runs no kernel: each test makes its kernels, and NVRTC compiles
# them, but what comes out of them is not looked at.
COMPILE_ONLY = os.environ.get("PARDO_TEST_COMPILE_ONLY", "0") != "0"

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]
INTEGERS = SIGNED + UNSIGNED
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
DTYPES = ["bool", *INTEGERS, *FLOATS, *COMPLEX]


def rng_for(*key) -> np.random.Generator:
    """The same numbers for the same test in every run and process."""
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def special_values(dtype: np.dtype) -> list:
    if dtype.kind == "b":
        return [False, True]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return [0, 1, 2, info.max, info.min, info.max - 1, info.max // 2]
    info = np.finfo(dtype)
    tiny = float(info.smallest_subnormal)
    real = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, np.inf, -np.inf, np.nan, float(info.max), float(info.tiny), tiny, -tiny]
    return real if dtype.kind == "f" else [complex(a, b) for a, b in zip(real, real[3:] + real[:3], strict=True)]


def values(dtype, size: int, rng: np.random.Generator, special: bool = True, small: bool = False) -> np.ndarray:
    """`size` values: special ones first, then a spread over magnitudes. `small`: such that sums and products stay exact or tame."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        made = rng.integers(0, 2, size).astype(bool)
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        low, high = (max(info.min, -9), 9) if small else (info.min, info.max)
        made = rng.integers(low, high, size, dtype=dtype, endpoint=True)
        half = made[: size // 2]
        if not small:
            half[:] = rng.integers(max(info.min, -20), 20, half.size, dtype=dtype, endpoint=True)
    else:
        made = rng.normal(size=size) * (1.0 if small else 10.0 ** rng.uniform(-3, 2, size))
        if dtype.kind == "c":
            made = made + 1j * rng.normal(size=size) * (1.0 if small else 10.0 ** rng.uniform(-3, 2, size))
        made = made.astype(dtype)
    if special and not small:
        extra = np.array(special_values(dtype)).astype(dtype)[:size]
        made[: extra.size] = extra
        rng.shuffle(made)
    return made


@dataclass(frozen=True)
class Layout:
    """A shape in memory and a view of it, made by the same code with NumPy and with pardo."""

    name: str
    base: tuple[int, ...]
    view: Callable = lambda xp, x: x


LAYOUTS = [
    Layout("contiguous", (7, 11)),
    Layout("strided", (14, 33), lambda xp, x: x[::2, ::3]),
    Layout("negative", (7, 11), lambda xp, x: x[::-1, ::-1]),
    Layout("transposed", (11, 7), lambda xp, x: x.T),
    Layout("broadcast", (7, 1), lambda xp, x: xp.broadcast_to(x, (7, 11))),
    Layout("inner", (9, 14), lambda xp, x: x[1:-1, 2:-1]),
    Layout("0-d", ()),
    Layout("one", (1,)),
    Layout("empty", (0, 5)),
    Layout("prime", (1009,)),
    Layout("prime backwards", (1009,), lambda xp, x: x[::-1]),
    Layout("five dimensions", (2, 3, 1, 2, 5), lambda xp, x: xp.permute_dims(x, (4, 0, 2, 1, 3))),
]


def layouts_for(device, *key) -> list[Layout]:
    """All layouts; in a sample, away from the CPU, one of them: compilers of other devices take a tenth of a second for a kernel."""
    if device.backend == "cpu" or not sampling.SEED:
        return LAYOUTS
    return [sampling.one_of(LAYOUTS, "layout", device.id, *key)]


def left_out(device, *key, share: float = 0.05) -> bool:
    """Whether a sample, away from the CPU, leaves out one of the many kernels that a single test makes."""
    return device.backend != "cpu" and bool(sampling.SEED) and sampling.position(device.id, *key) >= share


def make(layout: Layout, dtype, rng, device, special=True, small=False):
    """The same view as NumPy and as pardo array."""
    base = values(dtype, int(np.prod(layout.base)), rng, special, small).reshape(layout.base)
    return layout.view(np, base), layout.view(pp, pp.asarray(base, device=device))


def ulps(mine: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Distance from a result of higher precision, in units of the last place of mine's dtype; 0 where both are the same special value."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(mine.dtype)
        same = (mine == rounded) | (np.isnan(mine) & np.isnan(rounded))
        unit = np.maximum(np.spacing(np.abs(rounded)), np.finfo(mine.dtype).smallest_subnormal).astype(exact.dtype)
        distance = np.abs(mine.astype(exact.dtype) - exact) / unit
        # One side overflowed and the other is the largest finite number: one step apart.
        edge = np.isinf(mine) != np.isinf(rounded)
        limit = np.nextafter(np.array(np.inf, mine.dtype), np.array(0, mine.dtype))
        close = edge & (np.maximum(np.where(np.isinf(mine), 0, np.abs(mine)), np.where(np.isinf(rounded), 0, np.abs(rounded))) >= limit)
    return np.where(same, 0.0, np.where(close, 1.0, np.where(np.isnan(distance), np.inf, distance))).astype(float)


def float_of(device) -> str:
    """The device's own dtype for Python's floats."""
    return "float64" if device.has_fp64 else "float32"


def as_on(device, reference) -> np.ndarray:
    """NumPy's result as a device has it: without float64, what would be of it is half as wide."""
    reference = np.asarray(reference)
    narrow = {} if device.has_fp64 else {"float64": "float32", "complex128": "complex64"}
    return reference.astype(narrow.get(reference.dtype.name, reference.dtype))


def assert_same(mine, reference, what: str = "", signs_of_zero: bool = True) -> None:
    """Equal bits, where the device has the dtype, but for NaN payloads: dtype, shape and values; with or without the signs of zeros."""
    got = pp.asnumpy(mine) if isinstance(mine, pp.Array) else np.asarray(mine)
    exact = np.asarray(reference)
    reference = as_on(mine.device, exact) if isinstance(mine, pp.Array) else exact
    if reference.dtype != exact.dtype:
        assert_close(mine, exact, 0, 0, what)
        return
    assert got.dtype == reference.dtype, f"{what}: dtype {got.dtype}, NumPy has {reference.dtype}"
    assert got.shape == reference.shape, f"{what}: shape {got.shape}, NumPy has {reference.shape}"
    np.testing.assert_array_equal(got, reference, err_msg=what)
    if signs_of_zero:
        assert_same_signs_of_zero(got, reference, what)


def assert_same_signs_of_zero(got: np.ndarray, reference: np.ndarray, what: str = "") -> None:
    """-0.0 equals 0.0, so comparisons of values do not tell them apart."""
    if reference.dtype.kind in "fc":
        for mine, theirs in ((got.real, reference.real), (got.imag, reference.imag)):
            zero = theirs == 0
            np.testing.assert_array_equal(np.signbit(mine[zero]), np.signbit(theirs[zero]), err_msg=f"{what}: signs of zeros")


def assert_close(mine, reference, rtol: float, atol: float = 0.0, what: str = "") -> None:
    got = pp.asnumpy(mine)
    exact = np.asarray(reference)
    reference = as_on(mine.device, exact) if isinstance(mine, pp.Array) else exact
    if reference.dtype != exact.dtype:
        rtol, atol = max(rtol, 4e-6), max(atol, 4e-6)
    assert got.dtype == reference.dtype, f"{what}: dtype {got.dtype}, NumPy has {reference.dtype}"
    assert got.shape == reference.shape, f"{what}: shape {got.shape}, NumPy has {reference.shape}"
    np.testing.assert_allclose(got, reference, rtol=rtol, atol=atol, err_msg=what)
