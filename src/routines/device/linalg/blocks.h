// src/routines/device/linalg/blocks.h: parts of stacks of matrices, and the steps that factorizations are made of.
#pragma once

#include "routines/device/linalg/status.h"

namespace pardo::routines {

/// One part of each matrix of a stack: rows and columns with any steps. Cheap to copy.
struct Block {
    Memory memory;  // at the part's first element
    std::int64_t count, step;
    std::int64_t rows, columns, row, column;

    /// All of the contiguous matrices of a stack.
    explicit Block(const Memory& stack);
    Block part(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const;
    Block transposed() const;
    /// Rows, or both rows and columns, from the last one to the first.
    Block upside_down() const;
    Block turned() const { return upside_down().transposed().upside_down().transposed(); }
};

/// Memory of the same dtype and shape; of so many matrices.
Memory scratch_like(device::Queue* queue, const Memory& like);
Memory scratch_matrices(device::Queue* queue, DType dtype, std::int64_t count, std::int64_t rows, std::int64_t columns);

/// The steps, in the order in which they are submitted.
class BlockSteps {
public:
    BlockSteps(device::Queue* queue, const char* op_name) : queue_(queue), op_name_(op_name) {}

    enum class Part : std::uint8_t { All, Lower, Fresh };
    /// c -= a b; `conjugate`: 1 for that of b, 2 for that of a. Lower: what is above the diagonal of c may stay as it is. Fresh: c = -a b.
    void minus_product(const Block& c, const Block& a, const Block& b, int conjugate = 0, Part part = Part::All) const;
    /// x with t x = b in the place of b, t lower; `upper`: t upper.
    void solve_lower(const Block& t, const Block& x, bool unit, bool conjugate = false) const;
    void solve_upper(const Block& t, const Block& x, bool unit, bool conjugate = false) const {
        solve_lower(t.turned(), x.upside_down(), unit, conjugate);
    }
    /// The lower factor in the place of the lower triangle.
    void cholesky(const Block& a, const MatrixStatus& status) const;
    /// Both factors in the place of a; pivots of Int32, counted from 0, as many as a has rows or columns for each matrix.
    void lu(const Block& a, const Memory& pivots) const;
    /// Exchanges rows as lu has; `base`: what pivots are counted from.
    void exchange(const Block& x, const Memory& pivots, std::int64_t first, std::int64_t last, bool back = false, int base = 0) const;
    void copy(const Memory& from, const Memory& to) const;
    /// All of a stack's matrices.
    void transpose(const Memory& from, const Memory& to) const;
    /// Rows to others; `order`: those of these numbers (Int32, `of` of them a matrix).
    void copy_rows(const Block& from, const Block& to, bool conjugate = false, const Memory& order = {}, std::int64_t of = 0) const;

    device::Queue* queue() const { return queue_; }
    const char* op_name() const { return op_name_; }

private:
    void lu_columns(const Block& whole, std::int64_t from, std::int64_t to, const Memory& pivots) const;

    device::Queue* queue_;
    const char* op_name_;
};

/// Determinants, or signs and logarithms, of factorized matrices; pivots are counted from `base`.
void lu_determinant(device::Queue* queue, const char* op_name, const Memory& lu, const Memory& pivots, int base,
                    std::span<const Memory> out);
/// Where rows have gone by exchanges of which `base` is the first row, and is 0 afterwards.
void find_row_places(device::Queue* queue, const char* op_name, const Memory& pivots, int base, const Memory& places);
/// The Cholesky factorization of a small block (up to 32 rows), in place.
void small_cholesky_block(device::Queue* queue, const char* op_name, const Block& a, const MatrixStatus& status);

}  // namespace pardo::routines
