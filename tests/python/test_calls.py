# tests/python/test_calls.py: products, sorting and running sums are recorded, ordered, failed and computed as all else is.
from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest

X = np.random.default_rng(7).integers(-50, 50, (40, 40)) * 0.5  # large enough to be recorded; sums are exact
SMALL = X[:3, :3].copy()

CALLS = {
    "matmul": (lambda x: x @ x, lambda x: x @ x),
    "sort": (lambda x: pp.sort(x), lambda x: np.sort(x)),
    "argsort": (lambda x: pp.argsort(x, axis=0), lambda x: np.argsort(x, axis=0, kind="stable")),
    "partition": (lambda x: pp.sort(pp.partition(x, 1)), lambda x: np.sort(x)),
    "cumsum": (lambda x: pp.cumsum(x, axis=1), lambda x: np.cumsum(x, axis=1)),
    "searchsorted": (lambda x: pp.searchsorted(pp.sort(x[0] + x[1]), x), lambda x: np.searchsorted(np.sort(x[0] + x[1]), x)),
    "top_k": (lambda x: pp.top_k(x, 2)[0], lambda x: -np.sort(-x, axis=-1)[:, :2]),
}


@pytest.fixture(params=CALLS, ids=list(CALLS))
def call(request):
    return CALLS[request.param]


def same(got, want):
    np.testing.assert_allclose(pp.asnumpy(got), want, rtol=1e-12)
    assert pp.asnumpy(got).dtype == want.dtype


def test_recorded_and_not_computed(call):
    ours, numpys = call
    x = pp.asarray(X) * 1.0
    before = pp.counters()
    y = ours(x) + 0
    between = pp.counters()
    assert between["forced"] == before["forced"]
    assert between["launched"] == before["launched"]
    same(y, numpys(X) + 0)


def test_few_elements_in_memory_are_computed_at_once(call):
    ours, numpys = call
    x = pp.asarray(SMALL)
    same(ours(x), numpys(SMALL))
    same(ours(x * 2.0), numpys(SMALL * 2.0))
    same(ours(x[::-1]), numpys(SMALL[::-1]))


def test_dropped_without_being_computed(call):
    ours, _ = call
    x = pp.asarray(X)
    before = pp.counters()["launched"]
    y = ours(x)
    del y
    x.wait()
    assert pp.counters()["launched"] == before


def test_reads_what_was_there_when_recorded(call):
    ours, numpys = call
    x = pp.asarray(X.copy())
    y = ours(x)
    z = ours(x[::-1].T)
    x[...] = 0.0
    same(y, numpys(X))
    same(z, numpys(X[::-1].T))


def test_memory_of_others_is_read_at_once(call):
    ours, numpys = call
    memory = X.copy()
    try:
        x = pp.asarray(memory, copy=False)
    except ValueError:
        pytest.skip("this device cannot use the memory of NumPy's arrays")
    y, z = ours(x), ours(x[:, ::-1])
    memory[...] = 0.0
    same(y, numpys(X))
    same(z, numpys(X[:, ::-1]))


def test_stored_into_what_it_reads(call):
    ours, numpys = call
    want = X.copy()
    result = numpys(want)
    if result.shape != want.shape:
        pytest.skip("of another shape")
    x = pp.asarray(X.copy())
    x[...] = ours(x)
    want[...] = result
    same(x, want)
    x = pp.asarray(X.copy())
    x[1:] = ours(x)[:-1] * 2 + x[1:]
    want = X.copy()
    want[1:] = numpys(X)[:-1] * 2 + want[1:]
    same(x, want)


def test_both_results_and_one_of_them():
    x = pp.asarray(X)
    values, indices = pp.top_k(x, 2)
    same(values, -np.sort(-X, axis=-1)[:, :2])
    same(indices, np.argsort(-X, axis=-1, kind="stable")[:, :2])
    values, indices = pp.top_k(x, 2)
    del values
    same(indices + 1, np.argsort(-X, axis=-1, kind="stable")[:, :2] + 1)
    values, indices = pp.top_k(x, 2)
    indices = indices * 2
    values.wait()
    same(indices, np.argsort(-X, axis=-1, kind="stable")[:, :2] * 2)


def test_chains_of_calls():
    w = np.asarray([[0.5, 0.1], [-0.2, 0.7]])
    x = want = np.asarray([[1.0, 2.0]])
    y, ours = pp.asarray(x), pp.asarray(w)
    for _ in range(600):
        y = pp.tanh(y @ ours) + 0.1
        want = np.tanh(want @ w) + 0.1
    np.testing.assert_allclose(pp.asnumpy(y), want, rtol=1e-12)


def test_results_are_shared_by_their_readers():
    x = pp.asarray(np.arange(1000.0)[::-1].copy())
    before = pp.counters()["recorded"]
    y = pp.sort(x)
    a, b, c = y + 1, y[::2], y.sum()
    assert pp.counters()["recorded"] >= before + 3
    want = np.arange(1000.0)
    same(b, want[::2])
    same(a, want + 1)
    same(c, want.sum())
    b[...] = 0
    assert pp.asnumpy(y)[:4].tolist() == [0.0, 1.0, 0.0, 3.0]


def test_failures_are_those_of_the_call_and_stay():
    x = pp.ones((3, 3))
    with pytest.raises(ValueError, match="matmul"):
        x @ pp.ones((2, 2))
    with pytest.raises(ValueError, match="axis 5"):
        pp.sort(x, axis=5)
    big = pp.broadcast_to(pp.ones((1, 1)), (1 << 31, 1))
    for _ in range(2):
        with pytest.raises(MemoryError, match="matmul: array of shape"):
            big @ big.T  # 32 EiB: it starts when it is recorded


def test_a_call_and_what_reads_both_its_input_and_its_result():
    """The reader is no part of the kernel that computes the call's input: it would need the call, which needs that kernel."""
    x = pp.asarray(X)
    h = pp.abs(x)
    y = pp.sort(h.sum(axis=0)) + h.sum()
    del h  # only pending values need it
    np.testing.assert_array_equal(pp.asnumpy(y), np.sort(np.abs(X).sum(axis=0)) + np.abs(X).sum())


def test_explain_tells_of_calls():
    x = pp.asarray(X)
    text = str(pp.explain(pp.sort(-x) + 1))
    lines = text.splitlines()
    told = next(i for i, line in enumerate(lines) if re.fullmatch(r"call sort by \w+: float64 \(40, 40\) -> float64 \(40, 40\)", line))
    assert told > next(i for i, line in enumerate(lines) if "negative" in line)
    assert "sort float64 (40, 40)" in lines[-2] + lines[-3] + lines[-1]


def test_explain_names_the_implementation(call):
    ours, _ = call
    x = pp.asarray(X) * 1.0
    names = re.findall(r"^call \w+ by (.+?): ", str(pp.explain(ours(x))), re.MULTILINE)
    known = {"threads", "kernels", "copies", "OpenBLAS", "cuBLAS", "ducc0", "cuFFT"}
    assert names
    assert known.issuperset(names)


def test_explain_of_a_call_without_elements():
    assert "call sort: float64 (0,) -> float64 (0,)" in str(pp.explain(pp.sort(pp.ones(0) * 2.0)))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_running_sums_of_long_lines_at_any_address(dtype):
    """Lines of several blocks whose first elements lie at no multiple of a vector's size."""
    host = np.random.default_rng(5).integers(0, 3, (3, 40_001)).astype(dtype)
    x = pp.asarray(host)
    same(pp.cumsum(x, axis=1), np.cumsum(host, axis=1))
    same(pp.cumsum(x[1:], axis=1), np.cumsum(host[1:], axis=1))
    same(pp.cumsum(x.ravel()[1:]), np.cumsum(host.ravel()[1:]))


def run(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], env=os.environ | variables, capture_output=True, text=True, check=False)


@pytest.mark.once
def test_implementations_by_name():
    program = "import pardo as pp; print((pp.ones((2, 2), device='cpu') @ pp.ones((2, 2), device='cpu')).sum())"
    assert run(program, PARDO_ROUTINES="matmul=OpenBLAS").stdout == "8.0\n"
    refused = run(program, PARDO_ROUTINES="matmul=loops").stderr
    assert "matmul: no implementation for these operands on device cpu:0 is allowed by PARDO_ROUTINES" in refused
    assert "there is no routine 'matmull'; there are " in run(program, PARDO_ROUTINES="matmull=loops").stderr
    assert "matmul has no implementation 'blas'; it has" in run(program, PARDO_ROUTINES="matmul=blas").stderr
    explained = run("import pardo as pp; pp.set_default_device('cpu'); x = pp.ones((40, 40)) * 2; print(pp.explain(x @ x, pp.sort(x)))")
    assert "call matmul by OpenBLAS: float64 (40, 40), float64 (40, 40) -> float64 (40, 40)\n" in explained.stdout
    assert "call sort by threads: float64 (40, 40) -> float64 (40, 40)\n" in explained.stdout
    assert "not by" not in explained.stdout
    explained = run("import pardo as pp; pp.set_default_device('cpu'); x = pp.ones((40, 40), dtype='int64') * 2; print(pp.explain(x @ x))")
    assert "call matmul by loops: int64" in explained.stdout
    assert "  not by  OpenBLAS: does not take these operands\n" in explained.stdout
    program = "import pardo as pp; pp.set_default_device('cpu'); x = pp.ones((40, 40)) * 2; print(pp.explain(x @ x))"
    explained = run(program, PARDO_ROUTINES="matmul=loops").stdout
    assert "call matmul by no implementation: float64" in explained
    assert "  not by  OpenBLAS: PARDO_ROUTINES asks for another\n  not by  loops: does not take these operands\n" in explained
    assert "expected routine=implementation" in run(program, PARDO_ROUTINES="matmul").stderr
