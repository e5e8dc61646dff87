# tests/python/test_assigned_values.py: what does not fit the dtype of the array that it is stored in: each way of storing, against NumPy.
from __future__ import annotations

import warnings

import numpy as np
import pardo as pp
import pytest
from support import DTYPES

NAN, INF = float("nan"), float("inf")

SEQUENCES = [
    [300, 1, -1], (1, 200, 3), range(299, 302), [2**40, 1, 1], [2**63, 1, 1], [2**64, 1, 1], [-1, 2, 3], [2**2000, 1, 1],
    [300.0, 1, 1], [1.9, NAN, 1.0], [1.9, 1e20, 1], [1.9, INF, 1], [-0.5, 0, 1], [1e300, 1, 1], [300, 1.5, 2],
    [1j, 2, 3], [1 + 0j, 2, 3], [True, 300, 1], [np.int64(300), 1, 1], [np.int64(-1), 1, 1], [np.float64(300), 1, 1],
    [np.complex64(1j), 1, 1], [np.array(300), 1, 1], ["1", "2", "3"], ["q", 1, 2], [None, 1, 2], [1, [2], 3], [], [300],
]  # fmt: skip

NUMBERS = [
    300, -1, 2**40, 2**63, 300.0, 1.9, -0.5, -1.5, NAN, INF, 1e19, 1e20, 1j, 1 + 0j, True, "q", "1", None,
    np.int64(300), np.int64(-1), np.uint8(200), np.uint64(2**63), np.float16(300), np.float32(300), np.float64(300),
]  # fmt: skip

ARRAYS = [
    np.array([300, 1, -1]),
    np.array([1j, 2, 3]),
    np.array([300.0, 2, -1]),
    np.array(300),
    np.array(1j),
    np.array([True, False, True]),
]

ONE_WAY = {
    "x[:]": lambda m, x, v: x.__setitem__(slice(None), v),
    "x[...]": lambda m, x, v: x.__setitem__(Ellipsis, v),
    "x[()]": lambda m, x, v: x.__setitem__((), v),
    "x[[0, 1, 2]]": lambda m, x, v: x.__setitem__([0, 1, 2], v),
    "x[mask]": lambda m, x, v: x.__setitem__(x == x, v),
    "x.flat": lambda m, x, v: x.flat.__setitem__(slice(None), v),
    "put": lambda m, x, v: m.put(x, [0, 1, 2], v),
    "put_along_axis": lambda m, x, v: m.put_along_axis(x, m.asarray([0, 1, 2]), v, 0),
    "putmask": lambda m, x, v: m.putmask(x, x == x, v),
    "place": lambda m, x, v: m.place(x, x == x, v),
    "fill_diagonal": lambda m, x, v: m.fill_diagonal(m.reshape(x, (1, 3)), v),
    "insert": lambda m, x, v: m.insert(x, 1, v),
    "copyto": lambda m, x, v: m.copyto(x, v),
    "copyto, where": lambda m, x, v: m.copyto(x, v, casting="unsafe", where=x == x),
    "full": lambda m, x, v: m.full(3, v, dtype=x.dtype),
    "array": lambda m, x, v: m.array(v, dtype=x.dtype),
    "array of a list": lambda m, x, v: m.array([v, v], dtype=x.dtype),
}  # fmt: skip


def outcome(module, way, dtype, value):
    """The result as text, or the exception; a ComplexWarning is one."""
    x = module.zeros(3, dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # overflows of floats
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            made = ONE_WAY[way](module, x, value)
        except (TypeError, ValueError, OverflowError, np.exceptions.ComplexWarning) as e:
            return e
    return np.asarray(x if made is None else made)


def is_refused_by_pardo_only(dtype, value, message):
    """Complex numbers and floats that no integer is near to, which NumPy stores in some ways and not in others; integers of any size."""
    refused = ("64 bits", "there are no values", "is expected, not ")
    return any(text in message for text in refused) or (np.ndim(value) == 0 and np.dtype(dtype).kind in "biu")


@pytest.mark.parametrize("way", ONE_WAY)
def test_what_does_not_fit_is_refused_as_by_numpy(way):
    for value in SEQUENCES + NUMBERS + ARRAYS:
        for dtype in DTYPES:
            theirs, ours = outcome(np, way, dtype, value), outcome(pp, way, dtype, value)
            label = f"{way}, {dtype}, {value!r}: {ours!r}, NumPy's is {theirs!r}"
            if not isinstance(theirs, Exception):
                if isinstance(ours, Exception):
                    assert is_refused_by_pardo_only(dtype, value, str(ours)), label
                else:
                    np.testing.assert_array_equal(ours, theirs, err_msg=label)
            else:
                assert isinstance(ours, Exception) or (way == "full" and dtype == "bool"), label


@pytest.mark.parametrize(
    ("dtype", "value", "error", "message"),
    [
        ("u1", [300, 1, -1], OverflowError, r"element \[0\] is 300, which uint8 cannot hold"),
        ("i4", [1, 2**40, 1], OverflowError, r"element \[1\] is 1099511627776"),
        ("u1", range(299, 302), OverflowError, "299"),
        ("u1", 300.0, OverflowError, "Python integer 300 out of bounds for uint8"),
        ("i1", np.int64(300), OverflowError, "Python integer 300 out of bounds for int8"),
        ("i4", [1.9, NAN, 1], ValueError, r"element \[1\] is nan: cannot convert float NaN to integer"),
        ("f8", [1j, 2, 3], TypeError, r"element \[0\] is 1j"),
        ("f8", "q", ValueError, "could not convert string to float: 'q'"),
        ("i8", None, TypeError, "nan stands for what is missing"),
    ],
)
def test_messages_say_which_value_it_is(dtype, value, error, message):
    x = pp.zeros(3, dtype=dtype)
    with pytest.raises(error, match=rf"^x\[\.\.\.\] = value: .*{message}"):
        x[:] = value
    assert not x.any()


def test_one_element_and_a_row_of_lists():
    x = pp.zeros(3, dtype="i1")
    for value in (200, 200.0, (200,), [200]):
        with pytest.raises(OverflowError):
            x[0] = value
    y = pp.zeros((2, 3), dtype="u1")
    with pytest.raises(OverflowError):
        y[0] = (1, 2, 300)
    y[0] = (1, 2, 30)
    assert y.tolist() == [[1, 2, 30], [0, 0, 0]]
    assert not x.any()


def test_fields_of_records():
    p = pp.zeros(2, dtype=[("a", "u1"), ("b", "f4")])
    for store in (
        lambda: p.__setitem__("a", [300, 1]),
        lambda: p["a"].__setitem__(slice(None), [300, 1]),
        lambda: p.__setitem__(0, (300, 1)),
    ):
        with pytest.raises(OverflowError):
            store()
    with pytest.raises(TypeError):
        p["b"] = [1j, 2]


def test_lists_with_arrays_among_them():
    one = pp.asarray(1, dtype="i8")
    x = pp.zeros(2, dtype="u1")
    for value, error in (([one, 300], OverflowError), ([one, 300.0], OverflowError), ([one, NAN], ValueError), ([one, 1j], TypeError)):
        with pytest.raises(error):
            x[:] = value
    x[:] = [one, 7]
    assert x.tolist() == [1, 7]
    with pytest.raises(OverflowError):
        pp.asarray([one, 300.0], dtype="u1")


@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_lost_imaginary_parts_warn_at_the_line(dtype):
    x = pp.zeros(3, dtype=dtype)
    for value in (pp.ones(3) * 1j, np.ones(3) * 1j, pp.ones(1) * 1j, [pp.asarray(1j), 1, 2]):
        with pytest.warns(np.exceptions.ComplexWarning, match=r"x\[\.\.\.\] = value: the imaginary parts are discarded") as seen:
            x[:] = value
        assert [w.filename for w in seen] == [__file__]
    with pytest.warns(np.exceptions.ComplexWarning, match="^put: ") as seen:
        pp.put(x, [0], pp.ones(1) * 1j)
    assert [w.filename for w in seen] == [__file__]


def test_bfloat16_takes_lists():
    pytest.importorskip("ml_dtypes")
    x = pp.zeros(3, dtype=pp.bfloat16)
    x[:] = [1, 2.5, 3]
    assert x.astype("f4").tolist() == [1, 2.5, 3]
    with pytest.raises(TypeError):
        x[:] = [1j, 2, 3]


def test_what_is_made_of_complex_arrays_warns():
    z = pp.ones(2) * 1j
    for name, make in (
        ("asarray", lambda: pp.asarray(z, dtype="f4")),
        ("array", lambda: pp.array(z, dtype="i4")),
        ("full", lambda: pp.full(2, z, dtype="f4")),
        ("concat", lambda: pp.concat([z, pp.ones(1)], dtype="f4", casting="unsafe")),
        ("insert", lambda: pp.insert(pp.zeros(2), 0, z)),
    ):
        with pytest.warns(np.exceptions.ComplexWarning, match=f"^{name}: the imaginary parts are discarded") as seen:
            make()
        assert [w.filename for w in seen] == [__file__]
    assert pp.asarray(z, dtype="bool").all()


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8"])
def test_ranges_begin_with_values_that_fit(dtype):
    for ends in (
        (299, 302),
        (250, 260),
        (255, 257),
        (-1, 2),
        (299.0, 302),
        (0, 600, 300),
        (0, -3, -1),
        (300, 300),
        (0, 1, 300),
        (126, 131),
    ):
        try:
            theirs = np.arange(*ends, dtype=dtype)
        except OverflowError:
            with pytest.raises(OverflowError, match=r"^arange: "):
                pp.arange(*ends, dtype=dtype)
        else:
            np.testing.assert_array_equal(pp.arange(*ends, dtype=dtype), theirs)
