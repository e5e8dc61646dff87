// src/routines/device/linalg/orthogonal.cpp: reflections and rotations, and the QR factorization.
#include "routines/device/linalg/orthogonal.h"

#include <algorithm>

namespace pardo::routines {

namespace {

/// Columns that one kernel factorizes.
constexpr std::int64_t reflections_at_once = 16;
/// Sweeps that are enough: matrices of 256 rows of random numbers take 24 in float64.
constexpr int most_sweeps = 60;

/// How many items work on so many elements, as a power of two: one on processors.
int team_bits(const device::Queue* queue, std::int64_t elements) { return runs_on_cores(queue->device()) ? 0 : elements <= 128 ? 5 : 8; }
std::int64_t team_groups(std::int64_t count, int bits) { return divide_up(count << bits, device_group); }

void qr_by_blocks(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const BlockSteps steps(queue, options.op_name);
    const Block a(in[0]);
    if (options.raw) {
        steps.copy(in[0], out[0]);
        (void)Reflections(steps, Block(out[0]), out[1]);
        return;
    }
    const Block r(out[1]);
    const Block all = r.rows == a.rows ? r : Block(scratch_like(queue, in[0]));
    steps.copy(in[0], all.memory);
    const Reflections q(steps, all);
    if (r.rows != a.rows) steps.copy_rows(all, r);
    keep_triangle(queue, options.op_name, out[1], true);
    if (!out[0]) return;
    make_unit(queue, options.op_name, out[0]);
    q.apply(Block(out[0]));
}

const Registered small_qr(routines::qr, {"small kernels", DeviceKinds::Text, qr_by_blocks, takes_small_stack, 0.05});
const Registered any_qr(routines::qr, {"blocks", DeviceKinds::Text, qr_by_blocks, nullptr, 0.5});

}  // namespace

Reflections::Reflections(const BlockSteps& steps, const Block& a, const Memory& factors)
    : steps_(steps),
      vectors_(scratch_matrices(steps.queue(), a.memory.dtype, a.count, a.rows, std::min(a.rows, a.columns))),
      triangles_(scratch_matrices(steps.queue(), a.memory.dtype, a.count, vectors_.columns, reflections_at_once)) {
    const std::int64_t m = a.rows, n = a.columns, k = vectors_.columns;
    const Memory kept = factors ? factors : device_scratch(steps.queue(), a.memory.dtype, a.count * k);
    const int bits = team_bits(steps.queue(), m);
    for (std::int64_t from = 0; from < k; from += reflections_at_once) {
        const std::int64_t width = std::min(reflections_at_once, k - from), rest = n - from - width;
        const Block panel = a.part(from, from, m - from, width), v = vectors_.part(from, from, m - from, width);
        const Block triangle = triangles_.part(from, 0, width, width);
        launch_kernel(steps.queue(), steps.op_name(), Variant(KernelId::QrPanel, a.memory.dtype, {{"TEAM_BITS", bits}}),
                      team_groups(a.count, bits),
                      {updates(panel.memory), updates(v.memory), updates(triangle.memory), writes(memory_from(kept, from)), a.count,
                       panel.rows, width, panel.step, panel.row, panel.column, v.step, v.row, triangle.step, k});
        if (rest > 0) reflect(from, a.part(from, from + width, m - from, rest), true);
    }
}

/// By (I - V T Vᴴ) of the panel at `from`, or its adjoint: the triangles are -T⁻¹.
void Reflections::reflect(std::int64_t from, const Block& c, bool adjoint) const {
    const std::int64_t width = std::min(reflections_at_once, vectors_.columns - from);
    const Block v = vectors_.part(from, from, c.rows, width), triangle = triangles_.part(from, 0, width, width);
    const Block w(scratch_matrices(steps_.queue(), c.memory.dtype, c.count, width, c.columns));
    steps_.minus_product(w, v.transposed(), c, 2, BlockSteps::Part::Fresh);
    adjoint ? steps_.solve_lower(triangle.transposed(), w, false, true) : steps_.solve_upper(triangle, w, false);
    steps_.minus_product(c, v, w);
}

void Reflections::apply(const Block& c) const {
    const std::int64_t k = vectors_.columns;
    for (std::int64_t from = (k - 1) / reflections_at_once * reflections_at_once; from >= 0; from -= reflections_at_once)
        reflect(from, c.part(from, 0, c.rows - from, c.columns), false);
}

OrthogonalRows::OrthogonalRows(const BlockSteps& steps, const Block& a, Form form, bool vectors, const MatrixStatus& status)
    : steps_(steps), n_(a.rows) {
    device::Queue* queue = steps.queue();
    const DType dtype = a.memory.dtype;
    const bool cores = runs_on_cores(queue->device());
    // One item, or one group, for all of a matrix, where that keeps the device busy or launches would take longer.
    const bool whole = n_ <= 64 || a.count >= (cores ? 4 * device_group : 64);
    const int sweeps = whole ? 1 : most_sweeps, bits = team_bits(queue, n_);
    x_ = scratch_matrices(queue, dtype, a.count, n_, n_);
    turns_ = vectors ? scratch_matrices(queue, dtype, a.count, n_, n_) : x_;
    plain_ = form >= Form::HermitianByUpper ? scratch_matrices(queue, dtype, a.count, n_, n_) : x_;
    powers_ = device_scratch(queue, DType::Int32, a.count);
    const Memory turned = device_scratch(queue, DType::Int32, sweeps * a.count);
    launch_kernel(queue, steps.op_name(), Variant(KernelId::JacobiStart, dtype, {{"TEAM_BITS", bits}, {"FORM", static_cast<int>(form)}}),
                  team_groups(a.count, bits),
                  {reads(a.memory), writes(x_), updates(turns_), updates(plain_), writes(powers_), writes(turned), status.arg(), a.count,
                   n_, a.step, a.row, a.column, std::int64_t{sweeps}, std::int64_t{vectors}});
    turn(vectors, sweeps, whole, turned);
    info_ = memory_from(turned, (sweeps - 1) * a.count);
    info_.shape = {a.count};
}

void OrthogonalRows::turn(bool vectors, int sweeps, bool whole, const Memory& turned) const {
    device::Queue* queue = steps_.queue();
    const bool cores = runs_on_cores(queue->device());
    const std::int64_t count = x_.shape[0], pairs = (n_ + 1) / 2;
    const int bits = !cores ? 5 : whole ? 0 : 4;
    const std::int64_t across = team_groups(pairs, bits), groups = !whole ? count * across : cores ? groups_for(count) : count;
    const Variant kernel(KernelId::Jacobi, x_.dtype, {{"TEAM_BITS", bits}, {"WHOLE", whole}});
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        for (std::int64_t round = 0; round < (whole ? 1 : 2 * pairs - 1); ++round) {
            launch_kernel(queue, steps_.op_name(), kernel, groups,
                          {updates(x_), updates(turns_), updates(turned), count, n_, across, std::int64_t{sweep}, round,
                           std::int64_t{most_sweeps}, std::int64_t{vectors}});
        }
    }
}

void OrthogonalRows::order_by_length(const Memory& values) { order(x_, x_, false, 0, values); }

/// Rotations and the multiple of the unit matrix round more than these products do.
void OrthogonalRows::order_by_eigenvalue(std::int64_t first, const Memory& values) {
    steps_.minus_product(Block(x_), Block(turns_), Block(plain_), 0, BlockSteps::Part::Fresh);
    order(x_, turns_, true, first, values);
}

void OrthogonalRows::order(const Memory& x, const Memory& y, bool by_eigenvalue, std::int64_t first, const Memory& values) {
    device::Queue* queue = steps_.queue();
    const int bits = runs_on_cores(queue->device()) ? 0 : 5;
    const std::int64_t rows = x_.shape[0] * n_;
    const Memory numbers = device_scratch(queue, real_of(x_.dtype), rows);
    launch_kernel(queue, steps_.op_name(), Variant(KernelId::RowNumbers, x_.dtype, {{"TEAM_BITS", bits}, {"PRODUCT", by_eigenvalue}}),
                  team_groups(rows, bits), {reads(x), reads(y), writes(numbers), rows, n_});
    order_ = device_scratch(queue, DType::Int32, rows);
    first_ = first;
    launch_kernel(queue, steps_.op_name(), Variant(KernelId::OrderRows, real_of(x_.dtype), {{"ASCENDING", by_eigenvalue}}),
                  groups_for(rows), {reads(numbers), reads(powers_), writes(order_), writes(values), rows, n_, first, values.shape.back()});
}

}  // namespace pardo::routines
