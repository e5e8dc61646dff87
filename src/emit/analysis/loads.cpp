// src/emit/analysis/loads.cpp: when loads happen: which must stay where they stand, and which are worth doing before anything else.
#include "emit/analysis/loads.h"

#include <algorithm>

#include "ir/rules.h"

namespace pardo::emit {
namespace {

using ir::Instr;
using ir::Opcode;
using ir::Value;

constexpr int most_early_values = 64;  // in registers of one item

bool has_effect_inside(const ir::Kernel& kernel, const Instr& in) {
    return ir::has_effect(in.op) || std::any_of(in.regions.begin(), in.regions.end(), [&](ir::RegionId r) {
               const auto& body = kernel.regions[r].body;
               return std::any_of(body.begin(), body.end(), [&](ir::InstrId i) { return has_effect_inside(kernel, kernel.instrs[i]); });
           });
}

/// True if an operand's expression is evaluated again in each iteration, or after the last one.
bool evaluated_late(const Instr& in, int operand) {
    return in.op == Opcode::For && (in.loop_kind() == ir::LoopKind::Lanes || operand == 1 || operand == 2);
}

/// No kernel that keeps its promises writes there while this one runs.
bool never_written(const ir::Kernel& kernel, Value pointer) {
    const Instr& definition = kernel.instrs[kernel.values[pointer].def];
    if (definition.op != Opcode::Param) return false;
    const ir::Param& p = kernel.params[definition.index()];
    return p.access == ir::Access::Read && p.noalias;
}

void fix_loads(const ir::Kernel& kernel, const Uses& uses, const ir::Region& region, std::vector<bool>& fixed) {
    std::vector<int> effects{0};  // by position: how many are before it
    for (const ir::InstrId i : region.body) effects.push_back(effects.back() + has_effect_inside(kernel, kernel.instrs[i]));
    if (effects.back() == 0) return;
    const auto position = [&](ir::InstrId id) {
        return static_cast<std::size_t>(std::find(region.body.begin(), region.body.end(), id) - region.body.begin());
    };
    for (std::size_t at = 0; at < region.body.size(); ++at) {
        const Instr& in = kernel.instrs[region.body[at]];
        if (in.op != Opcode::Load || never_written(kernel, in.operands[0])) continue;
        Value v = in.results[0];
        const Instr* user = nullptr;
        // Through operations that may themselves be written where they are used.
        while (uses.once_nearby(v)) {
            user = &kernel.instrs[uses.user[v]];
            if (!ir::is_pure(user->op)) break;
            v = user->results[0];
        }
        if (!user) continue;  // gets a name
        const std::size_t last = position(ir::is_pure(user->op) ? kernel.values[v].def : uses.user[v]);
        const auto operand = static_cast<int>(std::find(user->operands.begin(), user->operands.end(), v) - user->operands.begin());
        const bool late = has_effect_inside(kernel, *user) && evaluated_late(*user, operand);
        fixed[in.results[0]] = late || effects[last] > effects[at];
    }
}

}  // namespace

std::vector<bool> fixed_loads(const ir::Kernel& kernel, const Uses& uses) {
    std::vector<bool> fixed(kernel.values.size(), false);
    fix_loads(kernel, uses, kernel.body, fixed);
    for (const ir::Region& region : kernel.regions) fix_loads(kernel, uses, region, fixed);
    return fixed;
}

std::vector<ir::InstrId> early_loads(const ir::Kernel& kernel, int items) {
    if (!kernel.arrays.empty()) return {};
    const bool branches = std::any_of(kernel.instrs.begin(), kernel.instrs.end(), [](const Instr& in) {
        return in.op == Opcode::Call || (in.op >= Opcode::Div && in.op <= Opcode::Fmod);
    });
    if (!branches) return {};
    std::vector<bool> loaded(kernel.values.size(), false);
    std::vector<ir::InstrId> found;
    for (const ir::InstrId id : kernel.body.body) {
        const Instr& in = kernel.instrs[id];
        if (ir::has_effect(in.op) || !in.regions.empty()) break;
        bool depends = false;
        for (const Value v : in.operands) depends |= loaded[v];
        if (in.op == Opcode::Load && !depends) found.push_back(id);
        for (const Value v : in.results) loaded[v] = depends || in.op == Opcode::Load;
    }
    if (static_cast<int>(found.size()) * items > most_early_values) return {};
    return found;
}

}  // namespace pardo::emit
