// src/lang/typing/rules.h: what the types of a function depend on besides its syntax, and where it says what is wrong.
// This folder: types of expressions, by functions of what is known of them: nothing in here builds IR.
#pragma once

#include "lang/problem.h"
#include "lang/typed_expr.h"

namespace pardo::lang {

/// For one function on one device.
struct Rules {
    const Source& source;
    bool fp64 = true;        // the device has it: Python's floats are float64
    bool exact = false;      // Python's integers do not wrap: of serial loops
    bool truncates = false;  // arrays of integers take floats, without their fractions

    /// In which a number of this type is computed.
    DType dtype(NumberType type) const { return type.weak ? weak_dtype(type.dtype, fp64) : type.dtype; }
};

}  // namespace pardo::lang
