// src/emit/c/source.h: the kernel that is emitted, for which device and launches, and what was found out about it before: nothing of it
// changes meanwhile.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emit/analysis/adjacent_stores.h"
#include "emit/analysis/shared_values.h"
#include "emit/analysis/uses.h"
#include "emit/c/geometry.h"
#include "emit/c/names.h"
#include "emit/c/target.h"
#include "ir/ir.h"

namespace pardo::emit {

struct CSource {
    /// Throws Compile for dtypes that the device lacks.
    CSource(const ir::Kernel& kernel, const CFeatures& features, const CGeometry& geometry);

    DType type(ir::Value v) const { return kernel.values[v].type; }
    const ir::Instr& instr(ir::InstrId id) const { return kernel.instrs[id]; }
    /// One of an instruction's regions.
    const ir::Region& region(const ir::Instr& in, int k) const { return kernel.regions[in.regions[k]]; }
    /// What a region gives to the instruction that it belongs to; null if nothing.
    const ir::Instr* yield(const ir::Region& region) const;
    /// Whether several items of the language share one of the kernel.
    bool uses_team() const { return geometry.team > 1; }
    /// GPUs take the groups of every other kernel in reverse order: it begins with what the one before left in the cache.
    bool reversible() const { return !features.cpu && kernel.rank > 0 && !kernel.in_groups(); }
    /// Whether the launch is asked for the arrays of a group.
    bool large_arrays() const { return group_bytes(kernel) > features.most_shared && *target.large_shared; }
    /// A word of the language with the size of sub-groups.
    std::string sub_group_word(std::string word) const;

    const ir::Kernel& kernel;
    const CFeatures& features;
    const CGeometry& geometry;
    const CTarget& target;
    const Uses uses;
    const std::vector<bool> indices;             // see index_values
    const std::vector<bool> fixed;               // see fixed_loads
    const std::vector<ir::InstrId> early;        // see early_loads
    const std::map<ir::Value, ir::Value> sines;  // see paired_sines
    const AdjacentStores adjacent;
    const SharedValues shared;
    const CNames names;
};

}  // namespace pardo::emit
