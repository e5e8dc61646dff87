// src/emit/llvm/math/cbrt.cpp: cube roots inline. The bits of x divided by three, taken from a constant, are a q near x^(-1/3) within 3.5
// %; a polynomial of h = 1 - x q^3 (|h| < 0.103; minimax, made for this file) brings it within 2^-18 or 2^-23, for doubles a step of
// Newton's within 2^-45; then x q^2 is the root, but for one more step with x - c^3 in twice the precision, so that it is rounded nearly
// once.
#include "emit/llvm/math/cbrt.h"

#include "emit/llvm/math/doubles.h"
#include "ir/math/terms.h"

namespace pardo::emit {

namespace {

constexpr double root_of_float[] = {0.99999800940665, 0.3333288200991188, 0.22374022329874266, 0.17448539477957362};
constexpr double root_of_double[] = {1.000000004459333, 0.3333290142109589, 0.22221518742767377, 0.17448608504927668, 0.14578159782403358};
constexpr std::int64_t float_start = 0x54a1f800, double_start = 0x553ee800;  // of doubles the upper half
constexpr std::int64_t two_52_bits_of_cbrt = 0x4330000000000000;

}  // namespace

llvm::Value* inline_cbrt(Codegen& g, llvm::Value* x) {
    const bool is_double = x->getType()->getScalarType()->isDoubleTy();
    const Doubles d(g, x->getType());
    llvm::Value* size = g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    // Small numbers, of which rests would be subnormal, are scaled by a third power.
    llvm::Value* low = g.b.CreateFCmpOLT(size, d(is_double ? 0x1p-700 : 0x1p-90));
    llvm::Value* a = g.b.CreateSelect(low, g.b.CreateFMul(size, d(is_double ? 0x1p300 : 0x1p48)), size);
    llvm::Value* bits = g.b.CreateBitCast(a, widened(g.b.getIntNTy(is_double ? 64 : 32), width(x)));
    llvm::Value* start = nullptr;
    if (is_double) {  // 2^52 + the upper half is a double; its third ends in the low bits of what is near 1.5 * 2^52
        llvm::Value* upper = g.b.CreateOr(g.b.CreateLShr(bits, integer(bits, 32)), integer(bits, two_52_bits_of_cbrt));
        llvm::Value* third = d.fma(g.b.CreateBitCast(upper, x->getType()), d(1.0 / 3), d(ir::math::whole_shifter - 0x1p52 / 3));
        llvm::Value* moved = g.b.CreateShl(g.b.CreateBitCast(third, bits->getType()), integer(bits, 32));
        start = g.b.CreateSub(integer(bits, double_start << 32), moved);
    } else {
        llvm::Value* third = g.b.CreateFMul(g.b.CreateSIToFP(bits, x->getType()), d(1.0 / 3));
        start = g.b.CreateSub(integer(bits, float_start), g.b.CreateFPToSI(third, bits->getType()));
    }
    llvm::Value* q = g.b.CreateBitCast(start, x->getType());
    auto defect = [&] { return d.less(d(1.0), g.b.CreateFMul(a, q), g.b.CreateFMul(q, q)); };
    if (is_double) {
        q = g.b.CreateFMul(q, d.polynomial(defect(), root_of_double));
        q = d.fma(g.b.CreateFMul(q, d(1.0 / 3)), defect(), q);
    } else {
        q = g.b.CreateFMul(q, d.polynomial(defect(), root_of_float));
    }
    llvm::Value* square = g.b.CreateFMul(q, q);
    llvm::Value* c = g.b.CreateFMul(a, square);
    llvm::Value* c2 = g.b.CreateFMul(c, c);
    llvm::Value* rest = d.less(d.less(a, c, c2), c, d.fma(c, c, g.b.CreateFNeg(c2)));
    llvm::Value* root = d.fma(g.b.CreateFMul(square, d(1.0 / 3)), rest, c);
    root = g.b.CreateSelect(low, g.b.CreateFMul(root, d(is_double ? 0x1p-100 : 0x1p-16)), root);
    root = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, root, x);
    llvm::Value* usual =
        g.b.CreateAnd(g.b.CreateFCmpOLT(size, llvm::ConstantFP::getInfinity(x->getType())), g.b.CreateFCmpOGT(size, d(0.0)));
    return g.b.CreateSelect(usual, root, x);
}

}  // namespace pardo::emit
