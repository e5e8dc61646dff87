// tests/unit/backend_opencl/quirks_test.cpp: what is set in the environment for a driver.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "backend/opencl/quirks.h"

namespace pardo::opencl {
namespace {

TEST(Quirks, PoclOfSomeVersionsCompilesByItsOtherMethod) {
    const auto method = [] {
        const char* value = std::getenv("POCL_WORK_GROUP_METHOD");
        return std::string(value ? value : "");
    };
    ASSERT_EQ(method(), "");
    for (const char* version : {"OpenCL 3.0 PoCL 3.1+debian  Linux, None+Asserts", "OpenCL 3.0 PoCL 6.0+debian  Linux",
                                "OpenCL 3.0 PoCL 7.2-RC1  Linux", "OpenCL 3.0 LINUX", ""})
        set_environment("Portable Computing Language", version);
    set_environment("Intel(R) OpenCL", "OpenCL 3.0 PoCL 7.1");
    EXPECT_EQ(method(), "");
    for (const char* version :
         {"OpenCL 3.0 PoCL 5.0+debian  Linux, None+Asserts", "OpenCL 3.0 PoCL 7.1  Linux, Release, RELOC, LLVM 20.1.8"}) {
        set_environment("Portable Computing Language", version);
        EXPECT_EQ(method(), "cbs");
        EXPECT_EQ(lacks_sub_groups("Portable Computing Language", version), std::string(version).find("5.0") != std::string::npos);
        EXPECT_FALSE(lacks_sub_groups("Intel(R) OpenCL", version));
        ::unsetenv("POCL_WORK_GROUP_METHOD");  // the other tests of this process compile as ever
    }
}

TEST(Quirks, EndWithTheVersionThatMendsThem) {
    const auto counted = [](const char* platform, const char* version) {
        return has_quirk(Quirk::CountedLaunches, platform, version, true, true);
    };
    const char* pocl = "Portable Computing Language";
    EXPECT_TRUE(counted(pocl, "OpenCL 3.0 PoCL 5.0+debian  Linux, None+Asserts"));
    EXPECT_FALSE(counted(pocl, "OpenCL 3.0 PoCL 6.0  Linux"));
    EXPECT_FALSE(counted(pocl, "OpenCL 3.0 PoCL 10.0"));
    EXPECT_FALSE(counted("Intel(R) OpenCL", "OpenCL 3.0 LINUX"));
    EXPECT_TRUE(has_quirk(Quirk::BarriersInConditions, pocl, "OpenCL 3.0 PoCL 10.0", true, true));
}

}  // namespace
}  // namespace pardo::opencl
