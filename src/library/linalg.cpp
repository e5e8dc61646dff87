// src/library/linalg.cpp: linear algebra that is made of other functions: norms, powers, ranks, pseudo-inverses.
#include <pardo/linalg.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <pardo/ops.h>

namespace pardo::linalg {
namespace {

Array in_floats(const Array& x) {
    if (is_inexact(x.dtype())) return x;
    return x.astype(x.queue().device().supports(DType::Float64) ? DType::Float64 : DType::Float32);
}

void require_matrices(const char* op_name, const Array& x, bool are_square = false) {
    const int n = x.ndim();
    if (n < 2)
        throw Error(ErrorCode::Matrix,
                    std::string(op_name) + ": an array of two or more dimensions is expected, not of " + std::to_string(n));
    if (are_square && x.shape()[static_cast<std::size_t>(n - 1)] != x.shape()[static_cast<std::size_t>(n - 2)])
        throw Error(ErrorCode::Matrix, std::string(op_name) + ": Last 2 dimensions of the array must be square");
}

Array root_of_squares(const Array& x, const Axes& axes, bool keepdims) {
    return sqrt(sum(is_complex(x.dtype()) ? real(x * conjugate(x)) : x * x, axes, keepdims));
}

Array adjoint(const Array& x) {
    const std::int64_t n = x.ndim();
    return conjugate(moveaxis(x, n - 1, n - 2));
}

/// What singular values are compared with, in the share of the largest one.
Array limit_of(const Array& s, const Array& a, std::optional<double> rtol) {
    const auto n = static_cast<std::size_t>(a.ndim());
    const std::int64_t longer = std::max(a.shape()[n - 1], a.shape()[n - 2]);
    const double epsilon = std::ldexp(1.0, -facts_of(s.dtype()).mantissa);
    return reduce(Reduction::Max, s, -1, true, {}, nullptr, Scalar(0)) * rtol.value_or(static_cast<double>(longer) * epsilon);
}

}  // namespace

Array vector_norm(const Array& x, const Axes& axes, bool keepdims, double ord) {
    const Array a = in_floats(x);
    if (ord == 2) return root_of_squares(a, axes, keepdims);
    const Array size = absolute(a);
    if (ord == INFINITY) return reduce(Reduction::Max, size, axes, keepdims, {}, nullptr, Scalar(0));
    if (ord == -INFINITY) return min(size, axes, keepdims);
    if (ord == 0) return sum((a != 0).astype(size.dtype()), axes, keepdims);
    if (ord == 1) return sum(size, axes, keepdims);
    return power(sum(power(size, ord), axes, keepdims), 1 / ord);
}

Array matrix_norm(const Array& x, MatrixNorm kind, bool keepdims) {
    require_matrices("matrix_norm", x);
    const Array a = in_floats(x);
    if (kind == MatrixNorm::Frobenius) return root_of_squares(a, {-2, -1}, keepdims);
    Array result;
    if (kind == MatrixNorm::Columns || kind == MatrixNorm::Rows) {
        const std::int64_t summed = kind == MatrixNorm::Columns ? -2 : -1;
        result = reduce(Reduction::Max, sum(absolute(a), summed, true), -3 - summed, true, {}, nullptr, Scalar(0));
    } else {
        const Array s = svdvals(a, "matrix_norm")[{Ellipsis{}, NewAxis{}}];
        result = kind == MatrixNorm::Nuclear ? sum(s, -2, true) : reduce(Reduction::Max, s, -2, true, {}, nullptr, Scalar(0));
    }
    return keepdims ? result : squeeze(result, {-2, -1});
}

Array trace(const Array& x, std::int64_t offset) {
    require_matrices("trace", x);
    return sum(diagonal(x, offset, -2, -1), -1);
}

Array outer(const Array& x1, const Array& x2) {
    if (x1.ndim() != 1 || x2.ndim() != 1)
        throw Error(ErrorCode::Value, "outer: Input arrays must be one-dimensional, but they are " + std::to_string(x1.ndim()) +
                                          "-dimensional and " + std::to_string(x2.ndim()) + "-dimensional");
    return x1[{all, NewAxis{}}] * x2;
}

Array matrix_power(const Array& a, std::int64_t n) {
    require_matrices("matrix_power", a, true);
    if (n == 0) {
        const std::int64_t side = a.shape().back();
        return broadcast_to(eye(side, side, 0, a.dtype(), a.queue()), a.shape()).copy();
    }
    Array square = n < 0 ? inv(a, false, "matrix_power") : a, result;
    for (std::uint64_t left = n < 0 ? -static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);;) {
        if (left % 2 == 1) result = result.node() ? matmul(result, square) : square;
        left /= 2;
        if (left == 0) return result.node() == a.node() ? a.copy() : result;
        square = matmul(square, square);
    }
}

Array matrix_rank(const Array& a, std::optional<double> rtol) {
    if (a.ndim() < 2) return any(a != 0).astype(DType::Int64);
    const Array s = svdvals(in_floats(a), "matrix_rank");
    return sum(s > limit_of(s, a, rtol), -1);
}

Array pinv(const Array& a, std::optional<double> rtol) {
    require_matrices("pinv", a);
    const Array x = in_floats(a);
    const auto n = static_cast<std::size_t>(x.ndim());
    if (x.shape()[n - 1] == 0 || x.shape()[n - 2] == 0) {
        std::vector<std::int64_t> shape(x.shape().begin(), x.shape().end());
        std::swap(shape[n - 1], shape[n - 2]);
        return zeros(shape, x.dtype(), x.queue());
    }
    const Svd of = svd(x, false, "pinv");
    const Array reciprocal = where(of.s > limit_of(of.s, x, rtol), 1 / of.s, 0);
    return matmul(adjoint(of.vh), reciprocal[{Ellipsis{}, NewAxis{}}] * adjoint(of.u));
}

}  // namespace pardo::linalg
