# python/pardo/_debug/__init__.py: the package; nothing is exported here.
"""Kernels and loops as plain Python, and the search for races in them."""
