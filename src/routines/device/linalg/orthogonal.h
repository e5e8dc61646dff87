// src/routines/device/linalg/orthogonal.h: orthogonal transformations of blocks: reflections, and rotations until rows are orthogonal.
#pragma once

#include "routines/device/linalg/blocks.h"

namespace pardo::routines {

/// Q of a QR factorization, by Householder's reflections, 16 at a time.
class Reflections {
public:
    /// Factorizes `a` in its place: R, and below it the vectors as LAPACK's geqrf leaves them. `factors`, one for each, may be wanted.
    Reflections(const BlockSteps& steps, const Block& a, const Memory& factors = {});
    /// c = Q c.
    void apply(const Block& c) const;

private:
    void reflect(std::int64_t from, const Block& c, bool adjoint) const;

    const BlockSteps& steps_;
    Block vectors_, triangles_;
};

/// Rows of square matrices X, and the unitary ones J that make those of J X orthogonal.
class OrthogonalRows {
public:
    /// What X is: `a`, its upper triangle, or the hermitian matrix that one of its triangles says, plus a multiple of the unit matrix.
    enum class Form : std::uint8_t { Matrix, Upper, HermitianByUpper, HermitianByLower };
    OrthogonalRows(const BlockSteps& steps, const Block& a, Form form, bool vectors, const MatrixStatus& status);
    /// Orders rows by their lengths, the longest one first; or by the eigenvalues of the vectors that J has, the least one first. `values`
    /// get these numbers, from `first` on.
    void order_by_length(const Memory& values);
    void order_by_eigenvalue(std::int64_t first, const Memory& values);
    /// Ordered rows of J X; the adjoint ones of J as columns.
    void rows(const Block& to) const { steps_.copy_rows(Block(x_), to, false, order_, n_); }
    void columns(const Block& to) const { steps_.copy_rows(Block(turns_), to.transposed(), true, memory_from(order_, first_), n_); }
    /// A number for each matrix, not zero where rows are not orthogonal.
    const Memory& info() const { return info_; }

private:
    void turn(bool vectors, int sweeps, bool whole, const Memory& turned) const;
    void order(const Memory& x, const Memory& y, bool by_eigenvalue, std::int64_t first, const Memory& values);

    const BlockSteps& steps_;
    std::int64_t n_, first_ = 0;
    Memory x_, turns_, plain_, powers_, info_, order_;
};

}  // namespace pardo::routines
