// src/emit/analysis/shared_values.cpp: what lanes loops compute that an earlier one has computed at the same index, and may have kept.
#include "emit/analysis/shared_values.h"

#include <map>
#include <string>

#include "ir/rules.h"

// NOLINTBEGIN(performance-inefficient-string-concatenation): texts are short, and made once.
namespace pardo::emit {
namespace {

using ir::Instr;
using ir::Opcode;
using ir::Value;

constexpr std::size_t most_kept = 3;   // arrays in registers
constexpr int deepest_structure = 24;  // operations of an expression that is compared

bool is_worth_keeping(const Instr& in) { return in.op == Opcode::Load || in.op == Opcode::Call || in.op == Opcode::Div; }

/// An expression as text in which equal ones of different loops are equal; empty when it is not to be compared.
std::string structure(const ir::Kernel& kernel, const Uses& uses, Value v, ir::RegionId region, int depth) {
    const Value index = kernel.regions[region].args[0];
    if (v == index) return "$";
    const ir::ValueInfo& info = kernel.values[v];
    const Instr* in = info.def == ~0u || info.result < 0 ? nullptr : &kernel.instrs[info.def];
    if (in && ir::is_leaf(in->op) && in->op != Opcode::Const) return std::string(ir::name(in->op)) + std::to_string(in->index());
    const bool outside = uses.home[v] != region;
    if (!in || outside) return in && in->op == Opcode::Const ? "c" + std::to_string(v) : "#" + std::to_string(v);
    if (depth == 0 || !in->regions.empty() || ir::has_effect(in->op)) return {};
    if (in->op == Opcode::Load) {
        const Instr& pointer = kernel.instrs[kernel.values[in->operands[0]].def];
        if (pointer.op != Opcode::Param || kernel.params[pointer.index()].access != ir::Access::Read) return {};
    }
    std::string text = std::string(ir::name(in->op)) + std::to_string(static_cast<int>(info.type));
    if (in->op == Opcode::Call) text += ir::name(in->math());
    text += '(';
    for (const Value operand : in->operands) {
        const std::string part = structure(kernel, uses, operand, region, depth - 1);
        if (part.empty()) return {};
        text += part + ",";
    }
    return text + ")";
}

/// Goes through the loops in order, and remembers what they have computed.
class Search {
public:
    Search(const ir::Kernel& kernel, const Uses& uses) : kernel_(kernel), uses_(uses), values_(no_shared_values(kernel)) {}

    SharedValues run() && {
        const Instr* first = nullptr;
        for (const ir::InstrId id : kernel_.body.body) {
            const Instr& in = kernel_.instrs[id];
            if (!ir::is_lanes_loop(in)) continue;
            if (!first) first = &in;
            if (in.operands[0] != first->operands[0] || in.operands[1] != first->operands[1]) continue;
            find(in.regions[0]);
            remember(in.regions[0]);
        }
        return std::move(values_);
    }

private:
    /// From the last value back: one that is needed only by what is kept already is idle.
    void find(ir::RegionId id) {
        const ir::Region& region = kernel_.regions[id];
        std::vector<bool> needed(kernel_.values.size(), false);
        for (auto at = region.body.rbegin(); at != region.body.rend(); ++at) {
            const Instr& step = kernel_.instrs[*at];
            const Value v = step.results.empty() ? ir::no_value : step.results[0];
            const bool effect = step.op == Opcode::Yield || ir::has_effect(step.op) || !step.regions.empty();
            if (!effect && (v == ir::no_value || !needed[v])) {
                values_.idle[*at] = v != ir::no_value && uses_.count[v] > 0;
                continue;
            }
            if (!effect && is_worth_keeping(step) && take(v, id)) continue;
            for (const Value operand : step.operands) needed[operand] = true;
            for (const ir::RegionId r : step.regions) {
                for (const ir::InstrId inner : kernel_.regions[r].body) {
                    for (const Value operand : kernel_.instrs[inner].operands) needed[operand] = true;
                }
            }
        }
    }

    /// True if an earlier loop has computed the value and there is an array for it.
    bool take(Value v, ir::RegionId region) {
        const std::string key = structure(kernel_, uses_, v, region, deepest_structure);
        const auto known = key.empty() ? known_.end() : known_.find(key);
        if (known == known_.end()) return false;
        int& array = values_.kept[known->second];
        if (array == SharedValues::none) {
            if (values_.arrays.size() >= most_kept) return false;
            array = static_cast<int>(values_.arrays.size());
            values_.arrays.push_back(kernel_.values[v].type);
        }
        values_.found[v] = array;
        return true;
    }

    void remember(ir::RegionId id) {
        for (const ir::InstrId i : kernel_.regions[id].body) {
            const Instr& step = kernel_.instrs[i];
            if (values_.idle[i] || step.results.empty() || values_.found[step.results[0]] != SharedValues::none) continue;
            if (!is_worth_keeping(step)) continue;
            const std::string key = structure(kernel_, uses_, step.results[0], id, deepest_structure);
            if (!key.empty()) known_.emplace(key, step.results[0]);
        }
    }

    const ir::Kernel& kernel_;
    const Uses& uses_;
    SharedValues values_;
    std::map<std::string, Value> known_;  // by structure: the first value of it
};

}  // namespace

SharedValues no_shared_values(const ir::Kernel& kernel) {
    const std::vector<int> none(kernel.values.size(), SharedValues::none);
    return {{}, none, none, std::vector<bool>(kernel.instrs.size())};
}

SharedValues shared_values(const ir::Kernel& kernel, const Uses& uses) { return Search(kernel, uses).run(); }

}  // namespace pardo::emit
// NOLINTEND(performance-inefficient-string-concatenation)
