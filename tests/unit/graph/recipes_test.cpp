// tests/unit/graph/recipes_test.cpp: every row's recipe is well-formed IR for every dtype it is inferred for, and right on telling values.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <pardo/binding/rows.h>
#include <pardo/error.h>

#include "graph/infer.h"
#include "graph/recipes.h"
#include "graph/rows.h"
#include "ir/interpret.h"

namespace pardo::graph {
namespace {

/// out[i] = recipe(in0[i], in1[i], in2[i]), finished: the verifier throws when the recipe breaks a rule of the IR.
void build(Op op, int arity, DType loop, DType result) {
    ir::Builder builder("recipe", 1, true);
    const ir::Value out = builder.pointer("out", result, ir::Access::Write, true);
    std::vector<ir::Value> operands;
    for (int i = 0; i < arity; ++i) {
        const DType t = op == Op::where && i == 0 ? DType::Bool : loop;
        operands.push_back(builder.load(builder.pointer("in" + std::to_string(i), t, ir::Access::Read, true), builder.dim(0)));
    }
    const ir::Value value = build_recipe(builder, op, loop, result, operands);
    ASSERT_EQ(builder.type(value), result) << name(op) << " in " << dtype_name(loop);
    builder.store(out, builder.dim(0), value);
    (void)builder.finish();
}

TEST(Recipes, AreWellFormedForAllDtypes) {
    for (std::size_t id = 0; id < op_table().size(); ++id) {
        const Op op = static_cast<Op>(id);
        const int arity = op_table()[id].arity;
        for (int t = 0; t < dtype_count; ++t) {
            const Scalar x = Scalar(1).cast(static_cast<DType>(t)), flag = Scalar(1).cast(DType::Bool);
            std::vector<Input> operands(static_cast<std::size_t>(arity), Input(x));
            if (op == Op::where) operands[0] = Input(flag);
            Inferred types{};
            try {
                types = infer(op, operands, {});
            } catch (const Error&) {
                continue;  // a dtype that this row refuses
            }
            EXPECT_NO_THROW(build(op, arity, types.loop, types.result)) << name(op) << " in " << dtype_name(types.loop);
        }
    }
    for (int from = 0; from < dtype_count; ++from) {
        for (int to = 0; to < dtype_count; ++to) EXPECT_NO_THROW(build(Op::cast, 1, static_cast<DType>(from), static_cast<DType>(to)));
    }
    build(Op::from_parts, 2, DType::Float32, DType::Complex64);
    build(Op::from_parts, 2, DType::Float64, DType::Complex128);
}

/// An element in memory and back, for the dtypes that these tests use.
using Element = std::array<unsigned char, 16>;
Element stored(const Scalar& s) {
    Element e{};
    const auto put = [&](auto v) { std::memcpy(e.data(), &v, sizeof v); };
    switch (s.dtype) {
        case DType::Bool: put(s.b); break;
        case DType::Int8:
        case DType::Int32: put(s.i); break;  // little-endian: the low bytes come first
        case DType::UInt8: put(s.u); break;
        case DType::Float16: put(double_to_half(s.f)); break;
        case DType::Complex128: put(std::complex<double>(s.c.re, s.c.im)); break;
        default: put(s.f);
    }
    return e;
}

template <class T> T read(const Element& e) {
    T v;
    std::memcpy(&v, e.data(), sizeof v);
    return v;
}

Scalar loaded(DType t, const Element& e) {
    Scalar s;
    s.dtype = t;
    switch (t) {
        case DType::Bool: s.b = e[0] != 0; break;
        case DType::Int8: s.i = read<std::int8_t>(e); break;
        case DType::Int32: s.i = read<std::int32_t>(e); break;
        case DType::UInt8: s.u = e[0]; break;
        case DType::Float16: s.f = half_to_float(read<Half>(e)); break;
        case DType::Complex128: s.c = {read<std::complex<double>>(e).real(), read<std::complex<double>>(e).imag()}; break;
        default: s.f = read<double>(e);
    }
    return s;
}

/// What a recipe gives for one element, by the IR's interpreter.
Scalar computed(Op op, DType loop, DType result, std::initializer_list<Scalar> values) {
    ir::Builder builder("computed", 1, false);
    const ir::Value out = builder.pointer("out", result, ir::Access::Write, true);
    std::vector<Element> memory{Element{}};
    std::vector<ir::Value> operands;
    for (const Scalar& v : values) {
        operands.push_back(
            builder.load(builder.pointer("in" + std::to_string(memory.size()), loop, ir::Access::Read, true), builder.dim(0)));
        memory.push_back(stored(v.cast(loop)));
    }
    builder.store(out, builder.dim(0), build_recipe(builder, op, loop, result, operands));
    std::vector<std::uint64_t> args;
    for (Element& e : memory) args.push_back(reinterpret_cast<std::uintptr_t>(e.data()));
    const std::int64_t extents[] = {1};
    ir::interpret(builder.finish(), args, extents);
    return loaded(result, memory[0]);
}

double real_result(Op op, std::initializer_list<Scalar> values, DType t = DType::Float64) { return computed(op, t, t, values).as_double(); }
bool truth(Op op, std::initializer_list<Scalar> values, DType t = DType::Float64) { return computed(op, t, DType::Bool, values).b; }

constexpr double inf = std::numeric_limits<double>::infinity();
const double nan = std::nan("");
using Z = std::complex<double>;

TEST(Recipes, SignsAndSpecialNumbers) {
    EXPECT_EQ(real_result(Op::sign, {-2.5}), -1);
    EXPECT_FALSE(std::signbit(real_result(Op::sign, {-0.0})));
    EXPECT_TRUE(std::isnan(real_result(Op::sign, {nan})));
    EXPECT_TRUE(truth(Op::signbit, {-0.0}));
    EXPECT_TRUE(truth(Op::signbit, {-1.0}, DType::Float16));
    EXPECT_FALSE(truth(Op::isfinite, {nan}));
    EXPECT_TRUE(truth(Op::isinf, {-inf}));
    EXPECT_TRUE(truth(Op::isneginf, {-inf}));
    EXPECT_FALSE(truth(Op::isposinf, {-inf}));
    EXPECT_TRUE(truth(Op::isnan, {Z(0, nan)}, DType::Complex128));
    EXPECT_TRUE(std::isnan(real_result(Op::maximum, {nan, 1.0})));
    EXPECT_EQ(real_result(Op::fmax, {nan, 1.0}), 1.0);
    EXPECT_EQ(real_result(Op::heaviside, {0.0, 0.5}), 0.5);
    EXPECT_TRUE(std::isnan(real_result(Op::heaviside, {nan, 0.5})));
}

TEST(Recipes, ComplexNumbersAreOrderedByPartsAsInNumPy) {
    EXPECT_TRUE(truth(Op::less, {Z(1, 5), Z(2, 0)}, DType::Complex128));
    EXPECT_TRUE(truth(Op::less, {Z(1, 4), Z(1, 5)}, DType::Complex128));
    EXPECT_FALSE(truth(Op::less, {Z(1, nan), Z(2, 0)}, DType::Complex128));
    EXPECT_TRUE(truth(Op::greater_equal, {Z(1, 5), Z(1, 5)}, DType::Complex128));
    const Scalar larger = computed(Op::maximum, DType::Complex128, DType::Complex128, {Z(1, 5), Z(2, -7)});
    EXPECT_EQ(larger.c.im, -7);
    const Scalar unit = computed(Op::sign, DType::Complex128, DType::Complex128, {Z(3, -4)});
    EXPECT_EQ(unit.c.re, 0.6);
    EXPECT_EQ(unit.c.im, -0.8);
}

TEST(Recipes, NeighboursOfHalves) {
    const auto next = [](double from, double to) { return real_result(Op::nextafter, {from, to}, DType::Float16); };
    EXPECT_EQ(next(1, 2), 1 + std::ldexp(1.0, -10));
    EXPECT_EQ(next(1, 0), 1 - std::ldexp(1.0, -11));
    EXPECT_EQ(next(0, -1), -std::ldexp(1.0, -24));
    EXPECT_EQ(next(-1, 0), -1 + std::ldexp(1.0, -11));
    EXPECT_EQ(next(65504, inf), inf);
    EXPECT_EQ(next(inf, 0), 65504);
    EXPECT_TRUE(std::isnan(next(1, nan)));
}

TEST(Recipes, IntegersAndBooleans) {
    EXPECT_EQ(computed(Op::reciprocal, DType::Int32, DType::Int32, {Scalar(-1)}).i, -1);
    EXPECT_EQ(computed(Op::reciprocal, DType::Int32, DType::Int32, {Scalar(5)}).i, 0);
    EXPECT_TRUE(truth(Op::add, {true, true}, DType::Bool));
    EXPECT_FALSE(truth(Op::multiply, {true, false}, DType::Bool));
    EXPECT_TRUE(truth(Op::less, {false, true}, DType::Bool));
    EXPECT_EQ(computed(Op::clip, DType::Int8, DType::Int8, {Scalar(9), Scalar(0), Scalar(5)}).i, 5);
    EXPECT_EQ(computed(Op::imag, DType::Int8, DType::Int8, {Scalar(9)}).i, 0);
    EXPECT_EQ(computed(Op::sign, DType::UInt8, DType::UInt8, {Scalar(9)}).u, 1u);
}

}  // namespace
}  // namespace pardo::graph
