# python/pardo/_live/opengl.py: OpenGL's functions for drawing pictures and points, in a context that is pardo's own.
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

ARRAY_BUFFER, PIXEL_UNPACK_BUFFER = 0x8892, 0x88EC
TEXTURE_2D, TEXTURE0, NEAREST, MIN_FILTER, MAG_FILTER, WRAP_S, WRAP_T, CLAMP = (
    0x0DE1,
    0x84C0,
    0x2600,
    0x2801,
    0x2800,
    0x2802,
    0x2803,
    0x812F,
)
R8UI, RGBA8, RED_INTEGER, RGBA, UNSIGNED_BYTE, FLOAT = 0x8232, 0x8058, 0x8D94, 0x1908, 0x1401, 0x1406
UNPACK_ALIGNMENT, PACK_ALIGNMENT = 0x0CF5, 0x0D05
TRIANGLE_STRIP, POINTS = 0x0005, 0x0000
BLEND, DEPTH_TEST, PROGRAM_POINT_SIZE = 0x0BE2, 0x0B71, 0x8642
COLOUR_BIT, DEPTH_BIT = 0x4000, 0x0100
_FRAMEBUFFER, _RENDERBUFFER, _COLOUR, _DEPTH, _DEPTH24, _COMPLETE = 0x8D40, 0x8D41, 0x8CE0, 0x8D00, 0x81A6, 0x8CD5
_SRC_ALPHA, _ONE_MINUS_SRC_ALPHA, _ONE = 0x0302, 0x0303, 1
_VERTEX, _FRAGMENT, _COMPILED, _LINKED, _MAX_TEXTURE = 0x8B31, 0x8B30, 0x8B81, 0x8B82, 0x0D33

_I, _U, _F, _P = ctypes.c_int, ctypes.c_uint, ctypes.c_float, ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {  # name -> what it gives, and what it takes
    "glActiveTexture": (None, _U),
    "glAttachShader": (None, _U, _U),
    "glBindBuffer": (None, _U, _U),
    "glBindFramebuffer": (None, _U, _U),
    "glBindRenderbuffer": (None, _U, _U),
    "glBindTexture": (None, _U, _U),
    "glBindVertexArray": (None, _U),
    "glBlendFuncSeparate": (None, _U, _U, _U, _U),
    "glCheckFramebufferStatus": (_U, _U),
    "glClear": (None, _U),
    "glClearColor": (None, _F, _F, _F, _F),
    "glCompileShader": (None, _U),
    "glCreateProgram": (_U,),
    "glCreateShader": (_U, _U),
    "glDeleteFramebuffers": (None, _I, _P),
    "glDeleteRenderbuffers": (None, _I, _P),
    "glDeleteTextures": (None, _I, _P),
    "glDisable": (None, _U),
    "glDrawArrays": (None, _U, _I, _I),
    "glEnable": (None, _U),
    "glEnableVertexAttribArray": (None, _U),
    "glFinish": (None,),
    "glFramebufferRenderbuffer": (None, _U, _U, _U, _U),
    "glGenFramebuffers": (None, _I, _P),
    "glGenRenderbuffers": (None, _I, _P),
    "glGenTextures": (None, _I, _P),
    "glGenVertexArrays": (None, _I, _P),
    "glGetError": (_U,),
    "glGetIntegerv": (None, _U, _P),
    "glGetProgramInfoLog": (None, _U, _I, _P, _P),
    "glGetProgramiv": (None, _U, _U, _P),
    "glGetShaderInfoLog": (None, _U, _I, _P, _P),
    "glGetShaderiv": (None, _U, _U, _P),
    "glGetUniformLocation": (_I, _U, ctypes.c_char_p),
    "glLinkProgram": (None, _U),
    "glPixelStorei": (None, _U, _I),
    "glReadPixels": (None, _I, _I, _I, _I, _U, _U, _P),
    "glRenderbufferStorage": (None, _U, _U, _I, _I),
    "glShaderSource": (None, _U, _I, _P, _P),
    "glTexImage2D": (None, _U, _I, _I, _I, _I, _I, _U, _U, _P),
    "glTexParameteri": (None, _U, _U, _I),
    "glTexSubImage2D": (None, _U, _I, _I, _I, _I, _I, _U, _U, _P),
    "glUniform1f": (None, _I, _F),
    "glUniform1i": (None, _I, _I),
    "glUniform4f": (None, _I, _F, _F, _F, _F),
    "glUniformMatrix4fv": (None, _I, _I, ctypes.c_ubyte, _P),
    "glUseProgram": (None, _U),
    "glVertexAttribIPointer": (None, _U, _I, _U, _I, _P),
    "glVertexAttribPointer": (None, _U, _I, _U, ctypes.c_ubyte, _I, _P),
    "glViewport": (None, _I, _I, _I, _I),
}


class OpenGL:
    """The functions of the context that is current, which belongs to the caller: its state is not put back."""

    def __init__(self, address_of: Callable[[bytes], int | None], op_name: str) -> None:
        self._address_of, self.op_name = address_of, op_name
        self._framebuffer: tuple[int, list[int]] | None = None
        self.glBindVertexArray(self.new("VertexArrays"))
        self.glBlendFuncSeparate(_SRC_ALPHA, _ONE_MINUS_SRC_ALPHA, _ONE, _ONE_MINUS_SRC_ALPHA)
        self.glPixelStorei(UNPACK_ALIGNMENT, 1)
        self.glPixelStorei(PACK_ALIGNMENT, 1)
        most = _I(0)
        self.glGetIntegerv(_MAX_TEXTURE, ctypes.byref(most))
        self.longest = most.value  # pixels of a texture

    def __getattr__(self, name: str) -> Any:
        if name not in _SIGNATURES:
            raise AttributeError(name)
        address = self._address_of(name.encode())
        if not address:
            raise RuntimeError(f"{self.op_name}: the OpenGL driver has no {name}")
        result, *arguments = _SIGNATURES[name]
        function = ctypes.CFUNCTYPE(result, *arguments)(address)
        setattr(self, name, function)
        return function

    def new(self, kind: str) -> int:
        """The number of a new object."""
        name = _U(0)
        getattr(self, f"glGen{kind}")(1, ctypes.byref(name))
        return name.value

    def delete(self, kind: str, name: int) -> None:
        getattr(self, f"glDelete{kind}")(1, ctypes.byref(_U(name)))

    def program(self, vertex: str, fragment: str) -> int:
        """A program of two texts."""
        program = self.glCreateProgram()
        for kind, text in ((_VERTEX, vertex), (_FRAGMENT, fragment)):
            shader = self.glCreateShader(kind)
            lines = ctypes.c_char_p(f"#version 330\n{text}".encode())
            self.glShaderSource(shader, 1, ctypes.byref(lines), None)
            self.glCompileShader(shader)
            self._check_made(shader, self.glGetShaderiv, _COMPILED, self.glGetShaderInfoLog)
            self.glAttachShader(program, shader)
        self.glLinkProgram(program)
        self._check_made(program, self.glGetProgramiv, _LINKED, self.glGetProgramInfoLog)
        self.glUseProgram(program)
        return int(program)

    def _check_made(self, name: int, ask: Any, what: int, log: Any) -> None:
        made = _I(0)
        ask(name, what, ctypes.byref(made))
        if not made.value:
            text = ctypes.create_string_buffer(4096)
            log(name, len(text), None, text)
            raise RuntimeError(f"{self.op_name}: the OpenGL driver does not compile a program: {text.value.decode(errors='replace')}")

    def uniform(self, program: int, name: str) -> int:
        return int(self.glGetUniformLocation(program, name.encode()))

    def texture(self, internal: int, shape: tuple[int, int], kind: int, pixels: NDArray[np.uint8] | None = None) -> int:
        """A texture of rows and columns, without smoothing, which is bound."""
        name = self.new("Textures")
        self.glBindTexture(TEXTURE_2D, name)
        for what, value in ((MIN_FILTER, NEAREST), (MAG_FILTER, NEAREST), (WRAP_S, CLAMP), (WRAP_T, CLAMP)):
            self.glTexParameteri(TEXTURE_2D, what, value)
        given = None if pixels is None else pixels.ctypes.data
        self.glTexImage2D(TEXTURE_2D, 0, internal, shape[1], shape[0], 0, kind, UNSIGNED_BYTE, given)
        return name

    def draw_to_pixels(self, shape: tuple[int, int]) -> None:
        """From now on is drawn into memory of so many rows and columns."""
        framebuffer, parts = self.new("Framebuffers"), []
        self.glBindFramebuffer(_FRAMEBUFFER, framebuffer)
        for kind, where in ((RGBA8, _COLOUR), (_DEPTH24, _DEPTH)):
            part = self.new("Renderbuffers")
            self.glBindRenderbuffer(_RENDERBUFFER, part)
            self.glRenderbufferStorage(_RENDERBUFFER, kind, shape[1], shape[0])
            self.glFramebufferRenderbuffer(_FRAMEBUFFER, where, _RENDERBUFFER, part)
            parts.append(part)
        if self.glCheckFramebufferStatus(_FRAMEBUFFER) != _COMPLETE:
            raise RuntimeError(f"{self.op_name}: the OpenGL driver does not draw into {shape[0]} rows and {shape[1]} columns of pixels")
        self._framebuffer = framebuffer, parts

    def draw_to_window(self) -> None:
        """The memory goes, and what is drawn is seen."""
        self.glBindFramebuffer(_FRAMEBUFFER, 0)
        if self._framebuffer is not None:
            framebuffer, parts = self._framebuffer
            self.delete("Framebuffers", framebuffer)
            for part in parts:
                self.delete("Renderbuffers", part)
            self._framebuffer = None

    def pixels(self, shape: tuple[int, int]) -> NDArray[np.uint8]:
        """What was drawn, the upper row first: red, green, blue and opacity."""
        found = np.empty((*shape, 4), np.uint8)
        self.glReadPixels(0, 0, shape[1], shape[0], RGBA, UNSIGNED_BYTE, found.ctypes.data)
        return found[::-1]
