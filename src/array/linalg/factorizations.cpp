// src/array/linalg/factorizations.cpp: Cholesky, QR, singular values, eigenvalues.
#include <algorithm>

#include "array/linalg/matrices.h"

namespace pardo::linalg {

using arrays::MatrixShape;
using graph::ResultType;
using routines::MatrixOptions;

namespace {

using Wanted = std::optional<ResultType>;

/// Eigenvalues of the dtype `values`, and eigenvectors of the dtype `vectors` if they are wanted.
std::pair<Array, Array> eigen(const routines::MatrixRoutine& routine, const MatrixOptions& options, const Array& a, bool complex,
                              bool both) {
    device::Queue* queue = arrays::queue_of(options.op_name, a);
    arrays::require_square(options.op_name, a);
    const DType dtype = arrays::matrix_dtype(options.op_name, a);
    const DType of_values = complex ? complex_of(dtype) : real_of(dtype), of_vectors = complex ? of_values : dtype;
    const MatrixShape shape(a);
    const Shape vector = shape.with({shape.rows});
    if (a.size() == 0) return {zeros(vector, of_values, Queue(queue)), both ? zeros(a.shape(), of_vectors, Queue(queue)) : Array()};
    const Array input = arrays::cast(a, dtype);
    const Wanted results[] = {{{of_values, vector}}, both ? Wanted({of_vectors, arrays::shape_of(a)}) : Wanted()};
    std::vector<Array> made = arrays::record_matrices(routine, options, std::span(&input, 1), results);
    return {std::move(made[0]), std::move(made[1])};
}

/// The singular value decomposition; with `vectors` all three results, else the values alone.
Svd singular(const char* op_name, const Array& a, bool vectors, bool full) {
    device::Queue* queue = arrays::queue_of(op_name, a);
    arrays::require_matrices(op_name, a);
    const DType dtype = arrays::matrix_dtype(op_name, a), real = real_of(dtype);
    const MatrixShape shape(a);
    const std::int64_t m = shape.rows, n = shape.columns, k = shape.smaller();
    const Shape of_u = shape.with({m, full ? m : k}), of_s = shape.with({k}), of_vh = shape.with({full ? n : k, n});
    if (k == 0) {
        Svd made{{}, zeros(of_s, real, Queue(queue)), {}};
        if (vectors) {
            made.u = full ? arrays::unit_matrices(shape.batch, m, dtype, queue) : zeros(of_u, dtype, Queue(queue));
            made.vh = full ? arrays::unit_matrices(shape.batch, n, dtype, queue) : zeros(of_vh, dtype, Queue(queue));
        }
        return made;
    }
    const Array input = arrays::cast(a, dtype);
    const Wanted results[] = {vectors ? Wanted({dtype, of_u}) : Wanted(), {{real, of_s}}, vectors ? Wanted({dtype, of_vh}) : Wanted()};
    std::vector<Array> made = arrays::record_matrices(routines::svd, MatrixOptions{.op_name = op_name}, std::span(&input, 1), results);
    return {std::move(made[0]), std::move(made[1]), std::move(made[2])};
}

}  // namespace

std::pair<Array, Array> eigh_subset(const Array& a, bool upper, int first, int last, bool vectors, bool finite, const char* op_name) {
    device::Queue* queue = arrays::queue_of(op_name, a);
    arrays::require_square(op_name, a);
    const DType dtype = arrays::matrix_dtype(op_name, a), real = real_of(dtype);
    const MatrixShape shape(a);
    if (last == -1) return eigen(routines::eigh, MatrixOptions{.op_name = op_name, .upper = upper, .finite = finite}, a, false, vectors);
    if (first < 0 || last < first || last >= shape.rows)
        routines::fail(ErrorCode::Value, op_name,
                       "the eigenvalues " + std::to_string(first) + " to " + std::to_string(last) +
                           " are not among those of matrices with " + std::to_string(shape.rows) + " rows");
    const std::int64_t count = last - first + 1;
    const Wanted results[] = {{{real, shape.with({count})}}, vectors ? Wanted({dtype, shape.with({shape.rows, count})}) : Wanted()};
    if (a.size() == 0)
        return {zeros(results[0]->shape, real, Queue(queue)), vectors ? zeros(results[1]->shape, dtype, Queue(queue)) : Array()};
    const Array input = arrays::cast(a, dtype);
    const MatrixOptions options{.op_name = op_name, .upper = upper, .finite = finite, .first = first, .last = last};
    std::vector<Array> made = arrays::record_matrices(routines::eigh, options, std::span(&input, 1), results);
    return {std::move(made[0]), std::move(made[1])};
}

Array cholesky(const Array& a, bool upper, bool finite, const char* op_name) {
    device::Queue* queue = arrays::queue_of(op_name, a);
    arrays::require_square(op_name, a);
    const DType dtype = arrays::matrix_dtype(op_name, a);
    if (a.size() == 0) return zeros(a.shape(), dtype, Queue(queue));
    const Array input = arrays::cast(a, dtype);
    const Wanted results[] = {{{dtype, arrays::shape_of(a)}}};
    const MatrixOptions options{.op_name = op_name, .upper = upper, .finite = finite};
    return arrays::record_matrices(routines::cholesky, options, std::span(&input, 1), results)[0];
}

std::pair<Array, Array> qr(const Array& a, QrMode mode, const char* op_name) {
    device::Queue* queue = arrays::queue_of(op_name, a);
    arrays::require_matrices(op_name, a);
    const DType dtype = arrays::matrix_dtype(op_name, a);
    const MatrixShape shape(a);
    const std::int64_t m = shape.rows, n = shape.columns, k = shape.smaller();
    const std::int64_t inner = mode == QrMode::Complete && m > n ? m : k;
    Wanted results[] = {Wanted({dtype, shape.with({m, inner})}), Wanted({dtype, shape.with({inner, n})})};
    if (mode == QrMode::R) results[0].reset();
    if (mode == QrMode::Raw) {
        results[0]->shape = arrays::shape_of(a);
        results[1]->shape = shape.with({k});
    }
    std::pair<Array, Array> made;
    if (k == 0) {
        if (mode == QrMode::Complete)
            made.first = arrays::unit_matrices(shape.batch, inner, dtype, queue);
        else if (results[0])
            made.first = zeros(results[0]->shape, dtype, Queue(queue));
        made.second = zeros(results[1]->shape, dtype, Queue(queue));
    } else {
        const Array input = arrays::cast(a, dtype);
        const MatrixOptions options{.op_name = op_name, .raw = mode == QrMode::Raw};
        std::vector<Array> both = arrays::record_matrices(routines::qr, options, std::span(&input, 1), results);
        made = {std::move(both[0]), std::move(both[1])};
    }
    if (mode == QrMode::Raw) {
        const std::int64_t from[] = {-1}, to[] = {-2};
        made.first = moveaxis(made.first, from, to);
    }
    return made;
}

Svd svd(const Array& a, bool full_matrices, const char* op_name) { return singular(op_name, a, true, full_matrices); }
Array svdvals(const Array& a, const char* op_name) { return singular(op_name, a, false, false).s; }

std::pair<Array, Array> eigh(const Array& a, bool upper, const char* op_name) {
    return eigen(routines::eigh, MatrixOptions{.op_name = op_name, .upper = upper}, a, false, true);
}
Array eigvalsh(const Array& a, bool upper, const char* op_name) {
    return eigen(routines::eigh, MatrixOptions{.op_name = op_name, .upper = upper}, a, false, false).first;
}
std::pair<Array, Array> eig(const Array& a, const char* op_name) {
    return eigen(routines::eig, MatrixOptions{.op_name = op_name, .finite = true}, a, true, true);
}
Array eigvals(const Array& a, const char* op_name) {
    return eigen(routines::eig, MatrixOptions{.op_name = op_name, .finite = true}, a, true, false).first;
}

}  // namespace pardo::linalg
