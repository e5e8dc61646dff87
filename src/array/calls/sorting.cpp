// src/array/calls/sorting.cpp: sort, argsort, partition, argpartition, top_k; sorted runs, cut and merged.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <pardo/binding/layout.h>
#include <pardo/binding/runs.h>

#include "array/call.h"
#include "array/operand.h"
#include "routines/runs.h"

namespace pardo {

namespace {

enum class Result : std::uint8_t { Values, Indices };

/// The dtype of one result.
DType dtype_of(Result result, const Array& x) { return result == Result::Values ? x.dtype() : DType::Int64; }

/// Values or positions of lines along an axis: `submit` gets the input, the memory of both (one of them absent), and the lines.
template <class F> Array along_lines(const char* op_name, const Array& x, Result result, int axis, F&& submit) {
    const routines::Memory input = arrays::contiguous_memory(x);
    const arrays::Output out =
        arrays::make_output(op_name, x.node()->queue.get(), dtype_of(result, x), input.shape, routines::kind_of(input));
    const routines::Memory none{};
    const bool values = result == Result::Values;
    if (input.size() > 0) submit(input, values ? out.memory : none, values ? none : out.memory, routines::lines_of(input.shape, axis));
    return out.array;
}

/// What `along_lines` would submit, for explain: `describe` gets the queue and what `submit` gets.
template <class F> graph::ImplementationChoice choice(const graph::CallInput& x, Result result, int axis, F&& describe) {
    const routines::Memory input = routines::described(x.node->dtype, x.node->shape), none{};
    const bool values = result == Result::Values;
    const routines::Memory out = routines::described(values ? input.dtype : DType::Int64, input.shape);
    return describe(x.node->queue.get(), input, values ? out : none, values ? none : out, routines::lines_of(input.shape, axis));
}

struct SortCall final : arrays::ArrayCall {
    SortCall(const char* op_name, Result wanted, int axis, bool down) : ArrayCall(op_name), result(wanted), at(axis), descending(down) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        device::Queue* queue = inputs[0].node()->queue.get();
        results[0] = along_lines(name, inputs[0], result, at,
                                 [&](const routines::Memory& x, const routines::Memory& values, const routines::Memory& indices,
                                     routines::Lines lines) { routines::sort(queue, x, values, indices, lines, descending); });
    }
    graph::CallCost cost_row() const override { return graph::CallCost::sorting; }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        return choice(inputs[0], result, at, [&](const auto&... operands) { return routines::sort.describe(operands..., descending); });
    }
    Result result;
    int at;
    bool descending;
};

struct PartitionCall final : arrays::ArrayCall {
    PartitionCall(const char* op_name, Result wanted, int axis, std::vector<std::int64_t> positions)
        : ArrayCall(op_name), result(wanted), at(axis), kth(std::move(positions)) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        device::Queue* queue = inputs[0].node()->queue.get();
        results[0] = along_lines(name, inputs[0], result, at,
                                 [&](const routines::Memory& x, const routines::Memory& values, const routines::Memory& indices,
                                     routines::Lines lines) { routines::partition(queue, x, values, indices, lines, kth); });
    }
    graph::CallCost cost_row() const override { return graph::CallCost::sorting; }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        return choice(inputs[0], result, at, [&](const auto&... operands) { return routines::partition.describe(operands..., kth); });
    }
    Result result;
    int at;
    std::vector<std::int64_t> kth;
};

struct RankedCall final : arrays::ArrayCall {
    RankedCall(int axis, std::vector<std::int64_t> positions) : ArrayCall("partition"), at(axis), kth(std::move(positions)) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        const routines::Memory input = arrays::contiguous_memory(inputs[0]);
        device::Queue* queue = inputs[0].node()->queue.get();
        const arrays::Output out = arrays::make_output(name, queue, input.dtype, result_shape(input.shape), routines::kind_of(input));
        if (out.memory.size() > 0) routines::ranked(queue, input, out.memory, routines::lines_of(input.shape, at), kth);
        results[0] = out.array;
    }
    graph::CallCost cost_row() const override { return graph::CallCost::sorting; }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        const graph::Node& x = *inputs[0].node;
        return routines::ranked.describe(x.queue.get(), routines::described(x.dtype, x.shape),
                                         routines::described(x.dtype, result_shape(x.shape)), routines::lines_of(x.shape, at), kth);
    }
    Shape result_shape(Shape shape) const {
        shape[at] = static_cast<std::int64_t>(kth.size());
        return shape;
    }
    int at;
    std::vector<std::int64_t> kth;
};

struct TopKCall final : arrays::ArrayCall {
    TopKCall(int axis, std::int64_t count, bool from_largest) : ArrayCall("top_k"), at(axis), k(count), largest(from_largest) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        device::Queue* queue = inputs[0].node()->queue.get();
        const routines::Memory input = arrays::contiguous_memory(inputs[0]);
        Shape shape = input.shape;
        shape[at] = k;
        const MemoryKind kind = routines::kind_of(input);
        const arrays::Output values = arrays::make_output(name, queue, input.dtype, shape, kind),
                             indices = arrays::make_output(name, queue, DType::Int64, shape, kind);
        if (values.memory.size() > 0)
            routines::top_k(queue, input, values.memory, indices.memory, routines::lines_of(input.shape, at), k, largest);
        results[0] = values.array;
        results[1] = indices.array;
    }
    graph::CallCost cost_row() const override { return graph::CallCost::sorting; }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        const graph::Node& x = *inputs[0].node;
        Shape shape = x.shape;
        shape[at] = k;
        return routines::top_k.describe(x.queue.get(), routines::described(x.dtype, x.shape), routines::described(x.dtype, shape),
                                        routines::described(DType::Int64, shape), routines::lines_of(x.shape, at), k, largest);
    }
    int at;
    std::int64_t k;
    bool largest;
};

Array sorted(const char* op_name, Result result, const Array& x, std::int64_t axis, bool descending) {
    if (x.ndim() == 0)
        routines::fail(ErrorCode::Axis, op_name, "axis " + std::to_string(axis) + " is out of bounds for array of dimension 0");
    const int at = arrays::checked_axis(op_name, axis, x.ndim());
    return arrays::record(Ref<arrays::ArrayCall>(new SortCall(op_name, result, at, descending)), std::span(&x, 1),
                          {dtype_of(result, x), arrays::shape_of(x)});
}

Array partitioned(const char* op_name, Result result, const Array& x, Extents kth, std::int64_t axis) {
    const int at = arrays::checked_axis(op_name, axis, x.ndim());
    const std::int64_t length = x.shape()[static_cast<std::size_t>(at)];
    std::vector<std::int64_t> positions;
    for (const std::int64_t k : kth) {
        // NumPy accepts any kth for an axis without elements.
        if (length > 0 && (k < -length || k >= length))
            routines::fail(ErrorCode::Value, op_name,
                           "kth(=" + std::to_string(k < 0 ? k + length : k) + ") out of bounds (" + std::to_string(length) + ")");
        positions.push_back(k < 0 ? k + length : k);
    }
    std::ranges::sort(positions);
    return arrays::record(Ref<arrays::ArrayCall>(new PartitionCall(op_name, result, at, std::move(positions))), std::span(&x, 1),
                          {dtype_of(result, x), arrays::shape_of(x)});
}

}  // namespace

// Every sort here is stable, so `stable` asks for nothing more.
Array sort(const Array& x, std::int64_t axis, bool descending, bool) { return sorted("sort", Result::Values, x, axis, descending); }
Array argsort(const Array& x, std::int64_t axis, bool descending, bool) { return sorted("argsort", Result::Indices, x, axis, descending); }

Array partition(const Array& x, Extents kth, std::int64_t axis) { return partitioned("partition", Result::Values, x, kth, axis); }
Array argpartition(const Array& x, Extents kth, std::int64_t axis) { return partitioned("argpartition", Result::Indices, x, kth, axis); }

Array ranked(const Array& x, Extents kth, std::int64_t axis) {
    const int at = arrays::checked_axis("ranked", axis, x.ndim());
    Shape shape = arrays::shape_of(x);
    for (std::size_t k = 0; k < kth.size(); ++k) {
        if (kth[k] < 0 || kth[k] >= shape[at] || (k > 0 && kth[k] <= kth[k - 1]))
            routines::fail(ErrorCode::Value, "ranked", "positions must be in ascending order and lie in the axis");
    }
    std::vector<std::int64_t> positions(kth.begin(), kth.end());
    Shape result = shape;
    result[at] = static_cast<std::int64_t>(kth.size());
    const routines::Memory input = routines::described(x.dtype(), shape), out = routines::described(x.dtype(), result);
    if (!routines::ranked.applies(arrays::queue_of("ranked", x), input, out, routines::lines_of(shape, at), positions))
        return take(partition(x, kth, axis), note_following(array(std::span<const std::int64_t>(positions), x.queue())), at);
    return arrays::record(Ref<arrays::ArrayCall>(new RankedCall(at, std::move(positions))), std::span(&x, 1), {x.dtype(), result});
}

std::pair<Array, Array> top_k(const Array& x, std::int64_t k, std::int64_t axis, bool largest) {
    const int at = arrays::checked_axis("top_k", axis, x.ndim());
    const std::int64_t length = x.shape()[static_cast<std::size_t>(at)];
    if (k < 0 || k > length)
        routines::fail(
            ErrorCode::Value, "top_k",
            "k = " + std::to_string(k) + " is not in [0, " + std::to_string(length) + "], the length of axis " + std::to_string(at));
    Shape shape = arrays::shape_of(x);
    shape[at] = k;
    return arrays::record(Ref<arrays::ArrayCall>(new TopKCall(at, k, largest)), std::span(&x, 1), {x.dtype(), shape},
                          {DType::Int64, shape});
}

namespace {

void check_runs(const char* op_name, std::span<const Array> runs) {
    for (const Array& run : runs) {
        if (run.ndim() != 1 || run.dtype() != runs[0].dtype())
            routines::fail(ErrorCode::Value, op_name, "the runs must have one dimension each, and one dtype");
    }
}

}  // namespace

bool reached_in_place(const Array& x, const Queue& queue) {
    constexpr auto host_code = device::Feature::HostCode;
    device::Queue* const own = arrays::queue_of("reached_in_place", x);
    return own == queue.impl() || (own->device()->can(host_code) && queue.impl()->device()->can(host_code));
}

std::optional<Array> cut_runs(std::span<const Array> runs, Extents targets, bool descending, const Queue& queue) {
    const char* op_name = "cut_runs";
    if (runs.empty()) routines::fail(ErrorCode::Value, op_name, "there must be at least one run");
    check_runs(op_name, runs);
    std::vector<routines::Memory> described;
    for (const Array& run : runs) {
        if (!reached_in_place(run, queue)) return {};
        described.push_back(routines::described(run.dtype(), arrays::shape_of(run)));
    }
    const Shape shape{static_cast<std::int64_t>(targets.size()), static_cast<std::int64_t>(runs.size())};
    if (!routines::cut_runs.applies(queue.impl(), described, routines::described(DType::Int64, shape), targets, descending)) return {};
    std::vector<routines::Memory> memories;
    for (const Array& run : runs) memories.push_back(arrays::contiguous_memory(run));
    const arrays::Output out = arrays::make_output(op_name, queue.impl(), DType::Int64, shape, routines::kind_of(memories[0]));
    if (out.memory.size() > 0) routines::cut_runs(queue.impl(), memories, out.memory, targets, descending);
    return out.array;
}

std::optional<std::pair<Array, Array>> merge_runs(const Array& a, const Array& b, const Array* a_places, const Array* b_places,
                                                  bool descending, const Queue& queue) {
    const char* op_name = "merge_runs";
    const Array runs[] = {a, b};
    check_runs(op_name, runs);
    for (const auto& [run, places] : {std::pair{&a, a_places}, std::pair{&b, b_places}}) {
        if (!a_places != !places || (places && (places->dtype() != DType::Int64 || places->ndim() != 1 || places->size() != run->size())))
            routines::fail(ErrorCode::Value, op_name, "both runs must have an int64 for each element, or none");
    }
    for (const Array* x : {&a, &b, a_places, b_places}) {
        if (x && !reached_in_place(*x, queue)) return {};
    }
    const Shape shape{a.size() + b.size()};
    const routines::Memory none{}, described = routines::described(a.dtype(), shape);
    if (!routines::merge_runs.applies(queue.impl(), described, described, none, none, described, none, descending)) return {};
    const auto memory = [](const Array* x) { return x ? arrays::contiguous_memory(*x) : routines::Memory(); };
    const routines::Memory first = memory(&a), second = memory(&b), first_places = memory(a_places), second_places = memory(b_places);
    const MemoryKind kind = routines::kind_of(first, second);
    const arrays::Output out = arrays::make_output(op_name, queue.impl(), a.dtype(), shape, kind);
    arrays::Output places;
    if (a_places) places = arrays::make_output(op_name, queue.impl(), DType::Int64, shape, kind);
    if (out.memory.size() > 0)
        routines::merge_runs(queue.impl(), first, second, first_places, second_places, out.memory, places.memory, descending);
    return std::pair(out.array, places.array);
}

}  // namespace pardo
