// tests/unit/device/strided_copy_test.cpp: the forms of regions that drivers are given.
#include "strided_copy_support.h"

#include <map>

namespace pardo::device {
namespace {

/// Which byte goes where.
std::map<std::int64_t, std::int64_t> bytes_of(const StridedCopy& region) {
    std::map<std::int64_t, std::int64_t> bytes;
    for_each_row(region, [&](std::int64_t to, std::int64_t from) {
        for (std::int64_t x = 0; x < region.extents[0]; ++x) bytes[to + x] = from + x;
    });
    return bytes;
}

TEST(StridedCopies, NormalizedAndCutTheyAreTheSameBytes) {
    for (const auto& [name, region] : test::regions()) {
        SCOPED_TRACE(name);
        if (region.empty()) continue;
        const StridedCopy normal = normalized(region);
        const auto expected = bytes_of(region);
        EXPECT_EQ(bytes_of(normal), expected);
        EXPECT_LE(rows_of(normal), rows_of(region));
        const RegionSide to = to_side(normal);
        EXPECT_EQ(to.begin, expected.begin()->first);
        EXPECT_EQ(to.end, expected.rbegin()->first + 1);
        for (const std::int64_t most : {1, 2, 3, 7, 512}) {
            std::map<std::int64_t, std::int64_t> pieces;
            for_each_piece(normal, most, [&](const StridedCopy& piece) {
                EXPECT_LE(rows_of(piece), most);
                pieces.merge(bytes_of(normalized(piece)));
            });
            EXPECT_EQ(pieces, expected) << most;
        }
    }
}

TEST(StridedCopies, AreRegularWhereDriversTakeThem) {
    std::map<std::string, std::int64_t> regular;
    for (const auto& [name, region] : test::regions()) {
        if (!region.empty()) regular[name] = regular_rows(normalized(region));
    }
    EXPECT_EQ(regular["rows"], 4);
    EXPECT_EQ(regular["planes of whole rows"], 6);
    EXPECT_EQ(regular["planes between rows"], 3);
    EXPECT_EQ(regular["planes alone"], 40);
    EXPECT_EQ(regular["both backwards"], 4);
    EXPECT_EQ(regular["one side backwards"], 0);
    EXPECT_EQ(regular["rows read again and again"], 0);
    EXPECT_EQ(regular["rows that overlap where they are read"], 0);
    EXPECT_EQ(regular["rows farther apart than planes"], 5);
    EXPECT_EQ(regular["no gaps"], 1);
    EXPECT_EQ(regular["rows without gaps"], 4);
    EXPECT_EQ(regular["the whole block"], 1);
}

}  // namespace
}  // namespace pardo::device
