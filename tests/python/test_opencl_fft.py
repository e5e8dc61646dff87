# tests/python/test_opencl_fft.py: Fourier transforms of OpenCL devices: by VkFFT, where asked for on processors too; by ducc0 in place.
from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pardo as pp
import pytest
from test_opencl import DEVICES, needs_device

pytestmark = [pytest.mark.once, needs_device]

COMPARE = """
import sys, threading, numpy as np, pardo as pp
device, which = sys.argv[1:]
rng = np.random.default_rng(5)

def numbers(shape, dtype):
    a = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype.startswith("complex") else 0)
    return a.astype(dtype)

def compare(name, a, on=None, **keywords):
    x = pp.asarray(a, queue=on) if on else pp.asarray(a, device=device)
    got, expected = pp.asnumpy(getattr(pp.fft, name)(x, **keywords)), getattr(np.fft, name)(a, **keywords)
    assert got.shape == expected.shape and got.dtype == expected.dtype, (name, a.shape, got.dtype)
    error = np.abs(got - expected).max() / np.abs(expected).max() / np.finfo(got.dtype).eps
    assert error < 20, (name, a.shape, a.dtype, keywords, error)
"""

PROGRAMS = {
    "lengths": """
for n in (1, 2, 12, 17, 77, 211, 1024):
    compare("fft", numbers((3, n), "complex64"))
for n in (2, 15):
    compare("ifft", numbers((n,), "complex128"))
    compare("rfft", numbers((2, n), "float64"))
    compare("irfft", numbers((2, n), "complex64"), n=n)
""",
    "large": """
compare("fft", numbers((2, 1 << 15), "complex64"))  # which goes through memory of the plan
compare("ifft", numbers((40009,), "complex64"))
compare("rfft", numbers((2, 1 << 16), "float32"))
compare("irfft", numbers((2, (1 << 15) + 1), "complex64"))
""",
    "axes": """
a = numbers((4, 6, 5), "complex64")
compare("fft", a, axis=0)
compare("ifft", a[1:, ::2, ::-1], axis=1, norm="ortho")
compare("fftn", a)
compare("fft2", a[:, :1])
compare("rfftn", a.real[:, :, 1:3], axes=(2, 0))
compare("irfftn", a, s=(6, 8), axes=(1, 2), norm="forward")
compare("hfft", a[0], n=7)
compare("ihfft", a.real, axis=1)
compare("rfft", a.real[:, :1], axis=1)
compare("irfft", a[:, :, :1], n=1)
compare("fft", numbers(9, "float16"))
compare("ifft", np.arange(12))
assert pp.fft.fft(pp.asarray(a[:0], device=device)).shape == (0, 6, 5)
assert pp.counters()["fallbacks"] == 0
""",
    "queues": """
x = numbers((3, 1 << 15), "complex64")
queues = [pp.Queue(device, order=o) for o in ("in_order", "out_of_order")]
def work(queue):
    for _ in range(3): compare("fft", x, on=queue)
threads = [threading.Thread(target=work, args=(q,)) for q in queues + queues]
for t in threads: t.start()
for t in threads: t.join()
y = pp.asarray(numbers((3, 64), "complex64"), queue=queues[1])
z = pp.fft.ifft(pp.fft.fft(y * 2) + 0) / 2
assert np.abs(pp.asnumpy(z - y)).max() < 1e-5
""",
    "kept": """
for m in range(1, 36): compare("fft", numbers((m, 2), "complex64"))  # more plans than are kept
for m in (1, 35): compare("fft", numbers((m, 2), "complex64"))
""",
    "errors": """
try: pp.fft.dct(pp.ones(4096, device=device)).wait()
except RuntimeError as e: assert "fft: no implementation for these operands" in str(e), e
else: raise AssertionError
assert "VkFFT" in str(pp.explain(pp.fft.fft(pp.ones(4096, device=device) * 2)))
""",
}


def run(program: str, device: str, **environment: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMPARE + program, device, ""],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PARDO_ROUTINES": "fft=VkFFT"} | environment,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.varied("device")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_vkfft(name: str, device: str):
    run(PROGRAMS[name], device)


@pytest.mark.slow
@pytest.mark.varied("device")
@pytest.mark.parametrize("device", DEVICES)
def test_vkfft_on_buffers(device: str):
    run(PROGRAMS["axes"], device, PARDO_OPENCL_MEMORY="buffer")


@pytest.mark.parametrize("device", DEVICES)
def test_processors_transform_in_place(device: str):
    """A device of the host's processor: nothing is copied to the CPU device, and results come in the queue's order."""
    if pp.Device(device).type != "cpu":
        pytest.skip("VkFFT serves it")
    a = np.random.default_rng(7).standard_normal((40, 60)).astype("float32")
    x = pp.asarray(a, device=device)
    before = pp.counters()["fallbacks"]
    with pp.transfer_guard("disallow"):
        y = pp.fft.irfft2(pp.fft.rfft2(x * 2) * 3)
        s = pp.fft.dct(y, axis=0).sum()
        y.wait()
        s.wait()
    assert pp.counters()["fallbacks"] == before
    assert "fft by ducc0" in str(pp.explain(pp.fft.fft(x * 2)))
    np.testing.assert_allclose(pp.asnumpy(y), 6 * a, atol=1e-4)
