// src/ir/math/erf.cpp: erf and erfc as polynomials, free of branches and library calls, about 1 ulp.
// Below 1, erf(x) = x + x P(x^2). From 1 on, erf(x) = 1 - 2^p(x) with p = log2 erfc, where an error weighs the less the larger x is.
// erfc(x) = 1 - erf(x) below 1/2, also of negative x; from there on e^(-x^2) Q(t) / (1 + 2 x) with t = (x - k) / (x + k), after M. Shepherd
// and J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity" (1981). The coefficients are minimax fits
// (Remez, weighted, 50 digits) made for this file.
#include "ir/math/recipes.h"
#include "ir/math/terms.h"

namespace pardo::ir::math {
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

const Format& format_of(Expr x) { return x.single() ? format32 : format64; }

/// The bits of a whole number, shifted to the place of the exponent.
Expr exponent_bits(const Format& f, Expr whole, double offset) {
    const Expr bits = bitcast(whole + (f.shifter + offset), f.bits);
    return bits << f.mantissa_bits;
}

/// y * 2^whole by adding to y's exponent; neither may leave the normal numbers.
Expr scale(const Format& f, Expr y, Expr whole) { return bitcast(bitcast(y, f.bits) + exponent_bits(f, whole, 0), y.type()); }

/// erf(x) for |x| up to 1. One chain, whose last steps are small, rounds better here than two.
Expr near_zero(const Format& f, Expr x) { return fma(horner(x * x, f.near), x, x); }

Expr power_of_two(const Format& f, Expr whole) { return bitcast(exponent_bits(f, whole, f.bias), whole.type()); }

}  // namespace

Expr erf(Args a) {
    const Expr x = a[0], size = abs(x);
    const Format& f = format_of(x);
    const Expr near = near_zero(f, x), u = select(size < f.erf_end, size, f.erf_end) - 1.0;
    const Expr p = polynomial(u, f.far), whole = call(Math::rint, p);
    const Expr rest = scale(f, polynomial(p - whole, f.exp2), whole), far = call(Math::copysign, 1.0 - rest, x);
    return select(size >= 1.0, far, near);
}

Expr erfc(Args given) {
    const Expr x = given[0], size = abs(x);
    const Format& f = format_of(x);
    const Expr a = select(size < f.erfc_end, size, f.erfc_end);
    // p / (1 + 2 a) + 1 / (1 + 2 a), with one step of correction by the remainder
    const Expr below = a - f.tail_center, above = a + f.tail_center, p = polynomial(below / above, f.tail);
    const Expr inverse = 0.5 / (a + 0.5), estimate = fma(p, inverse, inverse);
    const Expr twice = estimate + estimate, minus = -a, missing = p - estimate;
    const Expr remainder = missing + fma(twice, minus, 1.0), slope = fma(remainder, inverse, estimate);
    // e^(-a^2): the square's rounding error joins the small remainder.
    const Expr square = a * a, square_error = fma(a, a, -square), whole = call(Math::rint, square * -1.4426950408889634);
    Expr r = fma(whole, -f.ln2_high, -square);
    r = fma(whole, -f.ln2_low, r) - square_error;
    const Expr half = call(Math::rint, whole * 0.5), scaled = slope * fma(polynomial(r, f.exp), r, 1.0);
    Expr y = scaled * power_of_two(f, half);
    y = y * power_of_two(f, whole - half);
    const Expr negative = x < 0.0, far = select(negative, 2.0 - y, y), is_far = size >= 0.5, near = 1.0 - near_zero(f, x);
    return select(is_far, far, near);
}

}  // namespace pardo::ir::math
