# python/pardo/compat/_selectors.py: SYCL's variables of the environment that choose devices, read for programs that set them.
from __future__ import annotations

import os

from pardo import Device, set_default_device
from pardo._extending import warn

_BACKENDS = {"*": "", "opencl": "opencl", "level_zero": "opencl", "ext_oneapi_level_zero": "opencl", "cuda": "cuda", "native_cpu": "cpu"}
_BACKENDS |= {"host": "cpu"}
_TYPES = {"cpu": "cpu", "gpu": "gpu", "acc": "accelerator", "fpga": "accelerator", "host": "cpu", "*": ""}


def _joined(backend: str, kind: str, number: str) -> str | None:
    """One alternative of a selection string; None for what pardo has no word for."""
    if backend not in _BACKENDS or kind not in _TYPES:
        return None
    return ":".join(part for part in (_BACKENDS[backend], _TYPES[kind], number) if part)


def of_oneapi(text: str) -> str:
    """The selection string for ONEAPI_DEVICE_SELECTOR, as ``opencl:gpu;*:cpu`` or ``opencl:0,1``."""
    found: list[str | None] = []
    for term in text.lower().replace(" ", "").split(";"):
        backend, _, devices = term.partition(":")
        if term and not term.startswith("!"):
            for device in (devices or "*").split(","):
                number = device.partition(".")[0]  # what follows names parts of a device
                found.append(_joined(backend, "*", number) if number.isdigit() else _joined(backend, number, ""))
    return ",".join(dict.fromkeys(filter(None, found)))


def of_sycl(text: str) -> str:
    """The selection string for SYCL_DEVICE_FILTER, as ``opencl:gpu:0,cpu``: each part of a term may be left out."""
    found = []
    for term in text.lower().replace(" ", "").split(","):
        backend, kind, number = "*", "*", ""
        for part in filter(None, term.split(":")):
            if part.isdigit():
                number = part
            elif part in _TYPES and part != "*":
                kind = part
            elif part != "*":
                backend = part
        found.append(_joined(backend, kind, number))
    return ",".join(dict.fromkeys(filter(None, found)))


def read() -> None:
    """Make the device that one of the variables names the default one, and say so. PARDO_DEVICE is asked first."""
    for name, reader in (("ONEAPI_DEVICE_SELECTOR", of_oneapi), ("SYCL_DEVICE_FILTER", of_sycl)):
        text = os.environ.get(name, "")
        if not text or "PARDO_DEVICE" in os.environ:
            continue
        selection = reader(text)
        try:
            device = Device(selection) if selection else None
        except ValueError:
            device = None
        if device is None:
            note = f"names no device that pardo has, and the default device stays {Device().id}"
        else:
            set_default_device(device)
            note = f"makes {device.id} the default device; others stay visible"
        warn(f"{name}={text}: {note}. pardo's own is PARDO_DEVICE={selection or 'cpu'}", RuntimeWarning)
        return
