// include/pardo/binding/external.h: memory and semaphores that a device has in common with other drivers, as Vulkan's.
// For pardo's own bindings: no stability.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/event.h>
#include <pardo/export.h>
#include <pardo/queue.h>

namespace pardo::device {
class SharedSemaphore;
}

namespace pardo {

/// What is done by file descriptors: open memory of another driver's, make memory for one, wait for and signal semaphores of two kinds.
enum class ExternalUse : std::uint8_t { Open, Make, Timeline, Binary };

/// What a device lacks for that, as words that follow its name; empty where it lacks nothing.
PARDO_API std::string external_lack(const Device& device, ExternalUse use);

/// Memory in the device's addresses, and how much the driver has given.
struct ExternalMemory {
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
};
/// New memory that other drivers can open, until it is closed. Throws Device, Memory, as the next.
PARDO_API ExternalMemory make_external(const Device& device, std::size_t bytes);
/// A descriptor of such memory, for the caller to close.
PARDO_API int export_external(const Device& device, std::uintptr_t address);
/// Memory that another driver's descriptor names, until it is closed. The descriptor stays the caller's.
PARDO_API std::uintptr_t open_external(const Device& device, int fd, std::size_t bytes, bool dedicated);
/// After all work with it.
PARDO_API void close_external(const Device& device, std::uintptr_t address) noexcept;
/// Whether two descriptors are one open file: true only where the system says so.
PARDO_API bool same_open_file(int a, int b) noexcept;

/// Other code may use the memory of x from now on, at any time: operations on it run when they are recorded, and are waited for. What has
/// been recorded is handed over first.
PARDO_API void leave_memory(const Array& x);
/// The opposite: no other code uses it until it is left again. Whoever uses the memory, on whatever queue, comes after these events.
PARDO_API void take_memory(const Array& x, ListOf<Event> since);
/// What uses the memory of x so far, on whatever queue.
PARDO_API std::vector<Event> uses_of_memory(const Array& x);
/// Waits for all that uses the memory of x; raises what has failed there.
PARDO_API void finish_memory(const Array& x);

/// A semaphore of another driver's.
class PARDO_API ExternalSemaphore {
public:
    /// `fd` stays the caller's. Throws Device.
    ExternalSemaphore(const Device& device, int fd, bool timeline);
    ~ExternalSemaphore();
    ExternalSemaphore(const ExternalSemaphore&) = delete;
    /// What has been recorded on the queue is handed over first; what comes later waits.
    Event wait(const Queue& queue, std::uint64_t value);
    /// Signals it after what has been recorded on the queue.
    Event signal(const Queue& queue, std::uint64_t value);

private:
    std::shared_ptr<device::SharedSemaphore> semaphore_;
};

}  // namespace pardo
