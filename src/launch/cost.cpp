// src/launch/cost.cpp: counts operations, times the lengths of the loops around them, from what arguments and extents tell.
#include "launch/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/scalar_words.h"
#include "ir/rules.h"

namespace pardo::launch {
namespace {

constexpr double operation_ns = 0.1, memory_ns = 0.3, function_ns = 1, atomic_ns = 5, unknown_rounds = 100, least_ns = 0.05;
constexpr std::size_t longest_formula = 24;  // of a loop's bound; what is longer is not known

double instruction_ns(const ir::Instr& in) {
    switch (in.op) {
        case ir::Opcode::Load:
        case ir::Opcode::Store: return memory_ns;
        case ir::Opcode::Atomic:
        case ir::Opcode::CompareExchange: return atomic_ns;
        case ir::Opcode::Call: return function_ns;
        case ir::Opcode::For:
        case ir::Opcode::While:
        case ir::Opcode::If: return 0;
        default: return ir::is_leaf(in.op) ? 0 : operation_ns;
    }
}

}  // namespace

/// Walks the kernel once: loops with what is in them, and formulas for their bounds.
struct Cost::Maker {
    const ir::Kernel& kernel;
    std::vector<Loop>& loops;
    std::vector<std::uint32_t> first_word;                      // of each parameter
    std::vector<std::pair<ir::Value, std::uint32_t>> counters;  // of the loops around, with their numbers
    bool asks = false;                                          // a formula reads an argument or an extent

    void region(const ir::Region& r, std::uint32_t loop) {
        for (const ir::InstrId id : r.body) {
            const ir::Instr& in = kernel.instrs[id];
            loops[loop].own_ns += instruction_ns(in);
            if (in.op != ir::Opcode::For && in.op != ir::Opcode::While) {
                for (const ir::RegionId inner : in.regions) region(kernel.regions[inner], loop);
                continue;
            }
            const auto number = static_cast<std::uint32_t>(loops.size());
            loops[loop].inner.push_back(number);
            Loop made;
            if (in.op == ir::Opcode::For) {
                made.counted =
                    formula(in.operands[0], made.lower) && formula(in.operands[1], made.upper) && formula(in.operands[2], made.step);
                counters.emplace_back(kernel.regions[in.regions[0]].args[0], number);
            }
            loops.push_back(std::move(made));
            for (const ir::RegionId inner : in.regions) region(kernel.regions[inner], number);
            if (in.op == ir::Opcode::For) counters.pop_back();
        }
    }

    /// False where arguments do not tell.
    bool formula(ir::Value v, Formula& out) {
        if (out.size() > longest_formula) return false;
        const ir::ValueInfo& info = kernel.values[v];
        Term term{};
        if (info.region != ~0u) {
            const auto known = std::find_if(counters.begin(), counters.end(), [&](const auto& c) { return c.first == v; });
            if (known == counters.end()) return false;
            term.kind = Term::Kind::Counter;
            term.at = known->second;
            out.push_back(term);
            return true;
        }
        const ir::Instr& in = kernel.instrs[info.def];
        if (!is_integer(info.type)) return false;
        term.dtype = info.type;
        switch (in.op) {
            case ir::Opcode::Const:
                term.kind = Term::Kind::Constant;
                term.value = in.scalar().i;
                break;
            case ir::Opcode::Param:
                term.kind = Term::Kind::Word;
                asks = true;
                term.at = first_word[in.index()];
                break;
            case ir::Opcode::Extent:
                term.kind = Term::Kind::Extent;
                term.at = in.index();
                asks = true;
                break;
            case ir::Opcode::Dim:
            case ir::Opcode::GroupDim:
                term.kind = Term::Kind::Index;
                term.at = in.index();
                asks = true;
                break;
            case ir::Opcode::LocalDim:
                term.kind = Term::Kind::Constant;
                term.value = kernel.group_size[static_cast<int>(in.index())] / 2;
                break;
            case ir::Opcode::Cast: return formula(in.operands[0], out);
            case ir::Opcode::Select:
                if (!formula(in.operands[1], out) || !formula(in.operands[2], out)) return false;
                term.kind = Term::Kind::Either;
                break;
            case ir::Opcode::Add:
            case ir::Opcode::Sub:
            case ir::Opcode::Mul:
            case ir::Opcode::Min:
            case ir::Opcode::Max:
            case ir::Opcode::FloorDiv:
                if (!formula(in.operands[0], out) || !formula(in.operands[1], out)) return false;
                term.kind = Term::Kind::Operation;
                term.op = in.op;
                break;
            case ir::Opcode::Neg:
                if (!formula(in.operands[0], out)) return false;
                term.kind = Term::Kind::Operation;
                term.op = in.op;
                break;
            default: return false;
        }
        out.push_back(term);
        return true;
    }
};

/// Reads the formulas for one launch.
struct Cost::Reader {
    const std::vector<Loop>& loops;
    std::span<const std::uint64_t> words;
    std::span<const std::int64_t> extents;
    bool guessed = false;
    SmallVector<Between, 8> counters;  // of each loop, once it is known

    Between read(const Formula& formula) const {
        Between stack[longest_formula + 2];
        std::size_t top = 0;
        for (const Term& t : formula) {
            switch (t.kind) {
                case Term::Kind::Constant: stack[top++] = {static_cast<double>(t.value), static_cast<double>(t.value)}; break;
                case Term::Kind::Word: {
                    const double value = scalar_of_words(t.dtype, words[t.at]).as_double();
                    stack[top++] = {value, value};
                    break;
                }
                case Term::Kind::Extent: stack[top++] = {static_cast<double>(extents[t.at]), static_cast<double>(extents[t.at])}; break;
                case Term::Kind::Index: stack[top++] = {0, static_cast<double>(std::max<std::int64_t>(extents[t.at] - 1, 0))}; break;
                case Term::Kind::Counter: stack[top++] = counters[static_cast<int>(t.at)]; break;
                case Term::Kind::Either:
                    --top;
                    stack[top - 1] = {std::min(stack[top - 1].low, stack[top].low), std::max(stack[top - 1].high, stack[top].high)};
                    break;
                default: {
                    if (t.op == ir::Opcode::Neg) {
                        stack[top - 1] = {-stack[top - 1].high, -stack[top - 1].low};
                        break;
                    }
                    --top;
                    stack[top - 1] = combined(t.op, stack[top - 1], stack[top]);
                }
            }
        }
        return stack[0];
    }

    static Between combined(ir::Opcode op, Between a, Between b) {
        const auto corners = [&](auto f) -> Between {
            const double all[] = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
            return {*std::min_element(all, all + 4), *std::max_element(all, all + 4)};
        };
        switch (op) {
            case ir::Opcode::Add: return {a.low + b.low, a.high + b.high};
            case ir::Opcode::Sub: return {a.low - b.high, a.high - b.low};
            case ir::Opcode::Mul: return corners([](double x, double y) { return x * y; });
            case ir::Opcode::Min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
            case ir::Opcode::Max: return {std::max(a.low, b.low), std::max(a.high, b.high)};
            default: return corners([](double x, double y) { return y == 0 ? 0 : std::floor(x / y); });
        }
    }

    /// Iterations in the mean, as of loops around that run evenly.
    double iterations(std::uint32_t number) {
        const Loop& loop = loops[number];
        if (!loop.counted) {
            guessed = true;
            return unknown_rounds;
        }
        const Between lower = read(loop.lower), upper = read(loop.upper), step = read(loop.step);
        const double by = (step.low + step.high) / 2;
        if (by == 0 || (step.low < 0 && step.high > 0)) {
            guessed = true;
            return unknown_rounds;
        }
        counters[static_cast<int>(number)] = {std::min(lower.low, upper.low), std::max(lower.high, upper.high)};
        return std::max(0.0, ((upper.low + upper.high) - (lower.low + lower.high)) / 2 / by);
    }

    double cost(std::uint32_t number) {
        double sum = loops[number].own_ns;
        for (const std::uint32_t inner : loops[number].inner) {
            const double times = iterations(inner);  // before what is inside asks for its counter
            sum += times * cost(inner);
        }
        return sum;
    }
};

Cost::Cost(const ir::Kernel& kernel) {
    Maker maker{kernel, loops_, {}, {}, false};
    std::uint32_t word = 0;
    for (const ir::Param& param : kernel.params) {
        maker.first_word.push_back(word);
        word += !param.pointer && is_complex(param.type) ? 2 : 1;
    }
    loops_.emplace_back();
    maker.region(kernel.body, 0);
    if (!maker.asks) fixed_ = estimated({}, {});
    if (std::any_of(kernel.instrs.begin(), kernel.instrs.end(), ir::is_lanes_loop)) lane_rounds_ = 1024;
}

Cost::Estimate Cost::of(std::span<const std::uint64_t> words, std::span<const std::int64_t> extents) const {
    return fixed_ ? *fixed_ : estimated(words, extents);
}

Cost::Estimate Cost::estimated(std::span<const std::uint64_t> words, std::span<const std::int64_t> extents) const {
    Reader reader{loops_, words, extents, false, {}};
    for (std::size_t k = 0; k < loops_.size(); ++k) reader.counters.push_back({0, 0});
    const double item_ns = std::max(least_ns, reader.cost(0));
    return {item_ns, reader.guessed};
}

}  // namespace pardo::launch
