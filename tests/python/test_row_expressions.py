# tests/python/test_row_expressions.py: array expressions inside of compiled loops and kernels, against the same text run by Python.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from support import samples

pytestmark = pytest.mark.once


def rows(shape=(7, 20), dtype="float64", seed=0):
    return samples(dtype, shape, np.random.default_rng(seed))


def both(function, *arguments, rtol=1e-12, fallbacks=0):
    """The function compiled, and run by Python: the same arrays, and the same result."""
    mine = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    compiled = pp.jit(function)
    before = pp.counters()["fallbacks"]
    result, expected = compiled(*mine), function(*theirs)
    assert pp.counters()["fallbacks"] - before == fallbacks, compiled.diagnostics()
    for a, b in zip([*mine, result], [*theirs, expected], strict=True):
        if isinstance(b, np.ndarray) and b.dtype.kind in "fc":
            assert_allclose(a, b, rtol=rtol, atol=1e-14)
        elif b is not None:
            assert_allclose(a, b, rtol=rtol) if np.asarray(b).dtype.kind in "fc" else assert_array_equal(a, b)
    return compiled


def elementwise(x, y, out):
    for i in pp.prange(x.shape[0]):
        out[i, :] = x[i, :] + y[i, :] * 2


def in_place(x, y, out):
    for i in pp.prange(x.shape[0]):
        x[i, : i + 1] *= 0.5
        x[i] -= x[i].mean()
        row = y[i]
        row += 1
        row[1::2] = -row[1::2]


def functions(x, y, out):
    for i in pp.prange(x.shape[0]):
        a = np.abs(x[i]) + 1
        out[i] = np.sqrt(a) + np.where(x[i] > 0, np.exp(-a), y[i]) + np.clip(y[i], -1, 1) + np.maximum(x[i], y[i]) + abs(-x[i]) ** 2


def unnamed(x, y, out):
    for i in pp.prange(x.shape[0]):
        out[i] = np.sqrt(np.abs(x[i]) + 1) * np.where(x[i] > 0, y[i], -1) + np.clip(y[i, ::-1], -1, 1) / np.linalg.norm(x[i] - y[i])
        out[i, 0], out[i, 1] = np.dot(x[i], y[i]), np.argmax(x[i])


def made_here(x, y, out):
    for i in pp.prange(x.shape[0]):
        n = x.shape[1] - i
        sums = np.zeros(n)
        for k in range(3):
            sums += x[i, :n] * k
        block = np.empty((2, n))
        block[0], block[1] = sums, np.ones(n)
        like = np.full_like(block, 2.5)
        out[i, :n] = block.sum(axis=0) + like[0]
        out[i, n:] = 0


def chained_temporaries(x, y, out):
    for i in pp.prange(x.shape[0]):
        e = np.exp(x[i] - np.max(x[i]))
        shares = e / e.sum()
        out[i] = shares * np.log(shares) + y[i][::-1]


def steps(x, y, out):
    for i in pp.prange(x.shape[0]):
        out[i] = x[i, ::-1]
        out[i, 1:9:3] = y[i, -2:-9:-3]
        out[i, ::-2] = out[i, ::2] * 3
        out[i, 5:2] = x[i, 9:9]
        out[i, 100:] = x[i, 50:]
        out[i, -3:] = x[i, :3]


def overlapping(x, y, out):
    for i in pp.prange(x.shape[0]):
        x[i, 1:] = x[i, :-1]
        x[i, :-2] += x[i, 2:]
        y[i] = y[i, ::-1]
        y[i, 3:6], y[i, 10:13] = y[i, 10:13] * 1, y[i, 3:6] * 1


def broadcast(x, y, out):
    for i in pp.prange(x.shape[0]):
        block = x[i, :4, None] * y[i, None, :] + x[i, 0]
        out[i] = block[3] - block.max()
        out[i] += np.sum(x[i, :4][:, np.newaxis] - y[i], axis=0)
        out[i, :4] += block.sum(axis=1)
        out[i] += x[i, 3:4]
        out[i, ...] += 1


def choices(x, y, out):
    for i in pp.prange(x.shape[0]):
        if np.any(x[i] > 4) or np.all(y[i] < 0):
            out[i] = x[i]
        else:
            out[i] = ~(y[i] > 0) + (x[i] != y[i]) * 2.0


def of_rows(v):
    return v / np.linalg.norm(v)


def calls(x, y, out):
    for i in pp.prange(x.shape[0]):
        out[i] = of_rows(x[i] * 2) + of_rows(y[i])


PROGRAMS = [elementwise, in_place, functions, unnamed, made_here, chained_temporaries, steps, overlapping, broadcast, choices, calls]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs(program):
    both(program, rows(), rows(seed=1), np.zeros((7, 20)))


@pytest.mark.parametrize("program", [elementwise, steps, overlapping, functions], ids=lambda p: p.__name__)
def test_views(program):
    """Columns and rows from the end: strides that are not those of rows."""
    whole = [rows((20, 7), seed=2), rows((20, 7), seed=3), np.zeros((20, 7))]

    def on_views(x, y, out):
        program(x.T, y.T, out.T)

    mine, theirs = [a.copy() for a in whole], [a.copy() for a in whole]
    pp.jit(program)(*(a.T for a in mine))
    on_views(*theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert_allclose(a, b, rtol=1e-12)


def every_reduction(x, out):
    for i in pp.prange(x.shape[0]):
        out[i, 0] = np.sum(x[i])
        out[i, 1] = x[i].prod()
        out[i, 2] = np.mean(x[i])
        out[i, 3] = np.min(x[i])
        out[i, 4] = x[i].max()
        out[i, 5] = np.argmin(x[i])
        out[i, 6] = x[i].argmax()
        out[i, 7] = np.any(x[i])
        out[i, 8] = x[i].all()
        out[i, 9] = np.var(x[i])
        out[i, 10] = x[i].std(ddof=1)
        out[i, 11] = np.linalg.norm(x[i])
        out[i, 12] = np.count_nonzero(x[i])
        out[i, 13] = np.dot(x[i], x[i])
        out[i, 14] = x[i] @ x[i]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions(dtype):
    x = rows((5, 33), dtype)
    rtol = {"float16": 2e-2, "float32": 1e-5}.get(dtype, 1e-12)
    both(every_reduction, x, np.zeros((5, 15)), rtol=rtol)
    if x.dtype.kind == "f":
        x[1, 7] = x[1, 20] = np.nan
        both(every_reduction, x, np.zeros((5, 15)), rtol=rtol)


def test_dtypes_of_results():
    """NEP 50, and NumPy's rules of sums, means and functions of integers."""

    def expressions(x):
        for i in range(x.shape[0]):
            r = x[i]
            a, b, c, d, e = np.sum(r), r.mean(), r.max(), (r * 2).sum(), np.sum(np.sqrt(np.abs(r)))
            f, g, h = np.sum(r / 3), (r + 1.5).max(), (r // np.int16(3)).max()
            r[0] = r[1]
        return a, b, c, d, e, f, g, h

    for dtype in ["bool", "int8", "uint8", "int32", "uint64", "float16", "float32", "float64", "complex64"]:
        x = np.ones((2, 20), dtype)
        if dtype == "complex64":
            x = np.real(x)
        mine, theirs = pp.jit(expressions)(x.copy()), expressions(x.copy())
        assert [np.asarray(m).dtype for m in mine] == [np.asarray(t).dtype for t in theirs], dtype


def test_axes():
    def axes(x, out):
        for i in pp.prange(x.shape[0]):
            out[i, :5] = x[i].sum(axis=0) + np.max(x[i], axis=0)
            out[i, :4] += x[i].mean(axis=-1) + np.argmin(x[i], axis=1)
            centred = x[i] - x[i].mean(axis=1, keepdims=True)
            out[i, 5] = centred.std()
            out[i, 6] = np.argmax(x[i])

    both(axes, rows((6, 4, 5)), np.zeros((6, 8)))


def test_products():
    def products(a, b, v, out):
        for i in pp.prange(a.shape[0]):
            c = a[i] @ b[i]
            out[i, :4, :6] = c + np.dot(a[i], b[i])
            out[i, 0] += v[i] @ b[i]
            out[i, :4, 0] += np.dot(a[i], v[i])
            out[i, :4, :4] += a[i] @ a[i].T
            out[i, :5, :6] += np.outer(v[i], c[0])
            out[i, 0, 0] += np.inner(v[i], v[i]) + np.vdot(a[i, 0], v[i])

    both(products, rows((6, 4, 5)), rows((6, 5, 6), seed=1), rows((6, 5), seed=2), np.zeros((6, 5, 6)))


def test_sums_of_rows_are_reductions():
    def total(x, y):
        s = 0.0
        most = -1.0
        for i in pp.prange(x.shape[0]):
            s += np.sum(x[i] * y[i])
            most = max(most, np.max(x[i]))
        return s, most

    both(total, rows((100, 20)), rows((100, 20), seed=1), rtol=1e-11)


def test_reductions_into_arrays():
    def totals(x, w):
        r, most, s = np.zeros(x.shape[1]), np.full(x.shape[1], -9.0), 0.0
        for i in pp.prange(1, x.shape[0], 2):
            r += x[i] * w[i]
            most = np.maximum(most, x[i])
            s += w[i]
        return r * s + most

    both(totals, rows((301, 20)), rows((301,), seed=1), rtol=1e-10)
    both(totals, rows((0, 20)), rows((0,), seed=1))
    x, w = rows((301, 20)), rows((301,), seed=1)
    once, again = (pp.jit(totals)(pp.asarray(x), pp.asarray(w)) for _ in range(2))
    assert_array_equal(pp.asnumpy(once), pp.asnumpy(again))
    assert_allclose(pp.asnumpy(once), totals(x, w), rtol=1e-10)

    def counts(labels, h):
        for i in pp.prange(labels.shape[0]):
            h += labels[i] > 1
        return h

    both(counts, rows((50, 6), "int64"), np.zeros(6, "int64"))


def test_serial_loops():
    """Loops without prange that touch elements are compiled with their rows, too."""

    def substitution(a, b, x):
        for i in range(a.shape[0]):
            x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]

    a = np.tril(rows((20, 20))) + 20 * np.eye(20)
    both(substitution, a, rows((20,), seed=1), np.zeros(20))


def test_kernel():
    def scaled(item: pp.Item, x, out):
        i = item.get_id(0)
        out[i] = x[i] * 2 - x[i, ::-1] + np.sum(x[i])

    x = pp.asarray(rows(), device="cpu")
    out = pp.zeros((7, 20), device="cpu")
    pp.kernel(scaled)[pp.Range(7)](x, out).wait()
    h = pp.asnumpy(x)
    assert_allclose(pp.asnumpy(out), h * 2 - h[:, ::-1] + h.sum(1, keepdims=True), rtol=1e-12)


def test_zero_sizes():
    def empties(x, out):
        for i in pp.prange(x.shape[0]):
            out[i, 0] = np.sum(x[i]) + np.prod(x[i]) + np.linalg.norm(x[i])
            out[i, 1] = np.mean(x[i])
            out[i, 2:2] = x[i] * 2
            out[i, 2] = np.zeros(x.shape[1]).sum()

    with pytest.warns(RuntimeWarning):
        both(empties, np.zeros((3, 0)), np.zeros((3, 3)))
    both(elementwise, np.zeros((0, 5)), np.zeros((0, 5)), np.zeros((0, 5)))


FAILURES = [
    (lambda: pp.jit(elementwise)(np.zeros((2, 5)), np.zeros((2, 4)), np.zeros((2, 5))), ValueError, "an axis has 5 elements, and 4"),
    (lambda: pp.jit(elementwise)(np.zeros((2, 5)), np.zeros((2, 5)), np.zeros((2, 4))), ValueError, "5 elements do not fill 4"),
    (lambda: pp.jit(elementwise)(np.zeros((2, 5)), np.zeros((2, 5)), np.zeros((2, 5), "int32")), TypeError, "holds int32"),
    (lambda: pp.jit(in_place)(np.zeros((2, 5), "int32"), np.zeros((2, 5)), np.zeros((2, 5))), TypeError, "holds int32"),
    (lambda: pp.jit(elementwise)(np.zeros((2, 5)), np.zeros((1, 5)), np.zeros((2, 5))), IndexError, "index 1 is out of bounds"),
]


@pytest.mark.parametrize(("call", "kind", "message"), FAILURES, ids=lambda p: getattr(p, "__name__", None))
def test_failures(call, kind, message):
    with pytest.raises(kind) as found:
        call()
    assert message in str(found.value)
    assert "test_row_expressions.py" in str(found.value)


def test_failures_while_running():
    def greatest(x, out):
        for i in pp.prange(x.shape[0]):
            out[i] = np.max(x[i])

    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum which has no identity"):
        pp.jit(greatest)(np.zeros((2, 0)), np.zeros(2))

    def memory(sizes, out):
        for i in pp.prange(sizes.shape[0]):
            out[i] = np.ones(sizes[i]).sum()

    both(memory, np.array([3, 0, 1000]), np.zeros(3))
    with pytest.raises(ValueError, match="negative dimensions are not allowed"):
        pp.jit(memory)(np.array([3, -1]), np.zeros(2))
    with pytest.raises(MemoryError, match="no memory for `ones`"):
        pp.jit(memory)(np.array([3, 2**60]), np.zeros(2))

    def multiplied(a, b, out):
        for i in pp.prange(a.shape[0]):
            out[i] = a[i] @ b[i]

    with pytest.raises(ValueError, match="differ: 5 and 4"):
        pp.jit(multiplied)(np.ones((2, 5)), np.ones((2, 4)), np.zeros(2))

    def stepped(x, k):
        for i in pp.prange(x.shape[0]):
            x[i, ::k] = x[i, 0] * 2

    both(stepped, rows(), 3)
    both(stepped, rows(), -2)
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        pp.jit(stepped)(rows(), 0)


def test_one_element_is_repeated():
    """An extent that turns out to be 1 when the loop runs."""

    def added(x, y, out):
        for i in pp.prange(out.shape[0]):
            out[i] = x[i] + y[i] * x[i]

    compiled = both(added, rows((4, 9)), rows((4, 1), seed=1), np.zeros((4, 9)))
    x, y, out = rows((4, 1)), rows((4, 9), seed=1), np.zeros((4, 9))
    compiled(x, y, out)
    assert_allclose(out, x + y * x)
    x, out = rows((4, 1)), np.zeros((4, 1))
    compiled(x, x, out)
    assert_allclose(out, x + x * x)


# ---- random expressions


@st.composite
def bounds(draw):
    start, stop = (draw(st.one_of(st.just(""), st.integers(-9, 9))) for _ in range(2))
    return f"{start}:{stop}" + draw(st.sampled_from(["", ":1", ":2", ":3", ":-1", ":-2"]))


@st.composite
def expressions(draw, part, depth=2):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([f"x[i, {part}]", f"y[i, {part}]", "x[i, 2]", "3", f"y[i, {part}][::-1]", f"x[i, {part}] * 2"]))
    left, right = draw(expressions(part, depth - 1)), draw(expressions(part, depth - 1))
    form = draw(st.sampled_from(["({} + {})", "({} - {})", "({} * {})", "np.maximum({}, {})", "np.where({} > 0, {}, 1)"]))
    return form.format(left, right)


@st.composite
def programs(draw):
    lines = ["def program(x, y):", "    for i in pp.prange(x.shape[0]):"]
    for k in range(2):
        part = draw(bounds())
        target = draw(st.sampled_from(["x", "y"]))
        value = draw(expressions(part))
        form = draw(st.sampled_from(["{t}[i, {p}] = {v}", "{t}[i, {p}] += {v}", "a{k} = {v} + {t}[i, {p}]; {t}[i, {p}] = a{k} - a{k}[::-1]",
                                     "{t}[i, {p}] = np.sum({v} + {t}[i, {p}])"]))  # fmt: skip
        lines += ["        " + s for s in form.format(t=target, p=part, v=value, k=k).split("; ")]
    return "\n".join(lines) + "\n"


def run_text(text, device, dtype):
    import linecache

    name = f"<rows {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"np": np, "pp": pp}
    exec(compile(text, name, "exec"), space)
    x, y = rows((3, 8), dtype), rows((3, 8), dtype, seed=1)
    mine = [pp.asarray(a, device=device) for a in (x, y)]
    pp.jit(space["program"])(*mine)
    space["program"](x, y)
    for a, b in zip(mine, (x, y), strict=True):
        assert_array_equal(pp.asnumpy(a), b, err_msg=text)
    del linecache.cache[name]


@settings(max_examples=25, deadline=None)
@given(programs(), st.sampled_from(["int64", "int32"]))
def test_random_programs(text, dtype):
    run_text(text, "cpu", dtype)


@pytest.mark.slow
@pytest.mark.parametrize("program", [elementwise, in_place, unnamed, choices], ids=lambda p: p.__name__)
@pytest.mark.parametrize("device", [*DEVICES, pp.Device("null:1")], ids=str)
def test_other_devices(device, program):
    arrays = [rows((4, 20), "float32"), rows((4, 20), "float32", seed=1), np.zeros((4, 20), "float32")]
    mine = [pp.asarray(a, device=device) for a in arrays]
    pp.jit(program)(*mine)
    program(*arrays)
    for a, b in zip(mine, arrays, strict=True):
        assert_allclose(pp.asnumpy(a), b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("device", [*DEVICES, pp.Device("null:1")], ids=str)
def test_memory_of_the_items_own(device):
    """Devices that compile text have a block of it, and say what does not fit."""

    def named(x):
        for i in pp.prange(x.shape[0]):
            a = x[i] * 2
            x[i] = a + a[::-1]

    x = rows((4, 20), "float32")
    mine = pp.asarray(x, device=device)
    pp.jit(named)(mine)
    named(x)
    assert_array_equal(pp.asnumpy(mine), x)
    if device.backend != "cpu":
        large = pp.zeros((1, 20_000), "float32", device=device)
        with pytest.raises(MemoryError, match="no memory for `temporary` of 20000 elements: an item has room for"):
            pp.jit(named)(large)


def test_memory_of_items_in_groups():
    @pp.kernel
    def turned(item: pp.NdItem, x):
        i = item.get_global_id(0)
        a = x[i] * 2
        pp.group_barrier(item.get_group())
        x[i] = a + a[::-1]

    x = rows((4, 20))
    mine = pp.asarray(x)
    turned[pp.NdRange(4, 2)](mine)
    assert_array_equal(pp.asnumpy(mine), x * 2 + x[:, ::-1] * 2)
    with pytest.raises(MemoryError, match="of 300 elements: an item has room for 256 here"):
        turned[pp.NdRange(2, 2)](pp.ones((2, 300))).wait()


def test_places_and_masks():
    def sparse_product(starts, columns, values, x, out):
        for i in pp.prange(starts.shape[0] - 1):
            own = columns[starts[i] : starts[i + 1]]
            out[i] = values[starts[i] : starts[i + 1]] @ x[own] + x[own].sum()

    starts, columns = np.array([0, 2, 2, 5]), np.array([0, -1, 3, 1, 1])
    both(sparse_product, starts, columns, rows((5,)), rows((4,), seed=1), np.zeros(3))
    with pytest.raises(IndexError, match="index 9 is out of bounds for an axis of size 4"):
        pp.jit(sparse_product)(starts, np.array([0, 9, 3, 1, 1]), rows((5,)), rows((4,)), np.zeros(3))

    def masked(x, y, out):
        for i in pp.prange(x.shape[0]):
            x[i][x[i] > 1] = 1
            y[i][y[i] < x[i]] *= 2
            positive = y[i][y[i] > 0]
            out[i, 0] = positive.sum()
            out[i, 1] = len(positive)

    both(masked, rows(), rows(seed=1), np.zeros((7, 2)))

    def scattered(x, places, out):
        for i in pp.prange(x.shape[0]):
            out[i, places] = x[i, places] * 2
            out[i, places[::-1]] += x[i, :3]
            out[i, places[:2]] = 7

    both(scattered, rows(), np.array([5, 0, -1]), np.zeros((7, 20)))


def test_shapes():
    def other_shapes(x, out):
        for i in pp.prange(x.shape[0]):
            block = x[i].reshape(4, 5)
            out[i, :5] = block.sum(axis=0)
            out[i, 5:9] = np.reshape(x[i] * 2, (-1, 5))[:, 1]
            out[i, 9] = block.T.flatten()[1] + block.ravel()[7] + np.triu(block, 1).sum() - np.tril(block, k=-1)[2:].max()
            block[0, 0] = 3

    both(other_shapes, rows(), np.zeros((7, 10)))
    with pytest.raises(ValueError, match="the numbers of elements differ: 19 and 20"):
        pp.jit(other_shapes)(rows((7, 19)), np.zeros((7, 10)))
