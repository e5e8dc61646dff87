# tests/python/test_cython_constructs.py: what regions of Cython take, beside NumPy and the same file compiled by plain Cython.
import re

import numpy as np
import pardo as pp
import pytest

pytest.importorskip("Cython")
pytest.importorskip("setuptools")
from cython_regions import DEVICES, NEEDS_A_COMPILER, PROGRAMS, compiled

pytestmark = [pytest.mark.once, pytest.mark.slow, pytest.mark.filterwarnings("ignore"), NEEDS_A_COMPILER]

POINT = np.dtype([("x", "f8"), ("y", "f8"), ("tag", "i4")], align=True)
WEIGHTS = np.dtype([("w", "f8", 3), ("turns", "l", (2, 2)), ("n", "l")], align=True)
PAIR = np.dtype([("one", WEIGHTS), ("other", WEIGHTS)], align=True)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The file as Cython compiles it, without regions."""
    folder = tmp_path_factory.mktemp("plain")
    for name in ("constructs.pyx", "inlined.pxd"):
        text = re.sub(r", device=\{.*?\}|(?<=parallel\()device=\{.*?\}|@cython\.device\n", "", (PROGRAMS / name).read_text())
        (folder / name).write_text(text)
    return compiled(folder, folder / "constructs.pyx", "plain_constructs")


@pytest.fixture(scope="module")
def regions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constructs")
    (folder / "inlined.pxd").write_text((PROGRAMS / "inlined.pxd").read_text())
    return compiled(folder, PROGRAMS / "constructs.pyx")


@pytest.fixture(params=DEVICES)
def device(request):
    with pp.device_context(request.param):
        yield request.param


def points(n=5):
    p = np.zeros(n, POINT)
    p["x"], p["y"], p["tag"] = np.arange(n) + 0.5, np.arange(n) * -2.0, np.arange(n)
    return p


def filled(dtype, n=5):
    """Records whose numbers are small integers."""
    x = np.zeros(n, dtype)
    for name in dtype.names:
        values = filled(dtype[name], n) if dtype[name].names else np.arange(x[name].size).reshape(x[name].shape) % 7 + 1
        x[name] = values
    return x


# Calls of functions of the file, whose results and arrays are those of plain Cython.
CALLS = {
    "structs_moved": lambda: (points(), 1.5),
    "structs_made": lambda: (points(), np.zeros(5)),
    "structs_made, none": lambda: (points(0), np.zeros(0)),
    "arrays_in_structs": lambda: (filled(WEIGHTS), np.zeros(5)),
    "structs_in_structs": lambda: (filled(PAIR), np.zeros(5)),
    "enums": lambda: (np.array([4, 1, 4, 7], "i4"), 5),
    "constants": lambda: (np.arange(4.0),),
    "overflows, +": lambda: (np.array([2**31 - 2, -(2**31) + 1], "i4"), np.array([1, -1], "i4"), 0),
    "overflows, -": lambda: (np.array([-(2**31) + 1, 5], "i4"), np.array([1, -7], "i4"), 1),
    "overflows, *": lambda: (np.array([-(2**31), 46340, -1, 0], "i4"), np.array([1, 46340, 2**31 - 1, -(2**31)], "i4"), 2),
    "overflows, <<": lambda: (np.array([1, 3, 0], "i4"), np.array([30, 29, 31], "i4"), 3),
    "overflows_of_64_bits": lambda: (np.array([2**31, -3]), np.array([2**31, 3]), np.array([1, 2**64 // 3], "u8")),
    "divided": lambda: (np.array([7, -7, 9]), np.array([2, 2, -4])),
    "divided_floats": lambda: (np.array([7.0, -7.5]), np.array([2.0, 2.0])),
    "divided_as_in_c": lambda: (np.array([7.0, -7.5]), np.array([2.0, 2.0])),
    "uninitialized": lambda: (True,),
    "returned": lambda: (np.array([1.0, 5, 2, 0]), 4),
    "returned, nothing": lambda: (np.array([1.0, 5, 2, 7]), 10),
    "returned_from_rows": lambda: (np.array([[1.0, 2], [3, 4], [5, 9], [1, 1]]), 8),
    "returned_from_rows, nothing": lambda: (np.array([[1.0, 2], [3, 4], [5, 9], [1, 1]]), 100),
    "returned_nothing": lambda: (np.array([1.0, 5]), 4, np.zeros(1)),
    "returned_nothing, to the end": lambda: (np.array([1.0, 5]), 6, np.zeros(1)),
    "broken": lambda: (np.array([1.0, 5, 2, 7]), 2),
    "broken, to the end": lambda: (np.array([1.0, 5, 2, 7]), -2),
    "broken, none": lambda: (np.zeros(0), -2),
    "nested_break": lambda: (),
    "descending": lambda: (5, -3),
    "descending, none": lambda: (-5, -3),
    "descending_broken": lambda: (7, -3, 1),
    "descending_broken, to the end": lambda: (7, -3, 100),
    "propagated": lambda: (),
    "first_values": lambda: (np.arange(4.0), np.zeros(4)),
    "collatz": lambda: (np.zeros(30, "l"),),
    "fused, f4": lambda: (np.arange(3, dtype="f4"), np.arange(3, dtype="l"), 2),
    "fused, f8": lambda: (np.arange(3, dtype="f8"), np.arange(3, dtype="i4"), 2),
    "narrow": lambda: (np.array([0, 3, 56, 255], "u1"), np.zeros(4, "i8"), False, np.zeros(4)),
    "arrays_of_c": lambda: (np.zeros(7),),
    "moved_pointers": lambda: (np.arange(6.0) + 0.5, np.zeros(6)),
    "parts": lambda: (np.array([1 - 2j, 3j, 2]), np.zeros(3)),
    "rounded": lambda: (np.array([0.5, -2.5, 0.49999999999999994, -0.0]), np.zeros(4, "l"), np.array([1.5, -2.5, 3, 0.4], "f4")),
    "rooted": lambda: (np.array([4.0, 2, 0]), 1.5),
    "of_numpy": lambda: (np.arange(6.0).reshape(2, 3), np.zeros(2)),
    "pointers": lambda: (np.arange(12.0).reshape(4, 3), np.zeros(4)),
    "views": lambda: (np.arange(12.0).reshape(3, 4), np.zeros((3, 4))),
    "swapped": lambda: (np.arange(7.0), np.arange(7)),
    "masked": lambda: (np.array([7, 22, 6]),),
    "closures": lambda: (5,),
}


@pytest.mark.parametrize("call", CALLS)
def test_as_plain_cython(regions, plain, device, call):
    name = call.partition(",")[0]
    mine, theirs = CALLS[call](), CALLS[call]()
    expected = getattr(plain, name)(*theirs)
    result = getattr(regions, name)(*mine)
    assert result == expected
    assert type(result) is type(expected)
    for a, b in zip(mine, theirs, strict=True):
        if getattr(a, "dtype", None) in ("f8", "f4"):
            np.testing.assert_allclose(a, b, rtol=1e-15)  # drivers may contract a product and a sum
        else:
            assert np.array_equal(a, b), (a, b)


def line_of(marker, function):
    """The line of the file where a text is first after the head of a function."""
    lines = (PROGRAMS / "constructs.pyx").read_text().splitlines()
    start = next(k for k, text in enumerate(lines) if f" {function}(" in text)
    return next(k + 1 for k, text in enumerate(lines) if k > start and marker in text)


FAILURES = [
    ("overflows", (np.array([1, 2**31 - 1], "i4"), np.array([1, 1], "i4"), 0), OverflowError, "value too large", "a[i] + b[i]"),
    ("overflows", (np.array([1, -(2**31)], "i4"), np.array([1, 1], "i4"), 1), OverflowError, "value too large", "a[i] - b[i]"),
    ("overflows", (np.array([-1, 3], "i4"), np.array([-(2**31), 3], "i4"), 2), OverflowError, "value too large", "a[i] * b[i]"),
    ("overflows", (np.array([65536, 3], "i4"), np.array([65536, 3], "i4"), 2), OverflowError, "value too large", "a[i] * b[i]"),
    ("overflows", (np.array([1, 3], "i4"), np.array([2, 30], "i4"), 3), OverflowError, "value too large", "a[i] << b[i]"),
    ("overflows_of_64_bits", (np.array([2**32]), np.array([2**31]), np.ones(1, "u8")), OverflowError, "value too large", "a[i] * b[i]"),
    ("overflows_of_64_bits", (np.array([1]), np.array([1]), np.zeros(1, "u8")), OverflowError, "value too large", "u[i] * 3 - 1"),
    ("divided", (np.array([1, 2]), np.array([3, 0])), ZeroDivisionError, "integer division or modulo by zero", "a[i] // b[i]"),
    ("divided_floats", (np.array([1.0, 2]), np.array([3.0, 0])), ZeroDivisionError, "float division", "a[i] / b[i]"),
    ("rooted", (np.array([-2.0, -3]), 0.5), TypeError, "Cannot convert 'complex' with non-zero imaginary component", "x[i] ** 0.5"),
    ("constants", (np.zeros((2, 2)),), ValueError, "Buffer has wrong number of dimensions", ""),
]


@pytest.mark.parametrize("case", range(len(FAILURES)))
def test_failures_as_in_plain_cython(regions, plain, device, case):
    name, arguments, kind, message, where = FAILURES[case]
    if kind is not OverflowError:  # which Cython raises without the GIL: that ends the process
        with pytest.raises(kind, match=message):
            getattr(plain, name)(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments])
    with pytest.raises(kind, match=message) as failed:
        getattr(regions, name)(*[np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments])
    if where:
        assert f'constructs.pyx", line {line_of(where, name)}, in' in str(failed.value)


def test_a_memoryview_without_a_value(regions, plain, device):
    for module in (plain, regions):
        with pytest.raises(UnboundLocalError, match="x"):
            module.uninitialized(False)
