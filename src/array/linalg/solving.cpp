// src/array/linalg/solving.cpp: linear systems, inverses, determinants, least squares.
#include <algorithm>
#include <limits>

#include "array/linalg/matrices.h"

namespace pardo::linalg {

using arrays::MatrixShape;
using graph::ResultType;
using routines::MatrixOptions;

namespace {

Array column(const Array& x) {
    const std::int64_t last[] = {-1};
    return expand_dims(x, last);
}
Array without_column(const Array& x) { return squeeze(x, std::vector<std::int64_t>{-1}); }

}  // namespace

Array solve(const Array& a, const Array& b, const char* op_name) {
    device::Queue* queue = arrays::queue_of(op_name, a, b);
    arrays::require_square(op_name, a);
    if (b.ndim() == 0) routines::fail(ErrorCode::Value, op_name, "b has no dimensions; a vector or matrices are needed");
    if (b.ndim() == 1) return without_column(solve(a, column(b), op_name));
    const MatrixShape of_a(a), of_b(b);
    if (of_a.rows != of_b.rows)
        routines::fail(ErrorCode::Value, op_name,
                       "b has " + std::to_string(of_b.rows) + " rows, but the matrices of a have " + std::to_string(of_a.rows) +
                           ": shapes " + to_string(arrays::shape_of(a)) + " and " + to_string(arrays::shape_of(b)));
    const Array* const both[] = {&a, &b};
    const DType dtype = arrays::matrix_dtype(op_name, both);
    Shape matrices = broadcast(op_name, of_a.batch, of_b.batch), shape = matrices;
    for (const std::int64_t extent : {of_a.rows, of_a.rows}) matrices.push_back(extent);
    for (const std::int64_t extent : {of_b.rows, of_b.columns}) shape.push_back(extent);
    if (element_count(shape) == 0) {
        // Without right-hand sides a singular matrix is an error all the same: at once, because no thread waits for a result without
        // elements.
        if (of_b.columns == 0 && element_count(matrices) > 0) {
            Shape one_side = shape;
            one_side.back() = 1;
            solve(broadcast_to(a, matrices), zeros(one_side, dtype, Queue(queue)), op_name).wait();
        }
        return zeros(shape, dtype, Queue(queue));
    }
    if (element_count(of_a.batch) == 1 && element_count(of_b.batch) > 1) {
        const Array x = solve(reshape(a, Shape{of_a.rows, of_a.rows}), arrays::side_by_side(b), op_name);
        return arrays::stacked_again(x, shape);
    }
    const Array inputs[] = {arrays::cast(broadcast_to(a, matrices), dtype), arrays::cast(broadcast_to(b, shape), dtype)};
    const std::optional<ResultType> results[] = {{{dtype, shape}}};
    return arrays::record_matrices(routines::solve, MatrixOptions{.op_name = op_name}, inputs, results)[0];
}

Array inv(const Array& a, bool nan_where_singular, const char* op_name) {
    device::Queue* queue = arrays::queue_of(op_name, a);
    arrays::require_square(op_name, a);
    const DType dtype = arrays::matrix_dtype(op_name, a);
    if (a.size() == 0) return zeros(a.shape(), dtype, Queue(queue));
    const Array input = arrays::cast(a, dtype);
    const std::optional<ResultType> results[] = {{{dtype, arrays::shape_of(a)}}};
    const MatrixOptions options{.op_name = op_name, .nan_where_singular = nan_where_singular};
    return arrays::record_matrices(routines::inv, options, std::span(&input, 1), results)[0];
}

Array det(const Array& a, const char* op_name) {
    device::Queue* queue = arrays::queue_of(op_name, a);
    arrays::require_square(op_name, a);
    const DType dtype = arrays::matrix_dtype(op_name, a);
    const MatrixShape of_a(a);
    if (a.size() == 0) return ones(of_a.batch, dtype, Queue(queue));
    const Array input = arrays::cast(a, dtype);
    const std::optional<ResultType> results[] = {{{dtype, of_a.batch}}};
    return arrays::record_matrices(routines::det, MatrixOptions{.op_name = op_name}, std::span(&input, 1), results)[0];
}

std::pair<Array, Array> slogdet(const Array& a, const char* op_name) {
    device::Queue* queue = arrays::queue_of(op_name, a);
    arrays::require_square(op_name, a);
    const DType dtype = arrays::matrix_dtype(op_name, a);
    const MatrixShape of_a(a);
    if (a.size() == 0) return {ones(of_a.batch, dtype, Queue(queue)), zeros(of_a.batch, real_of(dtype), Queue(queue))};
    const Array input = arrays::cast(a, dtype);
    const std::optional<ResultType> results[] = {{{dtype, of_a.batch}}, {{real_of(dtype), of_a.batch}}};
    std::vector<Array> made = arrays::record_matrices(routines::det, MatrixOptions{.op_name = op_name}, std::span(&input, 1), results);
    return {std::move(made[0]), std::move(made[1])};
}

LeastSquares lstsq(const Array& a, const Array& b, std::optional<double> rcond, const char* op_name) {
    device::Queue* queue = arrays::queue_of(op_name, a, b);
    if (b.ndim() == 1) {
        LeastSquares found = lstsq(a, column(b), rcond, op_name);
        found.x = without_column(found.x);
        return found;
    }
    for (const Array* x : {&a, &b}) {
        if (x->ndim() != 2)
            routines::fail(ErrorCode::Matrix, op_name,
                           std::to_string(x->ndim()) + "-dimensional array given. Array must be two-dimensional");
    }
    const MatrixShape of_a(a), of_b(b);
    if (of_a.rows != of_b.rows)
        routines::fail(ErrorCode::Matrix, op_name,
                       "Incompatible dimensions: a has " + std::to_string(of_a.rows) + " rows, b has " + std::to_string(of_b.rows));
    const Array* const both[] = {&a, &b};
    const DType dtype = arrays::matrix_dtype(op_name, both), real = real_of(dtype);
    const std::int64_t m = of_a.rows, n = of_a.columns, k = of_b.columns;
    if (m == 0 || n == 0) {
        const std::int64_t rows[] = {0};
        const Array wide = arrays::cast(b, dtype);
        const Array sums = reduce(Reduction::Sum, pardo::real(multiply(wide, conjugate(wide))), std::vector<std::int64_t>{0}, false, real);
        return {zeros(Shape{n, k}, dtype, Queue(queue)), sums, zeros(Shape(), DType::Int64, Queue(queue)), zeros(rows, real, Queue(queue))};
    }
    if (k == 0) {
        LeastSquares found = lstsq(a, zeros(Shape{m, 1}, dtype, Queue(queue)), rcond, op_name);
        found.x = zeros(Shape{n, 0}, dtype, Queue(queue));
        found.residuals = zeros(Shape{0}, real, Queue(queue));
        return found;
    }
    const Array inputs[] = {arrays::cast(a, dtype), arrays::cast(b, dtype)};
    const double precision = real == DType::Float32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
    const MatrixOptions options{.op_name = op_name, .rcond = rcond.value_or(precision * static_cast<double>(std::max(m, n)))};
    const std::optional<ResultType> results[] = {
        {{dtype, Shape{n, k}}}, {{real, Shape{k}}}, {{DType::Int64, Shape()}}, {{real, Shape{std::min(m, n)}}}};
    std::vector<Array> made = arrays::record_matrices(routines::lstsq, options, inputs, results);
    return {std::move(made[0]), std::move(made[1]), std::move(made[2]), std::move(made[3])};
}

}  // namespace pardo::linalg
