// src/emit/c/emitter.cpp: the walk over a kernel's instructions: one case for each operation of the IR.
#include "emit/c/emitter.h"

#include <algorithm>

#include "emit/c/arithmetic.h"
#include "emit/c/control.h"
#include "emit/c/exchange.h"
#include "emit/c/expressions.h"
#include "emit/c/lanes.h"
#include "emit/c/memory.h"
#include "ir/rules.h"

namespace pardo::emit {

using ir::Instr;
using ir::Opcode;

namespace {

/// Keeps a value for a later lanes loop, if one wants it.
void keep_value(CValues& values, ir::Value v) {
    const int array = values.source.shared.kept[v];
    if (array == SharedValues::none) return;
    const std::string name = values.named(v);
    values.w.line(kept_element(array) + " = " + name + ";");
    values[v] = name;
}

}  // namespace

void CEmitter::region(const CContext& here, const ir::Region& region) {
    const auto changes_memory = [&](ir::InstrId id) {
        const Instr& in = source.instr(id);
        return ir::has_effect(in.op) || !in.regions.empty();
    };
    CContext inside = here;
    inside.loads_move = std::ranges::count_if(region.body, changes_memory) <= 1;
    for (const ir::InstrId id : region.body) {
        const Instr& in = source.instr(id);
        if (in.op == Opcode::Yield) return;  // its owner's business
        if (source.shared.idle[id] || source.adjacent.earlier[id]) continue;
        if (const auto run = source.adjacent.runs.find(id); run != source.adjacent.runs.end())
            store_run(values, run->second);
        else
            instruction(inside, in);
        for (const ir::Value v : in.results) keep_value(values, v);
    }
}

void CEmitter::instruction(const CContext& here, const Instr& in) {
    const ir::Value result = in.results.empty() ? ir::no_value : in.results[0];
    const auto name = [&](std::string text) { values[result] = std::move(text); };
    if (result != ir::no_value && !values.given[result].empty()) return name(values.given[result]);
    switch (in.op) {
        case Opcode::Const: return name(constant(w.target, in.scalar()));
        case Opcode::Param: return name(values.params[in.index()]);
        case Opcode::Dim: return name("i" + std::to_string(in.index()));
        case Opcode::Extent: return name("n" + std::to_string(in.index()));
        case Opcode::LocalDim: return name("l" + std::to_string(in.index()));
        case Opcode::GroupDim: return name("g" + std::to_string(in.index()));
        case Opcode::Array: return name(source.names.arrays[in.index()]);
        case Opcode::Load: return load(values, here, in);
        case Opcode::Store: return store(values, here, in);
        case Opcode::Atomic:
        case Opcode::CompareExchange: return atomic(values, in);
        case Opcode::Report: return report(values, in);
        case Opcode::Shuffle: return shuffle(values, in);
        case Opcode::Fence: return w.line(std::string(w.target.fences[static_cast<int>(in.ordering().scope)]) + ";");
        case Opcode::Barrier: return w.line(std::string(w.target.barrier) + ";");
        case Opcode::For: return ir::is_lanes_loop(in) ? lanes_loop(*this, here, in) : serial_loop(*this, here, in);
        case Opcode::While: return while_loop(*this, here, in);
        case Opcode::If: return branch(*this, here, in);
        case Opcode::Yield: return;
        default: return arithmetic(values, in);
    }
}

}  // namespace pardo::emit
