// src/ir/passes/narrow_floats.cpp: the pass that computes in float32 what has a float of 16 bits as its dtype, and rounds where that is
// due.
#include <algorithm>

#include "ir/math/recipes.h"
#include "ir/passes/rewrite.h"

namespace pardo::ir {
namespace {

/// Functions whose results need no rounding: of a narrow float each is one again.
bool is_exact(Math fn) { return fn == Math::copysign || fn == Math::floor || fn == Math::ceil || fn == Math::trunc || fn == Math::rint; }

/// Each narrow value becomes one of the dtype that it is computed in; its own dtype stays in memory, in parameters, and in what rounds.
class LowerNarrowFloats : public Rewriter {
public:
    using Rewriter::Rewriter;

private:
    bool is_narrow(Value old) const { return is_narrow_float(type(old)) && !from_.values[old].pointer; }
    Value widened(Value narrow) { return m_.cast(narrow, computed_in(m_.type(narrow))); }
    Value rounded(Value wide, DType t) { return widened(m_.cast(wide, t)); }
    /// A value of its own dtype again: that which it was widened from, so that what is only moved keeps its bits.
    Value narrowed(Value old) {
        if (!is_narrow(old)) return at(old);
        const ValueInfo& wide = m_.kernel().values[at(old)];
        const Instr* made = wide.result >= 0 ? &m_.kernel().instrs[wide.def] : nullptr;
        const bool widening = made && made->op == Opcode::Cast && m_.type(made->operands[0]) == type(old);
        return widening ? made->operands[0] : m_.cast(at(old), type(old));
    }

    void param(const Param& p) override {
        Rewriter::param(p);
        if (is_narrow(p.value)) set(p.value, widened(at(p.value)));
    }

    void instr(const Instr& in) override {
        if (in.op == Opcode::Store) return m_.store(at(in.operands[0]), at(in.operands[1]), narrowed(in.operands[2]));
        if (in.op == Opcode::For) return loop(in);
        const auto narrow = [this](Value v) { return is_narrow(v); };
        const bool result = in.results.size() == 1 && is_narrow(in.results[0]);
        if (!in.regions.empty() || !(result || std::ranges::any_of(in.operands, narrow))) return copy(in);
        if (in.op == Opcode::Bitcast) return bitcast(in);
        if (!result) return copy(in);
        set(in.results[0], value(in, type(in.results[0])));
    }

    /// What an instruction with a narrow result gives, in the wide dtype.
    Value value(const Instr& in, DType t) {
        switch (in.op) {
            case Opcode::Const: return m_.constant(computed_in(t), in.scalar().cast(computed_in(t)));
            case Opcode::Load: return widened(m_.load(at(in.operands[0]), at(in.operands[1])));
            case Opcode::Cast: return rounded(at(in.operands[0]), t);
            case Opcode::Shuffle: return m_.shuffle(at(in.operands[0]), at(in.operands[1]));
            case Opcode::Call: return call(in, t);
            case Opcode::Add:
            case Opcode::Sub:
            case Opcode::Mul:
            case Opcode::Div:
            case Opcode::FloorDiv:
            case Opcode::Rem:
            case Opcode::Fmod:
            case Opcode::Fma: return rounded(m_.emit(in.op, computed_in(t), mapped(in.operands)), t);
            default: return m_.emit(in.op, computed_in(t), mapped(in.operands));  // signs, extremes and choices are exact
        }
    }

    Value call(const Instr& in, DType t) {
        const Values operands = mapped(in.operands);
        if (in.math() == Math::nextafter) return math::narrow_nextafter({&m_, operands[0]}, {&m_, operands[1]}, t).v;
        const Value result = m_.call(in.math(), operands);
        return is_exact(in.math()) ? result : rounded(result, t);
    }

    void bitcast(const Instr& in) {
        const Value bits = m_.bitcast(narrowed(in.operands[0]), type(in.results[0]));
        set(in.results[0], is_narrow(in.results[0]) ? widened(bits) : bits);
    }

    /// Lanes join what they have in the wide dtype, and round once.
    void loop(const Instr& in) {
        for_loop(in, in.loop_kind());
        for (int k = 0; k < in.combines().size(); ++k) {
            const Value result = in.results[k];
            if (is_narrow(result) && (in.combines()[k] == Combine::Add || in.combines()[k] == Combine::Mul))
                set(result, rounded(at(result), type(result)));
        }
    }
};

}  // namespace

Kernel lower_narrow_floats(const Kernel& kernel) {
    const bool any = std::ranges::any_of(kernel.values, [](const ValueInfo& v) { return is_narrow_float(v.type) && !v.pointer; });
    return any ? LowerNarrowFloats(kernel).run() : kernel;
}

}  // namespace pardo::ir
