// src/array/linalg/matrices.cpp: what the functions of linear algebra share.
#include "array/linalg/matrices.h"

#include <algorithm>
#include <limits>

#include "array/call.h"

namespace pardo::arrays {

namespace {

constexpr std::size_t most_operands = graph::Call::most_results;

struct MatrixCall final : arrays::ArrayCall {
    MatrixCall(const MatrixRoutine& which, const MatrixOptions& asked, std::span<const std::optional<graph::ResultType>> types)
        : ArrayCall(asked.op_name), routine(which), options(asked), wanted(types.begin(), types.end()) {}

    void compute(std::span<const Array> inputs, std::span<Array> results) const override {
        device::Queue* queue = inputs[0].node()->queue.get();
        std::vector<Memory> in, out;
        for (const Array& x : inputs) in.push_back(contiguous_memory(x));
        MemoryKind kind = kind_of(in[0]);
        for (const Memory& x : in) kind = std::min(kind, kind_of(x));
        bool empty = false;
        for (std::size_t k = 0, at = 0; k < wanted.size(); ++k) {
            if (!wanted[k]) {
                out.emplace_back();
                continue;
            }
            Output made = make_output(name, queue, wanted[k]->dtype, wanted[k]->shape, kind);
            empty |= made.memory.size() == 0;
            results[at++] = std::move(made.array);
            out.push_back(std::move(made.memory));
        }
        if (!empty) routine(queue, options, in, out);
    }

    graph::ImplementationChoice implementation(std::span<const graph::CallInput> inputs) const override {
        std::vector<Memory> in, out;
        for (const graph::CallInput& x : inputs) in.push_back(described(x.node->dtype, x.node->shape));
        for (const auto& type : wanted) out.push_back(type ? described(type->dtype, type->shape) : Memory());
        return routine.describe(inputs[0].node->queue.get(), options, in, out);
    }

    graph::CallCost cost_row() const override { return graph::CallCost::matrices; }
    const MatrixRoutine& routine;
    MatrixOptions options;
    std::vector<std::optional<graph::ResultType>> wanted;
};

}  // namespace

void require_matrices(const char* op_name, const Array& x) {
    if (x.ndim() < 2)
        fail(ErrorCode::Matrix, op_name, std::to_string(x.ndim()) + "-dimensional array given. Array must be at least two-dimensional");
}

void require_square(const char* op_name, const Array& x) {
    require_matrices(op_name, x);
    const Extents shape = x.shape();
    if (shape[shape.size() - 1] != shape[shape.size() - 2])
        fail(ErrorCode::Matrix, op_name, "Last 2 dimensions of the array must be square, got shape " + to_string(Shape(shape)));
}

DType matrix_dtype(const char* op_name, std::span<const Array* const> operands) {
    DType dtype = DType::Float32;
    for (const Array* x : operands) {
        if (is_narrow_float(x->dtype()))
            fail(ErrorCode::Type, op_name, "array type " + std::string(dtype_name(x->dtype())) + " is unsupported in linalg");
        dtype = promote(dtype, is_inexact(x->dtype()) ? x->dtype() : graph::default_on(x->node()->queue.get(), DType::Float64));
    }
    return dtype;
}

MatrixShape::MatrixShape(const Array& x)
    : batch(x.shape().first(static_cast<std::size_t>(x.ndim() - 2))),
      rows(x.shape()[static_cast<std::size_t>(x.ndim() - 2)]),
      columns(x.shape().back()) {}

Shape MatrixShape::with(std::initializer_list<std::int64_t> rest) const {
    Shape shape = batch;
    for (const std::int64_t extent : rest) shape.push_back(extent);
    return shape;
}

std::vector<Array> record_matrices(const MatrixRoutine& routine, const MatrixOptions& options, std::span<const Array> inputs,
                                   std::span<const std::optional<graph::ResultType>> results) {
    routines::matrices_ready(inputs[0].node()->queue.get(), options.op_name);
    for (const Array& x : inputs) {
        if (std::ranges::max(x.shape().last(2)) > std::numeric_limits<int>::max())
            fail(ErrorCode::Value, options.op_name, "LAPACK takes extents up to 2147483647, got shape " + to_string(x.shape()));
    }
    std::vector<graph::ResultType> types;
    for (const auto& type : results) {
        if (type) types.push_back(*type);
    }
    std::array<Array, most_operands> made;
    arrays::record(Ref<arrays::ArrayCall>(new MatrixCall(routine, options, results)), inputs, types, made.data());
    std::vector<Array> all(results.size());
    for (std::size_t k = 0, at = 0; k < results.size(); ++k) {
        if (!results[k]) continue;
        all[k] = std::move(made[at++]);
        all[k].node()->scalar_value = all[k].ndim() == 0;
    }
    return all;
}

Array side_by_side(const Array& stack) {
    const std::int64_t rows = stack.shape()[static_cast<std::size_t>(stack.ndim() - 2)], from[] = {-2}, to[] = {0};
    return reshape(moveaxis(stack, from, to), Shape{rows, stack.size() / rows});
}

Array stacked_again(const Array& x, const Shape& shape) {
    Shape moved = {shape[shape.size() - 2]};
    moved.append(shape.begin(), shape.end() - 2);
    moved.push_back(shape.back());
    const std::int64_t from[] = {0}, to[] = {-2};
    return moveaxis(reshape(x, moved), from, to);
}

Array unit_matrices(const Shape& batch, std::int64_t n, DType dtype, device::Queue* queue) {
    Shape shape = batch;
    shape.push_back(n);
    shape.push_back(n);
    return add(zeros(shape, dtype, Queue(queue)), eye(n, n, 0, dtype, Queue(queue)));
}

}  // namespace pardo::arrays

namespace pardo::linalg {

bool has_device_code(std::string_view routine, const Array& x) {
    device::Queue* queue = arrays::node_of(x, "has_device_code").queue.get();
    if (queue->device()->can(device::Feature::HostCode)) return false;
    if (is_narrow_float(x.dtype()) || x.ndim() < 2) return true;  // what no routine takes
    for (const routines::MatrixRoutine* known :
         {&routines::solve, &routines::inv, &routines::det, &routines::cholesky, &routines::qr, &routines::svd, &routines::eigh,
          &routines::eig, &routines::lstsq, &routines::lu_factor, &routines::lu_solve, &routines::triangular_solve, &routines::banded_solve,
          &routines::banded_cholesky_solve, &routines::toeplitz_solve}) {
        if (known->name() != routine) continue;
        const DType dtype = arrays::matrix_dtype(known->name(), x);
        const routines::Memory in[] = {routines::described(dtype, arrays::shape_of(x))};
        return !known->describe(queue, {}, in, {}).on_host;
    }
    return true;
}

}  // namespace pardo::linalg
