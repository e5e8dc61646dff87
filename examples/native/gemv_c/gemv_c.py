# gemv_c.py: gemv for Python, by ctypes.
import ctypes
import pathlib
from ctypes import c_char_p, c_size_t, c_void_p, py_object

import pardo
import scipy_openblas32

_library = ctypes.PyDLL(str(next(pathlib.Path(__file__).parent.glob("_gemv_c*.so"))))
_blas = ctypes.CDLL(f"{scipy_openblas32.get_lib_dir()}/libscipy_openblas.so")
_address = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
c_void_p.in_dll(_library, "P").value = _address(pardo._C_API, b"pardo._C_API")
c_void_p.in_dll(_library, "cblas_dgemv").value = ctypes.cast(_blas.scipy_cblas_dgemv, c_void_p).value
_library.gemv_of.restype = py_object


def gemv(queue, a, x, y, after=()):
    """Hand y = a @ x over; gives the event."""
    objects = (queue, a, x, y, *after)
    return _library.gemv_of((py_object * len(objects))(*objects), c_size_t(len(objects)))
