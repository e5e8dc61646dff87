// src/backend/cpu/launch.cpp: cuts an index space into parts for the threads.
#include "backend/cpu/launch.h"

#include <algorithm>

#include <pardo/error.h>

#include "base/shape.h"
#include "emit/runtime/shared_loop.h"

namespace pardo::cpu {
namespace {

/// A cut that keeps this share of the threads busy is good enough to stop looking further in.
constexpr double even_enough = 0.95;
constexpr std::int64_t most_slices = 1 << 20;
/// What runs between two looks at whether it is to stop.
constexpr double look_every_ns = 1e6;
/// Items that take so long are cut at the shortest vectors: what threads write into the same cache lines is little beside that.
constexpr double long_item_ns = 500;
constexpr int shortest_vector = 8;

const std::atomic<std::uint8_t> never{0};

/// A part of a launch, whose box is run in pieces that take moments.
struct Part {
    const CpuProgram& program;
    const std::uint64_t* args;
    const std::int64_t* extents;
    std::span<const std::int64_t> unit;  // of each dimension: where it may be cut
    const std::atomic<std::uint8_t>& stop;

    /// `cost_ns`: of the box. Cuts the outermost dimension that can be cut.
    void run(std::int64_t* begin, std::int64_t* end, double cost_ns, std::size_t d = 0) const {
        if (stop.load(std::memory_order_relaxed) != 0) return;
        const auto pieces = [&] { return (end[d] - begin[d] + unit[d] - 1) / unit[d]; };
        while (d < unit.size() && pieces() < 2) ++d;
        if (cost_ns <= look_every_ns || d == unit.size())
            return program.entry()(args, extents, begin, end, reinterpret_cast<const std::uint8_t*>(&stop));
        const std::int64_t count = std::min(pieces(), static_cast<std::int64_t>(std::min(cost_ns / look_every_ns, 1e9)) + 1);
        const std::int64_t first = begin[d], last = end[d], length = (pieces() + count - 1) / count * unit[d];
        for (std::int64_t at = first; at < last && stop.load(std::memory_order_relaxed) == 0; at += length) {
            begin[d] = at;
            end[d] = std::min(last, at + length);
            run(begin, end, cost_ns / static_cast<double>(count), d);
        }
        begin[d] = first;
        end[d] = last;
    }
};
static_assert(sizeof(std::atomic<std::uint8_t>) == 1);

/// Loops inside of a program, on the threads of the device that it runs on.
class LoopsOnPool final : public emit::LoopThreads {
public:
    explicit LoopsOnPool(ThreadPool& pool) : pool_(pool) {}
    void run(emit::LoopPart part, std::int64_t count, int parts, void* context, const std::uint8_t* stop) override {
        pool_.run(
            parts, [&](int k) { part(slice_begin(count, 1, parts, k), slice_begin(count, 1, parts, k + 1), context, nullptr, stop); },
            Schedule::Isolated);
    }
    int threads() const noexcept override { return ThreadPool::inside() ? 1 : pool_.threads(); }

private:
    ThreadPool& pool_;
};

}  // namespace

std::int64_t slice_begin(std::int64_t extent, std::int64_t unit, int parts, int part) {
    const std::int64_t units = (extent + unit - 1) / unit;
    return std::min(extent, unit * (units / parts * part + std::min<std::int64_t>(part, units % parts)));
}

Split split(std::span<const std::int64_t> extents, int parts, int granularity) {
    Split best;
    double best_share = 0;
    for (std::size_t d = 0; d < extents.size() && parts > 1; ++d) {
        const std::int64_t unit = d + 1 == extents.size() ? granularity : 1;
        const std::int64_t units = (extents[d] + unit - 1) / unit;
        if (units < 2) continue;
        const auto pieces = static_cast<int>(std::min<std::int64_t>(units, parts));
        const std::int64_t longest = (units + pieces - 1) / pieces;
        const double share = static_cast<double>(units) / (static_cast<double>(longest) * parts);
        if (share <= best_share) continue;
        best = {static_cast<int>(d), pieces, unit};
        best_share = share;
        if (share >= even_enough) break;
    }
    return best;
}

Split split_by(std::int64_t chunk, std::span<const std::int64_t> extents, int granularity) {
    const std::int64_t extent = extents.empty() ? 1 : extents[0], step = extents.size() == 1 ? granularity : 1;
    std::int64_t unit = std::max({chunk, extent / most_slices + 1, std::int64_t{1}});
    unit = std::min((unit + step - 1) / step * step, std::max<std::int64_t>(extent, 1));
    return {0, static_cast<int>((extent + unit - 1) / unit), unit};
}

void run_program(ThreadPool& pool, const CpuProgram& program, std::span<const std::int64_t> extents, const std::uint64_t* args,
                 double cost_ns, std::int64_t chunk, const std::atomic<std::uint8_t>* stop) {
    const std::size_t rank = extents.size();
    if (rank != static_cast<std::size_t>(program.rank()) || rank > max_rank) {
        throw Error(ErrorCode::Internal, "launch: kernel " + program.name() + " has " + std::to_string(program.rank()) +
                                             " dimensions, the launch " + std::to_string(rank));
    }
    for (std::int64_t n : extents) {
        if (n <= 0) return;
    }
    const std::vector<std::int64_t>& group_size = program.group_size();
    std::int64_t units[max_rank];  // what is cut: items, or whole groups
    std::copy_n(extents.data(), rank, units);
    for (std::size_t d = 0; d < group_size.size(); ++d) {
        if (extents[d] % group_size[d] != 0) {
            throw Error(ErrorCode::Internal, "launch: kernel " + program.name() + " runs in groups of " + std::to_string(group_size[d]) +
                                                 " items in dimension " + std::to_string(d) + ", and " + std::to_string(extents[d]) +
                                                 " items are not a multiple of that");
        }
        units[d] /= group_size[d];
    }
    static constexpr std::int64_t zeros[max_rank] = {};
    if (!stop) stop = &never;
    LoopsOnPool loops(pool);
    const emit::UsedThreads used(rank == 0 ? &loops : nullptr);
    if (cost_ns < serial_limit_ns && chunk == 0)
        return program.entry()(args, extents.data(), zeros, extents.data(), reinterpret_cast<const std::uint8_t*>(stop));

    double items = 1;
    for (std::int64_t n : extents) items *= static_cast<double>(n);
    int granularity = group_size.empty() ? program.split_granularity() : 1;
    if (cost_ns > long_item_ns * items) granularity = std::min(granularity, shortest_vector);
    std::int64_t whole[max_rank];  // items that are not cut between
    for (std::size_t d = 0; d < rank; ++d) whole[d] = !group_size.empty() ? group_size[d] : d + 1 == rank ? granularity : 1;
    const Part part_of{program, args, extents.data(), {whole, rank}, *stop};
    if (pool.threads() == 1 || ThreadPool::inside()) {
        std::int64_t begin[max_rank], end[max_rank];
        std::fill_n(begin, rank, 0);
        std::copy_n(extents.data(), rank, end);
        return part_of.run(begin, end, cost_ns);
    }
    const Split cut = chunk == 0 ? split({units, rank}, pool.threads(), granularity) : split_by(chunk, {units, rank}, granularity);
    const auto d = static_cast<std::size_t>(cut.dimension);
    auto run_part = [&](int part) {
        std::int64_t begin[max_rank], end[max_rank];
        std::fill_n(begin, rank, 0);
        std::copy_n(extents.data(), rank, end);
        if (cut.parts > 1) {
            const std::int64_t items = group_size.empty() ? 1 : group_size[d];
            begin[d] = items * slice_begin(units[d], cut.unit, cut.parts, part);
            end[d] = items * slice_begin(units[d], cut.unit, cut.parts, part + 1);
            if (begin[d] >= end[d]) return;
        }
        part_of.run(begin, end, cost_ns / cut.parts);
    };
    pool.run(cut.parts, run_part, chunk == 0 ? Schedule::Static : Schedule::WorkStealing);
}

}  // namespace pardo::cpu
