# python/pardo/_array/__init__.py: the package; nothing is exported here.
"""Functions and methods of arrays, their ways in and out, and the contexts in which they take those of NumPy."""
