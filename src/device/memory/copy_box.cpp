// src/device/memory/copy_box.cpp: boxes of bytes brought into the forms that drivers take.
#include "device/memory/copy_box.h"

#include <utility>

namespace pardo::device {
namespace {

/// Begins at the other end where both sides run backwards.
void turn(CopyBox& box, int d) {
    if (box.to_pitches[d] > 0 || box.from_pitches[d] > 0) return;
    box.to_offset += (box.extents[d + 1] - 1) * box.to_pitches[d];
    box.from_offset += (box.extents[d + 1] - 1) * box.from_pitches[d];
    box.to_pitches[d] = -box.to_pitches[d];
    box.from_pitches[d] = -box.from_pitches[d];
}

/// Planes become rows, and there is one plane.
void drop_rows(CopyBox& box) {
    box.extents[1] = std::exchange(box.extents[2], 1);
    box.to_pitches[0] = box.to_pitches[1];
    box.from_pitches[0] = box.from_pitches[1];
}

void swap_dimensions(CopyBox& box) {
    std::swap(box.extents[1], box.extents[2]);
    std::swap(box.to_pitches[0], box.to_pitches[1]);
    std::swap(box.from_pitches[0], box.from_pitches[1]);
}

BoxSide side(const CopyBox& box, std::int64_t offset, const std::int64_t (&pitches)[2]) {
    BoxSide s{offset, pitches[0], pitches[1], offset, offset + box.extents[0], false};
    for (int d = 0; d < 2; ++d) (pitches[d] < 0 ? s.begin : s.end) += (box.extents[d + 1] - 1) * pitches[d];
    s.regular = pitches[0] >= box.extents[0] && pitches[1] >= pitches[0] * box.extents[1] && pitches[1] % pitches[0] == 0;
    return s;
}

}  // namespace

CopyBox normalized(const CopyBox& given) {
    CopyBox box = given;
    if (box.extents[1] == 1) drop_rows(box);
    if (box.extents[2] > 1 && box.to_pitches[1] == box.to_pitches[0] * box.extents[1] &&
        box.from_pitches[1] == box.from_pitches[0] * box.extents[1]) {
        box.extents[1] *= std::exchange(box.extents[2], 1);
    }
    for (int d = 0; d < 2; ++d) turn(box, d);
    if (box.extents[2] > 1 && box.to_pitches[1] < box.to_pitches[0] && box.from_pitches[1] < box.from_pitches[0]) swap_dimensions(box);
    while (box.extents[1] > 1 && box.to_pitches[0] == box.extents[0] && box.from_pitches[0] == box.extents[0]) {
        box.extents[0] *= box.extents[1];
        drop_rows(box);
    }
    if (box.extents[1] == 1) box.to_pitches[0] = box.from_pitches[0] = box.extents[0];
    if (box.extents[2] == 1) {
        box.to_pitches[1] = box.to_pitches[0] * box.extents[1];
        box.from_pitches[1] = box.from_pitches[0] * box.extents[1];
    }
    return box;
}

BoxSide to_side(const CopyBox& box) { return side(box, box.to_offset, box.to_pitches); }
BoxSide from_side(const CopyBox& box) { return side(box, box.from_offset, box.from_pitches); }

std::int64_t regular_rows(const CopyBox& box) {
    if (to_side(box).regular && from_side(box).regular) return rows_of(box);
    return std::min(box.to_pitches[0], box.from_pitches[0]) >= box.extents[0] ? box.extents[1] : 0;
}

}  // namespace pardo::device
