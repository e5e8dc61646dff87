// tests/unit/backend_opencl/support.h: every test runs on every OpenCL device of the machine.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <pardo/error.h>

#include "../message_of.h"
#include "backend/opencl/opencl.h"
#include "device/device.h"

namespace pardo::opencl {

/// Those that have the way to memory that PARDO_OPENCL_MEMORY asks for.
inline std::vector<device::Device*> devices() {
    std::vector<device::Device*> all = device::visible_devices("opencl");
    std::erase_if(all, [](device::Device* d) {
        try {
            memory_path(d);
            return false;
        } catch (const Error&) {
            return true;
        }
    });
    return all;
}

/// Why there is no device; shown with the skip.
inline std::string no_devices() {
    for (const auto& backend : device::backends()) {
        if (backend->name() == "opencl" && !backend->unavailable().empty()) return backend->unavailable();
    }
    return "no OpenCL device has the memory that PARDO_OPENCL_MEMORY asks for";
}

class OpenCl : public testing::Test {
protected:
    void SetUp() override {
        if (devices().empty()) GTEST_SKIP() << no_devices();
    }
    /// Calls `f` for each device; failures name it.
    template <class F> void on_each(F f) {
        for (device::Device* d : devices()) {
            SCOPED_TRACE(d->id() + " " + d->info().platform + ", memory " + memory_path(d));
            f(d);
        }
    }
};

}  // namespace pardo::opencl
