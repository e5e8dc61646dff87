# distutils: language = c++
# gemv_cython.pyx: gemv for Python, by Cython.
import scipy_openblas32
from libcpp.string cimport string
from libcpp.vector cimport vector
from pardo.native cimport queue as Queue
from pardo.native cimport PARDO_C_CONTIGUOUS, PARDO_FLOAT64, array, event, from_python, set_python_error, to_python

cdef extern from "gemv.hpp":
    string openblas
    event c_gemv "gemv"(const Queue& q, const array& a, const array& x, const array& y, const vector[event]& after) except +set_python_error

openblas = (scipy_openblas32.get_lib_dir() + "/libscipy_openblas.so").encode()


def gemv(queue, a, x, y, after=()):
    cdef array A = from_python[array](a), X = from_python[array](x), Y = from_python[array](y)
    A.require("gemv: a", PARDO_FLOAT64, 2, PARDO_C_CONTIGUOUS)
    X.require("gemv: x", PARDO_FLOAT64, 1, PARDO_C_CONTIGUOUS)
    Y.require("gemv: y", PARDO_FLOAT64, 1, PARDO_C_CONTIGUOUS)
    cdef vector[event] events
    for e in after:
        events.push_back(from_python[event](e))
    return to_python[event](c_gemv(from_python[Queue](queue), A, X, Y, events))
