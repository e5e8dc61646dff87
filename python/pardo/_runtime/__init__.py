# python/pardo/_runtime/__init__.py: the package; nothing is exported here.
"""Devices, queues, events and memory, and what the library tells about its work. It knows arrays, and no function on them."""
