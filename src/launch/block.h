// src/launch/block.h: memory into which a kernel writes for the host: its first failure, what it prints.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"

namespace pardo::launch {

class Block {
public:
    using Words = std::span<const std::int64_t>;

    /// So many words, all zero.
    device::Buffer* make(device::Queue* queue, std::size_t words);
    std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(buffer_->data()); }
    /// Hands the words to `reader` after `launched`; the event returned fails if that throws. Who reads what the kernel has written hears
    /// of it too: `uses` are the launch's. `name`: the kernel's.
    Event read(device::Queue* queue, const Event& launched, std::span<const device::BufferUse> uses, const std::string& name,
               std::function<void(Words)> reader) const;

private:
    Ref<device::Buffer> buffer_;
    std::size_t words_ = 0;
};

}  // namespace pardo::launch
