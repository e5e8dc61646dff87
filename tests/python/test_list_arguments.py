# tests/python/test_list_arguments.py: Python's lists, sets and long tuples from before a loop, against the same text run by Python.
import copy
import warnings

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once

FLOATS, INTS = np.arange(6.0), np.arange(6)


def same(a, b):
    """Equal values of equal types, all the way down; what a comparison of arrays gives is Python's bool in compiled loops."""
    if isinstance(a, np.ndarray):
        return type(b) is np.ndarray and a.dtype == b.dtype and np.array_equal(a, b)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def outcome(function, arguments):
    """What a call gives or raises, and what its arguments are then; that it gives an argument itself counts."""
    given = copy.deepcopy(arguments)
    try:
        result = function(*given)
    except Exception as e:
        return type(e), given
    return [next((k for k, g in enumerate(given) if g is r), r) for r in (result if isinstance(result, tuple) else (result,))], given


def agree(function, *arguments):
    """Compiled, nothing of it Python's, as Python runs it."""
    mine, theirs = outcome(pp.jit(function, strict=True), arguments), outcome(function, arguments)
    assert same(mine, theirs), (mine, theirs)


def only_appends(x, out):
    for v in x:
        if v % 2 == 0:
            out.append(v)
    return out


def made_before(x):
    out = []
    for i in range(len(x)):
        out.append(i * i)
        out += [7, i]
    return np.array(out), out


def takes_and_puts(x, s):
    for i in range(len(x)):
        y = s.pop()
        s.append(y + i)
        s.insert(1, int(x[i]))
        s.extend((i, i))
        if s.count(i) > 2:
            s.remove(i)
        if len(s) > 9:
            s.clear()
        if i == 4:
            s[0] = s[-1] + s.pop(0)
            s.reverse()
    return s


def cumulative(x):
    out = [0.0]
    for v in x:
        out.append(out[-1] + v)
    return np.array(out)


def grows_while_it_runs(x, s):
    for v in s:
        if len(s) < 50:
            s.append(v + x[0])
    return s


def two_names(x):
    a = [1, 2]
    b = a
    for i in range(len(x)):
        a.append(i)
        b[0] += len(b)
        if len(b) > 5:
            a.pop(1)
    return a is b, a


def swaps(x, a, b):
    for i in range(len(x)):
        a.append(i)
        b.append(a[-1] + b[0])
        a[0], b[0] = b[0], a[0]


def sieve(x, flags):
    primes = []
    for i in range(2, len(flags)):
        if flags[i]:
            primes.append(i)
            for j in range(i * i, len(flags), i):
                flags[j] = False
    return primes


def reads(x, v):
    s, n = 0, 0
    for i, (a, b) in enumerate(zip(v, x, strict=False)):
        s += a * i
        n += (a in v) + int(b) * 0
    for a in reversed(v):
        s += a
    return s + v[-1], n, len(v) + max(v) + sum(v)


@pytest.mark.parametrize("start", [[], [1.0], ["a", None, 1]])
def test_append(start):
    agree(only_appends, FLOATS, start)
    agree(only_appends, INTS.astype("uint8"), start)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (made_before, (INTS,)),
        (takes_and_puts, (INTS, [3, 1, 2])),
        (cumulative, (FLOATS,)),
        (grows_while_it_runs, (INTS, [1, 2])),
        (two_names, (INTS,)),
        (swaps, (INTS, [1], [2])),
        (sieve, (INTS, [True] * 60)),
        (reads, (INTS, [3, 1, 2])),
        (reads, (INTS, [0.5, 2.0])),
        (reads, (INTS, tuple(range(30)))),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_as_python(function, arguments):
    agree(function, *arguments)


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "complex64", "complex128"])
def test_dtypes(dtype):
    def stores(x, s):
        for i in range(len(x)):
            s[i % 2] = x[i]
            s.append(s[0])
        return s

    x = np.arange(1, 5).astype(dtype)
    agree(stores, x, [x[0], x[1]])


def fails(x, s):
    for i in range(9):
        s.append(i)
        s[0] = i
        y = x[i]
        s.insert(0, int(y))
    return s


def asserts(x, s):
    for i in range(6):
        s.append(i)
        assert x[i] < 3
        s.pop(0)


def raises(x, s):
    k = 0
    while True:
        s.append(k)
        if x[k] == 3:
            raise ValueError("three")
        k += 1


def takes_too_many(x, s):
    for v in x:
        s.append(s.pop() + s.pop() + int(v))
    return s


def looks_for_what_is_not_there(x, s):
    for v in x:
        s.remove(int(v))


def leaves_early(x, s):
    for i in range(6):
        s.append(i)
        if x[i] == 3:
            return i
    return -1


@pytest.mark.parametrize("function", [fails, asserts, raises, takes_too_many, looks_for_what_is_not_there, leaves_early])
def test_a_failure_leaves_a_list_as_python_does(function):
    agree(function, INTS, [5, 0, 1, 2, 6])


def test_many_elements():
    @pp.jit(strict=True)
    def squares(n, x, out):
        for i in range(n):
            out.append(x[i % 4] * i)

    out = []
    squares(300_000, np.arange(4), out)
    assert out == [i % 4 * i for i in range(300_000)]


def test_integers_beyond_64_bits():
    def powers(n, s):
        for _ in range(n):
            s.append(s[-1] * 1000)
        return s

    agree(powers, 5, [1])
    loop = pp.jit(powers)
    assert loop(9, [1]) == [1000**k for k in range(10)]  # it has changed nothing yet, so Python runs it
    assert "a Python integer in it does not fit an int64" in loop.diagnostics()

    @pp.jit
    def written(x, s):
        for i in range(len(x)):
            x[i] = i
            s.append(s[-1] * 1000)

    with pytest.raises(OverflowError, match="does not fit an int64"):
        written(np.zeros(9), [1])


def test_loops_that_write_arrays_too_keep_the_order_of_lists():
    def both(x, s):
        for i in range(len(x)):
            x[i] = i
            s.append(s[-1] + i)
        return s

    agree(both, np.zeros(100), [1])

    @pp.jit
    def inside(o):
        for i in pp.prange(o.shape[0]):
            s = [0]
            for j in range(o.shape[1]):
                o[i, j] = j
                s.append(s[-1] + j)
            o[i, 0] = s[-1]

    o = np.zeros((3, 100))
    inside(o)
    assert o[:, 0].tolist() == [4950] * 3


def in_sets(x, s):
    n = 0
    for v in x:
        if v in s:
            n += 1
        if v not in s and v != len(s):
            n += 100
    return n


@pytest.mark.parametrize("values", [{1, 4}, frozenset([5]), set(), {0.5, 3.0}, {-7, 2**40}, set(range(0, 1000, 3))])
def test_sets(values):
    agree(in_sets, INTS, values)
    agree(in_sets, FLOATS, values)


def test_parallel_loops_read():
    @pp.jit
    def both(x, s, t, q, out):
        n = 0
        for i in pp.prange(len(x)):
            out[i] = x[i] * s[i % 3] + t[i] + len(s)
            for v in s:
                out[i] += v
            if i in q and i not in s:
                n += 1
        return n

    given = INTS, [1, 2, 5], (0.5,) * 40, {3, 4, 5}
    mine, theirs = np.zeros(6), np.zeros(6)
    assert both(*given, mine) == both.interpret(*given, theirs) == 2
    assert np.array_equal(mine, theirs)
    with pytest.warns(RuntimeWarning, match=r"loop at line \d+ runs as Python: `s` is a list of what are not numbers of one type; pass an"):
        assert both(INTS, [1, 2.5, 3], *given[2:], mine) == both.interpret(INTS, [1, 2.5, 3], *given[2:], theirs)
    assert np.array_equal(mine, theirs)


def sums(arrays, x, found, none):
    total = 0.0
    for i in pp.prange(len(arrays)):
        a = arrays[i]
        s = 0.0
        for k in range(len(a)):
            s += a[k]
        found[i] = s if none is None else 0
        total += s
    return total


def pairs(table, x, found, none):
    for i in pp.prange(len(x)):
        for j in pp.prange(2):
            x[i] += table[j] * (none is None)
    return x


def makes_dicts(table, x, found, none):
    total = 0
    for i in pp.prange(len(x)):
        d = {i: 2}
        for _ in range(3):
            d[i] += 1
        total += d[i]
    return total


def given_on_one_path(table, x, found, none):
    for i in pp.prange(len(x)):
        if none is None and len(table) == 2:
            h = 1
        x[i] += h
    return x


def in_a_comprehension(table, x, found, none):
    return np.array([v + len(table) for v in pp.prange(len(x))])


@pytest.mark.parametrize(
    ("function", "table", "why"),
    [
        (sums, [FLOATS, FLOATS[:2]], "`arrays` is a list of what are not numbers of one type; pass an array"),
        (sums, (FLOATS, [1.0, 2.0]), "`arrays` is a tuple with lists, sets or dicts in it; pass arrays"),
        (pairs, {0: 1, 1: 2.5}, "`table` is a dict; pass arrays of keys and of values, or a list that small integers index"),
        (makes_dicts, {}, "a dict is not accepted in a kernel; use arrays of keys and of values"),
        (given_on_one_path, [1, 2], "`h` may have no value here: it is assigned at line"),
        (given_on_one_path, [1], "`h` may have no value here: it is assigned at line"),
        (in_a_comprehension, [1, 2], "a comprehension makes no parallel loop; write `for … in prange"),
    ],
)
def test_parallel_loops_that_run_as_python(function, table, why):
    given = table, FLOATS, [0, 0], None
    loop, before = pp.jit(function), pp.counters()["fallbacks"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mine = outcome(loop, given)
    assert same(mine, outcome(function, given))
    assert [why in str(w.message) for w in caught] == [True]
    assert pp.counters()["fallbacks"] > before
    assert function is in_a_comprehension or why in loop.diagnostics()
    with pytest.raises(pp.CompileError, match="strict=True, and this loop would run as Python"):
        pp.jit(function, strict=True)(*copy.deepcopy(given))


def test_races_are_not_looked_for_in_lists():
    with pytest.raises(TypeError, match="sums: races are looked for in arrays that loops take by their names: `arrays` is a list of what"):
        pp.jit(sums, race_check=True)([FLOATS], FLOATS, [0], None)


def test_serial_loops_in_a_parallel_one_of_python_are_programs():
    x = np.arange(5000.0)
    loop = pp.jit(sums)
    with pytest.warns(RuntimeWarning, match="runs as Python"):
        loop([x, x], x, [0, 0], None)
    before = pp.counters()["launched"]
    assert loop([x, x, x], x, np.zeros(3), None) == 3 * x.sum()
    assert pp.counters()["launched"] >= before + 3


def mixed(x, s):
    for i in range(len(x)):
        if i % 2:
            s.append(x[i])
        else:
            s.append(0.5)
    return s


def others(x, s):
    t = 0.0
    for i in range(len(s)):
        t += x[i] * len(s[i])
    return t


def made_anew(x, s):
    n = 0
    while s:
        t = []
        for v in s:
            n += v
            if v > 1 and v < len(x):
                t.append(v - 1)
        s = t
    return n


def cut(x, s):
    for i in range(len(x)):
        s.append(s[1:][0] + x[i])


@pytest.mark.parametrize(
    ("function", "given", "why"),
    [
        (mixed, [], "a list from before the loop holds float64, and here is a Python float"),
        (mixed, [1], "`s` holds a Python int, and the loop puts a .* into it; start with one like these|and here is"),
        (others, [[1], [2, 3]], "`s` is a list of what are not numbers of one type"),
        (made_anew, [3, 4], "`s` is a list, and another one in some iterations; clear it rather than make a new one"),
        (cut, [1, 2], "a list in a kernel is indexed with one integer"),
    ],
)
def test_what_stays_python(function, given, why):
    loop = pp.jit(function)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mine = outcome(loop, (FLOATS, given))
    assert same(mine, outcome(function, (FLOATS, given)))
    assert len(caught) == 1
    with pytest.warns(RuntimeWarning, match=why):
        warnings.warn(loop.diagnostics(), RuntimeWarning, stacklevel=1)


def test_lists_are_for_the_cpu():
    @pp.jit
    def kept(x, s):
        for i in range(x.shape[0]):
            s.append(i)
            x[i] = i

    for device in pp.get_devices():
        if device.backend == "cpu":
            continue
        s = []
        with pytest.warns(RuntimeWarning, match="`s` is a list, which only the CPU takes; pass an array"):
            kept(pp.zeros(3, device=device), s)
        assert s == [0, 1, 2]
        break
