# tests/gpu/gl.py: memory of OpenGL on a GPU: values, and what a hand-over costs beside the driver's own calls; not a test.
"""Usage: python tests/gpu/gl.py [DEVICE], default cuda:0.

Needs moderngl, an OpenGL context by EGL of the GPU's own driver, and for the rows beside the driver NVRTC. It first compares values, then
prints microseconds a step, medians of rounds that take turns:
 - map, kernel over 2^20 vertices, unmap, beside the same calls of the driver by ctypes;
 - an update of 10^6 particles with its hand-over, beside the same;
 - frames of 1920 x 1080 with 10^6 particles, moved before each and not.
On another device, such as "cpu", the rows beside the driver are left out.
"""

from __future__ import annotations

import ctypes
import os
import site
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
import pardo as pp

DT = np.float32(1e-3)
TEXT = r"""
extern "C" __global__ void lift(float4* v, float t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i].y = sinf(v[i].x + t) * cosf(v[i].z + t);
}
extern "C" __global__ void advance(float4* p, float dt, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 q = p[i];
    float r = q.x * q.x + q.y * q.y + 0.01f, pull = dt / (r * sqrtf(r));
    q.z -= pull * q.x;
    q.w -= pull * q.y;
    q.x += dt * q.z;
    q.y += dt * q.w;
    p[i] = q;
}
"""
VERTEX = "#version 330\nin vec2 at; void main() { gl_Position = vec4(0.7 * at, 0.0, 1.0); }"
FRAGMENT = "#version 330\nout vec4 colour; void main() { colour = vec4(0.1, 0.06, 0.12, 1.0); }"


@pp.kernel
def lift(item: pp.Item, v, t):
    i = item.get_id(0)
    v[i, 1] = pp.sin(v[i, 0] + t) * pp.cos(v[i, 2] + t)


@pp.kernel
def advance(item: pp.Item, p, dt):
    i = item.get_id(0)
    x, y = p[i, 0], p[i, 1]
    r = x * x + y * y + 0.01
    pull = dt / (r * pp.sqrt(r))
    u, v = p[i, 2] - pull * x, p[i, 3] - pull * y
    p[i, 0] = x + dt * u
    p[i, 1] = y + dt * v
    p[i, 2] = u
    p[i, 3] = v


class Driver:
    """The same by the driver's own functions."""

    def __init__(self, ordinal: int) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.context, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        device = ctypes.c_int()
        self("cuInit", 0)
        self("cuDeviceGet", ctypes.byref(device), ordinal)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self("cuCtxSetCurrent", self.context)
        self("cuStreamCreate", ctypes.byref(self.stream), 1)
        self.module = ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(self.module), compiled(TEXT))

    def __call__(self, name: str, *arguments: Any) -> None:
        code = getattr(self.cuda, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: error {code}")

    def step(self, name: str, buffer: int, count: int, number: float) -> Callable[[], None]:
        """Map, kernel and unmap of a buffer that is registered once."""
        resource, function, pointer, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_size_t()
        self("cuGraphicsGLRegisterBuffer", ctypes.byref(resource), buffer, 0)
        self("cuModuleGetFunction", ctypes.byref(function), self.module, name.encode())
        t, n = ctypes.c_float(number), ctypes.c_int(count)
        addresses = [ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in (pointer, t, n)]
        parameters = (ctypes.c_void_p * 3)(*addresses)
        groups = (count + 255) // 256

        def run() -> None:
            self("cuGraphicsMapResources", 1, ctypes.byref(resource), self.stream)
            self("cuGraphicsResourceGetMappedPointer_v2", ctypes.byref(pointer), ctypes.byref(size), resource)
            self("cuLaunchKernel", function, groups, 1, 1, 256, 1, 1, 0, self.stream, parameters, None)
            self("cuGraphicsUnmapResources", 1, ctypes.byref(resource), self.stream)

        return run


def compiled(text: str) -> bytes:
    """PTX, by NVRTC."""
    folders = [Path(p) / "nvidia" for p in (*site.getsitepackages(), site.getusersitepackages())]
    wheels = [str(f) for folder in folders for f in sorted(folder.glob("*/lib/libnvrtc.so.*")) if ".alt." not in f.name]
    for name in (os.environ.get("PARDO_NVRTC"), *wheels, "libnvrtc.so.13", "libnvrtc.so.12"):
        try:
            nvrtc = ctypes.CDLL(name) if name and not Path(name).is_dir() else None
        except OSError:
            nvrtc = None
        if nvrtc is not None:
            break
    else:
        raise RuntimeError("NVRTC is needed: pip install nvidia-cuda-nvrtc-cu12")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"gl.cu", 0, None, None) == 0
    options = (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_80")
    assert nvrtc.nvrtcCompileProgram(program, 1, options) == 0
    assert nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)) == 0
    ptx = ctypes.create_string_buffer(size.value)
    assert nvrtc.nvrtcGetPTX(program, ptx) == 0
    return ptx.value


def times(steps: list[Callable[[], object]], end: Callable[[], object], repeats: int = 200, rounds: int = 9) -> list[float]:
    """Microseconds a step of each, medians of rounds that take turns."""
    taken: list[list[float]] = [[] for _ in steps]
    for _ in range(rounds + 1):
        for step, list_ in zip(steps, taken, strict=True):
            end()
            begin = time.perf_counter()
            for _ in range(repeats):
                step()
            end()
            list_.append((time.perf_counter() - begin) / repeats * 1e6)
    return [statistics.median(list_[1:]) for list_ in taken]


def disc(count: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(7)
    radius, angle = np.sqrt(rng.uniform(0.04, 1.0, count)), rng.uniform(0, 2 * np.pi, count)
    at = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    speed = np.stack([-at[:, 1], at[:, 0]], axis=1) / radius[:, None] ** 1.5
    return np.concatenate([at, speed], axis=1).astype(np.float32)


def advanced(p: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    x, y = p[:, 0], p[:, 1]
    r = x * x + y * y + np.float32(0.01)
    pull = DT / (r * np.sqrt(r))
    u, v = p[:, 2] - pull * x, p[:, 3] - pull * y
    return np.stack([x + DT * u, y + DT * v, u, v], axis=1)


def check(ctx: moderngl.Context, device: pp.Device) -> None:
    """Values by every kind of object, with commands of OpenGL's before and after."""
    first = disc(10_000)
    for own in (True, False):
        buffer = pp.gl.empty(first.shape, device=device) if own else pp.gl.Buffer(ctx.buffer(reserve=first.nbytes), shape=first.shape)
        ctx.copy_buffer(ctx.external_buffer(buffer.glo, buffer.nbytes), ctx.buffer(first.tobytes()))
        for _ in range(3):
            with buffer.map(device) as p:
                advance[pp.Range(len(first))](p, DT)
        out = ctx.buffer(reserve=first.nbytes)
        ctx.copy_buffer(out, ctx.external_buffer(buffer.glo, buffer.nbytes))
        got = np.frombuffer(out.read(), np.float32).reshape(first.shape)
        np.testing.assert_allclose(got, advanced(advanced(advanced(first))), rtol=1e-5, atol=1e-6)
        del buffer
    pixels = np.arange(6 * 4 * 4, dtype=np.uint8).reshape(4, 6, 4)
    texture = ctx.texture((6, 4), 4, pixels.tobytes())
    with pp.gl.Image(texture).map(device) as image:
        image[...] = 255 - image[...]
    assert (np.frombuffer(texture.read(), np.uint8).reshape(4, 6, 4) == 255 - pixels).all()
    layers = ctx.texture_array((6, 4, 3), 1, dtype="f4")
    with pp.gl.Image(layers).map(device, access="write") as image:
        image[...] = np.arange(72, dtype=np.float32).reshape(3, 4, 6)
    assert (np.frombuffer(layers.read(), np.float32) == np.arange(72)).all()
    drawn_to = ctx.renderbuffer((6, 4), 4)
    frame = ctx.framebuffer([drawn_to])
    frame.clear(1.0, 0.0, 0.0, 1.0)
    with pp.gl.Image(drawn_to).map(device) as image:
        assert (image.to_numpy() == [255, 0, 0, 255]).all()
        image[...] = 7
    assert set(frame.read(components=4)) == {7}


def main() -> None:
    device = pp.Device(sys.argv[1] if len(sys.argv) > 1 else "cuda:0")
    ctx = moderngl.create_context(standalone=True, backend="egl")
    driver = Driver(int(device.id.partition(":")[2])) if device.id.startswith("cuda") else None
    queue = pp.Queue(device)
    check(ctx, device)
    print("values: as they should be")
    count = 1 << 20
    vertices = np.zeros((count, 4), np.float32)
    vertices[:, 0] = np.linspace(0, 10, count)
    n = 1_000_000
    rows: list[tuple[str, pp.gl.Buffer, Any, int, Any]] = []
    for name, values, kernel, size, number in (("lift", vertices, lift, count, np.float32(0.5)), ("advance", disc(n), advance, n, DT)):
        made = pp.gl.empty(values.shape, device=device)
        with made.map(queue, access="write") as x:
            x[...] = pp.asarray(values, queue=queue)
        rows.append((name, made, kernel, size, number))
    print(rows[0][1].explain(device))
    before = pp.counters()["copied_bytes"]
    for name, made, kernel, size, number in rows:

        def with_pardo(made: pp.gl.Buffer = made, kernel: Any = kernel, size: int = size, number: Any = number) -> None:
            with made.map(queue) as x:
                kernel[pp.Range(size)](x, number)

        def end() -> None:
            ctx.finish()
            queue.wait()
            if driver:
                driver("cuStreamSynchronize", driver.stream)

        steps: list[Callable[[], object]] = [with_pardo]
        if driver:
            steps.append(driver.step(name, ctx.buffer(reserve=made.nbytes).glo, size, float(number)))
        taken = times(steps, end, repeats=200 if driver else 5)
        text = f"{name:8} {size:8} elements: {taken[0]:8.1f} us a step"
        print(text + (f", the driver's calls {taken[1]:8.1f}: {taken[0] / taken[1]:5.2f} x" if driver else ""))
    print(f"copied bytes meanwhile: {pp.counters()['copied_bytes'] - before}")

    made = rows[1][1]
    frame = ctx.simple_framebuffer((1920, 1080))
    frame.use()
    ctx.enable(moderngl.BLEND)
    ctx.blend_func = moderngl.ONE, moderngl.ONE
    program = ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    points = ctx.vertex_array(program, [(ctx.external_buffer(made.glo, made.nbytes), "2f 8x", "at")])

    def still() -> None:
        frame.clear()
        points.render(moderngl.POINTS)

    def moved() -> None:
        with made.map(queue) as p:
            advance[pp.Range(n)](p, DT)
        still()

    moving, standing = times([moved, still], ctx.finish, repeats=60 if driver else 2)
    print(f"frames of 1920 x 1080, {n} particles: {1e6 / moving:8.1f} a second")
    print(f"  where the particles stand: {1e6 / standing:8.1f}: {standing / moving:5.2f} x")


if __name__ == "__main__":
    main()
