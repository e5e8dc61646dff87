# python/pardo/_gl/functions.py: OpenGL's functions, from the libraries of the context that is current, and what that context is.
from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

# Constants of OpenGL's registry that this package uses.
COPY_READ_BUFFER = 0x8F36
COPY_READ_BUFFER_BINDING = 0x8F36
BUFFER_SIZE, BUFFER_MAPPED, BUFFER_MAP_POINTER = 0x8764, 0x88BC, 0x88BD
BUFFER_IMMUTABLE_STORAGE, BUFFER_STORAGE_FLAGS = 0x821F, 0x8220
MAP_READ, MAP_WRITE, MAP_PERSISTENT, MAP_COHERENT = 0x1, 0x2, 0x40, 0x80
MAP_INVALIDATE_RANGE = 0x4
DYNAMIC_STORAGE = 0x100
DYNAMIC_DRAW, DYNAMIC_COPY = 0x88E8, 0x88EA
SYNC_GPU_COMMANDS_COMPLETE, SYNC_FLUSH_COMMANDS = 0x9117, 0x1
WAIT_FAILED = 0x911D
CLIENT_MAPPED_BUFFER_BARRIER = 0x4000
MAJOR_VERSION, MINOR_VERSION, NUM_EXTENSIONS, EXTENSIONS, RENDERER = 0x821B, 0x821C, 0x821D, 0x1F03, 0x1F01
PIXEL_PACK_BUFFER, PIXEL_PACK_BUFFER_BINDING = 0x88EB, 0x88ED
PIXEL_UNPACK_BUFFER, PIXEL_UNPACK_BUFFER_BINDING = 0x88EC, 0x88EF
TEXTURE_2D, TEXTURE_3D, TEXTURE_2D_ARRAY, TEXTURE_1D, TEXTURE_CUBE_MAP = 0x0DE1, 0x806F, 0x8C1A, 0x0DE0, 0x8513
TEXTURE_BINDINGS = {TEXTURE_1D: 0x8068, TEXTURE_2D: 0x8069, TEXTURE_3D: 0x806A, TEXTURE_2D_ARRAY: 0x8C1D}
TEXTURE_WIDTH, TEXTURE_HEIGHT, TEXTURE_DEPTH, TEXTURE_INTERNAL_FORMAT = 0x1000, 0x1001, 0x8071, 0x1003
RENDERBUFFER, RENDERBUFFER_BINDING, RENDERBUFFER_SAMPLES = 0x8D41, 0x8CA7, 0x8CAB
RENDERBUFFER_WIDTH, RENDERBUFFER_HEIGHT, RENDERBUFFER_INTERNAL_FORMAT = 0x8D42, 0x8D43, 0x8D44
READ_FRAMEBUFFER, READ_FRAMEBUFFER_BINDING = 0x8CA8, 0x8CAA
DRAW_FRAMEBUFFER, DRAW_FRAMEBUFFER_BINDING = 0x8CA9, 0x8CA6
FRAMEBUFFER_COMPLETE, COLOR_ATTACHMENT, COLOR_BUFFER_BIT, NEAREST, SCISSOR_TEST = 0x8CD5, 0x8CE0, 0x4000, 0x2600, 0x0C11
# Of rows and images of pixels: alignment, row length, image height, and what is skipped. What they are for copies without gaps.
PACKING = {0x0D05: 1, 0x0D02: 0, 0x806C: 0, 0x0D04: 0, 0x0D03: 0, 0x806B: 0, 0x0D00: 0, 0x0D01: 0}
UNPACKING = {0x0CF5: 1, 0x0CF2: 0, 0x806E: 0, 0x0CF4: 0, 0x0CF3: 0, 0x806D: 0, 0x0CF0: 0, 0x0CF1: 0}

_INT, _UINT, _SIZE, _POINTER, _U64 = ctypes.c_int, ctypes.c_uint, ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_uint64
_UCHAR = ctypes.c_ubyte
# name -> what it gives, and what it takes.
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "glGetIntegerv": (None, _UINT, _POINTER),
    "glGetString": (ctypes.c_char_p, _UINT),
    "glGetStringi": (ctypes.c_char_p, _UINT, _UINT),
    "glGetError": (_UINT,),
    "glGenBuffers": (None, _INT, _POINTER),
    "glDeleteBuffers": (None, _INT, _POINTER),
    "glBindBuffer": (None, _UINT, _UINT),
    "glIsBuffer": (_UCHAR, _UINT),
    "glBufferData": (None, _UINT, _SIZE, _POINTER, _UINT),
    "glBufferStorage": (None, _UINT, _SIZE, _POINTER, _UINT),
    "glGetBufferParameteriv": (None, _UINT, _UINT, _POINTER),
    "glGetBufferParameteri64v": (None, _UINT, _UINT, _POINTER),
    "glGetNamedBufferParameteri64v": (None, _UINT, _UINT, _POINTER),
    "glGetBufferPointerv": (None, _UINT, _UINT, _POINTER),
    "glMapBufferRange": (_POINTER, _UINT, _SIZE, _SIZE, _UINT),
    "glUnmapBuffer": (_UCHAR, _UINT),
    "glFenceSync": (_POINTER, _UINT, _UINT),
    "glClientWaitSync": (_UINT, _POINTER, _UINT, _U64),
    "glDeleteSync": (None, _POINTER),
    "glIsSync": (_UCHAR, _POINTER),
    "glFinish": (None,),
    "glMemoryBarrier": (None, _UINT),
    "glIsTexture": (_UCHAR, _UINT),
    "glIsRenderbuffer": (_UCHAR, _UINT),
    "glBindRenderbuffer": (None, _UINT, _UINT),
    "glGetRenderbufferParameteriv": (None, _UINT, _UINT, _POINTER),
    "glGenFramebuffers": (None, _INT, _POINTER),
    "glDeleteFramebuffers": (None, _INT, _POINTER),
    "glBindFramebuffer": (None, _UINT, _UINT),
    "glFramebufferRenderbuffer": (None, _UINT, _UINT, _UINT, _UINT),
    "glFramebufferTexture2D": (None, _UINT, _UINT, _UINT, _UINT, _INT),
    "glCheckFramebufferStatus": (_UINT, _UINT),
    "glBlitFramebuffer": (None, _INT, _INT, _INT, _INT, _INT, _INT, _INT, _INT, _UINT, _UINT),
    "glReadPixels": (None, _INT, _INT, _INT, _INT, _UINT, _UINT, _POINTER),
    "glIsEnabled": (_UCHAR, _UINT),
    "glEnable": (None, _UINT),
    "glDisable": (None, _UINT),
    "glIsEnabledi": (_UCHAR, _UINT, _UINT),
    "glEnablei": (None, _UINT, _UINT),
    "glDisablei": (None, _UINT, _UINT),
    "glGenTextures": (None, _INT, _POINTER),
    "glDeleteTextures": (None, _INT, _POINTER),
    "glTexImage2D": (None, _UINT, _INT, _INT, _INT, _INT, _INT, _UINT, _UINT, _POINTER),
    "glBindTexture": (None, _UINT, _UINT),
    "glGetTexLevelParameteriv": (None, _UINT, _INT, _UINT, _POINTER),
    "glGetTextureParameteriv": (None, _UINT, _UINT, _POINTER),
    "glPixelStorei": (None, _UINT, _INT),
    "glGetTexImage": (None, _UINT, _INT, _UINT, _UINT, _POINTER),
    "glTexSubImage1D": (None, _UINT, _INT, _INT, _INT, _UINT, _UINT, _POINTER),
    "glTexSubImage2D": (None, _UINT, _INT, _INT, _INT, _INT, _INT, _UINT, _UINT, _POINTER),
    "glTexSubImage3D": (None, _UINT, _INT, _INT, _INT, _INT, _INT, _INT, _INT, _UINT, _UINT, _POINTER),
}
# Ways to a context: library, what gives the current one, what gives addresses.
_WAYS = (
    ("libEGL.so.1", "eglGetCurrentContext", "eglGetProcAddress"),
    ("libGLX.so.0", "glXGetCurrentContext", "glXGetProcAddress"),
    ("libGL.so.1", "glXGetCurrentContext", "glXGetProcAddress"),
)


_loaded: dict[str, tuple[Any, Any]] = {}


def _load(library: str, get_current: str, get_address: str) -> tuple[Any, Any] | None:
    """Two functions of a library that the process has loaded; a context cannot be current without it."""
    try:
        found = ctypes.CDLL(library, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return None
    asked, address_of = getattr(found, get_current), getattr(found, get_address)
    asked.restype, asked.argtypes = ctypes.c_void_p, ()
    address_of.restype, address_of.argtypes = ctypes.c_void_p, (ctypes.c_char_p,)
    return _loaded.setdefault(library, (asked, address_of))


class Context:
    """An OpenGL context, and its functions."""

    def __init__(self, handle: int, get_current: Callable[[], int | None], address_of: Callable[[bytes], int | None]) -> None:
        self.handle, self.process = handle, os.getpid()
        self._get_current, self._address_of = get_current, address_of
        self.mapped: set[tuple[str, int]] = set()  # what it is, and its name
        self.sharing: dict[str, list[Any]] = {}  # by the id of a device, those of its driver that use this context's memory
        self.registered: WeakValueDictionary[tuple[str, int, int], Any] = WeakValueDictionary()  # by device, name and kind
        self.left: list[Any] = []  # objects that drivers have registered and that are not needed any more
        self._functions: dict[str, Any] = {}
        self.version = (self.integer(MAJOR_VERSION), self.integer(MINOR_VERSION))
        self.extensions = {self.glGetStringi(EXTENSIONS, i) for i in range(self.integer(NUM_EXTENSIONS))}
        self.renderer = (self.glGetString(RENDERER) or b"").decode(errors="replace")
        self.has_storage = self.version >= (4, 4) or b"GL_ARB_buffer_storage" in self.extensions
        self.has_fences = self.version >= (3, 2) or b"GL_ARB_sync" in self.extensions
        # Another context may come to be at the same address; it does not know this fence.
        self._mark: int | None = self.glFenceSync(SYNC_GPU_COMMANDS_COMPLETE, 0) if self.has_fences else None
        self.has_barriers = self.version >= (4, 2) or b"GL_ARB_shader_image_load_store" in self.extensions

    def __getattr__(self, name: str) -> Any:
        if name not in _SIGNATURES:
            raise AttributeError(name)
        address = self._address_of(name.encode())
        if not address:
            raise OSError(f"pardo.gl: the OpenGL driver ({self.renderer}) has no {name}")
        result, *arguments = _SIGNATURES[name]
        function = ctypes.CFUNCTYPE(result, *arguments)(address)
        setattr(self, name, function)
        return function

    def is_same(self) -> bool:
        """Whether the context that is current, at this one's address, is this one."""
        return self._mark is None or bool(self.glIsSync(self._mark))

    def leave(self, registered: Any) -> None:
        """Ends a registration: at once where the context is current in this thread, else when it is used again."""
        self.left.append(registered)
        if self.process == os.getpid() and self._get_current() == self.handle and self.is_same():
            self.sweep()

    def sweep(self) -> None:
        """Ends registrations that are not needed any more."""
        while self.left:
            self.left.pop().close()

    def integer(self, what: int) -> int:
        """A number of the context's state."""
        value = (ctypes.c_int * 4)()
        self.glGetIntegerv(what, value)
        return value[0]

    def check(self, op_name: str) -> None:
        """Raises what a call of ours has failed with."""
        code = self.glGetError()
        if code == 0x0505:
            raise MemoryError(f"{op_name}: OpenGL ({self.renderer}) has not enough memory")
        if code:
            raise RuntimeError(f"{op_name}: OpenGL ({self.renderer}) fails with error 0x{code:04X}")

    def wait(self, op_name: str) -> None:
        """Waits until the commands so far are complete, by a fence where there are any."""
        if self.has_barriers:
            self.glMemoryBarrier(CLIENT_MAPPED_BUFFER_BARRIER)
        if not self.has_fences:
            self.glFinish()
            return
        fence = self.glFenceSync(SYNC_GPU_COMMANDS_COMPLETE, 0)
        done = self.glClientWaitSync(fence, SYNC_FLUSH_COMMANDS, 2**64 - 1)
        self.glDeleteSync(fence)
        if done == WAIT_FAILED:
            self.check(op_name)


_known: dict[tuple[str, int], Context] = {}


def current(op_name: str) -> Context:
    """The context that is current in this thread; raises RuntimeError without one."""
    for library, get_current, get_address in _WAYS:
        way = _loaded.get(library) or _load(library, get_current, get_address)
        if way is None:
            continue
        handle = way[0]()
        if not handle:
            continue
        known = _known.get((get_current, handle))
        if known is not None and known.process != os.getpid():
            break  # made by the process that this one was forked from
        if known is None or not known.is_same():
            known = _known[get_current, handle] = Context(handle, *way)
        if known.left:
            known.sweep()
        return known
    raise RuntimeError(
        f"{op_name}: no OpenGL context is current in this thread; call it from the thread whose context it is, after "
        "making that current (a process that was forked makes one of its own)"
    )
