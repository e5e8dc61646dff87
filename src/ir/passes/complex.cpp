// src/ir/passes/complex.cpp: the pass that replaces complex values by pairs of reals.
#include <algorithm>

#include <pardo/error.h>

#include "ir/eval.h"
#include "ir/math/table.h"
#include "ir/passes/rewrite.h"

namespace pardo::ir {
namespace {

class LowerComplex : public Rewriter {
public:
    using Rewriter::Rewriter;

private:
    using Z = math::Complex;

    bool paired(DType t) const override { return is_complex(t); }
    Z pair(Value re, Value im) { return {{&m_, re}, {&m_, im}}; }
    Z pair(Value old) { return pair(at(old), second(old)); }
    void set_pair(const Instr& in, Z z) { set(in.results[0], z.re.v, z.im.v); }

    void param(const Param& p) override {
        if (!is_complex(p.type)) return Rewriter::param(p);
        const DType part = real_of(p.type);
        if (p.pointer) return set(p.value, m_.pointer(p.name, part, p.access, p.noalias, p.streaming));
        const Value re = m_.scalar_param(p.name + ".re", part);
        set(p.value, re, m_.scalar_param(p.name + ".im", part));
    }

    void array(const ArrayInfo& a) override {
        if (!is_complex(a.type)) return Rewriter::array(a);
        set(a.value, m_.array(a.name, real_of(a.type), 2 * a.count, a.space, a.whole));
    }

    void instr(const Instr& in) override {
        if (in.op == Opcode::For) return for_loop(in, stays_lanes(in) ? in.loop_kind() : LoopKind::Serial);
        if (in.op == Opcode::Load && is_complex(type(in.results[0]))) return load(in);
        if (in.op == Opcode::Store && is_complex(type(in.operands[2]))) return store(in);
        if ((in.op == Opcode::Resize || in.op == Opcode::TakeMemory) && is_complex(type(in.operands[0]))) {
            const Value memory = at(in.operands[0]), count = m_.mul(at(in.operands[1]), m_.i64(2));
            return set(in.results[0], in.op == Opcode::Resize ? m_.resize(memory, count) : m_.take_memory(memory, count));
        }
        if (!in.regions.empty() || !touches_complex(in)) return copy(in);
        arithmetic(in);
    }

    bool touches_complex(const Instr& in) const {
        const auto is_pair = [this](Value v) { return is_complex(type(v)); };
        return std::any_of(in.results.begin(), in.results.end(), is_pair) || std::any_of(in.operands.begin(), in.operands.end(), is_pair);
    }

    /// Sums split into two sums; products and extremes of pairs do not, and run in order.
    bool stays_lanes(const Instr& in) const {
        for (int k = 0; k < in.combines().size(); ++k)
            if (is_complex(type(in.results[k])) && in.combines()[k] != Combine::Add) return false;
        return true;
    }

    Values combined(const Instr& in, std::span<const Value> carried, std::span<const Value> contributions) override {
        Values joined;
        std::size_t at = 0;
        for (int k = 0; k < in.combines().size(); ++k) {
            const DType t = type(in.results[k]);
            if (!is_complex(t)) {
                joined.push_back(m_.combine(in.combines()[k], carried[at], contributions[at]));
                ++at;
                continue;
            }
            const Z z = combine(in.combines()[k], pair(carried[at], carried[at + 1]), pair(contributions[at], contributions[at + 1]));
            joined.insert(joined.end(), {z.re.v, z.im.v});
            at += 2;
        }
        return joined;
    }

    static Z combine(Combine c, Z a, Z b) {
        switch (c) {
            case Combine::Add: return a + b;
            case Combine::Mul: return multiply(a, b);
            default: return extreme(c == Combine::Max, a, b);
        }
    }

    // Element i is the reals 2 i and 2 i + 1: multiples of the index, so that counters stay counters for the emitters.
    struct Places {
        Value re, im;
    };
    Places places(const Instr& in) {
        const Value even = m_.mul(at(in.operands[1]), m_.i64(2));
        return {even, m_.add(even, m_.i64(1))};
    }

    void load(const Instr& in) {
        const Places place = places(in);
        const Value pointer = at(in.operands[0]), re = m_.load(pointer, place.re);
        set(in.results[0], re, m_.load(pointer, place.im));
    }

    void store(const Instr& in) {
        const Places place = places(in);
        m_.store(at(in.operands[0]), place.re, at(in.operands[2]));
        m_.store(at(in.operands[0]), place.im, second(in.operands[2]));
    }

    void arithmetic(const Instr& in) {
        const Value result = in.results[0];
        const DType t = type(result);
        const auto& v = in.operands;
        switch (in.op) {
            case Opcode::Const: return set(result, m_.constant(real_of(t), in.scalar().c.re), m_.constant(real_of(t), in.scalar().c.im));
            case Opcode::Add: return set_pair(in, pair(v[0]) + pair(v[1]));
            case Opcode::Sub: return set_pair(in, pair(v[0]) - pair(v[1]));
            case Opcode::Mul: return set_pair(in, multiply(pair(v[0]), pair(v[1])));
            case Opcode::Div: return set_pair(in, divide(pair(v[0]), pair(v[1])));
            case Opcode::Neg: return set_pair(in, -pair(v[0]));
            case Opcode::Abs: return set(result, m_.call(Math::hypot, at(v[0]), second(v[0])));
            case Opcode::Min:
            case Opcode::Max: return set_pair(in, extreme(in.op == Opcode::Max, pair(v[0]), pair(v[1])));
            case Opcode::Eq: {
                const Value re = m_.eq(at(v[0]), at(v[1])), im = m_.eq(second(v[0]), second(v[1]));
                return set(result, m_.bit_and(re, im));
            }
            case Opcode::Ne: {
                const Value re = m_.ne(at(v[0]), at(v[1])), im = m_.ne(second(v[0]), second(v[1]));
                return set(result, m_.bit_or(re, im));
            }
            case Opcode::Select: return set_pair(in, select({&m_, at(v[0])}, pair(v[1]), pair(v[2])));
            case Opcode::Cast: return cast(in, v[0], t);
            case Opcode::Call: return call(in, t);
            case Opcode::Shuffle: return shuffle(in);
            case Opcode::Complex: return set(result, at(v[0]), at(v[1]));
            case Opcode::Real: return set(result, at(v[0]));
            case Opcode::Imag: return set(result, second(v[0]));
            default: return copy(in);
        }
    }

    void call(const Instr& in, DType t) {
        const math::Row* row = math::find(in.math(), t, {});
        if (!row) throw Error(ErrorCode::Internal, std::string(name(in.math())) + ": this function has no complex form");
        SmallVector<Z, 2> given;
        for (const Value v : in.operands) given.push_back(pair(v));
        set_pair(in, row->recipe.complex(given));
    }

    void shuffle(const Instr& in) {
        const Value item = at(in.operands[1]), re = m_.shuffle(at(in.operands[0]), item);
        set(in.results[0], re, m_.shuffle(second(in.operands[0]), item));
    }

    void cast(const Instr& in, Value from, DType to) {
        const Value result = in.results[0];
        if (to == DType::Bool) {
            const Value re = m_.cast(at(from), to), im = m_.cast(second(from), to);
            return set(result, m_.bit_or(re, im));
        }
        if (!is_complex(to)) return set(result, m_.cast(at(from), to));
        const DType part = real_of(to);
        const Value re = m_.cast(at(from), part), im = is_complex(type(from)) ? m_.cast(second(from), part) : m_.constant(part, 0.0);
        set(result, re, im);
    }
};

}  // namespace

Kernel lower_complex(const Kernel& kernel) {
    const bool any = std::any_of(kernel.values.begin(), kernel.values.end(), [](const ValueInfo& v) { return is_complex(v.type); });
    return any ? LowerComplex(kernel).run() : kernel;
}

}  // namespace pardo::ir
