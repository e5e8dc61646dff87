// src/array/external.cpp: memory and semaphores that a device has in common with other drivers, on arrays and queues.
#include <pardo/binding/external.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <mutex>

#include "device/device.h"
#include "device/external.h"
#include "graph/node.h"
#include "plan/force.h"

namespace pardo {

std::string external_lack(const Device& device, ExternalUse use) { return device.impl()->external().lacks(use); }
ExternalMemory make_external(const Device& device, std::size_t bytes) { return device.impl()->external().make(bytes); }
int export_external(const Device& device, std::uintptr_t address) { return device.impl()->external().export_fd(address); }
std::uintptr_t open_external(const Device& device, int fd, std::size_t bytes, bool dedicated) {
    return device.impl()->external().open(fd, bytes, dedicated);
}
void close_external(const Device& device, std::uintptr_t address) noexcept { device.impl()->external().close(address); }

bool same_open_file(int a, int b) noexcept {
    constexpr int compare_files = 0;  // KCMP_FILE
    const auto self = static_cast<long>(getpid());
    return syscall(SYS_kcmp, self, self, compare_files, static_cast<long>(a), static_cast<long>(b)) == 0;
}

void leave_memory(const Array& x) {
    x.force();
    const Array held(x.node());
    device::Buffer* const buffer = held.node()->buffer.get();
    const std::lock_guard guard(graph::state_of(held.node()->queue.get()).lock);
    plan::force_readers(buffer, plan::Compile::Unlocked);
    buffer->add_external_writer();
}

void take_memory(const Array& x, ListOf<Event> since) {
    device::Buffer* const buffer = x.node()->buffer.get();
    for (const Event& e : since) buffer->note_write(e, device::Access::WriteSome);
    buffer->drop_external_writer();
}

std::vector<Event> uses_of_memory(const Array& x) {
    std::vector<Event> uses;
    x.node()->buffer->collect_for_write(uses);
    return uses;
}

void finish_memory(const Array& x) {
    x.force();
    const Array held(x.node());
    device::Buffer* const buffer = held.node()->buffer.get();
    std::vector<Event> uses;
    buffer->collect_for_write(uses);
    for (const Event& e : uses) e.state()->wait_done();
    buffer->wait_for_read();
}

ExternalSemaphore::ExternalSemaphore(const Device& device, int fd, bool timeline)
    : semaphore_(device.impl()->external().open_semaphore(fd, timeline)) {}

ExternalSemaphore::~ExternalSemaphore() = default;

namespace {

/// The semaphore stays until the driver is done with it.
Event kept_by(const Event& event, std::shared_ptr<device::SharedSemaphore> semaphore) {
    if (event.state() && !event.state()->known_done()) event.state()->on_done([semaphore = std::move(semaphore)] {});
    return event;
}

}  // namespace

Event ExternalSemaphore::wait(const Queue& queue, std::uint64_t value) {
    (void)queue.submit({});
    return kept_by(semaphore_->wait(queue.impl(), value), semaphore_);
}

Event ExternalSemaphore::signal(const Queue& queue, std::uint64_t value) {
    (void)queue.submit({});
    return kept_by(semaphore_->signal(queue.impl(), value), semaphore_);
}

}  // namespace pardo
