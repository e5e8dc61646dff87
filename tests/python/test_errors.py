# tests/python/test_errors.py: bad input raises at the line of the call, names the operation, and leaves everything usable.
from __future__ import annotations

import numpy as np
import pardo as pp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import DTYPES, check


def test_classes():
    assert issubclass(pp.ExecutionPlacementError, ValueError)
    assert issubclass(pp.DeviceError, RuntimeError)
    assert issubclass(pp.DeviceNotFoundError, pp.DeviceError)
    assert issubclass(pp.DeviceNotFoundError, ValueError)
    assert issubclass(pp.CompileError, RuntimeError)


CALLS = [
    (lambda: pp.zeros(3) + pp.zeros(4), ValueError, r"add: .*\(3,?\).*\(4,?\)"),
    (lambda: pp.zeros(-1), ValueError, "negative dimensions"),
    (lambda: pp.zeros(2.5), TypeError, "shape"),
    (lambda: pp.zeros("ab"), TypeError, "shape"),
    (lambda: pp.zeros((2, 3)).sum(axis=5), np.exceptions.AxisError, "axis 5"),
    (lambda: pp.zeros(3) & pp.zeros(3), TypeError, "bitwise_and"),
    (lambda: pp.arctan2(pp.zeros(2, "complex64"), pp.zeros(2)), TypeError, "arctan2"),
    (lambda: pp.zeros(3).reshape(2, 2), ValueError, "reshape"),
    (lambda: pp.linspace(0, 1, -1), ValueError, "num"),
    (lambda: pp.arange(0, 1, 0), ZeroDivisionError, "arange: step"),
    (lambda: pp.arange("a"), TypeError, "arange: stop must be a number"),
    (lambda: pp.asarray([1, 2], dtype="int8") ** -1, ValueError, "negative"),
    (lambda: pp.sum("ab"), TypeError, "sum: an array, a number or a sequence of numbers is expected"),
    (lambda: pp.sum({1: 2}), TypeError, "sum: an array, a number or a sequence of numbers is expected"),
    (lambda: pp.concat(pp.zeros(())), TypeError, None),
    (lambda: pp.zeros(2, order="K"), ValueError, "zeros: order"),
    (lambda: pp.Array(), TypeError, None),
    (lambda: pp.full(2, "x"), TypeError, None),
    (lambda: pp.tril(pp.zeros((2, 2)), k=1.5), TypeError, "tril"),
    (lambda: pp.matrix_transpose(pp.zeros(3)), ValueError, "2 dimensions"),
    (lambda: pp.nonzero(pp.asarray(1)), ValueError, "nonzero"),
    (lambda: pp.broadcast_to(pp.zeros(3), (2, 2)), ValueError, "broadcast"),
    (lambda: pp.take(pp.zeros((2, 2)), pp.zeros(2), axis=0), (TypeError, IndexError), None),
    (lambda: pp.top_k(pp.zeros(3), 5), ValueError, "top_k"),
    (lambda: pp.partition(pp.zeros(3), 5), ValueError, "partition"),
    (lambda: pp.repeat(pp.zeros(3), -1), ValueError, "repeat"),
    (lambda: pp.repeat(pp.zeros(3), pp.asarray([1, 2])), ValueError, "repeat"),
    (lambda: pp.zeros(2).astype("O"), TypeError, "supported"),
    (lambda: pp.zeros(2).item(5), IndexError, "out of bounds"),
    (lambda: pp.moveaxis(pp.zeros((2, 2)), (0, 1), 0), ValueError, "moveaxis"),
    (lambda: pp.full(3, "a"), TypeError, "full: cannot make an array of str"),
    (lambda: pp.full((2, 3), [1, 2]), ValueError, r"full: .*\(2,\).*\(2, 3\)"),
    (lambda: pp.copyto(pp.zeros((2, 3)), [1, 2]), ValueError, r"copyto: .*\(2,\).*\(2, 3\)"),
    (lambda: pp.asarray(np.zeros(2, "M8[s]")), TypeError, "asarray: cannot make an array of elements of dtype 'datetime64"),
    (lambda: pp.Queue(order=3), TypeError, "Queue: order must be a string"),
    (lambda: pp.zeros(3, queue=3), TypeError, "queue must be a pardo.Queue, not int"),
    (lambda: pp.zeros(3).to_queue("cpu"), TypeError, "queue must be a pardo.Queue, not str"),
    (lambda: pp.zeros(3, device=3), TypeError, "device must be a pardo.Device"),
    (lambda: pp.Queue(3), TypeError, "Queue: .* is expected, not int"),
    (lambda: pp.zeros(3, usm_type=3), TypeError, r"zeros: usm_type must be a string \('device', 'shared' or 'host'\), not int"),
    (lambda: pp.empty(3, usm_type=3), TypeError, "empty: usm_type must be a string"),
    (lambda: pp.asarray([1.0], usm_type=0), TypeError, "asarray: usm_type must be a string"),
    (lambda: pp.get_platforms(3), TypeError, "get_platforms: backend is a string such as 'opencl', not int"),
    (lambda: pp.Range(2**63), OverflowError, "Range: an extent does not fit 64 bits"),
    (lambda: pp.NdRange((4, 4), 2), ValueError, r"NdRange: the global range \(4, 4\) and the local range \(2,\) have"),
    (lambda: pp.select_device("gpu"), TypeError, r"select_device\(\) takes 0 .*; by name it is pardo.Device\('gpu'\)"),
    (lambda: pp.Queue("cpu").fill(np.ones(3), 1), TypeError, "Queue.fill: an array of pardo .* not a NumPy array; use pardo.asarray"),
    (lambda: pp.Queue("cpu").prefetch(np.ones(3)), TypeError, "Queue.prefetch: an array of pardo .* not a NumPy array; use pardo.asarray"),
    (lambda: pp.NdRange(2**63, 2), OverflowError, "Range: an extent does not fit 64 bits"),
    (lambda: pp.broadcast_to(pp.asarray(1.0), (1 << 61,)), MemoryError, r"broadcast_to: array of shape .* is larger than memory can be"),
    (lambda: pp.broadcast_to(pp.asarray(True), (1 << 62,)) + 1.5, MemoryError, r"array of shape .* is larger than memory can be"),
    (lambda: pp.broadcast_to(pp.asarray(True), (1 << 62,)).astype("f8"), MemoryError, r"astype: array of shape .* is larger than memory"),
    (lambda: pp.zeros((1 << 62, 4)), MemoryError, r"zeros: shape \(4611686018427387904, 4\): more elements than fit"),
    (lambda: pp.ones(1 << 62), MemoryError, "ones: array of shape"),
    (lambda: pp.full(1 << 62, 2.0), MemoryError, "full: array of shape"),
    (lambda: pp.zeros_like(pp.ones(2), shape=1 << 62), MemoryError, "zeros_like: array of shape"),
    (lambda: pp.arange(1 << 62), MemoryError, "arange: array of shape"),
    (lambda: pp.linspace(0, 1, 1 << 62), MemoryError, "linspace: array of shape"),
    (lambda: pp.set_memory_limit(1.5), TypeError, "set_memory_limit: limit"),
    (lambda: pp.set_memory_limit("a"), TypeError, "set_memory_limit: limit"),
    (lambda: pp.set_memory_limit(2**70), OverflowError, "set_memory_limit: limit"),
    (lambda: pp.zeros(3).__dlpack__(dl_device="cpu"), TypeError, "dl_device must be a pair of integers"),
    (lambda: pp.zeros(3).__dlpack__(max_version=("a", 0)), TypeError, "max_version must be a pair of integers"),
    (lambda: pp.asarray(None), TypeError, "asarray: cannot make an array of NoneType"),
    (lambda: pp.asarray(2**64), TypeError, "asarray: cannot make an array of int: .* 64 bits"),
    (lambda: pp.asarray({1, 2}), TypeError, "asarray: cannot make an array of set"),
    (lambda: pp.zeros(3, "i4").__setitem__(0, None), TypeError, r"\(nan stands for what is missing\)"),
    (lambda: pp.zeros(3).__setitem__(0, "a"), ValueError, "could not convert string to float"),
    (lambda: pp.asarray(np.ones(3, ">f4"), copy=False), ValueError, "the byte order would change"),
    (lambda: pp.roll(pp.zeros(3), 1.5), TypeError, "roll: shift must be"),
    (lambda: pp.append("ab", 1), TypeError, "append: "),
    (lambda: pp.fliplr(pp.zeros(3)), ValueError, "fliplr: .* at least 2 dimensions"),
    (lambda: pp.flipud(pp.zeros(())), ValueError, "flipud: .* at least 1 dimension"),
    (lambda: pp.zeros_like("a"), TypeError, "zeros_like: "),
    (lambda: pp.ones((1,) * 33), ValueError, "ones: at most 32 dimensions"),
    (lambda: pp.ravel(pp.zeros(3), "x"), ValueError, "ravel: order is 'x'"),
    (lambda: pp.arange(1, "a"), TypeError, "arange: stop must be a number"),
    (lambda: pp.linspace("a", 1), TypeError, "linspace: start must be a number"),
    (lambda: pp.expand_dims(pp.zeros(3), axis=None), TypeError, "expand_dims: axis"),
    (lambda: pp.swapaxes(pp.zeros(3), 0, 1), np.exceptions.AxisError, "swapaxes: axis 1"),
    (lambda: pp.moveaxis(pp.zeros(3), 0, 1), np.exceptions.AxisError, "moveaxis: axis 1"),
    (lambda: pp.unstack(pp.zeros(3), axis=1), np.exceptions.AxisError, "unstack: axis 1"),
    (lambda: pp.split(pp.zeros(3), 3, 1), np.exceptions.AxisError, "split: axis 1"),
    (lambda: pp.concat([pp.zeros(3)], axis=True), TypeError, "concat: axis"),
    (lambda: pp.repeat(pp.zeros(3), [1.5, 2, 0]), TypeError, "repeat: repeats"),
    (lambda: pp.tile(pp.zeros(3), -1), ValueError, "tile: reps"),
    (lambda: pp.promote_types("f4", "S3"), TypeError, "promote_types: .* not supported"),
    (lambda: pp.result_type("f4", "S3"), TypeError, "result_type: .* not supported"),
    (lambda: pp.wait("a"), TypeError, "wait: "),
    (lambda: pp.can_cast("f4", "f8", "nonsense"), (ValueError, TypeError), "casting"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(CALLS)))
def test_messages(case):
    call, error, message = CALLS[case]
    with pytest.raises(error, match=message):
        pp.wait(call())
    check(pp.ones(2) + 1, np.full(2, 2.0))


DTYPE_CALLS = [
    ("arange", lambda t, x: pp.arange(3, dtype=t)),
    ("array", lambda t, x: pp.array(x, dtype=t)),
    ("asarray", lambda t, x: pp.asarray(x, dtype=t)),
    ("asarray", lambda t, x: pp.asarray([1, 2], dtype=t)),
    ("asarray", lambda t, x: pp.asarray(np.ones(2), dtype=t, copy=False)),
    ("astype", lambda t, x: x.astype(t)),
    ("astype", lambda t, x: x.astype(t, casting="safe")),
    ("astype", lambda t, x: pp.astype(x, t)),
    ("astype", lambda t, x: pp.astype(x + 0j, t)),
    ("clip", lambda t, x: pp.clip(x, 0, 1, dtype=t)),
    ("concat", lambda t, x: pp.concat([x, x], dtype=t)),
    ("cumprod", lambda t, x: x.cumprod(dtype=t)),
    ("cumsum", lambda t, x: pp.cumsum(x, dtype=t)),
    ("cumulative_prod", lambda t, x: pp.cumulative_prod(x, axis=0, dtype=t)),
    ("cumulative_sum", lambda t, x: pp.cumulative_sum(x, axis=0, dtype=t)),
    ("empty", lambda t, x: pp.empty(3, t)),
    ("empty_like", lambda t, x: pp.empty_like(x, t)),
    ("eye", lambda t, x: pp.eye(3, dtype=t)),
    ("full", lambda t, x: pp.full(3, 1, t)),
    ("full", lambda t, x: pp.full(3, x, t)),
    ("full_like", lambda t, x: pp.full_like(x, [1, 2, 3], t)),
    ("hstack", lambda t, x: pp.hstack([x, x], dtype=t, casting="unsafe")),
    ("identity", lambda t, x: pp.identity(3, t)),
    ("linspace", lambda t, x: pp.linspace(0, 1, 3, dtype=t)),
    ("linspace", lambda t, x: pp.linspace(x, 1, 3, dtype=t)),
    ("matmul", lambda t, x: pp.matmul(x, x, dtype=t)),
    ("mean", lambda t, x: x.mean(dtype=t)),
    ("MemoryHost.array", lambda t, x: pp.MemoryHost(16).array(t)),
    ("ones", lambda t, x: pp.ones(3, t)),
    ("ones_like", lambda t, x: pp.ones_like(x, t)),
    ("prod", lambda t, x: pp.prod(x, dtype=t)),
    ("stack", lambda t, x: pp.stack([x, x], dtype=t)),
    ("std", lambda t, x: x.std(dtype=t)),
    ("std", lambda t, x: x.std(dtype=t, mean=x.mean())),
    ("sum", lambda t, x: x.sum(dtype=t)),
    ("trace", lambda t, x: pp.trace(x, dtype=t)),
    ("var", lambda t, x: pp.var(x, dtype=t)),
    ("vstack", lambda t, x: pp.vstack([x, x], dtype=t)),
    ("zeros", lambda t, x: pp.zeros(3, t)),
    ("zeros_like", lambda t, x: pp.zeros_like(x, t)),
]


@pytest.mark.parametrize("bad", ["datetime64[s]", "nonsense", np.longdouble, object(), pp.Array])
@pytest.mark.parametrize(("label", "call"), DTYPE_CALLS)
def test_unsupported_dtypes_are_refused_in_the_name_of_the_call(label, call, bad):
    x = pp.ones((3, 3))
    with pytest.raises(TypeError, match=f"^{label}: dtype '.*' is not supported; supported are bool, int8, "):
        call(*((x, x) if bad is pp.Array else (bad, x)))


@pytest.mark.parametrize("values", [np.ones(2, np.longdouble), np.ones(2, np.clongdouble), np.array(["a"]), ["a"], [np.longdouble(1)]])
@pytest.mark.parametrize("make", [pp.array, pp.asarray, pp.full_like])
def test_unsupported_values_are_refused_in_the_name_of_the_call(make, values):
    arguments = (pp.ones(2), values) if make is pp.full_like else (values,)
    with pytest.raises(TypeError, match=f"^{make.__name__}: .*(not supported|numbers of at most 64 bits)"):
        make(*arguments)


@pytest.mark.parametrize("shape", [(2**62,), (2**40, 2**40), (2**31, 2**31, 2**31), (2**63 - 1,), 2**48])
def test_sizes_beyond_memory(shape):
    before = pp.memory_stats().in_use
    for make in (pp.empty, pp.zeros):
        with pytest.raises((MemoryError, ValueError)):
            make(shape).wait()
    with pytest.raises((MemoryError, ValueError)):
        (pp.broadcast_to(pp.ones(()), shape) + 1).wait()
    assert pp.memory_stats().in_use <= before + 4096
    check(pp.ones(2) + 1, np.full(2, 2.0))


def test_memory_error_names_bytes():
    with pytest.raises(MemoryError, match=r"\d+ bytes"):
        pp.empty(2**44).wait()


def test_too_many_dimensions():
    check(pp.ones((1,) * 32) + 1, np.full((1,) * 32, 2.0))
    with pytest.raises(ValueError, match="dimension"):
        pp.zeros((1,) * 33).wait()
    with pytest.raises((ValueError, IndexError), match="dimension"):
        pp.ones((1,) * 32)[None].wait()


HOSTILE = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=3), st.lists(st.integers(-5, 5), max_size=4),
    st.tuples(st.integers(-5, 5), st.integers(-(2**65), 2**65)), st.just(pp.float32), st.binary(max_size=4), st.complex_numbers(),
)  # fmt: skip
WRITERS = ("save", "savetxt", "savez", "savez_compressed")
SETTINGS = ("set_memory_limit", "set_printoptions", "trim_memory", "wait", *WRITERS)
NAMES = sorted(name for name in dir(pp) if callable(getattr(pp, name)) and not isinstance(getattr(pp, name), type) and name not in SETTINGS)


@pytest.mark.filterwarnings("ignore")
@given(st.sampled_from(NAMES), st.data())
def test_hostile_arguments(name, data):
    """Any call returns or raises an exception of Python's usual kinds; nothing crashes."""
    shape = data.draw(st.lists(st.integers(0, 3), max_size=3))
    array = pp.zeros(tuple(shape), data.draw(st.sampled_from(DTYPES)))
    arguments = data.draw(st.lists(st.one_of(st.just(array), HOSTILE), max_size=4))
    arguments = [a if not isinstance(a, int) or abs(a) < 2**20 or abs(a) > 2**50 else a % 1000 for a in arguments]
    try:
        result = getattr(pp, name)(*arguments)
        for x in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(x, pp.Array) and x.size < 10**6:
                x.wait()
    except (ArithmeticError, AttributeError, BufferError, EOFError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError):
        pass
