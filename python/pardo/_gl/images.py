# python/pardo/_gl/images.py: textures and renderbuffers of OpenGL whose texels are an image for a while.
from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
from pardo import _core
from pardo._array.interop import asnumpy
from pardo._base import arguments
from pardo._base.promotion import kind_of
from pardo._core import Device, Queue
from pardo._gl import functions as gl
from pardo._gl.buffers import name_of, place_of
from pardo._gl.functions import Context
from pardo._gl.sharing import Owned, Registration, refusal, shares, sharing
from pardo._language import images
from pardo._runtime.transfers import note_copy

_ACCESSES = ("update", "read", "write")
_KINDS = {
    "1d": gl.TEXTURE_1D,
    "2d": gl.TEXTURE_2D,
    "3d": gl.TEXTURE_3D,
    "2d_array": gl.TEXTURE_2D_ARRAY,
    "renderbuffer": gl.RENDERBUFFER,
}
_NOT_SHARED = ("1d",)  # drivers register textures of the other kinds
_TEXTURE_TARGET = 0x1006
_TYPES = {"u1": 0x1401, "i1": 0x1400, "u2": 0x1403, "i2": 0x1402, "u4": 0x1405, "i4": 0x1404, "f2": 0x140B, "f4": 0x1406}
_FLOATS, _INTEGERS = {1: 0x1903, 2: 0x8227, 4: 0x1908}, {1: 0x8D94, 2: 0x8228, 4: 0x8D99}
# OpenGL's internal formats: channels, dtype, and whether they stand for 0 to 1.
_FORMATS = {
    0x8229: (1, "u1", True),
    0x822B: (2, "u1", True),
    0x8058: (4, "u1", True),
    0x822A: (1, "u2", True),
    0x822C: (2, "u2", True),
    0x805B: (4, "u2", True),
    0x822D: (1, "f2", False),
    0x822F: (2, "f2", False),
    0x881A: (4, "f2", False),
    0x822E: (1, "f4", False),
    0x8230: (2, "f4", False),
    0x8814: (4, "f4", False),
    0x8231: (1, "i1", False),
    0x8237: (2, "i1", False),
    0x8D8E: (4, "i1", False),
    0x8232: (1, "u1", False),
    0x8238: (2, "u1", False),
    0x8D7C: (4, "u1", False),
    0x8233: (1, "i2", False),
    0x8239: (2, "i2", False),
    0x8D88: (4, "i2", False),
    0x8234: (1, "u2", False),
    0x823A: (2, "u2", False),
    0x8D76: (4, "u2", False),
    0x8235: (1, "i4", False),
    0x823B: (2, "i4", False),
    0x8D82: (4, "i4", False),
    0x8236: (1, "u4", False),
    0x823C: (2, "u4", False),
    0x8D70: (4, "u4", False),
}


@contextlib.contextmanager
def _restored(context: Context, what: int, set_it: Any, value: int) -> Iterator[None]:
    """Sets a number of the context's state, and afterwards what it was."""
    former = context.integer(what)
    if former != value:
        set_it(value)
    try:
        yield
    finally:
        if former != value:
            set_it(former)


@contextlib.contextmanager
def _framebuffer(context: Context, op_name: str, target: int, binding: int, attached: int, name: int) -> Iterator[None]:
    """Binds a framebuffer of a renderbuffer or texture, and what was there again."""
    former, made = context.integer(binding), ctypes.c_uint(0)
    context.glGenFramebuffers(1, ctypes.byref(made))
    try:
        context.glBindFramebuffer(target, made.value)
        if attached == gl.RENDERBUFFER:
            context.glFramebufferRenderbuffer(target, gl.COLOR_ATTACHMENT, attached, name)
        else:
            context.glFramebufferTexture2D(target, gl.COLOR_ATTACHMENT, attached, name, 0)
        if context.glCheckFramebufferStatus(target) != gl.FRAMEBUFFER_COMPLETE:
            raise RuntimeError(f"{op_name}: OpenGL ({context.renderer}) makes no framebuffer of that format, which a copy needs")
        yield
    finally:
        context.glBindFramebuffer(target, former)
        context.glDeleteFramebuffers(1, ctypes.byref(made))


@contextlib.contextmanager
def _without_scissors(context: Context) -> Iterator[None]:
    """Lets a copy between framebuffers reach all of it: the rectangle of the first viewport would bound it."""
    of_viewport = context.version >= (4, 1)
    where = (gl.SCISSOR_TEST, 0) if of_viewport else (gl.SCISSOR_TEST,)
    enabled = context.glIsEnabledi(*where) if of_viewport else context.glIsEnabled(*where)
    if enabled:
        (context.glDisablei if of_viewport else context.glDisable)(*where)
    try:
        yield
    finally:
        if enabled:
            (context.glEnablei if of_viewport else context.glEnable)(*where)


class Image(Owned):
    """A texture or renderbuffer of OpenGL, whose texels are a `pardo.Image` between two commands of OpenGL's: `map`.

    Parameters
    ----------
    texture : moderngl.Texture, moderngl.Texture3D, moderngl.TextureArray, moderngl.Renderbuffer, or int
        The texture or renderbuffer, or the number (name) that OpenGL knows it by. Its context is current.
    kind : {'1d', '2d', '3d', '2d_array', 'renderbuffer'}, optional
        What it is. Default: what moderngl and OpenGL 4.5 say, for numbers in older ones '2d'. The number of a renderbuffer needs it.
    level : int, optional
        Of its pyramid of sizes (mipmaps).

    Attributes
    ----------
    glo : int
        The number that OpenGL knows it by.
    kind : str
        What it is.
    level : int
        Of its pyramid.
    shape : tuple of int
        Extents of the texels: layers or depth, height, width. Row 0 is OpenGL's first one, which it draws at the bottom.
    dtype : numpy.dtype
        Of a channel.
    channels : int
        Of a texel.
    normalized : bool
        Whether channels stand for 0 to 1.
    nbytes : int
        Bytes of the texels.

    Raises
    ------
    RuntimeError
        No context is current in this thread.
    TypeError
        `texture` is no texture.
    ValueError
        There is no such texture, level or kind, or its format has no dtype: three channels, compressed, of depth. Or a renderbuffer has
        several samples a pixel.

    See Also
    --------
    Buffer, pardo.Image

    Notes
    -----
    Texels of OpenGL have no address, so they are copied from and to the host's memory; `pardo.counters` counts that. A GPU that has the
    memory of the context copies them by itself, and nothing comes to the host; it registers the texture at the first `map`, for as long as
    there is an `Image` of it: delete that before the texture, or before the texture gets other memory (``glTexImage2D``). OpenGL's state is
    left as it was.
    """

    def __init__(self, texture: Any, kind: str | None = None, *, level: int = 0) -> None:
        op_name = "gl.Image"
        if kind is not None:
            kind = arguments.word(kind, f"{op_name}: kind", tuple(_KINDS))
        elif type(texture).__name__ == "Renderbuffer":
            kind = "renderbuffer"
        self._what = "renderbuffer" if kind == "renderbuffer" else "texture"
        self.glo = name_of(texture, op_name, self._what)
        self._context = gl.current(op_name)
        self._registrations = {}
        self._check(self._context, op_name)
        self.kind = self._kind(self._context) if kind is None else kind
        self.level = arguments.index(level, f"{op_name}: level")
        if not 0 <= self.level < (1 if self.kind == "renderbuffer" else 64):
            raise ValueError(f"{op_name}: level is {self.level}; textures have a few from 0 on, renderbuffers that alone")
        self.shape, internal = self._layout(self._context, op_name)
        if internal not in _FORMATS:
            raise ValueError(
                f"{op_name}: the {self._what}'s internal format 0x{internal:04X} has no dtype and channels of an image: "
                "those are one, two or four channels of 8, 16 or 32 bits"
            )
        self.channels, dtype, self.normalized = _FORMATS[internal]
        self._internal = internal
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.nbytes = math.prod(self.shape) * self.channels * self.dtype.itemsize

    def _kind(self, context: Context) -> str:
        if context.version < (4, 5):
            return "2d"
        value = ctypes.c_int(0)
        context.glGetTextureParameteriv(self.glo, _TEXTURE_TARGET, ctypes.byref(value))
        for kind, target in _KINDS.items():
            if value.value == target:
                return kind
        raise ValueError(f"gl.Image: the texture's target is 0x{value.value:04X}; images are of the kinds {', '.join(_KINDS)}")

    def _exists(self, context: Context) -> bool:
        return bool((context.glIsTexture if self._what == "texture" else context.glIsRenderbuffer)(self.glo))

    def _check(self, context: Context, op_name: str) -> None:
        if not self._exists(context):
            self._registrations.clear()
            raise ValueError(f"{op_name}: OpenGL has no {self._what} {self.glo} in this context; it was deleted, or has never been bound")

    def _in_place(self, context: Context, device: Device, op_name: str) -> bool:
        """Whether the device's driver copies the texels itself. Raises ValueError where another device's would."""
        return self.kind not in _NOT_SHARED and not device._takes_host_memory and shares(op_name, context, device)

    @contextlib.contextmanager
    def _bound(self, context: Context, op_name: str) -> Iterator[int]:
        target = _KINDS[self.kind]
        former = context.integer(gl.TEXTURE_BINDINGS[target])
        context.glBindTexture(target, self.glo)
        try:
            if context.integer(gl.TEXTURE_BINDINGS[target]) != self.glo:
                context.glGetError()  # that of the call above
                raise ValueError(f"{op_name}: the texture {self.glo} is not of the kind {self.kind!r}")
            yield target
        finally:
            context.glBindTexture(target, former)

    def _layout(self, context: Context, op_name: str) -> tuple[tuple[int, ...], int]:
        """Extents and internal format, as OpenGL has them now."""
        if self.kind == "renderbuffer":
            return self._layout_of_renderbuffer(context, op_name)
        with self._bound(context, op_name) as target:

            def ask(what: int) -> int:
                value = ctypes.c_int(0)
                context.glGetTexLevelParameteriv(target, self.level, what, ctypes.byref(value))
                return value.value

            extents = (ask(gl.TEXTURE_DEPTH), ask(gl.TEXTURE_HEIGHT), ask(gl.TEXTURE_WIDTH))
            internal = ask(gl.TEXTURE_INTERNAL_FORMAT)
        shape = extents[{"1d": 2, "2d": 1}.get(self.kind, 0) :]
        if 0 in shape:
            raise ValueError(f"{op_name}: the texture {self.glo} has no level {self.level}, or no storage")
        return shape, internal

    def _layout_of_renderbuffer(self, context: Context, op_name: str) -> tuple[tuple[int, ...], int]:
        former = context.integer(gl.RENDERBUFFER_BINDING)
        context.glBindRenderbuffer(gl.RENDERBUFFER, self.glo)
        try:

            def ask(what: int) -> int:
                value = ctypes.c_int(0)
                context.glGetRenderbufferParameteriv(gl.RENDERBUFFER, what, ctypes.byref(value))
                return value.value

            shape = (ask(gl.RENDERBUFFER_HEIGHT), ask(gl.RENDERBUFFER_WIDTH))
            internal, samples = ask(gl.RENDERBUFFER_INTERNAL_FORMAT), ask(gl.RENDERBUFFER_SAMPLES)
        finally:
            context.glBindRenderbuffer(gl.RENDERBUFFER, former)
        if 0 in shape:
            raise ValueError(f"{op_name}: the renderbuffer {self.glo} has no storage")
        if samples:
            raise ValueError(f"{op_name}: the renderbuffer {self.glo} has {samples} samples a pixel; copy it to one that has one first")
        return shape, internal

    def map(self, where: Device | Queue | str | None = None, *, access: str = "update") -> ImageMap:
        """Make the texels an image for the time of a `with` block.

        Parameters
        ----------
        where : Queue, Device or str, optional
            Of the image. Default: the default device.
        access : {'update', 'read', 'write'}, optional
            'read' changes nothing of the texture. 'write' does not care for what was there.

        Returns
        -------
        ImageMap
            A context manager, which gives a `pardo.Image`. Its work comes after OpenGL's commands before the block, and before those after
            it; the image raises ValueError after the block.

        Raises
        ------
        RuntimeError
            When the block begins: the context is not current in this thread, or the texture is mapped already.
        ValueError
            The texture was deleted, or has another size or format than it had.
        """
        op_name = "gl.Image.map"
        return ImageMap(self, place_of(where, op_name), arguments.word(access, f"{op_name}: access", _ACCESSES))

    def explain(self, where: Device | Queue | str | None = None) -> str:
        """Say in which way the texels get to a device.

        Parameters
        ----------
        where : Queue, Device or str, optional
            As of `map`.

        Returns
        -------
        str
            One line.
        """
        op_name = "gl.Image.explain"
        queue, context = place_of(where, op_name), self._current(op_name)
        self._check(context, op_name)
        device = queue.device
        if not device._takes_host_memory and (devices := sharing(context, device)):
            if device not in devices:
                return refusal(context, device)
            if self.kind not in _NOT_SHARED:
                return (
                    f"{device.id} copies the texels from and to OpenGL's memory ({context.renderer}) by itself: registered with its driver "
                    "once, and mapped in the order of the queue for the time of the block; nothing comes to the host"
                )
        calls = "glReadPixels and glBlitFramebuffer" if self.kind == "renderbuffer" else "glGetTexImage and glTexSubImage"
        return f"{device.id} works on a copy of the texels, by {calls} ({context.renderer}); counted"

    def __repr__(self) -> str:
        extents = " x ".join(map(str, self.shape))
        return f"<gl.Image {self.glo} of {extents} texels of {self.channels} channel{'s' * (self.channels > 1)} of {self.dtype}>"

    @contextlib.contextmanager
    def _without_gaps(self, context: Context, packing: dict[int, int], target: int, binding: int) -> Iterator[None]:
        """Lets OpenGL copy from or to memory of the host, all of it one after the other."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(_restored(context, binding, lambda name: context.glBindBuffer(target, name), 0))
            for what, value in packing.items():
                stack.enter_context(_restored(context, what, lambda number, what=what: context.glPixelStorei(what, number), value))
            yield

    def _words(self) -> tuple[int, int]:
        """How OpenGL calls the channels and their dtype outside of the texture."""
        integers = kind_of(self.dtype) in "iu" and not self.normalized
        return (_INTEGERS if integers else _FLOATS)[self.channels], _TYPES[self.dtype.str[1:]]

    def _read(self, context: Context, op_name: str) -> np.ndarray[Any, Any]:
        host = np.empty((*self.shape, self.channels) if self.channels > 1 else self.shape, self.dtype)
        if self.kind == "renderbuffer":
            with (
                _framebuffer(context, op_name, gl.READ_FRAMEBUFFER, gl.READ_FRAMEBUFFER_BINDING, gl.RENDERBUFFER, self.glo),
                self._without_gaps(context, gl.PACKING, gl.PIXEL_PACK_BUFFER, gl.PIXEL_PACK_BUFFER_BINDING),
            ):
                context.glReadPixels(0, 0, *self.shape[::-1], *self._words(), host.ctypes.data)
            return host
        with (
            self._bound(context, op_name) as target,
            self._without_gaps(context, gl.PACKING, gl.PIXEL_PACK_BUFFER, gl.PIXEL_PACK_BUFFER_BINDING),
        ):
            context.glGetTexImage(target, self.level, *self._words(), host.ctypes.data)
        return host

    def _write(self, context: Context, op_name: str, host: np.ndarray[Any, Any]) -> None:
        extents = self.shape[::-1]
        if self.kind == "renderbuffer":
            self._write_renderbuffer(context, op_name, extents, host)
            return
        write = getattr(context, f"glTexSubImage{len(extents)}D")
        with (
            self._bound(context, op_name) as target,
            self._without_gaps(context, gl.UNPACKING, gl.PIXEL_UNPACK_BUFFER, gl.PIXEL_UNPACK_BUFFER_BINDING),
        ):
            write(target, self.level, *[0] * len(extents), *extents, *self._words(), host.ctypes.data)

    def _write_renderbuffer(self, context: Context, op_name: str, extents: tuple[int, ...], host: np.ndarray[Any, Any]) -> None:
        """By a texture of the same format, as OpenGL writes no renderbuffer from the host's memory."""
        staging, former = ctypes.c_uint(0), context.integer(gl.TEXTURE_BINDINGS[gl.TEXTURE_2D])
        context.glGenTextures(1, ctypes.byref(staging))
        try:
            context.glBindTexture(gl.TEXTURE_2D, staging.value)
            with self._without_gaps(context, gl.UNPACKING, gl.PIXEL_UNPACK_BUFFER, gl.PIXEL_UNPACK_BUFFER_BINDING):
                context.glTexImage2D(gl.TEXTURE_2D, 0, self._internal, *extents, 0, *self._words(), host.ctypes.data)
            with (
                _framebuffer(context, op_name, gl.READ_FRAMEBUFFER, gl.READ_FRAMEBUFFER_BINDING, gl.TEXTURE_2D, staging.value),
                _framebuffer(context, op_name, gl.DRAW_FRAMEBUFFER, gl.DRAW_FRAMEBUFFER_BINDING, gl.RENDERBUFFER, self.glo),
                _without_scissors(context),
            ):
                context.glBlitFramebuffer(0, 0, *extents, 0, 0, *extents, gl.COLOR_BUFFER_BIT, gl.NEAREST)
        finally:
            context.glBindTexture(gl.TEXTURE_2D, former)
            context.glDeleteTextures(1, ctypes.byref(staging))


class ImageMap:
    """The time of a `with` block in which the texels of a texture are a `pardo.Image`; made by `Image.map`."""

    def __init__(self, image: Image, queue: Queue, access: str) -> None:
        self._image, self._queue, self._access = image, queue, access
        self._made: images.Image | None = None
        self._shared: Registration | None = None  # what is mapped until the end, by the device's driver

    def __enter__(self) -> images.Image:
        op_name, image = "gl.Image.map", self._image
        context = image._current(op_name)
        if self._made is not None:
            raise RuntimeError(f"{op_name}: the block has begun already; each needs a call of map")
        image._check(context, op_name)
        if image._layout(context, op_name) != (image.shape, image._internal):
            raise ValueError(f"{op_name}: the {image._what} {image.glo} has another size or format than it had; describe it anew")
        if image._key in context.mapped:
            raise RuntimeError(f"{op_name}: the {image._what} {image.glo} is mapped already; end that block first")
        layers = image.kind == "2d_array"
        in_place = image._in_place(context, self._queue.device, op_name)
        if in_place or self._access == "write":
            made = images.Image(image.shape, image.dtype, image.channels, normalized=image.normalized, layers=layers, queue=self._queue)
            if in_place:
                shared = image._registered(op_name, context, self._queue.device, _KINDS[image.kind])
                shared.object.map_image(op_name, made, image.level, self._access != "write")
                self._shared = shared
        else:
            values = _core._copy_operand(image._read(context, op_name), image.dtype, self._queue, op_name)
            made = images.Image.from_array(values, image.channels, normalized=image.normalized, layers=layers, queue=self._queue)
        self._made = made
        context.mapped.add(image._key)
        return made

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None) -> None:
        op_name, image, made = "gl.Image.map", self._image, self._made
        if made is None:
            raise RuntimeError(f"{op_name}: the block has not begun")
        self._made = None
        what = f"{image._what} {image.glo}"
        message = f"the image has the texels of OpenGL's {what}, and the block of gl.Image.map in which it could be used has ended"
        shared, self._shared = self._shared, None
        if shared is not None:
            unmap, writes = shared.object.unmap_image, self._access != "read"
            image._end_shared(
                op_name, shared, lambda: unmap(op_name, made, writes, message), lambda: _core._retire(made._texels(True), message)
            )
            return
        image._context.mapped.discard(image._key)
        host: np.ndarray[Any, Any] | None = None
        try:
            if self._access != "read":
                if not self._queue.device._takes_host_memory:
                    note_copy(op_name, image.nbytes, self._queue.device.id, False)
                host = asnumpy(made._texels(False))
        finally:
            _core._retire(made._texels(True), message)
        if host is not None:
            context = image._current(op_name)
            image._check(context, op_name)
            image._write(context, op_name, host)
