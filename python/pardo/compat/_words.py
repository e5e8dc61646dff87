# python/pardo/compat/_words.py: dpctl's enumerations, whose members are equal to pardo's plain texts.
from __future__ import annotations

import enum


class _Word(enum.StrEnum):
    """Words of dpctl's, equal to pardo's, which are plain texts."""

    __str__ = enum.Enum.__str__


class backend_type(_Word):  # noqa: N801 (dpctl's name)
    """Kinds of back ends."""

    all = "all"
    cpu = "cpu"
    cuda = "cuda"
    hip = "hip"
    host = "host"
    level_zero = "level_zero"
    opencl = "opencl"


class device_type(_Word):  # noqa: N801 (dpctl's name)
    """Kinds of devices."""

    accelerator = "accelerator"
    all = "all"
    automatic = "automatic"
    cpu = "cpu"
    custom = "custom"
    gpu = "gpu"
    host_device = "host_device"


class event_status_type(_Word):  # noqa: N801 (dpctl's name)
    """How far the work of an event is."""

    complete = "complete"
    running = "running"
    submitted = "submitted"
    unknown_status = "unknown_status"
