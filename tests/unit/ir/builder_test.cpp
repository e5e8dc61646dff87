// tests/unit/ir/builder_test.cpp: folding, value numbering, dead code, and the text of kernels.
#include <gtest/gtest.h>

#include <limits>

#include <pardo/error.h>

#include "harness.h"

namespace pardo::ir::test {
namespace {

class BuilderTest : public testing::Test {
protected:
    Builder m{"k", 2, true};
    Value in = m.pointer("in", F64, Access::Read, true);
    Value out = m.pointer("out", F64, Access::Write, false, true);
    Value s = m.scalar_param("s", F64), n = m.scalar_param("n", I64);
    Value f(double v) { return m.constant(F64, v); }
    const Instr& def(Value v) { return m.kernel().instrs[m.kernel().values[v].def]; }
};

TEST_F(BuilderTest, GoldenText) {
    // One call a line: C++ leaves the order of arguments open.
    const Value row = m.dim(0), columns = m.extent(1), start = m.mul(row, columns), column = m.dim(1);
    const Value i = m.add(start, column), scaled = m.mul(m.load(in, i), s);
    m.store(out, i, m.call(Math::exp, m.add(scaled, f(0.1))));
    EXPECT_EQ(print(m.finish()), R"(kernel "k" rank 2 lanes (
  %0 "in" pointer float64 read noalias
  %1 "out" pointer float64 write streaming
  %2 "s" scalar float64
  %3 "n" scalar int64
) {
  %4 = dim 0
  %5 = extent 1
  %6 = mul int64 %4, %5
  %7 = dim 1
  %8 = add int64 %6, %7
  %9 = load float64 %0, %8
  %10 = mul float64 %2, %9
  %11 = const float64 0.1
  %12 = add float64 %10, %11
  %13 = call exp float64 %12
  store %1, %8, %13
}
)");
}

TEST_F(BuilderTest, GoldenTextOfRegions) {
    const Reduction sum[] = {{Combine::Add, s}};
    const auto total = m.for_lanes(m.i64(0), n, sum, [&](Value i) { return Builder::Values{m.load(in, i)}; });
    const Value start[] = {total[0]};
    const auto loop = m.for_loop(
        m.i64(0), n, m.i64(1), start, [&](Value i, std::span<const Value> c) { return Builder::Values{m.mul(c[0], m.load(in, i))}; }, 4);
    const auto choice = m.if_else(
        m.lt(loop[0], s), [&] { return Builder::Values{m.neg(s)}; }, [&] { return Builder::Values{s}; });
    const Value first[] = {choice[0]};
    const auto last = m.while_loop(
        first, [&](std::span<const Value> c) { return m.lt(c[0], f(9)); },
        [&](std::span<const Value> c) { return Builder::Values{m.add(c[0], f(1))}; });
    m.store(out, m.dim(0), last[0]);
    EXPECT_EQ(print(m.finish()), R"(kernel "k" rank 2 lanes (
  %0 "in" pointer float64 read noalias
  %1 "out" pointer float64 write streaming
  %2 "s" scalar float64
  %3 "n" scalar int64
) {
  %4 = const int64 0
  %5 = const int64 1
  %6 = for lanes %7 = %4 to %3 step %5 reduce add %2 {
    %8 = load float64 %0, %7
    yield %8
  }
  %9 = for %10 = %4 to %3 step %5 carry %11 = %6 unroll 4 {
    %12 = load float64 %0, %10
    %13 = mul float64 %11, %12
    yield %13
  }
  %14 = lt bool %9, %2
  %15 = if %14 {
    %16 = neg float64 %2
    yield %16
  } else {
    yield %2
  }
  %17 = const float64 9
  %18 = const float64 1
  %19 = while carry %20 = %15 {
    %21 = lt bool %20, %17
    yield %21
  } do %22 {
    %23 = add float64 %22, %18
    yield %23
  }
  %24 = dim 0
  store %1, %24, %19
}
)");
}

TEST_F(BuilderTest, ConstantsPrintExactly) {
    auto text = [&](DType t, const Scalar& v) {
        Builder b("c", 1, true);
        const Value p = b.pointer("p", t, Access::Write, true);
        b.store(p, b.i64(0), b.constant(t, v));
        const std::string all = print(b.finish());
        const auto at = all.rfind("const " + std::string(dtype_name(t)));
        return all.substr(at, all.find('\n', at) - at);
    };
    EXPECT_EQ(text(F64, Scalar(0.1)), "const float64 0.1");
    EXPECT_EQ(text(F32, Scalar(0.1)), "const float32 0.1");
    EXPECT_EQ(text(F64, Scalar(-0.0)), "const float64 -0");
    EXPECT_EQ(text(F64, Scalar(1e300)), "const float64 1e+300");
    EXPECT_EQ(text(F64, Scalar(std::numeric_limits<double>::infinity())), "const float64 inf");
    EXPECT_EQ(text(F64, Scalar(std::numeric_limits<double>::quiet_NaN())), "const float64 nan:0x7ff8000000000000");
    EXPECT_EQ(text(DType::UInt64, Scalar(std::uint64_t{18446744073709551615u})), "const uint64 18446744073709551615");
    EXPECT_EQ(text(DType::Int8, Scalar(-128)), "const int8 -128");
    EXPECT_EQ(text(DType::Bool, Scalar(true)), "const bool true");
    EXPECT_EQ(text(DType::Complex64, Scalar(std::complex<double>(1, -0.5))), "const complex64 (1, -0.5)");
}

TEST_F(BuilderTest, FoldsConstants) {
    EXPECT_EQ(m.add(f(1), f(2)), f(3));
    EXPECT_EQ(m.add(m.i64(1), m.i64(2)), m.i64(3));
    EXPECT_EQ(m.floor_div(m.i64(-7), m.i64(2)), m.i64(-4));
    EXPECT_EQ(m.rem(m.i64(-7), m.i64(2)), m.i64(1));
    EXPECT_EQ(m.floor_div(m.i64(7), m.i64(0)), m.i64(0));
    EXPECT_EQ(m.cast(f(2.7), DType::Int32), m.constant(DType::Int32, 2.0));
    EXPECT_EQ(m.mul(m.constant(DType::Int8, 100.0), m.constant(DType::Int8, 3.0)), m.constant(DType::Int8, 44.0));
    EXPECT_EQ(m.add(m.constant(F32, 1.0), m.constant(F32, 1e-10)), m.constant(F32, 1.0));
    EXPECT_EQ(m.lt(f(1), f(2)), m.boolean(true));
    EXPECT_EQ(m.select(m.boolean(false), s, f(1)), f(1));
    EXPECT_EQ(def(m.call(Math::sqrt, f(4))).op, Opcode::Call);  // targets compute functions
}

TEST_F(BuilderTest, FoldsNeutralElements) {
    EXPECT_EQ(m.add(n, m.i64(0)), n);
    EXPECT_EQ(m.add(m.i64(0), n), n);
    EXPECT_EQ(m.sub(n, m.i64(0)), n);
    EXPECT_EQ(m.sub(n, n), m.i64(0));
    EXPECT_EQ(m.mul(n, m.i64(1)), n);
    EXPECT_EQ(m.mul(n, m.i64(0)), m.i64(0));
    EXPECT_EQ(m.mul(s, f(1)), s);
    EXPECT_EQ(m.div(s, f(1)), s);
    EXPECT_EQ(m.cast(s, F64), s);
    EXPECT_EQ(m.neg(m.neg(s)), s);
    EXPECT_EQ(m.select(m.lt(s, f(0)), s, s), s);
    EXPECT_EQ(m.add(m.add(n, m.i64(3)), m.i64(4)), m.add(n, m.i64(7)));
    EXPECT_EQ(m.sub(m.add(n, m.i64(3)), m.i64(3)), n);
    EXPECT_EQ(m.lt(n, n), m.boolean(false));
    EXPECT_EQ(m.bitcast(m.bitcast(s, I64), F64), s);
    EXPECT_EQ(m.real(m.complex(s, f(1))), s);
}

TEST_F(BuilderTest, KeepsWhatFloatsWouldLose) {
    EXPECT_EQ(def(m.add(s, f(0.0))).op, Opcode::Add);  // -0 + 0 = 0
    EXPECT_EQ(m.add(s, f(-0.0)), s);
    EXPECT_EQ(m.add(m.mul(s, s), f(0.0)), m.mul(s, s));  // never -0
    EXPECT_EQ(m.add(m.abs(s), f(0.0)), m.abs(s));
    EXPECT_EQ(def(m.add(m.mul(s, f(3)), f(0.0))).op, Opcode::Add);
    EXPECT_EQ(m.sub(m.mul(s, s), f(-0.0)), m.mul(s, s));
    EXPECT_EQ(m.sub(s, f(0.0)), s);
    EXPECT_EQ(def(m.sub(s, f(-0.0))).op, Opcode::Sub);
    EXPECT_EQ(def(m.mul(s, f(0))).op, Opcode::Mul);  // NaN, inf, signs
    EXPECT_EQ(def(m.sub(s, s)).op, Opcode::Sub);
    EXPECT_EQ(def(m.eq(s, s)).op, Opcode::Eq);
}

TEST_F(BuilderTest, NumbersConstantsByBits) {
    const double nan_value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(f(0.0), f(-0.0));
    EXPECT_EQ(f(nan_value), f(nan_value));
    EXPECT_NE(f(nan_value), f(-nan_value));
    EXPECT_NE(m.constant(F32, 1.0), f(1));
}

TEST_F(BuilderTest, NumbersPureInstructionsAndLoadsOfWhatStays) {
    EXPECT_EQ(m.load(in, n), m.load(in, n));
    EXPECT_NE(m.load(in, n), m.load(in, m.add(n, n)));
    const Value changing = m.pointer("changing", F64, Access::ReadWrite, true), other = m.pointer("other", F64, Access::Read, false);
    EXPECT_NE(m.load(other, n), m.load(other, n));
    const Value x = m.load(changing, n), y = m.load(changing, n);
    EXPECT_NE(x, y);
    EXPECT_EQ(m.add(x, y), m.add(y, x));
    EXPECT_NE(m.sub(x, y), m.sub(y, x));
    EXPECT_EQ(m.call(Math::sin, x), m.call(Math::sin, x));
    EXPECT_NE(m.call(Math::sin, x), m.call(Math::cos, x));
}

TEST_F(BuilderTest, ValuesGoIntoRegionsAndNotOut) {
    const Value outside = m.add(s, f(1));
    Value inside = no_value, constant = no_value;
    m.if_else(
        m.lt(s, f(0)),
        [&] {
            EXPECT_EQ(m.add(s, f(1)), outside);
            inside = m.add(s, f(2));
            constant = f(77);
            return Builder::Values{inside};
        },
        [&] {
            EXPECT_NE(m.add(s, f(2)), inside);
            return Builder::Values{s};
        });
    EXPECT_NE(m.add(s, f(2)), inside);
    EXPECT_EQ(f(77), constant);  // constants stand in the body, whoever asks first
}

TEST_F(BuilderTest, LoopsOfKnownLength) {
    const Value start[] = {s};
    auto body = [&](Value i, std::span<const Value> c) { return Builder::Values{m.add(c[0], m.cast(i, F64))}; };
    EXPECT_EQ(m.for_loop(m.i64(3), m.i64(3), m.i64(1), start, body)[0], s);
    EXPECT_EQ(m.for_loop(m.i64(3), m.i64(4), m.i64(1), start, body)[0], m.add(s, f(3)));
    EXPECT_EQ(def(m.for_loop(m.i64(3), m.i64(5), m.i64(1), start, body)[0]).op, Opcode::For);
}

TEST_F(BuilderTest, KnownConditionsLeaveOneBranch) {
    EXPECT_EQ(m.if_else(
                  m.boolean(false), [&] { return Builder::Values{f(1)}; }, [&] { return Builder::Values{s}; })[0],
              s);
}

TEST_F(BuilderTest, RemovesWhatNobodyNeeds) {
    const Value start[] = {s};
    m.for_loop(m.i64(0), n, m.i64(1), start,
               [&](Value i, std::span<const Value> c) { return Builder::Values{m.add(c[0], m.load(in, i))}; });
    m.call(Math::sin, m.load(in, n));
    m.for_loop(m.i64(0), n, m.i64(1), {}, [&](Value i, std::span<const Value>) {
        m.store(out, i, s);
        m.load(in, i);
        return Builder::Values{};
    });
    const std::string text = print(m.finish());
    EXPECT_EQ(text.find("load"), std::string::npos) << text;
    EXPECT_EQ(text.find("call"), std::string::npos) << text;
    EXPECT_NE(text.find("store"), std::string::npos) << text;
}

TEST_F(BuilderTest, MistakesThrowAtOnce) {
    auto rejects = [&](auto make, const char* text) {
        try {
            make();
            ADD_FAILURE() << "accepted; expected: " << text;
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ErrorCode::Internal);
            EXPECT_NE(e.message().find(text), std::string::npos) << e.message();
        }
    };
    rejects([&] { m.add(s, n); }, "add: operands must have one dtype (kernel 'k', float64, int64)");
    rejects([&] { m.add(in, s); }, "add: operands must be values, not pointers");
    rejects([&] { m.div(n, n); }, "div: operands must be floating or complex");
    rejects([&] { m.fma(n, n, n); }, "fma: operands must be floating");
    rejects([&] { m.bit_and(s, s); }, "and: operands must be integers or bool");
    rejects([&] { m.select(s, s, s); }, "select: the condition must be bool");
    rejects([&] { m.call(Math::sin, n); }, "call: this function takes floating operands");
    rejects([&] { m.call(Math::pow, s); }, "call: wrong number of operands");
    rejects([&] { m.bitcast(s, F32); }, "bitcast: operand and result must have the same size");
    rejects([&] { m.load(in, s); }, "load: the index must be int64");
    rejects([&] { m.load(s, n); }, "load: the first operand must be a pointer");
    rejects([&] { m.store(out, n, n); }, "store: the value must have the pointer's element dtype");
    rejects([&] { m.dim(2); }, "dim: the range has no such dimension");
    rejects([&] { m.real(s); }, "real: the operand must be complex");
    rejects([&] { m.lt(m.complex(s, s), m.complex(s, s)); }, "lt: complex numbers have no order");
}

TEST_F(BuilderTest, IdentitiesAndCombines) {
    for (DType t : {DType::Int8, DType::UInt16, I64, DType::UInt64, DType::Float16, DType::BFloat16, F32, F64}) {
        const Value x = m.cast(n, t);
        for (Combine c : {Combine::Add, Combine::Mul, Combine::Min, Combine::Max})
            EXPECT_EQ(m.kernel().values[m.combine(c, x, m.identity(c, t))].type, t);
    }
    EXPECT_EQ(m.identity(Combine::Max, DType::Int8), m.constant(DType::Int8, -128.0));
    EXPECT_EQ(m.identity(Combine::Min, DType::UInt8), m.constant(DType::UInt8, 255.0));
    EXPECT_EQ(m.identity(Combine::And, DType::Bool), m.boolean(true));
    EXPECT_EQ(m.combine(Combine::Or, m.boolean(true), m.identity(Combine::Or, DType::Bool)), m.boolean(true));
}

TEST(Builder, IsEmptyAfterFinish) {
    Builder m("first", 1, true);
    m.store(m.pointer("p", F64, Access::Write, true), m.dim(0), m.constant(F64, 1.0));
    m.finish();
    EXPECT_TRUE(m.kernel().instrs.empty());
    EXPECT_TRUE(m.kernel().params.empty());
}

}  // namespace
}  // namespace pardo::ir::test
