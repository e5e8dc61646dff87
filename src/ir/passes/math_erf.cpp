// src/ir/passes/math_erf.cpp: erf and erfc as polynomials in IR, free of branches and library calls, about 1 ulp.
// Below 1, erf(x) = x + x P(x^2). From 1 on, erf(x) = 1 - 2^p(x) with p = log2 erfc, where an error weighs the less the larger x is.
// erfc(x) = 1 - erf(x) below 1/2, also of negative x; from there on e^(-x^2) Q(t) / (1 + 2 x) with t = (x - k) / (x + k), after M. Shepherd
// and J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity" (1981). The coefficients are minimax fits
// (Remez, weighted, 50 digits) made for this file.
#include "ir/passes/math_recipes.h"

namespace pardo::ir {
namespace {

// clang-format off
// erf(sqrt s) / sqrt s - 1 on [0, 1], relative error of erf 2^-57
constexpr double near64[] = {0.12837916709551256, -0.3761263890318352, 0.11283791670944747, -0.02686617064320729, 0.00522397760685569, -0.0008548325961658826, 0.0001205529446048265, -1.4924727870059897e-05, 1.6447308747111033e-06, -1.6207572583501774e-07, 1.3716059505911475e-08, -7.78835630273578e-10};
// the same, 2^-29.6
constexpr double near32[] = {0.12837916612625122, -0.3761262595653534, 0.11283578762462984, -0.026853350602761717, 0.005187171984014047, -0.0007997966627089134, 7.807363325573397e-05};
// log2 erfc(1 + u) on [0, 5], absolute error of erf 2^-56.5
constexpr double far64[] = {-2.6684166967815997, -3.807225345853586, -1.2163466576872248, -0.05995999001467891, 0.014475749827022951, -0.002853508275201702, 0.00034237524304251945, 3.793758120995769e-05, -3.923982373706434e-05, 1.3952848336618431e-05, -3.075739959341012e-06, 2.954821763588251e-07, 8.369228522969259e-08, -4.81730332944217e-08, 1.2289871871554993e-08, -1.9030393825210734e-09, 1.7214811014263533e-10, -7.0186030261252275e-12};
// the same on [0, 3], 2^-35
constexpr double far32[] = {-2.6684166969741536, -3.8072253462632055, -1.2163464059277709, -0.05996342687984296, 0.014493965330134032, -0.002902652460202097, 0.0004176997484878226, -3.128723463086302e-05};
// 2^x on [-1/2, 1/2], relative error 2^-58
constexpr double exp2_64[] = {1.0, 0.6931471805599453, 0.24022650695910155, 0.055504108664819925, 0.009618129107588335, 0.0013333558146789934, 0.0001540353046251477, 1.5252733489999626e-05, 1.3215433089382401e-06, 1.0178198013275681e-07, 7.074105676463825e-09, 4.435284166942233e-10};
// the same, 2^-29
constexpr double exp2_32[] = {1.000000000554172, 0.6931472057361125, 0.24022646890577753, 0.055503287772197346, 0.009618488966838246, 0.0013399931366474356, 0.00015345809408112463};
// the same, 2^-29
constexpr double exp_32[] = {1.000000011444543, 0.5000000085775692, 0.16666498634994342, 0.041666223395368546, 0.008369874940139624, 0.0013949782923743266};
// (1 + 2 x) e^(x^2) erfc(x) - 1 in t, k = 4, on [0.49, 27.5], relative error 2^-58
constexpr double tail64[] = {0.2329951186255525, -0.1396211168405625, 0.015379652102618966, 0.06809705425469059, -0.10103906603624971, 0.09373283499843948, -0.06633036581370827, 0.03716751553567206, -0.016197734037011868, 0.005031969998521456, -0.0007577734574372817, -0.00019925683876490777, 0.00015062253181677974, -2.4398554215161166e-05, -1.1224826167662109e-05, 5.707713147064147e-06, 2.9970161226844193e-07, -8.213265747154332e-07, 6.690394792024451e-08, 1.047654932485126e-07, -1.2181416290233926e-08, -1.0186057325767705e-08};
// the same, k = 3, on [0.49, 10.2], 2^-28
constexpr double tail32[] = {0.25300805849397434, -0.13562104347240228, -0.04756232393502742, 0.1296425063362663, -0.11927352413134945, 0.06833908433530474, -0.023764423033503596, 0.002387116309507857, 0.0018371291690433133, -0.0005238497451537275};
// clang-format on

/// What differs between the two dtypes.
struct Format {
    std::span<const double> near, far, exp2, exp, tail;
    double erf_end;      // erf is 1 beyond
    double erfc_end;     // erfc is 0 beyond
    double tail_center;  // k
    double ln2_high, ln2_low;
    double shifter;  // adding it leaves an integer in the low bits
    double bias;
    int mantissa_bits;
    DType bits;
};

constexpr Format format64{near64, far64,    exp2_64, expm1_terms,   tail64, 6.0, 27.5,
                          4.0,    ln2_high, ln2_low, whole_shifter, 1023,   52,  DType::Int64};
constexpr Format format32{near32, far32,       exp2_32,        exp_32,   tail32, 4.0, 10.2,
                          3.0,    0x1.62e4p-1, 0x1.7f7d1cp-20, 0x1.8p23, 127,    23,  DType::Int32};

const Format& format_of(DType t) { return t == DType::Float32 ? format32 : format64; }

Value horner(Builder& m, DType t, Value x, std::span<const double> c, std::size_t first, std::size_t step) {
    std::size_t k = first + (c.size() - 1 - first) / step * step;
    Value sum = m.constant(t, c[k]);
    while (k > first) {
        k -= step;
        sum = m.fma(sum, x, m.constant(t, c[k]));
    }
    return sum;
}

/// Every second power apart, of long ones every fourth: chains of a half or a quarter of the length. Processors wait for these chains.
Value polynomial(Builder& m, DType t, Value x, std::span<const double> c) {
    if (c.size() < 6) return horner(m, t, x, c, 0, 1);
    const Value x2 = m.mul(x, x);
    if (c.size() < 12) return m.fma(horner(m, t, x2, c, 1, 2), x, horner(m, t, x2, c, 0, 2));
    const Value x4 = m.mul(x2, x2);
    const auto pair = [&](std::size_t first) { return m.fma(horner(m, t, x4, c, first + 1, 4), x, horner(m, t, x4, c, first, 4)); };
    return m.fma(m.fma(pair(3), x2, pair(1)), x, m.constant(t, c[0]));  // the first term, the largest, is rounded once
}

/// The bits of a whole number, shifted to the place of the exponent.
Value exponent_bits(Builder& m, const Format& f, DType t, Value whole, double offset) {
    const Value bits = m.bitcast(m.add(whole, m.constant(t, f.shifter + offset)), f.bits);
    return m.shl(bits, m.constant(f.bits, static_cast<double>(f.mantissa_bits)));
}

/// y * 2^whole by adding to y's exponent; neither may leave the normal numbers.
Value scale(Builder& m, const Format& f, DType t, Value y, Value whole) {
    return m.bitcast(m.add(m.bitcast(y, f.bits), exponent_bits(m, f, t, whole, 0)), t);
}

/// erf(x) for |x| up to 1. One chain, whose last steps are small, rounds better here than two.
Value near_zero(Builder& m, const Format& f, DType t, Value x) { return m.fma(horner(m, t, m.mul(x, x), f.near, 0, 1), x, x); }

Value power_of_two(Builder& m, const Format& f, DType t, Value whole) { return m.bitcast(exponent_bits(m, f, t, whole, f.bias), t); }

}  // namespace

Value expand_erf(Builder& m, DType t, std::span<const Value> operands) {
    const Format& f = format_of(t);
    const Value x = operands[0], size = m.abs(x), one = m.constant(t, 1.0), end = m.constant(t, f.erf_end);
    const Value near = near_zero(m, f, t, x);
    const Value u = m.sub(m.select(m.lt(size, end), size, end), one);
    const Value p = polynomial(m, t, u, f.far), whole = m.call(Math::rint, p);
    const Value rest = scale(m, f, t, polynomial(m, t, m.sub(p, whole), f.exp2), whole);
    const Value far = m.call(Math::copysign, m.sub(one, rest), x);
    return m.select(m.ge(size, one), far, near);
}

Value expand_erfc(Builder& m, DType t, std::span<const Value> operands) {
    const Format& f = format_of(t);
    const Value x = operands[0], one = m.constant(t, 1.0), end = m.constant(t, f.erfc_end), center = m.constant(t, f.tail_center);
    const Value size = m.abs(x), a = m.select(m.lt(size, end), size, end);
    // p / (1 + 2 a) + 1 / (1 + 2 a), with one step of correction by the remainder
    const Value below = m.sub(a, center), above = m.add(a, center), p = polynomial(m, t, m.div(below, above), f.tail);
    const Value half_constant = m.constant(t, 0.5), inverse = m.div(half_constant, m.add(a, half_constant));
    const Value estimate = m.fma(p, inverse, inverse);
    const Value twice = m.add(estimate, estimate), minus = m.neg(a), missing = m.sub(p, estimate);
    const Value remainder = m.add(missing, m.fma(twice, minus, one));
    const Value slope = m.fma(remainder, inverse, estimate);
    // e^(-a^2): the square's rounding error joins the small remainder.
    const Value square = m.mul(a, a), square_error = m.fma(a, a, m.neg(square));
    const Value whole = m.call(Math::rint, m.mul(square, m.constant(t, -1.4426950408889634)));
    Value r = m.fma(whole, m.constant(t, -f.ln2_high), m.neg(square));
    r = m.sub(m.fma(whole, m.constant(t, -f.ln2_low), r), square_error);
    const Value half = m.call(Math::rint, m.mul(whole, half_constant));
    const Value scaled = m.mul(slope, m.fma(polynomial(m, t, r, f.exp), r, one));
    Value y = m.mul(scaled, power_of_two(m, f, t, half));
    y = m.mul(y, power_of_two(m, f, t, m.sub(whole, half)));
    const Value negative = m.lt(x, m.constant(t, 0.0)), far = m.select(negative, m.sub(m.constant(t, 2.0), y), y);
    const Value is_far = m.ge(size, half_constant), near = m.sub(one, near_zero(m, f, t, x));
    return m.select(is_far, far, near);
}

}  // namespace pardo::ir
