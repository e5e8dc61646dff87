// src/routines/device/accumulate.cpp: what indices name, changed in place once for each time, on CUDA.
#include <algorithm>

#include "graph/rows.h"
#include "routines/device/bounds_check.h"
#include "routines/device/sorting.h"

namespace pardo::routines {

namespace {

using graph::Op;

constexpr std::int64_t copies_room = 32768;  // bytes of a group's copies, as in kernels/accumulate.h
constexpr std::int64_t most_parts = 512;     // of the places
constexpr std::int64_t least_part = 4096;    // places
constexpr std::int64_t most_chunks = 4096;   // of the sorted places
constexpr std::int64_t least_chunk = 512;    // places

/// OP of kernels/accumulate.h; -1 where there is no code for that.
int step_number(Op op, DType dtype) {
    const bool logical = dtype == DType::Bool, whole = is_integer(dtype) || logical, complex = is_complex(dtype);
    if (is_narrow_float(dtype)) return -1;
    switch (op) {
        case Op::add: return logical ? 7 : 0;
        case Op::multiply: return complex ? -1 : logical ? 6 : 1;
        case Op::minimum: return complex ? -1 : logical ? 6 : 2;
        case Op::maximum: return complex ? -1 : logical ? 7 : 3;
        case Op::fmin: return complex ? -1 : logical ? 6 : 4;
        case Op::fmax: return complex ? -1 : logical ? 7 : 5;
        case Op::bitwise_and: return whole ? 6 : -1;
        case Op::bitwise_or: return whole ? 7 : -1;
        case Op::bitwise_xor: return whole ? 8 : -1;
        case Op::logical_and: return logical ? 6 : -1;
        case Op::logical_or: return logical ? 7 : -1;
        case Op::logical_xor: return logical ? 8 : -1;
        default: return -1;
    }
}

/// The places as they are gone through: each group leaves the first one that is out of bounds in `found`, if they are looked through.
struct Places {
    const char* name;
    const Memory& named;
    const Bounds& bounds;
    BoundsCheck check;
    Memory found;

    /// The arguments of the kernel that looks them through, so far.
    DeviceArgs begin(device::Queue* queue, std::int64_t groups) {
        DeviceArgs args;
        if (bounds.rows.empty()) return args;
        found = device_scratch(queue, DType::Int64, groups);
        check.begin(queue);
        args.push_back(writes(found));
        return args;
    }
    /// The arguments of a kernel after that one, so far.
    DeviceArgs after() const {
        DeviceArgs args;
        check.add_to(args);
        return args;
    }
};

/// Targets that fit into a group's memory: each group has copies of all.
void accumulate_in_copies(device::Queue* queue, Define what, const Memory& target, Places& places, const Memory& values) {
    const std::int64_t size = target.size(), count = places.named.size();
    const std::int64_t warps = std::clamp<std::int64_t>(copies_room / target.nbytes(), 1, device_group / 32);
    const std::int64_t parts = std::clamp<std::int64_t>(count / least_part, 1, most_parts);
    const Memory partial = device_scratch(queue, target.dtype, parts * size);
    DeviceArgs args = places.begin(queue, parts);
    for (const DeviceArg& arg : {reads(places.named), reads(values), writes(partial), DeviceArg(count), DeviceArg(size),
                                 DeviceArg(std::int64_t{values.size() == 1}), DeviceArg(warps)})
        args.push_back(arg);
    const Define checked = places.check.define();
    launch_kernel(queue, places.name, Variant(KernelId::AccumulateParts, target.dtype, {what, checked}), parts, args);
    if (places.check.there()) places.check.note(queue, places.bounds, 0, places.found, parts);
    DeviceArgs last = places.after();
    for (const DeviceArg& arg : {reads(partial), updates(target), DeviceArg(parts), DeviceArg(size)}) last.push_back(arg);
    launch_kernel(queue, places.name, Variant(KernelId::AccumulateAll, target.dtype, {what, checked}), divide_up(size, 32), last);
}

/// Other targets: places are sorted, so that each block of the target is near while it changes; their order is the same each time.
void accumulate_in_blocks(device::Queue* queue, Define what, const Memory& target, Places& places, const Memory& values) {
    const std::int64_t size = target.size(), count = places.named.size();
    const DType key = size <= 0xffffffff ? DType::UInt32 : DType::UInt64;
    const Memory keys = device_scratch(queue, key, count), sorted = device_scratch(queue, key, count);
    const std::int64_t groups = std::min({groups_for(count, 4), busy_groups(queue->device()), std::int64_t{4096}});
    DeviceArgs args = places.begin(queue, groups);
    for (const DeviceArg& arg : {reads(places.named), writes(keys), DeviceArg(count), DeviceArg(size), DeviceArg(divide_up(count, groups))})
        args.push_back(arg);
    const Define checked = places.check.define();
    launch_kernel(queue, places.name, Variant(KernelId::AccumulateKeys, key, {checked}), groups, args);
    if (places.check.there()) places.check.note(queue, places.bounds, 0, places.found, groups);
    // Values of the size of positions come along when places are sorted.
    const SortPlan plan{queue, places.name, 1, count, count, false};
    const bool one = values.size() == 1, carried = !one && itemsize(values.dtype) == 4 && position_size(plan) == 4;
    SweepItems items;
    if (carried) {
        items.given = values;
        items.given.dtype = DType::UInt32;
    }
    if (!one) items.to = device_scratch(queue, position_dtype(plan), count);
    sweep(plan, keys, key, ReadyKeys, sorted, items);
    const Define how{"VALUES", one ? 0 : carried ? 1 : position_size(plan) == 4 ? 2 : 3};

    const std::int64_t block = copies_room / 8 / itemsize(target.dtype), pieces = divide_up(block, 256);
    const std::int64_t chunks = std::clamp<std::int64_t>(count / least_chunk, 1, most_chunks);
    const Memory partial = device_scratch(queue, target.dtype, 2 * chunks * block),
                 joined = device_scratch(queue, DType::Int64, 2 * chunks);
    DeviceArgs parts = places.after(), last = places.after();
    for (const DeviceArg& arg : {reads(sorted), reads(one ? sorted : items.to), reads(values), updates(target), writes(partial),
                                 writes(joined), DeviceArg(count), DeviceArg(size), DeviceArg(chunks)})
        parts.push_back(arg);
    launch_kernel(queue, places.name, Variant(KernelId::AccumulateChunks, target.dtype, {what, checked, {"K_SIZE", itemsize(key)}, how}),
                  divide_up(chunks, 8), parts);
    for (const DeviceArg& arg : {reads(partial), reads(joined), updates(target), DeviceArg(size), DeviceArg(chunks), DeviceArg(pieces)})
        last.push_back(arg);
    launch_kernel(queue, places.name, Variant(KernelId::AccumulateJoined, target.dtype, {what, checked}), chunks * pieces, last);
}

void device_accumulate_at(device::Queue* queue, Op op, const Memory& target, const Memory& places, const Memory& values,
                          const Bounds& bounds) {
    Places named{graph::op_row(op).name, places, bounds, {}, {}};
    const Define what{"OP", step_number(op, target.dtype)};
    const auto accumulate = target.nbytes() <= copies_room ? accumulate_in_copies : accumulate_in_blocks;
    accumulate(queue, what, target, named, values);
}

bool accumulates(device::Queue* queue, Op op, const Memory& target, const Memory&, const Memory&, const Bounds&) {
    return queue->device()->can(device::Feature::LookBack) && step_number(op, target.dtype) >= 0 && target.size() > 0;
}

const Registered accumulate_at_here(routines::accumulate_at, {"kernels", DeviceKinds::Text, device_accumulate_at, accumulates});

}  // namespace

}  // namespace pardo::routines
