// src/emit/llvm/masks.cpp: masks that live from one block to another, on processors without registers for masks.
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <vector>

#include "emit/analysis/lanes.h"
#include "emit/llvm/module.h"

namespace pardo::emit {
namespace {

/// LLVM keeps <8 x i1> between blocks as <8 x i16>, and converts it wherever it meets vectors of another width. Here it is as wide as the
/// registers that it is used with.
class WideMasks {
public:
    WideMasks(llvm::Function& function, int vector_bytes) : function_(function), vector_bytes_(vector_bytes) {}

    void run() {
        std::vector<llvm::Instruction*> crossing;
        for (llvm::BasicBlock& block : function_)
            for (llvm::Instruction& in : block)
                if (is_mask(in.getType()) && crosses(in)) crossing.push_back(&in);
        // Phis first: the wide forms of other masks are asked for as their incoming values.
        for (llvm::Instruction* in : crossing)
            if (auto* phi = llvm::dyn_cast<llvm::PHINode>(in)) {
                llvm::IRBuilder<> at(phi);
                wide_[phi] = at.CreatePHI(wide_type(phi->getType()), phi->getNumIncomingValues());
            }
        for (llvm::Instruction* in : crossing) {
            auto* phi = llvm::dyn_cast<llvm::PHINode>(in);
            if (!phi) continue;
            for (unsigned k = 0; k < phi->getNumIncomingValues(); ++k)
                llvm::cast<llvm::PHINode>(wide_[phi])->addIncoming(wide(phi->getIncomingValue(k)), phi->getIncomingBlock(k));
        }
        for (llvm::Instruction* in : crossing) replace_uses(*in);
        for (llvm::Instruction* in : crossing)
            if (llvm::isa<llvm::PHINode>(in)) {
                in->replaceAllUsesWith(llvm::PoisonValue::get(in->getType()));  // by other phis, on their way out
                in->eraseFromParent();
            }
    }

private:
    static bool is_mask(llvm::Type* type) {
        auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
        return vector && vector->getElementType()->isIntegerTy(1) && vector->getNumElements() > 1;
    }
    static bool crosses(const llvm::Instruction& in) {
        if (llvm::isa<llvm::PHINode>(in)) return true;
        return std::any_of(in.user_begin(), in.user_end(), [&](const llvm::User* user) {
            const auto* other = llvm::cast<llvm::Instruction>(user);
            return other->getParent() != in.getParent() || llvm::isa<llvm::PHINode>(other);
        });
    }

    llvm::Type* wide_type(llvm::Type* mask) const {
        auto* vector = llvm::cast<llvm::FixedVectorType>(mask);
        const unsigned lanes = vector->getNumElements();
        const unsigned bits = lane_bits(vector_bytes_, static_cast<int>(lanes));
        return llvm::FixedVectorType::get(llvm::IntegerType::get(mask->getContext(), bits), lanes);
    }

    /// The mask as integers of all ones or all zeros, made where the mask is.
    llvm::Value* wide(llvm::Value* mask) {
        auto* made = llvm::dyn_cast<llvm::Instruction>(mask);
        if (!made) {
            llvm::IRBuilder<> anywhere(mask->getContext());
            return anywhere.CreateSExt(mask, wide_type(mask->getType()));  // of a constant: a constant
        }
        if (llvm::Value* kept = wide_.lookup(made)) return kept;
        return wide_[made] = extended(*made);
    }

    /// Joined masks are joined as they are kept; a comparison has one bit pattern an element of what it compares.
    llvm::Value* extended(llvm::Instruction& mask) {
        llvm::IRBuilder<> behind(mask.getParent(), std::next(mask.getIterator()));
        if (mask.isBitwiseLogicOp()) {
            llvm::Value *x = wide(mask.getOperand(0)), *y = wide(mask.getOperand(1));
            return behind.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(mask.getOpcode()), x, y);
        }
        auto* type = llvm::cast<llvm::FixedVectorType>(wide_type(mask.getType()));
        const auto* comparison = llvm::dyn_cast<llvm::CmpInst>(&mask);
        const unsigned bits = type->getScalarSizeInBits(), lanes = type->getNumElements();
        const unsigned compared = comparison ? comparison->getOperand(0)->getType()->getScalarSizeInBits() : bits;
        if (compared <= bits || compared % bits != 0) return behind.CreateSExt(&mask, type);
        // Written as a shuffle: LLVM would join sign-extended masks before it extends them, and be back where it was.
        llvm::Type* element = llvm::IntegerType::get(mask.getContext(), compared);
        llvm::Value* whole = behind.CreateSExt(&mask, llvm::FixedVectorType::get(element, lanes));
        const unsigned parts = compared / bits;
        llvm::SmallVector<int, 64> low;
        for (unsigned l = 0; l < lanes; ++l) low.push_back(static_cast<int>(l * parts));
        return behind.CreateShuffleVector(behind.CreateBitCast(whole, llvm::FixedVectorType::get(type->getElementType(), lanes * parts)),
                                          low);
    }

    void replace_uses(llvm::Instruction& mask) {
        llvm::Value* kept = wide(&mask);
        llvm::DenseMap<llvm::BasicBlock*, llvm::Value*> narrow;  // as a mask again, once a block
        const bool phi = llvm::isa<llvm::PHINode>(mask);
        std::vector<llvm::Use*> uses;
        for (llvm::Use& use : mask.uses()) uses.push_back(&use);
        for (llvm::Use* use : uses) {
            auto* user = llvm::cast<llvm::Instruction>(use->getUser());
            if (user == kept || (is_mask(user->getType()) && llvm::isa<llvm::PHINode>(user))) continue;
            llvm::BasicBlock* block = user->getParent();
            const bool here = block == mask.getParent() && !phi;
            if (here && !mask.isBitwiseLogicOp()) continue;
            llvm::Value*& value = narrow[block];
            if (!value) {
                llvm::IRBuilder<> first(
                    block, here ? std::next(llvm::cast<llvm::Instruction>(kept)->getIterator()) : block->getFirstInsertionPt());
                value = first.CreateICmpSLT(kept, llvm::Constant::getNullValue(kept->getType()));
            }
            use->set(value);
        }
    }

    llvm::Function& function_;
    const int vector_bytes_;
    llvm::DenseMap<llvm::Instruction*, llvm::Value*> wide_;
};

}  // namespace

void widen_masks(llvm::Module& module, const LlvmTarget& target) {
    if (target.vector_bytes >= 64) return;  // AVX-512 has registers for masks
    for (llvm::Function& function : module)
        if (!function.isDeclaration()) WideMasks(function, target.vector_bytes).run();
}

}  // namespace pardo::emit
