// src/array/calls/matmul.cpp: matmul, vecdot, tensordot.
#include <algorithm>
#include <vector>

#include "array/call.h"
#include "array/operand.h"

namespace pardo {

namespace {

/// sum(a * b) along axes in their common dtype, recorded; the shapes broadcast. NumPy's dot does not widen small integers.
Array product_sum(const Array& a, const Array& b, const Axes& axes) {
    const DType dtype = graph::default_on(a.node()->queue.get(), promote(a.dtype(), b.dtype()));
    if (dtype == DType::Bool) return reduce(Reduction::Any, logical_and(a, b), axes);
    if (is_narrow_float(dtype)) {
        const DType computed = computed_in(dtype);
        const Array wide = multiply(a.astype(computed, false), b.astype(computed, false));
        return reduce(Reduction::Sum, wide, axes, false, computed).astype(dtype);
    }
    return reduce(Reduction::Sum, multiply(a, b), axes, false, dtype);
}

std::vector<std::int64_t> last_axis() { return {-1}; }

[[noreturn]] void core_mismatch(std::int64_t size, std::int64_t other) {
    routines::fail(ErrorCode::Value, "matmul",
                   "Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) (size " +
                       std::to_string(size) + " is different from " + std::to_string(other) + ")");
}

Array with_axis(const Array& x, std::int64_t axis) { return expand_dims(x, axis); }
Array without_axis(const Array& x, std::int64_t axis) { return squeeze(x, axis); }

/// One matrix or a stack of them as the routine gets it: broadcast to the batch.
routines::Memory stacked(const routines::Memory& memory, const Shape& batch) {
    const int rank = memory.shape.size();
    if (rank == 2 && batch.empty()) return memory;
    // Broadcast dimensions of the batch get stride zero.
    routines::Memory out = memory;
    out.shape = batch;
    out.strides.assign(batch.size(), 0);
    const int missing = batch.size() - (rank - 2);
    for (int d = 0; d < rank - 2; ++d) {
        if (memory.shape[d] != 1) out.strides[missing + d] = memory.strides[d];
    }
    for (int d = rank - 2; d < rank; ++d) {
        out.shape.push_back(memory.shape[d]);
        out.strides.push_back(memory.strides[d]);
    }
    return out;
}

/// A stack of matrices that the routine takes, copied only if it has to be.
routines::Memory matrices(device::Queue* queue, const Array& x, const Shape& batch) {
    const routines::Memory memory = arrays::memory_of(x);
    return stacked(routines::matmul_takes(queue, memory) ? memory : arrays::contiguous_memory(x), batch);
}
/// The same, of what is still to be in memory.
routines::Memory described_matrices(const graph::CallInput& x, const Shape& batch) {
    const routines::Memory memory = routines::described(x);
    return stacked(routines::matmul_takes(x.node->queue.get(), memory) ? memory : routines::described(memory.dtype, memory.shape), batch);
}

struct MatmulCall final : arrays::ArrayCall {
    explicit MatmulCall(Shape stack) : ArrayCall("matmul"), batch(std::move(stack)) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        const Array &a = inputs[0], &b = inputs[1];
        device::Queue* queue = a.node()->queue.get();
        const Shape shape = result_shape(a.node()->shape, b.node()->shape);
        const MemoryKind kind = std::min(a.node()->buffer->kind_for_results(), b.node()->buffer->kind_for_results());
        arrays::Output out = arrays::make_output(name, queue, a.dtype(), shape, kind);
        results[0] = std::move(out.array);
        if (out.memory.size() == 0) return;
        routines::matmul(queue, matrices(queue, a, batch), matrices(queue, b, batch), out.memory);
    }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        const graph::Node &a = *inputs[0].node, &b = *inputs[1].node;
        return routines::matmul.describe(a.queue.get(), described_matrices(inputs[0], batch), described_matrices(inputs[1], batch),
                                         routines::described(a.dtype, result_shape(a.shape, b.shape)));
    }
    graph::CallCost cost_row() const override { return graph::CallCost::product; }
    Shape result_shape(const Shape& a, const Shape& b) const {
        Shape shape = batch;
        shape.push_back(a[a.size() - 2]);
        shape.push_back(b.back());
        return shape;
    }
    Shape batch;
};

}  // namespace

Array matmul(const Array& a, const Array& b) {
    const char* op_name = "matmul";
    device::Queue* queue = arrays::queue_of(op_name, a, b);
    for (int k = 0; k < 2; ++k) {
        if ((k ? b : a).ndim() == 0)
            routines::fail(ErrorCode::Value, op_name,
                           "Input operand " + std::to_string(k) +
                               " does not have enough dimensions (has 0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)");
    }
    const std::int64_t depth = a.shape().back(), other = b.shape()[static_cast<std::size_t>(std::max(b.ndim() - 2, 0))];
    if (depth != other) core_mismatch(other, depth);
    if (a.ndim() == 1 && b.ndim() == 1) return product_sum(a, b, last_axis());
    if (a.ndim() == 1) return without_axis(matmul(with_axis(a, 0), b), -2);
    if (b.ndim() == 1) return without_axis(matmul(a, with_axis(b, 1)), -1);

    const DType dtype = graph::default_on(a.node()->queue.get(), promote(a.dtype(), b.dtype()));
    Shape batch = broadcast(op_name, a.shape().first(static_cast<std::size_t>(a.ndim() - 2)),
                            b.shape().first(static_cast<std::size_t>(b.ndim() - 2)));
    Shape shape = batch;
    shape.push_back(a.shape()[static_cast<std::size_t>(a.ndim() - 2)]);
    shape.push_back(b.shape().back());
    if (depth == 0) return zeros(shape, dtype, Queue(queue));
    if (element_count(shape) > 0) routines::matmul_ready(queue, dtype);
    const Array inputs[] = {arrays::cast(a, dtype), arrays::cast(b, dtype)};
    return arrays::record(Ref<arrays::ArrayCall>(new MatmulCall(std::move(batch))), inputs, {dtype, std::move(shape)});
}

Array vecdot(const Array& a, const Array& b, std::int64_t axis) {
    const char* op_name = "vecdot";
    arrays::queue_of(op_name, a, b);
    if (a.ndim() == 0 || b.ndim() == 0)
        routines::fail(ErrorCode::Value, op_name,
                       "Input operand " + std::to_string(a.ndim() != 0) +
                           " does not have enough dimensions (has 0, gufunc core with signature (n),(n)->() requires 1)");
    const int at_a = arrays::checked_axis(op_name, axis, a.ndim()), at_b = arrays::checked_axis(op_name, axis, b.ndim());
    const std::int64_t length = a.shape()[static_cast<std::size_t>(at_a)], other = b.shape()[static_cast<std::size_t>(at_b)];
    if (length != other)
        routines::fail(ErrorCode::Value, op_name,
                       "Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->() (size " +
                           std::to_string(other) + " is different from " + std::to_string(length) + ")");
    const std::int64_t last[] = {-1}, from_a[] = {at_a}, from_b[] = {at_b};
    const Array left = is_complex(a.dtype()) ? conjugate(a) : a;
    return product_sum(moveaxis(left, from_a, last), moveaxis(b, from_b, last), last_axis());
}

namespace {

/// x with `axes` moved to one end, as a matrix; the extents of the other axes are appended to `kept`.
Array tensor_matrix(const Array& x, const std::vector<int>& axes, bool to_front, Shape& kept) {
    SmallVector<std::int64_t, 8> order;
    std::int64_t rows = 1, columns = 1;
    for (int d = 0; d < x.ndim(); ++d) {
        if (std::ranges::find(axes, d) != axes.end()) continue;
        order.push_back(d);
        kept.push_back(x.shape()[static_cast<std::size_t>(d)]);
        rows *= x.shape()[static_cast<std::size_t>(d)];
    }
    for (std::size_t k = 0; k < axes.size(); ++k) {
        order.insert(to_front ? static_cast<int>(k) : order.size(), axes[k]);
        columns *= x.shape()[static_cast<std::size_t>(axes[k])];
    }
    if (to_front) std::swap(rows, columns);
    const std::int64_t matrix[] = {rows, columns};
    return reshape(permute_dims(x, order), matrix);
}

}  // namespace

Array tensordot(const Array& a, const Array& b, Extents axes_a, Extents axes_b) {
    const char* op_name = "tensordot";
    arrays::queue_of(op_name, a, b);
    if (axes_a.size() != axes_b.size()) routines::fail(ErrorCode::Value, op_name, "shape-mismatch for sum: different numbers of axes");
    std::vector<int> at_a, at_b;
    for (std::size_t k = 0; k < axes_a.size(); ++k) {
        at_a.push_back(arrays::checked_axis(op_name, axes_a[k], a.ndim()));
        at_b.push_back(arrays::checked_axis(op_name, axes_b[k], b.ndim()));
        const std::int64_t one = a.shape()[static_cast<std::size_t>(at_a[k])], other = b.shape()[static_cast<std::size_t>(at_b[k])];
        if (one != other)
            routines::fail(ErrorCode::Value, op_name,
                           "shape-mismatch for sum: axis " + std::to_string(at_a[k]) + " of the first operand has " + std::to_string(one) +
                               " elements, axis " + std::to_string(at_b[k]) + " of the second has " + std::to_string(other));
    }
    for (const std::vector<int>* axes : {&at_a, &at_b}) {
        std::vector<int> sorted = *axes;
        std::ranges::sort(sorted);
        if (std::ranges::adjacent_find(sorted) != sorted.end()) routines::fail(ErrorCode::Value, op_name, "an axis is named twice");
    }
    if (at_a.size() == static_cast<std::size_t>(a.ndim()) && at_b.size() == static_cast<std::size_t>(b.ndim())) {  // a number: one kernel
        const std::vector<std::int64_t> order_a(at_a.begin(), at_a.end()), order_b(at_b.begin(), at_b.end());
        return product_sum(permute_dims(a, order_a), permute_dims(b, order_b), std::nullopt);
    }
    Shape shape;
    const Array left = tensor_matrix(a, at_a, false, shape);
    const Array right = tensor_matrix(b, at_b, true, shape);
    return reshape(matmul(left, right), shape);
}

}  // namespace pardo
