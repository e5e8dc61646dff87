// src/emit/llvm/guard.h: steps that only some of a row's items take (`if (i < n)`): the loop runs over these alone, without masks.
#pragma once

#include <vector>

#include "emit/llvm/emitter.h"

namespace pardo::emit {

/// What is emitted for items.
using ItemBody = llvm::function_ref<void(const LaneContext& inside)>;

/// A branch that is all a step does.
struct Guard {
    struct Bound {  // index `op` limit
        ir::Opcode op;
        ir::Value index, limit;
    };
    ir::InstrId branch = ~0u;  // if there is one
    std::vector<Bound> bounds;
};
/// That of a step, if its condition bounds the items of a row.
Guard find_guard(const Source& source, const ir::Region& r, const Step& step);
/// Runs `body` for the items of one row that pass the guard.
void guarded_lanes(Emitter& e, const LaneContext& here, const Guard& guard, int lanes, ItemBody body);

}  // namespace pardo::emit
