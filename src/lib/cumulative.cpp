// src/lib/cumulative.cpp: running sums, products, minima and maxima along an axis.
#include "graph/call.h"
#include "graph/reductions.h"
#include "lib/operand.h"

namespace pardo {

namespace {

struct CumulativeCall final : graph::Call {
    CumulativeCall(const char* op_name, graph::ReduceOp fold, int axis, bool initial)
        : Call(op_name), op(fold), at(axis), include_initial(initial) {}
    void run(std::span<const Array> inputs, std::span<Array> results) const override {
        const lib::Memory input = lib::contiguous_memory(inputs[0]);
        device::Queue* queue = inputs[0].node()->queue.get();
        const lib::Output out = lib::make_output(name, queue, input.dtype, result_shape(input.shape), lib::kind_of(input));
        if (out.memory.size() > 0) lib::routines::cumulative(queue, op, input, out.memory, lib::lines_of(input.shape, at), include_initial);
        results[0] = out.array;
    }
    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        const graph::Node& x = *inputs[0].node;
        return lib::routines::cumulative.describe(x.queue.get(), op, lib::described(x.dtype, x.shape),
                                                  lib::described(x.dtype, result_shape(x.shape)), lib::lines_of(x.shape, at),
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
    const graph::ReductionRow& row = graph::row_of(op);
    const char* op_name = row.cumulative;
    if (row.fold > graph::ReduceOp::Max)
        lib::fail(ErrorCode::Value, op_name, "the operation must be a sum, a product, a minimum or a maximum");
    if (!axis) return cumulative(op, x.ndim() == 1 ? x : lib::flatten(x), 0, dtype, include_initial);
    if (x.ndim() == 0) return cumulative(op, lib::flatten(x), lib::checked_axis(op_name, *axis, 1), dtype, include_initial);
    const int at = lib::checked_axis(op_name, *axis, x.ndim());
    if (include_initial && row.identity == graph::Identity::NONE)
        lib::fail(ErrorCode::Value, op_name, "include_initial needs an operation with an identity (sum or product)");
    const DType result = dtype.value_or(graph::result_dtype(row, x.dtype()));
    Shape shape = lib::shape_of(x);
    shape[at] += include_initial;
    const Array input[] = {graph::cast(row.element(x, result), result)};
    return graph::record(Ref<graph::Call>(new CumulativeCall(op_name, row.fold, at, include_initial)), input, {result, std::move(shape)});
}

}  // namespace pardo
