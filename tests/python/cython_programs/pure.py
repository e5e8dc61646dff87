# tests/python/cython_programs/pure.py: regions in Cython's pure Python mode; test_cython_modes.py compiles it.
import cython
import numpy as np
from cython.cimports.libc.math import exp, sqrt
from cython.parallel import device, parallel, prange


def outer_sum(A: cython.double[:, ::1]):
    n: cython.int = A.shape[0]
    R: cython.double[:, ::1] = np.empty((n, n))
    s: cython.double
    i: cython.int
    j: cython.int
    k: cython.int
    with cython.nogil, parallel(device={}):
        for i in prange(n):
            for j in prange(n):
                s = 1.0
                for k in range(A.shape[1]):
                    s = s + A[i, k] * exp(-A[j, k])
                R[i, j] = sqrt(s)
    return np.asarray(R)


@cython.device
@cython.cfunc
@cython.nogil
def inner(a: cython.double[:], b: cython.double[:]) -> cython.double:
    s: cython.double = 0
    k: cython.Py_ssize_t
    for k in range(min(a.shape[0], b.shape[0])):
        s += a[k] * b[k]
    return s


def rows(A: cython.double[:, :]):
    n: cython.int = A.shape[0]
    R: cython.double[:, ::1] = np.empty((n, n))
    row: cython.double[::1]
    i: cython.int
    j: cython.int
    with device({A: "to"}):
        with cython.nogil:
            for i in range(n):
                row = R[i, :]
                with parallel(device={row: "from"}):
                    for j in prange(n):
                        row[j] = inner(A[i], A[j])
    return np.asarray(R)
