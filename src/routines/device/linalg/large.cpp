// src/routines/device/linalg/large.cpp: factorizations of matrices of any size on devices that compile text, by blocks and products of
// them.
#include <optional>

#include "routines/device/linalg/blocks.h"

namespace pardo::routines {

namespace {

constexpr const char* singular_matrix = "Singular matrix";

/// What a routine works with. Stacks are looked through for elements that are not finite where that is asked for.
struct LargeWork {
    BlockSteps steps;
    std::optional<MatrixStatus> status;

    LargeWork(device::Queue* queue, const MatrixOptions& options, const char* reason, std::span<const Memory> in, bool may_fail = true)
        : steps(queue, options.op_name) {
        if (may_fail || options.finite) status.emplace(queue, options, reason, in[0]);
        for (const Memory& x : in) {
            if (options.finite && x.dtype == in[0].dtype) status->look_through(x);
        }
    }
    Memory scratch(const Memory& like) const { return scratch_like(steps.queue(), like); }
    Memory pivots(const Memory& a) const {
        return device_scratch(steps.queue(), DType::Int32, matrices_of(a) * std::min(a.shape.back(), a.shape[a.shape.size() - 2]));
    }
    /// Notes which matrices have a zero on their diagonal.
    void note_zeros(const Memory& a) const {
        const std::int64_t n = a.shape.back(), total = matrices_of(a) * n;
        launch_kernel(steps.queue(), steps.op_name(), Variant(KernelId::NoteZeros, a.dtype), groups_for(total),
                      {reads(a), status->arg(), total, n});
    }
};

/// x with a x = b for LU factors of a, in the place of b.
void solve_by_factors(const BlockSteps& steps, const Memory& lu, const Memory& pivots, const Memory& x) {
    const Block factors(lu), b(x);
    steps.exchange(b, pivots, 0, b.rows);
    steps.solve_lower(factors, b, true);
    steps.solve_upper(factors, b, false);
}

void large_solve(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const LargeWork work(queue, options, singular_matrix, in, !options.nan_where_singular);
    const Memory lu = work.scratch(in[0]), pivots = work.pivots(in[0]);
    work.steps.copy(in[0], lu);
    work.steps.lu(Block(lu), pivots);
    if (in.size() > 1)
        work.steps.copy(in[1], out[0]);
    else
        make_unit(queue, options.op_name, out[0]);
    solve_by_factors(work.steps, lu, pivots, out[0]);
    if (!work.status) return;  // what is divided by a pivot of zero is not finite
    work.note_zeros(lu);
    work.status->finish(out);
}

void large_det(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const LargeWork work(queue, options, "", in, false);
    const Memory lu = work.scratch(in[0]), pivots = work.pivots(in[0]);
    work.steps.copy(in[0], lu);
    work.steps.lu(Block(lu), pivots);
    lu_determinant(queue, options.op_name, lu, pivots, 0, out);
}

void large_cholesky(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const LargeWork work(queue, options, "Matrix is not positive definite", in);
    work.steps.copy(in[0], out[0]);
    const Block a(out[0]);
    work.steps.cholesky(options.upper ? a.transposed() : a, *work.status);
    keep_triangle(queue, options.op_name, out[0], options.upper);
    work.status->finish(out);
}

void large_lu_factor(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const LargeWork work(queue, options, "", in, false);
    const Memory pivots = out[1] ? out[1] : work.pivots(in[0]), lu = out[0] ? out[0] : work.scratch(in[0]);
    work.steps.copy(in[0], lu);
    work.steps.lu(Block(lu), pivots);
    if (out[2]) find_row_places(queue, options.op_name, pivots, 0, out[2]);
    if (work.status) work.status->finish(out);
}

void large_lu_solve(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const LargeWork work(queue, options, "A row of the exchanges is out of bounds", in);
    const std::int64_t n = in[0].shape.back();
    launch_kernel(queue, options.op_name, Variant(KernelId::NoteExchanges, DType::Int32), groups_for(in[1].size()),
                  {reads(in[1]), work.status->arg(), in[1].size(), n});
    work.steps.copy(in[2], out[0]);
    if (options.transposed) {
        const Block factors = Block(in[0]).transposed(), x(out[0]);
        work.steps.solve_lower(factors, x, false, options.conjugated);
        work.steps.solve_upper(factors, x, true, options.conjugated);
        work.steps.exchange(x, in[1], 0, n, true);
    } else {
        solve_by_factors(work.steps, in[0], in[1], out[0]);
    }
    work.status->finish(out);
}

void large_triangular_solve(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const LargeWork work(queue, options, singular_matrix, in, !options.unit_diagonal);
    work.steps.copy(in[1], out[0]);
    const Block a = options.transposed ? Block(in[0]).transposed() : Block(in[0]), x(out[0]);
    const bool upper = options.upper != options.transposed;
    upper ? work.steps.solve_upper(a, x, options.unit_diagonal, options.conjugated)
          : work.steps.solve_lower(a, x, options.unit_diagonal, options.conjugated);
    if (!work.status) return;
    if (!options.unit_diagonal) work.note_zeros(in[0]);
    work.status->finish(out);
}

const Registered solve_by_blocks(routines::solve, {"blocks", DeviceKinds::Text, large_solve, takes_stack, 0.5});
const Registered inv_by_blocks(routines::inv, {"blocks", DeviceKinds::Text, large_solve, takes_stack, 0.5});
const Registered det_by_blocks(routines::det, {"blocks", DeviceKinds::Text, large_det, takes_stack, 0.5});
const Registered cholesky_by_blocks(routines::cholesky, {"blocks", DeviceKinds::Text, large_cholesky, takes_stack, 0.5});
const Registered lu_factor_by_blocks(routines::lu_factor, {"blocks", DeviceKinds::Text, large_lu_factor, takes_stack, 0.5});
const Registered lu_solve_by_blocks(routines::lu_solve, {"blocks", DeviceKinds::Text, large_lu_solve, takes_stack, 0.5});
const Registered triangular_by_blocks(routines::triangular_solve, {"blocks", DeviceKinds::Text, large_triangular_solve, takes_stack, 0.5});

}  // namespace

}  // namespace pardo::routines
