# python/pardo/_live/live.py: a live view: a function is called for each frame, and what it gives is seen.
from __future__ import annotations

import inspect
import math
import operator
import os
from collections.abc import Callable
from typing import Any

from pardo._array.contexts import public
from pardo._base import arguments
from pardo._live import contents, files, places, running
from pardo._pictures import making
from pardo._pictures.colours import colour_of

__all__ = ["live"]

_KINDS = ("picture", "points", "points3d")


@public
def live(
    update: Callable[..., Any],
    /,
    data: Any = None,
    *,
    kind: str = "picture",
    frames: int | None = None,
    fps: float | None = 60.0,
    to: str | os.PathLike[str] | None = None,
    window: bool | None = None,
    title: str = "pardo",
    controls: bool = True,
    size: int | tuple[int, int] | None = None,
    cmap: Any = None,
    vmin: float | None = None,
    vmax: float | None = None,
    percentiles: tuple[float, float] | None = None,
    norm: str = "linear",
    origin: str = "upper",
    interpolation: str = "auto",
    bad: Any = None,
    range: Any = None,
    color: Any = "#ffffff",
    point_size: float = 1.0,
    background: Any = "#000000",
) -> int:
    """Show what a function computes while it runs: in a window, in a notebook, or in files.

    The function is called for each frame, and returns the array that is shown. Pixels are made on the array's device, in the memory that
    OpenGL draws from: the array itself is not copied.

    Parameters
    ----------
    update : callable
        ``update(frame)``, or ``update(frame, view)`` if it needs a second argument: the number of the frame, from 0, and the `LiveView`
        with keys, the mouse and `data`. It returns an array of the same shape each time, or None: the array of the frame before, or
        `data`, was changed in place.
    data : Array, optional
        What `update` changes in place, as ``view.data``, which is a copy of an array that is not pardo's. Points are kept in OpenGL's
        memory, as float32, and drawn from it.
    kind : {'picture', 'points', 'points3d'}
        'picture': arrays of values or colours, as for `show`. 'points': of shape (2, n) or (n, 2), their coordinates x and y; what more
        there is along the shorter axis is not looked at. 'points3d': three coordinates, which dragging the mouse turns.
    frames : int, optional
        How many frames are made. Default: until the window is closed, or the view, or the notebook's cell is interrupted.
    fps : float or None
        How many frames a second are made at most in windows and notebooks; None: as many as can be. Movies are played so.
    to : str or os.PathLike, optional
        Files in place of a window: ``'frame{:03d}.png'`` for a PNG file a frame, a name without a field for the last frame when all are
        made, ``.gif`` (needs Pillow), ``.mp4``, ``.mkv`` or ``.webm`` (needs PyAV: ``pip install av``).
    window : bool, optional
        True: a window in a notebook too, or beside `to`. False: no window. Default: where there is neither a notebook nor `to`.
    title : str
        Of the window.
    controls : bool
        Whether the window has keys of its own: space pauses, a dot makes one frame, ``s`` saves a PNG file in the current folder, ``q``
        closes. Escape closes always.
    size : int or pair of int, optional
        Of the window at first and of pictures in files: pixels of the longer side, or rows and columns. Default: as `show`; for points 800.
    cmap, vmin, vmax, percentiles, norm, origin, interpolation, bad : optional
        As for `show`. Points with a `cmap` are coloured by a value after their coordinates.
    range : pairs of float, optional
        What is seen of the points: the ends of each coordinate. Default: all of the first frame, and a bit more.
    color : optional
        Of points without a `cmap`: '#rrggbb', '#rrggbbaa', 3 or 4 numbers from 0 to 1, or a name that matplotlib knows.
    point_size : float
        In pixels.
    background : optional
        The colour behind.

    Returns
    -------
    int
        How many frames were made.

    Raises
    ------
    RuntimeError
        There is neither a display, a notebook nor `to`; OpenGL is needed and not there; or a window is opened by another thread than the
        main one.
    ImportError
        A window needs glfw (``pip install 'pardo[gl]'``), a file Pillow or PyAV.
    ValueError
        `update` returns an array of another shape, or arguments contradict each other.
    TypeError
        `update` takes other arguments, or values are complex.

    See Also
    --------
    show, LiveView, pardo.plot.pixels

    Notes
    -----
    An error in `update`, a late one of its kernels too, ends the view and is raised. Files have the frames that were made. While `update`
    runs, a context of OpenGL of the view's is current; the one that was current before is so again at the end.

    Examples
    --------
    >>> import os, tempfile
    >>> import pardo as pp
    >>> x = pp.linspace(0, 6, 64)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pp.live(lambda frame: pp.sin(x - frame) + pp.cos(x)[:, None], frames=3, to=os.path.join(folder, "wave{}.png"))
    ...     sorted(os.listdir(folder))
    3
    ['wave0.png', 'wave1.png', 'wave2.png']
    """
    op_name = "live"
    takes_view = _takes_view(update, op_name)
    kind = arguments.word(kind, f"{op_name}: kind", _KINDS)
    count = None if frames is None else _count(frames, op_name)
    rate = None if fps is None else _positive(fps, "fps", op_name)
    style = making.style_of(
        op_name, cmap=cmap, vmin=vmin, vmax=vmax, percentiles=percentiles, norm=norm, origin=origin, interpolation=interpolation, bad=bad
    )
    behind = colour_of(background, op_name)
    if not isinstance(title, str):
        raise TypeError(f"{op_name}: title is a str, not {type(title).__name__}")
    shown: contents.Content
    if kind == "picture":
        if range is not None:
            raise ValueError(f"{op_name}: range is of points; a part of a picture is x[rows, columns]")
        shown = contents.Pictures(style, behind, size, data, op_name)
    else:
        dimensions = 2 if kind == "points" else 3
        levelled = cmap is not None
        if not levelled and style.given:
            raise ValueError(f"{op_name}: {', '.join(style.given)} is of points that a cmap colours")
        shown = contents.Points(
            style, behind, size, data, dimensions, contents.range_of(range, dimensions, op_name), colour_of(color, op_name),
            _positive(point_size, "point_size", op_name), levelled, op_name,
        )  # fmt: skip
    place = places.choose(op_name, to is not None, window)
    if place == "files" and count is None and not takes_view:
        raise ValueError(f"{op_name}: how many frames go into {to!r}? say frames=, or let update take the view, and close it")
    written = None if to is None else files.files_of(to, rate or 60.0, behind, op_name)
    loop = running.Loop(shown, update if takes_view else lambda frame, view: update(frame), count, rate, written)
    if place == "window":
        return loop.run(lambda: loop.in_window(title, bool(controls), op_name))
    if place == "notebook":
        return loop.run(lambda: loop.in_notebook(places.display(), op_name))
    return loop.run(lambda: loop.without_window(op_name))


def _takes_view(update: Any, op_name: str) -> bool:
    """Whether it needs two arguments."""
    if not callable(update):
        raise TypeError(f"{op_name}: update is a function that is called with the number of each frame, not {type(update).__name__}")
    try:
        parameters = list(inspect.signature(update).parameters.values())
    except (TypeError, ValueError):  # not known of functions of C
        return False
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in places if p.default is p.empty]
    others = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    several = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    if others or len(needed) > 2 or not (places or several):
        raise TypeError(f"{op_name}: update takes the number of a frame, and the view if it needs it: update(frame) or update(frame, view)")
    return len(needed) == 2 or (several and not places)


def _count(frames: Any, op_name: str) -> int:
    try:
        count = operator.index(frames)
    except TypeError:
        raise TypeError(f"{op_name}: frames is a number of frames, not {type(frames).__name__}") from None
    if count < 1:
        raise ValueError(f"{op_name}: frames is {count}; there must be at least one")
    return count


def _positive(value: Any, name: str, op_name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{op_name}: {name} is a number, not {type(value).__name__}") from None
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{op_name}: {name} is {number}; it must be positive")
    return number
