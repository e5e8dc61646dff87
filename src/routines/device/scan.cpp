// src/routines/device/scan.cpp: running sums, products, minima and maxima on devices that compile text: totals of parts, their running
// totals, then each part once more with what came before it.
#include "routines/device/scan.h"

#include <algorithm>

#include "routines/device/task.h"

namespace pardo::routines {

using graph::ReduceOp;

namespace {

/// OP of kernels/scan.h.
int op_code(ReduceOp op) {
    switch (op) {
        case ReduceOp::Sum: return 0;
        case ReduceOp::Prod: return 1;
        case ReduceOp::Min: return 2;
        default: return 3;
    }
}

/// Elements an item of a tile: 16 KiB of values a group.
int tile_items(DType value) { return std::clamp(64 / itemsize(value), 4, 16); }

/// True where the combination of a part must be made in order: which of two zeros or of two NaNs it is depends on it.
bool is_ordered(ReduceOp op, DType dtype) { return (op == ReduceOp::Min || op == ReduceOp::Max) && !is_integer(dtype); }

/// Lines of one element after the other, cut in parts when there are too few of them.
void scan_rows(device::Queue* queue, ReduceOp op, const Memory& x, const Memory& out, Lines lines, bool initial) {
    const DType value = computed_in(x.dtype);
    const int code = op_code(op), items = lines.length <= 1024 ? 1 : tile_items(value);
    const std::int64_t tile = device_group * items, tiles = divide_up(lines.length, tile);
    const std::int64_t wanted = std::max<std::int64_t>(divide_up(busy_groups(queue->device()), lines.outer), 1);
    const std::int64_t part = divide_up(tiles, std::min(tiles, wanted)) * tile, parts = divide_up(lines.length, part);
    Memory carries = x;
    if (parts > 1) {
        carries = device_scratch(queue, value, lines.outer * parts);
        launch_kernel(queue, "cumulative",
                      Variant(KernelId::ScanTotals, x.dtype, {{"OP", code}, {"ITEMS", items}, {"ORDERED", is_ordered(op, x.dtype)}}),
                      lines.outer * parts, {reads(x), writes(carries), lines.length, parts, part});
        const int carry_items = tile_items(value);
        launch_kernel(queue, "cumulative", Variant(KernelId::ScanCarries, x.dtype, {{"OP", code}, {"ITEMS", carry_items}}), lines.outer,
                      {updates(carries), parts});
    }
    launch_kernel(queue, "cumulative", Variant(KernelId::ScanRows, x.dtype, {{"OP", code}, {"ITEMS", items}}), lines.outer * parts,
                  {reads(x), reads(carries), writes(out), lines.length, parts, part, std::int64_t{initial}});
}

/// Adjacent lines (or many short ones): an item each, or several where there are few.
void scan_columns(device::Queue* queue, ReduceOp op, const Memory& x, const Memory& out, Lines lines, bool initial) {
    const std::int64_t columns = lines.outer * lines.inner;
    const std::int64_t wanted = busy_groups(queue->device()) * device_group;
    std::int64_t chunks = std::clamp<std::int64_t>(wanted / columns, 1, std::max<std::int64_t>(lines.length / 32, 1));
    // The running totals of chunks are one item's work a line: no more of them than a chunk has elements.
    while (chunks > 1 && chunks > divide_up(lines.length, chunks)) chunks = divide_up(chunks, 2);
    const std::int64_t chunk = std::max<std::int64_t>(divide_up(lines.length, chunks), 1);
    chunks = std::max<std::int64_t>(divide_up(lines.length, chunk), 1);
    Memory totals = out;
    if (chunks > 1) totals = device_scratch(queue, computed_in(x.dtype), columns * chunks);
    const auto stage = [&](int number, std::int64_t items) {
        launch_kernel(
            queue, "cumulative", Variant(KernelId::ScanColumns, x.dtype, {{"OP", op_code(op)}, {"STAGE", number}}), groups_for(items),
            {reads(x), updates(totals), updates(out), lines.outer, lines.length, lines.inner, chunks, chunk, std::int64_t{initial}});
    };
    if (chunks > 1) {
        stage(0, columns * chunks);
        stage(1, columns);
    }
    stage(2, columns * chunks);
}

void device_cumulative(device::Queue* queue, ReduceOp op, const Memory& x, const Memory& out, Lines lines, bool initial) {
    // An array without elements has no memory of its own to name.
    const Memory& input = lines.length == 0 ? out : x;
    if (lines.length == 0 || lines.inner > 1 || (lines.length <= 32 && lines.outer > 1))
        scan_columns(queue, op, input, out, lines, initial);
    else
        scan_rows(queue, op, input, out, lines, initial);
}

const Registered cumulative_here(routines::cumulative, {"kernels", DeviceKinds::Text, device_cumulative});

}  // namespace

void device_running_sum(device::Queue* queue, const char* name, const Memory& counts) {
    launch_kernel(queue, name, Variant(KernelId::ScanCarries, DType::Int64, {{"OP", 0}, {"ITEMS", tile_items(DType::Int64)}}), 1,
                  {updates(counts), counts.size()});
}

}  // namespace pardo::routines
