# tests/python/test_methods.py: the methods of Array that are more than a function by another name.
from __future__ import annotations

import warnings

import numpy as np
import pardo as pp
import pytest
from support import check


def test_astype_as_numpy():
    x = pp.asarray([1.5, -2.5])
    check(x.astype(None, copy=False), np.array([1.5, -2.5]))
    check(x.astype("i4", "C", "unsafe"), np.array([1, -2], "i4"))
    check(x.astype("f4", casting="same_kind"), np.array([1.5, -2.5], "f4"))
    for casting in ("no", "equiv", "safe", "same_kind"):
        with pytest.raises(TypeError, match=rf"^astype: cannot cast from float64 to int32 with casting rule '{casting}'"):
            x.astype("i4", casting=casting)
    with pytest.raises(ValueError, match=r"^astype: casting is 'maybe'"):
        x.astype("i4", casting="maybe")
    with pytest.raises(ValueError, match=r"^astype: order is 'X'"):
        x.astype("i4", "X")
    with pytest.raises(TypeError, match=r"^Array.astype\(\) got an unexpected keyword"):
        x.astype("i4", nonsense=1)


def test_lost_imaginary_parts_are_told():
    c = pp.asarray([1 + 2j, 3j])
    for dtype in ("f8", "i4"):
        with pytest.warns(np.exceptions.ComplexWarning, match=r"^astype: ") as seen:
            check(c.astype(dtype), np.array([1, 0], dtype))
        assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(c.astype("c8"), np.array([1 + 2j, 3j], "c8"))
        check(c.astype(bool), np.array([True, True]))


def test_item_takes_integers_only():
    x = pp.asarray([[1.5, 2.5], [3.5, 4.5]])
    for place in ((1,), (np.int64(1),), (0, 1), ((0, 1),), (-3,), (np.array(1),)):
        assert x.item(*place) == 2.5
    for wrong in ((1.5,), (True,), ("a",), (0, 1.5), (None,)):
        with pytest.raises(TypeError, match=r"^item: index"):
            x.item(*wrong)
    for error, wrong in ((ValueError, ()), (ValueError, (0, 0, 0)), (IndexError, (4,)), (IndexError, (0, 2))):
        with pytest.raises(error, match=r"^item: "):
            x.item(*wrong)


def test_transpose_takes_any_integers():
    host = np.zeros((2, 3))
    x = pp.asarray(host)
    for axes in ((), (None,), (1, 0), ((1, 0),), ([1, 0],), (np.int64(1), np.int64(0)), (np.array([1, 0]),)):
        assert x.transpose(*axes).shape == host.transpose(*axes).shape
    v = pp.zeros(3)
    for axes in ((0,), (np.int64(0),), (-1,)):
        assert v.transpose(*axes).shape == (3,)
    for wrong in (1.5, "x"):
        with pytest.raises(TypeError, match=r"^transpose: axis must be an integer"):
            v.transpose(wrong)
    for wrong in ((), (0, 0), (1, 1)):
        with pytest.raises(ValueError, match=r"^transpose: "):
            v.transpose(wrong)


def test_parts_can_be_set():
    host = np.array([1 + 2j, complex(-0.0, np.inf), complex(np.nan, -0.0)])
    x = pp.asarray(host)
    view = x[::2]
    for part, value in (("real", 7), ("imag", np.array([1.5, -0.0, np.inf])), ("real", pp.asarray([1.0, 2.0, 3.0])), ("imag", -0.0)):
        setattr(x, part, value)
        setattr(host, part, np.asarray(value))
        for p in ("real", "imag"):
            np.testing.assert_array_equal(np.asarray(getattr(x, p)), getattr(host, p))
            np.testing.assert_array_equal(np.signbit(np.asarray(getattr(x, p))), np.signbit(getattr(host, p)))
    check(view, host[::2])
    view.real = 0
    check(x, np.array([complex(0, -0.0), complex(2, -0.0), complex(0, -0.0)]))
    r = pp.asarray([1.0, 2.0])
    r.real = 3
    check(r, np.array([3.0, 3.0]))
    with pytest.raises(TypeError, match=r"^imag: an array of float64"):
        r.imag = 0


@pytest.mark.parametrize("transposed", [False, True])
def test_put(transposed):
    for indices, values, mode in [
        ([0, -1], 9, "raise"),
        ([0, 1, 2, 3], [7, 8], "raise"),
        ([0], [7, 8], "raise"),
        (2, [5], "raise"),
        ([], [1], "raise"),
        ([7, -13], [1, 2], "wrap"),
        ([70, -70], [1, 2], "clip"),
    ]:
        host = np.arange(6.0).reshape(2, 3)
        x = pp.asarray(host)
        (x.T if transposed else x).put(indices, values, mode)
        (host.T if transposed else host).put(indices, values, mode)
        check(x, host)
    x = pp.zeros(3)
    x.put(pp.asarray([0, 2]), pp.asarray([1.0, 2.0]))
    check(x, np.array([1.0, 0, 2]))
    with pytest.raises(IndexError, match=r"^put: index 3"):
        x.put([3], 1)
    with pytest.raises(TypeError, match=r"^put: indices must be integers"):
        x.put(pp.zeros(2), 1)
    with pytest.raises(ValueError, match=r"^put: mode"):
        x.put([0], 1, mode="around")


def test_compress_method():
    host = np.arange(6).reshape(2, 3)
    check(pp.asarray(host).compress([True, False, True], axis=1), host.compress([True, False, True], axis=1))


def test_places_must_be_pardos():
    x = pp.zeros(3)
    with pytest.raises(TypeError, match=r"^to_queue: queue must be a pardo.Queue, not int"):
        x.to_queue(3)
    with pytest.raises(TypeError, match=r"^to_device: device must be a pardo.Device or a selection string, not int"):
        x.to_device(3)
    with pytest.raises(TypeError, match=r"^astype: device must be"):
        x.astype("f4", device=3)
    with pytest.raises(TypeError, match=r"^partition: axis must be an integer"):
        x.partition(1, None)


def test_names_of_other_libraries_say_what_to_write():
    x = pp.ones(3)
    for name, text in (
        ("numpy", "use pardo.asnumpy(x)"),
        ("cpu", "use x.to_device('cpu')"),
        ("cuda", "use x.to_device('cuda')"),
        ("to", "use x.to_device(device) or x.astype(dtype)"),
        ("copy_to_host", "use pardo.asnumpy(x)"),
        ("ptp", "use pardo.ptp(x)"),
    ):
        assert not hasattr(x, name)
        assert name not in dir(x)
        with pytest.raises(AttributeError) as caught:
            getattr(x, name)
        assert f"'Array' object has no attribute '{name}': {text}" in str(caught.value)
        with pytest.raises(AttributeError):
            setattr(x, name, 1)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        x.nonsense
