// tests/unit/backend_cpu/schedule_test.cpp: how an index space is cut for threads, and that each part runs once.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "backend/cpu/launch.h"
#include "backend/cpu/threads/threads.h"

namespace pardo::cpu {
namespace {

/// The slices of [0, extent), in their order.
std::vector<std::int64_t> borders(const Split& s, std::int64_t extent) {
    std::vector<std::int64_t> out{0};
    for (int part = 0; part < s.parts; ++part) {
        EXPECT_EQ(slice_begin(extent, s.unit, s.parts, part), out.back());
        out.push_back(slice_begin(extent, s.unit, s.parts, part + 1));
        EXPECT_GT(out.back(), out[out.size() - 2]);
    }
    return out;
}

TEST(Chunks, CutTheFirstDimension) {
    const std::int64_t one[] = {100}, two[] = {10, 100};
    EXPECT_EQ(borders(split_by(30, one, 1), 100), (std::vector<std::int64_t>{0, 30, 60, 90, 100}));
    EXPECT_EQ(borders(split_by(30, one, 8), 100), (std::vector<std::int64_t>{0, 32, 64, 96, 100}));  // whole vectors
    EXPECT_EQ(borders(split_by(3, two, 8), 10), (std::vector<std::int64_t>{0, 3, 6, 9, 10}));
    EXPECT_EQ(split_by(3, two, 8).dimension, 0);
    EXPECT_EQ(split_by(1000, one, 8).parts, 1);
    EXPECT_EQ(split_by(1, {}, 8).parts, 1);
}

TEST(Chunks, AreNotTooMany) {
    const std::int64_t many[] = {std::int64_t{1} << 40};
    const Split s = split_by(1, many, 1);
    EXPECT_LE(s.parts, 1 << 20);
    EXPECT_EQ(slice_begin(many[0], s.unit, s.parts, s.parts), many[0]);
}

TEST(Schedule, EachPartRunsOnce) {
    ThreadPool pool(3);
    for (const Schedule schedule : {Schedule::Static, Schedule::WorkStealing}) {
        std::vector<std::atomic<int>> runs(1000);
        pool.run(
            static_cast<int>(runs.size()), [&](int part) { ++runs[static_cast<std::size_t>(part)]; }, schedule);
        for (const std::atomic<int>& n : runs) EXPECT_EQ(n.load(), 1);
    }
}

}  // namespace
}  // namespace pardo::cpu
