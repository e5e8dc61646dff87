# python/pardo/_host: NumPy's functions whose results live on the host: dtypes, texts, files.
"""Functions that NumPy computes on the host, given arrays of any device; their files are read at first use (_names.py)."""
