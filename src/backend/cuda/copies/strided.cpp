// src/backend/cuda/copies/strided.cpp: copies of regions, and prefetch.
#include "backend/cuda/cuda.h"
#include "backend/cuda/submission.h"
#include "device/memory/strided_copy.h"

namespace pardo::cuda {

using device::Buffer;
using device::RegionSide;
using device::StridedCopy;

namespace {

/// From this size on rows between pageable memory and a device are faster one by one, through pinned memory.
constexpr std::int64_t staged_row = std::int64_t{1} << 20;

Copy3DSide side_of(const Buffer* buffer, const RegionSide& side) {
    Copy3DSide s{};
    const auto offset = static_cast<std::size_t>(side.offset);
    if (!is_cuda(buffer->device())) {
        s.memory_type = memory_type_host;
        s.host = static_cast<const char*>(buffer->data()) + offset;
    } else {
        s.memory_type = buffer->kind() == MemoryKind::Device ? memory_type_device : memory_type_unified;
        s.device = address_of(buffer, offset);
    }
    s.pitch = static_cast<std::size_t>(side.row_pitch);
    s.height = static_cast<std::size_t>(side.plane_pitch / side.row_pitch);
    return s;
}

}  // namespace

std::int64_t CudaStream::rows_at_once(const Buffer* to, const Buffer* from, const StridedCopy& region) const noexcept {
    if (std::max(region.to_pitches[0], region.from_pitches[0]) > max_pitch) return 0;
    if (!copies(to, from) && region.extents[0] >= staged_row) return 0;
    return regular_rows(region);
}

void CudaStream::copy_strided(Buffer* to, Buffer* from, const StridedCopy& region, const device::NativeOrder& order) {
    const bool between =
        copies(to, from) && to->device() != from->device() && to->kind() == MemoryKind::Device && from->kind() == MemoryKind::Device;
    Copy3D c{side_of(from, from_side(region)), side_of(to, to_side(region)), static_cast<std::size_t>(region.extents[0]),
             static_cast<std::size_t>(region.extents[1]), static_cast<std::size_t>(region.extents[2])};
    if (between) {
        auto &target = static_cast<CudaDevice&>(*to->device()), &source = static_cast<CudaDevice&>(*from->device());
        target.enable_peer(source);
        source.enable_peer(target);
        c.to.context = target.context();
        c.from.context = source.context();
    }
    Submission submission(*this, order);
    if (between) {
        submission.check(driver().cuMemcpy3DPeerAsync(&c, submission.stream()), "cuMemcpy3DPeerAsync");
    } else {
        submission.check(driver().cuMemcpy3DAsync(&c, submission.stream()), "cuMemcpy3DAsync");
    }
    submission.finish();
}

bool CudaStream::prefetches(const Buffer* b) const noexcept {
    // Without concurrent access managed memory moves whole, at each launch.
    return is_cuda(b->device()) && b->kind() == MemoryKind::Shared && device_->info().has_usm_atomic_shared_allocations;
}

void CudaStream::prefetch(Buffer* buffer, std::size_t offset, std::size_t bytes, const device::NativeOrder& order) {
    Submission submission(*this, order);
    const Driver& d = driver();
    const DevicePointer at = address_of(buffer, offset);
    const Result result = d.cuMemPrefetchAsync_v2
                              ? d.cuMemPrefetchAsync_v2(at, bytes, {location_device, device_->ordinal()}, 0, submission.stream())
                              : d.cuMemPrefetchAsync(at, bytes, device_->handle(), submission.stream());
    submission.check(result, "cuMemPrefetchAsync");
    submission.finish();
}

}  // namespace pardo::cuda
