// src/base/short_name.h: dtypes as names of functions and types have them.
#pragma once

#include <string>

#include <pardo/dtype.h>

namespace pardo {

/// "i32", "f64", "bf16", "c128", "bool".
inline std::string short_name(DType dtype) {
    if (dtype == DType::Bool) return "bool";
    if (dtype == DType::BFloat16) return "bf16";
    constexpr char letters[] = {'b', 'i', 'u', 'f', 'c'};  // by DKind
    return letters[static_cast<int>(kind_of(dtype))] + std::to_string(8 * itemsize(dtype));
}

}  // namespace pardo
