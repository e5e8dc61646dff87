// tests/unit/device/device_test.cpp: selection strings, events, callbacks, buffers' uses, failures that are raised once.
#include <pardo/array.h>
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
    take_unacknowledged_failures();
    const Event e(new EventState(nullptr));
    e.state()->set_failed(Error(ErrorCode::Index, "take: index 7 is out of range"), {"gather_f64", "model.py:42"});
    EXPECT_EQ(e.status(), EventStatus::Failed);
    EXPECT_EQ(message_of([&] { e.wait(); }), "take: index 7 is out of range (in kernel gather_f64, at model.py:42)");
    EXPECT_EQ(message_of([&] { e.wait(); }), "nothing was thrown");
    EXPECT_TRUE(take_unacknowledged_failures().empty());
}

TEST(Events, DependentsShareTheFailure) {
    take_unacknowledged_failures();
    const Event a(new EventState(nullptr)), b(new EventState(nullptr));
    a.state()->set_failed(Error(ErrorCode::Value, "bad"), {"k", ""});
    b.state()->set_failed(a.state()->failure());
    EXPECT_EQ(message_of([&] { b.wait(); }), "bad (in kernel k)");
    EXPECT_EQ(message_of([&] { a.wait(); }), "nothing was thrown");
}

TEST(Events, NothingIsLost) {
    take_unacknowledged_failures();
    {
        const Event e(new EventState(nullptr));
        e.state()->set_failed(Error(ErrorCode::Value, "lost"), {"", "a.py:1"});
    }
    EXPECT_EQ(take_unacknowledged_failures(), std::vector<std::string>{"lost (at a.py:1)"});
    EXPECT_TRUE(take_unacknowledged_failures().empty());
}

// ---- buffers ----

struct PlainBuffer final : Buffer {
    using Buffer::Buffer;
};

TEST(Buffers, RememberUnfinishedUses) {
    take_unacknowledged_failures();
    Ref<Buffer> b(new PlainBuffer(nullptr, MemoryKind::Device, nullptr, 0));
    EXPECT_FALSE(b->busy());
    const Event read(new EventState(nullptr)), write(new EventState(nullptr));
    b->note_read(read);
    b->note_write(write);
    EXPECT_TRUE(b->busy());
    std::vector<Event> for_read, for_write;
    b->collect_for_read(for_read);
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
