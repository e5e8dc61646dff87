# tests/python/test_python_integers.py: Python's integers have no limit: compiled loops never wrap them silently. NumPy's wrap.
import linecache

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

LIMIT = 2**63 - 1


def same_or_overflow(function, *arguments):
    """A compiled loop gives what Python gives, or raises OverflowError where that does not fit an int64."""
    loop = pp.jit(function)
    ours = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    plain = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        expected = function(*plain)
        fits = -(2**63) <= expected <= LIMIT
    except OverflowError:
        fits = False
    if fits:
        got = loop(*ours)
        assert got == expected
        assert type(got) is type(expected)
        for a, b in zip(ours, plain, strict=True):
            if isinstance(a, np.ndarray):
                assert_array_equal(a, b)
    else:
        with pytest.raises(OverflowError):
            loop(*ours)
    assert "Python's" not in loop.diagnostics()
    return fits


def test_hashes():
    def f(x, rounds):
        h = 0
        for i in range(rounds):
            h = h * 31 + i
            x[0] = h % 7
        return h

    assert same_or_overflow(f, np.zeros(1), 12)
    assert not same_or_overflow(f, np.zeros(1), 30)
    with pytest.raises(OverflowError, match=r"f: \d+ \* 31 does not fit an int64.*begin with np.int64"):
        pp.jit(f)(np.zeros(1), 30)


EDGES = [0, 1, -1, 2, 3, 7, -7, 31, 2**31 - 1, -(2**31), 2**31, 2**32, 2**62 - 1, 2**62, -(2**62), LIMIT - 1, LIMIT, -LIMIT, -LIMIT - 1]
EDGES += [3037000499, 3037000500, -3037000500, 92737649, 99457304386111]
OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "negative": lambda a, b: -a,
    "abs": lambda a, b: abs(a),
    "&": lambda a, b: (a & b) + 1,
    "max": lambda a, b: max(a, b) + min(a, b),
    "<<": lambda a, b: a << (b % 70),
    "**": lambda a, b: a ** (b % 5),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_edges(name):
    operation = OPERATIONS[name]

    def f(x, a, b):
        r = 0
        for i in range(1):
            x[i] = 1
            r = operation(a, b)
        return r

    loop = pp.jit(f)
    for a in EDGES:
        for b in EDGES:
            if name == "//" and b == 0:
                continue
            expected = operation(a, b)
            if -(2**63) <= expected <= LIMIT:
                assert loop(np.zeros(1), a, b) == expected, (a, b)
            else:
                with pytest.raises(OverflowError):
                    loop(np.zeros(1), a, b)


def test_sums_that_grow_fast():
    def f(x, by):
        s = 0
        for i in range(len(x)):
            s += by
            x[i] = 1.0
        return s

    assert same_or_overflow(f, np.zeros(10), 2**59)
    assert not same_or_overflow(f, np.zeros(17), 2**59)
    assert not same_or_overflow(f, np.zeros(17), -(2**59) - 1)
    assert same_or_overflow(f, np.zeros(16), -(2**59))


def test_what_a_mask_leaves_may_wrap_on_the_way():
    def f(x, seed):
        for i in range(len(x)):
            seed = (seed * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFF
            x[i] = seed >> 5
        return seed

    assert same_or_overflow(f, np.zeros(50), 12345)

    def g(x, seed):
        for i in range(len(x)):
            seed = (-seed * 6364136223846793005 + (seed << 7)) % 2**48
            x[i] = seed
        return seed

    assert same_or_overflow(g, np.zeros(50), 12345)

    def h(x, seed):
        for i in range(len(x)):
            seed = (seed * seed // 3) & 0xFFFF
            x[i] = seed
        return seed

    assert same_or_overflow(h, np.zeros(50), 2**31)
    assert same_or_overflow(h, np.zeros(50), 12345)


def test_integers_beyond_int64_are_pythons():
    def f(x, k):
        for i in range(len(x)):
            k = (k * 3) & 0xFFFFFFFFFFFFFFFF
            x[i] = k % 1000
        return k

    x, expected = np.zeros(99), np.zeros(99)
    assert pp.jit(f)(x, 2**40) == f(expected, 2**40)
    assert_array_equal(x, expected)


def test_while_loops_end_after_an_overflow():
    def f(x, n):
        steps = 0
        while n != 1:
            n = n * 3 + 1 if n % 2 else n * 5
            x[0] = n % 10
            steps += 1
        return steps

    with pytest.raises(OverflowError):
        pp.jit(f)(np.zeros(1), 27)


def test_counters_and_indices_are_not_checked():
    @pp.jit
    def f(x, n):
        count = 0
        for i in range(n):
            for j in range(n):
                if x[i * n + j] > 0:
                    count += 1
                    x[i * n + j] = i * 2 + j
        return count

    assert f(np.ones(16), 4) == 16
    assert "xor" not in f.inspect()
    assert "if" in f.inspect()
    assert f.inspect().count("atomic") + f.inspect().count("compare_exchange") == 0


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint32", "int64", "uint64"])
def test_numpys_integers_wrap(dtype):
    def f(x):
        s = x[0]
        for v in x:
            s = s * v + v
        return s

    x = np.full(30, 100, dtype)
    with np.errstate(over="ignore"):
        expected = f(x)
    got = pp.jit(f)(x)
    assert got == expected
    assert got.dtype == expected.dtype


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_results_are_numpys_scalars_where_numpys_are(dtype):
    def last(x):
        s = 0
        for v in x:
            s = v
        return s

    def added(x):
        s = 0
        for v in x:
            s += v
        return s

    def greatest(x):
        s = 0
        for i in range(len(x)):
            s = max(s, x[i])
        return s

    def counted(x):
        n = 0
        for v in x:
            if v > 3:
                n += 1
        return n

    x = np.array([3, 100, 7], dtype)
    for f in (last, added, greatest, counted):
        expected, got = f(x), pp.jit(f)(x)
        assert got == expected
        assert type(got) is type(expected)


def test_integers_that_do_not_fit_what_they_meet():
    def f(x, k):
        s = 0
        for i in range(len(x)):
            x[i] = x[i] + k
            s = k
        return s

    assert same_or_overflow(f, np.zeros(3, "uint8"), 200)
    assert not same_or_overflow(f, np.zeros(3, "uint8"), 300)
    assert not same_or_overflow(f, np.zeros(3, "uint8"), -1)
    assert same_or_overflow(f, np.zeros(3, "int8"), -1)

    def stored(x, k):
        for i in range(len(x)):
            k = k + i
            x[i] = k
        return k

    assert same_or_overflow(stored, np.zeros(3, "uint8"), 250)
    assert not same_or_overflow(stored, np.zeros(5, "uint8"), 250)
    assert not same_or_overflow(stored, np.zeros(5, "uint64"), -9)
    assert same_or_overflow(stored, np.zeros(5, "int32"), 2**31 - 20)
    assert not same_or_overflow(stored, np.zeros(9, "int32"), 2**31 - 20)

    def not_met(x, k):
        m = k
        for v in x:
            if v > 250:
                m = v
        return m

    assert pp.jit(not_met)(np.zeros(3, "uint8"), 300) == 300
    assert pp.jit(not_met)(np.zeros(3, "uint8"), -1) == -1


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_arguments_of_kernels_that_do_not_fit(device):
    @pp.kernel
    def add(item: pp.Item, x, k):
        i = item.get_id(0)
        x[i] = x[i] + k

    @pp.kernel
    def store(item: pp.Item, x, k):
        x[item.get_id(0)] = k

    @pp.jit
    def in_parallel(x, k):
        for i in pp.prange(len(x)):
            x[i] += k

    for run in (lambda x, k: add[4](x, k).wait(), lambda x, k: store[4](x, k).wait(), in_parallel):
        x = pp.zeros(4, dtype="uint8", device=device)
        run(x, 200)
        assert x[3] == 200
        for k in (300, -1, 2**40, 2**63):
            with pytest.raises(OverflowError, match=rf"`k` is {k}, which does not fit uint8|out of bounds for uint8"):
                run(x, k)
        assert x[3] == 200
        y = pp.zeros(4, dtype="int64", device=device)
        run(y, 300)
        assert y[3] == 300


# ---- conversions of floats

WRONG = [np.nan, np.inf, -np.inf, 1e30, -1e30, 2.0**63, -(2.0**63) * (1 + 2**-52)]
CONVERSIONS = {
    "int": int,
    "round": round,
    "floor": __import__("math").floor,
    "ceil": __import__("math").ceil,
    "trunc": __import__("math").trunc,
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_floats_that_are_no_integers(name):
    convert = CONVERSIONS[name]

    def f(x, out):
        for i in range(len(x)):
            out[i] = convert(x[i])

    good = np.array([0.0, -0.0, 2.5, 3.5, -2.5, 1e15, 2.0**62, -(2.0**63)])
    out, expected = np.zeros(len(good), "int64"), np.zeros(len(good), "int64")
    loop = pp.jit(f)
    loop(good, out)
    f(good, expected)
    assert_array_equal(out, expected)
    for v in WRONG:
        kind = ValueError if np.isnan(v) else OverflowError
        if abs(v) in (np.inf,) or np.isnan(v):
            with pytest.raises(kind):
                f(np.array([v]), out)
        with pytest.raises(kind, match="cannot convert"):
            loop(np.array([1.0, v]), out)
        if v != WRONG[-1]:  # a float32 has no such value
            with pytest.raises(kind, match="cannot convert"):
                loop(np.array([1.0, v], "float32"), out)


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_floats_that_are_no_integers_in_kernels(device):
    @pp.kernel
    def f(item: pp.Item, x, out):
        i = item.get_id(0)
        out[i] = int(x[i])

    x = pp.asarray(np.array([1.5, -2.5, 7.0], "float32"), device=device)
    out = pp.zeros(3, dtype="int64", device=device)
    f[3](x, out).wait()
    assert_array_equal(pp.asnumpy(out), [1, -2, 7])
    for v, kind in ((np.nan, ValueError), (np.inf, OverflowError), (1e30, OverflowError)):
        with pytest.raises(kind, match=r"f: cannot convert .* \(item 2\)"):
            f[3](pp.asarray(np.array([1.5, -2.5, v], "float32"), device=device), out).wait()


@pytest.mark.parametrize("name", CONVERSIONS)
def test_uint64_beyond_int64_is_no_integer_of_a_loop(name):
    convert = CONVERSIONS[name]

    def serial(x):
        n = 0
        for i in range(len(x)):
            n = convert(x[i])
        return n

    @pp.jit
    def parallel(x, out):
        for i in pp.prange(len(x)):
            out[i] = convert(x[i])

    @pp.kernel
    def kernel(item: pp.Item, x, out):
        i = item.get_id(0)
        out[i] = convert(x[i])

    fits, large = np.array([2**63 - 1], "uint64"), np.array([2**63], "uint64")
    out = np.zeros(1, "int64")
    assert pp.jit(serial)(fits) == 2**63 - 1
    parallel(fits, out)
    assert out[0] == 2**63 - 1
    with pytest.raises(OverflowError, match="the uint64 9223372036854775808 does not fit an int64"):
        pp.jit(serial)(large)
    with pytest.raises(OverflowError, match="the uint64 9223372036854775808 does not fit an int64"):
        parallel(large, out)
    with pytest.raises(OverflowError, match="the uint64 9223372036854775808 does not fit an int64"):
        kernel[1](pp.asarray(large), pp.asarray(out)).wait()


def test_ranges_beyond_int64():
    def up_to(x, n):
        c = 0
        for i in range(n):
            c += 1
            x[0] = i
            if c > 3:
                break
        return c

    def between(x, a, b, step):
        c = 0
        for _ in range(a, b, step):
            c += 1
            x[0] = c
        return c

    def of_an_element(x, bounds):
        c = 0
        for i in range(bounds[0]):
            c += 1
            x[0] = i
            if c > 3:
                break
        return c

    for n in (2**63, 2**64 - 1):
        before = pp.counters()["fallbacks"]
        assert pp.jit(up_to)(np.zeros(1), n) == 4
        assert pp.counters()["fallbacks"] == before + 1
    assert pp.jit(between)(np.zeros(1), 2**63 - 2, 2**63 + 5, 3) == 3
    for n in (np.uint64(2**63), np.uint64(2**64 - 1)):
        with pytest.raises(OverflowError, match=f"range: the uint64 {n} does not fit an int64"):
            pp.jit(up_to)(np.zeros(1), n)
        with pytest.raises(OverflowError, match=f"range: the uint64 {n} does not fit an int64"):
            pp.jit(of_an_element)(np.zeros(1), np.array([n]))
    assert pp.jit(up_to)(np.zeros(1), np.uint64(3)) == 3
    assert pp.jit(of_an_element)(np.zeros(1), np.array([3], "uint64")) == 3


MADE_OF_ARGUMENTS = {
    "max": lambda v, k: max(v, k),
    "constant": lambda v, k: max(v, 2**40),
    "choice": lambda v, k: k if v < k else v,
    "chosen constant": lambda v, k: 2**40 if v < k else v,
    "product": lambda v, k: k * 2,
    "sum that meets it": lambda v, k: v + (k + 1),
    "negative": lambda v, k: -k,
    "int": lambda v, k: int(k),
    "power": lambda v, k: k**1,
    "clip": lambda v, k: pp.clip(v, k, 2**50),
}


@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "int32"])
@pytest.mark.parametrize("name", MADE_OF_ARGUMENTS)
def test_what_kernels_make_of_arguments_fits_or_is_refused(name, dtype, device):
    operation = MADE_OF_ARGUMENTS[name]

    @pp.kernel
    def f(item: pp.Item, x, k):
        i = item.get_id(0)
        x[i] = operation(x[i], k)

    x = pp.ones(4, dtype=dtype, device=device)
    with pytest.raises(OverflowError, match=f"out of bounds for {dtype}"):
        f[4](x, 2**40).wait()
    if "constant" not in name and name != "negative":
        x = pp.ones(4, dtype=dtype, device=device)
        f[4](x, 20).wait()
        assert pp.asnumpy(x)[3] == operation(1, 20) if name != "clip" else 20


def test_values_of_arguments_are_kept_where_they_are_not_stored():
    @pp.kernel
    def f(item: pp.Item, x, k, out):
        i = item.get_id(0)
        out[i] = min(x[i], k) + max(x[i], k)
        x[i] = min(x[i], k)

    x, out = pp.ones(4, dtype="uint8"), pp.zeros(4, dtype="int64")
    f[4](x, 2**40, out).wait()
    assert_array_equal(pp.asnumpy(out), np.full(4, 2**40 + 1))
    assert_array_equal(pp.asnumpy(x), [1, 1, 1, 1])


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
def test_sums_of_arguments_beyond_int64(dtype):
    @pp.kernel
    def f(item: pp.Item, x, k):
        x[item.get_id(0)] = k + 1

    with pytest.raises(OverflowError, match=f"Python integer 9223372036854775809 out of bounds for {dtype}"):
        f[1](pp.zeros(1, dtype=dtype), 2**63).wait()
    x = pp.zeros(1, dtype="uint64")
    f[1](x, 2**63).wait()
    assert int(x[0]) == 2**63 + 1


def test_arguments_beyond_int64_keep_their_value():
    @pp.kernel
    def double(item: pp.Item, x, k):
        x[item.get_id(0)] = k * 2

    @pp.kernel
    def shifted(item: pp.Item, x, k):
        x[item.get_id(0)] = k << 1

    @pp.kernel
    def added(item: pp.Item, x, k):
        x[item.get_id(0)] = k + k

    @pp.kernel
    def masked(item: pp.Item, x, k):
        x[item.get_id(0)] = (k * 3) & 0xFFFF

    @pp.kernel
    def typed(item: pp.Item, x, k):
        x[item.get_id(0)] = np.uint64(k) * 3

    for dtype in ("float32", "uint64", "uint8"):
        x = pp.zeros(1, dtype=dtype)
        for f, text in ((double, r"9223372036854775808 \* 2"), (shifted, "9223372036854775808 << 1"), (added, "8 \\+ 9223372036854775808")):
            with pytest.raises(OverflowError, match=text + " does not fit a uint64"):
                f[1](x, 2**63).wait()
    x = pp.zeros(1, dtype="uint64")
    masked[1](x, 2**63 + 7).wait()
    assert int(x[0]) == 21
    typed[1](x, 2**63 + 7).wait()
    assert int(x[0]) == (2**63 + 7) * 3 % 2**64


def test_what_kernels_count_wraps():
    @pp.kernel
    def f(item: pp.Item, x):
        i = item.get_id(0)
        x[i] = i * 100

    x = pp.zeros(4, dtype="uint8")
    f[4](x).wait()
    assert_array_equal(pp.asnumpy(x), [0, 100, 200, 300 % 256])


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_messages_name_what_was_given(device):
    @pp.kernel
    def add(item: pp.Item, x, k):
        i = item.get_id(0)
        x[i] = x[i] + k

    @pp.kernel
    def look(item: pp.Item, x, at):
        x[0] = x[at[0]]

    x = pp.zeros(4, dtype="uint8", device=device)
    with pytest.raises(OverflowError, match="add: `k` is 9223372036854775808, which does not fit uint8"):
        add[4](x, 2**63)
    with pytest.raises(OverflowError, match="add: `k` is 18446744073709551616, which does not fit int64 nor uint64"):
        add[4](x, 2**64)
    with pytest.raises(OverflowError, match="add: `k` is -9223372036854775809, which does not fit int64 nor uint64"):
        add[4](x, k=-(2**63) - 1)
    with pytest.raises(OverflowError, match="`k` is 300, which does not fit uint8, as it has to here; take a wider dtype"):
        add[4](x, 300)
    with pytest.raises(IndexError, match="index 18446744073709551615 is out of bounds for an axis of size 4"):
        look[1](x, pp.asarray(np.array([2**64 - 1], "uint64"), device=device)).wait()


# ---- choices


@pytest.mark.parametrize("pair", [("int64", "float64"), ("uint8", "int16"), ("float32", "int32"), ("bool", "int8"), ("uint64", "int64")])
def test_choices_between_dtypes_promote(pair):
    @pp.jit
    def f(a, b, out):
        for i in pp.prange(len(a)):
            out[i] = a[i] if a[i] > b[i] else b[i]

    @pp.jit
    def with_a_number(a, out):
        for i in range(len(a)):
            out[i] = a[i] if a[i] > 2 else 0.5

    a, b = np.array([1, 5, 0]).astype(pair[0]), np.array([2, 3, 0]).astype(pair[1])
    out = np.zeros(3, np.promote_types(*pair))
    f(a, b, out)
    assert_array_equal(out, np.where(a > b, a, b))
    out = np.zeros(3)
    with_a_number(a, out)
    assert_array_equal(out, np.where(a > 2, a, 0.5))


@pytest.mark.parametrize(
    "text", ["np.minimum(100, 100)", "np.maximum(i, 100)", "np.multiply(10, 10)", "np.clip(i, 100, 200)", "np.power(10, 2)", "abs(-20)"]
)
def test_what_numpys_functions_make_of_pythons_integers_is_numpys(text):
    source = f"def f(x, o):\n    m = 0\n    for i in range(len(x)):\n        m = {text}\n        o[i] = x[i] * m\n    return m\n"
    name = f"<numpys {text}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    made = {"np": np}
    exec(compile(source, name, "exec"), made)
    assert same_or_overflow(made["f"], np.array([3, 1, 7], "uint8"), np.zeros(3))
