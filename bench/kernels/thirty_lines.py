# bench/kernels/thirty_lines.py: the kernel of compiling.py, and the one that goes before it.
import math

import pardo as pp


@pp.kernel
def another(item: pp.Item, x, y):
    i = item.get_id(0)
    y[i] = 2.0 * x[i]


@pp.kernel
def step(item: pp.Item, x, y, u, v, dt):
    """A particle in a box, drawn to two centres, slowed down, and thrown back by the walls."""
    i = item.get_id(0)
    px, py, vx, vy = x[i], y[i], u[i], v[i]
    for _ in range(8):
        ax, ay = 0.0, -9.81
        for centre in range(2):
            cx = -0.5 if centre == 0 else 0.5
            dx, dy = cx - px, -py
            square = dx * dx + dy * dy + 1e-3
            pull = 1.0 / (square * math.sqrt(square))
            ax += pull * dx
            ay += pull * dy
        speed = math.hypot(vx, vy)
        if speed > 10.0:
            drag = math.exp(-0.1 * (speed - 10.0))
            vx *= drag
            vy *= drag
        vx += dt * ax
        vy += dt * ay
        px += dt * vx
        py += dt * vy
        if px < -1.0 or px > 1.0:
            px = min(max(px, -1.0), 1.0)
            vx = -0.9 * vx
        if py < -1.0 or py > 1.0:
            py = min(max(py, -1.0), 1.0)
            vy = -0.9 * vy
    x[i], y[i], u[i], v[i] = px, py, vx, vy
