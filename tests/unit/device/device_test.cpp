// tests/unit/device/device_test.cpp: selection strings, events, callbacks, buffers' uses, failures that are raised once.
#include <pardo/array.h>
#include <pardo/binding/hooks.h>
#include <pardo/device.h>
#include <pardo/error.h>
#include <pardo/event.h>
#include <pardo/queue.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "../message_of.h"
#include "device/device.h"
#include "device/selection/selection.h"

namespace pardo::device {
namespace {

using namespace std::chrono_literals;

// ---- selection, on a made-up machine ----

Device* fake(int n) { return reinterpret_cast<Device*>(static_cast<std::uintptr_t>(n)); }  // never looked into

std::vector<Candidate> machine() {
    return {
        {fake(1), "cpu", DeviceType::Cpu, "cpu:0", "Some CPU", false},   {fake(2), "opencl", DeviceType::Gpu, "opencl:0", "GPU A", false},
        {fake(3), "opencl", DeviceType::Cpu, "opencl:1", "PoCL", false}, {fake(4), "cuda", DeviceType::Gpu, "cuda:0", "GPU A", false},
        {fake(5), "cuda", DeviceType::Gpu, "cuda:1", "GPU B", false},    {fake(6), "null", DeviceType::Gpu, "null:0", "Null device", true}};
}

TEST(Selection, EveryPartIsOptional) {
    const auto all = machine();
    const auto pick = [&](std::string_view s) { return choose(s, all, all, ""); };
    EXPECT_EQ(pick("cpu"), fake(1));
    EXPECT_EQ(pick("cpu:0"), fake(1));
    EXPECT_EQ(pick("gpu"), fake(2));
    EXPECT_EQ(pick("gpu:1"), fake(4));
    EXPECT_EQ(pick("cuda"), fake(4));
    EXPECT_EQ(pick("cuda:1"), fake(5));
    EXPECT_EQ(pick("cuda:gpu:1"), fake(5));
    EXPECT_EQ(pick("opencl:cpu"), fake(3));
    EXPECT_EQ(pick(" OpenCL : CPU : 0 "), fake(3));
    EXPECT_EQ(pick("3"), fake(4));
    EXPECT_EQ(pick("::1"), fake(2));
    EXPECT_EQ(pick("accelerator,cuda:7,gpu"), fake(2));
    EXPECT_EQ(pick("null"), fake(6));
    EXPECT_EQ(pick("null:gpu:0"), fake(6));
}

TEST(Selection, UnknownStringsListWhatExists) {
    const auto all = machine();
    const auto say = [&](std::string_view s) { return message_of([&] { choose(s, all, all, "; opencl: no ICD loader"); }); };
    for (const char* wrong : {"cuad", "gpu:9", "cpu:gpu", "", "cpu:0:0:0", "accelerator", "5", "-1", "cuda::x"}) {
        const std::string text = say(wrong);
        EXPECT_EQ(text.find("Device: no device matches \"" + std::string(wrong) + "\"; devices here: cpu:0 (Some CPU), opencl:0"), 0u)
            << text;
        EXPECT_NE(text.find("no ICD loader"), std::string::npos);
        EXPECT_EQ(text.find("null:0"), std::string::npos) << text;
    }
    EXPECT_NE(say("cuad").find("Did you mean \"cuda\""), std::string::npos) << say("cuad");
    EXPECT_NE(say("gpi").find("\"gpu\""), std::string::npos) << say("gpi");
}

TEST(Selection, AMisspeltAlternativeIsAnError) {
    const auto all = machine();
    const auto say = [&](std::string_view s) { return message_of([&] { choose(s, all, all, ""); }); };
    EXPECT_EQ(say("gpuu,cpu").find("Device: no device matches \"gpuu\" (in \"gpuu,cpu\"); devices here: cpu:0 (Some CPU)"), 0u)
        << say("gpuu,cpu");
    EXPECT_NE(say("gpuu,cpu").find("Did you mean \"cpu\" or \"gpu\"?"), std::string::npos);
    EXPECT_EQ(say("cpu,cuad").find("Device: no device matches \"cuad\""), 0u);
    EXPECT_EQ(say("cpu,").find("Device: no device matches \"\" (in \"cpu,\")"), 0u);
    EXPECT_EQ(say("accelerator,cpu"), "nothing was thrown");
}

TEST(Selection, FilterHidesAndExcludes) {
    const auto all = machine();
    const auto visible = [&](std::string_view text) {
        const Filter filter = parse_filter("PARDO_DEVICES", text, all);
        std::string names;
        for (const Candidate& c : all) {
            if (!c.hidden && filter.admits(c, all)) names += c.id + " ";
        }
        return names;
    };
    EXPECT_EQ(visible(""), "cpu:0 opencl:0 opencl:1 cuda:0 cuda:1 ");
    EXPECT_EQ(visible("cpu"), "cpu:0 ");
    EXPECT_EQ(visible("!opencl"), "cpu:0 cuda:0 cuda:1 ");
    EXPECT_EQ(visible("gpu,!cuda:1"), "opencl:0 cuda:0 ");
    EXPECT_EQ(visible("cpu, !cpu:0"), "");
    EXPECT_NE(message_of([&] { visible("cpx"); }).find("PARDO_DEVICES=cpx"), std::string::npos);
}

TEST(Selection, RealDevices) {
    const Device* cpu = select("cpu");
    EXPECT_EQ(default_device(), cpu);
    EXPECT_EQ(pardo::Device("cpu:0").id(), "cpu:0");
    EXPECT_EQ(pardo::Device(), pardo::Device("cpu:cpu:0"));
    EXPECT_EQ(pardo::get_devices().at(0).info().backend, "cpu");
    EXPECT_EQ(pardo::get_devices("null").size(), 2u);
    for (const auto& d : pardo::get_devices()) EXPECT_NE(d.info().backend, "null");
    EXPECT_NE(message_of([] { pardo::get_devices("vulkan"); }).find("no back end \"vulkan\""), std::string::npos);
    const DeviceInfo& info = pardo::Device().info();
    EXPECT_FALSE(info.name.empty());
    EXPECT_GT(info.max_compute_units, 0);
    EXPECT_GT(info.global_mem_size, 0);
    EXPECT_EQ(pardo::Queue(), pardo::Queue::of(pardo::Device("cpu")));
    EXPECT_FALSE(pardo::Queue() == pardo::Queue(pardo::Device("cpu")));
}

// ---- events ----

TEST(Events, DefaultIsComplete) {
    const Event e;
    EXPECT_TRUE(e.done());
    EXPECT_EQ(e.status(), EventStatus::Complete);
    e.wait();
    EXPECT_TRUE(e.wait_for(0));
    EXPECT_THROW(e.profiling(), Error);
}

TEST(Events, WaitForGivesUpAndSucceeds) {
    const Event e(new EventState(nullptr));
    EXPECT_FALSE(e.wait_for(5));
    std::thread later([&] {
        std::this_thread::sleep_for(10ms);
        e.state()->set_complete();
    });
    EXPECT_TRUE(e.wait_for(10'000));
    later.join();
}

TEST(Events, CallbacksRunOnOneHelperThread) {
    const Event e(new EventState(nullptr));
    std::atomic<int> calls{0};
    std::atomic<std::thread::id> first{}, second{};
    e.add_done_callback([&] {
        first = std::this_thread::get_id();
        ++calls;
    });
    e.add_done_callback([] { throw std::runtime_error("goes to the log"); });
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(calls, 0);
    e.state()->set_complete();
    e.add_done_callback([&] {
        second = std::this_thread::get_id();
        ++calls;
    });
    for (int i = 0; i < 5000 && calls < 2; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(first.load(), second.load());
    EXPECT_NE(first.load(), std::this_thread::get_id());
}

TEST(Events, FailureIsRaisedOnceWithItsLabel) {
    unseen_failures();
    const Event e(new EventState(nullptr));
    e.state()->set_failed(Error(ErrorCode::Index, "take: index 7 is out of range"), {"gather_f64", "model.py:42"});
    EXPECT_EQ(e.status(), EventStatus::Failed);
    EXPECT_EQ(message_of([&] { e.wait(); }), "take: index 7 is out of range (in kernel gather_f64, at model.py:42)");
    EXPECT_EQ(message_of([&] { e.wait(); }), "nothing was thrown");
    EXPECT_TRUE(unseen_failures().empty());
}

TEST(Events, DependentsShareTheFailure) {
    unseen_failures();
    const Event a(new EventState(nullptr)), b(new EventState(nullptr));
    a.state()->set_failed(Error(ErrorCode::Value, "bad"), {"k", ""});
    b.state()->set_failed(a.state()->failure());
    EXPECT_EQ(message_of([&] { b.wait(); }), "bad (in kernel k)");
    EXPECT_EQ(message_of([&] { a.wait(); }), "nothing was thrown");
}

TEST(Events, NothingIsLost) {
    unseen_failures();
    {
        const Event e(new EventState(nullptr));
        e.state()->set_failed(Error(ErrorCode::Value, "lost"), {"", "a.py:1"});
    }
    EXPECT_EQ(unseen_failures(), std::vector<std::string>{"lost (at a.py:1)"});
    EXPECT_TRUE(unseen_failures().empty());
}

// ---- buffers ----

struct PlainBuffer final : Buffer {
    using Buffer::Buffer;
};

TEST(Buffers, RememberUnfinishedUses) {
    unseen_failures();
    Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 64));
    EXPECT_FALSE(b->busy());
    const Event read(new EventState(nullptr)), write(new EventState(nullptr));
    b->note_read(read);
    b->note_write(write);
    EXPECT_TRUE(b->busy());
    std::vector<Event> for_read, for_write, others;
    b->collect_for_read({}, for_read, others);
    b->collect_for_write(for_write);
    EXPECT_EQ(for_read.size(), 1u);
    EXPECT_EQ(for_write.size(), 2u);
    read.state()->set_complete();
    for_write.clear();
    b->collect_for_write(for_write);
    EXPECT_EQ(for_write.size(), 1u);
    write.state()->set_failed(Error(ErrorCode::Value, "bad"), {});
    EXPECT_EQ(message_of([&] { b->wait_for_read(); }), "bad");  // a failed write reaches the reader
    EXPECT_EQ(message_of([&] { b->wait_for_read(); }), "bad");  // again: nothing was written
    EXPECT_TRUE(b->busy());
    const Event anew(new EventState(nullptr));
    b->note_write(anew);
    anew.state()->set_complete();
    EXPECT_EQ(message_of([&] { b->wait_for_read(); }), "nothing was thrown");
    EXPECT_FALSE(b->busy());
}

/// What a reader of the bytes raises.
std::string read_of(Buffer& b, std::size_t begin, std::size_t end) {
    return message_of([&] { b.wait_for_read(View::bytes(begin, end - begin)); });
}

Event failed_event(const char* why) {
    const Event e(new EventState(nullptr));
    e.state()->set_failed(Error(ErrorCode::Value, why), {});
    return e;
}

const std::string fine = "nothing was thrown";

TEST(Buffers, FailForTheBytesThatTheWorkWasToWrite) {
    const Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 64));
    b->note_write(failed_event("first"), Access::ReadWrite, View::bytes(16, 16));
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(read_of(*b, 0, 16), fine);
        EXPECT_EQ(read_of(*b, 32, 64), fine);
        EXPECT_EQ(read_of(*b, 31, 40), "first");
        EXPECT_EQ(read_of(*b, 0, 64), "first");
    }
    b->note_write(Event(), Access::Write, View::bytes(16, 8));
    EXPECT_EQ(read_of(*b, 16, 24), fine);
    EXPECT_EQ(read_of(*b, 24, 32), "first");
    b->note_write(Event(), Access::WriteSome, View::bytes(0, 64));  // nobody knows what that leaves out
    EXPECT_EQ(read_of(*b, 24, 32), "first");
    b->note_write(failed_event("second"), Access::Write, View::bytes(28, 36));
    EXPECT_EQ(read_of(*b, 24, 28), "first");
    EXPECT_EQ(read_of(*b, 28, 29), "second");
    b->accept(View::bytes(0, 30));
    EXPECT_EQ(read_of(*b, 0, 30), fine);
    EXPECT_EQ(read_of(*b, 30, 31), "second");
    b->note_write(Event(), Access::Write, View::bytes(30, 34));
    EXPECT_EQ(read_of(*b, 0, 64), fine);
    EXPECT_FALSE(b->busy());
}

TEST(Buffers, FailForTheElementsOfStridedViews) {
    const Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 64));
    const std::int64_t shape[] = {4}, steps[] = {2}, back[] = {-2}, block[] = {4, 2}, rows[] = {4, 1};
    const View even{0, 8, shape, steps, 0}, odd{56, 8, shape, back, 0}, odd_too{8, 4, block, rows, 0}, all{0, 8, block, rows, 4};
    b->note_write(failed_event("even"), Access::ReadWrite, even);
    const auto read = [&](const View& view) { return message_of([&] { b->wait_for_read(view); }); };
    EXPECT_EQ(read(odd), fine);
    EXPECT_EQ(read(even), "even");
    EXPECT_EQ(read(odd_too), fine);
    EXPECT_EQ(read(all), "even");
    EXPECT_EQ(read_of(*b, 8, 16), fine);
    b->note_write(Event(), Access::Write, odd);
    EXPECT_EQ(read(even), "even");
    b->note_write(Event(), Access::Write, even);
    EXPECT_EQ(read_of(*b, 0, 64), fine);
}

TEST(Buffers, AWriteInProgressCountsForWhatLaterOnesLeaveOfIt) {
    const Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 64));
    const Event slow(new EventState(nullptr)), half(new EventState(nullptr));
    b->note_write(slow, Access::ReadWrite);
    b->note_write(half, Access::Write, View::bytes(0, 32));
    half.state()->set_complete();
    slow.state()->set_failed(Error(ErrorCode::Value, "slow"), {});
    EXPECT_EQ(read_of(*b, 0, 32), fine);
    EXPECT_EQ(read_of(*b, 31, 33), "slow");
}

/// How many events a writer of the bytes waits for, beside which others may be written.
std::size_t waited_for(Buffer& b, std::size_t begin, std::size_t end) {
    std::vector<Event> events;
    b.collect_for_write(View::bytes(begin, end - begin), events, [](const Event&) { return false; });
    return events.size();
}

TEST(Buffers, AWriterWaitsForWritesBeneathOneThatFailedWhenItWasSubmitted) {
    const Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 64));
    const Event slow(new EventState(nullptr));
    b->note_write(slow, Access::Write, View::bytes(0, 32), 0, true);
    b->note_write(failed_event("at once"), Access::Write, View::bytes(16, 32), b->noted(), true);
    EXPECT_EQ(waited_for(*b, 16, 32), 1u);
    EXPECT_EQ(waited_for(*b, 32, 64), 0u);
    slow.state()->set_complete();
    EXPECT_EQ(read_of(*b, 32, 48), "at once");
}

TEST(Buffers, AWriteThatACoveringOneDidNotWaitForIsRemembered) {
    const Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 64));
    const Event slow(new EventState(nullptr)), other(new EventState(nullptr));
    b->note_write(slow, Access::Write, View::bytes(0, 32), 0, true);
    const std::uint64_t covered = b->noted();  // a writer beside it collects, and is noted after the next one
    b->note_write(failed_event("at once"), Access::Write, View::bytes(0, 40), b->noted(), true);
    b->note_write(other, Access::Write, View::bytes(48, 16), covered, true);
    EXPECT_EQ(waited_for(*b, 0, 32), 1u);
    slow.state()->set_complete();
    other.state()->set_complete();
}

TEST(Buffers, AWriterOfOtherElementsIsNoOneToWaitForInsteadOfReaders) {
    const Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 64));
    const Event reader(new EventState(nullptr)), part(new EventState(nullptr)), all(new EventState(nullptr));
    b->note_read(reader);
    b->note_write(part, Access::Write, View::bytes(0, 32), b->noted(), true);
    EXPECT_EQ(waited_for(*b, 32, 64), 1u);
    EXPECT_EQ(waited_for(*b, 0, 32), 2u);
    b->note_write(all, Access::Write, {}, b->noted(), true);
    EXPECT_EQ(waited_for(*b, 32, 64), 1u);
    for (const Event& e : {reader, part, all}) e.state()->set_complete();
}

TEST(Buffers, OrderMakesNoWriterStandForThoseOfOtherElements) {
    const Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 64));
    const Event first(new EventState(nullptr));
    const auto in_order = [](const Event&) { return true; };
    b->note_write(first, Access::Write, View::bytes(0, 32), 0, true);
    b->drop_writes(View::bytes(32, 32), in_order);
    EXPECT_EQ(waited_for(*b, 0, 32), 1u);
    b->drop_writes(View::bytes(0, 48), in_order);
    EXPECT_EQ(waited_for(*b, 0, 32), 0u);
    first.state()->set_complete();
}

TEST(Buffers, MemoryThatOthersMayWriteRaisesOnce) {
    const Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 64));
    b->set_externally_writable();
    b->note_write(failed_event("theirs"), Access::ReadWrite);
    EXPECT_TRUE(b->failed_write({}).state() != nullptr);  // asking is not reading
    EXPECT_EQ(read_of(*b, 0, 8), "theirs");
    EXPECT_EQ(read_of(*b, 0, 64), fine);
}

TEST(Failures, ThatNobodySawAreFoundWhenTheLastHandleGoes) {
    unseen_failures();
    static std::atomic<int> calls{0};
    calls = 0;
    set_lost_failure_hook([] { ++calls; });
    Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 64));
    b->note_write(failed_event("lost"), Access::Write);
    EXPECT_EQ(calls, 0);
    EXPECT_TRUE(take_unseen_failures(Unseen::Lost).empty());
    b = nullptr;
    EXPECT_EQ(calls, 1);
    const std::vector<UnseenFailure> lost = take_unseen_failures(Unseen::Lost);
    ASSERT_EQ(lost.size(), 1u);
    EXPECT_EQ(lost[0].error.message(), "lost");
    EXPECT_EQ(lost[0].error.code(), ErrorCode::Value);
    EXPECT_TRUE(unseen_failures().empty());
    EXPECT_NE(message_of([] { FailureLog::of_no_queue().raise(); }), fine);  // a wait raises it nevertheless
    (void)message_of([] { failed_event("seen").wait(); });
    EXPECT_EQ(calls, 1);
    set_lost_failure_hook(nullptr);
}

TEST(Buffers, CompleteEventsCostNothing) {
    Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 0));
    b->note_read(Event());
    b->note_write(Event());
    EXPECT_FALSE(b->busy());
}

TEST(Location, HookNamesTheLine) {
    EXPECT_EQ(current_location().str(), "");
    set_location_hook([] { return std::make_shared<const std::string>("user.py:3"); });
    EXPECT_EQ(current_location().str(), "user.py:3");
    set_location_hook(nullptr);
}

}  // namespace
}  // namespace pardo::device
