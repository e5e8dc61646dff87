// src/emit/c_geometry.h: how the items of a kernel are laid over the work-groups of a device, and how many groups a launch takes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "device/program.h"
#include "emit/c_target.h"
#include "ir/ir.h"

namespace pardo::emit {

/// What becomes neighbours in a group.
enum class CMapping : std::uint8_t {
    Line,  // a stretch of the last dimension, of one or several rows
    Flat,  // any items, numbered through and taken apart by division: for short last dimensions
    Team,  // those that share the lanes loops of one kernel item; without sharing (team 1), any items
    // On processors, by what their compilers make vectors of:
    Range,  // neighbouring items, numbered by the language in up to three dimensions
    Loop,   // iterations: each group is one item, which runs through a stretch of the last dimension, of one or several rows
};
constexpr std::int64_t loop_stretch = 4096;

struct CGeometry {
    CMapping mapping = CMapping::Line;
    bool wide = false;   // indices of items or groups need 64 bits
    int group_size = 1;  // a power of two
    int columns = 1;     // Line, Flat: elements that an item handles, a group size apart
    int rows = 1;        // Line, Loop: and in so many rows
    int team = 1;        // Team: items of the language that share a kernel item; a power of two, at most the group size
    int unroll = 1;      // Team: iterations of a lanes loop that are under way at once
    int steps = 0;       // Team: no lanes loop has more iterations than so many for each item; 0: not known
    bool whole = false;  // Team: and all of them have exactly steps * team iterations

    device::ShapeClass encode() const;
    static CGeometry decode(device::ShapeClass code);
};

CGeometry choose_geometry(const ir::Kernel& kernel, const device::LaunchShape& shape, const CFeatures& features);
/// Groups that cover the extents; 0 if one of them is 0. Range: in each dimension of the launch; else all in the first one.
std::array<std::int64_t, 3> group_counts(const CGeometry& geometry, std::span<const std::int64_t> extents);
std::int64_t group_count(const CGeometry& geometry, std::span<const std::int64_t> extents);

}  // namespace pardo::emit
