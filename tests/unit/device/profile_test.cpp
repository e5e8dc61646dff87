// tests/unit/device/profile_test.cpp: what open profiles see, and what they keep.
#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/profile.h>
#include <pardo/queue.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "device/profile.h"

namespace pardo::device {
namespace {

Device* cpu() { return select("cpu"); }

Event task(
    Queue* queue, const char* name, double cost_ns, std::function<void()> f = [] {}) {
    return queue->host_task(std::move(f), {}, {name, {}, {100, 50, 7}}, cost_ns);
}

std::vector<std::string> names(const Profile& p) {
    std::vector<std::string> all;
    for (const ProfileRecord& r : p.records()) all.push_back(r.name);
    return all;
}
using Names = std::vector<std::string>;

TEST(Profiles, AreClosedAtFirst) { EXPECT_FALSE(recording()); }

TEST(Profiles, SeeWorkThatRunsAtOnceAndWorkThatIsQueued) {
    for (const double cost : {10.0, 1e6}) {
        const Ref<Queue> queue = cpu()->create_queue(QueueOrder::InOrder, false);
        task(queue.get(), "before", cost);
        Profile p;
        const Event event = task(queue.get(), "inside", cost);
        p.stop();
        event.wait();
        if (event.state()) {
            EXPECT_GE(event.profiling().end, event.profiling().start);
        }
        task(queue.get(), "after", cost);
        const std::vector<ProfileRecord> all = p.records();
        ASSERT_EQ(all.size(), 1u);
        const ProfileRecord& r = all[0];
        EXPECT_EQ(r.activity, Activity::HostTask);
        EXPECT_EQ(r.name, "inside");
        EXPECT_EQ(r.device, "cpu:0");
        EXPECT_EQ(r.queue, "cpu:0 queue 1");
        EXPECT_EQ(r.bytes_read, 100);
        EXPECT_EQ(r.bytes_written, 50);
        EXPECT_EQ(r.operations, 7);
        EXPECT_FALSE(r.failed);
        EXPECT_LE(p.started(), r.queued);
        EXPECT_LE(r.queued, r.start);
        EXPECT_LE(r.start, r.end);
    }
}

TEST(Profiles, SeveralSeeEverythingWhileTheyAreOpen) {
    Queue* queue = cpu()->queue();
    Profile outer;
    task(queue, "a", 10);
    {
        Profile inner;
        std::thread([&] { task(queue, "b", 10); }).join();
        inner.stop();
        inner.stop();  // again does nothing
        EXPECT_TRUE(recording());
        EXPECT_EQ(names(inner), Names{"b"});
    }
    task(queue, "c", 10);
    EXPECT_EQ(names(outer), (Names{"a", "b", "c"}));
    outer.stop();
    EXPECT_FALSE(recording());
}

TEST(Profiles, QueuesHaveNamesOfTheirOwn) {
    const Ref<Queue> one = cpu()->create_queue(QueueOrder::OutOfOrder, false), two = cpu()->create_queue(QueueOrder::InOrder, true);
    Profile p;
    task(one.get(), "x", 10);
    task(two.get(), "y", 10);
    task(cpu()->queue(), "z", 10);
    std::vector<std::string> queues;
    for (const ProfileRecord& r : p.records()) queues.push_back(r.queue);
    EXPECT_EQ(queues, (Names{"cpu:0 queue 1 (out of order)", "cpu:0 queue 2", "cpu:0"}));
}

TEST(Profiles, CopiesTellTheirBytes) {
    Queue* queue = cpu()->queue();
    const Ref<Buffer> a = cpu()->allocate(4096, MemoryKind::Device, queue), b = cpu()->allocate(4096, MemoryKind::Device, queue);
    char host[100] = {};
    Profile p;
    queue->fill(a.get(), 0, 4096, "x", 1);
    queue->copy(b.get(), 0, a.get(), 0, 1000);
    queue->write(a.get(), 0, host, 100);
    queue->read(host, b.get(), 0, 60);
    queue->wait();
    const auto all = p.records();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].activity, Activity::Fill);
    EXPECT_EQ(all[0].bytes_written, 4096);
    EXPECT_EQ(all[1].activity, Activity::Copy);
    EXPECT_EQ(all[1].bytes_read, 1000);
    EXPECT_EQ(all[1].bytes_written, 1000);
    EXPECT_EQ(all[2].activity, Activity::Write);
    EXPECT_EQ(all[2].bytes_written, 100);
    EXPECT_EQ(all[3].activity, Activity::Read);
    EXPECT_EQ(all[3].bytes_read, 60);
}

TEST(Profiles, FailuresStayToBeRaised) {
    const Ref<Queue> queue = cpu()->create_queue(QueueOrder::InOrder, false);
    Profile p;
    const Event event = task(queue.get(), "broken", 1e6, [] { throw Error(ErrorCode::Value, "no"); });
    const auto all = p.records();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_TRUE(all[0].failed);
    EXPECT_THROW(event.wait(), Error);
}

TEST(Profiles, KeepTheFirstRecordsAndCountTheRest) {
    Queue* queue = cpu()->queue();
    Profile p(3), none(0);
    for (const char* name : {"a", "b", "c", "d", "e"}) task(queue, name, 10);
    EXPECT_EQ(names(p), (Names{"a", "b", "c"}));
    EXPECT_EQ(p.dropped(), 2u);
    EXPECT_EQ(none.dropped(), 5u);
}

TEST(Profiles, LetGoOfEventsThatAreComplete) {
    const Ref<Queue> queue = cpu()->create_queue(QueueOrder::InOrder, true);
    Profile p;
    for (int i = 0; i < 5000; ++i) task(queue.get(), "t", 10);
    EXPECT_TRUE(p.unfinished().empty());
    EXPECT_EQ(p.records().size(), 5000u);
}

TEST(Profiles, TheNullDeviceReportsToo) {
    Queue* queue = select("null")->queue();
    Profile p;
    task(queue, "t", 10);
    queue->barrier();
    EXPECT_EQ(names(p), Names{"t"});
}

}  // namespace
}  // namespace pardo::device
