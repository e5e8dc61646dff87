# tests/python/test_constants_that_fit.py: what a program's own numbers become: the numbers that NumPy and Python give, or OverflowError.
import itertools
import linecache

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

SIGNED = [f"int{8 * n}" for n in (1, 2, 4, 8)]
INTEGERS = SIGNED + ["u" + name for name in SIGNED]
NEAR = {bound + d for name in INTEGERS for bound in (np.iinfo(name).min, np.iinfo(name).max) for d in (-1, 0, 1)}
BOUNDS = sorted(v for v in NEAR if -(2**63) <= v < 2**64)
FLOATS = [-129.0, -128.9, -1.0, -0.5, 127.9, 128.0, 255.5, 256.0, 1e10, 2.0**63, 2.0**64, -(2.0**63), 1e300]

LOOP = """
@pp.jit
def f(out):
    for i in pp.prange(1):
{body}
"""
KERNEL = """
@pp.kernel
def f(item: pp.Item, out):
    i = item.get_id(0)
{body}
"""


def made(form, *lines):
    """A compiled function whose body is these lines."""
    text = form.format(body="\n".join(f"        {line}" if form is LOOP else f"    {line}" for line in lines))
    name = f"<constants {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"pp": pp, "np": np, "LARGE": 2**63, "MOST": 2**64 - 1, "BELOW": -(2**63), "THREE": 3}
    exec(compile(text, name, "exec"), names)
    return names["f"]


def run(form, out, *lines):
    f = made(form, *lines)
    if form is LOOP:
        f(out)
    else:
        f[1](out).wait()


def of_numpy(dtype, value):
    try:
        return np.dtype(dtype).type(value)
    except OverflowError:
        return None


@pytest.mark.parametrize("form", [LOOP, KERNEL], ids=["loop", "kernel"])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_conversions_of_constants(dtype, form):
    every = [(v, of_numpy(dtype, v)) for v in BOUNDS + FLOATS]
    fit = [(v, e) for v, e in every if e is not None]
    out = pp.zeros((1, len(fit)), dtype=dtype)
    run(form, out, *(f"out[i, {k}] = np.{dtype}({v!r})" for k, (v, _) in enumerate(fit)))
    assert_array_equal(pp.asnumpy(out)[0], np.array([e for _, e in fit]))
    for v, expected in every:
        if expected is not None:
            continue
        for expression in (f"np.{dtype}({v!r})", f"np.full(2, {v!r}, np.{dtype})[0]"):
            text = rf"f: Python integer {int(v)} out of bounds for {dtype}\n[\s\S]*out\[i, 0\] = "
            with pytest.raises(OverflowError, match=text):
                run(form, out, f"out[i, 0] = {expression}")


@pytest.mark.parametrize(("value", "error"), [("np.nan", ValueError), ("np.inf", OverflowError), ("-np.inf", OverflowError)])
def test_no_integer_is_nan_or_infinite(value, error):
    with pytest.raises(error, match=r"^f: cannot convert float"):
        run(LOOP, pp.zeros((1, 1)), f"out[i, 0] = np.int32({value})")
    with pytest.raises(error, match=r"^cannot convert float"):
        np.int32(eval(value))


def test_values_of_numpy_and_those_that_come_at_run_time_wrap_as_in_c():
    out = pp.zeros((1, 3), dtype="int64")
    run(LOOP, out, "out[i, 0] = np.int8(np.int16(300))", "out[i, 1] = np.uint8(np.int64(-1))", "out[i, 2] = np.int8(np.int64(i) + 200)")
    assert out[0].tolist() == [44, 255, -56]


@pytest.mark.parametrize("operator", ["+", "-", "*", "//", "%", "<<", ">>", "&", "|", "^", "**"])
def test_arithmetic_of_constants(operator):
    values = {"LARGE": 2**63, "MOST": 2**64 - 1, "BELOW": -(2**63), "THREE": 3, "(-1)": -1, "0": 0, "64": 64, "2": 2}
    fit = []
    for a, b in itertools.product(values, values):
        x, y = values[a], values[b]
        if (operator in ("<<", ">>", "**") and y < 0) or (operator in ("//", "%") and y == 0):
            continue
        small = operator not in ("<<", "**") or y < 128 or x in (0, 1, -1)
        expected = eval(f"x {operator} y") if small and not (operator == "<<" and y > 1000) else 0 if x == 0 else 2**70
        if -(2**63) <= expected < 2**64:
            fit.append((f"{a} {operator} {b}", expected))
            continue
        with pytest.raises(OverflowError, match=r"f: .* does not fit an int64 or a uint64, in which[\s\S]*out\[i, 0\] = "):
            run(LOOP, pp.zeros((1, 1)), f"out[i, 0] = {a} {operator} {b}")
    small = [(t, e) for t, e in fit if e < 2**63]
    large = [(t, e) for t, e in fit if e >= 2**63]
    for dtype, rows in (("int64", small), ("uint64", large)):
        out = pp.zeros((1, max(len(rows), 1)), dtype=dtype)
        run(LOOP, out, "pass", *(f"out[i, {k}] = {t}" for k, (t, _) in enumerate(rows)))
        assert out[0].tolist()[: len(rows)] == [e for _, e in rows]


@pytest.mark.parametrize("expression", ["-LARGE", "-BELOW", "-(-LARGE)", "abs(BELOW)", "abs(-LARGE)", "~BELOW", "-(-(-LARGE))", "abs(-3)"])
def test_signs_of_constants(expression):
    expected = eval(expression, {"LARGE": 2**63, "BELOW": -(2**63)})
    out = pp.zeros((1, 1), dtype="uint64" if expected > 0 else "int64")
    run(LOOP, out, f"out[i, 0] = {expression}")
    assert out[0].tolist() == [expected]


@pytest.mark.parametrize("expression", ["-MOST", "~LARGE", "~MOST", "-(LARGE + 1)"])
def test_signs_of_constants_that_are_too_large(expression):
    with pytest.raises(OverflowError, match=r"f: [-~]\d+ does not fit an int64 or a uint64, in which"):
        run(LOOP, pp.zeros((1, 1)), f"out[i, 0] = {expression}")


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**400, 10**5000], ids=lambda v: f"{v.bit_length()}_bits")
def test_constants_beyond_64_bits(value):
    BIG = value

    @pp.jit
    def f(out):
        for i in pp.prange(1):
            out[i] = BIG

    with pytest.raises(OverflowError, match=r"^f: .* does not fit an int64 or a uint64, in which[\s\S]*out\[i\] = BIG"):
        f(pp.zeros((1, 1)))
