# tests/python/test_changing_numbers.py: numbers from outside of kernels and loops that change become arguments: compiled once, never stale.
import functools
import gc
import linecache
import math
import os
import subprocess
import sys
import threading
import types
from collections import namedtuple

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal
from pardo._compiler import frontend
from pardo._compiler.translator import Translator

pytestmark = pytest.mark.once

RATE, STEPS, SIZE, LARGE, FLAG = 0.5, 3, 4, 1, True
WEIGHTS = (0.25, 2, (1.0, 3))
STRONG = np.float32(0.5)
Options = namedtuple("Options", "scale shift")
OPTIONS = Options(2.0, 1)
settings = types.SimpleNamespace(rate=1.0, inner=types.SimpleNamespace(shift=2))
ROUNDS = 60


def compiled(run, rounds=ROUNDS):
    """How many programs a loop compiles."""
    z = pp.zeros(4).force()  # what the tests themselves compute with
    assert z[0] == 0
    assert z[0] != 0.5
    assert pp.arange(4.0)[0] == 0
    before = pp.counters()["compiled"]
    for k in range(rounds):
        run(k)
    return pp.counters()["compiled"] - before


@pp.kernel
def by_global(item: pp.Item, x):
    x[item.get_id(0)] = RATE * 2


@pp.func
def scaled(x):
    return x * RATE + settings.inner.shift


@pp.kernel
def by_function(item: pp.Item, x):
    x[item.get_id(0)] = scaled(settings.rate)


def test_a_global():
    global RATE
    x = pp.zeros(4)
    x.wait()
    launch = by_global[4]

    def run(k):
        global RATE
        RATE = 0.5 + k / 8
        launch(x)
        assert_array_equal(pp.asnumpy(x), np.full(4, 2 * RATE))
        by_global[pp.Range(4)](x)
        assert_array_equal(pp.asnumpy(x), np.full(4, 2 * RATE))

    assert compiled(run, 300) <= 2
    for RATE in (math.nan, -0.0, 0.0, math.inf, -math.inf, 5e-324):
        launch(x)
        got = pp.asnumpy(x)[0]
        assert (math.isnan(RATE) and math.isnan(got)) or (got == 2 * RATE and math.copysign(1, got) == math.copysign(1, RATE))
    RATE = 0.5
    launch(x)
    assert x[0] == 1


def test_types_of_numbers():
    global RATE
    x = pp.zeros(4)
    for values in ([1, 2, 3, -4, 2**60], [np.float32(0.1), np.float32(0.2)], [np.int8(3), np.int8(4)], [True, False, True], [1.5, 2.5]):
        for RATE in values:
            by_global[4](x)
            assert x[0] == np.float64(RATE * 2), RATE
    text = by_global.diagnostics()
    assert "  RATE: a Python float from outside; it changes\n" in text
    RATE = 1j
    with pytest.raises(TypeError, match="complex"):
        by_global[4](x)
    RATE = 2**70
    with pytest.raises(OverflowError, match="does not fit an int64"):
        by_global[4](x)
    RATE = 0.5
    by_global[4](x)
    assert x[0] == 1


@pytest.mark.parametrize("other", [None, "a text", [1], {}, len, np], ids=repr)
def test_what_is_no_number_any_more(other):
    """A number that changes becomes None, a list, …: the answer of a kernel that has never seen a number."""
    global LARGE

    def made():
        def no_limit(item: pp.Item, x):
            x[item.get_id(0)] = 2.0 if LARGE is None else 2 * LARGE

        return pp.kernel(no_limit)

    def answer(kernel):
        x = pp.zeros(2)
        try:
            kernel[2](x)
        except Exception as error:
            return type(error), str(error)
        return x.tolist()

    kernel = made()
    try:
        for LARGE in (1, 2, 3):
            assert answer(kernel) == [2.0 * LARGE] * 2
        LARGE = other
        assert answer(kernel) == answer(made())
        LARGE = 4
        assert answer(kernel) == [8.0] * 2
    finally:
        LARGE = 1


def test_in_functions_and_attributes():
    global RATE
    x = pp.zeros(4)

    def run(k):
        global RATE
        RATE, settings.rate = 1.0 + k, 2.0 * k
        settings.inner = types.SimpleNamespace(shift=k)
        by_function[4](x)
        assert x[0] == 2.0 * k * (1.0 + k) + k

    assert compiled(run) <= 3
    RATE = 0.5


def test_closures_of_one_function():
    def make(rate, n):
        @pp.kernel
        def fill(item: pp.Item, x):
            x[item.get_id(0)] = rate + n

        return fill

    x = pp.zeros(4)
    kept = []

    def run(k):
        kept.append(make(k / 4, k))
        kept[-1][4](x)
        assert x[0] == k / 4 + k

    assert compiled(run) <= 3
    for k, fill in reversed(list(enumerate(kept))):  # each has its own numbers
        fill[4](x)
        assert x[0] == k / 4 + k


def test_cells_that_change():
    rate = 0.0

    @pp.kernel
    def fill(item: pp.Item, x):
        x[item.get_id(0)] = rate

    x = pp.zeros(4)

    def run(k):
        nonlocal rate
        rate = float(k)
        fill[4](x)
        assert x[0] == k

    assert compiled(run) <= 2


def test_defaults():
    kept = []

    def run(k):
        @pp.kernel
        def fill(item: pp.Item, x, rate=k * 0.5, *, shift=k):
            x[item.get_id(0)] = rate + shift

        @pp.func
        def value(rate=k * 0.5, *, shift=k):
            return rate + shift

        @pp.kernel
        def called(item: pp.Item, x):
            x[item.get_id(0)] = value()

        x = pp.zeros(4)
        fill[4](x)
        assert x[0] == 1.5 * k
        called[4](x)
        assert x[0] == 1.5 * k
        kept.append((called, k))

    assert compiled(run) <= 5
    x = pp.zeros(4)
    for called, k in kept:
        called[4](x)
        assert x[0] == 1.5 * k

    @pp.func
    def value(rate=1.0):
        return rate

    @pp.kernel
    def called(item: pp.Item, x):
        x[item.get_id(0)] = value()

    plain = getattr(value, "_pardo_function", value)

    def replaced(k):
        plain.__defaults__ = (float(k),)
        called[4](x)
        assert x[0] == k

    assert compiled(replaced) <= 2


def test_tuples_and_structs():
    global WEIGHTS, OPTIONS

    @pp.struct
    class Params:
        a: np.float64
        b: np.float64 = 1.0

    params = Params(1.0)

    @pp.func
    def total(p):
        return p.a + p.b

    @pp.kernel
    def fill(item: pp.Item, x):
        s = OPTIONS.scale + OPTIONS[1] + total(params)
        s += WEIGHTS[0] + WEIGHTS[1]
        x[item.get_id(0)] = s + WEIGHTS[2][0] * WEIGHTS[2][1]

    x = pp.zeros(4)

    def run(k):
        global WEIGHTS, OPTIONS
        nonlocal params
        WEIGHTS, OPTIONS, params = (k * 0.5, k, (k + 1.0, 3)), Options(k * 1.0, k), Params(k, 2.0)
        fill[4](x)
        assert x[0] == k * 0.5 + k + (k + 1.0) * 3 + 2 * k + k + 2.0

    assert compiled(run) <= 2
    WEIGHTS = (1.0, 2, (3.0, 4), "more")  # of another shape
    fill[4](x)
    assert x[0] == ROUNDS * 0 + 1 + 2 + 12 + 2 * (ROUNDS - 1) + (ROUNDS - 1) + 2.0


def test_what_has_to_be_known_compiles_again():
    global SIZE, RATE

    @pp.kernel
    def sized(item: pp.Item, x):
        own = pp.private_array(SIZE, np.float64)
        for k in range(SIZE):
            own[k] = RATE
        s = 0.0
        for k in range(SIZE):
            s += own[k]
        x[item.get_id(0)] = s

    @pp.kernel
    def parts(item: pp.Item, x):
        values = (1.0, 2.0, 3.0)
        x[item.get_id(0)] = values[LARGE] * RATE

    x = pp.zeros(4)
    for SIZE, RATE in ((4, 0.5), (5, 1.5), (6, 2.5), (4, 0.75), (5, 0.25)):
        sized[4](x)
        assert x[0] == SIZE * RATE
    text = sized.diagnostics()
    assert "  SIZE: from outside, part of the program; each value compiles again: sized: " in text
    assert "  RATE: a Python float from outside; it changes\n" in text

    def run(k):
        global RATE
        RATE = float(k)
        sized[4](x)
        assert x[0] == SIZE * RATE

    assert compiled(run) == 0
    global LARGE
    for LARGE, RATE in ((0, 1.0), (1, 2.0), (2, 3.0), (0, 4.0)):
        parts[4](x)
        assert x[0] == (1.0, 2.0, 3.0)[LARGE] * RATE
    LARGE = 3
    with pytest.raises(IndexError):
        parts[4](x).wait()
    LARGE = 1
    x = pp.zeros(4)
    parts[4](x)
    assert x[0] == 8.0
    SIZE, RATE = 4, 0.5


def test_branches_of_numbers_and_flags():
    global FLAG, STEPS

    @pp.kernel
    def chosen(item: pp.Item, x):
        if FLAG:
            y = (1.0, 2.0)
        else:
            y = 3.0
        z = 10.0
        if STEPS == 2:
            z = 20.0
        x[item.get_id(0)] = (y[1] if FLAG else y) + z

    x = pp.zeros(4)
    for FLAG in (True, False, True, False):
        for STEPS in (1, 2, 3):
            chosen[4](x)
            assert x[0] == (2.0 if FLAG else 3.0) + (20.0 if STEPS == 2 else 10.0)
    FLAG, STEPS = True, 3

    @pp.kernel
    def two_types(item: pp.Item, x):
        if STEPS > 2:  # what it is decides of which type a name is
            y = (1.0, 2.0)
        else:
            y = 3.0  # noqa: F841
        x[item.get_id(0)] = 1.0

    for STEPS in (1, 2, 3, 4, 1):  # noqa: B007
        two_types[4](x)
    assert "STEPS: from outside, part of the program; each value compiles again: two_types: `y` is" in two_types.diagnostics()
    STEPS = 3


@pp.jit
def loops(x, y):
    s = 0.0
    for i in pp.prange(x.shape[0]):
        y[i] = x[i] * RATE + STEPS
        s += y[i]
    for i in range(1, x.shape[0]):
        y[i] = y[i - 1] * RATE + STEPS
    return s


@pytest.mark.parametrize("make", [np.zeros, pp.zeros])
def test_jit(make):
    global RATE, STEPS
    x, y = make(8) + 1, make(8)
    if make is pp.zeros:
        pp.wait(x, y)  # by programs that are not counted

    def run(k):
        global RATE, STEPS
        RATE, STEPS = k / 8, k
        s = loops(x, y)
        want = np.full(8, RATE + STEPS)
        assert s == want.sum()
        for i in range(1, 8):
            want[i] = want[i - 1] * RATE + STEPS
        assert_array_equal(np.asarray(pp.asnumpy(y)), want)

    assert compiled(run) <= 4
    for STEPS in (2**31, 2**40, -(2**40), 5):
        loops(x, y)
        assert y[7] == functools.reduce(lambda a, _: a * RATE + STEPS, range(7), RATE + STEPS)
    RATE, STEPS = 0.5, 3


def test_bounds_of_parallel_loops():
    global STEPS

    @pp.jit
    def counted(x):
        for i in pp.prange(STEPS, x.shape[0], STEPS):
            x[i] = STEPS

    def run(k):
        global STEPS
        STEPS = k + 1
        x, want = np.zeros(100), np.zeros(100)
        counted(x)
        want[STEPS::STEPS] = STEPS
        assert_array_equal(x, want)

    assert compiled(run) <= 4
    STEPS = 3


def test_indices_that_a_number_keeps_apart():
    global STEPS

    @pp.jit
    def spread(x, n):
        for i in pp.prange(n):
            x[i * STEPS] += 1.0  # provably distinct, because the number is not 0

    for STEPS in (3, 2, 5):
        x = np.zeros(50)
        spread(x, 10)
        assert x.sum() == 10
        assert x[STEPS * 9] == 1
    STEPS = 3


def test_generators():
    global RATE

    @pp.elementwise
    def scaled_up(x):
        return x * RATE

    x = pp.arange(4.0)
    x.wait()

    def run(k):
        global RATE
        RATE = k + 0.5
        assert_array_equal(pp.asnumpy(scaled_up(x)), np.arange(4) * RATE)

    assert compiled(run) <= 2
    RATE = 0.5


def test_functions_that_are_given_and_generators_of_them():
    """Functions as arguments, made anew for each number or not; sums and vectorized functions of them; methods of structs."""
    global RATE

    @pp.kernel
    def apply(item: pp.Item, f, x):
        x[item.get_id(0)] = f(1.0)

    @pp.struct
    class Scaled:
        a: np.float64

        def value(self):
            return self.a * RATE

    @pp.kernel
    def valued(item: pp.Item, p, x):
        x[item.get_id(0)] = p.value()

    total = pp.reduction(lambda x: x * RATE, lambda a, b: a + b, 0.0)
    each = pp.vectorize(lambda x: x * RATE)
    x, y = pp.zeros(4), pp.arange(4.0)
    y.wait()

    def run(k):
        global RATE
        RATE = k + 0.5
        rate = RATE
        for f in (scaled, lambda a: a + RATE, lambda a: a + rate):
            apply[4](f, x)
            assert x[0] == (RATE + settings.inner.shift if f is scaled else 1 + RATE)
        valued[4](Scaled(2.0), x)
        assert x[0] == 2 * RATE
        assert total(y) == 6 * RATE
        assert_array_equal(pp.asnumpy(each(y)), np.arange(4) * RATE)

    run(0)
    run(1)
    run(2)
    assert compiled(run, 12) == 0
    RATE = 0.5


def test_threads_see_numbers_that_belong_together():
    """One thread replaces a tuple while others launch: none sees half of one and half of another."""
    global WEIGHTS

    @pp.kernel
    def both(item: pp.Item, x):
        x[item.get_id(0)] = WEIGHTS[0] - WEIGHTS[1]

    WEIGHTS = (1.0, 1.0)
    both[8](pp.zeros(8)).wait()
    WEIGHTS = (2.0, 2.0)
    stop, wrong = threading.Event(), []

    def launches():
        x = pp.zeros(8)
        while not stop.is_set():
            both[8](x).wait()
            if x[0] != 0:
                wrong.append(x[0])

    threads = [threading.Thread(target=launches) for _ in range(3)]
    for t in threads:
        t.start()
    for k in range(2000):
        WEIGHTS = (float(k), float(k))
    stop.set()
    for t in threads:
        t.join()
    assert not wrong


def test_each_thread_launches_its_own():
    def work(k, out):
        rate = 0.0

        @pp.kernel
        def fill(item: pp.Item, x):
            x[item.get_id(0)] = rate + k

        x = pp.zeros(4)
        for n in range(50):
            rate = float(n)
            fill[4](x)
            out.append(float(x[0]) == n + k)

    found = [[] for _ in range(4)]
    threads = [threading.Thread(target=work, args=(k, found[k])) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(len(f) == 50 and all(f) for f in found)


def test_as_plain_python_and_types():
    global RATE
    x = pp.zeros(4)
    for RATE in (1.0, 2.0, 3.0):
        by_global[4](x)
        assert x[0] == 2 * RATE
        x[:] = 0
        by_global[4].interpret(x)
        assert x[0] == 2 * RATE
    assert "RATE * 2" in by_global[4].types(x)
    assert "RATE" in by_global[4].inspect(x)
    RATE = 0.5


PROGRAM = """
import sys
import pardo as pp
RATE, PAIR = float(sys.argv[1]), (1.0, int(sys.argv[1]))


def make(shift, d=float(sys.argv[1])):
    @pp.kernel
    def fill(item: pp.Item, x, *, more=d):
        x[item.get_id(0)] = RATE + shift + PAIR[0] * PAIR[1] + more
    return fill


x = pp.zeros(4)
x.wait()
for k in range(5):
    RATE, PAIR = RATE + k, (PAIR[0] + k, PAIR[1])
    make(k, k * 2.0)[4](x)
    assert x[0] == RATE + k + PAIR[0] * PAIR[1] + k * 2.0, k
"""


def test_processes_that_find_translations_on_disk(tmp_path):
    """What is kept of a function whose numbers change holds no number of the process that wrote it."""
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for first in ("3", "4"):
        done = subprocess.run([sys.executable, str(tmp_path / "program.py"), first], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pp.struct
class Rated:
    x: np.float64
    RATE = 2.0
    LARGE = False

    def scaled(self):
        return self.x * Rated.RATE


@pp.kernel
def by_constants_of_classes(item: pp.Item, x):
    r = Rated(2.0)
    x[item.get_id(0)] = Rated.RATE + 100 * r.RATE + 10000 * r.scaled() if r.LARGE else r.RATE


def test_constants_of_classes():
    x = pp.zeros(4)

    def run(k):
        Rated.RATE = float(k)
        by_constants_of_classes[4](x)
        assert x[0] == (k * 20101 if Rated.LARGE else k)

    for Rated.LARGE in (False, True):
        assert compiled(run) <= 3
    Rated.RATE = 3  # of another type
    by_constants_of_classes[4](x)
    assert x[0] == 60303
    Rated.RATE, Rated.LARGE = 2.0, False


@pp.jit
def summed_by_flag(x):
    s = 0.0
    for i in pp.prange(len(x)):
        if FLAG:
            s += x[i]
        else:
            s -= x[i]
    return s


@pp.jit
def added_by_flag(x, out):
    for i in pp.prange(x.shape[0]):
        if FLAG:
            out += x[i]
        else:
            out -= x[i]
    return out


@pp.kernel
def filled_by_flag(item: pp.Item, x):
    x[item.get_id(0)] = 1 if FLAG else -1


def test_flags_that_change_to_and_fro_are_translated_once_for_each_value(monkeypatch):
    global FLAG
    count = 0
    made = Translator.__init__

    def counting(self, *arguments, **keywords):
        nonlocal count
        count += 1
        made(self, *arguments, **keywords)

    monkeypatch.setattr(Translator, "__init__", counting)
    by_element = pp.elementwise(lambda v: v if FLAG else -v)
    x, rows = pp.ones(4), pp.ones((100, 3))

    def run():
        sign = 1 if FLAG else -1
        assert summed_by_flag(x) == 4 * sign
        assert added_by_flag(rows, pp.zeros(3)).tolist() == [100 * sign] * 3
        assert by_element(x)[0] == sign
        y = pp.zeros(4)
        filled_by_flag[4](y)
        assert y[0] == sign

    run()
    FLAG = False
    run()
    assert count > 0
    count = 0
    for _ in range(6):
        FLAG = not FLAG
        run()
    assert count == 0
    FLAG = True


@pp.kernel
def each_by(item: pp.Item, f, x):
    x[item.get_id(0)] = f(x[item.get_id(0)])


def test_what_was_refused_of_a_function_that_is_gone_is_not_said_of_another(monkeypatch):
    monkeypatch.setattr(frontend, "MOST_TRANSLATIONS", 1)  # so that another one soon has its address

    def made(name, text):
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        names = {}
        exec(compile(text, name, "exec"), names)
        return names["f"]

    x = pp.zeros(4)
    for k in range(6):
        for part in range(2):  # the second lets go of the first
            with pytest.raises(TypeError, match="cannot be indexed"):
                each_by[4](made(f"<refused {k} {part}>", f"def f(v):\n    return v[{part}]\n"), x)
        gc.collect()
        x[...] = 1
        each_by[4](made(f"<taken {k}>", f"def f(v):\n    return v + {k}\n"), x)
        assert x[3] == 1 + k


@pytest.mark.parametrize(
    "make",
    [
        lambda: pp.elementwise(lambda x: x * RATE),
        lambda: pp.reduction(lambda x: x * RATE, lambda a, b: a + b, 0),
        lambda: pp.reduction(lambda x: x, lambda a, b: a + b * RATE, 0),
        lambda: pp.scan(lambda x: x * RATE, lambda a, b: a + b, 0),
        lambda: pp.scan(lambda x: x, lambda a, b: a + b, 0, lambda s, x: s * RATE),
        lambda: pp.vectorize(lambda x: x * RATE),
    ],
)
def test_types_of_results_follow_numbers_from_outside(make, monkeypatch):
    f, x = make(), pp.arange(5)
    for rate, dtype in ((2, np.int64), (0.5, np.float64), (2, np.int64)):
        monkeypatch.setitem(globals(), "RATE", rate)
        assert f(x).dtype == dtype
        assert_array_equal(f(x), make()(x))


@pytest.mark.parametrize(
    "context", [pp.device_context, lambda device: pp.data(tofrom=(HOST, WRITTEN), device=device)], ids=["context", "data"]
)
@pytest.mark.parametrize("launch", [lambda: product[3](WRITTEN, HOST), lambda: multiply(WRITTEN, HOST)], ids=["kernel", "loop"])
@pytest.mark.parametrize("place", ["cpu", "null:1"])
def test_numpys_arrays_beside_numbers_that_change(context, launch, place, monkeypatch):
    """What is written is copied back: the numbers are no arguments of the caller's."""
    for rate in (0.5, 0.25, 2.0):
        monkeypatch.setitem(globals(), "RATE", rate)
        with context(place):
            launch()
        assert_array_equal(WRITTEN, HOST * rate)


HOST, WRITTEN = np.arange(3, dtype="f4"), np.zeros(3, "f4")


@pp.kernel
def product(item: pp.Item, x, y):
    x[item.get_id(0)] = y[item.get_id(0)] * RATE


@pp.jit
def multiply(x, y):
    for i in pp.prange(len(x)):
        x[i] = y[i] * RATE
