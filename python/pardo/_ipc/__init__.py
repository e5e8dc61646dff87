# python/pardo/_ipc/__init__.py: the package; nothing is exported here.
"""Memory of arrays that several processes of one machine use."""
