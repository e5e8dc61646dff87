# python/pardo/cython.py: files of Cython whose parallel sections run on devices.
"""Cython with ``device=``: parallel sections of ``.pyx`` files run on the CPU, on OpenCL devices and on NVIDIA GPUs."""

from __future__ import annotations

import sys

from pardo._cython.building import build, cythonize, main
from pardo._cython.loading import install, load_ipython_extension, uninstall
from pardo._extending import publish_module

__all__ = ["build", "cythonize", "install", "load_ipython_extension", "uninstall"]

publish_module(globals())

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
