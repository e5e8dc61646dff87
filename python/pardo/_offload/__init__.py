# python/pardo/_offload/__init__.py: the package; nothing is exported here.
"""Functions whose loops run on a device while their arrays stay the host's: what is copied, when, and why."""
