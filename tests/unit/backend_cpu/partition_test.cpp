// tests/unit/backend_cpu/partition_test.cpp: parts of the CPU: cores that share caches, threads that stay on theirs, work side by side.
#include <pardo/array.h>
#include <pardo/error.h>
#include <pardo/ops.h>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "backend/cpu/cpu.h"
#include "backend/cpu/device.h"
#include "backend/cpu/threads/pinned_thread_pool.h"
#include "backend/cpu/threads/topology.h"

namespace pardo::cpu {
namespace {

using Lists = std::vector<CoreList>;

// ---- topology, of a made-up machine ----

/// Two memory nodes of four cores with two threads each; a third cache for two cores. Threads of core c are c and c + 8.
class Machine : public testing::Test {
protected:
    void SetUp() override {
        char name[] = "/tmp/pardo_topology_XXXXXX";
        root_ = mkdtemp(name);
        write("node/online", "0-1");
        write("node/node0/cpulist", "0-3,8-11");
        write("node/node1/cpulist", "4-7,12-15");
        for (int cpu = 0; cpu < 16; ++cpu) {
            const int core = cpu % 8, pair = core / 2 * 2;
            const std::string folder = "cpu/cpu" + std::to_string(cpu) + "/";
            const std::string siblings = std::to_string(core) + "," + std::to_string(core + 8);
            write(folder + "topology/thread_siblings_list", siblings);
            cache(folder, 0, "1", "Data", siblings);
            cache(folder, 1, "1", "Instruction", siblings);
            cache(folder, 2, "3", "Unified",
                  std::to_string(pair) + "-" + std::to_string(pair + 1) + "," + std::to_string(pair + 8) + "-" + std::to_string(pair + 9));
            all_.push_back(cpu);
        }
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void cache(const std::string& folder, int index, const char* level, const char* type, const std::string& shared) {
        const std::string at = folder + "cache/index" + std::to_string(index) + "/";
        write(at + "level", level);
        write(at + "type", type);
        write(at + "shared_cpu_list", shared);
    }
    void write(const std::string& name, const std::string& text) {
        const std::filesystem::path path = root_ + "/" + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text << "\n";
    }

    std::string root_;
    CoreList all_;
};

TEST_F(Machine, NeighboursShareMost) {
    EXPECT_EQ(by_neighbourhood(all_, root_), (CoreList{0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15}));
    EXPECT_EQ(by_neighbourhood({9, 0, 4}, root_), (CoreList{0, 9, 4}));
}

TEST_F(Machine, DomainsAreThoseOfTheSystem) {
    EXPECT_EQ(domains_of(all_, "numa", root_), (Lists{{0, 1, 2, 3, 8, 9, 10, 11}, {4, 5, 6, 7, 12, 13, 14, 15}}));
    EXPECT_EQ(domains_of({0, 1, 2, 8, 9}, "L3_cache", root_), (Lists{{0, 1, 8, 9}, {2}}));
    EXPECT_EQ(domains_of({0, 1, 8}, "L1_cache", root_), (Lists{{0, 8}, {1}}));
    EXPECT_TRUE(domains_of(all_, "L2_cache", root_).empty());
    EXPECT_EQ(next_partitionable(all_, root_), "numa");
    EXPECT_EQ(next_partitionable({0, 1, 2, 3}, root_), "L3_cache");
    EXPECT_EQ(next_partitionable({0, 8}, root_), "");
    EXPECT_EQ(domains_offered(all_, root_), (std::vector<std::string>{"numa", "L3_cache", "L1_cache", "next_partitionable"}));
    EXPECT_EQ(domains_offered({0, 8}, root_), (std::vector<std::string>{"numa", "L3_cache", "L1_cache"}));
}

TEST(Topology, ReadsListsOfCores) {
    EXPECT_EQ(parse_core_list("0-3,8"), (CoreList{0, 1, 2, 3, 8}));
    EXPECT_EQ(parse_core_list("5"), (CoreList{5}));
    EXPECT_TRUE(parse_core_list("").empty());
}

// ---- threads ----

TEST(Binding, NestsAndIsLifted) {
    const CoreList before = cores_of_thread();
    if (before.size() < 2) GTEST_SKIP() << "one core";
    const CoreList one = {before[0]}, other = {before[1]};
    {
        const Bound outer(one);
        EXPECT_EQ(cores_of_thread(), one);
        {
            const Bound inner(other);
            EXPECT_EQ(cores_of_thread(), other);
            const Bound lifted(any_core());
            EXPECT_EQ(cores_of_thread(), before);
        }
        EXPECT_EQ(cores_of_thread(), one);
    }
    EXPECT_EQ(cores_of_thread(), before);
}

TEST(PinnedThreadPools, RunEachPartOnceAndRaise) {
    const CoreList cores = cores_of_thread();
    PinnedThreadPool& pool = *new PinnedThreadPool(cores);  // its threads stay
    for (int round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> hits(static_cast<std::size_t>(1 + round % 7));
        const auto f = [](void* data, int part) { ++(*static_cast<std::vector<std::atomic<int>>*>(data))[static_cast<std::size_t>(part)]; };
        pool.run(static_cast<int>(hits.size()), f, &hits);
        for (const auto& h : hits) ASSERT_EQ(h, 1);
    }
    EXPECT_THROW(pool.run(
                     3,
                     [](void*, int part) {
                         if (part == 1) throw Error(ErrorCode::Value, "part one");
                     },
                     nullptr),
                 Error);
    EXPECT_EQ(cores_of_thread(), cores);
}

// ---- sub-devices ----

std::vector<Device> halves() {
    const Device cpu("cpu");
    const int n = cpu.info().max_compute_units;
    return n < 2 ? std::vector<Device>() : cpu.create_sub_devices({.units = n / 2, .counts = {}, .domain = {}});
}

CoreList cores_of(const Device& d) {
    CoreList cores = static_cast<CpuDevice*>(d.impl())->cores();
    std::sort(cores.begin(), cores.end());
    return cores;
}

TEST(SubDevices, AreKeptAndHaveNamesThatSelectThem) {
    const std::vector<Device> parts = halves();
    if (parts.empty()) GTEST_SKIP() << "one core";
    ASSERT_GE(parts.size(), 2u);
    EXPECT_EQ(halves(), parts);
    const Device cpu("cpu");
    const std::string units = std::to_string(cpu.info().max_compute_units / 2);
    EXPECT_EQ(parts[1].id(), "cpu:0/" + units + ".1");
    EXPECT_EQ(Device(parts[1].id()), parts[1]);
    EXPECT_EQ(Device("gpu:77,cpu/" + units + ".1"), parts[1]);
    EXPECT_EQ(parts[0].parent(), cpu);
    EXPECT_EQ(parts[0].info().max_compute_units, cpu.info().max_compute_units / 2);
    EXPECT_EQ(parts[0].info().partition_type_property, "partition_equally");
    for (const char* wrong : {"cpu/", "cpu/1", "cpu/1.", "cpu/1.x", "cpu/1.99999", "cpu/x.0"}) EXPECT_THROW(Device{wrong}, Error) << wrong;
    EXPECT_EQ(Device("cpu/999999.0,cpu:0"), cpu);  // what cannot be cut so is passed over
    CoreList first = cores_of(parts[0]), second = cores_of(parts[1]), both;
    std::set_intersection(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(both));
    EXPECT_TRUE(both.empty());
}

TEST(SubDevices, CountsAreChecked) {
    const Device cpu("cpu");
    const int n = cpu.info().max_compute_units;
    if (n < 2) GTEST_SKIP() << "one core";
    const auto cut = [&](std::vector<int> counts) {
        return cpu.create_sub_devices({.units = 0, .counts = std::move(counts), .domain = {}});
    };
    EXPECT_EQ(cut({1, n - 1}).size(), 2u);
    EXPECT_EQ(cut({1}).size(), 1u);
    EXPECT_THROW(cut({n, 1}), Error);
    EXPECT_THROW(cut({0, 1}), Error);
    EXPECT_THROW(cpu.create_sub_devices({.units = n + 1, .counts = {}, .domain = {}}), Error);
    EXPECT_THROW(cpu.create_sub_devices({}), Error);
    // One core cannot be cut further.
    EXPECT_THROW(cut({1})[0].create_sub_devices({.units = 1, .counts = {}, .domain = {}}), Error);
}

TEST(SubDevices, DomainsCoverAllCores) {
    const Device cpu("cpu");
    if (cpu.info().max_compute_units < 2) GTEST_SKIP() << "one core";
    for (const std::string& domain : cpu.info().partition_affinity_domains.value()) {
        int cores = 0;
        for (const Device& d : cpu.create_sub_devices({.units = 0, .counts = {}, .domain = domain})) {
            cores += d.info().max_compute_units;
            EXPECT_EQ(d.info().partition_type_affinity_domain, domain);
        }
        EXPECT_EQ(cores, cpu.info().max_compute_units) << domain;
    }
}

TEST(SubDevices, WorkStaysOnTheirCores) {
    const std::vector<Device> parts = halves();
    if (parts.empty()) GTEST_SKIP() << "one core";
    const CoreList before = cores_of_thread();
    for (const Device& d : parts) {
        std::mutex mutex;
        std::set<CoreList> seen;
        const auto look = [&] {
            std::lock_guard lock(mutex);
            seen.insert(cores_of_thread());
        };
        device::Queue* queue = d.impl()->queue();
        const auto task = [&, impl = d.impl()] {
            look();
            parallel_for(impl, 64, 1e9, [&](std::int64_t, std::int64_t) { look(); });
        };
        for (int i = 0; i < 5; ++i) queue->host_task(task, {}, {"look", {}}, 1e9).wait();
        EXPECT_EQ(seen, std::set<CoreList>{cores_of(d)});
    }
    EXPECT_EQ(cores_of_thread(), before);  // who waited and lent a hand is free again
    std::set<CoreList> whole;
    std::mutex mutex;
    Device("cpu")
        .impl()
        ->queue()
        ->host_task(
            [&] {
                parallel_for(Device("cpu").impl(), 64, 1e9, [&](std::int64_t, std::int64_t) {
                    std::lock_guard lock(mutex);
                    whole.insert(cores_of_thread());
                });
            },
            {}, {"look", {}}, 1e9)
        .wait();
    EXPECT_EQ(whole, std::set<CoreList>{before});  // the whole device is not bound by its parts
}

TEST(SubDevices, ComputeSideBySide) {
    const std::vector<Device> parts = halves();
    if (parts.empty()) GTEST_SKIP() << "one core";
    // Each waits for the other to have started: it would never end if one had to be done before the other begins.
    std::atomic<int> running{0};
    std::vector<Event> events;
    for (int i = 0; i < 2; ++i) {
        events.push_back(parts[static_cast<std::size_t>(i)].impl()->queue()->host_task(
            [&] {
                ++running;
                while (running < 2) std::this_thread::yield();
            },
            {}, {"meet", {}}, 1e9));
    }
    for (const Event& e : events) e.wait();
    std::vector<std::thread> threads;
    std::atomic<int> right{0};
    for (const Device& d : parts) {
        threads.emplace_back([&right, d] {
            const std::int64_t shape[] = {300'000};
            for (int i = 0; i < 20; ++i) {
                const Array x = iota(shape, 0, Queue::of(d));
                right += reduce(Reduction::Sum, multiply(x, 3)).item().as_int() == 3 * (300'000LL * 299'999 / 2);
            }
        });
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(right, 20 * static_cast<int>(parts.size()));
}

TEST(SubDevices, ShareTheMemory) {
    const std::vector<Device> parts = halves();
    if (parts.empty()) GTEST_SKIP() << "one core";
    const std::int64_t shape[] = {100'000};
    const Array x = iota(shape, 0, Queue::of(parts[0])), y = x.to_device(parts[1]), z = y.to_device(Device("cpu"));
    EXPECT_EQ(reduce(Reduction::Sum, z).item().as_int(), 100'000LL * 99'999 / 2);
    EXPECT_THROW(add(x, y), Error);
    EXPECT_EQ(parts[0].impl()->memory_stats().in_use, Device("cpu").impl()->memory_stats().in_use);
    EXPECT_GT(parts[0].free_memory().value_or(1), 0);
}

}  // namespace
}  // namespace pardo::cpu
