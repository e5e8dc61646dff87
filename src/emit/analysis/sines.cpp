// src/emit/analysis/sines.cpp: which sines and cosines are of one number, for targets that have one function for both.
#include "emit/analysis/sines.h"

#include <algorithm>

#include "ir/rules.h"

namespace pardo::emit {

std::map<ir::Value, ir::Value> paired_sines(const ir::Kernel& kernel, const Uses& uses) {
    std::map<ir::Value, ir::Value> pairs;
    if (std::ranges::any_of(kernel.instrs, ir::is_lanes_loop)) return pairs;  // whose values may come from elsewhere
    const auto visit = [&](const ir::Region& region) {
        std::map<ir::Value, const ir::Instr*> seen;  // by operand: the first of the two
        for (const ir::InstrId i : region.body) {
            const ir::Instr& in = kernel.instrs[i];
            if (in.op != ir::Opcode::Call || (in.math() != ir::Math::sin && in.math() != ir::Math::cos)) continue;
            if (uses.count[in.results[0]] == 0) continue;
            const auto [at, first] = seen.emplace(in.operands[0], &in);
            if (!first && at->second->math() != in.math()) pairs[at->second->results[0]] = in.results[0];
        }
    };
    visit(kernel.body);
    for (const ir::Region& region : kernel.regions) visit(region);
    return pairs;
}

}  // namespace pardo::emit
