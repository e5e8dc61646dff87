// src/array/calls/cumulative.cpp: running sums, products, minima and maxima along an axis.
#include "array/call.h"
#include "array/operand.h"
#include "array/reductions.h"

namespace pardo {

namespace {

struct CumulativeCall final : arrays::ArrayCall {
    CumulativeCall(const char* op_name, graph::ReduceOp fold, int axis, bool initial)
        : ArrayCall(op_name), op(fold), at(axis), include_initial(initial) {}
    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        const routines::Memory input = arrays::contiguous_memory(inputs[0]);
        device::Queue* queue = inputs[0].node()->queue.get();
        const arrays::Output out = arrays::make_output(name, queue, input.dtype, result_shape(input.shape), routines::kind_of(input));
        if (out.memory.size() > 0) routines::cumulative(queue, op, input, out.memory, routines::lines_of(input.shape, at), include_initial);
        results[0] = out.array;
    }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        const graph::Node& x = *inputs[0].node;
        return routines::cumulative.describe(x.queue.get(), op, routines::described(x.dtype, x.shape),
                                             routines::described(x.dtype, result_shape(x.shape)), routines::lines_of(x.shape, at),
                                             include_initial);
    }
    Shape result_shape(Shape shape) const {
        shape[at] += include_initial;
        return shape;
    }
    graph::ReduceOp op;
    int at;
    bool include_initial;
};

}  // namespace

Array cumulative(Reduction op, const Array& x, std::optional<std::int64_t> axis, std::optional<DType> dtype, bool include_initial) {
    const arrays::ReductionRow& row = arrays::row_of(op);
    const char* op_name = row.cumulative;
    if (row.fold > graph::ReduceOp::Max)
        routines::fail(ErrorCode::Value, op_name, "the operation must be a sum, a product, a minimum or a maximum");
    if (!axis) return cumulative(op, x.ndim() == 1 ? x : arrays::flatten(x), 0, dtype, include_initial);
    if (x.ndim() == 0) return cumulative(op, arrays::flatten(x), arrays::checked_axis(op_name, *axis, 1), dtype, include_initial);
    const int at = arrays::checked_axis(op_name, *axis, x.ndim());
    if (include_initial && row.identity == arrays::Identity::NONE)
        routines::fail(ErrorCode::Value, op_name, "include_initial needs an operation with an identity (sum or product)");
    const DType result = dtype.value_or(arrays::result_dtype(row, x.dtype()));
    Shape shape = arrays::shape_of(x);
    shape[at] += include_initial;
    const Array input[] = {arrays::cast(row.element(x, result), result)};
    return arrays::record(Ref<arrays::ArrayCall>(new CumulativeCall(op_name, row.fold, at, include_initial)), input,
                          {result, std::move(shape)});
}

}  // namespace pardo
