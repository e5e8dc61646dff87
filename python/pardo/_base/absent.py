# python/pardo/_base/absent.py: names of NumPy's that are not here, and what takes their place: for whoever asks, and for the documents.
from __future__ import annotations

_ABSENT = {
    "asmatrix bmat matrix": "there are no matrices apart from arrays: use arrays of two dimensions and the operator @",
    "busday_count busday_offset busdaycalendar datetime64 datetime_as_string datetime_data is_busday isnat timedelta64": (
        "there are no dates: keep them in NumPy, and compute with x.view('int64')"
    ),
    "ma": "there are no masked arrays: use where= of functions, pardo.where, or NaN and the functions that leave it out, as pardo.nanmean",
    "rec recarray record void flexible": "use structured arrays: pardo.zeros(3, dtype=[('a', 'f8'), ('b', 'i4')]), and x['a'] for a field",
    "object_ str_ bytes_ char character strings": "arrays hold numbers and bools: keep text and objects in NumPy or lists",
    "longdouble clongdouble complex256 float128": "float64 and complex128 are the widest: use these, or NumPy",
    "memmap": "use pardo.load and pardo.fromfile, or pardo.asarray of a numpy.memmap",
    "frompyfunc": "arrays have no Python objects for elements: use pardo.vectorize, which compiles the function",
    "nditer nested_iters": (
        "elements are not visited one by one: use operations on whole arrays, pardo.jit for loops, or pardo.ndenumerate for few elements"
    ),
    "poly1d": "use pardo.polynomial.Polynomial, pardo.polyval and its relatives, or numpy.poly1d with arrays that pardo.asnumpy gives",
    "info": "use help(x)",
    "test": "`python -m pardo` tests each device",
    "show_runtime": "use pardo.show_config()",
    "getbufsize setbufsize": "nothing is buffered",
    "get_include ctypeslib f2py": "use the package for C++, which `pardo.h` is the entry of, or DLPack",
    "True_ False_": "use True and False",
    "ScalarType sctypeDict typecodes little_endian dtypes exceptions typing": "use numpy.{name}: it has nothing to do with devices",
    "emath": "use arrays of complex numbers: pardo.sqrt(x.astype('complex128'))",
    "testing": "use numpy.testing with arrays that pardo.asnumpy gives",
    "core": "use numpy.{name}, if at all: these are the inside of NumPy",
}
REASONS = {name: reason.replace("{name}", name) for names, reason in _ABSENT.items() for name in names.split()}


def reason(name: str) -> str:
    """What to do in place of asking for a name that is not here; empty for a name that is not NumPy's either."""
    return REASONS.get(name, "")
