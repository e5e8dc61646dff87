# python/pardo/_compiler/__init__.py: the package; nothing is exported here.
"""From Python's functions and classes to what the core compiles: their text, names, syntax trees, and structs."""
