# tests/summary.py: adds up the JUnit reports of all suites, prints the closing line, fails if anything did or nothing ran.
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count(report: Path) -> tuple[int, int, int]:
    """Passed, failed and skipped tests of one report."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") == "notrun":
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main(folder: Path) -> int:
    totals = [0, 0, 0]
    print()
    for report in sorted(folder.glob("*.xml")):
        numbers = count(report)
        totals = [a + b for a, b in zip(totals, numbers, strict=True)]
        print(f"{report.stem:24} {numbers[0]:6} passed {numbers[1]:4} failed {numbers[2]:4} skipped")
    passed, failed, skipped = totals
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
