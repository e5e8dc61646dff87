// src/array/calls/searching.cpp: searchsorted, nonzero, compress, put_mask, unique.
#include <numeric>
#include <optional>
#include <vector>

#include "array/call.h"
#include "array/calls/gather.h"
#include "array/operand.h"
#include "array/record.h"
#include "array/write_hazards.h"

namespace pardo {

namespace {

struct SearchCall final : arrays::ArrayCall {
    explicit SearchCall(bool after_equals) : ArrayCall("searchsorted"), right(after_equals) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        const routines::Memory table = arrays::contiguous_memory(inputs[0]), wanted = arrays::contiguous_memory(inputs[1]);
        device::Queue* queue = inputs[0].node()->queue.get();
        const arrays::Output out = arrays::make_output(name, queue, DType::Int64, wanted.shape, routines::kind_of(table, wanted));
        if (out.memory.size() > 0) routines::searchsorted(queue, table, wanted, out.memory, right);
        results[0] = out.array;
    }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        const graph::Node &table = *inputs[0].node, &wanted = *inputs[1].node;
        return routines::searchsorted.describe(table.queue.get(), routines::described(table.dtype, table.shape),
                                               routines::described(wanted.dtype, wanted.shape),
                                               routines::described(DType::Int64, wanted.shape), right);
    }
    bool right;
};

}  // namespace

Array searchsorted(const Array& sorted, const Array& values, bool right, const Array* sorter) {
    const char* op_name = "searchsorted";
    if (sorted.ndim() != 1) routines::fail(ErrorCode::Value, op_name, "object too deep for desired array: the sorted array must be 1-d");
    arrays::queue_of(op_name, sorted, values);
    Array keys = sorted;
    if (sorter) {
        arrays::queue_of(op_name, sorted, *sorter);
        if (!is_integer(sorter->dtype())) routines::fail(ErrorCode::Type, op_name, "sorter must only contain integers");
        if (sorter->ndim() != 1 || sorter->size() != sorted.size())
            routines::fail(ErrorCode::Value, op_name, "sorter.size must equal a.size");
        keys = take(sorted, *sorter, 0);
    }
    const DType dtype = graph::default_on(sorted.node()->queue.get(), promote(sorted.dtype(), values.dtype()));
    const Array inputs[] = {arrays::cast(keys, dtype), arrays::cast(values, dtype)};
    return arrays::record(Ref<arrays::ArrayCall>(new SearchCall(right)), inputs, {DType::Int64, arrays::shape_of(values)});
}

namespace {

/// A mask with the number of its true elements, and how many there are before each block.
struct CountedMask {
    routines::Memory mask, blocks;
    std::int64_t count = 0;
};
CountedMask count_mask(const char* op_name, device::Queue* queue, routines::Memory mask) {
    CountedMask out;
    out.mask = std::move(mask);
    routines::count_mask.ask(op_name, out.mask.nbytes(), queue, out.mask, {});
    out.blocks = routines::make_scratch(queue, DType::Int64, routines::mask_blocks(out.mask.size()) + 1);
    if (out.mask.size() > 0) out.count = routines::count_mask(queue, out.mask, out.blocks);
    return out;
}

}  // namespace

std::vector<Array> nonzero(const Array& x) {
    const char* op_name = "nonzero";
    if (x.ndim() == 0)
        routines::fail(ErrorCode::Value, op_name,
                       "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.");
    device::Queue* queue = arrays::queue_of(op_name, x);
    const CountedMask counted = count_mask(op_name, queue, arrays::contiguous_memory(x, DType::Bool));
    std::vector<Array> arrays;
    std::vector<routines::Memory> memories;
    for (int d = 0; d < x.ndim(); ++d) {
        arrays::Output out = arrays::make_output(op_name, queue, DType::Int64, Shape{counted.count}, routines::kind_of(counted.mask));
        arrays.push_back(std::move(out.array));
        memories.push_back(std::move(out.memory));
    }
    if (counted.count > 0) {
        routines::nonzero.ask(op_name, counted.mask.nbytes(), queue, counted.mask, counted.blocks, memories);
        routines::nonzero(queue, counted.mask, counted.blocks, memories);
    }
    return arrays;
}

namespace arrays {

Array compress(const Array& x, const Array& mask) {
    const char* op_name = "x[mask]";
    device::Queue* queue = queue_of(op_name, x, mask);
    const CountedMask counted = count_mask(op_name, queue, contiguous_memory(mask, DType::Bool));
    const Memory input = contiguous_memory(x);
    const Output out = make_output(op_name, queue, x.dtype(), Shape{counted.count}, kind_of(input, counted.mask));
    if (counted.count > 0) {
        routines::compress.ask(op_name, input.nbytes() + counted.mask.nbytes(), queue, input, counted.mask, counted.blocks, out.memory);
        routines::compress(queue, input, counted.mask, counted.blocks, out.memory);
    }
    return out.array;
}

void put_mask(const Array& x, const Array& mask, const Array& value) {
    const char* op_name = "x[mask] = value";
    if (value.ndim() > 1)
        fail(ErrorCode::Value, op_name,
             "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input has " + std::to_string(value.ndim()) +
                 " dimensions");
    device::Queue* queue = queue_of(op_name, x, mask, value);
    const Memory target = writable_memory(op_name, x);
    const CountedMask counted = count_mask(op_name, queue, detached_memory(mask, DType::Bool, target));
    if (value.size() != 1 && value.size() != counted.count)
        fail(ErrorCode::Value, op_name,
             "NumPy boolean array indexing assignment cannot assign " + std::to_string(value.size()) + " input values to the " +
                 std::to_string(counted.count) + " output values where the mask is true");
    if (counted.count == 0) return;
    const Memory source = detached_memory(value, x.dtype(), target);
    routines::put_mask.ask(op_name, target.nbytes() + counted.mask.nbytes() + source.nbytes(), queue, target, counted.mask, counted.blocks,
                           source);
    const PendingWrite write(queue, target);
    routines::put_mask(queue, target, counted.mask, counted.blocks, source);
}

}  // namespace arrays

namespace {

/// The distinct values of many integers that lie near together, by a mark for each that there could be; nothing where they do not, or where
/// no code sets marks.
std::optional<Array> marked_values(const char* op_name, device::Queue* queue, const Array& flat) {
    constexpr std::int64_t most = 1 << 20, least = 1 << 15;
    const DType dtype = flat.dtype();
    if (!is_integer(dtype) || flat.size() < least) return {};
    if (routines::mark_values
            .describe(queue, routines::described(dtype, arrays::shape_of(flat)), 0, routines::described(DType::Bool, Shape{most}))
            .name.empty())
        return {};
    const Array ends[] = {min(flat), max(flat)};
    force(ends);  // both in one pass
    const Scalar low = ends[0].item(), high = ends[1].item();
    const auto range = static_cast<std::int64_t>(high.u - low.u);
    if (range < 0 || range >= std::min(most, flat.size())) return {};
    const routines::Memory elements = arrays::contiguous_memory(flat);
    const arrays::Output marks = arrays::make_output(op_name, queue, DType::Bool, Shape{range + 1}, routines::kind_of(elements));
    const std::uint8_t zero = 0;
    queue->fill(marks.memory.buffer.get(), 0, static_cast<std::size_t>(range + 1), &zero, sizeof(zero));
    routines::mark_values(queue, elements, low.i, marks.memory);
    return add(nonzero(marks.array)[0].astype(dtype), low);
}

}  // namespace

Unique unique(const Array& x, bool equal_nan, bool values_only) {
    const char* op_name = "unique";
    device::Queue* queue = arrays::queue_of(op_name, x);
    const Array flat = arrays::flatten(x);
    const std::int64_t size = flat.size();
    Array order, sorted;
    if (values_only) {
        if (const std::optional<Array> values = marked_values(op_name, queue, flat)) return {*values, {}, {}, {}};
        sorted = sort(flat);
    } else {
        order = argsort(flat);
        sorted = take(flat, order, 0);
    }
    const routines::Memory keys = arrays::memory_of(sorted);
    const routines::Memory blocks = routines::make_scratch(queue, DType::Int64, routines::mask_blocks(size) + 1);
    if (size > 0) routines::count_runs.ask(op_name, keys.nbytes(), queue, keys, equal_nan, blocks);
    const std::int64_t count = size > 0 ? routines::count_runs(queue, keys, equal_nan, blocks) : 0;
    const arrays::Output values = arrays::make_output(op_name, queue, x.dtype(), Shape{count}, routines::kind_of(keys));
    Unique result;
    result.values = values.array;
    if (size > 0) {
        const std::int64_t bytes = keys.nbytes() + (values_only ? 0 : order.size() * itemsize(order.dtype()));
        routines::fill_runs.ask(op_name, bytes, queue, keys, {}, equal_nan, blocks, values.memory, {}, {}, {});
    }
    if (values_only) {
        if (size > 0) routines::fill_runs(queue, keys, {}, equal_nan, blocks, values.memory, {}, {}, {});
        return result;
    }
    const arrays::Output indices = arrays::make_output(op_name, queue, DType::Int64, Shape{count}, routines::kind_of(keys)),
                         counts = arrays::make_output(op_name, queue, DType::Int64, Shape{count}, routines::kind_of(keys));
    const arrays::Output inverse = arrays::make_output(op_name, queue, DType::Int64, arrays::shape_of(x), routines::kind_of(keys));
    if (size > 0)
        routines::fill_runs(queue, keys, arrays::memory_of(order), equal_nan, blocks, values.memory, indices.memory, inverse.memory,
                            counts.memory);
    result.indices = indices.array;
    result.inverse = inverse.array;
    result.counts = counts.array;
    return result;
}

}  // namespace pardo
