// src/emit/analysis/uses.cpp: how often a kernel's values are used, and where.
#include "emit/analysis/uses.h"

namespace pardo::emit {

Uses uses_of(const ir::Kernel& kernel) {
    const std::size_t values = kernel.values.size();
    Uses uses{std::vector<int>(values, 0), std::vector<ir::RegionId>(values, ~0u), std::vector<ir::RegionId>(values, ~0u),
              std::vector<ir::InstrId>(values, ~0u)};
    const auto visit = [&](const ir::Region& region, ir::RegionId id) {
        for (const ir::InstrId i : region.body) {
            for (const ir::Value v : kernel.instrs[i].operands) {
                ++uses.count[v];
                uses.used_in[v] = id;
                uses.user[v] = i;
            }
            for (const ir::Value v : kernel.instrs[i].results) uses.home[v] = id;
        }
    };
    visit(kernel.body, ~0u);
    for (std::size_t r = 0; r < kernel.regions.size(); ++r) visit(kernel.regions[r], static_cast<ir::RegionId>(r));
    return uses;
}

}  // namespace pardo::emit
