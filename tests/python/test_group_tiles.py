# tests/python/test_group_tiles.py: algorithms of groups on tiles of matrices and grids, on every device of the machine, each compared
# with plain Python.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES, Cases, ints, zeros

pytestmark = pytest.mark.once

case = Cases()


# --- matrices


@case(1, 4, 16)
def tiled_matmul(size):
    @pp.kernel
    def kernel(item: pp.NdItem, a, b, c):
        ta, tb = pp.local_array((size, size), "float32"), pp.local_array((size, size), "float32")
        i, j = item.get_local_id(0), item.get_local_id(1)
        total = np.float32(0)
        for t in range(a.shape[1] // size):
            ta[i, j] = a[item.get_global_id(0), t * size + j]
            tb[i, j] = b[t * size + i, item.get_global_id(1)]
            pp.group_barrier(item.get_group())
            for k in range(size):
                total += ta[i, k] * tb[k, j]
            pp.group_barrier(item.get_group())
        c[item.get_global_id(0), item.get_global_id(1)] = total

    shapes = (2 * size, 3 * size), (3 * size, 2 * size), (2 * size, 2 * size)
    return kernel, pp.NdRange(shapes[2], (size, size)), ints(shapes[0], "float32"), ints(shapes[1], "float32"), zeros(shapes[2], "float32")


@case()
def tiled_matmul_with_edges():
    @pp.kernel
    def kernel(item: pp.NdItem, a, b, c, n: pp.Const[int]):
        ta, tb = pp.local_array((n, n), "float64"), pp.local_array((n, n), "float64")
        i, j = item.get_local_id(0), item.get_local_id(1)
        row, column = item.get_global_id(0), item.get_global_id(1)
        total = 0.0
        for t in range((a.shape[1] + n - 1) // n):
            ta[i, j] = a[row, t * n + j] if row < a.shape[0] and t * n + j < a.shape[1] else 0.0
            tb[i, j] = b[t * n + i, column] if t * n + i < b.shape[0] and column < b.shape[1] else 0.0
            pp.group_barrier(item.get_group())
            for k in range(n):
                total += ta[i, k] * tb[k, j]
            pp.group_barrier(item.get_group())
        if row < c.shape[0] and column < c.shape[1]:
            c[row, column] = total

    return kernel, pp.NdRange((16, 16), (4, 4)), ints((13, 10), "float64"), ints((10, 15), "float64"), zeros((13, 15), "float64"), 4


@case()
def tiled_matmul_with_four_elements_an_item():
    @pp.kernel
    def kernel(item: pp.NdItem, a, b, c):
        ta, tb = pp.local_array((8, 8), "int64"), pp.local_array((8, 8), "int64")
        acc = pp.private_array((2, 2), "int64")
        i, j = 2 * item.get_local_id(0), 2 * item.get_local_id(1)
        row, column = 2 * item.get_global_id(0), 2 * item.get_global_id(1)
        for p in range(2):
            for q in range(2):
                acc[p, q] = 0
        for t in range(0, a.shape[1], 8):
            for p in range(2):
                for q in range(2):
                    ta[i + p, j + q] = a[row + p, t + j + q]
                    tb[i + p, j + q] = b[t + i + p, column + q]
            pp.group_barrier(item.get_group())
            for k in range(8):
                for p in range(2):
                    for q in range(2):
                        acc[p, q] += ta[i + p, k] * tb[k, j + q]
            pp.group_barrier(item.get_group())
        c[row : row + 2, column : column + 2] = acc

    return kernel, pp.NdRange((8, 8), (4, 4)), ints((16, 24)), ints((24, 16)), zeros((16, 16))


@case()
def matrix_times_vector():
    @pp.kernel
    def kernel(item: pp.NdItem, a, x, y, tile):
        total = 0
        for first in range(0, x.shape[0], tile.shape[0]):
            tile[item.get_local_id(0)] = x[first + item.get_local_id(0)]
            pp.group_barrier(item.get_group())
            for k in range(tile.shape[0]):
                total += a[item.get_global_id(0), first + k] * tile[k]
            pp.group_barrier(item.get_group())
        y[item.get_global_id(0)] = total

    return kernel, pp.NdRange(32, 16), ints((32, 48)), ints(48), zeros(32), pp.LocalAccessor(16, "int64")


# --- stencils


@case(1, 7, 64)
def stencil_with_halo(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        a = pp.local_array(size + 4, "int64")
        i, g, n = item.get_local_id(0), item.get_global_id(0), x.shape[0]
        k = i
        while k < size + 4:  # no barrier in it: items may have any number of iterations
            at = g - i + k - 2
            a[k] = x[min(max(at, 0), n - 1)]
            k += size
        pp.group_barrier(item.get_group())
        y[g] = a[i] + 2 * a[i + 1] + 3 * a[i + 2] + 5 * a[i + 3] + 7 * a[i + 4]

    return kernel, pp.NdRange(3 * size, size), ints(3 * size), zeros(3 * size)


@case((4, 4), (8, 16))
def stencil_of_the_plane(size):
    rows, columns = size

    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        a = pp.local_array((rows + 2, columns + 2), "float32")
        r, c = item.get_local_id(0) + 1, item.get_local_id(1) + 1
        gr, gc = item.get_global_id(0), item.get_global_id(1)
        a[r, c] = x[gr, gc]
        if r == 1:
            a[0, c] = x[gr - 1, gc] if gr > 0 else 0.0
        if r == rows:
            a[r + 1, c] = x[gr + 1, gc] if gr + 1 < x.shape[0] else 0.0
        if c == 1:
            a[r, 0] = x[gr, gc - 1] if gc > 0 else 0.0
        if c == columns:
            a[r, c + 1] = x[gr, gc + 1] if gc + 1 < x.shape[1] else 0.0
        pp.group_barrier(item.get_group())
        y[gr, gc] = a[r - 1, c] + a[r + 1, c] + a[r, c - 1] + a[r, c + 1] - 4 * a[r, c]

    shape = (2 * rows, 2 * columns)
    return kernel, pp.NdRange(shape, size), ints(shape, "float32"), zeros(shape, "float32")


@case()
def stencil_of_space():
    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        a = pp.local_array((4, 4, 4), "int32")
        i, j, k = item.get_local_id(0), item.get_local_id(1), item.get_local_id(2)
        a[i, j, k] = x[item[0], item[1], item[2]]
        pp.group_barrier(item.get_group())
        total = -6 * a[i, j, k]
        for d in range(-1, 2, 2):
            total += a[(i + d) % 4, j, k] + a[i, (j + d) % 4, k] + a[i, j, (k + d) % 4]
        y[item[0], item[1], item[2]] = total

    return kernel, pp.NdRange((4, 8, 8), (4, 4, 4)), ints((4, 8, 8), "int32"), zeros((4, 8, 8), "int32")


@case(16)
def jacobi_steps(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, steps):
        a, b = pp.local_array(size, "float64"), pp.local_array(size, "float64")
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        for step in range(steps):
            pp.group_barrier(item.get_group())
            inside = 0 < i < size - 1
            if step % 2 == 0:
                b[i] = (a[i - 1] + a[i + 1]) / 2 if inside else a[i]
            else:
                a[i] = (b[i - 1] + b[i + 1]) / 2 if inside else b[i]
        x[item.get_global_id(0)] = a[i] if steps % 2 == 0 else b[i]

    return kernel, pp.NdRange(3 * size, size), ints(3 * size, "float64"), 9


@case()
def game_of_life():
    @pp.kernel
    def kernel(item: pp.NdItem, x, generations: pp.Const[int]):
        world = pp.local_array((8, 8), "uint8")
        r, c = item.get_local_id(0), item.get_local_id(1)
        world[r, c] = x[item[0], item[1]]
        pp.group_barrier(item.get_group())
        for _ in range(generations):
            n = 0
            for dr in range(-1, 2):
                for dc in range(-1, 2):
                    if dr != 0 or dc != 0:
                        n += world[(r + dr) % 8, (c + dc) % 8]
            alive = n == 3 or (n == 2 and world[r, c] == 1)
            pp.group_barrier(item.get_group())
            world[r, c] = alive
            pp.group_barrier(item.get_group())
        x[item[0], item[1]] = world[r, c]

    return kernel, pp.NdRange((16, 8), (8, 8)), (ints((16, 8)) < 20).astype("uint8"), 5


@case(32)
def median_of_five(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x):
        a = pp.local_array(size, "float32")
        w = pp.private_array(5, "float32")
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        for k in range(5):
            w[k] = a[min(max(i + k - 2, 0), size - 1)]
        for k in range(1, 5):
            v, j = w[k], k
            while j > 0 and w[j - 1] > v:
                w[j] = w[j - 1]
                j -= 1
            w[j] = v
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = w[2]

    return kernel, pp.NdRange(2 * size, size), ints(2 * size, "float32")


@pytest.mark.varied("name")
@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("name", case.names())
def test_algorithms_on_tiles(name, device):
    case.check(name, device)
