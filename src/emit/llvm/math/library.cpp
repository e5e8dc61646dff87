// src/emit/llvm/math/library.cpp: calls of functions of one lane or of some, for vectors of any width.
#include "emit/llvm/math/library.h"

#include <algorithm>

#include "emit/llvm/math/table.h"

namespace pardo::emit {

using ir::Math;

llvm::Value* instruction(Codegen& g, Math fn, llvm::ArrayRef<llvm::Value*> args) {
    switch (fn) {
        case Math::sqrt: return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, args[0]);
        case Math::floor: return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, args[0]);
        case Math::ceil: return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, args[0]);
        case Math::trunc: return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, args[0]);
        case Math::rint: return g.b.CreateUnaryIntrinsic(llvm::Intrinsic::rint, args[0]);
        case Math::copysign: return g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, args[0], args[1]);
        default: return nullptr;
    }
}

llvm::Value* external(Codegen& g, const std::string& name, llvm::Type* type, llvm::ArrayRef<llvm::Value*> args) {
    llvm::SmallVector<llvm::Type*, 4> types;
    for (llvm::Value* a : args) types.push_back(a->getType());
    llvm::FunctionCallee callee = g.module->getOrInsertFunction(name, llvm::FunctionType::get(type, types, false));
    auto* f = llvm::cast<llvm::Function>(callee.getCallee());
    if (!f->hasFnAttribute(llvm::Attribute::NoUnwind)) {
        // Not speculatable: LLVM would take calls out of branches that are all but never taken.
        for (auto a : {llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn, llvm::Attribute::NoFree, llvm::Attribute::NoSync,
                       llvm::Attribute::NoCallback})
            f->addFnAttr(a);
        f->setDoesNotAccessMemory();
    }
    return g.b.CreateCall(callee, args);
}

llvm::Value* by_lane(Codegen& g, llvm::Type* result, llvm::ArrayRef<llvm::Value*> operands,
                     llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> f) {
    const int n = width(operands[0]);
    if (n == 1) return f(operands);
    llvm::Value* out = llvm::PoisonValue::get(result);
    for (int l = 0; l < n; ++l) {
        LlvmValues lane;
        for (llvm::Value* v : operands) lane.push_back(g.b.CreateExtractElement(v, static_cast<std::uint64_t>(l)));
        out = g.b.CreateInsertElement(out, f(lane), static_cast<std::uint64_t>(l));
    }
    return out;
}

llvm::Value* in_chunks(Codegen& g, int chunk, llvm::ArrayRef<llvm::Value*> args,
                       llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> function) {
    const int n = width(args[0]);
    llvm::SmallVector<llvm::Value*, 8> parts;
    for (int at = 0; at < n; at += chunk) {
        LlvmValues part;
        llvm::SmallVector<int, 16> lanes;
        for (int l = 0; l < chunk; ++l) lanes.push_back(std::min(at + l, n - 1));
        for (llvm::Value* a : args) part.push_back(n == chunk ? a : g.b.CreateShuffleVector(a, lanes));
        parts.push_back(function(part));
    }
    while (parts.size() > 1) {
        llvm::SmallVector<llvm::Value*, 8> joined;
        llvm::SmallVector<int, 64> all;
        for (int l = 0; l < 2 * width(parts[0]); ++l) all.push_back(l);
        for (std::size_t p = 0; p < parts.size(); p += 2) joined.push_back(g.b.CreateShuffleVector(parts[p], parts[p + 1], all));
        parts = std::move(joined);
    }
    if (chunk <= n) return parts[0];
    llvm::SmallVector<int, 16> front;
    for (int l = 0; l < n; ++l) front.push_back(l);
    return g.b.CreateShuffleVector(parts[0], front);
}

llvm::Value* library(Codegen& g, ir::Math fn, llvm::ArrayRef<llvm::Value*> args) {
    llvm::Type* type = args[0]->getType();
    const int n = width(args[0]);
    const bool is_double = type->getScalarType()->isDoubleTy();
    if (n == 1) return external(g, scalar_math_name(fn, is_double, g.target), type, args);
    const int element_bytes = is_double ? 8 : 4;
    const int chunk = std::clamp(n * element_bytes, 16, g.target.vector_bytes) / element_bytes;
    const std::string name = vector_math_name(fn, is_double, chunk, g.target);
    if (name.empty()) {
        const std::string one = scalar_math_name(fn, is_double, g.target);
        return by_lane(g, type, args, [&](llvm::ArrayRef<llvm::Value*> p) { return external(g, one, type->getScalarType(), p); });
    }
    llvm::Type* chunk_type = llvm::FixedVectorType::get(type->getScalarType(), static_cast<unsigned>(chunk));
    return in_chunks(g, chunk, args, [&](llvm::ArrayRef<llvm::Value*> part) { return external(g, name, chunk_type, part); });
}

llvm::Value* unless(Codegen& g, llvm::Value* rare, llvm::Value* result, llvm::function_ref<llvm::Value*()> repair) {
    llvm::BasicBlock *before = g.b.GetInsertBlock(), *fix = block(g, "rare"), *done = block(g, "usual");
    branch_if_any(g, rare, fix, done);
    g.b.SetInsertPoint(fix);
    llvm::Value* repaired = g.b.CreateSelect(rare, repair(), result);
    llvm::BasicBlock* end = g.b.GetInsertBlock();
    g.b.CreateBr(done);
    g.b.SetInsertPoint(done);
    llvm::PHINode* phi = g.b.CreatePHI(result->getType(), 2);
    phi->addIncoming(result, before);
    phi->addIncoming(repaired, end);
    return phi;
}

}  // namespace pardo::emit
