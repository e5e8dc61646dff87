// src/lib/device/sort.cpp: sorting on devices that compile text: short lines in shared memory, long ones by radix; selections by sorting.
#include <algorithm>
#include <bit>
#include <utility>

#include "lib/device/task.h"
#include "lib/routines.h"

namespace pardo::lib {

namespace {

/// Contiguous lines, and how many of the first elements of each are wanted.
struct SortPlan {
    device::Queue* queue;
    const char* name;
    std::int64_t lines, length, kept;
    bool descending;

    std::int64_t size() const { return lines * length; }
};

/// Elements that a group sorts in shared memory, as a power of two.
int short_bits(DType dtype) { return itemsize(dtype) > 8 ? 10 : 11; }

/// Lines of a stretch of memory: `valid` elements each, `step` apart, in pieces of `piece` elements that are sorted apart.
struct Pieces {
    std::int64_t valid, step, count, piece;
};

/// Sorts each piece and writes the plan's first ones. `from`: what positions are called, if it is there.
void sort_short(const SortPlan& plan, const Memory& x, const Memory& from, const Memory& values, const Memory& indices, Pieces pieces) {
    const int bits = short_bits(x.dtype);
    const auto width = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(pieces.piece)));
    DeviceArgs args;
    args.push_back(reads(x));
    if (from) args.push_back(reads(from));
    if (values) args.push_back(writes(values));
    if (indices) args.push_back(writes(indices));
    for (const std::int64_t number :
         {plan.lines, pieces.valid, pieces.step, pieces.count, pieces.piece, width, plan.kept, std::int64_t{plan.descending}})
        args.push_back(number);
    const Variant variant(KernelId::SortShort, x.dtype,
                          {{"ROOM_BITS", bits},
                           {"FROM", static_cast<bool>(from)},
                           {"VALUES", static_cast<bool>(values)},
                           {"INDICES", static_cast<bool>(indices)}});
    launch_kernel(plan.queue, plan.name, variant, divide_up(plan.lines * pieces.count, (std::int64_t{1} << bits) / width), args);
}

/// Keys in passes of eight bits. Positions may come along.
class Radix {
public:
    Radix(const SortPlan& plan, DType dtype, bool with_positions)
        : plan_(plan),
          dtype_(dtype),
          position_size_(!with_positions             ? 0
                         : plan.length <= 0xffffffff ? 4
                                                     : 8),
          count_size_(plan.size() <= 0xffffffff ? 4 : 8),
          items_(itemsize(dtype) > 4 || position_size_ > 4 ? 8 : 16),
          tiles_(divide_up(plan.length, std::int64_t{device_group} * items_)) {
        const DType counts = count_size_ == 4 ? DType::UInt32 : DType::UInt64;
        counts_ = device_scratch(plan.queue, counts, plan.lines * 256 * tiles_);
        running_ = device_scratch(plan.queue, counts, plan.lines * 256 * tiles_);
        if (!with_positions) return;
        for (Memory& memory : positions_)
            memory = device_scratch(plan.queue, position_size_ == 4 ? DType::UInt32 : DType::UInt64, plan.size());
    }

    /// How a pass reads and writes keys: MODE and LAST of kernels/sort.h.
    struct Pass {
        int mode, last;
    };
    void pass(const Memory& from, const Memory& to, int digit, Pass how) {
        const std::int64_t groups = plan_.lines * tiles_, shift = 8 * digit, flip = plan_.descending ? -1 : 0;
        launch_kernel(plan_.queue, plan_.name,
                      Variant(KernelId::RadixCount, dtype_, {{"ITEMS", items_}, {"MODE", how.mode}, {"C_SIZE", count_size_}}), groups,
                      {reads(from), writes(counts_), plan_.length, tiles_, shift, flip});
        routines::cumulative(plan_.queue, graph::ReduceOp::Sum, counts_, running_, {1, counts_.size(), 1}, false);
        DeviceArgs args;
        for (const DeviceArg& arg : {reads(from), writes(to), reads(running_)}) args.push_back(arg);
        if (position_size_ > 0) {
            if (moved_) args.push_back(reads(positions_[0]));
            args.push_back(writes(positions_[1]));
        }
        for (const std::int64_t number : {plan_.length, tiles_, shift, flip}) args.push_back(number);
        launch_kernel(plan_.queue, plan_.name,
                      Variant(KernelId::RadixScatter, dtype_,
                              {{"ITEMS", items_},
                               {"MODE", how.mode},
                               {"C_SIZE", count_size_},
                               {"P_SIZE", position_size_},
                               {"FIRST", !moved_},
                               {"LAST", how.last}}),
                      groups, args);
        moved_ = true;
        std::swap(positions_[0], positions_[1]);
    }
    /// Where each element came from, after the passes.
    const Memory& positions() const { return positions_[0]; }
    int position_size() const { return position_size_; }

private:
    const SortPlan& plan_;
    DType dtype_;
    int position_size_, count_size_, items_;
    std::int64_t tiles_;
    Memory counts_, running_, positions_[2];
    bool moved_ = false;
};

/// Values alone: keys that can be turned back.
void radix_values(const SortPlan& plan, const Memory& x, const Memory& values) {
    const int passes = itemsize(x.dtype);
    Radix radix(plan, x.dtype, false);
    const Memory other = passes > 1 ? device_scratch(plan.queue, x.dtype, plan.size()) : values;
    const Memory* from = &x;
    for (int p = 0; p < passes; ++p) {
        const Memory* to = (passes - 1 - p) % 2 == 0 ? &values : &other;
        radix.pass(*from, *to, p, {p == 0 ? 1 : 0, p == passes - 1 ? 1 : 0});
        from = to;
    }
    if (!is_float(x.dtype)) return;
    launch_kernel(plan.queue, plan.name, Variant(KernelId::ZerosInOrder, x.dtype), plan.lines,
                  {reads(x), updates(values), plan.length, std::int64_t{plan.descending ? -1 : 0}});
}

/// The first ones of each line, by positions.
void write_sorted(const SortPlan& plan, const Radix& radix, const Memory& x, const Memory& values, const Memory& indices) {
    DeviceArgs args;
    args.push_back(reads(radix.positions()));
    if (values) {
        args.push_back(reads(x));
        args.push_back(writes(values));
    }
    if (indices) args.push_back(writes(indices));
    const std::int64_t total = plan.lines * plan.kept;
    for (const std::int64_t number : {total, plan.length, plan.kept}) args.push_back(number);
    launch_kernel(
        plan.queue, plan.name,
        moved_variant(KernelId::SortedOut, x.dtype,
                      {{"P_SIZE", radix.position_size()}, {"VALUES", static_cast<bool>(values)}, {"INDICES", static_cast<bool>(indices)}}),
        groups_for(total), args);
}

/// Positions by ranks: equal elements stay in order.
void radix_positions(const SortPlan& plan, const Memory& x, const Memory& values, const Memory& indices) {
    const bool complex = is_complex(x.dtype);
    const DType key = complex ? DType::UInt64 : x.dtype;
    const int passes = itemsize(key);
    Radix radix(plan, key, true);
    Memory keys[2];
    for (Memory& memory : keys) memory = device_scratch(plan.queue, key, passes > 1 || complex ? plan.size() : 1);
    // Complex128 has two keys; the one that counts less comes first.
    const int rounds = x.dtype == DType::Complex128 ? 2 : 1;
    for (int round = 0; round < rounds; ++round) {
        if (complex) {
            DeviceArgs args;
            for (const DeviceArg& arg : {reads(x), writes(keys[0])}) args.push_back(arg);
            if (round > 0) args.push_back(reads(radix.positions()));
            for (const std::int64_t number : {plan.size(), plan.length, std::int64_t{plan.descending}}) args.push_back(number);
            launch_kernel(plan.queue, plan.name,
                          Variant(KernelId::ComplexKeys, x.dtype, {{"P_SIZE", radix.position_size()}, {"USE_PAYLOAD", round > 0}}),
                          groups_for(plan.size()), args);
        }
        for (int p = 0; p < passes; ++p) {
            const bool from_elements = p == 0 && !complex;
            radix.pass(from_elements ? x : keys[0], keys[1], p, {from_elements ? 2 : 0, p == passes - 1 ? 2 : 0});
            std::swap(keys[0], keys[1]);
        }
    }
    write_sorted(plan, radix, x, values, indices);
}

/// The first ones of long lines: those of pieces that are sorted in shared memory, until what is left of a line is one piece.
void select_short(const SortPlan& plan, const Memory& x, const Memory& values, const Memory& indices) {
    const std::int64_t room = std::int64_t{1} << short_bits(x.dtype);
    Memory from = x, names;
    std::int64_t valid = plan.length, step = plan.length;
    while (valid > room) {
        const std::int64_t pieces = divide_up(valid, room);
        const Memory best = device_scratch(plan.queue, x.dtype, plan.lines * pieces * plan.kept);
        const Memory best_names = device_scratch(plan.queue, DType::Int64, plan.lines * pieces * plan.kept);
        sort_short(plan, from, names, best, best_names, {valid, step, pieces, room});
        valid = (pieces - 1) * plan.kept + std::min(plan.kept, valid - (pieces - 1) * room);
        step = pieces * plan.kept;
        from = best;
        names = best_names;
    }
    sort_short(plan, from, names, values, indices, {valid, step, 1, valid});
}

/// Contiguous lines, some way.
void sort_lines(const SortPlan& plan, const Memory& x, const Memory& values, const Memory& indices) {
    const std::int64_t room = std::int64_t{1} << short_bits(x.dtype);
    if (plan.length <= room) return sort_short(plan, x, {}, values, indices, {plan.length, plan.length, 1, plan.length});
    if (plan.kept <= room / 4) return select_short(plan, x, values, indices);
    if (!indices && plan.kept == plan.length && !is_complex(x.dtype)) return radix_values(plan, x, values);
    radix_positions(plan, x, values, indices);
}

/// Matrices (outer, rows, columns) turned over.
void transpose(device::Queue* queue, const char* name, const Memory& x, const Memory& out, std::int64_t outer, std::int64_t rows,
               std::int64_t columns) {
    launch_kernel(queue, name, moved_variant(KernelId::Transpose, x.dtype), outer * divide_up(rows, 16) * divide_up(columns, 16),
                  {reads(x), writes(out), rows, columns});
}

/// Lines along any axis.
void sort_any(device::Queue* queue, const char* name, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
              std::int64_t kept, bool descending) {
    const SortPlan plan{queue, name, lines.outer * lines.inner, lines.length, kept, descending};
    if (lines.inner == 1 || (lines.length == 1 && kept == 1)) return sort_lines(plan, x, values, indices);
    const Memory straight = device_scratch(queue, x.dtype, plan.size());
    transpose(queue, name, x, straight, lines.outer, lines.length, lines.inner);
    Memory sorted, places;
    if (values) sorted = device_scratch(queue, x.dtype, plan.lines * kept);
    if (indices) places = device_scratch(queue, DType::Int64, plan.lines * kept);
    sort_lines(plan, straight, sorted, places);
    if (values) transpose(queue, name, sorted, values, lines.outer, lines.inner, kept);
    if (indices) transpose(queue, name, places, indices, lines.outer, lines.inner, kept);
}

void device_sort(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, bool descending) {
    sort_any(queue, indices ? "argsort" : "sort", x, values, indices, lines, lines.length, descending);
}

// A sorted line is a partitioned one; radix sorting takes a few passes more than selecting would.
void device_partition(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
                      std::span<const std::int64_t>) {
    sort_any(queue, indices ? "argpartition" : "partition", x, values, indices, lines, lines.length, false);
}

void device_top_k(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, std::int64_t k,
                  bool largest) {
    sort_any(queue, "top_k", x, values, indices, lines, k, largest);
}

const Registered sort_here(routines::sort, {"kernels", Place::Text, device_sort});
const Registered partition_here(routines::partition, {"kernels", Place::Text, device_partition});
const Registered top_k_here(routines::top_k, {"kernels", Place::Text, device_top_k});

}  // namespace

}  // namespace pardo::lib
