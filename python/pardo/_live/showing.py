# python/pardo/_live/showing.py: pictures of arrays in notebooks, windows and files.
from __future__ import annotations

import os
import struct
from typing import Any

from pardo._array.contexts import public
from pardo._base.arguments import array
from pardo._live import contents, places, running
from pardo._pictures import making
from pardo._pictures.colours import colour_of

__all__ = ["show"]

MOST, LEAST = 1024, 256  # pixels of the longer side in notebooks


@public
def show(
    x: Any,
    /,
    *,
    path: Any = None,
    window: bool | None = None,
    title: str = "pardo",
    size: int | tuple[int, int] | None = None,
    cmap: Any = None,
    vmin: float | None = None,
    vmax: float | None = None,
    percentiles: tuple[float, float] | None = None,
    norm: str = "linear",
    origin: str = "upper",
    interpolation: str = "auto",
    bad: Any = None,
) -> None:
    """Show an array as a picture, in a notebook, in a window or as a PNG file.

    The picture is made on the array's device; what comes to the host is one byte for each pixel, or its 3 or 4 colours. A window draws the
    memory that the device has written, and the call waits until it is closed.

    Parameters
    ----------
    x : Array or ShardedArray
        Of shape (rows, columns), real or bool, or of shape (rows, columns, 3 or 4): red, green, blue and opacity, as floats from 0 to 1 or
        integers from 0 to 255; what lies outside is clipped.
    path : str, os.PathLike or file object, optional
        Where the picture is written, by a name that ends with ``.png``, or a file that is open for bytes. Default: it is shown in the
        notebook, and elsewhere in a window where there is a display.
    window : bool, optional
        True: in a window, also in a notebook. False: never in one. Default: where there is neither a path nor a notebook. A window needs
        glfw (``pip install 'pardo[gl]'``); ``q`` and escape close it, ``s`` saves a PNG file in the current folder.
    title : str
        Of the window.
    size : int or pair of int, optional
        Pixels of the longer side, or rows and columns. Default: in a file one for each element, in a notebook from 256 to 1024, in a
        window from 512 to 1024 at first.
    cmap : optional
        The colours of values: 'viridis', 'magma', 'inferno', 'coolwarm' or 'gray', also with ``_r`` at the end; a name or colour map of
        matplotlib; or rows of 3 or 4 numbers from 0 to 1, with straight lines between them. There are 255 of them. Default: 'viridis'.
    vmin, vmax : float, optional
        The values of the first and of the last colour, which values beyond them have too. Default: the least and the greatest finite value
        of the picture; False and True of an array of bools.
    percentiles : pair of float, optional
        Take these percentiles of the picture's values in place of the least and the greatest, as ``(1, 99)``.
    norm : {'linear', 'log', 'centered'}
        How values become colours: linearly, by their logarithm, where what is not positive has no colour, or linearly from -m to m, where
        m is the greatest magnitude of the limits.
    origin : {'upper', 'lower'}
        Where row 0 is.
    interpolation : {'auto', 'nearest'}
        A pixel that covers several elements is their mean, without NaN, or the one in its middle.
    bad : optional
        The colour of pixels without values, NaN: '#rrggbb', '#rrggbbaa', 3 or 4 numbers from 0 to 1, 'none', or a name that matplotlib
        knows. Default: what the colour map of matplotlib says, else 'none', which is transparent.

    Raises
    ------
    TypeError
        The values are complex, or an argument has no such meaning.
    ValueError
        The array has another shape or no elements, arguments contradict each other, or the name does not end with ``.png``.
    RuntimeError
        There is neither a path, a notebook nor a display, or a window is opened by another thread than the main one.
    ImportError
        A window needs glfw.

    See Also
    --------
    live, pardo.plot.pixels, pardo.plot.density

    Examples
    --------
    >>> import io
    >>> import pardo as pp
    >>> file = io.BytesIO()
    >>> pp.show(pp.arange(12.0).reshape(3, 4), path=file, cmap="magma")
    >>> file.getvalue()[:4]
    b'\\x89PNG'
    """
    if not isinstance(title, str):
        raise TypeError(f"show: title is a str, not {type(title).__name__}")
    if path is not None and not hasattr(path, "write"):
        _check_name(path)
    if path is not None and window:
        raise ValueError("show: a picture is shown in a window or written to a path, not both; call show twice")
    place = places.choose("show", path is not None, window)
    if place == "window":
        _in_window(
            x, title, size, cmap=cmap, vmin=vmin, vmax=vmax, percentiles=percentiles, norm=norm, origin=origin, interpolation=interpolation,
            bad=bad,
        )  # fmt: skip
        return
    display = None
    if place == "notebook":
        display = places.display()
        if size is None:
            size = _fitting(x)
    made = making.png_of(
        x,
        size=size,
        cmap=cmap,
        vmin=vmin,
        vmax=vmax,
        percentiles=percentiles,
        norm=norm,
        origin=origin,
        interpolation=interpolation,
        bad=bad,
    )
    if display is not None:
        columns, rows = struct.unpack(">II", made[16:24])
        display({"image/png": made, "text/plain": f"<picture of {rows} rows and {columns} columns>"}, raw=True)
    elif hasattr(path, "write"):
        path.write(made)
    else:
        with open(path, "wb") as file:
            file.write(made)


def _check_name(path: Any) -> None:
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"show: path is the name of a file, or a file that is open for bytes, not {type(path).__name__}")
    name = os.fsdecode(path)
    if not name.lower().endswith(".png"):
        raise ValueError(f"show: {name!r} does not end with .png; for other files give pardo.plot.pixels(x) to Pillow or matplotlib")


def _in_window(x: Any, title: str, size: Any, **look: Any) -> None:
    """One frame, which stays."""
    style = making.style_of("show", **look)
    shown = contents.Pictures(style, colour_of("#000000", "show"), size, x if isinstance(x, making.Split) else array(x, "show"), "show")

    def stay(frame: int, view: Any) -> None:
        view.paused = True

    loop = running.Loop(shown, stay, None, None, None)
    loop.run(lambda: loop.in_window(title, True, "show"))


def _fitting(x: Any) -> int | None:
    """Pixels of the longer side in a notebook: small arrays have several for each element."""
    longest = max(getattr(x, "shape", ())[:2], default=0)
    return min(longest * -(-LEAST // longest), MOST) if longest else None
