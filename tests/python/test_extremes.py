# tests/python/test_extremes.py: the lesser and the greater of numbers, by functions and by conditions, where compilers know one of them:
# LLVM 19 makes `abs(x)` with x's sign of what stood in `max(abs(x), 0.0)`.
import linecache

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once

OPERANDS = ["x", "abs(x)", "-abs(x)", "abs(np.floor(x))", "np.sqrt(abs(x))", "np.copysign(x, x * x)", "x * x"]
FORMS = [
    "np.maximum({a}, {b})",
    "np.maximum({b}, {a})",
    "np.minimum({a}, {b})",
    "np.minimum({b}, {a})",
    "np.fmax({a}, {b})",
    "np.fmax({b}, {a})",
    "np.fmin({a}, {b})",
    "np.fmin({b}, {a})",
    "({a} if {a} > {b} else {b})",
    "({a} if {a} != {a} else ({a} if {a} > {b} else {b}))",
    "({a} if {a} != {a} else ({a} if {b} < {a} else {b}))",
    "({a} if {a} == {a} and {a} > {b} else {b})",
    "({a} if {a} != {a} or {a} > {b} else {b})",
    "({b} if {a} <= {b} else {a})",
    "({a} if {a} != {a} else ({a} if {a} < {b} else {b}))",
]


def function_of(operand: str, dtype: str):
    """A function of one element for all forms and limits, its text, and how many there are."""
    limits = [f"np.{dtype}({v})" for v in ("0.0", "-0.0", "1.0", "-1.0", "np.inf", "np.nan")]
    forms = [form.format(a="a", b=limit) for form in FORMS for limit in limits]
    lines = ["def extremes(v, o):", "    for i in pp.prange(v.shape[0]):"]
    for k, form in enumerate(forms):  # each has an element of its own: what compilers share they look at less closely
        lines += [f"        x = v[i, {k}]", f"        a = {operand}", f"        o[i, {k}] = {form}"]
    text, name, names = "\n".join(lines) + "\n", f"<extremes of {operand}>", {"np": np, "pp": pp}
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), names)
    return names["extremes"], len(forms)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("operand", OPERANDS)
def test_with_constants(device, dtype, operand):
    function, count = function_of(operand, dtype)
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 3.0, -3.0] * 3, dtype)
    values = np.repeat(values[:, None], count, axis=1)
    wanted = np.zeros(values.shape, dtype)
    with np.errstate(all="ignore"):
        function(values, wanted)
    out = pp.zeros(wanted.shape, dtype=dtype, device=device)
    pp.jit(function)(pp.asarray(values, device=device), out)
    assert_array_equal(pp.asnumpy(out), wanted)
