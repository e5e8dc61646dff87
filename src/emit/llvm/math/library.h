// src/emit/llvm/math/library.h: calls of functions of one lane or of some, for vectors of any width.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/ir.h"

namespace pardo::emit {

/// What LLVM has as one instruction, rounding of float16 aside; null for other functions.
llvm::Value* instruction(Codegen& g, ir::Math fn, llvm::ArrayRef<llvm::Value*> args);
/// Calls a function of the library that changes nothing.
llvm::Value* external(Codegen& g, const std::string& name, llvm::Type* type, llvm::ArrayRef<llvm::Value*> args);
/// Calls f for each lane and joins the results.
llvm::Value* by_lane(Codegen& g, llvm::Type* result, llvm::ArrayRef<llvm::Value*> operands,
                     llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> f);
/// A function of `chunk` lanes for vectors of any width: short ones repeat their last lane, long ones are taken in parts.
llvm::Value* in_chunks(Codegen& g, int chunk, llvm::ArrayRef<llvm::Value*> args,
                       llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> function);
/// Calls SLEEF: the narrowest variant that holds all lanes, else the widest several times.
llvm::Value* library(Codegen& g, ir::Math fn, llvm::ArrayRef<llvm::Value*> args);
/// `result` where no lane is `rare`; else those lanes take what `repair` computes, behind a branch that is all but never taken.
llvm::Value* unless(Codegen& g, llvm::Value* rare, llvm::Value* result, llvm::function_ref<llvm::Value*()> repair);

}  // namespace pardo::emit
