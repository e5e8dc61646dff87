# tests/python/test_python_in_loops.py: what Python writes in loops and around them: what is returned, defaults by name, generators.
import zlib

import numpy as np
import pardo as pp
import pytest

pytestmark = pytest.mark.once

X = np.arange(1.0, 7.0)


def gives_an_array(x, others):
    for i in range(len(x)):
        if x[i] > 3:
            return x
    return None


def gives_what_is_no_number(x, others):
    for i in range(len(x)):
        if x[i] > 4:
            return others, "found", x[0] * 2
        if x[i] < 0:
            return None
    return []


def gives_one_of_several(x, others):
    for i in range(len(x)):
        if x[i] == 2:
            return len(others) + 0.5
        if x[i] == 1 and len(x) == 1:
            return True
    return None


def named_defaults(x, others):
    def scaled(v, w=1.0, *, by=2, plus):
        return v * by + w * plus

    for i in range(len(x)):
        x[i] = scaled(x[i], plus=3) + scaled(x[i], 4.0, plus=1, by=x[i])
    return x


def defaults_inside(x, others):
    for i in range(len(x)):

        def moved(v, by=2.5, *, times=2):
            return v * times + by

        x[i] = moved(x[i]) + moved(x[i], 1.0, times=3)
    return x


def generators_at_once(x, others):
    n = np.float64(0)
    for i in range(len(x)):
        n += x[0] + sum(x[k] for k in range(i)) + max(k * i for k in range(i + 1))
    return n


def errors_ignored(x, others):
    with np.errstate(all="ignore"):
        for i in range(len(x)):
            with np.errstate(divide="ignore", invalid="ignore"):
                x[i] = 1 / (x[i] - 3) if x[i] != 3 else 0.0
    return x


@pytest.mark.parametrize(
    "function",
    [gives_an_array, gives_what_is_no_number, gives_one_of_several, named_defaults, defaults_inside, generators_at_once, errors_ignored],
)
@pytest.mark.parametrize("n", [6, 3, 1, 0])
def test_as_python(function, n):
    mine, theirs, others = X[:n].copy(), X[:n].copy(), {"a": 1}
    got, expected = pp.jit(function, strict=True)(mine, others), function(theirs, others)
    assert np.array_equal(mine, theirs)
    assert type(got) is type(expected)
    if isinstance(expected, np.ndarray):
        assert got is mine
    elif isinstance(expected, tuple):
        assert (got[0] is others, *map(type, got)) == (True, *map(type, expected))
        assert got[1:] == expected[1:]
    else:
        assert got == expected


def test_parameters_by_name_take_no_positions():
    def f(v, *, w=2):
        return v + w

    @pp.jit
    def wrong(x):
        for i in pp.prange(len(x)):
            x[i] = f(x[i], 3)

    with pytest.raises(TypeError, match=r"f\(\) takes 1 argument, but 2 were given"):
        wrong(X.copy())


def test_functions_without_parameters_take_nothing():
    def one():
        return 1.0

    @pp.jit
    def wrong(x):
        for i in pp.prange(len(x)):
            x[i] = one(x[i])

    with pytest.raises(TypeError, match=r"one\(\) takes 0 arguments, but 1 was given"):
        wrong(X.copy())


def test_errors_that_are_to_be_raised_stay_python():
    def raised(x):
        for i in range(len(x)):
            with np.errstate(divide="raise"):
                x[i] = 1 / x[i]

    with pytest.warns(RuntimeWarning, match="takes of np.errstate only keywords that are 'ignore'"), pytest.raises(FloatingPointError):
        pp.jit(raised)(np.zeros(2))


def test_programs_for_other_kinds_of_arguments_are_shown():
    def checksum(data):
        c = 0xFFFFFFFF
        for b in data:
            c ^= b
            for _ in range(8):
                c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1
        return c ^ 0xFFFFFFFF

    loop = pp.jit(checksum, strict=True)
    for data in (b"abc", b"", bytes(100), bytearray(b"xyz"), b"once more"):
        assert loop(data) == zlib.crc32(data)
    assert "data: uint8 array" in loop.inspect()
    assert "pardo_entry" in loop.inspect("asm")
    assert "data: uint8 array" in loop.diagnostics()
    assert "a Python int" in loop.types()


def test_notebooks_show_what_became_of_loops():
    @pp.jit
    def doubled(x: np.ndarray, by: float = 2.0):
        for i in pp.prange(len(x)):
            x[i] *= by

    @pp.kernel
    def filled(item: pp.Item, x):
        x[item.get_id(0)] = 1

    assert "It is compiled when it is called first." in doubled._repr_html_()
    doubled(np.ones(3))
    assert "a parallel loop over `i`" in doubled._repr_html_()
    assert "by: float = 2.0" in doubled._repr_html_()
    assert "It is compiled when it is launched first." in filled._repr_html_()
    filled[3](pp.zeros(3))
    assert "program 1 on cpu:0" in filled._repr_html_()
