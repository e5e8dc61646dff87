// src/launch/cost.h: roughly how long a kernel of the user takes: whether it is worth other threads.
#pragma once

#include <cstdint>

#include "ir/ir.h"

namespace pardo::launch {

struct Cost {
    double item_ns = 1;            // one item, on one core
    std::int64_t lane_rounds = 1;  // of its lanes loops, roughly
    double nanoseconds(std::int64_t items) const { return 100 + item_ns * static_cast<double>(items); }
};

Cost cost_of(const ir::Kernel& kernel);

}  // namespace pardo::launch
