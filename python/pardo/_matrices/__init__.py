# python/pardo/_matrices: the functions of pardo.linalg, read when that is.
"""Linear algebra: factorizations, which the core records, and what is made of them and of operations on arrays."""
