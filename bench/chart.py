# bench/chart.py: the figures of ./dev bench as a picture: how many times as fast as NumPy each library is.
"""Redraws the chart of an earlier run: bench/chart.py build/bench.json FILE.svg"""

import html
import json
import math
import sys
import textwrap
from pathlib import Path

from harness import ratio
from session import title
from workloads import arrays

COLOURS = {"pardo": "#1f6fb2", "numba": "#e08a2c", "numexpr": "#9aa46b", "jax": "#8d6fb0", "drjit": "#4f9d8f"}
LEFT, WIDTH, RIGHT = 44, 500, 46  # pixels: the least ratio; from it to the largest; behind that
TOP, NAME, BAR, GAP = 56, 15, 9, 5  # pixels: where programs begin; a program's name; a bar; between programs


def ratios(reports: dict[str, dict], name: str) -> dict[str, float]:
    """NumPy's time divided by that of each library whose values are right."""
    results = {peer: report["results"].get(name) or {} for peer, report in reports.items()}
    right = {peer: result for peer, result in results.items() if "rounds" in result and result.get("right", True)}
    return {peer: ratio(right["numpy"], result) for peer, result in right.items() if peer != "numpy"} if "numpy" in right else {}


def text(x: float, y: float, words: str, **attributes: object) -> str:
    """With a white edge: no line crosses it."""
    named = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    edge = 'stroke="#fff" stroke-width="3" stroke-linejoin="round" paint-order="stroke"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {edge}{named}>{html.escape(words)}</text>'


def number(value: float) -> str:
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"


def caption(report: dict, peers: list[str]) -> list[str]:
    """What was measured, where, when, and beside what."""
    machine, versions = report["machine"], []
    for peer in ["numpy", *peers]:
        known = report["arrays"][peer]["versions"]
        versions.append(f"{title(peer)} {known.get(peer) or next(filter(None, known.values()), '')}".strip())
    shares = [r["others_cpu"] for a in report["arrays"].values() for r in a["results"].values() if r and "others_cpu" in r]
    cores = machine["cores_used"]
    told = (
        f"NumPy's time divided by the library's: a longer bar is better; the scale is logarithmic. Float64, {cores} threads for everybody, "
        f"median of rounds in which the libraries take turns. {machine['cpu']}, {cores} of {machine['cores']} cores, {machine['vector']}; "
        f"{report['date'][:10]}; Python {machine['python']}, {', '.join(versions)}."
    )
    if max(shares, default=0) > 0.05:
        told += (
            f" Other work shared the machine: it took {100 * sum(shares) / len(shares):.0f} % of the processor on average, "
            f"{100 * max(shares):.0f} % at most."
        )
    return textwrap.wrap(told, 96)


def draw(report: dict) -> str:
    """The chart of a report of run.py, as SVG. It brings its own background: images do not see the colours of the page that they are on."""
    reports = report["arrays"]
    rows = {name: found for name in arrays.WORKLOADS if len(found := ratios(reports, name)) > 1 and "pardo" in found}
    peers = ["pardo", *(peer for peer in reports if peer not in ("numpy", "pardo") and any(peer in found for found in rows.values()))]
    values = [value for found in rows.values() for value in found.values()]
    low, high = math.log10(min([*values, 0.5])), math.log10(max([*values, 2]))

    def x(value: float) -> float:
        return LEFT + (math.log10(value) - low) / (high - low) * WIDTH

    parts, y = [], float(TOP)
    for name, found in rows.items():
        parts.append(text(12, y + NAME - 5, arrays.WORKLOADS[name].title))
        y += NAME
        for peer in filter(found.get, peers):
            start, end = sorted((x(1), x(found[peer])))
            weight = "bold" if peer == "pardo" else "normal"
            parts.append(
                f'<rect x="{start:.1f}" y="{y:.1f}" width="{end - start:.1f}" height="{BAR - 1}" fill="{COLOURS.get(peer, "#888")}">'
                f"<title>{html.escape(title(peer))}: {number(found[peer])}</title></rect>"
            )
            place = {"x": start - 4, "text_anchor": "end"} if found[peer] < 1 else {"x": end + 4}
            parts.append(text(y=y + BAR - 1.5, words=number(found[peer]), font_size=9, font_weight=weight, **place))
            y += BAR
        y += GAP
    bottom, at = y - GAP / 2, 12
    lines = []
    for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500):
        if low <= math.log10(tick) <= high:
            strong = 'stroke="#444" stroke-width="1.2"' if tick == 1 else 'stroke="#ddd"'
            lines.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP - 8}" y2="{bottom:.1f}" {strong}/>')
            parts.append(text(x(tick), TOP - 13, "NumPy" if tick == 1 else f"{tick:g} ×", text_anchor="middle", font_size=10, fill="#555"))
    for peer in peers:
        parts.append(f'<rect x="{at}" y="14" width="12" height="12" fill="{COLOURS.get(peer, "#888")}"/>{text(at + 17, 24, title(peer))}')
        at += 36 + 7 * len(title(peer))
    for i, line in enumerate(told := caption(report, peers)):
        parts.append(text(12, bottom + 22 + 15 * i, line, font_size=11, fill="#444"))
    width, height = LEFT + WIDTH + RIGHT, bottom + 16 + 15 * len(told)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height:.0f}" viewBox="0 0 {width} {height:.0f}" '
        f'font-family="system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif" font-size="12" fill="#222">\n'
        f"<title>How many times as fast as NumPy: {', '.join(map(title, peers))}</title>\n"
        f'<rect width="{width}" height="{height:.0f}" rx="6" fill="#fff"/>\n' + "\n".join([*lines, *parts]) + "\n</svg>\n"
    )


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(draw(json.loads(Path(sys.argv[1]).read_text())))
