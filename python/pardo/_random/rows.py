# python/pardo/_random/rows.py: what a table of distributions has in a row: names, what must be true of parameters, how is drawn, texts.
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import DTypeLike
from pardo._core import Array
from pardo._random.arguments import Parameters, floating, negative, no_positive_number, not_positive, outside
from pardo._random.stream import Stream

Rule = tuple[Callable[[Any], Any], str]  # when a parameter is wrong, and what is said of it then
Draw = Callable[[Stream, Parameters, DTypeLike | None], Array]


class Parameter(NamedTuple):
    """A parameter of a distribution; one without a text of its own is described by the text of the next one."""

    name: str
    text: str
    rule: Rule | None = None
    default: float | None = None
    kind: str = "number"  # or "int"


class Row(NamedTuple):
    """A distribution: `python/make_signatures.py` reads name and parameters from the text of the table."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    draw: Draw
    gives: str
    notes: str
    example: str  # the arguments, and in other lines what is printed
    reference: str = ""
    check: Callable[[Parameters], None] | None = None  # of several parameters
    raises: str = ""


# --- how is drawn


def shaped(draw: Callable[..., Any], formula: Callable[..., Array]) -> Draw:
    """By a formula of a standard draw and the parameters."""

    def made(stream: Stream, given: Parameters, dtype: DTypeLike | None) -> Array:
        wanted = floating(dtype, given.queue, given.op_name)
        return formula(given.watch(stream._fill(draw, given.empty(wanted))), *given.of(wanted))

    return made


def floats(draw: Callable[..., Any]) -> Draw:
    """Each element by attempts of its own."""

    def made(stream: Stream, given: Parameters, dtype: DTypeLike | None) -> Array:
        return stream._continuous(draw, given, dtype)

    return made


def integers(draw: Callable[..., Any]) -> Draw:
    """The same, for int64."""

    def made(stream: Stream, given: Parameters, _: DTypeLike | None) -> Array:
        return stream._counts(draw, given)

    return made


# --- what must be true

NOT_NEGATIVE: Rule = negative, "must not be negative"
POSITIVE: Rule = not_positive, "must be positive"
POSITIVE_NUMBER: Rule = no_positive_number, "must be positive"
PROBABILITY: Rule = outside, "must be from 0 to 1"
ABOVE_0: Rule = (lambda p: outside(p) | (p == 0)), "must be from above 0 to 1"
BELOW_1: Rule = (lambda p: outside(p) | (p == 1)), "must be from 0 to below 1"

# --- what several refer to

DEVROYE = 'L. Devroye, "Non-Uniform Random Variate Generation", Springer 1986, chapter '
INVERSION = DEVROYE + "II.2: by inversion of the distribution function."
GAMMA = (
    'G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM Transactions on Mathematical Software\n   26, 2000.'
)
