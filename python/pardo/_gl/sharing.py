# python/pardo/_gl/sharing.py: objects of OpenGL whose memory a device uses in place, registered with its driver.
from __future__ import annotations

import os
import weakref
from collections.abc import Callable

from pardo import _core
from pardo._core import Device
from pardo._gl import functions as gl
from pardo._gl.functions import Context
from pardo._runtime.devices import get_devices


class Owned:
    """An object of OpenGL's: it is used in the thread where its context is current, in the process that made that."""

    glo: int
    _context: Context
    _what: str
    _registrations: dict[str, Registration]  # by the id of a device

    @property
    def _key(self) -> tuple[str, int]:
        """How the context knows it among those that are mapped."""
        return self._what, self.glo

    def _exists(self, context: Context) -> bool:
        raise NotImplementedError

    def _current(self, op_name: str) -> Context:
        if os.getpid() != self._context.process:
            raise RuntimeError(f"{op_name}: the OpenGL context was made by the process that this one was forked from")
        context = gl.current(op_name)
        if context is not self._context:
            raise RuntimeError(
                f"{op_name}: another OpenGL context is current than that of the {self._what}; make that current first, or describe the "
                f"{self._what} in this one, if they share objects"
            )
        return context

    def _registered(self, op_name: str, context: Context, device: Device, target: int = 0) -> Registration:
        """The registration with the device's driver."""
        known = self._registrations.get(device.id)
        if known is None:
            known = self._registrations[device.id] = registered(op_name, context, device, self.glo, target)
        return known

    def _end_shared(self, op_name: str, registration: Registration, unmap: Callable[[], None], retire: Callable[[], None]) -> None:
        """OpenGL's commands from now on come after the work of the block; where they cannot, the memory is not used any more."""
        try:
            context = self._current(op_name)
        except RuntimeError:
            retire()
            raise
        context.mapped.discard(self._key)
        if self._exists(context):
            unmap()
            return
        self._registrations.clear()
        try:
            retire()
        finally:
            registration.object.close()
        raise RuntimeError(f"{op_name}: the {self._what} {self.glo} was deleted while it was mapped")


class Registration:
    """An object of OpenGL that a device's driver has registered, for as long as this is referenced."""

    __slots__ = ("__weakref__", "object")

    def __init__(self, op_name: str, context: Context, device: Device, name: int, target: int) -> None:
        self.object = _core._GraphicsObject(op_name, device, name, target)
        # The driver is told in the thread of the context alone; where the context goes first, it is not told.
        weakref.finalize(self, context.leave, self.object).atexit = False


def registered(op_name: str, context: Context, device: Device, name: int, target: int) -> Registration:
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
    """The devices of the same driver that use the context's memory in place, but for those that PARDO_DEVICES hides."""
    known = context.sharing.get(device.id)
    if known is None:
        visible = get_devices(device.backend)
        known = context.sharing[device.id] = [d for d in _core._graphics_devices(device) if d in visible]
    return known


def refusal(context: Context, device: Device) -> str:
    """What is said of a device whose driver shares with another one."""
    names = ", ".join(d.id for d in sharing(context, device))
    return f"{device.id} has no memory in common with the OpenGL context ({context.renderer}), and {names} has: map it there"
