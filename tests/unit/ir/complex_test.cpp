// tests/unit/ir/complex_test.cpp: lowered complex functions against the C library, whose special values are NumPy's and annex G's.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "harness.h"
#include "ir/rules.h"

namespace pardo::ir::test {
namespace {

using Z = std::complex<double>;

/// Runs a unary or binary function through lower_complex and expand_math, and checks that no complex value is left.
template <class R>
std::vector<std::complex<R>> lowered(const std::function<Value(Builder&, std::span<const Value>)>& body,
                                     const std::vector<std::vector<std::complex<R>>>& in) {
    const DType t = dtype_of<std::complex<R>>;
    const Kernel kernel = expand_math(lower_complex(elementwise(t, t, static_cast<int>(in.size()), body)));
    for (const ValueInfo& v : kernel.values) EXPECT_FALSE(is_complex(v.type));
    return run<std::complex<R>, std::complex<R>>(kernel, in);
}

template <class R> std::vector<std::complex<R>> lowered(Math fn, const std::vector<std::vector<std::complex<R>>>& in) {
    return lowered<R>([fn](Builder& m, std::span<const Value> v) { return m.call(fn, v); }, in);
}

/// libstdc++ hands these to the C library's cexp, clog…
using Function = Z (*)(const Z&);

struct Row {
    Math fn;
    Function exact;
    double limit;  // units of 2^-53 of the larger part, over ordinary arguments
};

const Row rows[] = {
    {Math::exp, std::exp<double>, 8},     {Math::log, std::log<double>, 4},     {Math::sqrt, std::sqrt<double>, 4},
    {Math::sin, std::sin<double>, 8},     {Math::cos, std::cos<double>, 8},     {Math::tan, std::tan<double>, 16},
    {Math::sinh, std::sinh<double>, 8},   {Math::cosh, std::cosh<double>, 8},   {Math::tanh, std::tanh<double>, 16},
    {Math::asin, std::asin<double>, 8},   {Math::acos, std::acos<double>, 8},   {Math::atan, std::atan<double>, 8},
    {Math::asinh, std::asinh<double>, 8}, {Math::acosh, std::acosh<double>, 8}, {Math::atanh, std::atanh<double>, 8},
};

std::string text(Z z) { return "(" + std::to_string(z.real()) + ", " + std::to_string(z.imag()) + ")"; }

/// Equal as a special value: NaN, infinity with sign, zero with sign; ordinary numbers roughly. NaNs excuse the sign of the other part,
/// which annex G leaves open.
bool alike(Z got, Z want) {
    auto part = [&](double g, double w) {
        if (std::isnan(w)) return std::isnan(g);
        const bool open = std::isnan(want.real()) || std::isnan(want.imag());
        if (std::isinf(w)) return std::isinf(g) && (open || (g > 0) == (w > 0));
        if (w == 0) return g == 0 && (open || std::signbit(g) == std::signbit(w));
        return std::fabs(g - w) <= 1e-13 * std::max(std::fabs(w), std::numeric_limits<double>::min());
    };
    return part(got.real(), want.real()) && part(got.imag(), want.imag());
}

std::vector<Z> special_arguments() {
    const double parts[] = {0.0, -0.0, 1.0, -1.0, 0.5, -3.0, 40.0, inf, -inf, nan_value};
    std::vector<Z> z;
    for (double re : parts)
        for (double im : parts) z.push_back({re, im});
    return z;
}

/// As Annex G, but for the sign of a zero beside the infinities of tanh and tan: there the array API standard has the argument's.
Z special_value(const Row& row, Z z) {
    Z w = row.exact(z);
    if (row.fn == Math::tanh && std::isinf(z.real())) w.imag(std::copysign(w.imag(), z.imag()));
    if (row.fn == Math::tan && std::isinf(z.imag())) w.real(std::copysign(w.real(), z.real()));
    return w;
}

TEST(Complex, SpecialValuesAreThoseOfAnnexG) {
    const auto z = special_arguments();
    for (const Row& row : rows) {
        const auto w = lowered<double>(row.fn, {z});
        for (std::size_t k = 0; k < z.size(); ++k) {
            const Z exact = special_value(row, z[k]);
            EXPECT_TRUE(alike(w[k], exact)) << name(row.fn) << text(z[k]) << " = " << text(w[k]) << ", not " << text(exact);
        }
    }
}

std::vector<Z> ordinary_arguments() {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> unit(-1, 1);
    std::vector<Z> z;
    for (int k = 0; k < 2000; ++k) z.push_back({2 * unit(random), 2 * unit(random)});
    for (int k = 0; k < 2000; ++k) z.push_back({20 * unit(random), 20 * unit(random)});
    for (int k = 0; k < 2000; ++k)
        z.push_back({std::copysign(std::exp(30 * unit(random)), unit(random)), std::copysign(std::exp(30 * unit(random)), unit(random))});
    for (int k = 0; k < 1000; ++k) {
        const double angle = 3.2 * unit(random);
        z.push_back({std::cos(angle), std::sin(angle)});  // log's hard place
    }
    for (int k = 0; k < 1000; ++k) z.push_back({1 + 1e-9 * unit(random), 1e-9 * unit(random)});
    return z;
}

double error(Z got, Z want) {
    if (!std::isfinite(want.real()) || !std::isfinite(want.imag())) return alike(got, want) ? 0 : 1e9;
    const double scale = std::max(std::fabs(want.real()), std::fabs(want.imag()));
    if (scale == 0) return std::abs(got) == 0 ? 0 : 1e9;
    return std::max(std::fabs(got.real() - want.real()), std::fabs(got.imag() - want.imag())) / scale / 0x1p-53;
}

TEST(Complex, OrdinaryValuesAreAccurate) {
    const auto z = ordinary_arguments();
    for (const Row& row : rows) {
        const auto w = lowered<double>(row.fn, {z});
        double worst = 0;
        std::size_t at = 0;
        for (std::size_t k = 0; k < z.size(); ++k) {
            const double e = error(w[k], row.exact(z[k]));
            if (e > worst) worst = e, at = k;
        }
        EXPECT_LT(worst, row.limit) << name(row.fn) << text(z[at]) << " = " << text(w[at]) << ", not " << text(row.exact(z[at]));
    }
}

TEST(Complex, SinglePrecisionAgreesWithDouble) {
    std::vector<std::complex<float>> z;
    for (Z each : ordinary_arguments()) z.emplace_back(each);
    for (const Row& row : rows) {
        const auto w = lowered<float>(row.fn, {z});
        double worst = 0;
        std::size_t at = 0;
        for (std::size_t k = 0; k < z.size(); ++k) {
            const Z want = row.exact(Z(z[k]));
            if (std::abs(want) > 1e37 || std::abs(want) < 1e-36) continue;
            const double e = error(Z(w[k]), want) * 0x1p-29;
            if (e > worst) worst = e, at = k;
        }
        EXPECT_LT(worst, 2 * row.limit) << name(row.fn) << text(Z(z[at])) << " = " << text(Z(w[at]));
    }
}

/// Sizes near the ends of the range, where squares overflow or vanish.
TEST(Complex, HugeAndTinyArguments) {
    const double sizes[] = {1e-308, 5e-324, 1e-200, 1e-160, 1e160, 1e200, 1e300, 1.7e308, 1};
    std::vector<Z> z;
    for (double re : sizes)
        for (double im : sizes)
            for (int k = 0; k < 4; ++k) z.push_back({k & 1 ? -re : re, k & 2 ? -im : im});
    for (Math fn : {Math::log, Math::sqrt, Math::asin, Math::acos, Math::atan, Math::asinh, Math::acosh, Math::atanh}) {
        const Row* row = nullptr;
        for (const Row& r : rows)
            if (r.fn == fn) row = &r;
        const auto w = lowered<double>(fn, {z});
        for (std::size_t k = 0; k < z.size(); ++k) {
            const Z want = row->exact(z[k]);
            EXPECT_LT(error(w[k], want), 16) << name(fn) << "(" << z[k].real() << ", " << z[k].imag() << ") = (" << w[k].real() << ", "
                                             << w[k].imag() << "), not (" << want.real() << ", " << want.imag() << ")";
        }
    }
    const std::vector<Z> overflowing{{709.9, 1.5}, {720, 1.5707963}, {-745.5, 0.1}, {800, 0.0}, {1500, 3}};
    for (Math fn : {Math::exp, Math::sinh, Math::cosh}) {
        const Row& row = fn == Math::exp ? rows[0] : fn == Math::sinh ? rows[6] : rows[7];
        const auto w = lowered<double>(fn, {overflowing});
        for (std::size_t k = 0; k < overflowing.size(); ++k)
            EXPECT_TRUE(alike(w[k], row.exact(overflowing[k])))
                << name(fn) << text(overflowing[k]) << text(w[k]) << text(row.exact(overflowing[k]));
    }
}

/// NumPy's definitions of those that C does not have.
TEST(Complex, DerivedFunctions) {
    const auto z = ordinary_arguments();
    const auto exp2 = lowered<double>(Math::exp2, {z}), log2 = lowered<double>(Math::log2, {z}), log10 = lowered<double>(Math::log10, {z});
    const auto expm1 = lowered<double>(Math::expm1, {z}), log1p = lowered<double>(Math::log1p, {z});
    using L = std::complex<long double>;
    for (std::size_t k = 0; k < z.size(); ++k) {
        const L x(z[k]);
        if (std::abs(z[k]) > 100) continue;
        EXPECT_LT(error(exp2[k], Z(std::exp(x * std::log(2.0L)))), 200) << text(z[k]);
        EXPECT_LT(error(log2[k], Z(std::log(x) / std::log(2.0L))), 8) << text(z[k]);
        EXPECT_LT(error(log10[k], Z(std::log(x) / std::log(10.0L))), 8) << text(z[k]);
        const L minus_one{std::expm1(x.real()) * std::cos(x.imag()) - 2 * std::pow(std::sin(x.imag() / 2), 2.0L),
                          std::exp(x.real()) * std::sin(x.imag())};
        EXPECT_LT(error(expm1[k], Z(minus_one)), 8) << text(z[k]);
        const L log_plus_one{std::log1p(2 * x.real() + std::norm(x)) / 2, std::atan2(x.imag(), x.real() + 1)};
        EXPECT_LT(error(log1p[k], Z(log_plus_one)), std::abs(z[k] + 1.0) > 1e-3 ? 8 : 1e6) << text(z[k]);
    }
}

TEST(Complex, Arithmetic) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> spread(-4, 4);
    std::vector<Z> a, b;
    for (int k = 0; k < 500; ++k) {
        a.push_back({spread(random), spread(random)});
        b.push_back({spread(random), spread(random)});
    }
    auto check = [&](const char* what, auto body, auto exact, double limit) {
        const auto w = lowered<double>(body, {a, b});
        for (std::size_t k = 0; k < a.size(); ++k)
            EXPECT_LE(error(w[k], exact(a[k], b[k])), limit) << what << text(a[k]) << text(b[k]) << " = " << text(w[k]);
    };
    using Vs = std::span<const Value>;
    check(
        "add", [](Builder& m, Vs v) { return m.add(v[0], v[1]); }, [](Z x, Z y) { return x + y; }, 0);
    check(
        "sub", [](Builder& m, Vs v) { return m.sub(v[0], v[1]); }, [](Z x, Z y) { return x - y; }, 0);
    check(
        "mul", [](Builder& m, Vs v) { return m.mul(v[0], v[1]); }, [](Z x, Z y) { return x * y; }, 1e-9);
    check(
        "div", [](Builder& m, Vs v) { return m.div(v[0], v[1]); }, [](Z x, Z y) { return x / y; }, 8);
    check(
        "neg", [](Builder& m, Vs v) { return m.neg(v[0]); }, [](Z x, Z) { return -x; }, 0);
    check(
        "pow", [](Builder& m, Vs v) { return m.call(Math::pow, v[0], v[1]); },
        [](Z x, Z y) { return Z(std::pow(std::complex<long double>(x), std::complex<long double>(y))); }, 60);
    check(
        "select", [](Builder& m, Vs v) { return m.select(m.lt(m.real(v[0]), m.real(v[1])), v[0], v[1]); },
        [](Z x, Z y) { return x.real() < y.real() ? x : y; }, 0);
    check(
        "min", [](Builder& m, Vs v) { return m.min(v[0], v[1]); }, [](Z x, Z y) { return x.real() < y.real() ? x : y; }, 0);
    check(
        "max", [](Builder& m, Vs v) { return m.max(v[0], v[1]); }, [](Z x, Z y) { return x.real() > y.real() ? x : y; }, 0);
    check(
        "parts", [](Builder& m, Vs v) { return m.complex(m.imag(v[0]), m.abs(v[1])); }, [](Z x, Z y) { return Z(x.imag(), std::abs(y)); },
        3);
    check(
        "eq", [](Builder& m, Vs v) { return m.select(m.eq(v[0], v[1]), v[0], m.select(m.ne(v[0], v[0]), v[0], v[1])); },
        [](Z, Z y) { return y; }, 0);
    check(
        "constant", [](Builder& m, Vs v) { return m.mul(v[0], m.constant(DType::Complex128, Scalar(Z(0, 2)))); },
        [](Z x, Z) { return Z(-2 * x.imag(), 2 * x.real()); }, 0);
}

/// As NumPy: x / 0 has infinities and NaNs, z ** 0 is one, whole powers are exact, 0 ** -1 is NaN.
TEST(Complex, DivisionAndPowerAtTheEdges) {
    const std::vector<Z> a{{1, 0}, {0, 0}, {-1, 2}, {1, 2}, {3, -4}, {0, 0}, {0, 0}, {2, 0}, {0, 1}, {inf, 0}, {1, 1}};
    const std::vector<Z> b{{0, 0}, {0, 0}, {0, 0}, {2, 0}, {-1, 0}, {2, 0}, {-1, 0}, {0, 0}, {99, 0}, {1, 0}, {100, 0}};
    const auto q = lowered<double>([](Builder& m, std::span<const Value> v) { return m.div(v[0], v[1]); }, {a, b});
    EXPECT_TRUE(alike(q[0], {inf, nan_value}));
    EXPECT_TRUE(alike(q[1], {nan_value, nan_value}));
    EXPECT_TRUE(alike(q[2], {-inf, inf}));
    const auto p = lowered<double>(Math::pow, {a, b});
    EXPECT_EQ(p[0], Z(1, 0));
    EXPECT_EQ(p[1], Z(1, 0));
    EXPECT_EQ(p[3], Z(-3, 4));
    EXPECT_LT(error(p[4], 1.0 / Z(3, -4)), 4);
    EXPECT_EQ(p[5], Z(0, 0));
    EXPECT_TRUE(alike(p[6], {nan_value, nan_value}));
    EXPECT_EQ(p[7], Z(1, 0));
    EXPECT_EQ(p[8], Z(0, -1));
    EXPECT_LT(error(p[10], Z(-0x1p50, 0)), 300);
}

TEST(Complex, Casts) {
    const std::vector<Z> z{{1.9, 7}, {0, 0}, {0, 1}, {-2.5, 0}};
    auto to = [&](DType t) {
        return lower_complex(elementwise(DType::Complex128, t, 1, [t](Builder& m, std::span<const Value> v) { return m.cast(v[0], t); }));
    };
    EXPECT_EQ((run<std::int32_t, Z>(to(DType::Int32), {z})), (std::vector<std::int32_t>{1, 0, 0, -2}));
    EXPECT_EQ((run<std::uint8_t, Z>(to(DType::Bool), {z})), (std::vector<std::uint8_t>{1, 0, 1, 1}));
    EXPECT_EQ((run<std::complex<float>, Z>(to(DType::Complex64), {z}))[0], std::complex<float>(1.9f, 7));
    const Kernel from = lower_complex(elementwise(DType::Int16, DType::Complex64, 1,
                                                  [](Builder& m, std::span<const Value> v) { return m.cast(v[0], DType::Complex64); }));
    EXPECT_EQ((run<std::complex<float>, std::int16_t>(from, {{3, -4}})), (std::vector<std::complex<float>>{3, -4}));
}

/// Loops, branches, reductions and scalar parameters carry pairs.
TEST(Complex, RegionsCarryPairs) {
    Builder m("regions", 1, false);
    const Value x = m.pointer("x", DType::Complex128, Access::Read, true), out = m.pointer("out", DType::Complex128, Access::Write, true);
    const Value c = m.scalar_param("c", DType::Complex128), n = m.scalar_param("n", DType::Int64);
    const Value zero = m.i64(0), one = m.i64(1), nil = m.constant(DType::Complex128, 0.0), unit = m.constant(DType::Complex128, 1.0);
    const Reduction both[] = {{Combine::Add, nil}, {Combine::Mul, unit}, {Combine::Max, nil}};
    const auto reduced = m.for_lanes(zero, n, both, [&](Value i) {
        const Value v = m.load(x, i);
        return Builder::Values{v, v, v};
    });
    const Reduction sum_only[] = {{Combine::Add, c}};
    const auto sum = m.for_lanes(zero, n, sum_only, [&](Value i) { return Builder::Values{m.load(x, i)}; });
    const Value start[] = {c};
    const auto serial = m.for_loop(
        zero, n, one, start, [&](Value i, std::span<const Value> z) { return Builder::Values{m.add(m.mul(z[0], z[0]), m.load(x, i))}; });
    const auto repeated = m.while_loop(
        start, [&](std::span<const Value> z) { return m.lt(m.abs(z[0]), m.constant(DType::Float64, 100)); },
        [&](std::span<const Value> z) { return Builder::Values{m.mul(z[0], m.constant(DType::Complex128, Scalar(Z(1, 1))))}; });
    const auto chosen = m.if_else(
        m.gt(m.real(c), m.constant(DType::Float64, 0)), [&] { return Builder::Values{m.neg(c)}; }, [&] { return Builder::Values{nil}; });
    const Value results[] = {reduced[0], reduced[1], reduced[2], sum[0], serial[0], repeated[0], chosen[0]};
    for (int k = 0; k < 7; ++k) m.store(out, m.add(m.mul(m.dim(0), m.i64(7)), m.i64(k)), results[k]);
    const Kernel whole = m.finish(), kernel = lower_complex(whole);
    for (const ValueInfo& v : kernel.values) EXPECT_FALSE(is_complex(v.type));
    EXPECT_EQ(kernel.params.size(), whole.params.size() + 1);
    int lanes = 0;
    for (const Instr& in : kernel.instrs) lanes += is_lanes_loop(in);
    EXPECT_EQ(lanes, 1);  // the one that only adds

    const std::vector<Z> data{{1, 2}, {0.5, -1}, {1, 3}};
    std::vector<Z> before(7), after(7);
    const double parts[] = {1.5, -0.5};
    auto call = [&](const Kernel& k, std::vector<Z>& to) {
        const std::uint64_t args[] = {std::bit_cast<std::uint64_t>(data.data()), std::bit_cast<std::uint64_t>(to.data()),
                                      std::bit_cast<std::uint64_t>(parts[0]), std::bit_cast<std::uint64_t>(parts[1]), 3};
        const std::int64_t extents[] = {1};
        interpret(k, args, extents);
    };
    call(whole, before);
    call(kernel, after);
    EXPECT_EQ(before, after);
    EXPECT_EQ(after[0], Z(2.5, 4));
    EXPECT_EQ(after[2], Z(1, 3));
    EXPECT_EQ(after[3], Z(4, 3.5));
    EXPECT_EQ(after[6], Z(-1.5, 0.5));
}

TEST(Complex, RealKernelsAreUntouched) {
    const Kernel kernel =
        elementwise(DType::Float32, DType::Float32, 1, [](Builder& m, std::span<const Value> v) { return m.add(v[0], v[0]); });
    EXPECT_EQ(print(lower_complex(kernel)), print(kernel));
}

}  // namespace
}  // namespace pardo::ir::test
