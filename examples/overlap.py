# examples/overlap.py: copies and kernels side by side: blocks of a large host array pass through one or several devices.
"""Each block is copied in, computed on and copied out; blocks of different queues overlap. Runs with the CPU alone."""

import time

import numpy as np
import pardo as pp

BLOCKS, SIZE, LANES = 12, 1_000_000, 3


def compute(x):
    """Enough to do that a copy takes about as long."""
    for _ in range(8):
        x = pp.sqrt(x * x + 1.0)
    return x


def place_on_host(queue):
    """Memory for a result. Where the device has memory of the host's that it can write, the copy out needs no thread."""
    if queue.device.has_aspect("usm_host_allocations"):
        return pp.empty(SIZE, np.float32, queue=queue, usm_type="host")
    return np.empty(SIZE, np.float32)


def one_after_another(source, device):
    queue = pp.Queue(device)
    results = []
    for block in source:
        x = compute(pp.asarray(block, queue=queue))
        result = place_on_host(queue)
        queue.copy(result, x).wait()
        results.append(result)
    return results


def overlapped(source, devices):
    """Several queues a device: while one copies a block in, the second computes, and the third copies out."""
    lanes = [pp.Queue(d) for d in devices for _ in range(LANES)]
    results, events = [], []
    for i, block in enumerate(source):
        queue = lanes[i % len(lanes)]
        x = compute(pp.asarray(block, queue=queue))
        results.append(place_on_host(queue))
        events.append(queue.copy(results[-1], x))
    for event in pp.as_completed(events):
        event.wait()
    return results


def seconds(run, *arguments):
    run(*arguments)  # compiles
    start = time.perf_counter()
    results = run(*arguments)
    return time.perf_counter() - start, [pp.asnumpy(r) for r in results]


def main():
    devices = pp.get_devices()
    source = np.random.default_rng(0).random((BLOCKS, SIZE), dtype=np.float32)
    one, expected = seconds(one_after_another, source, devices[0])
    many, results = seconds(overlapped, source, devices)
    np.testing.assert_allclose(results, expected, rtol=1e-5)
    print(f"devices: {', '.join(d.id for d in devices)}")
    print(f"one after another {one * 1e3:.0f} ms, overlapped {many * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
