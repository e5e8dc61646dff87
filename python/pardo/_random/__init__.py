# python/pardo/_random/__init__.py: the package; nothing is exported here.
"""Random numbers: the device functions, the kernels that fill arrays, and the generators on them."""
