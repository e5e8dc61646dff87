// src/device/memory/status_buffer.h: memory into which a kernel writes for the host: its first failure, what it prints.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"

namespace pardo::device {

class StatusBuffer {
public:
    using Words = std::span<const std::int64_t>;
    using Reader = std::function<void(Words)>;

    /// So many words, all zero.
    Buffer* make(Queue* queue, std::size_t words);
    /// True where `read` waits, because the host does not see the words: no lock may be held then.
    bool blocks() const { return !buffer_->host_visible(); }
    /// For Launch::check: hands the words to `reader`. Empty where the host does not see them; there `read` comes after the launch.
    std::function<void()> check(Reader reader) const;
    /// Hands the words to `reader` after `launched`, as work of its own; the event returned fails if that throws. Readers of what the
    /// kernel has written fail too: `uses` are the launch's. `name`: the kernel's. Waits where the host does not see the words.
    Event read(Queue* queue, const Event& launched, std::span<const BufferUse> uses, const std::string& name, Reader reader) const {
        return read(queue, launched, uses, name, std::move(reader), nullptr);
    }
    /// The same for a reader that calls the user's code, which may take as long as it likes, and may wait for other work: it is a task as
    /// Queue::host_task's. Out of order it runs after `before`, however that ends.
    Event read_by_user(Queue* queue, const Event& launched, std::span<const BufferUse> uses, const std::string& name, Reader reader,
                       const Event& before) const {
        return read(queue, launched, uses, name, std::move(reader), &before);
    }
    /// As read, by a task of the host, without a wait.
    Event read_after(Queue* queue, const Event& launched, std::span<const BufferUse> uses, const std::string& name, Reader reader) const {
        return after(queue, launched, uses, name, std::move(reader), nullptr);
    }
    /// Hands the words to `reader` by a task of the host: what it uses, and `depends`, says when it runs, and what fails with it.
    Event read_later(Queue* queue, std::span<const BufferUse> uses, const Label& label, Reader reader,
                     std::span<const Event> depends = {}) const;

private:
    // `before`: null where the library's own code reads.
    Event read(Queue* queue, const Event& launched, std::span<const BufferUse> uses, const std::string& name, Reader reader,
               const Event* before) const;
    Event after(Queue* queue, const Event& launched, std::span<const BufferUse> uses, const std::string& name, Reader reader,
                const Event* before) const;
    std::function<void()> fetch_and_check(Queue* queue, Reader reader) const;

    Ref<Buffer> buffer_;
    std::size_t words_ = 0;
};

}  // namespace pardo::device
