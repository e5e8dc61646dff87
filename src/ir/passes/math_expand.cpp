// src/ir/passes/math_expand.cpp: the pass that replaces math calls by IR, where IR is better than the target's library or there is none.
#include <algorithm>

#include "ir/passes/math_recipes.h"
#include "ir/passes/rewrite.h"
#include "ir/special/expr.h"

namespace pardo::ir {
namespace {

using Recipe = Value (*)(Builder& m, DType t, std::span<const Value> operands);

struct Row {
    Math fn;
    Recipe floats;    // Float32 and Float64; float16 is computed in float32. Null: the target's own
    Recipe integers;  // null: integers have no such function
    bool odd;         // f(-x) = -f(x): signs move out, so that f(x) and f(-x) are computed once
};

/// A recipe of ir/special.
template <special::Expr (*function)(special::Args)> Value special_function(Builder& m, DType, std::span<const Value> operands) {
    SmallVector<special::Expr, 4> given;
    for (const Value v : operands) given.push_back({&m, v});
    return function(given).v;
}

constexpr Row rows[] = {
    {Math::erf, expand_erf, nullptr, true},
    {Math::erfc, expand_erfc, nullptr, false},
    {Math::hypot, expand_hypot, nullptr, false},
    {Math::log1p, expand_log1p, nullptr, false},
    {Math::logaddexp, expand_logaddexp, nullptr, false},
    {Math::logaddexp2, expand_logaddexp2, nullptr, false},
    {Math::pow, expand_pow, expand_integer_pow, false},
    {Math::lgamma, special_function<special::lgamma>, nullptr, false},
#define MATH(name, arity, doc)
#define SPECIAL(name, arity) {Math::name, special_function<special::name>, nullptr, false},
#include "ir/math.def"
#undef MATH
};

const Row* row_of(Math fn) {
    const auto* row = std::find_if(std::begin(rows), std::end(rows), [fn](const Row& r) { return r.fn == fn; });
    return row == std::end(rows) ? nullptr : row;
}

/// Neighbours and signs of float16 are its own matter.
bool stays_half(Math fn) { return fn == Math::nextafter || fn == Math::copysign; }

using Keeps = bool (*)(Math fn, DType t);

bool concerns(const Instr& in, DType t, Keeps keeps) {
    if (in.op != Opcode::Call || is_complex(t)) return false;
    return (row_of(in.math) && !(keeps && keeps(in.math, t))) || (t == DType::Float16 && !stays_half(in.math));
}

class ExpandMath : public Rewriter {
public:
    ExpandMath(const Kernel& from, Keeps keeps) : Rewriter(from), keeps_(keeps) {}

private:
    void instr(const Instr& in) override {
        if (in.op != Opcode::Call || !concerns(in, type(in.results[0]), keeps_)) return copy(in);
        set(in.results[0], call(in.math, type(in.results[0]), mapped(in.operands)));
    }

    Value call(Math fn, DType t, Values operands) {
        if (t == DType::Float16 && !stays_half(fn)) {
            for (Value& v : operands) v = m_.cast(v, DType::Float32);
            return m_.cast(call(fn, DType::Float32, operands), t);
        }
        const Row* row = keeps_ && keeps_(fn, t) ? nullptr : row_of(fn);
        const Recipe recipe = !row ? nullptr : is_integer(t) ? row->integers : row->floats;
        if (!recipe) return m_.call(fn, operands);
        const bool negate = row->odd && strip_sign(operands[0]);
        const Value result = recipe(m_, t, operands);
        if (result == no_value) return m_.call(fn, operands);
        return negate ? m_.neg(result) : result;
    }

    /// Removes a minus in front of v or of a factor of it; true if there was one.
    bool strip_sign(Value& v) {
        const ValueInfo& info = m_.kernel().values[v];
        if (info.result < 0) return false;
        const Instr& in = m_.kernel().instrs[info.def];
        if (in.op == Opcode::Neg) {
            v = in.operands[0];
            return true;
        }
        if (in.op != Opcode::Mul && in.op != Opcode::Div) return false;
        const Opcode op = in.op;
        const DType t = info.type;
        Value a = in.operands[0], b = in.operands[1];
        const bool first = strip_sign(a), second = strip_sign(b);
        if (!first && !second) return false;
        v = m_.emit(op, t, {a, b});
        return first != second;
    }

    Keeps keeps_;
};

}  // namespace

Value call_expanded(Builder& m, Math fn, DType t, std::span<const Value> operands) {
    const Row* row = row_of(fn);
    const Value expanded = row && row->floats ? row->floats(m, t, operands) : no_value;
    return expanded == no_value ? m.call(fn, operands) : expanded;
}

Kernel expand_math(const Kernel& kernel, Keeps keeps) {
    const bool any = std::any_of(kernel.instrs.begin(), kernel.instrs.end(), [&](const Instr& in) {
        return in.op == Opcode::Call && !in.results.empty() && concerns(in, kernel.values[in.results[0]].type, keeps);
    });
    return any ? ExpandMath(kernel, keeps).run() : kernel;
}

}  // namespace pardo::ir
