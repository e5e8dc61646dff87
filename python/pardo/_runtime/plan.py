# python/pardo/_runtime/plan.py: the plan that explain() gives: text, and a picture for notebooks.
from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from typing import Any

from pardo._base.notebook import ShownText, mimebundle
from pardo._base.undisturbed import Undisturbed

Step = dict[str, Any]

_MOST_STEPS = 40  # in a picture
_CHARACTER, _SMALL = 7.25, 6.65  # widths in pixels: monospaced letters of 12 and 11 pixels
_LINE, _PAD, _GAP, _LAYER_GAP = 16, 10, 18, 26
_WIDEST = 1000  # a wider picture is scrolled, not made smaller


class Plan(ShownText):
    """How arrays would be computed, as text; a notebook shows a picture of it."""

    __slots__ = ("_steps",)
    _steps: list[Step]

    def __new__(cls, text: str, steps: list[Step]) -> Plan:
        plan = super().__new__(cls, text)
        plan._steps = steps
        return plan

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, (str(self), self._steps)

    _repr_mimebundle_ = mimebundle

    def _repr_html_(self) -> str:
        """For notebooks: kernels and calls as boxes, the arrays between them as arrows; the text below, folded."""
        with Undisturbed():
            import html

        if not self._steps:
            return f"<p>{html.escape(self.strip()) or 'nothing is pending'}</p>"
        shown = self._steps[:_MOST_STEPS]
        notes = "" if len(shown) == len(self._steps) else f"<p>The first {len(shown)} of {len(self._steps)} steps.</p>"
        text = f"<details><summary>as text</summary><pre>{html.escape(self)}</pre></details>"
        return f'<div style="overflow-x:auto">{_Picture(shown).svg()}{notes}{text}</div>'


class _Item:
    """Something that takes room in a layer: the box of a step, the label of an array, or a bend of an arrow that passes by."""

    def __init__(self, layer: int, lines: Sequence[tuple[str, str]] = (), title: str = "", kind: str = "bend") -> None:
        self.layer, self.lines, self.title, self.kind = layer, lines, title, kind
        self.above: list[_Item] = []
        self.below: list[_Item] = []
        widths = [len(text) * (_SMALL if style == "small" else _CHARACTER) for style, text in lines]
        self.width = max(widths) + 2 * _PAD if widths else 4.0
        self.height = len(lines) * _LINE + (_PAD if kind in ("kernel", "call") else 4 if lines else 0)
        self.x = self.y = 0.0  # of the middle; of the upper edge

    def connect(self, below: _Item) -> None:
        self.below.append(below)
        below.above.append(self)


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.{0 if unit == 'B' else 1}f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _operations(names: Iterable[str], width: int = 40, most: int = 4) -> list[str]:
    """The operations of a kernel in lines; one that occurs several times is named once."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    lines = [""]
    for name, count in counts.items():
        word = name if count == 1 else f"{count} × {name}"
        if lines[-1] and len(lines[-1]) + len(word) + 3 > width:
            lines.append("")
        lines[-1] += f" · {word}" if lines[-1] else word
    return lines if len(lines) <= most else [*lines[: most - 1], "…"]


def _box(step: Step, layer: int) -> _Item:
    if step["call"]:
        line = os.path.basename(step["location"])
        routine = f"library routine {step['how']}".strip()
        lines = [("bold", step["name"]), ("small", routine), *([("small", line)] if line else [])]
        return _Item(layer, lines, "\n".join(f"not by {other}" for other in step["rejected"]), "call")
    moved = f"reads {_bytes(step['bytes_read'])}, writes {_bytes(step['bytes_written'])}"
    fused = [("plain", line) for line in _operations(step["operations"]) if line]
    title = f"a kernel of its own: {step['cut']}" if step["cut"] else ""
    how = [step["how"]] if len(step["how"]) <= 40 else step["how"].split(", ", 1)
    return _Item(layer, [("bold", step["name"]), *fused, *(("small", line) for line in (*how, moved))], title, "kernel")


def _merged(reads: list[Step], arrays: Container[int], steps: list[Step]) -> list[tuple[Step, int]]:
    """What a step reads, and how many arrays that is: those in memory that it alone reads and that look alike have one label."""
    merged: dict[Any, tuple[Step, int]] = {}
    for value in reads:
        alone = value["id"] not in arrays and sum(value["id"] == other["id"] for step in steps for other in step["reads"]) == 1
        key = (value["dtype"], value["shape"]) if alone else value["id"]
        first, count = merged.get(key, (value, 0))
        merged[key] = first, count + 1
    return list(merged.values())


class _Picture:
    """A graph in layers, from above to below: steps in the odd ones, arrays in the even ones."""

    def __init__(self, steps: list[Step]) -> None:
        self.layers: list[list[_Item]] = []
        arrays: dict[int, _Item] = {}
        readers: dict[int, list[tuple[_Item, dict[str, Any]]]] = {}
        for step in steps:
            layer = 1 + max((arrays[value["id"]].layer for value in step["reads"] if value["id"] in arrays), default=0)
            box = self.add(_box(step, layer))
            for value, count in _merged(step["reads"], arrays, steps):
                readers.setdefault(value["id"], []).append((box, value | {"count": count}))
            for value in step["writes"]:
                if value["id"] not in arrays:  # a value that is not kept may be computed twice
                    arrays[value["id"]] = self.add(self.label(value, layer + 1, "result"))
                    box.connect(arrays[value["id"]])
        for number, users in readers.items():
            array = arrays.get(number) or self.add(self.label(users[0][1], min(box.layer for box, _ in users) - 1, "input"))
            bends = [array]  # by layer, from the array on
            for box, _ in sorted(users, key=lambda user: user[0].layer):
                while bends[-1].layer < box.layer - 1:
                    bends.append(self.add(_Item(bends[-1].layer + 1)))
                    bends[-2].connect(bends[-1])
                bends[box.layer - 1 - array.layer].connect(box)
        self.place()

    def add(self, item: _Item) -> _Item:
        while len(self.layers) <= item.layer:
            self.layers.append([])
        self.layers[item.layer].append(item)
        return item

    @staticmethod
    def label(value: dict[str, Any], layer: int, kind: str) -> _Item:
        asked = value["why"] in ("asked for", "held by the program", "base of a view that is kept")
        text = f"{value['dtype']} {value['shape']}"
        several = f"{value['count']} arrays " if value.get("count", 1) > 1 else ""
        return _Item(layer, [("small", several + text)], value["why"], "asked" if asked else kind)

    def place(self) -> None:
        """Items come below those that they read, near the middle of their neighbours (barycentres, as of Sugiyama 1981)."""
        for layer in self.layers:
            self.spread(layer, [item.x for item in layer])
        for turn in range(8):
            down = turn % 2 == 0
            for layer in self.layers if down else reversed(self.layers):
                wanted = [self.barycentre(item, item.above if down else item.below) for item in layer]
                order = sorted(range(len(layer)), key=lambda i: wanted[i])
                layer[:] = [layer[i] for i in order]
                self.spread(layer, [wanted[i] for i in order])
        left = min(item.x - item.width / 2 for layer in self.layers for item in layer)
        y = 2.0
        for layer in self.layers:
            height = max((item.height for item in layer), default=0)
            for item in layer:
                item.x += 2 - left
                if not item.lines:  # an arrow passes a layer straight down
                    item.height = height
                item.y = y + (height - item.height) / 2
            y += height + _LAYER_GAP if layer else 0
        self.width = max(item.x + item.width / 2 for layer in self.layers for item in layer) + 2
        self.height = y - _LAYER_GAP + 2

    @staticmethod
    def barycentre(item: _Item, neighbours: list[_Item]) -> float:
        return sum(n.x for n in neighbours) / len(neighbours) if neighbours else item.x

    @staticmethod
    def spread(layer: list[_Item], wanted: Sequence[float]) -> None:
        """Puts items where they want to be, from left to right, as far as there is room; moves all of them by the mean of what is left."""
        edge, shift = float("-inf"), 0.0
        for item, x in zip(layer, wanted, strict=True):
            item.x = max(x, edge + _GAP + item.width / 2)
            edge = item.x + item.width / 2
            shift += x - item.x
        for item in layer:
            item.x += shift / len(layer)

    def svg(self) -> str:
        items = [item for layer in self.layers for item in layer]
        arrows = "".join(_arrow(item, below) for item in items for below in item.below)
        boxes = "".join(map(_drawn, items))
        fits = "max-width:100%;height:auto;" if self.width <= _WIDEST else ""
        # Colours are those of the text around, so that the picture is readable on light and on dark pages.
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{self.width:.0f}" height="{self.height:.0f}" '
            f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" style="{fits}color:inherit;font:12px ui-monospace,Menlo,Consolas,monospace">'
            f"<title>Kernels and calls, and the arrays between them</title>"
            f'<g fill="none" stroke="currentColor" stroke-opacity="0.6">{arrows}</g>{boxes}</svg>'
        )


def _arrow(start: _Item, end: _Item) -> str:
    """A line from the lower edge of an item to the upper edge of another, with a head where a step reads."""
    x, y, to_x, to_y = start.x, start.y + start.height, end.x, end.y
    bend = f"V{to_y + end.height:.1f}" if not end.lines else ""
    head = 6 if end.kind in ("kernel", "call") else 0
    middle = (y + to_y) / 2
    line = f'<path d="M{x:.1f} {y:.1f}C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y - head:.1f}{bend}"/>'
    if not head:
        return line
    points = f"{to_x - 4:.1f},{to_y - head:.1f} {to_x + 4:.1f},{to_y - head:.1f} {to_x:.1f},{to_y:.1f}"
    return f'{line}<polygon points="{points}" fill="currentColor" stroke="none" fill-opacity="0.6"/>'


_FRAMES = {
    "kernel": 'rx="4" fill="#4c8dd6" fill-opacity="0.16" stroke="#4c8dd6" stroke-width="1.2"',
    "call": 'rx="14" fill="#d98a2b" fill-opacity="0.18" stroke="#d98a2b" stroke-width="1.2" stroke-dasharray="5 3"',
    "asked": 'rx="10" fill="none" stroke="currentColor" stroke-width="1.6"',
    "result": 'rx="10" fill="none" stroke="currentColor" stroke-opacity="0.45"',
    "input": 'rx="10" fill="currentColor" fill-opacity="0.08"',
}
_STYLES = {"bold": ' font-weight="bold"', "plain": "", "small": ' font-size="11" fill-opacity="0.85"'}


def _drawn(item: _Item) -> str:
    with Undisturbed():
        import html

    if not item.lines:  # a bend
        return ""
    title = f"<title>{html.escape(item.title)}</title>" if item.title else ""
    x, y, width, height = item.x - item.width / 2, item.y, item.width, item.height
    frame = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" {_FRAMES[item.kind]}/>'
    top = item.y + (item.height - len(item.lines) * _LINE) / 2 + 12
    texts = (
        f'<text x="{item.x:.1f}" y="{top + i * _LINE:.1f}"{_STYLES[style]}>{html.escape(text)}</text>'
        for i, (style, text) in enumerate(item.lines)
    )
    return f'<g class="{item.kind}" fill="currentColor" text-anchor="middle">{title}{frame}{"".join(texts)}</g>'
