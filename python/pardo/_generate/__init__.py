# python/pardo/_generate/__init__.py: the package; nothing is exported here.
"""Functions on arrays made of the user's functions on elements."""
