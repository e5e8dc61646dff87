// tests/unit/device/registry_test.cpp: who is asked for devices, aspects and the choice by them, and how cuts are written.
#include <pardo/binding/hooks.h>
#include <pardo/device.h>
#include <pardo/error.h>

#include <gtest/gtest.h>

#include "../message_of.h"
#include "device/device.h"
#include "device/selection/partition.h"
#include "device/selection/selection.h"

namespace pardo::device {
namespace {

/// Finds nothing, and counts how often it had to look.
class CountingBackend final : public Backend {
public:
    std::string_view name() const noexcept override { return "opencl"; }
    const std::vector<Platform>& platforms() override {
        ++asked;
        return none;
    }
    std::string unavailable() override { return "made up for a test"; }
    static inline int asked = 0;

private:
    std::vector<Platform> none;
};

TEST(Registry, OnlyThoseThatAQuestionIsAboutAreAsked) {
    (void)backends();
    register_backend(std::make_unique<CountingBackend>());
    CountingBackend::asked = 0;
    (void)select("cpu");
    (void)select("cpu:cpu:0");
    (void)select("cpu,gpu");
    (void)default_device();
    (void)pardo::get_devices("cpu");
    (void)pardo::get_devices("null");
    (void)pardo::get_platforms("cpu");
    (void)pardo::get_devices_in_use();
    EXPECT_EQ(CountingBackend::asked, 0);
    (void)pardo::get_devices();
    EXPECT_EQ(CountingBackend::asked, 1);
    EXPECT_NE(message_of([] { select("opencl:3"); }).find("opencl: made up for a test"), std::string::npos);
}

TEST(Registry, DevicesInUseAreThoseWithAQueue) {
    const pardo::Device cpu("cpu");
    (void)cpu.impl()->queue();
    const std::vector<pardo::Device> used = pardo::get_devices_in_use();
    EXPECT_NE(std::find(used.begin(), used.end(), cpu), used.end());
}

TEST(Registry, TheDefaultCanBeSetAndGivenBack) {
    const pardo::Device before, null("null");
    pardo::set_default_device(null);
    EXPECT_EQ(pardo::Device(), null);
    pardo::set_default_device_hook([]() -> std::optional<pardo::Device> { return pardo::Device("cpu"); });
    EXPECT_EQ(pardo::Device(), pardo::Device("cpu"));
    pardo::set_default_device_hook(nullptr);
    EXPECT_EQ(pardo::Device(), null);
    pardo::set_default_device(std::nullopt);
    EXPECT_EQ(pardo::Device(), before);
}

TEST(Filter, TellsWhichBackEndsNeedNotBeAsked) {
    const auto may = [](std::string_view text, std::string_view backend) {
        return parse_filter("PARDO_DEVICES", text, {}).may_admit(backend, false);
    };
    EXPECT_TRUE(may("", "cuda"));
    EXPECT_FALSE(may("cpu", "cuda"));
    EXPECT_TRUE(may("cpu", "cpu"));
    EXPECT_TRUE(may("gpu", "cuda"));
    EXPECT_FALSE(may("gpu,!cuda", "cuda"));
    EXPECT_TRUE(may("!cuda:1", "cuda"));
    EXPECT_TRUE(may("!gpu", "cuda"));
    EXPECT_TRUE(parse_filter("PARDO_DEVICES", "gpu:1", {}).counts_over_back_ends());
    EXPECT_FALSE(parse_filter("PARDO_DEVICES", "cuda:1,cpu", {}).counts_over_back_ends());
    EXPECT_TRUE(parse_filter("PARDO_DEVICES", "cpu", {}).may_admit("null", true));
}

TEST(Filter, IndicesWithoutABackEndCountWhatIsVisible) {
    Device* const first = reinterpret_cast<Device*>(std::uintptr_t{8});  // never looked into
    Device* const second = reinterpret_cast<Device*>(std::uintptr_t{16});
    const std::vector<Candidate> all = {{first, "opencl", DeviceType::Gpu, "opencl:0", "A", false},
                                        {second, "cuda", DeviceType::Gpu, "cuda:0", "B", false}};
    const std::vector<Candidate> visible = {all[1]};
    EXPECT_EQ(find(*parse_pattern("gpu:0", {}), all, visible), second);
    EXPECT_EQ(find(*parse_pattern("gpu:1", {}), all, visible), nullptr);
    EXPECT_EQ(find(*parse_pattern("cuda:0", {}), all, visible), second);
    EXPECT_EQ(find(*parse_pattern("opencl:0", {}), all, visible), nullptr);
}

TEST(Aspects, HaveNamesThatReadBack) {
    for (const Aspect a : all_aspects()) EXPECT_EQ(parse_aspect(aspect_name(a)), a);
    EXPECT_EQ(parse_aspect("fp64"), Aspect::Fp64);
    EXPECT_EQ(aspect_name(Aspect::UsmSystemAllocations), "usm_system_allocations");
    EXPECT_NE(
        message_of([] { parse_aspect("fp128", "select_device"); }).find("select_device: \"fp128\" is not an aspect; there are cpu, gpu"),
        std::string::npos);
    const pardo::Device cpu("cpu");
    EXPECT_TRUE(cpu.has_aspect(Aspect::Cpu));
    EXPECT_FALSE(cpu.has_aspect(Aspect::Gpu));
    EXPECT_TRUE(cpu.has_aspect(Aspect::Fp64));
}

TEST(Aspects, ChooseADeviceOrSayWhatEachLacks) {
    EXPECT_EQ(pardo::select_device({Aspect::Cpu, Aspect::Fp64}), pardo::Device("cpu"));
    const std::string text = message_of([] { pardo::select_device({Aspect::Accelerator, Aspect::Fp64}, {Aspect::Cpu}); });
    EXPECT_NE(text.find("select_device: no device will do: cpu:0 ("), std::string::npos) << text;
    EXPECT_NE(text.find("lacks accelerator, has cpu"), std::string::npos) << text;
    EXPECT_GT(pardo::Device("null").score(), pardo::Device("cpu").score());  // a GPU
}

TEST(Platforms, HoldVisibleDevices) {
    const std::vector<pardo::Platform> platforms = pardo::get_platforms("cpu");
    ASSERT_EQ(platforms.size(), 1u);
    EXPECT_EQ(platforms[0].name, "pardo CPU");
    EXPECT_EQ(platforms[0].devices.at(0), pardo::Device("cpu"));
    EXPECT_NE(message_of([] { pardo::get_platforms("vulkan"); }).find("get_platforms: no back end \"vulkan\""), std::string::npos);
}

TEST(Partitions, AreWrittenAndRead) {
    for (const char* text : {"4", "3+1", "3+", "numa", "L3_cache", "next_partitionable"}) {
        const auto p = parse_partition(text);
        ASSERT_TRUE(p) << text;
        EXPECT_EQ(p->text(), text);
    }
    EXPECT_EQ(parse_partition("l3")->domain, "L3_cache");
    EXPECT_EQ(parse_partition("3+")->counts, std::vector<int>{3});
    for (const char* text : {"", "+", "x", "3+x", "-1", "L5_cache"}) EXPECT_FALSE(parse_partition(text)) << text;
}

TEST(Partitions, AreRefusedWhereADeviceOffersNone) {
    const pardo::Device null("null");
    const auto say = [&](const Partition& p) { return message_of([&] { null.create_sub_devices(p); }); };
    EXPECT_EQ(say({.units = 1, .counts = {}, .domain = {}}),
              "create_sub_devices: null:0 cannot be cut by partition_equally; it offers nothing");
    EXPECT_EQ(say({.units = 0, .counts = {}, .domain = "numa"}),
              "create_sub_devices: null:0 cannot be cut by partition_by_affinity_domain; it offers nothing");
    EXPECT_NE(say({.units = 0, .counts = {}, .domain = "socket"}).find("\"socket\" is not an affinity domain; there are numa, L4_cache"),
              std::string::npos);
    EXPECT_FALSE(null.parent());
}

}  // namespace
}  // namespace pardo::device
