// src/emit/c/family.h: Kernel -> text of a C-family language.
// This folder: texts in OpenCL C and CUDA C++, from one emitter.
#pragma once

#include <string>

#include "emit/c/geometry.h"
#include "emit/c/target.h"
#include "ir/ir.h"

namespace pardo::emit {

/// A program's text, and how its kernel is called.
struct CText {
    std::string text;
    std::string entry;              // the kernel's name in the text
    std::string params;             // as device::SourceKernel's: those of the IR kernel, one extent ('l') a dimension, and maybe `reversed`
    bool reversible = false;        // takes `reversed`, an int ('i'): non-zero has the groups come in reverse order
    CGroups groups;                 // of a kernel in groups
    bool fast_math = false;         // the compiler may reorder, contract and approximate
    std::int64_t shared_bytes = 0;  // of a group's arrays that the launch must ask for
};

/// What emit_c takes: no complex values, and only functions that the device has or that are no better in IR.
ir::Kernel lowered_for_c(const ir::Kernel& kernel, const CFeatures& features);

/// `kernel`: from lowered_for_c. Throws Compile for dtypes that the device lacks.
CText emit_c(const ir::Kernel& kernel, const CFeatures& features, const CGeometry& geometry);

}  // namespace pardo::emit
