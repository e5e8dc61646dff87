# setup.py: a library of plain C, which needs pardo's header and links nothing of it.
import pardo
from setuptools import Extension, setup

setup(ext_modules=[Extension("_gemv_c", ["gemv_c.c"], include_dirs=[pardo.get_include()], depends=["gemv.c"])], py_modules=["gemv_c"])
