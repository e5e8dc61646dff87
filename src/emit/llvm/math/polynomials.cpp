// src/emit/llvm/math/polynomials.cpp: double precision sin, cos, exp, log and log1p as inline polynomials, below 1 ulp like SLEEF's. A call
// keeps the processor from working on several vectors at a time, and moves every live register to the stack; arguments out of the usual
// range still take it. sin, cos, log and log1p after K. C. Ng's kernels in fdlibm (Sun Microsystems, 1993); exp shares its polynomial with
// erfc.
#include "emit/llvm/math/polynomials.h"

#include <limits>

#include "emit/llvm/math/doubles.h"
#include "emit/llvm/math/library.h"
#include "ir/math/terms.h"

namespace pardo::emit {

using ir::Math;

namespace {

// sin r = r + r^3 S(r^2) and cos r = 1 - r^2 / 2 + r^4 C(r^2) on [-pi/4, pi/4], lowest power first
constexpr double sine_terms[] = {8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                 -2.50507602534068634195e-08, 1.58969099521155010221e-10};
constexpr double sine_first = -1.66666666666666324348e-01;
constexpr double cosine_terms[] = {4.16666666666666019037e-02,  -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                                   -2.75573143513906633035e-07, 2.08757232129817482790e-09,  -1.13596475577881948265e-11};
// pi / 2 in three parts, the first two of 33 bits: their products with whole numbers up to 2^20 are exact
constexpr double half_pi[] = {0x1.921fb544p0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
// log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R), s = f / (2 + f), R = s^2 L(s^2) for 1 + f between the roots of 1/2 and 2
constexpr double log_terms[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
                                1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01};
constexpr double log_ln2_high = 6.93147180369123816490e-01, log_ln2_low = 1.90821492927058770002e-10;  // k times the high part is exact
constexpr double angle_limit = 1e5;                                                                    // beyond, e grows to several ulp
constexpr double exp_limit = 708;  // e^x is a normal number, and so is e^-x

llvm::Value* inline_sine(Codegen& g, llvm::Value* x, bool cosine) {
    const Doubles d(g, x->getType());
    llvm::Type* bits_type = widened(g.b.getInt64Ty(), width(x));
    // x = k pi / 2 + r + e, |r| up to pi / 4, e the rounding error of r
    llvm::Value* shifted = d.fma(x, d(0.63661977236758134308), d(ir::math::whole_shifter));
    llvm::Value* k = g.b.CreateFSub(shifted, d(ir::math::whole_shifter));
    llvm::Value* t = d.less(x, k, d(half_pi[0]));
    llvm::Value* r = d.less(t, k, d(half_pi[1]));
    llvm::Value* e = d.less(d.less(g.b.CreateFSub(t, r), k, d(half_pi[1])), k, d(half_pi[2]));
    llvm::Value* z = g.b.CreateFMul(r, r);
    // r - (z (e / 2 - r z S) - e - r z S1)
    llvm::Value* cube = g.b.CreateFMul(r, z);
    llvm::Value* tail = d.less(g.b.CreateFMul(e, d(0.5)), cube, d.polynomial(z, sine_terms));
    tail = d.less(d.fma(z, tail, g.b.CreateFNeg(e)), cube, d(sine_first));
    llvm::Value* sine = g.b.CreateFSub(r, tail);
    // 1 - z / 2 with its rounding error, + z^2 C - r e
    llvm::Value* whole = d.less(d(1.0), z, d(0.5));
    llvm::Value* lost = d.less(g.b.CreateFSub(d(1.0), whole), z, d(0.5));
    llvm::Value* rest = d.fma(g.b.CreateFMul(z, z), d.polynomial(z, cosine_terms), d.less(lost, r, e));
    llvm::Value* even = g.b.CreateFAdd(whole, rest);
    // Odd k swap the two; the sign is that of the quadrant.
    llvm::Value* quadrant = g.b.CreateBitCast(shifted, bits_type);
    if (cosine) quadrant = g.b.CreateAdd(quadrant, integer(quadrant, 1));
    llvm::Value* odd = g.b.CreateICmpNE(g.b.CreateAnd(quadrant, integer(quadrant, 1)), integer(quadrant, 0));
    llvm::Value* sign = g.b.CreateShl(g.b.CreateAnd(quadrant, integer(quadrant, 2)), integer(quadrant, 62));
    llvm::Value* value = g.b.CreateBitCast(g.b.CreateSelect(odd, even, sine), bits_type);
    return g.b.CreateBitCast(g.b.CreateXor(value, sign), x->getType());
}

llvm::Value* inline_exp(Codegen& g, llvm::Value* x) {
    const Doubles d(g, x->getType());
    llvm::Type* bits_type = widened(g.b.getInt64Ty(), width(x));
    llvm::Value* shifted = d.fma(x, d(1.44269504088896340736), d(ir::math::whole_shifter));
    llvm::Value* k = g.b.CreateFSub(shifted, d(ir::math::whole_shifter));
    llvm::Value* r = d.less(d.less(x, k, d(ir::math::ln2_high)), k, d(ir::math::ln2_low));
    llvm::Value* value = d.fma(d.polynomial(r, ir::math::expm1_terms), r, d(1.0));
    llvm::Value* bits = g.b.CreateBitCast(shifted, bits_type);
    llvm::Value* exponent = g.b.CreateShl(bits, integer(bits, 52));
    return g.b.CreateBitCast(g.b.CreateAdd(g.b.CreateBitCast(value, bits_type), exponent), x->getType());
}

/// `low`: what 1 + f lacks, if not null.
llvm::Value* sum_of_log(Codegen& g, llvm::Value* k, llvm::Value* f, llvm::Value* low) {
    const Doubles d(g, f->getType());
    llvm::Value* s = g.b.CreateFDiv(f, g.b.CreateFAdd(f, d(2.0)));
    llvm::Value *z = g.b.CreateFMul(s, s), *w = g.b.CreateFMul(z, z);
    const double odd[] = {log_terms[0], log_terms[2], log_terms[4], log_terms[6]}, even[] = {log_terms[1], log_terms[3], log_terms[5]};
    llvm::Value* rest = d.fma(w, d.polynomial(w, even), g.b.CreateFMul(z, d.polynomial(w, odd)));
    llvm::Value* half_square = g.b.CreateFMul(g.b.CreateFMul(f, d(0.5)), f);
    llvm::Value* tail = g.b.CreateFMul(k, d(log_ln2_low));
    const double inverse[] = {1.0, -2.0, 2.0};  // 1 / (1 + f) = (1 - s) / (1 + s), within 1 %
    if (low) tail = d.fma(low, d.polynomial(s, inverse), tail);
    llvm::Value* small = d.fma(s, g.b.CreateFAdd(half_square, rest), tail);
    return d.fma(k, d(log_ln2_high), g.b.CreateFSub(f, g.b.CreateFSub(half_square, small)));
}

llvm::Value* inline_log(Codegen& g, llvm::Value* x) {
    const SplitLog parts = split_for_log(g, x);
    return sum_of_log(g, parts.k, parts.f, nullptr);
}

/// log(u + c) with u = 1 + x rounded, and c what that loses. Where u is near 1, f is x.
llvm::Value* inline_log1p(Codegen& g, llvm::Value* x) {
    const Doubles d(g, x->getType());
    llvm::Value* u = g.b.CreateFAdd(d(1.0), x);
    llvm::Value* added = g.b.CreateFSub(u, d(1.0));
    llvm::Value* lost = g.b.CreateFAdd(g.b.CreateFSub(d(1.0), g.b.CreateFSub(u, added)), g.b.CreateFSub(x, added));
    const SplitLog parts = split_for_log(g, u);
    llvm::Value* near = g.b.CreateFCmpOEQ(parts.k, d(0.0));
    llvm::Value* most = integer(parts.field, 2046);
    llvm::Value* field = g.b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, parts.field, most);
    llvm::Value* scale = g.b.CreateShl(g.b.CreateSub(most, field), integer(field, 52));  // 2^-k
    llvm::Value* low = g.b.CreateSelect(near, d(0.0), g.b.CreateFMul(lost, g.b.CreateBitCast(scale, x->getType())));
    llvm::Value* result = sum_of_log(g, parts.k, g.b.CreateSelect(near, x, parts.f), low);
    return g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

}  // namespace

bool is_polynomial(Math fn, DType t) {
    const bool here = fn == Math::sin || fn == Math::cos || fn == Math::exp || fn == Math::log || fn == Math::log1p;
    return here && t == DType::Float64;
}

llvm::Value* inline_polynomial(Codegen& g, Math fn, llvm::Value* x) {
    auto in_library = [&] { return library(g, fn, {x}); };
    if (fn == Math::log) {  // of normal numbers above 0
        llvm::Value* tiny = g.b.CreateFCmpULT(x, real(x, std::numeric_limits<double>::min()));
        return unless(g, g.b.CreateOr(tiny, g.b.CreateFCmpOEQ(x, llvm::ConstantFP::getInfinity(x->getType()))), inline_log(g, x),
                      in_library);
    }
    if (fn == Math::log1p) {
        llvm::Value* beyond =
            g.b.CreateOr(g.b.CreateFCmpULE(x, real(x, -1)), g.b.CreateFCmpOEQ(x, llvm::ConstantFP::getInfinity(x->getType())));
        return unless(g, beyond, inline_log1p(g, x), in_library);
    }
    llvm::Value* result = fn == Math::exp ? inline_exp(g, x) : inline_sine(g, x, fn == Math::cos);
    llvm::Value* limit = real(x, fn == Math::exp ? exp_limit : angle_limit);
    llvm::Value* rare = g.b.CreateFCmpUGE(g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x), limit);
    return unless(g, rare, result, in_library);
}

}  // namespace pardo::emit
