// src/array/linalg/systems.cpp: systems of matrices with a structure, and LU factorizations that are kept.
#include <algorithm>

#include "array/linalg/matrices.h"

namespace pardo::linalg {

using arrays::MatrixShape;
using graph::ResultType;
using routines::MatrixOptions;

namespace {

/// At once, because no thread waits for a result without elements.
void require_finite(const char* op_name, std::span<const Array> operands) {
    for (const Array& x : operands) {
        if (x.size() > 0 && is_inexact(x.dtype()) && !reduce(Reduction::All, isfinite(x), {}, false).item().b)
            routines::fail(ErrorCode::Matrix, op_name, "Array must not contain infs or NaNs");
    }
}

/// One system for each matrix of b of (…, n, k), by operands whose last two axes say what the matrix is. A vector b is one column.
Array structured(const routines::MatrixRoutine& routine, const MatrixOptions& options, std::initializer_list<const Array*> operands,
                 const Array& b, std::int64_t n) {
    const char* op_name = options.op_name;
    const std::int64_t last[] = {-1};
    if (b.ndim() == 0) routines::fail(ErrorCode::Value, op_name, "b has no dimensions; a vector or matrices are needed");
    if (b.ndim() == 1) return squeeze(structured(routine, options, operands, expand_dims(b, last), n), std::vector<std::int64_t>{-1});
    const MatrixShape of_b(b);
    if (of_b.rows != n)
        routines::fail(ErrorCode::Value, op_name,
                       "b has " + std::to_string(of_b.rows) + " rows, but the matrices have " + std::to_string(n));
    std::vector<const Array*> numbers = {&b};
    Shape batch = of_b.batch;
    for (const Array* x : operands) {
        arrays::queue_of(op_name, *x, b);
        batch = broadcast(op_name, batch, MatrixShape(*x).batch);
        if (x->dtype() != DType::Int32 || &routine != &routines::lu_solve) numbers.push_back(x);
    }
    const DType dtype = arrays::matrix_dtype(op_name, numbers);
    const bool one = std::ranges::all_of(operands, [](const Array* x) { return element_count(MatrixShape(*x).batch) == 1; });
    if (one && element_count(of_b.batch) > 1 && b.size() > 0) {
        Shape shape = batch;
        for (const std::int64_t extent : {of_b.rows, of_b.columns}) shape.push_back(extent);
        return arrays::stacked_again(structured(routine, options, operands, arrays::side_by_side(b), n), shape);
    }
    const auto extended = [&](const Array& x, DType to) {
        Shape shape = batch;
        shape.push_back(x.shape()[static_cast<std::size_t>(x.ndim() - 2)]);
        shape.push_back(x.shape().back());
        return arrays::cast(broadcast_to(x, shape), to);
    };
    std::vector<Array> inputs;
    for (const Array* x : operands) inputs.push_back(extended(*x, std::ranges::find(numbers, x) == numbers.end() ? DType::Int32 : dtype));
    inputs.push_back(extended(b, dtype));
    const Shape shape = arrays::shape_of(inputs.back());
    if (element_count(shape) == 0) {
        if (options.finite) require_finite(op_name, inputs);
        return zeros(shape, dtype, b.queue());
    }
    const std::optional<ResultType> results[] = {{{dtype, shape}}};
    return arrays::record_matrices(routine, options, inputs, results)[0];
}

}  // namespace

Lu lu_factor(const Array& a, bool finite, const char* op_name) {
    device::Queue* queue = arrays::queue_of(op_name, a);
    arrays::require_matrices(op_name, a);
    const DType dtype = arrays::matrix_dtype(op_name, a);
    const MatrixShape shape(a);
    const std::optional<ResultType> results[] = {
        {{dtype, arrays::shape_of(a)}}, {{DType::Int32, shape.with({shape.smaller()})}}, {{DType::Int64, shape.with({shape.rows})}}};
    if (shape.smaller() == 0) {
        const Array places =
            add(zeros(results[2]->shape, DType::Int64, Queue(queue)), arange(0, shape.rows, 1, DType::Int64, Queue(queue)));
        return {zeros(results[0]->shape, dtype, Queue(queue)), zeros(results[1]->shape, DType::Int32, Queue(queue)), places};
    }
    const Array input = arrays::cast(a, dtype);
    const MatrixOptions options{.op_name = op_name, .finite = finite};
    std::vector<Array> made = arrays::record_matrices(routines::lu_factor, options, std::span(&input, 1), results);
    return {std::move(made[0]), std::move(made[1]), std::move(made[2])};
}

Array lu_solve(const Array& lu, const Array& pivots, const Array& b, Taken taken, bool finite, const char* op_name) {
    arrays::require_square(op_name, lu);
    const std::int64_t n = lu.shape().back(), row[] = {-2};
    if (pivots.ndim() == 0 || pivots.shape().back() != n || !is_integer(pivots.dtype()))
        routines::fail(ErrorCode::Value, op_name,
                       "the exchanges must be " + std::to_string(n) + " integers for each matrix, got " +
                           std::string(dtype_name(pivots.dtype())) + " of shape " + to_string(arrays::shape_of(pivots)));
    const Array exchanges = expand_dims(arrays::cast(pivots, DType::Int32), row);
    const MatrixOptions options{
        .op_name = op_name, .finite = finite, .transposed = taken != Taken::AsIs, .conjugated = taken == Taken::Adjoint};
    return structured(routines::lu_solve, options, {&lu, &exchanges}, b, n);
}

Array solve_triangular(const Array& a, const Array& b, bool upper, Taken taken, bool unit_diagonal, bool finite, const char* op_name) {
    arrays::require_square(op_name, a);
    const MatrixOptions options{.op_name = op_name,
                                .upper = upper,
                                .finite = finite,
                                .unit_diagonal = unit_diagonal,
                                .transposed = taken != Taken::AsIs,
                                .conjugated = taken == Taken::Adjoint};
    return structured(routines::triangular_solve, options, {&a}, b, a.shape().back());
}

Array solve_banded(std::int64_t below, std::int64_t above, const Array& ab, const Array& b, bool finite, const char* op_name) {
    arrays::require_matrices(op_name, ab);
    const MatrixShape shape(ab);
    if (below < 0 || above < 0 || shape.rows != below + 1 + above)
        routines::fail(ErrorCode::Value, op_name,
                       "ab must have l + u + 1 rows: l is " + std::to_string(below) + ", u is " + std::to_string(above) +
                           ", the rows are " + std::to_string(shape.rows));
    const MatrixOptions options{.op_name = op_name, .finite = finite, .below = static_cast<int>(below), .above = static_cast<int>(above)};
    return structured(routines::banded_solve, options, {&ab}, b, shape.columns);
}

Array solveh_banded(const Array& ab, const Array& b, bool upper, bool finite, const char* op_name) {
    arrays::require_matrices(op_name, ab);
    const MatrixOptions options{.op_name = op_name, .upper = upper, .finite = finite};
    if (ab.shape()[static_cast<std::size_t>(ab.ndim() - 2)] == 0) routines::fail(ErrorCode::Value, op_name, "ab has no diagonals");
    return structured(routines::banded_cholesky_solve, options, {&ab}, b, ab.shape().back());
}

Array solve_toeplitz(const Array& elements, const Array& b, bool finite, const char* op_name) {
    if (elements.ndim() == 0 || elements.shape().back() % 2 == 0)
        routines::fail(ErrorCode::Value, op_name,
                       "a matrix of n rows has 2 n - 1 elements, got shape " + to_string(arrays::shape_of(elements)));
    const std::int64_t row[] = {-2};
    const Array line = expand_dims(elements, row);
    const MatrixOptions options{.op_name = op_name, .finite = finite};
    return structured(routines::toeplitz_solve, options, {&line}, b, (elements.shape().back() + 1) / 2);
}

}  // namespace pardo::linalg
