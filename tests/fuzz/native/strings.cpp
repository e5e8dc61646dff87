// tests/fuzz/native/strings.cpp: any text where a selection string, a filter, an aspect or a variable of the environment is expected. It is
// read, or refused by an Error of code Value with a text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <pardo/device.h>
#include <pardo/error.h>

#include "base/env.h"
#include "device/selection/selection.h"
#include "jit/disk.h"

namespace {

using namespace pardo;

void require(bool holds) {
    if (!holds) std::abort();
}

template <class F> void read_or_refuse(F&& read) {
    try {
        read();
    } catch (const Error& e) {
        require(e.code() == ErrorCode::Value && !e.message().empty());
    }
}

/// Devices that are told apart by their addresses alone; nobody looks into them.
const std::vector<device::Candidate>& devices() {
    static char places[6];
    const auto at = [](int i) { return reinterpret_cast<device::Device*>(&places[i]); };
    static const std::vector<device::Candidate> all = {
        {at(0), "cpu", DeviceType::Cpu, "cpu:0", "a processor"},   {at(1), "opencl", DeviceType::Cpu, "opencl:0", "PoCL"},
        {at(2), "opencl", DeviceType::Gpu, "opencl:1", "a GPU"},   {at(3), "cuda", DeviceType::Gpu, "cuda:0", "a GPU"},
        {at(4), "cuda", DeviceType::Gpu, "cuda:1", "another GPU"}, {at(5), "null", DeviceType::Cpu, "null:0", "nothing", true},
    };
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
    const std::vector<device::Candidate>& all = devices();
    std::vector<device::Candidate> visible;
    read_or_refuse([&] {
        const device::Filter filter = device::parse_filter("PARDO_DEVICES", text, all);
        for (const device::Candidate& c : all) {
            const bool admitted = filter.admits(c, all);
            require(!admitted || filter.may_admit(c.backend, c.hidden));
            if (admitted) visible.push_back(c);
        }
        (void)filter.counts_over_back_ends();
    });
    read_or_refuse([&] {
        device::Device* found = device::choose(text, all, data[0] & 1 ? visible : all, "");
        require(found != nullptr);
    });
    for (const device::Alternative& a : device::parse_alternatives(text)) {
        if (a.pattern) (void)device::find(*a.pattern, all, visible);
    }
    read_or_refuse([&] { (void)parse_aspect(text); });
    if (text.find('\0') != std::string::npos) return 0;
    ::setenv("PARDO_FUZZED", text.c_str(), 1);
    read_or_refuse([&] { (void)env_flag("PARDO_FUZZED", true); });
    if ((data[0] & 0xf0) == 0) {  // opens folders, which takes longer than all of the above
        ::setenv("PARDO_CACHE_SIZE", text.c_str(), 1);
        ::setenv("PARDO_CACHE_DIR", "/dev/null", 1);
        const jit::Disk disk;
        require(!disk.state().enabled);
    }
    return 0;
}
