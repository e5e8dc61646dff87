# tests/suites/cython_prange.py: Cython's own tests of prange with device={} in their parallel sections, against what they give without.
"""What Cython's tests of prange give with device={}; cython_prange.txt lists what is the same, and what is refused and why."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
LISTED = HERE / "cython_prange.txt"
WHERE = ("tests/run/*.pyx", "tests/run/*.py", "tests/memoryview/*.pyx", "docs/examples/**/*.pyx", "docs/examples/**/*.py")
# A call that opens a parallel section, by the names under which files have `prange` and `parallel`.
SECTION = re.compile(r"^(?:for\b.*\bin\s+|with\b.*?)(?<![\w.])((?:cython\.)?(?:parallel\.)?(?:prange|parallel))\(", re.DOTALL)
REFUSED = re.compile(r"^(\S+?\.(?:pyx|py)):(\d+):\d+: (.*)$", re.MULTILINE)


def closing(text: str, opened: int) -> int:
    """Where the parenthesis closes that opens at a place."""
    depth = 0
    for k in range(opened, len(text)):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        if depth == 0:
            return k
    raise ValueError("a parenthesis that is not closed")


def with_regions(text: str, left: set[int]) -> tuple[str, list[int]]:
    """The text with `device={}` in outermost parallel sections but those at some lines; the lines of the others."""
    lines, made, inside = text.split("\n"), [], None
    for k, line in enumerate(lines):
        words = line.lstrip()
        indent = len(line) - len(words)
        if words and inside is not None and indent <= inside:
            inside = None
        found = SECTION.match(words)
        if inside is not None or found is None:
            continue
        inside = indent
        if k + 1 in left:
            continue
        opened = indent + found.end() - 1
        with contextlib.suppress(ValueError):
            end = closing(line, opened)
            given = line[opened + 1 : end].strip()
            lines[k] = f"{line[:end]}{', ' if given else ''}device={{}}{line[end:]}"
            made.append(k + 1)
    return "\n".join(lines), made


def function_at(text: str, line: int) -> str:
    """The function in which a line is."""
    lines = text.split("\n")[:line]
    heads = [found for one in lines if (found := re.match(r"(?:def|cdef|cpdef)\b.*?(\w+)\(", one))]
    return heads[-1][1] if heads else "the module"


def built(folder: Path, file: str, with_device: bool) -> str:
    """Compile a file to an extension in its folder; the report of what is wrong."""
    code = (
        "import sys; from setuptools import Extension, setup\n"
        f"from {'pardo.cython' if with_device else 'Cython.Build'} import cythonize\n"
        f"name = {Path(file).stem!r}\n"
        f"one = Extension(name, [{file!r}], include_dirs=['.'], language={'c++' if 'tag: cpp' in (folder / file).read_text() else 'c'!r})\n"
        "setup(name=name, ext_modules=cythonize([one], quiet=True, language_level=2), script_args=['-q', 'build_ext', '--inplace'])\n"
    )
    environment = {**os.environ, "CFLAGS": f"-O0 -I{np.get_include()}"}
    ran = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, env=environment, check=False)
    return "" if ran.returncode == 0 else ran.stdout + ran.stderr


def outcomes(folder: Path, name: str) -> dict[str, str]:
    """For each docstring of a module whether its examples hold, or what they say."""
    code = (
        "import doctest, importlib, io, sys\n"
        f"module = importlib.import_module({name!r})\n"
        "texts = {**getattr(module, '__test__', {})}\n"
        "for n, v in vars(module).items():\n"
        "    if callable(v) and getattr(v, '__doc__', None) and '>>>' in v.__doc__: texts.setdefault(n, v.__doc__)\n"
        "runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)\n"
        "parser = doctest.DocTestParser()\n"
        "for n, text in texts.items():\n"
        "    out = io.StringIO()\n"
        "    result = runner.run(parser.get_doctest(text, dict(vars(module)), n.split(' ')[0], None, None), out=out.write)\n"
        "    said = out.getvalue().strip().splitlines()\n"
        "    print('\\x1e' + n.split(' ')[0] + '\\x1f' + ('holds' if result.failed == 0 else ' | '.join(said[-8:])), flush=True)\n"
    )
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    found = dict(one.strip().split("\x1f") for one in ran.stdout.split("\x1e")[1:])
    if ran.returncode != 0:
        found["the module"] = "ended: " + (ran.stderr.strip().splitlines() or ["?"])[-1]
    return found


class Case:
    """A file of Cython's, compiled twice."""

    def __init__(self, path: Path, work: Path) -> None:
        self.path, self.folders = path, [work / "plain", work / "regions"]
        for folder in self.folders:
            folder.mkdir(parents=True)
            for other in path.parent.iterdir():
                if other.suffix in (".h", ".pxd", ".pxi") or other.name == "sequential_parallel.pyx" or other == path:
                    shutil.copy(other, folder)
        for others in (path.parent.parent / name for name in ("buffers", "testsupport")):  # what files include
            if others.is_dir():
                shutil.copytree(others, work / others.name)
        self.refused: dict[tuple[str, int], str] = {}
        self.taken: list[tuple[str, int]] = []

    def texts(self) -> dict[str, str]:
        """The file, and what it includes."""
        found = {self.path.name: self.path.read_text()}
        for other in re.findall(r'^include "(.*)"', found[self.path.name], re.MULTILINE):
            found[other] = (self.path.parent / other).read_text()
        return found

    def compile(self) -> str:
        """Compile it with regions, without those that are refused; what is wrong with the rest."""
        for _ in range(20):
            self.taken = []
            for name, text in self.texts().items():
                left = {line for file, line in self.refused if file == name}
                made, lines = with_regions(text, left)
                (self.folders[1] / name).write_text(made)
                self.taken += [(name, line) for line in lines]
            report = built(self.folders[1], self.path.name, True)
            if not report:
                return ""
            before = len(self.refused)
            for file, line, why in REFUSED.findall(report):
                self._refuse(Path(file).name, int(line), why)
            if len(self.refused) == before:
                return report
        return "it did not end"

    def _refuse(self, file: str, line: int, why: str) -> None:
        """Of the section in which a line is."""
        if called := re.search(r"; the region at line (\d+) calls", why):
            line = int(called[1])
        before = [at for name, at in self.taken if name == file and at <= line]
        if before and not why.startswith(("warning", "performance")):
            self.refused.setdefault((file, max(before)), why)


def results(path: Path, work: Path) -> list[str]:
    """Lines of the table: a function, and what became of its regions."""
    case = Case(path, work)
    name = path.stem
    if not any(with_regions(text, set())[1] for text in case.texts().values()):
        return []
    if report := built(case.folders[0], path.name, False):
        return [f"{path.name}: not compiled by Cython itself here: {report.strip().splitlines()[-1]}"]
    if report := case.compile():
        return [f"{path.name}: FAILED to compile: {' | '.join(report.strip().splitlines()[-6:])}"]
    texts = case.texts()
    lines = [f"{path.name}: {function_at(texts[file], line)}: refused: {why}" for (file, line), why in case.refused.items()]
    plain, regions = outcomes(case.folders[0], name), outcomes(case.folders[1], name)
    outcome = "the same" if any(holds(plain, regions)) else "compiled; no docstring of the file has examples"
    lines += [f"{path.name}: {function}: {outcome}" for function in sorted({function_at(texts[file], line) for file, line in case.taken})]
    for function, outcome in plain.items():
        if outcome == "holds" and regions.get(function) != "holds":
            lines.append(f"{path.name}: {function}: DIFFERS: {(regions.get(function) or '').rpartition('|')[2].strip()}")
    return list(dict.fromkeys(lines))


def holds(plain: dict[str, str], regions: dict[str, str]) -> list[bool]:
    """For docstrings that hold without regions whether they hold with them."""
    return [regions.get(function) == "holds" for function, outcome in plain.items() if outcome == "holds"]


def main() -> int:
    """Print the table; 1 if it is not the one that is listed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="an unpacked source distribution of Cython")
    parser.add_argument("files", nargs="*", help="names of files; default: all that use prange")
    parser.add_argument("--write", action="store_true", help="write the list anew")
    options = parser.parse_args()
    paths = sorted(
        {p for pattern in WHERE for p in options.folder.glob(pattern) if re.search(r"\bprange\(", p.read_text(errors="replace"))}
    )
    lines = []
    for path in paths:
        if options.files and path.name not in options.files:
            continue
        with tempfile.TemporaryDirectory() as work:
            made = results(path, Path(work))
        print("\n".join(made), flush=True)
        lines += made
    if options.write:
        LISTED.write_text("\n".join(lines) + "\n")
        return 0
    listed = LISTED.read_text().splitlines()
    names = {path.name for path in paths if not options.files or path.name in options.files}
    missing = [line for line in listed if line.partition(":")[0] in names and line not in lines]
    new = [line for line in lines if line not in listed]
    for what, which in (("new", new), ("missing", missing)):
        print(*(f"{what}: {line}" for line in which), sep="\n")
    return 1 if new or missing else 0


if __name__ == "__main__":
    sys.exit(main())
