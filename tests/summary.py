# tests/summary.py: adds up the reports of all suites, prints the closing line, fails if anything did or nothing ran.
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count_cases(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests of one JUnit report."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or "notrun" in (case.get("status"), case.get("result")):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def count_processes(report: Path, folder: Path) -> tuple[int, int, int]:
    """The same of a report of CTest, whose tests are processes with reports of their own: a process that dies is one failure more."""
    totals = [0, 0, 0]
    for process in ElementTree.parse(report).iter("testcase"):
        ended_well = process.find("failure") is None and process.find("error") is None
        try:
            numbers = count_cases(folder / f"{process.get('name')}.xml")
        except (OSError, ElementTree.ParseError):  # it died before it wrote one
            numbers = (0, 0, 0)
        if numbers == (0, 0, 0) or not (ended_well or numbers[1]):
            numbers = (numbers[0], numbers[1] + 1, numbers[2])
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
    return totals[0], totals[1], totals[2]


def main(reports: Path) -> int:
    totals = [0, 0, 0]
    print()
    for report in sorted(reports.glob("*.xml")):
        folder = report.with_suffix("")
        numbers = count_processes(report, folder) if folder.is_dir() else count_cases(report)
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
        print(f"{report.stem:24} {numbers[0]:6} passed {numbers[1]:4} failed {numbers[2]:4} skipped")
    passed, failed, skipped = totals
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
