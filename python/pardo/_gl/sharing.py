# python/pardo/_gl/sharing.py: objects of OpenGL whose memory a device uses in place, registered with its driver.
from __future__ import annotations

import weakref

from pardo import _core
from pardo._core import Device
from pardo._gl.functions import Context


class Registration:
    """An object of OpenGL that a device's driver has registered, for as long as this is referenced."""

    __slots__ = ("__weakref__", "object")

    def __init__(self, op_name: str, context: Context, device: Device, name: int, target: int) -> None:
        self.object = _core._GraphicsObject(op_name, device, name, target)
        # The driver is told in the thread of the context alone; where the context goes first, it is not told.
        weakref.finalize(self, context.leave, self.object).atexit = False


def registered(op_name: str, context: Context, device: Device, name: int, target: int = 0) -> Registration:
    """The registration of a buffer (`target` 0), texture or renderbuffer; one for all that describe the object."""
    key = (device.id, name, target)
    known: Registration | None = context.registered.get(key)
    if known is None:
        known = context.registered[key] = Registration(op_name, context, device, name, target)
    return known


def shares(op_name: str, context: Context, device: Device) -> bool:
    """Whether the device uses the context's memory in place. Raises ValueError where another device of its driver does."""
    devices = sharing(context, device)
    if not devices or device in devices:
        return bool(devices)
    raise ValueError(f"{op_name}: {refusal(context, device)}")


def sharing(context: Context, device: Device) -> list[Device]:
    """The devices of the same driver that use the context's memory in place."""
    known = context.sharing.get(device.id)
    if known is None:
        known = context.sharing[device.id] = _core._graphics_devices(device)
    return known


def refusal(context: Context, device: Device) -> str:
    """What is said of a device whose driver shares with another one."""
    names = ", ".join(d.id for d in sharing(context, device))
    return f"{device.id} has no memory in common with the OpenGL context ({context.renderer}), and {names} has: map it there"
