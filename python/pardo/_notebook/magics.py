# python/pardo/_notebook/magics.py: `%load_ext pardo`: the magics %%pardo, which profiles a cell, and %pardo_progress.
# mypy: disable-error-code="misc, untyped-decorator"
# IPython's types are not asked for: it need not be there.
from __future__ import annotations

import keyword
import os
import re
from typing import Any

from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import cell_magic
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from pardo import _core
from pardo._notebook import cells, progress
from pardo._runtime.profile import COLUMNS, Profile

_FIRST_LINE = re.compile(r"%%pardo(\s.*)?$", re.DOTALL)


class _CellProfile:
    """The profile of a cell, shown when the cell is over."""

    running: _CellProfile | None = None

    def __init__(self, shell: Any, options: Any) -> None:
        self._shell, self._options = shell, options
        self._profile = Profile(options.records)

    def begin(self) -> None:
        if _CellProfile.running is not None:
            raise UsageError("%%pardo: this cell is profiled already")
        _CellProfile.running = self
        cells.at_end(self._end)
        if self._options.output:
            self._shell.push({self._options.output: self._profile})
        self._profile.__enter__()

    def _end(self, result: Any) -> None:
        """What failed in the cell IPython has shown; late failures are reported after this, as after any cell."""
        _CellProfile.running = None
        p, options = self._profile, self._options
        p.__exit__(BaseException, None, None)
        if isinstance(getattr(result, "error_in_exec", None), KeyboardInterrupt):
            return  # to show it would be to wait for what has been interrupted
        try:
            if not options.quiet:
                self._show(p)
        finally:
            if options.timeline:
                p.timeline(options.timeline)

    def _show(self, p: Profile) -> None:
        options = self._options
        text = f"{p.table(options.sort, options.limit)}\n{p.summary()}"
        if hasattr(self._shell, "kernel"):
            self._shell.display_pub.publish(data={"text/plain": text, "text/html": p._html(options.sort, options.limit)}, metadata={})
        else:
            print(text)


def _checked(options: Any) -> Any:
    if options.output and (not options.output.isidentifier() or keyword.iskeyword(options.output)):
        raise UsageError(f"%%pardo: --output takes the name of a variable, not {options.output!r}")
    if options.sort not in COLUMNS:
        raise UsageError(f"%%pardo: --sort is {options.sort!r}; the columns are {', '.join(COLUMNS)}")
    folder = os.path.dirname(options.timeline or "")
    if folder and not os.path.isdir(folder):
        raise UsageError(f"%%pardo: --timeline is {options.timeline!r}; there is no folder {folder!r}")
    for name in ("limit", "records"):
        number = getattr(options, name)
        if number is not None and number < 0:
            raise UsageError(f"%%pardo: --{name} is {number}; it must not be negative")
    return options


@magics_class
class PardoMagics(Magics):
    """What `%load_ext pardo` adds."""

    @magic_arguments()
    @argument("-o", "--output", metavar="NAME", help="a variable that gets the profile, a pardo.Profile")
    @argument("-q", "--quiet", action="store_true", help="show nothing: for --output and --timeline")
    @argument("-s", "--sort", default="time", metavar="COLUMN", help=f"what the table is sorted by: {', '.join(COLUMNS)}")
    @argument("-n", "--limit", type=int, metavar="ROWS", help="at most so many rows of the table")
    @argument("-t", "--timeline", metavar="FILE", help="write the timeline into a file, a page of HTML")
    @argument("--records", type=int, default=1_000_000, metavar="N", help="how many records are kept")
    @line_cell_magic
    def pardo(self, line: str, cell: str | None = None) -> None:
        """Profile a cell: its kernels, copies, compilations and slow paths, as a table and a timeline.

        It is the cell's first line, %%pardo, and the cell runs as it does without it. %pardo profiles from its line to the end of the cell.
        """
        shell: Any = self.shell
        options = _checked(parse_argstring(PardoMagics.pardo, line))
        if cell is None:
            _CellProfile(shell, options).begin()
        else:  # by run_cell_magic: in a cell the first line has been replaced
            shell.run_cell(f"%%pardo {line}\n{cell}").raise_error()

    @line_magic
    def pardo_progress(self, line: str) -> None:
        """Say after how many seconds a cell shows what it waits for: a number, on (2 seconds), or off. Without any: show the setting."""
        text = line.strip()
        if not text:
            delay = progress.setting.get()
            print("off" if delay is None else f"after {delay:g} seconds")
            return
        try:
            progress.setting.set(progress.seconds_of(text))
        except ValueError as error:
            raise UsageError(f"%pardo_progress {text}: {error}") from None
        progress.begin(self.shell)
        _core._show_compilations(progress.setting.get() is not None)


_NAMES = (("line", "pardo"), ("cell", "pardo"), ("line", "pardo_progress"))


def _without_first_line(lines: list[str]) -> list[str]:
    """A cell that begins with %%pardo becomes one that begins with %pardo: all else in it is IPython's, as in any cell."""
    found = _FIRST_LINE.match(lines[0]) if lines else None
    if not found:
        return lines
    options = (found[1] or "").strip()
    return [f"get_ipython().run_line_magic('pardo', {options!r})\n", *(cell_magic(lines[1:]) if lines[1:] else ())]


_without_first_line.has_side_effects = True  # type: ignore[attr-defined]  # a terminal asks without it whether the cell is complete


def load(shell: Any) -> None:
    """What ``%load_ext pardo`` calls."""
    cells.follow(shell)
    shell.register_magics(PardoMagics)
    if _without_first_line not in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.append(_without_first_line)


def unload(shell: Any) -> None:
    """What ``%unload_ext pardo`` calls. Cells report late failures, and show what takes long, as before."""
    if _without_first_line in shell.input_transformers_cleanup:
        shell.input_transformers_cleanup.remove(_without_first_line)
    for kind, name in _NAMES:
        shell.magics_manager.magics[kind].pop(name, None)
