# python/pardo/compat/numba_dpex/core/config.py: numba-dpex's settings.
"""numba-dpex's settings. They say how it compiles and what it writes; programs may assign them, and they do nothing."""

SAVE_IR_FILES = OFFLOAD_DIAGNOSTICS = DEBUG = DEBUGINFO_DEFAULT = DUMP_KERNEL_LLVM = DUMP_KERNEL_LAUNCHER = DEBUG_KERNEL_LAUNCHER = 0
BUILD_KERNEL_OPTIONS = ""
TESTING_SKIP_NO_DEBUGGING = 1
TESTING_LOG_DEBUGGING = 0
DPEX_OPT = OPT = INLINE_THRESHOLD = 2
