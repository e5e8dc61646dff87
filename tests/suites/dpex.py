# tests/suites/dpex.py: tests and examples of numba-dpex, or of dpctl, unchanged, under pardo.compat: their imports find pardo's modules.
"""Takes a folder with https://github.com/IntelPython/numba-dpex or https://github.com/IntelPython/dpctl, of which nothing is kept here:

python tests/suites/dpex.py FOLDER [--device opencl:cpu:0] [--only kernel_tests] [--examples] [-- PYTEST_ARGUMENTS]
"""

from __future__ import annotations

import argparse
import ast
import collections
import fnmatch
import importlib
import importlib.abc
import importlib.machinery
import os
import pathlib
import signal
import subprocess
import sys
import types
from typing import Any

import pytest

HERE = pathlib.Path(__file__).resolve().parent
STANDS_FOR = ("numba", "numba_dpex", "dpctl", "dpnp", "llvmlite")
# Where Numba and numba-dpex keep names that they export elsewhere.
KEPT_IN = {
    "numba.misc.special": "numba",
    "numba_dpex.core.types.dpctl_types": "numba_dpex.core.types",
    "numba_dpex.core.types.dpnp_ndarray_type": "numba_dpex.core.types",
    "numba_dpex.core.types.usm_ndarray_type": "numba_dpex.core.types",
    "numba_dpex.core.types.kernel_api.ranges": "numba_dpex.core.types",
}
SECONDS = 120
# Arguments of examples that take long by themselves.
ARGUMENTS = {"pipelining.py": ["--n", "20000", "--n_itr", "4", "--reps", "1"]}
INSIDE = "it calls functions of the inside of Numba's compiler"


class InsideError(Exception):
    """A test has called what is the inside of Numba's compiler."""


class Inside(types.ModuleType):
    """In place of a module, function or class of Numba's inside: files of tests can be imported; a test that uses it raises."""

    testing = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Inside(f"{self.__name__}.{name}")

    def __call__(self, *_: Any, **__: Any) -> Any:
        if Inside.testing:
            raise InsideError(self.__name__)
        return self


class Names(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """`import numba_dpex` and its like give the modules of pardo.compat; the tests are those of the folder."""

    def __init__(self, folder: pathlib.Path, library: str) -> None:
        self.folder, self.library, self.own = folder, library, (f"{library}.tests", f"{library}.examples")
        self.before: dict[str, Any] = {}
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        top, inner = name.partition(".")[0], name.removeprefix("pardo.compat.")
        if name in self.own:
            return importlib.machinery.PathFinder.find_spec(name, [str(self.folder / self.library)])
        if name.startswith(self.own):
            return importlib.machinery.PathFinder.find_spec(name, path)
        if inner != name and "." in inner and importlib.machinery.PathFinder.find_spec(name, path):
            return None
        if top in STANDS_FOR or (inner != name and "." in inner):
            return importlib.machinery.ModuleSpec(name, self)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        inner = spec.name.removeprefix("pardo.compat.")
        if KEPT_IN.get(inner, "") or (inner == spec.name and not inner.startswith("llvmlite")):
            try:
                module = importlib.import_module(f"pardo.compat.{KEPT_IN.get(inner, inner)}")
                self.before[module.__name__] = module.__spec__
                return module
            except ModuleNotFoundError:
                pass
        module = Inside(spec.name)
        module.__path__ = []
        file = self.folder.joinpath(*inner.split(".")).with_suffix(".py")
        if file.exists():  # lists of names that tests go over
            tree = ast.parse(file.read_text())
            for node in tree.body:
                if isinstance(node, ast.Assign) and isinstance(node.value, (ast.List, ast.Set)):
                    vars(module)[node.targets[0].id] = ast.literal_eval(node.value)  # type: ignore[attr-defined]
                if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("set(["):
                    vars(module)[node.targets[0].id] = set(ast.literal_eval(node.value.args[0]))  # type: ignore[attr-defined]
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        if not isinstance(module, Inside):
            module.__spec__ = self.before[module.__name__]


def refused(library: str) -> list[tuple[str, str, bool]]:
    """What is not expected to pass: a pattern of test names, why, and whether it would not end."""
    out = []
    for line in (HERE / f"{library}_refused.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pattern, _, why = line.partition(": ")
            out.append((pattern.lstrip("!"), why, pattern.startswith("!")))
    return out


class Counts:
    """A plugin of pytest that counts tests, and says which of them fail against the list."""

    def __init__(self, library: str) -> None:
        self.library, self.refused = library, refused(library)
        self.kinds: collections.Counter[str] = collections.Counter()
        self.reasons: collections.Counter[str] = collections.Counter()
        self.surprises: list[str] = []

    def why(self, name: str) -> tuple[str, bool]:
        name = name.partition(f"{self.library}/tests/")[2] or name
        return next(((why, never) for pattern, why, never in self.refused if fnmatch.fnmatch(name, pattern)), ("", False))

    def pytest_collection_modifyitems(self, items: list[Any], config: Any) -> None:
        never = [i for i in items if self.why(i.nodeid)[1]]
        for item in never:
            self.note("refused", item.nodeid)
        items[:] = [i for i in items if i not in never]

    def pytest_runtest_protocol(self, item: Any) -> None:
        Inside.testing = True
        signal.alarm(SECONDS)

    def note(self, kind: str, name: str) -> None:
        self.kinds[kind] += 1
        if kind == "refused":
            self.reasons[self.why(name)[0] or INSIDE] += 1

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        if report.when == "teardown":
            return
        why = self.why(report.nodeid)[0]
        expected = hasattr(report, "wasxfail")
        kind = "expected to fail" if expected and report.skipped else "passed" if report.passed else report.outcome
        if kind == "failed" and (why or "InsideError" in str(report.longrepr)):
            kind = "refused"
        elif kind == "failed":
            self.surprises.append(f"{kind}: {report.nodeid}")
        self.note(kind, report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            kind = "files refused" if self.why(report.nodeid)[0] else "files failed"
            self.kinds[kind] += 1
            if kind == "files failed":
                self.surprises.append(f"{kind}: {report.nodeid}: {str(report.longrepr).strip().splitlines()[-1]}")
            else:
                self.reasons[self.why(report.nodeid)[0]] += 1


def examples(folder: pathlib.Path, library: str, device: str) -> int:
    """Run each example as a program of its own; how many fail."""
    failed = 0
    for path in sorted([*(folder / library / "examples").glob("*/*.py"), *(folder / "examples" / "python").glob("[!_]*.py")]):
        name = str(path.relative_to(folder))
        why = next((why for pattern, why, _ in refused(library) if fnmatch.fnmatch(name, pattern)), "")
        arguments = [sys.executable, __file__, str(folder), "--run", str(path), *(["--device", device] if device else [])]
        try:
            done = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS)
            lines = done.stderr.strip().splitlines()
            told = "passed" if done.returncode == 0 else f"FAILED {lines[-1] if lines else done.returncode}"
        except subprocess.TimeoutExpired:
            told = "FAILED it took too long"
        if why and told != "passed":
            told = f"refused: {why}"
        failed += told.startswith("FAILED")
        print(f"{name}: {told}", flush=True)
    return failed


def stopped(*_: Any) -> None:
    raise TimeoutError("it took too long")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--device", default="")
    parser.add_argument("--only", default="", help="a folder or file below the tests")
    parser.add_argument("--examples", action="store_true", help="the examples in place of the tests")
    parser.add_argument("--run", default="", help="one file, as a program")
    own, _, others = " ".join(sys.argv[1:]).partition(" -- ")
    asked = parser.parse_args(own.split())
    if asked.device:
        os.environ["PARDO_DEVICE"] = asked.device
    folder = asked.folder.resolve()
    library = next(name for name in ("numba_dpex", "dpctl") if (folder / name / "tests").exists())
    if asked.examples:
        return int(examples(folder, library, asked.device) > 0)
    Names(folder, library)
    if asked.run:
        import runpy

        sys.argv = [asked.run, *ARGUMENTS.get(pathlib.Path(asked.run).name, [])]
        sys.path.insert(0, str(pathlib.Path(asked.run).parent))
        runpy.run_path(asked.run, run_name="__main__")
        return 0
    signal.signal(signal.SIGALRM, stopped)
    counts = Counts(library)
    where = folder / library / "tests" / asked.only
    pytest.main(
        [
            "-qq",
            "--continue-on-collection-errors",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--rootdir",
            str(folder),
            "--tb=line",
            "-o",
            "addopts=",
            str(where),
            *others.split(),
        ],
        plugins=[counts],
    )
    print(", ".join(f"{count} {kind}" for kind, count in counts.kinds.most_common()))
    for reason, count in counts.reasons.most_common():
        print(f"{count:5} {reason}")
    for line in counts.surprises:
        print(line)
    return int(bool(counts.surprises))


if __name__ == "__main__":
    sys.exit(main())
