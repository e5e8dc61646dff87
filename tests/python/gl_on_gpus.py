# tests/python/gl_on_gpus.py: buffers and textures of OpenGL in the memory of a GPU: where there is none, by the fake driver, which runs no
# kernels. test_gl.py runs it in processes of its own.
from __future__ import annotations

import ctypes
import gc
import os
import threading

import numpy as np
import pardo as pp
import pytest
from numpy.testing import assert_array_equal
from pardo._gl import functions as gl
from pardo._gl.sharing import sharing

moderngl = pytest.importorskip("moderngl", reason="moderngl makes the OpenGL contexts of these tests")

FAKE = ctypes.CDLL(os.environ["PARDO_CUDA_DRIVER"]) if "PARDO_CUDA_DRIVER" in os.environ else None


def asked():
    """Which way the memory takes to which device: shared, elsewhere: another GPU has it, hidden: one that is not
    visible has, or copied: none has."""
    if FAKE:
        return os.environ.get("PARDO_TEST_GL_WAY", "shared"), pp.Device("cuda:0")
    context = moderngl.create_context(standalone=True, backend="egl")
    devices = sharing(gl.current("test"), pp.Device("cuda:0"))
    context.release()
    return ("shared", devices[0]) if devices else ("copied", pp.Device("cuda:0"))


WAY, DEVICE = asked()
needs_fake = pytest.mark.skipif(FAKE is None, reason="a driver that fails when it is told to")
when_shared = pytest.mark.skipif(WAY != "shared", reason="the memory is not the GPU's")


@pytest.fixture(scope="module")
def ctx():
    context = moderngl.create_context(standalone=True, backend="egl")
    yield context
    context.release()


@pytest.fixture(autouse=True)
def _errors_of_others(ctx):
    while ctx.error != "GL_NO_ERROR":
        pass


def no_errors(ctx):
    return ctx.error == "GL_NO_ERROR"


@pytest.fixture
def device():
    return DEVICE


@pytest.fixture(params=["own", "of the GPU", "moderngl"])
def buffer(request, ctx):
    """Eight float32."""
    if request.param == "moderngl":
        kept = ctx.buffer(np.arange(8, dtype="f4").tobytes())
        yield pp.gl.Buffer(kept)
        kept.release()
        return
    made = pp.gl.empty(8, device="cpu" if request.param == "own" else DEVICE)
    with made.map("cpu", access="write") as x:
        x[...] = np.arange(8)
    yield made
    made.release()


def calls(function):
    return FAKE.fake_cuda_calls(function.encode())


def live(kind="graphics resource"):
    gc.collect()
    return FAKE.fake_cuda_live(kind.encode())


def put(x, values):
    """Writes without a kernel."""
    x.queue.copy(x, pp.asarray(np.asarray(values, x.dtype), queue=x.queue))


def content(buffer):
    with buffer.map("cpu", access="read") as x:
        return pp.asnumpy(x).copy()


# --- buffers --------------------------------------------------------------------------------------------------------------------------


@when_shared
def test_values_go_both_ways_without_a_copy(buffer, device):
    assert "in place" in buffer.explain(device)
    assert "no copy" in buffer.explain(device)
    for step in range(3):
        values = pp.asarray(np.arange(8, dtype="f4") * (step + 2), device=device)
        values.wait()
        before = pp.counters()
        with pp.transfer_guard("disallow"), buffer.map(device) as x:
            assert x.device == device
        after = pp.counters()
        assert (after["copies"], after["copied_bytes"]) == (before["copies"], before["copied_bytes"])
        with buffer.map(device) as x:
            x.queue.copy(x, values)
        with buffer.map(device, access="read") as x:
            assert not x.flags.writeable
            assert_array_equal(pp.asnumpy(x), np.arange(8) * (step + 2))
        assert_array_equal(content(buffer), np.arange(8) * (step + 2))


@when_shared
def test_devices_take_turns(ctx, buffer, device):
    for step in range(4):
        with buffer.map(device) as x:
            assert_array_equal(pp.asnumpy(x), np.arange(8) + 10 * step)
        with buffer.map("cpu") as x:
            x += 10
    assert no_errors(ctx)


@when_shared
def test_older_versions_of_opengl(monkeypatch, ctx, buffer, device):
    monkeypatch.setattr(gl.current("test"), "version", (3, 3))
    for where in (device, "cpu"):
        with buffer.map(where) as x:
            assert_array_equal(pp.asnumpy(x), np.arange(8))
    drawn_to = ctx.renderbuffer((4, 2), 1, dtype="f4")
    described = pp.gl.Image(drawn_to)
    for where in (device, "cpu"):
        with described.map(where, access="write") as image:
            put_texels(image, np.arange(8, dtype="f4"))
        with described.map(where) as image:
            assert_array_equal(take_texels(image).ravel(), np.arange(8))
    assert no_errors(ctx)
    drawn_to.release()


@when_shared
def test_parts_and_offsets(ctx, device):
    kept = ctx.buffer(np.arange(20, dtype="i4").tobytes())
    with pp.gl.Buffer(kept, "i4", (4, 4), offset=16).map(device, part=slice(1, 3)) as x:
        assert_array_equal(pp.asnumpy(x), np.arange(8, 16).reshape(2, 4))
        put(x, np.full((2, 4), -1))
    expected = np.arange(20)
    expected[8:16] = -1
    assert_array_equal(np.frombuffer(kept.read(), "i4"), expected)
    kept.release()


@when_shared
def test_vertices_are_records(ctx, device):
    vertex = np.dtype([("at", np.float32, (3,)), ("colour", np.uint8, (4,))])
    vertices = np.zeros(5, vertex)
    vertices["at"] = np.arange(15).reshape(5, 3)
    kept = ctx.buffer(vertices.tobytes())
    with pp.gl.Buffer(kept, vertex).map(device) as v:
        assert v.dtype == vertex
        assert v.shape == (5,)
        assert_array_equal(pp.asnumpy(v), vertices)
    with pytest.raises(ValueError, match="has ended"):
        v["at"].wait()
    kept.release()


@when_shared
def test_nothing_at_all(device, ctx):
    none = pp.gl.empty((0, 3), device=device)
    with none.map(device) as x:
        assert x.shape == (0, 3)
    none.release()


@when_shared
@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
def test_order_without_waiting_for_all(ctx, device, order):
    """Work of the block on any queue comes before OpenGL's next command, and after the one before."""
    n = 1 << 22
    queue, other = pp.Queue(device, order=order), pp.Queue(device)
    kept, source = ctx.buffer(reserve=4 * n), ctx.buffer(np.full(n, 5, "f4").tobytes())
    described = pp.gl.Buffer(kept)
    results = pp.zeros(n, dtype="f4", queue=other)
    results.wait()
    values = [pp.asarray(np.full(n, i, "f4"), queue=queue) for i in range(6)]
    for step in range(3):
        ctx.copy_buffer(kept, source)
        with described.map(queue) as x:
            other.copy(results, x)
            for v in values:
                queue.copy(x, v)
        assert_array_equal(np.unique(np.frombuffer(kept.read(), "f4")), [5])
        assert_array_equal(np.unique(pp.asnumpy(results)), [5])
        assert step < 3
    assert "glFinish" not in vars(gl.current("test"))
    del described
    kept.release(), source.release()


@when_shared
def test_a_queue_that_waits_for_the_host(buffer, device):
    queue, begin = pp.Queue(device), threading.Event()
    queue.host_task(begin.wait)
    block = buffer.map(queue)
    x = block.__enter__()
    put(x, np.full(8, 3))
    threading.Timer(0.05, begin.set).start()
    block.__exit__(None, None, None)
    assert_array_equal(content(buffer), np.full(8, 3))


@when_shared
def test_arrays_end_with_the_block(buffer, device):
    with buffer.map(device) as x:
        view = x[2:]
    for use in (lambda: x.wait(), lambda: pp.asnumpy(view), lambda: x.copy().wait(), lambda: (x + 1).wait(), lambda: put(x, np.ones(8))):
        with pytest.raises(ValueError, match="has ended"):
            use()

    def fail():
        with buffer.map(device) as x:
            put(x, np.full(8, 2))
            raise KeyError("mine")

    with pytest.raises(KeyError):
        fail()
    assert_array_equal(content(buffer), np.full(8, 2))


@when_shared
def test_state_stays(ctx, buffer, device):
    context, other = gl.current("test"), ctx.buffer(b"12345678")
    for target in (0x8F36, 0x8F37, 0x8892):
        context.glBindBuffer(target, other.glo)
    with buffer.map(device):
        pass
    assert [context.integer(w) for w in (0x8F36, 0x8F37, 0x8894)] == [other.glo] * 3
    assert no_errors(ctx)
    other.release()


# --- registrations --------------------------------------------------------------------------------------------------------------------


@needs_fake
@when_shared
def test_a_buffer_is_registered_once(ctx, device):
    assert live() == 0
    before = calls("cuGraphicsGLRegisterBuffer")
    kept = ctx.buffer(reserve=32)
    one, other = pp.gl.Buffer(kept), pp.gl.Buffer(kept, "i4")
    for described in (one, other, one):
        with described.map(device):
            pass
    assert calls("cuGraphicsGLRegisterBuffer") == before + 1
    del one
    assert live() == 1
    del other, described
    assert live() == 0
    own = pp.gl.empty(4)
    with own.map(device):
        pass
    assert live() == 1
    own.release()
    assert live() == 0
    kept.release()


@needs_fake
@when_shared
def test_a_registration_ends_in_the_thread_of_the_context(ctx, device):
    kept = ctx.buffer(reserve=32)
    box = [pp.gl.Buffer(kept)]
    with box[0].map(device):
        pass
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    assert live() == 1
    pp.gl.Buffer(kept)
    assert live() == 0
    kept.release()


@needs_fake
@when_shared
def test_a_context_that_goes_first(ctx, device):
    mine = moderngl.create_context(standalone=True, backend="egl")
    mine.__enter__()
    described = pp.gl.empty(4, device=device)
    with described.map(device) as x:
        put(x, np.ones(4))
    block = described.map(device)
    block.__enter__()
    ctx.__enter__()
    mine.release()
    with pytest.raises(RuntimeError, match="another OpenGL context"):
        block.__exit__(None, None, None)
    del block, x, described
    gc.collect()
    kept = ctx.buffer(reserve=16)
    with pp.gl.Buffer(kept).map(device) as x:
        put(x, np.ones(4))
    assert_array_equal(np.frombuffer(kept.read(), "f4"), np.ones(4))
    kept.release()


# --- bad input ------------------------------------------------------------------------------------------------------------------------


@when_shared
def test_two_maps_at_once(buffer, device):
    with buffer.map(device):
        for where in (device, "cpu"):
            with pytest.raises(RuntimeError, match="mapped already"), pp.gl.Buffer(buffer.glo).map(where):
                pass
    block = buffer.map(device)
    with block, pytest.raises(RuntimeError, match="begun already"):
        block.__enter__()
    with pytest.raises(RuntimeError, match="has not begun"):
        block.__exit__(None, None, None)


@when_shared
def test_mapped_by_other_code(ctx, device):
    from pardo._gl import buffers

    kept = ctx.buffer(reserve=16)
    described, context = pp.gl.Buffer(kept), gl.current("test")
    with buffers.bound(context, kept.glo) as target:
        assert context.glMapBufferRange(target, 0, 16, gl.MAP_READ)
    with pytest.raises(RuntimeError, match="by other code"), described.map(device):
        pass
    with buffers.bound(context, kept.glo) as target:
        assert context.glUnmapBuffer(target)
    with described.map(device) as x:
        put(x, np.ones(4))
    kept.release()


@when_shared
def test_other_threads(ctx, buffer, device):
    errors = []

    def use(f):
        try:
            f()
        except RuntimeError as error:
            errors.append(str(error))

    def in_a_thread(f):
        thread = threading.Thread(target=use, args=(f,))
        thread.start()
        thread.join()

    in_a_thread(lambda: buffer.map(device).__enter__())
    kept = ctx.buffer(reserve=32)  # stays mapped
    block = pp.gl.Buffer(kept).map(device)
    x = block.__enter__()
    in_a_thread(lambda: block.__exit__(None, None, None))
    assert len(errors) == 2
    assert all("no OpenGL context is current in this thread" in e for e in errors)
    with pytest.raises(ValueError, match="has ended"):
        x.wait()


@when_shared
def test_deleted_buffers(ctx, device):
    before = live() if FAKE else 0
    kept = ctx.buffer(reserve=64)
    described = pp.gl.Buffer(kept)
    with described.map(device):
        pass
    kept.release()
    with pytest.raises(ValueError, match="OpenGL has no buffer"), described.map(device):
        pass
    kept = ctx.buffer(reserve=64)
    described = pp.gl.Buffer(kept)
    block = described.map(device)
    x = block.__enter__()
    kept.release()
    with pytest.raises(RuntimeError, match="was deleted while it was mapped"):
        block.__exit__(None, None, None)
    with pytest.raises(ValueError, match="has ended"):
        x.wait()
    own = pp.gl.empty(4, device=device)
    with own.map(device), pytest.raises(RuntimeError, match="is mapped"):
        own.release()
    own.release()
    if FAKE:
        assert live() == before


@when_shared
def test_buffers_that_have_shrunk(ctx, device):
    kept = ctx.buffer(reserve=64)
    described = pp.gl.Buffer(kept)
    kept.orphan(32)
    with pytest.raises(ValueError, match="has 32 bytes"), described.map(device):
        pass
    kept.release()


@needs_fake
@when_shared
def test_what_the_driver_refuses(monkeypatch, ctx, buffer, device):
    if not buffer._registrations:
        FAKE.fake_cuda_fail_next(b"cuGraphicsGLRegisterBuffer", 219, 0)
        for now in ("0", "-1"):  # with -1 it is the driver's CUDA_ERROR_UNKNOWN, which is no reason to take its context for lost
            monkeypatch.setenv("FAKE_CUDA_GL_DEVICE", now)
            with pytest.raises(pp.DeviceError, match=r"gl\.Buffer\.map: cuGraphicsGLRegisterBuffer failed"):
                buffer.map(device).__enter__()
        monkeypatch.undo()
    for function in ("cuGraphicsMapResources", "cuGraphicsResourceGetMappedPointer", "cuStreamWaitEvent"):
        FAKE.fake_cuda_fail_next(function.encode(), 400, 0)
        with pytest.raises(pp.DeviceError, match=f"gl.Buffer.map: .*{function} failed"), buffer.map(device):
            pass
    monkeypatch.setenv("FAKE_CUDA_GL_DEVICE", "-1")
    with pytest.raises(pp.DeviceError, match=r"gl\.Buffer\.map: cuGraphicsMapResources failed: CUDA_ERROR_UNKNOWN"), buffer.map(device):
        pass
    monkeypatch.undo()
    block = buffer.map(device)
    x = block.__enter__()
    FAKE.fake_cuda_fail_next(b"cuGraphicsUnmapResources", 400, 0)
    with pytest.raises(pp.DeviceError, match=r"gl\.Buffer\.map: cuGraphicsUnmapResources failed"):
        block.__exit__(None, None, None)
    with pytest.raises(ValueError, match="has ended"):
        x.wait()


@when_shared
def test_forked_processes(ctx, buffer, device):
    with buffer.map(device):
        pass
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with buffer.map(device):
                pass
        except RuntimeError as error:
            os.write(writer, str(error).encode())
        buffer._registrations.clear()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert b"forked" in os.read(reader, 1000)
    os.close(reader), os.close(writer)
    with buffer.map(device):
        pass


# --- textures and renderbuffers -------------------------------------------------------------------------------------------------------

FORMATS = [(c, t) for t in ("f1", "f2", "f4", "i1", "i2", "i4", "u1", "u2", "u4", "nu2") for c in (1, 2, 4)]


def put_texels(image, values):
    """Writes without a kernel."""
    texels = image._texels(True)
    image.queue.copy(texels, pp.asarray(values.reshape(texels.shape), queue=image.queue))


def take_texels(image):
    return pp.asnumpy(image._texels(False)).reshape((*image.shape, image.channels) if image.channels > 1 else image.shape)


@when_shared
@pytest.mark.parametrize(("channels", "kind"), FORMATS, ids=lambda v: str(v))
def test_texels_go_both_ways(ctx, device, channels, kind):
    dtype = {"f1": "u1", "nu2": "u2"}.get(kind, kind)
    shape = (3, 5, channels) if channels > 1 else (3, 5)
    values = np.arange(15 * channels).reshape(shape).astype(dtype)
    texture = ctx.texture((5, 3), channels, values.tobytes(), alignment=1, dtype=kind)
    described = pp.gl.Image(texture)
    assert "nothing comes to the host" in described.explain(device)
    before = pp.counters()
    with pp.transfer_guard("disallow"), described.map(device):
        pass
    after = pp.counters()
    assert (after["copies"], after["copied_bytes"]) == (before["copies"], before["copied_bytes"])
    with described.map(device) as image:
        assert isinstance(image, pp.Image)
        assert image.device == device
        assert_array_equal(take_texels(image), values)
        put_texels(image, values[::-1].copy())
    with pytest.raises(ValueError, match="has ended"):
        image._texels(True).wait()
    assert_array_equal(np.frombuffer(texture.read(alignment=1), dtype).reshape(shape), values[::-1])
    with described.map(device, access="read") as image:
        put_texels(image, values)
    assert_array_equal(np.frombuffer(texture.read(alignment=1), dtype).reshape(shape), values[::-1])
    with described.map(device, access="write") as image:
        put_texels(image, values)
    assert_array_equal(np.frombuffer(texture.read(alignment=1), dtype).reshape(shape), values)
    assert no_errors(ctx)
    texture.release()


@when_shared
@pytest.mark.parametrize("order", ["in_order", "out_of_order"])
@pytest.mark.parametrize("kind", ["3d", "2d_array", "renderbuffer"])
def test_other_kinds(ctx, device, kind, order):
    queue = pp.Queue(device, order=order)
    shape = (3, 4) if kind == "renderbuffer" else (2, 3, 4)
    values = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    make = {"3d": ctx.texture3d, "2d_array": ctx.texture_array, "renderbuffer": ctx.renderbuffer}[kind]
    made = make(shape[::-1], 1, dtype="f4")
    described = pp.gl.Image(made)
    assert "nothing comes to the host" in described.explain(device)
    assert (described.kind, described.shape) == (kind, shape)
    with described.map(queue, access="write") as image:
        put_texels(image, values)
    with described.map(queue) as image:
        assert_array_equal(take_texels(image), values)
        put_texels(image, values + 1)
    with described.map("cpu") as image:
        assert_array_equal(take_texels(image), values + 1)
        image[...] = values
    with described.map(queue, access="read") as image:
        assert_array_equal(take_texels(image), values)
    assert no_errors(ctx)
    made.release()


@when_shared
def test_textures_of_one_dimension_are_copied(ctx, device):
    name, context = ctypes.c_uint(0), gl.current("test")
    context.glGenTextures(1, ctypes.byref(name))
    context.glBindTexture(gl.TEXTURE_1D, name.value)
    image_1d = ctypes.CFUNCTYPE(None, *[ctypes.c_int] * 7, ctypes.c_void_p)(context._address_of(b"glTexImage1D"))
    image_1d(gl.TEXTURE_1D, 0, 0x822E, 12, 0, 0x1903, 0x1406, None)
    described = pp.gl.Image(name.value)
    assert (described.kind, described.shape) == ("1d", (12,))
    assert "works on a copy" in described.explain(device)
    with described.map(device, access="write") as image:
        put_texels(image, np.arange(12, dtype="f4"))
    with described.map("cpu") as image:
        assert_array_equal(take_texels(image), np.arange(12))
    assert no_errors(ctx)


@when_shared
def test_levels(ctx, device):
    texture = ctx.texture((8, 4), 1, dtype="f4")
    texture.build_mipmaps()
    with pp.gl.Image(texture, level=1).map(device) as image:
        assert image.shape == (2, 4)
        put_texels(image, np.full((2, 4), 3, "f4"))
    assert_array_equal(np.frombuffer(texture.read(1), "f4"), [3] * 8)
    assert_array_equal(np.frombuffer(texture.read(0), "f4"), [0] * 32)
    texture.release()


@when_shared
def test_wrong_uses_of_textures(ctx, device):
    texture = ctx.texture((4, 4), 4)
    described = pp.gl.Image(texture)
    with described.map(device), pytest.raises(RuntimeError, match="mapped already"), described.map(device):
        pass
    block = described.map(device)
    with block, pytest.raises(RuntimeError, match="begun already"):
        block.__enter__()
    errors = []

    def use():
        try:
            described.map(device).__enter__()
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert "no OpenGL context is current" in errors[0]
    block = described.map(device)
    image = block.__enter__()
    texture.release()
    with pytest.raises(RuntimeError, match=r"texture \d+ was deleted while it was mapped"):
        block.__exit__(None, None, None)
    with pytest.raises(ValueError, match="has ended"):
        image._texels(True).wait()
    with pytest.raises(ValueError, match="has no texture"), described.map(device):
        pass


@needs_fake
@when_shared
def test_textures_are_registered_once(ctx, device):
    before, registered = live(), calls("cuGraphicsGLRegisterImage")
    texture = ctx.texture((4, 4), 4)
    one, other = pp.gl.Image(texture), pp.gl.Image(texture)
    for described in (one, other, one):
        with described.map(device):
            pass
    assert calls("cuGraphicsGLRegisterImage") == registered + 1
    assert live() == before + 1
    for function in ("cuGraphicsMapResources", "cuGraphicsSubResourceGetMappedArray", "cuArray3DGetDescriptor", "cuMemcpy3DAsync"):
        FAKE.fake_cuda_fail_next(function.encode(), 400, 0)
        with pytest.raises(pp.DeviceError, match=f"gl.Image.map: .*{function} failed"), one.map(device):
            pass
    with one.map(device):
        pass
    del one, other, described
    assert live() == before
    texture.release()


# --- other ways -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(WAY != "elsewhere", reason="the memory is this GPU's, or none's")
def test_another_gpu_has_the_memory(ctx):
    kept = ctx.buffer(np.arange(8, dtype="f4").tobytes())
    described = pp.gl.Buffer(kept)
    for f in (lambda: described.map("cuda:0").__enter__(), lambda: pp.gl.empty(3, device="cuda:0")):
        with pytest.raises(ValueError, match=r"gl\..*cuda:0 has no memory in common with the OpenGL context \(.*\), and cuda:1 has"):
            f()
    assert "cuda:1 has: map it there" in described.explain("cuda:0")
    assert "in place" in described.explain("cuda:1")
    texture = ctx.texture((4, 4), 1, dtype="f4")
    image = pp.gl.Image(texture)
    with pytest.raises(ValueError, match=r"gl\.Image\.map: cuda:0 has no memory in common"):
        image.map("cuda:0").__enter__()
    assert "cuda:1 has: map it there" in image.explain("cuda:0")
    with image.map("cuda:1", access="write") as made:
        put_texels(made, np.full((4, 4), 2, "f4"))
    assert set(np.frombuffer(texture.read(), "f4")) == {2}
    texture.release()
    with described.map("cuda:1") as x:
        assert_array_equal(pp.asnumpy(x), np.arange(8))
        put(x, np.ones(8))
    assert_array_equal(content(described), np.ones(8))
    kept.release()


@pytest.mark.skipif(WAY not in ("copied", "hidden"), reason="a GPU has the memory")
def test_no_gpu_has_the_memory(ctx, device, buffer):
    assert "works on a copy" in buffer.explain(device)
    before = pp.counters()["copied_bytes"]
    with buffer.map(device) as x:
        assert_array_equal(pp.asnumpy(x), np.arange(8))
        put(x, np.full(8, 4))
    assert pp.counters()["copied_bytes"] > before
    assert_array_equal(content(buffer), np.full(8, 4))


@needs_fake
@when_shared
def test_a_device_that_is_lost_while_it_is_mapped(ctx, device):
    """The last test: the device is not used any more."""
    kept = ctx.buffer(reserve=32)
    described = pp.gl.Buffer(kept)
    block = described.map(device)
    block.__enter__()
    FAKE.fake_cuda_fail_next(b"cuGraphicsUnmapResources", 719, 0)
    with pytest.raises(pp.DeviceError, match=r"is lost"):
        block.__exit__(None, None, None)
    for one in (described, pp.gl.Buffer(kept)):
        with pytest.raises(pp.DeviceError, match="is lost"):
            one.map(device).__enter__()
    del block, described, one
    gc.collect()
    with pp.gl.Buffer(kept).map("cpu") as x:
        x[...] = 1
    kept.release()
