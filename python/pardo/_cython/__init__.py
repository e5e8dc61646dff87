# python/pardo/_cython/__init__.py: the package; nothing is exported here.
"""Regions of Cython's files that run on devices: found in its syntax tree, read from its typed tree, run by loops of pardo."""
