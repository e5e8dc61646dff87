# tests/python/test_exported.py: what libpardo.so exports: names of pardo that a header declares, those of tests/exported.txt, all of them
# and no others. `python tests/python/test_exported.py` writes that file anew.
from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "build" / "release" / "libpardo.so"
KEPT = ROOT / "tests" / "exported.txt"
STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
VIEW = "std::basic_string_view<char, std::char_traits<char> >"

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not LIBRARY.exists(), reason="no library for C++"),
    pytest.mark.skipif(not shutil.which("nm"), reason="nm is not installed"),
]


def exported() -> list[str]:
    """Signatures, with short names for strings."""
    done = subprocess.run(["nm", "-DC", "--defined-only", str(LIBRARY)], capture_output=True, text=True, check=True)
    names = {line.split(maxsplit=2)[2] for line in done.stdout.splitlines()}
    return sorted(name.replace(STRING, "std::string").replace(VIEW, "std::string_view").replace("[abi:cxx11]", "") for name in names)


def test_only_names_of_pardo_are_exported():
    assert [name for name in exported() if not re.match(r"(typeinfo (name )?for |vtable for )?pardo::", name)] == []


def test_headers_declare_what_is_exported():
    words = set(re.findall(r"~?\w+|operator\S+?(?=\()", "".join(p.read_text() for p in (ROOT / "include").rglob("*.*"))))
    without = []
    for name in exported():
        path = re.sub(r"\(.*", "", re.sub(r"^(typeinfo (name )?for |vtable for )", "", name))
        last = re.search(r"(operator.+|~?\w+)$", re.sub(r"<.*>$", "", path))
        if last is None or (last[1] not in words and not last[1].startswith("operator")):
            without.append(name)
    assert without == []


def test_the_list_of_exported_names_is_kept():
    kept = KEPT.read_text().splitlines()
    now = exported()
    gone, new = sorted(set(kept) - set(now)), sorted(set(now) - set(kept))
    text = "\n".join(["gone:", *gone, "new:", *new])
    assert kept == now, f"programs of C++ link these; if that is meant, `python {Path(__file__).relative_to(ROOT)}`:\n{text}"


if __name__ == "__main__":
    KEPT.write_text("".join(f"{name}\n" for name in exported()))
