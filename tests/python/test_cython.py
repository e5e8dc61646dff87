# tests/python/test_cython.py: pardo.cython: regions of Cython's files on devices, against NumPy and plain Python.
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pardo as pp
import pytest

pytest.importorskip("Cython")
pytest.importorskip("setuptools")
from cython_regions import DEVICES, NEEDS_A_COMPILER, compiled, matrix

pytestmark = [pytest.mark.once, pytest.mark.slow, pytest.mark.filterwarnings("ignore"), NEEDS_A_COMPILER]


@pytest.fixture(scope="module")
def regions(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("cython"), "regions.pyx")


@pytest.fixture(params=DEVICES)
def device(request):
    with pp.device_context(request.param):
        yield request.param


def test_nested_loops_with_inferred_maps(regions, device):
    a = matrix()
    expected = np.sqrt(1 + a @ np.exp(-a).T)
    before = pp.counters()
    np.testing.assert_allclose(regions.outer_sum(a), expected, rtol=1e-13)
    after = pp.counters()
    if not pp.Device(device)._takes_host_memory:  # A to the device, R back
        assert after["copies"] - before["copies"] == 2
        assert after["copied_bytes"] - before["copied_bytes"] == a.nbytes + expected.nbytes


def test_rows_inside_of_a_context(regions, device):
    a = matrix()
    before = pp.counters()
    assert np.array_equal(regions.rows(a), np.outer(a[:, 0], a[:, 1]))
    after = pp.counters()
    if not pp.Device(device)._takes_host_memory:
        assert after["copied_bytes"] - before["copied_bytes"] == a.nbytes + 6 * 6 * 8


def test_device_functions(regions, device):
    a = matrix()
    a[2, 1] = -1
    expected = a @ a[0]
    expected[2] = -1
    np.testing.assert_allclose(regions.calls(a[:, ::-1]), np.where(np.arange(6) == 2, -1, a @ a[0]), rtol=1e-13)


def test_reductions_and_last_values(regions, device):
    x = np.arange(1.0, 6)
    assert regions.reductions(x, 5) == (25, 120, -5, 10, 4)
    assert regions.reductions(x, 0) == (10, 1, 0, -1, -5)


def test_a_loop_alone(regions, device):
    x = np.array([1, -2, 3, -4, 5], "f4")
    regions.loop_alone(x[::2])
    regions.loop_alone(x[1:2])
    assert x.tolist() == [2, -2, 6, -4, 10]


def test_integers(regions, device):
    a = np.array([-7, 7, 3, 5, -128, 100], "i4")
    b = np.array([2, -2, 3, 2, 5, 7], "i4")
    out = np.zeros(6, "l")
    regions.integers(a, b, out)
    expected = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        value = x // y + 1000 * (x % y) + (x * 7) % 256 + ((x - 5) % 2**32 >> 3)
        expected.append(value + (1 << (x & 7)) if (x > 3 and y != 2) or x == 3 else value)
    assert out.tolist() == expected
    regions.c_integers(a, b, out)
    assert out.tolist() == [int(x / y) + 1000 * (x - int(x / y) * y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    b[3] = 0
    with pytest.raises(ZeroDivisionError, match="integer division or modulo by zero"):
        regions.integers(a, b, out)


def test_while(regions, device):
    steps = np.zeros(27, "l")
    regions.collatz(steps)
    assert steps[[0, 5, 26]].tolist() == [0, 8, 111]


def test_complex_numbers(regions, device):
    z = np.array([1 + 2j, -3.5j, 0])
    w = np.zeros(3, complex)
    regions.complexes(z, w)
    assert w.tolist() == (z * z + 1.5j).tolist()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_fused_types(regions, device, dtype):
    x = np.arange(24).reshape(4, 6).astype(dtype)
    before = x.copy()
    regions.scaled(x[::-2, 1::2], 3)
    before[::-2, 1::2] *= 3
    assert np.array_equal(x, before)


def test_indices_out_of_bounds(regions, device):
    x = np.zeros(4)
    with pytest.raises(IndexError, match=r'index 4 .*(?s:.)*regions.pyx", line \d+, in too_far'):
        regions.too_far(x, 6)
    if not pp.Device(device)._takes_host_memory:
        assert not x.any()
    regions.before_first(x)
    assert x[-1] == 7
    with pytest.raises(IndexError):
        regions.before_first_unwrapped(x)


def test_attributes_of_objects(regions, device):
    x = np.array([1.5, 2.5])
    regions.Grid(x, 0.25).advance()
    assert x.tolist() == [1.25, 2.25]


def test_pointers_and_arrays_of_c(regions, device):
    x, y = np.array([3.0, 1, 2, 5, 4]), np.zeros(5)
    regions.pointers(x, y)
    assert y.tolist() == [9 + 2, 5 + 2, 7 + 4, 0, 0]


def test_iterations_that_end_early(regions, device):
    x = np.array([1.0, 5, 2, 3])
    assert regions.left_early(x, 2.5) == 6
    assert x.tolist() == [0, 0, 0, 3]


def test_bounds_that_the_loop_assigns(regions, device):
    assert regions.bounds_reassigned(10) == (60, 8, 2)


def test_devices_by_name(regions, device):
    x = np.zeros(3)
    with pytest.raises(TypeError, match="float64 is not supported by device null:1"):
        regions.somewhere(x, device)
    assert x.tolist() == [1, 1, 1]


def test_data_contexts_of_python(regions):
    a = matrix()
    with pp.data(to=(a,), device="cpu"):
        np.testing.assert_allclose(regions.outer_sum(a), np.sqrt(1 + a @ np.exp(-a).T), rtol=1e-13)


def test_offloading_switched_off(regions, monkeypatch):
    monkeypatch.setenv("PARDO_OFFLOAD", "off")
    a = matrix()
    before = pp.counters()["copies"]
    with pp.device_context(DEVICES[-1]):
        regions.rows(a)
    assert pp.counters()["copies"] == before


def test_an_extension_without_pardo_says_so(regions, tmp_path):
    code = (
        "import sys, importlib.util\nsys.modules['pardo'] = None\n"
        f"spec = importlib.util.spec_from_file_location('regions', {regions.__file__!r})\n"
        "spec.loader.exec_module(importlib.util.module_from_spec(spec))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "ImportError: this module was built with pardo.cython, and needs pardo when it runs" in ran.stderr


# --- what is compiled


def c_of(folder, text, monkeypatch, capfd, suffix=".pyx", plain=False):
    """What Cython makes of a text, or the report of what is wrong."""
    from Cython.Build import cythonize as cythons
    from Cython.Compiler.Errors import CompileError
    from pardo.cython import cythonize

    monkeypatch.chdir(folder)
    path = Path(f"program{suffix}")
    path.write_text(text)
    try:
        (cythons if plain else cythonize)([str(path)], force=True, quiet=True, language_level=3)
    except CompileError:
        return "".join(capfd.readouterr())
    return path.with_suffix(".c").read_text()


def test_a_file_without_regions_is_what_cython_makes(tmp_path, monkeypatch, capfd):
    text = (
        "from cython.parallel import prange\ndef f(double[:] x):\n    cdef int i\n"
        "    for i in prange(3, nogil=True):\n        x[i] = 1  # no device\n"
    )
    assert c_of(tmp_path, text, monkeypatch, capfd) == c_of(tmp_path, text, monkeypatch, capfd, plain=True)


HEAD = "from cython.parallel cimport prange, parallel, device\n"
REGION = HEAD + (
    "def f(double[:] x, double[:] y):\n    cdef int i\n    with nogil, parallel(device={%s}):\n"
    "        for i in prange(3):\n            %s\n"
)
REFUSED = [
    (REGION % ("y: 'to'", "x[i] = 1"), "program.pyx:4:33: `y` is in device={…}, but the region does not use it"),
    (REGION % ("x: 'into'", "x[i] = 1"), "program.pyx:4:36: a map is one of 'to', 'from'"),
    (REGION % ("x: 'to', x: 'from'", "x[i] = 1"), "program.pyx:4:42: `x` is in device={…} twice"),
    (
        REGION.replace("cdef int i", "cdef int i\n    cdef double[:] z = x[1:]") % ("x: 'to', z: 'from'", "z[i] = x[0]"),
        "program.pyx:5:42: `z` is a part of `x`, which is in device={…} too",
    ),
    (
        REGION.replace(
            "def f",
            "cdef double chosen(double[:] a, double[:] b, int k) noexcept nogil:\n    cdef double[:] z\n"
            "    if k > 1: z = a[k:]\n    else: z = b\n    return z[0]\ndef f",
        )
        % ("", "x[i] = chosen(x, y, i)"),
        "program.pyx:4:4: `z` is a part of `a` on one path and of `b` on another",
    ),
    (REGION % ("", "x[i] = f"), "the value of a Python object cannot be in a region on a device"),
    (REGION % ("", "for i in prange(3, device={}): x[i] = 1"), "device= in a region that has one already"),
    (REGION.replace("prange,", "prange, threadid,") % ("", "x[threadid()] = 1"), "program.pyx:6:22: `threadid()` means nothing"),
    (REGION % ("", "f(x, y)"), "an expression whose value is not used"),
    (
        REGION.replace("double[:] y", "double *y") % ("", "y[i] = 1"),
        "`y` is a pointer: say how many elements it has, device={y[0:n]: 'to'}",
    ),
    (REGION.replace("double[:] y", "str y") % ("", "x[i] = 1 if y == 'a' else 0"), "program.pyx:6:"),  # texts, wherever they are
    (REGION % ("", "x[i] = len('abc')"), "`len` has no body"),
    (
        REGION.replace("cdef int i", "cdef int i\n    cdef const char* t") % ("", "t = b'abc'"),
        "program.pyx:7:12: this is of the C type `const char *`, which a region on a device cannot have",
    ),
    (REGION % ("", "with gil: pass"), "`with gil` cannot be in a region on a device"),
    (
        REGION.replace("prange(3):", "prange(3): x[i] = 1\n    with nogil, parallel(device={y: 'to'}): pass\n    if 1:") % ("", "z = 1"),
        "`y` is in",
    ),
]


def test_all_that_is_refused_is_reported_at_once(tmp_path, monkeypatch, capfd):
    report = c_of(
        tmp_path,
        HEAD + "def f():\n    cdef int i\n" + "    for i in prange(3, nogil=True, device={}):\n        with gil: pass\n" * 2,
        monkeypatch,
        capfd,
    )
    assert "program.pyx:5:13: `with gil`" in report
    assert "program.pyx:7:13: `with gil`" in report


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_refused(tmp_path, monkeypatch, capfd, case):
    text, message = REFUSED[case]
    report = c_of(tmp_path, text, monkeypatch, capfd)
    assert message in report
    assert "^" in report


def test_simd_is_accepted_and_told(tmp_path, monkeypatch, capfd):
    """`prange(…, simd=True)` of programs that Cython's newest takes: loops are vectorised anyway."""
    text = HEAD + "def f(double[:] x):\n    cdef int i\n    for i in prange(3, nogil=True, simd=True%s):\n        x[i] = 1\n"
    for more in ("", ", device={}"):
        report = c_of(tmp_path, text % more, monkeypatch, capfd)
        assert report.startswith("/* Generated by Cython")  # C, and no report


def test_the_command(tmp_path):
    (tmp_path / "wrong.pyx").write_text(REGION % ("y: 'to'", "x[i] = 1"))
    ran = subprocess.run(
        [sys.executable, "-m", "pardo.cython", "build", "wrong.pyx"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert ran.returncode == 1
    assert "the region does not use it" in ran.stdout + ran.stderr


def test_the_suffix_of_extensions(regions):
    assert regions.__file__.endswith(sysconfig.get_config_var("EXT_SUFFIX"))
