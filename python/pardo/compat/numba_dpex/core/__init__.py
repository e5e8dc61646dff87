# python/pardo/compat/numba_dpex/core/__init__.py: the modules of numba_dpex.core that programs import from.
"""What programs import from `numba_dpex.core`: `config`, `exceptions`, `types`."""
