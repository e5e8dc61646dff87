// src/device/memory/copy_box.h: the forms in which drivers take boxes of bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/device.h"

namespace pardo::device {

inline std::int64_t rows_of(const CopyBox& box) noexcept { return box.extents[1] * box.extents[2]; }
/// Calls f(piece) with boxes of at most `most_rows` rows that together are the box: some planes, or some rows of one.
template <class F> void for_each_piece(const CopyBox& box, std::int64_t most_rows, F&& f) {
    const std::int64_t planes = std::max<std::int64_t>(1, most_rows / box.extents[1]), rows = std::min(box.extents[1], most_rows);
    for (std::int64_t z = 0; z < box.extents[2]; z += planes) {
        for (std::int64_t y = 0; y < box.extents[1]; y += rows) {
            CopyBox piece = box;
            piece.extents[1] = std::min(rows, box.extents[1] - y);
            piece.extents[2] = std::min(planes, box.extents[2] - z);
            piece.to_offset += y * box.to_pitches[0] + z * box.to_pitches[1];
            piece.from_offset += y * box.from_pitches[0] + z * box.from_pitches[1];
            f(piece);
        }
    }
}

/// The same bytes with the longest rows, and pitches that are not negative and rise where both sides allow it; the order in which rows are
/// copied may differ. What has one plane (one row) has the pitches of a box without gaps there. Not for empty boxes.
CopyBox normalized(const CopyBox& box);

/// One side of a normalised box: where its first byte is, and where the one behind its last.
struct BoxSide {
    std::int64_t offset, row_pitch, plane_pitch, begin, end;
    /// As drivers want it: rows do not overlap, and planes are whole rows apart.
    bool regular = false;
};
BoxSide to_side(const CopyBox& box);
BoxSide from_side(const CopyBox& box);
/// The rows of the largest piece of a normalised box that is regular on both sides: all, those of a plane, or none (0).
std::int64_t regular_rows(const CopyBox& box);

}  // namespace pardo::device
