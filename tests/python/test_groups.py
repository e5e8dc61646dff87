# tests/python/test_groups.py: algorithms of groups with barriers on every device of the machine, each compared with plain Python.
import numpy as np
import pardo as pp
import pytest
from groups import DEVICES, Cases, ints, zeros

pytestmark = pytest.mark.once

case = Cases()


# --- reductions


@case(1, 7, 64, 256, 1024)
def tree_reduction(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, out):
        a = pp.local_array(size, "int64")
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        n = size
        while n > 1:
            half = (n + 1) // 2
            if i < n // 2:
                a[i] += a[i + half]
            pp.group_barrier(item.get_group())
            n = half
        if i == 0:
            out[item.get_group_id(0)] = a[0]

    return kernel, pp.NdRange(3 * size, size), ints(3 * size), zeros(3)


@case(64, 256)
def tree_reduction_by_halves(size):
    @pp.kernel
    def kernel(x, out, a):
        i = pp.get_local_id(0)
        a[i] = x[pp.get_global_id(0)]
        step = pp.get_local_size(0) // 2
        while step > 0:
            pp.group_barrier()
            if i < step:
                a[i] = a[i] + a[i + step]
            step //= 2
        if i == 0:
            pp.atomic.add(out, 0, a[0])

    return kernel, pp.NdRange(4 * size, size), ints(4 * size, "float32"), zeros(1, "float32"), pp.LocalAccessor(size, "float32")


@case(7, 64)
def greatest_and_its_place(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, best, where):
        value, place = pp.local_array(size, x.dtype), pp.local_array(size, "int32")
        i, n = item.get_local_id(0), size
        value[i], place[i] = x[item.get_global_id(0)], item.get_global_id(0)
        while n > 1:
            pp.group_barrier(item.get_group())
            half = (n + 1) // 2
            if i < n // 2 and value[i + half] > value[i]:
                value[i], place[i] = value[i + half], place[i + half]
            n = half
        if i == 0:
            best[item.get_group_id(0)], where[item.get_group_id(0)] = value[0], place[0]

    return kernel, pp.NdRange(5 * size, size), ints(5 * size, "float32"), zeros(5, "float32"), zeros(5, "int32")


@case((8, 8), (1, 7), (4, 16))
def sums_of_rows_and_groups(size):
    rows, columns = size

    @pp.kernel
    def kernel(item: pp.NdItem, x, row_sums, sums):
        a = pp.local_array((rows, columns), "int64")
        r, c = item.get_local_id(0), item.get_local_id(1)
        a[r, c] = x[item.get_global_id(0), item.get_global_id(1)]
        pp.group_barrier(item.get_group())
        if c == 0:
            for k in range(1, columns):
                a[r, 0] += a[r, k]
            row_sums[item.get_global_id(0), item.get_group_id(1)] = a[r, 0]
        pp.group_barrier(item.get_group())
        if item.get_local_linear_id() == 0:
            total = 0
            for k in range(rows):
                total += a[k, 0]
            sums[item.get_group_linear_id()] = total

    shape = (2 * rows, 3 * columns)
    return kernel, pp.NdRange(shape, size), ints(shape), zeros((2 * rows, 3)), zeros(6)


@case(64)
def mean_and_variance(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, mean, variance, a: pp.LocalAccessor):
        i, g = item.get_local_id(0), item.get_group_id(0)
        v = x[item.get_global_id(0)]
        for moment in range(2):
            a[i] = v if moment == 0 else (v - mean[g]) * (v - mean[g])
            pp.group_barrier(item.get_group())
            n = size // 2
            while n > 0:
                if i < n:
                    a[i] += a[i + n]
                pp.group_barrier(item.get_group())
                n //= 2
            if i == 0:
                if moment == 0:
                    mean[g] = a[0] / size
                else:
                    variance[g] = a[0] / size
            pp.group_barrier(item.get_group())

    return kernel, pp.NdRange(3 * size, size), ints(3 * size, "float64"), zeros(3, "float64"), zeros(3, "float64"), pp.LocalAccessor(size)


@case(7, 64)
def votes(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, everyone, anyone):
        flags = pp.local_array(2, "int32")
        if item.get_local_id(0) == 0:
            flags[0], flags[1] = 1, 0
        pp.group_barrier(item.get_group())
        yes = x[item.get_global_id(0)] > 50
        pp.atomic.and_(flags, 0, 1 if yes else 0)
        pp.atomic.or_(flags, 1, 1 if yes else 0)
        pp.group_barrier(item.get_group())
        everyone[item.get_global_id(0)] = flags[0]
        anyone[item.get_global_id(0)] = flags[1]

    x = np.concatenate([ints(size), np.full(size, 60), np.zeros(size, int)])
    return kernel, pp.NdRange(3 * size, size), x, zeros(3 * size, "int32"), zeros(3 * size, "int32")


# --- scans


@case(1, 7, 64, 256)
def hillis_steele_scan_with_two_buffers(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        a = pp.local_array((2, size), "int64")
        i, now, step = item.get_local_id(0), 0, 1
        a[0, i] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        while step < size:
            a[1 - now, i] = a[now, i] + (a[now, i - step] if i >= step else 0)
            now = 1 - now
            step *= 2
            pp.group_barrier(item.get_group())
        y[item.get_global_id(0)] = a[now, i]

    return kernel, pp.NdRange(2 * size, size), ints(2 * size), zeros(2 * size)


@case(7, 64, 1024)
def hillis_steele_scan_in_place(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, a):
        i, step = item.get_local_id(0), 1
        a[i] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        while step < size:
            v = a[i]
            if i >= step:
                v = v + a[i - step]
            pp.group_barrier(item.get_group())
            a[i] = v
            pp.group_barrier(item.get_group())
            step = step << 1
        x[item.get_global_id(0)] = a[i]

    return kernel, pp.NdRange(2 * size, size), ints(2 * size, "int32"), pp.LocalAccessor(size, "int32")


@case(1, 64, 256)
def blelloch_scan(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        a = pp.local_array(size, "float32")
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        step = 1
        while step < size:
            pp.group_barrier(item.get_group())
            k = (i + 1) * step * 2 - 1
            if k < size:
                a[k] += a[k - step]
            step *= 2
        pp.group_barrier(item.get_group())
        if i == 0:
            a[size - 1] = 0
        step = size // 2
        while step > 0:
            pp.group_barrier(item.get_group())
            k = (i + 1) * step * 2 - 1
            if k < size:
                below = a[k - step]
                a[k - step] = a[k]
                a[k] += below
            step //= 2
        pp.group_barrier(item.get_group())
        y[item.get_global_id(0)] = a[i]

    return kernel, pp.NdRange(2 * size, size), ints(2 * size, "float32"), zeros(2 * size, "float32")


@case(64)
def segmented_scan(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, heads, y):
        a, f = pp.local_array(size, "int64"), pp.local_array(size, "bool")
        i = item.get_local_id(0)
        a[i], f[i] = x[item.get_global_id(0)], heads[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        for k in range(6):
            step = 1 << k
            total, head = a[i], f[i]
            if i >= step:
                if not head:
                    total += a[i - step]
                head = head or f[i - step]
            pp.group_barrier(item.get_group())
            a[i], f[i] = total, head
            pp.group_barrier(item.get_group())
        y[item.get_global_id(0)] = a[i]

    return kernel, pp.NdRange(2 * size, size), ints(2 * size), ints(2 * size) < 0, zeros(2 * size)


@case(7, 64)
def scan_of_four_an_item(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        mine = pp.private_array(4, "int64")
        a = pp.local_array(size, "int64")
        i, first = item.get_local_id(0), 4 * item.get_global_id(0)
        total = 0
        for k in range(4):
            total += x[first + k]
            mine[k] = total
        a[i] = total
        pp.group_barrier(item.get_group())
        before = 0
        for k in range(i):
            before += a[k]
        for k in range(4):
            y[first + k] = before + mine[k]

    return kernel, pp.NdRange(2 * size, size), ints(8 * size), zeros(8 * size)


@case(64)
def compaction(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, y, counts):
        a = pp.local_array(size, "int32")
        i, g = item.get_local_id(0), item.get_group_id(0)
        v = x[item.get_global_id(0)]
        keep = v % 3 == 0
        a[i] = keep
        step = 1
        while step < size:
            pp.group_barrier(item.get_group())
            add = a[i - step] if i >= step else np.int32(0)
            pp.group_barrier(item.get_group())
            a[i] += add
            step *= 2
        pp.group_barrier(item.get_group())
        if keep:
            y[g * size + a[i] - 1] = v
        if i == size - 1:
            counts[g] = a[i]

    return kernel, pp.NdRange(3 * size, size), ints(3 * size), zeros(3 * size), zeros(3, "int32")


# --- transposes and moves


@case(1, 7, 16)
def transpose(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, y):
        tile = pp.local_array((size, size + 1), "float32")
        r, c = item.get_local_id(0), item.get_local_id(1)
        tile[r, c] = x[item.get_global_id(0), item.get_global_id(1)]
        pp.group_barrier(item.get_group())
        y[item.get_group_id(1) * size + r, item.get_group_id(0) * size + c] = tile[c, r]

    rows, columns = 2 * size, 3 * size
    return kernel, pp.NdRange((rows, columns), (size, size)), ints((rows, columns), "float32"), zeros((columns, rows), "float32")


@case()
def permutation_of_three_axes():
    @pp.kernel
    def kernel(item: pp.NdItem, x, y, a):
        i, j, k = item.get_local_id(0), item.get_local_id(1), item.get_local_id(2)
        a[k, i, j] = x[item[0], item[1], item[2]]
        pp.group_barrier(item.get_group())
        n = item.get_local_linear_id()
        y[item.get_group_linear_id(), n] = a[n // 8, n // 4 % 2, n % 4]

    return (
        kernel,
        pp.NdRange((4, 4, 16), (2, 4, 8)),
        ints((4, 4, 16), "int16"),
        zeros((4, 64), "int16"),
        pp.LocalAccessor((8, 2, 4), "int16"),
    )


@case((1,), (7,), (64,), (256,), (1024,), (7, 1), (1, 7), (16, 16), (32, 32), (2, 3, 4), (4, 4, 4), (1, 1, 7), (8, 8, 16))
def reverse(size):
    items = int(np.prod(size))

    @pp.kernel
    def kernel(item: pp.NdItem, x):
        a = pp.local_array(items, "int32")
        i, first = item.get_local_linear_id(), item.get_group_linear_id() * items
        a[i] = x[first + i]
        pp.group_barrier(item.get_group())
        x[first + i] = a[items - 1 - i]

    return kernel, pp.NdRange((2 * size[0], *size[1:]), size), ints(2 * items, "int32")


@case("bool", "int8", "uint16", "int32", "uint64", "float32", "float64", "complex64", "complex128")
def rotation_in_every_dtype(dtype):
    @pp.kernel
    def kernel(item: pp.NdItem, x, by, accessor):
        a = pp.local_array(16, dtype)
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        pp.group_barrier(item.get_group())
        accessor[i] = a[(i + by) % 16]
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = accessor[15 - i]

    return kernel, pp.NdRange(48, 16), ints(48).astype(dtype), 5, pp.LocalAccessor(16, dtype)


# --- sorting


@case(64, 256)
def bitonic_sort(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x):
        a = pp.local_array(size, "int32")
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        k = 2
        while k <= size:
            j = k // 2
            while j > 0:
                pp.group_barrier(item.get_group())
                other = i ^ j
                if other > i and (a[i] > a[other]) == (i & k == 0):
                    a[i], a[other] = a[other], a[i]
                j //= 2
            k *= 2
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = a[i]

    return kernel, pp.NdRange(2 * size, size), ints(2 * size, "int32")


@case(64)
def bitonic_sort_of_pairs(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, order):
        keys, values = pp.local_array(size, "float32"), pp.local_array(size, "int64")
        i = item.get_local_id(0)
        keys[i], values[i] = x[item.get_global_id(0)], i
        for stage in range(1, 7):
            for step in range(stage - 1, -1, -1):
                pp.group_barrier(item.get_group())
                other = i ^ (1 << step)
                if other > i:
                    up = i & (1 << stage) == 0
                    greater = keys[i] > keys[other] or (keys[i] == keys[other] and values[i] > values[other])
                    if greater == up:
                        keys[i], keys[other] = keys[other], keys[i]
                        values[i], values[other] = values[other], values[i]
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)], order[item.get_global_id(0)] = keys[i], values[i]

    return kernel, pp.NdRange(2 * size, size), ints(2 * size, "float32"), zeros(2 * size)


@case(64)
def radix_sort(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, bits):
        a, below = pp.local_array(size, "uint32"), pp.local_array(size, "int32")
        i = item.get_local_id(0)
        v = x[item.get_global_id(0)]
        for bit in range(bits):
            zero = (v >> bit) & 1 == 0
            below[i] = zero
            pp.group_barrier(item.get_group())
            step = 1
            while step < size:
                add = below[i - step] if i >= step else np.int32(0)
                pp.group_barrier(item.get_group())
                below[i] += add
                pp.group_barrier(item.get_group())
                step *= 2
            a[below[i] - 1 if zero else below[size - 1] + i - below[i]] = v
            pp.group_barrier(item.get_group())
            v = a[i]
            pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = v

    return kernel, pp.NdRange(2 * size, size), ints(2 * size, "uint32"), 7


@case(1, 7, 64)
def odd_even_sort(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, a):
        i = item.get_local_id(0)
        a[i] = x[item.get_global_id(0)]
        for round in range(size):
            pp.group_barrier(item.get_group())
            if i % 2 == round % 2 and i + 1 < size and a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
        pp.group_barrier(item.get_group())
        x[item.get_global_id(0)] = a[i]

    return kernel, pp.NdRange(2 * size, size), ints(2 * size, "int8"), pp.LocalAccessor(size, "int8")


@case(7, 64)
def rank_sort(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x):
        a = pp.local_array(size, "float64")
        i = item.get_local_id(0)
        v = x[item.get_global_id(0)]
        a[i] = v
        pp.group_barrier(item.get_group())
        rank = 0
        for k in range(size):
            if a[k] < v or (a[k] == v and k < i):
                rank += 1
        x[item.get_group_id(0) * size + rank] = v

    return kernel, pp.NdRange(3 * size, size), ints(3 * size, "float64")


# --- local atomics


@case(7, 64, 256)
def histogram(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, bins):
        mine = pp.local_array(16, "int32")
        i = item.get_local_id(0)
        for k in range(i, 16, size):
            mine[k] = 0
        pp.group_barrier(item.get_group())
        for k in range(item.get_global_id(0), x.shape[0], item.get_global_range(0)):
            pp.atomic.add(mine, x[k], 1)
        pp.group_barrier(item.get_group())
        for k in range(i, 16, size):
            pp.atomic.add(bins, k, mine[k])

    return kernel, pp.NdRange(2 * size, size), ints(5 * size + 3, high=16, low=0), zeros(16, "int32")


@case("int32", "uint32", "int64", "uint64", "float32", "float64")
def extremes_and_sums(dtype):
    @pp.kernel
    def kernel(item: pp.NdItem, x, out):
        a = pp.local_array(3, dtype)
        i, g = item.get_local_id(0), item.get_group_id(0)
        if i < 3:
            a[i] = x[g * 32]
        pp.group_barrier(item.get_group())
        v = x[item.get_global_id(0)]
        pp.atomic.min(a, 0, v)
        pp.atomic.max(a, 1, v)
        pp.atomic.add(a, 2, v)
        pp.group_barrier(item.get_group())
        if i < 3:
            out[g, i] = a[i]

    return kernel, pp.NdRange(96, 32), ints(96, dtype), zeros((3, 3), dtype)


@case(64)
def tickets_and_one_winner(size):
    @pp.kernel
    def kernel(item: pp.NdItem, seats, winners):
        state = pp.local_array(2, "int32")
        i, g = item.get_local_id(0), item.get_group_id(0)
        if i == 0:
            state[0], state[1] = 0, -1
        pp.group_barrier(item.get_group())
        seats[g * size + pp.atomic.add(state, 0, 1)] += 1
        if pp.atomic.compare_exchange(state, 1, -1, i) == -1:
            pp.atomic.add(winners, g, 1)
        pp.group_barrier(item.get_group())
        if i == 0:
            winners[g] += 100 * state[0] + (1000 if 0 <= state[1] < size else 0)

    return kernel, pp.NdRange(3 * size, size), zeros(3 * size), zeros(3, "int32")


# --- loops that go on where the whole range ends


@case(1, 7, 64, 256)
def grid_stride(size):
    @pp.kernel
    def kernel(item: pp.NdItem, x, counts, out, start):
        own = pp.local_array(16, "int32")
        k = item.get_local_id(0)
        for j in range(k, 16, size):
            own[j] = 0
        pp.group_barrier(item.get_group())
        for i in range(item.get_global_id(0), x.shape[0], item.get_global_range(0)):
            if x[i] % 3 == 0:
                continue
            pp.atomic.add(own, x[i] % 16, 1)
            out[i] = x[i] + k
        pp.group_barrier(item.get_group())
        if k == 0:
            for j in range(16):
                pp.atomic.add(counts, j, own[j])
            for i in range(item.get_global_id(0), x.shape[0], item.get_global_range(0)):
                out[i] += 1000
        pp.group_barrier(item.get_group())
        for i in range(item.get_global_id(0), k, item.get_global_range(0)):
            out[i] = -1
        for i in range(item.get_global_id(0) + start, 0, item.get_global_range(0)):
            out[i] = -2

    return kernel, pp.NdRange(3 * size, size), ints(1000, low=0), zeros(16, "int32"), zeros(1000), 0


@pytest.mark.varied("name")
@pytest.mark.parametrize("device", DEVICES, ids=str)
@pytest.mark.parametrize("name", case.names())
def test_algorithms_of_groups(name, device):
    case.check(name, device)


def test_rounds_over_the_whole_range_ask_for_the_elements_of_later_ones():
    @pp.kernel
    def total(item: pp.NdItem, x, out, part: pp.Const[bool]):
        own = pp.local_array(64, x.dtype)
        own[item.get_local_id(0)] = 0
        first = item.get_local_id(0) if part else item.get_global_id(0)
        for i in range(first, x.shape[0], 64 if part else item.get_global_range(0)):
            own[item.get_local_id(0)] += x[i]
        pp.group_barrier(item.get_group())
        if item.get_local_id(0) == 0:
            out[item.get_group_id(0)] = own[63]

    x, out = (pp.asarray(np.arange(n), device="cpu") for n in (1000, 2))
    launch = total[pp.NdRange(128, 64)]
    assert "llvm.prefetch" in launch.inspect(x, out, False, what="llvm")
    assert "llvm.prefetch" not in launch.inspect(x, out, True, what="llvm")  # the processor foresees it
    launch(x, out, False)
    np.testing.assert_array_equal(out, [np.arange(63, 1000, 128).sum(), np.arange(127, 1000, 128).sum()])
