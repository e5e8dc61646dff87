// tests/unit/api/values.h: what tests of the public headers compare: dtype, shape and values in one text.
#pragma once

#include <sstream>
#include <string>

#include <pardo/array.h>

namespace pardo {

/// "float64 (3,) [1. 2. 3.]".
inline std::string shown(const Array& x) {
    std::ostringstream text;
    text << dtype_name(x.dtype()) << " (";
    for (const std::int64_t extent : x.shape()) text << extent << ',';
    text << ") " << x;
    return text.str();
}

}  // namespace pardo
