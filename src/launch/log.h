// src/launch/log.h: the memory into which a kernel prints, and how that reaches the printer.
#pragma once

#include <span>
#include <string>

#include "device/device.h"
#include "lang/lower.h"

namespace pardo::launch {

class Log {
public:
    /// An empty log that the host can read.
    device::Buffer* make(device::Queue* queue);
    std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(buffer_->data()); }
    /// Prints after `launched`, in the order of the items, and of each item in the order of its prints. `name`: the kernel's.
    Event print(device::Queue* queue, const Event& launched, const std::vector<lang::Print>& prints,
                std::span<const device::BufferUse> uses, const std::string& name);

private:
    Ref<device::Buffer> buffer_;
};

}  // namespace pardo::launch
