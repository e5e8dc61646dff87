# tests/python/test_statements.py: compiled loops between all statements of Python: names that these bind, loops that are in them.
import array
import ast
import contextlib
import inspect
import textwrap

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

prange = pp.prange


def agree(function, *arguments, compiled=None):
    """Calls a function as it is and compiled, each with copies of the arguments; both give and leave the same."""
    loop = pp.jit(function)

    def copied():
        return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)

    ours, plain = copied(), copied()
    expected, wrong = outcome(function, plain)
    got, ours_wrong = outcome(loop, ours)
    assert ours_wrong is wrong
    np.testing.assert_equal(got, expected)
    for a, b in zip(ours, plain, strict=True):
        if isinstance(a, np.ndarray):
            assert_array_equal(a, b)
    if compiled is not None:
        assert loop.diagnostics().count(", compiled") + loop.diagnostics().count("a parallel loop") == compiled, loop.diagnostics()
    return loop


def outcome(function, arguments):
    try:
        return function(*arguments), None
    except Exception as e:
        return None, type(e)


def test_loops_in_functions_and_classes_inside():
    def f(x):
        def doubled(v):
            total = 0.0
            for k in range(2):
                total += v[k]
            return total

        class Scale:
            by = [2.0]  # noqa: RUF012
            for k in range(1):
                by[k] += 1

            def scaled(self, v):
                for k in range(len(v)):
                    v[k] *= self.by[0]

        Scale().scaled(x)
        s = 0.0
        for i in range(len(x)):
            s += x[i]
        return s + doubled(x)

    agree(f, np.arange(4.0), compiled=1)


def test_names_of_imports():
    def f(x):
        import math
        import os.path  # noqa: F401
        from math import floor
        from math import sqrt as root

        for i in range(len(x)):
            x[i] = math.sqrt(x[i]) + root(x[i]) + floor(x[i])

    agree(f, np.arange(4.0), compiled=1)

    def g(x):
        from pardo import prange as rounds

        for i in rounds(len(x)):
            x[i] += 1

    assert "a parallel loop over `i`" in agree(g, np.arange(4.0), compiled=1).diagnostics()


def test_names_that_are_imported_and_assigned():
    def f(x, other):
        if other:
            from math import pi
        else:
            pi = 3.0
        for i in range(len(x)):
            x[i] = pi

    agree(f, np.arange(3.0), True)
    agree(f, np.arange(3.0), False)


def test_names_of_functions_inside():
    def f(x, scale):
        def scaled(v):
            return v * scale

        half = lambda v: v / 2
        for i in range(len(x)):
            x[i] = scaled(x[i]) + half(x[i])
        for i in prange(len(x)):
            x[i] = scaled(x[i])

    loop = agree(f, np.arange(4.0), 3, compiled=2)
    x = np.ones(2)
    loop(x, 5)
    assert_array_equal(x, [27.5, 27.5])  # another closure, another value


def test_names_that_functions_inside_change():
    def f(x):
        k = 0

        def count():
            nonlocal k
            k += 1
            return k

        for i in range(len(x)):
            x[i] = k
        count()
        for i in range(len(x)):
            x[i] += k
        for i in range(len(x)):
            k += i
            x[i] += count()
        return k

    agree(f, np.zeros(3))


level = 1


def test_globals_that_the_function_changes():
    def raised():
        global level
        level += 1

    def f(x):
        global level
        level = 5
        for i in range(len(x)):
            x[i] = level
        level = 7
        for i in range(len(x)):
            x[i] += level
        raised()
        for i in range(len(x)):
            x[i] += level
        for i in range(len(x)):
            level = x[i]
        return level

    agree(f, np.zeros(3))

    def in_parallel(x):
        global level
        for i in prange(len(x)):
            level = x[i]

    with pytest.raises(TypeError, match="it assigns `level`, which is global or belongs to the function around this one"):
        pp.jit(in_parallel)(np.zeros(3))


def test_names_of_with_except_match_and_walrus():
    class Manager:
        def __enter__(self):
            return 4.0

        def __exit__(self, *_):
            return True

    def f(x, manager, what):
        with manager as a:
            b = a + 1
            if what == 3:
                raise ValueError
            c = 2.0
        match what:
            case [d, *rest]:
                e = len(rest)
            case {"e": e, **others}:
                d = len(others)
            case int() as d if d > 1:
                e = d
            case _:
                d, e = 0, 0
        if (n := len(x)) > 2:
            g = 1
        try:
            h = [1, 2][what]
        except (TypeError, IndexError) as problem:
            h = len(str(problem)[:0])
        for i in range(n):
            x[i] = a + b + d + e + h
            if x[i] > 1e9:
                x[i] = c + g
        return h

    for what in ([1, 2], {"e": 3, "f": 4}, 2, 0, 3):
        agree(f, np.zeros(4), Manager(), what)


def test_names_of_comprehensions_are_their_own():
    def f(x):
        i = 5
        squares = [i * i for i in range(3)]
        total = 0
        for k in range(len(x)):
            total += x[k] * i
        for i in range(len(x)):
            x[i] += total
        return [total for k in squares if (last := k) > 0], last, i

    agree(f, np.arange(3.0), compiled=2)


def test_deleted_names():
    def f(x, again):
        k = 2
        for i in range(len(x)):
            x[i] += k
        del k
        if again:
            k = 3
        for i in range(len(x)):
            if x[i] > 2:
                k = i
        return k

    agree(f, np.ones(3), True, compiled=2)
    agree(f, np.ones(3), False)
    agree(f, np.zeros(3), False)


def test_names_that_may_have_no_value_and_are_not_asked_for():
    def f(x, scaled):
        if scaled:
            by = 3
        for i in range(len(x)):
            if scaled:
                x[i] *= by

    agree(f, np.ones(3), True, compiled=1)
    agree(f, np.ones(3), False)

    def g(x):
        for i in range(len(x)):
            if x[i] > 2:
                x[i] = unknown  # noqa: F821
            unknown = 1  # noqa: F841

    agree(g, np.ones(3))
    agree(g, np.full(3, 4.0))


def test_what_handlers_read():
    def f(x, n):
        last = -1
        try:
            for i in range(n):
                x[i] += 1
                last = i
        except IndexError:
            return last
        return -2

    agree(f, np.zeros(3), 3)
    agree(f, np.zeros(3), 5)

    def g(x, n):
        s = 0
        try:
            for i in range(n):
                s += x[i]
        finally:
            x[0] = s
        return s

    agree(g, np.ones(3), 3)
    agree(g, np.ones(3), 5)


PLACES = {
    "with": "with manager:\n    {}",
    "try": "try:\n    {}\nfinally:\n    pass",
    "except": "try:\n    raise KeyError\nexcept KeyError as e:\n    {}",
    "try else": "try:\n    pass\nexcept KeyError:\n    pass\nelse:\n    {}",
    "finally": "try:\n    pass\nfinally:\n    {}",
    "except star": "try:\n    raise ExceptionGroup('', [KeyError()])\nexcept* KeyError:\n    {}",
    "match": "match 1:\n    case 0:\n        pass\n    case _:\n        {}",
    "while": "k = 2\nwhile k:\n    k -= 1\n    {}",
    "while else": "while False:\n    pass\nelse:\n    {}",
    "for": "for t in range(2):\n    {}",
    "for else": "for t in []:\n    pass\nelse:\n    {}",
    "else of a parallel loop": "for t in prange(1):\n    y[t] = t\nelse:\n    {}",
    "if": "if len(x) > 1:\n    {}",
    "if else": "if len(x) > 100:\n    pass\nelse:\n    {}",
    "function": "def inside():\n    {}\ninside()",
    "method": "class Inside:\n    def inside(self):\n        {}\nInside().inside()",
}


@pytest.mark.parametrize("place", PLACES)
def test_parallel_loops_in_every_place(place, tmp_path):
    loop = "for i in prange(len(x)):\n    x[i] += i"
    text = PLACES[place]
    indent = next(line for line in text.split("\n") if "{}" in line).index("{}")
    body = text.format(loop.replace("\n", "\n" + " " * indent))
    source = f"def f(x, y):\n    from pardo import prange\n{textwrap.indent(body, '    ')}\n    return x\n"
    path = tmp_path / "program.py"
    path.write_text(source)
    space = {"manager": contextlib.nullcontext()}
    exec(compile(source, str(path), "exec"), space)
    before = pp.counters()["launched"], pp.counters()["fallbacks"]
    x, expected = np.ones(3), np.ones(3)
    pp.jit(space["f"])(x, np.ones(1))
    space["f"](expected, np.ones(1))
    assert_array_equal(x, expected)
    assert pp.counters()["launched"] > before[0]
    assert pp.counters()["fallbacks"] == before[1]


def test_comprehensions_are_no_parallel_loops():
    @pp.jit(strict=True)
    def f(x):
        return [x[i] for i in prange(len(x))]

    with pytest.raises(pp.CompileError, match="a comprehension makes no parallel loop"):
        f(np.ones(3))

    @pp.jit(strict=True)
    def g(x):
        for i in prange(len(x)):
            x[i] += sum([2 * k for k in prange(i)])

    g(x := np.ones(4))
    assert x.tolist() == [1, 1, 3, 7]


def test_every_statement_has_a_rule():
    from pardo._compiler import liveness

    statements = {kind for kind in vars(ast).values() if inspect.isclass(kind) and issubclass(kind, ast.stmt)} - {ast.stmt}
    assert statements == set(liveness._FLOW)


def test_functions_that_do_not_run_when_they_are_called_are_refused():
    async def coroutine(x):
        for i in range(3):
            x[i] = 1

    def generator(x):
        for i in range(3):
            yield x[i]

    async def both(x):
        yield x[0]

    for function, what in ((coroutine, "an async function"), (generator, "a generator"), (both, "an async generator")):
        for decorate in (pp.jit, pp.kernel, pp.func):
            with pytest.raises(TypeError, match=f"{decorate.__name__}: {function.__name__} is {what}"):
                decorate(function)


def test_private_names_of_methods():
    class Grid:
        def __init__(self, n):
            self.__cells = np.zeros(n)

        @pp.jit
        def filled(self, value):
            cells = self.__cells
            for i in range(len(cells)):
                cells[i] = value
            return self.__cells.sum()

    assert Grid(3).filled(2.0) == 6


# ---- loops without subscripts, and what Python has to run


def test_loops_over_elements_are_compiled():
    def crc(data):
        value = np.uint32(0xFFFFFFFF)
        for b in data:
            value = value ^ b
            for _ in range(8):
                value = (value >> np.uint32(1)) ^ (np.uint32(0xEDB88320) * (value & np.uint32(1)))
        return value

    loop = agree(crc, np.frombuffer(b"the quick brown fox", "uint8"), compiled=1)
    assert "Python's" not in loop.diagnostics()

    def weighted(x, y):
        s = 0.0
        for k, a in enumerate(x):
            s += k * a
        for a, b in zip(x, y, strict=True):
            s += a * b
        return s

    agree(weighted, np.arange(4.0), np.ones(4), compiled=2)


def test_loops_that_the_language_does_not_know_are_pythons_and_counted():
    def f(c, beta):
        for i in range(c.shape[0]):
            c[i].partition(1)
            c[i, 0] += beta
        return c

    before = pp.counters()["fallbacks"]
    loop = agree(f, np.ones((4, 4)), 0.5)
    assert pp.counters()["fallbacks"] == before + 1
    text = loop.diagnostics()
    assert "1 of its runs were Python's: a float64 array of 1 dimension has no method `partition` in a kernel" in text
    loop(np.ones((4, 4)), 0.5)
    assert pp.counters()["fallbacks"] == before + 2

    def rows(x):
        s = 0.0
        for row in x:
            s += row.sum()
        return s

    agree(rows, np.ones((3, 4)))
    agree(rows, [np.ones(3), np.ones(2)])


def test_lists_are_pythons_and_not_counted():
    @pp.jit
    def f(names):
        out = []
        for k, name in enumerate(names):
            out.append(name * k)
        return out

    before = pp.counters()["fallbacks"]
    assert f(["a", "b", "c"]) == ["", "b", "cc"]
    assert pp.counters()["fallbacks"] == before


table = np.arange(5.0)


def test_arrays_from_outside():
    weights = np.array([2.0, 3.0])

    def f(x):
        for i in range(len(x)):
            x[i] += table[i] * weights[i % 2]
        for i in prange(len(x)):
            x[i] -= weights[1] + table.shape[0]

    loop = agree(f, np.ones(4), compiled=2)
    weights = np.array([1.0, 1.0])
    x, expected = np.ones(4), np.ones(4)
    loop(x)
    f(expected)
    assert_array_equal(x, expected)


def test_messages_name_arguments_as_they_are_written():
    @pp.jit
    def total(x):
        s = 0.0
        for i in prange(3):
            s += x[i]
        return s

    @pp.kernel
    def fill(item: pp.Item, x, pair):
        x[item.get_id(0)] = pair[1]

    for wrong, name in ((None, "NoneType"), ("a", "str"), (object(), "object")):
        indexed = {"NoneType": "total: None cannot be indexed", "str": "total: a string cannot be indexed"}
        otherwise = f"total: `x`: an array, a number, a tuple or a function is expected, not {name}"
        with pytest.raises(TypeError, match=indexed.get(name, otherwise)):
            total(wrong)
        with pytest.raises(TypeError, match=rf"fill: `pair\[1\]`: an array, .* is expected, not {name}"):
            fill[3](pp.zeros(3), (1, wrong))


@pytest.mark.parametrize("data", [b"abc", bytearray(b"abc"), memoryview(b"abc"), array.array("B", b"abc")], ids=lambda d: type(d).__name__)
def test_loops_over_buffers_are_compiled(data):
    @pp.jit(strict=True)
    def total(data):
        s = 0
        for b in data:
            s += b
        return s

    assert total(data) == 294
    assert total(np.frombuffer(data, "uint8").astype(int)) == 294
    assert total([1, 2]) == 3


@pytest.mark.parametrize("data", [b"abc", bytearray(b"abc"), memoryview(b"abc"), array.array("B", b"abc")], ids=lambda d: type(d).__name__)
def test_loops_over_buffers_that_python_runs_are_counted(data):
    @pp.jit
    def total(data):
        s = 0
        for b in data[1:]:
            s += b + data[0]
        return s

    before = pp.counters()["fallbacks"]
    assert total(data) == 391
    assert pp.counters()["fallbacks"] == before + 1
    assert f"`data` is not an array ({type(data).__name__}); pass numpy.frombuffer(data, …)" in total.diagnostics()
