"""usage: hot_functions.py MAP: writes hot_functions.txt: the functions of pardo._core that short calls run through.

The linker puts them side by side (python/CMakeLists.txt), so that a call touches few pages and lines of the caches, whatever other code
there is. MAP is the link map of the module that is installed: _core.map in the folder of the build. valgrind has to be there. Sections
that do not exist are passed over, and a function that is not in the list is placed as before: the list need not be made often.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

OUT = Path(__file__).with_name("hot_functions.txt")
CALLS = 300
PROGRAM = """
import sys
import pardo as pp
a, m = pp.arange(16.0).wait(), pp.ones((4, 4)).wait()
b = a.copy().wait()
@pp.jit
def f(x, s):
    t = 0.0
    for i in range(4):
        t += x[i] * s
    return t
@pp.kernel
def k(item, x, y, c):
    i = item.get_id(0)
    y[i] = x[i] * c
for _ in range(int(sys.argv[1])):
    a + b
    a < 3
    a**2
    pp.where(a, b, a)
    (a + b).wait()
    (2.5 * a + b).wait()
    b += 1.0
    float(a.sum())
    float(a[3])
    a[2:5]
    (m @ m).wait()
    k[16](a, b, 1.0)
    f(a, 2.0)
"""


def sections_of(link_map: str) -> dict[int, str]:
    """Sections of functions by their addresses."""
    found = re.findall(r"^ (\.text\.\S+)\s+0x([0-9a-f]+)\s+0x[0-9a-f]+ ", link_map, re.MULTILINE)
    return {int(address, 16): name for name, address in found}


def calls_in(profile: str, module: str) -> dict[int, int]:
    """How often functions of the module are called, by their addresses."""
    names: dict[tuple[str, str], str] = {}
    counts: dict[int, int] = {}
    here = there = function = ""
    for line in profile.splitlines():
        if match := re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?", line):
            name = names.setdefault((match[2], match[3]), match[4] or "")
            if match[2] == "fn":
                function = name
            elif match[1]:
                there = name
            else:
                here = name
        elif line.startswith("calls="):
            if (there or here).endswith(module) and (address := re.match(r"0x[0-9a-f]+", function)):
                at = int(address[0], 16)
                counts[at] = counts.get(at, 0) + int(line[6:].split()[0])
            there = ""
    return counts


def main() -> None:
    sections = sections_of(Path(sys.argv[1]).read_text(errors="replace"))
    counts = []
    with tempfile.TemporaryDirectory() as folder:
        program, profile = Path(folder, "calls.py"), Path(folder, "profile")
        program.write_text(PROGRAM)
        subprocess.run([sys.executable, program, "9"], check=True)  # compiles
        for rounds in (9, 9 + CALLS):
            valgrind = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={profile}"]
            subprocess.run([*valgrind, sys.executable, program, str(rounds)], check=True, env={**os.environ, "PYTHONHASHSEED": "0"})
            counts.append(calls_in(profile.read_text(), "_core.abi3.so"))
    hot = {sections[at] for at, count in counts[1].items() if count - counts[0].get(at, 0) >= CALLS and at in sections}
    header = "# cmake/hot_functions.txt: sections of functions that short calls run through; made by hot_functions.py beside it.\n"
    OUT.write_text(header + "".join(f"{s}\n" for s in sorted(hot)))


if __name__ == "__main__":
    main()
