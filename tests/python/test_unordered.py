# tests/python/test_unordered.py: red and black cells in turn in parallel loops; and what else of kernels was refused without a way out.
import linecache

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

pytestmark = pytest.mark.once


@pp.jit
def sweep(u, color):
    for i in pp.prange(1, u.shape[0] - 1):
        for j in range(1 + (i + color) % 2, u.shape[1] - 1, 2):
            old = pp.unordered(u)
            u[i, j] = 0.25 * (old[i - 1, j] + old[i + 1, j] + old[i, j - 1] + old[i, j + 1])


def reference(u, color):
    for i in range(1, u.shape[0] - 1):
        for j in range(1 + (i + color) % 2, u.shape[1] - 1, 2):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@pytest.mark.parametrize("make", [np.asarray, pp.asarray])
@pytest.mark.parametrize("step", [1, 2])
def test_red_and_black(make, step, rng):
    start = rng.random((60, 82))[:, ::step]
    want, u = start.copy(), make(start.copy())
    for color in (0, 1, 0, 1):
        sweep(u, color)
        reference(want, color)
    assert_array_equal(np.asarray(pp.asnumpy(u)), want)


def test_races_are_looked_for_in_the_rest(rng):
    u = rng.random((8, 9))
    want = u.copy()
    pp.jit(sweep._function, race_check=True)(u, 0)
    reference(want, 0)
    assert_array_equal(u, want)

    @pp.jit(race_check=True)
    def all_write(u):
        for i in pp.prange(4):
            u[i // 2] = pp.unordered(u)[i] + 1.0

    with pytest.raises(pp.RaceError):
        all_write(np.zeros(4))


def test_in_kernels_and_outside():
    @pp.kernel
    def smoothed(item: pp.Item, x):
        i = item.get_id(0)
        if 0 < i < x.shape[0] - 1 and i % 2:
            x[i] = 0.5 * (pp.unordered(x)[i - 1] + pp.unordered(x)[i + 1])

    x = pp.arange(6.0) ** 2
    smoothed[6](x)
    assert x.tolist() == [0, 2, 4, 10, 16, 25]
    assert pp.unordered(x) is x


def test_dtypes_by_their_texts():
    @pp.kernel
    def fill(item: pp.Item, x):
        a, b, c = np.zeros(3, "f8"), pp.private_array(3, "i4"), np.ones(2, dtype="<u2")
        b[0] = 7
        x[0], x[1], x[2] = a.dtype.itemsize + b.dtype.itemsize, b[0], c.dtype.itemsize

    x = pp.zeros(4)
    fill[1](x)
    assert x.tolist() == [12, 7, 2, 0]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "uint64", "float32", "float64", "complex64", "complex128"])
def test_what_dtypes_tell(dtype):
    @pp.kernel
    def tell(item: pp.Item, x, out):
        d = x.dtype
        out[0] = d.kind == "f"
        out[1] = 1 if d.kind in "iu" else 2
        out[2] = d.name == "int64"
        out[3] = d.char in ("d", "F")
        out[4] = d.str == "<f4"
        out[5] = d.kind not in ("c", "b")

    d, out = np.dtype(dtype), pp.zeros(6, dtype="int32")
    tell[1](pp.zeros(2, dtype=dtype), out)
    want = [d.kind == "f", 1 if d.kind in "iu" else 2, d.name == "int64", d.char in "dF", d.str == "<f4", d.kind not in "cb"]
    assert out.tolist() == list(map(int, want))


def test_lists_of_one_computed_value():
    @pp.jit
    def repeated(x, n):
        for i in pp.prange(x.shape[0]):
            a = [x[i] * 2] * 3
            b = [i + 1.0] * n
            a[1] += 1.0
            x[i] = a[0] + a[1] + a[2] + b[n - 1]

    x = np.arange(4.0)
    repeated(x, 5)
    assert_array_equal(x, np.arange(4.0) * 6 + 1 + np.arange(1, 5))


def kernel_of(text):
    name = f"<{hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    exec(compile(text, name, "exec"), names := {"pp": pp})
    return pp.kernel(names["k"])


def chain(n):
    """A kernel that calls a function that calls a function, n deep."""
    text = "def f0(v):\n    return v + 1\n" + "".join(f"def f{k}(v):\n    return f{k - 1}(v)\n" for k in range(1, n))
    return kernel_of(text + f"def k(item: pp.Item, x):\n    x[0] = f{n - 1}(x[0])\n")


def conditions(n):
    """A kernel with so many elifs."""
    text = "def k(item: pp.Item, x):\n    if x[0] == -1:\n        x[0] = 5.0\n"
    text += "".join(f"    elif x[0] == {k}:\n        x[0] = {k + 1}.0\n" for k in range(n))
    return kernel_of(text)


def test_what_is_nested_deeply():
    x = pp.zeros(2)
    chain(40)[1](x)
    assert x[0] == 1
    x = pp.zeros(2)
    conditions(100)[1](x)
    assert x[0] == 1
    with pytest.raises(pp.CompileError, match=r"(?s)64 deep, and `k` is the first of more\n.*line \d+, in f\d+"):
        chain(300)[1](x)
    with pytest.raises(pp.CompileError, match=r"(?s)nested too deeply, .*line \d+, in k"):
        conditions(400)[1](x)


def test_methods():
    class Model:
        weight = 3.0

        @staticmethod
        @pp.kernel
        def fill(item: pp.Item, x):
            x[item.get_id(0)] = 1.0

        @pp.jit
        def scaled(self, x):
            w = self.weight
            for i in pp.prange(x.shape[0]):
                x[i] = w
            return self

    x = pp.zeros(4)
    Model().fill[4](x)
    assert x.sum() == 4
    host = np.zeros(3)
    model = Model()
    assert model.scaled(host) is model
    assert host.sum() == 9
    with pytest.raises(TypeError, match=r"kernel: .*Other.step is a method, and kernels take no `self`"):

        class Other:
            @pp.kernel
            def step(self, item: pp.Item, x):
                x[0] = 1.0


def test_groups_as_large_as_the_device_says():
    most = pp.Device("cpu").max_work_group_size

    @pp.kernel
    def turned(item: pp.NdItem, x):
        i, k = item.get_global_id(0), item.get_local_id(0)
        shared = pp.local_array(8192, np.float32)
        shared[k] = x[i]
        pp.group_barrier(item.get_group())
        x[i] = shared[item.get_local_range(0) - 1 - k]

    x = pp.arange(2 * most, dtype="float32", device="cpu")
    turned[pp.NdRange(2 * most, most)](x)
    assert_array_equal(pp.asnumpy(x), np.arange(2 * most, dtype="float32").reshape(2, most)[:, ::-1].ravel())
    with pytest.raises(ValueError, match=f"turned: groups of {2 * most} items: cpu:0 takes at most {most}"):
        turned[pp.NdRange(2 * most, 2 * most)](x)
