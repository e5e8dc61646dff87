# tests/python/test_dataclasses.py: dataclasses and structs that loops take, make and leave behind, against the same text run by Python.
import copy
import dataclasses
import math

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once

X = np.arange(6.0)


@dataclasses.dataclass
class Point:
    x: float
    y: float = 2.0


@dataclasses.dataclass(frozen=True)
class Best:
    value: float
    place: int = -1


@dataclasses.dataclass
class Path:
    start: Point
    steps: object
    least: float | None = None


@dataclasses.dataclass
class Checked:
    x: float

    def __post_init__(self):
        self.x = abs(self.x)


@dataclasses.dataclass
class Other:
    x: float
    y: float


@pp.struct
class Sums:
    total: np.float64
    count: np.int64


def moved(x):
    p = Point(0.0)
    for i in range(len(x)):
        p = Point(p.x + x[i], y=p.y - 1.0)
    return p


def replaced(x):
    p = Point(0.0)
    for i in range(len(x)):
        p = dataclasses.replace(p, x=p.x + x[i])
    return p


def best(x):
    b = Best(-math.inf)
    for i in range(len(x)):
        if x[i] > b.value:
            b = Best(x[i], i)
    return b


def first(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return Best(x[i], i)
    return Best(0.0)


def both(x):
    p, b = Point(0.0), Best(0.0)
    for i in range(len(x)):
        p, b = Point(b.value, x[i]), Best(p.x + x[i], b.place + 1)
    return p, b


def structs(x):
    s = Sums(0.0, 0)
    for i in range(len(x)):
        s = Sums(s.total + x[i], s.count + 1)
    return s


def nested(x, path):
    t = 0.0
    for i in range(len(x)):
        p = Path(Point(x[i], path.start.y), path.steps)
        t += p.start.x * p.steps[i] + p.start.y
        if path.least is not None and t < path.least:
            t = path.least
        elif path.least is None:
            t += 100
    return t


def nested_in_parallel(x, path):
    t = 0.0
    for i in pp.prange(len(x)):
        if path.least is not None:
            t += path.least
        t += path.start.x + path.steps[i]
    return t


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (moved, (X,)),
        (moved, (X[:0],)),
        (replaced, (X,)),
        (best, (X,)),
        (first, (X, 3)),
        (first, (X, 9)),
        (both, (X,)),
        (structs, (X,)),
        *[(f, (X, Path(Point(3.0), np.ones(6), least))) for f in (nested, nested_in_parallel) for least in (None, 7.5)],
    ],
    ids=lambda v: getattr(v, "__name__", None),
)
def test_as_python(function, arguments):
    mine, theirs = pp.jit(function, strict=True)(*copy.deepcopy(arguments)), function(*copy.deepcopy(arguments))
    assert type(mine) is type(theirs)
    assert mine == theirs


def test_one_that_was_given_stays_the_same_object():
    @pp.jit(strict=True)
    def farthest(x, p):
        for i in range(len(x)):
            if x[i] > p.x:
                p = Point(x[i])
        return p

    near, far = Point(1.0), Point(10.0)
    assert farthest(X, far) is far
    assert farthest(X, near) == Point(5.0)
    assert near == Point(1.0)


def checked(x):
    c = Checked(1.0)
    for i in range(len(x)):
        c = Checked(-x[i])
    return c


def changed(x, p):
    for i in range(len(x)):
        p.x += x[i]
    return p


def two_kinds(x):
    p, o = Point(0.0), Other(0.0, 1.0)
    for i in range(len(x)):
        p, o = Point(x[i], 0.0), Other(p.x, 0.0)
    return p, o


@pytest.mark.parametrize(
    ("function", "arguments", "why"),
    [
        (checked, (X,), "`Checked` cannot be called in a kernel"),
        (changed, (X, Point(1.0)), "the fields of a struct do not change; make another"),
        (two_kinds, (X,), "two kinds of dataclasses have the fields x, y"),
    ],
)
def test_what_stays_python(function, arguments, why):
    with pytest.warns(RuntimeWarning, match=why):
        mine = pp.jit(function)(*copy.deepcopy(arguments))
    assert mine == function(*copy.deepcopy(arguments))


@pytest.mark.parametrize("device", [d for d in pp.get_devices() if d.backend != "null"], ids=str)
def test_kernels_make_them(device):
    @pp.kernel
    def swapped(item: pp.Item, x, out):
        i = item.get_id(0)
        p = Point(x[i])
        q = dataclasses.replace(p, x=p.y)
        out[i] = p.x - q.x

    out = pp.zeros(6, "float32", device=device)
    swapped[6](pp.asarray(X.astype("float32"), device=device), out)
    assert pp.asnumpy(out).tolist() == [-2, -1, 0, 1, 2, 3]
