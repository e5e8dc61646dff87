// tests/unit/emit/reduce.cpp: loops of LoopKind::Lanes: every combination and dtype, every trip count, NaN, determinism, accuracy.
#include <algorithm>

#include "support.h"

namespace pardo::test {
namespace {

using ir::Access;
using ir::Builder;
using ir::Combine;
using ir::Reduction;
using ir::Value;
using Values = Builder::Values;

/// out[row] = reduction of in[row, 0:length]; `item_lanes` puts the lanes on the rows.
ir::Kernel reduction(Combine c, DType t, bool item_lanes) {
    Builder b("reduce", 1, item_lanes);
    const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true),
                n = b.scalar_param("n", DType::Int64);
    const Value i = b.dim(0), base = b.mul(i, n);
    const Reduction r{c, b.identity(c, t)};
    const Values total = b.for_lanes(b.i64(0), n, {&r, 1}, [&](Value j) { return Values{b.load(x, b.add(base, j))}; });
    b.store(o, i, total[0]);
    return b.finish();
}

bool has_combine(Combine c, DType t) {
    if (c >= Combine::And) return t == DType::Bool || is_integer(t);
    return t != DType::Bool && !(is_complex(t) && (c == Combine::Min || c == Combine::Max));
}

TEST(Reduce, EveryCombineDtypeAndLength) {
    for (Combine c : {Combine::Add, Combine::Mul, Combine::Min, Combine::Max, Combine::And, Combine::Or, Combine::Xor})
        for (int k = 0; k < dtype_count; ++k) {
            const auto t = static_cast<DType>(k);
            if (!has_combine(c, t) || is_complex(t)) continue;
            for (bool item_lanes : {false, true})
                for (int width : widths) {
                    const ir::Kernel kernel = reduction(c, t, item_lanes);
                    const Compiled code = compile(kernel, width);
                    for (std::int64_t n : {0, 1, 2, 3, 7, 8, 9, 31, 33, 64, 65, 130, 300}) {
                        std::vector<Argument> native{interesting(t, 5 * n, 7, 1.5), array(t, 5), scalar_of(n)};
                        if (c == Combine::Add || c == Combine::Mul) {  // sums of specials are all NaN
                            for (std::size_t at = 0; at < native[0].bytes.size(); at += static_cast<std::size_t>(itemsize(t))) {
                                if (t == DType::Float64) {
                                    double v;
                                    std::memcpy(&v, &native[0].bytes[at], 8);
                                    v = std::isfinite(v) && std::abs(v) < 100 ? 1 + std::abs(v) / 50 : 1.0;
                                    std::memcpy(&native[0].bytes[at], &v, 8);
                                } else if (t == DType::Float32) {
                                    const float v = 1 + static_cast<float>(at % 13) / 64;
                                    std::memcpy(&native[0].bytes[at], &v, 4);
                                } else if (is_narrow_float(t)) {
                                    const double v = c == Combine::Mul ? 1 : 1 + static_cast<double>(at % 3);
                                    const std::uint16_t bits = to_narrow(v, facts_of(t).exponent, facts_of(t).mantissa);
                                    std::memcpy(&native[0].bytes[at], &bits, 2);
                                }
                            }
                        }
                        std::vector<Argument> reference = native;
                        run_native(code, native, {5});
                        interpret(kernel, reference, {5});
                        const double tolerance = is_float(t) && (c == Combine::Add || c == Combine::Mul) ? 200 : 0;
                        expect_same(native, reference, tolerance,
                                    std::string(ir::name(c)) + " " + std::string(dtype_name(t)) + " n " + std::to_string(n) + " bytes " +
                                        std::to_string(width) + (item_lanes ? " lanes over rows" : ""));
                        if (testing::Test::HasFailure()) return;
                    }
                }
        }
}

TEST(Reduce, NanWinsWhereverItStands) {
    for (Combine c : {Combine::Min, Combine::Max})
        for (int width : widths) {
            const Compiled code = compile(reduction(c, f64, false), width);
            for (std::int64_t at = 0; at < 150; ++at) {
                std::vector<double> x(150, 1.0);
                x[static_cast<std::size_t>(at)] = NAN;
                std::vector<Argument> arguments{array_of(x), array(f64, 1), scalar_of(std::int64_t(150))};
                run_native(code, arguments, {1});
                EXPECT_TRUE(std::isnan(values<double>(arguments[1])[0])) << at;
            }
        }
}

TEST(Reduce, HalfSumsAreHalvesInEveryKindOfLoop) {
    constexpr DType f16 = DType::Float16;
    for (int kind : {0, 1, 2}) {  // lanes in the loop, in the rows, in rows of unlike lengths
        Builder b("half", 1, kind != 0);
        const Value x = b.pointer("x", f16, Access::Read, true), o = b.pointer("o", f16, Access::Write, true),
                    n = b.scalar_param("n", DType::Int64);
        const Reduction sum{Combine::Add, b.constant(f16, 0.0)};
        const Value upper = kind == 2 ? b.rem(b.dim(0), n) : n;
        const Value s = b.for_lanes(b.i64(0), upper, {&sum, 1}, [&](Value j) { return Values{b.load(x, j)}; })[0];
        b.store(o, b.dim(0), b.mul(s, b.constant(f16, 0.5)));  // 2 * 40000 is infinite, and so is half of it
        const Half h = float_to_half(40000);
        check(b.finish(), {array_of(std::vector<Half>(3, h)), array(f16, 9), scalar_of(std::int64_t(3))}, {9}, 0, std::to_string(kind));
    }
}

TEST(Reduce, SeveralAtOnceWithAMaskedBodyAndStores) {
    Builder b("many", 1, false);
    const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true),
                q = b.pointer("q", f64, Access::Write, true), n = b.scalar_param("n", DType::Int64);
    const Value i = b.dim(0), base = b.mul(i, n);
    const Reduction rs[] = {{Combine::Add, b.constant(f64, 10.0)},
                            {Combine::Max, b.constant(f64, -1e9)},
                            {Combine::Add, b.i64(3)},
                            {Combine::Or, b.boolean(false)}};
    const Values r = b.for_lanes(b.i64(1), n, rs, [&](Value j) {
        const Value v = b.load(x, b.add(base, j));
        const Values c = b.if_else(
            b.gt(v, b.constant(f64, 0.0)),
            [&] {
                b.store(q, b.add(base, j), b.add(v, v));
                return Values{v};
            },
            [&] { return Values{b.constant(f64, 0.0)}; });
        return Values{c[0], v, b.select(b.gt(v, b.constant(f64, 3.0)), j, b.i64(0)), b.gt(v, b.constant(f64, 49.0))};
    });
    const Value at = b.mul(i, b.i64(4));
    b.store(o, at, r[0]);
    b.store(o, b.add(at, b.i64(1)), r[1]);
    b.store(o, b.add(at, b.i64(2)), b.cast(r[2], f64));
    b.store(o, b.add(at, b.i64(3)), b.cast(r[3], f64));
    std::vector<double> values;
    for (int k = 0; k < 3 * 97; ++k) values.push_back(k * 37 % 101 - 50);
    check(b.finish(), {array_of(values), array(f64, 12), array(f64, 3 * 97), scalar_of(std::int64_t(97))}, {3}, 0);
}

TEST(Reduce, LanesLoopInsideSerialAndLanesLoops) {
    Builder b("softmax", 1, false);
    const Value x = b.pointer("x", f64, Access::Read, true), o = b.pointer("o", f64, Access::Write, true),
                n = b.scalar_param("n", DType::Int64);
    const Value i = b.dim(0), base = b.mul(i, n);
    const Reduction largest{Combine::Max, b.constant(f64, -INFINITY)}, sum{Combine::Add, b.constant(f64, 0.0)};
    const Value m = b.for_lanes(b.i64(0), n, {&largest, 1}, [&](Value j) { return Values{b.load(x, b.add(base, j))}; })[0];
    const Value s =
        b.for_lanes(b.i64(0), n, {&sum, 1}, [&](Value j) { return Values{b.call(ir::Math::exp, b.sub(b.load(x, b.add(base, j)), m))}; })[0];
    b.for_lanes(b.i64(0), n, {}, [&](Value j) {
        b.store(o, b.add(base, j), b.div(b.call(ir::Math::exp, b.sub(b.load(x, b.add(base, j)), m)), s));
        return Values{};
    });
    const Value zero = b.constant(f64, 0.0);
    const Value total = b.for_lanes(b.i64(0), b.i64(3), {&sum, 1}, [&](Value k) {  // the inner loop takes the lanes
        return Values{
            b.for_lanes(b.i64(0), b.i64(7), {&sum, 1}, [&](Value j) { return Values{b.load(x, b.add(b.mul(k, b.i64(7)), j))}; })[0]};
    })[0];
    b.store(o, b.add(b.mul(b.extent(0), n), i), b.add(total, zero));
    std::vector<double> values;
    for (int k = 0; k < 4 * 45; ++k) values.push_back(k * 37 % 101 * 0.1);
    check(b.finish(), {array_of(values), array(f64, 4 * 45 + 4), scalar_of(std::int64_t(45))}, {4}, 20);
}

TEST(Reduce, RowsAreNotCopiedWithTheirLoops) {
    const std::string text = emit::compile_text(reduction(Combine::Add, DType::Int64, false), "sum", false);
    int loads = 0;  // each row's main loop takes four vectors at a time
    for (std::size_t at = text.find("load <"); at != std::string::npos; at = text.find("load <", at + 1)) ++loads;
    EXPECT_EQ(loads, 4) << text;
}

TEST(Reduce, LongFloatSumsStayAccurate) {
    const std::int64_t n = 3000000;
    std::vector<float> x(static_cast<std::size_t>(n), 0.1f);
    for (int width : widths) {
        std::vector<Argument> arguments{array_of(x), array(DType::Float32, 1), scalar_of(n)};
        run_native(compile(reduction(Combine::Add, DType::Float32, false), width), arguments, {1});
        EXPECT_NEAR(values<float>(arguments[1])[0] / (0.1f * static_cast<double>(n)), 1, 2e-5);
    }
}

TEST(Reduce, ComplexSumsAndProducts) {
    for (Combine c : {Combine::Add, Combine::Mul}) {
        Builder b("complex", 1, false);
        constexpr DType t = DType::Complex128;
        const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true),
                    n = b.scalar_param("n", DType::Int64);
        const Reduction r{c, b.identity(c, t)};
        const Values total = b.for_lanes(b.i64(0), n, {&r, 1}, [&](Value j) { return Values{b.load(x, j)}; });
        b.store(o, b.dim(0), total[0]);
        std::vector<std::complex<double>> values;
        for (int k = 0; k < 75; ++k) values.push_back(std::polar(1.0, k * 0.37));
        check(b.finish(), {array_of(values), array(t, 1), scalar_of(std::int64_t(75))}, {1}, 1e4);
    }
}

}  // namespace
}  // namespace pardo::test
