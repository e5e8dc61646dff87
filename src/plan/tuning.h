// src/plan/tuning.h: the numbers by which the planner shapes loops, a row for each way in which devices run items.
#pragma once

#include <cstdint>

#include "device/device.h"

namespace pardo::plan {

/// What a kernel writes and does not read bypasses the caches from here on.
inline constexpr std::int64_t streamed_bytes = 8 << 20;

struct Tuning {
    // Reductions of few elements are written out, if there are enough of them.
    std::int64_t unroll_count, unroll_kept;
    // A shorter reduced axis leaves the lanes to the kept ones, if there are as many.
    std::int64_t lanes_extent, lanes_kept;
    // Few items that reduce much are split into blocks of so many elements. Never depends on the number of threads.
    std::int64_t split_count, split_items, block_elements;
    /// Larger reductions take larger blocks: combining the results of many waits for one group.
    std::int64_t most_blocks;
    // Lanes across the kept axis: longer columns are split; so are shorter ones of few items.
    std::int64_t column_rows, column_items, column_split_rows, column_split_total, column_block_rows;
    /// Larger columns take larger blocks, so that there are no more items: one adds up the results of all blocks of a column.
    std::int64_t column_most_items;
    /// Blocks of fewer columns are combined with lanes across the blocks: one item a column would be few.
    std::int64_t combined_columns;
    /// Large arrays add whole rows to results in memory: what caches and long vectors like.
    bool rows;
    /// Float sums along a lanes loop restart after so many elements, sooner with few digits; argmin and argmax look for the position
    /// there, while the values are cached.
    std::int64_t lanes_chunk, lanes_chunk_short;
    /// argmin and argmax of narrow dtypes pack value and place into one integer: one pass over memory.
    bool packed_positions;
    /// Values that cost at least so many additions wait in an output's memory for a later loop, instead of being computed again.
    double worth_spilling;
};

inline constexpr Tuning lanes_tuning = {
    .unroll_count = 8,
    .unroll_kept = 16,
    .lanes_extent = 8,
    .lanes_kept = 64,
    .split_count = 32768,
    .split_items = 32,
    .block_elements = 16384,
    .most_blocks = INT64_MAX,
    .column_rows = 16384,  // longer columns do not stay in the second-level cache
    .column_items = 64,
    .column_split_rows = 512,
    .column_split_total = 65536,
    .column_block_rows = 256,
    .column_most_items = INT64_MAX,
    .combined_columns = 0,
    .rows = true,
    .lanes_chunk = 4096,
    .lanes_chunk_short = 1024,
    .packed_positions = false,
    .worth_spilling = 8,
};

// A group reduces a block: its items hold few elements each, and what is combined in a tree needs no restarts.
inline constexpr Tuning groups_tuning = {
    .unroll_count = 8,
    .unroll_kept = 16,
    .lanes_extent = 32,
    .lanes_kept = 4096,
    .split_count = 32768,
    .split_items = 512,
    .block_elements = 16384,
    .most_blocks = 2048,
    .column_rows = 16384,
    .column_items = 65536,
    .column_split_rows = 512,
    .column_split_total = 65536,
    .column_block_rows = 256,
    .column_most_items = 1 << 17,
    .combined_columns = 4096,
    .rows = false,
    .lanes_chunk = 1 << 20,
    .lanes_chunk_short = 1 << 20,
    .packed_positions = true,
    .worth_spilling = 200,
};

constexpr const Tuning& tuning_of(device::Execution execution) {
    return execution == device::Execution::Groups ? groups_tuning : lanes_tuning;
}

}  // namespace pardo::plan
