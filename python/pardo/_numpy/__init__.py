# python/pardo/_numpy: NumPy's protocols.
"""NumPy's functions called on arrays of pardo: they run as those of pardo of the same names."""
