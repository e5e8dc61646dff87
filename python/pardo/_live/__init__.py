# python/pardo/_live/__init__.py: the package; nothing is exported here.
"""Pictures in windows, notebooks and files: of one array, and of a program while it runs."""
