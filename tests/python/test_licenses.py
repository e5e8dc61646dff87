# tests/python/test_licenses.py: what of others' code the wheel contains is named with its licence, its text and its version: compared
# with what the linker linked and the compiler read.
from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import tarfile
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "licenses" / "components.toml"
if not TABLE.exists():
    pytest.skip("not in a source tree", allow_module_level=True)
ROWS: list[dict[str, Any]] = tomllib.loads(TABLE.read_text())["component"]
BILL = runpy.run_path(str(ROOT / "cmake" / "bill.py"))
MAP = ROOT / "build" / "release" / "_core.map"

# Headers that leave no code of their own in the module: the system's, and declarations of Python's API.
OF_THE_SYSTEM = re.compile(
    r"^/usr/(include/(c\+\+|linux|asm-generic|python3|\w+-linux-gnu/(asm|bits|c\+\+|gnu|sys|python3))|lib/gcc)[/.\d]"
)


def expressions(text: str) -> set[str]:
    """The licences that are joined by AND."""
    return set(text.split(" AND "))


def test_the_wheel_has_every_text():
    files = [str(file) for file in distribution("pardo").files or ()]
    texts = {file.rpartition("/")[2] for file in files if ".dist-info/licenses/" in file}
    assert texts == {"LICENSE", *(row["text"] for row in ROWS)}
    for row in ROWS:
        assert len((ROOT / "licenses" / row["text"]).read_text()) > 500


def origins() -> dict[str, list[str]]:
    """Texts as their authors give them, where this machine has them: beside what was compiled, and in Debian's folder of licences."""
    common = Path("/usr/share/common-licenses")
    found = {name: [common / text] for name, text in {"GCC.txt": "GPL-3", "glibc.txt": "LGPL-2.1"}.items()}
    found["nanobind.txt"] = [Path(str(file.locate())) for file in distribution("nanobind").files or () if file.name == "LICENSE"]
    texts = {name: [file.read_text() for file in files if file.exists()] for name, files in found.items()}
    for name, part in {"VkFFT.txt": "/src/VkFFT/LICENSE", "ducc0.txt": "/src/ducc0/fft/fft.h"}.items():
        for archive in (ROOT / "build" / "archives").glob("*.tar.gz"):
            with tarfile.open(archive) as file:
                text = [file.extractfile(member) for member in file.getmembers() if member.name.endswith(part)]
                texts.setdefault(name, []).extend(one.read().decode() for one in text if one)
    return texts


def test_texts_are_those_of_their_authors():
    texts = origins()
    for name, known in texts.items():
        for origin in known:
            if name == "ducc0.txt":  # the header's notice, between its copyright lines and GPL's
                origin = origin[origin.index("Redistribution") : origin.index("POSSIBILITY OF")]
            assert origin.strip() in (ROOT / "licenses" / name).read_text(), name


@pytest.mark.skipif(not MAP.exists(), reason="no build of the module here")
def test_parts_of_llvm_that_have_notices():
    """The notice of the header of LLVM that is not LLVM's own is quoted."""
    text = re.sub(r"\s+", " ", (ROOT / "licenses" / "LLVM.txt").read_text())
    folders = set(re.findall(r"/(llvm-\d+)/lib/libLLVMSupport\.a", MAP.read_text(errors="replace")))
    for header in (Path("/usr/include", folder, "llvm", "Support", "ConvertUTF.h") for folder in folders):
        if header.exists():
            notice = re.search(r"Copyright © .*?of the copyright holder\.", header.read_text(), re.DOTALL)
            assert notice
            assert re.sub(r"[\s*]+", " ", notice[0]) in text


def test_the_expression_names_every_licence():
    stated = distribution("pardo").metadata["License-Expression"]
    assert expressions(stated) == {"Apache-2.0"}.union(*(expressions(row["license"]) for row in ROWS))


def test_the_bill_of_the_wheel():
    """It is in the wheel (PEP 770), names every component with a version, and says that oneTBB is modified."""
    found = [file for file in distribution("pardo").files or () if str(file).endswith(".dist-info/sboms/pardo.cdx.json")]
    bill = json.loads(found[0].read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "pardo")
    parts = {part["name"]: part for part in bill["components"]}
    assert set(parts) == {row["name"] for row in ROWS}
    for part in parts.values():
        assert re.fullmatch(r"\d+(\.\d+)+", part["version"]), part
    assert "Modified" in parts["oneTBB"]["pedigree"]["notes"]
    assert set(bill["dependencies"][0]["dependsOn"]) == set(parts)


@pytest.mark.skipif(not MAP.exists(), reason="no build of the module here")
def test_all_that_was_linked_has_a_row_and_every_row_was_linked():
    files = BILL["others_files"](MAP.read_text(errors="replace"))
    used = {file: BILL["row_of"](file, ROWS) for file in files}
    assert [file for file, row in used.items() if row is None] == []
    assert {row["name"] for row in used.values()} == {row["name"] for row in ROWS if "linked" in row}


@pytest.mark.skipif(not (MAP.exists() and shutil.which("ninja")), reason="no build of the module here")
def test_all_headers_that_were_read_have_a_row():
    done = subprocess.run(["ninja", "-C", str(MAP.parent), "-t", "deps"], capture_output=True, text=True, check=True)
    targets = re.split(r"\n\n", done.stdout)
    ours = [t for t in targets if re.match(r"(python/)?CMakeFiles/(pardo_|_core)", t)]
    read = {line.strip() for target in ours for line in target.splitlines()[1:]}
    headers = {str(Path(MAP.parent, file).resolve()) for file in read if "cmake_pch" not in file}
    generated = (f"{MAP.parent}/include/", f"{MAP.parent}/python/", f"{MAP.parent}/CMakeFiles/")
    sources = (f"{ROOT}/src/", f"{ROOT}/include/", f"{ROOT}/python/", f"{ROOT}/cmake/")
    others = {file for file in headers if not file.startswith((*generated, *sources)) and not OF_THE_SYSTEM.match(file)}
    others -= {file for file in others if re.fullmatch(r"/usr/include/\w[\w-]*\.h", file) and not BILL["row_of"](file, ROWS, "headers")}
    named = {file: BILL["row_of"](file, ROWS, "headers") for file in others}
    assert [file for file, row in named.items() if row is None] == []
    assert {row["name"] for row in named.values()} == {row["name"] for row in ROWS if "headers" in row}


def test_something_new_is_found():
    """The linker's map of an archive and of a library that no row names."""
    made = """Archive member included to satisfy reference by file (symbol)

/usr/lib/libnew.a(part.o)
                              libpardo_base.a(unity_1_cxx.cxx.o) (part)

As-needed library included to satisfy reference by file (symbol)

libnewer.so.3                 libpardo_base.a(unity_1_cxx.cxx.o) (more)
libm.so.6                     libpardo_base.a(unity_1_cxx.cxx.o) (ctanh@@GLIBC_2.2.5)

Memory Configuration

LOAD /usr/lib/crti.o
"""
    assert BILL["others_files"](made) == ["/usr/lib/crti.o", "/usr/lib/libnew.a", "libnewer.so.3"]
    with pytest.raises(SystemExit, match=r"libnew\.a is in the module, and licenses/components\.toml has no row"):
        BILL["bill"](ROWS, ["/usr/lib/libnew.a"], "1.0", {})
