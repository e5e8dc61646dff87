// tests/unit/device/strided_copy_support.h: regions of every form, and what a copy of one has to give.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/memory/strided_copy.h"

namespace pardo::device::test {

constexpr std::size_t region_block = 8192;

struct NamedRegion {
    const char* name;
    StridedCopy region;
};

/// All within blocks of region_block bytes, and without overlap of what is written. Offsets are odd on purpose.
inline std::vector<NamedRegion> regions() {
    const auto make = [](std::int64_t x, std::int64_t y, std::int64_t z, std::int64_t to, std::int64_t to_row, std::int64_t to_plane,
                         std::int64_t from, std::int64_t from_row, std::int64_t from_plane) {
        StridedCopy b;
        b.extents[0] = x, b.extents[1] = y, b.extents[2] = z;
        b.to_offset = to, b.to_pitches[0] = to_row, b.to_pitches[1] = to_plane;
        b.from_offset = from, b.from_pitches[0] = from_row, b.from_pitches[1] = from_plane;
        return b;
    };
    return {
        {"rows", make(3, 4, 1, 8, 6, 24, 35, 10, 40)},
        {"planes of whole rows", make(8, 3, 2, 7, 16, 64, 300, 24, 120)},
        {"the same pitches on both sides", make(8, 3, 2, 7, 24, 120, 301, 24, 120)},
        {"planes between rows", make(8, 3, 4, 1, 16, 50, 9, 24, 121)},
        {"planes packed on one side", make(5, 3, 4, 0, 5, 15, 2, 9, 100)},
        {"planes alone", make(5, 1, 40, 11, 5, 61, 2, 9, 100)},
        {"both backwards", make(5, 4, 3, 700, -16, -100, 900, -24, -120)},
        {"one side backwards", make(5, 4, 3, 700, -16, -100, 100, 24, 120)},
        {"rows read again and again", make(16, 20, 2, 32, 20, 500, 64, 0, 16)},
        {"rows that overlap where they are read", make(16, 20, 2, 32, 20, 500, 64, 3, 60)},
        {"rows farther apart than planes", make(4, 6, 5, 0, 200, 12, 40, 300, 8)},
        {"no gaps", make(16, 8, 4, 48, 16, 128, 1000, 16, 128)},
        {"rows without gaps", make(16, 8, 4, 48, 16, 200, 1000, 16, 128)},
        {"one row", make(100, 1, 1, 3, 0, 0, 5, 0, 0)},
        {"one byte", make(1, 1, 1, 8191, 1, 1, 0, 1, 1)},
        {"more rows than go at once", make(1, 1000, 1, 1, 2, 2000, 0, 8, 8000)},
        {"more planes than go at once", make(2, 3, 400, 1, 4, 17, 0, 5, 20)},
        {"the whole block", make(64, 128, 1, 0, 64, 8192, 0, 64, 8192)},
        {"nothing", make(4, 0, 3, 0, 4, 16, 0, 4, 16)},
    };
}

/// Copies a region on `q`, and looks at every byte of the target.
inline void expect_region(Queue* q, Buffer* to, Buffer* from, const NamedRegion& named) {
    SCOPED_TRACE(named.name);
    static std::mt19937 random(1);
    std::vector<char> source(region_block), target(region_block), got(region_block);
    for (char& c : source) c = static_cast<char>(random());
    for (char& c : target) c = static_cast<char>(random());
    from->device()->queue()->write(from, 0, source.data(), region_block);
    to->device()->queue()->write(to, 0, target.data(), region_block);
    const Event event = q->copy_strided(to, from, named.region);
    to->device()->queue()->read(got.data(), to, 0, region_block);
    event.wait();
    for_each_row(named.region, [&](std::int64_t t, std::int64_t f) {
        std::memcpy(target.data() + t, source.data() + f, static_cast<std::size_t>(named.region.extents[0]));
    });
    EXPECT_EQ(std::memcmp(got.data(), target.data(), region_block), 0);
}

}  // namespace pardo::device::test
