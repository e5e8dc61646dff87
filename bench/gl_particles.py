# bench/gl_particles.py: particles in a buffer of OpenGL: moved there by pardo, against NumPy and glBufferSubData, in one run.
"""python bench/gl_particles.py [--count N] [--steps N] [--device cpu]: microseconds a step, update and hand-over without the draw."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import moderngl
import numpy as np
import pardo as pp

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import particles


def least(step, steps: int, rounds: int = 7) -> float:
    """Seconds of a step: the least mean of several rounds, which take turns with nothing."""
    for _ in range(5):
        step()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(steps):
            step()
        times.append((time.perf_counter() - start) / steps)
    return min(times)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=100_000)
    options.add_argument("--steps", type=int, default=100)
    options.add_argument("--device", default="cpu")
    given = options.parse_args()
    ctx = moderngl.create_context(standalone=True, backend="egl")
    dt, first = np.float32(1e-4), particles.disc(given.count)

    of_numpy, host = ctx.buffer(first.tobytes(), dynamic=True), first.copy()

    def with_numpy() -> None:
        particles.advance_in_numpy(host, dt)
        of_numpy.write(host)

    ours, theirs = pp.gl.empty(first.shape, device=given.device), pp.gl.Buffer(ctx.buffer(first.tobytes()), np.float32, first.shape)
    where = pp.Range(given.count)

    def with_pardo(buffer: pp.gl.Buffer):
        def step() -> None:
            with buffer.map(given.device) as p:
                particles.advance[where](p, dt)

        return step

    with ours.map(given.device, access="write") as p:
        p[...] = pp.asarray(first, device=given.device)
    before = pp.counters()["copied_bytes"]
    numpy_time = least(with_numpy, given.steps)
    print(f"{ctx.info['GL_RENDERER']}, {given.count} particles, {pp.Device(given.device)}: microseconds a step")
    print(f"  NumPy and glBufferSubData      {numpy_time * 1e6:8.1f}")
    for name, buffer in (("gl.empty", ours), ("moderngl.Buffer, map and unmap", theirs)):
        taken = least(with_pardo(buffer), given.steps)
        print(f"  {name:30} {taken * 1e6:8.1f}   {numpy_time / taken:5.2f} x")
    print(f"  copied bytes: {pp.counters()['copied_bytes'] - before}")


if __name__ == "__main__":
    main()
