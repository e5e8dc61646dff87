// src/emit/analysis/lanes.h: which values of a Kernel are one scalar, which a counter with a step, and which differ freely between lanes.
// This folder: what emitters ask of a Kernel before they write a line of it.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/ir.h"

namespace pardo::emit {

/// How a value differs between the lanes of one vector.
struct LaneShape {
    enum Kind : std::uint8_t {
        Uniform,  // the same in all lanes
        Affine,   // base + lane * step, step a constant; Int64 only
        Strided,  // base + lane * step, step a uniform value; Int64 only
        Varying,  // anything
    };
    Kind kind = Uniform;
    std::int64_t step = 0;  // Affine
    friend bool operator==(const LaneShape&, const LaneShape&) = default;
};

/// Facts about one kernel that decide how it is emitted.
struct LaneInfo {
    bool item_lanes = false;          // the last dimension of the range becomes the lanes
    std::vector<LaneShape> shapes;    // one a value
    std::vector<bool> vector_loop;    // one an instruction: a For of LoopKind::Lanes whose iterations become lanes
    std::vector<bool> masked;         // one an instruction: If, For or While whose condition differs between lanes
    std::vector<bool> lane_arrays;    // one an array: private, and used where lanes run alone: each lane has its own
    std::vector<std::uint32_t> uses;  // one a value
};

/// `own`: values that each lane has to itself whatever they are made of (they live in memory, one element an item).
LaneInfo analyse_lanes(const ir::Kernel& kernel, const std::vector<bool>& own = {});
/// One a value: true if it is the same for all items of a group.
std::vector<bool> same_in_group(const ir::Kernel& kernel);

/// Whether `pointer` belongs to a private array.
bool is_private(const ir::Kernel& kernel, ir::Value pointer);
/// Whether `pointer` belongs to an array that each lane has to itself.
bool is_of_lane(const ir::Kernel& kernel, const LaneInfo& info, ir::Value pointer);

/// Functions that processors have instructions for, a few at most.
bool is_instruction(ir::Math fn);

/// Rough number of vector instructions that one run of a region costs; loops count as long.
int region_cost(const ir::Kernel& kernel, const ir::Region& region);

/// Lanes for a region whose iterations become lanes: its widest varying type fills one register of `vector_bytes`.
int lane_count(const ir::Kernel& kernel, const LaneInfo& info, const ir::Region& region, int vector_bytes);

/// Bits of an integer of which one register holds as many as there are lanes.
unsigned lane_bits(int vector_bytes, int lanes);

/// The value of a Const of an integer dtype; false if `v` is none.
bool constant_int(const ir::Kernel& kernel, ir::Value v, std::int64_t& out);

}  // namespace pardo::emit
