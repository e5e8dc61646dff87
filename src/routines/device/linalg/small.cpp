// src/routines/device/linalg/small.cpp: stacks of small matrices on devices that compile text: a team of items works on each.
#include <algorithm>
#include <bit>
#include <optional>

#include "routines/device/linalg/blocks.h"

namespace pardo::routines {

namespace {

/// What lu_small is asked for.
enum class LuTask : std::uint8_t { Determinant, Logarithm, Solve, Invert };

/// A team has a power of two of items, one for each row.
int items_of_team(const Memory& stack) {
    return std::max(4, static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(stack.shape.back()))));
}

/// How right-hand sides are shared out: some are worked on at a time, and a team takes so many in all.
struct SidePlan {
    int together;
    std::int64_t slices, width;

    SidePlan(const Memory& a, std::int64_t sides) {
        constexpr std::int64_t widest = 64;  // of more the factorization is done once again
        const int most = std::min(items_of_team(a), itemsize(a.dtype) > 8 ? 8 : 16);
        together = sides == 1 ? 1 : sides <= 4 ? 4 : most;
        width = std::min(divide_up(sides, together) * together, widest);
        slices = divide_up(sides, width);
    }
};

/// Who works on a matrix.
enum class Workers : std::uint8_t { Team, Item };
std::int64_t matrices_of_group(Workers workers, const Memory& a) {
    return workers == Workers::Item ? device_group : device_group / items_of_team(a);
}

template <Workers workers>
void lu_small(device::Queue* queue, const MatrixOptions& options, LuTask task, std::span<const Memory> in, std::span<const Memory> out) {
    const Memory& a = in[0];
    const std::int64_t n = a.shape.back(), count = matrices_of(a);
    const bool solves = task == LuTask::Solve, inverts = task == LuTask::Invert;
    const std::int64_t sides = solves ? in[1].shape.back() : n;
    const SidePlan plan(a, sides);
    // Rows of the transposed matrix are read with fewer transactions. Its determinant is the same, its inverse the transposed one.
    const std::int64_t row = solves ? n : 1, column = solves ? 1 : n, out_row = solves ? sides : 1, out_column = solves ? 1 : sides;
    const bool checked = options.finite || ((solves || inverts) && !options.nan_where_singular);
    std::optional<MatrixStatus> status;
    if (checked) status.emplace(queue, options, "Singular matrix", a);
    DeviceArgs args;
    for (const DeviceArg& arg : {reads(a), reads(solves ? in[1] : a), writes(out[0]), task == LuTask::Logarithm ? writes(out[1]) : reads(a),
                                 status ? status->arg() : reads(a), DeviceArg(count), DeviceArg(n), DeviceArg(row), DeviceArg(column)})
        args.push_back(arg);
    const std::int64_t slices = solves || inverts ? plan.slices : 1;
    for (const std::int64_t number :
         {sides, slices, plan.width, out_row, out_column, std::int64_t{options.finite}, std::int64_t{options.nan_where_singular}})
        args.push_back(number);
    const int together = workers == Workers::Team && (solves || inverts) ? plan.together : 0;
    launch_kernel(queue, options.op_name,
                  Variant(workers == Workers::Team ? KernelId::LuSmall : KernelId::LuAlone, a.dtype,
                          {{"EXTENT", items_of_team(a)}, {"TASK", static_cast<int>(task)}, {"SIDES", together}}),
                  divide_up(count * slices, matrices_of_group(workers, a)), args, status ? status->check() : std::function<void()>());
    if (status) status->settle(out);
}

template <Workers workers>
void small_solve(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    lu_small<workers>(queue, options, LuTask::Solve, in, out);
}
template <Workers workers>
void small_inv(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    lu_small<workers>(queue, options, LuTask::Invert, in, out);
}
template <Workers workers>
void small_det(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    lu_small<workers>(queue, options, out.size() > 1 ? LuTask::Logarithm : LuTask::Determinant, in, out);
}

/// From a to out, which have the same steps.
template <Workers workers>
void cholesky_block(device::Queue* queue, const char* op_name, const Block& a, const Memory& out, const MatrixStatus& status, bool finite,
                    std::function<void()> check) {
    const DeviceArg args[] = {reads(a.memory), writes(out), status.arg(), a.count, a.rows, a.step, a.row, a.column, std::int64_t{finite}};
    const int extent = std::max(4, static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(a.rows))));
    launch_kernel(queue, op_name,
                  Variant(workers == Workers::Team ? KernelId::CholeskySmall : KernelId::CholeskyAlone, out.dtype, {{"EXTENT", extent}}),
                  divide_up(a.count, workers == Workers::Item ? device_group : device_group / extent), args, std::move(check));
}

template <Workers workers>
void small_cholesky(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    const MatrixStatus status(queue, options, "Matrix is not positive definite", in[0]);
    const Block a(in[0]);
    cholesky_block<workers>(queue, options.op_name, options.upper ? a.transposed() : a, out[0], status, options.finite, status.check());
    status.settle(out);
}

/// By an item for each matrix on processors, by teams on all else.
template <auto by_items, auto by_teams>
void by_workers(device::Queue* queue, const MatrixOptions& options, std::span<const Memory> in, std::span<const Memory> out) {
    (runs_on_cores(queue->device()) ? by_items : by_teams)(queue, options, in, out);
}

constexpr auto solve_small = by_workers<small_solve<Workers::Item>, small_solve<Workers::Team>>;
constexpr auto inv_small = by_workers<small_inv<Workers::Item>, small_inv<Workers::Team>>;
constexpr auto det_small = by_workers<small_det<Workers::Item>, small_det<Workers::Team>>;
constexpr auto cholesky_small = by_workers<small_cholesky<Workers::Item>, small_cholesky<Workers::Team>>;

const Registered solve_by_kernels(routines::solve, {"small kernels", DeviceKinds::Text, solve_small, takes_small_stack, 0.05});
const Registered inv_by_kernels(routines::inv, {"small kernels", DeviceKinds::Text, inv_small, takes_small_stack, 0.05});
const Registered det_by_kernels(routines::det, {"small kernels", DeviceKinds::Text, det_small, takes_small_stack, 0.05});
const Registered cholesky_by_kernels(routines::cholesky, {"small kernels", DeviceKinds::Text, cholesky_small, takes_small_stack, 0.05});

}  // namespace

void small_cholesky_block(device::Queue* queue, const char* op_name, const Block& a, const MatrixStatus& status) {
    const auto run = runs_on_cores(queue->device()) ? cholesky_block<Workers::Item> : cholesky_block<Workers::Team>;
    run(queue, op_name, a, a.memory, status, false, {});
}

}  // namespace pardo::routines
