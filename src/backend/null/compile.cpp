// src/backend/null/compile.cpp: programs of the null device are their own text.
#include "backend/null/device.h"
#include "base/counters.h"

namespace pardo::null {

Ref<device::Program> NullDevice::compile(const ir::Kernel& kernel, device::ShapeClass) {
    std::function<void(const ir::Kernel&)> hook;
    {
        std::lock_guard lock(mutex_);
        hook = hook_;
    }
    if (hook) hook(kernel);
    counters.compiled.fetch_add(1, std::memory_order_relaxed);
    return new NullProgram(kernel.name, ir::print(kernel));
}

std::string NullDevice::inspect(const ir::Kernel& kernel, device::ShapeClass, std::string_view what) {
    if (what == "ir") return ir::print(kernel);
    throw Error(ErrorCode::Value, "inspect: the null device has only \"ir\", not \"" + std::string(what) + "\"");
}

}  // namespace pardo::null
