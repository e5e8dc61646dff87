// src/routines/opencl/vkfft.h: one plan of VkFFT, as the rest of the library sees it: VkFFT's own headers are in one file.
// This folder: routines of OpenCL devices by libraries that are compiled in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <pardo/fft.h>

#include "backend/opencl/library_queue.h"

namespace pardo::routines {

/// Transforms along the middle one of row-major extents. Half spectra have inner = 1, and are of the other direction each.
struct VkfftShape {
    Transform transform;
    bool forward, narrow, in_place;
    std::int64_t outer, length, inner;
    bool operator==(const VkfftShape&) const = default;
};

/// Memory of a device, from a byte of a buffer on.
struct VkfftMemory {
    const device::Buffer* buffer;
    std::size_t offset, bytes;
};

/// Code for one device, with tables and memory of its own.
class VkfftPlan {
public:
    /// Throws Device for what VkFFT cannot do, Memory.
    VkfftPlan(opencl::OpenClDevice& device, const VkfftShape& shape);
    ~VkfftPlan();
    /// Bytes of the device that it holds.
    std::size_t bytes() const noexcept;
    /// Enqueues it; one at a time. What it reads of half spectra it overwrites.
    void run(opencl::LibraryQueue& queue, const VkfftMemory& in, const VkfftMemory& out);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace pardo::routines
