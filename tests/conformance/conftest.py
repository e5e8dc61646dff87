# tests/conformance/conftest.py: every test that asks for `device` runs on each device of the machine that computes.
import os

import numpy as np
import pardo as pp
import pytest
from data import COMPILE_ONLY

if COMPILE_ONLY:
    for _name in ("assert_allclose", "assert_array_equal", "assert_array_max_ulp", "assert_equal"):
        setattr(np.testing, _name, lambda *_, **__: None)

# PARDO_TEST_DEVICES=cuda,opencl:0 leaves the other back ends and devices out.
WANTED = os.environ.get("PARDO_TEST_DEVICES", "").split(",")
DEVICES = [
    device
    for device in pp.get_devices()
    if device.backend != "null" and (WANTED == [""] or not {device.backend, device.id}.isdisjoint(WANTED))
]


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    try:
        return (yield)
    except (pp.CompileError, pp.DeviceError):
        raise
    except (Exception, pytest.fail.Exception):
        if not COMPILE_ONLY:
            raise
        return True


@pytest.fixture(params=DEVICES, ids=str)
def device(request):
    return request.param


@pytest.fixture(autouse=True)
def _quiet_numpy():
    """Division by zero, overflow and NaN are part of what is compared."""
    with np.errstate(all="ignore"):
        yield
