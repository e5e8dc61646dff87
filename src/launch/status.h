// src/launch/status.h: the block in which a kernel writes its first failure, and how that becomes an exception.
#pragma once

#include <span>

#include "device/device.h"
#include "lang/lower.h"

namespace pardo::launch {

class Status {
public:
    /// A block of zeros that the host can read.
    device::Buffer* make(device::Queue* queue);
    std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(buffer_->data()); }
    /// Looks at the block after `launched`; the event returned fails if the kernel has written into it.
    /// Who reads what the kernel has written hears of it too: `uses` are the launch's. `name`: the kernel's.
    Event check(device::Queue* queue, const Event& launched, const std::vector<lang::Site>& sites, int rank,
                std::span<const device::BufferUse> uses, const std::string& name);

private:
    Ref<device::Buffer> buffer_;
};

}  // namespace pardo::launch
