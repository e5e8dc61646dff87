// src/emit/llvm/loops/lanes.h: the loop whose iterations become lanes: whole vectors, then the rest under a mask.
// This folder: loops and branches.
#pragma once

#include <vector>

#include "emit/llvm/memory.h"

namespace pardo::emit {

struct LanePlan {
    int lanes = 1;
    int unroll = 1;                    // vectors an iteration of the main loop
    bool prefetch = false;             // library calls keep the processor from running ahead to the next loads
    bool items = false;                // iterations are items of the range
    std::vector<ir::InstrId> streams;  // stores past the caches: lanes start where the first one's address is aligned
};
/// How a region's iterations become lanes.
LanePlan lane_plan(const Source& source, const LlvmTarget& target, const ir::Region& body, int accumulators);
/// Stores that may bypass the caches: unconditional, to neighbours, whole registers, at addresses that are known beforehand, each once.
std::vector<ir::InstrId> stream_stores(const Values& values, const LaneContext& here, const ir::Region& body, int lanes);

/// Makes fresh state, and joins a block's state into the totals: keeps long float sums accurate.
struct Fold {
    llvm::function_ref<LlvmValues()> fresh;
    llvm::function_ref<void(LlvmValues& totals, const LlvmValues& block)> join;
};
/// Runs [lower, upper), not empty, with lanes: whole vectors first, then what is left under a mask.
void lane_loop(Memory& m, const LaneContext& here, llvm::Value* lower, llvm::Value* upper, const LanePlan& plan, LlvmValues& state,
               LaneBody body, const Fold* fold = nullptr);

/// Integers of which one register holds as many as there are lanes.
llvm::IntegerType* lane_number_type(Codegen& g, int lanes);
/// <0, step, 2 step, …>
llvm::Constant* lane_numbers(Codegen& g, int lanes, std::int64_t step);

}  // namespace pardo::emit
