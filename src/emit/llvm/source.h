// src/emit/llvm/source.h: the kernel that is emitted, and what was found out about it before: nothing of it changes meanwhile.
#pragma once

#include "emit/analysis/fission.h"
#include "emit/analysis/lanes.h"
#include "ir/ir.h"

namespace pardo::emit {

/// The kernel, its lanes, and how it is cut at barriers.
struct Source {
    explicit Source(const ir::Kernel& kernel)
        : kernel(kernel), fission(kernel.in_groups() ? split_at_barriers(kernel) : Fission()), info(lanes_of(kernel, fission)) {}

    DType type(ir::Value v) const { return kernel.values[v].type; }
    LaneShape shape(ir::Value v) const { return info.shapes[v]; }
    bool is_uniform(ir::Value v) const { return info.shapes[v].kind == LaneShape::Uniform; }
    const ir::Region& region(ir::RegionId id) const { return kernel.regions[id]; }
    const ir::Instr& instr(ir::InstrId id) const { return kernel.instrs[id]; }
    /// A region's last instruction, which gives its results.
    const ir::Instr& yield(const ir::Region& r) const { return kernel.instrs[r.body.back()]; }
    /// Whether a pointer belongs to a parameter, else to an array.
    bool is_param(ir::Value pointer) const { return kernel.instrs[kernel.values[pointer].def].op == ir::Opcode::Param; }
    /// Its number among parameters or among arrays.
    std::uint32_t param_of(ir::Value pointer) const { return kernel.instrs[kernel.values[pointer].def].index(); }
    /// An array whose size is known when the kernel runs.
    bool is_sized(ir::Value pointer) const { return !is_param(pointer) && kernel.arrays[param_of(pointer)].count == 0; }
    /// Numbers parameters, then arrays.
    std::size_t memory_of(ir::Value pointer) const { return param_of(pointer) + (is_param(pointer) ? 0 : kernel.params.size()); }

    const ir::Kernel& kernel;
    const Fission fission;  // of kernels in groups
    const LaneInfo info;
};

}  // namespace pardo::emit
