// src/emit/c/arithmetic.cpp: instructions that compute.
#include "emit/c/arithmetic.h"

#include <bit>

#include <pardo/error.h>

#include "emit/c/expressions.h"
#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Instr;
using ir::Opcode;
using ir::Value;

namespace {

const char* operator_of(Opcode op) {
    switch (op) {
        case Opcode::Add: return " + ";
        case Opcode::Sub: return " - ";
        case Opcode::Mul: return " * ";
        case Opcode::Div: return " / ";
        case Opcode::And: return " & ";
        case Opcode::Or: return " | ";
        case Opcode::Xor: return " ^ ";
        case Opcode::Eq: return " == ";
        case Opcode::Ne: return " != ";
        case Opcode::Lt: return " < ";
        case Opcode::Le: return " <= ";
        case Opcode::Gt: return " > ";
        case Opcode::Ge: return " >= ";
        default: return nullptr;
    }
}

/// Whether the operation keeps low bits of that operand alone, the other one being a constant: as & 63 and % 64 do.
bool masks(const ir::Kernel& kernel, const Instr& in, int operand) {
    const Instr* other = ir::definition(kernel, in.operands[1 - operand]);
    if (!other || other->op != Opcode::Const || !is_integer(other->scalar().dtype)) return false;
    return std::has_single_bit(other->scalar().u + (in.op == Opcode::And ? 1 : 0));
}

std::string binary(CValues& values, const Instr& in, DType dtype) {
    CWriter& w = values.w;
    std::string a = values[in.operands[0]], b = values[in.operands[1]];
    if (w.features.hidden_masks && is_integer(dtype) && (in.op == Opcode::And || in.op == Opcode::Rem || in.op == Opcode::Fmod)) {
        if (masks(values.source.kernel, in, 0))
            a = hidden(w.target, dtype, a);
        else if (in.op == Opcode::And && masks(values.source.kernel, in, 1))
            b = hidden(w.target, dtype, b);
    }
    const std::string x = wrapped(a), y = wrapped(b);
    switch (in.op) {
        case Opcode::Add:
        case Opcode::Sub:
        case Opcode::Mul:
            if (dtype == DType::Bool) return x + (in.op == Opcode::Add ? " | " : in.op == Opcode::Sub ? " ^ " : " & ") + y;
            if (is_float(dtype)) return x + operator_of(in.op) + y;
            if (values.source.indices[in.operands[0]] && values.source.indices[in.operands[1]]) return x + operator_of(in.op) + y;
            return wrapping(w.target, operator_of(in.op), dtype, a, b);
        case Opcode::Div: return x + " / " + y;
        case Opcode::FloorDiv: return w.helpers.use("floor_divide", dtype) + "(" + a + ", " + b + ")";
        case Opcode::Rem: return w.helpers.use("remainder", dtype) + "(" + a + ", " + b + ")";
        case Opcode::Fmod:
            if (is_integer(dtype)) return w.helpers.use("fmod", dtype) + "(" + a + ", " + b + ")";
            return function_of(w.target, "fmod", dtype) + "(" + a + ", " + b + ")";
        case Opcode::And:
        case Opcode::Or:
        case Opcode::Xor: {
            const std::string value = x + operator_of(in.op) + y;
            return itemsize(dtype) < 4 && dtype != DType::Bool ? "(" + c_type(w.target, dtype) + ")(" + value + ")" : value;
        }
        case Opcode::Shl: return w.helpers.use("shift_left", dtype) + "(" + a + ", " + b + ")";
        case Opcode::Shr: return w.helpers.use("shift_right", dtype) + "(" + a + ", " + b + ")";
        case Opcode::Eq:
        case Opcode::Ne:
        case Opcode::Lt:
        case Opcode::Le:
        case Opcode::Gt:
        case Opcode::Ge: return x + operator_of(in.op) + y;
        default: throw Error(ErrorCode::Internal, std::string("emit_c: unknown operation ") + ir::name(in.op));
    }
}

/// The value of `in`; that of `other` is there for where it is met.
std::string sine_and_cosine(CValues& values, const Instr& in, Value other, DType dtype) {
    CWriter& w = values.w;
    std::string mine = w.fresh("v");
    const std::string second = w.fresh("v");
    w.line(c_type(w.target, dtype) + " " + mine + ", " + second + ";");
    const bool sine = in.math() == ir::Math::sin;
    w.line(function_of(w.target, "sincos", dtype) + "(" + values[in.operands[0]] + ", &" + (sine ? mine : second) + ", &" +
           (sine ? second : mine) + ");");
    values.given[other] = second;
    return mine;
}

std::string call(CValues& values, const Instr& in, DType dtype) {
    CWriter& w = values.w;
    const auto& sines = values.source.sines;
    if (const auto pair = sines.find(in.results[0]); pair != sines.end()) return sine_and_cosine(values, in, pair->second, dtype);
    std::string text = function_of(w.target, ir::name(in.math()), dtype);
    text += '(';
    for (int k = 0; k < in.operands.size(); ++k) {
        if (k) text += ", ";
        text += values[in.operands[k]];
    }
    return text + ")";
}

/// A choice by each number of a value: no target has a recipe with tables by now.
std::string lookup(CValues& values, const Instr& in) {
    const int count = in.operands.size() - 1;
    const std::string place = "(" + values.named(in.operands[0]) + " & " + std::to_string(count - 1) + ") == ";
    std::string text;
    for (int k = 0; k + 1 < count; ++k) text += place + std::to_string(k) + " ? " + wrapped(values[in.operands[k + 1]]) + " : ";
    return text + wrapped(values[in.operands[count]]);
}

}  // namespace

void arithmetic(CValues& values, const Instr& in) {
    CWriter& w = values.w;
    const Value result = in.results[0];
    const DType dtype = values.source.type(result), from = values.source.type(in.operands[0]);
    const std::string& x = values[in.operands[0]];
    std::string value;
    switch (in.op) {
        case Opcode::Neg: value = is_float(dtype) ? "-" + wrapped(x) : wrapping(w.target, " - ", dtype, "0", x); break;
        case Opcode::Not: value = dtype == DType::Bool ? "!" + wrapped(x) : "(" + c_type(w.target, dtype) + ")~" + wrapped(x); break;
        case Opcode::Abs:
            if (w.features.masked_abs && dtype == DType::Float32) {
                value = std::string(w.target.f32_from_bits) + "(" + w.target.bits_of_f32 + "(" + x + ") & 0x7fffffff)";
            } else if (is_float(dtype)) {
                value = function_of(w.target, "fabs", dtype) + "(" + x + ")";
            } else {
                value = kind_of(dtype) == DKind::Signed
                            ? wrapped(x) + " < 0 ? " + wrapping(w.target, " - ", dtype, "0", x) + " : " + wrapped(x)
                            : x;
            }
            break;
        case Opcode::Fma:
            value = function_of(w.target, "fma", dtype) + "(" + x + ", " + values[in.operands[1]] + ", " + values[in.operands[2]] + ")";
            break;
        case Opcode::Min:
        case Opcode::Max:
        case Opcode::Fmin:
        case Opcode::Fmax: {
            const std::string a = values.named(in.operands[0]), b = values.named(in.operands[1]);
            value = min_max(in.op, dtype, a, b);
            break;
        }
        case Opcode::Select: value = wrapped(x) + " ? " + wrapped(values[in.operands[1]]) + " : " + wrapped(values[in.operands[2]]); break;
        case Opcode::Cast: value = cast(w, x, from, dtype); break;
        case Opcode::Bitcast: value = bitcast(w, x, from, dtype); break;
        case Opcode::Call: value = call(values, in, dtype); break;
        case Opcode::Lookup: value = lookup(values, in); break;
        case Opcode::Complex:
        case Opcode::Real:
        case Opcode::Imag:
        case Opcode::Wrap:
        case Opcode::Inside: throw Error(ErrorCode::Internal, "emit_c: complex values and checks must be lowered first");
        default: value = binary(values, in, dtype); break;
    }
    values.define(result, value);
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
