# bench/regions.pyx: regions of Cython that offload.py measures; it compiles the file a second time without device=, for OpenMP.
# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
import numpy as np
from libc.math cimport sqrt
from cython.parallel cimport device, parallel, prange


def distances(double[:, ::1] X, double[:, ::1] D):
    """All pairs, in nested parallel loops."""
    cdef int n = X.shape[0], m = X.shape[1], i, j, k
    cdef double t, d
    with nogil, parallel(device={}):
        for i in prange(n):
            for j in prange(n):
                d = 0.0
                for k in range(m):
                    t = X[i, k] - X[j, k]
                    d = d + t * t
                D[i, j] = sqrt(d)


def rows_alone(double[:, ::1] X, double[:, ::1] D, int rows):
    """A row at a time; each copies X."""
    cdef int n = X.shape[0], m = X.shape[1], i, j, k
    cdef double t, d
    cdef double[::1] row
    with nogil:
        for i in range(rows):
            row = D[i, :]
            with parallel(device={row: 'from', X: 'to'}):
                for j in prange(n):
                    d = 0.0
                    for k in range(m):
                        t = X[i, k] - X[j, k]
                        d = d + t * t
                    row[j] = sqrt(d)


def rows_in_a_context(double[:, ::1] X, double[:, ::1] D, int rows):
    """A row at a time, in a context that has X on the device."""
    cdef int n = X.shape[0], m = X.shape[1], i, j, k
    cdef double t, d
    cdef double[::1] row
    with nogil, device({X: 'to'}):
        for i in range(rows):
            row = D[i, :]
            with parallel(device={row: 'from'}):
                for j in prange(n):
                    d = 0.0
                    for k in range(m):
                        t = X[i, k] - X[j, k]
                        d = d + t * t
                    row[j] = sqrt(d)


def eight(double[::1] a, double[::1] b, double[::1] c, double[::1] d, double[::1] e, double[::1] f, double[::1] g, double[::1] h, int times):
    """Calls of a region with eight arrays and next to no work."""
    cdef int i, k
    for k in range(times):
        for i in prange(1, nogil=True, device={}):
            a[i] = b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i]
