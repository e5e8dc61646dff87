// src/emit/c/geometry.h: how the items of a kernel are laid over the work-groups of a device, and how many groups a launch takes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/small_vector.h"
#include "device/program.h"
#include "emit/c/target.h"
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
    // The kernel's own: a language item for each item, a language group for each group.
    Items,
    Tile,  // tile_width of the last dimension, and as many rows as the group has room for: neighbours that take about as long
};
constexpr int tile_width = 32;
constexpr std::int64_t loop_stretch = 4096;

struct CGeometry {
    CMapping mapping = CMapping::Line;
    bool wide = false;   // indices of items or groups need 64 bits
    int group_size = 1;  // a power of two; Items: what the kernel says
    int columns = 1;     // Line, Flat: elements that an item handles, a group size apart
    int rows = 1;        // Line, Loop: and in so many rows
    int team = 1;        // Team: items of the language that share a kernel item; a power of two, at most the group size
    int unroll = 1;      // Team: iterations of a lanes loop that are under way at once
    int steps = 0;       // Team: no lanes loop has more iterations than so many for each item; 0: not known
    bool whole = false;  // Team: and all of them have exactly steps * team iterations

    device::ShapeClass encode() const;
    static CGeometry decode(device::ShapeClass code);
};

/// The groups of a kernel in groups, as its launches need them.
struct CGroups {
    SmallVector<std::int64_t, 3> size;  // items in each dimension of the kernel; empty: its groups are no matter of the kernel
    std::array<int, 3> local{1, 1, 1};  // items in each dimension of the language, the fastest first
    SmallVector<std::int8_t, 3> axis;   // by dimension of the kernel: that of the language; -1: one item, or `flat`
    bool flat = false;                  // all in the language's first dimension, to be taken apart by division

    std::int64_t items() const;
    /// Language groups in a launch; 0 if an extent is 0. Throws Value for extents that are not multiples of the size.
    std::int64_t count(const std::string& kernel, std::span<const std::int64_t> extents) const;
};
CGroups groups_of(const ir::Kernel& kernel);
/// The same by the kernel's group size, and whether it shuffles.
CGroups groups_of(std::span<const std::int64_t> size, bool shuffles);
/// Bytes of the arrays that a group shares, each of which begins at a multiple of array_alignment.
constexpr std::int64_t array_alignment = 16;
std::int64_t group_bytes(const ir::Kernel& kernel);
/// What a device grants a group.
struct CGroupLimits {
    std::int64_t items = 0;                    // all together
    std::span<const std::int64_t> dimensions;  // and in each dimension of the language; empty: not known
    std::int64_t bytes = 0;                    // of arrays that it shares
};
/// Throws Value or Compile, with the numbers, for a kernel whose groups are too large for a device, named `device_name`.
void check_groups(const ir::Kernel& kernel, const CGroupLimits& limits, const std::string& device_name);

CGeometry choose_geometry(const ir::Kernel& kernel, const device::LaunchShape& shape, const CFeatures& features);

/// What of a kernel its geometries follow from, as numbers: programs that have left the process know their kernels by these.
struct CTraits {
    std::int64_t lanes = 0, shares = 0, several_loops = 0, heavy = 0, branched = 0, open_loop = 0, rows = 0;
    std::int64_t narrowest = 1, widest_read = 1, widest_sum = 1, own_bytes = 0;
    // Of kernels in groups; 0 for others.
    std::int64_t group_items = 0, group_bytes = 0, shuffles = 0;

    CTraits() = default;
    explicit CTraits(const ir::Kernel& kernel);
    static constexpr std::size_t count = 14;
    std::array<std::int64_t, count> numbers() const;
    static CTraits of(const std::array<std::int64_t, count>& numbers);
};
CGeometry choose_geometry(const CTraits& traits, const device::LaunchShape& shape, const CFeatures& features);
/// Groups that cover the extents; 0 if one of them is 0. Not for Items, see CGroups. Range: in each dimension of the launch; else all in
/// the first one.
std::array<std::int64_t, 3> group_counts(const CGeometry& geometry, std::span<const std::int64_t> extents);
std::int64_t group_count(const CGeometry& geometry, std::span<const std::int64_t> extents);

}  // namespace pardo::emit
