# tests/python/displays.py: displays for tests: an X server in memory, what is on its screen, and a user's keys and mouse.
from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

_P, _I, _U, _L = ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_ulong
_X11: dict[str, tuple[Any, ...]] = {
    "XOpenDisplay": (_P, ctypes.c_char_p),
    "XCloseDisplay": (_I, _P),
    "XDefaultRootWindow": (_L, _P),
    "XSync": (_I, _P, _I),
    "XGetImage": (_P, _P, _L, _I, _I, _U, _U, _L, _I),
    "XDestroyImage": (_I, _P),
    "XStringToKeysym": (_L, ctypes.c_char_p),
    "XKeysymToKeycode": (ctypes.c_ubyte, _P, _L),
}
_XTEST: dict[str, tuple[Any, ...]] = {
    "XTestFakeKeyEvent": (_I, _P, _U, _I, _L),
    "XTestFakeButtonEvent": (_I, _P, _U, _I, _L),
    "XTestFakeMotionEvent": (_I, _P, _I, _I, _I, _L),
}


def started() -> Iterator[str]:
    """The name of a display in memory, for as long as it runs."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed, which has displays without a screen")
    reader, writer = os.pipe()
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as file:
        number = file.readline().strip()
    if not number:
        server.wait()
        pytest.skip("Xvfb does not start here")
    yield f":{number}"
    server.terminate()
    server.wait()


class User:
    """Looks at a display, and has a keyboard and a mouse."""

    def __init__(self, display: str) -> None:
        try:
            self._x, self._test = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        except OSError as error:
            pytest.skip(f"the display's keys cannot be pressed by a program: {error}")
        for library, table in ((self._x, _X11), (self._test, _XTEST)):
            for name, (result, *arguments) in table.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
        self._display = self._x.XOpenDisplay(display.encode())

    def close(self) -> None:
        self._x.XCloseDisplay(self._display)

    def _sync(self) -> None:
        self._x.XSync(self._display, 0)

    def key(self, name: str, down: bool = True, up: bool = True) -> None:
        """Presses a key, by X's name of it."""
        code = self._x.XKeysymToKeycode(self._display, self._x.XStringToKeysym(name.encode()))
        for wanted, press in ((down, 1), (up, 0)):
            if wanted:
                self._test.XTestFakeKeyEvent(self._display, code, press, 0)
        self._sync()

    def move(self, x: int, y: int) -> None:
        self._test.XTestFakeMotionEvent(self._display, -1, x, y, 0)
        self._sync()

    def button(self, number: int, down: bool = True, up: bool = True) -> None:
        for wanted, press in ((down, 1), (up, 0)):
            if wanted:
                self._test.XTestFakeButtonEvent(self._display, number, press, 0)
        self._sync()

    def sees(self, rows: int, columns: int) -> np.ndarray:
        """Red, green and blue of the upper left part of the screen."""

        class Image(ctypes.Structure):
            _fields_ = (*((name, _I) for name in ("width", "height", "xoffset", "format")), ("data", _P), *(
                (name, _I) for name in ("byte_order", "bitmap_unit", "bitmap_bit_order", "bitmap_pad", "depth", "bytes_per_line")
            ))  # fmt: skip

        root = self._x.XDefaultRootWindow(self._display)
        found = self._x.XGetImage(self._display, root, 0, 0, columns, rows, 2**32 - 1, 2)
        image = Image.from_address(found)
        data = np.frombuffer(ctypes.string_at(image.data, image.bytes_per_line * rows), np.uint8).reshape(rows, -1, 4)
        self._x.XDestroyImage(found)
        return data[:, :columns, 2::-1]
