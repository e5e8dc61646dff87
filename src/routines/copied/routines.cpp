// src/routines/copied/routines.cpp: each routine by the CPU's, on copies.
#include "routines/copied/operands.h"

namespace pardo::routines {
namespace {

using device::Queue;

void copied_cumulative(Queue* queue, graph::ReduceOp op, const Memory& x, const Memory& out, Lines lines, bool initial) {
    CopiedOperands on(queue);
    routines::cumulative(on.host(), op, on.read(x), on.written(out), lines, initial);
    on.finish();
}

void copied_sort(Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, bool descending) {
    CopiedOperands on(queue);
    routines::sort(on.host(), on.read(x), on.written(values), on.written(indices), lines, descending);
    on.finish();
}

void copied_partition(Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
                      std::span<const std::int64_t> kth) {
    CopiedOperands on(queue);
    routines::partition(on.host(), on.read(x), on.written(values), on.written(indices), lines, kth);
    on.finish();
}

void copied_top_k(Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, std::int64_t k, bool largest) {
    CopiedOperands on(queue);
    routines::top_k(on.host(), on.read(x), on.written(values), on.written(indices), lines, k, largest);
    on.finish();
}

void copied_searchsorted(Queue* queue, const Memory& sorted, const Memory& values, const Memory& out, bool right) {
    CopiedOperands on(queue);
    routines::searchsorted(on.host(), on.read(sorted), on.read(values), on.written(out), right);
    on.finish();
}

std::int64_t copied_count_mask(Queue* queue, const Memory& mask, const Memory& blocks) {
    CopiedOperands on(queue);
    const std::int64_t count = routines::count_mask(on.host(), on.read(mask), on.written(blocks));
    on.finish();
    return count;
}

void copied_nonzero(Queue* queue, const Memory& mask, const Memory& blocks, std::span<const Memory> out) {
    CopiedOperands on(queue);
    routines::nonzero(on.host(), on.read(mask), on.read(blocks), on.written(out));
    on.finish();
}

void copied_compress(Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& out) {
    CopiedOperands on(queue);
    routines::compress(on.host(), on.read(x), on.read(mask), on.read(blocks), on.written(out));
    on.finish();
}

void copied_put_mask(Queue* queue, const Memory& x, const Memory& mask, const Memory& blocks, const Memory& value) {
    CopiedOperands on(queue);
    routines::put_mask(on.host(), on.updated(x), on.read(mask), on.read(blocks), on.read(value));
    on.finish();
}

GatherPlan copied_plan(CopiedOperands& on, const GatherPlan& plan) {
    GatherPlan there = plan;
    there.bounds = on.read(plan.bounds);
    return there;
}

std::vector<Memory> copied_list(CopiedOperands& on, std::span<const Memory> list) {
    std::vector<Memory> there;
    for (const Memory& x : list) there.push_back(on.read(x));
    return there;
}

void copied_gather(Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& out) {
    CopiedOperands on(queue);
    routines::gather(on.host(), on.read(base), copied_list(on, indices), copied_plan(on, plan), on.written(out));
    on.finish();
}

void copied_scatter(Queue* queue, const Memory& base, std::span<const Memory> indices, const GatherPlan& plan, const Memory& value) {
    CopiedOperands on(queue);
    routines::scatter(on.host(), on.updated(base), copied_list(on, indices), copied_plan(on, plan), on.read(value));
    on.finish();
}

void copied_take_along_axis(Queue* queue, const Memory& x, const Memory& indices, const Memory& out, Lines lines, std::int64_t count,
                            const Bounds& bounds) {
    CopiedOperands on(queue);
    routines::take_along_axis(on.host(), on.read(x), on.read(indices), on.written(out), lines, count, on.read(bounds));
    on.finish();
}

std::int64_t copied_count_runs(Queue* queue, const Memory& sorted, bool equal_nan, const Memory& blocks) {
    CopiedOperands on(queue);
    const std::int64_t count = routines::count_runs(on.host(), on.read(sorted), equal_nan, on.written(blocks));
    on.finish();
    return count;
}

void copied_fill_runs(Queue* queue, const Memory& sorted, const Memory& order, bool equal_nan, const Memory& blocks, const Memory& values,
                      const Memory& indices, const Memory& inverse, const Memory& counts) {
    CopiedOperands on(queue);
    routines::fill_runs(on.host(), on.read(sorted), on.read(order), equal_nan, on.read(blocks), on.written(values), on.written(indices),
                        on.written(inverse), on.written(counts));
    on.finish();
}

void copied_matmul(Queue* queue, const Memory& a, const Memory& b, const Memory& out) {
    CopiedOperands on(queue);
    routines::matmul(on.host(), on.read(a), on.read(b), on.written(out));
    on.finish();
}

void copied_fft(Queue* queue, const Memory& x, const Memory& out, const Fourier& what, std::span<const int> axes) {
    CopiedOperands on(queue);
    routines::fft(on.host(), on.read(x), on.written(out), what, axes);
    on.finish();
}

bool copied_fft_in_parts(Queue*, Transform transform) { return routines::fft_in_parts(queue_of_copies(), transform); }

bool copied_matmul_takes(Queue*, const Memory& operand) { return routines::matmul_takes(queue_of_copies(), operand); }
void copied_matmul_ready(Queue*, DType dtype) { routines::matmul_ready(queue_of_copies(), dtype); }

/// What a device does itself is taken before.
constexpr double cost = 1000;

const Registered of_cumulative(routines::cumulative, {"copies", DeviceKinds::Away, copied_cumulative, nullptr, cost});
const Registered of_sort(routines::sort, {"copies", DeviceKinds::Away, copied_sort, nullptr, cost});
const Registered of_partition(routines::partition, {"copies", DeviceKinds::Away, copied_partition, nullptr, cost});
const Registered of_top_k(routines::top_k, {"copies", DeviceKinds::Away, copied_top_k, nullptr, cost});
const Registered of_searchsorted(routines::searchsorted, {"copies", DeviceKinds::Away, copied_searchsorted, nullptr, cost});
const Registered of_count_mask(routines::count_mask, {"copies", DeviceKinds::Away, copied_count_mask, nullptr, cost});
const Registered of_nonzero(routines::nonzero, {"copies", DeviceKinds::Away, copied_nonzero, nullptr, cost});
const Registered of_compress(routines::compress, {"copies", DeviceKinds::Away, copied_compress, nullptr, cost});
const Registered of_put_mask(routines::put_mask, {"copies", DeviceKinds::Away, copied_put_mask, nullptr, cost});
const Registered of_gather(routines::gather, {"copies", DeviceKinds::Away, copied_gather, nullptr, cost});
const Registered of_scatter(routines::scatter, {"copies", DeviceKinds::Away, copied_scatter, nullptr, cost});
const Registered of_take_along_axis(routines::take_along_axis, {"copies", DeviceKinds::Away, copied_take_along_axis, nullptr, cost});
const Registered of_count_runs(routines::count_runs, {"copies", DeviceKinds::Away, copied_count_runs, nullptr, cost});
const Registered of_fill_runs(routines::fill_runs, {"copies", DeviceKinds::Away, copied_fill_runs, nullptr, cost});
const Registered of_fft(routines::fft, {"copies", DeviceKinds::Away, copied_fft, nullptr, cost});
const Registered of_fft_in_parts(routines::fft_in_parts, {"copies", DeviceKinds::Away, copied_fft_in_parts, nullptr, cost});
const Registered of_matmul(routines::matmul, {"copies", DeviceKinds::Away, copied_matmul, nullptr, cost});
const Registered of_matmul_takes(routines::matmul_takes, {"copies", DeviceKinds::Away, copied_matmul_takes, nullptr, cost});
const Registered of_matmul_ready(routines::matmul_ready, {"copies", DeviceKinds::Away, copied_matmul_ready, nullptr, cost});

}  // namespace
}  // namespace pardo::routines
