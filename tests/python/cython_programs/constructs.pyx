# tests/python/cython_programs/constructs.pyx: what regions take, a function each; test_cython_constructs.py compiles it with device= and without.
# cython: language_level=3
cimport cython
import numpy as np
cimport numpy as cnp
from libc.math cimport M_PI, fdim, lrint, lround, nearbyint, round, roundf, signbit, sqrt
from libc.stdint cimport int64_t, uint8_t
from cython.parallel cimport parallel, prange
from inlined cimport Point, mirrored, squared

ctypedef double real

cdef enum Colour:
    RED = 1
    GREEN = 5

cdef enum:
    ROUNDS = 4

cdef double SCALE = 2.5

ctypedef fused one:
    float
    double

ctypedef fused two:
    int
    long

cdef struct Segment:
    Point first
    Point last


# --- structs

def structs_moved(Point[:] p, double by):
    cdef int i
    cdef Point q
    for i in prange(p.shape[0], nogil=True, device={}):
        q = p[i]
        q.x = q.x + by
        q.x, q.y = q.y, q.x
        p[i] = mirrored(q, by)
        p[i].tag *= 2


def structs_made(Point[:] p, double[:] out):
    cdef Py_ssize_t i
    cdef Segment s
    cdef Point kept = Point(100, 200, 3)
    cdef Point last = Point(-1, -2, -3)
    for i in prange(p.shape[0], nogil=True, device={}):
        s.first = p[i]
        s.last = Point(s.first.y, s.first.x, 7)
        s.first.x += kept.x if s.first.tag > 1 else kept.y
        out[i] = s.first.x * 1000 + s.last.y + mirrored(kept, 1).x
        last = s.last
    return last.x, last.y, last.tag


ctypedef struct Weights:
    double w[3]
    long turns[2][2]
    long n

cdef struct Pair:
    Weights one
    Weights other


cdef double weighed(Weights v, int k) noexcept nogil:
    v.w[k % 3] += 1
    return v.w[0] * v.w[2] + v.w[k % 3] * v.turns[k % 2][1] + v.n


cdef Weights turned(Weights v) noexcept nogil:
    v.w[0], v.w[1], v.w[2] = v.w[2], v.w[0], v.w[1]
    return v


def arrays_in_structs(Weights[:] x, double[:] out):
    cdef int i, k
    cdef Weights v, last
    cdef Weights of_c[2]
    cdef Weights *all = &x[0]
    of_c[0].n = 1
    of_c[1].n, of_c[1].w[2] = 5, 0.25
    for i in prange(x.shape[0], nogil=True, device={}):
        v = turned(x[i])
        for k in range(3):
            out[i] += x[i].w[k] * v.w[(k + 1) % 3]
        v.w[i % 3] = v.turns[1][0]
        out[i] += weighed(v, i) + weighted(v.w, 3, x[i].w) + of_c[1].w[2] * of_c[i % 2].n
        x[i].turns[0][1] += 1
        x[i].w[2] = v.w[0]
        last = v
    for i in prange(x.shape[0], nogil=True, device={all[0:x.shape[0]]: 'tofrom'}):
        all[i].w[1] = last.w[i % 3] + last.turns[0][0]
    return last.w[0], last.w[2], last.turns[1][1], last.n


def structs_in_structs(Pair[:] x, double[:] out):
    """Fields that iterations assign, and others that they read from outside."""
    cdef int i
    cdef Pair p
    cdef Weights v
    v.n, v.w[0], v.w[1], v.w[2] = 7, 1, 2, 3
    for i in prange(x.shape[0], nogil=True, device={}):
        p = x[i]
        p.other = p.one
        p.other.w[1] = i
        out[i] = weighed(p.other, i) + v.w[i % 3]
        x[i].other = p.other
        v.n = i
    return v.n, v.w[2]


# --- enums, constants

def enums(int[:] x, Colour wanted):
    cdef int i
    cdef Colour c = RED
    cdef int count = 0
    for i in prange(x.shape[0], nogil=True, device={}):
        c = GREEN if x[i] == ROUNDS else RED
        if c == wanted:
            count += 1
        x[i] = c + 1
    return count


def constants(double[:] x):
    cdef int i
    for i in prange(x.shape[0], nogil=True, device={}):
        x[i] = squared(x[i]) * M_PI * SCALE + ROUNDS


# --- directives

@cython.overflowcheck(True)
def overflows(int[:] a, int[:] b, int operation):
    cdef int i
    for i in prange(a.shape[0], nogil=True, device={}):
        if operation == 0:
            a[i] = a[i] + b[i]
        elif operation == 1:
            a[i] = a[i] - b[i]
        elif operation == 2:
            a[i] = a[i] * b[i]
        else:
            a[i] = a[i] << b[i]


@cython.overflowcheck(True)
def overflows_of_64_bits(long[:] a, long[:] b, unsigned long[:] u):
    cdef int i
    for i in prange(a.shape[0], nogil=True, device={}):
        a[i] = a[i] * b[i]
        u[i] = u[i] * 3 - 1


@cython.cdivision(False)
def divided(long[:] a, long[:] b):
    cdef int i
    for i in prange(a.shape[0], nogil=True, device={}):
        a[i] = a[i] // b[i]


@cython.cdivision(False)
def divided_floats(double[:] a, double[:] b):
    cdef int i
    for i in prange(a.shape[0], nogil=True, device={}):
        a[i] = a[i] / b[i] + a[i] % b[i]


@cython.cdivision(True)
def divided_as_in_c(double[:] a, double[:] b):
    cdef int i
    for i in prange(a.shape[0], nogil=True, device={}):
        a[i] = a[i] / b[i] + a[i] % b[i]


def uninitialized(bint given):
    cdef double[:] x
    cdef int i
    if given:
        x = np.zeros(3)
    for i in prange(3, nogil=True, device={}):
        x[i] = i
    return np.asarray(x).tolist()


# --- leaving loops

cdef long first_above(double[:] x, double limit) noexcept nogil:
    cdef Py_ssize_t i
    for i in prange(x.shape[0], device={}):
        if x[i] > limit:
            return i
    return -1


def returned(double[:] x, double limit):
    return first_above(x, limit)


cdef double found_in_rows(double[:, :] x, double limit) except? -5:
    cdef Py_ssize_t i, j
    cdef double sum = 0
    for i in prange(x.shape[0], nogil=True, device={}):
        for j in range(x.shape[1]):
            if x[i, j] > limit:
                return x[i, j]
        sum += x[i, 0]
    else:
        return -10
    return sum


def returned_from_rows(double[:, :] x, double limit):
    return found_in_rows(x, limit)


cdef void stopped(double[:] x, double limit, double[:] after) noexcept:
    cdef int i
    with nogil, parallel(device={}):
        for i in prange(x.shape[0]):
            if x[i] > limit:
                return
    after[0] = 1


def returned_nothing(double[:] x, double limit, double[:] after):
    stopped(x, limit, after)


def broken(double[:] x, double limit):
    """Only one iteration leaves the loop, so that what it has is definite."""
    cdef int i = -1
    cdef double seen = -1, other = 0
    for i in prange(x.shape[0], nogil=True, device={}):
        seen = x[i] * 2
        if x[i] == limit:
            break
    else:
        other = 1
    return i, seen, other


def nested_break():
    cdef int i, j, one = 0, two = 0
    for i in prange(10, nogil=True, device={}):
        for j in prange(10):
            if i == 6 and j == 7:
                one = i
                two = j
                break
        else:
            continue
        break
    return i, j, one, two


def descending(int n, int step):
    cdef int i = 77, last = -1
    cdef long sum = 0
    for i in prange(n, -n, step, nogil=True, device={}, schedule='guided', num_threads=2):
        sum += i
        last = i * i
    return i, last, sum


def descending_broken(int n, int step, int at):
    cdef int i = 77
    for i in prange(n, -n, step, nogil=True, device={}, schedule='dynamic', chunksize=3):
        if i == at:
            break
    return i


def propagated():
    cdef int i = 0, j = 0, x = 0, y = 0
    cdef int sum1 = 0, sum2 = 0
    for i in prange(10, nogil=True, device={}):
        for j in prange(10):
            sum1 += i
    with nogil, parallel(device={}):
        for x in prange(10):
            for y in prange(10):
                sum2 += y
    return i, j, x, y, sum1, sum2


def first_values(double[:] x, double[:] out):
    """A variable that an iteration may read before it assigns it has the value from before the loop, where no thread has changed it."""
    cdef double t = 7
    cdef int i
    for i in prange(x.shape[0], nogil=True, device={}):
        if x[i] > 1000:
            t = 3
        out[i] = t + x[i]


def collatz(long[:] steps):
    cdef long i, x, n
    for i in prange(steps.shape[0], nogil=True, device={}):
        x = i + 1
        n = 0
        while True:
            if x == 1:
                break
            n = n + 1
            if x % 2 == 0:
                x = x // 2
                continue
            x = 3 * x + 1
        steps[i] = n


# --- types

def fused(one[:] x, two[:] k, one by):
    cdef Py_ssize_t i
    for i in prange(x.shape[0], nogil=True, device={}):
        x[i] = x[i] * by + k[i]


def narrow(uint8_t[:] a, int64_t[:] b, bint up, real[:] c):
    cdef Py_ssize_t i
    cdef unsigned short s
    for i in prange(a.shape[0], nogil=True, device={}):
        s = <unsigned short>(a[i] * 300 * a[i])
        b[i] = s + (1 if up else -1)
        a[i] = <uint8_t>(a[i] + 200)
        c[i] = not a[i]


def parts(double complex[:] z, double[:] out):
    cdef int i
    cdef double complex w, sum = 1, last = 0
    cdef bint up = True
    for i in prange(z.shape[0], nogil=True, device={}):
        w = z[i].conjugate() * 2j
        w.imag = z[i].real
        out[i] = abs(z[i]) + w.real
        if w != z[i]:
            z[i] = w
        sum += w
        last = z[i]
        up = i == 1
    return sum, last, up


def rounded(double[:] x, long[:] k, float[:] f):
    cdef int i
    for i in prange(x.shape[0], nogil=True, device={}):
        k[i] = lround(x[i]) * 100 + lrint(x[i]) + (1000 if signbit(x[i]) else 0)
        f[i] = roundf(f[i])
        x[i] = round(x[i]) + fdim(x[i], 1) + nearbyint(x[i])


def rooted(double[:] x, double exponent):
    """The root of a real number is complex for Cython, and has to be real."""
    cdef int i
    for i in prange(x.shape[0], nogil=True, device={}):
        x[i] = x[i] ** 0.5 + x[i] ** exponent


def of_numpy(cnp.ndarray[double, ndim=2] x, cnp.ndarray[double] out):
    cdef int i, k
    for i in prange(x.shape[0], nogil=True, device={}):
        for k in range(x.shape[1]):
            out[i] += x[i, k]


# --- memory of C

def arrays_of_c(double[:] out):
    cdef double w[2][3]
    cdef int counts[4]
    cdef Py_ssize_t i, j
    for i in range(2):
        for j in range(3):
            w[i][j] = 10 * i + j
    for i in range(4):
        counts[i] = 0
    for i in prange(out.shape[0], nogil=True, device={}):
        out[i] = w[i % 2][i % 3]
        if i < 4:
            counts[i] = i * i
    return [counts[i] for i in range(4)]


cdef double first_of(const double *p, double by=2, int plus=3) noexcept nogil:
    return p[0] * by + plus


def moved_pointers(double[::1] x, double[::1] out):
    """Arithmetic on pointers, arguments that are left out."""
    cdef double *p = &x[0]
    cdef Py_ssize_t i, n = x.shape[0]
    for i in prange(n - 2, nogil=True, device={p[0:n]: 'to'}):
        out[i] = (p + 1)[i] + (1 + p + i)[1] + first_of(p + i) + first_of(&x[i], 5) + cython.operator.dereference(p + 2) * sizeof(double)


cdef double weighted(double *p, Py_ssize_t n, double[3] weights) noexcept nogil:
    cdef double sum = 0
    cdef Py_ssize_t k
    for k in range(n):
        sum += p[k] * weights[k]
    return sum


cdef double through_a_matrix(double a, double b) noexcept nogil:
    cdef double m[2][2]
    cdef int i, j
    cdef double sum = 0
    for i in range(2):
        for j in range(2):
            m[i][j] = a * i + b * j
    for i in range(2):
        sum += m[i][1 - i]
    return sum


def pointers(double[:, ::1] x, double[::1] out):
    cdef double *p = &x[0, 0]
    cdef double w[3]
    cdef Py_ssize_t i, n = x.shape[0]
    w[0], w[1], w[2] = 1, 2, 3
    for i in prange(n, nogil=True, device={p[0:3 * n]: 'to'}):
        out[i] = p[3 * i] + weighted(&x[i, 0], 3, w) + through_a_matrix(i, 2)


# --- memoryviews

cdef void grown(double[:, :] x, Py_ssize_t i) noexcept nogil:
    cdef double[:] row = x[i, 1:]
    cdef Py_ssize_t k
    for k in range(row.shape[0]):
        row[k] = row[k] + len(row)


def views(double[:, :] x, double[:, :] y):
    """Rows under names, parts that are filled and copied."""
    cdef Py_ssize_t i
    for i in prange(x.shape[0], nogil=True, device={}):
        grown(x, i)
        y[i, :2] = i
        y[i, 2:] = x[i, 2:]


def swapped(double[:] x, long[:] k):
    cdef Py_ssize_t i, n = x.shape[0]
    cdef long a, b
    for i in prange(n // 2, nogil=True, device={}):
        x[i], x[n - 1 - i] = x[n - 1 - i], x[i]
        a, b = k[i], i
        a, b = b, a
        a = k[i] = a - b


def masked(long[:] x):
    cdef long bits = -1, some = 0, odd = 5
    cdef int i
    for i in prange(x.shape[0], nogil=True, device={}):
        bits &= x[i]
        some |= x[i]
        odd ^= x[i]
    return bits, some, odd


def closures(int n):
    cdef int x = 0, y = 0

    def inner():
        nonlocal x, y
        cdef int i
        for i in prange(n, nogil=True, device={}):
            x += i
            y = i
        return x

    return inner(), x, y
