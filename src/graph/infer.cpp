// src/graph/infer.cpp: which dtype an operation computes in, and which it gives: the dtype column of ops.def as a table.
#include "graph/infer.h"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <pardo/binding/rows.h>
#include <pardo/error.h>

#include "base/promotion.h"
#include "graph/rows.h"

namespace pardo::graph {
namespace {

/// What a class of operations does with one family of dtypes.
enum class Becomes : std::uint8_t { Same, Refused, Int8, Half, SmallFloat, Double, Complex };  // Double: Complex128 of complex numbers

/// One dtype class of ops.def.
struct DtypeClass {
    Becomes boolean, integer, floating, complex;
};

constexpr Becomes Same = Becomes::Same, Refused = Becomes::Refused;
constexpr DtypeClass ANY{Same, Same, Same, Same};
constexpr DtypeClass NUMERIC{Refused, Same, Same, Same};
constexpr DtypeClass NUMBER{Becomes::Int8, Same, Same, Same};
constexpr DtypeClass DIVISION{Becomes::Int8, Same, Same, Refused};
constexpr DtypeClass FLOAT{Becomes::SmallFloat, Becomes::SmallFloat, Same, Refused};
constexpr DtypeClass INEXACT{Becomes::SmallFloat, Becomes::SmallFloat, Same, Same};
constexpr DtypeClass QUOTIENT{Becomes::Double, Becomes::Double, Same, Same};
constexpr DtypeClass SPECIAL{Becomes::Double, Becomes::Double, Same, Refused};
constexpr DtypeClass COMPLEX{Becomes::Complex, Becomes::Complex, Becomes::Complex, Same};
constexpr DtypeClass DOUBLE{Becomes::Double, Becomes::Double, Becomes::Double, Becomes::Double};
constexpr DtypeClass INTEGER{Becomes::Int8, Same, Refused, Refused};
constexpr DtypeClass WHOLE{Refused, Same, Refused, Refused};
constexpr DtypeClass BITS{Same, Same, Refused, Refused};
constexpr DtypeClass REALS{Same, Same, Same, Refused};
constexpr DtypeClass ROUND{Becomes::Half, Same, Same, Same};
constexpr DtypeClass TRUTH{Same, Same, Same, Same};
constexpr DtypeClass CHOICE{Same, Same, Same, Same};

enum class ResultRule : std::uint8_t { PROMOTED, BOOL, REAL, GIVEN };

/// How operands meet: their dtypes are promoted first and mapped then, or the other way round; or promotion plays no part.
enum class Meeting : std::uint8_t { PromoteThenMap, MapThenPromote, Truth, Choice };

constexpr std::uint8_t refused = 0xFF;

struct Rule {
    std::array<std::uint8_t, dtype_count> map;  // dtype -> dtype or `refused`
    Meeting meeting;
    ResultRule result;
};

/// The smallest float that holds all values of an integer dtype, as NumPy's loops for mathematical functions take them.
constexpr DType small_float(DType t) {
    return static_cast<DType>(promoted(dtype_facts, static_cast<int>(t), static_cast<int>(DType::Float16)));
}

constexpr std::uint8_t apply_class(const DtypeClass& c, DType t) {
    const DKind kind = kind_of(t);
    const Becomes b = kind == DKind::Bool ? c.boolean : is_integer(t) ? c.integer : kind == DKind::Float ? c.floating : c.complex;
    switch (b) {
        case Becomes::Same: return static_cast<std::uint8_t>(t);
        case Becomes::Int8: return static_cast<std::uint8_t>(DType::Int8);
        case Becomes::Half: return static_cast<std::uint8_t>(DType::Float16);
        case Becomes::SmallFloat: return static_cast<std::uint8_t>(small_float(t));
        case Becomes::Double: return static_cast<std::uint8_t>(kind == DKind::Complex ? DType::Complex128 : DType::Float64);
        case Becomes::Complex:
            return static_cast<std::uint8_t>(kind == DKind::Float && itemsize(t) < 8 ? DType::Complex64 : DType::Complex128);
        case Becomes::Refused: break;
    }
    return refused;
}

constexpr Rule make_rule(const DtypeClass& c, Meeting meeting, ResultRule result) {
    Rule rule{{}, meeting, result};
    for (int t = 0; t < dtype_count; ++t) rule.map[t] = apply_class(c, static_cast<DType>(t));
    return rule;
}

constexpr Meeting meeting_of(const DtypeClass* c) {
    if (c == &TRUTH) return Meeting::Truth;
    if (c == &CHOICE) return Meeting::Choice;
    return c == &FLOAT || c == &INEXACT ? Meeting::MapThenPromote : Meeting::PromoteThenMap;
}

constexpr Rule rules[] = {
#define OP(name, arity, kind, dtypes, result, cost, identity, recipe, numpy, doc) \
    make_rule(dtypes, meeting_of(&dtypes), ResultRule::result),
#include "graph/ops.def"
#undef OP
};

std::string quoted(DType t) { return "dtype('" + std::string(dtype_name(t)) + "')"; }

[[noreturn]] void throw_refused(Op op, std::span<const Input> operands) {
    const std::string op_name = name(op);
    bool all_bool = true;
    std::string got;
    for (const Input& o : operands) {
        all_bool = all_bool && o.dtype == DType::Bool;
        got += (got.empty() ? "" : ", ") + std::string(dtype_name(o.dtype));
    }
    if (all_bool && op == Op::subtract) {
        throw Error(
            ErrorCode::Type,
            "subtract: boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor "
            "function instead.");
    }
    if (all_bool && op == Op::negative) {
        throw Error(
            ErrorCode::Type,
            "negative: boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead.");
    }
    if (all_bool) {
        throw Error(ErrorCode::Type, op_name + ": ufunc '" + op_name +
                                         "' did not contain a loop with signature matching types <class 'numpy.dtypes.BoolDType'> -> None");
    }
    throw Error(ErrorCode::Type,
                op_name + ": ufunc '" + op_name + "' not supported for the input types (" + got +
                    "), and the inputs could not be safely coerced to any supported types according to the casting rule ''safe''");
}

[[noreturn]] void throw_no_loop(Op op, DType dtype) {
    throw Error(ErrorCode::Type, std::string(name(op)) + ": No loop matching the specified signature and casting was found for ufunc " +
                                     name(op) + " (dtype=" + std::string(dtype_name(dtype)) + ")");
}

/// Promotes what the operands are, scalars of Python by NEP 50; `mapped` applies the class to each before.
DType promoted(const Rule& rule, Op op, std::span<const Input> operands, bool mapped) {
    const auto map = [&](DType t) {
        if (!mapped) return t;
        if (rule.map[static_cast<int>(t)] == refused) throw_refused(op, operands);
        return static_cast<DType>(rule.map[static_cast<int>(t)]);
    };
    DType strong{}, result{};
    bool any_strong = false, any = false, any_weak = false;
    DType given[4], computed_in[4];  // of operands, of which no operation has more
    std::size_t count = 0;
    for (const Input& o : operands) {
        if (o.weak) {
            any_weak = true;
            continue;
        }
        const DType t = o.dtype;
        given[count] = t;
        computed_in[count++] = map(t);
    }
    if (count) {
        strong = promote_all(std::span(given, count));
        result = is_inexact(strong) ? strong : promote_all(std::span(computed_in, count));  // integers follow the floats that they meet
        any_strong = any = true;
    }
    if (!any_weak) return result;
    for (const Input& o : operands) {
        if (!o.weak) continue;
        // Where integers become floats, a Python integer need not fit the integer dtype that it meets.
        const DType whole = strong == DType::Bool ? DType::Int64 : strong;  // what an integer beside bools is
        const std::uint8_t computed = any_strong ? rule.map[static_cast<int>(whole)] : refused;
        const bool any_size = computed != refused && is_integer(whole) && is_inexact(static_cast<DType>(computed)) && is_integer(o.dtype);
        const DType t = map(!any_strong ? o.dtype : any_size ? whole : promote_weak(strong, *o.number, name(op)));
        result = any ? promote(result, t) : t;
        any = true;
    }
    return result;
}

DType result_of(const Rule& rule, DType loop) {
    switch (rule.result) {
        case ResultRule::BOOL: return DType::Bool;
        case ResultRule::REAL: return real_of(loop);
        default: return loop;
    }
}

/// The common case, without a look at each scalar's value: operands of one dtype, or a float array and a Python number. `refused` if not
/// that.
std::uint8_t quick_loop(const Rule& rule, std::span<const Input> operands) {
    if (operands[0].number || rule.meeting == Meeting::Truth || rule.meeting == Meeting::Choice) return refused;
    const DType t = operands[0].dtype;
    for (const Input& o : operands.subspan(1)) {
        const bool same = o.node ? o.dtype == t : o.weak && is_inexact(t) && kind_of(o.dtype) <= kind_of(t);
        if (!same) return refused;
    }
    return rule.map[static_cast<int>(t)];
}

DType natural_loop(const Rule& rule, Op op, std::span<const Input> operands) {
    if (const std::uint8_t quick = quick_loop(rule, operands); quick != refused) return static_cast<DType>(quick);
    switch (rule.meeting) {
        case Meeting::Truth: return DType::Bool;
        case Meeting::Choice: return promoted(rule, op, operands.subspan(1), false);
        case Meeting::MapThenPromote: return promoted(rule, op, operands, true);
        case Meeting::PromoteThenMap: break;
    }
    const DType t = promoted(rule, op, operands, false);
    const std::uint8_t loop = rule.map[static_cast<int>(t)];
    if (loop == refused) throw_refused(op, operands);
    return static_cast<DType>(loop);
}

/// The loop that gives `wanted`, with inputs that may be cast to it under same_kind.
DType requested_loop(const Rule& rule, Op op, std::span<const Input> operands, DType wanted) {
    if (rule.result == ResultRule::BOOL) {
        if (wanted != DType::Bool) throw_no_loop(op, wanted);
        return natural_loop(rule, op, operands);
    }
    if (rule.result == ResultRule::REAL && is_complex(wanted)) throw_no_loop(op, wanted);
    DType loop = wanted;
    if (rule.result == ResultRule::REAL && is_complex(operands[0].dtype)) {
        if (!is_float(wanted) || !can_cast_safe(operands[0].dtype, complex_of(wanted))) throw_no_loop(op, wanted);
        loop = complex_of(wanted);
    }
    if (rule.map[static_cast<int>(loop)] != static_cast<std::uint8_t>(loop)) throw_no_loop(op, wanted);
    for (std::size_t i = op == Op::where ? 1 : 0; i < operands.size(); ++i) {
        const DType from = operands[i].dtype;
        const bool weak = operands[i].weak;
        if (can_cast_same_kind(from, loop) || (weak && kind_of(from) <= DKind::Signed && loop != DType::Bool)) continue;
        throw Error(ErrorCode::Type, std::string(name(op)) + ": Cannot cast ufunc '" + name(op) + "' input " + std::to_string(i) +
                                         " from " + quoted(from) + " to " + quoted(loop) + " with casting rule 'same_kind'");
    }
    return loop;
}

}  // namespace

Inferred infer(Op op, std::span<const Input> operands, std::optional<DType> dtype) {
    const Rule& rule = rules[static_cast<int>(op)];
    const DType loop = dtype ? requested_loop(rule, op, operands, *dtype) : natural_loop(rule, op, operands);
    return {loop, result_of(rule, loop)};
}

DType default_on(const device::Queue* queue, DType t) {
    if (t != DType::Float64 && t != DType::Complex128) return t;
    if (queue->device()->info().has_fp64) return t;
    return t == DType::Float64 ? DType::Float32 : DType::Complex64;
}

Inferred infer_on(const device::Queue* queue, Op op, std::span<const Input> operands, std::optional<DType> dtype) {
    const Inferred types = infer(op, operands, dtype);
    if (dtype || queue->device()->info().has_fp64) return types;
    for (const Input& o : operands) {
        if (o.number && !o.weak && default_on(queue, o.dtype) != o.dtype) return types;
    }
    return {default_on(queue, types.loop), default_on(queue, types.result)};
}

namespace {

/// Throws unless an integer dtype holds what is before the point. Numbers of NumPy wrap around in unsigned dtypes, as there.
void check_whole(const char* op_name, const Scalar& value, DType t) {
    const bool wraps = !value.weak && kind_of(t) == DKind::Unsigned;
    Scalar whole = value;
    if (is_float(value.dtype)) {
        if (std::isnan(value.f)) throw Error(ErrorCode::Value, std::string(op_name) + ": cannot convert float NaN to integer");
        if (t == DType::UInt64 && value.f >= 0x1p63 && value.f < 0x1p64) return;
        if (!(value.f >= -0x1p63 && value.f < 0x1p63)) {
            throw Error(ErrorCode::Overflow,
                        std::string(op_name) + ": cannot convert float " + std::to_string(value.f) + " to " + std::string(dtype_name(t)));
        }
        whole = Scalar(static_cast<std::int64_t>(value.f));
    }
    whole.weak = true;
    if (is_integer(whole.dtype) && !wraps) (void)promote_weak(t, whole, op_name);
}

}  // namespace

void check_number(const char* op_name, const Scalar& value, DType t) {
    const std::string dtype(dtype_name(t));
    if (is_integer(t)) check_whole(op_name, value, t);
    if (is_complex(value.dtype) && !is_complex(t)) {
        throw Error(ErrorCode::Type,
                    std::string(op_name) + ": a complex number cannot be stored in an array of " + dtype + "; take its real part first");
    }
}

void check_output_cast(const char* op_name, DType from, DType to) {
    if (from == to || can_cast_same_kind(from, to)) return;
    throw Error(ErrorCode::Type, std::string(op_name) + ": Cannot cast ufunc '" + op_name + "' output from " + quoted(from) + " to " +
                                     quoted(to) + " with casting rule 'same_kind'");
}

std::int64_t byte_count(DType dtype, std::span<const std::int64_t> shape, const char* op_name) {
    std::int64_t bytes = 0;
    if (!__builtin_mul_overflow(element_count(shape, op_name), static_cast<std::int64_t>(itemsize(dtype)), &bytes)) return bytes;
    throw Error(ErrorCode::Memory, std::string(op_name) + ": array of shape " + to_string(shape) + " and dtype " +
                                       std::string(dtype_name(dtype)) + " is larger than memory can be");
}

}  // namespace pardo::graph

namespace pardo {

LoopTypes loop_of(int id, std::span<const DType> operands, std::optional<DType> dtype) {
    graph::check_row("loop_of", id, operands.size());
    std::vector<Scalar> samples;
    for (const DType t : operands) samples.push_back(Scalar(1).cast(t));
    const std::vector<graph::Input> inputs(samples.begin(), samples.end());
    const graph::Inferred types = graph::infer(static_cast<graph::Op>(id), inputs, dtype);
    return {types.loop, types.result};
}

}  // namespace pardo
