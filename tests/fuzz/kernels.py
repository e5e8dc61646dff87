# tests/fuzz/kernels.py: random kernels and jit functions against the same function run as plain Python on NumPy's data.
#
# A program is a function as a tree of lines (kernel_maker.py), and its arguments.
from __future__ import annotations

import itertools
import linecache
import math
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzz.kernel_maker import Maker, Tree
from fuzz.results import difference, flat

COUNTER = itertools.count()

HEADER = (
    "import math\nimport operator\nfrom collections import namedtuple\n\nimport numpy as np\nimport pardo as pp\n\n"
    "Pair = namedtuple('Pair', 'a b')\n\n\n"
)


def text_of(tree: Tree, indent: str = "") -> str:
    lines = []
    for line, inside in tree:
        lines.append(indent + line)
        if line.endswith(":"):
            lines.append(text_of(inside, indent + "    ") if inside else indent + "    pass")
    return "\n".join(lines)


def data(seed: int, shape: list[int], dtype: str) -> np.ndarray:
    rng, kind = np.random.default_rng(seed), np.dtype(dtype).kind
    low = 0 if kind == "u" else -8
    return rng.integers(low, 9, shape).astype(dtype) if kind in "iu" else (rng.integers(-16, 17, shape) / 4).astype(dtype)


class Place:
    """What plain Python gets for an item."""

    def __init__(self, at: int) -> None:
        self.at = at

    def get_id(self, _dimension: int) -> int:
        return self.at


def propagating(choose: Any) -> Any:
    """`min` or `max` as docs/guide/language.md has them: nan if one of the numbers is."""

    def chosen(*values: Any) -> Any:
        if any(isinstance(v, float | np.floating) and v != v for v in values):
            return np.result_type(*values).type(math.nan)
        return choose(*values)

    return chosen


def load(program: dict[str, Any], **names: Any) -> Any:
    name = f"<fuzz {next(COUNTER)}>"
    text = HEADER + text_of(program["tree"]) + "\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names["__name__"] = "fuzz_program"
    exec(compile(text, name, "exec"), names)
    return names["program"]


def arguments(program: dict[str, Any]) -> list[Any]:
    return [data(*a) if isinstance(a, list) else a for a in program["arguments"]]


def plain(program: dict[str, Any], **names: Any) -> tuple[Any, list[Any], str | None]:
    """What plain Python gives back, makes of the arguments, and raises."""
    function = load(program, **names)
    given, result, raised = arguments(program), None, None
    try:
        if program["items"] is None:
            result = function(*given)
        else:
            for i in range(program["items"]):
                function(Place(i), *given)
    except Exception as e:
        raised = type(e).__name__
    return result, given, raised


def run(program: dict[str, Any], device: str) -> str | None:
    import pardo as pp

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted, after, raised = plain(program, min=propagating(min), max=propagating(max))
        if raised not in (None, "IndexError"):
            return None
        function, given, result, error = load(program), arguments(program), None, None
        try:
            if program["items"] is None:
                ours = pp.jit(function, bounds_check=True)
                if device.startswith("cpu") and program["numpy"]:
                    result = ours(*given)
                else:
                    given = [pp.asarray(a, device=device) if isinstance(a, np.ndarray) else a for a in given]
                    result = ours(*given)
                    given = [pp.asnumpy(a) if isinstance(a, pp.Array) else a for a in given]
                    result = tuple(pp.asnumpy(v) if isinstance(v, pp.Array) else v for v in flat(result))
            else:
                given = [pp.asarray(a, device=device) if isinstance(a, np.ndarray) else a for a in given]
                pp.kernel(function, bounds_check=True)[pp.Range(program["items"])](*given).wait()
                given = [pp.asnumpy(a) if isinstance(a, pp.Array) else a for a in given]
        except Exception as e:
            error = e
    if isinstance(error, NameError):
        return None  # a shrunk program: the language asks for a value on every path
    if isinstance(error, pp.CompileError) and "PoCL, compiles that wrongly" in str(error):
        return None
    if isinstance(error, TypeError) and "does not support ufuncs" in str(error):
        return None  # serial code over arrays of a device stays Python, where NumPy's functions do not take arrays of pardo
    if raised:
        return None if type(error).__name__ == raised else f"{error!r}, Python raises {raised}"
    if error is not None:
        return f"{type(error).__name__}: {error}"
    wrong = difference(program["names"], given, after, flat(result), flat(wanted))
    if wrong and program["items"] is None:
        with np.errstate(all="ignore"):
            wanted, after, raised = plain(program)  # serial code that stays Python has Python's `min` and `max`, too
        if raised is None and difference(program["names"], given, after, flat(result), flat(wanted)) is None:
            return None
    return wrong


def script(program: dict[str, Any], device: str) -> str:
    made = [
        f"{n} = data({', '.join(map(repr, a))})" if isinstance(a, list) else f"{n} = {a!r}"
        for n, a in zip(program["names"], program["arguments"], strict=True)
    ]
    names = ", ".join(program["names"])
    arrays = [n for n, a in zip(program["names"], program["arguments"], strict=True) if isinstance(a, list)]
    lines = [HEADER + text_of(program["tree"]), "", "", DATA_TEXT, ""]
    if program["items"] is None:
        lines += [*made, f"print('Python', program({names}))", f"print('Python', {', '.join(arrays)})", "", *made]
        if not (device.startswith("cpu") and program["numpy"]):
            lines += [f"{n} = pp.asarray({n}, device={device!r})" for n in arrays]
        lines += [f"print('pardo ', pp.jit(program, bounds_check=True)({names}))"]
    else:
        lines += [
            "class Place:",
            "    def __init__(self, at):",
            "        self.at = at",
            "",
            "    def get_id(self, _):",
            "        return self.at",
            "",
            "",
        ]
        lines += [
            *made,
            f"for i in range({program['items']}):",
            f"    program(Place(i), {names})",
            f"print('Python', {', '.join(arrays)})",
            "",
            *made,
        ]
        lines += [f"{n} = pp.asarray({n}, device={device!r})" for n in arrays]
        lines += [f"pp.kernel(program, bounds_check=True)[pp.Range({program['items']})]({names}).wait()"]
    return "\n".join([*lines, f"print('pardo ', {', '.join(arrays)})", ""])


DATA_TEXT = """def data(seed, shape, dtype):
    rng, kind = np.random.default_rng(seed), np.dtype(dtype).kind
    low = 0 if kind == "u" else -8
    return rng.integers(low, 9, shape).astype(dtype) if kind in "iu" else (rng.integers(-16, 17, shape) / 4).astype(dtype)
"""


def smaller(program: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Programs without one of the lines and what is in it, or with what is in it instead; big ones first."""

    def cut(tree: Tree, fixed: bool) -> Iterator[Tree]:
        for k, (line, inside) in enumerate(tree):
            if not fixed or line.startswith("def helper"):
                yield tree[:k] + tree[k + 1 :]
                if inside and not line.startswith(("def", "match", "case", "else", "elif", "except", "class")):
                    yield tree[:k] + inside + tree[k + 1 :]
        for k, (line, inside) in enumerate(tree):
            for better in cut(inside, False):
                yield [*tree[:k], [line, better], *tree[k + 1 :]]

    for tree in cut(program["tree"], True):
        candidate = {**program, "tree": tree}
        try:
            compile(text_of(tree), "<candidate>", "exec")
        except SyntaxError:
            continue
        yield candidate


def generate(rng: random.Random, device: str) -> dict[str, Any]:
    return Maker(rng).program()
