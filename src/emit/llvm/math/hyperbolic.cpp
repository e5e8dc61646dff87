// src/emit/llvm/math/hyperbolic.cpp: sinh, cosh, tanh, expm1 and asinh inline, in place of calls of SLEEF. Of floats they are computed in
// double precision, by as few terms as floats need: half the lanes, but no pairs of floats, and errors of little more than half an ulp.
// e^x = 2^k e^r with |r| up to ln 2 / 2; sinh r and cosh r are polynomials of r^2, minimax fits (Remez, 40 digits) made for this file.
#include "emit/llvm/math/hyperbolic.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include "emit/llvm/math/doubles.h"
#include "emit/llvm/math/float_terms.h"
#include "emit/llvm/math/library.h"
#include "ir/math/terms.h"

namespace pardo::emit {

using ir::Math;

namespace {

// On [-ln 2 / 2, ln 2 / 2]: cosh r and sinh r / r in r^2, relative errors 2^-34 and 2^-37
constexpr double cosh_of_float[] = {0.9999999999605668, 0.5000000106303283, 0.041666221304396296, 0.0013948422715030996};
constexpr double sinh_of_float[] = {0.9999999999955336, 0.1666666678603155, 0.00833328358021529, 0.00019907557375680612};
// On [-1, 1]: (cosh r - 1) / r^2 and (sinh r / r - 1) / r^2 in r^2, errors of cosh and sinh 2^-59 and 2^-63
constexpr double cosh_terms[] = {0.5000000000000001,     0.04166666666666334,   0.0013888888889175737, 2.4801587184341943e-05,
                                 2.7557344844120595e-07, 2.087368219213646e-09, 1.1661730233029744e-11};
constexpr double sinh_terms[] = {0.16666666666666669,    0.008333333333333137,   0.0001984126984143834, 2.75573191551098e-06,
                                 2.5052123437396546e-08, 1.6057237122458708e-10, 7.75941518672986e-13};
constexpr std::int64_t two_to_minus_three = 0x3fc0000000000000, two_to_minus_one = 0x3fe0000000000000;
constexpr double far_float = 100, far_double = 711, flat_tanh = 10;  // from where on results are infinite, and tanh is 1

/// log(x + sqrt(1 + x^2)) of floats from 0 on, as doubles.
llvm::Value* asinh_of_floats(Codegen& g, llvm::Value* x) {
    const Doubles d(g, x->getType());
    llvm::Value* square = g.b.CreateFMul(x, x);
    llvm::Value* y = g.b.CreateFAdd(x, g.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, g.b.CreateFAdd(square, d(1.0))));
    const auto [field, k, f] = split_for_log(g, y);
    llvm::Value* s = quotient_for_floats(g, f, g.b.CreateFAdd(f, d(2.0)));
    llvm::Value* log = d.fma(k, d(std::numbers::ln2), g.b.CreateFMul(s, d.polynomial(g.b.CreateFMul(s, s), log_of_float)));
    llvm::Value* tiny = d.fma(g.b.CreateFMul(square, x), d(-1.0 / 6), x);  // where 1 + x^2 loses bits of x
    return g.b.CreateSelect(g.b.CreateFCmpOLT(x, d(0x1p-12)), tiny, log);
}

llvm::Value* hyperbolic_of_floats(Codegen& g, Math fn, llvm::Value* x) {
    llvm::Value* magnitude = g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    llvm::Type* wide_type = widened(g.b.getDoubleTy(), width(x));
    const Doubles d(g, wide_type);
    auto narrow = [&](llvm::Value* v) { return g.b.CreateFPTrunc(v, x->getType()); };
    auto with_sign = [&](llvm::Value* v) { return g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, narrow(v), x); };
    auto at_most = [&](double limit) {  // NaN stays
        llvm::Value* bound = real(x, limit);
        return g.b.CreateFPExt(g.b.CreateSelect(g.b.CreateFCmpOLT(bound, magnitude), bound, magnitude), wide_type);
    };
    if (fn == Math::asinh) {
        llvm::Value* finite = g.b.CreateFCmpOLT(magnitude, llvm::ConstantFP::getInfinity(x->getType()));
        return g.b.CreateSelect(finite, with_sign(asinh_of_floats(g, g.b.CreateFPExt(magnitude, wide_type))), x);
    }
    llvm::Value* value = nullptr;
    if (fn == Math::expm1) {
        llvm::Value* low = real(x, -flat_tanh * 2);
        llvm::Value* within = g.b.CreateSelect(g.b.CreateFCmpOLT(x, low), low, x);
        llvm::Value* high = real(x, far_float);
        value = g.b.CreateFPExt(g.b.CreateSelect(g.b.CreateFCmpOLT(high, within), high, within), wide_type);
    } else if (fn == Math::tanh) {
        value = at_most(flat_tanh);
        value = g.b.CreateFAdd(value, value);
    } else {
        value = at_most(far_float);
    }
    llvm::Value* shifted = d.fma(value, d(std::numbers::log2e), d(ir::math::whole_shifter));
    llvm::Value* r = d.less(value, g.b.CreateFSub(shifted, d(ir::math::whole_shifter)), d(std::numbers::ln2));
    if (fn == Math::expm1 || fn == Math::tanh) {
        llvm::Value* scale = power_of_two(g, shifted, bits_of_one, false);
        llvm::Value* result = d.fma(g.b.CreateFMul(scale, r), d.polynomial(r, expm1_of_float), g.b.CreateFSub(scale, d(1.0)));
        if (fn == Math::tanh) result = quotient_for_floats(g, result, g.b.CreateFAdd(result, d(2.0)));
        return with_sign(result);
    }
    llvm::Value* z = g.b.CreateFMul(r, r);
    llvm::Value *even = d.polynomial(z, cosh_of_float), *odd = g.b.CreateFMul(r, d.polynomial(z, sinh_of_float));
    llvm::Value *up = power_of_two(g, shifted, two_to_minus_one, false), *down = power_of_two(g, shifted, two_to_minus_one, true);
    llvm::Value *sum = g.b.CreateFAdd(up, down), *difference = g.b.CreateFSub(up, down);
    if (fn == Math::cosh) return narrow(d.fma(difference, odd, g.b.CreateFMul(sum, even)));
    return with_sign(d.fma(sum, odd, g.b.CreateFMul(difference, even)));
}

/// sinh and cosh. Powers are a fourth of themselves, since that of the largest x has no double, and e^-x less than 2^-1000 does not

/// count. For sinh below 1, where a difference of powers would lose bits, k is 0.
llvm::Value* hyperbolic_of_doubles(Codegen& g, Math fn, llvm::Value* x) {
    const Doubles d(g, x->getType());
    llvm::Value* size = g.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    size = g.b.CreateSelect(g.b.CreateFCmpOLT(d(far_double), size), d(far_double), size);  // NaN stays
    llvm::Value* shifted = d.fma(size, d(std::numbers::log2e), d(ir::math::whole_shifter));
    if (fn == Math::sinh) shifted = g.b.CreateSelect(g.b.CreateFCmpOLT(size, d(1.0)), d(ir::math::whole_shifter), shifted);
    llvm::Value* k = g.b.CreateFSub(shifted, d(ir::math::whole_shifter));
    llvm::Value* t = d.less(size, k, d(ir::math::ln2_high));
    llvm::Value* r = d.less(t, k, d(ir::math::ln2_low));
    llvm::Value* lost = d.less(g.b.CreateFSub(t, r), k, d(ir::math::ln2_low));
    llvm::Value* most = d(ir::math::whole_shifter + 1000);
    llvm::Value* up = power_of_two(g, shifted, two_to_minus_three, false);
    llvm::Value* down = power_of_two(g, g.b.CreateSelect(g.b.CreateFCmpOLT(most, shifted), most, shifted), two_to_minus_three, true);
    llvm::Value *sum = g.b.CreateFAdd(up, down), *difference = g.b.CreateFSub(up, down);
    llvm::Value* z = g.b.CreateFMul(r, r);
    // cosh x = sum cosh r + difference sinh r, sinh x the other way round; sinh r = r + tail, cosh r = 1 + z C
    llvm::Value* tail = d.fma(g.b.CreateFMul(r, z), d.polynomial(z, sinh_terms), lost);
    llvm::Value *whole = fn == Math::cosh ? sum : difference, *other = fn == Math::cosh ? difference : sum;
    llvm::Value* rounded = g.b.CreateFSub(up, whole);
    rounded = fn == Math::cosh ? g.b.CreateFAdd(rounded, down) : g.b.CreateFSub(rounded, down);
    llvm::Value* rest = d.fma(other, tail, d.fma(g.b.CreateFMul(whole, z), d.polynomial(z, cosh_terms), rounded));
    llvm::Value* result = g.b.CreateFMul(g.b.CreateFAdd(whole, d.fma(other, r, rest)), d(4.0));
    if (fn == Math::cosh) return result;
    result = g.b.CreateSelect(g.b.CreateFCmpOLT(size, d(0x1p-28)), size, result);  // of which a fourth may be subnormal
    return g.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, x);
}

}  // namespace

bool is_hyperbolic(Math fn, DType t) {
    if (fn == Math::sinh || fn == Math::cosh) return t == DType::Float32 || t == DType::Float64;
    return (fn == Math::tanh || fn == Math::expm1 || fn == Math::asinh) && t == DType::Float32;
}

llvm::Value* inline_hyperbolic(Codegen& g, Math fn, llvm::Value* x) {
    if (x->getType()->getScalarType()->isDoubleTy()) return hyperbolic_of_doubles(g, fn, x);
    const int chunk = std::min(width(x), g.target.vector_bytes / 4);
    return in_chunks(g, chunk, {x}, [&](llvm::ArrayRef<llvm::Value*> part) { return hyperbolic_of_floats(g, fn, part[0]); });
}

}  // namespace pardo::emit
