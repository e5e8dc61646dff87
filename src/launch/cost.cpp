// src/launch/cost.cpp: counts operations; loops whose length nobody knows are taken to run a hundred times.
#include "launch/cost.h"

#include <algorithm>

#include "ir/rules.h"

namespace pardo::launch {
namespace {

constexpr double operation_ns = 0.1, memory_ns = 0.3, function_ns = 1, atomic_ns = 5, unknown_rounds = 100;

double region_ns(const ir::Kernel& kernel, const ir::Region& region) {
    double sum = 0;
    for (const ir::InstrId id : region.body) {
        const ir::Instr& in = kernel.instrs[id];
        double inner = 0;
        for (const ir::RegionId r : in.regions) inner += region_ns(kernel, kernel.regions[r]);
        switch (in.op) {
            case ir::Opcode::For: {
                const auto known = [&](int k) -> const Scalar* {
                    const ir::Instr& def = kernel.instrs[kernel.values[in.operands[k]].def];
                    return kernel.values[in.operands[k]].region == ~0u && def.op == ir::Opcode::Const ? &def.scalar : nullptr;
                };
                const Scalar *low = known(0), *high = known(1), *step = known(2);
                const bool counted = low && high && step && step->i != 0;
                sum += inner *
                       (counted ? std::max(0.0, static_cast<double>(high->i - low->i) / static_cast<double>(step->i)) : unknown_rounds);
                break;
            }
            case ir::Opcode::While: sum += inner * unknown_rounds; break;
            case ir::Opcode::If: sum += inner; break;
            case ir::Opcode::Load:
            case ir::Opcode::Store: sum += memory_ns; break;
            case ir::Opcode::Atomic:
            case ir::Opcode::CompareExchange: sum += atomic_ns; break;
            case ir::Opcode::Call: sum += function_ns; break;
            default: sum += ir::is_leaf(in.op) ? 0 : operation_ns;
        }
    }
    return sum;
}

}  // namespace

Cost cost_of(const ir::Kernel& kernel) {
    Cost cost;
    cost.item_ns = std::max(0.05, region_ns(kernel, kernel.body));
    if (std::any_of(kernel.instrs.begin(), kernel.instrs.end(), ir::is_lanes_loop)) cost.lane_rounds = 1024;
    return cost;
}

}  // namespace pardo::launch
