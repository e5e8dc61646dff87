# python/pardo/_notebook/__init__.py: the package; nothing is exported here.
"""Cells of IPython and notebooks: what each reports, progress of long work, magics, a panel of devices."""
