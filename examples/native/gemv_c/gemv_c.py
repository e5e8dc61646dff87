# gemv_c.py: gemv for Python, by ctypes.
import ctypes
import pathlib
from ctypes import byref, c_char_p, c_int, c_size_t, c_void_p, py_object

import pardo
import scipy_openblas32

_QUEUE, _EVENT, _ARRAY = 2, 3, 4  # PARDO_IS_…
_path = str(next(pathlib.Path(__file__).parent.glob("_gemv_c*.so")))
_free, _with_gil = ctypes.CDLL(_path), ctypes.PyDLL(_path)  # those of _free let the GIL go meanwhile
_blas = ctypes.CDLL(f"{scipy_openblas32.get_lib_dir()}/libscipy_openblas.so")
_get = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
c_void_p.in_dll(_free, "P").value = _get(pardo._C_API, b"pardo._C_API")
c_void_p.in_dll(_free, "cblas_dgemv").value = ctypes.cast(_blas.scipy_cblas_dgemv, c_void_p).value
_with_gil.handle_from.argtypes = [py_object, c_int, c_void_p]
_with_gil.object_from.argtypes, _with_gil.object_from.restype = [c_void_p, c_int], py_object
_with_gil.error_text.restype = c_char_p
_free.gemv.argtypes, _free.gemv.restype = [*[c_void_p] * 5, c_size_t, c_void_p], c_void_p


def gemv(queue, a, x, y, after=()):
    """Hand y = a @ x over; gives the event."""
    objects = [(queue, _QUEUE), (a, _ARRAY), (x, _ARRAY), (y, _ARRAY), *[(e, _EVENT) for e in after], (None, _EVENT)]
    handles, status = (c_void_p * len(objects))(), c_int()
    try:
        for k, (o, kind) in enumerate(objects):
            if _with_gil.handle_from(o, kind, byref(handles, k * ctypes.sizeof(c_void_p))):
                raise TypeError(_with_gil.error_text().decode())
        events = byref(handles, 4 * ctypes.sizeof(c_void_p))
        handles[-1] = _free.gemv(*handles[:4], events, len(after), byref(status))  # the place of None
        if status.value:
            raise (TypeError if status.value == 2 else ValueError)(_with_gil.error_text().decode())
        return _with_gil.object_from(handles[-1], _EVENT)
    finally:
        for handle in handles:
            _free.release(c_void_p(handle))
