# examples/histogram.py: counts values into 256 bins, by atomics in the local memory of each group.
"""Each group counts a part of the values for itself, and adds its counts to the result once."""

import time

import numpy as np
import pardo as pp

VALUES, BINS, GROUP, GROUPS = 10_000_000, 256, 256, 64


@pp.kernel
def histogram(item: pp.NdItem, values, bins):
    own = pp.local_array(BINS, np.int32)
    k = item.get_local_id(0)
    own[k] = 0
    pp.group_barrier(item.get_group())
    for i in range(item.get_global_id(0), values.shape[0], item.get_global_range(0)):
        pp.atomic.add(own, values[i], 1)
    pp.group_barrier(item.get_group())
    pp.atomic.add(bins, k, own[k])


def with_pardo(values):
    bins = pp.zeros(BINS, dtype=np.int32)
    histogram[pp.NdRange(GROUPS * GROUP, GROUP)](values, bins)
    return pp.asnumpy(bins)


def with_numpy(values):
    return np.bincount(values, minlength=BINS)


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    assert GROUP == BINS  # each item clears one bin, and adds one to the result
    values = np.minimum(np.random.default_rng(0).exponential(40, VALUES), BINS - 1).astype(np.uint8)
    x = pp.asarray(values)
    with_pardo(x)  # compiles
    pardo_time, result = seconds(with_pardo, x)
    numpy_time, expected = seconds(with_numpy, values)
    np.testing.assert_array_equal(result, expected)
    print(f"{VALUES} values in {BINS} bins on {x.device}; the fullest has {result.max()}")
    print(f"NumPy {numpy_time * 1e3:.1f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
