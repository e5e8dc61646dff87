# python/pardo/_functions: NumPy's functions that are made of other operations: tests and conversions, indices, shapes, edits, products.
"""Functions that are compositions of operations. They record what they compute; their files are read at first use (_names.py)."""
