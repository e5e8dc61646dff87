# python/pardo/_live/drawing.py: arrays drawn by OpenGL: what kernels write is the memory that it draws from.
from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo import _core
from pardo._core import Array
from pardo._gl.buffers import Buffer, empty
from pardo._live import opengl
from pardo._live.opengl import OpenGL
from pardo._pictures import canvas, making, pixels
from pardo._pictures.colours import NONE

Shape = tuple[int, int]

_PICTURE_VERTEX = """
uniform int lower; out vec2 at;
void main() {
    vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    at = vec2(p.x, lower == 1 ? p.y : 1.0 - p.y);
    gl_Position = vec4(2.0 * p - 1.0, 0.0, 1.0);
}
"""
_PICTURE_FRAGMENT = """
uniform usampler2D levels; uniform sampler2D palette; uniform sampler2D colours; uniform int coloured; in vec2 at; out vec4 shade;
void main() { shade = coloured == 1 ? texture(colours, at) : texelFetch(palette, ivec2(texture(levels, at).r, 0), 0); }
"""
_POINTS_VERTEX = """
layout(location = 0) in float x; layout(location = 1) in float y; layout(location = 2) in float z; layout(location = 3) in uint level;
uniform mat4 to_clip; uniform float size; uniform int levelled; uniform vec4 colour; uniform sampler2D palette; out vec4 given;
void main() {
    given = levelled == 1 ? texelFetch(palette, ivec2(level, 0), 0) : colour;
    gl_Position = given.a == 0.0 ? vec4(2.0, 2.0, 2.0, 1.0) : to_clip * vec4(x, y, z, 1.0);  // without a colour it is outside
    gl_PointSize = size;
}
"""
_POINTS_FRAGMENT = "in vec4 given; out vec4 shade; void main() { shade = given; }"
_ROUND_FRAGMENT = """
in vec4 given; out vec4 shade;
void main() { if (distance(gl_PointCoord, vec2(0.5)) > 0.5) discard; shade = given; }
"""


def within(shape: Sequence[int], whole: Shape) -> tuple[int, int, int, int]:
    """The largest rectangle of that shape in the middle of a window: left, upper side, rows, columns."""
    scale = min(whole[0] / shape[0], whole[1] / shape[1])
    rows, columns = max(1, round(shape[0] * scale)), max(1, round(shape[1] * scale))
    return (whole[1] - columns) // 2, (whole[0] - rows) // 2, rows, columns


class Drawing:
    """What is drawn: it takes arrays, draws them, and knows where in them a place of the window is."""

    def __init__(self, gl: OpenGL, style: making.Style, background: NDArray[np.uint8]) -> None:
        self.gl, self.style, self.op_name = gl, style, gl.op_name
        self._background = [float(c) / 255 for c in background]
        gl.glEnable(opengl.BLEND)
        gl.glActiveTexture(opengl.TEXTURE0 + 1)
        gl.texture(opengl.RGBA8, (1, 256), opengl.RGBA, style.palette)
        gl.glActiveTexture(opengl.TEXTURE0)

    @property
    def shape(self) -> Sequence[int]:
        """What the window's shape is like."""
        raise NotImplementedError

    def draw(self, whole: Shape) -> None:
        """All of a window, or of memory for pixels."""
        gl = self.gl
        gl.glViewport(0, 0, whole[1], whole[0])
        gl.glClearColor(*self._background)
        gl.glClear(opengl.COLOUR_BIT | opengl.DEPTH_BIT)
        left, upper, rows, columns = within(self.shape, whole)
        gl.glViewport(left, whole[0] - upper - rows, columns, rows)
        self._draw()
        self.check()

    def _draw(self) -> None:
        raise NotImplementedError

    def check(self) -> None:
        """Raises what OpenGL has failed with."""
        code = self.gl.glGetError()
        if code == 0x0505:
            raise MemoryError(f"{self.op_name}: OpenGL has not enough memory")
        if code:
            raise RuntimeError(f"{self.op_name}: OpenGL fails with error 0x{code:04X}")

    def share(self, x: float, y: float, whole: Shape) -> tuple[float, float] | None:
        """Where a place is, from 0 to 1 to the right and down; None outside."""
        left, upper, rows, columns = within(self.shape, whole)
        across, down = (x - left) / columns, (y - upper) / rows
        return (across, down) if 0 <= across < 1 and 0 <= down < 1 else None

    def place(self, across: float, down: float) -> tuple[float, float] | None:
        """The same as coordinates."""
        raise NotImplementedError

    def distance(self, across: float, down: float, whole: Shape) -> tuple[float, float]:
        """The difference of two places, of so many pixels of the window."""
        _, _, rows, columns = within(self.shape, whole)
        first, second = self.place(0.0, 0.0), self.place(across / columns, down / rows)
        return (0.0, 0.0) if first is None or second is None else (second[0] - first[0], second[1] - first[1])

    def turn(self, across: float, down: float) -> bool:
        """The mouse was dragged by so many shares of the window; gives whether that changes what is drawn."""
        return False

    def close(self) -> None:
        """Lets go of OpenGL's memory: a driver that knows it is told so while the context is there."""
        raise NotImplementedError


class Picture(Drawing):
    """An array of values or of colours."""

    def __init__(self, gl: OpenGL, style: making.Style, background: NDArray[np.uint8]) -> None:
        super().__init__(gl, style, background)
        self._elements: Shape = (1, 1)
        self._memory: Buffer | None = None
        self._texture = 0
        program = gl.program(_PICTURE_VERTEX, _PICTURE_FRAGMENT)
        for unit, name in enumerate(("levels", "palette", "colours")):
            gl.glUniform1i(gl.uniform(program, name), unit)
        gl.glUniform1i(gl.uniform(program, "lower"), int(style.lower))
        self._coloured = gl.uniform(program, "coloured")

    @property
    def shape(self) -> Sequence[int]:
        return self._elements

    def take(self, x: Any, whole: Shape) -> None:
        """Makes its pixels, as many as it has elements, or as the window has for it."""
        self._elements = tuple(x.shape[:2])
        _, _, *shown = within(self._elements, whole)
        rows, columns = (min(n, most, self.gl.longest) for n, most in zip(self._elements, shown, strict=True))
        size = (rows, columns)
        style = self.style._replace(lower=False)  # drawn upside down
        if not isinstance(x, (Array, making.Split)):  # of several devices: each makes its part
            look = {name: getattr(style, name) for name in ("vmin", "vmax", "percentiles", "norm")}
            x = pixels.pixels(x, size=size, cmap=style.palette[:NONE] / 255, bad=tuple(style.palette[NONE] / 255), **look)
        coloured = len(x.shape) == 3
        memory = self._memory_for((*size, 4) if coloured else size)
        with memory.map(x.queue if isinstance(x, Array) else None, access="write") as out:
            if coloured:
                making.colours_of(x, size, style, self.op_name, 4, out)
            else:
                making.levels_of(x, size, style, out)
        gl = self.gl
        gl.glActiveTexture(opengl.TEXTURE0 + (2 if coloured else 0))
        gl.glBindBuffer(opengl.PIXEL_UNPACK_BUFFER, memory.glo)
        kind = opengl.RGBA if coloured else opengl.RED_INTEGER
        gl.glTexSubImage2D(opengl.TEXTURE_2D, 0, 0, 0, size[1], size[0], kind, opengl.UNSIGNED_BYTE, None)
        gl.glBindBuffer(opengl.PIXEL_UNPACK_BUFFER, 0)

    def close(self) -> None:
        if self._memory is not None:
            self._memory.release()

    def _memory_for(self, shape: tuple[int, ...]) -> Buffer:
        """OpenGL's memory of so many pixels, beside a texture of them."""
        if self._memory is None or self._memory.shape != shape:
            gl, coloured = self.gl, len(shape) == 3
            if self._memory is not None:
                self._memory.release()
                gl.delete("Textures", self._texture)
            self._memory = empty(shape, np.uint8)
            gl.glActiveTexture(opengl.TEXTURE0 + (2 if coloured else 0))
            internal, kind = (opengl.RGBA8, opengl.RGBA) if coloured else (opengl.R8UI, opengl.RED_INTEGER)
            self._texture = gl.texture(internal, (shape[0], shape[1]), kind)
            gl.glUniform1i(self._coloured, int(coloured))
        return self._memory

    def _draw(self) -> None:
        self.gl.glDrawArrays(opengl.TRIANGLE_STRIP, 0, 4)

    def place(self, across: float, down: float) -> tuple[float, float] | None:
        rows, columns = self._elements
        return (1 - down if self.style.lower else down) * rows, across * columns


class Points(Drawing):
    """Points, whose coordinates are rows or columns of OpenGL's memory; also coloured by a value each."""

    def __init__(
        self, gl: OpenGL, style: making.Style, background: NDArray[np.uint8], colour: NDArray[np.uint8], size: float, dimensions: int,
        levelled: bool, shape: Shape | None,
    ) -> None:  # fmt: skip
        super().__init__(gl, style, background)
        self._dimensions, self._levelled, self._shape = dimensions, levelled, shape
        self._range: list[tuple[float, float]] | None = None
        self._turned = np.eye(3)
        self.memory: Buffer | None = None
        self._levels: Buffer | None = None
        program = gl.program(_POINTS_VERTEX, _ROUND_FRAGMENT if size > 2.5 else _POINTS_FRAGMENT)
        gl.glUniform1i(gl.uniform(program, "palette"), 1)
        gl.glUniform1i(gl.uniform(program, "levelled"), int(levelled))
        gl.glUniform1f(gl.uniform(program, "size"), size)
        gl.glUniform4f(gl.uniform(program, "colour"), *(float(c) / 255 for c in colour))
        self._to_clip = gl.uniform(program, "to_clip")
        gl.glEnable(opengl.PROGRAM_POINT_SIZE)
        if not levelled and colour[3] == 255:
            gl.glDisable(opengl.BLEND)
        if dimensions == 3:
            gl.glEnable(opengl.DEPTH_TEST)

    def close(self) -> None:
        for memory in (self.memory, self._levels):
            if memory is not None:
                memory.release()

    @property
    def shape(self) -> Sequence[int]:
        return self._shape or (1, 1)

    def set_range(self, given: Sequence[tuple[float, float]] | None, x: Array) -> None:
        """What of the coordinates is seen: as given, or what the points have, and a bit more."""
        if given is None:
            first, second, *third = self.rows_of(x, self._dimensions)
            ends = list(canvas.ends_of((first, second)))
            if third:
                ends.append(canvas.ends_of((third[0], third[0]))[0])
            given = [(low - room, high + room) for low, high in ends for room in [0.05 * (high - low) or 0.5]]
        self._range = list(given)
        if self._shape is None:
            (left, right), (low, high) = self._range[:2]
            ratio = min(max((high - low) / (right - left), 0.5), 2.0) if self._dimensions == 2 else 1.0
            self._shape = (max(1, round(800 * min(ratio, 1.0))), max(1, round(800 / max(ratio, 1.0))))

    def rows_of(self, x: Array, count: int) -> list[Array]:
        """The first of the coordinates, each of all points."""
        axis = axis_of(x.shape, self._dimensions + self._levelled)
        return [x[k] if axis == 0 else x[:, k] for k in range(count)]

    def take(self, x: Array) -> None:
        """Makes colours of the values of points; the array is what OpenGL draws from."""
        if not self._levelled:
            return
        values = self.rows_of(x, self._dimensions + 1)[-1]
        count = values.shape[0]
        if self._levels is None:
            self._levels = empty((1, count), np.uint8)
        with self._levels.map(x.queue, access="write") as out:
            making.levels_of(_core._reshape(values, [1, count]), (1, count), self.style, out)

    def _draw(self) -> None:
        gl, memory = self.gl, self.memory
        assert memory is not None
        axis = axis_of(memory.shape, self._dimensions + self._levelled)
        count = memory.shape[0 if axis else 1]
        step, stride = (4 * count, 4) if axis == 0 else (4, 4 * memory.shape[1])
        gl.glBindBuffer(opengl.ARRAY_BUFFER, memory.glo)
        for k in range(self._dimensions):
            gl.glEnableVertexAttribArray(k)
            gl.glVertexAttribPointer(k, 1, opengl.FLOAT, 0, stride, step * k)
        if self._levels is not None:
            gl.glBindBuffer(opengl.ARRAY_BUFFER, self._levels.glo)
            gl.glEnableVertexAttribArray(3)
            gl.glVertexAttribIPointer(3, 1, opengl.UNSIGNED_BYTE, 1, None)
        gl.glBindBuffer(opengl.ARRAY_BUFFER, 0)
        matrix = np.ascontiguousarray(self._matrix().T, np.float32)  # column by column
        gl.glUniformMatrix4fv(self._to_clip, 1, 0, matrix.ctypes.data_as(ctypes.c_void_p))
        gl.glDrawArrays(opengl.POINTS, 0, count)

    def _matrix(self) -> NDArray[np.float64]:
        """Coordinates to those of the window, from -1 to 1."""
        assert self._range is not None
        matrix = np.eye(4)
        middle = np.array([(low + high) / 2 for low, high in self._range])
        halves = np.array([(high - low) / 2 for low, high in self._range])
        if self._dimensions == 2:
            matrix[[0, 1], [0, 1]] = 1 / halves
            matrix[:2, 3] = -middle / halves
        else:  # of all sides the same scale; a turned box stays inside
            scale = self._turned / math.sqrt((halves**2).sum())
            scale[2] *= -1  # nearer is in front
            matrix[:3, :3], matrix[:3, 3] = scale, -scale @ middle
        return matrix

    def place(self, across: float, down: float) -> tuple[float, float] | None:
        if self._range is None or self._dimensions == 3:
            return None
        (left, right), (low, high) = self._range
        return left + across * (right - left), high - down * (high - low)

    def turn(self, across: float, down: float) -> bool:
        if self._dimensions == 2:
            return False
        (a, b), (c, d) = ((math.cos(math.pi * s), math.sin(math.pi * s)) for s in (across, down))
        self._turned = np.array([[1, 0, 0], [0, c, -d], [0, d, c]]) @ np.array([[a, 0, b], [0, 1, 0], [-b, 0, a]]) @ self._turned
        return True


def axis_of(shape: Sequence[int], fewest: int) -> int | None:
    """Along which axis a point has its coordinates: the shorter one, or the first if the second has not enough of them."""
    if fewest <= shape[1] < shape[0]:
        return 1
    return 0 if shape[0] >= fewest else None
