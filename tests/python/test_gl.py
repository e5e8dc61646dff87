# tests/python/test_gl.py: buffers and textures of OpenGL as arrays and images, on llvmpipe: values, order, and what is refused.
from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from pathlib import Path

import groups
import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal

moderngl = pytest.importorskip("moderngl", reason="moderngl makes the OpenGL contexts of these tests")

pytestmark = pytest.mark.once

VERTEX = np.dtype([("at", np.float32, (3,)), ("colour", np.uint8, (4,))])


@pytest.fixture(scope="module")
def ctx():
    context = moderngl.create_context(standalone=True, backend="egl")
    frame = context.simple_framebuffer((4, 4))  # without one nothing is drawn
    frame.use()
    yield context
    context.release()


@pytest.fixture(params=groups.DEVICES, ids=lambda d: d.id)
def device(request):
    return request.param


@pytest.fixture(params=["own", "moderngl"])
def buffer(request, ctx):
    """Eight float32, in storage that stays mapped and in moderngl's."""
    if request.param == "own":
        made = pp.gl.empty(8)
        with made.map("cpu", access="write") as x:
            x[...] = np.arange(8)
        yield made
        made.release()
        return
    kept = ctx.buffer(np.arange(8, dtype="f4").tobytes())
    yield pp.gl.Buffer(kept)
    kept.release()


def drawn(ctx, buffer):
    """What a draw reads from it: transform feedback of each element doubled."""
    program = ctx.program(
        vertex_shader="#version 330\nin float a; out float b; void main() { b = 2.0 * a; gl_Position = vec4(0.0); }", varyings=["b"]
    )
    source = ctx.external_buffer(buffer.glo, buffer.nbytes)
    result = ctx.buffer(reserve=buffer.nbytes)
    ctx.vertex_array(program, [(source, "f", "a")]).transform(result)
    return np.frombuffer(result.read(), "f4")


# --- values ---------------------------------------------------------------------------------------------------------------------------


def test_values_go_both_ways(ctx, buffer, device):
    with buffer.map(device) as x:
        assert x.device == device
        assert_array_equal(pp.asnumpy(x), np.arange(8))
        x *= 10
        x[0] = 5
    expected = np.arange(8) * 10
    expected[0] = 5
    assert_array_equal(drawn(ctx, buffer), 2 * expected)
    with buffer.map(device, access="read") as x:
        assert not x.flags.writeable
        assert_array_equal(pp.asnumpy(x), expected)


def test_kernels_write_it(ctx, buffer, device):
    @pp.kernel
    def fill(item: pp.Item, x):
        i = item.get_id(0)
        x[i] = i * i

    with buffer.map(device, access="write") as x:
        fill[pp.Range(8)](x)
    assert_array_equal(drawn(ctx, buffer), 2.0 * np.arange(8) ** 2)


def test_work_comes_after_commands_before_and_before_those_after(ctx, device):
    a, b = pp.gl.empty(1 << 16), pp.gl.empty(1 << 16)
    program = ctx.program(
        vertex_shader="#version 330\nin float a; out float b; void main() { b = a + 1.0; gl_Position = vec4(0.0); }", varyings=["b"]
    )
    outside = [ctx.external_buffer(x.glo, x.nbytes) for x in (a, b)]
    forth = ctx.vertex_array(program, [(outside[0], "f", "a")])
    with a.map(device, access="write") as x:
        x[...] = 0
    for _ in range(5):
        forth.transform(outside[1])
        with b.map(device, access="read") as y, a.map(device) as x:
            x[...] = y * 2
    with a.map(device, access="read") as x:
        assert_array_equal(np.unique(pp.asnumpy(x)), [62])
    a.release(), b.release()


def test_parts(ctx, buffer, device):
    with buffer.map(device, part=slice(2, 5)) as x:
        assert x.shape == (3,)
        x[...] = x + 100
    with buffer.map(device, part=slice(-1, None), access="write") as x:
        x[...] = -1
    assert_array_equal(drawn(ctx, buffer) / 2, [0, 1, 102, 103, 104, 5, 6, -1])
    with buffer.map(device, part=slice(5, 2)) as x:
        assert x.shape == (0,)
    for wrong, error in (((slice(0, 4, 2)), ValueError), (3, TypeError)):
        with pytest.raises(error, match="part"):
            buffer.map(device, part=wrong)


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "f2", "f4", "f8", "c8", "?", "i8"])
def test_dtypes(ctx, device, dtype):
    if np.dtype(dtype) == "f8" and not device.has_fp64:
        pytest.skip("the device has no float64")
    values = np.arange(12).reshape(3, 4).astype(dtype)
    kept = ctx.buffer(bytes(16) + values.tobytes())
    with pp.gl.Buffer(kept, dtype, (3, 4), offset=16).map(device) as x:
        assert_array_equal(pp.asnumpy(x), values)
        x[1:] = x[:2].copy()
    values[1:] = values[:2].copy()
    assert_array_equal(np.frombuffer(kept.read(), dtype, offset=16).reshape(3, 4), values)
    kept.release()


def test_vertices_are_records(ctx, device):
    vertices = np.zeros(5, VERTEX)
    vertices["at"] = np.arange(15).reshape(5, 3)
    kept = ctx.buffer(vertices.tobytes())
    with pp.gl.Buffer(kept, VERTEX).map(device) as v:
        assert v.dtype == VERTEX
        assert v.shape == (5,)
        v["at"] = v["at"] * 2
        v["colour"] = 255
    got = np.frombuffer(kept.read(), VERTEX)
    assert_array_equal(got["at"], np.arange(15).reshape(5, 3) * 2)
    assert (got["colour"] == 255).all()
    with pytest.raises(ValueError, match="has ended"):
        v["at"].wait()
    kept.release()


def test_nothing_at_all(ctx, device):
    none = pp.gl.empty((0, 3))
    with none.map(device) as x:
        assert x.shape == (0, 3)
    none.release()


def test_what_it_says(ctx, buffer, device):
    in_place = device._takes_host_memory
    assert ("no copy" if in_place else "works on a copy") in buffer.explain(device)
    copies = ("host_to_device", "device_to_host")
    before = pp.counters()
    with buffer.map(device) as x:
        x += 1
    after = pp.counters()
    assert (after["copies"] == before["copies"]) is in_place, copies
    assert f"gl.Buffer {buffer.glo} of shape (8,)" in repr(buffer)


def test_guards_see_copies(ctx, buffer, device):
    if device._takes_host_memory:
        with pp.transfer_guard("disallow"), buffer.map(device) as x:
            x += 1
        return
    with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match=r"gl\.Buffer\.map: would copy"), buffer.map(device):
        pass
    block = buffer.map(device, access="write")
    block.__enter__()[...] = 1
    with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match=r"gl\.Buffer\.map: would copy"):
        block.__exit__(None, None, None)
    with buffer.map(device) as x:  # nothing is left of it
        assert_array_equal(pp.asnumpy(x), np.arange(8))


def test_state_stays(ctx, buffer, device):
    other = ctx.buffer(b"12345678")
    ctx.copy_buffer(other, other, 4, 0, 4)
    from pardo._gl import functions as gl

    context = gl.current("test")
    before = context.integer(gl.COPY_READ_BUFFER_BINDING)
    while ctx.error != "GL_NO_ERROR":  # of other tests
        pass
    with buffer.map(device) as x:
        x += 1
    assert context.integer(gl.COPY_READ_BUFFER_BINDING) == before
    assert ctx.error == "GL_NO_ERROR"
    other.release()


# --- the end of the block -------------------------------------------------------------------------------------------------------------


def test_arrays_end_with_the_block(ctx, buffer, device):
    with buffer.map(device) as x:
        view, pending = x[2:], x + 1
        sum_before = x.sum()
    assert_array_equal(pp.asnumpy(pending), np.arange(8) + 1)
    assert float(sum_before) == 28
    uses = [
        lambda: x + 1,
        lambda: x.sum(),
        lambda: view * 2,
        lambda: x.wait(),
        lambda: pp.asnumpy(x),
        lambda: np.asarray(x),
        lambda: float(view[0]),
        lambda: x.__setitem__(0, 1),
        lambda: x.__iadd__(1),
        lambda: x.tolist(),
        lambda: repr(x),
        lambda: x.copy().wait(),
        lambda: pp.sort(x).wait(),
        lambda: np.from_dlpack(x),
    ]
    for use in uses:
        for _ in range(2):
            with pytest.raises((ValueError, BufferError, TypeError), match=r"has ended|dlpack|device|implicit conversion"):
                use()


def test_pending_work_is_computed(ctx, buffer, device):
    with buffer.map(device) as x:
        y = x
        for _ in range(20):
            y = y + 1
        x[...] = y
    assert_array_equal(drawn(ctx, buffer), 2 * (np.arange(8) + 20))


def test_an_exception_ends_the_block_too(ctx, buffer, device):
    arrays = []

    def fail():
        with buffer.map(device) as x:
            arrays.append(x)
            x += 1
            raise KeyError("mine")

    with pytest.raises(KeyError):
        fail()
    with pytest.raises(ValueError, match="has ended"):
        arrays[0].wait()
    assert_array_equal(drawn(ctx, buffer), 2 * (np.arange(8) + 1))


def test_failures_of_kernels_are_raised_at_the_end(ctx, buffer):
    @pp.kernel
    def wrong(item: pp.Item, x, n):
        assert item.get_id(0) != n, "it is wrong"
        x[item.get_id(0)] = 0

    with pytest.raises(AssertionError, match="wrong"), buffer.map("cpu") as x:
        wrong[pp.Range(8)](x, 4)
    with buffer.map("cpu", access="read") as x:
        assert float(x[0]) == 0


def test_generators(ctx, buffer, device):
    def rows():
        with buffer.map(device) as x:
            x += 1
            yield x
            yield x

    for steps in (1, 2):
        running = rows()
        for _ in range(steps):
            x = next(running)
        with pytest.raises(RuntimeError, match="mapped already"), buffer.map(device):
            pass
        running.close()
        with pytest.raises(ValueError, match="has ended"):
            x.wait()
    assert_array_equal(drawn(ctx, buffer), 2 * (np.arange(8) + 2))


# --- bad input ------------------------------------------------------------------------------------------------------------------------


def test_two_maps_at_once(ctx, buffer, device):
    with buffer.map(device) as x:
        with pytest.raises(RuntimeError, match="mapped already"), buffer.map(device):
            pass
        with pytest.raises(RuntimeError, match="mapped already"), pp.gl.Buffer(buffer.glo).map("cpu"):
            pass
        x += 1
    block = buffer.map(device)
    with block as x, pytest.raises(RuntimeError, match="begun already"):
        block.__enter__()
    with pytest.raises(RuntimeError, match="has not begun"):
        block.__exit__(None, None, None)


def test_drawn_from_while_mapped(ctx, device):
    """OpenGL may refuse to draw from what is mapped for a while, and Mesa draws; from what stays mapped each draws."""
    kept = ctx.buffer(np.arange(4, dtype="f4").tobytes())
    described = pp.gl.Buffer(kept)
    with described.map(device) as x:
        drawn(ctx, described)
        assert ctx.error in ("GL_NO_ERROR", "GL_INVALID_OPERATION")
        x += 1
    assert_array_equal(drawn(ctx, described), 2 * np.arange(1, 5))
    own = pp.gl.empty(4)
    with own.map(device, access="write") as x:
        x[...] = 1
    with own.map(device):
        assert_array_equal(drawn(ctx, own), 2 * np.ones(4))
    own.release(), kept.release()


def test_mapped_by_other_code(ctx):
    from pardo._gl import buffers
    from pardo._gl import functions as gl

    kept = ctx.buffer(reserve=16)
    described, context = pp.gl.Buffer(kept), gl.current("test")
    with buffers.bound(context, kept.glo) as target:
        assert context.glMapBufferRange(target, 0, 16, gl.MAP_READ)
    with pytest.raises(RuntimeError, match="by other code"), described.map("cpu"):
        pass
    with buffers.bound(context, kept.glo) as target:
        assert context.glUnmapBuffer(target)
    with described.map("cpu") as x:
        x[...] = 1
    kept.release()


def test_storage_that_may_not_be_read(ctx):
    import ctypes

    from pardo._gl import buffers
    from pardo._gl import functions as gl

    context, name = gl.current("test"), ctypes.c_uint(0)
    context.glGenBuffers(1, ctypes.byref(name))
    with buffers.bound(context, name.value) as target:
        context.glBufferStorage(target, 16, None, gl.MAP_WRITE)
    described = pp.gl.Buffer(name.value)
    with pytest.raises(RuntimeError, match="without MAP_READ"), described.map("cpu"):
        pass
    with described.map("cpu", access="write") as x:
        x[...] = 3
    assert_array_equal(drawn(ctx, described), [6, 6, 6, 6])
    described.release()


def test_deleted_buffers(ctx, device):
    kept = ctx.buffer(reserve=64)
    described = pp.gl.Buffer(kept)
    kept.release()
    for use in (lambda: described.map(device).__enter__(), lambda: described.explain(device)):
        with pytest.raises(ValueError, match=r"OpenGL has no buffer"):
            use()
    own = pp.gl.empty(4)
    own.release()
    own.release()
    with pytest.raises(ValueError, match="was deleted"), own.map(device):
        pass
    with pytest.raises(ValueError, match="OpenGL has no buffer 123456"):
        pp.gl.Buffer(123456)


def test_deleted_while_mapped(ctx):
    kept = ctx.buffer(reserve=64)
    block = pp.gl.Buffer(kept).map("cpu")
    block.__enter__()
    kept.release()
    with pytest.raises(RuntimeError, match="was deleted while it was mapped"):
        block.__exit__(None, None, None)
    own = pp.gl.empty(4)
    with own.map("cpu"), pytest.raises(RuntimeError, match="is mapped"):
        own.release()
    own.release()


def test_buffers_that_have_shrunk(ctx, device):
    kept = ctx.buffer(reserve=64)
    described = pp.gl.Buffer(kept)
    kept.orphan(32)
    with pytest.raises(ValueError, match="has 32 bytes"), described.map(device):
        pass
    kept.release()


def test_wrong_arguments(ctx):
    kept = ctx.buffer(reserve=30)
    with pytest.raises(ValueError, match="say the shape"):
        pp.gl.Buffer(kept)
    with pytest.raises(ValueError, match=r"has 30 bytes; an array of shape \(8,\) and float32"):
        pp.gl.Buffer(kept, "f4", 8)
    with pytest.raises(ValueError, match="offset is 2"):
        pp.gl.Buffer(kept, "f4", 3, offset=2)
    with pytest.raises(ValueError, match="offset is -4"):
        pp.gl.Buffer(kept, "f4", 3, offset=-4)
    with pytest.raises(TypeError, match=r"gl\.Buffer"):
        pp.gl.Buffer(kept, object)
    for wrong in ("buffer", None, 1.5, True):
        with pytest.raises(TypeError, match="expected a buffer"):
            pp.gl.Buffer(wrong)
    for wrong in (0, -1, 2**32):
        with pytest.raises(ValueError, match="has no buffer"):
            pp.gl.Buffer(wrong)
    described = pp.gl.Buffer(kept, "u1")
    with pytest.raises(ValueError, match="access"):
        described.map("cpu", access="rw")
    with pytest.raises(TypeError, match="device"):
        described.map(3)
    with pytest.raises(ValueError, match="negative"):
        pp.gl.empty(-1)
    with pytest.raises(MemoryError):
        pp.gl.empty(1 << 62)
    kept.release()


def test_other_threads(ctx, buffer, device):
    errors = []

    def use():
        for f in (lambda: buffer.map(device).__enter__(), lambda: pp.gl.Buffer(buffer.glo), lambda: pp.gl.empty(3)):
            try:
                f()
            except RuntimeError as error:
                errors.append(str(error))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert len(errors) == 3
    assert all("no OpenGL context is current in this thread" in e for e in errors)
    with buffer.map(device) as x:
        x += 1


def test_work_of_other_threads_in_the_block(ctx, buffer, device):
    with buffer.map(device) as x:

        def add():
            x[...] = x + 1

        threads = [threading.Thread(target=add) for _ in range(2)]
        for t in threads:
            t.start()
            t.join()
    assert_array_equal(drawn(ctx, buffer), 2 * (np.arange(8) + 2))


def test_another_context(ctx, buffer, device):
    other = moderngl.create_context(standalone=True, backend="egl")
    with other, pytest.raises(RuntimeError, match="another OpenGL context"), buffer.map(device):
        pass
    other.release()
    ctx.__enter__()
    with buffer.map(device) as x:
        x += 1


def test_a_new_context_at_the_address_of_an_old_one(monkeypatch, ctx, device):
    from pardo._gl import functions as gl

    mine = moderngl.create_context(standalone=True, backend="egl")
    mine.__enter__()
    buffer, texture, old = pp.gl.empty(4), pp.gl.Image(mine.texture((4, 4), 1)), gl.current("test")
    ctx.__enter__()
    mine.release()
    other = moderngl.create_context(standalone=True, backend="egl")
    new = gl.current("test")
    place = next(key for key, known in gl._known.items() if known is new)
    monkeypatch.setitem(gl._known, place, old)  # as if it were at the same address
    for described in (buffer, texture):
        with pytest.raises(RuntimeError, match="another OpenGL context"), described.map(device):
            pass
    pp.gl.empty(4).release()
    ctx.__enter__()
    other.release()


def test_forked_processes(ctx, buffer):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with buffer.map("cpu"):
                pass
        except RuntimeError as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert b"forked" in os.read(reader, 1000)
    texture = ctx.texture((4, 4), 4)
    described = pp.gl.Image(texture)
    child = os.fork()
    if child == 0:
        try:
            described.map("cpu").__enter__()
        except RuntimeError as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert b"forked" in os.read(reader, 1000)
    os.close(reader), os.close(writer)
    texture.release()


def test_the_buffer_outlives_its_handle(ctx, device):
    block = pp.gl.empty(4).map(device, access="write")
    with block as x:
        gc.collect()
        x[...] = 7
        assert_array_equal(pp.asnumpy(x), [7, 7, 7, 7])


# --- textures -------------------------------------------------------------------------------------------------------------------------

FORMATS = [(c, t) for t in ("f1", "f2", "f4", "i1", "i2", "i4", "u1", "u2", "u4", "nu2") for c in (1, 2, 4)]


@pytest.mark.parametrize(("channels", "kind"), FORMATS, ids=lambda v: str(v))
def test_texels_go_both_ways(ctx, channels, kind):
    dtype = {"f1": "u1", "nu2": "u2"}.get(kind, kind)
    values = np.arange(5 * 3 * channels).reshape(3, 5, channels).astype(dtype)
    texture = ctx.texture((5, 3), channels, values.tobytes(), alignment=1, dtype=kind)
    described = pp.gl.Image(texture)
    assert (described.shape, described.channels, described.dtype, described.kind) == ((3, 5), channels, np.dtype(dtype), "2d")
    assert described.normalized is (kind in ("f1", "nu2"))
    with described.map("cpu") as image:
        assert isinstance(image, pp.Image)
        assert_array_equal(image.to_numpy(), values if channels > 1 else values[..., 0])
        image[1] = 7
    values[1] = 7
    assert_array_equal(np.frombuffer(texture.read(alignment=1), dtype).reshape(values.shape), values)
    texture.release()


def test_kernels_write_textures(ctx, device):
    @pp.kernel
    def shade(item: pp.Item, image):
        i, j = item.get_id(0), item.get_id(1)
        image.write((j, i), (i / 4.0, j / 8.0, 0.0, 1.0))

    texture = ctx.texture((8, 4), 4, dtype="f4")
    with pp.gl.Image(texture).map(device, access="write") as image:
        shade[pp.Range(4, 8)](image)
    got = np.frombuffer(texture.read(), "f4").reshape(4, 8, 4)
    assert_array_equal(got[..., 0], np.broadcast_to(np.arange(4)[:, None] / 4, (4, 8)))
    assert_array_equal(got[..., 1], np.broadcast_to(np.arange(8) / 8, (4, 8)))
    with pytest.raises(ValueError, match="has ended"):
        image.to_numpy()
    with pp.gl.Image(texture).map(device, access="read") as image:
        image[...] = 0
    assert np.frombuffer(texture.read(), "f4").any()
    texture.release()


def test_textures_of_other_kinds(ctx, device):
    for made, kind, shape in (
        (ctx.texture3d((4, 3, 2), 1, dtype="f4"), "3d", (2, 3, 4)),
        (ctx.texture_array((4, 3, 2), 1, dtype="f4"), "2d_array", (2, 3, 4)),
    ):
        described = pp.gl.Image(made)
        assert (described.kind, described.shape) == (kind, shape)
        with described.map(device) as image:
            assert (image.layers is not None) is (kind == "2d_array")
            image[...] = np.arange(24, dtype="f4").reshape(shape)
        assert_array_equal(np.frombuffer(made.read(), "f4"), np.arange(24))
        with pytest.raises(ValueError, match="not of the kind '2d'"):
            pp.gl.Image(made, "2d")
        made.release()
    assert ctx.error == "GL_NO_ERROR"


def test_textures_and_contexts(ctx, device):
    texture = ctx.texture((4, 4), 4)
    described, errors = pp.gl.Image(texture), []

    def use():
        for f in (lambda: described.map(device).__enter__(), lambda: pp.gl.Image(texture), lambda: described.explain(device)):
            try:
                f()
            except RuntimeError as error:
                errors.append(str(error))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert len(errors) == 3
    assert all("no OpenGL context is current in this thread" in e for e in errors)
    other = moderngl.create_context(standalone=True, backend="egl")
    with other, pytest.raises(RuntimeError, match="another OpenGL context is current than that of the texture"), described.map(device):
        pass
    other.release()
    ctx.__enter__()
    block = described.map(device)
    image = block.__enter__()
    texture.release()
    with pytest.raises(ValueError, match="has no texture"):
        block.__exit__(None, None, None)
    with pytest.raises(ValueError, match="has ended"):
        image.to_numpy()


def test_textures_of_another_size(ctx, device):
    texture = ctx.texture((4, 4), 4)
    described = pp.gl.Image(texture)
    texture.release()
    again = ctx.texture((8, 4), 4)  # Mesa gives it the same number
    if again.glo == texture.glo:
        with pytest.raises(ValueError, match="another size or format"), described.map(device):
            pass
    again.release()


def test_levels(ctx):
    texture = ctx.texture((8, 4), 1, dtype="f4")
    texture.build_mipmaps()
    with pp.gl.Image(texture, level=1).map("cpu") as image:
        assert image.shape == (2, 4)
        image[...] = 3
    assert_array_equal(np.frombuffer(texture.read_level(1) if hasattr(texture, "read_level") else texture.read(1), "f4"), [3] * 8)
    for level in (-1, 7, 100):
        with pytest.raises(ValueError, match="level"):
            pp.gl.Image(texture, level=level)
    texture.release()


def test_wrong_textures(ctx, device):
    for made in (ctx.texture((4, 4), 3), ctx.depth_texture((4, 4))):
        with pytest.raises(ValueError, match="internal format"):
            pp.gl.Image(made)
        made.release()
    with pytest.raises(ValueError, match="target"):
        pp.gl.Image(ctx.texture_cube((4, 4), 4))
    with pytest.raises(ValueError, match="has no texture"):
        pp.gl.Image(54321)
    with pytest.raises(TypeError, match="expected a texture"):
        pp.gl.Image("texture")
    texture = ctx.texture((4, 4), 4)
    described = pp.gl.Image(texture)
    with described.map(device), pytest.raises(RuntimeError, match="mapped already"), described.map(device):
        pass
    texture.release()
    with pytest.raises(ValueError, match="has no texture"), described.map(device):
        pass


def test_state_of_pixels_stays(ctx):
    from pardo._gl import functions as gl

    texture, context = ctx.texture((5, 3), 1, dtype="f1"), gl.current("test")
    context.glPixelStorei(0x0CF5, 8)
    context.glPixelStorei(0x0D02, 9)
    pixels = ctx.buffer(reserve=64)
    context.glBindBuffer(gl.PIXEL_UNPACK_BUFFER, pixels.glo)
    try:
        with pp.gl.Image(texture).map("cpu") as image:
            image[...] = np.arange(15, dtype="u1").reshape(3, 5)
        assert [context.integer(w) for w in (0x0CF5, 0x0D02, gl.PIXEL_UNPACK_BUFFER_BINDING)] == [8, 9, pixels.glo]
    finally:
        context.glBindBuffer(gl.PIXEL_UNPACK_BUFFER, 0)
        context.glPixelStorei(0x0CF5, 4)
        context.glPixelStorei(0x0D02, 0)
    assert texture.read(alignment=1) == bytes(range(15))
    texture.release(), pixels.release()


def test_texels_are_counted_and_guarded(ctx, device):
    texture = ctx.texture((4, 4), 4)
    described = pp.gl.Image(texture)
    before = pp.counters()["copied_bytes"]
    with described.map(device):
        pass
    assert pp.counters()["copied_bytes"] - before >= 128
    assert "copy of the texels" in described.explain(device)
    if not device._takes_host_memory:
        with (
            pp.transfer_guard("disallow"),
            pytest.raises(pp.ExecutionPlacementError, match=r"gl\.Image\.map: would copy"),
            described.map(device),
        ):
            pass
    texture.release()


# --- renderbuffers ---------------------------------------------------------------------------------------------------------------------

DRAWN = [f for f in FORMATS if f[1] != "nu2"]  # moderngl makes no renderbuffers of the other


@pytest.mark.parametrize(("channels", "kind"), DRAWN, ids=lambda v: str(v))
def test_renderbuffers_go_both_ways(ctx, channels, kind):
    dtype = {"f1": "u1"}.get(kind, kind)
    drawn_to = ctx.renderbuffer((5, 3), channels, dtype=kind)
    described = pp.gl.Image(drawn_to)
    assert (described.shape, described.channels, described.dtype, described.kind) == ((3, 5), channels, np.dtype(dtype), "renderbuffer")
    values = np.arange(15 * channels).reshape((3, 5, channels) if channels > 1 else (3, 5)).astype(dtype)
    with described.map("cpu", access="write") as image:
        image[...] = values
    with pp.gl.Image(drawn_to.glo, "renderbuffer").map("cpu") as image:
        assert_array_equal(image.to_numpy(), values)
        image[1] = 7
    values[1] = 7
    frame = ctx.framebuffer([drawn_to])
    got = np.frombuffer(frame.read(components=channels, alignment=1, dtype=kind), dtype)
    assert_array_equal(got.reshape(values.shape), values)
    assert ctx.error == "GL_NO_ERROR"
    frame.release(), drawn_to.release()


def test_what_was_drawn_is_an_image(ctx, device):
    drawn_to = ctx.renderbuffer((8, 4), 4, dtype="f4")
    frame = ctx.framebuffer([drawn_to])
    frame.clear(0.25, 0.5, 0.75, 1.0)
    described = pp.gl.Image(drawn_to)
    assert "copy of the texels, by glReadPixels" in described.explain(device)
    with described.map(device) as image:
        assert_array_equal(image.to_numpy(), np.broadcast_to(np.float32([0.25, 0.5, 0.75, 1]), (4, 8, 4)))
        image[...] = 3
    assert set(np.frombuffer(frame.read(components=4, dtype="f4"), "f4")) == {3}
    with described.map(device, access="read") as image:
        image[...] = 0
    assert set(np.frombuffer(frame.read(components=4, dtype="f4"), "f4")) == {3}
    frame.release(), drawn_to.release()


def test_state_of_framebuffers_stays(ctx, device):
    from pardo._gl import functions as gl

    context, drawn_to = gl.current("test"), ctx.renderbuffer((8, 4), 4)
    frame, texture = ctx.framebuffer([ctx.renderbuffer((8, 4), 4)]), ctx.texture((4, 4), 4)
    frame.use()
    frame.scissor = (1, 1, 2, 2)
    texture.use()
    bindings = [gl.READ_FRAMEBUFFER_BINDING, gl.DRAW_FRAMEBUFFER_BINDING, gl.RENDERBUFFER_BINDING, 0x8069]
    before = [context.integer(w) for w in bindings]
    while ctx.error != "GL_NO_ERROR":  # of other tests
        pass
    with pp.gl.Image(drawn_to).map(device) as image:
        image[...] = 9
    assert [context.integer(w) for w in bindings] == before
    assert context.glIsEnabled(gl.SCISSOR_TEST)
    assert ctx.error == "GL_NO_ERROR"
    frame.scissor = None
    with pp.gl.Image(drawn_to).map(device, access="read") as image:
        assert set(image.to_numpy().ravel()) == {9}
    frame.release(), drawn_to.release(), texture.release()


def test_wrong_renderbuffers(ctx, device):
    several = ctx.renderbuffer((4, 4), 4, samples=4)
    with pytest.raises(ValueError, match="4 samples a pixel"):
        pp.gl.Image(several)
    depth = ctx.depth_renderbuffer((4, 4))
    with pytest.raises(ValueError, match="renderbuffer's internal format"):
        pp.gl.Image(depth)
    with pytest.raises(ValueError, match="has no renderbuffer"):
        pp.gl.Image(54321, "renderbuffer")
    with pytest.raises(TypeError, match="expected a renderbuffer"):
        pp.gl.Image("x", "renderbuffer")
    with pytest.raises(ValueError, match="kind"):
        pp.gl.Image(1, "cube")
    drawn_to = ctx.renderbuffer((4, 4), 4)
    with pytest.raises(ValueError, match="level is 1"):
        pp.gl.Image(drawn_to, level=1)
    described, errors = pp.gl.Image(drawn_to), []
    with described.map(device), pytest.raises(RuntimeError, match=r"renderbuffer \d+ is mapped already"), described.map(device):
        pass

    def use():
        try:
            described.map(device).__enter__()
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert "no OpenGL context is current" in errors[0]
    drawn_to.release(), several.release(), depth.release()
    with pytest.raises(ValueError, match="has no renderbuffer"), described.map(device):
        pass


# --- memory of GPUs: where there is none, by a driver that has no GPU ------------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[2]
FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(ROOT.glob("build/*/libcuda_fake.so"))), "")
GPUS = [d for d in pp.get_devices() if d.backend == "cuda"]
# Which of the fake driver's devices has the memory, and which devices are there.
WAYS = {"shared": ("0", "cpu,cuda"), "elsewhere": ("1", "cpu,cuda"), "copied": ("-1", "cpu,cuda"), "hidden": ("1", "cpu,cuda:0")}


@pytest.mark.skipif(not GPUS and not FAKE, reason="the fake driver is not built (target cuda_fake)")
@pytest.mark.parametrize("way", ["as it is"] if GPUS else WAYS)
def test_memory_of_gpus(way):
    variables = dict(os.environ)
    if not GPUS:
        owner, devices = WAYS[way]
        variables |= {"PARDO_TEST_GL_WAY": way, "PARDO_CUDA_DRIVER": FAKE, "FAKE_CUDA_DEVICES": "2", "FAKE_CUDA_GL_DEVICE": owner}
        variables |= {"PARDO_DEVICES": devices}
    tests = Path(__file__).with_name("gl_on_gpus.py")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", str(tests)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
