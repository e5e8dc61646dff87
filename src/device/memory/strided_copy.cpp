// src/device/memory/strided_copy.cpp: regions of bytes brought into the forms that drivers take.
#include "device/memory/strided_copy.h"

#include <utility>

namespace pardo::device {
namespace {

/// Begins at the other end where both sides run backwards.
void turn(StridedCopy& region, int d) {
    if (region.to_pitches[d] > 0 || region.from_pitches[d] > 0) return;
    region.to_offset += (region.extents[d + 1] - 1) * region.to_pitches[d];
    region.from_offset += (region.extents[d + 1] - 1) * region.from_pitches[d];
    region.to_pitches[d] = -region.to_pitches[d];
    region.from_pitches[d] = -region.from_pitches[d];
}

/// Planes become rows, and there is one plane.
void drop_rows(StridedCopy& region) {
    region.extents[1] = std::exchange(region.extents[2], 1);
    region.to_pitches[0] = region.to_pitches[1];
    region.from_pitches[0] = region.from_pitches[1];
}

void swap_dimensions(StridedCopy& region) {
    std::swap(region.extents[1], region.extents[2]);
    std::swap(region.to_pitches[0], region.to_pitches[1]);
    std::swap(region.from_pitches[0], region.from_pitches[1]);
}

RegionSide side(const StridedCopy& region, std::int64_t offset, const std::int64_t (&pitches)[2]) {
    RegionSide s{offset, pitches[0], pitches[1], offset, offset + region.extents[0], false};
    for (int d = 0; d < 2; ++d) (pitches[d] < 0 ? s.begin : s.end) += (region.extents[d + 1] - 1) * pitches[d];
    s.regular = pitches[0] >= region.extents[0] && pitches[1] >= pitches[0] * region.extents[1] && pitches[1] % pitches[0] == 0;
    return s;
}

}  // namespace

StridedCopy normalized(const StridedCopy& given) {
    StridedCopy region = given;
    if (region.extents[1] == 1) drop_rows(region);
    if (region.extents[2] > 1 && region.to_pitches[1] == region.to_pitches[0] * region.extents[1] &&
        region.from_pitches[1] == region.from_pitches[0] * region.extents[1]) {
        region.extents[1] *= std::exchange(region.extents[2], 1);
    }
    for (int d = 0; d < 2; ++d) turn(region, d);
    if (region.extents[2] > 1 && region.to_pitches[1] < region.to_pitches[0] && region.from_pitches[1] < region.from_pitches[0])
        swap_dimensions(region);
    while (region.extents[1] > 1 && region.to_pitches[0] == region.extents[0] && region.from_pitches[0] == region.extents[0]) {
        region.extents[0] *= region.extents[1];
        drop_rows(region);
    }
    if (region.extents[1] == 1) region.to_pitches[0] = region.from_pitches[0] = region.extents[0];
    if (region.extents[2] == 1) {
        region.to_pitches[1] = region.to_pitches[0] * region.extents[1];
        region.from_pitches[1] = region.from_pitches[0] * region.extents[1];
    }
    return region;
}

RegionSide to_side(const StridedCopy& region) { return side(region, region.to_offset, region.to_pitches); }
RegionSide from_side(const StridedCopy& region) { return side(region, region.from_offset, region.from_pitches); }

std::int64_t regular_rows(const StridedCopy& region) {
    if (to_side(region).regular && from_side(region).regular) return rows_of(region);
    return std::min(region.to_pitches[0], region.from_pitches[0]) >= region.extents[0] ? region.extents[1] : 0;
}

}  // namespace pardo::device
