// src/routines/device/kernels/sweep.h: kernel text: radix sorting in one sweep a digit, for CUDA: groups look back at what those before
// them counted. By A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022. It relies on groups
// that have begun going on, which OpenCL does not promise.
#pragma once

namespace pardo::routines::kernels {

/// What all of them share. L_SIZE: bytes of a count; a line has fewer than a quarter of what that holds. MODE of the elements: 0 keys,
/// 1 by exact keys, 2 by ranks; 3 and 4 the same, for the classes of a partition in the place of digits. Entries of the plan, one a line
/// and digit: 0 where all elements have one digit and nothing is moved; else where from (0 the elements, 1 the first, 2 the second memory),
/// 4 times where to, 16 in the last pass, 32.
inline constexpr char sweep[] = R"(
#if L_SIZE == 8
typedef u64 COUNT;
#else
typedef u32 COUNT;
#endif
#define PARTIAL ((COUNT)1 << (8 * L_SIZE - 2))
#define INCLUSIVE ((COUNT)2 << (8 * L_SIZE - 2))
#define FLAGS (PARTIAL | INCLUSIVE)
/* What the items of lower number hold, added up; `room` is of 8 words. For 256 items, of which each calls it. */
FN COUNT sum_before(COUNT value, COUNT* room, int t) {
    COUNT sum = value;
    UNROLL for (int step = 1; step < 32; step *= 2) {
        const COUNT other = __shfl_up_sync(0xffffffffu, sum, step);
        if ((t & 31) >= step) sum += other;
    }
    if ((t & 31) == 31) room[t >> 5] = sum;
    asm volatile("bar.sync 1, 256;" ::: "memory");
    COUNT before = sum - value;
    UNROLL for (int w = 0; w < 7; ++w) before += w < t >> 5 ? room[w] : 0;
    return before;
}
)";

/// How many elements of each line have each value of each digit: counts[line][digit][256], zeros before. `parts` groups a line, of `chunk`
/// elements each. Of floats by exact keys, `signs` are bits that tell which zeros a line has, and zeros[line][part] how many.
inline constexpr char sweep_count[] = R"(
#define EACH (16 / U_SIZE < 4 ? 4 : 16 / U_SIZE)
#define NOTES (MODE == 1 && (IS_NARROW || IS_FLOAT))
KERNEL(256) sweep_count(CONST_ARG(U, keys), ARG(COUNT, counts)
#if NOTES
                        , ARG(u32, signs), ARG(i64, zeros)
#endif
                        , i64 length, i64 parts, i64 chunk, i64 flip) {
    BEGIN;
    SHARED u32 histogram[U_SIZE * 256];
    const int t = LOCAL_ID;
    const i64 line = GROUP_ID / parts, part = GROUP_ID - line * parts;
    const U* from = keys + line * length;
    for (int i = t; i < U_SIZE * 256; i += 256) histogram[i] = 0;
#if NOTES
    SHARED u32 found[2];
    u32 positive = 0, negative = 0;
    if (t < 2) found[t] = 0;
#endif
    BARRIER;
    const i64 end = (part + 1) * chunk < length ? (part + 1) * chunk : length;
    for (i64 start = part * chunk; start < end; start += 256 * EACH) {
        U mine[EACH];
        UNROLL for (int k = 0; k < EACH; ++k) mine[k] = from[start + t + k * 256 < end ? start + t + k * 256 : 0];
        UNROLL for (int k = 0; k < EACH; ++k) {
            if (start + t + k * 256 >= end) continue;
            const U key = READ_KEY(mine[k]);
#if NOTES
            positive += mine[k] == 0;
            negative += mine[k] == SIGN;
#endif
            UNROLL for (int p = 0; p < U_SIZE; ++p) atomicAdd(&histogram[p * 256 + ((u32)(key >> 8 * p) & 255u)], 1u);
        }
    }
    BARRIER;
    UNROLL for (int p = 0; p < U_SIZE; ++p) {
        const u32 sum = histogram[p * 256 + t];
        if (sum > 0) atomicAdd(&counts[(line * U_SIZE + p) * 256 + t], (COUNT)sum);
    }
#if NOTES
    if (positive > 0) atomicAdd(&found[0], positive);
    if (negative > 0) atomicAdd(&found[1], negative);
    BARRIER;
    if (t > 0) return;
    zeros[GROUP_ID] = (i64)found[0] + found[1];
    if (zeros[GROUP_ID] > 0) atomicOr(&signs[line], (found[0] > 0 ? 1u : 0u) | (found[1] > 0 ? 2u : 0u));
#endif
}
)";

/// Counts become where elements of each value begin, and the passes are planned: a group a line.
inline constexpr char sweep_plan[] = R"(
KERNEL(256) sweep_plan(ARG(COUNT, counts), ARG(i32, plan), i64 length) {
    BEGIN;
    SHARED COUNT room[8];
    const int t = LOCAL_ID;
    const i64 line = GROUP_ID;
    u32 moves = 0;
    for (int p = 0; p < U_SIZE; ++p) {
        COUNT* own = counts + (line * U_SIZE + p) * 256;
        const COUNT count = own[t];
        own[t] = sum_before(count, room, t);
        moves |= (u32)!__syncthreads_or(count == (COUNT)length) << p;
    }
    if (moves == 0) moves = 1;
    if (t < U_SIZE) {
        const u32 one = 1u << t;
        const int left = __popc(moves & ~(2 * one - 1)), to = left % 2 == 0 ? 1 : 2, from = (moves & (one - 1)) == 0 ? 0 : 3 - to;
        plan[line * U_SIZE + t] = moves & one ? from + 4 * to + (left == 0 ? 16 : 0) + 32 : 0;
    }
}
)";

/// Where the classes of a partition begin, and a plan of one pass: a group a line. `wanted` keys, in order; the positions of which they are
/// the elements, less `ranks`, are how many are less, `equal` how many are equal.
inline constexpr char class_starts[] = R"(
KERNEL(256) class_starts(CONST_ARG(U, found), CONST_ARG(u32, ranks), CONST_ARG(u32, equal), ARG(COUNT, counts), ARG(i32, plan)
                         , i64 wanted, i64 k0, i64 k1, i64 k2, i64 k3, i64 k4, i64 k5, i64 k6, i64 k7) {
    BEGIN;
    if (LOCAL_ID > 0) return;
    const i64 kth[MOST_PIVOTS] = {k0, k1, k2, k3, k4, k5, k6, k7};
    const i64 line = GROUP_ID;
    COUNT* own = counts + line * U_SIZE * 256;
    own[0] = 0;
    UNROLL for (int j = 0; j < MOST_PIVOTS; ++j) {
        if (j >= wanted) continue;
        const i64 at = line * wanted + j;
        int same = 0, above = 0;
        for (int i = 0; i < wanted; ++i) {
            same += (found[at] > found[line * wanted + i]) + (found[at] >= found[line * wanted + i]);
            above += 2 * (found[line * wanted + i] <= found[at]);
        }
        own[same] = (COUNT)(kth[j] - ranks[at]);
        own[above] = (COUNT)(kth[j] - ranks[at] + equal[at]);
    }
    plan[line * U_SIZE] = 4 + 16 + 32;
}
)";

/// Moves elements by one digit, in order; tiles of ITEMS elements an item, in groups of WARPS times 32. Positions (P_SIZE bytes; 0: none
/// are kept) come along: those in the line, or (EXTRA 1, 3) given ones. Then the last pass writes positions only, or (EXTRA 2) int64
/// indices, or (EXTRA 3, 4) keys too.
inline constexpr char sweep_pass[] = R"(
#define THREADS (32 * WARPS)
#define TILE (THREADS * ITEMS)
#define BOUNDS THREADS, (PAYLOAD || U_SIZE > 4 ? 2 : 3)
#define GIVEN (EXTRA == 1 || EXTRA == 3)
#if PAYLOAD && P_SIZE > U_SIZE
#define ROOM_TYPE P
#else
#define ROOM_TYPE U
#endif
/* The items of a warp with the same digit. */
FN u32 same_digit(u32 digit) {
    u32 mask = 0xffffffffu;
    UNROLL for (int b = 0; b < 8; ++b) {
        const u32 set = digit >> b & 1u;
        mask &= __ballot_sync(0xffffffffu, set) ^ (set - 1u);
    }
    return mask;
}
KERNEL(BOUNDS) sweep_pass(CONST_ARG(U, elements), ARG(U, first), ARG(U, second)
#if PAYLOAD
#if GIVEN
                           , CONST_ARG(P, given)
#endif
                           , ARG(P, first_items), ARG(P, second_items)
#if EXTRA == 2
                           , ARG(i64, indices)
#endif
#endif
#if MODE >= 3
                           , CONST_ARG(U, found), i64 wanted
#endif
                           , CONST_ARG(COUNT, starts), CONST_ARG(i32, plan), ARG(COUNT, status), ARG(COUNT, next_status), ARG(u32, ticket)
                           , i64 length, i64 tiles, i64 pass, i64 flip) {
    BEGIN;
    SHARED ROOM_TYPE room[TILE];
    SHARED u32 counters[WARPS * 256];
    SHARED COUNT targets[256];
    SHARED COUNT sums[8];
    SHARED u32 taken;
    const int t = LOCAL_ID, lane = t & 31, shift = 8 * (int)pass;
    /* Groups take tiles in the order in which they begin: those that a group waits for have begun. */
    if (t == 0) taken = atomicAdd(ticket, 1u);
    u32* own = counters + (t >> 5) * 256;
    UNROLL for (int i = 0; i < 8; ++i) own[i * 32 + lane] = 0;
    BARRIER;
    const i64 line = taken / tiles, tile = taken - line * tiles;
    if (t < 256) next_status[(i64)taken * 256 + t] = 0;
    const i32 step = plan[line * U_SIZE + pass];
    if (step == 0) return;
#if MODE >= 3
    SHARED U pivots[MOST_PIVOTS];
    if (t < wanted) pivots[t] = found[line * wanted + t];
    BARRIER;
#endif
    const int is_first = (step & 3) == 0, is_last = step & 16;
    const i64 begin = line * length + tile * TILE, left = length - tile * TILE;
    const int n = left < TILE ? (int)left : TILE, base = (t >> 5) * 32 * ITEMS + lane;
    const U* from = (is_first ? elements : (step & 3) == 1 ? first : second) + begin;
    U* to = ((step >> 2 & 3) == 1 ? first : second) + line * length;
    U key[ITEMS];
    if (n == TILE) {
        UNROLL for (int k = 0; k < ITEMS; ++k) key[k] = from[base + 32 * k];
        if (is_first) UNROLL for (int k = 0; k < ITEMS; ++k) key[k] = READ_KEY(key[k]);
    } else {
        /* Those past the end are the largest, and last. */
        UNROLL for (int k = 0; k < ITEMS; ++k) {
            key[k] = (U)~(U)0;
            if (base + 32 * k < n) key[k] = is_first ? READ_KEY(from[base + 32 * k]) : from[base + 32 * k];
        }
    }
    u32 place[ITEMS];
    UNROLL for (int k = 0; k < ITEMS; ++k) {
        const u32 digit = DIGIT(key[k]), mask = same_digit(digit);
        const int leader = 31 - __clz(mask);
        u32 before = 0;
        if (lane == leader) {
            before = own[digit];
            own[digit] = before + __popc(mask);
        }
        place[k] = __shfl_sync(0xffffffffu, before, leader) + __popc(mask & ((1u << lane) - 1u));
    }
    BARRIER;
    COUNT* mine = status + (i64)taken * 256 + t;
    COUNT count = 0, start = 0;
    if (t < 256) {
        u32 sum = 0;
        UNROLL for (int w = 0; w < WARPS; ++w) {
            const u32 here = counters[w * 256 + t];
            counters[w * 256 + t] = sum;
            sum += here;
        }
        count = sum - ((u32)t == DIGIT((U)~(U)0) ? TILE - n : 0);
        *(volatile COUNT*)mine = count | (tile == 0 ? INCLUSIVE : PARTIAL);
        start = sum_before(sum, sums, t);
        UNROLL for (int w = 0; w < WARPS; ++w) counters[w * 256 + t] += (u32)start;
    }
    BARRIER;
    UNROLL for (int k = 0; k < ITEMS; ++k) {
        place[k] += own[DIGIT(key[k])];
        ((U*)room)[place[k]] = key[k];
    }
#if PAYLOAD
    P item[ITEMS];
#if GIVEN
    const P* items = (is_first ? given : (step & 3) == 1 ? first_items : second_items) + begin;
#else
    const P* items = ((step & 3) == 1 ? first_items : second_items) + begin;
#endif
    if (is_first && !GIVEN) {
        UNROLL for (int k = 0; k < ITEMS; ++k) item[k] = (P)(tile * TILE + base + 32 * k);
    } else {
        UNROLL for (int k = 0; k < ITEMS; ++k) item[k] = items[base + 32 * k < n ? base + 32 * k : 0];
    }
#endif
    if (t < 256) {
        COUNT before = 0;
        if (tile > 0) {
            for (const COUNT* at = mine - 256;;) {
                const COUNT seen = *(const volatile COUNT*)at;
                if ((seen & FLAGS) == 0) continue;
                before += seen & ~FLAGS;
                if (seen & INCLUSIVE) break;
                at -= 256;
            }
            *(volatile COUNT*)mine = (before + count) | INCLUSIVE;
        }
        targets[t] = starts[(line * U_SIZE + pass) * 256 + t] + before - start;
    }
    BARRIER;
#if PAYLOAD
    u32 digits[ITEMS];
#endif
    UNROLL for (int k = 0; k < ITEMS; ++k) {
        const int i = t + k * THREADS;
        const U moved = ((U*)room)[i];
        const u32 digit = DIGIT(moved);
#if PAYLOAD
        digits[k] = digit;
        if (i < n && (!is_last || EXTRA > 2)) to[targets[digit] + i] = moved;
#else
        if (i < n) to[targets[digit] + i] = is_last ? KEY_BITS(moved) : moved;
#endif
    }
#if PAYLOAD
    BARRIER;
    UNROLL for (int k = 0; k < ITEMS; ++k) ((P*)room)[place[k]] = item[k];
    BARRIER;
    P* to_items = ((step >> 2 & 3) == 1 ? first_items : second_items) + line * length;
    UNROLL for (int k = 0; k < ITEMS; ++k) {
        const int i = t + k * THREADS;
        if (i >= n) continue;
        const P moved = ((P*)room)[i];
        const COUNT at = targets[digits[k]] + i;
#if EXTRA == 2
        if (is_last) indices[line * length + at] = (i64)moved; else
#endif
        to_items[at] = moved;
    }
#endif
}
)";

}  // namespace pardo::routines::kernels
