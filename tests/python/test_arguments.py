# tests/python/test_arguments.py: what arguments may be; messages name what the user called.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest

x = pp.zeros((2, 3))

AXIS_CALLS = {
    "cumsum": lambda a: pp.cumsum(x, a),
    "cumprod": lambda a: pp.cumprod(x, a),
    "cumulative_sum": lambda a: pp.cumulative_sum(x, axis=a),
    "cumulative_prod": lambda a: pp.cumulative_prod(x, axis=a),
    "diff": lambda a: pp.diff(x, axis=a),
    "sort": lambda a: pp.sort(x, a),
    "argsort": lambda a: pp.argsort(x, a),
    "partition": lambda a: pp.partition(x, 0, a),
    "argpartition": lambda a: pp.argpartition(x, 0, a),
    "top_k": lambda a: pp.top_k(x, 1, axis=a),
    "take": lambda a: pp.take(x, [0], a),
    "take_along_axis": lambda a: pp.take_along_axis(x, pp.zeros((2, 3), "i8"), a),
    "swapaxes": lambda a: pp.swapaxes(x, 0, a),
    "moveaxis": lambda a: pp.moveaxis(x, 0, a),
    "permute_dims": lambda a: pp.permute_dims(x, (0, a)),
    "unstack": lambda a: pp.unstack(x, axis=a),
    "split": lambda a: pp.split(x, 1, a),
    "array_split": lambda a: pp.array_split(x, 1, a),
    "tensordot": lambda a: pp.tensordot(x, x, axes=([a], [0])),
    "sum": lambda a: pp.sum(x, a),
    "prod": lambda a: pp.prod(x, a),
    "max": lambda a: pp.max(x, a),
    "min": lambda a: pp.min(x, a),
    "any": lambda a: pp.any(x, a),
    "all": lambda a: pp.all(x, a),
    "mean": lambda a: pp.mean(x, a),
    "var": lambda a: pp.var(x, a),
    "count_nonzero": lambda a: pp.count_nonzero(x, a),
    "argmax": lambda a: pp.argmax(x, a),
    "argmin": lambda a: pp.argmin(x, a),
}


@pytest.mark.parametrize("name", sorted(AXIS_CALLS))
def test_wrong_axes_name_the_operation(name):
    with pytest.raises(np.exceptions.AxisError, match=rf"^{name}: axis 7 is out of bounds for array of dimension 2"):
        AXIS_CALLS[name](7)
    for wrong in (1.5, "x"):
        with pytest.raises(TypeError, match=rf"^{name}: "):
            AXIS_CALLS[name](wrong)


@pytest.mark.parametrize("name", ["sum", "argmax", "sort", "cumsum", "take", "top_k", "diff"])
def test_bools_are_no_axes(name):
    with pytest.raises(TypeError, match=rf"^{name}: axis must be an integer, not bool"):
        AXIS_CALLS[name](True)


def test_where_of_reductions():
    for name in ("sum", "mean", "any"):
        with pytest.raises(TypeError, match=rf"^{name}: where must be a bool or"):
            getattr(pp, name)(x, where="some")
        with pytest.raises(TypeError, match=rf"^{name}: where must be a bool array, not int64"):
            getattr(pp, name)(x, where=np.array([1, 0, 1]))
        with pytest.raises(pp.ExecutionPlacementError, match=rf"^{name}: "):
            getattr(pp, name)(x, where=pp.ones(3, bool).to_queue(pp.Queue(x.device)))
    other = pp.ones(3).to_queue(pp.Queue(x.device))
    assert pp.sum(other, where=False).item() == 0


def test_numbers_beyond_64_bits_name_the_operation():
    for name in ("sum", "sort", "nonzero", "unique", "trace"):
        with pytest.raises(OverflowError, match=rf"^{name}: Python integer {2**70} out of bounds for int64"):
            getattr(pp, name)(2**70)


def test_second_names_and_compositions_name_themselves():
    v = pp.zeros(3)
    for error, call, name in [
        (TypeError, lambda: pp.fix("a"), "fix"),
        (TypeError, lambda: pp.fix(v + 1j), "fix"),
        (TypeError, lambda: pp.fix(v, pp.zeros(3, "i8")), "fix"),
        (TypeError, lambda: pp.clip(v, 0, out=pp.zeros(3, "i8")), "clip"),
        (TypeError, lambda: pp.clip(v, out=np.zeros(3)), "clip"),
        (ValueError, lambda: pp.dot(v, pp.zeros(4)), "dot"),
        (ValueError, lambda: pp.diff(x, prepend=v), "diff"),
        (ValueError, lambda: pp.diff(x, append=pp.zeros((3, 1))), "diff"),
        (TypeError, lambda: pp.var(v, ddof="a"), "var"),
        (TypeError, lambda: pp.std(v, correction=1j), "std"),
    ]:
        with pytest.raises(error, match=rf"^{name}: "):
            call()
    out = pp.zeros(3)
    assert pp.clip(v, 1, out=out, where=pp.asarray([True, False, True])) is out
    np.testing.assert_array_equal(pp.asnumpy(out), [1, 0, 1])
    assert pp.clip(v, 1, 2, out) is out
    np.testing.assert_array_equal(pp.asnumpy(out), [1, 1, 1])


@pp.jit
def _filled_with_ones(x):
    for i in pp.prange(len(x)):
        x[i] = 1


NAMED = [
    (lambda: _filled_with_ones(np.zeros(3, "g")), TypeError, r"^_filled_with_ones: `x`: dtype 'float128' is not supported; supported are"),
    (lambda: _filled_with_ones(np.array([None])), TypeError, r"^_filled_with_ones: `x`: dtype 'object' is not supported"),
    (lambda: pp.Queue("cpu").copy(pp.zeros(3), np.zeros(3, ">f8")), TypeError, r"^Queue.copy: dtype '>f8' is not supported; supported are"),
    (lambda: pp.concat(3), TypeError, r"^concat: a sequence of arrays is expected, not int$"),
    (lambda: pp.concat(pp.asarray(3)), TypeError, r"^concat: a sequence of arrays is expected, not one without dimensions$"),
    (lambda: pp.stack(None), TypeError, r"^stack: a sequence of arrays is expected, not NoneType$"),
    (lambda: pp.hstack(np.int8(-1)), TypeError, r"^hstack: a sequence of arrays is expected, not int8$"),
    (lambda: pp.vstack(3), TypeError, r"^vstack: a sequence of arrays is expected, not int$"),
    (lambda: pp.Queue("cpu").fill(pp.zeros(3, dtype="int8"), 2**64), OverflowError, r"^Queue.fill: Python integer 18446744073709551616"),
    (lambda: pp.full(3, 2**64), OverflowError, r"^full: Python integer 18446744073709551616 out of bounds"),
    (lambda: pp.full_like(pp.zeros(3, dtype="int8"), -(2**64)), OverflowError, r"^full_like: Python integer -18446744073709551616 out"),
    (lambda: pp.arange(2**64), OverflowError, r"^arange: Python integer 18446744073709551616 out of bounds"),
    (lambda: pp.arange(0, 10, 2**70), OverflowError, r"^arange: Python integer 1180591620717411303424 out of bounds"),
    (lambda: pp.linspace(0, 2**64, 3, dtype="int8"), OverflowError, r"^linspace: Python integer 18446744073709551616 out of bounds"),
    (lambda: pp.MemoryDevice(8, 2), TypeError, r"^MemoryDevice\(\) takes 2 positional arguments but 3 were given"),
    (lambda: pp.MemoryHost(8, size=2), TypeError, r"^MemoryHost\(\) got an unexpected keyword argument 'size'"),
    (lambda: pp.random.Generator(1, 2), TypeError, r"^Generator\(\) takes from 1 to 2 positional arguments but 3 were given"),
    (lambda: type(pp.random.default_rng())(x=2), TypeError, r"^Generator\(\) got an unexpected keyword argument 'x'"),
]


@pytest.mark.parametrize("case", range(len(NAMED)))
def test_errors_name_what_was_called(case):
    call, error, message = NAMED[case]
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda l, x: l.sum(a=x, axis=0),
        lambda l, x: l.clip(a=x, a_min=3, a_max=9),
        lambda l, x: l.tile(A=x, reps=2),
        lambda l, x: l.roll(a=x, shift=1, axis=1),
        lambda l, x: l.full_like(a=x, fill_value=2),
        lambda l, x: l.compress(condition=[True, False, True], a=x, axis=0),
        lambda l, x: l.array_split(ary=x, indices_or_sections=2, axis=1)[1],
        lambda l, x: l.tensordot(a=x, b=x.T, axes=1),
        lambda l, x: l.sort(a=x, axis=0, kind=None, order=None),
        lambda l, x: l.isin(element=x, test_elements=[1, 2]),
        lambda l, x: l.take(x, indices=[0], axis=1),
        lambda l, x: x.argsort(axis=0, kind=None, order=None),
    ],
)
def test_arguments_by_numpys_names(call):
    host = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    np.testing.assert_array_equal(pp.asnumpy(call(pp, pp.asarray(host, device="cpu"))), call(np, host))


def test_what_numbers_have_not_got():
    x = pp.arange(3, device="cpu")
    with pytest.raises(ValueError, match="sort: Cannot specify order when the array has no fields"):
        pp.sort(x, order="f")
    with pytest.raises(TypeError, match="got multiple values for argument 'a'"):
        pp.sum(x, a=x)
