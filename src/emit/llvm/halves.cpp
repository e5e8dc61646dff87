// src/emit/llvm/halves.cpp: comparisons and roundings of halves, which LLVM makes of those of floats, are made of floats again.
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "emit/llvm/module.h"

namespace pardo::emit {
namespace {

bool is_half(const llvm::Value* v) { return v->getType()->getScalarType()->isHalfTy(); }

llvm::Value* as_floats(llvm::IRBuilder<>& b, llvm::Value* half) {
    return b.CreateFPExt(half, half->getType()->getWithNewType(b.getFloatTy()));
}

bool rounds(const llvm::IntrinsicInst& call) {
    switch (call.getIntrinsicID()) {
        case llvm::Intrinsic::floor:
        case llvm::Intrinsic::ceil:
        case llvm::Intrinsic::trunc:
        case llvm::Intrinsic::rint:
        case llvm::Intrinsic::nearbyint:
        case llvm::Intrinsic::roundeven: return true;
        default: return false;
    }
}

}  // namespace

void widen_halves(llvm::Module& module) {
    for (llvm::Function& function : module) {
        for (llvm::BasicBlock& block : function) {
            for (llvm::Instruction& in : llvm::make_early_inc_range(block)) {
                llvm::IRBuilder<> b(&in);
                if (auto* test = llvm::dyn_cast<llvm::FCmpInst>(&in); test && is_half(test->getOperand(0))) {
                    for (llvm::Use& operand : test->operands()) operand.set(as_floats(b, operand.get()));
                } else if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&in); call && is_half(call) && rounds(*call)) {
                    llvm::Value* rounded = b.CreateUnaryIntrinsic(call->getIntrinsicID(), as_floats(b, call->getArgOperand(0)), call);
                    call->replaceAllUsesWith(b.CreateFPTrunc(rounded, call->getType()));
                    call->eraseFromParent();
                }
            }
        }
    }
}

}  // namespace pardo::emit
