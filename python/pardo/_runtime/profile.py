# python/pardo/_runtime/profile.py: what ran while a profile was open: a table, a page with a timeline, a trace for other viewers.
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, NamedTuple

from pardo import _core
from pardo._base.arguments import index
from pardo._base.notebook import ShownText, duration, html_table, mimebundle, place_in_cells
from pardo._base.public_names import publish_module
from pardo._base.sizes import size_text
from pardo._base.undisturbed import Undisturbed
from pardo._runtime.statistics import counters

__all__ = ["Profile", "profile"]

Record = dict[str, Any]
StrPath = str | os.PathLike[str]

# In the order of the legend; what is made rather than run has its verb in front of the kernel's name.
_ACTIVITIES = ("kernel", "host task", "copy", "fill", "read", "write", "compile", "load")
_VERBS = ("compile", "load")
COLUMNS = ("kernel", "line", "launches", "time", "GB/s", "GFLOP/s")
_MOST_BARS = 20_000  # of a timeline that is part of a notebook, whose file keeps it


class _Row(NamedTuple):
    """All records of one kernel at one line."""

    kernel: str
    line: str
    device: str
    launches: int
    nanoseconds: int
    bytes: int
    operations: int

    def rate(self, amount: int) -> float:
        """Billions a second; zero where nothing is known."""
        return amount / self.nanoseconds if self.nanoseconds else 0.0

    def key(self, column: str) -> Any:
        return {
            "kernel": self.kernel,
            "line": self.line,
            "launches": -self.launches,
            "time": -self.nanoseconds,
            "GB/s": -self.rate(self.bytes),
            "GFLOP/s": -self.rate(self.operations),
        }[column]


def _order(row: _Row, column: str) -> tuple[Any, ...]:
    return row.key(column), -row.nanoseconds, row.kernel, row.line


def _title(record: Record) -> str:
    name = record["name"]
    return f"{record['activity']} {name}" if record["activity"] in _VERBS else name


def _lines(records: Iterable[Record]) -> Mapping[str, str]:
    """Locations as they are shown: without folders, unless two files have one name; in cells as IPython calls these."""
    places = {r["location"] for r in records}
    files: dict[str, set[str]] = {}
    for place in places:
        path = place.rpartition(":")[0]
        files.setdefault(os.path.basename(path), set()).add(path)
    shown = {place: place if len(files[os.path.basename(place.rpartition(":")[0])]) > 1 else os.path.basename(place) for place in places}
    cells = {place: cell for place in places if (cell := place_in_cells(place))}
    return {**shown, **cells, "": "-"}


def _number(value: float) -> str:
    return "-" if value == 0 else f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def _rows(records: list[Record]) -> list[_Row]:
    lines = _lines(records)
    groups: dict[tuple[str, str, str], list[Record]] = {}
    for r in records:
        groups.setdefault((_title(r), lines[r["location"]], r["device"]), []).append(r)
    return [
        _Row(
            *key,
            len(group),
            sum(r["end"] - r["start"] for r in group),
            sum(r["bytes_read"] + r["bytes_written"] for r in group),
            sum(r["operations"] for r in group),
        )
        for key, group in groups.items()
    ]


class _Lane(NamedTuple):
    """A queue, as viewers show it: what overlaps is in rows below each other."""

    name: str
    device: str
    rows: list[list[Record]]


def _lanes(records: list[Record]) -> list[_Lane]:
    lanes: dict[str, _Lane] = {}
    for r in records:
        rows = lanes.setdefault(r["queue"], _Lane(r["queue"], r["device"], [])).rows
        row = next((row for row in rows if row[-1]["end"] <= r["start"]), None)
        if row is None:
            rows.append(row := [])
        row.append(r)
    return sorted(lanes.values(), key=lambda lane: (lane.device != "", lane.name))


def _json(data: Any, **options: Any) -> str:
    with Undisturbed():
        import json  # takes two milliseconds, which `import pardo` need not wait for

    return json.dumps(data, **options)


def _write(path: StrPath, text: str) -> None:
    with open(os.fspath(path), "w", encoding="utf-8") as file:
        file.write(text)


class Profile:
    """What was submitted while the profile was open, by any thread: kernels, copies, host tasks, compilations.

    Made by `profile()`.

    See Also
    --------
    profile, Timer

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.arange(1000.0).wait()
    >>> with pp.profile() as p:
    ...     y = pp.sqrt(x).wait()
    >>> [r["name"] for r in p.records if r["activity"] == "kernel"]
    ['sqrt_f64']
    """

    def __init__(self, max_records: int) -> None:
        self._max_records = max_records
        self._core: _core._Profile | None = None
        self._before: dict[str, int] = {}
        self._after: dict[str, int] = {}

    def __enter__(self) -> Profile:
        if self._core is not None:
            raise RuntimeError("profile: this one has been used already; make another by pp.profile()")
        self._before = counters()
        self._core = _core._Profile(self._max_records)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._opened.stop()
        try:
            if kind is None:
                self._opened.wait()
        finally:
            self._after = counters()

    def __str__(self) -> str:
        return "a profile that has recorded nothing yet" if self._core is None else str(self.table())

    def __repr__(self) -> str:
        if self._core is None:
            return "<Profile: nothing recorded yet>"
        records = self.records
        return f"<Profile: {len(records)} records, {duration(sum(r['end'] - r['start'] for r in records))} of work; print it for a table>"

    _repr_mimebundle_ = mimebundle

    def _repr_html_(self) -> str:
        """For notebooks: the table, what was counted, and the timeline, folded."""
        return f"<p>{self}</p>" if self._core is None else self._html("time", None)

    def _html(self, sort_by: str, most: int | None) -> str:
        records = self.records
        rows = sorted(_rows(records), key=lambda row: _order(row, sort_by))
        header, *lines = _cells(rows)[: None if most is None else most + 1] or [()]
        notes = [*self._notes(records, len(rows), most), self.summary()]
        return html_table(header, lines, notes=notes, texts=len(header) - 4) + self._folded_timeline(records)

    def _folded_timeline(self, records: list[Record]) -> str:
        if not records:
            return ""
        if len(records) > _MOST_BARS:
            return f"<p>The timeline has {len(records)} bars: write it to a file by <code>timeline(path)</code>.</p>"
        with Undisturbed():
            import html

        lanes = _lanes(records)
        height = 180 + 24 * sum(len(lane.rows) for lane in lanes) + 10 * len(lanes)
        frame = f'<iframe srcdoc="{html.escape(self._page())}" style="width:100%;height:{height}px;border:0"></iframe>'
        return f"<details><summary>timeline</summary>{frame}</details>"

    @property
    def _opened(self) -> _core._Profile:
        if self._core is None:
            raise RuntimeError("profile: nothing is recorded yet; write `with pp.profile() as p:` around what is to be recorded")
        return self._core

    @property
    def records(self) -> list[Record]:
        """Everything recorded, by start.

        A dict each: activity ('kernel', 'host task', 'copy', 'fill', 'read', 'write', 'compile', 'load'), name, location (file and line
        of Python), device, queue, queued, start and end (nanoseconds of `time.monotonic_ns()`), bytes_read, bytes_written, operations
        (arithmetic on floating-point numbers), failed.
        """
        return self._opened.records()

    @property
    def dropped(self) -> int:
        """How many records there was no room for."""
        return self._opened.dropped

    @property
    def duration(self) -> float:
        """Seconds from the beginning of the block to its end."""
        return (self._opened.stopped - self._opened.started) / 1e9

    @property
    def counters(self) -> dict[str, int]:
        """By how much each number of `pardo.counters` grew: in the whole process, from the beginning of the block to its end."""
        _ = self._opened
        after = self._after or counters()
        return {name: number - self._before[name] for name, number in after.items()}

    def summary(self) -> str:
        """Say in a line what was counted: kernels that were compiled or loaded, copies of arrays, slow paths.

        Returns
        -------
        str
            What `counters` tells of these. ``PARDO_LOG=info`` names the slow paths.

        Raises
        ------
        RuntimeError
            The profile has not been opened yet.
        """
        n = self.counters
        kernels = f"kernels: {n['compiled']} compiled, {n['from_disk']} from the cache, {n['from_pack']} from the wheel"
        return f"{kernels}; copies: {n['copies']} ({size_text(n['copied_bytes'])}); slow paths: {n['fallbacks']}"

    def table(self, sort_by: str = "time", limit: int | None = None) -> str:
        """Show what took how long: one row for each kernel and line of Python.

        Parameters
        ----------
        sort_by : {'time', 'launches', 'GB/s', 'GFLOP/s', 'kernel', 'line'}
            The column; numbers begin with the largest.
        limit : int, optional
            At most so many rows. Default: all.

        Returns
        -------
        str
            Columns: kernel, line, launches, time (all of them together), GB/s (bytes read and written, each region once a launch),
            GFLOP/s (arithmetic on floating-point numbers: a math function counts one; comparisons, choices, rounding and conversions
            none; complex numbers as their parts are computed with).

        Raises
        ------
        ValueError
            There is no such column, or `limit` is negative.
        TypeError
            `limit` is not an integer.
        RuntimeError
            The profile has not been opened yet.
        """
        if sort_by not in COLUMNS:
            raise ValueError(f"Profile.table: sort_by is {sort_by!r}; the columns are {', '.join(map(repr, COLUMNS))}")
        most = None if limit is None else index(limit, "Profile.table: limit")
        if most is not None and most < 0:
            raise ValueError(f"Profile.table: limit is {most}; it must not be negative")
        records = self.records
        rows = sorted(_rows(records), key=lambda row: _order(row, sort_by))
        return ShownText("\n".join([*_text(rows[:most]), *self._notes(records, len(rows), most)]))

    def _notes(self, records: list[Record], rows: int, most: int | None) -> list[str]:
        if not records and not self.dropped:
            return ["nothing was submitted while the profile was open; arrays are computed when a value is needed: pp.wait(x) asks for it"]
        time = sum(r["end"] - r["start"] for r in records)
        notes = [f"{duration(time)} of work in {duration(self.duration * 1e9)}"]
        if most is not None and most < rows:
            notes.append(f"{rows - most} more rows are not shown")
        if failed := sum(r["failed"] for r in records):
            notes.append(f"{failed} of {len(records)} submissions failed")
        if self.dropped:
            notes.append(f"{self.dropped} later submissions are not recorded: there is room for {self._max_records}")
        return notes

    def _chart(self) -> tuple[list[Record], list[_Lane], Mapping[str, str], int]:
        """What viewers are given: all records, the same in lanes, their locations as they are shown, and the time that is their zero."""
        records = self.records
        return records, _lanes(records), _lines(records), self._opened.started

    def timeline(self, path: StrPath) -> None:
        """Write a page that shows queues as lanes and work as bars; it needs no network.

        Parameters
        ----------
        path : str or path-like
            The HTML file. What is there is overwritten.

        Raises
        ------
        OSError
            The file cannot be written.
        RuntimeError
            The profile has not been opened yet.
        """
        _write(path, self._page())

    def _page(self) -> str:
        """The text of that file."""
        records, lanes, lines, origin = self._chart()
        names: dict[str, int] = {}

        def number(text: str) -> int:
            return names.setdefault(text, len(names))

        def bar(r: Record) -> list[int]:
            amounts = (r["bytes_read"], r["bytes_written"], r["operations"])
            what = (_ACTIVITIES.index(r["activity"]), number(_title(r)), number(lines[r["location"]]))
            return [r["start"] - origin, r["end"] - r["start"], *what, *amounts, int(r["failed"])]

        bars = [{"name": lane.name, "rows": [[bar(r) for r in row] for row in lane.rows]} for lane in lanes]
        data = {
            "activities": _ACTIVITIES,
            "duration": self._opened.stopped - origin,
            "lanes": bars,
            "names": list(names),
            "notes": self._notes(records, 0, None),
        }
        with open(os.path.join(os.path.dirname(__file__), "timeline.html"), encoding="utf-8") as file:
            page = file.read()
        # No name can end the element that holds the data.
        text = _json(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
        return page.replace("{{data}}", text)

    def chrome_trace(self, path: StrPath) -> None:
        """Write a trace in the JSON format of Chrome, which https://ui.perfetto.dev and chrome://tracing show.

        Parameters
        ----------
        path : str or path-like
            The JSON file. What is there is overwritten.

        Raises
        ------
        OSError
            The file cannot be written.
        RuntimeError
            The profile has not been opened yet.
        """
        _, lanes, lines, origin = self._chart()
        processes: dict[str, int] = {}
        events: list[Record] = []
        thread = 0

        def describe(kind: str, pid: int, tid: int, name: str) -> None:
            events.append({"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}})

        for lane in lanes:
            pid = processes.setdefault(lane.device, len(processes) + 1)
            if pid == len(processes):
                describe("process_name", pid, 0, lane.device or "host")
            for number, row in enumerate(lane.rows):
                thread += 1
                describe("thread_name", pid, thread, lane.name if number == 0 else f"{lane.name} ({number + 1})")
                events.extend(_trace_event(r, pid, thread, origin, lines[r["location"]]) for r in row)
        _write(path, _json({"traceEvents": events, "displayTimeUnit": "ms"}))


def _trace_event(r: Record, pid: int, tid: int, origin: int, line: str) -> Record:
    amounts = {key: r[key] for key in ("bytes_read", "bytes_written", "operations", "failed") if r[key]}
    return {
        "ph": "X",
        "name": _title(r),
        "cat": r["activity"],
        "pid": pid,
        "tid": tid,
        "ts": (r["start"] - origin) / 1e3,
        "dur": (r["end"] - r["start"]) / 1e3,
        "args": {"line": line, "waited_us": (r["start"] - r["queued"]) / 1e3, **amounts},
    }


def _cells(rows: list[_Row]) -> list[tuple[str, ...]]:
    """A table's cells, its header first; the column of the device only where there are several. Nothing where there are no rows."""
    if not rows:
        return []
    several = len({row.device for row in rows if row.device}) > 1
    cells: list[tuple[str, ...]] = [("kernel", "line", *(("device",) if several else ()), "launches", "time", "GB/s", "GFLOP/s")]
    for row in rows:
        numbers = (str(row.launches), duration(row.nanoseconds), _number(row.rate(row.bytes)), _number(row.rate(row.operations)))
        cells.append((row.kernel, row.line, *((row.device or "-",) if several else ()), *numbers))
    return cells


def _text(rows: list[_Row]) -> list[str]:
    """Lines of columns of one width: texts to the left, the last four, numbers, to the right."""
    cells = _cells(rows)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    texts = len(widths) - 4
    aligned = ([c.ljust(w) if i < texts else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True))] for line in cells)
    return ["  ".join(line) for line in aligned]


def profile(*, max_records: int = 1_000_000) -> Profile:
    """Record what runs in a block of code, on all devices and from all threads.

    Parameters
    ----------
    max_records : int
        How many records are kept; later ones are only counted, and the table says so.

    Returns
    -------
    Profile
        To be used as ``with pp.profile() as p:``; then `p.table()`, `p.timeline(path)`, `p.chrome_trace(path)` and `p.records`. The end of
        the block waits for what was submitted in it, and raises its failure. Profiles may be nested, and open in several threads: each
        sees everything that is submitted while it is open.

    Raises
    ------
    TypeError
        `max_records` is not an integer.
    ValueError
        `max_records` is negative.

    Examples
    --------
    >>> import pardo as pp
    >>> x = pp.linspace(0.0, 1.0, 1000)
    >>> with pp.profile() as p:
    ...     pp.wait(pp.sin(x) ** 2)
    >>> p.table().splitlines()[0].split()
    ['kernel', 'line', 'launches', 'time', 'GB/s', 'GFLOP/s']
    """
    most = index(max_records, "profile: max_records")
    if most < 0:
        raise ValueError(f"profile: max_records is {most}; it must not be negative")
    return Profile(most)


publish_module(globals(), "pardo")
