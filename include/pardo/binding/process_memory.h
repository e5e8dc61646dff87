// include/pardo/binding/process_memory.h: memory of devices that other processes use as well.
// For pardo's own bindings: no stability.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <pardo/array.h>
#include <pardo/device.h>
#include <pardo/export.h>

namespace pardo::device {
class Buffer;
}

namespace pardo {

/// An allocation as the driver names it for other processes, and where in it an address is.
struct NamedMemory {
    std::string name;
    std::size_t offset = 0, bytes = 0;
};
/// Throws Device where the driver names no memory, or not this one.
PARDO_API NamedMemory name_memory(const Device& device, std::uintptr_t address);
/// Where memory that another process has named is in this one, until it is closed, which is to come after all work with it. Throws Device.
PARDO_API std::uintptr_t open_memory(const Device& device, std::string_view name);
PARDO_API void close_memory(const Device& device, std::uintptr_t address) noexcept;

/// Keeps the memory of an array, whichever arrays go.
class PARDO_API HeldMemory {
public:
    /// Forces.
    explicit HeldMemory(const Array& x);
    ~HeldMemory();
    HeldMemory(const HeldMemory&) = delete;
    /// Nothing else keeps it: no array, and no work.
    bool alone() const noexcept;
    /// Tells memory apart while it is held.
    std::uintptr_t number() const noexcept;

private:
    device::Buffer* buffer_;
};

}  // namespace pardo
