// tests/unit/device/caching_allocator_test.cpp: memory that is given out again: classes of sizes, busy blocks, limits, foreign memory.
#include "device/memory/caching_allocator.h"

#include <gtest/gtest.h>

#include <thread>

#include "../message_of.h"
#include "fake_driver.h"

namespace pardo::device {
namespace {

using namespace std::chrono_literals;

TEST(CachingAllocator, ClassesAreAtMostAnEighthApart) {
    for (const std::size_t granule : {64, 128}) {
        const SizeClasses classes(granule);
        std::size_t before = 0;
        for (int c = 0; c < classes.count(); ++c) {
            const std::size_t bytes = classes.bytes(c);
            ASSERT_GT(bytes, before);
            ASSERT_EQ(bytes % granule, 0u);
            ASSERT_EQ(classes.of(bytes), c);
            ASSERT_EQ(classes.of(before + 1), c);
            if (before >= 1024) {
                ASSERT_LE(static_cast<double>(bytes), 1.125 * static_cast<double>(before) + 1);
            }
            before = bytes;
        }
        ASSERT_EQ(classes.of(0), 0);
        ASSERT_EQ(classes.of(~std::size_t{0}), classes.count());
    }
}

TEST(CachingAllocator, SmallBlocksBeginWhereTheMemorySays) {
    const Ref<Queue> q = new_queue();
    CachingAllocator allocator(&fake_device(), std::make_unique<FakeMemory>(512));
    std::vector<Ref<Buffer>> blocks;
    for (const std::size_t bytes : {1, 100, 128, 129, 511, 513, 700, 5000}) {
        for (int i = 0; i < 5; ++i) {
            blocks.push_back(allocator.allocate(bytes, MemoryKind::Device, q.get()));
            EXPECT_EQ(static_cast<CachedBuffer*>(blocks.back().get())->handle_offset() % 512, 0u) << bytes;
        }
    }
}

TEST(CachingAllocator, ABusyBlockIsReusedOnItsQueueAtOnceAndElsewhereLater) {
    FakeDevice& d = fake_device();
    const Ref<Queue> q = new_queue(), other = new_queue();
    Gate gate;
    void* address;
    {
        const Ref<Buffer> b = d.allocate(1 << 20, MemoryKind::Device, q.get());
        address = b->data();
        const BufferUse uses[] = {{b.get(), Access::Write}};
        launch(
            q.get(), [&] { gate.pass(); }, uses);
    }
    const Ref<Buffer> elsewhere = d.allocate(1 << 20, MemoryKind::Device, other.get());
    EXPECT_NE(elsewhere->data(), address);
    {
        const Ref<Buffer> here = d.allocate(1 << 20, MemoryKind::Device, q.get());
        EXPECT_EQ(here->data(), address);
    }
    gate.open = true;
    q->wait();
    EXPECT_EQ(d.allocate(1 << 20, MemoryKind::Device, other.get())->data(), address);
}

TEST(CachingAllocator, ShortMemoryIsWaitedForAndThenSaid) {
    FakeDevice& d = other_fake_device();
    const Ref<Queue> q = d.make(QueueOrder::InOrder, false, false);
    d.trim_memory();
    d.set_memory_limit(d.memory_stats().in_use + d.memory_stats().cached + (4 << 20));
    {
        const Ref<Buffer> b = d.allocate(3 << 20, MemoryKind::Device, q.get());
        const BufferUse uses[] = {{b.get(), Access::Write}};
        launch(
            q.get(), [] { std::this_thread::sleep_for(20ms); }, uses);
    }
    const Ref<Buffer> c = d.allocate(2 << 20, MemoryKind::Shared, q.get());  // fits when the other is complete and given back
    EXPECT_TRUE(c->host_visible());
    const std::string message = message_of([&] { d.allocate(4 << 20, MemoryKind::Device, q.get()); });
    EXPECT_EQ(message.rfind("cannot allocate 4194304 bytes of device memory on fake:1 (", 0), 0u) << message;
    EXPECT_NE(message.find("in use"), std::string::npos);
    d.set_memory_limit(0);
}

TEST(CachingAllocator, ForeignMemoryIsGivenBackAfterItsLastUse) {
    const Ref<Queue> q = new_queue();
    char memory[64];
    Gate gate;
    std::atomic<bool> released{false};
    {
        const Ref<Buffer> b = fake_device().import(memory, 64, MemoryKind::Shared, [&] { released = true; });
        const BufferUse uses[] = {{b.get(), Access::Write}};
        launch(
            q.get(), [&] { gate.pass(); }, uses);
    }
    EXPECT_FALSE(released);
    gate.open = true;
    for (int i = 0; i < 1000 && !released; ++i) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(released);
}

TEST(CachingAllocator, SmallBlocksShareOneOfTheDrivers) {
    FakeDevice& d = fake_device();
    const int before = raw_blocks;
    std::vector<Ref<Buffer>> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(d.allocate(300, MemoryKind::Host, nullptr));
    EXPECT_LE(raw_blocks, before + 1);
    for (std::size_t i = 1; i < blocks.size(); ++i) EXPECT_NE(blocks[i]->data(), blocks[i - 1]->data());
    blocks.clear();
    d.trim_memory();
    EXPECT_LE(raw_blocks, before);
}

}  // namespace
}  // namespace pardo::device
