# python/pardo/vulkan.py: memory and semaphores of Vulkan, without a copy where a device can use them.
"""Arrays in memory that Vulkan uses too, and the order between its commands and queues; docs/guide/vulkan.md shows how."""

from pardo._base import public_names as _public_names
from pardo._vulkan.semaphores import Semaphore
from pardo._vulkan.sharing import ExternalHandle, capabilities, empty, from_handle
from pardo._vulkan.turns import turn

__all__ = ["ExternalHandle", "Semaphore", "capabilities", "empty", "from_handle", "turn"]

_public_names.publish_module(globals())
