// tests/unit/backend_cpu/memory_test.cpp: the caching allocator: blocks never overlap, sizes add up, limits hold, pending work is
// respected.
#include "backend/cpu/memory.h"
#include "base/size_text.h"

#include <pardo/error.h>

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <thread>

namespace pardo::cpu {
namespace {

using device::Buffer;
using device::BufferUse;

device::Device* cpu_device() { return device::select("cpu"); }

// A load that ends in the same twelve bits as a store shortly before waits for it.
TEST(Memory, LargeBlocksBeginAtDifferentPlacesOfAPage) {
    device::Device* d = cpu_device();
    for (const std::size_t bytes : {std::size_t{100'000}, std::size_t{8'000'000}}) {
        std::vector<Ref<Buffer>> live;
        std::vector<std::uintptr_t> places;
        for (int k = 0; k < 4; ++k) {
            d->trim_memory();
            live.push_back(d->allocate(bytes, MemoryKind::Device, d->queue()));
            std::memset(live.back()->data(), k, bytes);
            const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(live.back()->data()) % 4096;
            for (const std::uintptr_t other : places) {
                EXPECT_GE((place - other) % 4096, 512u);
                EXPECT_GE((other - place) % 4096, 512u);
            }
            places.push_back(place);
        }
    }
    d->trim_memory();
}

TEST(Memory, RandomAllocationsNeverOverlap) {
    device::Device* d = cpu_device();
    device::Queue* q = d->queue();
    const std::int64_t before = d->memory_stats().in_use;
    std::mt19937 random(7);
    std::vector<std::pair<Ref<Buffer>, unsigned char>> live;
    std::map<std::uintptr_t, std::size_t> ranges;
    const auto check = [](const Buffer& b, unsigned char mark) {
        const auto* bytes = static_cast<const unsigned char*>(b.data());
        for (std::size_t i : {std::size_t{0}, b.bytes() / 2, b.bytes() - 1}) ASSERT_EQ(bytes[i], mark);
    };
    for (int step = 0; step < 20'000; ++step) {
        if (live.size() > 200 || (!live.empty() && random() % 2)) {
            const std::size_t k = random() % live.size();
            check(*live[k].first, live[k].second);
            ranges.erase(reinterpret_cast<std::uintptr_t>(live[k].first->data()));
            live[k] = std::move(live.back());
            live.pop_back();
        } else {
            const std::size_t bytes = 1 + random() % (std::size_t{1} << (random() % (step % 50 == 0 ? 22 : 14) + 1));
            Ref<Buffer> b = d->allocate(bytes, MemoryKind::Device, q);
            const auto start = reinterpret_cast<std::uintptr_t>(b->data());
            ASSERT_EQ(start % 64, 0u);
            ASSERT_EQ(b->bytes(), bytes);
            const auto next = ranges.lower_bound(start);
            if (next != ranges.end()) {
                ASSERT_LE(start + bytes, next->first);
            }
            if (next != ranges.begin()) {
                ASSERT_LE(std::prev(next)->first + std::prev(next)->second, start);
            }
            ranges[start] = bytes;
            const auto mark = static_cast<unsigned char>(random());
            std::memset(b->data(), mark, bytes);
            live.emplace_back(std::move(b), mark);
        }
        if (step % 5000 == 4999) d->trim_memory();
    }
    live.clear();
    const MemoryStats s = d->memory_stats();
    EXPECT_EQ(s.in_use, before);
    EXPECT_GT(s.cached, 0);
    EXPECT_GE(s.peak, s.in_use);
    d->trim_memory();
    EXPECT_EQ(d->memory_stats().in_use, before);
    if (before == 0) {
        EXPECT_EQ(d->memory_stats().cached, 0);
    }
}

TEST(Memory, FreedBlocksAreReused) {
    device::Device* d = cpu_device();
    for (std::size_t bytes : {std::size_t{100}, std::size_t{100'000}, std::size_t{10} << 20}) {
        Ref<Buffer> b = d->allocate(bytes, MemoryKind::Device, d->queue());
        const void* at = b->data();
        b->set_externally_writable();
        b->set_read_only();
        b = nullptr;
        b = d->allocate(bytes - 3, MemoryKind::Shared, d->queue());
        EXPECT_EQ(b->data(), at);
        EXPECT_FALSE(b->externally_writable());
        EXPECT_FALSE(b->read_only());
        EXPECT_EQ(b->kind(), MemoryKind::Shared);
        if (bytes >= (2u << 20)) {
            EXPECT_LT(reinterpret_cast<std::uintptr_t>(at) % (2 << 20), 4096u);  // huge pages serve it
        }
    }
}

TEST(Memory, LimitsAndImpossibleSizes) {
    device::Device* d = cpu_device();
    device::Queue* q = d->queue();
    const auto refuse = [&](std::size_t bytes) {
        try {
            d->allocate(bytes, MemoryKind::Device, q);
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ErrorCode::Memory);
            return e.message();
        }
        return std::string("nothing was thrown");
    };
    for (std::size_t bytes : {~std::size_t{0}, ~std::size_t{0} / 2, std::size_t{1} << 60, std::size_t{1} << 46}) {
        EXPECT_EQ(refuse(bytes).find("cannot allocate " + std::to_string(bytes) + " bytes on cpu:0 ("), 0u);
    }
    d->trim_memory();
    const std::int64_t in_use = d->memory_stats().in_use;
    d->set_memory_limit(in_use + (1 << 20));
    EXPECT_NE(refuse(2 << 20).find("limit " + size_text(in_use + (1 << 20))), std::string::npos);
    {
        const Ref<Buffer> fits = d->allocate(900'000, MemoryKind::Device, q);
        EXPECT_NE(refuse(900'000).find("free"), std::string::npos);
    }
    { const Ref<Buffer> other_class = d->allocate(600'000, MemoryKind::Device, q); }  // the cached block makes room
    EXPECT_LE(d->memory_stats().in_use + d->memory_stats().cached, in_use + (1 << 20));
    d->set_memory_limit(0);
    { const Ref<Buffer> b = d->allocate(2 << 20, MemoryKind::Device, q); }
    d->reset_memory_peak();
    EXPECT_EQ(d->memory_stats().peak, d->memory_stats().in_use);
}

TEST(Memory, BlocksOfUnfinishedWorkGoToTheirOwnQueueOnly) {
    device::Device* d = cpu_device();
    const Ref<device::Queue> q = d->create_queue(QueueOrder::InOrder, false), other = d->create_queue(QueueOrder::InOrder, false);
    constexpr std::size_t bytes = 345'678;
    Ref<Buffer> a = d->allocate(bytes, MemoryKind::Device, q.get());
    const void* at = a->data();
    std::atomic<bool> go{false};
    const BufferUse use[] = {{a.get(), device::Access::Write}};
    const Event e = q->host_task(
        [&] {
            while (!go) std::this_thread::yield();
        },
        use, {"slow", ""}, 1e9);
    a = nullptr;  // while the task still uses it
    const Ref<Buffer> b = d->allocate(bytes, MemoryKind::Device, other.get());
    EXPECT_NE(b->data(), at);
    Ref<Buffer> c = d->allocate(bytes, MemoryKind::Device, q.get());
    EXPECT_EQ(c->data(), at);
    EXPECT_TRUE(c->busy());
    // Another queue that writes it first has to wait.
    const BufferUse again[] = {{c.get(), device::Access::Write}};
    bool late = false;
    const Event f = other->host_task([&] { late = go; }, again, {"later", ""}, 0);
    EXPECT_FALSE(f.done());
    go = true;
    f.wait();
    EXPECT_TRUE(late);
    EXPECT_TRUE(e.done());
}

TEST(Memory, ImportedMemoryIsLetGoAfterTheLastUse) {
    device::Device* d = cpu_device();
    const Ref<device::Queue> q = d->create_queue(QueueOrder::InOrder, false);
    double memory[4] = {1, 2, 3, 4};
    std::atomic<int> released{0};
    Ref<Buffer> b = d->import(memory, sizeof memory, MemoryKind::Host, [&] { ++released; });
    EXPECT_EQ(b->data(), memory);
    b = nullptr;
    EXPECT_EQ(released, 1);
    b = d->import(memory, sizeof memory, MemoryKind::Host, [&] { ++released; });
    std::atomic<bool> go{false};
    const BufferUse use[] = {{b.get(), device::Access::Read}};
    const Event e = q->host_task(
        [&] {
            while (!go) std::this_thread::yield();
        },
        use, {"reader", ""}, 1e9);
    b = nullptr;
    EXPECT_EQ(released, 1);
    go = true;
    e.wait();
    for (int i = 0; i < 5000 && released < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(released, 2);
}

TEST(Memory, ManyThreads) {
    device::Device* d = cpu_device();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([d, t] {
            std::mt19937 random(static_cast<unsigned>(t));
            std::vector<Ref<Buffer>> live(32);
            for (int i = 0; i < 3000; ++i) {
                Ref<Buffer>& slot = live[random() % live.size()];
                slot = d->allocate(1 + random() % 9000, MemoryKind::Device, d->queue());
                static_cast<char*>(slot->data())[0] = static_cast<char>(t);
                if (i % 1000 == 0) d->trim_memory();
            }
            for (auto& b : live) {
                if (b) {
                    EXPECT_EQ(static_cast<char*>(b->data())[0], t);
                }
            }
        });
    }
    for (auto& t : threads) t.join();
}

}  // namespace
}  // namespace pardo::cpu
