# bench/peers/pardo.py: pardo, running NumPy's own code on the device of PARDO_DEVICE.
from __future__ import annotations

import asyncio
import functools

import numpy as np
import pardo as pp
from workloads import beside as side_by_side
from workloads import device_host, devices

PACKAGES = ["pardo"]


def prepare(name, inputs):
    function = devices.ALL[name]
    if name == "black_scholes":
        function = functools.partial(function, erf=pp.special.erf)
    values = tuple(pp.asarray(value).wait() for value in inputs)
    return lambda: function(pp, *values)


def array(value):
    return pp.asarray(value).wait()


def wait(result):
    if isinstance(result, tuple):
        for array in result:
            array.wait()
    elif not isinstance(result, float):
        result.wait()
    return result


def to_numpy(result):
    return result if isinstance(result, float) else pp.asnumpy(result)


def start(result):
    """Hands the work over."""
    pp.force(*(result if isinstance(result, tuple) else (result,)))
    return result


def device() -> dict:
    return described(pp.Device())


def all_devices() -> list[dict]:
    return [described(d) for d in pp.get_devices()]


def described(d: pp.Device) -> dict:
    return {"id": d.id, "backend": d.backend, "type": d.type, "name": d.name, "platform": d.platform, "driver": d.driver_version}


def trim():
    pp.trim_memory()


def beside(name, whole, budget):
    return side_by_side.RUNS[name](pp, whole, budget)


def cost(name, whole):
    """A function that does it once, and what waits for the last one outside of the clock, if that is not a part of it."""
    if name in ("launch", "launch_wait", "await"):
        a, b = (pp.asarray(np.ones(16, dtype="float32")).wait() for _ in range(2))
        if name == "launch":
            return lambda: (a + b).force(), wait
        if name == "launch_wait":
            return lambda: (a + b).wait(), None
        return awaited(a, b) if hasattr(pp.Event, "__await__") else None
    if name == "allocate":
        return lambda: pp.empty(1 << 20, dtype="uint8") is None, None
    values = np.ones(device_host.copied_bytes(whole) // 4, dtype="float32")
    if name == "to_device":
        return lambda: pp.asarray(values).wait(), None
    x = pp.asarray(values).wait()
    # Where the host sees the memory, asnumpy is a view: there is nothing to time.
    return None if np.shares_memory(pp.asnumpy(x), pp.asnumpy(x)) else (lambda: pp.asnumpy(x), None)


def awaited(a, b):
    loop = asyncio.new_event_loop()

    async def once():
        await (a + b).force().event

    return lambda: loop.run_until_complete(once()), None
