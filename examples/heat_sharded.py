# examples/heat_sharded.py: heat spreads over a plate that is split over all GPUs, or over parts of the processor.
"""Each device steps its own rows; of its neighbours it gets one row on either side, and nothing else moves. On a machine with one device
that cannot be cut, two queues of it take the places of devices."""

import time

import numpy as np
import pardo as pp

ROWS, COLUMNS, STEPS = 1200, 800, 100


def hot_plate():
    """A cold plate with a hot bar and a hot disc."""
    plate = np.zeros((ROWS, COLUMNS))
    plate[100:900, 150:170] = 1.0
    row, column = np.ogrid[:ROWS, :COLUMNS]
    plate[(row - 600) ** 2 + (column - 500) ** 2 < 120**2] = 1.0
    return plate


def step(rows):
    """Explicit Euler on rows, of which the first and the last belong to the neighbours; left and right stay cold."""
    middle = rows[1:-1, 1:-1]
    around = rows[:-2, 1:-1] + rows[2:, 1:-1] + rows[1:-1, :-2] + rows[1:-1, 2:]
    return pp.pad(middle + 0.0625 * (around - 4 * middle), ((0, 0), (1, 1)))


def places():
    """Where the parts are."""
    gpus = pp.get_devices(device_type="gpu")
    if len(gpus) > 1:
        return gpus
    cpu = gpus[0] if gpus else pp.Device("cpu")
    cores = cpu.max_compute_units or 1
    if cpu.has_aspect("partitionable") and cores > 1:
        return cpu.create_sub_devices(cores // 2)
    return [pp.Queue(cpu), pp.Queue(cpu)]


def spread(plate, steps):
    """Above and below the plate it is cold: rows of zeros."""
    for _ in range(steps):
        plate = plate.map_shards(step, halo=1, mode="constant")
    return plate


def expected(plate, steps):
    for _ in range(steps):
        wide = np.pad(plate, 1)
        around = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
        plate = plate + 0.0625 * (around - 4 * plate)
        plate[:, [0, -1]] = 0
    return plate


def main():
    devices = places()
    plate = pp.shard(hot_plate(), devices, axis=0)
    spread(plate, 1).wait()  # compiles
    start = time.perf_counter()
    result = spread(plate, STEPS).wait()
    took = time.perf_counter() - start
    np.testing.assert_allclose(pp.asnumpy(spread(plate, 10)), expected(hot_plate(), 10), rtol=1e-12, atol=1e-15)
    print(
        f"{STEPS} steps of {ROWS} x {COLUMNS} points over {result.device}: {took * 1e3:.0f} ms; the hottest is at {float(result.max()):.4f}"
    )


if __name__ == "__main__":
    main()
