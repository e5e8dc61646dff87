// src/launch/block.cpp: zeros before the kernel, and a look on the host after it.
#include "launch/block.h"

#include <cstring>

namespace pardo::launch {

device::Buffer* Block::make(device::Queue* queue, std::size_t words) {
    words_ = words;
    const std::size_t bytes = words * sizeof(std::int64_t);
    // Where the host sees it nobody has to wait for a copy; a kernel that does not fail does not touch it.
    const MemoryKind kind = queue->device()->info().has_usm_host_allocations ? MemoryKind::Host : MemoryKind::Device;
    buffer_ = queue->device()->obtain(bytes, kind, queue);
    const std::int64_t zero = 0;
    (void)queue->fill(buffer_.get(), 0, bytes, &zero, sizeof zero);
    return buffer_.get();
}

Event Block::read(device::Queue* queue, const Event& launched, std::span<const device::BufferUse> uses, const std::string& name,
                  std::function<void(Words)> reader) const {
    std::vector<std::int64_t> words(words_);
    const std::size_t bytes = words_ * sizeof(std::int64_t);
    if (!buffer_->host_visible()) {  // here the host waits: reading takes a copy
        queue->read(words.data(), buffer_.get(), 0, bytes);
        reader(words);
        return launched;
    }
    std::vector<device::BufferUse> after;
    for (const device::BufferUse& use : uses)
        if (use.access != device::Access::Read) after.push_back({use.buffer, device::Access::ReadWrite});
    const Event depends[] = {launched};
    return queue->host_task(
        [buffer = buffer_, words = std::move(words), bytes, reader = std::move(reader)]() mutable {
            std::memcpy(words.data(), buffer->data(), bytes);
            reader(words);
        },
        after, {name, {}}, 50, depends);
}

}  // namespace pardo::launch
