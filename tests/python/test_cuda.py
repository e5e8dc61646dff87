# tests/python/test_cuda.py: arrays on CUDA devices and other CUDA libraries, on the fake driver of the C++ tests where there is no GPU.
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE = os.environ.get("PARDO_TEST_FAKE_CUDA") or next(map(str, sorted(ROOT.glob("build/*/libcuda_fake.so"))), "")

pytestmark = pytest.mark.skipif(not FAKE, reason="libcuda_fake.so is not built (target cuda_fake)")

PREAMBLE = """
import numpy as np
import pardo as pp

class Tensor:
    '''Another library's array, by DLPack alone.'''
    def __init__(self, x):
        self.x, self.streams = x, []
    def __dlpack_device__(self):
        return self.x.__dlpack_device__()
    def __dlpack__(self, **keywords):
        self.streams.append(keywords.get('stream'))
        return self.x.__dlpack__(**keywords)

class Interface:
    '''And one by CUDA's array interface alone.'''
    def __init__(self, x):
        self.x = x
        self.__cuda_array_interface__ = dict(x.__cuda_array_interface__)

host = np.arange(12.0).reshape(3, 4)
x = pp.asarray(host, device='cuda:1')
"""


def run(code, **environment):
    """Runs code in a process that has the fake driver with two devices; its output."""
    variables = dict(os.environ, PARDO_CUDA_DRIVER=FAKE, FAKE_CUDA_DEVICES="2", **environment)
    variables.pop("PARDO_DEVICES", None)
    done = subprocess.run([sys.executable, "-c", PREAMBLE + code], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_values_go_there_and_back():
    run("""
assert x.device.id == 'cuda:1' and x.device.type == 'gpu'
assert (pp.asnumpy(x) == host).all()
y = x.to_device('cuda:0')
assert y.device.id == 'cuda:0' and (pp.asnumpy(y) == host).all()
assert (pp.asnumpy(y.to_device('cpu')) == host).all()
""")


def test_choosing_the_cpu_starts_no_driver():
    code = "import pardo as pp; x = pp.asarray([1.0]) + 1; print(float(pp.Device('cpu') is not None), x)"
    variables = dict(os.environ, PARDO_CUDA_DRIVER=FAKE, FAKE_CUDA_INIT="999", PARDO_LOG="debug")
    variables.pop("PARDO_DEVICES", None)
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "cuInit" not in done.stderr


def test_dlpack_shares_memory_and_passes_streams():
    run("""
t = Tensor(x)
y = pp.from_dlpack(t)
assert y.device.id == 'cuda:1' and (pp.asnumpy(y) == host).all()
assert t.streams == [y.__cuda_array_interface__['stream']]
assert y.__cuda_array_interface__['data'][0] == x.__cuda_array_interface__['data'][0]
z = pp.from_dlpack(Tensor(x), device='cuda:0')
assert z.device.id == 'cuda:0' and (pp.asnumpy(z) == host).all()
try:
    pp.from_dlpack(Tensor(x), device='cuda:0', copy=False)
except ValueError as e:
    assert 'cuda:1' in str(e)
else:
    raise AssertionError
""")


def test_dlpack_to_the_host_copies():
    run("""
assert x.__dlpack_device__() == (2, 1)
y = np.from_dlpack(x, device='cpu')
assert (y == host).all()
""")


@pytest.mark.parametrize(
    ("stream", "error"), [(0, "ValueError"), (-2, "ValueError"), ("'1'", "TypeError"), (1, None), (2, None), (-1, None)]
)
def test_streams_of_the_array_api(stream, error):
    code = f"x.__dlpack__(stream={stream}, max_version=(1, 0))"
    if error:
        code = f"try:\n    {code}\nexcept {error} as e:\n    assert 'stream' in str(e)\nelse:\n    raise AssertionError"
    run(code)


def test_cuda_array_interface_both_ways():
    run("""
i = x.__cuda_array_interface__
assert i['shape'] == (3, 4) and i['typestr'] == '<f8' and i['version'] == 3 and i['strides'] is None and not i['data'][1]
assert i['stream'] > 2
t = x.T.__cuda_array_interface__
assert t['strides'] == (8, 32) and t['data'][0] == i['data'][0]
y = pp.asarray(Interface(x), copy=False)
assert y.device.id == 'cuda:1' and (pp.asnumpy(y) == host).all()
assert not hasattr(pp.asarray(host, device='cpu'), '__cuda_array_interface__')
""")


def test_listing_names_the_reason():
    variables = dict(os.environ, PARDO_CUDA_DRIVER="/nowhere/libcuda.so.1")
    variables.pop("PARDO_DEVICES", None)
    done = subprocess.run([sys.executable, "-m", "pardo", "--list"], env=variables, capture_output=True, text=True, check=False)
    assert "PARDO_CUDA_DRIVER=/nowhere/libcuda.so.1 cannot be loaded" in done.stdout + done.stderr
