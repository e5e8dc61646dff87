# python/pardo/_data/__init__.py: the package; nothing is exported here.
"""Memory of the host that has copies on devices: tables of what is present, and the contexts that fill them."""
