// src/routines/cpu/sort/quicksort.cpp: vectorised quicksort of unsigned keys: compress-store partition, bitonic networks below 128
// elements.
#include "routines/cpu/sort/quicksort.h"

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "routines/cpu/sort/radix.h"
#include "routines/cpu/task.h"

#if defined(__x86_64__)
// GCC 12's intrinsics start from a value they leave uninitialised on purpose, and warn about it (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,bmi,bmi2,popcnt")

namespace pardo::routines::quicksort {

namespace {

/// What the algorithm needs to know of a key type.
template <class K> struct Simd512;
template <> struct Simd512<std::uint64_t> {
    static constexpr int lanes = 8;
    using Mask = __mmask8;
    static __m512i splat(std::uint64_t v) { return _mm512_set1_epi64(static_cast<long long>(v)); }
    static __m512i min(__m512i a, __m512i b) { return _mm512_min_epu64(a, b); }
    static __m512i max_where(__m512i other, Mask m, __m512i a, __m512i b) { return _mm512_mask_max_epu64(other, m, a, b); }
    static __m512i max(__m512i a, __m512i b) { return _mm512_max_epu64(a, b); }
    static Mask below(__m512i a, __m512i b) { return _mm512_cmplt_epu64_mask(a, b); }
    static Mask upto(__m512i a, __m512i b) { return _mm512_cmple_epu64_mask(a, b); }
    static __m512i compress(Mask m, __m512i v) { return _mm512_maskz_compress_epi64(m, v); }
    static __m512i load(Mask m, __m512i other, const void* p) { return _mm512_mask_loadu_epi64(other, m, p); }
    static void store(void* p, Mask m, __m512i v) { _mm512_mask_storeu_epi64(p, m, v); }
    /// Lanes with their partner at distance d.
    template <int d> static __m512i partner(__m512i v) {
        if constexpr (d == 1)
            return _mm512_permutex_epi64(v, 0xb1);
        else if constexpr (d == 2)
            return _mm512_permutex_epi64(v, 0x4e);
        else
            return _mm512_shuffle_i64x2(v, v, 0x4e);
    }
};
template <> struct Simd512<std::uint32_t> {
    static constexpr int lanes = 16;
    using Mask = __mmask16;
    static __m512i splat(std::uint32_t v) { return _mm512_set1_epi32(static_cast<int>(v)); }
    static __m512i min(__m512i a, __m512i b) { return _mm512_min_epu32(a, b); }
    static __m512i max_where(__m512i other, Mask m, __m512i a, __m512i b) { return _mm512_mask_max_epu32(other, m, a, b); }
    static __m512i max(__m512i a, __m512i b) { return _mm512_max_epu32(a, b); }
    static Mask below(__m512i a, __m512i b) { return _mm512_cmplt_epu32_mask(a, b); }
    static Mask upto(__m512i a, __m512i b) { return _mm512_cmple_epu32_mask(a, b); }
    static __m512i compress(Mask m, __m512i v) { return _mm512_maskz_compress_epi32(m, v); }
    static __m512i load(Mask m, __m512i other, const void* p) { return _mm512_mask_loadu_epi32(other, m, p); }
    static void store(void* p, Mask m, __m512i v) { _mm512_mask_storeu_epi32(p, m, v); }
    template <int d> static __m512i partner(__m512i v) {
        if constexpr (d == 1)
            return _mm512_shuffle_epi32(v, _MM_PERM_CDAB);
        else if constexpr (d == 2)
            return _mm512_shuffle_epi32(v, _MM_PERM_BADC);
        else if constexpr (d == 4)
            return _mm512_permutex_epi64(v, 0x4e);
        else
            return _mm512_shuffle_i64x2(v, v, 0x4e);
    }
};

/// Lanes of vector `index` that take the maximum in the bitonic step (size, distance), distance below the lane count.
template <int lanes> constexpr unsigned max_lanes(int index, int size, int distance) {
    unsigned mask = 0;
    for (int lane = 0; lane < lanes; ++lane) {
        const int i = index * lanes + lane;
        if (((i & distance) == 0) != ((i & size) == 0)) mask |= 1u << lane;
    }
    return mask;
}

/// One step of the network on `vectors` vectors.
template <class K, int vectors, int size, int distance> [[gnu::always_inline]] inline void bitonic_step(__m512i* v) {
    using S = Simd512<K>;
    if constexpr (distance >= S::lanes) {
        constexpr int apart = distance / S::lanes;
        [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
            (
                [&]() __attribute__((always_inline)) {
                    if constexpr ((i & apart) == 0) {
                        const __m512i low = S::min(v[i], v[i + apart]), high = S::max(v[i], v[i + apart]);
                        constexpr bool ascending = ((i * S::lanes) & size) == 0;
                        v[i] = ascending ? low : high;
                        v[i + apart] = ascending ? high : low;
                    }
                }(),
                ...);
        }
        (std::make_integer_sequence<int, vectors>());
    } else {
        [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
            (
                [&]() __attribute__((always_inline)) {
                    const __m512i other = S::template partner<distance>(v[i]);
                    constexpr auto mask = static_cast<typename S::Mask>(max_lanes<S::lanes>(i, size, distance));
                    v[i] = S::max_where(S::min(v[i], other), mask, v[i], other);
                }(),
                ...);
        }
        (std::make_integer_sequence<int, vectors>());
    }
}
template <class K, int vectors, int size, int distance> [[gnu::always_inline]] inline void bitonic_stage(__m512i* v) {
    bitonic_step<K, vectors, size, distance>(v);
    if constexpr (distance > 1) bitonic_stage<K, vectors, size, distance / 2>(v);
}
template <class K, int vectors, int size = 2> [[gnu::always_inline]] inline void bitonic(__m512i* v) {
    bitonic_stage<K, vectors, size, size / 2>(v);
    if constexpr (size < vectors * Simd512<K>::lanes) bitonic<K, vectors, size * 2>(v);
}

/// Sorts n <= vectors * lanes keys; the rest of the vectors is filled with the largest key.
template <class K, int vectors> [[gnu::noinline]] void sort_network(K* keys, std::int64_t n) {
    using S = Simd512<K>;
    __m512i v[vectors];
    const __m512i fill = S::splat(static_cast<K>(~K{0}));
    const auto mask_of = [n](int i) {
        const std::int64_t left = n - i * S::lanes;
        return static_cast<typename S::Mask>(left >= S::lanes ? ~0u : left <= 0 ? 0u : (1u << left) - 1);
    };
    for (int i = 0; i < vectors; ++i) v[i] = S::load(mask_of(i), fill, keys + i * S::lanes);
    bitonic<K, vectors>(v);
    for (int i = 0; i < vectors; ++i) S::store(keys + i * S::lanes, mask_of(i), v[i]);
}

template <class K> inline constexpr std::int64_t network_limit = 16 * Simd512<K>::lanes;
template <class K> void sort_small(K* keys, std::int64_t n) {
    const std::int64_t vectors = (n + Simd512<K>::lanes - 1) / Simd512<K>::lanes;
    if (vectors <= 1) return sort_network<K, 1>(keys, n);
    if (vectors <= 2) return sort_network<K, 2>(keys, n);
    if (vectors <= 4) return sort_network<K, 4>(keys, n);
    if (vectors <= 8) return sort_network<K, 8>(keys, n);
    sort_network<K, 16>(keys, n);
}

/// Those below (or not above) the pivot move to the front of `keys`, whose elements have been read by then; the others wait in `tmp`.
template <bool inclusive, class K> std::int64_t partition_keys(K* keys, K* tmp, std::int64_t n, K pivot_key) {
    using S = Simd512<K>;
    constexpr auto all = static_cast<typename S::Mask>(~0u);
    const __m512i pivot = S::splat(pivot_key);
    K *low = keys, *high = tmp;
    std::int64_t i = 0;
    const auto move = [&](__m512i v) __attribute__((always_inline)) {
        const typename S::Mask m = inclusive ? S::upto(v, pivot) : S::below(v, pivot);
        const int count = __builtin_popcount(m);
        _mm512_storeu_si512(low, S::compress(m, v));
        low += count;
        _mm512_storeu_si512(high, S::compress(static_cast<typename S::Mask>(~m & all), v));
        high += S::lanes - count;
    };
    for (; i + 4 * S::lanes <= n; i += 4 * S::lanes) {
        const __m512i a = _mm512_loadu_si512(keys + i), b = _mm512_loadu_si512(keys + i + S::lanes);
        const __m512i c = _mm512_loadu_si512(keys + i + 2 * S::lanes), d = _mm512_loadu_si512(keys + i + 3 * S::lanes);
        move(a);
        move(b);
        move(c);
        move(d);
    }
    for (; i < n; ++i) {
        const K key = keys[i];
        if (inclusive ? key <= pivot_key : key < pivot_key)
            *low++ = key;
        else
            *high++ = key;
    }
    const std::int64_t below = low - keys;
    std::memcpy(low, tmp, static_cast<std::size_t>(n - below) * sizeof(K));
    return below;
}

/// The median of some keys spread over the array: few where sorting them would cost as much as it saves.
template <class K> K choose_pivot(const K* keys, std::int64_t n) {
    K sample[64];
    const int count = n < 2048 ? 16 : 64;
    const auto step = static_cast<std::uint64_t>(n / count);
    std::uint32_t state = static_cast<std::uint32_t>(n) * 0x9e3779b9u;
    for (int i = 0; i < count; ++i) {
        // A place within each stretch that no regular pattern of the data follows.
        state = state * 1664525u + 1013904223u;
        sample[i] = keys[static_cast<std::uint64_t>(i) * step + ((state >> 8) * step >> 24)];
    }
    if (count == 16)
        sort_network<K, 16 / Simd512<K>::lanes>(sample, 16);
    else
        sort_network<K, 64 / Simd512<K>::lanes>(sample, 64);
    return sample[count / 2];
}

template <class K> void sort_keys(K* keys, K* tmp, std::int64_t n, int depth) {
    while (n > network_limit<K>) {
        if (depth-- == 0) return radix::sort_serial<K, radix::Nothing>(keys, tmp, nullptr, nullptr, n);
        const K pivot = choose_pivot(keys, n);
        const std::int64_t below = partition_keys<false>(keys, tmp, n, pivot);
        if (below == 0) {
            // The pivot is the smallest key: all of its kind are in place.
            const std::int64_t equal = partition_keys<true>(keys, tmp, n, pivot);
            keys += equal;
            n -= equal;
            continue;
        }
        sort_keys(keys, tmp, below, depth);
        keys += below;
        n -= below;
    }
    if (n > 1) sort_small(keys, n);
}

template <class K> void select_key(K* keys, K* tmp, std::int64_t n, std::int64_t kth) {
    for (int depth = 2 * std::bit_width(static_cast<std::uint64_t>(n)); n > network_limit<K>; --depth) {
        if (depth == 0) return radix::sort_serial<K, radix::Nothing>(keys, tmp, nullptr, nullptr, n);
        const K pivot = choose_pivot(keys, n);
        std::int64_t below = partition_keys<false>(keys, tmp, n, pivot);
        if (below == 0) {
            below = partition_keys<true>(keys, tmp, n, pivot);
            if (kth < below) return;
        }
        if (kth < below) {
            n = below;
        } else {
            keys += below;
            n -= below;
            kth -= below;
        }
    }
    if (n > 1) sort_small(keys, n);
}

}  // namespace

bool available() noexcept { return host_simd() == Simd::Avx512; }
void select(std::uint32_t* keys, std::uint32_t* tmp, std::int64_t n, std::int64_t kth) { select_key(keys, tmp, n, kth); }
void select(std::uint64_t* keys, std::uint64_t* tmp, std::int64_t n, std::int64_t kth) { select_key(keys, tmp, n, kth); }
void sort(std::uint32_t* keys, std::uint32_t* tmp, std::int64_t n) {
    sort_keys(keys, tmp, n, 2 * std::bit_width(static_cast<std::uint64_t>(n)));
}
void sort(std::uint64_t* keys, std::uint64_t* tmp, std::int64_t n) {
    sort_keys(keys, tmp, n, 2 * std::bit_width(static_cast<std::uint64_t>(n)));
}
std::int64_t partition(std::uint32_t* keys, std::uint32_t* tmp, std::int64_t n, std::uint32_t pivot) {
    return partition_keys<false>(keys, tmp, n, pivot);
}
std::int64_t partition(std::uint64_t* keys, std::uint64_t* tmp, std::int64_t n, std::uint64_t pivot) {
    return partition_keys<false>(keys, tmp, n, pivot);
}

}  // namespace pardo::routines::quicksort

#pragma GCC pop_options

#else

namespace pardo::routines::quicksort {

bool available() noexcept { return false; }
void select(std::uint32_t* keys, std::uint32_t*, std::int64_t n, std::int64_t kth) { std::nth_element(keys, keys + kth, keys + n); }
void select(std::uint64_t* keys, std::uint64_t*, std::int64_t n, std::int64_t kth) { std::nth_element(keys, keys + kth, keys + n); }
void sort(std::uint32_t* keys, std::uint32_t* tmp, std::int64_t n) {
    radix::sort_serial<std::uint32_t, radix::Nothing>(keys, tmp, nullptr, nullptr, n);
}
void sort(std::uint64_t* keys, std::uint64_t* tmp, std::int64_t n) {
    radix::sort_serial<std::uint64_t, radix::Nothing>(keys, tmp, nullptr, nullptr, n);
}

namespace {
template <class K> std::int64_t partition_keys(K* keys, K* tmp, std::int64_t n, K pivot) {
    std::int64_t low = 0, high = 0;
    for (std::int64_t i = 0; i < n; ++i) (keys[i] < pivot ? keys[low++] : tmp[high++]) = keys[i];
    std::memcpy(keys + low, tmp, static_cast<std::size_t>(high) * sizeof(K));
    return low;
}
}  // namespace
std::int64_t partition(std::uint32_t* keys, std::uint32_t* tmp, std::int64_t n, std::uint32_t pivot) {
    return partition_keys(keys, tmp, n, pivot);
}
std::int64_t partition(std::uint64_t* keys, std::uint64_t* tmp, std::int64_t n, std::uint64_t pivot) {
    return partition_keys(keys, tmp, n, pivot);
}

}  // namespace pardo::routines::quicksort

#endif
