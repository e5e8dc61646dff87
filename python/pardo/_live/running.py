# python/pardo/_live/running.py: the loop of a live view: calls the function for each frame, and shows what it gives where it is to be seen.
from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from pardo._live import contexts
from pardo._live.contents import Content
from pardo._live.files import Files
from pardo._live.opengl import OpenGL
from pardo._live.view import LiveView
from pardo._live.window import Window

SELDOM = 0.05  # seconds between pictures in a notebook at least: each is a message
CLOSE, PAUSE, STEP, SAVE = ("escape", "q"), "space", ".", "s"  # keys of windows

Call = Callable[[int, LiveView], Any]


class Loop:
    """Frame after frame."""

    def __init__(self, content: Content, update: Call, frames: int | None, fps: float | None, files: Files | None) -> None:
        self._content, self._update, self._frames, self._fps, self._files = content, update, frames, fps, files
        self.view = LiveView(content.data, self._save)
        self._count = 0
        self._due = time.perf_counter()

    def _save(self, name: str) -> None:
        if not self._count:
            raise RuntimeError("LiveView.save: there is no frame yet")
        data = self._content.frame().png()
        with open(name, "wb") as file:
            file.write(data)

    def _step(self) -> None:
        """Makes the next frame."""
        view, number = self.view, self._count

        def call(data: Any) -> Any:
            view.frame, view._data = number, data
            return self._update(number, view)

        self._content.step(call)
        self._count += 1
        if self._files is not None and not self._files.last_alone:
            self._files.add(number, self._content.frame())
        self._due = self._next_due()

    def _next_due(self) -> float:
        """When the frame after this one is to be made: what was late is not made up for."""
        now = time.perf_counter()
        return now if self._fps is None else max(self._due + 1 / self._fps, now)

    def _finish(self) -> None:
        """All frames are made."""
        if self._files is not None and self._files.last_alone and self._count:
            self._files.add(self._count - 1, self._content.frame())

    @property
    def _done(self) -> bool:
        return self.view.closed or (self._frames is not None and self._count >= self._frames)

    def run(self, where: Callable[[], None]) -> int:
        """Runs in a window, in a notebook or for files, and gives the number of frames. Files have what was made until an error."""
        try:
            where()
        finally:
            self.view._end()
            if self._files is not None:
                self._files.close()
        return self._count

    # where

    def without_window(self, op_name: str) -> None:
        """For files alone, as quickly as it goes."""
        with self._offscreen(op_name):
            while not self._done:
                self._step()
            self._finish()

    def in_notebook(self, display: Callable[..., Any], op_name: str) -> None:
        """Below the cell, where each picture takes the place of the one before."""
        handle: Any = None
        last = 0.0
        with self._offscreen(op_name):
            while not self._done:
                self._step()
                now = time.perf_counter()
                if handle is None or now - last >= SELDOM or self._done:
                    picture = {"image/png": self._content.frame().png(), "text/plain": f"<frame {self._count - 1}>"}
                    if handle is None:
                        handle = display(picture, raw=True, display_id=True)
                    else:
                        handle.update(picture, raw=True)
                    last = now
                if not self._done:
                    time.sleep(max(0.0, self._due - time.perf_counter()))

    @contextlib.contextmanager
    def _offscreen(self, op_name: str) -> Iterator[None]:
        """OpenGL without a window, where it is needed."""
        if not self._content.needs_opengl or self._frames == 0:
            yield
            return
        with contexts.kept():
            context = contexts.Offscreen(op_name)
            try:
                context.make_current()
                self._content.open(OpenGL(context.address_of, op_name), context.make_current)
                yield
            finally:
                try:
                    self._content.close()
                finally:
                    context.close()

    def in_window(self, title: str, controls: bool, op_name: str) -> None:
        """Until it is closed, or all frames are made."""
        with contexts.kept():
            window = Window(title, (512, 512), op_name)
            try:
                window.make_current()
                self._content.open(OpenGL(window.address_of, op_name), window.make_current)
                stepping = False
                while not self._done and not window.closing:
                    if self.view.paused and self._count and not stepping:
                        window.wait(time.perf_counter() + 1)
                    else:
                        self._tell(window)
                        self._step()
                        window.make_current()
                        if self._count == 1:
                            window.resize(self._content.window_size(), self._content.size is None)
                        self._draw(window, True)
                        stepping = False
                    stepping = self._follow(window, title, controls) or stepping
                    while not stepping and not self.view.paused and not self._done and not window.closing:
                        window.wait(self._due)
                        stepping = self._follow(window, title, controls)
                        if time.perf_counter() >= self._due:
                            break
                self._finish()
            finally:
                try:
                    self._content.close()
                finally:
                    window.close()

    def _draw(self, window: Window, new: bool) -> None:
        window.changed = False
        self._content.draw(window.size, new)
        window.show()

    def _tell(self, window: Window) -> None:
        """What keys and the mouse have done since the frame before."""
        if not self._count:
            return
        given, whole, drawing = window.input, window.size, self._content.drawing()

        def place(x: float, y: float) -> tuple[float, float] | None:
            share = drawing.share(x, y, whole)
            return None if share is None else drawing.place(*share)

        clicks = ((button, found) for button, at in given.clicks if (found := place(*at)) is not None)
        mouse = None if given.pointer is None else place(*given.pointer)
        self.view._set(given.keys, given.pressed, mouse, given.buttons, clicks, given.wheel, drawing.distance(*given.dragged, whole))
        given.clear()

    def _follow(self, window: Window, title: str, controls: bool) -> bool:
        """What the keys of the window say, and its size; gives whether one more frame is to be made."""
        step = False
        commands, window.input.commands = window.input.commands, []
        for key in commands:
            if key == CLOSE[0] or (controls and key in CLOSE):
                window.end()
            elif controls and key == PAUSE:
                self.view.paused = not self.view.paused
            elif controls and key == STEP:
                self.view.paused = step = True
            elif controls and key == SAVE:
                name = _unused(title, self._count - 1)
                try:
                    self._save(name)
                except OSError as error:  # of the folder: what is shown goes on
                    name = str(error)
                window.say(f"{title}: {name}")
        turned = window.turned()
        if turned != (0.0, 0.0):
            rows, columns = window.size
            if self._content.drawing().turn(turned[0] / columns, turned[1] / rows):
                window.changed = True
        if window.changed and not window.closing:
            self._draw(window, True)
        return step


def _unused(title: str, number: int) -> str:
    """The name of a file that is not there."""
    start = "".join(c if c.isalnum() or c in "-_" else "_" for c in title) or "frame"
    name, k = f"{start}-{number}.png", 1
    while os.path.exists(name):
        k += 1
        name = f"{start}-{number}-{k}.png"
    return name
