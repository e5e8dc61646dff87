# python/pardo/compat/numba/core/__init__.py: the modules of numba.core that programs import from.
"""What programs import from `numba.core`: `config`, `errors`, `types`."""
