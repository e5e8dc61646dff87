// src/device/memory/strided_copy.h: the forms in which drivers take regions of bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/device.h"

namespace pardo::device {

inline std::int64_t rows_of(const StridedCopy& region) noexcept { return region.extents[1] * region.extents[2]; }
/// Calls f(piece) with regions of at most `most_rows` rows that together are the region: some planes, or some rows of one.
template <class F> void for_each_piece(const StridedCopy& region, std::int64_t most_rows, F&& f) {
    const std::int64_t planes = std::max<std::int64_t>(1, most_rows / region.extents[1]), rows = std::min(region.extents[1], most_rows);
    for (std::int64_t z = 0; z < region.extents[2]; z += planes) {
        for (std::int64_t y = 0; y < region.extents[1]; y += rows) {
            StridedCopy piece = region;
            piece.extents[1] = std::min(rows, region.extents[1] - y);
            piece.extents[2] = std::min(planes, region.extents[2] - z);
            piece.to_offset += y * region.to_pitches[0] + z * region.to_pitches[1];
            piece.from_offset += y * region.from_pitches[0] + z * region.from_pitches[1];
            f(piece);
        }
    }
}

/// The same bytes with the longest rows, and pitches that are not negative and rise where both sides allow it; the order in which rows are
/// copied may differ. What has one plane (one row) has the pitches of a region without gaps there. Not for empty regions.
StridedCopy normalized(const StridedCopy& region);

/// The bytes that a region writes, and those that it reads. They point to the region.
inline View written_view(const StridedCopy& region) {
    return {region.to_offset, region.extents[0], {region.extents + 1, 2}, region.to_pitches, 1};
}
inline View read_view(const StridedCopy& region) {
    return {region.from_offset, region.extents[0], {region.extents + 1, 2}, region.from_pitches, 1};
}

/// One side of a normalised region: where its first byte is, and where the one after its last.
struct RegionSide {
    std::int64_t offset, row_pitch, plane_pitch, begin, end;
    /// As drivers want it: rows do not overlap, and planes are whole rows apart.
    bool regular = false;
};
RegionSide to_side(const StridedCopy& region);
RegionSide from_side(const StridedCopy& region);
/// The rows of the largest piece of a normalised region that is regular on both sides: all, those of a plane, or none (0).
std::int64_t regular_rows(const StridedCopy& region);

}  // namespace pardo::device
