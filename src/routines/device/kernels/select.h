// src/routines/device/kernels/select.h: kernel text: the elements that sorting would put at some positions of long lines, found digit by
// digit.
#pragma once

namespace pardo::routines::kernels {

/// What both share. MODE of elements: 1 or 2. Up to SLOTS positions are wanted, `wanted` of them, in lines of fewer than 2^32 elements;
/// `found` has their keys as far as they are known, (lines, wanted), in order. A digit has DIGIT_BITS, from `shift` on; those above, from
/// `above` on, are known.
inline constexpr char selecting[] = R"(
#define BINS (1 << DIGIT_BITS)
#define DIGIT(key) ((u32)((key) >> shift) & (u32)((1u << (above - shift)) - 1u))
/* Keys that differ in what is known of them, in order; their number. */
FN int different_keys(GLOBAL const U* keys, LOCAL U* different, int wanted, int above) {
    int count = 1;
    different[0] = above < 8 * U_SIZE ? keys[0] : (U)0;
    if (above < 8 * U_SIZE) {
        for (int j = 1; j < wanted; ++j) {
            if (keys[j] != keys[j - 1]) different[count++] = keys[j];
        }
    }
    return count;
}
)";

/// How often each value of a digit occurs among the elements that have the known digits of a wanted one: counts[line][slot][value], zeros
/// before. `raw`: keys holds elements, else keys, sizes[line][pass] of them (a line's are `length` apart). KEEP: those counted are written
/// to `kept`, and how many to the next one of the sizes, zero before.
inline constexpr char select_count[] = R"(
#define EACH 16
KERNEL(256) select_count(CONST_ARG(U, keys), CONST_ARG(U, found), ARG(u32, counts)
#if KEEP
                         , ARG(U, kept)
#endif
                         , ARG(u32, sizes), i64 length, i64 parts, i64 wanted, i64 pass, i64 passes, i64 shift_, i64 above_, i64 raw, i64 flip) {
    BEGIN;
    CONST_PTR(U, keys);
    CONST_PTR(U, found);
    PTR(u32, counts);
#if KEEP
    PTR(U, kept);
#endif
    PTR(u32, sizes);
    SHARED u32 histogram[SLOTS * BINS / 2];  /* two counters of 16 bits in a word: a group has fewer elements than they hold */
    SHARED U known[SLOTS];
    SHARED int known_count;
#if KEEP
    SHARED u32 taken, first_taken;
#endif
    const int t = LOCAL_ID, shift = (int)shift_, above = (int)above_;
    const i64 line = GROUP_ID / parts, part = GROUP_ID - line * parts;
    const i64 n = raw ? length : (i64)sizes[line * passes + pass];
    GLOBAL const U* from = keys + line * length;
    const int has_work = part * 256 * EACH < n;
    for (int i = has_work ? t : SLOTS * BINS; i < SLOTS * BINS / 2; i += 256) histogram[i] = 0;
    if (t == 0) known_count = different_keys(found + line * wanted, known, (int)wanted, above);
    BARRIER;
    const int slots = known_count, first_pass = above >= 8 * U_SIZE;
    for (i64 start = part * 256 * EACH; start < n; start += parts * 256 * EACH) {
#if KEEP
        if (t == 0) taken = 0;
        BARRIER;
        u32 hits = 0;
#endif
        U mine[EACH];
        UNROLL for (int k = 0; k < EACH; ++k) mine[k] = from[start + t + k * 256 < n ? start + t + k * 256 : 0];
        UNROLL for (int k = 0; k < EACH; ++k) {
            const U key = raw ? READ_KEY(mine[k]) : mine[k];
            mine[k] = key;
            if (start + t + k * 256 >= n) continue;
            /* In the first pass there is one slot: the others are copies of it, so that equal elements do not all wait for one counter. */
            int slot = first_pass ? t & (SLOTS - 1) : -1;
            if (!first_pass) {
                UNROLL for (int j = 0; j < SLOTS; ++j) {
                    if (j < slots && (U)(key >> above) == (U)(known[j] >> above)) slot = j;
                }
            }
            if (slot < 0) continue;
            const u32 counter = slot * BINS + DIGIT(key);
            ATOMIC_ADD_LOCAL(&histogram[counter >> 1], 1u << 16 * (counter & 1u));
#if KEEP
            hits |= 1u << k;
#endif
        }
#if KEEP
        u32 at = 0;
        if (hits) at = ATOMIC_ADD_LOCAL(&taken, (u32)POPCOUNT(hits));
        BARRIER;
        if (t == 0 && taken > 0) first_taken = ATOMIC_ADD_GLOBAL(&sizes[line * passes + pass + 1], taken);
        BARRIER;
        at += first_taken;
        UNROLL for (int k = 0; k < EACH; ++k) {
            if (hits >> k & 1u) kept[line * length + at++] = mine[k];
        }
#endif
    }
    BARRIER;
    const int copies = first_pass ? SLOTS : 1, bins = has_work ? slots * BINS : 0;
    for (int i = 2 * t; i < bins; i += 512) {
        u32 even = 0, odd = 0;
        for (int c = 0; c < copies; ++c) {
            const u32 both = histogram[(c * BINS + i) >> 1];
            even += both & 0xffffu;
            odd += both >> 16;
        }
        if (even > 0) ATOMIC_ADD_GLOBAL(&counts[line * SLOTS * BINS + i], even);
        if (odd > 0) ATOMIC_ADD_GLOBAL(&counts[line * SLOTS * BINS + i + 1], odd);
    }
}
)";

/// After that: the digit of each wanted element, and its position among those that share it with it: `ranks`, (lines, wanted). A group a
/// line. The counts are zeros again. In the last pass (shift 0) `equal` is how many elements are equal to each, and if `values`, keys are
/// turned back into elements.
inline constexpr char select_digit[] = R"(
#define OWN (BINS / 256)
KERNEL(256) select_digit(ARG(U, found), ARG(u32, ranks), ARG(u32, equal), ARG(u32, counts)
                         , i64 wanted_, i64 shift_, i64 above_, i64 values, i64 flip
                         , i64 k0, i64 k1, i64 k2, i64 k3, i64 k4, i64 k5, i64 k6, i64 k7) {
    BEGIN;
    PTR(U, found);
    PTR(u32, ranks);
    PTR(u32, equal);
    PTR(u32, counts);
    SHARED u32 sums[256];
    SHARED U different[SLOTS];
    SHARED U known[SLOTS];
    SHARED U next[SLOTS];
    SHARED u32 rank[SLOTS];
    SHARED u32 next_rank[SLOTS];
    SHARED int known_count;
    const int t = LOCAL_ID, shift = (int)shift_, above = (int)above_, wanted = (int)wanted_;
    const i64 line = GROUP_ID;
    if (t == 0) known_count = different_keys(found + line * wanted, different, wanted, above);
    if (t < wanted) {
        const i64 k = t < 4 ? (t < 2 ? (t < 1 ? k0 : k1) : (t < 3 ? k2 : k3)) : (t < 6 ? (t < 5 ? k4 : k5) : (t < 7 ? k6 : k7));
        const int first_pass = above >= 8 * U_SIZE;
        rank[t] = first_pass ? (u32)k : ranks[line * wanted + t];
        known[t] = first_pass ? (U)0 : found[line * wanted + t];
    }
    BARRIER;
    const int slots = known_count;
    for (int slot = 0; slot < slots; ++slot) {
        GLOBAL u32* own = counts + (line * SLOTS + slot) * BINS + t * OWN;
        u32 here[OWN], sum = 0;
        for (int i = 0; i < OWN; ++i) {
            here[i] = own[i];
            sum += here[i];
            own[i] = 0;
        }
        sums[t] = sum;
        BARRIER;
        RUNNING_SUMS(sums, t)
        /* Each wanted one is found by the item whose values its digit is among. */
        const u32 begin = sums[t] - sum;
        for (int j = 0; j < wanted; ++j) {
            if (known[j] != different[slot] || rank[j] < begin || rank[j] - begin >= sum) continue;
            u32 left = rank[j] - begin;
            int i = 0;
            while (left >= here[i]) left -= here[i++];
            next[j] = (U)(known[j] | (U)((U)(t * OWN + i) << shift));
            next_rank[j] = left;
            if (shift == 0) equal[line * wanted + j] = here[i];
        }
        BARRIER;
    }
    if (t < wanted) {
        found[line * wanted + t] = shift == 0 && values ? KEY_BITS(next[t]) : next[t];
        ranks[line * wanted + t] = next_rank[t];
    }
}
)";

/// What a partition of long lines into classes takes: those before the first of the keys `found`, those equal to it, those between it and
/// the next one that differs, and so on. DIGIT: the class of a key, or (MODE 0 to 2) eight of its bits.
inline constexpr char classes[] = R"(
#if MODE >= 3
#define DIGIT(key) class_of(key, pivots, (int)wanted)
#else
#define DIGIT(key) ((u32)((key) >> shift) & 255u)
#endif
#define MOST_PIVOTS 8
/* The class of a key; that of the largest key is the last one. */
FN u32 class_of(U key, LOCAL const U* pivots, int count) {
    u32 number = 0;
    for (int j = 0; j < count; ++j) number += key > pivots[j] ? 2u : key == pivots[j] ? 1u : 0u;
    return number;
}
)";

}  // namespace pardo::routines::kernels
