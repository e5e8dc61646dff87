// src/lib/cumulative.cpp: running sums, products, minima and maxima along an axis.
#include "graph/call.h"
#include "lib/operand.h"

namespace pardo {

namespace {

/// NumPy's rule: sums and products of bools and small integers are counted in the default integer of their sign.
DType cumulative_dtype(Reduction op, DType x) {
    if (op == Reduction::Min || op == Reduction::Max) return x;
    switch (kind_of(x)) {
        case DKind::Bool:
        case DKind::Signed: return DType::Int64;
        case DKind::Unsigned: return DType::UInt64;
        default: return x;
    }
}

const char* cumulative_name(Reduction op) {
    switch (op) {
        case Reduction::Sum: return "cumulative_sum";
        case Reduction::Prod: return "cumulative_prod";
        case Reduction::Min: return "cumulative_min";
        case Reduction::Max: return "cumulative_max";
        default: lib::fail(ErrorCode::Value, "cumulative", "the operation must be a sum, a product, a minimum or a maximum");
    }
}

struct CumulativeCall final : graph::Call {
    CumulativeCall(const char* op_name, Reduction reduction, int axis, bool initial)
        : Call(op_name), op(reduction), at(axis), include_initial(initial) {}
    void run(std::span<const Array> inputs, std::span<Array> results) const override {
        const lib::Memory input = lib::contiguous_memory(inputs[0]);
        device::Queue* queue = inputs[0].node()->queue.get();
        Shape shape = input.shape;
        const lib::Lines lines = lib::lines_of(shape, at);
        shape[at] += include_initial;
        const lib::Output out = lib::make_output(name, queue, input.dtype, shape, lib::kind_of(input));
        if (out.memory.size() > 0) lib::routines::cumulative(queue, op, input, out.memory, lines, include_initial);
        results[0] = out.array;
    }
    Reduction op;
    int at;
    bool include_initial;
};

}  // namespace

Array cumulative(Reduction op, const Array& x, std::optional<std::int64_t> axis, std::optional<DType> dtype, bool include_initial) {
    const char* op_name = cumulative_name(op);
    if (!axis) return cumulative(op, x.ndim() == 1 ? x : lib::flatten(x), 0, dtype, include_initial);
    if (x.ndim() == 0) return cumulative(op, lib::flatten(x), lib::checked_axis(op_name, *axis, 1), dtype, include_initial);
    const int at = lib::checked_axis(op_name, *axis, x.ndim());
    if (include_initial && (op == Reduction::Min || op == Reduction::Max))
        lib::fail(ErrorCode::Value, op_name, "include_initial needs an operation with an identity (sum or product)");
    const DType result = dtype.value_or(cumulative_dtype(op, x.dtype()));
    Shape shape = lib::shape_of(x);
    shape[at] += include_initial;
    const Array input[] = {graph::cast(x, result)};
    return graph::record(Ref<graph::Call>(new CumulativeCall(op_name, op, at, include_initial)), input, {result, std::move(shape)});
}

}  // namespace pardo
