# tests/python/cython_projects/doubling.pyx: the module of the projects beside it, which test_cython_projects.py builds.
# cython: language_level=3
from cython.parallel import prange


def doubled(double[:] x):
    cdef int i
    for i in prange(x.shape[0], nogil=True, device={x: 'tofrom'}):
        x[i] *= 2
