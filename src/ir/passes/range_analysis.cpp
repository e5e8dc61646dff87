// src/ir/passes/range_analysis.cpp: a kernel's indices as interval arithmetic on what its launch knows.
#include <map>
#include <optional>
#include <tuple>

#include "ir/passes/checks.h"
#include "ir/rules.h"

namespace pardo::ir {
namespace {

using Op = RangeStep::Op;
using Step = std::uint32_t;

constexpr Step unset = ~0u;
constexpr std::size_t most_steps = 4000;
constexpr int most_depth = 64;  // of expressions that are looked through

/// What values of a dtype may be; of uint64, the limit of int64 stands for "unknown".
Range limits_of(DType t) {
    if (t == DType::Bool) return {0, 1};
    const int bits = 8 * itemsize(t);
    if (kind_of(t) == DKind::Unsigned) return {0, bits == 64 ? Range::most : (std::int64_t(1) << bits) - 1};
    return bits == 64 ? Range{Range::least, Range::most} : Range{-(std::int64_t(1) << (bits - 1)), (std::int64_t(1) << (bits - 1)) - 1};
}

bool counts(DType t) { return is_integer(t) || t == DType::Bool; }

/// Walks the kernel in its order. What a value may be depends on where it is asked: conditions around it narrow it.
class Analysis {
public:
    explicit Analysis(const Kernel& kernel)
        : kernel_(kernel), base_(kernel.values.size(), unset), memo_(kernel.values.size(), unset), facts_(kernel.values.size()) {}

    RangeProgram run() {
        bool any = false;
        for (const Instr& in : kernel_.instrs) any |= in.op == Opcode::Inside || in.op == Opcode::Wrap;
        if (any) visit(kernel_.body);
        return pruned();
    }

private:
    // ---- steps; equal ones are one

    Step step(Op op, Step a = 0, Step b = 0, Step c = 0, Range range = {}) {
        const auto key = std::tuple(op, a, b, c, range.low, range.high);
        if (const auto known = known_.find(key); known != known_.end()) return known->second;
        const auto made = static_cast<Step>(program_.steps.size());
        program_.steps.push_back({op, a, b, c, range});
        known_.emplace(key, made);
        return made;
    }
    Step constant(std::int64_t low, std::int64_t high) { return step(Op::Constant, 0, 0, 0, {low, high}); }
    Step limits(DType t) {
        const Range r = limits_of(t);
        return constant(r.low, r.high);
    }
    Step input(bool extent, std::uint32_t index) {
        const RangeInput wanted{extent, index};
        std::size_t k = 0;
        while (k < program_.inputs.size() && !(program_.inputs[k] == wanted)) ++k;
        if (k == program_.inputs.size()) program_.inputs.push_back(wanted);
        return step(Op::Input, static_cast<Step>(k));
    }

    // ---- values

    DType type(Value v) const { return kernel_.values[v].type; }
    const Instr* definition(Value v) const { return ir::definition(kernel_, v); }

    /// What a value may be here.
    Step at(Value v, int depth = 0) {
        if (!counts(type(v))) return constant(Range::least, Range::most);
        if (memo_[v] != unset) return memo_[v];
        if (depth > most_depth || program_.steps.size() > most_steps) return limits(type(v));
        Step made = computed(v, depth);
        for (const Step fact : facts_[v]) made = step(Op::Meet, made, fact);
        memo_[v] = made;
        return made;
    }

    Step computed(Value v, int depth) {
        if (base_[v] != unset) return base_[v];
        const Instr* in = definition(v);
        const DType t = type(v);
        if (!in || in->results.size() != 1 || !in->regions.empty()) return limits(t);
        const auto operand = [&](int k) { return at(in->operands[k], depth + 1); };
        const auto fitted = [&](Step s) {
            const Range r = limits_of(t);
            return t == DType::Int64 ? s : step(Op::Fit, s, 0, 0, r);
        };
        // Numbers beyond int64 are not followed.
        const bool wide = t == DType::UInt64;
        switch (in->op) {
            case Opcode::Const:
                if (t == DType::Bool) return constant(in->scalar().b, in->scalar().b);
                if (kind_of(t) == DKind::Unsigned && in->scalar().u > static_cast<std::uint64_t>(Range::most)) return limits(t);
                return constant(in->scalar().i, in->scalar().i);
            case Opcode::Param: return t == DType::Bool ? limits(t) : input(false, in->index());
            case Opcode::Extent: return input(true, in->index());
            case Opcode::Dim: return step(Op::Count, input(true, in->index()));
            case Opcode::LocalDim: return constant(0, kernel_.group_size[static_cast<int>(in->index())] - 1);
            case Opcode::GroupDim: {
                const std::int64_t size = kernel_.group_size[static_cast<int>(in->index())];
                return step(Op::Count, step(Op::FloorDiv, input(true, in->index()), constant(size, size)));
            }
            case Opcode::Add: return wide || t == DType::Bool ? limits(t) : fitted(step(Op::Add, operand(0), operand(1)));
            case Opcode::Sub: return wide || t == DType::Bool ? limits(t) : fitted(step(Op::Sub, operand(0), operand(1)));
            case Opcode::Mul: return wide || t == DType::Bool ? limits(t) : fitted(step(Op::Mul, operand(0), operand(1)));
            case Opcode::Neg: return wide ? limits(t) : fitted(step(Op::Sub, constant(0, 0), operand(0)));
            case Opcode::Abs: return wide ? limits(t) : fitted(step(Op::Abs, operand(0)));
            case Opcode::FloorDiv: return wide ? limits(t) : fitted(step(Op::FloorDiv, operand(0), operand(1)));
            case Opcode::Rem: return fitted(step(Op::Rem, operand(0), operand(1)));
            case Opcode::Shr: return wide ? limits(t) : fitted(step(Op::Shr, operand(0), operand(1)));
            case Opcode::Shl: {
                const Instr* by = definition(in->operands[1]);
                if (wide || !by || by->op != Opcode::Const || by->scalar().u > 61) return limits(t);
                const std::int64_t factor = std::int64_t(1) << by->scalar().u;
                return fitted(step(Op::Mul, operand(0), constant(factor, factor)));
            }
            case Opcode::And: return t == DType::Bool ? limits(t) : fitted(step(Op::And, operand(0), operand(1)));
            case Opcode::Min:
            case Opcode::Fmin: return fitted(step(Op::Min, operand(0), operand(1)));
            case Opcode::Max:
            case Opcode::Fmax: return fitted(step(Op::Max, operand(0), operand(1)));
            case Opcode::Select: return step(Op::Hull, operand(1), operand(2));
            case Opcode::Cast: {
                if (!counts(type(in->operands[0]))) return limits(t);
                Step from = operand(0);
                if (t == DType::Bool) return limits(t);
                if (type(in->operands[0]) == DType::UInt64) from = step(Op::Signed, from);
                return fitted(from);
            }
            case Opcode::Wrap: return step(Op::Wrap, operand(0), operand(1));
            default: return limits(t);
        }
    }

    // ---- conditions

    static Opcode negated(Opcode op) {
        switch (op) {
            case Opcode::Eq: return Opcode::Ne;
            case Opcode::Ne: return Opcode::Eq;
            case Opcode::Lt: return Opcode::Ge;
            case Opcode::Le: return Opcode::Gt;
            case Opcode::Gt: return Opcode::Le;
            default: return Opcode::Lt;
        }
    }

    bool is_constant(Value v, bool truth) const {
        const Instr* in = definition(v);
        return in && in->op == Opcode::Const && in->scalar().dtype == DType::Bool && in->scalar().b == truth;
    }

    /// Notes what follows for integers from a condition that is true, or false.
    void assume(Value condition, bool truth, int depth = 0) {
        const Instr* in = definition(condition);
        if (!in || depth > most_depth || program_.steps.size() > most_steps) return;
        switch (in->op) {
            case Opcode::Not: return assume(in->operands[0], !truth, depth + 1);
            case Opcode::And:
            case Opcode::Or:
                if (truth != (in->op == Opcode::And)) return;
                assume(in->operands[0], truth, depth + 1);
                return assume(in->operands[1], truth, depth + 1);
            case Opcode::Select: return alternatives(in->operands[0], in->operands[1], in->operands[2], truth, depth);
            case Opcode::If: {
                const int k = kernel_.values[condition].result;
                return alternatives(in->operands[0], yielded(*in, 0, k), yielded(*in, 1, k), truth, depth);
            }
            case Opcode::Inside:
                if (!truth) return;
                narrow(in->operands[0], step(Op::Meet, constant(0, Range::most), step(Op::Below, at(in->operands[1]))), 0);
                return;
            case Opcode::Eq:
            case Opcode::Ne:
            case Opcode::Lt:
            case Opcode::Le:
            case Opcode::Gt:
            case Opcode::Ge: return compared(truth ? in->op : negated(in->op), in->operands[0], in->operands[1]);
            default: return;
        }
    }

    /// `test ? yes : no` is `truth`: where one side cannot be, the other one was taken.
    void alternatives(Value test, Value yes, Value no, bool truth, int depth) {
        if (is_constant(no, !truth)) {
            assume(test, true, depth + 1);
            assume(yes, truth, depth + 1);
        } else if (is_constant(yes, !truth)) {
            assume(test, false, depth + 1);
            assume(no, truth, depth + 1);
        }
    }

    void compared(Opcode op, Value x, Value y) {
        if (!is_integer(type(x))) return;
        const Step a = at(x), b = at(y);
        switch (op) {
            case Opcode::Eq: narrow(x, b, 0); return narrow(y, a, 0);
            case Opcode::Ne: narrow(x, step(Op::Except, a, b), 0); return narrow(y, step(Op::Except, b, a), 0);
            case Opcode::Lt: narrow(x, step(Op::Below, b), 0); return narrow(y, step(Op::Above, a), 0);
            case Opcode::Le: narrow(x, step(Op::AtMost, b), 0); return narrow(y, step(Op::AtLeast, a), 0);
            case Opcode::Gt: narrow(x, step(Op::Above, b), 0); return narrow(y, step(Op::Below, a), 0);
            default: narrow(x, step(Op::AtLeast, b), 0); return narrow(y, step(Op::AtMost, a), 0);
        }
    }

    /// A value is in `to` here; so its operands are in what gives that.
    void narrow(Value v, Step to, int depth) {
        const Instr* in = definition(v);
        if (in && in->op == Opcode::Const) return;
        const bool sum = in && type(v) == DType::Int64 && depth < 6;
        if (sum && in->op == Opcode::Add) {
            const Value p = in->operands[0], q = in->operands[1];
            const Step a = at(p), b = at(q);
            narrow(p, step(Op::Minuend, a, b, to), depth + 1);
            narrow(q, step(Op::Minuend, b, a, to), depth + 1);
        } else if (sum && in->op == Opcode::Sub) {
            const Value p = in->operands[0], q = in->operands[1];
            const Step a = at(p), b = at(q);
            narrow(p, step(Op::Remnant, a, b, to), depth + 1);
            narrow(q, step(Op::Negated, b, a, to), depth + 1);
        } else if (sum && in->op == Opcode::Mul) {
            const Value p = in->operands[0], q = in->operands[1];
            narrow(p, step(Op::Factor, at(p), at(q), to), depth + 1);
        } else if (in && in->op == Opcode::Cast && depth < 6 && is_integer(type(in->operands[0])) && is_integer(type(v))) {
            const DType from = type(in->operands[0]);
            const Range inner = limits_of(from), outer = limits_of(type(v));
            if (from != DType::UInt64 && inner.low >= outer.low && inner.high <= outer.high) narrow(in->operands[0], to, depth + 1);
        }
        facts_[v].push_back(to);
        noted_.push_back(v);
        std::fill(memo_.begin(), memo_.end(), unset);
    }

    // ---- regions

    const Region& region(const Instr& in, int k) const { return kernel_.regions[in.regions[k]]; }
    Value yielded(const Instr& in, int r, int k) const { return kernel_.instrs[region(in, r).body.back()].operands[k]; }

    /// Facts that `enter` notes hold as long as `body` is walked.
    template <class Enter, class Body> void within(Enter enter, Body body) {
        const std::size_t noted = noted_.size();
        const std::vector<Step> outer = memo_;
        enter();
        std::fill(memo_.begin(), memo_.end(), unset);
        body();
        for (; noted_.size() > noted; noted_.pop_back()) facts_[noted_.back()].pop_back();
        memo_ = outer;
    }

    void visit(const Region& r) {
        for (const InstrId id : r.body) {
            const Instr& in = kernel_.instrs[id];
            switch (in.op) {
                case Opcode::Wrap: note(id, step(Op::IsNatural, at(in.operands[0]))); break;
                case Opcode::Inside: note(id, step(Op::IsInside, at(in.operands[0]), at(in.operands[1]))); break;
                case Opcode::If: visit_if(in); break;
                case Opcode::For: visit_for(in); break;
                case Opcode::While: visit_while(in); break;
                default: break;
            }
        }
    }

    void note(InstrId id, Step verdict) {
        program_.checks.push_back(id);
        program_.verdicts.push_back(program_.steps.size() > most_steps ? RangeProgram::no_verdict : verdict);
    }

    void visit_if(const Instr& in) {
        std::vector<Step> sides[2];
        for (int side = 0; side < 2; ++side) {
            within([&] { assume(in.operands[0], side == 0); },
                   [&] {
                       visit(region(in, side));
                       for (int k = 0; k < in.results.size(); ++k) sides[side].push_back(at(yielded(in, side, k)));
                   });
        }
        for (int k = 0; k < in.results.size(); ++k) {
            const auto at = static_cast<std::size_t>(k);
            base_[in.results[k]] = counts(type(in.results[k])) ? step(Op::Hull, sides[0][at], sides[1][at]) : unset;
        }
    }

    void visit_for(const Instr& in) {
        const Region& body = region(in, 0);
        const Step from = at(in.operands[0]), to = at(in.operands[1]), by = at(in.operands[2]);
        base_[body.args[0]] = step(Op::Counter, from, to, by);
        std::vector<Step> results(static_cast<std::size_t>(in.results.size()), unset);
        if (in.loop_kind() != LoopKind::Lanes) {
            const Step iterations = step(Op::Iterations, from, to, by), earlier = step(Op::Count, iterations);  // before the last iteration
            for (int k = 0; k < in.results.size(); ++k) {
                const Value argument = body.args[1 + k];
                if (type(argument) != DType::Int64) continue;
                const Step initial = at(in.operands[3 + k]);
                if (shrinks(yielded(in, 0, k), argument)) {
                    base_[argument] = results[static_cast<std::size_t>(k)] = step(Op::Shrinks, initial);
                } else if (const auto change = growth(yielded(in, 0, k), argument)) {
                    base_[argument] = step(Op::Carried, initial, *change, earlier);
                    results[static_cast<std::size_t>(k)] = step(Op::Carried, initial, *change, iterations);
                }
            }
        }
        within([] {}, [&] { visit(body); });
        for (int k = 0; k < in.results.size(); ++k) base_[in.results[k]] = results[static_cast<std::size_t>(k)];
    }

    void visit_while(const Instr& in) {
        const Region &condition = region(in, 0), &body = region(in, 1);
        const Value goes_on = kernel_.instrs[condition.body.back()].operands[0];
        const int count = in.results.size();
        std::vector<std::size_t> first(static_cast<std::size_t>(count), 0);
        const auto assume_test = [&] {
            for (int k = 0; k < count; ++k) first[static_cast<std::size_t>(k)] = facts_[condition.args[k]].size();
            assume(goes_on, true);
            for (int k = 0; k < count; ++k) {  // what the test says of its arguments holds for the body's
                const std::vector<Step> own(
                    facts_[condition.args[k]].begin() + static_cast<std::ptrdiff_t>(first[static_cast<std::size_t>(k)]),
                    facts_[condition.args[k]].end());
                for (const Step fact : own) {
                    facts_[body.args[k]].push_back(fact);
                    noted_.push_back(body.args[k]);
                }
            }
        };
        // What grows, or falls, while a test bounds it.
        std::vector<Step> bases(static_cast<std::size_t>(count), unset);
        std::vector<Step> initial;
        initial.reserve(static_cast<std::size_t>(count));
        for (int k = 0; k < count; ++k) initial.push_back(at(in.operands[k]));
        within(assume_test, [&] {
            for (int k = 0; k < count; ++k) {
                if (type(body.args[k]) != DType::Int64) continue;
                const Value next = yielded(in, 1, k);
                const Step start = initial[static_cast<std::size_t>(k)];
                Step& base = bases[static_cast<std::size_t>(k)];
                if (shrinks(next, body.args[k]))
                    base = step(Op::Shrinks, start);
                else if (const auto change = growth(next, body.args[k]))
                    base = step(Op::Climbs, start, *change, at(body.args[k]));
                else if (const auto factor = factor_of(next, body.args[k]))
                    base = step(Op::Doubles, start, *factor, at(body.args[k]));
            }
        });
        for (int k = 0; k < count; ++k) base_[condition.args[k]] = base_[body.args[k]] = bases[static_cast<std::size_t>(k)];
        within([] {}, [&] { visit(condition); });
        within(assume_test, [&] { visit(body); });
        for (int k = 0; k < count; ++k) base_[in.results[k]] = bases[static_cast<std::size_t>(k)];
    }

    /// Whether an iteration leaves a value that is not negative between 0 and what it was.
    bool shrinks(Value next, Value argument) const {
        const Instr* in = definition(next);
        if (!in) return false;
        if (in->op == Opcode::If) {
            const int k = kernel_.values[next].result;
            const Value a = yielded(*in, 0, k), b = yielded(*in, 1, k);
            return (a == argument || shrinks(a, argument)) && (b == argument || shrinks(b, argument)) && (a != argument || b != argument);
        }
        if (in->operands.empty() || in->operands[0] != argument) return false;
        const Instr* by = in->operands.size() > 1 ? definition(in->operands[1]) : nullptr;
        const bool constant = by && by->op == Opcode::Const;
        return (in->op == Opcode::FloorDiv && constant && by->scalar().i >= 1) ||
               (in->op == Opcode::Shr && constant && by->scalar().i >= 0);
    }

    /// What an iteration multiplies a value by.
    std::optional<Step> factor_of(Value next, Value argument) {
        const Instr* in = definition(next);
        if (!in || in->operands.size() != 2) return {};
        const Instr* by = definition(in->operands[1]);
        const bool constant = by && by->op == Opcode::Const;
        if (in->op == Opcode::Mul && in->operands[0] == argument && constant) return at(in->operands[1]);
        if (in->op == Opcode::Add && in->operands[0] == argument && in->operands[1] == argument) return this->constant(2, 2);
        if (in->op == Opcode::Shl && in->operands[0] == argument && constant && by->scalar().u < 32)
            return this->constant(std::int64_t(1) << by->scalar().u, std::int64_t(1) << by->scalar().u);
        return {};
    }

    /// By how much an iteration changes a carried value, if `next` is that value plus something.
    std::optional<Step> growth(Value next, Value argument, int depth = 0) {
        if (next == argument) return constant(0, 0);
        const Instr* in = definition(next);
        if (!in || depth > 16) return {};
        const auto both = [&](Value a, Value b) -> std::optional<Step> {
            const auto x = growth(a, argument, depth + 1), y = growth(b, argument, depth + 1);
            if (!x || !y) return {};
            return step(Op::Hull, *x, *y);
        };
        switch (in->op) {
            case Opcode::Add:
                for (int k = 0; k < 2; ++k)
                    if (const auto of = growth(in->operands[k], argument, depth + 1)) return step(Op::Add, *of, at(in->operands[1 - k]));
                return {};
            case Opcode::Sub:
                if (const auto of = growth(in->operands[0], argument, depth + 1)) return step(Op::Sub, *of, at(in->operands[1]));
                return {};
            case Opcode::Select: return both(in->operands[1], in->operands[2]);
            case Opcode::If: {
                const int k = kernel_.values[next].result;
                return both(yielded(*in, 0, k), yielded(*in, 1, k));
            }
            case Opcode::For: {
                if (in->loop_kind() == LoopKind::Lanes) return {};
                const int k = kernel_.values[next].result;
                const auto before = growth(in->operands[3 + k], argument, depth + 1);
                const auto each = growth(yielded(*in, 0, k), region(*in, 0).args[1 + k], depth + 1);
                if (!before || !each) return {};
                return step(Op::Carried, *before, *each,
                            step(Op::Iterations, at(in->operands[0]), at(in->operands[1]), at(in->operands[2])));
            }
            default: return {};
        }
    }

    /// The program without steps that no verdict needs.
    RangeProgram pruned() {
        RangeProgram out;
        out.checks = std::move(program_.checks);
        std::vector<Step> fresh(program_.steps.size(), unset);
        std::vector<bool> needed(program_.steps.size(), false);
        for (const Step v : program_.verdicts)
            if (v != RangeProgram::no_verdict) needed[v] = true;
        for (std::size_t k = program_.steps.size(); k-- > 0;) {
            if (!needed[k]) continue;
            const RangeStep& s = program_.steps[k];
            if (s.op == Op::Constant || s.op == Op::Input) continue;
            needed[s.a] = needed[s.b] = needed[s.c] = true;
        }
        std::vector<Step> input(program_.inputs.size(), unset);
        for (std::size_t k = 0; k < program_.steps.size(); ++k) {
            if (!needed[k]) continue;
            RangeStep s = program_.steps[k];
            if (s.op == Op::Input) {
                if (input[s.a] == unset) {
                    input[s.a] = static_cast<Step>(out.inputs.size());
                    out.inputs.push_back(program_.inputs[s.a]);
                }
                s.a = input[s.a];
            } else if (s.op != Op::Constant) {
                s.a = fresh[s.a];
                s.b = fresh[s.b];
                s.c = fresh[s.c];
            }
            fresh[k] = static_cast<Step>(out.steps.size());
            out.steps.push_back(s);
        }
        for (const Step v : program_.verdicts) out.verdicts.push_back(v == RangeProgram::no_verdict ? v : fresh[v]);
        return out;
    }

    const Kernel& kernel_;
    RangeProgram program_;
    std::map<std::tuple<Op, Step, Step, Step, std::int64_t, std::int64_t>, Step> known_;
    std::vector<Step> base_;                // of arguments and results of regions; unset: not known
    std::vector<Step> memo_;                // of what has been asked here
    std::vector<std::vector<Step>> facts_;  // that hold here
    std::vector<Value> noted_;              // values that have them, in order
};

}  // namespace

RangeProgram range_program(const Kernel& kernel) { return Analysis(kernel).run(); }

}  // namespace pardo::ir
