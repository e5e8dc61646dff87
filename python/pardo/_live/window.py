# python/pardo/_live/window.py: a window of the desktop by GLFW: what is drawn is seen, keys and mouse are noted.
from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from pardo._live import contexts

_NAMES = {  # of keys that type nothing; others have the character that they type
    "SPACE": "space", "ESCAPE": "escape", "ENTER": "enter", "TAB": "tab", "BACKSPACE": "backspace", "INSERT": "insert", "DELETE": "delete",
    "RIGHT": "right", "LEFT": "left", "DOWN": "down", "UP": "up", "PAGE_UP": "pageup", "PAGE_DOWN": "pagedown", "HOME": "home",
    "END": "end", "LEFT_SHIFT": "shift", "RIGHT_SHIFT": "shift", "LEFT_CONTROL": "ctrl", "RIGHT_CONTROL": "ctrl", "LEFT_ALT": "alt",
    "RIGHT_ALT": "alt", "LEFT_SUPER": "super", "RIGHT_SUPER": "super", "KP_ENTER": "enter", **{f"F{k}": f"f{k}" for k in range(1, 13)},
}  # fmt: skip
HEADLESS = "; without a window show(x, path='picture.png') and live(update, frames=100, to='frame{:03d}.png') write files"
_BUTTONS = {0: "left", 1: "right", 2: "middle"}


def display() -> bool:
    """Whether the environment names a display."""
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))


class Input:
    """What keys and the mouse have done."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.buttons: set[str] = set()
        self.pointer: tuple[float, float] | None = None
        self.commands: list[str] = []  # keys that the window itself may know
        self.turned = (0.0, 0.0)
        self.clear()

    def clear(self) -> None:
        """Begins a new frame: what is held stays."""
        self.pressed: list[str] = []
        self.clicks: list[tuple[str, tuple[float, float]]] = []
        self.wheel = 0.0
        self.dragged = (0.0, 0.0)


class Window:
    """A window with a context of OpenGL; in the main thread."""

    def __init__(self, title: str, size: tuple[int, int], op_name: str) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError(f"{op_name}: windows are opened by the main thread of a program, not by {threading.current_thread().name!r}")
        contexts.check_process(op_name)
        self._glfw = glfw = _library(op_name)
        self.input = Input()
        self.changed = True  # its size, or what is seen of it
        with contexts.errors_of(glfw) as errors:
            if not glfw.init():
                raise RuntimeError(f"{op_name}: there is no display for a window ({'; '.join(errors) or 'GLFW does not start'}){HEADLESS}")
            glfw.default_window_hints()
            for hint, value in (
                (glfw.CONTEXT_VERSION_MAJOR, 3),
                (glfw.CONTEXT_VERSION_MINOR, 3),
                (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE),
                (glfw.OPENGL_FORWARD_COMPAT, glfw.TRUE),
                (glfw.DEPTH_BITS, 24),
                (glfw.VISIBLE, glfw.FALSE),
            ):
                glfw.window_hint(hint, value)
            self._window = glfw.create_window(size[1], size[0], title, None, None)
            glfw.default_window_hints()
            if not self._window:
                raise RuntimeError(f"{op_name}: GLFW opens no window that OpenGL draws into ({'; '.join(errors)}){HEADLESS}")
        self._size = self._ask_size()
        glfw.set_key_callback(self._window, self._on_key)
        glfw.set_mouse_button_callback(self._window, self._on_button)
        glfw.set_cursor_pos_callback(self._window, self._on_move)
        glfw.set_cursor_enter_callback(self._window, self._on_enter)
        glfw.set_scroll_callback(self._window, self._on_scroll)
        glfw.set_framebuffer_size_callback(self._window, self._on_change)
        glfw.set_window_refresh_callback(self._window, self._on_change)
        glfw.set_window_focus_callback(self._window, self._on_focus)

    # what it is now

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of its pixels."""
        return self._size[0]

    def _ask_size(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Rows and columns of its pixels, and in the units of places: an answer of the display, which takes a while."""
        (columns, rows), (width, height) = (ask(self._window) for ask in (self._glfw.get_framebuffer_size, self._glfw.get_window_size))
        return (max(rows, 1), max(columns, 1)), (max(height, 1), max(width, 1))

    @property
    def closing(self) -> bool:
        """Whether it is to close: by its button, or `end`."""
        return bool(self._glfw.window_should_close(self._window))

    def end(self) -> None:
        self._glfw.set_window_should_close(self._window, True)

    def make_current(self) -> None:
        self._glfw.make_context_current(self._window)

    def show(self) -> None:
        """What was drawn is seen now. That does not wait for the screen, which shows nothing of a window that is hidden."""
        self._glfw.swap_interval(0)
        self._glfw.swap_buffers(self._window)
        self._glfw.show_window(self._window)

    def say(self, title: str) -> None:
        self._glfw.set_window_title(self._window, title)

    def resize(self, size: tuple[int, int], fit: bool) -> None:
        """Rows and columns; `fit`: smaller where the screen is."""
        screen = self._glfw.get_primary_monitor()
        share = 1.0
        if fit and screen:
            _, _, width, height = self._glfw.get_monitor_workarea(screen)
            share = min(share, 0.9 * width / size[1], 0.9 * height / size[0])
        rows, columns = (max(1, round(n * share)) for n in size)
        self._glfw.set_window_size(self._window, columns, rows)
        self._glfw.poll_events()
        self._size = self._ask_size()

    def address_of(self, name: bytes) -> int | None:
        """Where a function of OpenGL is."""
        address: int | None = self._glfw.get_proc_address(name.decode())
        return address

    def wait(self, until: float) -> None:
        """Notes what happens until a time, or for a moment where that is past; a signal is seen within a tenth of a second."""
        left = until - time.perf_counter()
        if left <= 0:
            self._glfw.poll_events()
        else:
            self._glfw.wait_events_timeout(min(left, 0.1))

    def close(self) -> None:
        self._glfw.make_context_current(None)
        self._glfw.destroy_window(self._window)
        self._glfw.poll_events()

    def turned(self) -> tuple[float, float]:
        """How far the mouse was dragged since this was asked before, in pixels."""
        found, self.input.turned = self.input.turned, (0.0, 0.0)
        return found

    # what happens

    def _name(self, key: int, scancode: int) -> str:
        for name, meant in _NAMES.items():
            if key == getattr(self._glfw, f"KEY_{name}"):
                return meant
        return (self._glfw.get_key_name(key, scancode) or f"key{key}").lower()

    def _on_key(self, window: Any, key: int, scancode: int, action: int, mods: int) -> None:
        name = self._name(key, scancode)
        if action == self._glfw.RELEASE:
            self.input.keys.discard(name)
            return
        if action == self._glfw.PRESS:
            self.input.keys.add(name)
            self.input.commands.append(name)
        self.input.pressed.append(name)  # again and again, while it is held

    def _on_button(self, window: Any, button: int, action: int, mods: int) -> None:
        name = _BUTTONS.get(button, f"button{button + 1}")
        if action == self._glfw.RELEASE:
            self.input.buttons.discard(name)
            return
        self.input.buttons.add(name)
        if self.input.pointer is None:
            self._on_move(window, *self._glfw.get_cursor_pos(self._window))
        assert self.input.pointer is not None
        self.input.clicks.append((name, self.input.pointer))

    def _on_move(self, window: Any, x: float, y: float) -> None:
        (rows, columns), (height, width) = self._size
        former, now = self.input.pointer, (x * columns / width, y * rows / height)
        if former is not None and "left" in self.input.buttons:
            across, down = now[0] - former[0], now[1] - former[1]
            self.input.dragged = (self.input.dragged[0] + across, self.input.dragged[1] + down)
            self.input.turned = (self.input.turned[0] + across, self.input.turned[1] + down)
        self.input.pointer = now

    def _on_enter(self, window: Any, entered: int) -> None:
        if not entered:
            self.input.pointer = None

    def _on_scroll(self, window: Any, x: float, y: float) -> None:
        self.input.wheel += y

    def _on_change(self, window: Any, *size: int) -> None:
        self._size = self._ask_size()
        self.changed = True

    def _on_focus(self, window: Any, focused: int) -> None:
        if not focused:  # releases are told to other windows
            self.input.keys.clear()
            self.input.buttons.clear()


def _library(op_name: str) -> Any:
    """GLFW, that of Wayland where there is nothing else."""
    variant = "PYGLFW_LIBRARY_VARIANT"
    alone = "glfw" not in sys.modules and not os.environ.get("DISPLAY") and bool(os.environ.get("WAYLAND_DISPLAY"))
    alone = alone and variant not in os.environ
    try:
        if alone:
            os.environ[variant] = "wayland"
        import glfw
    except ImportError as error:
        raise ImportError(f"{op_name}: a window needs glfw: pip install 'pardo[gl]' ({error}){HEADLESS}") from None
    finally:
        if alone:
            del os.environ[variant]
    return glfw
