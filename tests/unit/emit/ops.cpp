// tests/unit/emit/ops.cpp: every operation and dtype gives the interpreter's bits at every vector width, as vectors, in tails and as
// scalars.
#include <array>

#include "ir/rules.h"
#include "support.h"

namespace pardo::test {
namespace {

using ir::Access;
using ir::Builder;
using ir::Opcode;
using ir::Value;

constexpr std::array binary_ops = {Opcode::Add,  Opcode::Sub, Opcode::Mul, Opcode::Div,  Opcode::FloorDiv, Opcode::Rem,
                                   Opcode::Fmod, Opcode::Min, Opcode::Max, Opcode::Fmin, Opcode::Fmax,     Opcode::And,
                                   Opcode::Or,   Opcode::Xor, Opcode::Shl, Opcode::Shr,  Opcode::Eq,       Opcode::Ne,
                                   Opcode::Lt,   Opcode::Le,  Opcode::Gt,  Opcode::Ge};
constexpr std::array unary_ops = {Opcode::Neg, Opcode::Abs, Opcode::Not};

DType result_type(Opcode op, DType t) {
    if (op >= Opcode::Eq && op <= Opcode::Ge) return DType::Bool;
    return op == Opcode::Abs ? real_of(t) : t;
}

bool allowed(Opcode op, DType result, std::initializer_list<DType> operands) {
    const std::vector<DType> types(operands);
    return ir::broken_rule(op, {}, result, types) == nullptr;
}

/// One kernel with all operations that a dtype has; one output an operation.
void check_dtype(DType t, bool lanes) {
    constexpr std::int64_t count = 131;
    Builder b("ops", 1, lanes);
    std::vector<Argument> arguments{interesting(t, count, 1), interesting(t, count, 2), interesting(t, count, 3)};
    const Value x = b.pointer("x", t, Access::Read, true), y = b.pointer("y", t, Access::Read, true),
                z = b.pointer("z", t, Access::Read, true);
    const Value i = b.dim(0), p = b.load(x, i), q = b.load(y, i), r = b.load(z, i);
    std::string order;
    auto out = [&](Opcode op, Value v) {
        b.store(b.pointer("o" + std::to_string(arguments.size()), b.type(v), Access::Write, true), i, v);
        arguments.push_back(array(b.type(v), count));
        order += std::to_string(arguments.size() - 1) + "=" + ir::name(op) + " ";
    };
    for (Opcode op : binary_ops)
        if (allowed(op, result_type(op, t), {t, t})) out(op, b.emit(op, result_type(op, t), {p, q}));
    for (Opcode op : unary_ops)
        if (allowed(op, result_type(op, t), {t})) out(op, b.emit(op, result_type(op, t), {p}));
    if (allowed(Opcode::Fma, t, {t, t, t})) out(Opcode::Fma, b.fma(p, q, r));
    out(Opcode::Select, b.select(b.eq(p, q), q, r));
    const std::string what = std::string(dtype_name(t)) + (lanes ? " lanes " : " scalar ") + order;
    check(b.finish(), arguments, {count}, is_complex(t) ? 16 : 0, what);  // complex formulas round differently
}

/// Of constants as recipes have them, of other numbers of them, and of what only the data tells.
TEST(Lookups, GiveTheInterpretersBits) {
    constexpr std::int64_t count = 131;
    for (const DType t : {DType::Float64, DType::Float32, DType::Float16, DType::BFloat16, DType::Int8, DType::UInt64, DType::Bool})
        for (const bool lanes : {true, false}) {
            Builder b("lookups", 1, lanes);
            std::vector<Argument> arguments{interesting(DType::Int64, count, 1), interesting(t, count, 2)};
            const Value i = b.dim(0), index = b.load(b.pointer("index", DType::Int64, Access::Read, true), i);
            const Value x = b.load(b.pointer("x", t, Access::Read, true), i);
            for (const int values : {2, 16, 32})
                for (const bool constants : {true, false}) {
                    std::vector<Value> table;
                    for (int k = 0; k < values; ++k) table.push_back(b.constant(t, k * 1.5 - 7));
                    if (!constants) table[1] = x;
                    const std::string name = "o" + std::to_string(arguments.size());
                    b.store(b.pointer(name, t, Access::Write, true), i, b.lookup(index, table));
                    arguments.push_back(array(t, count));
                }
            check(b.finish(), arguments, {count}, 0, std::string(dtype_name(t)) + (lanes ? " lanes" : " scalar"));
        }
}

class Operations : public testing::TestWithParam<int> {};
TEST_P(Operations, GiveTheInterpretersBitsInLanes) { check_dtype(static_cast<DType>(GetParam()), true); }
TEST_P(Operations, GiveTheInterpretersBitsAsScalars) { check_dtype(static_cast<DType>(GetParam()), false); }

TEST_P(Operations, CastToEveryDtype) {
    const auto from = static_cast<DType>(GetParam());
    constexpr std::int64_t count = 131;
    for (bool lanes : {true, false}) {
        Builder b("casts", 1, lanes);
        std::vector<Argument> arguments{interesting(from, count, 5, 1e10)};
        const Value x = b.pointer("x", from, Access::Read, true);
        const Value i = b.dim(0), p = b.load(x, i);
        for (int to = 0; to < dtype_count; ++to) {
            const auto t = static_cast<DType>(to);
            b.store(b.pointer("o" + std::to_string(to), t, Access::Write, true), i, b.cast(p, t));
            arguments.push_back(array(t, count));
        }
        check(b.finish(), arguments, {count}, 0, std::string(dtype_name(from)) + (lanes ? " cast, lanes" : " cast, scalars"));
    }
}

TEST(Operations, CastsAtTheEndsOfTheIntegers) {
    std::vector<float> single;
    for (float limit : {0x1p7f, 0x1p8f, 0x1p15f, 0x1p16f, 0x1p31f, 0x1p32f, 0x1p63f, 0x1p64f})
        for (float x : {limit, -limit})
            for (float to : {0.0f, x, 2 * x}) single.insert(single.end(), {std::nextafter(x, to), x + std::copysign(0.5f, x)});
    std::vector<double> wide(single.begin(), single.end());
    for (double limit : {0x1p31, 0x1p32, 0x1p63, 0x1p64})
        for (double x : {limit, -limit})
            for (double to : {0.0, 2 * x}) wide.insert(wide.end(), {std::nextafter(x, to), x + std::copysign(0.5, x)});
    for (bool is_double : {true, false})
        for (bool lanes : {true, false}) {
            const auto count = static_cast<std::int64_t>(is_double ? wide.size() : single.size());
            std::vector<Argument> arguments{is_double ? array_of(wide) : array_of(single)};
            Builder b("ends", 1, lanes);
            const Value i = b.dim(0), p = b.load(b.pointer("x", arguments[0].type, Access::Read, true), i);
            for (DType t :
                 {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32, DType::UInt32, DType::Int64, DType::UInt64}) {
                b.store(b.pointer("o" + std::to_string(arguments.size()), t, Access::Write, true), i, b.cast(p, t));
                arguments.push_back(array(t, count));
            }
            check(b.finish(), arguments, {count}, 0, is_double ? "double" : "float");
        }
}

TEST_P(Operations, ExtremesWithConstants) {  // where LLVM knows that one side is no NaN, it makes a library call for float16
    const auto t = static_cast<DType>(GetParam());
    if (!is_float(t)) return;
    for (bool lanes : {true, false}) {
        Builder b("extremes", 1, lanes);
        std::vector<Argument> arguments{interesting(t, 67, 5)};
        const Value i = b.dim(0), p = b.load(b.pointer("x", t, Access::Read, true), i);
        for (double c : {0.0, -0.0, 1.5})
            for (Opcode op : {Opcode::Min, Opcode::Max, Opcode::Fmin, Opcode::Fmax})
                for (bool swap : {false, true}) {
                    const Value q = b.constant(t, c);
                    b.store(b.pointer("o" + std::to_string(arguments.size()), t, Access::Write, true), i,
                            swap ? b.emit(op, t, {q, p}) : b.emit(op, t, {p, q}));
                    arguments.push_back(array(t, 67));
                }
        check(b.finish(), arguments, {67}, 0, std::string(dtype_name(t)) + (lanes ? " lanes" : " scalar"));
    }
}

TEST_P(Operations, BitcastToEqualSizes) {
    const auto from = static_cast<DType>(GetParam());
    if (is_complex(from)) return;
    constexpr std::int64_t count = 67;
    Builder b("bitcasts", 1, true);
    std::vector<Argument> arguments{interesting(from, count, 5)};
    const Value x = b.pointer("x", from, Access::Read, true);
    const Value i = b.dim(0), p = b.load(x, i);
    for (int to = 0; to < dtype_count; ++to) {
        const auto t = static_cast<DType>(to);
        if (!allowed(Opcode::Bitcast, t, {from}) || itemsize(t) != itemsize(from)) continue;
        b.store(b.pointer("o" + std::to_string(to), t, Access::Write, true), i, b.bitcast(p, t));
        arguments.push_back(array(t, count));
    }
    check(b.finish(), arguments, {count}, 0, std::string(dtype_name(from)) + " bitcast");
}

std::string dtype_test_name(const testing::TestParamInfo<int>& info) { return std::string(dtype_name(static_cast<DType>(info.param))); }
INSTANTIATE_TEST_SUITE_P(AllDtypes, Operations, testing::Range(0, dtype_count), dtype_test_name);

TEST(Operations, FloatRemaindersAreExactFarFromZero) {
    std::vector<double> x, y;
    for (double a : std::initializer_list<double>{1e300, -1e300, 1e17, 12345.678, -7.5, 7.5, 5e-324, 1e-310, 0x1p53, 3.0, -0.0, 0.0,
                                                  INFINITY, -INFINITY, double(NAN)})
        for (double c :
             std::initializer_list<double>{3.0, -3.0, 0.1, -0.1, 1e-300, 5e-324, 7e200, INFINITY, -INFINITY, 0.0, -0.0, double(NAN), 2.5}) {
            x.push_back(a);
            y.push_back(c);
        }
    const auto count = static_cast<std::int64_t>(x.size());
    for (bool lanes : {true, false}) {
        Builder b("remainders", 1, lanes);
        const Value px = b.pointer("x", DType::Float64, Access::Read, true), py = b.pointer("y", DType::Float64, Access::Read, true);
        const Value i = b.dim(0), p = b.load(px, i), q = b.load(py, i);
        int k = 0;
        for (Value v : {b.fmod(p, q), b.rem(p, q), b.floor_div(p, q)})
            b.store(b.pointer("o" + std::to_string(k++), DType::Float64, Access::Write, true), i, v);
        check(b.finish(),
              {array_of(x), array_of(y), array(DType::Float64, count), array(DType::Float64, count), array(DType::Float64, count)},
              {count});
    }
}

TEST(Operations, Int64DivisionIsExactForLargeOperands) {
    std::vector<std::int64_t> x, y;
    std::mt19937_64 random(11);
    for (int k = 0; k < 400; ++k) {
        x.push_back(static_cast<std::int64_t>(random()) >> (k % 64));
        y.push_back(static_cast<std::int64_t>(random()) >> (k / 8 % 64));
    }
    Builder b("divide", 1, true);
    const Value px = b.pointer("x", DType::Int64, Access::Read, true), py = b.pointer("y", DType::Int64, Access::Read, true);
    const Value i = b.dim(0), p = b.load(px, i), q = b.load(py, i);
    b.store(b.pointer("q", DType::Int64, Access::Write, true), i, b.floor_div(p, q));
    b.store(b.pointer("r", DType::Int64, Access::Write, true), i, b.rem(p, q));
    check(b.finish(), {array_of(x), array_of(y), array(DType::Int64, 400), array(DType::Int64, 400)}, {400});
}

}  // namespace
}  // namespace pardo::test
