// src/emit/llvm/math/lookup.h: values of tables.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/ir.h"

namespace pardo::emit {

/// Lookup: an index and a power of two values.
llvm::Value* lookup(Codegen& g, llvm::ArrayRef<llvm::Value*> v);
/// How many lanes look up values at once where these are so many constants; 0: one by one.
int lookup_lanes(const LlvmTarget& target, DType t, int values);

}  // namespace pardo::emit
