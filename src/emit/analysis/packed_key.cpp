// src/emit/analysis/packed_key.cpp: loops that look for the place of a greatest element by one integer of key and place.
#include "emit/analysis/packed_key.h"

#include <initializer_list>

#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::Opcode;
using ir::Value;

Value packed_key(const ir::Kernel& kernel, const Uses& uses, const Instr& loop) {
    const ir::Region& region = kernel.regions[loop.regions[0]];
    const auto type = [&](Value v) { return kernel.values[v].type; };
    if (loop.combines().size() != 1 || loop.combines()[0] != ir::Combine::Max || type(loop.results[0]) != DType::UInt64)
        return ir::no_value;
    for (const ir::InstrId id : region.body) {
        const Instr& step = kernel.instrs[id];
        if (!step.regions.empty() || ir::has_effect(step.op)) return ir::no_value;
    }
    const auto made_by = [&](Value v, Opcode op) -> const Instr* {
        const ir::ValueInfo& info = kernel.values[v];
        if (info.region != ~0u || uses.home[v] != loop.regions[0]) return nullptr;
        return kernel.instrs[info.def].op == op ? &kernel.instrs[info.def] : nullptr;
    };
    const auto under = [&](Value v, std::initializer_list<Opcode> ops) {
        for (const Opcode op : ops) {
            const Instr* step = v == ir::no_value ? nullptr : made_by(v, op);
            v = step ? step->operands[0] : ir::no_value;
        }
        return v;
    };
    const Instr* both = made_by(kernel.instrs[region.body.back()].operands[0], Opcode::Or);
    if (!both) return ir::no_value;
    const bool shifted_first = made_by(both->operands[0], Opcode::Shl) != nullptr;
    const Value key = under(both->operands[shifted_first ? 0 : 1], {Opcode::Shl, Opcode::Cast}), index = region.args[0];
    const Value place = under(both->operands[shifted_first ? 1 : 0], {Opcode::Cast, Opcode::Not, Opcode::Cast});
    if (key == ir::no_value || type(key) != DType::UInt32 || place == ir::no_value) return ir::no_value;
    const Instr* from = made_by(place, Opcode::Sub);
    const bool counts = place == index || (from && from->operands[0] == index && uses.home[from->operands[1]] != loop.regions[0]);
    return counts ? key : ir::no_value;
}

}  // namespace pardo::emit
