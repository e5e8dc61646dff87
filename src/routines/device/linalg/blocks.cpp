// src/routines/device/linalg/blocks.cpp: the steps that factorizations are made of: large ones are cut in two, which leaves products.
#include "routines/device/linalg/blocks.h"

#include <algorithm>

namespace pardo::routines {

namespace {

/// Rows of a triangle that one kernel solves, and columns that one kernel factorizes.
constexpr std::int64_t triangle_rows = 32, panel_columns = 16;

/// About half, a multiple of `unit`.
std::int64_t first_half(std::int64_t n, std::int64_t unit) { return (n / unit + 1) / 2 * unit; }

}  // namespace

Block::Block(const Memory& stack)
    : memory(stack),
      count(matrices_of(stack)),
      step(stack.shape[stack.shape.size() - 2] * stack.shape.back()),
      rows(stack.shape[stack.shape.size() - 2]),
      columns(stack.shape.back()),
      row(columns),
      column(1) {}

Block Block::part(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n) const {
    Block part = *this;
    part.memory.offset += i * row + j * column;
    part.rows = m;
    part.columns = n;
    return part;
}

Block Block::transposed() const {
    Block other = *this;
    std::swap(other.rows, other.columns);
    std::swap(other.row, other.column);
    return other;
}

Block Block::upside_down() const {
    Block other = *this;
    other.memory.offset += (rows - 1) * row;
    other.row = -row;
    return other;
}

void BlockSteps::minus_product(const Block& c, const Block& a, const Block& b, int conjugate, Part part) const {
    // Compilers for processors take long for large tiles.
    const int tile = itemsize(c.memory.dtype) > 8 || runs_on_cores(queue_->device()) ? 2 : 4;
    const int wide = c.columns >= 32 && c.rows >= 32 ? tile : 1;
    const std::int64_t across = divide_up(c.columns, 16 * wide), down = divide_up(c.rows, 16 * wide);
    launch_kernel(queue_, op_name_,
                  Variant(KernelId::MatmulMinus, c.memory.dtype,
                          {{"ROWS", wide}, {"COLUMNS", wide}, {"A_RANK", 1}, {"B_RANK", 1}, {"CONJUGATE", conjugate}}),
                  c.count * across * down,
                  {reads(a.memory), reads(b.memory), updates(c.memory), c.rows, c.columns, a.columns, a.row, a.column, b.row, b.column,
                   a.step, b.step, c.step, c.row, c.column, static_cast<std::int64_t>(part)});
}

void BlockSteps::solve_lower(const Block& t, const Block& x, bool unit, bool conjugate) const {
    const std::int64_t n = t.rows, k = x.columns;
    if (n <= triangle_rows) {
        const std::int64_t across = divide_up(k, device_group);
        launch_kernel(queue_, op_name_, Variant(KernelId::TriangleSolve, t.memory.dtype, {{"CONJUGATE", conjugate}, {"UNIT", unit}}),
                      t.count * across,
                      {reads(t.memory), updates(x.memory), n, k, across, t.step, t.row, t.column, x.step, x.row, x.column});
        return;
    }
    const std::int64_t half = first_half(n, triangle_rows), rest = n - half;
    const Block above = x.part(0, 0, half, k), below = x.part(half, 0, rest, k);
    solve_lower(t.part(0, 0, half, half), above, unit, conjugate);
    minus_product(below, t.part(half, 0, rest, half), above, conjugate ? 2 : 0);
    solve_lower(t.part(half, half, rest, rest), below, unit, conjugate);
}

void BlockSteps::cholesky(const Block& a, const MatrixStatus& status) const {
    const std::int64_t n = a.rows;
    if (n <= triangle_rows) return small_cholesky_block(queue_, op_name_, a, status);
    const std::int64_t half = first_half(n, triangle_rows), rest = n - half;
    const Block first = a.part(0, 0, half, half), below = a.part(half, 0, rest, half), last = a.part(half, half, rest, rest);
    cholesky(first, status);
    solve_lower(first, below.transposed(), false, true);
    minus_product(last, below, below.transposed(), 1, Part::Lower);
    cholesky(last, status);
}

void BlockSteps::exchange(const Block& x, const Memory& pivots, std::int64_t first, std::int64_t last, bool back, int base) const {
    const std::int64_t across = divide_up(x.columns, device_group);
    launch_kernel(
        queue_, op_name_, moved_variant(KernelId::ExchangeRows, x.memory.dtype, {{"BACK", back}, {"BASE", base}}), x.count * across,
        {updates(x.memory), reads(pivots), x.columns, across, x.step, x.row, x.column, first, last, pivots.size() / x.count, x.rows});
}

void BlockSteps::lu(const Block& a, const Memory& pivots) const { lu_columns(a, 0, a.columns, pivots); }

/// Of the columns from `from` to `to`, whose rows above `from` are done. What is right of the last pivot is done with them.
void BlockSteps::lu_columns(const Block& whole, std::int64_t from, std::int64_t to, const Memory& pivots) const {
    const std::int64_t m = whole.rows, end = std::min(m, to);
    if (from >= end) return;
    if (to - from <= panel_columns) {
        const Block panel = whole.part(from, from, m - from, to - from);
        launch_kernel(queue_, op_name_, Variant(KernelId::LuPanel, whole.memory.dtype), whole.count,
                      {updates(panel.memory), updates(pivots), panel.step, panel.row, panel.column, panel.rows, panel.columns, from,
                       pivots.size() / whole.count});
        return;
    }
    const std::int64_t half = std::min(from + first_half(to - from, panel_columns), end), done = half - from;
    lu_columns(whole, from, half, pivots);
    if (half == to) return;
    exchange(whole.part(0, half, m, to - half), pivots, from, half);
    const Block right = whole.part(from, half, done, to - half);
    solve_lower(whole.part(from, from, done, done), right, true);
    if (half == m) return;
    minus_product(whole.part(half, half, m - half, to - half), whole.part(half, from, m - half, done), right);
    lu_columns(whole, half, to, pivots);
    exchange(whole.part(0, from, m, done), pivots, half, end);
}

void BlockSteps::copy(const Memory& from, const Memory& to) const {
    const auto place = [](const Memory& x) { return static_cast<std::size_t>(x.offset * itemsize(x.dtype)); };
    (void)queue_->copy(to.buffer.get(), place(to), from.buffer.get(), place(from), static_cast<std::size_t>(from.nbytes()));
}

void BlockSteps::transpose(const Memory& from, const Memory& to) const {
    const Block x(from);
    launch_kernel(queue_, op_name_, moved_variant(KernelId::Transpose, from.dtype),
                  x.count * divide_up(x.rows, 16) * divide_up(x.columns, 16), {reads(from), writes(to), x.rows, x.columns});
}

void BlockSteps::copy_rows(const Block& from, const Block& to, bool conjugate, const Memory& order, std::int64_t of) const {
    const std::int64_t total = to.count * to.rows * to.columns;
    const bool conjugated = conjugate && is_complex(to.memory.dtype), ordered = static_cast<bool>(order);
    launch_kernel(queue_, op_name_, Variant(KernelId::CopyRows, to.memory.dtype, {{"ORDERED", ordered}, {"CONJUGATE", conjugated}}),
                  groups_for(total),
                  {reads(from.memory), reads(ordered ? order : from.memory), writes(to.memory), total, to.rows, to.columns, of, from.step,
                   from.row, from.column, to.step, to.row, to.column});
}

Memory scratch_matrices(device::Queue* queue, DType dtype, std::int64_t count, std::int64_t rows, std::int64_t columns) {
    Memory made = device_scratch(queue, dtype, count * rows * columns);
    made.shape = {count, rows, columns};
    made.strides = {rows * columns, columns, 1};
    return made;
}

Memory scratch_like(device::Queue* queue, const Memory& like) {
    Memory made = device_scratch(queue, like.dtype, like.size());
    made.shape = like.shape;
    made.strides = like.strides;
    return made;
}

void find_row_places(device::Queue* queue, const char* op_name, const Memory& pivots, int base, const Memory& places) {
    const std::int64_t rows = places.shape.back(), count = places.size() / rows;
    const bool few = rows <= 4096;
    const Memory order = device_scratch(queue, DType::Int32, few ? 1 : places.size());
    launch_kernel(queue, op_name, Variant(KernelId::RowPlaces, DType::Int32, {{"SHORT", few}, {"BASE", base}}), count,
                  {updates(pivots), writes(order), writes(places), rows, pivots.size() / count});
}

void lu_determinant(device::Queue* queue, const char* op_name, const Memory& lu, const Memory& pivots, int base,
                    std::span<const Memory> out) {
    const bool logarithm = out.size() > 1;
    launch_kernel(queue, op_name, Variant(KernelId::LuDeterminant, lu.dtype, {{"TASK", logarithm}, {"BASE", base}}), matrices_of(lu),
                  {reads(lu), reads(pivots), writes(out[0]), logarithm ? writes(out[1]) : reads(lu), lu.shape.back()});
}

}  // namespace pardo::routines
