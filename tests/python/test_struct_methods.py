# tests/python/test_struct_methods.py: functions of structs' classes in kernels: methods, properties, operators; compiled as interpreted.
import math
from typing import Any

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytestmark = pytest.mark.once

DEVICES = pp.get_devices()
scale = 2.0


@pp.struct
class Vec:
    x: np.float64
    y: np.float64 = 0.0

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    def length(self):
        return math.sqrt(self.dot(self))

    def scaled(self, by=3.0):
        return Vec(self.x * by, self.y * by)

    def grown(self):
        return self.scaled(by=scale)

    @staticmethod
    def along(angle):
        return Vec(np.cos(angle), np.sin(angle))

    @property
    def angle(self):
        return math.atan2(self.y, self.x)

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return self + -other

    def __mul__(self, by):
        return self.scaled(by)

    def __rmul__(self, by):
        return self.scaled(by)

    def __neg__(self):
        return Vec(-self.x, -self.y)

    def __abs__(self):
        return self.length()

    def __lt__(self, other):
        return self.length() < other.length()

    def __call__(self, t):
        return self.x + self.y * t

    def __bool__(self):
        return bool(self.x != 0 or self.y != 0)

    def grows(self):
        return pp.exp(self.x)


@pp.struct
class Segment:
    start: Vec
    end: Vec

    def middle(self):
        return 0.5 * (self.start + self.end)

    @property
    def across(self):
        return abs(self.end - self.start)


@pp.kernel
def methods(item: pp.Item, points, axis, factor, out):
    i = item.get_id(0)
    p = points[i]
    out[i, 0] = p.length()
    out[i, 1] = p.dot(axis) + p.dot(other=axis)
    out[i, 2] = (p * 2 + 3.0 * p - axis).x
    out[i, 3] = abs(-p)
    out[i, 4] = p.angle + Vec.along(p.x).y + Vec.dot(p, axis) + p.along(p.y).x
    out[i, 5] = p < axis
    out[i, 6] = p > axis
    out[i, 7] = min(p, axis).x + max(p, axis).y
    out[i, 8] = p(2.0) if p else -1.0
    q = p
    q += axis
    q *= 2
    out[i, 9] = q.x - p.grown().y
    s = Segment(p, axis)
    out[i, 10] = s.middle().x + s.across
    out[i, 11] = p == axis
    out[i, 12] = p != Vec(1.0, 2.0)
    out[i, 13] = (factor[i] * p).x + p.grows()
    points[i] = p.scaled() if i % 2 else p.grown()


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_methods_and_operators(device):
    def arguments():
        x, y = np.arange(4.0), np.array([2.0, 2, 0, -1])
        return Vec(pp.asarray(x, device=device), pp.asarray(y, device=device)), Vec(1, 2), pp.asarray(y, device=device)

    points, axis, factor = arguments()
    out = pp.zeros((4, 14), device=device)
    methods[pp.Range(4)](points, axis, factor, out).wait()
    others, axis, factor = arguments()
    expected = pp.zeros((4, 14), device=device)
    methods[pp.Range(4)].interpret(others, axis, factor, expected)
    assert_allclose(pp.asnumpy(out), pp.asnumpy(expected), rtol=1e-14)
    assert_allclose(pp.asnumpy(points.x), pp.asnumpy(others.x))
    assert_allclose(pp.asnumpy(points.y), pp.asnumpy(others.y))


def test_a_global_of_a_method_that_changes():
    global scale

    @pp.kernel
    def made(item: pp.Item, out):
        out[0] = Vec(1.0, 1.0).grown().x

    @pp.kernel
    def given(item: pp.Item, p, out):
        out[0] = p.grown().x

    out = pp.zeros(1)
    try:
        for scale in (2.0, 5.0):
            made[pp.Range(1)](out).wait()
            assert float(out[0]) == scale
            given[pp.Range(1)](Vec(10), out).wait()
            assert float(out[0]) == 10 * scale
    finally:
        scale = 2.0


def test_in_loops_and_in_memory_of_groups():
    @pp.jit
    def total_length(points, by):
        total = 0.0
        for i in pp.prange(len(points)):
            total += (points[i] * by).length()
        return total

    x, y = np.arange(100.0), np.arange(100.0) / 2
    expected = (2 * np.hypot(x, y)).sum()
    assert_allclose(total_length(Vec(x, y), 2), expected)
    assert_allclose(total_length(Vec(pp.asarray(x), pp.asarray(y)), 2), expected)

    @pp.kernel
    def turned(item: pp.NdItem, points):
        shared = pp.local_array(4, Vec)
        i, g = item.get_local_id(0), item.get_global_id(0)
        shared[i] = -points[g]
        pp.group_barrier(item.get_group())
        points[g] = shared[3 - i].scaled(10)

    points = Vec(pp.arange(8.0), pp.zeros(8))
    turned[pp.NdRange(8, 4)](points).wait()
    assert_array_equal(pp.asnumpy(points.x), [-30, -20, -10, 0, -70, -60, -50, -40])


def test_operators_in_reductions_and_scans():
    x = np.arange(1, 6.0)
    points = Vec(pp.asarray(x), pp.asarray(-x))
    total = pp.reduction(lambda p: p, lambda a, b: a + b, Vec(0.0, 0.0))(points)
    assert (float(total.x), float(total.y)) == (15, -15)
    least = pp.reduction(lambda p: p, lambda a, b: a if a < b else b, Vec(1e300, 0.0))(points)
    assert (float(least.x), float(least.y)) == (1, -1)
    running = pp.scan(lambda p: p, lambda a, b: a + b, Vec(0.0, 0.0))(points)
    assert_array_equal(pp.asnumpy(running.x), np.cumsum(x))
    doubled = pp.elementwise(lambda p: p * 2)(points)
    assert_array_equal(pp.asnumpy(doubled.y), -2 * x)


def test_on_the_host_methods_are_pythons():
    p = 2.0 * Vec(3, 4) + np.float64(1) * Vec(1, 0)
    assert p == Vec(7, 8)
    assert abs(Vec(3, 4)) == 5
    assert Vec.along(0.0).x == 1


# --- what is refused


@pp.struct
class Odd:
    x: np.float64

    def texts(self):
        return f"{self.x}"

    def again(self):
        return self.again() + 1

    @classmethod
    def made(cls):
        return cls(1.0)

    def wrong(self):
        return self.z

    @property
    def half(self):
        return self.x / 2


def test_messages():
    def message(text):
        namespace: dict[str, Any] = {"Odd": Odd, "pp": pp}
        import linecache

        file = f"<odd {text}>"
        source = f"def f(item: pp.Item, p, out):\n    out[0] = {text}\n"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), namespace)
        with pytest.raises(Exception) as caught:
            pp.kernel(namespace["f"])[pp.Range(1)](Odd(1), pp.zeros(1)).wait()
        return type(caught.value), str(caught.value)

    for text, kind, parts in [
        ("p.texts()", pp.CompileError, ["an f-string is not accepted in a kernel", 'return f"{self.x}"', "^^^"]),
        ("p.again()", TypeError, ["`again` calls itself; kernels have no recursion", "self.again() + 1", "^^^"]),
        ("p.made()", TypeError, ["Odd.made is a class method"]),
        ("p.wrong()", TypeError, ["has no field `z`", "return self.z", "^^^"]),
        ("p.other()", TypeError, ["a struct of x has no method `other` in a kernel; it has _replace", "again", "texts"]),
        ("p.half()", TypeError, ["`half` is a property, which is not called"]),
        ("p.again", TypeError, ["`again` is a method; call it"]),
        ("p + p", TypeError, ["`+` takes two numbers; here are a struct of x and a struct of x"]),
        ("p < p", TypeError, ["have no order: the class has no __lt__"]),
        ("1 if p else 2", TypeError, ["a condition is expected, not a struct of x"]),
        ("Odd.made(1)", pp.CompileError, ["`Odd.made` cannot be called in a kernel"]),
    ]:
        found, message_text = message(text)
        assert issubclass(found, kind), (text, found, message_text)
        for part in parts:
            assert part in message_text, (text, message_text)


def test_what_kernels_cannot_follow_is_refused_where_the_class_is_made():
    with pytest.raises(TypeError, match="struct: P defines __init__, which kernels cannot follow"):

        @pp.struct
        class P:
            x: float

            def __init__(self, x):
                pass


def test_a_loop_does_not_reduce_structs():
    @pp.jit
    def least(points):
        best = Vec(9.0, 9.0)
        for i in pp.prange(len(points)):
            best = min(best, points[i])
        return best

    with pytest.raises(TypeError, match=r"`best` holds a struct of x, y, whose order is the class's own; use pardo.reduction, or tuples"):
        least(Vec(np.ones(3), np.ones(3)))


def test_classes_that_make_each_other():
    @pp.struct
    class Left:
        x: np.float64

        def turned(self):
            return Right(self.x * scale)

    @pp.struct
    class Right:
        y: np.float64

        def turned(self):
            return Left(self.y + 1)

    @pp.kernel
    def turn(item: pp.Item, p, out):
        out[0] = p.turned().turned().turned().turned().x

    global scale
    out = pp.zeros(1)
    try:
        for scale in (2.0, 3.0, 2.0):
            for _ in range(2):
                turn[pp.Range(1)](Left(1), out).wait()
                assert float(out[0]) == (scale + 1) * scale + 1
        assert next(iter(turn._made[1].values())).specialisations == 2  # a constant first, and an argument since it has changed
    finally:
        scale = 2.0


def test_races_through_methods():
    @pp.struct
    class Cells:
        values: Any

        def put(self, k, v):
            self.values[k] = v

    @pp.kernel(race_check=True)
    def fill(item: pp.Item, cells):
        cells.put(item.get_id(0) // 2, 1.0)

    with pytest.raises(pp.RaceError, match=r"`cells.values\[0\]` is written by item 0 and by item 1"):
        fill[pp.Range(4)](Cells(pp.zeros(4)))


def test_constants_of_the_class():
    @pp.struct
    class Ball:
        height: np.float32
        speed: np.float32 = 0.0
        GRAVITY = -9.81
        STEPS = 4
        WIND = (0.5, (1, np.int16(3)))
        _hidden = 7

        def fallen(self, dt):
            b = self
            for _ in range(self.STEPS):
                b = Ball(b.height + dt * b.speed, b.speed + dt * b.GRAVITY)
            return b

        def pushed(self):
            return self.WIND[0] * self.WIND[1][0] + self.WIND[1][1]

    @pp.kernel
    def fall(item: pp.Item, balls, out):
        i = item.get_id(0)
        balls[i] = balls[i].fallen(0.1)
        out[i] = balls[i].pushed() + balls[i].STEPS / 8 + Ball.STEPS

    for device in DEVICES:
        ours, plain = (Ball(pp.ones(3, dtype="float32", device=device), pp.zeros(3, dtype="float32", device=device)) for _ in range(2))
        out, expected = (pp.zeros(3, device=device, dtype="float32") for _ in range(2))
        Ball.STEPS, Ball.GRAVITY = 4, -9.81
        for _ in range(2):
            fall[3](ours, out)
            fall[3].interpret(plain, expected)
            assert_allclose(pp.asnumpy(ours.height), pp.asnumpy(plain.height), rtol=1e-6)
            assert_allclose(pp.asnumpy(out), pp.asnumpy(expected))
            Ball.STEPS, Ball.GRAVITY = 2, np.float32(3)  # a program of its own
        Ball.STEPS = "many"
        with pytest.raises(TypeError, match="a string"):
            fall[3](ours, out)
