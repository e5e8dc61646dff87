// src/array/linalg/matrices.h: what the functions of linear algebra share: their checks, and the call that each records.
// This folder: the functions of pardo/linalg.h.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include <pardo/linalg.h>
#include <pardo/ops.h>

#include "array/operand.h"

namespace pardo::arrays {

/// Throws Matrix unless x has at least two dimensions.
void require_matrices(const char* op_name, const Array& x);
/// Throws Matrix unless x has at least two dimensions, and the last two are equal.
void require_square(const char* op_name, const Array& x);
/// The dtype that operands are computed in; throws Type for float16.
DType matrix_dtype(const char* op_name, std::span<const Array* const> operands);
inline DType matrix_dtype(const char* op_name, const Array& x) {
    const Array* const list[] = {&x};
    return matrix_dtype(op_name, list);
}

/// The extents of a stack of matrices.
struct MatrixShape {
    Shape batch;
    std::int64_t rows, columns;

    explicit MatrixShape(const Array& x);
    std::int64_t smaller() const { return std::min(rows, columns); }
    /// (batch…, rest…)
    Shape with(std::initializer_list<std::int64_t> rest) const;
};

/// Records a routine: the results that are wanted, in order, the others as empty handles. No operand has extents of zero but in its batch.
std::vector<Array> record_matrices(const MatrixRoutine& routine, const MatrixOptions& options, std::span<const Array> inputs,
                                   std::span<const std::optional<graph::ResultType>> results);
/// A stack of (…, n, k) as one matrix of (n, … k), and that as a stack of such a shape again: for systems with one matrix, which is
/// factorized once.
Array side_by_side(const Array& stack);
Array stacked_again(const Array& x, const Shape& shape);
/// Unit matrices.
Array unit_matrices(const Shape& batch, std::int64_t n, DType dtype, device::Queue* queue);

}  // namespace pardo::arrays
