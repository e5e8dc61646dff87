# python/pardo/_live/places.py: where something is shown: in files, in a notebook, or in a window.
from __future__ import annotations

from typing import Any

from pardo._base import notebook
from pardo._live import window as windows


def in_notebook() -> bool:
    return getattr(notebook.shell(), "kernel", None) is not None


def display() -> Any:
    """What shows data below a cell."""
    from IPython.display import display

    return display


def choose(op_name: str, to_files: bool, window: Any) -> str:
    """'files', 'notebook' or 'window': what the caller says, else the notebook, else a window where the environment names a display."""
    if window is not None and not isinstance(window, bool):
        raise TypeError(f"{op_name}: window is True, False or None, not {type(window).__name__}")
    if window:
        return "window"
    if to_files:
        return "files"
    if in_notebook():
        return "notebook"
    if window is None and windows.display():
        return "window"
    missing = "there is no display for a window, as neither DISPLAY nor WAYLAND_DISPLAY is set"
    why = "window=False leaves nothing to show it in" if window is False else missing
    raise RuntimeError(f"{op_name}: the program does not run in a notebook, and {why}; {_ELSE[op_name]}")


_ELSE = {
    "show": (
        "show(x, path='picture.png') writes a file, and pardo.plot.pixels(x) are pixels for matplotlib's imshow and for windows of your own"
    ),
    "live": "live(update, frames=100, to='frame{:03d}.png') writes files, and so does to='movie.gif'",
}
