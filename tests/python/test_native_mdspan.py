# tests/python/test_native_mdspan.py: views of pardo/native.hpp as std::mdspan, by compilers that have it, and by a stand-in for others.
from __future__ import annotations

import ctypes
import os
import shlex
import subprocess

import numpy as np
import pardo as pp
import pytest
from native_api import Api, C
from native_building import COMPILER, NEEDS_A_COMPILER, SOURCES

pytestmark = [pytest.mark.once, NEEDS_A_COMPILER]
STANDIN = [COMPILER, "-std=c++20", f"-I{SOURCES / 'standin'}", "-D__cpp_lib_mdspan=202207L"]
# A command with options may be named by PARDO_TEST_MDSPAN: Debian's clang-19 and libc++-19-dev have it, GCC from 16.
COMMANDS = [
    shlex.split(os.environ.get("PARDO_TEST_MDSPAN", "")),
    ["clang++-19", "-std=c++23", "-stdlib=libc++"],
    ["g++-16", "-std=c++23"],
    [COMPILER, "-std=c++23"],
]


def compiled(command, folder):
    """The library; None where the compiler, or std::mdspan, is not there."""
    out = folder / "mdspan_checks.so"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility-inlines-hidden", f"-I{pp.get_include()}"]
    try:
        probe = "#include <version>\n#ifndef __cpp_lib_mdspan\n#error none\n#endif\n"
        test = subprocess.run([*command, "-x", "c++", "-fsyntax-only", "-"], input=probe, text=True, capture_output=True, check=False)
    except FileNotFoundError:
        return None
    if test.returncode != 0:
        return None
    done = subprocess.run(
        [*command, *flags, str(SOURCES / "mdspan_checks.cpp"), "-o", str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return ctypes.PyDLL(str(out))


def check(library):
    api, queue = Api(), pp.Queue("cpu")
    values = np.arange(24.0).reshape(4, 6)
    whole = pp.asarray(values, queue=queue).wait()
    for x, expected in ((whole, values), (whole.T, values.T), (whole[::2, ::-3], values[::2, ::-3])):
        y, z = pp.zeros(expected.shape[::-1], queue=queue), pp.arange(5.0, queue=queue)
        handles = [api.queue(queue), *map(api.array, (x, y, z))]
        arguments = [ctypes.c_void_p(api.address), *handles]
        assert library.transpose(*arguments) == 0, api.text()
        api.release(*handles)
        assert np.array_equal(y, 10 * expected.T)
        assert z.tolist() == [20, 1, 2, 3, 4]
    handles = [api.queue(queue), *map(api.array, (z, y, z))]
    assert library.transpose(ctypes.c_void_p(api.address), *handles) == C["PARDO_E_VALUE"]
    assert "use 0 has 1 dimensions, not 2" in api.text()[1]
    api.release(*handles)


def test_views_of_a_stand_in(tmp_path):
    check(compiled(STANDIN, tmp_path))


def test_views_of_the_standard_library(tmp_path):
    for command in filter(None, COMMANDS):
        library = compiled(command, tmp_path)
        if library:
            return check(library)
    pytest.skip("no compiler with std::mdspan")
