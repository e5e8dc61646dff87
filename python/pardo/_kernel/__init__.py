# python/pardo/_kernel/__init__.py: the package; nothing is exported here.
"""Kernels and functions with parallel loops: how they are decorated, launched and pickled."""
