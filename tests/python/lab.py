# tests/python/lab.py: a notebook in JupyterLab, in a headless Chromium that is told by its debugging protocol what to do.
from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

PATIENCE = 300  # seconds after which the test has failed


class Browser:
    """Chromium with one page of JupyterLab."""

    def __init__(self, path: str, folder: Path, url: str) -> None:
        read_there, self._out = os.pipe()
        self._in, write_there = os.pipe()
        command = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1300,1000"]
        command += [f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"]
        shell = f'exec "$@" 3<&{read_there} 4>&{write_there}'  # where the browser looks for them
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "-", *command], pass_fds=(read_there, write_there), stderr=subprocess.DEVNULL
        )
        os.close(read_there)
        os.close(write_there)
        self._sent, self._buffer, self._session = 0, b"", None
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        self.call("Page.navigate", url=url)

    def call(self, method: str, **params: Any) -> Any:
        """Send a message, and give the answer."""
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._buffer:
                part = os.read(self._in, 1 << 16)
                if not part:
                    raise EOFError("the browser has ended")
                self._buffer += part
            text, _, self._buffer = self._buffer.partition(b"\0")
            answer = json.loads(text)
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer
                return answer["result"]

    def value(self, script: str) -> Any:
        """The value of an expression; None while it raises, as pages do that are being made."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        return None if "exceptionDetails" in answer else answer["result"].get("value")

    def wait_for(self, script: str) -> Any:
        """The value of an expression once it is true."""
        end = time.monotonic() + PATIENCE
        while not (value := self.value(script)):
            assert time.monotonic() < end, f"never true: {script}; the page says {self.value('document.body.innerText')}"
            time.sleep(0.2)
        return value

    def run_all_cells(self) -> None:
        """Begin to. The kernel may not be there yet: then nothing is marked as running."""
        begun = "[...document.querySelectorAll('.jp-InputPrompt')].some(p => /\\[[*\\d]/.test(p.innerText))"
        run = "void jupyterapp.commands.execute('notebook:run-all-cells')"
        self.wait_for(f"{begun} || ({run}, new Promise(done => setTimeout(() => done({begun}), 1000)))")

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)


@contextlib.contextmanager
def opened(chromium: str, folder: Path, cells: list[str]) -> Iterator[Browser]:
    """A notebook of these cells, with a kernel."""
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells], metadata={"kernelspec": spec})
    nbformat.write(book, folder / "cells.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", f"--ServerApp.root_dir={folder}"]
    command += [f"--IdentityProvider.token={token}", "--LabApp.expose_app_in_browser=True", "--ServerApp.terminals_enabled=False"]
    places = {f"JUPYTER_{name}_DIR": str(folder / f".{name}") for name in ("CONFIG", "DATA", "RUNTIME")}
    server = subprocess.Popen(
        command, env=os.environ | places, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    browser = None
    try:
        end = time.monotonic() + PATIENCE
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert server.poll() is None, "JupyterLab has ended"
            assert time.monotonic() < end, "JupyterLab does not answer"
            time.sleep(0.2)
        browser = Browser(chromium, folder / ".browser", f"http://127.0.0.1:{port}/lab/tree/cells.ipynb?token={token}")
        browser.wait_for(f"window.jupyterapp && document.querySelectorAll('.jp-CodeCell').length == {len(cells)}")
        yield browser
    finally:
        if browser is not None:
            browser.close()
        os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
