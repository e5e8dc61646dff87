# tests/suites/run.py: runs scikit-learn's and SciPy's tests of the array API on arrays of pardo, and prints what passed.
"""usage: run.py [--device DEVICE] [--place PLACE] [--only PART…] [--python PYTHON] [-- ARGUMENTS OF PYTEST]

A part is a package of a library: ``sklearn.decomposition``, ``scipy.fft``. Each runs in a process of its own, with those of its files that
speak of namespaces. The interpreter needs the packages of requirements.txt, and pardo. README.md says how, and has results.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
# Each library: its package, and what a file of its tests says if it runs with several namespaces.
SUITES = {
    "array-api-compat": ("tests", r"all_libraries"),
    "array-api-extra": ("tests", r"\bxp: "),
    "scikit-learn": ("sklearn", r"yield_namespace_device_dtype|yield_mixed_namespace|def test_estimators\("),
    "scipy": ("scipy", r"def test\w*\(.*\bxp\b"),
}


def root_of(suite: str, python: str, sources: Path) -> Path:
    """The folder that has the package with a library's tests: site-packages, or the unpacked source archive where wheels have none."""
    if not suite.startswith("array-api"):
        code = f"import pathlib, {SUITES[suite][0]} as package; print(pathlib.Path(package.__path__[0]).parent)"
        return Path(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip())
    name = suite.replace("-", "_")
    for archive in sources.glob(f"{name}-*.tar.gz"):
        shutil.unpack_archive(archive, sources)
    return next(path.resolve() for path in sources.glob(f"{name}-*") if path.is_dir())


def parts_of(suite: str, root: Path) -> dict[str, list[Path]]:
    """The files of each package that run with several namespaces."""
    package, pattern = SUITES[suite]
    parts: dict[str, list[Path]] = {}
    for file in sorted((root / package).rglob("test_*.py")):
        if "tests" in file.parts and re.search(pattern, file.read_text()):
            below = file.relative_to(root).parts[1]
            name = suite if package == "tests" else package if below == "tests" else f"{package}.{below}"
            parts.setdefault(name, []).append(file)
    return parts


def run(suite: str, root: Path, files: list[Path], options: argparse.Namespace) -> dict[Path, Counter[str]]:
    """What became of the tests of each file."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        environment = os.environ | {
            "PYTHONPATH": f"{HERE}{os.pathsep}{root}", "PARDO_SUITE": suite, "PARDO_DEVICE": options.device,
            "PARDO_SUITE_PLACE": options.place, "SCIPY_ARRAY_API": "1", "SKLEARN_SKIP_NETWORK_TESTS": "1", "PARDO_IMPLICIT_COPIES": "1",
        }  # fmt: skip
        warnings = "error::DeprecationWarning" if suite == "array-api-extra" else "ignore"  # it tests its own deprecations
        command = [
            options.python, "-m", "pytest", "-q", "-p", "pardo_namespace", "-p", "no:cacheprovider", "--tb=short", "-W", warnings,
            "-c", os.devnull, f"--rootdir={root}", f"--junitxml={report}", "-o", "junit_family=xunit1", "-o", "faulthandler_timeout=120",
            *options.pytest, *map(str, files),
        ]  # fmt: skip
        ended = subprocess.run(command, env=environment, check=False)
        counts = {file: Counter[str]() for file in files}
        if not report.exists():
            counts[files[0]]["died" if ended.returncode else "none"] += 1
            return counts
        for case in ElementTree.parse(report).iter("testcase"):
            counts.setdefault(root / case.get("file", ""), Counter())[outcome(case)] += 1
        return counts


def outcome(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    return "expected" if skipped.get("type") == "pytest.xfail" else "skipped"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="where arrays are made that name no device")
    parser.add_argument(
        "--place", default="", help="where the tests' own arrays are, if not there: a device, or `own`, a queue of one's own"
    )
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the libraries")
    parser.add_argument("--sources", type=Path, default=Path("build/suites/sources"), help="where source archives of array-api-… are")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="packages, or paths below them: scipy.fft, sklearn.metrics")
    parser.add_argument("pytest", nargs="*", help="arguments of pytest, after --")
    options = parser.parse_args()
    rows: list[tuple[str, Counter[str]]] = []
    for suite in SUITES:
        if options.only and suite.startswith("array-api") and suite not in options.only:
            continue  # its source archive need not be there
        root = root_of(suite, options.python, options.sources)
        for part, files in parts_of(suite, root).items():
            if not options.only or part in options.only:
                counts = run(suite, root, files, options)
                rows += [(f"{part} {file.stem}", count) for file, count in counts.items() if count]
    total = sum((count for _, count in rows), Counter[str]())
    print("\n| file | passed | failed | skipped | expected to fail |\n|---|---:|---:|---:|---:|")
    for name, count in [*rows, ("all", total)]:
        print(f"| {name} | {count['passed']} | {count['failed'] + count['died']} | {count['skipped']} | {count['expected']} |")
    return 1 if total["failed"] or total["died"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
