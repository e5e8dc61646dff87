// src/backend/null/compile.cpp: programs of the null device are their own text.
#include "backend/null/device.h"
#include "base/counters.h"
#include "ir/hash.h"

namespace pardo::null {
namespace {

Hash128 key_of(const ir::Kernel& kernel, device::ShapeClass shape) {
    const Hash128 both[] = {ir::hash(kernel), {shape, 0}};
    return hash128(both, sizeof both);
}

}  // namespace

Ref<device::Program> NullDevice::compile(const ir::Kernel& kernel, device::ShapeClass shape) {
    std::function<void(const ir::Kernel&)> hook;
    {
        std::lock_guard lock(mutex_);
        hook = hook_;
    }
    if (hook) hook(kernel);
    counters.compiled.fetch_add(1, std::memory_order_relaxed);
    return keep(kernel, shape, new NullProgram(kernel.name, ir::print(kernel)));
}

Ref<device::Program> NullDevice::known_program(const ir::Kernel& kernel, device::ShapeClass shape) {
    const Hash128 key = key_of(kernel, shape);
    const std::lock_guard lock(mutex_);
    const auto known = programs_.find(key);
    return known != programs_.end() ? known->second : nullptr;
}

Ref<device::Program> NullDevice::keep(const ir::Kernel& kernel, device::ShapeClass shape, const Ref<device::Program>& program) {
    const Hash128 key = key_of(kernel, shape);
    const std::lock_guard lock(mutex_);
    programs_.insert_or_assign(key, program);
    return program;
}

std::string NullDevice::inspect(const ir::Kernel& kernel, device::ShapeClass, std::string_view what) {
    if (what == "ir") return ir::print(kernel);
    throw Error(ErrorCode::Value, "inspect: the null device has only \"ir\", not \"" + std::string(what) + "\"");
}

}  // namespace pardo::null
