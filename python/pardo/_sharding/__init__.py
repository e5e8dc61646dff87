# python/pardo/_sharding: one array over several devices.
"""One array over several devices: split along an axis into parts, each of which is a plain array on its own queue."""
