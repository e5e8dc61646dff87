# python/make_signatures.py: writes what type checkers see of the methods that tables of distributions make. CMake runs it, and it imports
# nothing of the package.
"""Usage: make_signatures.py OUTPUT TABLE …"""

import ast
import sys
from pathlib import Path

HEAD = """\
# Written by python/make_signatures.py.
from typing import Any

from numpy.typing import DTypeLike
from pardo._base.arguments import DeviceLike
from pardo._core import Array, Queue

class Drawn:
"""


def default(parameter: ast.Call) -> str:
    """The default value of a parameter, with " = " before it; nothing if there is none."""
    given = [*parameter.args[3:4], *(word.value for word in parameter.keywords if word.arg == "default")]
    return "".join(f" = {ast.unparse(value)}" for value in given)


def methods(table: Path) -> list[str]:
    """A signature, and the first line of the text, for each row."""
    lines = []
    for call in ast.walk(ast.parse(table.read_text())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Row":
            name, summary, parameters, draw = call.args
            dtype = "" if draw.func.id == "integers" else "dtype: DTypeLike | None = None, "
            given = [f"{ast.literal_eval(p.args[0])}: Any{default(p)}" for p in parameters.elts]
            others = f"size: Any = None, *, {dtype}device: DeviceLike = None, queue: Queue | None = None, usm_type: str | None = None"
            lines.append(f"    def {ast.literal_eval(name)}({', '.join(['self', *given, others])}) -> Array:\n")
            lines.append(f'        """{ast.literal_eval(summary)}"""\n')
    return lines


def main() -> None:
    output, *tables = sys.argv[1:]
    lines = [HEAD, *(line for table in tables for line in methods(Path(table)))]
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    Path(output).write_text("".join(lines))


main()
