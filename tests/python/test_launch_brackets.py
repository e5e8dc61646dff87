# tests/python/test_launch_brackets.py: what stands in a kernel's brackets means one thing: a range that the kernel asks for less of, or a
# pair that other libraries read in two ways, is refused with the words of both.
import pickle

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once


@pp.func
def row_of(item):
    return item.get_id(0)


@pp.func
def column():
    return pp.get_global_id(1)


@pp.kernel
def saxpy(item: pp.Item, a, x, y):
    i = item.get_id(0)
    if i < x.shape[0]:
        y[i] += a * x[i]


@pp.kernel
def by_function(item: pp.Item, x):
    x[row_of(item)] = 1


@pp.kernel
def cells(item: pp.Item, x):
    x[row_of(item), column()] += 1


@pp.kernel
def linear(item: pp.Item, x):
    x[item.get_linear_id()] = item.get_id(0)


@pp.kernel
def counts(item: pp.Item, x):
    x[0] = item.get_linear_range() + item.get_id(0)


@pp.kernel
def all_dimensions(item: pp.Item, x):
    n = 0
    for _ in range(item.dimensions):
        n += item.get_id(0)
    x[item.get_id(0)] = n


@pp.kernel
def last(item: pp.Item, x):
    x[item.get_id(-1)] = 1


@pp.kernel
def nothing(item: pp.Item, x):
    pp.atomic.add(x, 0, 1)


MEANINGS = (
    r"saxpy: range \(8, 128\) has 2 dimensions, `saxpy` asks for 1; CUDA's \[8, 128\] is NdRange\(8 \* 128, 128\), and a range of that "
    r"many items Range\(8, 128\)$"
)


def test_more_dimensions_than_the_kernel_asks_for():
    x, y = pp.ones(1000), pp.zeros(1000)
    for _ in range(2):  # the second time everything is known
        with pytest.raises(ValueError, match=MEANINGS):
            saxpy[(1000 + 127) // 128, 128](2.0, x, y)
    with pytest.raises(ValueError, match=r"by_function: range \(4, 4\) has 2 dimensions, `by_function` asks for 1"):
        by_function[4, 4](x)
    with pytest.raises(ValueError, match=r"by_function: range \(4, 4, 2\) .* asks for 1; CUDA's \[groups, items, stream\]"):
        by_function[4, 4, 2](x)
    with pytest.raises(ValueError, match=r"cells: range \(2, 2, 5\) has 3 dimensions, `cells` asks for 2"):
        cells[2, 2, 5](pp.zeros((2, 2)))
    assert y.sum() == 0
    saxpy[pp.NdRange(8 * 128, 128)](2.0, x, y)
    assert_array_equal(pp.asnumpy(y), np.full(1000, 2.0))


def test_all_doors():
    x, y = pp.ones(1000), pp.zeros(1000)
    launch = saxpy[8, 128]
    for door in (
        lambda: launch(2.0, x, y),
        lambda: launch(a=2.0, x=x, y=y),
        lambda: pickle.loads(pickle.dumps(launch))(2.0, x, y),
        lambda: saxpy[[8, 128]](2.0, x, y),
        lambda: saxpy[np.int64(8), np.int32(128)](2.0, x, y),
        lambda: saxpy[(8, 128), x.queue](2.0, x, y),
        lambda: saxpy[(8, 128), None, []](2.0, x, y),
        lambda: pp.call_kernel(saxpy, (8, 128), 2.0, x, y),
        lambda: pp.call_kernel_async(saxpy, (8, 128), None, 2.0, x, y),
        lambda: launch.inspect(2.0, x, y),
        lambda: launch.types(2.0, x, y),
        lambda: launch.interpret(2.0, x, y),
        lambda: launch.interpret(2.0, np.ones(1000), np.zeros(1000)),
    ):
        with pytest.raises(ValueError, match=MEANINGS):
            door()
    with pp.device_context("cpu"), pytest.raises(ValueError, match=MEANINGS):
        launch(2.0, np.ones(1000), np.zeros(1000))
    saxpy[pp.Range(8, 128)](0.0, x, y).wait()  # the same numbers, written out
    with pytest.raises(ValueError, match=MEANINGS):
        saxpy[8, 128](2.0, x, y)


def test_under_race_check(monkeypatch):
    monkeypatch.setenv("PARDO_RACE_CHECK", "1")
    with pytest.raises(ValueError, match=MEANINGS):
        saxpy[8, 128](2.0, pp.ones(8), pp.zeros(8))


def test_what_asks_for_all_dimensions():
    x = pp.zeros((2, 3), dtype="int64")
    cells[x.shape](x)
    cells[2, 3](x)
    cells[x.shape, x.queue](x)
    cells[x.shape, None, [x]](x).wait()
    assert (x == 4).all()
    y = pp.zeros(6, dtype="int64")
    linear[2, 3](y)
    assert y.tolist() == [0, 0, 0, 1, 1, 1]
    counts[1, 3](y)
    assert y[0] == 3
    all_dimensions[1, 3](y)
    last[2, 3](y)
    nothing[2, 3](y)
    nothing[(2, 3)](y)
    assert y[0] == 1 + 12
    by_function[pp.Range(4, 4)](y).wait()
    by_function[4](y)
    by_function[4,](y)
    by_function[4, y.queue](y).wait()
    by_function[4, None](y).wait()
    by_function[y.shape](y).wait()


def test_pairs_of_tuples():
    x = pp.zeros(8)
    both = (
        r"by_function\[\(4,\), \(2,\)\] may be groups and items of each, as for numba.cuda and CuPy: NdRange\(\(4 \* 2,\), \(2,\)\); or "
        r"all items and those of a group, as for PyOpenCL: NdRange\(\(4,\), \(2,\)\)"
    )
    for place in (((4,), (2,)), (4, (2,)), ((4,), 2), ((4,), (2,), x.queue), ([4], [2])):
        with pytest.raises(TypeError, match=both):
            by_function[place]
    with pytest.raises(TypeError, match=r"by_function\[\(4, 2\), \(2, 2\)\] .* NdRange\(\(4 \* 2, 2 \* 2\), \(2, 2\)\)"):
        by_function[(4, 2), (2, 2)]


def test_other_things_in_brackets():
    x = pp.zeros(8)
    with pytest.raises(TypeError, match=r"by_function\[4, 2, …\]: numbers of items are integers, not Queue; a range and a queue are"):
        by_function[4, 2, x.queue]
    with pytest.raises(TypeError, match=r"by_function\[range, queue, depends\]: at most three"):
        by_function[4, None, None, None]
    with pytest.raises(TypeError, match=r"queue: a pardo\.Queue is expected, not str"):
        by_function[4, "cpu"](x)
    with pytest.raises(TypeError, match="extents are integers, not float"):
        by_function[4.0]
    with pytest.raises(ValueError, match="one to three extents are expected, not 0"):
        by_function[()]


def test_an_id_of_no_dimension():
    @pp.kernel
    def plain(item: pp.Item, x):
        x[item.get_id()] = 1

    with pytest.raises(TypeError, match=r"say which one, from 0; CUDA's \[groups, items\] is NdRange\(groups \* items, items\)"):
        plain[8, 128](pp.zeros(8))


OPENCL = """
__kernel void one(__global int *x) { if (get_global_id(0) < 8) x[get_global_id(0)] = 1; }
"""


@pytest.mark.skipif(not pp.get_devices("opencl"), reason="no OpenCL device")
def test_programs_of_text():
    device = pp.get_devices("opencl")[0]
    x = pp.zeros(8, dtype="int32", device=device)
    one = pp.Program(device, OPENCL).one
    with pytest.raises(ValueError, match=r"one: range \(2, 4\) has 2 dimensions, the text of `one` asks for 1; CUDA's \[2, 4\] is"):
        one[2, 4](x)
    one[pp.Range(8, 2)](x).wait()
    one[8](x).wait()
    two = pp.Program(device, OPENCL.replace("= 1;", "= get_global_id(1);")).one
    two[8, 1](x).wait()
    computed = pp.Program(device, "__kernel void one(__global int *x) { for (int d = 0; d < 2; ++d) x[get_global_id(d)] = 1; }").one
    computed[8, 2](x).wait()
