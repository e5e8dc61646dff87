// src/routines/device/sort.cpp: sorting on devices that compile text: short lines in shared memory, long ones by radix; partitions.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "routines/device/sorting.h"

namespace pardo::routines {

namespace {

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

/// Keys in passes of eight bits, or of classes. Positions may come along.
class Radix {
public:
    Radix(const SortPlan& plan, DType dtype, bool with_positions)
        : plan_(plan),
          dtype_(dtype),
          position_size_(with_positions ? routines::position_size(plan) : 0),
          count_size_(plan.size() <= 0xffffffff ? 4 : 8),
          items_(itemsize(dtype) > 4 || position_size_ > 4 ? 8 : 16),
          tiles_(divide_up(plan.length, std::int64_t{device_group} * items_)) {
        const DType counts = count_size_ == 4 ? DType::UInt32 : DType::UInt64;
        counts_ = device_scratch(plan.queue, counts, plan.lines * 256 * tiles_);
        running_ = device_scratch(plan.queue, counts, plan.lines * 256 * tiles_);
        if (!with_positions) return;
        for (Memory& memory : positions_) memory = device_scratch(plan.queue, position_dtype(plan), plan.size());
    }

    /// How a pass reads and writes keys: MODE and LAST of kernels/sort.h.
    struct Pass {
        int mode, last;
    };
    void pass(const Memory& from, const Memory& to, int digit, Pass how, std::span<const DeviceArg> more = {}) {
        const std::int64_t groups = plan_.lines * tiles_, shift = 8 * digit, flip = plan_.flip();
        DeviceArgs count_args;
        for (const DeviceArg& arg :
             {reads(from), writes(counts_), DeviceArg(plan_.length), DeviceArg(tiles_), DeviceArg(shift), DeviceArg(flip)})
            count_args.push_back(arg);
        count_args.append(more.begin(), more.end());
        launch_kernel(plan_.queue, plan_.name,
                      Variant(KernelId::RadixCount, dtype_, {{"ITEMS", items_}, {"MODE", how.mode}, {"C_SIZE", count_size_}}), groups,
                      count_args);
        routines::cumulative(plan_.queue, graph::ReduceOp::Sum, counts_, running_, {1, counts_.size(), 1}, false);
        DeviceArgs args;
        for (const DeviceArg& arg : {reads(from), writes(to), reads(running_)}) args.push_back(arg);
        if (position_size_ > 0) {
            if (moved_) args.push_back(reads(positions_[0]));
            args.push_back(writes(positions_[1]));
        }
        for (const std::int64_t number : {plan_.length, tiles_, shift, flip}) args.push_back(number);
        args.append(more.begin(), more.end());
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
    /// One pass, by classes; `last` as of a pass.
    void classes(const Memory& from, const Memory& to, const Selected& selected, int last) {
        const DeviceArg more[] = {reads(selected.keys), static_cast<std::int64_t>(selected.kth.size())};
        pass(from, to, 0, {selected.mode + 2, last}, more);
    }
    /// Where each element came from, after the passes.
    const Memory& positions() const { return positions_[0]; }

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
    if (sweeps(plan.queue)) return sweep(plan, x, x.dtype, ExactKeys, values, {});
    const int passes = itemsize(x.dtype);
    Radix radix(plan, x.dtype, false);
    const Memory other = passes > 1 ? device_scratch(plan.queue, x.dtype, plan.size()) : values;
    const Memory* from = &x;
    for (int p = 0; p < passes; ++p) {
        const Memory* to = (passes - 1 - p) % 2 == 0 ? &values : &other;
        radix.pass(*from, *to, p, {p == 0 ? ExactKeys : ReadyKeys, p == passes - 1 ? 1 : 0});
        from = to;
    }
    if (!is_float(x.dtype)) return;
    const Parts parts = parts_of(plan, std::int64_t{device_group} * 16);
    const ZeroNotes zeros{parts, device_scratch(plan.queue, DType::Int64, plan.lines * parts.count), {}};
    launch_kernel(plan.queue, plan.name, Variant(KernelId::ZeroCounts, x.dtype), plan.lines * parts.count,
                  {reads(x), reads(values), writes(zeros.counts), plan.length, parts.count, parts.chunk, plan.flip()});
    put_zeros_in_order(plan, x, values, zeros);
}

/// The first ones of each line, by positions.
void write_sorted(const SortPlan& plan, const Memory& positions, const Memory& x, const Memory& values, const Memory& indices) {
    DeviceArgs args;
    args.push_back(reads(positions));
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
                      {{"P_SIZE", position_size(plan)}, {"VALUES", static_cast<bool>(values)}, {"INDICES", static_cast<bool>(indices)}}),
        groups_for(total), args);
}

/// The keys of complex elements: the one of complex64, the one of two of complex128 that counts less, or after a round by that, whose
/// positions are given, the other one.
Memory complex_keys(const SortPlan& plan, const Memory& x, const Memory& positions) {
    const Memory keys = device_scratch(plan.queue, DType::UInt64, plan.size());
    DeviceArgs args;
    for (const DeviceArg& arg : {reads(x), writes(keys)}) args.push_back(arg);
    if (positions) args.push_back(reads(positions));
    for (const std::int64_t number : {plan.size(), plan.length, std::int64_t{plan.descending}}) args.push_back(number);
    launch_kernel(plan.queue, plan.name,
                  Variant(KernelId::ComplexKeys, x.dtype, {{"P_SIZE", position_size(plan)}, {"USE_PAYLOAD", static_cast<bool>(positions)}}),
                  groups_for(plan.size()), args);
    return keys;
}

/// Positions by ranks: equal elements stay in order.
Memory radix_positions(const SortPlan& plan, const Memory& x) {
    const bool complex = is_complex(x.dtype);
    const DType key = complex ? DType::UInt64 : x.dtype;
    const int passes = itemsize(key), rounds = x.dtype == DType::Complex128 ? 2 : 1;
    Radix radix(plan, key, true);
    Memory keys[2];
    if (passes > 1) keys[0] = device_scratch(plan.queue, key, plan.size());
    keys[1] = device_scratch(plan.queue, key, passes > 1 ? plan.size() : 1);
    for (int round = 0; round < rounds; ++round) {
        if (complex) keys[0] = complex_keys(plan, x, round > 0 ? radix.positions() : Memory());
        for (int p = 0; p < passes; ++p) {
            const bool from_elements = p == 0 && !complex;
            radix.pass(from_elements ? x : keys[0], keys[1], p, {from_elements ? RankKeys : ReadyKeys, p == passes - 1 ? 2 : 0});
            std::swap(keys[0], keys[1]);
        }
    }
    return radix.positions();
}
Memory sweep_positions(const SortPlan& plan, const Memory& x) {
    SweepItems items{{}, device_scratch(plan.queue, position_dtype(plan), plan.size())};
    if (!is_complex(x.dtype)) {
        sweep(plan, x, x.dtype, RankKeys, {}, items);
        return items.to;
    }
    for (int round = 0; round < (x.dtype == DType::Complex128 ? 2 : 1); ++round) {
        if (round > 0) items = {items.to, device_scratch(plan.queue, position_dtype(plan), plan.size())};
        sweep(plan, complex_keys(plan, x, items.given), DType::UInt64, ReadyKeys, {}, items);
    }
    return items.to;
}
void sort_positions(const SortPlan& plan, const Memory& x, const Memory& values, const Memory& indices) {
    if (sweeps(plan.queue) && !values && plan.kept == plan.length && !is_complex(x.dtype))
        return sweep(plan, x, x.dtype, RankKeys, {}, {{}, indices});
    write_sorted(plan, sweeps(plan.queue) ? sweep_positions(plan, x) : radix_positions(plan, x), x, values, indices);
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

/// Where the elements of each line are, in classes around selected keys.
Memory class_positions(const SortPlan& plan, const Memory& x, const Selected& selected) {
    if (sweeps(plan.queue)) {
        const Memory to = device_scratch(plan.queue, position_dtype(plan), plan.size());
        sweep_classes(plan, x, selected, {}, {{}, to});
        return to;
    }
    Radix radix(plan, x.dtype, true);
    radix.classes(x, device_scratch(plan.queue, x.dtype, 1), selected, 2);
    return radix.positions();
}

void sort_lines(const SortPlan& plan, const Memory& x, const Memory& values, const Memory& indices);

/// The first ones of long lines: those that are not behind the last one of them are sorted.
void sort_first(const SortPlan& plan, const Memory& x, const Memory& values, const Memory& indices) {
    const std::int64_t last[] = {plan.kept - 1};
    const Memory places = class_positions(plan, x, select(plan, x, RankKeys, last, {}));
    const Memory best = device_scratch(plan.queue, x.dtype, plan.lines * plan.kept);
    const Memory names = device_scratch(plan.queue, DType::Int64, plan.lines * plan.kept);
    const Memory order = device_scratch(plan.queue, DType::Int64, plan.lines * plan.kept);
    write_sorted(plan, places, x, best, names);
    const SortPlan left{plan.queue, plan.name, plan.lines, plan.kept, plan.kept, plan.descending};
    sort_lines(left, best, values, order);
    if (indices) routines::take_along_axis(plan.queue, names, order, indices, {plan.lines, plan.kept, 1}, plan.kept, {});
}

/// Contiguous lines, some way.
void sort_lines(const SortPlan& plan, const Memory& x, const Memory& values, const Memory& indices) {
    const std::int64_t room = std::int64_t{1} << short_bits(x.dtype);
    if (plan.length <= room) return sort_short(plan, x, {}, values, indices, {plan.length, plan.length, 1, plan.length});
    constexpr std::int64_t many = 1 << 17;  // are gone through by digits sooner than pieces are sorted
    if (plan.kept <= room / 4 && (plan.length < many || is_complex(x.dtype))) return select_short(plan, x, values, indices);
    if (plan.kept <= plan.length / 4 && selects(x.dtype, plan.length, 1)) return sort_first(plan, x, values, indices);
    if (!indices && plan.kept == plan.length && !is_complex(x.dtype)) return radix_values(plan, x, values);
    sort_positions(plan, x, values, indices);
}

/// Partitioned lines: the elements around those at `kth` in classes, each in the order of the line; or sorted.
void partition_lines(const SortPlan& plan, const Memory& x, const Memory& values, const Memory& indices,
                     std::span<const std::int64_t> kth) {
    if (!selects(x.dtype, plan.length, kth.size())) return sort_lines(plan, x, values, indices);
    const Selected selected = select(plan, x, ExactKeys, kth, {});
    if (sweeps(plan.queue)) return sweep_classes(plan, x, selected, values, {{}, indices});
    if (indices) return write_sorted(plan, class_positions(plan, x, selected), x, {}, indices);
    Radix(plan, x.dtype, false).classes(x, values, selected, 1);
}

/// Matrices (outer, rows, columns) turned over.
void transpose(device::Queue* queue, const char* name, const Memory& x, const Memory& out, std::int64_t outer, std::int64_t rows,
               std::int64_t columns) {
    launch_kernel(queue, name, moved_variant(KernelId::Transpose, x.dtype), outer * divide_up(rows, 16) * divide_up(columns, 16),
                  {reads(x), writes(out), rows, columns});
}

/// Lines along any axis, of which `work` does contiguous ones: work(plan, x, values, indices).
template <class F>
void along(device::Queue* queue, const char* name, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
           std::int64_t kept, bool descending, F&& work) {
    const SortPlan plan{queue, name, lines.outer * lines.inner, lines.length, kept, descending};
    if (lines.inner == 1 || (lines.length == 1 && kept == 1)) return work(plan, x, values, indices);
    const Memory straight = device_scratch(queue, x.dtype, plan.size());
    transpose(queue, name, x, straight, lines.outer, lines.length, lines.inner);
    Memory sorted, places;
    if (values) sorted = device_scratch(queue, x.dtype, plan.lines * kept);
    if (indices) places = device_scratch(queue, DType::Int64, plan.lines * kept);
    work(plan, straight, sorted, places);
    if (values) transpose(queue, name, sorted, values, lines.outer, lines.inner, kept);
    if (indices) transpose(queue, name, places, indices, lines.outer, lines.inner, kept);
}

void device_sort(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, bool descending) {
    along(queue, indices ? "argsort" : "sort", x, values, indices, lines, lines.length, descending, sort_lines);
}

void device_partition(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
                      std::span<const std::int64_t> kth) {
    std::vector<std::int64_t> wanted(kth.begin(), kth.end());
    wanted.erase(std::ranges::unique(wanted).begin(), wanted.end());
    along(queue, indices ? "argpartition" : "partition", x, values, indices, lines, lines.length, false,
          [&](const SortPlan& plan, const Memory& from, const Memory& sorted, const Memory& places) {
              partition_lines(plan, from, sorted, places, wanted);
          });
}

void device_ranked(device::Queue* queue, const Memory& x, const Memory& out, Lines lines, std::span<const std::int64_t> kth) {
    along(
        queue, "partition", x, out, {}, lines, static_cast<std::int64_t>(kth.size()), false,
        [&](const SortPlan& plan, const Memory& from, const Memory& values, const Memory&) { select(plan, from, ExactKeys, kth, values); });
}
bool ranks(device::Queue*, const Memory& x, const Memory&, Lines lines, std::span<const std::int64_t> kth) {
    return selects(x.dtype, lines.length, kth.size());
}

void device_top_k(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, std::int64_t k,
                  bool largest) {
    along(queue, "top_k", x, values, indices, lines, k, largest, sort_lines);
}

const Registered sort_here(routines::sort, {"kernels", DeviceKinds::Text, device_sort});
const Registered partition_here(routines::partition, {"kernels", DeviceKinds::Text, device_partition});
const Registered ranked_here(routines::ranked, {"kernels", DeviceKinds::Text, device_ranked, ranks});
const Registered top_k_here(routines::top_k, {"kernels", DeviceKinds::Text, device_top_k});

}  // namespace

Parts parts_of(const SortPlan& plan, std::int64_t tile) {
    const std::int64_t tiles = divide_up(plan.length, tile);
    const std::int64_t busy = std::max<std::int64_t>(busy_groups(plan.queue->device()) / plan.lines, 1);
    const std::int64_t chunk = divide_up(tiles, std::min(tiles, busy)) * tile;
    return {divide_up(plan.length, chunk), chunk};
}

void put_zeros_in_order(const SortPlan& plan, const Memory& x, const Memory& values, const ZeroNotes& zeros) {
    DeviceArgs args;
    for (const DeviceArg& arg : {reads(x), updates(values), reads(zeros.counts)}) args.push_back(arg);
    if (zeros.signs) args.push_back(reads(zeros.signs));
    for (const std::int64_t number : {plan.length, zeros.parts.count, zeros.parts.chunk, plan.flip()}) args.push_back(number);
    launch_kernel(plan.queue, plan.name, Variant(KernelId::ZerosInOrder, x.dtype, {{"SIGNS", static_cast<bool>(zeros.signs)}}),
                  plan.lines * zeros.parts.count, args);
}

}  // namespace pardo::routines
