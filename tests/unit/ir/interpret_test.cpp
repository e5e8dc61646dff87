// tests/unit/ir/interpret_test.cpp: the oracle itself, against values worked out by hand or by the C++ compiler.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <pardo/error.h>

#include "harness.h"

namespace pardo::ir::test {
namespace {

template <class Out, class In> std::vector<Out> apply(Opcode op, const std::vector<std::vector<In>>& in) {
    return run<Out, In>(elementwise(dtype_of<In>, dtype_of<Out>, static_cast<int>(in.size()),
                                    [&](Builder& m, std::span<const Value> v) { return m.emit(op, dtype_of<Out>, v); }),
                        in);
}
template <class T> using V = std::vector<T>;

TEST(Interpret, IntegersWrapAndDivideAsNumPy) {
    using I8 = std::int8_t;
    const V<V<I8>> in{{100, -128, 7, -7, 7, -7, 5, 0}, {100, -1, 2, 2, -2, -2, 0, 3}};
    EXPECT_EQ((apply<I8, I8>(Opcode::Add, in)), (V<I8>{-56, 127, 9, -5, 5, -9, 5, 3}));
    EXPECT_EQ((apply<I8, I8>(Opcode::Mul, in)), (V<I8>{16, -128, 14, -14, -14, 14, 0, 0}));
    EXPECT_EQ((apply<I8, I8>(Opcode::FloorDiv, in)), (V<I8>{1, -128, 3, -4, -4, 3, 0, 0}));
    EXPECT_EQ((apply<I8, I8>(Opcode::Rem, in)), (V<I8>{0, 0, 1, 1, -1, -1, 0, 0}));
    EXPECT_EQ((apply<I8, I8>(Opcode::Fmod, in)), (V<I8>{0, 0, 1, -1, 1, -1, 0, 0}));
    EXPECT_EQ((apply<I8, I8>(Opcode::Abs, {{-128, -3, 3}})), (V<I8>{-128, 3, 3}));
    EXPECT_EQ((apply<std::uint8_t, std::uint8_t>(Opcode::Sub, {{1, 200}, {2, 100}})), (V<std::uint8_t>{255, 100}));
    EXPECT_EQ((apply<std::uint64_t, std::uint64_t>(Opcode::FloorDiv, {{~0ull, 7}, {2, 0}})), (V<std::uint64_t>{~0ull / 2, 0}));
    EXPECT_EQ((apply<std::int64_t, std::int64_t>(Opcode::FloorDiv, {{INT64_MIN}, {-1}})), (V<std::int64_t>{INT64_MIN}));
}

TEST(Interpret, Shifts) {
    using I8 = std::int8_t;
    EXPECT_EQ((apply<I8, I8>(Opcode::Shl, {{1, 1, 1, 1, -1}, {6, 7, 8, -1, 1}})), (V<I8>{64, -128, 0, 0, -2}));
    EXPECT_EQ((apply<I8, I8>(Opcode::Shr, {{-8, -8, 8, 8, -1}, {1, 8, 8, 1, -1}})), (V<I8>{-4, -1, 0, 4, -1}));
    EXPECT_EQ((apply<std::uint32_t, std::uint32_t>(Opcode::Shr, {{0x80000000u, 5}, {31, 32}})), (V<std::uint32_t>{1, 0}));
}

TEST(Interpret, FloatDivisionAsNumPy) {
    const V<V<double>> in{{7, -7, 7, -7, 1, -1, 0, inf, 1, 5.5}, {2, 2, -2, -2, 0, inf, -3, 2, inf, -0.25}};
    const auto quotient = apply<double, double>(Opcode::FloorDiv, in);
    const V<double> want{3, -4, -4, 3, inf, -1, -0.0, nan_value, 0, -22};
    for (std::size_t k = 0; k < want.size(); ++k)
        EXPECT_TRUE(quotient[k] == want[k] || (std::isnan(want[k]) && std::isnan(quotient[k]))) << k << ": " << quotient[k];
    const auto remainder = apply<double, double>(Opcode::Rem, in);
    EXPECT_EQ(remainder[0], 1);
    EXPECT_EQ(remainder[1], 1);
    EXPECT_EQ(remainder[2], -1);
    EXPECT_EQ(remainder[3], -1);
    EXPECT_TRUE(std::isnan(remainder[4]));
    EXPECT_EQ(remainder[5], inf);
    EXPECT_TRUE(std::signbit(remainder[6]));
}

TEST(Interpret, MinimumPropagatesNanAndFminDoesNot) {
    const V<V<double>> in{{1, nan_value, 1, nan_value}, {2, 2, nan_value, nan_value}};
    const auto low = apply<double, double>(Opcode::Min, in), f = apply<double, double>(Opcode::Fmin, in),
               high = apply<double, double>(Opcode::Max, in), g = apply<double, double>(Opcode::Fmax, in);
    EXPECT_EQ(low[0], 1);
    EXPECT_EQ(high[0], 2);
    for (int k = 1; k < 4; ++k) EXPECT_TRUE(std::isnan(low[static_cast<std::size_t>(k)]) && std::isnan(high[static_cast<std::size_t>(k)]));
    EXPECT_EQ(f[1], 2);
    EXPECT_EQ(f[2], 1);
    EXPECT_EQ(g[1], 2);
    EXPECT_TRUE(std::isnan(f[3]));
}

TEST(Interpret, FloatsRoundToTheirDType) {
    const V<float> a{1.1f, 3e38f, 16777216.0f}, b{2.3f, 2.0f, 1.0f};
    const auto sum = apply<float, float>(Opcode::Add, {a, b}), product = apply<float, float>(Opcode::Mul, {a, b}),
               quotient = apply<float, float>(Opcode::Div, {a, b});
    for (std::size_t k = 0; k < a.size(); ++k) {
        EXPECT_EQ(sum[k], a[k] + b[k]);
        EXPECT_EQ(product[k], a[k] * b[k]);
        EXPECT_EQ(quotient[k], a[k] / b[k]);
    }
    const float x = 1 + 0x1p-12f;
    EXPECT_EQ((apply<float, float>(Opcode::Fma, {{x}, {x}, {-1.0f}}))[0], std::fmaf(x, x, -1.0f));
    const Kernel half =
        elementwise(DType::Float16, DType::Float16, 2, [](Builder& m, std::span<const Value> v) { return m.add(v[0], v[1]); });
    const auto h = run<std::uint16_t, std::uint16_t>(
        half, {{float_to_half(2048).bits, float_to_half(60000).bits}, {float_to_half(1).bits, float_to_half(60000).bits}});
    EXPECT_EQ(half_to_float(Half{h[0]}), 2048.0f);
    EXPECT_EQ(half_to_float(Half{h[1]}), static_cast<float>(inf));
}

TEST(Interpret, CastsAsNumPy) {
    auto cast = [](DType to) {
        return elementwise(DType::Float64, to, 1, [to](Builder& m, std::span<const Value> v) { return m.cast(v[0], to); });
    };
    const V<double> x{2.9, -2.9, 300, nan_value, 1e30};
    EXPECT_EQ((run<std::int32_t, double>(cast(DType::Int32), {x})), (V<std::int32_t>{2, -2, 300, INT32_MIN, INT32_MIN}));
    EXPECT_EQ((run<std::uint8_t, double>(cast(DType::Bool), {x})), (V<std::uint8_t>{1, 1, 1, 1, 1}));
    EXPECT_EQ((run<std::uint8_t, double>(cast(DType::UInt8), {{2.9, 255, 256}})), (V<std::uint8_t>{2, 255, 0}));
}

TEST(Interpret, BoolsAndBits) {
    auto logic = [](Opcode op) {
        return elementwise(DType::Bool, DType::Bool, 2, [op](Builder& m, std::span<const Value> v) { return m.emit(op, DType::Bool, v); });
    };
    const V<V<std::uint8_t>> in{{0, 0, 1, 1}, {0, 1, 0, 1}};
    EXPECT_EQ((run<std::uint8_t, std::uint8_t>(logic(Opcode::And), in)), (V<std::uint8_t>{0, 0, 0, 1}));
    EXPECT_EQ((run<std::uint8_t, std::uint8_t>(logic(Opcode::Add), in)), (V<std::uint8_t>{0, 1, 1, 1}));
    EXPECT_EQ((run<std::uint8_t, std::uint8_t>(logic(Opcode::Xor), in)), (V<std::uint8_t>{0, 1, 1, 0}));
    EXPECT_EQ((run<std::uint8_t, std::uint8_t>(logic(Opcode::Lt), in)), (V<std::uint8_t>{0, 1, 0, 0}));
    const Kernel bits =
        elementwise(DType::Float32, DType::UInt32, 1, [](Builder& m, std::span<const Value> v) { return m.bitcast(v[0], DType::UInt32); });
    EXPECT_EQ((run<std::uint32_t, float>(bits, {{1.0f, -0.0f}})), (V<std::uint32_t>{0x3f800000u, 0x80000000u}));
}

/// A matrix product with serial, lanes and while loops over a two-dimensional range, stored transposed.
TEST(Interpret, RegionsAndRange) {
    Builder m("product", 2, true);
    const Value a = m.pointer("a", DType::Float64, Access::Read, true), b = m.pointer("b", DType::Float64, Access::Read, true),
                c = m.pointer("c", DType::Float64, Access::Write, true);
    const Value inner = m.scalar_param("inner", DType::Int64);
    const Value i = m.dim(0), j = m.dim(1), zero = m.constant(DType::Float64, 0.0);
    const Reduction sum[] = {{Combine::Add, zero}};
    const auto lanes = m.for_lanes(m.i64(0), inner, sum, [&](Value k) {
        return Builder::Values{m.mul(m.load(a, m.add(m.mul(i, inner), k)), m.load(b, m.add(m.mul(k, m.extent(1)), j)))};
    });
    const Value start[] = {zero};
    const auto down = m.for_loop(m.sub(inner, m.i64(1)), m.i64(-1), m.i64(-1), start, [&](Value k, std::span<const Value> s) {
        return Builder::Values{m.fma(m.load(a, m.add(m.mul(i, inner), k)), m.load(b, m.add(m.mul(k, m.extent(1)), j)), s[0])};
    });
    const Value first[] = {m.i64(0), m.i64(1)};
    const auto power = m.while_loop(
        first, [&](std::span<const Value> v) { return m.lt(v[0], j); },
        [&](std::span<const Value> v) {
            return Builder::Values{m.add(v[0], m.i64(1)), m.mul(v[1], m.i64(2))};
        });
    const auto chosen = m.if_else(
        m.eq(lanes[0], down[0]), [&] { return Builder::Values{m.add(lanes[0], m.cast(power[1], DType::Float64))}; },
        [&] { return Builder::Values{zero}; });
    m.store(c, m.add(m.mul(j, m.extent(0)), i), chosen[0]);
    const Kernel kernel = m.finish();
    const V<double> x{1, 2, 3, 4, 5, 6}, y{1, 0, 2, 1, 0, 1, 3, 1, 1, 1, 1, 2};
    V<double> z(8);
    const std::uint64_t args[] = {std::bit_cast<std::uint64_t>(x.data()), std::bit_cast<std::uint64_t>(y.data()),
                                  std::bit_cast<std::uint64_t>(z.data()), 3};
    const std::int64_t extents[] = {2, 4};
    interpret(kernel, args, extents);
    for (std::size_t r = 0; r < 2; ++r)
        for (std::size_t s = 0; s < 4; ++s) {
            double want = std::exp2(static_cast<double>(s));
            for (std::size_t k = 0; k < 3; ++k) want += x[r * 3 + k] * y[k * 4 + s];
            EXPECT_EQ(z[s * 2 + r], want) << r << " " << s;
        }
}

TEST(Interpret, EmptyRangesAndRankZero) {
    Builder m("scalar", 0, false);
    const Value p = m.pointer("p", DType::Int32, Access::ReadWrite, true);
    m.store(p, m.i64(0), m.add(m.load(p, m.i64(0)), m.constant(DType::Int32, 1.0)));
    const Kernel kernel = m.finish();
    std::int32_t count = 0;
    const std::uint64_t args[] = {std::bit_cast<std::uint64_t>(&count)};
    interpret(kernel, args, {});
    EXPECT_EQ(count, 1);
    V<double> none;
    EXPECT_TRUE((apply<double, double>(Opcode::Neg, {none})).empty());
}

/// Each item i has an array of i elements, and then one of counts[i]: out[i] is the sum of the first, or -1 where the second has no memory.
Kernel sized(DType type, const std::function<Value(Builder&, Value)>& of) {
    Builder m("sized", 1, false);
    const Value counts = m.pointer("counts", DType::Int64, Access::Read, true), out = m.pointer("out", type, Access::Write, true);
    const Value i = m.dim(0), zero = m.constant(type, 0.0), own = m.array("own", type, 0, Space::Private);
    const auto nothing = [] { return Builder::Values(); };
    m.if_else(
        m.resize(own, i),
        [&] {
            m.for_loop(m.i64(0), i, m.i64(1), {}, [&](Value k, std::span<const Value>) {
                m.store(own, k, of(m, m.add(k, i)));
                return nothing();
            });
            return nothing();
        },
        nothing);
    const Value sum = m.for_loop(m.i64(0), i, m.i64(1), std::span(&zero, 1),
                                 [&](Value k, std::span<const Value> s) { return Builder::Values{m.add(s[0], m.load(own, k))}; })[0];
    const Value fits = m.resize(own, m.load(counts, i));
    m.store(out, i, m.select(fits, sum, m.neg(of(m, m.i64(1)))));
    return m.finish();
}

TEST(Interpret, ArraysTakeTheSizeThatIsAskedFor) {
    const Kernel kernel = sized(DType::Float64, [](Builder& m, Value v) { return m.cast(v, DType::Float64); });
    const V<V<std::int64_t>> counts{{0, 1, std::int64_t(1) << 60, 5, -1, 1}};
    EXPECT_EQ((run<double, std::int64_t>(kernel, counts)), (V<double>{0, 1, -1, 12, -1, 35}));
    using Z = std::complex<double>;
    const Kernel pairs = sized(DType::Complex128, [](Builder& m, Value v) {
        const Value x = m.cast(v, DType::Float64);
        return m.complex(x, m.neg(x));
    });
    EXPECT_EQ((run<Z, std::int64_t>(pairs, counts)), (run<Z, std::int64_t>(lower_complex(pairs), counts)));
    EXPECT_EQ((run<Z, std::int64_t>(pairs, counts))[3], Z(12, -12));
}

TEST(Interpret, ArraysHaveNoMoreThanTheyAskedFor) {
    Builder m("beyond", 1, false);
    const Value out = m.pointer("out", DType::Bool, Access::Write, true), own = m.array("own", DType::Float32, 0, Space::Private);
    m.store(out, m.dim(0), m.resize(own, m.i64(3)));
    m.store(own, m.i64(3), m.constant(DType::Float32, 1.0));
    const Kernel kernel = m.finish();
    bool made = false;
    const std::uint64_t args[] = {std::bit_cast<std::uint64_t>(&made)};
    const std::int64_t extents[] = {1};
    EXPECT_THROW(interpret(kernel, args, extents), Error);
    EXPECT_TRUE(made);
}

TEST(Interpret, ChecksArguments) {
    const Kernel kernel = elementwise(DType::Float64, DType::Float64, 1, [](Builder& m, std::span<const Value> v) { return m.neg(v[0]); });
    const std::int64_t extents[] = {1};
    EXPECT_THROW(interpret(kernel, {}, extents), Error);
    const std::uint64_t args[] = {0, 0, 0};
    EXPECT_THROW(interpret(kernel, args, extents), Error);
    EXPECT_THROW(interpret(kernel, std::span(args, 2), {}), Error);
}

}  // namespace
}  // namespace pardo::ir::test
