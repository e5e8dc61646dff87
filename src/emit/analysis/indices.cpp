// src/emit/analysis/indices.cpp: which values are arithmetic on indices and extents alone, and so never overflow.
#include "emit/analysis/indices.h"

#include <algorithm>

namespace pardo::emit {
namespace {

using ir::Opcode;

bool keeps_indices(Opcode op) {
    constexpr Opcode ops[] = {Opcode::Const, Opcode::Param, Opcode::Dim, Opcode::Extent, Opcode::LocalDim, Opcode::GroupDim,
                              Opcode::Add,   Opcode::Sub,   Opcode::Mul, Opcode::Min,    Opcode::Max};
    return std::ranges::find(ops, op) != std::end(ops);
}

void mark_indices(const ir::Kernel& kernel, const ir::Region& region, std::vector<bool>& marked) {
    for (const ir::InstrId id : region.body) {
        const ir::Instr& in = kernel.instrs[id];
        if (in.op == Opcode::For) marked[kernel.regions[in.regions[0]].args[0]] = true;  // the counter
        for (const ir::RegionId r : in.regions) mark_indices(kernel, kernel.regions[r], marked);
        if (in.results.empty() || kernel.values[in.results[0]].type != DType::Int64 || !keeps_indices(in.op)) continue;
        marked[in.results[0]] = std::ranges::all_of(in.operands, [&](ir::Value v) { return marked[v]; });
    }
}

}  // namespace

std::vector<bool> index_values(const ir::Kernel& kernel) {
    std::vector<bool> marked(kernel.values.size(), false);
    mark_indices(kernel, kernel.body, marked);
    return marked;
}

}  // namespace pardo::emit
