// python/bind/text.cpp: texts of Python to the library's and back. Neither way can fail: what is no UTF-8 is shown by its code.
#include "bind.h"

namespace bind {

std::string text_from(nb::handle o) {
    Py_ssize_t size = 0;
    if (const char* const utf8 = PyUnicode_AsUTF8AndSize(o.ptr(), &size)) return {utf8, static_cast<std::size_t>(size)};
    // Surrogates on their own: Python's stand for the bytes of a file's name, which "surrogateescape" gives back; others are shown.
    nb::object bytes;
    for (const char* const errors : {"surrogateescape", "backslashreplace"}) {
        PyErr_Clear();
        bytes = nb::steal(PyUnicode_AsEncodedString(o.ptr(), "utf-8", errors));
        if (bytes.is_valid()) break;
    }
    if (!bytes.is_valid()) throw nb::python_error();
    const auto& encoded = static_cast<const nb::bytes&>(bytes);
    return {encoded.c_str(), encoded.size()};
}

nb::str text_to_python(std::string_view text) {
    PyObject* const o = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace");
    if (!o) throw nb::python_error();
    return nb::steal<nb::str>(o);
}

std::string str_of(nb::handle o) { return text_from(nb::str(o)); }

}  // namespace bind
