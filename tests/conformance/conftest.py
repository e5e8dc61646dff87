# tests/conformance/conftest.py: every test that asks for `device` runs on each device of the machine that computes.
import os

import numpy as np
import pardo as pp
import pytest
from data import COMPILE_ONLY

if COMPILE_ONLY:
    for _name in ("assert_allclose", "assert_array_equal", "assert_array_max_ulp", "assert_equal"):
        setattr(np.testing, _name, lambda *_, **__: None)

# PARDO_TEST_DEVICES=cuda,opencl:0 leaves the other back ends and devices out. null:1 interprets kernels, and lacks what a device may lack.
WANTED = os.environ.get("PARDO_TEST_DEVICES", "").split(",")
INTERPRETER = [] if COMPILE_ONLY else [pp.Device("null:1")]
DEVICES = [d for d in [*pp.get_devices(), *INTERPRETER] if WANTED == [""] or not {d.backend, d.id}.isdisjoint(WANTED)]


NO_FP64 = "is not supported by device"  # float64, complex128: asked for by the test


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    try:
        return (yield)
    except (pp.CompileError, pp.DeviceError):
        raise
    except TypeError as error:
        if NO_FP64 not in str(error) or pyfuncitem.funcargs.get("device", pp.Device()).has_fp64:
            raise
        pytest.skip("the device has no fp64")
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
