// src/backend/opencl/strided_copies.cpp: copies of regions, and prefetch.
#include <cstring>
#include <vector>

#include <pardo/error.h>

#include "backend/opencl/queue.h"
#include "device/memory/strided_copy.h"

namespace pardo::opencl {

using device::Buffer;
using device::NativeEvent;
using device::NativeOrder;
using device::RegionSide;
using device::StridedCopy;

namespace {

/// Where no command takes a region, so many rows go to the driver at a time, each a command of its own.
constexpr std::int64_t most_commands = 512;

/// Of two regions in one object, at these places.
bool apart(const RegionSide& a, std::size_t a_begin, const RegionSide& b, std::size_t b_begin) {
    const auto at = static_cast<std::int64_t>(a_begin) - static_cast<std::int64_t>(b_begin);
    return a.end + at <= b.begin || b.end <= a.begin + at;
}

/// A place in an object as drivers want it.
struct Origin {
    Origin(const RegionSide& side, std::size_t begin) {
        const auto row = static_cast<std::size_t>(side.row_pitch), plane = static_cast<std::size_t>(side.plane_pitch);
        const std::size_t offset = begin + static_cast<std::size_t>(side.offset);
        at[2] = offset / plane;
        at[1] = offset % plane / row;
        at[0] = offset % plane % row;
    }
    std::size_t at[3];
};
constexpr std::size_t no_origin[3] = {};

struct HostCopy {
    char* to;
    const char* from;
    StridedCopy region;
};
/// The driver calls it, on a thread of the device, with its own copy of the HostCopy.
void CL_CALLBACK run_host_copy(void* arguments) {
    HostCopy c;
    std::memcpy(&c, arguments, sizeof c);
    for_each_row(c.region, [&](std::int64_t to, std::int64_t from) {
        std::memcpy(c.to + to, c.from + from, static_cast<std::size_t>(c.region.extents[0]));
    });
}

}  // namespace

/// Whether a thread of the device can copy between them as between host memory.
bool OpenClStream::copies_on_host(const Buffer* to, const Buffer* from) const noexcept {
    const auto reaches = [&](const Buffer* b) { return b->host_visible() || (b->device() == &device_ && path_ == MemoryPath::Usm); };
    return runs_on_host_ && path_ != MemoryPath::Buffer && reaches(to) && reaches(from);
}

/// Rows that the driver's commands for regions take at once; these are for objects, addresses have none.
std::int64_t OpenClStream::rectangle_rows(const Buffer* to, const Buffer* from, const StridedCopy& region) const noexcept {
    if (path_ != MemoryPath::Buffer) return 0;
    const std::int64_t rows = regular_rows(region);
    if (!copies(to, from) || object_of(to) != object_of(from)) return rows;
    // Within one object drivers want equal pitches, and some take regions for overlapping that interleave.
    const RegionSide target = to_side(region), source = from_side(region);
    if (target.row_pitch != source.row_pitch || !apart(target, begin_of(to), source, begin_of(from))) return 0;
    return target.plane_pitch == source.plane_pitch ? rows : std::min(rows, region.extents[1]);
}

std::int64_t OpenClStream::rows_at_once(const Buffer* to, const Buffer* from, const StridedCopy& region) const noexcept {
    if (const std::int64_t rows = rectangle_rows(to, from, region)) return rows;
    return copies_on_host(to, from) ? rows_of(region) : std::min(rows_of(region), most_commands);
}

void OpenClStream::copy_strided(Buffer* to, Buffer* from, const StridedCopy& region, const NativeOrder& order) {
    if (rectangle_rows(to, from, region) == rows_of(region)) {
        copy_rectangle(to, from, region, order);
    } else if (copies_on_host(to, from)) {
        copy_on_host(to, from, region, order);
    } else {
        copy_rows(to, from, region, order);
    }
    flush();
}

void OpenClStream::copy_rectangle(Buffer* to, Buffer* from, const StridedCopy& region, const NativeOrder& order) {
    const Wait w(order);
    const std::size_t extents[3] = {static_cast<std::size_t>(region.extents[0]), static_cast<std::size_t>(region.extents[1]),
                                    static_cast<std::size_t>(region.extents[2])};
    const RegionSide target = to_side(region), source = from_side(region);
    const auto pitch = [](std::int64_t bytes) { return static_cast<std::size_t>(bytes); };
    if (copies(to, from)) {
        const Origin to_origin(target, begin_of(to)), from_origin(source, begin_of(from));
        check(api_.clEnqueueCopyBufferRect(queue_, object_of(from), object_of(to), from_origin.at, to_origin.at, extents,
                                           pitch(source.row_pitch), pitch(source.plane_pitch), pitch(target.row_pitch),
                                           pitch(target.plane_pitch), w.count, w.events, w.marker),
              "clEnqueueCopyBufferRect");
    } else if (copies(to, to)) {
        const Origin origin(target, begin_of(to));
        check(api_.clEnqueueWriteBufferRect(queue_, object_of(to), CL_FALSE, origin.at, no_origin, extents, pitch(target.row_pitch),
                                            pitch(target.plane_pitch), pitch(source.row_pitch), pitch(source.plane_pitch),
                                            address(from, static_cast<std::size_t>(source.offset)), w.count, w.events, w.marker),
              "clEnqueueWriteBufferRect");
    } else {
        const Origin origin(source, begin_of(from));
        check(api_.clEnqueueReadBufferRect(queue_, object_of(from), CL_FALSE, origin.at, no_origin, extents, pitch(source.row_pitch),
                                           pitch(source.plane_pitch), pitch(target.row_pitch), pitch(target.plane_pitch),
                                           address(to, static_cast<std::size_t>(target.offset)), w.count, w.events, w.marker),
              "clEnqueueReadBufferRect");
    }
}

void OpenClStream::copy_on_host(Buffer* to, Buffer* from, const StridedCopy& region, const NativeOrder& order) {
    const Wait w(order);
    HostCopy c{address(to, 0), address(from, 0), region};
    check(api_.clEnqueueNativeKernel(queue_, run_host_copy, &c, sizeof c, 0, nullptr, nullptr, w.count, w.events, w.marker),
          "clEnqueueNativeKernel");
}

void OpenClStream::enqueue_row(Buffer* to, std::size_t to_offset, Buffer* from, std::size_t from_offset, std::size_t bytes,
                               const NativeOrder& order) {
    if (path_ != MemoryPath::Buffer) return enqueue_copy(address(to, to_offset), address(from, from_offset), bytes, order);
    if (!copies(to, to)) return enqueue_read(address(to, to_offset), from, from_offset, bytes, order);
    if (!copies(from, from)) return enqueue_write(to, to_offset, address(from, from_offset), bytes, order);
    enqueue_copy(to, to_offset, from, from_offset, bytes, order);
}

void OpenClStream::copy_rows(Buffer* to, Buffer* from, const StridedCopy& region, const NativeOrder& order) {
    // The markers of rows that may overtake each other.
    struct Markers {
        explicit Markers(OpenClStream& stream) : stream_(stream) {}
        ~Markers() {
            for (const NativeEvent e : list) stream_.release(e);
        }
        OpenClStream& stream_;
        std::vector<NativeEvent> list;
    } markers(*this);
    std::int64_t left = rows_of(region);
    bool first = true;
    for_each_row(region, [&](std::int64_t to_offset, std::int64_t from_offset) {
        NativeEvent marker = nullptr;
        NativeOrder row;
        if (first || !in_order_) row.after = order.after;
        if (!in_order_) row.marker = &marker;
        if (--left == 0 && in_order_) row.marker = order.marker;
        enqueue_row(to, static_cast<std::size_t>(to_offset), from, static_cast<std::size_t>(from_offset),
                    static_cast<std::size_t>(region.extents[0]), row);
        if (marker) markers.list.push_back(marker);
        first = false;
    });
    if (!in_order_ && order.marker) marker({markers.list, order.marker, order.timed});
}

bool OpenClStream::prefetches(const Buffer* b) const noexcept {
    if (!copies(b, b)) return false;
    switch (path_) {
        case MemoryPath::Usm: return b->kind() == MemoryKind::Shared && device_.context().usm().migrate;
        case MemoryPath::SvmFine:
        case MemoryPath::SvmCoarse: return migrates_svm_;
        case MemoryPath::Buffer: return false;  // objects are where their device is
    }
    return false;
}

void OpenClStream::prefetch(Buffer* buffer, std::size_t offset, std::size_t bytes, const NativeOrder& order) {
    const Wait w(order);
    const void* at = address(buffer, offset);
    if (path_ == MemoryPath::Usm) {
        const cl_int code = device_.context().usm().migrate(queue_, at, bytes, 0, w.count, w.events, w.marker);
        if (code == CL_INVALID_VALUE) return marker(order);  // some drivers have the function and take no hint
        check(code, "clEnqueueMigrateMemINTEL");
    } else {
        check(api_.clEnqueueSVMMigrateMem(queue_, 1, &at, &bytes, 0, w.count, w.events, w.marker), "clEnqueueSVMMigrateMem");
    }
    flush();
}

}  // namespace pardo::opencl
