# examples/offload.py: a NumPy program with a hot loop: marked, with its data kept on the device, with copies that overlap the work.
"""The arrays stay NumPy's. What each step copies is counted and printed; on a device that shares the host's memory that is nothing."""

import numpy as np
import pardo as pp

POINTS, PARTS = 400, 6


@pp.offload
def one_row(x, row, i):
    for j in pp.prange(x.shape[0]):
        d = 0.0
        for k in range(x.shape[1]):
            d += (x[i, k] - x[j, k]) ** 2
        row[j] = np.sqrt(d)


@pp.offload(device={"x": "tofrom"})
def relax(x):
    for i in pp.prange(x.shape[0]):
        for _ in range(50):
            x[i] = 0.5 * (x[i] + 2 / x[i])


def rows(x):
    """All distances, a row at a time: a loop of the host around one of the device."""
    distances = np.empty((len(x), len(x)))
    for i in range(len(x)):
        one_row(x, distances[i], i)
    return distances


def copied(what, function, *arguments):
    """Call, and print what was copied."""
    before = pp.counters()["copied_bytes"]
    result = function(*arguments)
    print(f"{what}: {pp.counters()['copied_bytes'] - before} bytes copied")
    return result


def in_turn(parts, queue):
    """Square roots of 2, part by part: while the device works on one part, the next is copied to it, and the one before back."""
    with pp.data(alloc=parts) as device:
        pp.update_to(parts[0], queue=queue)
        back = []
        for k, part in enumerate(parts):
            if k + 1 < len(parts):
                pp.update_to(parts[k + 1], queue=queue)
            relax(part)  # waits for the copy of this part alone
            back.append(pp.update_from(part, queue=queue))
        pp.wait_all(back)
    return device


def main():
    x = np.random.default_rng(0).random((POINTS, 3))
    expected = np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))
    alone = copied("rows, X copied each time", rows, x)
    with pp.data(to=(x,)):
        present = copied("rows, X kept on the device", rows, x)
    assert np.allclose(alone, expected)
    assert np.array_equal(alone, present)
    print(one_row.explain())

    parts = [np.full(100_000, 1.0 + k) for k in range(PARTS)]
    print("in turn, on", in_turn(parts, pp.Queue(pp.Device())))
    assert np.allclose(parts, np.sqrt(2))


if __name__ == "__main__":
    main()
