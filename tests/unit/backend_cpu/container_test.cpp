// tests/unit/backend_cpu/container_test.cpp: limits of control groups of both versions, from files as Linux writes them.
#include "backend/cpu/container.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace pardo::cpu {
namespace {

class Container : public ::testing::Test {
protected:
    void SetUp() override { root_ = std::filesystem::path(::testing::TempDir()) / "pardo_cgroups"; }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void write(const std::string& path, const std::string& text) {
        const std::filesystem::path file = root_.string() + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << '\n';
    }
    ContainerLimits limits() const { return container_limits(root_.string()); }

private:
    std::filesystem::path root_;
};

TEST_F(Container, None) {
    EXPECT_EQ(limits().memory, 0);
    EXPECT_EQ(limits().cores, 0);
    write("/proc/self/cgroup", "0::/");
    write("/sys/fs/cgroup/cpu.max", "max 100000");
    write("/sys/fs/cgroup/memory.max", "max");
    EXPECT_EQ(limits().memory, 0);
    EXPECT_EQ(limits().cores, 0);
}

TEST_F(Container, TheLeastOfAllGroupsAbove) {
    write("/proc/self/cgroup", "0::/a.slice/b.scope");
    write("/sys/fs/cgroup/a.slice/b.scope/memory.max", "max");
    write("/sys/fs/cgroup/a.slice/memory.max", "4294967296");
    write("/sys/fs/cgroup/a.slice/memory.current", "1073741824");
    write("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "250000 100000");
    write("/sys/fs/cgroup/a.slice/cpu.max", "800000 100000");
    EXPECT_EQ(limits().memory, std::int64_t{4} << 30);
    EXPECT_EQ(limits().memory_used, std::int64_t{1} << 30);
    EXPECT_EQ(limits().cores, 2.5);
}

TEST_F(Container, VersionOne) {
    write("/proc/self/cgroup", "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/");
    write("/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", "536870912");
    write("/sys/fs/cgroup/memory/docker/x/memory.usage_in_bytes", "1048576");
    write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000");
    write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000");
    EXPECT_EQ(limits().memory, 536870912);
    EXPECT_EQ(limits().memory_used, 1048576);
    EXPECT_EQ(limits().cores, 3);
    write("/sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "-1");
    write("/sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000");
    EXPECT_EQ(limits().cores, 3);
}

}  // namespace
}  // namespace pardo::cpu
