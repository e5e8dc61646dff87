# python/pardo/_live/view.py: what a function that is called for each frame of a live view knows of it, and does with it.
from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

from pardo._base.tracebacks import show_classes

__all__ = ["LiveView"]

Place = tuple[float, float]


class LiveView:
    """The view of `live`, which its `update` is given: keys, the mouse, and what can be done with the view.

    Places are (row, column) of the array that is shown, with fractions, or (x, y) of points in two dimensions. Without a window there are
    no keys and no mouse.

    Attributes
    ----------
    frame : int
        The number of the frame that is made, from 0.
    data : Array
        What `live` was given as `data`; of points it is OpenGL's memory, for the time of the call.
    keys : frozenset of str
        Keys that are held: the character that a key types, 'left', 'right', 'up', 'down', 'enter', 'escape', 'space', 'tab', 'shift',
        'ctrl', 'alt', 'f1' and so on.
    pressed : tuple of str
        Keys that were pressed since the frame before, in their order, again and again while they are held.
    mouse : tuple of float or None
        Where the mouse is; None outside of the picture.
    buttons : frozenset of str
        Buttons of the mouse that are held: 'left', 'middle', 'right'.
    clicks : tuple of (str, tuple of float)
        Buttons that were pressed since the frame before, and where.
    wheel : float
        Notches that the wheel was turned since the frame before; positive away from the user.
    drag : tuple of float
        How far the mouse was moved since the frame before while its left button was held.
    paused : bool
        Whether no more frames are made until the user goes on; may be set.
    closed : bool
        Whether this is the last frame, as the view was closed.

    See Also
    --------
    live

    Examples
    --------
    >>> import os, tempfile
    >>> import pardo as pp
    >>> def update(frame, view):
    ...     view.data += frame
    ...     if frame == 3:
    ...         view.close()
    >>> x = pp.zeros((4, 4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pp.live(update, x, to=os.path.join(folder, "last.png"))
    4
    >>> x[0, 0]
    array(6.)
    """

    __module__ = "pardo"

    frame: int
    keys: frozenset[str]
    pressed: tuple[str, ...]
    mouse: Place | None
    buttons: frozenset[str]
    clicks: tuple[tuple[str, Place], ...]
    wheel: float
    drag: Place
    paused: bool

    def __init__(self, data: Any, save: Callable[[str], None]) -> None:
        self.frame, self._data, self.paused = -1, data, False
        self._save, self._closed, self._running = save, False, True
        self._owner = (os.getpid(), threading.get_ident())
        self._set()

    def _set(
        self, keys: Any = (), pressed: Any = (), mouse: Place | None = None, buttons: Any = (), clicks: Any = (), wheel: float = 0.0,
        drag: Place = (0.0, 0.0),
    ) -> None:  # fmt: skip
        self.keys, self.pressed, self.mouse, self.buttons = frozenset(keys), tuple(pressed), mouse, frozenset(buttons)
        self.clicks, self.wheel, self.drag = tuple(clicks), wheel, drag

    def _end(self) -> None:
        self._running, self._closed = False, True

    def _check(self, op_name: str) -> None:
        if self._owner[0] != os.getpid():
            raise RuntimeError(f"{op_name}: the view is of the process that this one was forked from")
        if not self._running:
            raise RuntimeError(f"{op_name}: the view was closed; live(...) opens another one")

    @property
    def data(self) -> Any:
        return self._data

    @data.setter
    def data(self, value: Any) -> None:
        if value is not self._data:  # as `view.data += 1` assigns
            raise TypeError(
                "LiveView.data: it is changed in place, view.data[...] = x, and is not replaced; or return the array from update"
            )

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """Make this frame the last one. Other threads may call it too."""
        if self._owner[0] != os.getpid():
            self._check("LiveView.close")
        self._closed = True

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the frame before, which is seen, into a PNG file.

        Parameters
        ----------
        path : str or os.PathLike
            The name of the file, which ends with ``.png``.

        Raises
        ------
        RuntimeError
            The view was closed, nothing is seen yet, or this is another thread than the view's.
        ValueError
            The name does not end with ``.png``.
        """
        op_name = "LiveView.save"
        self._check(op_name)
        if self._owner[1] != threading.get_ident():
            raise RuntimeError(f"{op_name}: the view belongs to the thread that called live(...)")
        name = os.fsdecode(path)
        if not name.lower().endswith(".png"):
            raise ValueError(f"{op_name}: {name!r} does not end with .png")
        self._save(name)

    def __repr__(self) -> str:
        return f"<LiveView{' (closed)' if self._closed else ''}, frame {self.frame}>"


show_classes(__name__)
