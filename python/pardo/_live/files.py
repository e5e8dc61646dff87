# python/pardo/_live/files.py: frames in files: PNG, GIF by Pillow, movies by PyAV.
from __future__ import annotations

import fractions
import gc
import os
import string
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pardo._pictures.png import encoded

_MOVIES = {".mp4": "libx264", ".mkv": "libx264", ".webm": "libvpx-vp9"}


class Frame(NamedTuple):
    """Pixels on the host: red, green, blue and perhaps opacity, or numbers of a palette's colours."""

    pixels: NDArray[np.uint8]
    palette: NDArray[np.uint8] | None

    def png(self) -> bytes:
        return encoded(np.ascontiguousarray(self.pixels), self.palette)

    def over(self, background: NDArray[np.uint8]) -> Frame:
        """Without opacity."""
        colours = self.pixels if self.palette is None else self.palette
        if colours.shape[-1] == 4:
            share = colours[..., 3:] / np.float32(255)
            colours = np.rint(colours[..., :3] * share + background[:3] * (1 - share)).astype(np.uint8)
        return Frame(colours, None) if self.palette is None else Frame(self.pixels, colours)

    def colours(self) -> NDArray[np.uint8]:
        return self.pixels if self.palette is None else self.palette[self.pixels]


class Files:
    """Where frames go."""

    last_alone = False  # whether only the last frame is written

    def add(self, number: int, frame: Frame) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """No more frames come."""


class _Pictures(Files):
    """A PNG file for each frame, or one file, of the last one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.last_alone = all(field is None for _, field, _, _ in string.Formatter().parse(name))

    def add(self, number: int, frame: Frame) -> None:
        with open(self._name.format(number), "wb") as file:
            file.write(frame.png())


class _Gif(Files):
    """An animated picture. What has a palette keeps its colours."""

    def __init__(self, name: str, fps: float, background: NDArray[np.uint8], op_name: str) -> None:
        try:
            from PIL import Image
        except ImportError as error:
            raise ImportError(f"{op_name}: files of the kind .gif need Pillow: pip install pillow ({error})") from None
        self._image, self._name, self._fps, self._background = Image, name, fps, background
        self._frames: list[Any] = []

    def add(self, number: int, frame: Frame) -> None:
        frame = frame.over(self._background)
        image = self._image.fromarray(frame.pixels)
        if frame.palette is not None:
            image.putpalette(frame.palette.tobytes())
        self._frames.append(image)

    def close(self) -> None:
        if self._frames:
            first, *others = self._frames
            first.save(self._name, save_all=True, append_images=others, duration=max(20, round(1000 / self._fps)), loop=0, disposal=1)


class _Movie(Files):
    """A movie: pixels as they are where their numbers are even, with an edge else."""

    def __init__(self, name: str, fps: float, background: NDArray[np.uint8], op_name: str) -> None:
        kind = os.path.splitext(name)[1].lower()
        try:
            import av
        except ImportError as error:
            raise ImportError(f"{op_name}: files of the kind {kind} need PyAV: pip install av ({error})") from None
        self._av, self._background = av, background
        self._container: Any = av.open(name, "w")
        self._stream: Any = self._container.add_stream(_MOVIES[kind], rate=fractions.Fraction(fps).limit_denominator(1000))
        self._stream.pix_fmt = "yuv420p"
        self._stream.options = {"crf": "18"}
        self._started = False

    def add(self, number: int, frame: Frame) -> None:
        colours = frame.over(self._background).colours()
        rows, columns = colours.shape[:2]
        colours = np.pad(colours, ((0, rows % 2), (0, columns % 2), (0, 0)), mode="edge")
        if not self._started:
            self._stream.height, self._stream.width = colours.shape[:2]
            self._started = True
        self._container.mux(self._stream.encode(self._av.VideoFrame.from_ndarray(colours, format="rgb24")))

    def close(self) -> None:
        if self._started:
            self._container.mux(self._stream.encode())
        self._container.close()
        self._container = self._stream = None
        gc.collect()  # PyAV's objects refer to each other; freed in a process that is forked later, they would wait there for their threads


def files_of(to: Any, fps: float, background: NDArray[np.uint8], op_name: str) -> Files:
    """Where frames go, by the name's end; nothing is opened before it is known that it can be written."""
    if not isinstance(to, (str, bytes, os.PathLike)):
        raise TypeError(f"{op_name}: to is the name of a file, not {type(to).__name__}")
    name = os.fsdecode(to)
    kind = os.path.splitext(name)[1].lower()
    folder = os.path.dirname(name)
    if folder and not os.path.isdir(folder):
        raise FileNotFoundError(f"{op_name}: there is no folder {folder!r} for {name!r}")
    if kind == ".png":
        try:
            name.format(0)
        except (ValueError, IndexError, KeyError) as error:
            raise ValueError(
                f"{op_name}: {name!r} is no name of files: one field takes the frame's number, as 'frame{{:03d}}.png' ({error})"
            ) from None
        return _Pictures(name)
    if kind == ".gif":
        return _Gif(name, fps, background, op_name)
    if kind in _MOVIES:
        return _Movie(name, fps, background, op_name)
    raise ValueError(f"{op_name}: {name!r} does not end with .png, .gif, {', '.join(_MOVIES)}")
