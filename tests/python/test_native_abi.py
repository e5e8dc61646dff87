# tests/python/test_native_abi.py: extensions that were built against the header of any minor version run with the table of any other.
from __future__ import annotations

import ctypes
import re
import subprocess
from ctypes import c_char_p, c_int, c_void_p, py_object

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
    """Where this fails and the version is not released yet: cp include/pardo/c_api.h tests/native/abi/VERSION/."""
    kept, now = KEPT[version], HEADER
    for name, members in structs(kept).items():
        current = structs(now)[name]
        assert current[: len(members)] == members
        assert name in SIZED or current == members
    assert functions(kept) <= functions(now)
    assert constants(kept).items() <= constants(now).items()
    assert structs(kept)["pardo_api"]
    assert "int32_t (*thread_count)(pardo_queue queue)" in structs(kept)["pardo_api"]


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
