// src/emit/llvm/transposed_loads.h: serial loops in which each lane walks along a row of its own.
#pragma once

#include <vector>

#include "emit/llvm/memory.h"

namespace pardo::emit {

/// The pieces of rows that a block of iterations has.
struct TransposedLoads {
    std::vector<ir::InstrId> loads;
    std::vector<LlvmValues> turned;  // of each load, what lanes read in one iteration of a block
    int iteration = 0;
};

/// Loads of a loop by which each lane reads one element after the other of a row, which nothing changes meanwhile.
std::vector<ir::InstrId> row_loads(const Values& values, const LaneContext& here, ir::InstrId loop);
/// What lanes read in this iteration, if their rows are loaded in pieces; null if they are not.
llvm::Value* row_elements(Memory& m, const LaneContext& here, ir::InstrId id, ir::Value pointer, const Lane& index);
/// Iterations in blocks of as many as there are lanes, from `lower`; gives the counter of the first one that is left.
llvm::Value* blocks_of_rows(Codegen& g, const LaneContext& here, const std::vector<ir::InstrId>& loads, llvm::Value* lower,
                            llvm::Value* upper, LlvmValues& state, LaneBody body);

}  // namespace pardo::emit
