# tests/python/test_more_python.py: what Python writes besides numbers and arrays, compiled, against the same text run by Python: lists and
# sets of numbers, comprehensions, `match`, `:=`, `in`, what `for` goes over, functions inside.
import array
import collections
import copy
import linecache
import math
import zlib

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_allclose

pytestmark = pytest.mark.once
PART = slice(1, 4)


def agree(function, *arguments):
    """Compiled, nothing of it Python's, as Python runs it: arrays, and what is returned."""
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    given, expected = pp.jit(function, strict=True)(*mine), function(*theirs)
    for a, b in zip([*mine, given], [*theirs, expected], strict=True):
        if b is not None:
            assert_allclose(a, b, rtol=1e-12)


def line(n=10):
    return np.arange(float(n)) - 3.5


# ---- `:=` and match


def named(x):
    s = 0.0
    for i in range(len(x)):
        if i > 2 and (v := x[i] * 2) > 1:
            s += v
        elif (w := x[i]) < 0:
            s -= w
        else:
            s += 100
        y = (z := x[i]) + z
        s += y
    return s


def named_in_while(x):
    s, k = 0.0, 0
    for _ in range(1):
        while k < len(x) and (v := x[k]) < 3:
            k += 1
            if k == 2:
                continue
            s += v
        else:
            s += 1000
        x[0] = 0
    return s + k


def matched(x):
    s = 0
    for i in range(len(x)):
        match x[i]:
            case 0:
                s += 1
            case 1 | 2:
                s += 10
            case 3:
                s += 100
            case v if v > 4:
                s += v * 1000
            case _:
                s -= 7
        match (x[i], i):
            case (0, 0):
                s += 3
            case (a, 3):
                s += a
            case (a, b) if b == 5:
                s += 17
        match i:
            case j:
                s += j
    return s


def leaves_a_match(x):
    for i in range(len(x)):
        match x[i]:
            case 9:
                return i
            case 1:
                continue
        x[i] = 50
    return -1


def test_named_values_and_match():
    agree(named, line())
    agree(named_in_while, line())
    agree(named_in_while, line(3))
    for values in ([0, 1, 2, 3, 4, 5, 9, -1], [1, 1, 2]):
        agree(matched, np.array(values))
        agree(leaves_a_match, np.array(values))


# ---- what `for` goes over, and `in`


def walked(x):
    s = 0.0
    for k, v in enumerate(reversed(x)):
        s += k * v
    for i in reversed(range(1, 8, 3)):
        s = s * 2 + x[i]
    for i, v in zip(range(3), x):  # noqa: B905
        s += i * v
    for i, (a, b) in enumerate(zip(x, reversed(x), strict=True)):
        s += i * a - b
    for v in reversed((1, 2, 3)):
        s = 3 * s + v
    for i, j, v in zip(range(9, 0, -2), reversed(range(4)), (x[0], x[1], 7.0)):  # noqa: B905
        s = s * 1.5 + i * j + v
    for v in [3, x[1], 5]:
        s -= v
    return s


def all_indices(x, n, m):
    for index in np.ndindex(x.shape):
        x[index] += index[0] * 10 + index[1]
    for i, j in np.ndindex(n, m):
        x[i, j] += 100
    for (i,) in np.ndindex(n):
        x[i, 0] -= 3
    return x


def looked_through(x):
    s = 0
    for i in range(len(x)):
        if i in (1, 2, 7):
            s += 1
        if i not in [3, 4]:
            s += 10
        if x[i] in x[2:5]:
            s += 100
        if i in {1, 5} and x[i] not in (x[1], 2.5):
            s += 1000
    return s


def by_counters(x, weights):
    s = 0.0
    for i in pp.prange(len(x)):
        s += weights[i % 3] * x[i] + weights[-(i % 2) - 1] + (1, 2, 3, 4)[i % 4]
    return s


def test_what_is_looped_over_and_looked_through():
    agree(walked, line())
    agree(all_indices, np.zeros((3, 4)), 2, 3)
    agree(all_indices, np.zeros((3, 4)), 0, 3)
    agree(looked_through, line())
    agree(by_counters, line(), (1.0, 2.5, 3.0))

    @pp.jit
    def beyond(x, weights):
        for i in range(len(x)):
            x[i] = weights[i]

    with pytest.raises(IndexError, match="index 3 is out of range for a tuple of 3"):
        beyond(line(), (1.0, 2.0, 3.0))


def parts(x):
    s = 0.0
    for i in range(3):
        s += x[PART].sum() + x[slice(2, 5)].sum() + x[slice(4)].sum() + getattr(x, "shape")[0]  # noqa: B009
        x[i] = 1
    return s


def function_inside(x):
    s = 0.0
    for i in range(len(x)):

        def twice(a):
            return a * 2

        s += twice(x[i])
    return s


def test_slices_attributes_by_name_and_functions_inside():
    agree(parts, line())
    agree(function_inside, line())


# ---- lists and sets


def lists(x):
    s = 0.0
    for i in range(len(x)):
        values = [1.0, 2.0]
        for j in range(i * 5):
            values.append(j * x[i])  # noqa: PERF401
        while len(values) > 3:
            s += values.pop()
        values[0] = 7.0
        values[-1] += 0.5
        for v in values:
            s += v
        if 7.0 in values:
            s += 1000
        s += sum(values) + max(values) + min(values) + len(values) + np.mean(values)
    return s


def stacks(x, out):
    for i in pp.prange(len(x)):
        stack = []
        stack.append(i)
        n = 0
        while stack:
            k = stack.pop()
            n += k
            if k > 0:
                stack.append(k - 1)
                if k % 2:
                    stack.append(k // 2)
        out[i] = [n, x[i], i]


def methods(x):
    s = 0
    for i in range(len(x)):
        v = [3, 1, 2]
        v.insert(1, 9)
        v.extend([4, 4])
        s += v.index(9) * 100 + v.count(4)
        v.remove(4)
        v.reverse()
        v.insert(-1, 8)
        s += v.pop(1) + v.pop(0) + v.pop(-1)
        w = v.copy()
        w.append(1)
        s += len(w) * 10 + len(v) + w[2]
        v.clear()
        v.append(i)
        x[i] = v[-1]
    return s


def shared(x):
    for i in range(len(x)):
        v = [0]
        w = v
        filled(w, i)
        x[i] = sum(v) + len(v)


def filled(values, n):
    for k in range(n):
        values.append(k)


def growing(x):
    t = 0.0
    for i in range(len(x)):
        v = [1, 2]
        for k, w in enumerate(v):
            if len(v) < i:
                v.append(w + 1)
            if k == 7:
                break
            t += w * k
        else:
            t += 1000
        for w in v:
            if w == 4:
                v.append(9)
                break
        x[i] = len(v)
    return t


def sets(x):
    t = 0.0
    for i in range(len(x)):
        r = {1, 2, 3}
        r.add(i)
        r.add(2)
        r.discard(3)
        r.discard(77)
        x[i] = len(r)
        for v in r:
            t += v
        if i in r:
            t += 1
        q = set()
        for j in range(20):
            q.add(j % (i + 1))
        q.update({100, 101})
        q.remove(100)
        t += len(q) + sum(set(x))
    return t


def types_found_later(x):
    s = 0.0
    for i in range(3):
        v = []
        v.append(1)
        v.append(x[i])
        v.append(0.5)
        s += v[1] + v[2] + len(v)
        w = [1]
        w[0] += 0.5
        s += w[0]
    return s


def comprehensions(x):
    s = 0.0
    for i in range(len(x)):
        a = np.array([x[j] * i for j in range(4)])
        b = [j * j for j in range(i) if j % 2]
        s += a.sum() + sum(b) + len(b) + sum(v for v in x if v > 0) + max([abs(v) for v in x])
        c = [i * j for i in range(3) for j in range(2)]
        s += c[-1] + i + any([v > 3 for v in x])  # noqa: C419
        d = list(range(i))
        e = [0.5] * i
        s += sum(e) + len(e)
        s += len(d) + len({j % 3 for j in d}) + np.array([1, i], dtype=np.float32)[1]
    return s


def test_lists_and_sets():
    for function in (lists, methods, growing, shared, sets, types_found_later, comprehensions):
        agree(function, line())
    agree(stacks, line(), np.zeros((10, 3)))


@pytest.mark.parametrize("device", [*DEVICES, pp.Device("null:1")], ids=str)
def test_lists_on_devices(device):
    x = line().astype("float32")
    out = pp.zeros((10, 3), dtype="float32", device=device)
    pp.jit(stacks)(pp.asarray(x, device=device), out)
    expected = np.zeros((10, 3), "float32")
    stacks(x, expected)
    assert_allclose(pp.asnumpy(out), expected)


def test_lists_grow_on_the_cpu():
    def many(x):
        t = 0
        for i in range(2):
            v = []
            for k in range(100_000):
                v.append(k)  # noqa: PERF402
            t += sum(v) + v[99_999] + v[17]
            x[i] = 1
        return t

    agree(many, line())


@pytest.mark.parametrize(
    ("error", "message", "text"),
    [
        (IndexError, "index 1 is out of bounds for an axis of size 1", "x[i] = [1.0][i]"),
        (IndexError, "pop from an empty list", "v = [1.0]; v.pop(); x[i] = v.pop()"),
        (ValueError, "the value is not in the list", "x[i] = [1.0].index(x[i])"),
        (ValueError, "the value to be removed is not there", "{1.0}.remove(x[i])"),
        (RuntimeError, "changed its length while a loop went through it", "v = {1.0}\n        for w in v: v.add(w + x[i] + 9)"),
    ],
)
def test_lists_that_fail(error, message, text):
    names = {}
    source = f"def f(x):\n    for i in range(3):\n        {text}\n        x[i] = 2\n"
    file = f"<{message}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
    with pytest.raises(error, match=message):
        pp.jit(names["f"], strict=True)(line())


# ---- bytes: their elements are Python's integers


def checksum(data):
    c = 0xFFFFFFFF
    for b in data:
        c ^= b
        for _ in range(8):
            c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1
    return c ^ 0xFFFFFFFF


def totals(data, x):
    for i in range(len(data)):
        x[0] += data[i] * 1000
        if data[i] == 3:
            x[1] = i
    return x


def test_bytes():
    data = bytes(range(256))
    for given in (data, bytearray(data), memoryview(data)[3:200:2]):
        assert pp.jit(checksum, strict=True)(given) == zlib.crc32(bytes(given))
    assert type(pp.jit(checksum)(data)) is int
    for given, x in ((array.array("h", [1, -2, 3]), np.zeros(2)), (bytes([250, 251, 3]), np.zeros(2, "int64"))):
        assert_allclose(pp.jit(totals, strict=True)(given, x.copy()), totals(given, x))


def test_bytes_that_python_goes_through():
    def written(data):
        for i in range(len(data)):
            data[i] = 7

    def of_two(data):
        s = 0
        for a, b in zip(data, data[1:]):  # noqa: B905, RUF007
            s += a * b
        return s

    given = bytearray(3)
    with pytest.warns(RuntimeWarning, match="`data` is not an array"):
        pp.jit(written)(given)
    assert given == bytes([7, 7, 7])
    with pytest.warns(RuntimeWarning, match="pass numpy.frombuffer"):
        assert pp.jit(of_two)(bytes([1, 2, 3])) == 8


# ---- generators of random numbers


def drawn(x, generator):
    for i in pp.prange(len(x)):
        x[i] = generator.uniform(1.0, 2.0) + generator.integers(3)
        if generator.random() < 0:
            x[i] = generator.normal()
    return x


def drawn_in_turn(generator, n):
    h = np.zeros(6, int)
    for _ in range(n):
        h[generator.integers(0, 6)] += 1
    return h


@pytest.mark.parametrize("make", [np.random.default_rng, pp.random.default_rng], ids=["numpy", "pardo"])
def test_generators_in_loops(make):
    f, g = pp.jit(drawn, strict=True), pp.jit(drawn_in_turn, strict=True)
    first = f(np.zeros(500), make(5))
    assert (f(np.zeros(500), make(5)) == first).all()
    generator = make(5)
    again = [f(np.zeros(500), generator) for _ in range(2)]
    assert (again[0] == first).all()
    assert not (again[1] == first).any()
    assert first.min() >= 1
    assert first.max() < 4
    assert len(np.unique(first)) == 500
    assert (abs(g(make(1), 30_000) - 5000) < 400).all()


def test_generators_made_in_front_of_loops_and_in_them():
    @pp.jit(strict=True)
    def before(x):
        generator = np.random.default_rng(3)
        for i in pp.prange(len(x)):
            x[i] = generator.random()
        return x

    @pp.jit
    def inside(x):
        for i in pp.prange(len(x)):
            x[i] = np.random.default_rng(i).random()

    assert (before(np.zeros(9)) == before(np.zeros(9))).all()
    with pytest.raises(pp.CompileError, match="make it in front of the loop"):
        inside(np.zeros(3))
    state = np.random.RandomState(2)
    values = pp.jit(drawn_from_a_state, strict=True)(np.zeros(4), state)
    assert len(np.unique(values)) == 4


def drawn_from_a_state(x, state):
    for i in range(len(x)):
        x[i] = state.rand() + state.randint(0, 2) * 0
    return x


# ---- named tuples as results, and constant texts

Pair = collections.namedtuple("Pair", "a b")
Nested = collections.namedtuple("Nested", "pair total")


def summed_pair(x):
    q = Pair(0.0, 0)
    for i in range(len(x)):
        q = Pair(q.a + x[i], i)
    return q


def first_pair(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return Nested(Pair(x[i], i), 2.5)
    return None


def replaced_pair(x, q):
    for i in range(len(x)):
        q = q._replace(a=q.a + x[i])
    return q


def test_named_tuples_as_results():
    for function, arguments in ((summed_pair, ()), (first_pair, (2,)), (first_pair, (99,)), (replaced_pair, (Pair(1.0, 2),))):
        given, expected = pp.jit(function, strict=True)(line(), *arguments), function(line(), *arguments)
        assert given == expected
        assert type(given) is type(expected)


def test_messages_of_constant_f_strings():
    @pp.jit(strict=True)
    def f(x):
        for i in range(len(x)):
            assert x[i] < 3, f"too large"  # noqa: F541

    with pytest.raises(AssertionError, match="too large"):
        f(line())


# ---- Python's own functions of tuples, and numbers in texts


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "f",
    [
        lambda v: sum((v, v, 1)),
        lambda v: sum(()) + v,
        lambda v: sum((v, 2), 0.5),
        lambda v: sum([v, v], 10),
        lambda v: sum((v > 1, v > 2, True)),
        lambda v: 1 if any((v > 1, v > 2)) else 0,
        lambda v: 1 if all((v > 1, v > 2)) else 0,
        lambda v: 1 if all(()) and not any(()) else 0,
        lambda v: 1 if any((v, 0)) else 0,
        lambda v: float("inf") if v > 2 else -float("inf"),
        lambda v: min(v, float("infinity")) + float(" 1.5 ") + int("-7") + int("1_0"),
        lambda v: 1 if math.isnan(float("nan")) and float("1e3") == 1000 else 0,
        lambda v: complex("1+2j").imag * v,
        lambda v: math.log(v + 1, 2) + math.log(v + 1),
    ],
)
def test_functions_of_tuples_and_texts(f, device):
    values = np.array([0.0, 1.0, 1.5, 3.0])
    assert_allclose(pp.asnumpy(pp.elementwise(f)(pp.asarray(values, device=device))), [f(v) for v in values], rtol=1e-14)


def test_wrong_functions_of_tuples_and_texts():
    x = pp.ones(2)
    for f, error, text in (
        (lambda v: sum(v), TypeError, "sum: an array is expected, not float64"),
        (lambda v: any((v, v), (v, v)), TypeError, "any: takes 1 argument, but 2 were given"),
        (lambda v: sum(((v, v), (v, v))), TypeError, "tuple"),
        (lambda v: float("one"), ValueError, "could not convert string to float: 'one'"),
        (lambda v: int("1.5"), ValueError, "invalid literal for int"),
    ):
        with pytest.raises(error, match=text):
            pp.elementwise(f)(x)


def smallest(x):
    best, where = float("inf"), -1
    for i in range(len(x)):
        if x[i] < best:
            best, where = x[i], i
    return best, where


def test_infinity_before_a_loop():
    assert pp.jit(smallest, strict=True)(line())[1] == 0
