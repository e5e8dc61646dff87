// src/device/memory/status_buffer.cpp: zeros before the kernel, and a look on the host after it.
#include "device/memory/status_buffer.h"

#include <cstring>

namespace pardo::device {

Buffer* StatusBuffer::make(Queue* queue, std::size_t words) {
    words_ = words;
    const std::size_t bytes = words * sizeof(std::int64_t);
    // Where the host sees it no copy has to be waited for; a kernel that does not fail does not touch it.
    const MemoryKind kind = queue->device()->info().has_usm_host_allocations ? MemoryKind::Host : MemoryKind::Device;
    // Of the library's own: results are made of no such memory, so its kind is not noted; nor is it the user's allocator's.
    buffer_ = queue->device()->allocate(bytes, kind, queue);
    const std::int64_t zero = 0;
    (void)queue->fill(buffer_.get(), 0, bytes, &zero, sizeof zero);
    return buffer_.get();
}

std::function<void()> StatusBuffer::check(Reader reader) const {
    if (!buffer_->host_visible()) return {};
    return [buffer = buffer_, words = words_, reader = std::move(reader)] {
        reader(Words(static_cast<const std::int64_t*>(buffer->data()), words));
    };
}

Event StatusBuffer::read(Queue* queue, const Event& launched, std::span<const BufferUse> uses, const std::string& name, Reader reader,
                         const Event* before) const {
    EventState* const state = launched.state();
    // What it waits for of the user's code may have to come from this very thread.
    const bool must_not_wait = state && !buffer_->host_visible() && state->waits_for_host();
    if (buffer_->host_visible() || must_not_wait) return after(queue, launched, uses, name, std::move(reader), before);
    std::vector<std::int64_t> words(words_);
    try {
        if (state) state->wait_done();
        if (failure_of(launched)) return launched;
        queue->read(words.data(), buffer_.get(), 0, words_ * sizeof(std::int64_t));
    } catch (...) {  // interrupted: the kernel goes on, and what it says is not to be lost
        (void)after(queue, launched, uses, name, std::move(reader), before);
        throw;
    }
    try {
        reader(words);
    } catch (const Error& e) {  // late all the same: see docs/design/errors.md
        const Event failed(new EventState(queue));
        failed.state()->set_failed(e, {name, current_location()});
        for (const BufferUse& use : uses)
            if (writes(use)) (void)use.buffer->note_write(failed, use.access, use.view);
        return failed;
    }
    return launched;
}

Event StatusBuffer::after(Queue* queue, const Event& launched, std::span<const BufferUse> uses, const std::string& name, Reader reader,
                          const Event* before) const {
    const Event depends[] = {launched};
    std::vector<BufferUse> written;
    for (const BufferUse& use : uses)
        if (writes(use)) written.push_back({use.buffer, Access::ReadWrite, use.view});
    if (!before) {
        if (buffer_->host_visible()) return queue->host_task(check(std::move(reader)), written, {name, {}}, 50, depends);
        return read_later(queue, written, {name, current_location()}, std::move(reader), depends);
    }
    const auto read = buffer_->host_visible() ? check(std::move(reader)) : fetch_and_check(queue, std::move(reader));
    const auto task = [read]() -> std::shared_ptr<void> { return read(), nullptr; };
    Event event = user_task(queue, task, {name, current_location()}, depends, *before);
    for (const BufferUse& use : written) (void)use.buffer->note_write(event, use.access, use.view);
    return event;
}

std::function<void()> StatusBuffer::fetch_and_check(Queue* queue, Reader reader) const {
    return [queue, buffer = buffer_, count = words_, reader = std::move(reader)] {
        std::vector<std::int64_t> words(count);
        queue->fetch(words.data(), buffer.get(), 0, count * sizeof(std::int64_t));
        reader(words);
    };
}

Event StatusBuffer::read_later(Queue* queue, std::span<const BufferUse> uses, const Label& label, Reader reader,
                               std::span<const Event> depends) const {
    return queue->host_task(fetch_and_check(queue, std::move(reader)), uses, label, 50, depends);
}

}  // namespace pardo::device
