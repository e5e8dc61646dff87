# tests/suites/run.py: runs scikit-learn's and SciPy's tests of the array API on arrays of pardo, and prints what passed.
"""usage: run.py [--device DEVICE] [--only PART…] [--python PYTHON] [-- ARGUMENTS OF PYTEST]

A part is a package of a library: ``sklearn.decomposition``, ``scipy.fft``. Each runs in a process of its own, with those of its files that
speak of namespaces. The interpreter needs pytest, hypothesis, the libraries (requirements.txt) and pardo. README.md has results.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
# Each library: the distribution, the folder, what a file of its tests says if it runs with several namespaces.
SUITES = {
    "scikit-learn": ("sklearn", r"yield_namespace_device_dtype|yield_mixed_namespace|def test_estimators\("),
    "scipy": ("scipy", r"def test\w*\(.*\bxp\b"),
}


def parts_of(suite: str, python: str) -> dict[str, list[Path]]:
    """The files of each package that run with several namespaces."""
    package, pattern = SUITES[suite]
    where = subprocess.run([python, "-c", f"import {package}; print({package}.__path__[0])"], capture_output=True, text=True, check=True)
    root = Path(where.stdout.strip())
    parts: dict[str, list[Path]] = {}
    for file in sorted(root.rglob("tests/test_*.py")):
        if re.search(pattern, file.read_text()):
            below = file.relative_to(root).parts[0]
            name = package if below == "tests" else f"{package}.{below}"
            parts.setdefault(name, []).append(file)
    return parts


def run(suite: str, files: list[Path], python: str, device: str, extra: list[str]) -> dict[Path, Counter[str]]:
    """Passed, failed, skipped, and expected failures of each file."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        environment = os.environ | {
            "PYTHONPATH": str(HERE), "PARDO_SUITE": suite, "PARDO_DEVICE": device, "SCIPY_ARRAY_API": "1", "SKLEARN_SKIP_NETWORK_TESTS": "1",
        }  # fmt: skip
        root = files[0]
        while root.name != "site-packages":
            root = root.parent
        command = [python, "-m", "pytest", "-q", "-p", "pardo_namespace", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={root}"]
        command += [f"--junitxml={report}", "-o", "junit_family=xunit1", "--tb=short", "-W", "ignore", "-o", "faulthandler_timeout=120", *extra, *map(str, files)]
        ended = subprocess.run(command, env=environment, check=False)
        counts = {file: Counter[str]() for file in files}
        if not report.exists():
            counts[files[0]]["died" if ended.returncode else "none"] += 1
            return counts
        for case in ElementTree.parse(report).iter("testcase"):
            file = root / case.get("file", "") if case.get("file") else root / (case.get("classname", "").replace(".", "/") + ".py")
            counts.setdefault(file, Counter())[outcome(case)] += 1
        return counts


def outcome(case: ElementTree.Element) -> str:
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return "passed"
    return "known" if skipped.get("type") == "pytest.xfail" else "skipped"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="where arrays are made that name no device")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the libraries")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="packages, or paths below them: scipy.fft, sklearn.metrics")
    parser.add_argument("pytest", nargs="*", help="arguments of pytest, after --")
    options = parser.parse_args()
    rows: list[tuple[str, Counter[str]]] = []
    for suite in SUITES:
        for part, files in parts_of(suite, options.python).items():
            if options.only and part not in options.only:
                continue
            counts = run(suite, files, options.python, options.device, options.pytest)
            rows += [(f"{part} {file.stem}", count) for file, count in counts.items() if count]
    print("\n| file | passed | failed | skipped | known |\n|---|---:|---:|---:|---:|")
    total: Counter[str] = Counter()
    for name, count in [*rows, ("all", total)]:
        print(f"| {name} | {count['passed']} | {count['failed'] + count['died']} | {count['skipped']} | {count['known']} |")
        total += count
    return 1 if total["failed"] or total["died"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
