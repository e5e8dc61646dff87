# tests/python/test_foreign.py: functions written for Cython's pure-Python mode and for Numba are taken as they are.
import importlib.util
import itertools
import sys

import cython_standin
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

COUNTER = itertools.count()


@pytest.fixture(params=["stand-in", "package"])
def load(request, tmp_path, monkeypatch):
    """Import the text of a module that imports cython: the package, or what stands for it."""
    if request.param == "package":
        pytest.importorskip("cython", reason="Cython is not installed")
    else:
        for name, module in cython_standin.modules().items():
            monkeypatch.setitem(sys.modules, name, module)

    def make(text):
        path = tmp_path / f"program{next(COUNTER)}.py"
        path.write_text("import cython\nfrom cython.parallel import prange, parallel\nimport math\n\n" + text)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return make


def test_memory_views_directives_and_keywords_of_prange(load):
    program = load("""
@cython.boundscheck(False)
@cython.wraparound(False)
def pairwise(x: cython.double[:, :], d: cython.double[:, ::1]):
    n: cython.Py_ssize_t = x.shape[0]
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    t: cython.double
    for i in prange(n, nogil=True, schedule="static", chunksize=4, num_threads=2):
        for j in range(n):
            s: cython.double = 0.0
            for k in range(x.shape[1]):
                t = x[i, k] - x[j, k]
                s = s + t * t
            d[i, j] = math.sqrt(s)
""")
    x, d = np.random.default_rng(0).random((20, 3)), np.zeros((20, 20))
    pp.jit(program.pairwise)(x, d)
    assert_allclose(d, np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)), rtol=1e-14)
    assert program.pairwise(x, d) is None  # it is still what it was


def test_nogil_blocks_and_reductions(load):
    program = load("""
@cython.cfunc
@cython.returns(cython.double)
@cython.locals(v=cython.double)
def square(v):
    return v * v

def norm(x: cython.double[:]) -> cython.double:
    total: cython.double = 0
    i: cython.int
    with cython.nogil:
        for i in prange(0, x.shape[0], 1, schedule="guided"):
            total += square(x[i])
    with cython.nogil, parallel(num_threads=2):
        for i in prange(x.shape[0]):
            x[i] = 0
    return math.sqrt(total)
""")
    x = np.array([3.0, 4.0])
    assert pp.jit(program.norm)(x) == 5
    assert_array_equal(x, 0)


def test_declarations_and_conversions_in_loops(load):
    program = load("""
def rounded(x, y, n):
    cython.declare(unused=cython.int)
    for i in prange(n, nogil=True):
        cython.declare(t=cython.double)
        t = cython.declare(cython.double)
        u: cython.int
        with cython.boundscheck(False), cython.nogil:
            t = x[i] * 2
            u = cython.cast(cython.int, t)
        v = cython.declare(cython.int, u)
        if cython.compiled:
            y[i] = -1
        else:
            y[i] = cython.double(v) / 2 + cython.Py_ssize_t(t)
""")
    x, y = np.array([0.3, 1.3, -2.7]), np.zeros(3)
    pp.jit(program.rounded)(x, y, 3)
    expected = np.zeros(3)
    program.rounded(x, expected, 3)
    assert_array_equal(y, expected)
    assert_array_equal(y, [0, 3, -7.5])


def test_on_arrays_of_pardo_and_in_kernels(load):
    program = load("""
def scale(x: cython.float[:], factor: cython.float):
    i: cython.Py_ssize_t
    for i in prange(x.shape[0], num_threads=4):
        x[i] = x[i] * factor

def item(item, x):
    with cython.nogil:
        x[item.get_id(0)] += cython.cast(cython.int, 1.5)
""")
    x = pp.ones(4, dtype="float32")
    pp.jit(program.scale)(x, 3)
    pp.kernel(program.item)[4](x).wait()
    assert pp.asnumpy(x).tolist() == [4] * 4


def test_races_and_plain_python(load, monkeypatch):
    program = load("""
def scatter(x, places):
    for i in prange(len(places), nogil=True):
        x[places[i]] = i
""")
    with pytest.raises(pp.RaceError, match=r"scatter: `x\[1\]` is written by iteration 0 and by iteration 2"):
        pp.jit(race_check=True)(program.scatter)(np.zeros(3), np.array([1, 2, 1]))
    monkeypatch.setenv("PARDO_INTERPRET", "1")
    x = np.zeros(3)
    pp.jit(program.scatter)(x, np.array([1, 2, 1]))
    assert_array_equal(x, [0, 2, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x[i] = cython.cast(cython.double[:], x[i])", "a type of numbers and one value are expected"),
        ("x[i] = cython.declare(cython.double, 1, 2)", "a type of numbers and one value are expected"),
        ("with open('file'): x[i] = 1", "`with` is not accepted in a kernel"),
        ("with cython.nogil as n: x[i] = 1", "`with` is not accepted in a kernel"),
    ],
)
def test_what_is_refused(load, text, message):
    program = load(f"def f(x):\n    for i in prange(len(x)):\n        {text}\n")
    with pytest.raises(pp.CompileError, match=message):
        pp.jit(program.f)(np.zeros(3))


def test_keywords_of_other_ranges_are_refused(load):
    program = load("def f(x):\n    for i in prange(len(x), threads=3):\n        x[i] = 1\n")
    with pytest.raises(pp.CompileError, match="prange takes one to three integers"):
        pp.jit(program.f)(np.zeros(3))


def test_numba():
    numba = pytest.importorskip("numba", reason="Numba is not installed")

    @numba.njit
    def square(v):
        return v * v

    @numba.njit(parallel=True)
    def total(x):
        s = 0.0
        for i in numba.prange(len(x)):
            s += square(x[i])
        return s

    assert pp.jit(total)(np.arange(4.0)) == 14
    assert pp.jit(total.py_func)(np.arange(4.0)) == 14


def test_functions_that_numba_has_decorated():
    """By what Numba's objects have, also where it is not installed."""

    class Dispatcher:
        def __init__(self, function):
            self.py_func = function

    class prange:  # noqa: N801
        def __new__(cls, *bounds):
            return range(*bounds)

    prange.__module__ = "numba.misc.special"
    square = Dispatcher(lambda v: v * v)

    @Dispatcher
    def total(x):
        s = 0.0
        for i in prange(len(x)):
            s += square(x[i])
        return s

    assert pp.jit(total)(np.arange(4.0)) == 14
