# tests/python/test_transfers.py: what a device has no code for goes through the host: counted, in profiles, and seen by transfer_guard.
from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pardo as pp
import pytest
from pardo.scipy import linalg as systems

ROOT = Path(__file__).resolve().parents[2]
FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(ROOT.glob("build/*/libcuda_fake.so"))), "")
PROCESSORS = [d.id for d in pp.get_devices(backend="opencl", device_type="cpu")]

# A device that the host's code does not compute on, and that compiles no text: it has kernels of expressions alone.
BARE = "null:1"

pytestmark = pytest.mark.once


def there(values, dtype="float32"):
    return pp.asarray(np.asarray(values, dtype), device=BARE)


ROWS = np.array([[3, 1, 2, 0], [7, 5, 9, 5]], "float32")
LINE = np.array([4, 1, 3, 1], "float32")
SQUARE = np.array([[4, 1], [2, 3]], "float32")
BANDS = np.array([[0, 1, 1], [4, 4, 4], [1, 1, 0]], "float32")
HERMITIAN_BANDS = np.array([[0, 1, 1], [4, 4, 4]], "float32")


def stored(x, index, value):
    x = x.copy()
    x[index] = value
    return x


def banded(m):
    if m is pp:
        return systems.solve_banded((1, 1), there(BANDS), there([1, 2, 3]))
    return np.linalg.solve(np.array([[4, 1, 0], [1, 4, 1], [0, 1, 4]]), [1, 2, 3])


# Routine: the name that errors have, the bytes that it reads first, what is computed with a module and arrays of it.
FAMILIES = {
    "sort": ("sort", 32, lambda m, x, at: m.sort(x(ROWS))),
    "partition": ("partition", 32, lambda m, x, at: m.partition(x(ROWS), 1)[:, 1]),
    "cumulative": ("cumsum", 32, lambda m, x, at: m.cumsum(x(ROWS), axis=1)),
    "searchsorted": ("searchsorted", 32, lambda m, x, at: m.searchsorted(x(np.sort(LINE)), x(LINE))),
    "nonzero": ("nonzero", 8, lambda m, x, at: m.nonzero(x(ROWS) > 2)[1]),
    "compress": (r"x\[mask\]", 8, lambda m, x, at: x(ROWS)[x(ROWS) > 2]),
    "put_mask": (r"x\[mask\] = value", 4, lambda m, x, at: stored(x(LINE), x(LINE) > 2, x([8.0, 9.0]))),
    "gather": (r"x\[\.\.\.\]", 48, lambda m, x, at: x(ROWS)[at([1, 0])]),
    "take": ("take", 32, lambda m, x, at: m.take(x(LINE), at([1, 0]))),
    "scatter": (r"x\[\.\.\.\] = value", 80, lambda m, x, at: stored(x(ROWS), at([1, 0]), x(LINE))),
    "take_along_axis": ("take_along_axis", 48, lambda m, x, at: m.take_along_axis(x(ROWS), at([[1], [0]]), 1)),
    "runs": ("unique", 16, lambda m, x, at: m.unique(x(LINE))),
    "matmul": ("matmul", 64, lambda m, x, at: x(ROWS) @ x(ROWS).T),
    "fft": ("fft", 64, lambda m, x, at: m.fft.fft(x(ROWS))),
    "rfft": ("rfft", 32, lambda m, x, at: m.fft.rfft(x(ROWS))),
    "irfft2": ("irfft2", 64, lambda m, x, at: m.fft.irfft2(x(ROWS) + 1j * x(ROWS))),
    "solve": ("solve", 32, lambda m, x, at: m.linalg.solve(x(SQUARE), x(SQUARE).T)),
    "inv": ("inv", 16, lambda m, x, at: m.linalg.inv(x(SQUARE))),
    "det": ("det", 16, lambda m, x, at: m.linalg.det(x(SQUARE))),
    "cholesky": ("cholesky", 16, lambda m, x, at: m.linalg.cholesky(x(SQUARE + SQUARE.T))),
    "qr": ("qr", 16, lambda m, x, at: abs(m.linalg.qr(x(SQUARE))[1])),
    "svd": ("svd", 16, lambda m, x, at: m.linalg.svd(x(SQUARE))[1]),
    "eigh": ("eigh", 16, lambda m, x, at: m.linalg.eigh(x(SQUARE + SQUARE.T))[0]),
    "eig": ("eig", 16, lambda m, x, at: m.sort(abs(m.linalg.eig(x(SQUARE))[0]))),
    "lstsq": ("lstsq", 24, lambda m, x, at: m.linalg.lstsq(x(SQUARE), x([1, 2]), rcond=None)[0]),
    "banded_solve": ("solve_banded", 48, lambda m, x, at: banded(m)),
    "roots": ("roots", 16, lambda m, x, at: m.sort(abs(m.roots(x(LINE))))),
    "pad": ("pad", 16, lambda m, x, at: m.pad(x(LINE), 1, lambda v, w, *_: None)[1:-1]),
    "delete": ("delete", 8, lambda m, x, at: m.delete(x(LINE), at([1]))),
    "insert": ("insert", 8, lambda m, x, at: m.insert(x(LINE), at([1]), 2)),
    "trim_zeros": ("trim_zeros", 4, lambda m, x, at: m.trim_zeros(x(LINE))),
    "quantile": ("quantile", 8, lambda m, x, at: m.quantile(x(LINE), x([0.5, 1]))),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_guard_sees_what_goes_through_the_host(family):
    name, read, compute = FAMILIES[family]
    words = (
        rf"^{name}: would copy {read} bytes from {BARE} to the host, at \S*test_transfers\.py:\d+; transfer_guard forbids .* by name with"
    )
    with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match=words):
        compute(pp, there, lambda v: there(v, "int64"))
    before = pp.counters()
    made = pp.asnumpy(compute(pp, there, lambda v: there(v, "int64")))
    after = pp.counters()
    wanted = compute(np, lambda v: np.asarray(v, "float32"), np.array)
    np.testing.assert_allclose(made, wanted, 1e-3, 1e-4)
    # The operands, there; the result, once more where the routine has written it, and by `asnumpy` here.
    assert after["copied_bytes"] - before["copied_bytes"] >= read + made.nbytes, (before, after)
    assert after["copies"] - before["copies"] >= 2


def test_all_routines_on_copies_are_tested():
    source = ROOT / "src" / "routines" / "copied"
    if not source.exists():
        pytest.skip("not in a source tree")
    text = "".join(path.read_text() for path in sorted(source.glob("*.cpp")))
    names = {line.partition("routines::")[2].partition(",")[0].partition(">")[0] for line in text.splitlines() if line.startswith("const ")}
    asks = {"matmul_takes", "matmul_ready", "matrices_ready", "fft_in_parts", "fft_wants_lines"}  # they copy nothing
    beside = {"count_mask", "count_runs", "fill_runs", "top_k", "lu_factor", "lu_solve", "triangular_solve", "banded_cholesky_solve"}
    assert names - asks - beside - {"toeplitz_solve"} <= set(FAMILIES)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("top_k", lambda: pp.top_k(there(ROWS), 2)),
        ("lu_factor", lambda: systems.lu_factor(there(SQUARE))),
        ("solve_triangular", lambda: systems.solve_triangular(there(SQUARE), there([1, 2]))),
        ("solveh_banded", lambda: systems.solveh_banded(there(HERMITIAN_BANDS), there([1, 2, 3]))),
        ("solve_toeplitz", lambda: systems.solve_toeplitz(there([3, 1, 0]), there([1, 2, 3]))),
        ("dct", lambda: pp.fft.dct(there(LINE))),
        ("multivariate_normal", lambda: pp.random.default_rng(1).multivariate_normal(there([0, 0]), there(SQUARE + SQUARE.T))),
    ],
)
def test_and_others(name, call):
    with pp.transfer_guard("disallow"), pytest.raises(pp.ExecutionPlacementError, match=rf"^{name}: would copy \d+ bytes from {BARE}"):
        call()


def test_unique_asks_for_each_of_its_routines():
    x = there(LINE)
    seen = []
    try:
        pp._core._install({"transfer_guard": lambda name, nbytes, *_: seen.append((name, nbytes))})
        pp.unique(x, return_inverse=True)
    finally:
        pp._core._install({"transfer_guard": None})
    assert seen == [("argsort", 16), ("take", 48), ("unique", 16), ("unique", 48)]


def test_routines_are_logged(caplog):
    with caplog.at_level(logging.INFO, logger="pardo"), pp.transfer_guard("log"):
        made = pp.fft.fft(there(LINE))
    np.testing.assert_allclose(pp.asnumpy(made), np.fft.fft(LINE), 1e-5)
    (record,) = caplog.records
    text = record.getMessage()
    assert text.startswith(f"fft: copies 32 bytes from {BARE} to the host, at ")
    assert "test_transfers.py:" in text
    assert text.endswith(f"; {BARE} has no code for this")


def test_what_was_recorded_outside_of_a_guard_passes():
    made = pp.sort(there(np.arange(5000.0)))
    with pp.transfer_guard("disallow"):
        assert float(made[7]) == 7


def test_a_refused_assignment_changes_nothing():
    x = there(LINE)
    with pp.transfer_guard("disallow"):
        for index, value in ((there([1, 2], "int64"), there([8, 9])), (there([1, 0, 1, 0], "bool"), there([8, 9]))):
            with pytest.raises(pp.ExecutionPlacementError):
                x[index] = value
    assert pp.asnumpy(x).tolist() == LINE.tolist()


def test_nothing_is_copied_where_there_are_no_elements():
    with pp.transfer_guard("disallow"):
        assert pp.sort(there([])).shape == (0,)
        assert (there(np.ones((2, 0))) @ there(np.ones((0, 3)))).shape == (2, 3)
        assert pp.linalg.inv(there(np.ones((0, 2, 2)))).shape == (0, 2, 2)


def test_the_host_is_no_other_place():
    x = pp.asarray(ROWS, device="cpu")
    with pp.transfer_guard("disallow"):
        pp.sort(pp.fft.rfft(x).real @ pp.linalg.inv(pp.asarray(SQUARE[:1, :1], device="cpu")).repeat(3, 0)).wait()


def test_copies_are_in_profiles():
    x = there(np.ones((40, 40)))
    with pp.profile() as p:
        (x @ x).wait()
    copied = [r for r in p.records if r["activity"] == "copy"]
    assert sum(r["bytes_read"] for r in copied) == 3 * x.nbytes, p.records


def test_lists_of_places_are_seen():
    x = pp.asarray(LINE)
    with pp.transfer_guard("disallow"):
        for name, call in (
            (r"add\.at", lambda: pp.add.at(x, [0, 0], 1.0)),
            (r"add\.reduceat", lambda: pp.add.reduceat(x, [0, 2])),
            ("put_along_axis", lambda: pp.put_along_axis(x, np.array([1, 2]), 2.0, 0)),
        ):
            with pytest.raises(pp.ExecutionPlacementError, match=rf"^{name}: would copy 16 bytes of the host"):
                call()


PROGRAM = """
import sys
import numpy as np
import pardo as pp
from pardo.scipy import linalg as systems

device, bytes_of_counters, *names = sys.argv[1:]
x = pp.ones((8, 8), dtype="float32", device=device)
calls = {
    "fft": lambda: pp.fft.fft(x), "rfft": lambda: pp.fft.rfft(x), "irfft2": lambda: pp.fft.irfft2(x), "dct": lambda: pp.fft.dct(x),
    "eig": lambda: pp.linalg.eig(x),
    "solve_banded": lambda: systems.solve_banded((1, 1), pp.ones((3, 8), "float32", device=device), x[0]),
    "solve_toeplitz": lambda: systems.solve_toeplitz(x[0], x[0]), "sort": lambda: pp.sort(x), "gather": lambda: x[x[0].astype(int)],
    "svd": lambda: pp.linalg.svd(x), "unique": lambda: pp.unique(x), "cumsum": lambda: pp.cumsum(x), "roots": lambda: pp.roots(x[0]),
}
for name in names:
    try:
        with pp.transfer_guard("disallow"):
            calls[name]()
        print(name, "passed")
    except pp.ExecutionPlacementError as e:
        print(e)
if bytes_of_counters == "yes":
    before = pp.counters()
    pp.fft.fft(x).wait()
    after = pp.counters()
    print(*(after[k] - before[k] for k in ("copies", "copied_bytes")))
"""


def lines_of(*arguments, **environment):
    variables = os.environ | {"PARDO_LOG": "warn"} | environment
    for name in ("PARDO_DEVICES", "PARDO_OPENCL_ROUTINES"):
        variables.pop(name, None)
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.skipif(not FAKE, reason="libcuda_fake.so is not built (target cuda_fake)")
def test_cuda_without_its_libraries():
    none = {"PARDO_CUDA_DRIVER": FAKE, "PARDO_CUFFT": "none", "PARDO_CUBLAS": "none"}
    fft, rfft, both, dct, eig, banded, toeplitz, *others = lines_of(
        "cuda:0", "no", "fft", "rfft", "irfft2", "dct", "eig", "solve_banded", "solve_toeplitz", "sort", "gather", "svd", "cumsum", **none
    )
    for line, name in ((fft, "fft"), (rfft, "rfft"), (both, "irfft2"), (dct, "dct")):
        assert re.match(rf"{name}: would copy \d+ bytes from cuda:0 to the host, at <string>:", line), line
        assert re.search(r"cuda:0 has no code for this \(cuFFT: .*`pip install nvidia-cufft", line), line
    assert re.match(r"eig: would copy 256 bytes .*cuSOLVER: .*`pip install nvidia-cublas", eig), eig
    assert re.match("solve_banded: would copy 128 bytes .*has no code for this$", banded), banded
    assert toeplitz.startswith("solve_toeplitz: would copy ")
    assert others == ["sort passed", "gather passed", "svd passed", "cumsum passed"]


@pytest.mark.skipif(not PROCESSORS, reason="no OpenCL implementation for processors is installed")
@pytest.mark.parametrize("device", PROCESSORS)
def test_opencl(device):
    """In memory that the host shares nothing is copied; in buffers what has no kernels is."""
    names = ["fft", "irfft2", "eig", "solve_banded", "solve_toeplitz", "sort", "gather", "svd", "unique", "cumsum"]
    shared = lines_of(device, "yes", *names)
    assert shared[:-1] == [f"{name} passed" for name in names]
    assert shared[-1] == "0 0"
    apart = lines_of(device, "yes", *names, PARDO_OPENCL_MEMORY="buffer")
    for line, name, count in zip(apart, names, (512, 512, 256, 128, 92, None, None, None, None, None), strict=False):
        assert line.startswith(f"{name}: would copy {count} bytes from {device} to the host") if count else line == f"{name} passed", line
    assert apart[-1] == "2 1024"
