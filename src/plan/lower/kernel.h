// src/plan/lower/kernel.h: a scheduled loop nest as Kernel IR, and the recipe for its arguments.
// This folder: from a schedule to the IR that emitters take.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/ir.h"
#include "plan/schedule/schedule.h"

namespace pardo::plan {

/// One parameter of a kernel, and where its argument comes from.
struct Argument {
    enum class Kind : std::uint8_t {
        Leaf,      // address of leaf `node` + `value` bytes
        Stored,    // address of the memory of the materialization point `node` + `value` bytes
        Partial,   // address of scratch number `node` + `value` bytes
        Number,    // `value` itself
        Constant,  // the scalar of Constant `node`; complex ones take two slots
    };
    Kind kind;
    std::uint32_t node;
    Size value;
};

struct LoweredKernel {
    ir::Kernel kernel;
    std::vector<Argument> arguments;
};

/// Emits a scheduled kernel.
LoweredKernel lower_kernel(const Planner& planner, const KernelPlan& plan);

}  // namespace pardo::plan
