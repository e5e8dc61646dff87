// src/routines/device/sorting.h: what sorting and selecting on devices that compile text have in common.
#pragma once

#include "routines/device/task.h"

namespace pardo::routines {

/// Contiguous lines, and how many of the first elements of each are wanted.
struct SortPlan {
    device::Queue* queue;
    const char* name;
    std::int64_t lines, length, kept;
    bool descending;

    std::int64_t size() const { return lines * length; }
    std::int64_t flip() const { return descending ? -1 : 0; }
};

/// How elements become keys: MODE of kernels/sort.h and kernels/sweep.h.
enum KeyMode : std::uint8_t { ReadyKeys = 0, ExactKeys = 1, RankKeys = 2 };

/// Bytes of a position in a line.
inline int position_size(const SortPlan& plan) { return plan.length <= 0xffffffff ? 4 : 8; }
inline DType position_dtype(const SortPlan& plan) { return position_size(plan) == 4 ? DType::UInt32 : DType::UInt64; }

// --- selection, by select.cpp ---

inline constexpr std::int64_t most_wanted = 8;  // positions
/// The keys of the elements that sorting would put at some positions of each line, in order.
struct Selected {
    std::vector<std::int64_t> kth;  // ascending, distinct
    KeyMode mode;
    Memory keys, ranks, equal;  // (lines, kth): the keys; which of the elements equal to it each is; how many there are (UInt32)
};
/// True for lines that `select` takes.
bool selects(DType dtype, std::int64_t length, std::size_t wanted);
/// If `values` is there it gets the elements themselves, in the place of keys.
Selected select(const SortPlan& plan, const Memory& x, KeyMode mode, std::span<const std::int64_t> kth, const Memory& values);

/// How lines are cut for groups that count something of each part.
struct Parts {
    std::int64_t count, chunk;  // of a line; elements of a part
};
Parts parts_of(const SortPlan& plan, std::int64_t tile);
/// The zeros of lines of floats: how many each part has (Int64); 3 for lines that have both signs (UInt32, where it is known).
struct ZeroNotes {
    Parts parts;
    Memory counts, signs;
};
/// Puts zeros of both signs of lines that were sorted by exact keys into `values` in the order in which `x` has them.
void put_zeros_in_order(const SortPlan& plan, const Memory& x, const Memory& values, const ZeroNotes& zeros);

// --- sorting in one sweep a digit, by sweep.cpp ---

/// Whether the device does that.
bool sweeps(const device::Queue* queue);
/// Positions that come along.
struct SweepItems {
    Memory given;  // at first; absent: the position in the line
    Memory to;     // of position_dtype, or Int64
    explicit operator bool() const { return static_cast<bool>(to); }
};
/// Sorts keys of `dtype`, that the mode makes of elements of the same size: the elements into `values`, or else positions; ready keys into
/// `values`, with positions or what is given for them if there are items.
void sweep(const SortPlan& plan, const Memory& x, DType dtype, KeyMode mode, const Memory& values, const SweepItems& items);
/// The lines in classes: what is less than the first of the selected keys, equal to it, between it and the next one, and so on; each
/// class in the order of the line.
void sweep_classes(const SortPlan& plan, const Memory& x, const Selected& selected, const Memory& values, const SweepItems& items);

}  // namespace pardo::routines
