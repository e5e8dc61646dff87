# tests/python/test_array_code.py: serial loops over slices become programs where that is faster, and mean what they mean in Python.
import linecache
import textwrap
import types

import numpy as np
import pardo as pp
import pytest

LOOPS = {
    "stencil": "b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3; a[1:-1] = b[1:-1] * 2",
    "overlap": "a[1:] = a[:-1] + b[1:]; b[:-1] *= 0.5 * a[1:]",
    "reversed": "a[t:] = a[t:][::-1]",
    "swap": "b[1:-1] = a[:-2] + a[2:]; a, b = b, a",
    "rebound": "a = a[:] * 2",
    "last": "c = a[t:] * 2",
    "view": "c = a[t : t + 2]",
    "sum": "c = c + a[t:].sum()",
    "where": "a[:] = np.where(b[:] > 2, b, a[:])",
    "mask": "a[a[:] > 3] = 0",
    "dtype": "a[:] = a.astype('f4') * t + 1",
    "list": "d.append(float(a[t:].max()))",
    "shape": "a[t : t + 3] = a[:2]",
    "kind": "a[t:] += 1.5",
    "columns": "m[:, t] = m[:, t - 1] + m[t, :]",
    "sorted": "a[t:] = np.sort(a[t:])[::-1]",
    "product": "m[1:] = m[1:] @ m",
    "product with a column": "m[:, 1:2] = (m[::-1] - 2).T @ m[:, :1]",
    "out": "np.multiply(a[:], b, out=a); np.add(b, t, b[:]); c = np.sqrt(abs(m[:1]), out=None).sum()",
    "out in itself": "np.subtract(a[1:], a[:-1], a[:-1]); np.maximum(b[::-1], 3, out=b[:])",
    "new arrays that are an out": "np.add(a[:], 1, out=a); a = a * 2",
    "triangles": "m[:] = np.triu(m[:] + 1, t - 1) + np.tril(m, -1)",
    "sums beside": "m[:] = (m * 2).sum(axis=0) + m[:, ::-1].max(axis=0)",
    "columns repeated": "m[:] = m[:, :1].T - m[:, 1:2]",
    "new arrays": "b[:4] += a[1:5]; a = a * 2 - b",
    "new arrays of other sizes": "b[:1] = a[:].sum(); a = a[1:] * 2",
    "new after a change": "a[:1] = 5; a = a[:] + b",
    "new after a change in place": "a += t; a = a[:] * b",
    "new after its view changed": "c = a[1:]; c[:1] = t; a = a * 2; c = 0",
    "view of another": "a = a * 2 if t == 1 else b; b[:] += 1",
    "function": "inner(a[t:], b[t:])",
    "numpys random": "a[:] = np.random.rand(len(a))",
}
STAYS = {"sorted", "numpys random", "function"}


def inner(a, b):
    for i in pp.prange(a.size):
        a[i] += b[i]


def made(name: str) -> types.FunctionType:
    body = textwrap.indent(LOOPS[name].replace("; ", "\n"), " " * 8)
    text = f"def f(a, b, m, n):\n    c, d = 0, []\n    for t in range(n):\n{body}\n    return c, d\n"
    file = f"<test_array_code {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"np": np, "pp": pp, "inner": pp.jit(inner)}
    exec(compile(text, file, "exec"), names)
    return names["f"]


def ran(function, arrays, n):
    np.random.seed(3)
    try:
        return function(*arrays, n), None
    except (ValueError, TypeError) as e:
        return None, type(e)


@pytest.mark.parametrize("apart", [True, False], ids=["apart", "shared"])
@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("name", LOOPS)
def test_loops_over_slices_mean_what_python_says(name, dtype, apart):
    def arrays():
        whole = np.arange(1, 10).astype(dtype)
        return whole[1:], whole[:-1].copy() if apart else whole[:-1], np.arange(16).reshape(4, 4).astype(dtype)

    function = made(name)
    compiled = pp.jit(function)
    before = pp.counters()["fallbacks"]
    for n in (3, 0):
        wanted, mine = arrays(), arrays()
        (expected, failed), (got, error) = ran(function, wanted, n), ran(compiled, mine, n)
        assert error is failed
        for x, y in zip(mine, wanted, strict=True):
            np.testing.assert_array_equal(x, y)
        if failed is None:
            assert got[1] == expected[1]
            np.testing.assert_array_equal(got[0], expected[0])
            assert type(got[0]) is type(expected[0]) or np.isscalar(expected[0])
    assert pp.counters()["fallbacks"] == before  # operations on arrays are no slow Python
    assert ("left to Python" in compiled.diagnostics()) == (name in STAYS)


def test_threads_share_loops_over_elements(rng):
    @pp.jit
    def f(a, b, v, n):
        for t in range(n):
            b[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 4
            a[1:] = a[:-1, ::-1] * b[1:] + t
            a[:, ::-1] *= 0.5
            a[b > 0.5] = v.sum()
            b[:] = b.sum(axis=0) / 200 - a.mean(axis=1)[:, None]
            v[1:] = v[:-1] - v[1:] / 2 + t

    mine, theirs = ([rng.random((200, 300)), rng.random((200, 300)), rng.random(40_000)] for rng in map(np.random.default_rng, (1, 1)))
    f(*mine, 3)
    f.interpret(*theirs, 3)
    assert "Python's" not in f.diagnostics()
    for x, y in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-13)
    with pytest.raises(ValueError, match=r"elements do not fill|could not be broadcast"):
        f(mine[0], mine[1][:, 1:], mine[2], 3)


def test_products_of_large_arrays_are_a_librarys(rng):
    def slices(x, n):
        for _ in range(n):
            x[1:] = x[1:] @ x / 200

    def elements(x, n):
        for t in range(n):
            x[0, 0] = t
            x[:] = (x @ x) / 200

    for function in (slices, elements):
        for size, python in ((100, 0), (200, 1)):
            compiled = pp.jit(function)
            x = rng.random((size, size))
            y = x.copy()
            compiled(x, 2)
            function(y, 2)
            np.testing.assert_allclose(x, y, rtol=1e-12)
            assert compiled.diagnostics().count("Python's") == python


def test_equations_of_large_matrices_are_a_librarys(rng):
    @pp.jit
    def f(a, b, out):
        for i in range(a.shape[0]):
            a[i, 0, 0] += 1
            out[i] = np.linalg.solve(a[i], b[i])

    for size, python in ((5, 0), (70, 1)):
        a, b = rng.random((3, size, size)) + np.eye(size), rng.random((3, size, size))
        changed, out = a.copy(), np.zeros(a.shape)
        before = pp.counters()["fallbacks"]
        f(changed, b, out)
        a[:, 0, 0] += 1
        np.testing.assert_allclose(out, np.linalg.solve(a, b), rtol=1e-8, atol=1e-10)
        assert pp.counters()["fallbacks"] == before
        assert f.diagnostics().count("Python's") == python


def test_nested_loops_over_elements_take_vectors(rng):
    def f(x, out):
        made = np.zeros(x.shape)
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if x[i, j] > 0.25:
                    made[i, j] = x[i, j] ** -1.5
            for j in range(1, x.shape[1]):
                out[i, j] = out[i, j - 1] + made[i, j]
        return made

    x = rng.random((9, 50))
    mine, theirs = np.zeros(x.shape), np.zeros(x.shape)
    for options in ({}, {"fastmath": True}):
        compiled = pp.jit(f, **options)
        np.testing.assert_allclose(compiled(x, mine), f(x, theirs), rtol=1e-15)
        np.testing.assert_allclose(mine, theirs, rtol=1e-13)
        assert "the loop's iterations are the lanes" in compiled.diagnostics()


def test_arrays_of_devices_and_large_ones_stay_recorded():
    stencil = pp.jit(made("stencil"))
    expected = [np.arange(1.0, 10), np.arange(1.0, 10), np.zeros((1, 1))]
    made("stencil")(*expected, 3)
    for device in pp.get_devices():
        if not device.has_fp64:
            continue
        given = [pp.asarray(np.arange(1.0, 10), device=device) for _ in range(2)]
        stencil(*given, pp.zeros((1, 1), device=device), 3)
        for x, y in zip(given, expected, strict=False):
            np.testing.assert_allclose(pp.asnumpy(x), y, rtol=1e-15)
    large = [pp.ones(1 << 17), pp.ones(1 << 17)]
    recorded = pp.counters()["recorded"]
    stencil(*large, pp.zeros((1, 1)), 2)
    assert pp.counters()["recorded"] > recorded


def test_loops_inside_of_loops_that_python_runs_are_compiled():
    @pp.jit
    def f(x, found):
        for t in range(3):
            found[str(t)] = 0.0
            for i in range(x.size):
                x[i] += t
                if x[i] > 5:
                    found[str(t)] = x[i]
                    break
            for i in range(x.size):
                x[i] = 2 * x[i]
            if x[0] > 50:
                return t
        return -1

    x, found = np.arange(4.0), {}
    with pytest.warns(RuntimeWarning, match="runs as Python"):
        assert f(x, found) == -1
    assert x.tolist() == [8.0, 16.0, 20.0, 28.0]
    assert found == {"0": 0.0, "1": 7.0, "2": 8.0}
    assert f.diagnostics().count("a serial loop, compiled") == 1


def test_loops_inside_of_loops_that_python_runs_are_no_more_fallbacks():
    @pp.jit
    def f(x, m):
        for t in range(2):
            m[:] = np.linalg.pinv(m + t)
            for i in range(x.size):
                m[i % 2] = np.linalg.pinv(m)[0] @ x[:2]
                for j in range(2):
                    m[j] = np.linalg.pinv(m) @ m[j]

    before = pp.counters()["fallbacks"]
    with pytest.warns(RuntimeWarning, match="runs as Python") as caught:
        f(np.arange(4.0), np.ones((2, 2)))
    assert len(caught) == 1
    assert pp.counters()["fallbacks"] == before + 1
