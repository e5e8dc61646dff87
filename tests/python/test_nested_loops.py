# tests/python/test_nested_loops.py: parallel loops inside of serial ones: one program, whose parallel loops threads share.
import os
import threading

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.filterwarnings("error")


def compared(function, *arguments, **tolerance):
    """Run a function compiled, and as Python does; the arrays that it changes, and what it gives, are to agree."""
    function = pp.jit(function)
    ours, pythons = ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
    before = pp.counters()
    given = function(*ours)
    after = pp.counters()
    expected = function.interpret(*pythons)
    for mine, other in zip((*ours, given), (*pythons, expected), strict=True):
        if mine is not None:
            np.testing.assert_allclose(mine, other, **{"rtol": 1e-12, "atol": 1e-12, **tolerance})
    return function, after["launched"] - before["launched"]


def in_one(function, *arguments, **tolerance):
    """As `compared`; and all is one launch."""
    function, launches = compared(function, *arguments, **tolerance)
    assert launches == 1, function.diagnostics()
    return function


def floyd(path):
    for k in range(path.shape[0]):
        for i in pp.prange(path.shape[0]):
            path[i, :] = np.minimum(path[i, :], path[i, k] + path[k, :])


def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in pp.prange(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])


def diffusion(a, b, steps):
    for _ in range(steps):
        for i in pp.prange(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        for i in pp.prange(a.shape[0] - 2, 0, -1):
            a[i] = b[i]


def private(x, out):
    for t in range(3):
        for i in pp.prange(x.shape[0]):
            w = np.zeros(x.shape[1])
            v = np.empty(4)
            for k in range(4):
                v[k] = k * t + i
            w[1:] = x[i, :-1] * 2 + v[t]
            out[i] += w + w.sum()


def powers(a, x, b, steps):
    for _ in range(steps):
        for i in pp.prange(a.shape[0]):
            for j in pp.prange(a.shape[1]):
                total = 0.0
                for k in range(a.shape[1]):
                    total += a[i, k] * x[k, j]
                b[i, j] = np.tanh(total) + a[i, j]


@pytest.mark.parametrize("n", [0, 1, 3, 150])
def test_an_outer_loop_and_its_parallel_loops_are_one_program(n, rng):
    in_one(floyd, rng.random((n, n)))
    in_one(trmm, 1.5, rng.random((n, n)), rng.random((n, n + 7)))
    in_one(diffusion, rng.random(n + 2), np.zeros(n + 2), 4)
    in_one(private, rng.random((n, 5)), np.zeros((n, 5)))
    in_one(diffusion, rng.random(n + 2), np.zeros(n + 2), 0)


def test_loops_that_are_long_enough_for_threads(rng):
    in_one(diffusion, rng.random(100_000), np.zeros(100_000), 3)
    in_one(diffusion, rng.random(100_000).astype("f4"), np.zeros(100_000, "f4"), 3, rtol=1e-5)
    in_one(private, rng.random((400, 300)), np.zeros((400, 300)))
    in_one(private, rng.random((300, 400)).T, np.zeros((400, 300)))
    in_one(floyd, rng.random((200, 200)).astype("f4"), rtol=1e-5)


def test_steps_conditions_and_continue(rng):
    def odd(x, h, first, step):
        for t in range(5):
            for i in pp.prange(first, x.shape[0], step):
                if x[i] < 0.25 * t:
                    continue
                y = x[i] * t
                h[i] = h[i] + y if y < 1 else -y
        return first

    for first, step in ((0, 1), (3, 7), (2, 5000)):
        in_one(odd, rng.random(9001), np.zeros(9001), first, step)


def test_names_keep_what_they_have_outside(rng):
    def kept(x, o):
        i, s = 100, 0.0
        for t in range(4):
            u = t * 2
            for j in pp.prange(x.shape[0]):
                v = x[j] + u
                o[j] += v
            s += o[t] + u
        return s + i

    in_one(kept, rng.random(50), np.zeros(50))


def test_reductions_inside(rng):
    def norms(x, out):
        most = 0.0
        for t in range(x.shape[0]):
            s, n, low, every = 0.0, 0, np.inf, True
            for i in pp.prange(x.shape[1]):
                s += x[t, i] * t
                n += 1
                low = min(low, x[t, i])
                every = every and x[t, i] > 0.0
            out[t] = s / n if every else low
            most = max(most, s)
        return most

    for columns in (1, 5, 64, 65, 40_001):
        in_one(norms, rng.random((3, columns)), np.zeros(3))
    compiled = pp.jit(norms)
    x = rng.random((3, 40_001))
    assert len({compiled(x, np.zeros(3)) for _ in range(5)}) == 1


def test_nested_parallel_loops_and_reductions_in_them(rng):
    def sums(x, o):
        for t in range(3):
            for i in pp.prange(x.shape[0]):
                s = 0.0
                for j in pp.prange(x.shape[1]):
                    s += x[i, j]
                o[i] = s + t

    in_one(sums, rng.random((70, 30)), np.zeros(70))
    in_one(powers, rng.random((40, 70)), rng.random((70, 70)), np.zeros((40, 70)), 2)


def test_functions_that_are_called_may_have_parallel_loops(rng):
    def scaled(row, by):
        for i in pp.prange(row.shape[0]):
            row[i] *= by

    def total(row):
        s = 0.0
        for i in pp.prange(row.shape[0]):
            s += row[i]
        return s

    def each(x, out):
        for t in range(x.shape[0]):
            for i in pp.prange(x.shape[0]):
                x[i, t] += t
            scaled(x[t], 1.5)
            out[t] = total(x[t])

    in_one(each, rng.random((40, 40)), np.zeros(40))


def test_what_reduces_into_arrays_draws_or_has_a_schedule_is_launched_by_itself(rng):
    def into_rows(x, r):
        for _ in range(2):
            for i in pp.prange(x.shape[0]):
                r += x[i]

    def counts(k, h):
        for _ in range(2):
            for i in pp.prange(k.shape[0]):
                h[k[i]] += 1

    def scheduled(x, o):
        for t in range(2):
            for i in pp.prange(x.shape[0], schedule="dynamic"):
                o[i] += x[i] * t

    for f, *arguments in (
        (into_rows, rng.random((50, 4)), np.zeros(4)),
        (counts, rng.integers(0, 4, 500), np.zeros(4, "i8")),
        (scheduled, rng.random(50), np.zeros(50)),
    ):
        _, launches = compared(f, *arguments)
        assert launches == 2


def test_failures_have_their_lines(rng):
    @pp.jit
    def outside(x, k, o):
        for t in range(3):
            for i in pp.prange(x.shape[0]):
                o[i] = x[k[i] + t]

    line = outside.__wrapped__.__code__.co_firstlineno + 4
    k = np.arange(1000)
    outside(np.ones(1003)[:1000], k - 3, np.zeros(1000))
    with pytest.raises(IndexError, match=rf"(?s)index 100\d is out of bounds for an axis of size 1000.*line {line}"):
        outside(np.ones(1000), k, np.zeros(1000))

    @pp.jit
    def divided(n, o):
        for _ in range(3):
            for i in pp.prange(o.shape[0]):
                o[i] = 7 // (i - n)

    with pytest.raises(ZeroDivisionError):
        divided(20, np.zeros(50))
    for left in ("break", "return"):
        source = f"def f(x):\n    for t in range(3):\n        for i in pp.prange(x.shape[0]):\n            {left}\n"
        with pytest.raises(TypeError, match="cannot be left by break or return"):
            made(source)(np.ones(3))


def made(source):
    import linecache

    name = f"<nested {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    given = {"pp": pp, "np": np}
    exec(compile(source, name, "exec"), given)
    return pp.jit(given["f"])


def test_races_are_looked_for_when_asked():
    @pp.jit(race_check=True)
    def race(x, k):
        for t in range(2):
            for i in pp.prange(1, x.shape[0]):
                x[i] = x[k[i]] + t

    with pytest.raises(pp.RaceError):
        race(np.zeros(5), np.arange(5) - 1)


def test_several_threads_and_forks(rng):
    function = pp.jit(diffusion)
    expected = rng.random(60_000)
    start, first = expected.copy(), np.zeros(60_000)
    diffusion(expected[:2000], first[:2000], 2)
    results = {}

    def run(k):
        a, b = start[:2000].copy(), np.zeros(2000)
        for _ in range(5):
            a[:] = start[:2000]
            function(a, b, 2)
            function(start.copy(), np.zeros(60_000), 2)
        results[k] = a

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for a in results.values():
        np.testing.assert_allclose(a, expected[:2000], rtol=1e-12)
    if not hasattr(os, "fork"):
        return
    child = os.fork()
    if child == 0:
        code = 1
        try:
            run("child")
            code = int(not np.allclose(results["child"], expected[:2000]))
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def test_it_is_said_in_diagnostics(rng):
    function = in_one(floyd, rng.random((20, 20)))
    text = function.diagnostics()
    assert "a serial loop, compiled" in text
    assert "a parallel loop over `i`" in text
    assert "left to Python" not in text
