// src/emit/analysis/fission.cpp: which instructions run once for a group, which for each item, and how values reach
// the next loop.
#include "emit/analysis/fission.h"

#include <algorithm>

#include <pardo/error.h>

#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::InstrId;
using ir::Kernel;
using ir::LoopKind;
using ir::no_value;
using ir::Opcode;
using ir::Region;
using ir::RegionId;
using ir::Value;

namespace {

/// Operations of one instruction or so.
bool is_cheap(Opcode op) {
    switch (op) {
        case Opcode::Add:
        case Opcode::Sub:
        case Opcode::Mul:
        case Opcode::Neg:
        case Opcode::Min:
        case Opcode::Max:
        case Opcode::And:
        case Opcode::Or:
        case Opcode::Xor:
        case Opcode::Not:
        case Opcode::Shl:
        case Opcode::Shr:
        case Opcode::Eq:
        case Opcode::Ne:
        case Opcode::Lt:
        case Opcode::Le:
        case Opcode::Gt:
        case Opcode::Ge:
        case Opcode::Select:
        case Opcode::Cast: return true;
        default: return false;
    }
}

bool is_item_leaf(Opcode op) { return op == Opcode::Dim || op == Opcode::LocalDim; }

/// Instructions that compute `v` from leaves and uniform values; `limit` or more if that is impossible or too dear.
int index_cost(const Kernel& kernel, const std::vector<bool>& uniform, Value v, int limit) {
    if (uniform[v]) return 0;
    const ir::ValueInfo& info = kernel.values[v];
    if (info.region != RegionId(~0u) || info.pointer) return limit;
    const Instr& in = kernel.instrs[info.def];
    if (is_item_leaf(in.op)) return 1;
    if (!is_cheap(in.op) || !(is_integer(info.type) || info.type == DType::Bool)) return limit;
    int sum = 1;
    for (Value operand : in.operands) {
        if (sum >= limit) return limit;
        if (is_float(kernel.values[operand].type)) return limit;
        sum += index_cost(kernel, uniform, operand, limit - sum);
    }
    return std::min(sum, limit);
}

class Splitter {
public:
    explicit Splitter(const Kernel& kernel) : kernel_(kernel) {
        f_.uniform = same_in_group(kernel);
        f_.steps.resize(kernel.regions.size() + 1);
        f_.slot.assign(kernel.values.size(), no_value);
        f_.part.assign(kernel.instrs.size(), 0);
        barriers_ = ir::barriers_of(kernel);
        is_shared_.resize(kernel.values.size());
    }

    Fission run() {
        build(kernel_.body, kernel_.regions.size(), nullptr);
        connect(kernel_.body, kernel_.regions.size());
        return std::move(f_);
    }

private:
    const Instr& yield(const Region& r) const { return kernel_.instrs[r.body.back()]; }
    bool uniform(Value v) const { return f_.uniform[v]; }

    // ---- which step an instruction belongs to

    /// Makes the steps of one region whose control flow is the group's own.
    void build(const Region& r, std::size_t list, const Instr* owner) {
        Step pending;
        pending.kind = Step::Items;
        bool effects = false;
        std::uint32_t part = ++parts_;
        auto steps = [&]() -> std::vector<Step>& { return f_.steps[list]; };
        auto flush = [&] {
            if (!pending.at.empty() || !pending.copies.empty()) steps().push_back(std::move(pending));
            pending = Step();
            pending.kind = Step::Items;
            effects = false;
            part = ++parts_;
        };
        for (std::uint32_t at = 0; at < r.body.size(); ++at) {
            const InstrId id = r.body[at];
            const Instr& in = kernel_.instrs[id];
            if (in.op == Opcode::Yield) continue;
            if (in.op == Opcode::Barrier) {
                flush();
            } else if (barriers_[id] || goes_together(in)) {
                start_copies(in, pending.copies);
                flush();
                Step control;
                control.kind = Step::Control;
                control.at.push_back(at);
                steps().push_back(std::move(control));
                build_control(id, in);
            } else if (ir::is_leaf(in.op) && !uniform(in.results[0])) {
                continue;  // computed wherever it is needed
            } else if (once(in)) {
                if ((effects && reads_memory(in)) || uses_part(in, part)) flush();
                if (steps().empty() || steps().back().kind != Step::Once) steps().emplace_back();
                steps().back().at.push_back(at);
            } else {
                pending.at.push_back(at);
                mark(id, part);
                effects |= has_effects(in);
            }
        }
        if (owner) end_copies(*owner, r, pending.copies);
        flush();
    }

    /// A loop without barriers that the whole group takes iteration by iteration all the same.
    bool goes_together(const Instr& in) const {
        return in.op == Opcode::For && in.loop_kind() == LoopKind::Lockstep && uniform(in.operands[0]) && uniform(in.operands[1]) &&
               uniform(in.operands[2]);
    }

    void mark(InstrId id, std::uint32_t part) {
        f_.part[id] = part;
        for (RegionId r : kernel_.instrs[id].regions)
            for (InstrId inner : kernel_.regions[r].body) mark(inner, part);
    }

    [[noreturn]] void diverges(const Instr& in) const {
        std::string text =
            kernel_.name + ": items of one group may take different branches around a barrier; put it where all of them come";
        if (in.span.line) text += " (" + kernel_.files[in.span.file] + ":" + std::to_string(in.span.line) + ")";
        throw Error(ErrorCode::Compile, text);
    }

    void build_control(InstrId id, const Instr& in) {
        const int controls = in.op == Opcode::If ? 1 : in.op == Opcode::For ? 3 : 0;
        for (int k = 0; k < controls; ++k)
            if (!uniform(in.operands[k])) diverges(in);
        if (in.op == Opcode::While && !uniform(yield(kernel_.regions[in.regions[0]]).operands[0])) diverges(in);
        if (ir::is_lanes_loop(in)) diverges(in);
        for (int k = 0; k < in.results.size(); ++k) {
            const Value result = in.results[k];
            if (uniform(result)) continue;
            f_.slot[result] = result;
            if (in.op == Opcode::If) continue;
            for (RegionId r : in.regions) f_.slot[kernel_.regions[r].args[k + (in.op == Opcode::For ? 1 : 0)]] = result;
        }
        for (RegionId r : in.regions) build(kernel_.regions[r], r, &kernel_.instrs[id]);
    }

    /// Initial values of what a loop carries for each item.
    void start_copies(const Instr& in, std::vector<Step::Copy>& copies) const {
        if (in.op == Opcode::If) return;
        const int first = in.op == Opcode::For ? 3 : 0;
        for (int k = 0; k < in.results.size(); ++k)
            if (!uniform(in.results[k])) copies.push_back({in.operands[first + k], in.results[k]});
    }

    /// What a region's end hands on for each item.
    void end_copies(const Instr& owner, const Region& r, std::vector<Step::Copy>& copies) const {
        if (owner.op == Opcode::While && &r == &kernel_.regions[owner.regions[0]]) return;
        for (int k = 0; k < owner.results.size(); ++k) {
            const Value from = yield(r).operands[k], to = owner.results[k];
            if (!uniform(to) && f_.slot[from] != to) copies.push_back({from, to});
        }
    }

    template <class F> bool any_instr(const Instr& in, F f) const {
        if (f(in)) return true;
        for (RegionId r : in.regions)
            for (InstrId id : kernel_.regions[r].body)
                if (any_instr(kernel_.instrs[id], f)) return true;
        return false;
    }
    bool has_effects(const Instr& in) const {
        return any_instr(in, [](const Instr& i) { return ir::has_effect(i.op); });
    }
    bool reads_memory(const Instr& in) const {
        return any_instr(in, [](const Instr& i) { return i.op == Opcode::Load; });
    }
    bool uses_part(const Instr& in, std::uint32_t part) const {
        return any_instr(in, [&](const Instr& i) {
            return std::any_of(i.operands.begin(), i.operands.end(), [&](Value v) {
                const ir::ValueInfo& info = kernel_.values[v];
                return info.region == RegionId(~0u) && f_.part[info.def] == part;
            });
        });
    }

    /// True if one run serves the whole group.
    bool once(const Instr& in) const {
        if (in.results.empty()) return false;
        return !any_instr(in, [&](const Instr& i) {
            if (i.op == Opcode::Load) {
                const Instr& pointer = kernel_.instrs[kernel_.values[i.operands[0]].def];
                if (pointer.op == Opcode::Array && kernel_.arrays[pointer.index()].space == ir::Space::Private) return true;
            }
            if (ir::has_effect(i.op)) return true;
            const auto same = [&](Value v) { return uniform(v); };
            return !std::all_of(i.results.begin(), i.results.end(), same) || !std::all_of(i.operands.begin(), i.operands.end(), same);
        });
    }

    // ---- how values get from one step to another

    void connect(const Region& r, std::size_t list) {
        for (std::size_t k = 0; k < f_.steps[list].size(); ++k) {
            Step& step = f_.steps[list][k];
            for (std::uint32_t at : step.at)
                if (f_.part[r.body[at]]) makers_.resize(std::max<std::size_t>(makers_.size(), f_.part[r.body[at]] + 1), {0, 0});
            if (step.kind == Step::Items && !step.at.empty()) makers_[f_.part[r.body[step.at[0]]]] = {list, k};
        }
        for (std::size_t k = 0; k < f_.steps[list].size(); ++k) {
            Step& step = f_.steps[list][k];
            if (step.kind == Step::Items) {
                connect_items(r, step);
                continue;
            }
            for (std::uint32_t at : step.at) {
                const Instr& in = kernel_.instrs[r.body[at]];
                if (step.kind == Step::Once) {
                    any_instr(in, [&](const Instr& i) {
                        for (Value v : i.operands) need_once(v);
                        return false;
                    });
                    continue;
                }
                for (Value v : in.operands)
                    if (uniform(v)) need_once(v);
                for (RegionId inner : in.regions) {
                    connect(kernel_.regions[inner], inner);
                    for (Value v : yield(kernel_.regions[inner]).operands)
                        if (uniform(v)) need_once(v);
                }
            }
        }
    }

    std::uint32_t part_of(Value v) const {
        const ir::ValueInfo& info = kernel_.values[v];
        return info.region == RegionId(~0u) ? f_.part[info.def] : 0;
    }
    Step& maker(std::uint32_t part) { return f_.steps[makers_[part].first][makers_[part].second]; }

    /// A uniform value is wanted where the group is one.
    void need_once(Value v) {
        const std::uint32_t part = part_of(v);
        if (kernel_.values[v].pointer || part == 0 || is_shared_[v]) return;
        is_shared_[v] = true;
        maker(part).shared.push_back(v);
    }

    void connect_items(const Region& r, Step& step) {
        seen_.clear();
        const std::uint32_t part = step.at.empty() ? 0 : f_.part[r.body[step.at[0]]];
        inside_.clear();
        for (std::uint32_t at : step.at)
            any_instr(kernel_.instrs[r.body[at]], [&](const Instr& i) {
                for (RegionId inner : i.regions)
                    inside_.insert(inside_.end(), kernel_.regions[inner].args.begin(), kernel_.regions[inner].args.end());
                return false;
            });
        std::sort(inside_.begin(), inside_.end());
        for (std::uint32_t at : step.at)
            any_instr(kernel_.instrs[r.body[at]], [&](const Instr& i) {
                for (Value v : i.operands) need(v, step, part);
                return false;
            });
        for (const Step::Copy& copy : step.copies) need(copy.from, step, part);
    }

    /// An item needs a value in a step.
    void need(Value v, Step& step, std::uint32_t part) {
        if (kernel_.values[v].pointer) return;
        const std::uint32_t from = part_of(v);
        if (from != 0 && from == part) return;
        if (std::binary_search(inside_.begin(), inside_.end(), v)) return;
        if (uniform(v)) return need_once(v);
        if (std::find(seen_.begin(), seen_.end(), v) != seen_.end()) return;
        seen_.push_back(v);
        if (cheap_index(kernel_, f_.uniform, v)) {
            for (Value operand : kernel_.instrs[kernel_.values[v].def].operands) need(operand, step, part);
            step.again.push_back(v);
            return;
        }
        step.loads.push_back(v);
        if (f_.slot[v] != no_value) return;
        f_.slot[v] = v;
        maker(from).stores.push_back(v);
    }

    const Kernel& kernel_;
    Fission f_;
    std::vector<bool> barriers_;   // one an instruction: it is a barrier or has one inside
    std::vector<bool> is_shared_;  // one a value
    std::uint32_t parts_ = 0;
    std::vector<std::pair<std::size_t, std::size_t>> makers_;  // one a part: list and place of its step
    std::vector<Value> seen_, inside_;                         // of the step being connected
};

}  // namespace

bool cheap_index(const Kernel& kernel, const std::vector<bool>& uniform, Value v) {
    constexpr int dear = 24;
    return index_cost(kernel, uniform, v, dear) < dear;
}

std::int64_t group_items(const Kernel& kernel) {
    std::int64_t items = 1;
    for (std::int64_t n : kernel.group_size) items *= n;
    return items;
}

LaneInfo lanes_of(const Kernel& kernel, const Fission& fission) {
    std::vector<bool> in_memory;
    for (Value slot : fission.slot) in_memory.push_back(slot != ir::no_value);
    return analyse_lanes(kernel, in_memory);
}

Fission split_at_barriers(const Kernel& kernel) { return Splitter(kernel).run(); }

}  // namespace pardo::emit
