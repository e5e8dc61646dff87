# python/pardo/_random/distributions.py: the methods of a Generator that draw by parameters, made of the rows of two tables.
from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from numpy.typing import DTypeLike
from pardo._array.contexts import public
from pardo._base.arguments import DeviceLike
from pardo._base.docstrings import document
from pardo._base.public_names import renamed
from pardo._core import Array, Queue
from pardo._random import continuous, discrete, draws
from pardo._random.arguments import Parameters, negative
from pardo._random.rows import Row
from pardo._random.stream import Stream

if TYPE_CHECKING:
    from pardo._random.signatures import Drawn  # written when the package is built, by python/make_signatures.py
else:
    Drawn = object


class Distributions(Stream, Drawn):
    """Draws of distributions by their parameters."""

    @public
    def standard_gamma(
        self,
        shape: Any,
        size: Any = None,
        dtype: DTypeLike | None = None,
        out: Array | None = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        """Draw samples from a standard Gamma distribution.

        Parameters
        ----------
        shape : number or Array
            The shape parameter; not negative. With 0 all numbers are 0.
        {drawn_by_parameters}
        {draw_out}

        Returns
        -------
        Array
            Numbers from 0 on.

        Raises
        ------
        {drawn_raises}

        Notes
        -----
        By rejection from a normal draw; for shapes below 1, the draw of ``shape + 1`` times ``u ** (1 / shape)`` [1]_.

        References
        ----------
        .. [1] G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software
           26, 2000.

        Examples
        --------
        >>> import pardo as pp
        >>> rng = pp.random.default_rng(7)
        >>> rng.standard_gamma(2.5, 3)
        array([2.52268153, 3.23773618, 4.29706183])
        """
        if out is not None:
            out = self._checked("standard_gamma", out, size, dtype, device, queue, usm_type)
            size, device, queue = out.shape, None, out.queue
        given = Parameters("standard_gamma", {"shape": shape}, size, device, queue, usm_type)
        given.require("shape", negative, "must not be negative")
        return given.placed(self._continuous(draws.standard_gamma, given, dtype, out))


def _drawer(row: Row) -> Callable[..., Array]:
    """Draws by a row."""
    name, check, draw = row.name, row.check, row.draw
    names = [p.name for p in row.parameters]
    rules = [(p.name, *p.rule) for p in row.parameters if p.rule is not None]
    integral = tuple(p.name for p in row.parameters if p.kind == "int")

    def drawn(
        stream: Stream, values: tuple[Any, ...], size: Any, device: DeviceLike, queue: Queue | None, usm_type: str | None, dtype: Any = None
    ) -> Array:
        given = Parameters(name, dict(zip(names, values, strict=True)), size, device, queue, usm_type, integral=integral)
        for rule in rules:
            given.require(*rule)
        if check is not None:
            check(given)
        return given.placed(draw(stream, given, dtype))

    return drawn


# Functions by the number of parameters, whose names a row gives; of floats, then of integers.


def _floats_of_0(f: Callable[..., Array]) -> Any:
    def draw(
        self: Stream,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        return f(self, (), size, device, queue, usm_type, dtype)

    return draw


def _floats_of_1(f: Callable[..., Array]) -> Any:
    def draw(
        self: Stream,
        a: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        return f(self, (a,), size, device, queue, usm_type, dtype)

    return draw


def _floats_of_2(f: Callable[..., Array]) -> Any:
    def draw(
        self: Stream,
        a: Any,
        b: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        return f(self, (a, b), size, device, queue, usm_type, dtype)

    return draw


def _floats_of_3(f: Callable[..., Array]) -> Any:
    def draw(
        self: Stream,
        a: Any,
        b: Any,
        c: Any,
        size: Any = None,
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        return f(self, (a, b, c), size, device, queue, usm_type, dtype)

    return draw


def _integers_of_1(f: Callable[..., Array]) -> Any:
    def draw(
        self: Stream,
        a: Any,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        return f(self, (a,), size, device, queue, usm_type)

    return draw


def _integers_of_2(f: Callable[..., Array]) -> Any:
    def draw(
        self: Stream,
        a: Any,
        b: Any,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        return f(self, (a, b), size, device, queue, usm_type)

    return draw


def _integers_of_3(f: Callable[..., Array]) -> Any:
    def draw(
        self: Stream,
        a: Any,
        b: Any,
        c: Any,
        size: Any = None,
        *,
        device: DeviceLike = None,
        queue: Queue | None = None,
        usm_type: str | None = None,
    ) -> Array:
        return f(self, (a, b, c), size, device, queue, usm_type)

    return draw


_FLOATS = {0: _floats_of_0, 1: _floats_of_1, 2: _floats_of_2, 3: _floats_of_3}
_INTEGERS = {1: _integers_of_1, 2: _integers_of_2, 3: _integers_of_3}


def _method(row: Row, integers: bool) -> FunctionType:
    """The method of a row."""
    names = ("self", *(p.name for p in row.parameters))
    made_by = (_INTEGERS if integers else _FLOATS)[len(row.parameters)]
    f: FunctionType = made_by(_drawer(row))
    code, _, annotations = renamed(f, names)
    del annotations["self"]
    f.__code__, f.__annotations__ = code.replace(co_name=row.name, co_qualname=f"Generator.{row.name}"), annotations
    f.__name__, f.__qualname__ = row.name, f"Distributions.{row.name}"
    f.__defaults__ = (*(p.default for p in row.parameters if p.default is not None), None)
    f.__doc__ = _text(row, integers)
    return public(f)


def _text(row: Row, integers: bool) -> str | None:
    """Its docstring."""
    described, together = [], list[str]()
    for p in row.parameters:
        together.append(p.name)
        if p.text:
            kind = "int or Array of int" if p.kind == "int" else "number or Array"
            described.append(f"{', '.join(together)} : {kind}{'' if p.default is None else ', optional'}\n    {p.text}")
            together.clear()
    call, _, printed = row.example.partition("\n")
    kind, like = ("Array of int64", "counted") if integers else ("Array", "drawn")
    sections = {
        "Parameters": "\n".join([*described, f"{{{like}_by_parameters}}"]),
        "Returns": f"{kind}\n    {row.gives}",
        "Raises": f"{{{like}_raises}}{row.raises}",
        "Notes": row.notes,
        "References": row.reference and f".. [1] {row.reference}",
        "Examples": f">>> import pardo as pp\n>>> rng = pp.random.default_rng(7)\n>>> rng.{row.name}({call})\n{printed}",
    }
    return document(row.summary, sections, 8)


for _rows in (continuous.ROWS, discrete.ROWS):
    for _row in _rows:
        setattr(Distributions, _row.name, _method(_row, _rows is discrete.ROWS))
