// include/pardo/memory.h: memory kinds and allocator statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <pardo/device.h>
#include <pardo/export.h>

namespace pardo {

/// Where memory lives, in the words of SYCL's unified shared memory. Result kind: device > shared > host.
enum class MemoryKind : std::uint8_t { Device, Shared, Host };

/// Bytes of one device's caching allocator.
struct MemoryStats {
    std::int64_t in_use = 0;  ///< handed out now
    std::int64_t cached = 0;  ///< freed, kept for reuse
    std::int64_t peak = 0;    ///< largest in_use so far
    std::int64_t limit = 0;   ///< 0: none
};

PARDO_API MemoryStats memory_stats(const Device& device);  ///< those of a device now
/// Gives cached blocks back to the system.
PARDO_API void trim_memory(const Device& device);
/// Bounds in_use + cached; 0 removes the bound.
PARDO_API void set_memory_limit(const Device& device, std::int64_t bytes);
/// Sets peak to in_use.
PARDO_API void reset_memory_peak(const Device& device);

/// Memory from somewhere else: addresses as the device's kernels see them.
struct AllocatorHook {
    /// At least `bytes` (never 0), aligned for every dtype; null or an exception where there are none. Called from any thread.
    std::function<void*(std::size_t bytes, MemoryKind kind)> allocate;
    /// Called once for each block, when the last use of it is over, on any thread; throws nothing.
    std::function<void(void* block, std::size_t bytes)> free;
};
/// From now on `hook` makes the memory of a device's arrays, in place of the caching allocator; what it has made, it frees, even after it
/// was replaced. An empty `allocate` brings the caching allocator back. Its bytes do not count in memory_stats.
PARDO_API void set_allocator(const Device& device, AllocatorHook hook);

/// What lies beyond an image: nothing (the kernel does not go there), the texel at the edge, zeros, the image again, or its mirror image.
enum class Addressing : std::uint8_t { None, ClampToEdge, Clamp, Repeat, MirroredRepeat };

/// How a kernel samples an image.
struct Sampler {
    bool normalized = false;                   ///< coordinates go from 0 to 1
    Addressing addressing = Addressing::None;  ///< beyond the edges
    bool linear = false;                       ///< between the nearest texels; else the nearest one
    bool operator==(const Sampler&) const = default;
};

}  // namespace pardo
