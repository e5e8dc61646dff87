# tests/python/test_records.py: NumPy's records in kernels and loops: elements are views, as in NumPy.
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

DTYPE = np.dtype([("x", "f8"), ("n", "i8"), ("in", [("a", "f8"), ("b", "f8")]), ("v", "f8", (2,))], align=True)


def records(n=8):
    made = np.zeros(n, DTYPE)
    made["x"], made["n"], made["in"]["a"], made["v"] = np.arange(n), np.arange(n) * 10, 3, np.arange(2 * n).reshape(n, 2)
    return made


def alone(r):
    total = 0.0
    for i in range(len(r)):
        q = r[i]
        r["x"][i] = 100.0 + i
        total += q["x"]  # what was stored since
        q["x"] = 7.0
        q["n"] += 2
        total += r["x"][i]
        q["in"]["a"] = q["x"]
        inner = q["in"]
        inner["b"] = 9.0
        q["v"][1] = 5.0
        i += 1  # the index was evaluated once
        q["n"] += i
    return total


def swapped(r):
    for i in range(len(r) - 1):
        r[i], r[i + 1] = r[i + 1], r[i]  # of views: both are what the last is


def unpacked(r):
    total = 0.0
    for i in range(len(r)):
        x, n, inner, v = r[i]
        r[i]["x"] = 1000.0
        total += x + n + inner["a"] + v[1] + len(r[i]) + r[i][1]
    return total


def looped_over(r):
    total = 0.0
    for q in r:
        q["x"] *= 2
        total += q["x"]
    for k, q in enumerate(r):
        q["n"] = k
    for q, p in zip(r, r[::2]):  # noqa: B905
        p["n"] += 1
        total += q["n"]
    return total


def one_of_several(r):
    total = 0.0
    for _ in range(1):
        q = r[0]
        for i in range(len(r)):
            if r["x"][i] > q["x"]:
                q = r[i]
        q["n"] = -1
        p = r[1] if r["x"][0] > 2 else r[2]
        p["n"] = -5
        w = q
        w["in"]["a"] = 77
        total += w["x"]
        j = 3
        while j > 0:
            if r["n"][j] > 5:
                w = r[j]
            j -= 1
        w["n"] = 55
    return total


def changed(q, by):
    q["n"] += by
    return q


def by_functions(r):
    for i in range(len(r)):
        changed(r[i], i)["x"] = -1.0


def side_by_side(r):
    for i in pp.prange(len(r)):
        q = r[i]
        q["x"] += 1.0
        p = q
        p["n"] = i


def in_columns(r):
    for _ in range(1):
        r["x"] = 3.0
        r[1] = r[2]
        r[3]["in"] = r[4]["in"]
        r[5]["in"] = (1.0, 2.0)


@pytest.mark.parametrize("bounds_check", [False, True])
@pytest.mark.parametrize(
    "function", [alone, swapped, unpacked, looped_over, one_of_several, by_functions, side_by_side, in_columns], ids=lambda f: f.__name__
)
def test_elements_are_views(function, bounds_check):
    loop = pp.jit(function, bounds_check=bounds_check)
    mine, expected = records(), records()
    assert loop(mine) == loop.interpret(expected)
    assert mine.tobytes() == expected.tobytes()
    assert "left to Python" not in loop.diagnostics()
    assert "Python's" not in loop.diagnostics()


def test_fields_by_attributes():
    def shifted(r):
        total = 0.0
        for i in range(len(r)):
            q = r[i]
            q.x = 2.5
            q.n += 3
            r[i].x += 1
            total += q.x + r.x[i]
        return total

    loop = pp.jit(shifted)
    mine, expected = records().view(np.recarray), records().view(np.recarray)
    assert loop(mine) == loop.interpret(expected)
    assert mine.tobytes() == expected.tobytes()


@pp.kernel
def in_a_kernel(item: pp.Item, r, out):
    i = item.get_id(0)
    q = r[i]
    r["x"][i] = 50.0 + i
    out[i] = q.x + r.shape[0]
    q.x = 3.0
    q["in"].b = 4.0
    if i % 2 == 0:
        q = r[i]
    else:
        q = r[i - 8]
    q["v"][0] += 4
    a, b = r[i]["in"]
    out[i] += a + b


@pytest.mark.parametrize("device", pp.get_devices(), ids=str)
def test_in_kernels(device):
    mine, out = records(), np.zeros(8)
    with pp.device_context(device):
        in_a_kernel[pp.Range(8)](mine, out).wait()
    plain, expected = records(), np.zeros(8)
    in_a_kernel[pp.Range(8)].interpret(plain, expected)
    assert mine.tobytes() == plain.tobytes()
    assert_array_equal(out, expected)


def test_races_through_views():
    @pp.jit(race_check=True)
    def shared(r, at):
        for i in pp.prange(len(at)):
            q = r[at[i]]
            q["x"] = i

    shared(records(), np.arange(8))
    with pytest.raises(pp.RaceError, match=r"`r.x\[3\]` is written by iteration 0 and by iteration 1"):
        shared(records(), np.full(2, 3))


def every_other(r):
    for i in pp.prange(len(r)):
        q = r[i // 2]
        q["x"] += 1


def always_the_first(r):
    for i in pp.prange(len(r)):
        q = r[0]
        q.x = i


def of_a_struct(r):
    for i in pp.prange(len(r)):
        p = pair(r["x"][i], 1)
        p.a = 2


def whole_in_a_sum(r):
    for i in pp.prange(len(r)):
        r[i]["x"] = r[i] + 1


def too_many_indices(r):
    for i in pp.prange(len(r)):
        r[i, 0]["x"] = 1


def no_such_field(r):
    for i in pp.prange(len(r)):
        r[i]["y"] = 1


def does_not_fit(r):
    for i in pp.prange(len(r)):
        r[i] = r[i]["in"]


def two_arrays(r):
    for i in pp.prange(len(r)):
        q = r[i] if i > 2 else r[i]["in"]
        q["a"] = 1


@pp.struct
class pair:  # noqa: N801
    a: np.float64
    b: np.float64


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (every_other, "two iterations of the parallel loop may change the same element"),
        (always_the_first, "every iteration of the parallel loop writes this element"),
        (of_a_struct, r"the fields of a struct do not change; make another: p = p._replace\(a=…\)"),
        (whole_in_a_sum, "`\\+` takes two numbers; here are a record of x, n, in, v and a Python int"),
        (too_many_indices, "an array of records of x, n, in, v has 1 dimension, but is indexed with 2 indices"),
        (no_such_field, "a record of x, n, in, v has no field `y`"),
        (does_not_fit, "here is a record of x, n, in, v, which cannot take a struct of a, b"),
        (two_arrays, "is a record of .* on one path .* and a record of .* on another"),
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_what_is_refused(function, text):
    with pytest.raises((TypeError, ValueError, IndexError), match=text):
        pp.jit(function)(records())


PLAIN = np.array([(1, 2.0), (0, 3.0)], dtype=[("a", "i4"), ("b", "f8")])


@pytest.mark.parametrize("host", [PLAIN, PLAIN.view(np.recarray)], ids=["structured", "record"])
@pytest.mark.parametrize("name", ["concatenate", "sort", "stack", "where", "take", "reshape", "roll", "flip", "copy"])
def test_structured_arrays_of_numpy_are_operands(name, host):
    others = {"take": ([0],), "reshape": ((2, 1),), "roll": (1,)}.get(name, ())
    given = ([host, host],) if name in ("concatenate", "stack") else (np.array([True, False]), host, host) if name == "where" else (host,)
    result, expected = getattr(pp, name)(*given, *others), getattr(np, name)(*given, *others)
    np.testing.assert_array_equal(pp.asnumpy(result), np.asarray(expected))
    if name != "copy":
        with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match=f"{name}: would copy"):
            getattr(pp, name)(*given, *others)
