# distutils: language = c++
# bench/native/calls_cython.pyx: what bench/native.py calls: functions that do nothing with three arrays and a queue.
from pardo.native cimport PARDO_C_CONTIGUOUS, PARDO_FLOAT64, array, from_python, queue


def pardo(q_, a_, b_, c_):
    cdef queue q = from_python[queue](q_)
    cdef array a = from_python[array](a_)
    cdef array b = from_python[array](b_)
    cdef array c = from_python[array](c_)
    a.require("pardo: a", PARDO_FLOAT64, 1, PARDO_C_CONTIGUOUS)
    b.require("pardo: b", PARDO_FLOAT64, 1, PARDO_C_CONTIGUOUS)
    c.require("pardo: c", PARDO_FLOAT64, 1, PARDO_C_CONTIGUOUS)
    return a.info().count + b.info().count + c.info().count


def numpy(q, double[::1] a, double[::1] b, double[::1] c):
    return a.shape[0] + b.shape[0] + c.shape[0]
