# tests/python/test_float_errors.py: errstate and its kin: the errors that NumPy notes, late, with the line that recorded the operation.
import asyncio
import contextlib
import io
import threading
import warnings

import numpy as np
import pardo as pp
import pytest

TINY, HUGE = np.finfo("f8").tiny, np.finfo("f8").max


def noted(module, call):
    """The kinds of error that a call notes in NumPy or here, in order."""
    kinds = []
    with module.errstate(all="call", call=lambda kind, bit: kinds.append((kind, bit))):
        result = call(module)
    if module is pp:
        pp.asnumpy(result)
        str(pp.zeros(1))  # between two instructions Python is told, at the latest
    return kinds


ONE = {
    "reciprocal": [2.0, 0.0],
    "sqrt": [4.0, -1.0],
    "log": [1.0, 0.0],
    "log2": [-1.0],
    "log10": [0.0, -2.0],
    "log1p": [-1.0, -2.0],
    "exp": [1.0, 1e4],
    "exp2": [2e3],
    "expm1": [1e5],
    "sinh": [1e3],
    "cosh": [-1e3],
    "sin": [np.inf],
    "cos": [-np.inf],
    "tan": [np.inf, 1.0],
    "arcsin": [2.0],
    "arccos": [-1.5],
    "arccosh": [0.5],
    "arctanh": [1.0, 0.5],
    "square": [1e200, 1.0],
    "negative": [np.nan, np.inf],
    "rint": [np.inf],
    "absolute": [np.nan],
    "isnan": [np.nan],
}
TWO = {
    "add": [([HUGE], [HUGE]), ([np.inf], [-np.inf]), ([1.0], [np.nan])],
    "subtract": [([np.inf], [np.inf]), ([HUGE], [-HUGE])],
    "multiply": [([HUGE], [2.0]), ([np.inf], [0.0]), ([TINY], [0.3]), ([TINY], [0.5])],
    "divide": [([1.0, 0.0], [0.0, 0.0]), ([0.0], [0.0]), ([HUGE], [0.5]), ([TINY], [3.0]), ([np.inf], [0.0]), ([1.0], [np.inf])],
    "power": [([0.0], [-1.0]), ([1e10], [100.0]), ([-1.0], [0.5]), ([1e-10], [100.0])],
    "fmod": [([1.0], [0.0])],
    "hypot": [([HUGE], [HUGE])],
    "maximum": [([np.nan], [1.0])],
    "copysign": [([np.nan], [1.0])],
}


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_operand(name):
    x = np.asarray(ONE[name])
    expected = noted(np, lambda m: getattr(m, name)(x))
    assert noted(pp, lambda m: getattr(m, name)(pp.asarray(x))) == expected


@pytest.mark.parametrize(("name", "operands"), [(name, operands) for name, cases in TWO.items() for operands in cases])
def test_functions_of_two_operands(name, operands):
    a, b = map(np.asarray, operands)
    expected = noted(np, lambda m: getattr(m, name)(a, b))
    assert noted(pp, lambda m: getattr(m, name)(pp.asarray(a), pp.asarray(b))) == expected
    if b.size == 1:  # a number beside an array
        assert noted(pp, lambda m: getattr(m, name)(pp.asarray(a), float(b[0]))) == expected


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_every_dtype(dtype):
    x = np.asarray([1, 0, 2], dtype)
    assert ("divide by zero", 1) in noted(pp, lambda m: 1 / pp.asarray(x)) or dtype.startswith("complex")
    big = np.asarray([np.finfo(dtype).max], dtype)
    assert noted(pp, lambda m: pp.asarray(big) * pp.asarray(big)) == noted(np, lambda m: big * big)
    assert noted(pp, lambda m: pp.asarray(x) + pp.asarray(x)) == []


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod"])
def test_integers(name, dtype):
    a, b = np.asarray([5, 7], dtype), np.asarray([0, 2], dtype)
    expected = noted(np, lambda m: getattr(m, name)(a, b))
    assert expected == [("divide by zero", 1)]
    assert noted(pp, lambda m: getattr(m, name)(pp.asarray(a), pp.asarray(b))) == expected
    assert noted(pp, lambda m: getattr(m, name)(pp.asarray(b), pp.asarray(a))) == []
    if dtype.startswith("i") and name == "floor_divide":
        least = np.asarray([np.iinfo(dtype).min], dtype)
        assert noted(pp, lambda m: pp.asarray(least) // -1) == noted(np, lambda m: least // np.asarray(-1, dtype))


def test_casts():
    for x, dtype in (
        ([1.5, np.nan], "int32"),
        ([1e10], "int32"),
        ([-1.0, 2.0], "int8"),
        ([1e39], "float32"),
        ([1e-42], "float32"),
        ([1.0], "int8"),
    ):
        host = np.asarray(x)
        expected = noted(np, lambda m: host.astype(dtype))  # noqa: B023
        assert noted(pp, lambda m: pp.asarray(host).astype(dtype)) == expected, (x, dtype)  # noqa: B023


def test_sums_and_products():
    for x in ([HUGE, HUGE], [np.inf, -np.inf], [1.0, np.nan], [1e200, 1e200], [np.inf, 1.0]):
        host = np.asarray([x, [1.0, 2.0]])
        for name in ("sum", "prod"):
            for axis in (None, 0, 1):
                with np.errstate(all="ignore"):
                    result = getattr(np, name)(host, axis=axis)
                    over = np.isinf(result) & np.isfinite(host).all(axis=axis)
                    invalid = np.isnan(result) & ~np.isnan(host).any(axis=axis)
                expected = [("overflow", 2)] * bool(over.any()) + [("invalid value", 8)] * bool(invalid.any())
                assert noted(pp, lambda m: getattr(m, name)(pp.asarray(host), axis=axis)) == expected, (x, name, axis)  # noqa: B023
    assert noted(pp, lambda m: pp.mean(pp.zeros(0))) == [("invalid value", 8)]


def test_nothing_is_noted_of_nothing():
    empty = pp.zeros((0, 3))
    assert noted(pp, lambda m: 1 / empty) == []
    assert noted(pp, lambda m: pp.zeros((0,), "i4") // 0) == []


def test_raise_is_late_and_names_the_line():
    x = pp.asarray([1.0, 0.0])
    with pp.errstate(divide="raise"):
        y = 1 / x
        fine = x + 1
    z = y * 2
    np.testing.assert_array_equal(pp.asnumpy(fine), [2, 1])
    with pytest.raises(FloatingPointError, match=r"divide by zero encountered in divide.*test_float_errors\.py:\d+"):
        z.wait()
    np.testing.assert_array_equal(pp.asnumpy(x), [1, 0])


def test_an_operand_keeps_its_value():
    x = pp.asarray([1.0, 0.0])
    with pp.errstate(all="raise"):
        x += 1
        np.testing.assert_array_equal(pp.asnumpy(x), [2, 1])
        with pytest.raises(FloatingPointError, match="overflow encountered in multiply"):
            (x * HUGE * HUGE).wait()
        out = pp.zeros(2)
        with pytest.raises(FloatingPointError, match="invalid value encountered in sqrt"):
            pp.sqrt(pp.asarray([1.0, -1.0]), out=out).wait()
    np.testing.assert_array_equal(pp.asnumpy(x), [2, 1])
    (x + 1).wait()
    x.queue.wait()


def test_warnings_have_the_line_of_the_operation():
    x = pp.asarray([1.0, 0.0])
    with pp.errstate(all="warn"):
        y = 1 / x  # this line
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y.wait()
        str(y)  # between two instructions at the latest
    (w,) = [w for w in caught if issubclass(w.category, RuntimeWarning)]
    assert str(w.message) == "divide by zero encountered in divide"
    assert w.filename == __file__
    with open(__file__, encoding="utf-8") as f:
        assert "this line" in f.read().splitlines()[w.lineno - 1]


def test_print_and_log(capsys):
    with pp.errstate(divide="print"):
        (1 / pp.asarray([0.0, 1.0])).wait()
    str(pp.zeros(1))
    assert capsys.readouterr().out == "Warning: divide by zero encountered in divide\n"
    log = io.StringIO()
    with pp.errstate(divide="log", call=log):
        (1 / pp.asarray([0.0, 1.0])).wait()
    str(pp.zeros(1))
    assert log.getvalue() == "Warning: divide by zero encountered in divide\n"


def test_the_state_is_numpys():
    ignored = dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")
    assert pp.geterr() == ignored
    with pp.errstate(over="raise"):
        assert pp.geterr() == {**ignored, "over": "raise"}
        with pp.errstate(all="warn", over="ignore"):
            assert pp.geterr() == {"divide": "warn", "over": "ignore", "under": "warn", "invalid": "warn"}
        assert pp.geterr()["over"] == "raise"
    assert pp.geterr() == ignored
    old = pp.seterr(invalid="warn")
    assert old == ignored
    assert pp.seterr(**old) == {**ignored, "invalid": "warn"}
    assert pp.geterrcall() is None
    assert pp.seterrcall(print) is None
    assert pp.geterrcall() is print
    assert pp.seterrcall(None) is print


def test_decorates_functions():
    @pp.errstate(divide="raise")
    def inverse(x):
        return (1 / x).wait()

    for _ in range(2):
        with pytest.raises(FloatingPointError):
            inverse(pp.asarray([0.0, 1.0]))
    assert pp.geterr()["divide"] == "ignore"


def test_wrong_arguments():
    with pytest.raises(ValueError, match="seterr: divide is 'bogus'"):
        pp.seterr(divide="bogus")
    with pytest.raises(ValueError, match="errstate: all is 3"), pp.errstate(all=3):
        pass
    with pytest.raises(ValueError, match="needs a function"), pp.errstate(all="call"):
        pass
    with pytest.raises(ValueError, match="a method write"), pp.errstate(all="log", call=print):
        pass
    with pytest.raises(ValueError, match="seterrcall: expected a function"):
        pp.seterrcall(3)
    with pytest.raises(TypeError):
        pp.errstate(divide_by_zero="warn")
    state = pp.errstate(all="warn")
    with state, pytest.raises(TypeError, match="entered already"), state:
        pass
    assert pp.geterr()["divide"] == "ignore"


def test_threads_and_tasks_have_their_own():
    seen = []
    with pp.errstate(all="raise"):
        thread = threading.Thread(target=lambda: seen.append(pp.geterr()["over"]))
        thread.start()
        thread.join()
    assert seen == ["ignore"]

    async def task(mode):
        with pp.errstate(divide=mode):
            await asyncio.sleep(0)
            y = 1 / pp.asarray([0.0])
            await asyncio.sleep(0)
            with contextlib.suppress(FloatingPointError):
                y.wait()
                return "silent"
        return "raised"

    async def both():
        return await asyncio.gather(task("raise"), task("ignore"), task("raise"))

    assert asyncio.run(both()) == ["raised", "silent", "raised"]


def test_functions_of_many_operations_note_nothing_of_their_own():
    x = pp.asarray([[1.0, 2.0, 4.0], [3.0, 5.0, 7.0]])
    nan = pp.asarray([1.0, np.nan, 3.0])
    with pp.errstate(all="raise", under="ignore"):
        for call in (
            lambda: pp.var(x),
            lambda: pp.std(x, axis=0),
            lambda: pp.mean(x, axis=1),
            lambda: pp.median(x),
            lambda: pp.percentile(x, 30),
            lambda: pp.nanmean(nan),
            lambda: pp.nanvar(nan),
            lambda: pp.nansum(nan),
            lambda: pp.sinc(x),
            lambda: pp.sinc(pp.zeros(3)),
            lambda: pp.interp(pp.asarray([1.5, 2.5]), pp.asarray([1.0, 2.0, 3.0]), pp.asarray([3.0, 2.0, 0.0])),
            lambda: pp.gradient(x[0]),
            lambda: pp.isclose(x, x + 1e-9),
            lambda: pp.linspace(0, 1, 5),
            lambda: pp.logspace(0, 2, 5),
            lambda: pp.geomspace(1, 100, 5),
            lambda: pp.histogram(x, 4)[0],
            lambda: pp.corrcoef(x),
            lambda: pp.nan_to_num(nan),
            lambda: pp.logaddexp(x, x),
            lambda: pp.divmod(x, 2.0)[0],
            lambda: pp.modf(x)[0],
            lambda: pp.frexp(x)[0],
            lambda: pp.ldexp(x, 2),
            lambda: x @ x.T,
            lambda: pp.cumsum(x),
            lambda: pp.unwrap(x[0]),
            lambda: pp.round(x, 2),
        ):
            pp.asnumpy(call())
    x.queue.wait()
