// src/routines/device/kernels/scan.h: kernel text: running sums, products, minima and maxima.
#pragma once

namespace pardo::routines::kernels {

/// combine(a, b) of OP (0 sum, 1 product, 2 minimum, 3 maximum) as NumPy has it, a before b; IDENTITY for sums and products.
inline constexpr char combine[] = R"(
#if OP >= 2
#if IS_COMPLEX
FN int keeps(V a, V b) {
    const int nan_a = a.re != a.re || a.im != a.im, nan_b = b.re != b.re || b.im != b.im;
    if (nan_a || nan_b) return nan_a;
#if OP == 3
    return a.re != b.re ? a.re > b.re : a.im >= b.im;
#else
    return a.re != b.re ? a.re < b.re : a.im <= b.im;
#endif
}
#elif OP == 3
FN int keeps(V a, V b) { return a >= b || a != a; }
#else
FN int keeps(V a, V b) { return a <= b || a != a; }
#endif
FN V combine(V a, V b) { return keeps(a, b) ? a : b; }
#elif OP == 1
FN V combine(V a, V b) {
#if IS_COMPLEX
    return make_complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
#elif IS_BOOL
    return (V)(a & b);
#elif IS_INTEGER
    return (V)((WIDE)a * (WIDE)b);
#else
    return a * b;
#endif
}
#else
FN V combine(V a, V b) {
#if IS_COMPLEX
    return make_complex(a.re + b.re, a.im + b.im);
#elif IS_BOOL
    return (V)(a | b);
#elif IS_INTEGER
    return (V)((WIDE)a + (WIDE)b);
#else
    return a + b;
#endif
}
#endif
FN T identity_element(void) {
#if IS_COMPLEX
    return make_complex((R)(OP == 1), (R)0);
#else
    return STORE((V)(OP == 1));
#endif
}
)";

/// One tile of ITEMS elements an item in shared memory.
inline constexpr char scan_tile[] = R"(
#define G 256
#define TILE (G * ITEMS)
#define PAD(i) ((i) + ((i) >> 5))
#define TILE_ROOM (TILE + TILE / 32)
/* sums[t]: combination of all values up to the t-th item's; needs room for 2 G. */
FN void scan_group(V value, LOCAL V* sums, int t) {
    LOCAL V* from = sums;
    LOCAL V* to = sums + G;
    from[t] = value;
    BARRIER;
    for (int step = 1; step < G; step *= 2) {
        if (t >= step) value = combine(from[t - step], value);
        to[t] = value;
        BARRIER;
        LOCAL V* other = from;
        from = to;
        to = other;
    }
}
/* What lies after the valid part of a tile never reaches it. Returns the carry for the next tile. */
FN V scan_shared(LOCAL V* tile, LOCAL V* sums, int t, V carry, int has_carry) {
    V mine[ITEMS];
    UNROLL for (int k = 0; k < ITEMS; ++k) {
        mine[k] = tile[PAD(t * ITEMS + k)];
        if (k > 0) mine[k] = combine(mine[k - 1], mine[k]);
    }
    scan_group(mine[ITEMS - 1], sums, t);
    const V total = has_carry ? combine(carry, sums[G - 1]) : sums[G - 1];
    V prefix = carry;
    if (t > 0) prefix = has_carry ? combine(carry, sums[t - 1]) : sums[t - 1];
    UNROLL for (int k = 0; k < ITEMS; ++k) tile[PAD(t * ITEMS + k)] = t > 0 || has_carry ? combine(prefix, mine[k]) : mine[k];
    BARRIER;
    return total;
}
)";

/// Contiguous lines in `parts` of whole tiles; a group a part.
inline constexpr char scan_rows[] = R"(
KERNEL(256) scan_rows(CONST_ARG(T, x), CONST_ARG(V, carries), ARG(T, out), i64 length, i64 parts, i64 part_length, i64 initial) {
    BEGIN;
    CONST_PTR(T, x);
    CONST_PTR(V, carries);
    PTR(T, out);
    SHARED V tile[TILE_ROOM];
    SHARED V sums[2 * G];
    const int t = LOCAL_ID;
    const i64 line = GROUP_ID / parts, part = GROUP_ID - line * parts;
    const i64 begin = part * part_length, end = begin + part_length < length ? begin + part_length : length;
    GLOBAL const T* from = x + line * length;
    GLOBAL T* to = out + line * (length + initial) + initial;
    if (initial && part == 0 && t == 0) to[-1] = identity_element();
    int has_carry = part > 0;
    V carry = LOAD(from[begin]);
    if (has_carry) carry = carries[GROUP_ID - 1];
    for (i64 at = begin; at < end; at += TILE) {
        const int n = end - at < TILE ? (int)(end - at) : TILE;
        T loaded[ITEMS];
        UNROLL for (int k = 0; k < ITEMS; ++k) loaded[k] = from[at + (t + k * G < n ? t + k * G : 0)];
        UNROLL for (int k = 0; k < ITEMS; ++k) tile[PAD(t + k * G)] = LOAD(loaded[k]);
        BARRIER;
        carry = scan_shared(tile, sums, t, carry, has_carry);
        has_carry = 1;
        UNROLL for (int k = 0; k < ITEMS; ++k) {
            if (t + k * G < n) to[at + t + k * G] = STORE(tile[PAD(t + k * G)]);
        }
        BARRIER;
    }
}
)";

/// The total of each part but the last of a line. ORDERED: what comes first matters (signs of zeros, NaNs).
inline constexpr char scan_totals[] = R"(
KERNEL(256) scan_totals(CONST_ARG(T, x), ARG(V, totals), i64 length, i64 parts, i64 part_length) {
    BEGIN;
    CONST_PTR(T, x);
    PTR(V, totals);
    SHARED V sums[2 * G];
#if ORDERED
    SHARED V tile[TILE_ROOM];
#endif
    const int t = LOCAL_ID;
    const i64 line = GROUP_ID / parts, part = GROUP_ID - line * parts;
    if (part == parts - 1) return;
    GLOBAL const T* from = x + line * length + part * part_length;
#if ORDERED
    V carry = LOAD(from[0]);
    for (i64 at = 0; at < part_length; at += TILE) {
        UNROLL for (int k = 0; k < ITEMS; ++k) tile[PAD(t + k * G)] = LOAD(from[at + t + k * G]);
        BARRIER;
        V total = tile[PAD(t * ITEMS)];
        UNROLL for (int k = 1; k < ITEMS; ++k) total = combine(total, tile[PAD(t * ITEMS + k)]);
        scan_group(total, sums, t);
        carry = at > 0 ? combine(carry, sums[G - 1]) : sums[G - 1];
        BARRIER;
    }
    if (t == 0) totals[GROUP_ID] = carry;
#else
    V sum = LOAD(from[t]);
    for (i64 at = 0; at < part_length; at += TILE) {
        T loaded[ITEMS];
        UNROLL for (int k = 0; k < ITEMS; ++k) loaded[k] = from[at + t + k * G];
        V part_sum = LOAD(loaded[0]);
        UNROLL for (int k = 1; k < ITEMS; ++k) part_sum = combine(part_sum, LOAD(loaded[k]));
        sum = at > 0 ? combine(sum, part_sum) : part_sum;
    }
    sums[t] = sum;
    BARRIER;
    for (int step = G / 2; step > 0; step /= 2) {
        if (t < step) sums[t] = combine(sums[t], sums[t + step]);
        BARRIER;
    }
    if (t == 0) totals[GROUP_ID] = sums[0];
#endif
}
)";

/// Running totals, in place; a group a line.
inline constexpr char scan_carries[] = R"(
KERNEL(256) scan_carries(ARG(V, totals), i64 parts) {
    BEGIN;
    PTR(V, totals);
    SHARED V tile[TILE_ROOM];
    SHARED V sums[2 * G];
    const int t = LOCAL_ID;
    GLOBAL V* line = totals + GROUP_ID * parts;
    V carry = line[0];
    for (i64 at = 0; at < parts; at += TILE) {
        const int n = parts - at < TILE ? (int)(parts - at) : TILE;
        UNROLL for (int k = 0; k < ITEMS; ++k) tile[PAD(t + k * G)] = line[at + (t + k * G < n ? t + k * G : 0)];
        BARRIER;
        carry = scan_shared(tile, sums, t, carry, at > 0);
        UNROLL for (int k = 0; k < ITEMS; ++k) {
            if (t + k * G < n) line[at + t + k * G] = tile[PAD(t + k * G)];
        }
        BARRIER;
    }
}
)";

/// Adjacent lines: an item takes one line's chunk. STAGE 0: totals of chunks; 1: running totals; 2: the result.
inline constexpr char scan_columns[] = R"(
KERNEL(256) scan_columns(CONST_ARG(T, x), ARG(V, totals), ARG(T, out), i64 outer, i64 length, i64 inner, i64 chunks, i64 chunk,
                         i64 initial) {
    BEGIN;
    CONST_PTR(T, x);
    PTR(V, totals);
    PTR(T, out);
    const i64 id = GROUP_ID * 256 + LOCAL_ID;
#if STAGE == 1
    if (id >= outer * inner) return;
    const i64 o = id / inner, j = id - o * inner;
    GLOBAL V* line = totals + o * chunks * inner + j;
    V sum = line[0];
    for (i64 c = 1; c < chunks; ++c) {
        sum = combine(sum, line[c * inner]);
        line[c * inner] = sum;
    }
#else
    if (id >= outer * chunks * inner) return;
    const i64 q = id / inner, j = id - q * inner, o = q / chunks, c = q - o * chunks;
    const i64 begin = c * chunk, end = begin + chunk < length ? begin + chunk : length;
    GLOBAL const T* from = x + o * length * inner + j;
#if STAGE == 0
    V sum = LOAD(from[begin * inner]);
    for (i64 i = begin + 1; i < end; ++i) sum = combine(sum, LOAD(from[i * inner]));
    totals[id] = sum;
#else
    GLOBAL T* to = out + (o * (length + initial) + initial) * inner + j;
    if (initial && c == 0) to[-inner] = identity_element();
    if (begin >= end) return;
    V sum = LOAD(from[begin * inner]);
    if (c > 0) sum = combine(totals[id - inner], sum);
    to[begin * inner] = STORE(sum);
    for (i64 i = begin + 1; i < end; ++i) {
        sum = combine(sum, LOAD(from[i * inner]));
        to[i * inner] = STORE(sum);
    }
#endif
#endif
}
)";

}  // namespace pardo::routines::kernels
