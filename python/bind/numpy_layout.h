// python/bind/numpy_layout.h: where NumPy's arrays lie, read as C code that is compiled with NumPy's headers reads it.
#pragma once

#include <cstdint>

#include "bind.h"

namespace bind {

/// An array of NumPy's; what it points to is the array's.
struct NumPyLayout {
    PyObject* dtype = nullptr;
    void* data = nullptr;
    std::size_t rank = 0;
    const std::int64_t *shape = nullptr, *strides = nullptr;  // in bytes
    bool writeable = false;
};

/// Reads numpy.ndarray itself; false for all else, for elements at odd addresses, and where a version of NumPy keeps arrays in another way.
bool numpy_layout(PyObject* o, NumPyLayout& out);

}  // namespace bind
