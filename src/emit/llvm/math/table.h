// src/emit/llvm/math/table.h: the names of library functions for each lane count; no LLVM here.
// This folder: arithmetic, conversions and mathematical functions, on scalars and vectors alike.
#pragma once

#include <string>

#include "emit/llvm/module.h"
#include "ir/ir.h"

namespace pardo::emit {

/// SLEEF's name for `lanes` floats or doubles at once on this target; empty if there is none.
std::string vector_math_name(ir::Math fn, bool is_double, int lanes, const LlvmTarget& target);
/// The function for one value.
std::string scalar_math_name(ir::Math fn, bool is_double, const LlvmTarget& target);

/// The address behind a name of math_symbols(), or null.
void* math_address(const char* name);

}  // namespace pardo::emit
