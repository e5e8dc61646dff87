// src/emit/llvm/math/lookup.cpp: values of tables: with AVX-512 from two registers, else by choices.
#include "emit/llvm/math/lookup.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>

#include "emit/llvm/math/library.h"

namespace pardo::emit {

namespace {

/// Doubles of half a table, kept in memory once.
llvm::Value* half_table(Codegen& g, llvm::ArrayRef<double> numbers) {
    llvm::Constant* content = llvm::ConstantDataVector::get(g.b.getContext(), numbers);
    llvm::GlobalVariable* kept = nullptr;
    for (llvm::GlobalVariable& v : g.module->globals())
        if (v.hasInitializer() && v.getInitializer() == content) kept = &v;
    if (!kept) {  // not said to be constant, as in emit/llvm/constants.cpp
        kept = new llvm::GlobalVariable(*g.module, content->getType(), false, llvm::GlobalValue::PrivateLinkage, content, "table");
        kept->setAlignment(llvm::Align(64));
    }
    llvm::LoadInst* loaded = g.b.CreateAlignedLoad(content->getType(), kept, llvm::Align(64));
    loaded->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(g.b.getContext(), {}));
    return loaded;
}

/// The numbers of a table of constants; none if one is no constant.
llvm::SmallVector<double, 16> numbers_of(llvm::ArrayRef<llvm::Value*> values) {
    llvm::SmallVector<double, 16> numbers;
    for (llvm::Value* v : values) {
        const auto* constant = llvm::dyn_cast<llvm::Constant>(v);
        if (constant && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
        const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
        if (!number) return {};
        numbers.push_back(number->getValueAPF().convertToDouble());
    }
    return numbers;
}

}  // namespace

int lookup_lanes(const LlvmTarget& target, DType t, int values) {
    return target.vector_bytes == 64 && t == DType::Float64 && values == 16 ? values / 2 : 0;
}

llvm::Value* lookup(Codegen& g, llvm::ArrayRef<llvm::Value*> v) {
    const llvm::ArrayRef<llvm::Value*> values = v.drop_front();
    const bool doubles = values[0]->getType()->getScalarType()->isDoubleTy();
    const int at_once = doubles ? lookup_lanes(g.target, DType::Float64, static_cast<int>(values.size())) : 0;
    const llvm::SmallVector<double, 16> numbers = at_once && width(v[0]) > 1 ? numbers_of(values) : llvm::SmallVector<double, 16>{};
    if (!numbers.empty()) {
        const llvm::ArrayRef<double> all = numbers;
        llvm::Value *low = half_table(g, all.take_front(all.size() / 2)), *high = half_table(g, all.drop_front(all.size() / 2));
        return in_chunks(g, at_once, {v[0]}, [&](llvm::ArrayRef<llvm::Value*> index) {
            return g.b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_pd_512, {}, {low, index[0], high});
        });
    }
    LlvmValues left(values.begin(), values.end());
    for (std::int64_t bit = 1; left.size() > 1; bit *= 2) {
        llvm::Value* odd = g.b.CreateICmpNE(g.b.CreateAnd(v[0], integer(v[0], bit)), integer(v[0], 0));
        LlvmValues chosen;
        for (std::size_t k = 0; k < left.size(); k += 2) chosen.push_back(g.b.CreateSelect(odd, left[k + 1], left[k]));
        left = std::move(chosen);
    }
    return left[0];
}

}  // namespace pardo::emit
