# python/pardo/_language/__init__.py: the package; nothing is exported here.
"""What kernels are written with: index spaces, groups, atomics."""
