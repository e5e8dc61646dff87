# examples/spmv.py: a sparse matrix in compressed rows (CSR) times a vector, one item a row.
"""The inner loop's bounds are read from memory, so each row has its own length."""

import time

import numpy as np
import pardo as pp

ROWS, COLUMNS, LONGEST = 200_000, 100_000, 40


@pp.kernel
def spmv(item: pp.Item, begin, columns, values, x, y):
    row = item.get_id(0)
    total = 0.0
    for k in range(begin[row], begin[row + 1]):
        total += values[k] * x[columns[k]]
    y[row] = total


def with_pardo(begin, columns, values, x, y):
    spmv[pp.Range(ROWS)](begin, columns, values, x, y).wait()
    return pp.asnumpy(y)


def with_numpy(begin, columns, values, x):
    return np.add.reduceat(values * x[columns], begin[:-1])


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, LONGEST, ROWS)  # none is empty: reduceat would give the next row's first element there
    begin = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = rng.integers(0, COLUMNS, begin[-1], dtype=np.int32)
    values, x = rng.random(begin[-1]), rng.random(COLUMNS)
    given = begin, columns, values, x
    arrays = [*(pp.asarray(a) for a in given), pp.zeros(ROWS)]
    with_pardo(*arrays)  # compiles
    pardo_time, result = seconds(with_pardo, *arrays)
    numpy_time, expected = seconds(with_numpy, *given)
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    print(f"{ROWS} x {COLUMNS} with {len(values)} elements on {arrays[0].device}")
    print(f"NumPy {numpy_time * 1e3:.1f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
