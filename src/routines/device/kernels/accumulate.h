// src/routines/device/kernels/accumulate.h: kernel text, for CUDA: elements that are named again and again, changed in place once for each
// time.
#pragma once

namespace pardo::routines::kernels {

/// OP: 0 add, 1 multiply, 2 minimum, 3 maximum, 4 fmin, 5 fmax, 6 and, 7 or, 8 exclusive or. STEP(a, b) does it once, and IDENTITY leaves
/// the other operand as it is. Groups have a room of ROOM elements.
inline constexpr char accumulation[] = R"(
#define ROOM (32768 / T_SIZE)
#if IS_COMPLEX
FN T step_of(T a, T b) { return make_complex(a.re + b.re, a.im + b.im); }
#define IDENTITY make_complex((R)-0.0f, (R)-0.0f)
#else
#if IS_FLOAT
typedef T FULL;
#else
typedef WIDE FULL;
#endif
FN T step_of(T a, T b) {
#if OP == 0
    return (T)((FULL)a + (FULL)b);
#elif OP == 1
    return (T)((FULL)a * (FULL)b);
#elif OP == 2
    return a <= b || a != a ? a : b;
#elif OP == 3
    return a >= b || a != a ? a : b;
#elif OP == 4
    return a <= b || b != b ? a : b;
#elif OP == 5
    return a >= b || b != b ? a : b;
#elif OP == 6
    return (T)(a & b);
#elif OP == 7
    return (T)(a | b);
#else
    return (T)(a ^ b);
#endif
}
#if IS_FLOAT
#define IDENTITY (T)(OP == 0 ? -0.0f : OP == 1 ? 1.0f : OP == 2 ? INFINITE_VALUE : OP == 3 ? -INFINITE_VALUE : INFINITE_VALUE - INFINITE_VALUE)
#define INFINITE_VALUE F32_BITS(0x7f800000u)
#else
#define LOWEST (IS_SIGNED ? (T)((U)1 << (8 * T_SIZE - 1)) : (T)0)
#define IDENTITY (OP == 1 ? (T)1 : OP == 2 || OP == 4 ? (T)~LOWEST : OP == 3 || OP == 5 ? LOWEST : OP == 6 ? (T)~(T)0 : (T)0)
#endif
#endif
)";

/// Kernels that look for indices out of bounds have FOUND_ARG, and leave the first one of each group there (if CHECKED), as find_bad does.
inline constexpr char finding[] = R"(
#if CHECKED
#define FOUND_ARG ARG(i64, found),
#define LEAVE_FIRST                              \
    SHARED i64 firsts[256];                      \
    LEAST_FIRST;                                 \
    if (t == 0) found[GROUP_ID] = firsts[0]
#else
#define FOUND_ARG
#define LEAVE_FIRST
#endif
)";

/// Does STEP for the items of a warp, whose places may be the same: these one after the other. Places below 0 have none.
inline constexpr char stepping[] = R"(
FN void step_in_turns(T* own, int place, T value, int lane) {
    const u32 same = __match_any_sync(0xffffffffu, place);
    const int turn = place < 0 ? 32 : __popc(same & ((1u << lane) - 1u));
    for (int now = 0; __any_sync(0xffffffffu, turn < 32 && turn >= now); ++now) {
        if (turn == now) own[place] = step_of(own[place], value);
        __syncwarp();
    }
}
)";

/// Each group takes a part of the places; each of its first `warps` warps a share of that, in a copy of `size` elements of its own, place
/// by place in their order. The copies, taken together in their order, become a row of `partial`. `one`: there is one value. Places that
/// are out of bounds are left out, and the first of them is `found` (if CHECKED), as by find_bad.
inline constexpr char accumulate_parts[] = R"(
KERNEL(256) accumulate_parts(FOUND_ARG CONST_ARG(i64, places), CONST_ARG(T, values), ARG(T, partial), i64 count, i64 size, i64 one,
                             i64 warps) {
    BEGIN;
    SHARED T room[ROOM];
    i64 first = count;
    const int t = LOCAL_ID, lane = t & 31, warp = t >> 5;
    for (int i = t; i < warps * size; i += 256) room[i] = IDENTITY;
    BARRIER;
    const i64 shares = GROUP_COUNT * warps, share = GROUP_ID * warps + warp;
    if (warp < warps) {
        T* own = room + warp * size;
        const i64 begin = count / shares * share + min(share, count % shares);
        const i64 end = begin + count / shares + (share < count % shares);
        for (i64 at = begin; at < end; at += 128) {
            int place[4];
            T value[4];
            UNROLL for (int k = 0; k < 4; ++k) {
                const i64 i = at + 32 * k + lane;
                const i64 named = i < end ? places[i] : -1 - size;
                const u64 from_start = (u64)(named < 0 ? named + size : named);
                place[k] = from_start < (u64)size ? (int)from_start : -1;
                if (place[k] < 0 && i < end && i < first) first = i;
                value[k] = values[one || i >= end ? 0 : i];
            }
            UNROLL for (int k = 0; k < 4; ++k) step_in_turns(own, place[k], value[k], lane);
        }
    }
    BARRIER;
    for (i64 i = t; i < size; i += 256) {
        T all = room[i];
        for (int w = 1; w < warps; ++w) all = step_of(all, room[w * size + i]);
        partial[GROUP_ID * size + i] = all;
    }
    LEAVE_FIRST;
}
)";

/// The rows of `partial` and the target, taken together in order: eight shares of the rows first.
inline constexpr char accumulate_all[] = R"(
KERNEL(256) accumulate_all(STATUS_ARG CONST_ARG(T, partial), ARG(T, target), i64 rows, i64 size) {
    BEGIN;
    if (BAD_INDEX) return;
    SHARED T room[256];
    const int t = LOCAL_ID, share = t >> 5;
    const i64 i = GROUP_ID * 32 + (t & 31);
    T all = IDENTITY;
    if (i < size) {
        for (i64 row = rows * share / 8; row < rows * (share + 1) / 8; ++row) all = step_of(all, partial[row * size + i]);
    }
    room[t] = all;
    BARRIER;
    if (share > 0 || i >= size) return;
    T result = target[i];
    for (int s = 0; s < 8; ++s) result = step_of(result, room[32 * s + t]);
    target[i] = result;
}
)";

/// Places as keys for sorting, counted from the start.
inline constexpr char accumulate_keys[] = R"(
KERNEL(256) accumulate_keys(FOUND_ARG CONST_ARG(i64, places), ARG(T, keys), i64 count, i64 size, i64 share) {
    BEGIN;
    const int t = LOCAL_ID;
    const i64 begin = GROUP_ID * share, end = min(begin + share, count);
    i64 first = count;
    for (i64 at = begin; at < end; at += 1024) {
        UNROLL for (int k = 0; k < 4; ++k) {
            const i64 i = at + k * 256 + t;
            if (i >= end) break;
            const i64 named = places[i], place = named < 0 ? named + size : named;
            if ((u64)place >= (u64)size) first = min(first, i);
            keys[i] = (T)place;
        }
    }
    LEAVE_FIRST;
}
)";

/// Blocks of the target that fit into the room of a warp, which is an eighth of a group's.
inline constexpr char accumulate_blocks[] = R"(
#define BLOCK (ROOM / 8)
)";

/// Each warp takes a chunk of the places, which are sorted, those that are equal in their order. Their values are one (VALUES 0), or
/// `items` (1), or those at the positions that `items` are (2: of 32 bits, 3: of 64). A block that begins and ends in one chunk is done.
/// Others are rows of `partial`: what a chunk has of a block that began before it is row `chunk`, and what it has of one that begins in it
/// and goes on is row `chunks + chunk`; these rows' blocks are `joined`, or -1.
inline constexpr char accumulate_chunks[] = R"(
#if K_SIZE == 8
typedef u64 K;
#else
typedef u32 K;
#endif
#if VALUES == 1
typedef T I;
#elif VALUES == 3
typedef u64 I;
#else
typedef u32 I;
#endif
KERNEL(256) accumulate_chunks(STATUS_ARG CONST_ARG(K, places), CONST_ARG(I, items), CONST_ARG(T, values), ARG(T, target),
                              ARG(T, partial), ARG(i64, joined), i64 count, i64 size, i64 chunks) {
    BEGIN;
    SHARED T rooms[ROOM];
    const int t = LOCAL_ID, lane = t & 31;
    const i64 chunk = GROUP_ID * 8 + (t >> 5);
    if (BAD_INDEX || chunk >= chunks) return;
    T* own = rooms + (t >> 5) * BLOCK;
    for (int e = lane; e < BLOCK; e += 32) own[e] = IDENTITY;
    __syncwarp();
    const i64 begin = count / chunks * chunk + min(chunk, count % chunks), end = begin + count / chunks + (chunk < count % chunks);
    i64 block = places[begin] / BLOCK, head = -1, tail = -1;
    const i64 following = end < count ? (i64)(places[end] / BLOCK) : -1;
    bool begun_before = begin > 0 && (i64)(places[begin - 1] / BLOCK) == block;
    for (i64 at = begin; at <= end; at += 128) {
        i64 place[4];
        T value[4];
        UNROLL for (int k = 0; k < 4; ++k) {
            const i64 i = at + 32 * k + lane;
            place[k] = i < end ? (i64)places[i] : -1;
#if VALUES == 0
            value[k] = values[0];
#elif VALUES == 1
            value[k] = items[i < end ? i : 0];
#else
            value[k] = values[i < end ? items[i] : 0];
#endif
        }
        UNROLL for (int k = 0; k < 4; ++k) {
            const bool last = at + 32 * k <= end && end < at + 32 * (k + 1);
            bool left = place[k] >= 0;
            while (true) {
                const bool here = left && place[k] / BLOCK == block;
                step_in_turns(own, here ? (int)(place[k] % BLOCK) : -1, value[k], lane);
                left = left && !here;
                const u32 rest = __ballot_sync(0xffffffffu, left);
                if (!rest && !last) break;
                const bool goes_on = !rest && following == block;
                if (begun_before) head = block;
                else if (goes_on) tail = block;
                const i64 row = begun_before ? chunk : chunks + chunk, base = block * BLOCK;
                for (int e = lane; e < BLOCK; e += 32) {
                    if (begun_before || goes_on) partial[row * BLOCK + e] = own[e];
                    else if (base + e < size) target[base + e] = step_of(target[base + e], own[e]);
                    own[e] = IDENTITY;
                }
                __syncwarp();
                if (!rest) break;
                block = __shfl_sync(0xffffffffu, place[k] / BLOCK, __ffs((int)rest) - 1);
                begun_before = false;
            }
        }
    }
    if (lane == 0) {
        joined[chunk] = head;
        joined[chunks + chunk] = tail;
    }
}
)";

/// The rows of a block that several chunks have a part of, and the target, taken together in order. The blocks that begin in a chunk and
/// go on have `pieces` groups each.
inline constexpr char accumulate_joined[] = R"(
KERNEL(256) accumulate_joined(STATUS_ARG CONST_ARG(T, partial), CONST_ARG(i64, joined), ARG(T, target), i64 size, i64 chunks, i64 pieces) {
    BEGIN;
    if (BAD_INDEX) return;
    const i64 chunk = GROUP_ID / pieces, e = (GROUP_ID - chunk * pieces) * 256 + LOCAL_ID;
    const i64 block = joined[chunks + chunk], i = block * BLOCK + e;
    if (block < 0 || e >= BLOCK || i >= size) return;
    i64 stop = chunk + 1, high = chunks;
    while (stop < high) {
        const i64 middle = (stop + high) / 2;
        if (joined[middle] == block)
            stop = middle + 1;
        else
            high = middle;
    }
    T all = partial[(chunks + chunk) * BLOCK + e];
    UNROLL for (i64 row = chunk + 1; row < stop; ++row) all = step_of(all, partial[row * BLOCK + e]);
    target[i] = step_of(target[i], all);
}
)";

}  // namespace pardo::routines::kernels
