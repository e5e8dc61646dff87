// src/emit/llvm/codegen.h: what every module of this folder needs to make an instruction, and the small pieces that all of them use.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <pardo/dtype.h>

#include <memory>
#include <string>

#include "emit/llvm/module.h"

namespace pardo::emit {

using LlvmValues = llvm::SmallVector<llvm::Value*, 8>;

/// The module that is made, where in it instructions go, and the machine that it is for.
struct Codegen {
    Codegen(llvm::LLVMContext& context, const std::string& name, const LlvmTarget& target, int fast_math);
    /// The function that instructions go to now.
    llvm::Function* function() const { return b.GetInsertBlock()->getParent(); }

    std::unique_ptr<llvm::Module> module;
    llvm::IRBuilder<> b;
    const LlvmTarget& target;
    int fast_math;  // ir::Kernel::fast_math
    int loops = 0;  // made so far
};

/// A dtype's elements in registers: those of Bool are i1, of a narrow float what it is computed in.
llvm::Type* element(Codegen& g, DType t);
/// And in memory: those of Bool are i8.
llvm::Type* memory_element(Codegen& g, DType t);
/// Of one element in memory.
llvm::Align alignment(DType t);
/// A vector of so many elements; of one, the element's type.
llvm::Type* widened(llvm::Type* t, int lanes);
/// Elements of a vector, 1 of a scalar.
int width(llvm::Value* v);
/// A scalar in all lanes.
llvm::Value* splat(Codegen& g, llvm::Value* scalar, int lanes);
/// <0, 1, 2, …> int64
llvm::Value* iota(Codegen& g, int lanes);
/// A Const of a kernel.
llvm::Value* constant(Codegen& g, DType t, const Scalar& s);
/// A constant.
llvm::Value* i64(Codegen& g, std::int64_t v);
/// A float constant of the type of `like`.
llvm::Value* real(llvm::Value* like, double value);
/// An integer constant of the type of `like`.
llvm::Value* integer(llvm::Value* like, std::int64_t value);
/// Whether a mask has an active lane.
llvm::Value* any(Codegen& g, llvm::Value* mask);
/// A new block of the function that instructions go to.
llvm::BasicBlock* block(Codegen& g, const char* name);
/// To `yes` if a mask has an active lane.
void branch_if_any(Codegen& g, llvm::Value* mask, llvm::BasicBlock* yes, llvm::BasicBlock* no);
/// The attributes of a function that runs on the target.
void set_attributes(llvm::Function* function, const LlvmTarget& target);

}  // namespace pardo::emit
