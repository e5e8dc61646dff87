# distutils: language = c++
# tests/native/cython_checks.pyx: pardo/native.pxd as tests/python/test_native_bindings.py uses it.
from libc.stdint cimport int64_t
from libcpp.vector cimport vector
from pardo.native cimport (PARDO_ANY, PARDO_C_CONTIGUOUS, PARDO_FLOAT64, array, discard, event, from_python, launch, options, parallel_for,
                           pardo_range, pardo_use, queue, read, submit, to_python, update, with_value, work)


cdef int scale_work(const work& w) noexcept nogil:
    cdef const double* a = w.data[double](0)
    cdef double* x = w.data[double](1)
    for i in range(w.extent(1, 0)):
        x[i] *= a[0]
    return 0


def scale(q_, a_, x_, after_=None):
    cdef queue q = from_python[queue](q_)
    cdef array a = from_python[array](a_)
    cdef array x = from_python[array](x_)
    a.require("scale: a", PARDO_FLOAT64, 2, PARDO_C_CONTIGUOUS)
    x.require("scale: x", PARDO_ANY, 1, 0)
    cdef pardo_use[2] uses = [read(a), update(x)]
    cdef options o
    o.name = "scale"
    o.after.push_back(from_python[event](after_))
    return to_python[event](submit(q, uses, 2, scale_work, o))


def times(q_, x_, int n):
    """x *= n by a kernel of OpenCL."""
    cdef queue q = from_python[queue](q_)
    cdef array x = from_python[array](x_)
    cdef pardo_range over
    cdef vector[event] after
    over.size = sizeof(pardo_range)
    over.ndim = 1
    over.global_items[0] = x.info().count
    over.local[0] = 0
    return to_python[event](launch(q, "kernel void times(global float* x, int n) { x[get_global_id(0)] *= n; }", "times", over, after, x, n))


cdef int refuse(const work& w) noexcept nogil:
    return 4


def fail(q_):
    cdef queue q = from_python[queue](q_)
    return to_python[event](submit(q, NULL, 0, refuse))


cdef struct Stencil:
    const double* x
    double* y
    double weight


cdef void some(int64_t begin, int64_t end, void* user) noexcept nogil:
    cdef Stencil* s = <Stencil*> user
    cdef int64_t i
    for i in range(begin, end):
        s.y[i + 1] = s.weight * (s.x[i] + s.x[i + 1] + s.x[i + 2])


cdef int stencil_work(const work& w, const Stencil& given) noexcept nogil:
    cdef Stencil s = given
    s.x, s.y = w.data[double](0), w.data[double](1)
    parallel_for(w.get().queue, w.extent(0, 0) - 2, 100, some, &s)
    return 0


def stencil(q_, x_, y_, double weight):
    cdef queue q = from_python[queue](q_)
    cdef array x = from_python[array](x_)
    cdef array y = from_python[array](y_)
    cdef pardo_use[2] uses = [read(x), discard(y)]
    cdef Stencil s = Stencil(NULL, NULL, weight)
    return to_python[event](submit(q, uses, 2, with_value(stencil_work, s)))
