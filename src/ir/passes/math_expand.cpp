// src/ir/passes/math_expand.cpp: the pass that replaces math calls by recipes, where a target has no better function of its own.
#include <algorithm>

#include "ir/math/table.h"
#include "ir/passes/rewrite.h"

namespace pardo::ir {
namespace {

bool concerns(const Instr& in, DType t, const MathTarget& target) {
    if (is_complex(t)) return false;
    const math::Row* row = math::find(in.math(), t, target);
    return row && row->recipe.use == math::Use::Expanded;
}

class ExpandMath : public Rewriter {
public:
    ExpandMath(const Kernel& from, const MathTarget& target) : Rewriter(from), target_(target) {}

private:
    void instr(const Instr& in) override {
        if (in.op != Opcode::Call || !concerns(in, type(in.results[0]), target_)) return copy(in);
        set(in.results[0], call(in.math(), type(in.results[0]), mapped(in.operands)));
    }

    Value call(Math fn, DType t, Values operands) {
        const math::Row* row = math::find(fn, t, target_);
        if (!row || row->recipe.use != math::Use::Expanded) return m_.call(fn, operands);
        const bool negate = row->odd && strip_sign(operands[0]);
        SmallVector<math::Expr, 4> given;
        for (const Value v : operands) given.push_back({&m_, v});
        const Value result = row->recipe.real(given).v;
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

    const MathTarget target_;
};

}  // namespace

Kernel expand_math(const Kernel& kernel, const MathTarget& target) {
    const bool any = std::any_of(kernel.instrs.begin(), kernel.instrs.end(), [&](const Instr& in) {
        return in.op == Opcode::Call && concerns(in, kernel.values[in.results[0]].type, target);
    });
    return any ? ExpandMath(kernel, target).run() : kernel;
}

}  // namespace pardo::ir
