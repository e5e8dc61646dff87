# setup.py: the extension, which needs pardo's headers and links nothing of it.
import pardo
from Cython.Build import cythonize
from setuptools import Extension, setup

extension = Extension(
    "gemv_cython", ["gemv_cython.pyx"], include_dirs=[pardo.get_include()], extra_compile_args=["-std=c++17"], language="c++"
)
setup(ext_modules=cythonize([extension], language_level=3))
