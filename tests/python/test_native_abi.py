# tests/python/test_native_abi.py: extensions that were built against the header of any minor version run with the table of any other.
# `python tests/python/test_native_abi.py` keeps this version's header and its layout, which only a version that is not released may change.
from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import tempfile
from ctypes import c_char_p, c_int, c_void_p, py_object
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from native_api import HEADER, Api, C
from native_building import COMPILER, NEEDS_A_COMPILER, SOURCES

ABI = SOURCES / "abi"
KEPT = {path.parent.name: path.read_text() for path in sorted(ABI.glob("*/c_api.h"))}
SIZED = {"pardo_array_info", "pardo_memory", "pardo_native_device", "pardo_work", "pardo_submit_options", "pardo_api"}  # these may grow
pytestmark = [pytest.mark.once, pytest.mark.skipif(not KEPT, reason="not in a source tree")]
api = Api()


def code(text):
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL))


def structs(text):
    """The members of each struct, in their order."""
    found = re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", code(text))
    return {name: [m.strip() for m in re.split(r";(?![^(]*\))", body) if m.strip()] for name, body in found}


def functions(text):
    return set(re.findall(r"typedef [\w ]+ \(\*\w+\)\([^;]*\);", code(text)))


def constants(text):
    """Of enumerations whose values are written out, and macros that are numbers."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return dict(re.findall(r"\b(PARDO_\w+) = (\d+)", text)) | dict(re.findall(r"#define (PARDO_(?!ABI_MINOR)\w+) (\S+)", text))


def with_one_more(header):
    """The header of a version 1.1 that has one function more."""
    header = re.sub(r"#define PARDO_ABI_MINOR \d+", "#define PARDO_ABI_MINOR 1", header)
    return header.replace("} pardo_api;", "    int32_t (*twice)(int32_t x);\n} pardo_api;")


HEADERS = {**KEPT, "now": HEADER, "1.1, with one more": with_one_more(HEADER)}


def test_the_header_of_this_version_is_kept():
    assert f"{C['PARDO_ABI_MAJOR']}.{C['PARDO_ABI_MINOR']}" in KEPT


@pytest.mark.parametrize("version", KEPT)
def test_later_versions_only_append(version):
    kept, now = KEPT[version], HEADER
    for name, members in structs(kept).items():
        current = structs(now)[name]
        assert current[: len(members)] == members
        assert name in SIZED or current == members
    assert functions(kept) <= functions(now)
    assert constants(kept).items() <= constants(now).items()
    assert structs(kept)["pardo_api"]
    assert "int32_t (*thread_count)(pardo_queue queue)" in structs(kept)["pardo_api"]


# --- layout, as compilers have it ------------------------------------------------------------------------------------------------


def layout(header, folder):
    """A library whose debugging information has the structs of a header."""
    include = folder / "pardo"
    include.mkdir(parents=True)
    (include / "c_api.h").write_text(header)
    flags = ["-x", "c", "-std=c99", "-g", "-O0", "-shared", "-fPIC", f"-I{folder}", f"-ffile-prefix-map={ABI}=."]
    subprocess.run([COMPILER, *flags, str(ABI / "table.c"), "-o", str(folder / "table.so")], check=True)
    return folder / "table.so"


def broken(before, after):
    """What abidiff says of two layouts, unless members of structs that may grow were appended and nothing else has changed: behind the end,
    for in what was padding an older extension's size includes them."""
    options = ["--no-architecture", "--leaf-changes-only", "--no-show-locs", "--no-added-syms"]
    done = subprocess.run(["abidiff", *options, str(before), str(after)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 4, 8, 12), done.stderr
    report = done.stdout if done.returncode else ""
    for name, said in re.findall(r"^'struct (\w+)' changed:\n((?:  .*\n|\n)*)", report, re.MULTILINE):
        grown = re.fullmatch(r"\s*type size changed from (\d+) to \d+ .*\n  \d+ data member insertions?:\n((?:    '.*\n)+)\s*", said)
        if name not in SIZED or not grown or min(map(int, re.findall(r"at offset (\d+) ", grown[2]))) < int(grown[1]):
            return report
    summary = re.search(r"functions summary: 0 Removed, 0 Changed|^$", report)
    return report if re.search(r"^'(?!struct )|^\[", report, re.MULTILINE) or not summary else ""


NEEDS_ABIDIFF = pytest.mark.skipif(not shutil.which("abidiff") or not COMPILER, reason="abidiff (abigail-tools) or a compiler is missing")


@NEEDS_ABIDIFF
@pytest.mark.parametrize("version", KEPT)
def test_the_layout_is_as_it_was(version, tmp_path):
    assert broken(ABI / version / "c_api.abi", layout(HEADER, tmp_path)) == ""


@NEEDS_ABIDIFF
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("} pardo_api;", "    int32_t (*twice)(int32_t x);\n} pardo_api;"),
        ("} pardo_array_info;", "    int64_t more;\n    void* most;\n} pardo_array_info;"),
        ("} pardo_work;", "    int64_t more;\n} pardo_work;"),
    ],
)
def test_what_is_appended_passes(pattern, text, tmp_path):
    assert pattern in HEADER
    after = layout(HEADER.replace(pattern, text), tmp_path / "after")
    assert broken(layout(HEADER, tmp_path / "before"), after) == ""


@NEEDS_ABIDIFF
@pytest.mark.parametrize(
    ("pattern", "text", "said"),
    [
        ("    int64_t nbytes;", "    int64_t more;\n    int64_t nbytes;", "offset changed"),  # not at the end
        ("    int64_t itemsize;", "    int32_t itemsize;", "type size changed"),  # another type, and another place of what follows
        ("    int64_t itemsize;\n", "", "deletion"),
        ("    int32_t (*thread_count)(pardo_queue queue);", "    int64_t (*thread_count)(pardo_queue queue);", "thread_count"),
        ("(*thread_count)(pardo_queue queue)", "(*thread_count)(pardo_queue queue, int32_t more)", "thread_count"),
        ("    uint32_t access;", "    uint64_t access;", "pardo_use"),
        ("} pardo_use;", "    int32_t more;\n} pardo_use;", "pardo_use"),  # a struct without a size, of which callers have arrays
        ("typedef int32_t pardo_status;", "typedef int64_t pardo_status;", "pardo_status"),
    ],
)
def test_what_is_changed_does_not(pattern, text, said, tmp_path):
    assert pattern in HEADER
    after = layout(HEADER.replace(pattern, text), tmp_path / "after")
    assert said in broken(layout(HEADER, tmp_path / "before"), after)


@NEEDS_ABIDIFF
def test_what_is_put_into_padding_does_not(tmp_path):
    """An older extension's size of the struct covers it, so that nobody could tell that it does not set the member."""
    before = HEADER.replace("} pardo_memory;", "    int32_t last;\n} pardo_memory;")
    after = before.replace("    int32_t last;\n} pardo_memory;", "    int32_t last;\n    int32_t more;\n} pardo_memory;")
    assert "pardo_memory" in broken(layout(before, tmp_path / "before"), layout(after, tmp_path / "after"))


# --- built and run -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A library for each header."""
    folder, made = tmp_path_factory.mktemp("abi"), {}
    for k, (version, header) in enumerate(HEADERS.items()):
        include = folder / str(k) / "pardo"
        include.mkdir(parents=True)
        (include / "c_api.h").write_text(header)
        out = include.parent / "check.so"
        flags = ["-x", "c", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{include.parent}"]
        subprocess.run([COMPILER, *flags, str(ABI / "check.c"), "-o", str(out)], check=True)
        library = ctypes.PyDLL(str(out))
        library.check.argtypes = [c_void_p, py_object, py_object, py_object, ctypes.POINTER(py_object)]
        library.appended.argtypes = [c_void_p]
        made[version] = library
    return made


TWICE = ctypes.CFUNCTYPE(c_int, c_int)(lambda x: 2 * x)


class Head(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint32), ("major", ctypes.c_uint16), ("minor", ctypes.c_uint16), ("version", c_char_p)]


@pytest.fixture(scope="module")
def table_of_1_1():
    """This process's table, and one function more."""
    size = api.head.size
    raw = ctypes.create_string_buffer(ctypes.string_at(api.address, size) + bytes(8))
    head = Head.from_buffer(raw)
    head.size, head.minor = size + 8, 1
    c_void_p.from_buffer(raw, size).value = ctypes.cast(TWICE, c_void_p).value
    return raw


@NEEDS_A_COMPILER
@pytest.mark.parametrize("version", HEADERS)
@pytest.mark.parametrize("table", ["now", "1.1"])
def test_any_header_with_any_table(built, table_of_1_1, version, table):
    address = api.address if table == "now" else ctypes.addressof(table_of_1_1)
    queue = pp.Queue("cpu")
    x, y, result = pp.arange(5.0, queue=queue), pp.zeros(5, queue=queue), py_object()
    x.wait()
    y.wait()
    assert built[version].check(address, queue, x, y, ctypes.byref(result)) == 0
    assert np.array_equal(y, np.arange(5.0) * 2)
    assert np.array_equal(result.value, np.arange(5.0) * 4)
    both = "1.1" in version and table == "1.1"
    assert built[version].appended(address) == (42 if both else -1)


def keep():
    folder = ABI / f"{C['PARDO_ABI_MAJOR']}.{C['PARDO_ABI_MINOR']}"
    folder.mkdir(exist_ok=True)
    (folder / "c_api.h").write_text(HEADER)
    options = ["--no-architecture", "--no-comp-dir-path", "--no-corpus-path", "--no-show-locs", "--no-elf-needed"]
    with tempfile.TemporaryDirectory() as scratch:
        made = layout(HEADER, Path(scratch) / "include")
        subprocess.run(["abidw", *options, "--type-id-style", "hash", "--out-file", str(folder / "c_api.abi"), str(made)], check=True)


if __name__ == "__main__":
    keep()
