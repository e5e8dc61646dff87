# examples/asyncio_pipeline.py: a pipeline of asyncio tasks on several queues and devices; the loop is never blocked.
"""Frames arrive, are filtered on whatever device is free, and are stored; a clock ticks meanwhile. Runs with the CPU alone."""

import asyncio

import numpy as np
import pardo as pp

FRAMES, SHAPE = 24, (480, 640)


async def camera(frames: asyncio.Queue) -> None:
    """Frames as they would come from a socket."""
    rng = np.random.default_rng(0)
    for i in range(FRAMES):
        await asyncio.sleep(0.001)
        await frames.put((i, rng.random(SHAPE, dtype=np.float32)))


async def worker(device: pp.Device, frames: asyncio.Queue, results: dict) -> None:
    """Blurs and takes the brightest spot; awaiting lets the others run."""
    queue = pp.Queue(device)
    while True:
        i, frame = await frames.get()
        x = pp.asarray(frame, queue=queue)
        blurred = (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 5
        brightest = blurred.max()
        try:
            async with asyncio.timeout(60):
                await brightest
            results[i] = float(brightest), device.id
        finally:
            frames.task_done()


async def clock(ticks: list) -> None:
    """Shows that nothing blocks the loop."""
    while True:
        ticks.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.002)


async def main() -> None:
    frames: asyncio.Queue = asyncio.Queue(maxsize=8)
    results: dict = {}
    ticks: list = []
    devices = [d for d in pp.get_devices() for _ in range(2)]  # two queues a device
    tasks = [asyncio.create_task(worker(d, frames, results)) for d in devices]
    tasks.append(asyncio.create_task(clock(ticks)))
    await camera(frames)
    await frames.join()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert sorted(results) == list(range(FRAMES))
    for i in range(3):
        value, device = results[i]
        print(f"frame {i}: brightest {value:.3f}, on {device}")
    print(f"{FRAMES} frames on {len(devices)} queues; the clock ticked {len(ticks)} times meanwhile")


if __name__ == "__main__":
    asyncio.run(main())
