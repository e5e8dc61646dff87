// src/emit/llvm/math/functions.cpp: mathematical functions: LLVM's own where they are one instruction, recipes in place, else the
// library's.
#include "emit/llvm/math/functions.h"

#include "emit/llvm/math/in_place.h"
#include "emit/llvm/math/library.h"

namespace pardo::emit {

using ir::Math;

namespace {

/// The neighbour of x towards y, by its bits.
llvm::Value* next_after(Codegen& g, DType t, llvm::Value* x, llvm::Value* y) {
    llvm::Value* bits = g.b.CreateBitCast(x, widened(g.b.getIntNTy(static_cast<unsigned>(itemsize(t)) * 8), width(x)));
    llvm::Value* zero = real(x, 0);
    llvm::Value* away = g.b.CreateICmpEQ(g.b.CreateFCmpOLT(x, y), g.b.CreateFCmpOGT(x, zero));
    llvm::Value* next = g.b.CreateAdd(bits, g.b.CreateSelect(away, integer(bits, 1), integer(bits, -1)));
    llvm::Value* moved = g.b.CreateBitCast(next, x->getType());
    llvm::Value* smallest = g.b.CreateBitCast(integer(bits, 1), x->getType());
    llvm::Value* from_zero = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, smallest, y);
    llvm::Value* value = g.b.CreateSelect(g.b.CreateFCmpOEQ(x, zero), from_zero, moved);
    value = g.b.CreateSelect(g.b.CreateFCmpOEQ(x, y), y, value);
    return g.b.CreateSelect(g.b.CreateFCmpUNO(x, y), g.b.CreateFAdd(x, y), value);
}

}  // namespace

bool is_formula(const LlvmTarget& target, Math fn, DType t) {
    const ir::math::Row* row = row_in_place(target, fn, t);
    return row && row->recipe.use == ir::math::Use::Formula;
}

llvm::Value* call(Codegen& g, Math fn, DType t, llvm::ArrayRef<llvm::Value*> args, llvm::Value* mask) {
    if (fn == Math::nextafter) return next_after(g, t, args[0], args[1]);
    if (llvm::Value* value = instruction(g, fn, args)) return value;
    LlvmValues safe(args.begin(), args.end());
    // Lanes that are off may hold anything, and one large angle or exponent sends all of SLEEF's lanes down a slow path.
    if (mask && width(args[0]) > 1)
        for (llvm::Value*& v : safe) v = g.b.CreateSelect(mask, v, real(v, 1));
    const ir::math::Row* row = row_in_place(g.target, fn, t);
    return row ? in_place(g, *row, t, safe) : library(g, fn, safe);
}

}  // namespace pardo::emit
