// src/emit/analysis/fission.h: cuts a kernel in groups at its barriers into steps; between two barriers a loop over the items of the group.
#pragma once

#include <cstdint>
#include <vector>

#include "emit/analysis/lanes.h"
#include "ir/ir.h"

namespace pardo::emit {

/// A piece of a region that all items of a group pass together.
struct Step {
    enum Kind : std::uint8_t {
        Once,     // instructions whose values are the same for all items: run once for the group
        Items,    // a loop over the items
        Control,  // one If, For or While with a barrier inside: run once for the group, its regions have steps of their own
    };
    /// A value moves to the slot of another one: results of branches, carried values of loops.
    struct Copy {
        ir::Value from, to;
    };
    Kind kind = Once;
    std::vector<std::uint32_t> at;  // positions in the region's list
    // Items
    std::vector<ir::Value> again;   // computed by an earlier step and cheap enough to compute again, operands first
    std::vector<ir::Value> loads;   // read from their slots first
    std::vector<ir::Value> stores;  // written to their slots last
    std::vector<Step::Copy> copies;
    std::vector<ir::Value> shared;  // the same for all items; later steps read them
};

/// How a kernel in groups runs without a thread for each item.
struct Fission {
    std::vector<std::vector<Step>> steps;  // one list a region that has barriers (others: empty), the last one is the kernel's body's
    std::vector<bool> uniform;             // one a value: the same for all items of a group
    std::vector<ir::Value> slot;           // one a value: the value under whose name it lives in memory, one element an item, or no_value
    std::vector<std::uint32_t> part;       // one an instruction: which Items step it belongs to, 0 for none
};

/// Throws Error(Compile) if items of one group may take different branches around a barrier.
Fission split_at_barriers(const ir::Kernel& kernel);
/// The lanes of a kernel that was cut so, or, with an empty Fission, of one without groups.
LaneInfo lanes_of(const ir::Kernel& kernel, const Fission& fission);

/// Items of a group.
std::int64_t group_items(const ir::Kernel& kernel);
/// The item's own index, or integer arithmetic on such and on what is the same for all items; cheap enough to be computed twice.
bool cheap_index(const ir::Kernel& kernel, const std::vector<bool>& uniform, ir::Value v);

}  // namespace pardo::emit
