# python/make_signatures.py: writes what type checkers and editors see of functions and methods that tables make. CMake runs it, and it
# imports nothing of the package.
"""Usage: make_signatures.py FOLDER: writes _random/signatures.pyi and _fft/transforms.pyi there, from the texts of the package."""

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).parent / "pardo"
HEAD = "# Written by python/make_signatures.py.\n"
DISTRIBUTIONS = """\
from typing import Any

from numpy.typing import DTypeLike
from pardo._base.arguments import DeviceLike
from pardo._core import Array, Queue

class Drawn:
"""
TRANSFORMS = """\
from collections.abc import Sequence
from typing import Any

from pardo._core import Array

"""


def default(parameter: ast.Call) -> str:
    """The default value of a parameter of a distribution, with " = " before it; nothing if there is none."""
    given = [*parameter.args[3:4], *(word.value for word in parameter.keywords if word.arg == "default")]
    return "".join(f" = {ast.unparse(value)}" for value in given)


def distributions(table: str) -> list[str]:
    """A method, and the first line of its text, for each row."""
    lines = []
    for call in ast.walk(ast.parse((PACKAGE / "_random" / table).read_text())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Row":
            name, summary, parameters, draw = call.args
            dtype = "" if draw.func.id == "integers" else "dtype: DTypeLike | None = None, "
            given = [f"{ast.literal_eval(p.args[0])}: Any{default(p)}" for p in parameters.elts]
            others = f"size: Any = None, *, {dtype}device: DeviceLike = None, queue: Queue | None = None, usm_type: str | None = None"
            lines.append(f"    def {ast.literal_eval(name)}({', '.join(['self', *given, others])}) -> Array:\n")
            lines.append(f'        """{ast.literal_eval(summary)}"""\n')
    return lines


def transforms() -> list[str]:
    """A function, and the first line of its text, for each row; the class of its type has the parameters."""
    tree = ast.parse((PACKAGE / "_fft" / "transforms.py").read_text())
    calls = {kind.name: kind.body[1] for kind in tree.body if isinstance(kind, ast.ClassDef)}
    lines = [f"{ast.unparse(node)}\n" for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
    for row in tree.body:
        if isinstance(row, ast.AnnAssign) and row.annotation.id in calls:
            name, axes = row.target.id, "(-2, -1)" if row.target.id.endswith("2") else "None"
            parameters = ast.unparse(calls[row.annotation.id].args).removeprefix("self, ").replace("...", axes)
            lines.append(f'\ndef {name}({parameters}) -> Array:\n    """{ast.literal_eval(row.value.args[3])}"""\n')
    return lines


def main() -> None:
    folder = Path(sys.argv[1])
    for name, lines in (
        ("_random/signatures.pyi", [DISTRIBUTIONS, *distributions("continuous.py"), *distributions("discrete.py")]),
        ("_fft/transforms.pyi", [TRANSFORMS, *transforms()]),
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("".join([HEAD, *lines]))


main()
