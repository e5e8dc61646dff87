// src/routines/device/gather.cpp: reading and writing elements by index arrays, on devices that compile text.
#include <algorithm>
#include <limits>

#include "routines/device/bounds_check.h"
#include "routines/routines.h"

namespace pardo::routines {

namespace {

/// Offsets in the base that several index arrays name together and, where asked for, the numbers of the elements among all that can be
/// named.
void join_indices(device::Queue* queue, const char* name, std::span<const Memory> indices, const GatherPlan& plan,
                  const BoundsCheck& bounds, const Memory& offsets, const Memory& numbers) {
    for (std::size_t k = 0; k < indices.size(); ++k) {
        const int at = static_cast<int>(k);
        DeviceArgs args;
        bounds.add_to(args);
        args.push_back(reads(indices[k]));
        args.push_back(updates(offsets));
        if (numbers) args.push_back(updates(numbers));
        for (const std::int64_t value : {plan.count, std::int64_t{k == 0}, plan.steps[at], plan.sizes[at]}) args.push_back(value);
        launch_kernel(queue, name, Variant(KernelId::JoinIndices, DType::Int64, {{"NUMBERS", static_cast<bool>(numbers)}, bounds.define()}),
                      groups_for(plan.count, 4), args);
    }
}

/// Which index positions win: of those that name one element, the last. `targets`: how many elements can be named.
Memory find_winners(device::Queue* queue, const Memory& numbers, std::int64_t count, double targets) {
    const Memory wins = device_scratch(queue, DType::UInt8, count);
    // A note for each element that can be named, unless that is far more memory than sorting the numbers takes.
    if (count <= std::numeric_limits<std::int32_t>::max() && targets <= static_cast<double>(count) * 16 + 65536) {
        const Memory last = device_scratch(queue, DType::Int32, static_cast<std::int64_t>(targets));
        const std::int32_t none = -1;
        queue->fill(last.buffer.get(), 0, static_cast<std::size_t>(last.nbytes()), &none, sizeof(none));
        launch_kernel(queue, "scatter", Variant(KernelId::LastWins, DType::Int64, {{"STAGE", 0}}), groups_for(count),
                      {reads(numbers), updates(last), count});
        launch_kernel(queue, "scatter", Variant(KernelId::LastWins, DType::Int64, {{"STAGE", 1}}), groups_for(count),
                      {reads(numbers), reads(last), writes(wins), count});
        return wins;
    }
    const Memory order = device_scratch(queue, DType::Int64, count);
    routines::sort(queue, numbers, {}, order, {1, count, 1}, false);
    launch_kernel(queue, "scatter", Variant(KernelId::LastOfSorted, DType::Int64), groups_for(count),
                  {reads(numbers), reads(order), writes(wins), count});
    return wins;
}

void device_gather(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& out) {
    const DeviceStrides outer(queue, plan.outer, plan.outer_strides), inner(queue, plan.inner, plan.inner_strides);
    const BoundsCheck bounds(queue, plan.bounds);
    Memory index = indices[0];
    std::int64_t step = plan.steps[0], size = plan.sizes[0];
    if (indices.size() > 1) {
        index = device_scratch(queue, DType::Int64, plan.count);
        join_indices(queue, "gather", indices, plan, bounds, index, {});
        step = 1;
        size = 0;  // offsets may be negative, and are not wrapped
    }
    DeviceArgs args;
    bounds.add_to(args);
    for (const DeviceArg& arg : {reads(base), reads(index), writes(out), DeviceArg(out.size()), DeviceArg(plan.count),
                                 DeviceArg(element_count(plan.inner)), DeviceArg(step), DeviceArg(size)})
        args.push_back(arg);
    args.append(outer.args.begin(), outer.args.end());
    args.append(inner.args.begin(), inner.args.end());
    launch_kernel(queue, "gather",
                  moved_variant(KernelId::Gather, base.dtype, {{"A_RANK", outer.rank}, {"B_RANK", inner.rank}, bounds.define()}),
                  groups_for(out.size(), 4), args);
}

void device_scatter(device::Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan,
                    const Memory& value) {
    const std::int64_t inner_size = element_count(plan.inner), total = element_count(plan.outer) * plan.count * inner_size;
    if (total == 0) return;
    const bool one = value.size() == 1;
    const DeviceStrides outer(queue, plan.outer, plan.outer_strides), inner(queue, plan.inner, plan.inner_strides);
    const BoundsCheck bounds(queue, plan.bounds);
    const Memory offsets = device_scratch(queue, DType::Int64, plan.count);
    // One value for all: which item writes it last does not matter.
    Memory numbers, wins = value;
    if (!one) numbers = device_scratch(queue, DType::Int64, plan.count);
    join_indices(queue, "scatter", indices, plan, bounds, offsets, numbers);
    if (!one) {
        double targets = 1;
        for (const std::int64_t size : plan.sizes) targets *= static_cast<double>(size);
        wins = find_winners(queue, numbers, plan.count, targets);
    }
    DeviceArgs args;
    bounds.add_to(args);
    for (const DeviceArg& arg : {updates(base), reads(offsets), reads(wins), reads(value), DeviceArg(total), DeviceArg(plan.count),
                                 DeviceArg(inner_size), DeviceArg(std::int64_t{one})})
        args.push_back(arg);
    args.append(outer.args.begin(), outer.args.end());
    args.append(inner.args.begin(), inner.args.end());
    launch_kernel(queue, "scatter",
                  moved_variant(KernelId::Scatter, base.dtype, {{"A_RANK", outer.rank}, {"B_RANK", inner.rank}, bounds.define()}),
                  groups_for(total, 4), args);
}

void device_take_along_axis(device::Queue* queue, const Memory& x, const Memory& indices, const Memory& out, Lines lines,
                            std::int64_t count, const Bounds& bounds) {
    const BoundsCheck checked(queue, bounds);
    DeviceArgs args;
    checked.add_to(args);
    for (const DeviceArg& arg :
         {reads(x), reads(indices), writes(out), DeviceArg(out.size()), DeviceArg(count), DeviceArg(lines.inner), DeviceArg(lines.length)})
        args.push_back(arg);
    launch_kernel(queue, "take_along_axis", moved_variant(KernelId::TakeAlong, x.dtype, {checked.define()}), groups_for(out.size(), 4),
                  args);
}

const Registered gather_here(routines::gather, {"kernels", DeviceKinds::Text, device_gather});
const Registered scatter_here(routines::scatter, {"kernels", DeviceKinds::Text, device_scatter});
const Registered take_along_axis_here(routines::take_along_axis, {"kernels", DeviceKinds::Text, device_take_along_axis});

}  // namespace

}  // namespace pardo::routines
