# examples/heat.py: heat spreads over a plate whose edges stay cold, by slices of arrays alone.
"""Each step is one kernel, which reads the five slices where they are; no intermediate array is made."""

import time

import numpy as np
import pardo as pp

ROWS, COLUMNS, STEPS = 600, 800, 200


def hot_plate():
    """A cold plate with two hot bars and a disc."""
    plate = np.zeros((ROWS, COLUMNS))
    plate[100:500, 150:170] = plate[290:310, 150:450] = 1.0
    row, column = np.ogrid[:ROWS, :COLUMNS]
    plate[(row - 300) ** 2 + (column - 600) ** 2 < 60**2] = 1.0
    return plate


def inner(now):
    """Explicit Euler, a quarter of the largest stable step. `around` ends with the call: nothing refers to it, so it is never stored."""
    middle = now[1:-1, 1:-1]
    around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
    return middle + 0.0625 * (around - 4 * middle)


def spread(now, then):
    """The same text for NumPy's arrays and for pardo's."""
    for _ in range(STEPS):
        then[1:-1, 1:-1] = inner(now)
        now, then = then, now
    return now


def with_pardo(plate):
    return pp.asnumpy(spread(pp.asarray(plate, copy=True), pp.zeros(plate.shape)))


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def main():
    plate = hot_plate()
    with_pardo(plate)  # compiles
    pardo_time, result = seconds(with_pardo, plate)
    numpy_time, expected = seconds(spread, plate.copy(), np.zeros_like(plate))
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-15)
    print(f"{STEPS} steps of {ROWS} x {COLUMNS} points on {pp.Device()}: the hottest is at {result.max():.4f}")
    print(f"NumPy {numpy_time * 1e3:.0f} ms, pardo {pardo_time * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
