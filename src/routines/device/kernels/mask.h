// src/routines/device/kernels/mask.h: kernel text: counting, compressing and numbering what a mask (or the start of a run) selects.
#pragma once

namespace pardo::routines::kernels {

/// selected(position) of SOURCE: 0 a mask of bytes, 1 one whose address is a multiple of four, 2 the starts of runs in sorted elements.
/// FLAGS_ARG and FLAGS_PTR declare what it reads.
inline constexpr char selection[] = R"(
#define G 256
#define BLOCK 16384
#define ITEMS 16
#define TILE (G * ITEMS)
#if SOURCE < 2
#define FLAGS_ARG CONST_ARG(u8, mask)
#define FLAGS_PTR CONST_PTR(u8, mask)
#define FLAGS_USE GLOBAL const u8* mask
#define FLAGS mask
/* Flags of the positions [at, at + 16), those from `end` on are zero. */
FN u32 flags_of(FLAGS_USE, i64 at, i64 end) {
    u32 bits = 0;
#if SOURCE == 1
    if (at + ITEMS <= end) {
        GLOBAL const u32* words = (GLOBAL const u32*)(mask + at);
        UNROLL for (int w = 0; w < 4; ++w) {
            const u32 word = words[w], ones = ((((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) >> 7) & 0x01010101u;
            bits |= ((ones * 0x10204080u) >> 28) << (4 * w);
        }
        return bits;
    }
#endif
    const int n = at >= end ? 0 : end - at < ITEMS ? (int)(end - at) : ITEMS;
    for (int k = 0; k < n; ++k) bits |= (u32)(mask[at + k] != 0) << k;
    return bits;
}
#else
#define FLAGS_ARG CONST_ARG(T, sorted), i64 equal_nan
#define FLAGS_PTR CONST_PTR(T, sorted)
#define FLAGS_USE GLOBAL const T* sorted, i64 equal_nan
#define FLAGS sorted, equal_nan
FN int is_nan(T x) {
#if IS_COMPLEX
    return x.re != x.re || x.im != x.im;
#elif IS_NARROW
    return (x & 0x7fff) > INFINITY_BITS;
#else
    return x != x;
#endif
}
FN int starts_run(FLAGS_USE, i64 i) {
    if (i == 0) return 1;
    const T a = sorted[i - 1], b = sorted[i];
    if (is_nan(a) || is_nan(b)) return !equal_nan || is_nan(a) != is_nan(b);
#if IS_COMPLEX
    return a.re != b.re || a.im != b.im;
#else
    return LOAD(a) != LOAD(b);
#endif
}
FN u32 flags_of(FLAGS_USE, i64 at, i64 end) {
    u32 bits = 0;
    const int n = at >= end ? 0 : end - at < ITEMS ? (int)(end - at) : ITEMS;
    for (int k = 0; k < n; ++k) bits |= (u32)starts_run(FLAGS, at + k) << k;
    return bits;
}
#endif
)";

/// How many are selected in each block, to blocks[1], …; blocks[0] becomes 0. A group a block.
inline constexpr char count_blocks[] = R"(
KERNEL(256) count_blocks(FLAGS_ARG, ARG(i64, blocks), i64 size) {
    BEGIN;
    FLAGS_PTR;
    PTR(i64, blocks);
    SHARED i32 sums[G];
    const int t = LOCAL_ID;
    const i64 begin = GROUP_ID * BLOCK, end = begin + BLOCK < size ? begin + BLOCK : size;
    int sum = 0;
    UNROLL for (int tile = 0; tile < BLOCK; tile += TILE) sum += (int)POPCOUNT(flags_of(FLAGS, begin + tile + t * ITEMS, end));
    sums[t] = sum;
    BARRIER;
    for (int step = G / 2; step > 0; step /= 2) {
        if (t < step) sums[t] += sums[t + step];
        BARRIER;
    }
    if (t == 0) blocks[GROUP_ID + 1] = sums[0];
    if (t == 0 && GROUP_ID == 0) blocks[0] = 0;
}
)";

/// What each tile begins with: the selected positions of a tile, in order, in `list`; `before[t]` counts those before the item's.
inline constexpr char select_tile[] = R"(
FN int select_tile(u32 bits, LOCAL u16* list, LOCAL i32* sums, int t) {
    LOCAL i32* from = sums;
    LOCAL i32* to = sums + G;
    const int own = (int)POPCOUNT(bits);
    int value = own;
    from[t] = value;
    BARRIER;
    for (int step = 1; step < G; step *= 2) {
        if (t >= step) value += from[t - step];
        to[t] = value;
        BARRIER;
        LOCAL i32* other = from;
        from = to;
        to = other;
    }
    int next = value - own;
    for (int k = 0; k < ITEMS; ++k) {
        if (bits >> k & 1u) list[next++] = (u16)(t * ITEMS + k);
    }
    BARRIER;
    return sums[G - 1];
}
)";

/// Does something with every selected position p and its number q. ACTION 0: out[q] = x[p]; 1: out[q] = p / divisor % extent;
/// 2: x[offset of p] = value[q], or value[0].
inline constexpr char take_selected[] = R"(
#if ACTION == 0
#define ACTION_ARGS CONST_ARG(T, x), ARG(T, out)
#define ACTION_PTRS CONST_PTR(T, x); PTR(T, out)
#elif ACTION == 1
#define ACTION_ARGS ARG(i64, out), i64 divisor, i64 extent
#define ACTION_PTRS PTR(i64, out)
#else
#define ACTION_ARGS ARG(T, x), CONST_ARG(T, value), i64 one, A_ARGS
#define ACTION_PTRS PTR(T, x); CONST_PTR(T, value); A_PTR
#endif
KERNEL(256) take_selected(FLAGS_ARG, CONST_ARG(i64, blocks), i64 size, ACTION_ARGS) {
    BEGIN;
    FLAGS_PTR;
    CONST_PTR(i64, blocks);
    ACTION_PTRS;
    SHARED u16 list[TILE];
    SHARED i32 sums[2 * G];
    const int t = LOCAL_ID;
    const i64 begin = GROUP_ID * BLOCK, end = begin + BLOCK < size ? begin + BLOCK : size;
    i64 base = blocks[GROUP_ID];
    if (blocks[GROUP_ID + 1] == base) return;
    for (i64 tile = begin; tile < end; tile += TILE) {
        const int count = select_tile(flags_of(FLAGS, tile + t * ITEMS, end), list, sums, t);
        for (int r = t; r < count; r += G) {
            const i64 p = tile + list[r], q = base + r;
#if ACTION == 0
            out[q] = x[p];
#elif ACTION == 1
            if (size <= 0x7fffffff)
                out[q] = (i64)((u32)p / (u32)divisor % (u32)extent);
            else
                out[q] = p / divisor % extent;
#else
            x[A_OFFSET(p)] = value[one ? 0 : q];
#endif
        }
        base += count;
        BARRIER;
    }
}
)";

/// The runs of a sorted array. With DETAILS: first positions, where runs start in the sorted array, and each element's run.
inline constexpr char fill_runs[] = R"(
#if DETAILS
#define DETAIL_ARGS , CONST_ARG(i64, order), ARG(i64, indices), ARG(i64, starts), ARG(i64, inverse)
#define DETAIL_PTRS CONST_PTR(i64, order); PTR(i64, indices); PTR(i64, starts); PTR(i64, inverse)
#else
#define DETAIL_ARGS
#define DETAIL_PTRS
#endif
KERNEL(256) fill_runs(FLAGS_ARG, CONST_ARG(i64, blocks), i64 size, ARG(T, values) DETAIL_ARGS) {
    BEGIN;
    FLAGS_PTR;
    CONST_PTR(i64, blocks);
    PTR(T, values);
    DETAIL_PTRS;
    SHARED u16 list[TILE];
    SHARED i32 sums[2 * G];
#if DETAILS
    SHARED u16 bits_of[G];
#endif
    const int t = LOCAL_ID;
    const i64 begin = GROUP_ID * BLOCK, end = begin + BLOCK < size ? begin + BLOCK : size;
    i64 base = blocks[GROUP_ID];
    for (i64 tile = begin; tile < end; tile += TILE) {
        const u32 bits = flags_of(FLAGS, tile + t * ITEMS, end);
#if DETAILS
        bits_of[t] = (u16)bits;
#endif
        const int count = select_tile(bits, list, sums, t);
        for (int r = t; r < count; r += G) {
            const i64 p = tile + list[r], q = base + r;
            values[q] = sorted[p];
#if DETAILS
            indices[q] = order[p];
            starts[q] = p;
#endif
        }
#if DETAILS
        for (int i = t; i < TILE && tile + i < end; i += G) {
            const int owner = i / ITEMS, through = (int)POPCOUNT((u32)bits_of[owner] & ((2u << (i % ITEMS)) - 1u));
            inverse[order[tile + i]] = base + (owner > 0 ? sums[owner - 1] : 0) + through - 1;
        }
#endif
        base += count;
        BARRIER;
    }
}
)";

/// Lengths of runs from where they start.
inline constexpr char run_lengths[] = R"(
KERNEL(256) run_lengths(CONST_ARG(i64, starts), ARG(i64, counts), i64 runs, i64 size) {
    BEGIN;
    CONST_PTR(i64, starts);
    PTR(i64, counts);
    const i64 run = GROUP_ID * 256 + LOCAL_ID;
    if (run < runs) counts[run] = (run + 1 < runs ? starts[run + 1] : size) - starts[run];
}
)";

/// marks[x[i] - low] = 1 for all i.
inline constexpr char mark_values[] = R"(
#define EACH 8
KERNEL(256) mark_values(CONST_ARG(T, x), ARG(u8, marks), i64 size, i64 low) {
    BEGIN;
    CONST_PTR(T, x);
    PTR(u8, marks);
    const i64 begin = GROUP_ID * 256 * EACH + LOCAL_ID;
    UNROLL for (int k = 0; k < EACH; ++k) {
        if (begin + k * 256 >= size) return;
        const i64 at = (i64)((u64)x[begin + k * 256] - (u64)low);
        /* Most are there already: reading is cheaper. */
        if (marks[at] == 0) marks[at] = 1;
    }
}
)";

}  // namespace pardo::routines::kernels
