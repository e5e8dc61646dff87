# tests/python/test_missing_libraries.py: what is said of NVIDIA's libraries that are missing, too old or of another version of CUDA, on the
# fake driver of the C++ tests.
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKES = {name: next(map(str, sorted(ROOT.glob(f"build/*/lib{name}_fake.so"))), "") for name in ("cuda", "cublas", "cufft")}
VARIABLES = ("PARDO_NVRTC", "PARDO_CUBLAS", "PARDO_CUFFT", "PARDO_CUSOLVER")

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not all(FAKES.values()), reason="the fake libraries are not built (target test_backend_cuda)"),
]

PROGRAM = """
import pardo as pp
x = pp.empty((64, 64), dtype='float32', device='cuda')
for pending in (x @ x, pp.fft.fft(x[0] + 0j), pp.linalg.inv(x), pp.linalg.eigvals(x)):
    print(*(line.strip() for line in str(pp.explain(pending)).splitlines() if 'not by' in line or 'call' in line), sep='\\n')
"""


def run(*command: str, **environment: str) -> tuple[str, str]:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PARDO_")}
    variables |= dict.fromkeys(VARIABLES, "/nowhere.so")
    variables |= {"PARDO_CUDA_DRIVER": FAKES["cuda"], "PARDO_CACHE": "off", "PARDO_LOG": "warn"} | environment
    done = subprocess.run([sys.executable, *command], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_missing_ones_are_named_with_what_to_install():
    told, warned = run("-c", PROGRAM, FAKE_CUDA_VERSION="12080")
    assert "cuBLAS: does not fit: /nowhere.so: cannot open shared object file" in told
    assert "`pip install nvidia-cublas-cu12` brings it, or set PARDO_CUBLAS to its path; looked in PARDO_CUBLAS=/nowhere.so" in told
    assert "cuFFT: " in told
    assert "`pip install nvidia-cufft-cu12`" in told
    assert "cuSOLVER: needs cuBLAS: does not fit: /nowhere.so" in told
    assert "cuda: cuBLAS: does not fit" in warned
    assert "Without it products of matrices run on kernels of pardo" in warned


def test_too_old_ones_and_those_of_another_cuda(tmp_path: Path):
    for name, stem, version in (("cufft", "libcublas", 12), ("cufft", "libcufft", 12)):  # the second is of CUDA 13
        shutil.copy(FAKES[name], tmp_path / f"{stem}.so.{version}.0.1")
    folder = str(tmp_path)
    told, _ = run("-c", PROGRAM, PARDO_CUBLAS=folder, PARDO_CUFFT=folder, FAKE_CUDA_VERSION="12080")
    assert f"cuBLAS: does not fit: {folder}/libcublas.so.12.0.1 lacks functions of CUDA 12: it is too old, or something else; " in told
    assert f"cuFFT: does not fit: {folder}/libcufft.so.12.0.1 is of CUDA 13, and the driver knows CUDA 12; `pip install" in told
    told, _ = run("-c", PROGRAM, PARDO_CUBLAS=folder, PARDO_CUFFT=folder, FAKE_CUDA_VERSION="13000")
    assert "call fft by cuFFT" in told
    shutil.copy(FAKES["cublas"], tmp_path / "libcublas.so.12.0.2")
    assert "call matmul by cuBLAS" in run("-c", PROGRAM, PARDO_CUBLAS=folder)[0]


def test_the_listing_shows_them():
    told, _ = run("-m", "pardo", "--list")
    assert "not used by back end cuda: cuBLAS: does not fit: /nowhere.so" in told
    assert told.count("cuSOLVER: needs cuBLAS") == 1
