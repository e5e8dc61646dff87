# tests/python/test_structs.py: structs, tuples and functions as arguments of kernels and loops.
import operator
from typing import Any

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytestmark = pytest.mark.once


@pp.struct
class Point:
    x: np.float32
    y: np.float32 = 0.5


@pp.struct
class Body:
    at: Point
    mass: np.float32
    label: np.int32 = 7


def test_values():
    p = Point(1)
    assert (p.x, p.y, type(p.x)) == (1, 0.5, np.float32)
    assert p == Point(x=1, y=0.5) != Point(1, 1)
    assert p._replace(y=3) == Point(1, 3)
    assert repr(p) == "Point(x=np.float32(1.0), y=np.float32(0.5))"
    assert len({p, Point(1)}) == 1


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Point(), TypeError, "Point: no value for `x`"),
        (lambda: Point(1, 2, 3), TypeError, "takes 2 values, but 3 were given"),
        (lambda: Point(1, z=2), TypeError, "there is no field `z`; it has x, y"),
        (lambda: Point(1, x=2), TypeError, "`x` is given twice"),
        (lambda: Point("a"), TypeError, "`x` is float32, which cannot take 'a'"),
        (lambda: Point(np.zeros(3)), TypeError, "`x` is float32, and the array is float64"),
        (lambda: Body(1, 2), TypeError, "`at` is a Point, not int"),
        (lambda: setattr(Point(1), "x", 2), AttributeError, "fields do not change"),
        (lambda: pp.struct(type("Empty", (), {})), TypeError, "has no annotated fields"),
    ],
)
def test_wrong_values(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pp.struct
class Narrow:
    label: np.uint8
    set: np.bool_ = False


@pp.kernel
def labelled(item: pp.Item, x, k):
    x[item.get_id(0)] = Narrow(k).label


@pp.kernel
def relabelled(item: pp.Item, x, k):
    n = Narrow(1, 1)
    x[item.get_id(0)] = n._replace(label=k).label


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1.5, TypeError, "`label` is uint8, which cannot take .* without loss; convert it: np.uint8"),
        (float("nan"), TypeError, "`label` is uint8, which cannot take .* without loss"),
        (np.int64(300), TypeError, "`label` is uint8, which cannot take .* without loss"),
        (1j, TypeError, "`label` is uint8, which cannot take"),
        (300, OverflowError, "`k` is 300, which does not fit uint8|300 out of bounds for uint8"),
        (-1, OverflowError, "`k` is -1, which does not fit uint8|-1 out of bounds for uint8"),
    ],
)
def test_fields_take_what_arrays_take(value, error, text):
    x = pp.zeros(1, dtype="int64")
    for k in (labelled, relabelled):
        k[1](x, 200).wait()
        assert pp.asnumpy(x)[0] == 200
        with pytest.raises(error, match=text):
            k[1](x, value).wait()
    with pytest.raises(error, match=text):
        Narrow(value)


@pp.kernel
def mirror(item: pp.Item, points, axis):
    i = item.get_id(0)
    p = points[i]
    if i % 2 == 0:
        points[i] = Point(axis.x - p.x, p.y)
    else:
        points[i] = p._replace(y=axis.y - p.y)


def test_arrays_of_structs():
    n = 10
    x, y = np.arange(n, dtype="float32"), np.arange(n, dtype="float32") * 10
    points = Point(pp.asarray(x), pp.asarray(y))
    mirror[pp.Range(n)](points, Point(100, 1000)).wait()
    even = np.arange(n) % 2 == 0
    assert_array_equal(pp.asnumpy(points.x), np.where(even, 100 - x, x))
    assert_array_equal(pp.asnumpy(points.y), np.where(even, y, 1000 - y))
    assert (len(points), points.shape, points.ndim, points.size) == (n, (n,), 1, n)


@pp.func
def moved(b, by):
    return Body(Point(b.at.x + by, b.at.y), b.mass * 2)


@pp.kernel
def move(item: pp.Item, bodies, out):
    i = item.get_id(0)
    b = moved(bodies[i], 1)
    bodies[i] = b
    out[i] = len(bodies) + bodies.shape[0] + b.label


def test_structs_of_structs():
    bodies = Body(
        Point(pp.arange(4, dtype="float32"), pp.zeros(4, dtype="float32")), pp.ones(4, dtype="float32"), pp.zeros(4, dtype="int32")
    )
    out = pp.zeros(4)
    move[pp.Range(4)](bodies, out).wait()
    assert_array_equal(pp.asnumpy(bodies.at.x), [1, 2, 3, 4])
    assert_array_equal(pp.asnumpy(bodies.mass), [2, 2, 2, 2])
    assert_array_equal(pp.asnumpy(bodies.label), [7, 7, 7, 7])
    assert_array_equal(pp.asnumpy(out), [15, 15, 15, 15])


def test_records_to_and_fro():
    records = np.zeros(5, [("x", "f4"), ("y", "f4")])
    records["x"] = np.arange(5)
    points = Point.from_numpy(records)
    mirror[pp.Range(5)](points, Point(10, 10)).wait()
    back = points.to_numpy()
    assert back.dtype.names == ("x", "y")
    assert_array_equal(back["x"], [10, 1, 8, 3, 6])
    assert_array_equal(back["y"], [0, 10, 0, 10, 0])
    zeros = Body.zeros((2, 3))
    assert zeros.shape == (2, 3)
    assert zeros.at.y.dtype == np.float32


def test_local_and_private_arrays_of_structs():
    @pp.kernel
    def turned(item: pp.NdItem, points):
        shared = pp.local_array(8, Point)
        own = pp.private_array(2, points[0])
        i, g = item.get_local_id(0), item.get_global_id(0)
        own[0] = points[g]
        own[1] = Point(own[0].y, own[0].x)
        shared[i] = own[1]
        pp.group_barrier(item.get_group())
        points[g] = shared[7 - i]

    x = np.arange(16, dtype="float32")
    points = Point(pp.asarray(x), pp.asarray(-x))
    turned[pp.NdRange(16, 8)](points).wait()
    expected = x.reshape(2, 8)[:, ::-1].ravel()
    assert_array_equal(pp.asnumpy(points.x), -expected)
    assert_array_equal(pp.asnumpy(points.y), expected)


def test_numpy_records_in_loops():
    @pp.jit
    def step(r, dt):
        for i in pp.prange(len(r)):
            r["x"][i] += r[i]["v"] * dt

    r = np.zeros(100, np.dtype([("x", "f8"), ("v", "f8"), ("n", "i4")], align=True))
    r["v"] = np.arange(100)
    step(r, 0.5)
    assert_array_equal(r["x"], np.arange(100) * 0.5)


def test_records_without_alignment():
    @pp.jit
    def step(r):
        for i in pp.prange(len(r)):
            r["x"][i] += 1

    records = np.zeros(10, [("n", "i1"), ("x", "f8")])
    step(records)
    assert records["x"].tolist() == [1] * 10


def test_numpy_records_in_a_context():
    @pp.kernel
    def grow(item: pp.Item, r):
        i = item.get_id(0)
        r["b"][i] = r["a"][i] * 2

    r = np.zeros(9, [("a", "i4"), ("b", "i4")])
    r["a"] = np.arange(9)
    with pp.device_context(pp.Device()):
        grow[pp.Range(9)](r).wait()
    assert_array_equal(r["b"], np.arange(9) * 2)


# --- tuples


def test_tuples_of_arrays_and_numbers():
    @pp.kernel
    def mix(item: pp.Item, arrays, weights, out):
        i = item.get_id(0)
        total = 0.0
        for a, w in zip(arrays, weights, strict=False):
            total += a[i] * w
        out[i] = total + weights[-1] * len(arrays)

    a, b = np.arange(5.0), np.arange(5) * 2
    out = pp.zeros(5)
    mix[pp.Range(5)]((pp.asarray(a), pp.asarray(b)), (3, 0.5), out).wait()
    assert_array_equal(pp.asnumpy(out), a * 3 + b * 0.5 + 1)
    mix[pp.Range(5)]((out,), (2, 1.0), out).wait()
    assert_array_equal(pp.asnumpy(out), (a * 3 + b * 0.5 + 1) * 2 + 1)


def test_comparison_of_tuples():
    @pp.kernel
    def compare(item: pp.Item, a, b, out):
        i = item.get_id(0)
        x, y = (a[i], b[i]), (b[i], a[i])
        out[i, 0] = x < y
        out[i, 1] = x <= y
        out[i, 2] = x == y
        out[i, 3] = x != y
        out[i, 4] = x > (a[i], b[i], 0)
        out[i, 5] = min(x, y)[1]
        out[i, 6] = max(x, y)[1]

    a, b = np.array([1, 2, 3, 2]), np.array([2, 2, 1, 2])
    out = pp.zeros((4, 7), dtype="int64")
    compare[pp.Range(4)](pp.asarray(a), pp.asarray(b), out).wait()
    for i, row in enumerate(pp.asnumpy(out)):
        x, y = (a[i], b[i]), (b[i], a[i])
        assert list(row) == [x < y, x <= y, x == y, x != y, x > (a[i], b[i], 0), min(x, y)[1], max(x, y)[1]]


def test_errors_name_the_part():
    @pp.kernel
    def fill(item: pp.Item, arrays, value):
        arrays[1][item.get_id(0)] = value

    x = pp.zeros(3)
    with pytest.raises(TypeError, match=r"fill: `arrays\[1\]` is a NumPy array"):
        fill[pp.Range(3)]((x, np.zeros(3)), 1)
    fixed = pp.broadcast_to(x[:1], (3,))
    with pytest.raises(ValueError, match=r"`arrays\[1\]`"):
        fill[pp.Range(3)]((x, fixed), 1)
    with pytest.raises(TypeError, match="an array, a number, a tuple or a function is expected, not dict"):
        fill[pp.Range(3)](x, {})


# --- functions


@pp.kernel
def apply(item: pp.Item, f, x, out):
    i = item.get_id(0)
    out[i] = f(x[i])


def test_functions_as_arguments():
    x = np.linspace(0, 1, 7)
    for f, g in [
        (np.sin, np.sin),
        (lambda v: v * v + 1, lambda v: v * v + 1),
        (abs, abs),
        (np.float32, np.float32),
        (pp.exp, np.exp),
    ]:
        out = pp.zeros(7)
        apply[pp.Range(7)](f, pp.asarray(x), out).wait()
        assert_allclose(pp.asnumpy(out), g(x), rtol=1e-14)


def test_functions_made_again_are_compiled_once():
    def scaled(by):
        return lambda v: v * by

    x, out = pp.arange(3.0), pp.zeros(3)
    for _ in range(5):
        apply[pp.Range(3)](scaled(2), x, out).wait()
    assert apply._made[1][True].specialisations <= 6
    before = apply._made[1][True].specialisations
    apply[pp.Range(3)](scaled(2), x, out).wait()
    assert apply._made[1][True].specialisations == before
    apply[pp.Range(3)](scaled(3), x, out).wait()
    assert_array_equal(pp.asnumpy(out), [0, 3, 6])


def test_functions_of_functions():
    def twice(f, x):
        return f(f(x))

    def sum_of(*terms):
        total = 0
        for t in terms:
            total = total + t
        return total

    @pp.kernel
    def compute(item: pp.Item, f, out):
        i = item.get_id(0)
        parts = (i, 2 * i)
        g = f
        more = (*parts, 10)
        out[i] = twice(g, i) + sum_of(1, *more) + twice(operator.neg, i)

    out = pp.zeros(4, dtype="int64")
    compute[pp.Range(4)](lambda v: v + 3, out).wait()
    i = np.arange(4)
    assert_array_equal(pp.asnumpy(out), i + 6 + 1 + 3 * i + 10 + i)


def test_a_function_that_differs_by_branch_is_refused():
    @pp.kernel
    def compute(item: pp.Item, x):
        f = np.sin
        if x[item.get_id(0)] > 0:
            f = np.cos
        x[item.get_id(0)] = f(1.0)

    with pytest.raises(TypeError, match="at each line it is known which function"):
        compute[pp.Range(1)](pp.zeros(1))


def test_interpreted_like_compiled():
    x = pp.arange(6, dtype="float32")
    points = Point(pp.arange(6, dtype="float32"), pp.ones(6, dtype="float32"))
    mirror[pp.Range(6)].interpret(points, Point(10, 20))
    assert_array_equal(pp.asnumpy(points.x), [10, 1, 8, 3, 6, 5])
    out = pp.zeros(6)
    apply[pp.Range(6)].interpret(lambda v: v + 1, x, out)
    assert_array_equal(pp.asnumpy(out), np.arange(6) + 1)


# --- reductions of tuples and structs


@pp.jit
def first_least(x):
    best = (np.inf, -1)
    for i in pp.prange(len(x)):
        best = min(best, (x[i], i))
    return best


def test_arg_min_by_tuple():
    rng = np.random.default_rng(0)
    for n in (0, 1, 10, 100_003):
        x = rng.integers(0, 1000, n).astype(float)
        value, index = first_least(x)
        assert (value, index) == ((x.min(), x.argmin()) if n else (np.inf, -1))
    value, index = first_least(pp.asarray(np.array([3.0, 1.0, 1.0])))
    assert (value, index) == (1.0, 1)


def test_arg_max_and_a_sum_in_one_loop():
    @pp.jit
    def both(x):
        best, total = (-1, 0, 0), 0
        for i in pp.prange(len(x)):
            best = max(best, (x[i], -i, i))
            total += x[i]
        return best[2], total

    x = np.random.default_rng(1).integers(0, 50, 10_000)
    index, total = both(x)
    assert (index, total) == (x.argmax(), x.sum())


def test_tuples_from_serial_loops():
    @pp.jit
    def spread(x):
        seen = (0.0, 0)
        for i in range(len(x)):
            if x[i] > seen[0]:
                seen = (x[i], i)
        return seen

    assert spread(np.array([1.0, 5.0, 2.0])) == (5.0, 1)


def test_sums_of_tuples_are_refused():
    @pp.jit
    def total(x):
        s = (0.0, 0.0)
        for i in pp.prange(len(x)):
            s += (x[i], x[i])
        return s

    with pytest.raises(TypeError, match="the least or greatest"):
        total(np.ones(3))


def test_any_annotation_is_not_converted():
    @pp.struct
    class Holder:
        data: Any
        scale: float = 2

    @pp.kernel
    def use(item: pp.Item, h):
        h.data[item.get_id(0)] *= h.scale

    x = pp.ones(3)
    use[pp.Range(3)](Holder(x)).wait()
    assert_array_equal(pp.asnumpy(x), [2, 2, 2])


def test_fields_of_records_are_assigned_either_way():
    @pp.jit
    def filled(r, x):
        for i in pp.prange(len(r)):
            r[i]["a"] = 7
            r[i]["b"] += r[i]["a"] + i
            r["b"][i] *= 2
            r[i]["in"]["c"] = x[i][0]
            x[i][0] += 1

    dtype = np.dtype([("a", "f8"), ("b", "f8"), ("in", [("c", "f8")])], align=True)
    r, expected = np.ones(50, dtype), np.ones(50, dtype)
    filled(r, np.full((50, 2), 3.0))
    filled.interpret(expected, np.full((50, 2), 3.0))
    assert_array_equal(r, expected)

    @pp.jit
    def shared(r):
        for i in pp.prange(len(r)):
            r[0]["a"] = i

    with pytest.raises(TypeError, match="every iteration of the parallel loop writes this element"):
        shared(r)

    @pp.jit
    def counted(r):
        for i in pp.prange(len(r)):
            r[i // 2]["a"] += i

    with pytest.raises(TypeError, match="two iterations of the parallel loop may change the same element"):
        counted(r)


def test_structs_are_unpacked():
    @pp.kernel
    def unpacked(item: pp.Item, p, points, out):
        i = item.get_id(0)
        x, y = p
        at, mass, label = Body(Point(2, 3), 4)
        u, v = points[i]
        out[i] = x + 10 * y + 100 * at.y + 1000 * mass + 10000 * label + u - v

    points = Point(pp.ones(3, dtype="float32"), pp.arange(3, dtype="float32"))
    out, plain = pp.zeros(3), np.zeros(3)
    unpacked[pp.Range(3)](Point(2, 3), points, out).wait()
    unpacked[pp.Range(3)].interpret(Point(2, 3), points, plain)
    assert_array_equal(pp.asnumpy(out), plain)
    assert tuple(Point(2, 3)) == (2, 3)
    assert [float(p.y) for p in points] == [0, 1, 2]


def test_structs_of_arrays_are_unpacked_and_looped_over_by_elements():
    @pp.kernel
    def elements(item: pp.Item, points, out):
        i = item.get_id(0)
        own = pp.private_array(2, points[0])
        own[0], own[1] = points[i], Point(100, 1000)
        a, b = own
        out[i] = a.x + b.y
        for p in points:
            out[i] += p.x * p.y
        for k, p in enumerate(own):
            out[i] += k * p.x
        for v in points[i]:
            out[i] += v

    points, out, plain = Point(pp.arange(3, dtype="float32"), pp.ones(3, dtype="float32")), pp.zeros(3), np.zeros(3)
    elements[pp.Range(3)](points, out).wait()
    elements[pp.Range(3)].interpret(points, plain)
    assert_array_equal(pp.asnumpy(out), plain)

    @pp.kernel
    def unpacked(item: pp.Item, points, out):
        a, _b = points
        out[0] = a.x

    with pytest.raises(TypeError, match="a struct of x, y is unpacked into its elements, and how many these are is not known"):
        unpacked[pp.Range(1)](points, out)

    @pp.kernel
    def given(item: pp.Item, points, out):
        out[0] = max(*points)

    with pytest.raises(TypeError, match="`\\*` of a struct of x, y"):
        given[pp.Range(1)](points, out)


@pytest.mark.parametrize("device", pp.get_devices(), ids=str)
def test_reductions_of_tuples_beside_sums_and_loops(device):
    @pp.jit
    def nearest(x, to):
        best, far, total = (np.inf, -1), (-1.0, -1), 0.0
        for i in pp.prange(len(x)):
            d = 0.0
            for k in range(x.shape[1]):
                d += (x[i, k] - to[k]) ** 2
            best = min(best, (d, i))
            if d > 0.1:
                far = max(far, (d, i))
            total += d
        return best, far, total

    rng = np.random.default_rng(3)
    for n, m in ((0, 3), (1, 3), (5000, 3), (70_001, 3), (3000, 40)):
        x, to = rng.random((n, m)), rng.random(m)
        best, far, total = nearest(pp.asarray(x, device=device), pp.asarray(to, device=device))
        d = ((x - to) ** 2).sum(1)
        assert_allclose(total, d.sum())
        if n > 1:
            assert (best[1], far[1]) == (d.argmin(), d.argmax())
            assert_allclose((best[0], far[0]), (d.min(), d.max()), rtol=1e-12)


def test_blocks_of_tuples_are_lanes_unless_rounds_loop():
    @pp.jit
    def looping(x):
        best = (np.inf, -1)
        for i in pp.prange(len(x)):
            v = x[i]
            while v > 1:
                v /= 2
            best = min(best, (v, i))
        return best

    x = np.array([3.0, 0.75, 1.75])
    assert first_least(x) == (0.75, 1)
    assert looping(x) == (0.75, 0)
    assert "items are the lanes of vectors" in first_least.diagnostics()
    assert "items are the lanes of vectors" not in looping.diagnostics()


def test_annotations_that_are_text():
    local = np.float32

    @pp.struct
    class Texts:
        a: "float32"  # noqa: F821
        b: "np.int16"
        c: "local"
        d: "'uint8'"  # noqa: F821
        e: "Point"
        f: "Any"
        g: "bool"

    assert Texts._types == (*map(np.dtype, ("float32", "int16", "float32", "uint8")), Point, None, np.dtype(bool))
    assert local is np.float32


def test_annotations_under_the_future_import():
    names = {"pp": pp, "np": np}
    text = (
        "from __future__ import annotations\n"
        "def made():\n"
        "    f4 = np.float32\n"
        "    @pp.struct\n"
        "    class P:\n"
        "        x: f4\n"
        "        y: np.float64\n"
        "        z: 'int8'\n"
        "    return P\n"
    )
    exec(compile(text, "<annotations>", "exec", dont_inherit=True), names)
    assert names["made"]()._types == tuple(map(np.dtype, ("float32", "float64", "int8")))


@pytest.mark.parametrize(
    ("annotation", "error", "said"),
    [
        ("float33", NameError, "annotated with 'float33', which is no dtype and means nothing here"),
        ("np.float33", TypeError, "annotated with 'np.float33'"),
        ("int +", TypeError, "annotated with 'int [+]'"),
        ("str", TypeError, "is str, which kernels do not take"),
        (str, TypeError, "is str, which kernels do not take"),
        (bytes, TypeError, "is bytes, which"),
        (list[float], TypeError, "is list, which"),
        (dict, TypeError, "is dict, which"),
        (np.str_, TypeError, "'<U0' is not supported"),
        (np.longdouble, TypeError, "is not supported"),
        ("datetime64[s]", TypeError, "is not supported"),
    ],
)
def test_annotations_that_are_refused(annotation, error, said):
    kind = type("P", (), {"__annotations__": {"x": float, "wrong": annotation}, "__module__": __name__})
    with pytest.raises(error, match=f"^struct: the field `wrong` of P.*{said}"):
        pp.struct(kind)


def test_a_constant_of_a_class_that_changes_back_and_forth_is_compiled_twice():
    @pp.struct
    class Signed:
        FLAG = True
        x: float

        def value(self):
            return self.x if Signed.FLAG else -self.x

    @pp.kernel
    def read(item: pp.Item, p: Signed, out):
        out[item.get_id(0)] = p.value()

    out = pp.zeros(1).wait()  # a kernel on some devices
    before = pp.counters()["compiled"]
    for k in range(8):
        Signed.FLAG = k % 2 == 0
        read[1](Signed(1.5), out).wait()
        assert float(out[0]) == (1.5 if k % 2 == 0 else -1.5)
    assert pp.counters()["compiled"] <= before + 2
