// src/emit/analysis/adjacent_stores.cpp: which stores write neighbouring elements, for targets where one access for all of them is better.
#include "emit/analysis/adjacent_stores.h"

#include <bit>
#include <utility>

#include "ir/rules.h"

namespace pardo::emit {
namespace {

using ir::Instr;
using ir::Opcode;

constexpr int widest_access = 16;  // bytes

/// An index as another one and a number beyond it.
std::pair<ir::Value, std::int64_t> base_and_offset(const ir::Kernel& kernel, ir::Value index) {
    const Instr* sum = ir::definition(kernel, index);
    if (!sum || sum->op != Opcode::Add) return {index, 0};
    for (int k = 0; k < 2; ++k) {
        const Instr* number = ir::definition(kernel, sum->operands[k]);
        if (number && number->op == Opcode::Const) return {sum->operands[1 - k], number->scalar().i};
    }
    return {index, 0};
}

/// The store at a place of a region, and those after it that join it.
std::vector<ir::InstrId> run_from(const ir::Kernel& kernel, const ir::Region& region, std::size_t at) {
    const Instr& first = kernel.instrs[region.body[at]];
    std::vector<ir::InstrId> found{region.body[at]};
    const ir::Value pointer = first.operands[0];
    const int size = itemsize(kernel.values[first.operands[2]].type);
    const Instr* whose = ir::definition(kernel, pointer);
    if (size < 4 || !whose || whose->op != Opcode::Param) return found;
    const auto [base, begin] = base_and_offset(kernel, first.operands[1]);
    for (++at; at < region.body.size() && static_cast<int>(found.size()) < widest_access / size; ++at) {
        const Instr& in = kernel.instrs[region.body[at]];
        if (ir::is_pure(in.op)) continue;
        if (in.op != Opcode::Store || in.operands[0] != pointer) break;
        const auto next = std::pair(base, begin + static_cast<std::int64_t>(found.size()));
        if (base_and_offset(kernel, in.operands[1]) != next) break;
        found.push_back(region.body[at]);
    }
    found.resize(std::bit_floor(found.size()));
    return found;
}

}  // namespace

AdjacentStores no_adjacent_stores(const ir::Kernel& kernel) { return {{}, std::vector<bool>(kernel.instrs.size())}; }

AdjacentStores adjacent_stores(const ir::Kernel& kernel) {
    AdjacentStores stores = no_adjacent_stores(kernel);
    std::vector<bool> taken(kernel.instrs.size());  // in a run
    const auto visit = [&](const ir::Region& region) {
        for (std::size_t at = 0; at < region.body.size(); ++at) {
            if (kernel.instrs[region.body[at]].op != Opcode::Store || taken[region.body[at]]) continue;
            std::vector<ir::InstrId> run = run_from(kernel, region, at);
            if (run.size() == 1) continue;
            for (const ir::InstrId i : run) taken[i] = stores.earlier[i] = true;
            stores.earlier[run.back()] = false;
            const ir::InstrId last = run.back();
            stores.runs.emplace(last, std::move(run));
        }
    };
    visit(kernel.body);
    for (const ir::Region& region : kernel.regions) visit(region);
    return stores;
}

}  // namespace pardo::emit
