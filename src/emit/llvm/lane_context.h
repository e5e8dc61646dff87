// src/emit/llvm/lane_context.h: where the walk over a kernel is: what an instruction is emitted for. Passed by reference to const; a region
// that runs for other lanes gets a changed copy.
#pragma once

#include "emit/llvm/codegen.h"
#include "ir/ir.h"

namespace pardo::emit {

struct TransposedLoads;  // emit/llvm/transposed_loads.h

/// The serial loops around: their counters, of a while loop no_value.
struct SerialLoop {
    ir::Value counter = ir::no_value;
    const SerialLoop* outer = nullptr;
};

/// An item's place, of lane 0 of several; one value a dimension.
struct Item {
    LlvmValues dims;                // in the range
    LlvmValues groups;              // of its group among groups
    LlvmValues bases;               // of its group's first item
    LlvmValues local;               // in its group
    llvm::Value* number = nullptr;  // in its group; null outside of loops over items
};

/// Scalar code while `lanes` is 1, else vectors of `lanes` elements.
struct LaneContext {
    int lanes = 1;
    llvm::Value* mask = nullptr;            // lanes that are active; null: all
    bool divergent = false;                 // inside a region that not all items of the vector run
    bool prefetch = false;                  // loads of neighbours ask for what comes a kilobyte later
    llvm::ArrayRef<ir::InstrId> streaming;  // stores that bypass the caches
    ir::Value lane_index = ir::no_value;    // the counter of the loop whose iterations are the lanes
    const SerialLoop* around = nullptr;
    TransposedLoads* transposed = nullptr;  // of the loop around, in its blocks
    const ir::Region* region = nullptr;     // being emitted, and how far
    std::size_t position = 0;
    const Item* item = nullptr;
    struct {  // the innermost loop of a group around
        ir::Value counter = ir::no_value;
        llvm::Value* step = nullptr;
    } iterations;

    /// The same for lanes that a mask leaves, or for all (null).
    LaneContext under(llvm::Value* other_mask) const {
        LaneContext inner = *this;
        inner.mask = other_mask;
        return inner;
    }
    /// Under a mask that may be empty of lanes that are active outside.
    LaneContext diverging(llvm::Value* other_mask) const {
        LaneContext inner = under(other_mask);
        inner.divergent = true;
        return inner;
    }
};

/// An iteration, for the lanes that it is given.
using LaneBody = llvm::function_ref<void(const LaneContext& inside, llvm::Value* index, int copy, LlvmValues& state)>;

/// The mask, all ones if null.
inline llvm::Value* active(Codegen& g, const LaneContext& here) {
    return here.mask ? here.mask : llvm::Constant::getAllOnesValue(widened(g.b.getInt1Ty(), here.lanes));
}

}  // namespace pardo::emit
