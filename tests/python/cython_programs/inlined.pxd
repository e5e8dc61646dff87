# tests/python/cython_programs/inlined.pxd: functions with bodies that constructs.pyx cimports.
cimport cython

cdef struct Point:
    double x
    double y
    int tag

@cython.device
cdef inline double squared(double v) noexcept nogil:
    cdef double made = v
    made *= v
    return made

cdef inline Point mirrored(Point p, double about) noexcept nogil:
    p.x = 2 * about - p.x
    p.tag += 1
    return p
