// src/ir/passes/checks.cpp: kernels without the checks that hold in a launch; what is left of them becomes plain arithmetic.
#include "ir/passes/checks.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "ir/passes/rewrite.h"
#include "ir/rules.h"

namespace pardo::ir {
namespace {

/// Whether a region holds an instruction for which `is` is true, at any depth.
template <class Is> bool holds_any(const Kernel& kernel, const Region& region, const Is& is) {
    for (const InstrId id : region.body) {
        if (is(id)) return true;
        for (const RegionId inner : kernel.instrs[id].regions)
            if (holds_any(kernel, kernel.regions[inner], is)) return true;
    }
    return false;
}

constexpr InstrId no_instr = ~0u;

/// A check of a loop's counter plus a constant, which each iteration makes: the loop's bounds answer it.
struct Cut {
    InstrId inside;
    Value extent;
    std::int64_t offset = 0;
    InstrId wrap = no_instr;  // negative indices count from the end
    const Instr* report = nullptr;
};

/// An item that has failed leaves its `while` loops: what it reads instead may keep them going for ever. Loops over ranges end before the
/// iteration that would fail.
class Resolver : public Rewriter {
public:
    Resolver(const Kernel& from, const RangeProgram& program, const std::vector<bool>& holds) : Rewriter(from), held_(from.instrs.size()) {
        for (std::size_t k = 0; k < program.checks.size(); ++k) held_[program.checks[k]] = holds[k];
        ends_loops_ =
            holds_any(from, from.body, [&](InstrId id) { return from.instrs[id].op == Opcode::While && may_fail(from.instrs[id]); });
    }

protected:
    void instr(const Instr& in) override {
        if (ends_loops_ && failed_ == no_value) {
            failed_ = m_.array("failed", DType::Bool, 1, Space::Private);
            m_.store(failed_, m_.i64(0), m_.boolean(false));
        }
        switch (in.op) {
            case Opcode::Wrap: return set(in.results[0], wrapped(in));
            case Opcode::Inside: return set(in.results[0], inside(in));
            case Opcode::Report: return report(mapped(in.operands));
            case Opcode::While: return may_fail(in) ? while_loop(in) : copy(in);
            case Opcode::For: return counted_loop(in);
            default: return copy(in);
        }
    }

private:
    bool held(const Instr& in) const { return held_[static_cast<std::size_t>(&in - from_.instrs.data())]; }

    /// Where items of a group wait for each other, all of them stay.
    bool may_fail(const Instr& in) const {
        const auto waits = [&](InstrId id) { return from_.instrs[id].op == Opcode::Barrier || from_.instrs[id].op == Opcode::Shuffle; };
        if (holds_any(from_, region(in, 0), waits) || holds_any(from_, region(in, 1), waits)) return false;
        const auto fails = [&](InstrId id) { return from_.instrs[id].op == Opcode::Inside && !held_[id]; };
        return holds_any(from_, region(in, 0), fails) || holds_any(from_, region(in, 1), fails);
    }

    Value wrapped(const Instr& in) {
        const Value i = at(in.operands[0]);
        if (held(in)) return i;
        const Value negative = m_.lt(i, m_.i64(0)), from_end = m_.add(i, at(in.operands[1]));
        return m_.select(negative, from_end, i);
    }

    /// One comparison: as unsigned numbers, negative ones are large.
    Value inside(const Instr& in) {
        if (held(in)) return m_.boolean(true);
        const Value i = m_.cast(at(in.operands[0]), DType::UInt64), extent = m_.cast(at(in.operands[1]), DType::UInt64);
        return m_.lt(i, extent);
    }

    void report(const Values& operands) {
        m_.report(operands[0], std::span<const Value>(operands).subspan(1));
        if (ends_loops_) m_.store(failed_, m_.i64(0), m_.boolean(true));
    }

    const Instr* constant(Value v) const {
        const Instr* in = definition(from_, v);
        return in && in->op == Opcode::Const ? in : nullptr;
    }

    /// Whether a value is there before the loop.
    bool is_outside(Value v, const Region& body) const {
        const InstrId made = from_.values[v].def;
        const bool argument = from_.values[v].region != ~0u && &from_.regions[from_.values[v].region] == &body;
        return !argument && !holds_any(from_, body, [&](InstrId id) { return id == made; });
    }

    const Instr* report_of(const Region& body, Value index, Value extent) const {
        const Instr* found = nullptr;
        holds_any(from_, body, [&](InstrId id) {
            const Instr& in = from_.instrs[id];
            if (in.op == Opcode::Report && in.operands.size() > 3 && in.operands[2] == index && in.operands[3] == extent) found = &in;
            return found != nullptr;
        });
        return found;
    }

    /// Whether what a loop does depends on whether something has failed by then.
    bool asks_for(const Region& body, Value status) const {
        return holds_any(from_, body, [&](InstrId id) {
            const Instr& in = from_.instrs[id];
            return in.op == Opcode::Load && in.operands[0] == status;
        });
    }

    std::vector<Cut> cuts_of(const Instr& in) const {
        constexpr std::int64_t most_offset = std::int64_t(1) << 40;
        std::vector<Cut> cuts;
        const Instr* step = constant(in.operands[2]);
        if (in.loop_kind() != LoopKind::Serial || !step || step->scalar().i != 1) return cuts;
        const Region& body = region(in, 0);
        for (const InstrId id : body.body) {
            const Instr& check = from_.instrs[id];
            if (check.op != Opcode::Inside || held_[id] || !is_outside(check.operands[1], body)) continue;
            Cut cut{id, check.operands[1]};
            Value index = check.operands[0];
            if (const Instr* wrap = definition(from_, index); wrap && wrap->op == Opcode::Wrap) {
                if (!held(*wrap)) cut.wrap = from_.values[check.operands[0]].def;
                index = wrap->operands[0];
            }
            if (index != body.args[0]) {
                const Instr* sum = definition(from_, index);
                if (!sum || sum->op != Opcode::Add) continue;
                const int counter = sum->operands[0] == body.args[0] ? 0 : 1;
                const Instr* offset = constant(sum->operands[1 - counter]);
                if (sum->operands[counter] != body.args[0] || !offset || std::abs(offset->scalar().i) > most_offset) continue;
                cut.offset = offset->scalar().i;
            }
            cut.report = report_of(body, index, cut.extent);
            const auto known = [&](Value v) { return v == index || v == body.args[0] || is_outside(v, body); };
            if (cut.report && std::ranges::all_of(cut.report->operands, known) && !asks_for(body, cut.report->operands[0]))
                cuts.push_back(cut);
        }
        return cuts;
    }

    void counted_loop(const Instr& in) {
        constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
        const std::vector<Cut> cuts = cuts_of(in);
        if (cuts.empty()) return copy(in);
        const Value lower = at(in.operands[0]), upper = at(in.operands[1]);
        Value least_limit = no_value;
        std::int64_t floor = none, natural = none;  // counters from here on make no index negative: of all cuts, of those that wrap
        for (const Cut& cut : cuts) {
            const Value limit = m_.sub(at(cut.extent), m_.i64(cut.offset));
            least_limit = least_limit == no_value ? limit : m_.min(least_limit, limit);
            floor = std::max(floor, -cut.offset);
            if (cut.wrap != no_instr) natural = std::max(natural, -cut.offset);
            held_[cut.inside] = true;
        }
        const bool splits = natural != none && !has_loops(region(in, 0));
        const Values initial = mapped(std::span<const Value>(in.operands).subspan(3));
        const auto whole = [&] {
            Values out = initial;
            out.insert(out.end(), {lower, upper});
            return out;
        };
        // Iterations whose indices count from the end come first; the others need no test for that.
        const auto part = [&] {
            const Value end = cut_off(in, cuts);
            Values out = splits ? iterations(in, lower, m_.min(end, m_.i64(natural)), initial) : initial;
            out.insert(out.end(), {splits ? m_.max(lower, m_.i64(natural)) : lower, end});
            return out;
        };
        const Value starts_below = m_.lt(lower, m_.i64(floor)), ends_above = m_.lt(least_limit, upper);
        Values state = m_.if_else(m_.bit_or(starts_below, ends_above), part, whole);
        for (const Cut& cut : cuts)
            if (splits && cut.wrap != no_instr) held_[cut.wrap] = true;
        const Value end = state.back();
        state.pop_back();
        const Value begin = state.back();
        state.pop_back();
        assign(in.results, iterations(in, begin, end, state));
    }

    /// Reports which of a loop's iterations would be the first to fail; where it ends.
    Value cut_off(const Instr& in, const std::vector<Cut>& cuts) {
        const Value lower = at(in.operands[0]), upper = at(in.operands[1]), zero = m_.i64(0);
        const auto nothing = [] { return Values(); };
        Value end = upper;
        for (const Cut& cut : cuts) {
            const Value extent = at(cut.extent), first = m_.add(lower, m_.i64(cut.offset)), limit = m_.sub(extent, m_.i64(cut.offset));
            const Value below = m_.lt(first, cut.wrap != no_instr ? m_.neg(extent) : zero);
            const Value runs = m_.lt(lower, upper), above = m_.lt(limit, upper), fails = m_.bit_and(runs, m_.bit_or(below, above));
            const auto tell = [&] {
                const Value index = m_.select(below, first, m_.max(first, extent));
                Values operands;
                for (int k = 0; k < cut.report->operands.size(); ++k) {
                    const Value word = cut.report->operands[k];
                    if (k == 2)
                        operands.push_back(index);
                    else
                        operands.push_back(word == region(in, 0).args[0] ? m_.sub(index, m_.i64(cut.offset)) : at(word));
                }
                report(operands);
                return nothing();
            };
            m_.if_else(fails, tell, nothing);
            end = m_.select(below, lower, m_.min(end, limit));
        }
        return end;
    }

    bool has_loops(const Region& body) const {
        return holds_any(from_, body,
                         [&](InstrId id) { return from_.instrs[id].op == Opcode::For || from_.instrs[id].op == Opcode::While; });
    }

    /// The loop from `begin` to `end`.
    Values iterations(const Instr& in, Value begin, Value end, const Values& initial) {
        const Region& body = region(in, 0);
        Values yields;
        const auto iteration = [&](Value index, std::span<const Value> carried) {
            set(body.args[0], index);
            assign(std::span<const Value>(body.args).subspan(1), carried);
            region_body(body, yields);
            return yields;
        };
        return m_.for_loop(begin, end, at(in.operands[2]), initial, iteration, in.loop().unroll);
    }

    void while_loop(const Instr& in) {
        Values yields;
        const Region &condition = region(in, 0), &body = region(in, 1);
        assign(in.results, m_.while_loop(
                               mapped(in.operands),
                               [&](std::span<const Value> carried) {
                                   assign(condition.args, carried);
                                   region_body(condition, yields);
                                   return m_.bit_and(yields[0], m_.bit_not(m_.load(failed_, m_.i64(0))));
                               },
                               [&](std::span<const Value> carried) {
                                   assign(body.args, carried);
                                   region_body(body, yields);
                                   return yields;
                               }));
    }

    std::vector<bool> held_;  // one an instruction
    bool ends_loops_ = false;
    Value failed_ = no_value;
};

class WithoutParam : public Rewriter {
public:
    WithoutParam(const Kernel& from, std::size_t param) : Rewriter(from), param_(param) {}

protected:
    void param(const Param& p) override {
        if (&p != &from_.params[param_]) Rewriter::param(p);
    }

private:
    const std::size_t param_;
};

}  // namespace

Kernel resolve_checks(const Kernel& kernel, const RangeProgram& program, const std::vector<bool>& holds) {
    return program.checks.empty() ? kernel : Resolver(kernel, program, holds).run();
}

bool reports(const Kernel& kernel) {
    return holds_any(kernel, kernel.body, [&](InstrId id) { return kernel.instrs[id].op == Opcode::Report; });
}

Kernel without_param(const Kernel& kernel, std::size_t param) { return WithoutParam(kernel, param).run(); }

}  // namespace pardo::ir
