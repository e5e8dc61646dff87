# python/pardo/_base/notebook.py: texts, tables and values as prompts and notebooks show them.
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from pardo._base.promotion import kind_of
from pardo._base.undisturbed import Undisturbed


def shell() -> Any:
    """The shell of IPython that runs; None without one."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def place_in_cells(place: str) -> str | None:
    """Of a place "file:line" in a cell what IPython calls it, "In[3]:2"; None of one that is in no cell. A value that is shown is computed
    by IPython, which does not say for which cell."""
    path, _, line = place.rpartition(":")
    if path == getattr(sys.modules.get("IPython.core.formatters"), "__file__", None):
        return "shown value"
    name_of = getattr(getattr(shell(), "compile", None), "format_code_name", None)
    named = name_of(path) if name_of else None
    return f"{named[1]}:{line}" if named else None


def duration(nanoseconds: float) -> str:
    """Three digits and a unit."""
    value, unit = next(
        ((nanoseconds / size, unit) for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")) if nanoseconds >= size), (nanoseconds, "ns")
    )
    return f"{value:.{0 if unit == 'ns' or value >= 100 else 1 if value >= 10 else 2}f} {unit}"


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


def mimebundle(self: Any, include: Any = None, exclude: Any = None) -> dict[str, Any]:
    """`_repr_mimebundle_` of what has `_repr_html_`: all formats at once."""
    return {"text/plain": repr(self), "text/html": self._repr_html_()}


class Raised(dict[str, Any]):
    """What is shown of a value that has failed: it raises the exception in the display itself, so that it comes once and from the cell.

    IPython catches and prints what a method of an object raises, and then asks the next one, for another format. What it does with the
    answer it does not catch.
    """

    def __init__(self, exception: BaseException) -> None:
        self.exception = exception

    def __bool__(self) -> bool:
        raise self.exception.with_traceback(None)


_MOST_SHOWN = 2**28  # bytes of an array that is computed for being shown
_HELD_BACK = "too large to be computed for being shown: x.wait() and print(x) do that"


class ShownValues:
    """An array as notebooks show it: facts and values. One that is pending and large is not computed for that. `place`: facts that only
    what is computed has."""

    def __init__(
        self, name: str, facts: Sequence[str], pending: bool, nbytes: int, values: Callable[[], str], place: Callable[[], str] = str
    ) -> None:
        self._held_back = pending and nbytes > _MOST_SHOWN
        text = "" if self._held_back else values()
        state = "pending" if self._held_back else "computed to be shown" if pending else "computed"
        self._facts = ", ".join(filter(None, (name, *facts, "" if self._held_back else place(), state)))
        self.text = text or f"<{self._facts}; {_HELD_BACK}>"

    def html(self, more: Callable[[], str] = str) -> str:
        """A line of facts, `more` of HTML, and the values."""
        with Undisturbed():
            import html

        values = f"<p>{_HELD_BACK}</p>" if self._held_back else f"<pre>{html.escape(self.text)}</pre>"
        return f"<div><em>{html.escape(self._facts)}</em>{more()}{values}</div>"


_FEWEST = 32  # elements of the shorter side of an image: of fewer the values say more
_LONGEST = 8  # times the shorter side: what is longer is a table


def is_image(shape: Sequence[int], dtype: np.dtype[Any]) -> bool:
    """Whether an array looks like a picture: real numbers or bools in two dimensions, or colours along a third, bytes or floats."""
    kind = kind_of(dtype)
    if not (kind in "biuf" if len(shape) == 2 else len(shape) == 3 and shape[2] in (3, 4) and (kind == "f" or dtype == np.uint8)):
        return False
    shorter, longer = sorted(shape[:2])
    return shorter >= _FEWEST and longer <= _LONGEST * shorter


def bundle(shown: Callable[[], ShownValues], more: Callable[[], str] = str) -> dict[str, Any]:
    """`_repr_mimebundle_` of an array: its formats are made of one computation, so that a failure comes once. `more`: HTML above values."""
    try:
        made = shown()
        return {"text/plain": made.text, "text/html": made.html(more)}
    except Exception as failure:
        return Raised(failure)
