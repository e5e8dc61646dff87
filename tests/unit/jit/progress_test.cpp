// tests/unit/jit/progress_test.cpp: slow compilations are told of, and what is told is taken back.
#include "jit/progress.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <pardo/binding/activity.h>
#include <pardo/binding/hooks.h>
#include <pardo/log.h>

namespace pardo::jit {
namespace {

std::mutex mutex;
std::vector<std::string> lines;

TEST(Progress, SlowWorkIsToldOfAndTakenBack) {
    { const Progress nobody_watches("before"); }
    setenv("PARDO_PROGRESS", "0.01", 1);
    set_progress_sink([](std::string_view line) {
        const std::lock_guard lock(mutex);
        lines.emplace_back(line);
    });
    const auto told = [] {
        const std::lock_guard lock(mutex);
        return lines.size();
    };
    {
        const Progress slow("sort_short");
        while (told() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    set_progress_sink(nullptr);
    unsetenv("PARDO_PROGRESS");
    { const Progress nobody_watches("after"); }
    ASSERT_GE(lines.size(), 2u);
    EXPECT_EQ(lines.front(), "compiling sort_short, 0 s so far");
    EXPECT_EQ(lines.back(), "");
}

TEST(Progress, WhatCompilersWorkOnIsListedFromTheOldest) {
    EXPECT_TRUE(compilations().empty());
    {
        const Progress first("first", "opencl:0"), second("second");
        const std::vector<Compilation> all = compilations();
        ASSERT_EQ(all.size(), 2u);
        EXPECT_EQ(all[0].name, "first");
        EXPECT_EQ(all[0].device, "opencl:0");
        EXPECT_EQ(all[1].name, "second");
        EXPECT_EQ(all[1].device, "");
        EXPECT_GE(all[0].seconds, all[1].seconds);
    }
    EXPECT_TRUE(compilations().empty());
}

}  // namespace
}  // namespace pardo::jit
