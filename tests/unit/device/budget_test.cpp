// tests/unit/device/budget_test.cpp: PARDO_MEMORY in all its forms.
#include "device/memory/budget.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <pardo/error.h>

namespace pardo::device {
namespace {

std::int64_t budget(const char* text, std::int64_t total = 1000) {
    setenv("PARDO_MEMORY", text, 1);
    struct Restore {
        ~Restore() { unsetenv("PARDO_MEMORY"); }
    } restore;
    return memory_budget(total);
}

TEST(Budget, Sizes) {
    EXPECT_EQ(memory_budget(1000), 0);
    EXPECT_EQ(budget("123"), 123);
    EXPECT_EQ(budget("4GiB"), std::int64_t{4} << 30);
    EXPECT_EQ(budget("4G"), std::int64_t{4} << 30);
    EXPECT_EQ(budget("1.5 MiB"), 3 << 19);
    EXPECT_EQ(budget("512MB"), 512'000'000);
    EXPECT_EQ(budget("2kB"), 2000);
    EXPECT_EQ(budget("50%"), 500);
    EXPECT_EQ(budget("100%"), 1000);
}

TEST(Budget, NonsenseIsRefused) {
    for (const char* text : {"0", "-1", "much", "4 gib", "4GiBs", "101%", "0%", "nan", "inf", "1e30", "4GiB 2"}) {
        try {
            budget(text);
            ADD_FAILURE() << text;
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ErrorCode::Value);
            EXPECT_EQ(e.message().find("PARDO_MEMORY=" + std::string(text) + ": expected a size for each device"), 0u) << e.message();
        }
    }
}

}  // namespace
}  // namespace pardo::device
