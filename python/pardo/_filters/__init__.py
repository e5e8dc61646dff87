# python/pardo/_filters/__init__.py: the package; nothing is exported here.
"""Filters of images and signals: the kernels, and SciPy's functions made of them. Files are read at first use (ndimage.py, signal.py)."""
