# python/pardo/_notebook/panel.py: the widgets that show devices: memory, unfinished work, queues.
from __future__ import annotations

import html
import threading
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

import ipywidgets
from pardo import _core
from pardo._base.notebook import place_in_cells
from pardo._base.sizes import size_text
from pardo._core import Device
from pardo._runtime.statistics import memory_stats, trim_memory

_SAMPLES = 20  # of which the load is the share with unfinished work


def _bar(share: float, text: str) -> str:
    """A bar that is filled to a share of its width, with a text in it."""
    filled = f"linear-gradient(to right, rgba(76,141,214,0.45) {share:.1%}, rgba(128,128,128,0.15) {share:.1%})"
    return f'<div style="background:{filled};padding:0 6px;min-width:12em;white-space:nowrap">{html.escape(text)}</div>'


class _State:
    """What is known of the devices, look by look. `more`: devices that come into use are added, as parts of a processor do."""

    def __init__(self, devices: Sequence[Device], more: bool) -> None:
        self.devices = {d.id: d for d in devices}
        self._more = more
        self._busy: dict[str, deque[bool]] = {}

    def shows(self, device: Device) -> bool:
        return self._more or device.id in self.devices

    def look(self) -> str:
        """Look once more, and give the table as HTML."""
        work: dict[str, list[tuple[int, int, str, str]]] = {}
        for queue, device, count, name, location in _core._unfinished_work():
            work.setdefault(device, []).append((queue, count, name, location))
        compilers: dict[str, list[str]] = {}
        for name, device, seconds in _core._compilations():
            compilers.setdefault(device, []).append(f"compiling {name}, {seconds:.0f} s")
        used = {d.id: d for d in _core._get_devices_in_use()}
        shown = {**self.devices, **(used if self._more else {})}
        rows = "".join(self._row(d, name in used, work.get(name, []), compilers.get(name, [])) for name, d in shown.items())
        head = "".join(f'<th style="text-align:left;padding-right:1.5em">{t}</th>' for t in ("device", "memory", "load", "queues"))
        return f'<table style="line-height:1.6"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'

    def _row(self, device: Device, used: bool, work: list[tuple[int, int, str, str]], compilers: list[str]) -> str:
        samples = self._busy.setdefault(device.id, deque(maxlen=_SAMPLES))
        samples.append(bool(work))
        load = sum(samples) / len(samples)
        cells = [
            f"<b>{html.escape(device.id)}</b><br><small>{html.escape(str(device.name))}</small>",
            self._memory(device) if used else "not in use",
            _bar(load, f"{load:.0%}"),
            "<br>".join(map(html.escape, [*compilers, *map(_queue_text, work)])) or "idle",
        ]
        return "<tr>" + "".join(f'<td style="text-align:left;vertical-align:top;padding-right:1.5em">{c}</td>' for c in cells) + "</tr>"

    @staticmethod
    def _memory(device: Device) -> str:
        memory = memory_stats(device)
        held, whole = memory.in_use + memory.cached, memory.limit or device.global_mem_size or 0
        text = f"{size_text(memory.in_use)} in use, {size_text(memory.cached)} cached, peak {size_text(memory.peak)}"
        return _bar(min(1.0, held / whole) if whole else 0.0, f"{text} of {size_text(whole)}" if whole else text)


def _queue_text(work: tuple[int, int, str, str]) -> str:
    queue, count, name, location = work
    place = f" ({place_in_cells(location) or location})" if location else ""
    return f"queue {queue << 4:#x}: {count} unfinished, the oldest is {name or 'work'}{place}"


class DevicePanel(ipywidgets.VBox):  # type: ignore[misc]
    """A table of devices that is kept up to date until it is closed, and a button that gives cached memory back."""

    def __init__(self, devices: Sequence[Device], more: bool, interval: float) -> None:
        self._over = threading.Event()  # first: whatever fails below is closed
        self._state = _State(devices, more)
        self._table = ipywidgets.HTML(self._state.look())
        self._live = ipywidgets.Checkbox(True, description=f"every {interval:g} s", indent=False)
        trim = ipywidgets.Button(description="release cached memory")
        trim.on_click(self._trim)
        super().__init__([self._table, ipywidgets.HBox([self._live, trim])])
        run = threading.Thread(target=_keep, args=(weakref.ref(self), self._over, interval), name="pardo panel", daemon=True)
        weakref.finalize(self, self._over.set)
        run.start()

    def refresh(self) -> None:
        """Show what is so now."""
        self._table.value = self._state.look()

    def close(self) -> None:
        """Take it away; nothing looks at the devices any more."""
        self._over.set()
        super().close()

    def _trim(self, _: Any) -> None:
        for device in _core._get_devices_in_use():
            if self._state.shows(device):
                trim_memory(device)
        self.refresh()

    def _tick(self) -> None:
        if self._live.value:
            self.refresh()


def _keep(panel: weakref.ref[DevicePanel], over: threading.Event, interval: float) -> None:
    """Until the panel is gone."""
    while not over.wait(interval):
        shown = panel()
        if shown is None:
            return
        try:
            shown._tick()
        except Exception:  # the kernel ends
            return
        del shown
