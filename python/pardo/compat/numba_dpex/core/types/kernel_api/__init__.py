# python/pardo/compat/numba_dpex/core/types/kernel_api/__init__.py: types of what kernels are written with.
"""Types of what kernels are written with, for the signatures that specialise kernels."""
