// tests/fake_cuda/strided_copies.cpp: the fake driver's copies of regions, and prefetch.
#include <algorithm>
#include <cstring>

#include "world.h"

namespace fake {
namespace {

/// A side of a copy, checked as the driver does it.
class Side {
public:
    Side(const Copy3DSide& side, const Copy3D& copy)
        : side_(side), plane_(side.pitch * side.height), is_array_(side.memory_type == memory_type_array) {
        if (is_array_) {
            auto* array = static_cast<Array*>(side.array);
            side_.pitch = array->descriptor.width * array->texel_bytes();
            side_.height = std::max<std::size_t>(array->descriptor.height, 1);
            side_.host = array->bytes.data();
            plane_ = side_.pitch * side_.height;
        }
        at_ = is_array_ || side.memory_type == memory_type_host ? reinterpret_cast<std::uintptr_t>(side_.host) : side.device;
        at_ += side.x_bytes + side.y * side_.pitch + side.z * plane_;
        bytes_ = (copy.depth - 1) * plane_ + (copy.height - 1) * side_.pitch + copy.width_bytes;
        const bool pitches = side_.pitch <= static_cast<std::size_t>(max_pitch) && side_.pitch >= copy.width_bytes + side.x_bytes &&
                             (copy.depth == 1 || side_.height >= copy.height + side.y);
        const bool known = is_array_ || side.memory_type == memory_type_host || side.memory_type == memory_type_device ||
                           side.memory_type == memory_type_unified;
        valid_ = pitches && known && (is_array_ || pageable() || locked_bytes_at(at_, bytes_));
    }
    bool valid() const { return valid_; }
    bool pageable() const { return !is_array_ && side_.memory_type == memory_type_host && !locked_bytes_at(at_, bytes_); }
    /// Null when the memory is gone.
    char* row(std::size_t y, std::size_t z) const {
        char* begin = is_array_ || pageable() ? reinterpret_cast<char*>(at_) : locked_bytes_at(at_, bytes_);
        return begin ? begin + y * side_.pitch + z * plane_ : nullptr;
    }

private:
    Copy3DSide side_;
    std::size_t plane_, bytes_;
    std::uint64_t at_;
    const bool is_array_;
    bool valid_;
};

Result copy_strided(const Copy3D& copy, StreamHandle stream);

}  // namespace
}  // namespace fake

using namespace fake;

extern "C" {

Result cuDeviceGet(DeviceHandle* device, int ordinal);
Result cuStreamSynchronize(StreamHandle stream);

Result cuMemcpy3DAsync_v2(const Copy3D* copy, StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpy3DAsync");
    if (copy->to.context || copy->from.context) return result::invalid_value;  // reserved there
    return copy_strided(*copy, stream);
}

Result cuMemcpy3DPeerAsync(const Copy3D* copy, StreamHandle stream) {
    ENTER_CONTEXT("cuMemcpy3DPeerAsync");
    if (!copy->to.context || !copy->from.context) return result::invalid_value;
    return copy_strided(*copy, stream);
}

static Result prefetch(DevicePointer pointer, std::size_t bytes, int device, StreamHandle stream) {
    DeviceHandle known = 0;
    if (cuDeviceGet(&known, device) != result::success) return 101;
    // Managed memory is where the host finds it; a device's is not.
    if (bytes == 0 || locked_bytes_at(pointer, bytes) != reinterpret_cast<char*>(pointer)) return result::invalid_value;
    return push(stream, [] { return result::success; });
}
Result cuMemPrefetchAsync(DevicePointer pointer, std::size_t bytes, DeviceHandle device, StreamHandle stream) {
    ENTER_CONTEXT("cuMemPrefetchAsync");
    return prefetch(pointer, bytes, device, stream);
}
Result cuMemPrefetchAsync_v2(DevicePointer pointer, std::size_t bytes, MemoryLocation location, unsigned flags, StreamHandle stream) {
    ENTER_CONTEXT("cuMemPrefetchAsync_v2");
    if (location.type != location_device || flags != 0) return result::invalid_value;
    return prefetch(pointer, bytes, location.id, stream);
}

}  // extern "C"

namespace fake {
namespace {

Result copy_strided(const Copy3D& copy, StreamHandle stream) {
    if (copy.width_bytes == 0 || copy.height == 0 || copy.depth == 0) return result::success;
    const Side to(copy.to, copy), from(copy.from, copy);
    if (!to.valid() || !from.valid()) return result::invalid_value;
    const Result pushed = push(stream, [=] {
        for (std::size_t z = 0; z < copy.depth; ++z) {
            for (std::size_t y = 0; y < copy.height; ++y) {
                char *target = to.row(y, z), *source = from.row(y, z);
                if (!target || !source) return result::illegal_address;
                std::memcpy(target, source, copy.width_bytes);
            }
        }
        return result::success;
    });
    return pushed || !(to.pageable() || from.pageable()) ? pushed : cuStreamSynchronize(stream);
}

}  // namespace
}  // namespace fake
