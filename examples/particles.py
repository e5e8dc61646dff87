# examples/particles.py: particles that pardo moves in OpenGL's memory and OpenGL draws, into a PNG file or in a window.
"""Needs moderngl (`pip install moderngl`), and a driver of OpenGL or Mesa's llvmpipe. Positions stay in the memory that is drawn."""

import argparse

import moderngl
import numpy as np
import pardo as pp

COUNT, STEPS, DT = 100_000, 120, 0.01
VERTEX = """#version 330
layout(location = 0) in float x; layout(location = 1) in float y; layout(location = 2) in float u; layout(location = 3) in float v;
out float fast;
void main() { fast = length(vec2(u, v)); gl_Position = vec4(0.7 * x, 0.7 * y, 0.0, 1.0); }
"""
FRAGMENT = """#version 330
in float fast; out vec4 colour;
void main() { colour = vec4(0.10 * fast, 0.06, 0.12 / (0.5 + fast), 1.0); }
"""


def disc(count=COUNT):
    """Particles around a mass in the middle, nearly in orbit: x, y, and their speeds, a row each: lanes read what lies side by side."""
    rng = np.random.default_rng(7)
    radius, angle = np.sqrt(rng.uniform(0.04, 1.0, count)), rng.uniform(0, 2 * np.pi, count)
    at = np.stack([radius * np.cos(angle), radius * np.sin(angle)])
    speed = np.stack([-at[1], at[0]]) / radius**1.5
    return np.concatenate([at, speed * rng.uniform(0.8, 1.1, count)]).astype(np.float32)


@pp.kernel
def advance(item: pp.Item, p, dt):
    i = item.get_id(0)
    x, y = p[0, i], p[1, i]
    r = x * x + y * y + 0.01
    pull = dt / (r * pp.sqrt(r))
    p[2, i] -= pull * x
    p[3, i] -= pull * y
    p[0, i] = x + dt * p[2, i]
    p[1, i] = y + dt * p[3, i]


def advance_in_numpy(p, dt):
    x, y = p[0].copy(), p[1].copy()
    r = x * x + y * y + np.float32(0.01)
    pull = dt / (r * np.sqrt(r))
    p[2] -= pull * x
    p[3] -= pull * y
    p[0] = x + dt * p[2]
    p[1] = y + dt * p[3]


def picture(device, size, steps=STEPS):
    """Colours of the frame after some steps, and the particles then."""
    ctx = moderngl.create_context(standalone=True, backend="egl")
    particles = pp.gl.empty((4, COUNT), device=device)
    print(particles.explain(device))
    with particles.map(device, access="write") as p:
        p[...] = pp.asarray(disc(), device=device)
    frame = ctx.simple_framebuffer((size, size))
    frame.use()
    ctx.enable(moderngl.BLEND)
    ctx.blend_func = moderngl.ONE, moderngl.ONE
    drawn = ctx.external_buffer(particles.glo, particles.nbytes)
    points = ctx.vertex_array(ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT), [])
    for row in range(4):  # each is an attribute
        points.bind(row, "f", drawn, "f", offset=row * 4 * COUNT, stride=4)
    for step in range(steps):
        with particles.map(device) as p:
            advance[pp.Range(COUNT)](p, np.float32(DT))
        if step % 30 == 29:
            frame.clear()
            points.render(moderngl.POINTS, vertices=COUNT)
    colours = np.frombuffer(frame.read(components=3), np.uint8).reshape(size, size, 3)[::-1]
    with particles.map(device, access="read") as p:
        last = pp.asnumpy(p)
    ctx.release()
    return colours, last


def watch(device=None, count=COUNT, **where):
    """The particles, by pardo.live: in a window, in a notebook, or in files (frames=, to=). They are drawn from where kernels move them."""

    def update(frame, view):
        if frame > 0:
            advance[pp.Range(count)](view.data, np.float32(DT))

    start = pp.asarray(disc(count), device=device)
    return pp.live(update, start, kind="points", range=((-1.43, 1.43),) * 2, color="#ff9040a0", title="particles", **where)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--device", help="default: PARDO_DEVICE, or the CPU")
    options.add_argument("--size", type=int, default=400, help="pixels of a side")
    options.add_argument("--picture", metavar="FILE.png", default="particles.png", help="where a picture is written")
    options.add_argument("--window", action="store_true", help="show the particles in a window, until it is closed")
    given = options.parse_args()
    if given.window:
        print(f"{watch(given.device, window=True)} frames")
        return
    colours, last = picture(given.device, given.size)
    expected = disc()
    for _ in range(STEPS):
        advance_in_numpy(expected, np.float32(DT))
    far = np.hypot(*expected[:2]) > 0.5  # closer ones have turned so often that roundings show
    np.testing.assert_allclose(last[:, far], expected[:, far], rtol=0.02, atol=0.02)
    assert colours.any(axis=2).mean() > 0.2
    pp.show(colours, path=given.picture)
    print(f"{COUNT} particles after {STEPS} steps on {pp.Device(given.device)}: {given.picture}")


if __name__ == "__main__":
    main()
