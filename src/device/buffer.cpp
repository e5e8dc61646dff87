// src/device/buffer.cpp: which unfinished work uses a block of memory.
#include "device/buffer.h"

#include <algorithm>

#include "device/device.h"

namespace pardo::device {
namespace {

/// A failed write still matters: what reads the memory has to fail for the same reason, until somebody has heard of it.
bool matters_to_readers(const Event& e) {
    if (!e.done()) return true;
    const std::shared_ptr<Failure> failure = e.state() ? e.state()->failure() : nullptr;
    return failure && !failure->heard.load(std::memory_order_acquire);
}

/// On an in-order queue the newer event stands for the older one; otherwise both are kept.
void add(std::vector<Event>& uses, const Event& event) {
    Queue* queue = event.state()->queue();
    if (queue && queue->order() == QueueOrder::InOrder) {
        for (Event& e : uses) {
            if (e.state()->queue() != queue || e.status() == EventStatus::Failed) continue;
            e = event;
            return;
        }
    }
    uses.push_back(event);
}

void wait_for_all(const std::vector<Event>& events) {
    for (const Event& e : events) e.wait();
}

}  // namespace

void Buffer::prune() {
    std::erase_if(reads_, [](const Event& e) { return e.done(); });
    std::erase_if(writes_, [](const Event& e) { return !matters_to_readers(e); });
    busy_.store(!reads_.empty() || !writes_.empty(), std::memory_order_release);
}

void Buffer::note_read(const Event& event) {
    if (event.done()) return;
    std::lock_guard lock(mutex_);
    prune();
    add(reads_, event);
    busy_.store(true, std::memory_order_release);
}

void Buffer::note_write(const Event& event) {
    if (event.status() == EventStatus::Complete) return;
    std::lock_guard lock(mutex_);
    prune();
    add(writes_, event);
    busy_.store(true, std::memory_order_release);
}

void Buffer::collect_for_read(std::vector<Event>& out) {
    if (!busy()) return;
    std::lock_guard lock(mutex_);
    prune();
    out.insert(out.end(), writes_.begin(), writes_.end());
}

void Buffer::collect_for_write(std::vector<Event>& out) {
    if (!busy()) return;
    std::lock_guard lock(mutex_);
    prune();
    out.insert(out.end(), writes_.begin(), writes_.end());
    out.insert(out.end(), reads_.begin(), reads_.end());
}

void Buffer::wait_for_read() {
    if (!busy()) return;
    std::vector<Event> events;
    collect_for_read(events);
    wait_for_all(events);
}

void Buffer::wait_for_write() {
    if (!busy()) return;
    std::vector<Event> events;
    collect_for_write(events);
    wait_for_all(events);
}

}  // namespace pardo::device
