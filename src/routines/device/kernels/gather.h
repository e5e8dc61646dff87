// src/routines/device/kernels/gather.h: kernel text: reading and writing elements by indices.
#pragma once

namespace pardo::routines::kernels {

/// Division of positions: in 32 bits where they fit.
inline constexpr char divide[] = R"(
#define G 256
FN i64 divided(i64 a, i64 b) { return (u64)(a | b) >> 32 ? a / b : (i64)((u32)a / (u32)b); }
#define WRAP(index, size) ((index) + ((index) < 0 ? (size) : 0))
)";

/// Leaves the least `first` of a group's items in firsts[0].
inline constexpr char least_first[] = R"(
#define LEAST_FIRST                                                                     \
    firsts[t] = first;                                                                  \
    BARRIER;                                                                            \
    for (int step = 128; step > 0; step /= 2) {                                         \
        if (t < step && firsts[t + step] < firsts[t]) firsts[t] = firsts[t + step];     \
        BARRIER;                                                                        \
    }
)";

/// For each group, the first position in its share of an index outside [-limit, limit); `count` where there is none.
inline constexpr char find_bad[] = R"(
KERNEL(256) find_bad(CONST_ARG(i64, index), ARG(i64, found), i64 count, i64 limit, i64 share) {
    BEGIN;
    CONST_PTR(i64, index);
    PTR(i64, found);
    SHARED i64 firsts[256];
    const int t = LOCAL_ID;
    const i64 begin = GROUP_ID * share, end = begin + share < count ? begin + share : count;
    i64 first = count;
    for (i64 at = begin; at < end; at += 1024) {
        UNROLL for (int k = 3; k >= 0; --k) {
            const i64 i = at + k * 256 + t;
            const i64 value = i < end ? index[i] : -1;
            if ((value < -limit || value >= limit) && i < end && i < first) first = i;
        }
    }
    LEAST_FIRST;
    if (t == 0) found[GROUP_ID] = firsts[0];
}
)";

/// After find_bad: notes the first of all, with the number of its row (from 1), unless something has been noted before.
inline constexpr char note_bad[] = R"(
KERNEL(256) note_bad(CONST_ARG(i64, index), CONST_ARG(i64, found), ARG(i64, status), i64 count, i64 shares, i64 row) {
    BEGIN;
    CONST_PTR(i64, index);
    CONST_PTR(i64, found);
    PTR(i64, status);
    SHARED i64 firsts[256];
    const int t = LOCAL_ID;
    i64 first = count;
    for (i64 i = t; i < shares; i += 256) first = found[i] < first ? found[i] : first;
    LEAST_FIRST;
    if (t == 0 && firsts[0] < count && status[0] == 0) {
        status[0] = row;
        status[1] = index[firsts[0]];
    }
}
)";

/// Kernels that use indices learn by STATUS_ARG (if CHECKED) whether all of them are within bounds.
inline constexpr char bounds[] = R"(
#if CHECKED
#define STATUS_ARG CONST_ARG(i64, status),
#define STATUS_PTR CONST_PTR(i64, status)
#define BAD_INDEX (status[0] != 0)
#else
#define STATUS_ARG
#define STATUS_PTR
#define BAD_INDEX 0
#endif
)";

/// Joins one more index array: offsets in the base, and numbers of the targets (if NUMBERS).
inline constexpr char join_indices[] = R"(
#if NUMBERS
KERNEL(256) join_indices(STATUS_ARG CONST_ARG(i64, index), ARG(i64, offsets), ARG(i64, numbers), i64 count, i64 first, i64 step,
                         i64 size) {
    BEGIN;
    PTR(i64, numbers);
#else
KERNEL(256) join_indices(STATUS_ARG CONST_ARG(i64, index), ARG(i64, offsets), i64 count, i64 first, i64 step, i64 size) {
    BEGIN;
#endif
    STATUS_PTR;
    CONST_PTR(i64, index);
    PTR(i64, offsets);
    const int bad = BAD_INDEX;
    UNROLL for (int k = 0; k < 4; ++k) {
        const i64 i = (GROUP_ID * 4 + k) * 256 + LOCAL_ID;
        if (i < count) {
            const i64 at = bad ? 0 : WRAP(index[i], size);
            offsets[i] = (first ? 0 : offsets[i]) + at * step;
#if NUMBERS
            numbers[i] = (first ? 0 : numbers[i]) * size + at;
#endif
        }
    }
}
)";

/// Takes place `e` of (outer, count, inner) apart into o, i and j; loops of one element have extent one.
inline constexpr char split_place[] = R"(
#if B_RANK == 0
#define SPLIT_INNER(e) const i64 q = e, j = 0
#else
#define SPLIT_INNER(e) const i64 q = divided(e, inner), j = e - q * inner
#endif
#if A_RANK == 0
#define SPLIT_PLACE(e) SPLIT_INNER(e); const i64 o = 0, i = q
#else
#define SPLIT_PLACE(e) SPLIT_INNER(e); const i64 o = divided(q, count), i = q - o * count
#endif
)";

/// out (outer, count, inner) from the base: strides A are the outer ones, B the inner ones.
inline constexpr char gather[] = R"(
KERNEL(256) gather(STATUS_ARG CONST_ARG(T, base), CONST_ARG(i64, index), ARG(T, out), i64 total, i64 count, i64 inner, i64 step,
                   i64 size, A_ARGS, B_ARGS) {
    BEGIN;
    STATUS_PTR;
    CONST_PTR(T, base);
    CONST_PTR(i64, index);
    PTR(T, out);
    A_PTR;
    B_PTR;
    if (BAD_INDEX) return;
    UNROLL for (int k = 0; k < 4; ++k) {
        const i64 e = (GROUP_ID * 4 + k) * G + LOCAL_ID;
        if (e < total) {
            SPLIT_PLACE(e);
            out[e] = base[A_OFFSET(o) + WRAP(index[i], size) * step + B_OFFSET(j)];
        }
    }
}
)";

/// The other way; only index positions that win. `one`: a single value for all of them.
inline constexpr char scatter[] = R"(
KERNEL(256) scatter(STATUS_ARG ARG(T, base), CONST_ARG(i64, offsets), CONST_ARG(u8, wins), CONST_ARG(T, value), i64 total, i64 count,
                    i64 inner, i64 one, A_ARGS, B_ARGS) {
    BEGIN;
    STATUS_PTR;
    PTR(T, base);
    CONST_PTR(i64, offsets);
    CONST_PTR(u8, wins);
    CONST_PTR(T, value);
    A_PTR;
    B_PTR;
    if (BAD_INDEX) return;
    UNROLL for (int k = 0; k < 4; ++k) {
        const i64 e = (GROUP_ID * 4 + k) * G + LOCAL_ID;
        if (e < total) {
            SPLIT_PLACE(e);
            if (one || wins[i]) base[A_OFFSET(o) + offsets[i] + B_OFFSET(j)] = value[one ? 0 : e];
        }
    }
}
)";

/// The last of several positions with one number. STAGE 0: notes the last position of each number (memory is -1 before); 1: which that is.
inline constexpr char last_wins[] = R"(
#if STAGE == 0
KERNEL(256) last_wins(CONST_ARG(i64, numbers), ARG(i32, last), i64 count) {
    BEGIN;
    CONST_PTR(i64, numbers);
    PTR(i32, last);
    const i64 i = GROUP_ID * 256 + LOCAL_ID;
    if (i < count) ATOMIC_MAX_GLOBAL(&last[numbers[i]], (i32)i);
}
#else
KERNEL(256) last_wins(CONST_ARG(i64, numbers), CONST_ARG(i32, last), ARG(u8, wins), i64 count) {
    BEGIN;
    CONST_PTR(i64, numbers);
    CONST_PTR(i32, last);
    PTR(u8, wins);
    const i64 i = GROUP_ID * 256 + LOCAL_ID;
    if (i < count) wins[i] = (u8)(last[numbers[i]] == (i32)i);
}
#endif
)";

/// The same from a stable sort of the numbers: `order` names the positions in sorted order.
inline constexpr char last_of_sorted[] = R"(
KERNEL(256) last_of_sorted(CONST_ARG(i64, numbers), CONST_ARG(i64, order), ARG(u8, wins), i64 count) {
    BEGIN;
    CONST_PTR(i64, numbers);
    CONST_PTR(i64, order);
    PTR(u8, wins);
    const i64 i = GROUP_ID * 256 + LOCAL_ID;
    if (i < count) wins[order[i]] = (u8)(i + 1 == count || numbers[order[i]] != numbers[order[i + 1]]);
}
)";

/// Each line has indices of its own.
inline constexpr char take_along[] = R"(
KERNEL(256) take_along(STATUS_ARG CONST_ARG(T, x), CONST_ARG(i64, index), ARG(T, out), i64 total, i64 count, i64 inner, i64 length) {
    BEGIN;
    STATUS_PTR;
    CONST_PTR(T, x);
    CONST_PTR(i64, index);
    PTR(T, out);
    if (BAD_INDEX) return;
    UNROLL for (int k = 0; k < 4; ++k) {
        const i64 e = (GROUP_ID * 4 + k) * G + LOCAL_ID;
        if (e < total) {
            const i64 q = divided(e, inner), j = e - q * inner, o = divided(q, count);
            out[e] = x[(o * length + WRAP(index[e], length)) * inner + j];
        }
    }
}
)";

/// Matrices (outer, rows, columns) turned over: a group a square of 16 x 16.
inline constexpr char transpose[] = R"(
KERNEL(256) transpose(CONST_ARG(T, x), ARG(T, out), i64 rows, i64 columns) {
    BEGIN;
    CONST_PTR(T, x);
    PTR(T, out);
    SHARED T square[16 * 17];
    const int t = LOCAL_ID, a = t / 16, b = t % 16;
    const i64 across = (columns + 15) / 16, down = (rows + 15) / 16;
    const i64 o = GROUP_ID / (across * down), place = GROUP_ID - o * across * down, r = place / across * 16, c = place % across * 16;
    const i64 base = o * rows * columns;
    if (r + a < rows && c + b < columns) square[a * 17 + b] = x[base + (r + a) * columns + c + b];
    BARRIER;
    if (c + a < columns && r + b < rows) out[base + (c + a) * rows + r + b] = square[b * 17 + a];
}
)";

/// Where values go in a sorted array.
inline constexpr char search[] = R"(
KERNEL(256) search(CONST_ARG(BITS, sorted), CONST_ARG(BITS, values), ARG(i64, out), i64 size, i64 count, i64 right) {
    BEGIN;
    CONST_PTR(BITS, sorted);
    CONST_PTR(BITS, values);
    PTR(i64, out);
    const i64 id = GROUP_ID * 256 + LOCAL_ID;
    if (id >= count) return;
    const KEY key = make_key(values[id], 0);
    i64 low = 0, high = size;
    while (low < high) {
        const i64 middle = low + (high - low) / 2;
        const KEY other = make_key(sorted[middle], 0);
        if (right ? !before(key, other) : before(other, key))
            low = middle + 1;
        else
            high = middle;
    }
    out[id] = low;
}
)";

}  // namespace pardo::routines::kernels
