# tests/python/test_reports.py: types() and diagnostics(): what they say of kernels and of functions with loops.
import re

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once

prange = pp.prange
ONE = 1
on_the_cpu = pytest.mark.skipif(pp.Device().backend != "cpu", reason="tells what the CPU does")


def rows(text):
    """The lines of a listing that have types: what is there, and the types."""
    found = {}
    for line in text.splitlines():
        source, mark, types = line.partition("  # ")
        if mark:
            found[source[5:].strip()] = types
    return found


# --- types


@pp.func
def mean(a, b):
    middle = (a + b) / 2
    return middle


@pp.kernel
def blend(item: pp.Item, x, weight, out):
    i = item.get_id(0)
    total = 0.0
    for k in range(x.shape[1]):
        total += x[i, k] * weight
    low, high = min(total, 1), x.shape
    if total > 0:
        low = x[i, 0]
    out[i] = mean(low, total)


def test_types_for_arguments():
    x, out = pp.zeros((4, 3), dtype="float32"), pp.zeros(4, dtype="float32")
    text = blend[pp.Range(4)].types(x, 2, out)
    assert rows(text) == {
        "def blend(item: pp.Item, x, weight, out):": (
            "item: an Item; x: a float32 array of 2 dimensions; weight: a Python int; out: a float32 array of 1 dimension"
        ),
        "i = item.get_id(0)": "i: a Python int",
        "total = 0.0": "total: a Python float",
        "for k in range(x.shape[1]):": "k: a Python int",
        "total += x[i, k] * weight": "total: float32",
        "low, high = min(total, 1), x.shape": "low: float32; high: a tuple of 2",
        "low = x[i, 0]": "low: float32",
        "def mean(a, b):": "a: float32; b: float32",
        "middle = (a + b) / 2": "middle: float32",
    }
    first = blend._function.__code__.co_firstlineno
    assert f"blend  ({__file__})\n" in text
    assert f"{first + 2:5}      i = item.get_id(0)" in text
    assert not pp.asnumpy(out).any()


def test_types_of_other_arguments_and_of_all_programs():
    @pp.kernel
    def double(item: pp.Item, x):
        value = x[item.get_id(0)] * 2
        x[item.get_id(0)] = value

    assert double.types() == ""
    double[2](pp.zeros(2, dtype="int32"))
    double[2](pp.zeros(2, dtype="complex64"))
    text = double.types()
    assert text.count("value: int32") == text.count("value: complex64") == 1
    assert text.index("x: int32 array of 1 dimension") < text.index("value: int32") < text.index("value: complex64")
    assert "float16" in double[2].types(pp.zeros(2, dtype="float16"))


def test_types_of_a_function_that_is_called_with_several():
    @pp.func
    def twice(v):
        return v + v

    @pp.kernel
    def both(item: pp.Item, x, y):
        y[0] = twice(x[0]) + twice(y[0])

    text = both[1].types(pp.zeros(1, dtype="int32"), pp.zeros(1, dtype="float32"))
    assert "v: int32 or float32" in text


def test_wrong_programs_are_refused():
    @pp.kernel
    def wrong(item: pp.Item, x):
        y = x + 1
        x[0] = y

    with pytest.raises(TypeError, match="wrong: "):
        wrong[1].types(pp.zeros(3))


def test_types_of_loops():
    @pp.jit
    def norm(x):
        total = 0.0
        for i in prange(len(x)):
            square = x[i] * x[i]
            total += square
        return total

    assert norm.types() == ""
    norm(np.ones(3, "float32"))
    assert rows(norm.types()) == {
        "for i in prange(len(x)):": "total: a Python float; x: a float32 array of 1 dimension; i: a Python int",
        "square = x[i] * x[i]": "square: float32",
        "total += square": "total: float32",
    }


# --- diagnostics of kernels


def test_nothing_is_known_of_what_never_ran():
    @pp.kernel
    def idle(item: pp.Item, x):
        x[0] = 1

    assert idle.diagnostics() == ""


@on_the_cpu
def test_items_as_lanes():
    @pp.kernel
    def gather(item: pp.Item, x, places, y, n):
        i = item.get_id(0)
        y[i] = x[places[i]]  # gather
        y[i] += x[3 * i]  # steps
        if x[i] > 0:  # part
            y[i] = 0
        while y[i] < 5:  # leave
            y[i] += 1
        for k in range(n):  # carried
            y[i] *= 2

    gather[4](pp.zeros(12), pp.zeros(4, dtype="int64"), pp.zeros(4), 2).wait()
    text = gather.diagnostics()
    first = gather._function.__code__.co_firstlineno
    assert text == (
        "program 1 on cpu:0: items of a Range of 1 dimension\n"
        "  x: float64 array of 1 dimension\n"
        "  places: int64 array of 1 dimension\n"
        "  y: float64 array of 1 dimension\n"
        "  n: a Python int\n"
        "  items are the lanes of vectors\n"
        f"  line {first + 3}: `x` is read at places that are not adjacent, lane by lane\n"
        f"  line {first + 4}: `x` is read in steps of 3 elements\n"
        f"  line {first + 5}: divergent lanes: both branches run, each for its own lanes\n"
        f"  line {first + 7}: divergent lanes: the loop runs until the last lane is done\n"
        f"  line {first + 9}: the loop does not become the lanes: `k` does not count the last index of `y`\n"
    )


@on_the_cpu
def test_a_loop_as_lanes():
    @pp.kernel
    def distances(item: pp.Item, x, d):
        i = item.get_id(0)
        for j in range(x.shape[0]):
            s = 0.0
            for k in range(x.shape[1]):
                s += (x[i, k] - x[j, k]) ** 2
            d[i, j] = s

    distances[4](pp.zeros((4, 3)), pp.zeros((4, 4))).wait()
    text = distances.diagnostics()
    first = distances._function.__code__.co_firstlineno
    assert "  a loop's iterations are the lanes of vectors\n" in text
    assert f"  line {first + 3}: the loop's iterations are the lanes\n" in text
    assert "does not become" not in text


@on_the_cpu
@pytest.mark.parametrize(
    ("loop", "why"),
    [
        ("for j in range(8): y[i, j] = 1", "it has fewer than 16 iterations"),
        ("for j in range(0, n, 2): y[i, j] = 1", "its step is not 1"),
        ("for j in range(n): s += y[i, j]", "it writes no elements"),
        ("for j in range(n): y[i, j] = s; s += 1", "`s` is carried from iteration to iteration"),
        ("for j in range(n): y[j, i] = 1", "`j` does not count the last index of `y`"),
        ("for j in range(1, n): y[i, j] = y[i, j - 1]", "it reads other elements of `y` than it writes"),
        ("for j in range(n): pp.atomic.add(y, (i, j), 1)", "it calls functions, uses atomics, may fail, or assigns several things at once"),
        ("for j in range(n): own[j] = 1", "it writes into something else than an argument"),
        ("for row in y: row[i] = 1", "it does not run over a range"),
    ],
)
def test_why_a_loop_is_not_the_lanes(loop, why, tmp_path):
    text = (
        "import pardo as pp\n@pp.kernel\ndef f(item: pp.Item, y, n):\n    i = item.get_id(0)\n"
        f"    own = pp.private_array(20)\n    s = 0\n    {loop}\n"
    )
    path = tmp_path / "program.py"
    path.write_text(text)
    names = {}
    exec(compile(text, str(path), "exec"), names)
    names["f"][4](pp.zeros((20, 20)), 20).wait()
    assert f"  line 7: the loop does not become the lanes: {why}\n" in names["f"].diagnostics()


@on_the_cpu
def test_neighbouring_rounds_are_neighbours():
    @pp.jit
    def shifts(x, y, n):
        total = 0.0
        for i in prange(n):
            y[i] = x[i]
        for i in prange(n - 3, len(x)):
            y[i] = x[i + 1 - 1] + x[i]
        for i in prange(ONE, len(x) - 1):
            y[i] = x[i - 1] + x[i + 1]
        for i in prange(1, len(x)):
            total += x[i]
        for i in prange(0, len(x), 2):
            y[i] = 1  # two
        for i in prange(len(x) - 1, 0, -n):
            y[i] = 1  # some
        return total

    x = np.arange(100.0)
    shifts(x, np.zeros(100), 9)
    text = shifts.diagnostics()
    first = shifts._function.__code__.co_firstlineno
    assert re.findall(r"line (\d+): (`.*)", text) == [
        (f"{first + 12}", "`y` is written in steps of 2 elements"),
        (f"{first + 14}", "`y` is written in steps that are known only when it runs, lane by lane"),
    ]


@on_the_cpu
def test_groups():
    @pp.kernel
    def turn(item: pp.NdItem, x, n: pp.Const[int], shared):
        k = item.get_local_id(0)
        shared[k] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = shared[n - 1 - k]
        pp.atomic.add(x, 0, 1)  # atomic

    turn[pp.NdRange(8, 4)](pp.zeros(8), 4, pp.LocalAccessor(4)).wait()
    text = turn.diagnostics()
    assert "program 1 on cpu:0: items of an NdRange in groups of 4\n" in text
    assert "  n: a constant, a Python int\n  shared: local memory, float64 [4]\n  items are the lanes of vectors\n" in text
    assert "atomics on `x` run lane by lane" in text


def test_every_program_on_every_device():
    @pp.kernel
    def fill(item: pp.Item, x):
        x[item.get_id(0)] = 1

    devices = [d for d in pp.get_devices() if d.backend != "null"]
    for device in devices:
        fill[3](pp.zeros(3, dtype="float32", device=device)).wait()
    base = pp.zeros(6, dtype="float32", device=devices[0])
    base.wait()
    fill[3](base[::2]).wait()
    text = fill.diagnostics()
    for k, device in enumerate(devices):
        assert f"program {k + 1} on {device.id}: items of a Range of 1 dimension\n  x: float32 array of 1 dimension\n" in text
    assert "  x: float32 array of 1 dimension, with strides\n" in text


def test_tuples_structs_and_functions():
    @pp.struct
    class Pair:
        a: np.float32
        b: np.int64

    @pp.func
    def both(p):
        return p.a + p.b

    @pp.kernel
    def apply(item: pp.Item, f, pair, arrays):
        i = item.get_id(0)
        total = f(pair)
        arrays[0][i] = total
        arrays[1][i] = i

    apply[3](both, Pair(1, 2), (pp.zeros(3), pp.zeros(3, dtype="int64"))).wait()
    head = (
        "  f: the function `both`\n  pair: a struct (a: float32, b: int64)\n"
        "  arrays: a tuple (float64 array of 1 dimension, int64 array of 1 dimension)\n"
    )
    assert head in apply.diagnostics()
    text = apply.types()
    assert head in text
    assert rows(text)["def both(p):"] == "p: a struct of a, b"
    assert rows(text)["total = f(pair)"] == "total: float64"


# --- diagnostics of functions with loops


@on_the_cpu
def test_loops():
    @pp.jit
    def several(x, y, names):
        total, most = 0.0, -1.0
        for i in prange(x.shape[0]):
            for j in prange(x.shape[1]):
                x[i, j] = i * j
        for i in prange(y.shape[0]):
            total += y[i]
            most = max(most, y[i])
        n = 0
        while n < len(y):
            y[n] = n
            n += 1
        for sweep in range(2):
            for i in prange(y.shape[0]):
                y[i] += sweep
        for name in names:
            print(name, end="")
        for i in range(y.shape[0]):
            y[i] = len({i: 0})
        for i in range(len(names)):
            names[i] = i
        for i in range(2):
            if y[i] > 100:
                return i
        return total + most

    several(np.zeros((3, 4)), np.zeros(5), ["", ""])
    text = several.diagnostics()
    first = several._function.__code__.co_firstlineno
    loops = [f"{int(n) - first}: {what}" for n, what in re.findall(r"^line (\d+): (.*)", text, re.MULTILINE)]
    short = "Python is faster with lists that are as short, or that are handed over as often"
    assert loops == [
        "3: a parallel loop over `i` and `j`, one index space",
        "6: a parallel loop over `i`; it reduces into `most`, `total`",
        "10: a serial loop, compiled",
        "13: a serial loop, compiled",
        "14: a parallel loop over `i`",
        f"16: a serial loop, compiled; 1 of its runs were Python's: {short}",
        "18: left to Python: a dict is not accepted in a kernel; use arrays of keys and of values, or a list that small integers index",
        f"20: a serial loop, compiled; 1 of its runs were Python's: {short}",
        "22: a serial loop, compiled",
    ]
    assert text.startswith(f"several  ({__file__})\n")
    assert "  program 1 on cpu:0: iterations over 2 dimensions in parallel\n" in text
    assert "  program 1 on cpu:0: blocks of iterations in parallel, each reduced by itself\n" in text
    assert "  program 1 on cpu:0: serial\n" in text


def test_before_the_first_call():
    @pp.jit
    def double(x):
        for i in prange(len(x)):
            x[i] *= 2

    line = double._function.__code__.co_firstlineno + 2
    assert double.diagnostics() == f"double  ({__file__})\nline {line}: a parallel loop over `i`\n"


# --- inspect


def test_texts_of_all_programs():
    @pp.kernel
    def doubled(item: pp.Item, x):
        x[item.get_id(0)] *= 2

    assert doubled.inspect() == ""
    for dtype in ("int32", "float32"):
        doubled[pp.Range(5)](pp.ones(5, dtype=dtype)).wait()
    text = doubled.inspect()
    assert text.count("program ") == text.count('kernel "doubled"') == 2
    assert "pointer int32" in text
    assert "pointer float32" in text
    with pytest.raises(ValueError, match="inspect"):
        doubled.inspect("pascal")


def test_texts_of_loops():
    @pp.jit
    def twice(x):
        for i in prange(len(x)):
            x[i] *= 2
        for i in prange(len(x)):
            x[i] += 1

    assert twice.inspect() == ""
    x = pp.ones(5)
    twice(x)
    text = twice.inspect()
    assert text.count("program 1 on ") == text.count('kernel "twice"') == 2
    what = {"cpu": "asm", "opencl": "opencl", "cuda": "cuda"}[x.device.backend]
    assert text != twice.inspect(what) != ""
    with pytest.raises(ValueError, match="inspect"):
        twice.inspect("pascal")
