// src/backend/cpu/cpu.h: what other layers may use of the CPU back end: its threads, and its registration.
#pragma once

#include <cstdint>
#include <functional>

#include "device/device.h"

namespace pardo::cpu {

/// Registers the CPU back end; called once by the registry.
void register_backend();
/// True for devices of this back end (library routines for the CPU ask).
bool is_cpu(const device::Device* device) noexcept;
/// The CPU, whether PARDO_DEVICES shows it or not.
device::Device* whole_cpu();

/// Runs f(begin, end) over [0, count) in even static parts on the device's arena, serially when `cost_ns` (all of it, one core) is under 20
/// µs, the caller is already inside a part, or the device is another back end's. For library routines, inside a host_task.
void parallel_for(device::Device* device, std::int64_t count, double cost_ns, const std::function<void(std::int64_t, std::int64_t)>& f);
/// Threads of the device's arena; 1 for a device of another back end.
int thread_count(const device::Device* device) noexcept;
/// True of a sub-device: its work stays on its cores, so it is not for threads of other libraries.
bool has_own_cores(const device::Device* device) noexcept;

}  // namespace pardo::cpu
