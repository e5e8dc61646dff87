// src/emit/c/exchange.cpp: what items let each other know: atomics and fences, reports of failures, shuffles.
#include "emit/c/exchange.h"

#include <vector>

#include <pardo/error.h>

#include "emit/c/expressions.h"
#include "emit/c/memory.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {

using ir::Instr;
using ir::Opcode;
using ir::Value;

namespace {

constexpr int compare_exchange = 8;  // after the operations of ir::AtomicOp in CTarget's tables

void check_atomic(const CSource& source, const Instr& in) {
    if (source.uses_team()) throw Error(ErrorCode::Internal, "emit_c: items of a team have no atomics");
    if (itemsize(source.type(in.operands[0])) == 8 && !source.features.wide_atomics) {
        throw Error(ErrorCode::Compile, source.kernel.name +
                                            ": this device has no atomics of 64 bits (the extensions cl_khr_int64_base_atomics and "
                                            "cl_khr_int64_extended_atomics); use int32, uint32 or float32");
    }
    if (in.ordering().scope == ir::MemoryScope::System && !source.features.system_atomics) {
        throw Error(ErrorCode::Compile, source.kernel.name +
                                            ": the atomics of this device are seen as such only by itself; use the scope \"device\", and "
                                            "do not use the memory elsewhere while the kernel runs");
    }
}

/// Languages whose atomics order nothing else need a fence for what they do.
void fence(CWriter& w, const Instr& in, bool before) {
    const ir::MemoryOrder o = in.ordering().order;
    const bool both = o == ir::MemoryOrder::AcqRel || o == ir::MemoryOrder::SeqCst;
    if (both || o == (before ? ir::MemoryOrder::Release : ir::MemoryOrder::Acquire))
        w.line(std::string(w.target.fences[static_cast<int>(in.ordering().scope)]) + ";");
}

/// The language's own function; `place` points to elements of `bits`, or to floats of its size.
std::string integer_atomic(CValues& values, const Instr& in, int op, DType bits, const std::string& place,
                           std::vector<std::string> operands) {
    CWriter& w = values.w;
    const bool wide = itemsize(bits) == 8, group = memory_of(values.source.kernel, in.operands[0]) == CMemory::Group;
    const char* const* functions = wide ? w.target.wide_atomics : w.target.atomics;
    if (!functions[op]) {  // only Sub may be missing
        op = static_cast<int>(ir::AtomicOp::Add);
        operands[0] = wrapping(w.target, " - ", bits, "0", operands[0]);
    }
    const bool ordered = op == static_cast<int>(ir::AtomicOp::Min) || op == static_cast<int>(ir::AtomicOp::Max);
    const bool as_unsigned = wide && w.target.wide_unsigned && kind_of(bits) == DKind::Signed && !ordered;
    const std::string t = as_unsigned ? w.target.unsigned_types[3] : c_type(w.target, bits);
    const char* memory = group ? w.target.local : w.target.global;
    std::string text = std::string(functions[op]) + (group ? "" : w.target.scopes[static_cast<int>(in.ordering().scope)]) + "(";
    if (as_unsigned || values.source.type(in.operands[0]) != bits) text += "(" + qualifier(memory) + t + "*)";
    text += place;
    for (const std::string& v : operands) text += ", " + (as_unsigned ? "(" + t + ")" + wrapped(v) : v);
    text += ")";
    return as_unsigned ? "(" + c_type(w.target, bits) + ")" + text : text;
}

std::string atomic_call(CValues& values, const Instr& in, DType dtype) {
    CWriter& w = values.w;
    const bool exchange = in.op == Opcode::CompareExchange, group = memory_of(values.source.kernel, in.operands[0]) == CMemory::Group;
    const std::string place = "&" + element(values[in.operands[0]], values[in.operands[1]]);
    const int op = exchange ? compare_exchange : static_cast<int>(in.atomic());
    std::vector<std::string> operands;
    for (int k = 2; k < in.operands.size(); ++k) operands.push_back(values[in.operands[k]]);
    if (!is_float(dtype)) return integer_atomic(values, in, op, dtype, place, operands);
    const bool single = dtype == DType::Float32;
    if (exchange || in.atomic() == ir::AtomicOp::Exchange) {
        for (std::string& v : operands) v = as_bits(w.target, dtype, v);
        return std::string(single ? w.target.f32_from_bits : w.target.f64_from_bits) + "(" +
               integer_atomic(values, in, op, single ? DType::UInt32 : DType::UInt64, place, operands) + ")";
    }
    const std::string suffix = group ? "" : w.target.scopes[static_cast<int>(in.ordering().scope)];
    const bool sum = in.atomic() == ir::AtomicOp::Add || in.atomic() == ir::AtomicOp::Sub;
    if (sum && w.target.float_atomics) {
        const std::string value = in.atomic() == ir::AtomicOp::Sub ? "-" + wrapped(operands[0]) : operands[0];
        return std::string(w.target.atomics[0]) + suffix + "(" + place + ", " + value + ")";
    }
    return w.helpers.use_float_atomic(in.atomic(), dtype, group, suffix) + "(" + place + ", " + operands[0] + ")";
}

/// Nothing else uses the memory.
void private_atomic(CValues& values, const Instr& in) {
    CWriter& w = values.w;
    const DType dtype = values.source.type(in.operands[0]);
    const std::string index = values.named(in.operands[1]), place = element(values[in.operands[0]], index),
                      x = values.named(in.operands[2]);
    values.declare(in.results[0], place);
    const std::string old = values[in.results[0]];
    if (in.op == Opcode::CompareExchange) {
        w.line("if (" + as_bits(w.target, dtype, old) + " == " + as_bits(w.target, dtype, x) + ") " + place + " = " +
               values[in.operands[3]] + ";");
        return;
    }
    std::string value;
    switch (in.atomic()) {
        case ir::AtomicOp::Add:
        case ir::AtomicOp::Sub: {
            const char* sign = in.atomic() == ir::AtomicOp::Add ? " + " : " - ";
            value = is_float(dtype) ? old + sign + wrapped(x) : wrapping(w.target, sign, dtype, old, x);
            break;
        }
        case ir::AtomicOp::Min: value = min_max(Opcode::Fmin, dtype, old, x); break;
        case ir::AtomicOp::Max: value = min_max(Opcode::Fmax, dtype, old, x); break;
        case ir::AtomicOp::And: value = old + " & " + wrapped(x); break;
        case ir::AtomicOp::Or: value = old + " | " + wrapped(x); break;
        case ir::AtomicOp::Xor: value = old + " ^ " + wrapped(x); break;
        case ir::AtomicOp::Exchange: value = x; break;
    }
    w.line(place + " = " + value + ";");
}

}  // namespace

void report(CValues& values, const Instr& in) {
    CWriter& w = values.w;
    const std::string words = values[in.operands[0]], first = values[in.operands[1]];
    Instr exchange = in;
    exchange.attribute = ir::Ordering{.scope = ir::MemoryScope::Device};
    std::string test = words + "[0]";
    if (w.features.wide_atomics)
        test = integer_atomic(values, exchange, compare_exchange, DType::Int64, "&" + test,
                              {constant(w.target, Scalar(std::int64_t(0))), first});
    w.block("if (" + test + " == 0)", [&] {
        for (int k = 2; k < in.operands.size(); ++k) w.line(element(words, std::to_string(k - 1)) + " = " + values[in.operands[k]] + ";");
        if (!w.features.wide_atomics) w.line(words + "[0] = " + first + ";");
    });
}

void shuffle(CValues& values, const Instr& in) {
    CWriter& w = values.w;
    const DType dtype = values.source.type(in.results[0]);
    const bool narrow = itemsize(dtype) < 4;  // those travel as int
    const std::int64_t items = groups_of(values.source.kernel).items(), left = items % 32;
    const std::string some = std::to_string((1U << left) - 1) + "u",
                      mask = left == 0    ? "0xffffffffu"
                             : items < 32 ? some
                                          : "(threadIdx.x < " + std::to_string(items - left) + "u ? 0xffffffffu : " + some + ")";
    std::string text = (w.features.intel_shuffles ? "intel_" : "") + values.source.sub_group_word(w.target.shuffle);
    replace_all(text, "$M", mask);
    replace_all(text, "$V", (narrow ? "(int)" : "") + values[in.operands[0]]);
    replace_all(text, "$I", values[in.operands[1]]);
    values.declare(in.results[0], narrow ? "(" + c_type(w.target, dtype) + ")(" + text + ")" : text);
}

void atomic(CValues& values, const Instr& in) {
    CWriter& w = values.w;
    if (memory_of(values.source.kernel, in.operands[0]) == CMemory::Private) return private_atomic(values, in);
    check_atomic(values.source, in);
    const Value result = in.results[0];
    const std::string text = atomic_call(values, in, values.source.type(result));
    fence(w, in, true);
    if (values.source.uses.count[result] == 0) {
        w.line(text + ";");
    } else {
        values.declare(result, text);
    }
    fence(w, in, false);
}

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
