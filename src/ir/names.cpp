// src/ir/names.cpp: the printed names of operations, mathematical functions and combines.
#include <iterator>

#include "ir/ir.h"

namespace pardo::ir {
namespace {

constexpr const char* opcode_names[] = {
    "const",     "param",       "dim",     "extent",
    "local_dim", "group_dim",   "array",  // leaves
    "add",       "sub",         "mul",     "div",
    "floor_div", "rem",         "fmod",    "neg",
    "abs",       "min",         "max",     "fmin",
    "fmax",      "fma",  // arithmetic
    "and",       "or",          "xor",     "not",
    "shl",       "shr",  // bits
    "eq",        "ne",          "lt",      "le",
    "gt",        "ge",                              // comparisons
    "select",    "cast",        "bitcast", "call",  // choice, conversion, functions
    "complex",   "real",        "imag",             // complex
    "wrap",      "inside",                          // checks
    "lookup",                                       // tables
    "load",      "store",       "atomic",  "compare_exchange",
    "resize",    "take_memory", "report",  "shuffle",
    "fence",     "barrier",                          // memory
    "for",       "if",          "while",   "yield",  // regions
};
static_assert(std::size(opcode_names) == static_cast<std::size_t>(Opcode::Yield) + 1);

struct MathRow {
    const char* name;
    int arity;
};
constexpr MathRow math_rows[] = {
#define MATH(name, arity, doc) {#name, arity},
#include "ir/math.def"
#undef MATH
};

constexpr const char* combine_names[] = {"add", "mul", "min", "max", "and", "or", "xor"};
constexpr const char* atomic_names[] = {"add", "sub", "min", "max", "and", "or", "xor", "exchange"};
constexpr const char* order_names[] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
constexpr const char* scope_names[] = {"group", "device", "system"};

template <class T, std::size_t N, class E> const T* row(const T (&table)[N], E e) {
    return static_cast<std::size_t>(e) < N ? &table[static_cast<std::size_t>(e)] : nullptr;
}

}  // namespace

const char* name(Opcode op) {
    const char* const* r = row(opcode_names, op);
    return r ? *r : "unknown";
}

const char* name(Math fn) {
    const MathRow* r = row(math_rows, fn);
    return r ? r->name : "unknown";
}

const char* name(Combine combine) {
    const char* const* r = row(combine_names, combine);
    return r ? *r : "unknown";
}

const char* name(AtomicOp op) {
    const char* const* r = row(atomic_names, op);
    return r ? *r : "unknown";
}

const char* name(MemoryOrder order) {
    const char* const* r = row(order_names, order);
    return r ? *r : "unknown";
}

const char* name(MemoryScope scope) {
    const char* const* r = row(scope_names, scope);
    return r ? *r : "unknown";
}

int arity(Math fn) {
    const MathRow* r = row(math_rows, fn);
    return r ? r->arity : 0;
}

}  // namespace pardo::ir
