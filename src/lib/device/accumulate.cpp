// src/lib/device/accumulate.cpp: what indices name, changed in place once for each time, on CUDA: targets that fit into a group's memory.
#include <algorithm>

#include "lib/device/bounds_check.h"

namespace pardo::lib {

namespace {

using graph::Op;

constexpr std::int64_t copies_room = 32768;  // bytes of a group's copies, as in kernels/accumulate.h
constexpr std::int64_t most_parts = 512;     // of the places
constexpr std::int64_t least_part = 4096;    // places

/// OP of kernels/accumulate.h; -1 where there is no code for that.
int step_number(Op op, DType dtype) {
    const bool logical = dtype == DType::Bool, whole = is_integer(dtype) || logical, complex = is_complex(dtype);
    if (dtype == DType::Float16) return -1;
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

void device_accumulate_at(device::Queue* queue, Op op, const Memory& target, const Memory& places, const Memory& values,
                          const Bounds& bounds) {
    const char* name = graph::op_row(op).name;
    const std::int64_t size = target.size(), count = places.size();
    const std::int64_t warps = std::clamp<std::int64_t>(copies_room / (size * itemsize(target.dtype)), 1, device_group / 32);
    const std::int64_t parts = std::clamp<std::int64_t>(count / least_part, 1, most_parts);
    const bool checked = !bounds.rows.empty();
    const Memory partial = device_scratch(queue, target.dtype, parts * size);
    const Define what{"OP", step_number(op, target.dtype)};
    DeviceArgs args, last;
    Memory found;
    BoundsCheck check;
    if (checked) {
        found = device_scratch(queue, DType::Int64, parts);
        check.begin(queue);
        args.push_back(writes(found));
    }
    for (const DeviceArg& arg : {reads(places), reads(values), writes(partial), DeviceArg(count), DeviceArg(size),
                                 DeviceArg(std::int64_t{values.size() == 1}), DeviceArg(warps)})
        args.push_back(arg);
    launch_kernel(queue, name, Variant(KernelId::AccumulateParts, target.dtype, {what, check.define()}), parts, args);
    if (checked) check.note(queue, bounds, 0, found, parts);
    check.add_to(last);
    for (const DeviceArg& arg : {reads(partial), updates(target), DeviceArg(parts), DeviceArg(size)}) last.push_back(arg);
    launch_kernel(queue, name, Variant(KernelId::AccumulateAll, target.dtype, {what, check.define()}), divide_up(size, 32), last);
}

bool accumulates(device::Queue*, Op op, const Memory& target, const Memory&, const Memory&, const Bounds&) {
    return step_number(op, target.dtype) >= 0 && target.size() > 0 && target.nbytes() <= copies_room;
}

const Registered accumulate_at_here(routines::accumulate_at, {"kernels", Place::Text, device_accumulate_at, accumulates, 1, "cuda"});

}  // namespace

}  // namespace pardo::lib
