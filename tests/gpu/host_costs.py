# tests/gpu/host_costs.py: what the host pays for a launch, a wait, a block of memory and an await, in µs; not a test.
"""Usage: python tests/gpu/host_costs.py [DEVICE], default cuda:0. Each line is the median of several repetitions."""

import asyncio
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import pardo as pp

ROUNDS = 9


def per_call(body: Callable[[], object], settle: Callable[[], object], calls: int, warm: int = 200) -> float:
    """Microseconds a call: the median of repetitions of `calls`, each of which begins on an idle queue."""
    for _ in range(warm):
        body()
    rounds = []
    for _ in range(ROUNDS):
        settle()
        begin = time.perf_counter_ns()
        for _ in range(calls):
            body()
        rounds.append((time.perf_counter_ns() - begin) / calls / 1e3)
    settle()
    return statistics.median(rounds)


def awaited(queue: pp.Queue, a: pp.Array, b: pp.Array, count: int = 200) -> float:
    """Median microseconds from the launch of a small kernel until `await` of its event goes on."""

    async def measure() -> list[float]:
        times = []
        for _ in range(count):
            c = (a + b).force()
            event = queue.barrier()
            begin = time.perf_counter_ns()
            await event
            times.append((time.perf_counter_ns() - begin) / 1e3)
            del c
        return times

    return statistics.median(asyncio.run(measure()))


def main() -> None:
    device = pp.Device(sys.argv[1] if len(sys.argv) > 1 else "cuda:0")
    queue = pp.empty(1, device=device).queue
    a, b = (pp.asarray(np.ones(16, np.float32), device=device) for _ in range(2))

    def forced() -> None:
        (a + b).force()

    def waited() -> None:
        (a + b).wait()

    def block() -> None:
        pp.empty(1 << 18, dtype=np.float32, device=device).force()

    free = pp.Queue(device, order="out_of_order")
    x, y = (pp.asarray(np.ones(16, np.float32), queue=free) for _ in range(2))

    def forced_out_of_order() -> None:
        (x + y).force()

    lines = [
        ("record a + b, drop it", per_call(lambda: a + b, queue.wait, 500)),
        ("forced a + b of 16 float32", per_call(forced, queue.wait, 500)),
        ("forced and waited for", per_call(waited, queue.wait, 500)),
        ("allocate and free 1 MiB", per_call(block, queue.wait, 500)),
        ("forced a + b, out of order", per_call(forced_out_of_order, free.wait, 500)),
        ("wait of an idle queue", per_call(queue.wait, queue.wait, 500)),
        ("event to await", awaited(queue, a, b)),
    ]
    print(f"{device} {device.name}")
    for name, microseconds in lines:
        print(f"  {name:32s} {microseconds:8.2f} µs")


if __name__ == "__main__":
    main()
