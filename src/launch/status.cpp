// src/launch/status.cpp: reads the status block on the device's host side, after the kernel.
#include "launch/status.h"

#include <array>
#include <cstring>

#include <pardo/error.h>

namespace pardo::launch {
namespace {

using Words = std::array<std::int64_t, lang::Lowered::status_words>;

/// The message with the kernel's values in it, the item, and the line.
Error failure_of(const Words& words, const std::vector<lang::Site>& sites, int rank) {
    const auto number = static_cast<std::size_t>(words[0] - 1);
    if (number >= sites.size()) return {ErrorCode::Internal, "a kernel's status block is damaged"};
    const lang::Site& site = sites[number];
    std::string text;
    for (std::size_t k = 0; k < site.message.size(); ++k) {
        const bool value =
            site.message[k] == '$' && k + 1 < site.message.size() && site.message[k + 1] >= '0' && site.message[k + 1] <= '2';
        if (value) {
            text += std::to_string(words[static_cast<std::size_t>(1 + (site.message[k + 1] - '0'))]);
            ++k;
        } else {
            text += site.message[k];
        }
    }
    text += " (item ";
    for (int d = 0; d < rank; ++d) text += (d ? ", " : rank > 1 ? "(" : "") + std::to_string(words[static_cast<std::size_t>(4 + d)]);
    text += rank > 1 ? "))" : ")";
    return lang::problem(site.code, *site.function, site.place, text);
}

}  // namespace

device::Buffer* Status::make(device::Queue* queue) {
    const std::size_t bytes = sizeof(Words);
    buffer_ = queue->device()->obtain(bytes, MemoryKind::Device, queue);
    const std::int64_t zero = 0;
    (void)queue->fill(buffer_.get(), 0, bytes, &zero, sizeof zero);
    return buffer_.get();
}

Event Status::check(device::Queue* queue, const Event& launched, const std::vector<lang::Site>& sites, int rank,
                    std::span<const device::BufferUse> uses, const std::string& name) {
    const Event depends[] = {launched};
    if (!buffer_->host_visible()) {  // here the host waits: reading takes a copy
        Words words{};
        queue->read(words.data(), buffer_.get(), 0, sizeof words);
        if (words[0] != 0) throw failure_of(words, sites, rank);
        return launched;
    }
    std::vector<device::BufferUse> after;
    for (const device::BufferUse& use : uses)
        if (use.access != device::Access::Read) after.push_back({use.buffer, device::Access::ReadWrite});
    return queue->host_task(
        [buffer = buffer_, sites, rank] {
            Words words;
            std::memcpy(words.data(), buffer->data(), sizeof words);
            if (words[0] != 0) throw failure_of(words, sites, rank);
        },
        after, {name, {}}, 50, depends);
}

}  // namespace pardo::launch
