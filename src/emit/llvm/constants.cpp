// src/emit/llvm/constants.cpp: constants of long formulas stay in memory, so that registers are free for two vectors at a time.
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <vector>

#include "emit/llvm/module.h"

namespace pardo::emit {
namespace {

/// With more constants than this in one block, most of them have no register.
constexpr std::size_t many = 10;

/// A vector of one number, not zero, that fills a register.
bool is_repeated(const llvm::Value* v) {
    const auto* constant = llvm::dyn_cast<llvm::ConstantDataVector>(v);
    return constant && constant->isSplat() && constant->getElementType()->isFloatingPointTy() && !constant->isNullValue() &&
           constant->getType()->getPrimitiveSizeInBits() >= 256;
}

bool computes(const llvm::Instruction& in) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&in);
    return call ? call->getIntrinsicID() == llvm::Intrinsic::fma : llvm::isa<llvm::BinaryOperator>(in);
}

/// A number's places in memory: one for each use in a block, since LLVM loads what is used twice into a register.
using Places = llvm::SmallVector<llvm::GlobalVariable*, 2>;
constexpr int most_places = 8;

/// Replaces a block's repeated numbers by loads of whole vectors, which are operands of arithmetic and no instructions of their own.
void load_constants(llvm::BasicBlock& block, llvm::DenseMap<llvm::Constant*, Places>& memory) {
    std::vector<llvm::Use*> uses;
    llvm::DenseMap<llvm::Constant*, int> found;
    for (llvm::Instruction& in : block) {
        if (!computes(in)) continue;
        for (llvm::Use& use : in.operands())
            if (is_repeated(use.get())) {
                uses.push_back(&use);
                ++found[llvm::cast<llvm::Constant>(use.get())];
            }
    }
    if (found.size() <= many) return;
    for (auto& each : found) each.second = 0;
    for (llvm::Use* use : uses) {
        auto* constant = llvm::cast<llvm::Constant>(use->get());
        Places& places = memory[constant];
        const auto use_number = static_cast<unsigned>(found[constant]++ % most_places);
        if (use_number == places.size()) places.push_back(nullptr);
        llvm::GlobalVariable*& kept = places[use_number];
        if (!kept) {  // not said to be constant: LLVM would put the numbers back
            kept = new llvm::GlobalVariable(*block.getModule(), constant->getType(), false, llvm::GlobalValue::PrivateLinkage, constant);
            kept->setAlignment(llvm::Align(constant->getType()->getPrimitiveSizeInBits() / 8));
        }
        llvm::IRBuilder<> in_front(llvm::cast<llvm::Instruction>(use->getUser()));
        llvm::LoadInst* loaded = in_front.CreateAlignedLoad(constant->getType(), kept, *kept->getAlign());
        loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(block.getContext(), {}));
        use->set(loaded);
    }
}

}  // namespace

void load_constants(llvm::Module& module, const LlvmTarget& target) {
    if (target.vector_bytes < 32) return;  // without AVX operands in memory must be aligned loads, which gain nothing
    llvm::DenseMap<llvm::Constant*, Places> memory;
    for (llvm::Function& function : module)
        for (llvm::BasicBlock& block : function) load_constants(block, memory);
}

}  // namespace pardo::emit
