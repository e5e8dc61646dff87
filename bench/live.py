# bench/live.py: frames a second of a field that a program computes and a window shows: pardo.live, beside NumPy's ways.
"""python bench/live.py [--size N] [--frames N] [--device cpu]: starts a display in memory (Xvfb) where there is none.

Each computes the same waves in float32 and shows them by the same map of 255 colours, between limits that it finds in each frame, in a
window of their size, as quickly as it goes. The peers are what a user writes: NumPy's values, looked up in a table and written into a
texture that moderngl draws; and matplotlib's imshow with set_data, drawn into memory without a window. Exits with 1 where pardo makes
fewer frames than a peer, or fewer than 60.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import glfw
import matplotlib
import moderngl
import numpy as np
import pardo as pp
from pardo._pictures.colours import palette_of

VERTEX = """#version 330
out vec2 at;
void main() { vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1); at = vec2(p.x, 1.0 - p.y); gl_Position = vec4(2.0 * p - 1.0, 0.0, 1.0); }
"""
FRAGMENT = "#version 330\nuniform sampler2D colours; in vec2 at; out vec4 shade; void main() { shade = texture(colours, at); }"


def display() -> Iterator[None]:
    """A display in memory, where there is none."""
    if os.environ.get("DISPLAY"):
        yield
        return
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "2560x2160x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as file:
        os.environ["DISPLAY"] = ":" + file.readline().strip()
    yield
    glfw.terminate()
    server.terminate()


def by_pardo(size: int, device: str) -> Callable[[int], float]:
    x = pp.linspace(-3, 3, size, dtype="float32", device=device)

    def update(frame: int) -> pp.Array:
        return pp.sin(x * x + (x * x)[:, None] - 0.1 * frame)

    def run(frames: int) -> float:
        start = time.perf_counter()
        pp.live(update, frames=frames, fps=None, window=True, size=size)
        return time.perf_counter() - start

    return run


def waves(x: np.ndarray, frame: int) -> np.ndarray:
    return np.sin(x * x + (x * x)[:, None] - np.float32(0.1 * frame))


def by_moderngl(size: int, device: str) -> Callable[[int], float]:
    x = np.linspace(-3, 3, size, dtype=np.float32)
    table = palette_of("viridis", None, "bench")

    def run(frames: int) -> float:
        start = time.perf_counter()
        assert glfw.init()
        glfw.window_hint(glfw.CONTEXT_VERSION_MAJOR, 3)
        glfw.window_hint(glfw.CONTEXT_VERSION_MINOR, 3)
        glfw.window_hint(glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE)
        window = glfw.create_window(size, size, "peer", None, None)
        glfw.default_window_hints()
        glfw.make_context_current(window)
        ctx = moderngl.create_context()
        texture = ctx.texture((size, size), 4)
        texture.filter = moderngl.NEAREST, moderngl.NEAREST
        picture = ctx.vertex_array(ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT), [])
        texture.use()
        for frame in range(frames):
            field = waves(x, frame)
            low, high = field.min(), field.max()
            texture.write(table[np.minimum((field - low) * (255 / (high - low)), 254).astype(np.uint8)])
            picture.render(moderngl.TRIANGLE_STRIP, vertices=4)
            glfw.swap_buffers(window)
            glfw.poll_events()
        ctx.release()
        glfw.make_context_current(None)
        glfw.destroy_window(window)
        return time.perf_counter() - start

    return run


def by_matplotlib(size: int, device: str) -> Callable[[int], float]:
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    x = np.linspace(-3, 3, size, dtype=np.float32)

    def run(frames: int) -> float:
        start = time.perf_counter()
        figure = plt.figure(figsize=(size / 100, size / 100), dpi=100)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        image = axes.imshow(waves(x, 0))
        for frame in range(frames):
            field = waves(x, frame)
            image.set_data(field)
            image.set_clim(field.min(), field.max())
            figure.canvas.draw()
        plt.close(figure)
        return time.perf_counter() - start

    return run


def rate(run: Callable[[int], float], frames: int) -> float:
    """Frames a second, without what it takes to begin: of three runs the best, that takes turns with a short one."""
    return max(frames / (run(frames + 5) - run(5)) for _ in range(3))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--size", type=int, default=512)
    options.add_argument("--frames", type=int, default=200)
    options.add_argument("--device", default="cpu")
    given = options.parse_args()
    for _ in display():
        print(f"{given.size} x {given.size} waves on {pp.Device(given.device)}: frames a second")
        ways = {"pardo.live, window": by_pardo, "NumPy, moderngl, window": by_moderngl, "NumPy, matplotlib (agg), no window": by_matplotlib}
        rates = {}
        for name, way in ways.items():
            run = way(given.size, given.device)
            run(3)
            rates[name] = rate(run, given.frames)
            print(f"  {name:36} {rates[name]:8.1f}", flush=True)
        ours, *peers = rates.values()
        print(f"  {ours / max(peers):.2f} x the best peer")
    if ours < max(60.0, *peers):
        sys.exit(1)


if __name__ == "__main__":
    main()
