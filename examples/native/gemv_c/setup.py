# setup.py: a library of plain C, which needs pardo's header and links nothing of it.
import pardo
from setuptools import Extension, setup

setup(ext_modules=[Extension("_gemv_c", ["gemv.c"], include_dirs=[pardo.get_include()], depends=["handles.h"])], py_modules=["gemv_c"])
