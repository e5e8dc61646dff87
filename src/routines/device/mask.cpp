// src/routines/device/mask.cpp: what a mask selects, and runs of equal elements, on devices that compile text.
#include "routines/device/scan.h"
#include "routines/device/task.h"

namespace pardo::routines {

namespace {

/// SOURCE of kernels/mask.h for a mask: 1 where words can be read. Memory of others may begin anywhere.
int mask_source(const Memory& mask) { return reinterpret_cast<std::uintptr_t>(mask.address()) % 4 == 0 ? 1 : 0; }
constexpr int runs_source = 2;

/// From counts of blocks to how many there are before each; gives the number of all.
std::int64_t finish_blocks(device::Queue* queue, const char* name, const Memory& blocks) {
    const std::int64_t count = blocks.size() - 1;
    Memory counts = memory_from(blocks, 1);
    counts.shape = Shape{count};
    if (count > 1) device_running_sum(queue, name, counts);
    return read_int64(queue, blocks, count);
}

/// Arguments of take_selected for a mask, before those of the action.
DeviceArgs mask_args(const Memory& mask, const Memory& blocks) {
    DeviceArgs args;
    for (const DeviceArg& arg : {reads(mask), reads(blocks), DeviceArg(mask.size())}) args.push_back(arg);
    return args;
}

std::int64_t device_count_mask(device::Queue* queue, const Memory& mask, const Memory& blocks) {
    launch_kernel(queue, "count_mask", Variant(KernelId::CountMask, DType::Bool, {{"SOURCE", mask_source(mask)}}), mask_blocks(mask.size()),
                  {reads(mask), writes(blocks), mask.size()});
    return finish_blocks(queue, "count_mask", blocks);
}

void device_nonzero(device::Queue* queue, const Memory& mask, const Memory& blocks, std::span<const Memory> out) {
    std::int64_t divisor = 1;
    for (std::size_t d = out.size(); d-- > 0;) {
        DeviceArgs args = mask_args(mask, blocks);
        const std::int64_t extent = mask.shape[static_cast<int>(d)];
        for (const DeviceArg& arg : {writes(out[d]), DeviceArg(divisor), DeviceArg(extent)}) args.push_back(arg);
        launch_kernel(queue, "nonzero",
                      moved_variant(KernelId::TakeSelected, DType::Int64,
                                    {{"SOURCE", mask_source(mask)}, {"ACTION", 1}, {"A_RANK", 0}, {"B_RANK", 0}}),
                      mask_blocks(mask.size()), args);
        divisor *= extent;
    }
}

void device_compress(device::Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& out) {
    DeviceArgs args = mask_args(mask, blocks);
    for (const DeviceArg& arg : {reads(x), writes(out)}) args.push_back(arg);
    launch_kernel(
        queue, "compress",
        moved_variant(KernelId::TakeSelected, x.dtype, {{"SOURCE", mask_source(mask)}, {"ACTION", 0}, {"A_RANK", 0}, {"B_RANK", 0}}),
        mask_blocks(mask.size()), args);
}

void device_put_mask(device::Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& value) {
    const DeviceStrides elements(queue, x.shape, x.strides);
    DeviceArgs args = mask_args(mask, blocks);
    for (const DeviceArg& arg : {updates(x), reads(value), DeviceArg(std::int64_t{value.size() == 1})}) args.push_back(arg);
    args.append(elements.args.begin(), elements.args.end());
    launch_kernel(queue, "put_mask",
                  moved_variant(KernelId::TakeSelected, x.dtype,
                                {{"SOURCE", mask_source(mask)}, {"ACTION", 2}, {"A_RANK", elements.rank}, {"B_RANK", 0}}),
                  mask_blocks(mask.size()), args);
}

std::int64_t device_count_runs(device::Queue* queue, const Memory& sorted, bool equal_nan, const Memory& blocks) {
    launch_kernel(queue, "count_runs", Variant(KernelId::CountRuns, sorted.dtype, {{"SOURCE", runs_source}}), mask_blocks(sorted.size()),
                  {reads(sorted), std::int64_t{equal_nan}, writes(blocks), sorted.size()});
    return finish_blocks(queue, "count_runs", blocks);
}

void device_fill_runs(device::Queue* queue, const Memory& sorted, const Memory& order, bool equal_nan, const Memory& blocks,
                      const Memory& values, const Memory& indices, const Memory& inverse, const Memory& counts) {
    const std::int64_t size = sorted.size(), runs = values.size();
    DeviceArgs args;
    for (const DeviceArg& arg : {reads(sorted), DeviceArg(std::int64_t{equal_nan}), reads(blocks), DeviceArg(size), writes(values)})
        args.push_back(arg);
    Memory starts;
    if (order) {
        starts = device_scratch(queue, DType::Int64, runs);
        for (const DeviceArg& arg : {reads(order), writes(indices), writes(starts), writes(inverse)}) args.push_back(arg);
    }
    launch_kernel(queue, "unique",
                  Variant(KernelId::FillRuns, sorted.dtype, {{"SOURCE", runs_source}, {"DETAILS", static_cast<bool>(order)}}),
                  mask_blocks(size), args);
    if (order)
        launch_kernel(queue, "unique", Variant(KernelId::RunLengths, DType::Int64), groups_for(runs),
                      {reads(starts), writes(counts), runs, size});
}

void device_mark_values(device::Queue* queue, const Memory& x, std::int64_t low, const Memory& marks) {
    launch_kernel(queue, "unique", Variant(KernelId::MarkValues, x.dtype), groups_for(x.size(), 8),
                  {reads(x), updates(marks), x.size(), low});
}

const Registered count_mask_here(routines::count_mask, {"kernels", DeviceKinds::Text, device_count_mask});
const Registered nonzero_here(routines::nonzero, {"kernels", DeviceKinds::Text, device_nonzero});
const Registered compress_here(routines::compress, {"kernels", DeviceKinds::Text, device_compress});
const Registered put_mask_here(routines::put_mask, {"kernels", DeviceKinds::Text, device_put_mask});
const Registered count_runs_here(routines::count_runs, {"kernels", DeviceKinds::Text, device_count_runs});
const Registered mark_values_here(routines::mark_values, {"kernels", DeviceKinds::Text, device_mark_values});
const Registered fill_runs_here(routines::fill_runs, {"kernels", DeviceKinds::Text, device_fill_runs});

}  // namespace

}  // namespace pardo::routines
