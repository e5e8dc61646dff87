# tests/python/wrong/launches.py: launches, arguments and kernels as newcomers write them, each wrong in its own way; launches.txt holds what
# users read. Linters would mend them: pyproject.toml lets them be.
import math

import numpy as np
import pardo as pp
import scipy.special as sp

WIDTH, TABLE, SCALE, HUGE = 2.5, [1.0, 2.0], "two", 2**70


class Plain:
    weight = 2.0


@pp.kernel
def saxpy(item: pp.Item, a, x, y):
    i = item.get_id(0)
    y[i] += a * x[i]


@pp.kernel
def cells(item: pp.Item, x):
    x[item.get_id(0), item.get_id(1)] = 1.0


@pp.kernel
def first(item: pp.Item, x):
    x[item.get_id()] = 1.0


@pp.kernel
def groups(item: pp.NdItem, x):
    i = item.get_local_id(0)
    if i > 1:
        pp.group_barrier(item.get_group())
    x[i] = 1.0


@pp.kernel
def zero_at(item: pp.Item, x):
    i = item.get_id(0)
    if x[i] == 0:
        raise ValueError("zero at", i)


@pp.kernel
def zero_of(item: pp.Item, x):
    i = item.get_id(0)
    if x[i] == 0:
        raise ValueError(f"element {i} of {x.shape[0]} is zero")


@pp.kernel
def float_told(item: pp.Item, x):
    raise ValueError("here is", x[0])


@pp.kernel
def four_told(item: pp.Item, n):
    raise ValueError("here are", n[0], n[1], n[2], n[3])


@pp.kernel
def keyword_told(item: pp.Item, x):
    raise OSError("here", filename="x")


@pp.kernel
def sized(item: pp.Item, x):
    own = pp.private_array(WIDTH, np.float64)
    x[0] = own[0]


@pp.kernel
def scaled(item: pp.Item, x):
    x[0] *= SCALE


@pp.kernel
def looked_up(item: pp.Item, x):
    x[0] = TABLE[0]


@pp.kernel
def huge(item: pp.Item, n):
    n[0] = HUGE


@pp.kernel
def no_dtype(item: pp.Item, x):
    own = np.zeros(3, "q9")
    x[0] = own[0]


@pp.kernel
def no_attribute(item: pp.Item, x):
    if x.dtype.alignment == 8:
        x[0] = 1.0


@pp.kernel
def a_class(item: pp.Item, x):
    p = Plain()
    x[0] = p.weight


@pp.kernel
def a_text(item: pp.Item, x):
    s = str(x[0])
    x[0] = len(s)


@pp.kernel
def of_scipy(item: pp.Item, x):
    x[0] = sp.gamma(x[0])


@pp.kernel
def a_dict(item: pp.Item, x):
    d = dict()
    d[0] = x[0]


@pp.kernel
def a_file(item: pp.Item, x):
    f = open("x")
    x[0] = 1.0


@pp.jit
def neighbours(u):
    for i in pp.prange(1, u.shape[0] - 1):
        u[i] = 0.5 * (u[i - 1] + u[i + 1])


@pp.jit
def unordered_number(u):
    for i in pp.prange(u.shape[0]):
        u[i] = pp.unordered(2.0)


@pp.kernel
def only_of_scipy(item: pp.Item, x):
    x[0] = sp.jv(1, x[0])


@pp.kernel
def of_numba_cuda(item: pp.Item, x):
    i = cuda.grid(1)
    x[i] = 1.0


@pp.kernel
def thread_of_cuda(item: pp.NdItem, x):
    x[threadIdx.x] = 1.0


@pp.kernel
def global_id_of_an_item(item: pp.Item, x):
    x[item.get_global_id(0)] = 1.0


@pp.jit
def left_early(x):
    for i in pp.prange(x.shape[0]):
        if x[i] > 0.5:
            return i
    return -1


@pp.jit
def largest(x):
    best = -1.0
    for i in pp.prange(x.shape[0]):
        if x[i] > best:
            best = x[i]
    return best


class Model:
    def __init__(self):
        self.weight = 2.0

    @pp.jit
    def weigh(self, x):
        for i in pp.prange(x.shape[0]):
            x[i] *= self.weight


def plus(n):
    """A function with a sum of so many terms."""
    names = {"pp": pp}
    text = "def long_sum(item: pp.Item, x):\n    x[0] = (x[1]\n" + "        + x[0]\n" * n + "    )\n"
    import linecache

    linecache.cache["<long_sum>"] = (len(text), None, text.splitlines(True), "<long_sum>")
    exec(compile(text, "<long_sum>", "exec"), names)
    return pp.kernel(names["long_sum"])


@pp.kernel
def of_numpy(item: pp.Item, n):
    n[0] = np.gcd(n[1], n[2])


@pp.kernel
def of_math(item: pp.Item, n):
    n[0] = math.comb(5, 2)


@pp.kernel
def inverse(item: pp.Item, x):
    i = item.get_id(0)
    if x[i] == 0:
        raise ZeroDivisionError("no inverse of element", i)
    x[i] = 1 / x[i]


def failed():
    x = pp.arange(8.0)
    inverse[8](x)
    try:
        x.wait()
    except ZeroDivisionError:
        pass
    return x


X, N = pp.ones(8), pp.arange(8)
PROGRAMS = {
    "cuda_launch": lambda: saxpy[8, 128](2.0, X, X),
    "cuda_launch_of_three": lambda: saxpy[8, 8, 128](2.0, X, X),
    "cuda_launch_with_a_stream": lambda: saxpy[8, 128, X.queue],
    "cells_of_three_dimensions": lambda: cells[2, 2, 2](pp.zeros((2, 2))),
    "cuda_launch_without_a_dimension": lambda: first[8, 128](X),
    "pair_of_tuples": lambda: saxpy[(8,), (128,)],
    "pair_of_two_dimensions": lambda: cells[(2, 2), (16, 16)],
    "number_and_tuple": lambda: saxpy[8, (128,)],
    "four_in_brackets": lambda: saxpy[pp.Range(8), None, None, None],
    "float_in_brackets": lambda: saxpy[8.0],
    "without_brackets": lambda: saxpy(2.0, X, X),
    "list_as_argument": lambda: saxpy[8](2.0, [1.0, 2.0], X),
    "dict_as_argument": lambda: saxpy[8](2.0, {"x": 1.0}, X),
    "none_as_argument": lambda: saxpy[8](None, X, X),
    "set_as_argument": lambda: saxpy[8]({1.0}, X, X),
    "text_as_argument": lambda: saxpy[8]("2", X, X),
    "object_as_argument": lambda: saxpy[8](Plain(), X, X),
    "class_as_argument": lambda: saxpy[8](Plain, X, X),
    "arguments_missing": lambda: saxpy[8](2.0),
    "arguments_too_many": lambda: saxpy[8](2.0, X, X, X),
    "kernel_of_a_loop": lambda: pp.kernel(neighbours),
    "loops_of_a_kernel": lambda: pp.jit(saxpy),
    "kernel_as_a_method": lambda: pp.kernel(Model.__init__),
    "self_in_a_loop": lambda: Model().weigh(np.ones(4)),
    "groups_too_large": lambda: saxpy[pp.NdRange(65536, 65536)](2.0, pp.ones(65536), pp.ones(65536)),
    "groups_of_two_dimensions_too_large": lambda: cells[pp.NdRange((256, 256), (256, 256))](pp.zeros((256, 256))),
    "read_after_a_failure": lambda: float(failed().sum()),
    "element_after_a_failure": lambda: float(failed()[3]),
    "computed_of_a_failure": lambda: (failed()[:4] * 2).tolist(),
    "divergent_barrier": lambda: groups[pp.NdRange(8, 4)](X),
    "values_told": lambda: zero_at[8](pp.arange(8.0)).wait(),
    "values_in_a_text": lambda: zero_of[8](pp.arange(8.0)).wait(),
    "float_told": lambda: float_told[8](X),
    "four_values_told": lambda: four_told[8](N),
    "keyword_told": lambda: keyword_told[8](X),
    "size_that_is_no_integer": lambda: sized[8](X),
    "text_from_outside": lambda: scaled[8](X),
    "list_from_outside": lambda: looked_up[8](X),
    "number_beyond_64_bits": lambda: huge[8](N),
    "unknown_dtype": lambda: no_dtype[8](X),
    "attribute_of_a_dtype": lambda: no_attribute[8](X),
    "plain_class": lambda: a_class[8](X),
    "text_in_a_kernel": lambda: a_text[8](X),
    "function_of_scipy": lambda: of_scipy[8](X),
    "dict_in_a_kernel": lambda: a_dict[8](X),
    "file_in_a_kernel": lambda: a_file[8](X),
    "neighbours_in_place": lambda: neighbours(np.ones(8)),
    "function_of_numpy_alone": lambda: of_numpy[8](N),
    "function_of_math_alone": lambda: of_math[8](N),
    "function_of_scipy_alone": lambda: only_of_scipy[8](X),
    "grid_of_numba_cuda": lambda: of_numba_cuda[8](X),
    "names_of_cuda": lambda: thread_of_cuda[pp.NdRange(8, 4)](X),
    "global_id_of_an_item": lambda: global_id_of_an_item[8](X),
    "parallel_loop_left_early": lambda: left_early(np.ones(8)),
    "largest_by_if": lambda: largest(np.ones(8)),
    "unordered_number": lambda: unordered_number(np.ones(8)),
    "nested_too_deeply": lambda: plus(300)[8](X),
}
