# tests/python/cython_programs/regions.pyx: regions in the forms that pardo.cython takes; test_cython.py compiles it once.
# cython: language_level=3
cimport cython
import numpy as np
from libc.math cimport exp, floor, sqrt
from cython.parallel cimport device, parallel, prange

ctypedef fused number:
    float
    double
    int

cdef enum:
    WIDTH = 3


def outer_sum(double[:, ::1] A):
    """Inferred maps, nested loops."""
    cdef int n = A.shape[0]
    cdef double[:, ::1] R = np.empty((n, n))
    cdef double s
    cdef int i, j, k
    with nogil, parallel(device={}):
        for i in prange(n):
            for j in prange(n):
                s = 1.0
                for k in range(A.shape[1]):
                    s = s + A[i, k] * exp(-A[j, k])
                R[i, j] = sqrt(s)
    return np.asarray(R)


def rows(double[:, ::1] A):
    """A context around a loop of the host over rows."""
    cdef int n = A.shape[0]
    cdef double[:, ::1] R = np.empty((n, n))
    cdef double[::1] row
    cdef int i, j
    with nogil, device({A: 'to'}):
        for i in range(n):
            row = R[i, :]
            with parallel(device={row: 'from'}):
                for j in prange(n):
                    row[j] = A[i, 0] * A[j, 1]
    return np.asarray(R)


@cython.device
cdef double inner(double[:] a, double[:] b) nogil:
    cdef double s = 0
    cdef Py_ssize_t k
    for k in range(min(a.shape[0], b.shape[0])):
        if a[k] < 0:
            return -1
        s += a[k] * b[k]
    return s


def calls(double[:, :] A):
    cdef Py_ssize_t i
    cdef double[::1] R = np.zeros(A.shape[0])
    with device({A: 'to'}):
        with nogil, parallel(device={R: 'from'}):
            for i in prange(A.shape[0]):
                R[i] = inner(A[i], A[0])
    return np.asarray(R)


def reductions(double[:] x, int n):
    """A sum, a product, the values of the last iteration."""
    cdef double s = 10, p = 1, last = -1
    cdef long count = 0
    cdef int i = -5
    with nogil, parallel(device={}):
        for i in prange(n):
            last = x[i] * 2
            s += x[i]
            p *= x[i]
            count -= 1
    return s, p, count, last, i


def loop_alone(float[:] x):
    cdef int i
    for i in prange(x.shape[0], nogil=True, device={x: 'tofrom'}, schedule='dynamic'):
        if x[i] < 0:
            continue
        x[i] *= 2


def integers(int[:] a, int[:] b, long[:] out):
    """Python's division, wrapping unsigned integers, shifts, conditions."""
    cdef int i
    cdef unsigned char c
    cdef unsigned int u
    with nogil, parallel(device={}):
        for i in prange(a.shape[0]):
            c = <unsigned char>(a[i] * 7)
            u = <unsigned int>a[i] - 5
            out[i] = a[i] // b[i] + 1000 * (a[i] % b[i]) + c + (u >> 3)
            if a[i] > 3 and not b[i] == 2 or a[i] == WIDTH:
                out[i] += 1 << (a[i] & 7)


@cython.cdivision(True)
def c_integers(int[:] a, int[:] b, long[:] out):
    cdef int i
    with nogil, parallel(device={}):
        for i in prange(a.shape[0]):
            out[i] = a[i] // b[i] + 1000 * (a[i] % b[i])


@cython.boundscheck(False)
@cython.wraparound(False)
def collatz(long[::1] steps):
    """`while`, `break`, serial `else`."""
    cdef long i, x, n
    with nogil, parallel(device={steps: 'from'}):
        for i in prange(steps.shape[0]):
            x = i + 1
            n = 0
            while x != 1:
                x = x // 2 if x % 2 == 0 else 3 * x + 1
                n = n + 1
                if n > 1000:
                    break
            steps[i] = n


def complexes(double complex[:] z, double complex[:] w):
    cdef int i
    with nogil, parallel(device={}):
        for i in prange(z.shape[0]):
            w[i] = z[i] * z[i] + 1.5j


def scaled(number[:, :] x, number factor):
    """A fused type, views of any layout."""
    cdef Py_ssize_t i, j
    with nogil, parallel(device={}):
        for i in prange(x.shape[0]):
            for j in prange(x.shape[1]):
                x[i, j] = x[i, j] * factor


def too_far(double[:] x, int n):
    cdef int i
    with nogil, parallel(device={}):
        for i in prange(n):
            x[i] = 1


def before_first(double[:] x):
    cdef int i
    with nogil, parallel(device={}):
        for i in prange(1):
            x[i - 1] = 7


@cython.wraparound(False)
def before_first_unwrapped(double[:] x):
    cdef int i
    with nogil, parallel(device={}):
        for i in prange(1):
            x[i - 1] = 7


cdef class Grid:
    cdef double[:] values
    cdef double step

    def __init__(self, values, step):
        self.values, self.step = values, step

    def advance(self):
        cdef int i
        with nogil, parallel(device={self.values: 'tofrom'}):
            for i in prange(self.values.shape[0]):
                self.values[i] = floor(self.values[i]) + self.step


@cython.device
cdef double middle(double[:] x, int k) nogil:
    cdef double kept[3]
    cdef int i
    for i in range(3):
        kept[i] = x[k + i]
    return max(min(kept[0], kept[1]), min(max(kept[0], kept[1]), kept[2]))


def pointers(double[::1] x, double[::1] y):
    """Memory of C: pointers with sections, arrays."""
    cdef double *p = &x[0]
    cdef double *q = &y[0]
    cdef double weights[2]
    cdef int i, n = x.shape[0]
    weights[0], weights[1] = 2, 3
    with nogil, parallel(device={p[0:n]: 'to', q[0:n - 2]: 'from'}):
        for i in prange(n - 2):
            q[i] = p[i] * weights[0] + weights[1]
    with nogil, parallel(device={}):
        for i in prange(n - 2):
            y[i] += middle(x, i)


def left_early(double[:] x, double limit):
    """`break` ends an iteration; `continue` in the last one keeps what it has assigned."""
    cdef int i, k
    cdef double last = 0
    with nogil, parallel(device={}):
        for i in prange(x.shape[0]):
            if x[i] > limit:
                break
            x[i] = -1
    for i in prange(x.shape[0], nogil=True, device={}):
        last = x[i]
        for k in range(10):
            if k > 2:
                break
            last = last + 1
        if i == x.shape[0] - 1:
            continue
        x[i] = 0
    return last


def bounds_reassigned(int n):
    """Bounds are those from before the loop; counters of inner loops have their last values."""
    cdef int start = 0, stop = n, step = 2, i, j = -1
    cdef long s = 0
    for i in prange(start, stop, step, nogil=True, device={}):
        start = -2
        stop = 2
        for j in range(3):
            s += i
    return s, i, j


def somewhere(double[:] x, where):
    """A device by name, for a region and for a block."""
    cdef int i
    with device({x: 'tofrom'}, on=where), nogil, parallel(device={}):
        for i in prange(x.shape[0]):
            x[i] += 1
    with nogil, parallel(device={}, on='null:1'):
        for i in prange(x.shape[0]):
            x[i] += 1
