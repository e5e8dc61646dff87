# tests/typed_program.py: what a type checker knows of the public names; `./dev lint` runs mypy on it, the program is never run.
from typing import assert_type

import pardo as pp
from pardo._kernel.kernel import KernelFunction


@pp.kernel
def plain(item: pp.Item, x: pp.ndarray) -> None: ...


@pp.kernel(fastmath=True)
def fast(item: pp.Item, x: pp.ndarray) -> None: ...


@pp.kernel
def groups(item: pp.NdItem, x: pp.ndarray, n: pp.Const[int]) -> None: ...


@pp.kernel
def without(x: pp.ndarray) -> None: ...


@pp.jit
def loop(x: pp.ndarray) -> float:
    return 1.0


@pp.jit(schedule="dynamic")
def dynamic(x: pp.ndarray) -> float:
    return 1.0


x = pp.ones(3)
kernels: list[KernelFunction[...]] = [plain, fast, groups, without]
assert_type(fast[3](x), pp.Event)
assert_type(groups[pp.NdRange(4, 2)](x, n=2), pp.Event)
assert_type(without[3](x), pp.Event)
plain[3](1)  # type: ignore[arg-type]
plain[3](x, x)  # type: ignore[call-arg]
groups[pp.NdRange(4, 2)](x, "two")  # type: ignore[arg-type]
assert_type(loop(x), float)
assert_type(dynamic.interpret(x), float)
assert_type(pp.where(x > 0, x, 0.0), pp.ndarray)
assert_type(pp.where(x > 0), tuple[pp.ndarray, ...])
assert_type(pp.linspace(0.0, 1.0, 5), pp.ndarray)
assert_type(pp.add(x, 1), pp.ndarray)
assert_type(pp.sum(x, axis=(0,), dtype="float32"), pp.ndarray)
assert_type(x.max(axis=0, initial=0.0), pp.ndarray)
assert_type(pp.amax(x), pp.ndarray)
assert_type(pp.random.default_rng(1).gamma(x, size=3), pp.ndarray)
assert_type(pp.random.Generator(pp.random.Philox(1)).spawn(2), list[pp.random.Generator])
assert_type(pp.random.normal(0.0, 1.0, 3), pp.ndarray)
assert_type(pp.cumulative_sum(x, include_initial=True), pp.ndarray)
assert_type(pp.linalg.svd(x, compute_uv=False), pp.ndarray)
assert_type(pp.linalg.svd(x).S, pp.ndarray)
assert_type(pp.linalg.qr(x).R, pp.ndarray)
assert_type(pp.linalg.qr(x, "r"), pp.ndarray)
assert_type(pp.scipy.fft.rfft(x, workers=2), pp.ndarray)
assert_type(pp.scipy.special.erf(x), pp.ndarray)
assert_type(pp.fft.fft2(x, axes=(0, 1)), pp.ndarray)
assert_type(pp.fft.dct(x, type=2), pp.ndarray)
pp.fft.fft(x, points=3)  # type: ignore[call-arg]
pp.random.poisson(3.0, 5, dtype="int32")  # type: ignore[call-arg]
assert_type(x.flatten("F"), pp.ndarray)
assert_type(x.T, pp.ndarray)
x.real = 0
x.T = x  # type: ignore[assignment]
assert_type(pp.Queue.of("cpu").submit(x), pp.Event)
assert_type(pp.add.nargs, int)
