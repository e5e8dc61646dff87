// src/backend/null/device.cpp: the null device: facts, queues and the list of what it was given.
#include "backend/null/device.h"

namespace pardo::null {

NullDevice::NullDevice(device::Backend* backend) : NullDevice(backend, {}) {
    info_.backend = "null";
    info_.platform = "pardo null";
    info_.name = "Null device";
    info_.vendor = "pardo";
    info_.driver_version = PARDO_VERSION;
    info_.type = DeviceType::Gpu;
    info_.max_compute_units = 1;
    info_.max_work_group_size = 1024;
    info_.global_mem_size = info_.max_mem_alloc_size = std::int64_t{1} << 40;
    info_.local_mem_size = 48 << 10;
    info_.native_vector_bytes = 64;
}

Ref<device::Queue> NullDevice::create_queue(QueueOrder order, bool profiling) { return new NullQueue(this, order, profiling); }

std::function<void()> NullDevice::work_of(const device::Launch&) {
    return [] {};
}

void NullDevice::record(Record r) {
    std::lock_guard lock(mutex_);
    records_.push_back(std::move(r));
}

std::vector<Record> NullDevice::take_records() {
    std::lock_guard lock(mutex_);
    return std::exchange(records_, {});
}

void NullDevice::fail_next(Error error) {
    std::lock_guard lock(mutex_);
    injected_ = std::move(error);
}

void NullDevice::on_compile(std::function<void(const ir::Kernel&)> hook) {
    std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
}

std::optional<Error> NullDevice::take_injected() {
    std::lock_guard lock(mutex_);
    return std::exchange(injected_, std::nullopt);
}

}  // namespace pardo::null
