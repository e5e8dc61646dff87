# python/pardo/_pictures/pixels.py: the pixels of a picture, for other libraries and windows.
from __future__ import annotations

from typing import Any

from pardo._array.contexts import public
from pardo._core import Array
from pardo._pictures import making

__all__ = ["pixels"]


@public
def pixels(
    x: Any,
    /,
    *,
    size: int | tuple[int, int] | None = None,
    cmap: Any = None,
    vmin: float | None = None,
    vmax: float | None = None,
    percentiles: tuple[float, float] | None = None,
    norm: str = "linear",
    origin: str = "upper",
    interpolation: str = "auto",
    bad: Any = None,
) -> Array:
    """Make the pixels of a picture of an array, on its device.

    Parameters
    ----------
    x : Array or ShardedArray
        The array, as for `pardo.show`.
    size : int or pair of int, optional
        Pixels of the longer side, or rows and columns. Default: one for each element.
    cmap, vmin, vmax, percentiles, norm, origin, interpolation, bad : optional
        As for `pardo.show`.

    Returns
    -------
    Array
        Red, green, blue and opacity of each pixel: of shape (rows, columns, 4), uint8. Nothing is waited for.

    Raises
    ------
    TypeError
        The values are complex, or an argument has no such meaning.
    ValueError
        The array has another shape or no elements, or arguments contradict each other.

    See Also
    --------
    pardo.show

    Examples
    --------
    >>> import pardo as pp
    >>> pp.plot.pixels(pp.asarray([[0.0, 1.0]]), cmap="gray")
    array([[[  0,   0,   0, 255],
            [255, 255, 255, 255]]], dtype=uint8)
    """
    return making.pixels_of(
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
