# python/pardo/_polynomials: series of polynomials.
"""Series of polynomials: six families by one table, their functions and classes."""
