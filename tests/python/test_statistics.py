# tests/python/test_statistics.py: reductions and cumulative functions, with all their keywords, against NumPy.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pardo._base.rows import ROWS
from support import DTYPES, check, samples

FOLD = {row.name: row.fold for row in ROWS}
REDUCTIONS = [row.name for row in ROWS if row.kind == "REDUCTION"]
POSITIONS = [row.name for row in ROWS if row.kind == "POSITION"]
SCANS = [row.name for row in ROWS if row.kind == "SCAN"]
FLAT = [row.name for row in ROWS if row.keywords == "FLAT"]
STANDARD = [row.name for row in ROWS if row.keywords == "STANDARD"]
NUMERIC = [row.name for row in ROWS if row.keywords == "NUMERIC"]
EXTREME = [row.name for row in ROWS if row.keywords == "EXTREME"]
NAMES = [row.name for row in ROWS if row.keywords in ("NUMERIC", "EXTREME", "LOGICAL")] + ["mean", "var", "std"]
AXES = [None, 0, -1, 1, (0, 2), (1, -1), ()]


def reference(name, host, **keywords):
    """NumPy's result; sums of narrow floats are as exact as ours only in float64."""
    if name in ("mean", "var", "std") and host.dtype == np.float16:
        return getattr(np, name)(host.astype(np.float32), **keywords).astype(np.float16)
    return getattr(np, name)(host, **keywords)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(name, dtype, rng):
    host = samples(dtype, (3, 4, 5), rng)
    if FOLD.get(name) == "prod" and host.dtype.kind in "fc":
        host = (host / 3 + 1).astype(dtype)
    ulp = 256 if np.dtype(dtype).kind in "fc" else 4
    for axis in AXES:
        for keepdims in (False, True):
            label = f"{name}({dtype}, axis={axis}, keepdims={keepdims})"
            check(
                getattr(pp, name)(pp.asarray(host), axis=axis, keepdims=keepdims),
                reference(name, host, axis=axis, keepdims=keepdims),
                ulp=ulp,
                label=label,
            )


@pytest.mark.parametrize("name", [*NUMERIC, "mean", "var", "std"])
def test_dtype_keyword(name, rng):
    host = np.abs(samples("int32", (4, 5), rng)) % 4 + 1
    check(getattr(pp, name)(pp.asarray(host), dtype="float32"), np.asarray(getattr(np, name)(host, dtype="float32")), ulp=16)


@pytest.mark.parametrize("name", NAMES)
def test_where_initial_out(name, rng):
    host = samples("float64", (4, 5), rng)
    mask = rng.integers(0, 2, (4, 5)).astype(bool)
    mask[0] = True
    keywords = {"initial": 0.5} if name in EXTREME else {}
    ours, theirs = getattr(pp, name), getattr(np, name)
    check(ours(pp.asarray(host), axis=0, where=pp.asarray(mask), **keywords), theirs(host, axis=0, where=mask, **keywords), ulp=64)
    out = pp.zeros(5, dtype=theirs(host, axis=0).dtype)
    assert ours(pp.asarray(host), axis=0, out=out) is out
    check(out, theirs(host, axis=0), ulp=64)
    with pytest.raises(ValueError, match="shape"):
        ours(pp.asarray(host), axis=0, out=pp.zeros(4))
    if name in NUMERIC + EXTREME:
        check(ours(pp.asarray(host), initial=2.0), np.asarray(theirs(host, initial=2.0)), ulp=64)


@pytest.mark.parametrize("name", EXTREME)
def test_where_without_identity(name):
    with pytest.raises(ValueError, match=f"^{name}: the reduction has no identity"):
        getattr(pp, name)(pp.zeros(3), where=pp.asarray([True, False, True]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_empty():
    for shape, axis in [((0,), None), ((0, 3), 0), ((3, 0), 0), ((2, 0, 3), (0, 1))]:
        host = np.zeros(shape)
        for name in [*(name for name in REDUCTIONS if name not in EXTREME), "mean", "var"]:
            check(
                getattr(pp, name)(pp.asarray(host), axis=axis),
                np.asarray(getattr(np, name)(host, axis=axis)),
                label=f"{name} {shape} {axis}",
            )
    for name in EXTREME + POSITIONS:
        with pytest.raises(ValueError):
            getattr(pp, name)(pp.zeros(0)).wait()
        with pytest.raises(ValueError):
            getattr(pp, name)(pp.zeros((0, 3)), axis=0).wait()
        check(getattr(pp, name)(pp.zeros((3, 0)), axis=0), getattr(np, name)(np.zeros((3, 0)), axis=0))


def test_axis_errors():
    x = pp.zeros((2, 3))
    for name in [*NAMES, *POSITIONS, *SCANS, "sort"]:
        with pytest.raises(np.exceptions.AxisError):
            getattr(pp, name)(x, axis=2)
        with pytest.raises(np.exceptions.AxisError):
            getattr(pp, name)(x, axis=-3)
    with pytest.raises(ValueError, match="uplicate"):
        pp.sum(x, axis=(0, 0))
    with pytest.raises(TypeError, match="axis"):
        pp.sum(x, axis=1.5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ["max", "min", "argmax", "argmin"])
def test_nan_wins(name):
    host = np.array([[1, np.nan, 3], [4, 5, 6], [np.nan, 0, np.nan]])
    for axis in (None, 0, 1):
        check(getattr(pp, name)(pp.asarray(host), axis=axis), np.asarray(getattr(np, name)(host, axis=axis)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_arg_reductions(dtype, rng):
    host = samples(dtype, (4, 5, 6), rng)
    for name in POSITIONS:
        for axis in (None, 0, 1, -1):
            for keepdims in (False, True):
                check(
                    getattr(pp, name)(pp.asarray(host), axis=axis, keepdims=keepdims),
                    np.asarray(getattr(np, name)(host, axis=axis, keepdims=keepdims)),
                )


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "float16"])
def test_cumulative(dtype, rng):
    host = samples(dtype, (4, 5), rng)
    if host.dtype.kind in "fc":
        host = (host / 10 + 1).astype(dtype)
    for name in FLAT:
        for axis in (None, 0, 1):
            check(getattr(pp, name)(pp.asarray(host), axis=axis), getattr(np, name)(host, axis=axis), ulp=256)
    for name in STANDARD:
        for initial in (False, True):
            check(
                getattr(pp, name)(pp.asarray(host), axis=1, include_initial=initial),
                getattr(np, name)(host, axis=1, include_initial=initial),
                ulp=256,
            )
    with pytest.raises(ValueError, match="axis"):
        pp.cumulative_sum(pp.asarray(host))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "int8", "complex64"])
def test_long_lines_begin_anywhere_in_memory(dtype, rng):
    """The second line begins at an address that only an element is aligned to; so does a view without the first element."""
    host = rng.integers(0, 3, (2, 300_007)).astype(dtype)
    for f in ("cumulative_sum", "cumulative_prod"):
        check(getattr(pp, f)(pp.asarray(host), axis=1), getattr(np, f)(host, axis=1))
        check(getattr(pp, f)(pp.asarray(host)[:, 1:], axis=1), getattr(np, f)(host[:, 1:], axis=1))
        check(getattr(pp, f)(pp.asarray(host).reshape(-1)[1:]), getattr(np, f)(host.reshape(-1)[1:]))


def test_var_corrections(rng):
    host = samples("float64", (6, 4), rng)
    check(pp.var(pp.asarray(host), axis=0, correction=1), np.var(host, axis=0, ddof=1), ulp=32)
    check(pp.std(pp.asarray(host), ddof=1), np.asarray(np.std(host, ddof=1)), ulp=32)
    with pytest.raises(ValueError, match="ddof"):
        pp.var(pp.asarray(host), ddof=1, correction=1)


def test_methods(rng):
    host = samples("float64", (4, 5), rng)
    x = pp.asarray(host)
    for name in [row.name for row in ROWS if row.method] + ["mean", "var", "std"]:
        check(getattr(x, name)(axis=1), getattr(host, name)(axis=1), ulp=64)
        check(getattr(x, name)(1), getattr(host, name)(1), ulp=64)


def test_count_diff_ptp(rng):
    host = samples("int64", (4, 7), rng) % 3
    x = pp.asarray(host)
    check(pp.count_nonzero(x, axis=1), np.count_nonzero(host, axis=1))
    check(pp.diff(x), np.diff(host))
    check(pp.diff(pp.asarray(2.0), n=0), np.asarray(np.diff(np.array(2.0), n=0)))
    check(pp.diff(x, n=2, axis=0), np.diff(host, n=2, axis=0))
    check(pp.diff(x, prepend=0, append=pp.asarray(host[:, :2])), np.diff(host, prepend=0, append=host[:, :2]))
    check(pp.diff(x > 0), np.diff(host > 0))
    check(pp.ptp(x, axis=0), np.ptp(host, axis=0))


def test_same_bits_every_time(rng):
    x = pp.asarray(rng.standard_normal(300_000).astype("f4"))
    values = {pp.sum(x).item() for _ in range(5)} | {float(np.asarray(pp.sum(x.copy())))}
    assert len(values) == 1


@given(hnp.arrays(np.float64, st.integers(0, 3000), elements=st.floats(-1e6, 1e6)))
def test_sum_is_precise(host):
    exact = float(np.sum(host.astype(np.longdouble)))
    assert abs(pp.sum(pp.asarray(host)).item() - exact) <= 1e-12 * max(1.0, float(np.sum(np.abs(host))))


@given(hnp.array_shapes(min_dims=1, max_dims=5, min_side=0, max_side=4), st.data())
def test_any_shape_and_axes(shape, data):
    axes = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1))))
    host = np.arange(int(np.prod(shape)), dtype=np.float64).reshape(shape)
    x = pp.asarray(host)
    check(pp.sum(x * 2, axis=axes), (host * 2).sum(axis=axes))
    check((x.T - pp.sum(x.T, axis=0, keepdims=True)).sum(), np.asarray((host.T - host.T.sum(axis=0, keepdims=True)).sum()), ulp=4096 * 1024)


BOTH_ENDS = [0, -1]


@pytest.mark.parametrize("name", [*REDUCTIONS, "ptp"])
def test_0d_arrays_have_an_axis_to_reduce(name):
    host = np.array(3.0)
    for axis in BOTH_ENDS:
        check(getattr(pp, name)(pp.asarray(host), axis=axis), np.asarray(getattr(np, name)(host, axis=axis)))
    for axis in (1, -2):
        with pytest.raises(np.exceptions.AxisError, match=rf"^{name}: "):
            getattr(pp, name)(pp.asarray(host), axis=axis)


@pytest.mark.parametrize("name", SCANS)
def test_0d_arrays_accumulate_as_flat_ones(name):
    host = np.array(3.0)
    for axis in (None, *BOTH_ENDS):
        check(getattr(pp, name)(pp.asarray(host), axis=axis), getattr(np, name)(host, axis=axis))


@pytest.mark.parametrize("name", STANDARD)
def test_out_of_cumulative_functions(name):
    host = np.arange(1, 7).reshape(2, 3)
    out = pp.zeros((2, 3))
    assert getattr(pp, name)(pp.asarray(host), axis=1, out=out) is out
    check(out, getattr(np, name)(host, axis=1, dtype=float))


@pytest.mark.parametrize("name", ["var", "std"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_known_means(name, dtype, rng):
    host = samples(dtype, (4, 5), rng)
    mask = rng.integers(0, 2, (4, 5)).astype(bool)
    mask[:2] = True
    ours, theirs = getattr(pp, name), getattr(np, name)
    for keywords in ({}, {"where": mask}, {"ddof": 1}):
        center = np.mean(host, axis=0, keepdims=True, **{k: v for k, v in keywords.items() if k == "where"})
        given = {k: pp.asarray(v) if k == "where" else v for k, v in keywords.items()}
        expected = theirs(host.astype("f8") if dtype == "float16" else host, axis=0, mean=center, **keywords)
        got = ours(pp.asarray(host), axis=0, mean=pp.asarray(center), **given)
        check(got, expected.astype("f2") if dtype == "float16" else expected, ulp=64, label=f"{dtype} {keywords}")
    with pytest.raises(ValueError, match=rf"^{name}: mean does not broadcast"):
        ours(pp.asarray(host), axis=1, mean=pp.zeros((7, 4, 5)))


def test_initial_is_a_number():
    for name in NUMERIC + EXTREME:
        with pytest.raises(ValueError, match=rf"^{name}: initial must be a single number, not str"):
            getattr(pp, name)(pp.zeros(3), initial="a")
    check(pp.sum(pp.ones(3), initial=pp.asarray(2.0)), np.asarray(5.0))


def test_messages_name_the_function():
    for call, name in [
        (lambda: pp.ptp(pp.zeros(0)), "ptp"),
        (lambda: pp.ptp(pp.zeros(2, bool)), "ptp"),
        (lambda: pp.std(pp.zeros(2), 3), "std"),
    ]:
        with pytest.raises((ValueError, TypeError), match=rf"^{name}: "):
            call()


INITIAL = [
    ("max", "uint8", 1000, OverflowError), ("max", "uint8", 300.5, OverflowError), ("min", "int64", np.inf, OverflowError),
    ("min", "int32", np.nan, ValueError), ("sum", "uint8", -1, OverflowError), ("sum", "int64", 2**70, OverflowError),
    ("prod", "int64", 1j, TypeError), ("sum", "float64", "a", ValueError), ("max", "float64", [1], ValueError),
]  # fmt: skip


@pytest.mark.parametrize(("name", "dtype", "initial", "error"), INITIAL)
def test_initial_that_the_dtype_cannot_hold(name, dtype, initial, error):
    host = np.arange(3).astype(dtype)
    with pytest.raises(error):
        getattr(np, name)(host, initial=initial)
    with pytest.raises(error, match=r"initial|out of bounds"):
        getattr(pp, name)(pp.asarray(host), initial=initial)


def test_message_of_an_initial_that_does_not_fit():
    with pytest.raises(OverflowError, match=r"^max: initial: Python integer 1000 out of bounds for uint8$"):
        pp.max(pp.zeros(3, "uint8"), initial=1000)


@pytest.mark.parametrize(("name", "dtype", "initial"), [
    ("sum", "float64", 2**70), ("max", "float64", -(2**70)), ("max", "int64", 1.5), ("sum", "int64", 1.5), ("sum", "bool", 1.5),
    ("max", "uint8", np.int64(1000)), ("prod", "complex64", 1j), ("sum", "int8", 300),
])  # fmt: skip
def test_initial_as_numpy_takes_it(name, dtype, initial):
    host = np.arange(3).astype(dtype)
    check(getattr(pp, name)(pp.asarray(host), initial=initial), getattr(np, name)(host, initial=initial))
    check(pp.sum(pp.asarray(host), initial=pp.asarray(3).sum()), np.sum(host, initial=3))


def test_where_on_another_queue_names_the_reduction():
    x = pp.zeros(3)
    with pytest.raises(pp.ExecutionPlacementError, match="sum: "):
        pp.sum(x, where=pp.asarray(x > 0, queue=pp.Queue()))
