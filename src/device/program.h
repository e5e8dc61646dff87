// src/device/program.h: a loaded binary, and one request to run it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ref.h"
#include "base/small_vector.h"
#include "device/buffer.h"
#include "device/event.h"

namespace pardo::device {

/// A kernel loaded for one device. Immutable, shared, kept by the program cache.
class Program : public RefCounted<Program> {
public:
    explicit Program(std::string name) : name_(std::move(name)) {}
    virtual ~Program() = default;
    const std::string& name() const noexcept { return name_; }
    /// It is a PendingProgram, in the place of one that is still to be compiled.
    bool pending() const noexcept { return pending_; }

protected:
    Program(std::string name, bool pending) : name_(std::move(name)), pending_(pending) {}

private:
    std::string name_;
    const bool pending_ = false;
};

/// What planning knows of the size of a launch; a device may make different programs of one kernel for different sizes.
struct LaunchShape {
    std::span<const std::int64_t> extents;  // of the kernel's range
    std::int64_t inner = 1;                 // iterations of its loops, multiplied; 1 without loops
    std::int64_t innermost = 1;             // iterations of its longest LoopKind::Lanes loop
    bool even = true;                       // and of all the others, in all items
};
/// Tells such programs apart; 0 where one program serves all sizes.
using ShapeClass = std::uint32_t;

/// A kernel written by hand in a C-family language, for devices whose drivers compile text. It runs in `group_size` items a group over
/// `Launch::extents[0]` groups, in one dimension.
struct SourceKernel {
    std::string name;  // of the function in the text
    std::string text;  // for emit::c_macros of the device's language
    int group_size = 1;
    /// One letter a parameter: 'p' a pointer to global memory, 'l' int64, 'i' int32, 'd' float64, 'f' float32.
    std::string params;
};

/// How elements of a buffer are used by a launch or task.
struct BufferUse {
    Buffer* buffer;
    Access access;
    View view{};
};
inline bool reads(const BufferUse& use) noexcept { return reads(use.access); }
inline bool writes(const BufferUse& use) noexcept { return writes(use.access); }
/// True when such work has to be over before the call that asked for it returns: outside code, which knows no events, may touch the memory.
inline bool externally_visible(const Buffer* buffer, Access access) {
    return buffer->foreign() && (access != Access::Read || buffer->externally_writable());
}

/// A request to run a Program over an index space. Valid only during the call of Queue::launch, which copies what it keeps.
struct Launch {
    Program* program = nullptr;
    std::span<const std::int64_t> extents;  // one for each dimension of the kernel's range; of a SourceKernel: the number of groups
    std::span<const std::uint64_t>
        args;  // one 8-byte slot for each kernel parameter, in order: pointers, int64, or the scalar's bytes from the low end
    std::span<const BufferUse> uses;  // buffers behind the pointers; their memory stays theirs until complete, even when they are dropped
    double cost_ns = 0;               // estimated time on one core: small work runs at once on the caller
    bool guessed = false;             // no more than a guess: it has loops whose length only the data knows, and may run for ever
    bool waited = false;              // whoever hands it over waits for it at once
    std::int64_t chunk = 0;           // items of the first dimension that a thread takes at a time; 0: each its equal share; only CPUs ask
    std::int64_t bytes_read = 0, bytes_written = 0;  // for counters and profiles
    std::int64_t operations = 0;                     // as Amount::operations
    Label (*label)(const void*) = nullptr;           // made only when it is used: asynchronous launches, failures
    const void* label_data = nullptr;
    /// Runs once when the launch is complete, on whichever thread notices; what it throws is the launch's failure. Short: it reads what the
    /// kernel has left in memory that the host sees.
    std::function<void()> check;
};

}  // namespace pardo::device
