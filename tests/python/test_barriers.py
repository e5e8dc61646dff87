# tests/python/test_barriers.py: where barriers may be, and what lives across them, on every device of the machine; each kernel is
# compared with plain Python.

import numpy as np
import pardo as pp
import pytest
from groups import DEVICES, Cases, ints, zeros

pytestmark = pytest.mark.once

case = Cases()


# --- barriers in loops


@case(0, 1, 5)
def trip_count_from_an_argument(steps):
    @pp.kernel
    def kernel(item: pp.NdItem, x, n):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        v = x[item.get_global_id(0)]
        for k in range(n):
            a[i] = v + k
            pp.group_barrier(item.get_group())
            v = a[(i + 1) % 8] * 3
            pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = v

    return kernel, pp.NdRange(24, 8), ints(24), steps


@case()
def trip_count_from_a_loaded_value():
    @pp.kernel
    def kernel(item: pp.NdItem, x, counts):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        for k in range(counts[item.get_group_id(0)]):
            a[i] = x[item.get_global_id(0)] + k
            pp.group_barrier(item.get_group())
            x[item.get_global_id(0)] = a[7 - i]
            pp.group_barrier(item.get_group())

    return kernel, pp.NdRange(32, 8), ints(32), np.array([3, 0, 1, 6])


@case()
def nested_loops():
    @pp.kernel
    def kernel(item: pp.NdItem, x, n):
        a = pp.local_array(7, "int64")
        i = item.get_local_id(0)
        v = x[item.get_global_id(0)]
        for outer in range(n):
            a[i] = v
            for inner in range(outer + 1):
                pp.group_barrier(item.get_group())
                v += a[(i + inner) % 7]
            pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = v

    return kernel, pp.NdRange(21, 7), ints(21), 4


@case()
def break_when_a_shared_value_says_so():
    @pp.kernel
    def kernel(item: pp.NdItem, x, limits, rounds):
        a = pp.local_array(8, "int64")
        i, g = item.get_local_id(0), item.get_group_id(0)
        for k in range(20):
            if k == limits[g]:
                break
            a[i] = x[item.get_global_id(0)]
            pp.group_barrier(item.get_group())
            x[item.get_global_id(0)] = a[(i + 3) % 8] + k
            pp.group_barrier(item.get_group())
            rounds[item.get_global_id(0)] += 1

    return kernel, pp.NdRange(24, 8), ints(24), np.array([2, 0, 30]), zeros(24)


@case()
def break_between_barriers():
    @pp.kernel
    def kernel(item: pp.NdItem, x, n):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        k = 0
        while True:
            a[i] = x[item.get_global_id(0)] + k
            pp.group_barrier(item.get_group())
            x[item.get_global_id(0)] = a[7 - i]
            k += 1
            if k >= n:
                break
            pp.group_barrier(item.get_group())
            x[item.get_global_id(0)] *= 2

    return kernel, pp.NdRange(24, 8), ints(24), 4


@case()
def continue_around_a_barrier():
    @pp.kernel
    def kernel(item: pp.NdItem, x, skip):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        for k in range(9):
            if k % skip == 0:
                continue
            a[i] = x[item.get_global_id(0)] - k
            pp.group_barrier(item.get_group())
            x[item.get_global_id(0)] = a[(i + k) % 8]
            pp.group_barrier(item.get_group())

    return kernel, pp.NdRange(24, 8), ints(24), 3


@case()
def items_continue_between_barriers():
    @pp.kernel
    def kernel(item: pp.NdItem, x):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        for k in range(4):
            a[i] = x[item.get_global_id(0)]
            pp.group_barrier(item.get_group())
            for d in range(1, 8):  # items leave this one by themselves
                v = a[(i + d) % 8]
                if v % 2 == 0:
                    continue
                if v > 50 + k:
                    break
                x[item.get_global_id(0)] += v
            pp.group_barrier(item.get_group())

    return kernel, pp.NdRange(24, 8), ints(24)


@case()
def until_nothing_changes():
    @pp.kernel
    def kernel(item: pp.NdItem, x, rounds):
        a, changed = pp.local_array(16, "int64"), pp.local_array(1, "int32")
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        n, going = 0, True
        while going:
            pp.group_barrier(item.get_group())
            if i == 0:
                changed[0] = 0
            low = a[max(i - 1, 0)]
            pp.group_barrier(item.get_group())
            if low < a[i]:
                a[i] = low
                pp.atomic.or_(changed, 0, 1)
            pp.group_barrier(item.get_group())
            n += 1
            going = changed[0] != 0
        x[item.get_global_id(0)], rounds[item.get_global_id(0)] = a[i], n

    return kernel, pp.NdRange(48, 16), ints(48), zeros(48)


@case()
def loop_downwards_with_else():
    @pp.kernel
    def kernel(item: pp.NdItem, x, stop):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        for k in range(10, 0, -3):
            if k < stop:
                break
            a[i] = x[item.get_global_id(0)]
            pp.group_barrier(item.get_group())
            x[item.get_global_id(0)] = a[(i + k) % 8] + k
            pp.group_barrier(item.get_group())
        else:
            a[i] = x[item.get_global_id(0)]
            pp.group_barrier(item.get_group())
            x[item.get_global_id(0)] = a[7 - i]

    return kernel, pp.NdRange(16, 8), ints(16), 0


# --- barriers in uniform ifs


@case(0, 1)
def branch_of_an_argument(flag):
    @pp.kernel
    def kernel(item: pp.NdItem, x, flag):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        if flag == 0:
            pp.group_barrier(item.get_group())
            v = a[7 - i]
        else:
            a[i] += 1
            pp.group_barrier(item.get_group())
            v = a[(i + 1) % 8]
        x[item.get_global_id(0)] = v

    return kernel, pp.NdRange(24, 8), ints(24), flag


@case()
def branch_of_the_group():
    @pp.kernel
    def kernel(item: pp.NdItem, x):
        a = pp.local_array(7, "int64")
        i, g = item.get_local_id(0), item.get_group_id(0)
        a[i] = x[item.get_global_id(0)]
        if g == 1:
            pp.group_barrier(item.get_group())
            x[item.get_global_id(0)] = a[6 - i]
        elif g > 2:
            pp.group_barrier(item.get_group())
            x[item.get_global_id(0)] = a[(i + 2) % 7]
            pp.group_barrier(item.get_group())
        else:
            x[item.get_global_id(0)] = -a[i]

    return kernel, pp.NdRange(35, 7), ints(35)


@case()
def branch_in_a_loop():
    @pp.kernel
    def kernel(item: pp.NdItem, x, n):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        v = x[item.get_global_id(0)]
        for k in range(n):
            if k % 2 == 1:
                pp.group_barrier(item.get_group())
                a[i] = v
                pp.group_barrier(item.get_group())
                v = a[(i + k) % 8] + 1
            else:
                v = v * 2 - i
        x[item.get_global_id(0)] = v

    return kernel, pp.NdRange(24, 8), ints(24), 6


@case()
def groups_return_early():
    @pp.kernel
    def kernel(item: pp.NdItem, x, n):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        if item.get_group_id(0) >= n:
            return
        a[i] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = a[7 - i]

    return kernel, pp.NdRange(32, 8), ints(32), 3


@case()
def barrier_before_return():
    @pp.kernel
    def kernel(item: pp.NdItem, x, n):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        if n > 3:
            pp.group_barrier(item.get_group())
            x[item.get_global_id(0)] = a[7 - i]
            pp.group_barrier(item.get_group())
            return
        x[item.get_global_id(0)] = 0

    return kernel, pp.NdRange(32, 8), ints(32), 4


@case()
def choice_by_a_shared_value():
    @pp.kernel
    def kernel(item: pp.NdItem, x):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        reverse = x[item.get_group_id(0) * 8] % 2 == 0
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = a[7 - i] if reverse else a[i] + 1

    return kernel, pp.NdRange(32, 8), ints(32)


# --- where barriers may be


@case()
def first_and_last():
    @pp.kernel
    def kernel(item: pp.NdItem, x):
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] += item.get_local_id(0)
        pp.group_barrier(item.get_group())

    return kernel, pp.NdRange(21, 7), ints(21)


@case()
def several_in_a_row():
    @pp.kernel
    def kernel(item: pp.NdItem, x):
        a = pp.local_array(8, "int64")
        a[item.get_local_id(0)] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        pp.group_barrier()
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = a[7 - item.get_local_id(0)]

    return kernel, pp.NdRange(24, 8), ints(24)


@case(1, 64)
def nothing_else(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x):
        pp.group_barrier(item.get_group())

    return kernel, pp.NdRange(2 * size, size), ints(2 * size)


@case()
def through_global_memory():
    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        i, g = item.get_global_id(0), item.get_group_id(0) * 16
        y[i] = x[i] * 2
        pp.group_barrier(item.get_group())
        x[i] = y[g + 15 - item.get_local_id(0)] + y[g]
        pp.group_barrier(item.get_group())
        y[i] = x[g + (item.get_local_id(0) + 5) % 16]

    return kernel, pp.NdRange(48, 16), ints(48), zeros(48)


# --- in called functions


@pp.func
def exchanged(item, a, v):
    i = item.get_local_id(0)
    a[i] = v
    pp.group_barrier(item.get_group())
    out = a[item.get_local_range(0) - 1 - i]
    pp.group_barrier(item.get_group())
    return out


@pp.func
def group_sum(group, v, n):
    a = pp.local_array(n, "int64")
    a[group.get_local_id(0)] = v
    pp.group_barrier(group)
    total = 0
    for k in range(n):
        total += a[k]
    pp.group_barrier(group)
    return total


def sum_and_greatest(item, v):
    a = pp.local_array(8, "int64")
    total = group_sum(item.get_group(), v, 8)
    a[item.get_local_id(0)] = v - total
    pp.group_barrier(item.get_group())
    best = a[0]
    for k in range(1, 8):
        best = max(best, a[k])
    return total, best


@case()
def a_function_called_twice():
    @pp.kernel
    def kernel(item: pp.NdItem, x, y, a):
        v = exchanged(item, a, x[item.get_global_id(0)])
        y[item.get_global_id(0)] = exchanged(item, a, v + item.get_local_id(0)) - v

    return kernel, pp.NdRange(24, 8), ints(24), zeros(24), pp.LocalAccessor(8, "int64")


@case()
def functions_that_call_functions():
    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        total, best = sum_and_greatest(item, x[item.get_global_id(0)])
        y[item.get_global_id(0)] = 1000 * total + best + group_sum(item.get_group(), item.get_local_id(0), 8)

    return kernel, pp.NdRange(24, 8), ints(24), zeros(24)


@case()
def a_function_in_a_loop():
    @pp.kernel
    def kernel(item: pp.NdItem, x, n):
        v = x[item.get_global_id(0)]
        for k in range(n):
            v = v * 2 - group_sum(item.get_group(), v, 8) + k
        x[item.get_global_id(0)] = v

    return kernel, pp.NdRange(24, 8), ints(24), 4


# --- what lives across barriers


@case()
def private_arrays_across_barriers():
    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        mine = pp.private_array((2, 3), "float32")
        a = pp.local_array(8, "float32")
        i = item.get_local_id(0)
        for k in range(6):
            mine[k // 3, k % 3] = x[item.get_global_id(0), k]
        for k in range(6):
            a[i] = mine[k // 3, k % 3]
            pp.group_barrier(item.get_group())
            mine[k % 2, (k + 1) % 3] += a[(i + k) % 8]
            pp.group_barrier(item.get_group())
        for k in range(6):
            y[item.get_global_id(0), k] = mine[k // 3, k % 3]

    return kernel, pp.NdRange(16, 8), ints((16, 6), "float32"), zeros((16, 6), "float32")


@case()
def views_across_barriers():
    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        a = pp.local_array((8, 4), "int64")
        i = item.get_local_id(0)
        row, mine, every_other = x[item.get_global_id(0)], a[i], y[item.get_global_id(0), ::2]
        mine[:] = row
        pp.group_barrier(item.get_group())
        other = a[7 - i]
        for k in range(len(every_other)):
            every_other[k] = other[3 - k] + row[k]
        pp.group_barrier(item.get_group())
        mine[1] = other[0]
        pp.group_barrier(item.get_group())
        y[item.get_global_id(0), 1] = a[7 - i, 1] + mine[0]

    return kernel, pp.NdRange(16, 8), ints((16, 4)), zeros((16, 8))


@case()
def numbers_of_every_dtype_across_a_barrier():
    @pp.kernel
    def kernel(item: pp.NdItem, x, flags, out, c):
        a = pp.local_array(8, "int64")
        i, g = item.get_local_id(0), item.get_global_id(0)
        v = x[g]
        small, half, word = np.int8(v), np.uint16(v), np.uint32(v)
        single, yes, z = np.float32(v), flags[g], c[g]
        a[i] = v
        pp.group_barrier(item.get_group())
        w = a[7 - i]
        out[g, 0], out[g, 1], out[g, 2] = small + w, half + w, word + w
        out[g, 3], out[g, 4] = single + w, (1 if yes else 2) * w
        c[g] = z * z + w

    return (
        kernel,
        pp.NdRange(24, 8),
        ints(24, low=0),
        ints(24) > 40,
        zeros((24, 5), "float64"),
        (ints(24) + 1j * ints(24)[::-1]).astype("complex128"),
    )


@case()
def carried_values_across_barriers_in_loops():
    @pp.kernel
    def kernel(item: pp.NdItem, x, n):
        a = pp.local_array(8, "int64")
        i = item.get_local_id(0)
        p, q, r, s = x[item.get_global_id(0)], 0, 1, i
        for k in range(n):
            a[i] = p + q
            pp.group_barrier(item.get_group())
            p, q, r, s = a[(i + 1) % 8], p, q + r, s * 3 - k
            pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = p + 10 * q + 100 * r + 1000 * s

    return kernel, pp.NdRange(24, 8), ints(24), 7


@case(rtol=1e-5)
def mathematics_between_barriers():
    @pp.kernel
    def kernel(item: pp.NdItem, x):
        a = pp.local_array(16, "float32")
        i = item.get_local_id(0)
        a[i] = np.sin(x[item.get_global_id(0)])
        pp.group_barrier(item.get_group())
        v = pp.exp(a[15 - i]) + np.sqrt(abs(a[i]))
        pp.group_barrier(item.get_group())
        a[i] = v
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = a[(i + 1) % 16] / v

    return kernel, pp.NdRange(48, 16), ints(48, "float32")


# --- memory by accessors


@case(8, 64)
def accessors_of_several_dtypes(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, y, a, b, c):
        i = item.get_local_id(0)
        v = x[item.get_global_id(0)]
        a[i, 0], a[i, 1] = v, -v
        b[i], c[0, 0, i] = v % 2 == 0, v
        pp.group_barrier(item.get_group())
        j = size - 1 - i
        y[item.get_global_id(0)] = a[j, 1] + (1000 if b[j] else 0) + 2 * c[0, 0, j] + a.shape[1]

    accessors = pp.LocalAccessor((size, 2), "float32"), pp.LocalAccessor(size, "bool"), pp.LocalAccessor((1, 1, size), "int16")
    return kernel, pp.NdRange(3 * size, size), ints(3 * size), zeros(3 * size, "float64"), *accessors


@case()
def accessors_in_functions():
    @pp.kernel
    def kernel(item: pp.NdItem, x, a, b):
        v = exchanged(item, a, x[item.get_global_id(0)])
        x[item.get_global_id(0)] = exchanged(item, b, v * v)

    return kernel, pp.NdRange(24, 8), ints(24, "float64"), pp.LocalAccessor(8), pp.LocalAccessor(8, "float32")


@pytest.mark.varied("name")
@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("name", case.names())
def test_kernels_with_barriers(name, device):
    case.check(name, device)
