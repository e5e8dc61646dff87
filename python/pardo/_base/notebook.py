# python/pardo/_base/notebook.py: texts and tables as prompts and notebooks show them.
from __future__ import annotations

from collections.abc import Iterable, Sequence

from pardo._base.undisturbed import Undisturbed


class ShownText(str):
    """Text that a prompt and a notebook show as print() does."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = (), texts: int = 1) -> str:
    """A table, the first columns aligned to the left, the others to the right, with lines of text below."""
    with Undisturbed():
        import html

    def row(tag: str, cells: Sequence[str]) -> str:
        sides = ("left" if k < texts else "right" for k in range(len(cells)))
        return (
            "<tr>" + "".join(f'<{tag} style="text-align:{s}">{html.escape(c)}</{tag}>' for c, s in zip(cells, sides, strict=True)) + "</tr>"
        )

    head = f"<thead>{row('th', header)}</thead>" if header else ""
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return f"<div><table>{head}<tbody>{''.join(row('td', cells) for cells in rows)}</tbody></table>{below}</div>"
