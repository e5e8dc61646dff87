# python/pardo/_live/contents.py: what a live view shows: the results of a function, as a picture or as points.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pardo._array.interop import asarray, asnumpy
from pardo._base.takers import TAKERS
from pardo._core import Array
from pardo._functions.operands import cast
from pardo._gl.buffers import empty
from pardo._live import drawing
from pardo._live.files import Frame
from pardo._live.opengl import OpenGL
from pardo._pictures import making, pixels
from pardo._pictures.colours import NONE

Shape = tuple[int, int]
LEAST, MOST = 512, 1024  # pixels of the longer side of a window, at first


class Content:
    """What is shown, and what becomes of it."""

    needs_opengl = False  # without a window too

    def __init__(self, style: making.Style, background: NDArray[np.uint8], size: Any, op_name: str) -> None:
        self.style, self.background, self.size, self.op_name = style, background, size, op_name
        self.data: Any = None
        self._gl: OpenGL | None = None

    def open(self, gl: OpenGL, make_current: Callable[[], None]) -> None:
        """OpenGL is there: a window's, or one without."""
        self._gl, self._make_current = gl, make_current

    def close(self) -> None:
        """Gives OpenGL's memory back, while its context is there."""
        drawn: drawing.Drawing | None = vars(self).get("_drawing")
        if drawn is not None:
            self._make_current()
            drawn.close()

    def step(self, call: Callable[[Any], Any]) -> None:
        """Calls the function with the data, and takes what it gives."""
        raise NotImplementedError

    def window_size(self) -> Shape:
        """Rows and columns that a window has at first."""
        raise NotImplementedError

    def draw(self, whole: Shape, new: bool) -> None:
        """All of a window; `new`: what is shown or the window's size has changed."""
        raise NotImplementedError

    def drawing(self) -> drawing.Drawing:
        raise NotImplementedError

    def frame(self) -> Frame:
        """The pixels on the host, for files."""
        raise NotImplementedError


class Pictures(Content):
    """Arrays of values or of colours."""

    def __init__(self, style: making.Style, background: NDArray[np.uint8], size: Any, data: Any, op_name: str) -> None:
        super().__init__(style, background, size, op_name)
        self.data = data if data is None or isinstance(data, (Array, making.Split)) else asarray(data)
        self._shown: Any = None if data is None else self._checked(self.data)
        self._copied = False  # the last one that was returned is the user's, and what is shown a copy of it
        self._drawing: drawing.Picture | None = None

    def _checked(self, x: Any) -> Any:
        if type(x) not in TAKERS:
            x = making.picture_of(x if isinstance(x, (Array, making.Split)) else asarray(x), self.op_name)
        if 0 in x.shape:
            raise ValueError(f"{self.op_name}: an array of shape {x.shape} has no pixels")
        making.size_of(self.size, x.shape, self.op_name)
        return x

    def open(self, gl: OpenGL, make_current: Callable[[], None]) -> None:
        super().open(gl, make_current)
        self._drawing = drawing.Picture(gl, self.style, self.background)

    def drawing(self) -> drawing.Drawing:
        assert self._drawing is not None
        return self._drawing

    def step(self, call: Callable[[Any], Any]) -> None:
        found = call(self.data)
        if self._gl is not None:
            self._make_current()
        if found is None:
            if self._shown is None:
                raise ValueError(
                    f"{self.op_name}: update has returned None; it returns the array that is shown, or changes `data`, given to live"
                )
            if self._copied:
                raise TypeError(
                    f"{self.op_name}: update has returned None, and before that an array that is not pardo's, of which a copy is shown: "
                    "return it each time, or change `view.data` in place"
                )
            self._wait()
            return
        self._copied = type(found) not in TAKERS and not isinstance(found, (Array, making.Split))
        found = self._checked(found)
        if self._shown is not None and found.shape != self._shown.shape:
            raise ValueError(
                f"{self.op_name}: update has returned an array of shape {found.shape}, and before that {self._shown.shape}; a view shows "
                "arrays of one shape"
            )
        self._shown = found
        self._wait()

    def _wait(self) -> None:
        """A frame that is not drawn is computed too: a failure of its kernels comes now, and no work piles up."""
        if self._gl is None:
            self._shown.wait()

    def window_size(self) -> Shape:
        shape = self._shown.shape
        if self.size is not None:
            return making.size_of(self.size, shape, self.op_name)
        longest = max(shape[:2])
        return making.size_of(min(longest * -(-LEAST // longest), MOST), shape, self.op_name)

    def draw(self, whole: Shape, new: bool) -> None:
        assert self._drawing is not None
        if new:
            self._drawing.take(self._shown, whole)
        self._drawing.draw(whole)

    def frame(self) -> Frame:
        x, style = self._shown, self.style
        size = making.size_of(self.size, x.shape, self.op_name)
        if not isinstance(x, (Array, making.Split)):
            look = {name: getattr(style, name) for name in ("vmin", "vmax", "percentiles", "norm")}
            palette = style.palette / 255
            origin = "lower" if style.lower else "upper"
            shown = pixels.pixels(x, size=size, cmap=palette[:NONE], bad=tuple(palette[NONE]), origin=origin, **look)
            return Frame(asnumpy(shown), None)
        if isinstance(x, Array) and len(x.shape) == 3:
            return Frame(asnumpy(making.colours_of(x, size, style, self.op_name)), None)
        return Frame(asnumpy(making.levels_of(x, size, style)), style.palette)


class Points(Content):
    """Points: their coordinates are in OpenGL's memory, which is drawn from."""

    needs_opengl = True

    def __init__(
        self, style: making.Style, background: NDArray[np.uint8], size: Any, data: Any, dimensions: int, range: Any,
        colour: NDArray[np.uint8], point_size: float, levelled: bool, op_name: str,
    ) -> None:  # fmt: skip
        super().__init__(style, background, self._checked_size(size, op_name), op_name)
        self._dimensions, self._levelled = dimensions, levelled
        self._colour, self._point_size, self._range = colour, point_size, range
        self._drawing: drawing.Points | None = None
        self._first = None if data is None else self._checked(data)
        self._given = data is not None

    @staticmethod
    def _checked_size(size: Any, op_name: str) -> Shape | None:
        return None if size is None else making.size_of(size, (1, 1), op_name)

    def _checked(self, found: Any) -> Array:
        x: Array = found if isinstance(found, Array) else asarray(found)
        if x._kind == "c":
            raise TypeError(f"{self.op_name}: coordinates are real numbers, not {x.dtype}")
        fewest = self._dimensions + self._levelled
        if x.ndim != 2 or drawing.axis_of(x.shape, fewest) is None:
            more = " and a value, which cmap colours," if self._levelled else ""
            raise ValueError(
                f"{self.op_name}: points are an array of shape ({fewest} or more, n) or (n, {fewest} or more): {self._dimensions} "
                f"coordinates{more} each; not {x.shape}"
            )
        if 0 in x.shape:
            raise ValueError(f"{self.op_name}: an array of shape {x.shape} has no points")
        return x

    def open(self, gl: OpenGL, make_current: Callable[[], None]) -> None:
        super().open(gl, make_current)
        self._drawing = drawing.Points(
            gl, self.style, self.background, self._colour, self._point_size, self._dimensions, self._levelled, self.size
        )
        if self._first is not None:
            x, self._first = self._first, None
            self._begin(x)

    def _begin(self, x: Array) -> None:
        """Takes the first points, and makes OpenGL's memory for them and all others."""
        points = self._drawing
        assert points is not None
        points.memory = empty(x.shape, np.float32)
        points.set_range(self._range, x)
        self._queue = x.queue
        with points.memory.map(x.queue, access="write") as memory:
            memory[...] = cast(x, np.float32)
            points.take(memory)

    def drawing(self) -> drawing.Drawing:
        assert self._drawing is not None
        return self._drawing

    def step(self, call: Callable[[Any], Any]) -> None:
        points = self._drawing
        assert points is not None
        if self._given:
            assert points.memory is not None
            with points.memory.map(self._queue) as memory:
                try:
                    found = call(memory)
                finally:
                    self._make_current()
                if found is not None and found is not memory:
                    memory[...] = cast(self._same(found), np.float32)
                points.take(memory)
            return
        found = call(None)
        self._make_current()
        if found is None:
            if points.memory is None:
                raise ValueError(
                    f"{self.op_name}: update has returned None; it returns the points that are shown, or changes `data`, given to live"
                )
            return
        if points.memory is None:
            self._begin(self._checked(found))
            return
        x = self._same(found)
        with points.memory.map(x.queue, access="write") as memory:
            memory[...] = cast(x, np.float32)
            points.take(memory)

    def _same(self, found: Any) -> Array:
        assert self._drawing is not None
        assert self._drawing.memory is not None
        x, shape = self._checked(found), self._drawing.memory.shape
        if x.shape != shape:
            raise ValueError(
                f"{self.op_name}: update has returned points of shape {x.shape}, and before that {shape}; a view shows arrays of one shape"
            )
        return x

    def window_size(self) -> Shape:
        assert self._drawing is not None
        rows, columns = self._drawing.shape
        return rows, columns

    def draw(self, whole: Shape, new: bool) -> None:
        self.drawing().draw(whole)

    def frame(self) -> Frame:
        gl, size = self._gl, self.window_size()
        assert gl is not None
        gl.draw_to_pixels(size)
        try:
            self.drawing().draw(size)
            return Frame(gl.pixels(size), None)
        finally:
            gl.draw_to_window()


def range_of(range: Any, dimensions: int, op_name: str) -> Sequence[tuple[float, float]] | None:
    """Ends of each coordinate, as given."""
    if range is None:
        return None
    try:
        ends = [(float(low), float(high)) for low, high in range]
    except (TypeError, ValueError):
        ends = []
    if len(ends) != dimensions:
        raise TypeError(f"{op_name}: range is {dimensions} pairs of numbers, the ends of each coordinate, not {range!r}")
    for low, high in ends:
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise ValueError(f"{op_name}: range is {range!r}; each pair rises, and is finite")
    return ends
