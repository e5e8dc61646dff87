# tests/python/cython_programs/calls.pyx: regions that are called again and again, in single precision, which every device has.
# cython: language_level=3
import numpy as np
from cython.parallel cimport device, parallel, prange
cimport cython


@cython.boundscheck(False)
@cython.wraparound(False)
def rows(float[:, ::1] X, float[:, ::1] D):
    """A row a region, in a block in which nobody asks for them."""
    cdef int n = X.shape[0], i, j
    cdef float[::1] row
    with nogil, device({X: 'to'}):
        for i in range(n):
            row = D[i, :]
            with parallel(device={row: 'from'}):
                for j in prange(n):
                    row[j] = X[i, 0] - X[j, 1]


@cython.boundscheck(False)
@cython.wraparound(False)
def chained(float[:, ::1] D, float start):
    """Each row is computed from the one before."""
    cdef int n = D.shape[0], m = D.shape[1], i, j
    cdef float[::1] row, last
    with device({}):
        with nogil:
            for i in range(n):
                row = D[i, :]
                last = D[max_of(i - 1), :]
                with parallel(device={row: 'tofrom', last: 'to'}):
                    for j in prange(m):
                        row[j] = (last[j] if i > 0 else start) + 1


cdef inline int max_of(int i) noexcept nogil:
    return i if i > 0 else 0


@cython.boundscheck(False)
@cython.wraparound(False)
def doubled(float[:, ::1] D):
    """As above, in a block without calls: results wait until one is read."""
    cdef int n = D.shape[0], m = D.shape[1], i, j
    cdef float[::1] row, last
    with nogil, device({}):
        for i in range(1, n):
            row = D[i, :]
            last = D[i - 1, :]
            with parallel(device={row: 'from', last: 'to'}):
                for j in prange(m):
                    row[j] = 2 * last[j]


@cython.boundscheck(False)
@cython.wraparound(False)
def read_between(float[:, ::1] D):
    """The host reads each result before the next region."""
    cdef int n = D.shape[0], m = D.shape[1], i, j
    cdef float[::1] row
    cdef float before = 1
    with nogil, device({}):
        for i in range(n):
            row = D[i, :]
            with parallel(device={row: 'from'}):
                for j in prange(m):
                    row[j] = before + j
            before = D[i, 1]


@cython.boundscheck(False)
@cython.wraparound(False)
def add(float[:] x, const float[:] y, float a, int shift, int n):
    cdef int i
    for i in prange(shift, n, nogil=True, device={}):
        x[i] += a * y[i - shift]


def checked(float[:] x, float[:] y, float[:] z, int at):
    cdef int i
    for i in prange(3, nogil=True, device={x: 'tofrom', y: 'from'}):
        x[i] = x[i] + 1
        y[i] = z[i + at]


def inferred(float[:] x):
    """Nobody declares the counter."""
    for i in prange(x.shape[0], nogil=True, device={}):
        x[i] = 3
    return i


@cython.boundscheck(False)
@cython.wraparound(False)
def owner_is_bound_again(float[:, ::1] D):
    """The first region's result is memory that nobody keeps after it."""
    cdef int m = D.shape[1], i, j
    cdef float[::1] row = np.empty(m, np.float32)
    with nogil, device({}):
        for i in range(D.shape[0]):
            with parallel(device={row: 'from'}):
                for j in prange(m):
                    row[j] = i
            row = D[i, :]


def sums(float[:] x, float start, int n):
    """Reductions, which begin with what the variables are."""
    cdef int i, count = 100
    cdef float total = start, product = 1
    for i in prange(n, nogil=True, device={}):
        total += x[i]
        product *= x[i] + 1
        count -= 1
    return total, product, count


def normalized(float[:] x, float[:] y):
    """Several loops, the second one with what the first one gives."""
    cdef int n = x.shape[0], i
    cdef float total = 0, largest = 0
    with nogil, parallel(device={}):
        for i in prange(n):
            total += x[i]
        for i in prange(n):
            y[i] = x[i] / total
        for i in prange(n):
            x[i] = y[n - 1 - i]
    return total


def filled(cython.numeric[:] x, cython.numeric a):
    """A fused type."""
    cdef int i
    cdef cython.numeric total = 0
    for i in prange(x.shape[0], nogil=True, device={}):
        x[i] = a
        total += a
    return total


def of_memory(float[:, ::1] x, float[::1] y, int n):
    """Pointers with sections, arrays of C."""
    cdef float *p = &x[0, 0]
    cdef float w[2][2]
    cdef int i
    w[0][0], w[0][1], w[1][0], w[1][1] = 1, 2, 3, 4
    for i in prange(n, nogil=True, device={p[0:n + 1]: 'to'}):
        y[i] = p[i + 1] * w[i % 2][1]


def repeated(float[:] x, int times):
    """A loop of the region around its parallel one."""
    cdef int n = x.shape[0], i, k
    with nogil, parallel(device={}):
        for k in range(times):
            for i in prange(n):
                x[i] += k + 1


def counted(int[:] x, float[:] y):
    """A bound that a loop before has computed."""
    cdef int i, n = 0
    with nogil, parallel(device={}):
        for i in prange(x.shape[0]):
            n += x[i]
        for i in prange(n):
            y[i] += 1
    return n


@cython.boundscheck(False)
@cython.wraparound(False)
def rows_or_nothing(float[:, ::1] D, int n):
    """The last region of a block without iterations."""
    cdef int m = D.shape[1], i, j
    cdef float[::1] row
    with nogil, device({}):
        for i in range(n):
            row = D[i, :]
            with parallel(device={row: 'tofrom'}):
                for j in prange(m * (n - 1 - i)):
                    row[j % m] = i


ctypedef struct Weights:
    float w[2][3]
    int n

cdef struct Body:
    signed char kind
    Weights own
    int mark


def of_structs(Body[:] x, float[:] y):
    """Arrays of structs."""
    cdef int i
    for i in prange(x.shape[0], nogil=True, device={}):
        x[i].mark += 1
        y[i] = x[i].own.w[1][i % 3] * x[i].own.n + x[i].kind


def of_structs_of_c(Body[::1] x, float[:] y, int n):
    """Memory of C that holds structs."""
    cdef Body *p = &x[0]
    cdef int i
    for i in prange(n, nogil=True, device={p[0:n]: 'to'}):
        y[i] += p[i].own.w[0][2]


def yields(float[:] x, int times):
    """A generator."""
    cdef int i, k
    for k in range(times):
        for i in prange(x.shape[0], nogil=True, device={}):
            x[i] += k
        yield k


def with_statements(float[:, :] y, int times, float divisor):
    """Statements beside loops, and loops around them."""
    cdef int i, j, k
    cdef float share
    with nogil, parallel(device={}):
        share = 1 / divisor
        for k in range(times):
            for i in prange(k, y.shape[0], 2):
                for j in range(y.shape[1]):
                    y[i, j] += share * (k + 1)
            if k > 1:
                share = share / 2


def last_values(float[:] x, int n):
    """The last iteration's values, beside what is reduced."""
    cdef int i, last = -1
    cdef float total = 0
    for i in prange(n, nogil=True, device={}):
        last = 2 * i
        total += x[i]
    return last, total, i


def reduced_structs(Body[:] x, float start):
    """A reduction behind an array of structs."""
    cdef int i
    for i in prange(x.shape[0], nogil=True, device={}):
        start += x[i].own.n
    return start
