// src/ir/fold.cpp: what Builder knows without running: operations on constants, neutral elements, index arithmetic.
#include <bit>

#include "ir/builder.h"
#include "ir/eval.h"

namespace pardo::ir {
namespace {

bool is_zero_bits(const Scalar& s, bool negative) { return std::bit_cast<std::uint64_t>(s.f) == (negative ? std::uint64_t{1} << 63 : 0); }

/// Folding these could hide an accuracy that targets differ in.
bool folds_constants(Opcode op, DType type) { return op != Opcode::Call && !is_complex(type); }

}  // namespace

const Scalar* Builder::constant_of(Value v) const {
    if (v >= kernel_.values.size()) return nullptr;
    const Instr& in = kernel_.instrs[kernel_.values[v].def];
    return in.op == Opcode::Const ? &in.scalar() : nullptr;
}

bool Builder::is_constant(Value v, double value) const {
    const Scalar* s = constant_of(v);
    return s && !is_complex(s->dtype) && s->as_double() == value;
}

/// The instruction behind a value if it is of this kind; region arguments are of none.
const Instr* Builder::definition(Value v, Opcode op) const {
    const ValueInfo& info = kernel_.values[v];
    if (info.result < 0) return nullptr;
    const Instr& in = kernel_.instrs[info.def];
    return in.op == op ? &in : nullptr;
}

Value Builder::folded(const Instr& in, DType type) {
    const auto& v = in.operands;
    SmallVector<Scalar, 4> constants;
    for (Value operand : v) {
        const Scalar* s = constant_of(operand);
        if (!s) break;
        constants.push_back(*s);
    }
    if (constants.size() == v.size() && folds_constants(in.op, this->type(v[0])) && !is_complex(type))
        return constant(type, evaluate(in.op, function_of(in), type, constants));

    switch (in.op) {
        case Opcode::Cast: return this->type(v[0]) == type ? v[0] : no_value;
        case Opcode::Bitcast:
            if (this->type(v[0]) == type) return v[0];
            if (const Instr* inner = definition(v[0], Opcode::Bitcast); inner && this->type(inner->operands[0]) == type)
                return inner->operands[0];
            return no_value;
        case Opcode::Select:
            if (const Scalar* condition = constant_of(v[0])) return condition->b ? v[1] : v[2];
            return v[1] == v[2] ? v[1] : no_value;
        case Opcode::Wrap: {
            const Scalar* index = constant_of(v[0]);
            return index && index->i >= 0 ? v[0] : no_value;
        }
        case Opcode::Inside: return v[0] == v[1] ? boolean(false) : no_value;
        case Opcode::Neg:
        case Opcode::Not:
            if (const Instr* inner = definition(v[0], in.op)) return inner->operands[0];
            return no_value;
        case Opcode::Abs:
            if (definition(v[0], Opcode::Abs) && is_float(type)) return v[0];
            return kind_of(type) == DKind::Unsigned ? v[0] : no_value;
        case Opcode::Real:
            if (const Instr* made = definition(v[0], Opcode::Complex)) return made->operands[0];
            return no_value;
        case Opcode::Imag:
            if (const Instr* made = definition(v[0], Opcode::Complex)) return made->operands[1];
            return no_value;
        default: return v.size() == 2 && in.op != Opcode::Call ? folded_binary(in, type) : no_value;
    }
}

Value Builder::folded_binary(const Instr& in, DType type) {
    const Value a = in.operands[0], b = in.operands[1];
    const DType t = this->type(a);
    const bool integral = is_integer(t), boolean_type = t == DType::Bool;
    switch (in.op) {
        case Opcode::Add:
        case Opcode::Sub: return folded_sum(in, type);
        case Opcode::Mul:
            if (boolean_type) return a == b ? a : no_value;
            if (integral && is_constant(b, 0)) return b;
            return is_constant(b, 1) ? a : no_value;
        case Opcode::Div:
        case Opcode::FloorDiv:
            if (in.op == Opcode::FloorDiv && !integral) return no_value;
            return is_constant(b, 1) ? a : no_value;
        case Opcode::Rem:
        case Opcode::Fmod: return integral && is_constant(b, 1) ? constant(type, 0.0) : no_value;
        case Opcode::Min:
        case Opcode::Max:
        case Opcode::Fmin:
        case Opcode::Fmax: return a == b ? a : no_value;
        case Opcode::And:
            if (a == b) return a;
            if (is_constant(b, 0)) return b;
            if (const Scalar* s = constant_of(b); s && same_bits(*s, make_integer(t, ~std::uint64_t{0}))) return a;
            return no_value;
        case Opcode::Or:
            if (a == b || is_constant(b, 0)) return a;
            if (const Scalar* s = constant_of(b); s && same_bits(*s, make_integer(t, ~std::uint64_t{0}))) return b;
            return no_value;
        case Opcode::Xor:
            if (a == b) return constant(type, 0.0);
            return is_constant(b, 0) ? a : no_value;
        case Opcode::Shl:
        case Opcode::Shr: return is_constant(b, 0) ? a : no_value;
        case Opcode::Eq:
        case Opcode::Le:
        case Opcode::Ge: return a == b && (integral || boolean_type) ? boolean(true) : no_value;
        case Opcode::Ne:
        case Opcode::Lt:
        case Opcode::Gt: return a == b && (integral || boolean_type) ? boolean(false) : no_value;
        default: return no_value;
    }
}

/// x + 0, x - 0, x - x, (x + c) + d; of floats only what keeps the sign of zero.
Value Builder::folded_sum(const Instr& in, DType type) {
    const Value a = in.operands[0], b = in.operands[1];
    const bool adds = in.op == Opcode::Add;
    const Scalar* constant_b = constant_of(b);
    if (is_float(type)) {
        if (!constant_b) return no_value;
        const Instr* product = definition(a, Opcode::Mul);
        const bool positive = (product && product->operands[0] == product->operands[1]) || definition(a, Opcode::Abs);
        const bool keeps = is_zero_bits(*constant_b, adds) || (positive && is_zero_bits(*constant_b, !adds));  // 0 is +0 already
        return keeps ? a : no_value;
    }
    if (type == DType::Bool) return constant_b && !constant_b->b ? a : no_value;
    if (!is_integer(type)) return no_value;
    if (!adds && a == b) return constant(type, 0.0);
    if (!constant_b) return no_value;
    if (constant_b->u == 0) return a;
    const Instr* inner = definition(a, Opcode::Add);
    const Scalar* constant_a = inner ? constant_of(inner->operands[1]) : nullptr;
    if (!constant_a) {
        if (adds) return no_value;
        return add(a, constant(type, make_integer(type, 0 - constant_b->u)));  // one form for both
    }
    const std::uint64_t sum = adds ? constant_a->u + constant_b->u : constant_a->u - constant_b->u;
    const Value base = inner->operands[0];
    return add(base, constant(type, make_integer(type, sum)));
}

}  // namespace pardo::ir
