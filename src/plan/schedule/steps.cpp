// src/plan/schedule/steps.cpp: changes of a loop nest.
#include "plan/schedule/steps.h"

#include <utility>

#include "plan/schedule/schedule.h"

namespace pardo::plan {
namespace {

/// The loops `order`, of which each is one that there was.
void reorder(KernelPlan& kernel, const SmallVector<int, 8>& order) {
    const auto permuted = [&](const Sizes& given) {
        Sizes out;
        for (const int l : order) out.push_back(given[l]);
        return out;
    };
    kernel.extents = permuted(kernel.extents);
    for (MemoryAccess& access : kernel.accesses) access.steps.dims = permuted(access.steps.dims);
    for (std::uint32_t& mask : kernel.loop_dims) {
        std::uint32_t moved = 0;
        for (int l = 0; l < order.size(); ++l) moved |= (mask >> order[l] & 1) << l;
        mask = moved;
    }
}

/// A loop of which no access and no value depends.
void insert_loop(KernelPlan& kernel, int at, const Size& extent) {
    kernel.extents.insert(at, extent);
    for (MemoryAccess& access : kernel.accesses) access.steps.dims.insert(at, 0);
    const std::uint32_t low = (1u << at) - 1;
    for (std::uint32_t& mask : kernel.loop_dims) mask = (mask & low) | (mask & ~low) << 1;
    for (KernelPlan::Block& b : kernel.blocks) {
        b.counter += b.counter >= at;
        b.dim += b.dim >= at;
    }
}

void merge(KernelPlan& kernel, int outer) {
    const int inner = outer + 1;
    kernel.extents[inner] = kernel.extents[outer] * kernel.extents[inner];
    kernel.extents.erase(outer);
    for (MemoryAccess& access : kernel.accesses) access.steps.dims.erase(outer);
    const std::uint32_t low = (1u << outer) - 1;
    for (std::uint32_t& mask : kernel.loop_dims) mask = (mask & low) | ((mask >> inner | (mask >> outer & 1)) << outer);
    if (inner < kernel.range) --kernel.range;
}

/// A loop of the range becomes the innermost of all.
void put_inside(KernelPlan& kernel, int at) {
    SmallVector<int, 8> order;
    for (int l = 0; l < kernel.extents.size(); ++l) {
        if (l != at) order.push_back(l);
    }
    order.push_back(at);
    reorder(kernel, order);
    --kernel.range;
}

void split(KernelPlan& kernel, const ScheduleStep& step) {
    insert_loop(kernel, step.counter, (kernel.extents[step.at] + step.length - 1) / step.length);
    ++kernel.range;
    kernel.blocks.push_back({step.counter, step.at + (step.at >= step.counter), step.length});
}

/// The loop moves behind all others; what is left of it in its place counts blocks.
void tile(KernelPlan& kernel, const ScheduleStep& step) {
    const Size extent = kernel.extents[step.at];
    kernel.extents.push_back(extent);
    kernel.extents[step.at] = (extent + step.length - 1) / step.length;
    const int inner = kernel.extents.size() - 1;
    for (MemoryAccess& access : kernel.accesses) {
        access.steps.dims.push_back(access.steps.dims[step.at]);
        access.steps.dims[step.at] = 0;
    }
    for (std::uint32_t& mask : kernel.loop_dims) {
        if (mask >> step.at & 1) mask = (mask & ~(1u << step.at)) | 1u << inner;
    }
    kernel.blocks.push_back({step.at, inner, step.length});
}

template <class Numbers = std::initializer_list<std::int64_t>> std::string in_brackets(const char* name, const Numbers& numbers) {
    std::string text = std::string(name) + "(";
    for (const std::int64_t n : numbers) text += (text.back() == '(' ? "" : ", ") + std::to_string(n);
    return text + ")";
}

}  // namespace

void apply(KernelPlan& kernel, ScheduleStep step) {
    using Kind = ScheduleStep::Kind;
    switch (step.kind) {
        case Kind::Reorder: reorder(kernel, step.order); break;
        case Kind::Merge: merge(kernel, step.at); break;
        case Kind::Single:
            insert_loop(kernel, 0, 1);
            kernel.range = 1;
            break;
        case Kind::Inside: put_inside(kernel, step.at); break;
        case Kind::Unroll:
            kernel.unrolled = true;
            --kernel.range;
            break;
        case Kind::Lanes: kernel.lanes = step.at < kernel.range; break;
        case Kind::Split: split(kernel, step); break;
        case Kind::Tile: tile(kernel, step); break;
    }
    kernel.steps.push_back(std::move(step));
}

std::string text_of(const ScheduleStep& step) {
    using Kind = ScheduleStep::Kind;
    switch (step.kind) {
        case Kind::Reorder: return in_brackets("reorder", step.order);
        case Kind::Merge: return in_brackets("merge", {step.at, step.at + 1});
        case Kind::Single: return in_brackets("single", {});
        case Kind::Inside: return in_brackets("inside", {step.at});
        case Kind::Unroll: return in_brackets("unroll", {step.at});
        case Kind::Lanes: return in_brackets("lanes", {step.at});
        case Kind::Split: return in_brackets("split", {step.at, step.length.value()});
        case Kind::Tile: return in_brackets("tile", {step.at, step.length.value()});
    }
    return {};
}

}  // namespace pardo::plan
