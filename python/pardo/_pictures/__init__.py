# python/pardo/_pictures/__init__.py: the package; nothing is exported here.
"""Pictures of arrays: colours, pixels, files, and points and lines counted in pixels."""
