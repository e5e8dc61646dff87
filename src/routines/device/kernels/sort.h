// src/routines/device/kernels/sort.h: kernel text: stable sorting, of short lines in shared memory and of long ones by radix.
#pragma once

namespace pardo::routines::kernels {

/// Lines of at most 2^ROOM_BITS elements, several a group: a bitonic network over (key, position). Writes the `kept` first ones of each.
/// `width`: a power of two, at least `length`. VALUES, INDICES: what is written. Long lines may be cut in `pieces` of `length` elements
/// (the last one shorter, `line_length` in all, lines `line_step` apart); positions count from the start of the line, or are those of
/// `from` when FROM is set.
inline constexpr char sort_short[] = R"(
#define G 256
#define ROOM (1 << ROOM_BITS)
KERNEL(256) sort_short(CONST_ARG(BITS, x)
#if FROM
                       , CONST_ARG(i64, from)
#endif
#if VALUES
                       , ARG(BITS, values)
#endif
#if INDICES
                       , ARG(i64, indices)
#endif
                       , i64 lines, i64 line_length, i64 line_step, i64 pieces, i64 length, i64 width, i64 kept, i64 flip) {
    BEGIN;
    CONST_PTR(BITS, x);
#if FROM
    CONST_PTR(i64, from);
#endif
#if VALUES
    PTR(BITS, values);
#endif
#if INDICES
    PTR(i64, indices);
#endif
    SHARED KEY keys[ROOM];
    SHARED u16 places[ROOM];
    const int t = LOCAL_ID, w = (int)width, per_group = ROOM / w;
    const i64 first = GROUP_ID * per_group;
    for (int i = t; i < ROOM; i += G) {
        const int place = i & (w - 1);
        const i64 piece = first + i / w, line = piece / pieces, start = (piece - line * pieces) * length;
        const int valid = line < lines && place < length && start + place < line_length;
        if (valid) keys[i] = make_key(x[line * line_step + start + place], (int)flip);
        /* Those that are not there go last. */
        places[i] = (u16)(valid ? place : place | 0x8000);
    }
    BARRIER;
    for (int size = 2; size <= w; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            for (int c = t; c < ROOM / 2; c += G) {
                const int i = 2 * c - (c & (step - 1)), j = i + step, up = !(i & (w - 1) & size);
                const u16 a = places[i], b = places[j];
                int swap;
                if ((a | b) & 0x8000) {
                    swap = a > b;
                } else {
                    const KEY ka = keys[i], kb = keys[j];
                    swap = before(kb, ka) || (!before(ka, kb) && a > b);
                }
                if (swap == up) {
                    const KEY key = keys[i];
                    keys[i] = keys[j];
                    keys[j] = key;
                    places[i] = b;
                    places[j] = a;
                }
            }
            BARRIER;
        }
    }
    for (int i = t; i < ROOM; i += G) {
        const int rank = i & (w - 1);
        const i64 piece = first + i / w, line = piece / pieces, start = (piece - line * pieces) * length;
        const i64 left = line_length - start;
        if (line < lines && rank < kept && rank < left) {
            const i64 at = line * line_step + start + places[i], to = piece * kept + rank;
#if VALUES
            values[to] = x[at];
#endif
#if INDICES
#if FROM
            indices[to] = from[at];
#else
            indices[to] = start + places[i];
#endif
#endif
        }
    }
}
)";

/// Positions (P_SIZE bytes; 0: none are kept) and counts of elements (C_SIZE).
inline constexpr char positions[] = R"(
#define PAYLOAD (P_SIZE > 0)
#if P_SIZE == 8
typedef u64 P;
#else
typedef u32 P;
#endif
)";

/// How a key is made of what is read, and turned back, by the MODE of the elements: 0 keys, 1 and 3 by exact keys, 2 and 4 by ranks, which
/// cannot be turned back.
inline constexpr char key_modes[] = R"(
#if MODE == 0
#define READ_KEY(bits) (bits)
#define KEY_BITS(key) (key)
#elif MODE % 2 == 1
#define READ_KEY(bits) (U)(exact_key(bits) ^ (U)flip)
#define KEY_BITS(key) key_bits((U)((key) ^ (U)flip))
#else
#define READ_KEY(bits) (U)(rank_key(bits) ^ (U)flip)
#define KEY_BITS(key) (key)
#endif
)";

/// What 256 items have in `sums`, each with that of the items before it added.
inline constexpr char running_sums[] = R"(
#define RUNNING_SUMS(sums, t) \
    for (int step = 1; step < 256; step *= 2) { \
        const u32 before = t >= step ? sums[t - step] : 0; \
        BARRIER; \
        sums[t] += before; \
        BARRIER; \
    }
)";

/// One pass of a radix sort over eight bits of unsigned keys, or (MODE 3, 4) over the classes of a partition. MODE of what is read: 0
/// keys, 1 and 3 elements by exact keys, 2 and 4 by ranks.
/// Tiles of ITEMS elements an item; lines of `length` in `tiles` tiles each.
inline constexpr char radix[] = R"(
#define G 256
#define TILE (G * ITEMS)
#if C_SIZE == 8
typedef u64 COUNT;
#else
typedef u32 COUNT;
#endif
#if MODE >= 3
#define PIVOT_ARGS , CONST_ARG(U, found), i64 wanted
#else
#define PIVOT_ARGS
#endif
)";

/// How many keys of each tile have each digit: counts[line][digit][tile].
inline constexpr char radix_count[] = R"(
KERNEL(256) radix_count(CONST_ARG(U, keys), ARG(COUNT, counts), i64 length, i64 tiles, i64 shift, i64 flip PIVOT_ARGS) {
    BEGIN;
    CONST_PTR(U, keys);
    PTR(COUNT, counts);
    SHARED u32 histogram[256];
    const int t = LOCAL_ID;
    const i64 line = GROUP_ID / tiles, tile = GROUP_ID - line * tiles, left = length - tile * TILE;
    const int n = left < TILE ? (int)left : TILE;
    GLOBAL const U* from = keys + line * length + tile * TILE;
#if MODE >= 3
    CONST_PTR(U, found);
    SHARED U pivots[MOST_PIVOTS];
    if (t < wanted) pivots[t] = found[line * wanted + t];
#endif
    histogram[t] = 0;
    U mine[ITEMS];
    UNROLL for (int k = 0; k < ITEMS; ++k) mine[k] = from[t + k * G < n ? t + k * G : 0];
    BARRIER;
    /* Neighbours with one digit are counted together: keys of few values would queue up at one counter. */
    u32 digit = 0, run = 0;
    UNROLL for (int k = 0; k < ITEMS; ++k) {
        if (t + k * G < n) {
            const u32 next = DIGIT(READ_KEY(mine[k]));
            if (next != digit && run > 0) {
                ATOMIC_ADD_LOCAL(&histogram[digit], run);
                run = 0;
            }
            digit = next;
            ++run;
        }
    }
    if (run > 0) ATOMIC_ADD_LOCAL(&histogram[digit], run);
    BARRIER;
    counts[(line * 256 + t) * tiles + tile] = (COUNT)histogram[t];
}
)";

/// Moves keys (and PAYLOAD, positions in the line) where the running counts say. FIRST: positions are made here; LAST: 1 turns
/// keys back into elements, 2 does not write them. Each tile is sorted in shared memory by four bits at a time, so that neighbours are
/// written together.
inline constexpr char radix_scatter[] = R"(
#define PAD(i) ((i) + ((i) >> 5))
#define COUNTER(i) ((i) + 2 * ((i) >> 6))
#if PAYLOAD && P_SIZE > U_SIZE
#define ROOM_TYPE P
#else
#define ROOM_TYPE U
#endif
KERNEL(256) radix_scatter(CONST_ARG(U, keys), ARG(U, out_keys), CONST_ARG(COUNT, running)
#if PAYLOAD && !FIRST
                          , CONST_ARG(P, payload)
#endif
#if PAYLOAD
                          , ARG(P, out_payload)
#endif
                          , i64 length, i64 tiles, i64 shift, i64 flip PIVOT_ARGS) {
    BEGIN;
    CONST_PTR(U, keys);
    PTR(U, out_keys);
    CONST_PTR(COUNT, running);
#if PAYLOAD && !FIRST
    CONST_PTR(P, payload);
#endif
#if PAYLOAD
    PTR(P, out_payload);
#endif
    SHARED ROOM_TYPE room[TILE + TILE / 32];
    SHARED u16 counters[16 * G + 2 * (16 * G / 64)];
    SHARED i32 sums[2 * G];
    SHARED i32 starts[256];
    SHARED COUNT targets[256];
    LOCAL U* shared_keys = (LOCAL U*)room;
    const int t = LOCAL_ID;
    const i64 line = GROUP_ID / tiles, tile = GROUP_ID - line * tiles, left = length - tile * TILE;
    const int n = left < TILE ? (int)left : TILE;
    const i64 begin = line * length + tile * TILE;
#if MODE >= 3
    CONST_PTR(U, found);
    SHARED U pivots[MOST_PIVOTS];
    if (t < wanted) pivots[t] = found[line * wanted + t];
#endif
    U key[ITEMS];
    UNROLL for (int k = 0; k < ITEMS; ++k) key[k] = keys[begin + (t + k * G < n ? t + k * G : 0)];
    const i64 entry = (line * 256 + t) * tiles + tile;
    const COUNT target = entry > 0 ? running[entry - 1] : 0;
    /* Keys past the end are the largest, and last. */
    UNROLL for (int k = 0; k < ITEMS; ++k) shared_keys[PAD(t + k * G)] = t + k * G < n ? READ_KEY(key[k]) : (U)~(U)0;
    BARRIER;
    UNROLL for (int k = 0; k < ITEMS; ++k) key[k] = shared_keys[PAD(t * ITEMS + k)];
    BARRIER;
#if PAYLOAD
    P item[ITEMS];
#if FIRST
    UNROLL for (int k = 0; k < ITEMS; ++k) item[k] = (P)(tile * TILE + t * ITEMS + k);
#else
    LOCAL P* shared_payload = (LOCAL P*)room;
    UNROLL for (int k = 0; k < ITEMS; ++k) shared_payload[PAD(t + k * G)] = payload[begin + (t + k * G < n ? t + k * G : 0)];
    BARRIER;
    UNROLL for (int k = 0; k < ITEMS; ++k) item[k] = shared_payload[PAD(t * ITEMS + k)];
    BARRIER;
#endif
#endif
    for (int turn = 0; turn < 2; ++turn) {
        const int low = 4 * turn;
        /* An item counts its own digits in bytes of two words. */
        u64 below = 0, above = 0;
        i32 place[ITEMS];
        UNROLL for (int k = 0; k < ITEMS; ++k) {
            const int digit = (int)(DIGIT(key[k]) >> low) & 15, byte = 8 * (digit & 7);
            place[k] = (i32)((digit < 8 ? below : above) >> byte) & 255;
            const u64 one = (u64)1 << byte;
            below += digit < 8 ? one : 0;
            above += digit < 8 ? 0 : one;
        }
        UNROLL for (int d = 0; d < 16; ++d) counters[COUNTER(d * G + t)] = (u16)((d < 8 ? below : above) >> (8 * (d & 7)) & 255);
        BARRIER;
        int sum = 0;
        u16 own[16];
        UNROLL for (int k = 0; k < 16; ++k) {
            own[k] = counters[COUNTER(t * 16 + k)];
            sum += own[k];
        }
        {
            LOCAL i32* from = sums;
            LOCAL i32* to = sums + G;
            int value = sum;
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
            sum = value - sum;
        }
        UNROLL for (int k = 0; k < 16; ++k) {
            counters[COUNTER(t * 16 + k)] = (u16)sum;
            sum += own[k];
        }
        BARRIER;
        UNROLL for (int k = 0; k < ITEMS; ++k) {
            place[k] += counters[COUNTER(((int)(DIGIT(key[k]) >> low) & 15) * G + t)];
            shared_keys[PAD(place[k])] = key[k];
        }
        BARRIER;
        /* Afterwards an item holds neighbours for the second half, and every 256th for the way out. */
        const int stride = turn ? G : 1, base = turn ? t : t * ITEMS;
        UNROLL for (int k = 0; k < ITEMS; ++k) key[k] = shared_keys[PAD(base + k * stride)];
        if (turn) {
            UNROLL for (int k = 0; k < ITEMS; ++k) {
                const int s = t + k * G;
                if (s == 0 || DIGIT(shared_keys[PAD(s - 1)]) != DIGIT(key[k])) starts[DIGIT(key[k])] = s;
            }
        }
        BARRIER;
#if PAYLOAD
        LOCAL P* shared_items = (LOCAL P*)room;
        UNROLL for (int k = 0; k < ITEMS; ++k) shared_items[PAD(place[k])] = item[k];
        BARRIER;
        UNROLL for (int k = 0; k < ITEMS; ++k) item[k] = shared_items[PAD(base + k * stride)];
        BARRIER;
#endif
    }
    targets[t] = target;
    BARRIER;
    UNROLL for (int k = 0; k < ITEMS; ++k) {
        const int s = t + k * G;
        if (s < n) {
            const u32 digit = DIGIT(key[k]);
            const COUNT to = targets[digit] + (COUNT)(s - starts[digit]);
#if LAST == 1
            out_keys[to] = key_bits((U)(key[k] ^ (U)flip));
#elif LAST == 0
            out_keys[to] = key[k];
#endif
#if PAYLOAD
            out_payload[to] = item[k];
#endif
        }
    }
}
)";

/// Keys of complex elements, of the high or low half (c128), in the order of `payload` if USE_PAYLOAD.
inline constexpr char complex_keys[] = R"(
KERNEL(256) complex_keys(CONST_ARG(BITS, x), ARG(u64, keys)
#if USE_PAYLOAD
                         , CONST_ARG(P, payload)
#endif
                         , i64 total, i64 length, i64 flip) {
    BEGIN;
    CONST_PTR(BITS, x);
    PTR(u64, keys);
#if USE_PAYLOAD
    CONST_PTR(P, payload);
#endif
    const i64 id = GROUP_ID * 256 + LOCAL_ID;
    if (id >= total) return;
#if USE_PAYLOAD
    const KEY key = make_key(x[id / length * length + (i64)payload[id]], (int)flip);
#else
    const KEY key = make_key(x[id], (int)flip);
#endif
#if T_SIZE == 8
    keys[id] = key;
#elif USE_PAYLOAD
    keys[id] = key.high;
#else
    keys[id] = key.low;
#endif
}
)";

/// Sorted lines of floats hold zeros of one sign before those of the other, although the two are equal: they are put back in the order in
/// which the unsorted line has them. `parts` groups a line, of `chunk` elements each.
inline constexpr char zeros[] = R"(
#define EACH (U_SIZE == 8 ? 8 : 16)
#define TILE (256 * EACH)
#define IS_ZERO(bits) ((U)((bits) & (U)~SIGN) == 0)
/* How many elements of a sorted line have keys below one. */
FN i64 keys_below(GLOBAL const U* sorted, i64 length, U key, U flip) {
    i64 first = 0, end = length;
    while (first < end) {
        const i64 middle = first + (end - first) / 2;
        if ((U)(exact_key(sorted[middle]) ^ flip) < key) first = middle + 1; else end = middle;
    }
    return first;
}
/* What 256 items have in `sums`, added up in the first. */
#define ADD_ALL(sums, t) \
    for (int step = 128; step > 0; step /= 2) { \
        if (t < step) sums[t] += sums[t + step]; \
        BARRIER; \
    }
#define FIRST_ZERO(sorted) keys_below(sorted, length, (U)~SIGN, (U)flip)
#define PAST_ZEROS(sorted) keys_below(sorted, length, (U)(SIGN + 1), (U)flip)
)";

/// How many zeros each part of a line has: counts[line][part]; none are said of lines with zeros of one sign.
inline constexpr char zero_counts[] = R"(
KERNEL(256) zero_counts(CONST_ARG(U, x), CONST_ARG(U, values), ARG(i64, counts), i64 length, i64 parts, i64 chunk, i64 flip) {
    BEGIN;
    CONST_PTR(U, x);
    CONST_PTR(U, values);
    PTR(i64, counts);
    SHARED i64 sums[256];
    const int t = LOCAL_ID;
    const i64 line = GROUP_ID / parts, part = GROUP_ID - line * parts;
    GLOBAL const U* sorted = values + line * length;
    const i64 first = FIRST_ZERO(sorted), past = PAST_ZEROS(sorted);
    const int both = past > first && sorted[first] != sorted[past - 1];
    GLOBAL const U* from = x + line * length;
    const i64 end = (part + 1) * chunk < length ? (part + 1) * chunk : length;
    i64 found = 0;
    for (i64 start = part * chunk; both && start < end; start += TILE) {
        UNROLL for (int k = 0; k < EACH; ++k) {
            const i64 at = start + t + k * 256;
            found += at < end && IS_ZERO(from[at < end ? at : start]);
        }
    }
    sums[t] = found;
    BARRIER;
    ADD_ALL(sums, t)
    if (t == 0) counts[GROUP_ID] = sums[0];
}
)";

/// SIGNS: only lines whose `signs` are 3 have zeros of both. `counts` are those of the parts.
inline constexpr char zeros_in_order[] = R"(
KERNEL(256) zeros_in_order(CONST_ARG(U, x), ARG(U, values)
                           , CONST_ARG(i64, counts)
#if SIGNS
                           , CONST_ARG(u32, signs)
#endif
                           , i64 length, i64 parts, i64 chunk, i64 flip) {
    BEGIN;
    CONST_PTR(U, x);
    PTR(U, values);
    SHARED u8 codes[TILE];
    SHARED u8 packed[TILE];
    SHARED u32 sums[256];
    SHARED i64 before[256];
    SHARED int some[2];
    const int t = LOCAL_ID;
    const i64 line = GROUP_ID / parts, part = GROUP_ID - line * parts;
#if SIGNS
    if (signs[line] != 3) return;
#endif
    CONST_PTR(i64, counts);
    if (counts[GROUP_ID] == 0) return;
    GLOBAL const U* from = x + line * length;
    GLOBAL U* sorted = values + line * length;
    i64 mine = 0;
    for (i64 p = t; p < part; p += 256) mine += counts[line * parts + p];
    before[t] = mine;
    BARRIER;
    ADD_ALL(before, t)
    i64 to = FIRST_ZERO(sorted) + before[0];
    if (t < 2) some[t] = 0;
    BARRIER;
    const i64 end = (part + 1) * chunk < length ? (part + 1) * chunk : length;
    int turn = 0;
    for (i64 start = part * chunk; start < end; start += TILE) {
        int found = 0;
        UNROLL for (int k = 0; k < EACH; ++k) {
            const i64 at = start + t + k * 256;
            const U bits = from[at < end ? at : start];
            const int code = at < end && IS_ZERO(bits) ? (bits == 0 ? 1 : 2) : 0;
            codes[t + k * 256] = (u8)code;
            found |= code;
        }
        if (found) some[turn] = 1;
        BARRIER;
        const int any = some[turn];
        turn ^= 1;
        if (t == 0) some[turn] = 0;
        if (any) {
            u32 count = 0;
            UNROLL for (int k = 0; k < EACH; ++k) count += codes[t * EACH + k] != 0;
            sums[t] = count;
            BARRIER;
            RUNNING_SUMS(sums, t)
            u32 at = sums[t] - count;
            UNROLL for (int k = 0; k < EACH; ++k) {
                const u8 code = codes[t * EACH + k];
                if (code != 0) packed[at++] = code;
            }
            BARRIER;
            const u32 total = sums[255];
            for (u32 i = (u32)t; i < total; i += 256) sorted[to + i] = packed[i] == 2 ? SIGN : (U)0;
            to += total;
        }
        BARRIER;
    }
}
)";

/// Positions, and the elements there: the `kept` first of each line.
inline constexpr char sorted_out[] = R"(
KERNEL(256) sorted_out(CONST_ARG(P, payload)
#if VALUES
                       , CONST_ARG(T, x), ARG(T, values)
#endif
#if INDICES
                       , ARG(i64, indices)
#endif
                       , i64 total, i64 length, i64 kept) {
    BEGIN;
    CONST_PTR(P, payload);
#if VALUES
    CONST_PTR(T, x);
    PTR(T, values);
#endif
#if INDICES
    PTR(i64, indices);
#endif
    const i64 id = GROUP_ID * 256 + LOCAL_ID;
    if (id >= total) return;
    const i64 line = id / kept, from = line * length + (id - line * kept);
    const i64 position = (i64)payload[from];
#if VALUES
    values[id] = x[line * length + position];
#endif
#if INDICES
    indices[id] = position;
#endif
}
)";

}  // namespace pardo::routines::kernels
