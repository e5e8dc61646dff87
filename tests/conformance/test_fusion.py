# tests/conformance/test_fusion.py: programs of several operations give what NumPy gives, however they are cut into kernels.
import numpy as np
import pardo as pp
import pytest
from data import assert_close, float_of, rng_for, values


def softmax(xp, x):
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


def pairwise(xp, x):
    return xp.sqrt(xp.sum((x[:, None, :] - x[None, :, :]) ** 2, axis=-1))


def standardise(xp, x):
    return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)


def smooth(xp, x):
    return 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:])


def several_results(xp, x):
    s = x * x
    return xp.concat([xp.sum(s, axis=0), xp.max(s + 1, axis=0), xp.sum(xp.sin(s), axis=0)])


def mixed_axes(xp, x):
    return xp.sum(x / xp.sum(x, axis=0), axis=1) + xp.max(x, axis=1)


def outer_and_back(xp, x):
    y = x[:, 0][:, None] * x[:, 1][None, :]
    return xp.sum(y, axis=0) - xp.sum(y, axis=1)


def with_iota(xp, x):
    return xp.where(xp.arange(x.shape[1]) % 2 == 0, x, -x) * xp.arange(x.shape[0])[:, None] + xp.eye(x.shape[0], x.shape[1])


def views_of_pending(xp, x):
    y = x * 2 + 1
    return (y[::-1].T[::2] - y[:, ::2].T) * y[0, 0]


def long_chain(xp, x):
    for i in range(200):
        x = x * 0.99 + i
    return x


PROGRAMS = [softmax, pairwise, standardise, smooth, several_results, mixed_axes, outer_and_back, with_iota, views_of_pending, long_chain]


@pytest.mark.parametrize("shape", [(5, 7), (64, 33), (130, 3), (1, 9), (300, 257)], ids=str)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs(program, shape, device):
    if program is smooth and min(shape) < 3:
        pytest.skip("no inner part")
    a = np.abs(values(float_of(device), shape[0] * shape[1], rng_for(shape), special=False, small=True)).reshape(shape) + 0.1
    if program is standardise and shape[0] == 1:
        pytest.skip("standard deviation of one value is zero")
    with pp.device_context(device):  # where programs make arrays of their own
        found = program(pp, pp.asarray(a, device=device))
    assert_close(found, program(np, a), *(2 * [1e-11 if device.has_fp64 else 1e-3]), program.__name__)


def test_a_loop_compiles_once(device):
    x, a, b = pp.full(1000, 0.5, device=device), pp.full(1000, 0.9, device=device), pp.full(1000, 0.1, device=device)
    for _ in range(3):
        x = x * a + b
        x.wait()
    before = pp.counters()
    for _ in range(50):
        x = x * a + b
        x.wait()
    after = pp.counters()
    assert after["compiled"] == before["compiled"]
    assert after["from_disk"] == before["from_disk"]


def test_scalars_do_not_compile(device):
    x = pp.ones(100, device=device)
    (x * 1.5 + 2.5).wait()
    before = pp.counters()["compiled"]
    for i in range(20):
        (x * (i + 0.5) + i * 0.25).wait()
    assert pp.counters()["compiled"] == before


# By the first size of a class, sizes that may be laid out in the same way. A device has few classes: tiny arrays, those that fill it once,
# and large ones; short last dimensions and long ones. The CPU has one.
CLASSES = [
    [(50,), *((n,) for n in range(51, 64))],
    [(1000,), *((n,) for n in range(1001, 1020))],
    [(1_000_000,), *((n,) for n in range(1_000_001, 1_000_008))],
    [(300, 5), (301, 5), (302, 5)],
    [(300, 3000), (301, 3001), (299, 2999)],
]


@pytest.mark.parametrize("sizes", CLASSES, ids=lambda sizes: str(sizes[0]))
def test_other_sizes_of_a_class_do_not_compile(sizes, device):
    first, *others = sizes
    (pp.ones(first, device=device) * 3 - 1).wait()
    before = pp.counters()
    for shape in others:
        (pp.ones(shape, device=device) * 3 - 1).wait()
    after = pp.counters()
    assert after["compiled"] == before["compiled"]
    assert after["from_disk"] == before["from_disk"]


def test_sizes_have_few_classes(device):
    before = pp.counters()
    largest = 60_000 if device.backend == "null" else 3_000_000  # that one interprets
    for size in range(1, largest, largest // 301):
        (pp.ones(size, device=device) * 5 + pp.ones(size, device=device)).wait()
    after = pp.counters()
    compiled = after["compiled"] + after["from_disk"] - before["compiled"] - before["from_disk"]
    assert compiled <= 16, f"{compiled} programs for 301 sizes"
