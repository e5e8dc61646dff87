# python/pardo/_plugins/pyinstaller/hook-pardo.py: what a frozen program needs of pardo. PyInstaller runs it when it freezes one.
from __future__ import annotations

from PyInstaller.utils.hooks import collect_data_files, collect_dynamic_libs, collect_submodules

# Modules are imported at the first use of a name, and these two by the compiled module or by path.
hiddenimports = [*collect_submodules("pardo", on_error="ignore"), "nanobind_backend", "scipy_openblas32"]
datas = collect_data_files("pardo")  # kernels that the wheel brings
binaries = collect_dynamic_libs("nanobind_backend") + collect_dynamic_libs("scipy_openblas32")
module_collection_mode = "pyz+py"  # kernels are made from texts, those of pardo's own too
# Libraries that pardo works with and does not need: a program that uses one imports it itself.
excludedimports = [
    "IPython", "PIL", "av", "cupy", "cython", "dask", "distributed", "einops", "glfw", "ipywidgets", "joblib", "matplotlib", "ml_dtypes",
    "mpi4py", "numba", "numcodecs", "pandas", "ray", "scipy", "sklearn", "torch", "xarray", "zarr",
]  # fmt: skip
