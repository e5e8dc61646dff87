# setup.py: the extension, which needs pardo's headers and links nothing of it.
import pardo
from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup

setup(ext_modules=[Pybind11Extension("gemv_pybind11", ["gemv_pybind11.cpp"], include_dirs=[pardo.get_include()], cxx_std=17)])
