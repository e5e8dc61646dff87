// tests/unit/ir/math_test.cpp: functions expanded in IR against the C library in higher precision.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include <pardo/error.h>

#include "harness.h"
#include "ir/math/table.h"

namespace pardo::ir::test {
namespace {

/// Distance in units of the last place of the expected value.
template <class T> double ulps(T got, long double want) {
    if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
    const T rounded = static_cast<T>(want);
    if (std::isinf(rounded) || rounded == 0) return got == rounded && std::signbit(got) == std::signbit(rounded) ? 0 : 1e9;
    const long double ulp = static_cast<long double>(std::nextafter(std::fabs(rounded), T(inf))) - std::fabs(rounded);
    return static_cast<double>(std::fabs((static_cast<long double>(got) - want) / ulp));
}

template <class T> Kernel expanded(Math fn, int inputs) {
    return expand_math(elementwise(dtype_of<T>, dtype_of<T>, inputs, [&](Builder& m, std::span<const Value> v) { return m.call(fn, v); }));
}

template <class T> std::vector<T> points(double lo, double hi, int count) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> spread(lo, hi);
    std::vector<T> x{0,
                     T(-0.0),
                     1,
                     -1,
                     T(0.9999999),
                     T(1.0000001),
                     T(inf),
                     T(-inf),
                     T(nan_value),
                     std::numeric_limits<T>::min(),
                     std::numeric_limits<T>::denorm_min(),
                     -std::numeric_limits<T>::denorm_min(),
                     std::numeric_limits<T>::max(),
                     T(5.92),
                     T(6),
                     T(7)};
    for (int k = 0; k < count; ++k) x.push_back(T(spread(random)));
    for (int k = 0; k < count / 4; ++k) x.push_back(T(std::exp(-40 * std::fabs(spread(random)) / hi)));
    return x;
}

template <class T> double worst(Math fn, double lo, double hi, const std::function<long double(long double)>& exact) {
    const auto x = points<T>(lo, hi, 10000);
    const auto y = run<T, T>(expanded<T>(fn, 1), {x});
    double most = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        const double e = ulps(y[k], exact(x[k]));
        EXPECT_LT(e, 3) << name(fn) << "(" << x[k] << ") = " << y[k];
        most = std::max(most, e);
    }
    return most;
}

TEST(Math, ErfIsWithinOneUlp) {
    auto exact = [](long double x) { return erfl(x); };
    EXPECT_LT(worst<double>(Math::erf, -6.5, 6.5, exact), 1.0);
    EXPECT_LT(worst<double>(Math::erf, -1.5, 1.5, exact), 1.0);
    EXPECT_LT(worst<float>(Math::erf, -4.5, 4.5, exact), 1.2);
    EXPECT_LT(worst<float>(Math::erf, -1.5, 1.5, exact), 1.2);
}

TEST(Math, ErfcIsWithinTwoUlps) {
    auto exact = [](long double x) { return erfcl(x); };
    EXPECT_LT(worst<double>(Math::erfc, -7, 28, exact), 2.5);
    EXPECT_LT(worst<double>(Math::erfc, -2, 2, exact), 2.5);
    EXPECT_LT(worst<float>(Math::erfc, -5, 10.5, exact), 2.5);
    EXPECT_LT(worst<float>(Math::erfc, -2, 2, exact), 2.5);
}

template <class T> void check_pairs(Math fn, double limit, const std::function<long double(long double, long double)>& exact) {
    std::vector<T> special{0,
                           T(-0.0),
                           1,
                           -1,
                           T(inf),
                           T(-inf),
                           T(nan_value),
                           T(3),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::denorm_min(),
                           T(1e-20),
                           T(1e20),
                           T(700),
                           T(-700)};
    std::vector<T> x, y;
    for (T a : special)
        for (T b : special) {
            x.push_back(a);
            y.push_back(b);
        }
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> spread(-30, 30);
    for (int k = 0; k < 5000; ++k) {
        x.push_back(T(spread(random)));
        y.push_back(T(spread(random)));
    }
    const auto z = run<T, T>(expanded<T>(fn, 2), {x, y});
    for (std::size_t k = 0; k < x.size(); ++k)
        EXPECT_LE(ulps(z[k], exact(x[k], y[k])), limit) << name(fn) << "(" << x[k] << ", " << y[k] << ") = " << z[k];
}

TEST(Math, Hypot) {
    auto exact = [](long double a, long double b) { return hypotl(a, b); };
    check_pairs<double>(Math::hypot, 1.3, exact);
    check_pairs<float>(Math::hypot, 1.3, exact);
}

/// Measured against the larger operand where the sum cancels to a result near zero.
TEST(Math, LogAddExp) {
    for (Math fn : {Math::logaddexp, Math::logaddexp2}) {
        const bool two = fn == Math::logaddexp2;
        auto exact = [two](double a, double b) {
            if (a == b) return static_cast<double>(a + (two ? 1.0L : std::log(2.0L)));
            if (std::isnan(a) || std::isnan(b)) return nan_value;
            const double high = std::max(a, b), low = std::min(a, b);
            return static_cast<double>(two ? high + std::log1p(std::exp2((long double)low - high)) / std::log(2.0L)
                                           : high + std::log1p(std::exp((long double)low - high)));
        };
        std::vector<double> x, y;
        const double special[] = {0, -0.0, 1, -1, inf, -inf, nan_value, 700, -700, 1e308, 1e-300};
        for (double a : special)
            for (double b : special) {
                x.push_back(a);
                y.push_back(b);
            }
        const auto z = run<double, double>(expanded<double>(fn, 2), {x, y});
        for (std::size_t k = 0; k < x.size(); ++k) {
            const double want = exact(x[k], y[k]);
            if (std::isnan(want))
                EXPECT_TRUE(std::isnan(z[k])) << x[k] << " " << y[k];
            else if (std::isinf(want))
                EXPECT_EQ(want, z[k]) << x[k] << " " << y[k];
            else
                EXPECT_NEAR(z[k], want, 4e-16 * std::max({1.0, std::fabs(x[k]), std::fabs(y[k])})) << x[k] << " " << y[k];
        }
    }
}

template <class T> T power_of(T base, T exponent) {
    if (exponent < 0) return base == 1 ? 1 : base == T(-1) ? (exponent % 2 ? T(-1) : T(1)) : 0;
    std::uint64_t r = 1;
    for (T k = 0; k < exponent; ++k) r *= static_cast<std::uint64_t>(base);
    return static_cast<T>(r);
}

template <class T> void check_integer_power() {
    std::vector<T> x, y;
    for (int a = -12; a <= 12; ++a)
        for (int b = -5; b <= 20; ++b) {
            if (std::is_unsigned_v<T> && (a < 0 || b < 0)) continue;
            x.push_back(static_cast<T>(a));
            y.push_back(static_cast<T>(b));
        }
    const Kernel kernel = expanded<T>(Math::pow, 2);
    for (const Instr& in : kernel.instrs) EXPECT_NE(in.op, Opcode::Call);
    const auto z = run<T, T>(kernel, {x, y});
    for (std::size_t k = 0; k < x.size(); ++k) EXPECT_EQ(z[k], power_of(x[k], y[k])) << +x[k] << "**" << +y[k];
}

TEST(Math, IntegerPowersWrapAndNegativeExponentsTruncate) {
    check_integer_power<std::int8_t>();
    check_integer_power<std::int16_t>();
    check_integer_power<std::int32_t>();
    check_integer_power<std::int64_t>();
    check_integer_power<std::uint8_t>();
    check_integer_power<std::uint16_t>();
    check_integer_power<std::uint32_t>();
    check_integer_power<std::uint64_t>();
}

TEST(Math, IntegerPowerWithConstantExponentHasNoLoop) {
    const Kernel kernel = expand_math(elementwise(DType::Int64, DType::Int64, 1,
                                                  [](Builder& m, std::span<const Value> v) { return m.call(Math::pow, v[0], m.i64(13)); }));
    for (const Instr& in : kernel.instrs) EXPECT_NE(in.op, Opcode::While);
    const auto z = run<std::int64_t, std::int64_t>(kernel, {{-3, 0, 1, 2, 5}});
    EXPECT_EQ(z, (std::vector<std::int64_t>{-1594323, 0, 1, 8192, 1220703125}));
}

TEST(Math, HalfIsComputedInFloat) {
    const Kernel kernel = expand_math(lower_narrow_floats(
        elementwise(DType::Float16, DType::Float16, 1, [](Builder& m, std::span<const Value> v) { return m.call(Math::exp, v[0]); })));
    int calls = 0;
    for (InstrId id : kernel.body.body) {
        const Instr& in = kernel.instrs[id];
        if (in.op != Opcode::Call) continue;
        ++calls;
        EXPECT_EQ(kernel.values[in.results[0]].type, DType::Float32);
    }
    EXPECT_EQ(calls, 1);
    const auto y = run<std::uint16_t, std::uint16_t>(kernel, {{float_to_half(1.0f).bits}});
    EXPECT_EQ(y[0], float_to_half(2.718281828f).bits);
}

/// A formula that LLVM's emitter takes in place, as the interpreter sees it, rare arguments included.
template <class T> Kernel in_place(const math::Row& row) {
    return elementwise(dtype_of<T>, dtype_of<T>, 1, [&](Builder& m, std::span<const Value> v) {
        const math::Expr x{&m, v[0]}, value = row.recipe.real({&x, 1});
        return row.rare ? math::replace(value, row.rare({&x, 1}), [&] { return math::call(row.fn, x); }).v : value.v;
    });
}

template <class T> void check_in_place(Math fn, double lo, double hi, const std::function<long double(long double)>& exact) {
    for (const int vector_bytes : {16, 32, 64}) {
        const math::Row* row = math::find_in_place(fn, dtype_of<T>, {.vector_bytes = vector_bytes});
        if (!row || row->recipe.use != math::Use::Formula) continue;
        const auto x = points<T>(lo, hi, 4000);
        const auto y = run<T, T>(in_place<T>(*row), {x});
        for (std::size_t k = 0; k < x.size(); ++k) {
            const long double want = exact(x[k]);
            if (std::fabs(want) < std::numeric_limits<T>::min() && want != 0) continue;
            EXPECT_LE(ulps(y[k], want), row->ulp) << name(fn) << " of " << dtype_name(dtype_of<T>) << " " << x[k] << " is " << y[k];
        }
    }
}

TEST(Math, FormulasErrNoMoreThanTheirRowsSay) {
    struct Case {
        Math fn;
        double lo, hi;
        long double (*exact)(long double);
    };
    const Case cases[] = {{Math::erf, -6.5, 6.5, erfl},   {Math::cbrt, -1e3, 1e3, cbrtl},    {Math::exp, -80, 80, expl},
                          {Math::expm1, -80, 80, expm1l}, {Math::log, 0, 1e3, logl},         {Math::log2, 0, 1e3, log2l},
                          {Math::log10, 0, 1e3, log10l},  {Math::log1p, -0.99, 1e3, log1pl}, {Math::sin, -1e3, 1e3, sinl},
                          {Math::cos, -1e3, 1e3, cosl},   {Math::sinh, -85, 85, sinhl},      {Math::cosh, -85, 85, coshl},
                          {Math::tanh, -12, 12, tanhl},   {Math::asinh, -1e3, 1e3, asinhl}};
    for (const Case& c : cases) {
        check_in_place<float>(c.fn, c.lo, c.hi, c.exact);
        check_in_place<double>(c.fn, c.lo, c.hi, c.exact);
    }
}

TEST(Math, LookupsTakeTheLowBitsOfTheIndex) {
    const Kernel kernel = elementwise(DType::Int64, DType::Int64, 1, [](Builder& m, std::span<const Value> v) {
        const Value values[] = {m.i64(10), m.i64(20), m.i64(30), m.i64(40)};
        return m.lookup(v[0], values);
    });
    EXPECT_EQ((run<std::int64_t, std::int64_t>(kernel, {{0, 1, 2, 3, 4, -1, 1LL << 40}})),
              (std::vector<std::int64_t>{10, 20, 30, 40, 10, 40, 10}));
    Builder m("test", 1, true);
    const Value three[] = {m.i64(1), m.i64(2), m.i64(3)};
    EXPECT_THROW(m.lookup(m.dim(0), three), Error);
    EXPECT_THROW(m.lookup(m.boolean(true), std::span(three).first(2)), Error);
}

/// Both cumulative normals of Black-Scholes cost two erf, not four.
TEST(Math, OddFunctionsShareTheirOpposites) {
    auto count = [](bool both) {
        return expand_math(
                   elementwise(DType::Float64, DType::Float64, 1,
                               [&](Builder& m, std::span<const Value> v) {
                                   const Value c = m.constant(DType::Float64, std::sqrt(0.5));
                                   const Value plus = m.call(Math::erf, m.mul(v[0], c));
                                   return both ? m.add(plus, m.mul(m.constant(DType::Float64, 2), m.call(Math::erf, m.mul(m.neg(v[0]), c))))
                                               : plus;
                               }))
            .body.body.size();
    };
    EXPECT_LE(count(true), count(false) + 4);
}

}  // namespace
}  // namespace pardo::ir::test
