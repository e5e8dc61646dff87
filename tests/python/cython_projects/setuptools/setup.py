# The extension, with its regions.
from pardo.cython import cythonize
from setuptools import setup

setup(ext_modules=cythonize("doubling.pyx", quiet=True))
