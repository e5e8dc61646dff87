# python/pardo/_live/contexts.py: contexts of OpenGL by EGL, and the context of other code that is current, which comes back.
from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

# Constants of EGL's registry.
_OPENGL_API, _OPENGL_ES_API, _PLATFORM_DEVICE, _DRAW, _READ = 0x30A2, 0x30A0, 0x313F, 0x3059, 0x305A
_CONFIG = (0x3033, 0x0001, 0x3040, 0x0008, 0x3038)  # SURFACE_TYPE PBUFFER, RENDERABLE_TYPE OPENGL
_CONTEXT = (0x3098, 3, 0x30FB, 3, 0x30FD, 1, 0x3038)  # version 3.3, core profile
_INT, _POINTER = ctypes.c_int, ctypes.c_void_p
_EGL: dict[str, tuple[Any, ...]] = {  # name -> what it gives, and what it takes
    "eglQueryAPI": (ctypes.c_uint,),
    "eglBindAPI": (ctypes.c_uint, ctypes.c_uint),
    "eglGetCurrentDisplay": (_POINTER,),
    "eglGetCurrentSurface": (_POINTER, _INT),
    "eglGetCurrentContext": (_POINTER,),
    "eglMakeCurrent": (ctypes.c_uint, _POINTER, _POINTER, _POINTER, _POINTER),
    "eglGetProcAddress": (_POINTER, ctypes.c_char_p),
    "eglInitialize": (ctypes.c_uint, _POINTER, _POINTER, _POINTER),
    "eglChooseConfig": (ctypes.c_uint, _POINTER, _POINTER, _POINTER, _INT, _POINTER),
    "eglCreateContext": (_POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
    "eglDestroyContext": (ctypes.c_uint, _POINTER, _POINTER),
    "eglGetError": (_INT,),
}
_GLX: dict[str, tuple[Any, ...]] = {
    "glXGetCurrentDisplay": (_POINTER,),
    "glXGetCurrentContext": (_POINTER,),
    "glXGetCurrentDrawable": (ctypes.c_ulong,),
    "glXGetCurrentReadDrawable": (ctypes.c_ulong,),
    "glXMakeContextCurrent": (_INT, _POINTER, ctypes.c_ulong, ctypes.c_ulong, _POINTER),
}
_process: list[int] = []  # that has made a context here


class _Library:
    """Functions of a shared library."""

    def __init__(self, file: str, table: dict[str, tuple[Any, ...]], mode: int = 0) -> None:
        self._file = ctypes.CDLL(file, mode=mode or ctypes.DEFAULT_MODE)
        self._table = table

    def __getattr__(self, name: str) -> Any:
        if name not in self._table:
            raise AttributeError(name)
        function = getattr(self._file, name)
        function.restype, *function.argtypes = self._table[name]
        setattr(self, name, function)
        return function

    def extension(self, name: str, result: Any, *arguments: Any) -> Any:
        """A function that not each EGL has; None without it."""
        address = self.eglGetProcAddress(name.encode())
        return ctypes.CFUNCTYPE(result, *arguments)(address) if address else None


def egl(op_name: str) -> Any:
    """The library of EGL."""
    try:
        return _Library("libEGL.so.1", _EGL)
    except OSError:
        raise RuntimeError(
            f"{op_name}: OpenGL is needed, and there is no libEGL.so.1; install the driver of the GPU, or Mesa's software one (Debian: "
            "libegl1 and libgl1-mesa-dri)"
        ) from None


def check_process(op_name: str) -> None:
    """Raises RuntimeError in a child of the process that started OpenGL: the threads of its driver were not forked."""
    if not _process:
        _process.append(os.getpid())
    if _process[0] != os.getpid():
        raise RuntimeError(
            f"{op_name}: OpenGL was started by the process that this one was forked from, and its driver does not work here; start "
            "processes by multiprocessing's 'spawn'"
        )


@contextlib.contextmanager
def errors_of(glfw: Any) -> Iterator[list[str]]:
    """Texts of the errors that GLFW tells in the block."""
    found: list[str] = []

    def note(code: int, text: bytes | str) -> None:
        found.append(text.decode(errors="replace") if isinstance(text, bytes) else text)

    former = glfw.set_error_callback(note)
    try:
        yield found
    finally:
        glfw.set_error_callback(former)


def _loaded_egl() -> Any:
    """The library of EGL if the process has loaded it."""
    try:
        return _Library("libEGL.so.1", _EGL, os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        return None


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Whichever context is current in this thread is so again afterwards; in between none is, at first."""
    glfw = sys.modules.get("glfw")
    window = None
    if glfw is not None:
        with errors_of(glfw):  # it may not have been started
            window = glfw.get_current_context()
    restore: list[Callable[[], Any]] = []
    for file in ("libGLX.so.0", "libGL.so.1"):
        try:
            glx = _Library(file, _GLX, os.RTLD_NOLOAD | os.RTLD_LAZY)
            context = glx.glXGetCurrentContext()
        except (OSError, AttributeError):  # not loaded
            continue
        if context:
            display, *drawables = glx.glXGetCurrentDisplay(), glx.glXGetCurrentDrawable(), glx.glXGetCurrentReadDrawable()
            glx.glXMakeContextCurrent(display, 0, 0, None)
            restore.append(functools.partial(glx.glXMakeContextCurrent, display, *drawables, context))
        break
    egl = _loaded_egl()
    if egl is not None:
        api = egl.eglQueryAPI()
        state = (egl.eglGetCurrentDisplay(), egl.eglGetCurrentSurface(_DRAW), egl.eglGetCurrentSurface(_READ), egl.eglGetCurrentContext())
        if state[3]:
            egl.eglMakeCurrent(state[0], None, None, None)
            restore.append(functools.partial(egl.eglMakeCurrent, *state))
        restore.append(functools.partial(egl.eglBindAPI, api))
    try:
        yield
    finally:
        glfw = sys.modules.get("glfw")
        if glfw is not None:
            with errors_of(glfw):
                glfw.make_context_current(window)  # GLFW remembers by itself which one is
        for step in restore:
            step()
        if egl is None and (loaded := _loaded_egl()) is not None:
            loaded.eglBindAPI(_OPENGL_ES_API)  # what it is at first


class Offscreen:
    """A context without a window."""

    def __init__(self, op_name: str) -> None:
        check_process(op_name)
        self._egl = egl(op_name)
        display, config = self._display(op_name)
        self._egl.eglBindAPI(_OPENGL_API)
        context = self._egl.eglCreateContext(display, config, None, (_INT * len(_CONTEXT))(*_CONTEXT))
        if not context:
            raise RuntimeError(f"{op_name}: EGL makes no context of OpenGL 3.3 (error 0x{self._egl.eglGetError():04X})")
        self._display_of, self._context = display, context
        self.address_of: Callable[[bytes], int | None] = self._egl.eglGetProcAddress

    def _display(self, op_name: str) -> tuple[int, int]:
        """The first device of EGL that draws by OpenGL, and how."""
        devices_of = self._egl.extension("eglQueryDevicesEXT", ctypes.c_uint, _INT, _POINTER, _POINTER)
        display_of = self._egl.extension("eglGetPlatformDisplayEXT", _POINTER, ctypes.c_uint, _POINTER, _POINTER)
        devices, count = (_POINTER * 32)(), _INT(0)
        if devices_of is not None and display_of is not None:
            devices_of(len(devices), devices, ctypes.byref(count))
        for device in devices[: count.value]:
            display = display_of(_PLATFORM_DEVICE, device, None)
            if not display or not self._egl.eglInitialize(display, None, None):
                continue
            config, found = _POINTER(None), _INT(0)
            wanted = (_INT * len(_CONFIG))(*_CONFIG)
            if self._egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(found)) and found.value and config.value:
                return display, config.value
        raise RuntimeError(
            f"{op_name}: none of the {count.value} devices of EGL draws by OpenGL without a display; install the driver of the GPU, or "
            "Mesa's software one (Debian: libgl1-mesa-dri)"
        )

    def make_current(self) -> None:
        """OpenGL's functions are those of this context from now on, in this thread."""
        self._egl.eglBindAPI(_OPENGL_API)
        self._egl.eglMakeCurrent(self._display_of, None, None, self._context)

    def close(self) -> None:
        """What it has drawn with goes too."""
        self._egl.eglMakeCurrent(self._display_of, None, None, None)
        self._egl.eglDestroyContext(self._display_of, self._context)
