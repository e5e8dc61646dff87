// src/routines/cpu/sort/radix.h: stable radix sort of unsigned keys, alone or with positions, on one thread or on all.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "routines/cpu/task.h"

namespace pardo::routines::radix {

/// Stands for "no positions".
struct Nothing {};
template <class P> inline constexpr bool has_payload = !std::is_same_v<P, Nothing>;

/// One pass: the bits [shift, shift + bits) of a key.
struct Digit {
    int shift, bits;
};

/// The passes that tell keys apart which differ in the bits of `varying` only; the fewest, of even width.
template <class K> inline SmallVector<Digit, 16> plan_digits(K varying, int widest) {
    SmallVector<Digit, 16> digits;
    auto rest = static_cast<std::uint64_t>(varying);
    int low = 0;
    while (rest) {
        const int skip = std::countr_zero(rest);
        rest >>= skip;
        low += skip;
        const int left = std::bit_width(rest), passes = (left + widest - 1) / widest, bits = (left + passes - 1) / passes;
        digits.push_back({low, bits});
        low += bits;
        rest = bits < 64 ? rest >> bits : 0;
    }
    return digits;
}

template <class K> inline std::uint32_t digit_of(K key, Digit d) {
    return static_cast<std::uint32_t>(key >> d.shift) & ((1u << d.bits) - 1);
}

/// Sorts keys in place on one thread, `tmp` as large. With positions: `payload` follows its keys, `payload_tmp` as large.
template <class K, class P> void sort_serial(K* keys, K* tmp, P* payload, P* payload_tmp, std::int64_t n) {
    K varying = 0;
    for (std::int64_t i = 1; i < n; ++i) varying = static_cast<K>(varying | (keys[i] ^ keys[0]));
    const auto digits = plan_digits<K>(varying, 8);
    const int passes = digits.size();
    if (passes == 0) return;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(passes) * 256, 0);
    for (int p = 0; p < passes; ++p) {
        std::int64_t* count = counts.data() + p * 256;
        const Digit digit = digits[p];
        for (std::int64_t i = 0; i < n; ++i) ++count[digit_of(keys[i], digit)];
    }
    K *from = keys, *to = tmp;
    P *from_payload = payload, *to_payload = payload_tmp;
    for (int p = 0; p < passes; ++p) {
        std::int64_t* next = counts.data() + p * 256;
        std::int64_t sum = 0;
        for (int d = 0; d < 256; ++d) sum += std::exchange(next[d], sum);
        const Digit digit = digits[p];
        for (std::int64_t i = 0; i < n; ++i) {
            const K key = from[i];
            const std::int64_t at = next[digit_of(key, digit)]++;
            to[at] = key;
            if constexpr (has_payload<P>) to_payload[at] = from_payload[i];
        }
        std::swap(from, to);
        std::swap(from_payload, to_payload);
    }
    if (from != keys) {
        std::copy_n(from, n, keys);
        if constexpr (has_payload<P>) std::copy_n(from_payload, n, payload);
    }
}

/// Memory of sort_parallel: two arrays of keys, two of positions.
template <class K, class P> struct Scratch {
    K* keys[2];
    P* payload[2];
};

/// Stable sort of load(0), …, load(n - 1) on all threads of the device; `store(position, key, first_position)` gets each once, from any
/// thread. The positions are made here: 0, 1, ….
template <class K, class P, class Load, class Store>
void sort_parallel(device::Device* device, std::int64_t n, Scratch<K, P> scratch, int widest, Load&& load, Store&& store) {
    const int threads = cpu::thread_count(device);
    const double cost = static_cast<double>(n) * 4;
    const auto bounds = [=](std::int64_t part) { return n * part / threads; };
    std::vector<K> differ(static_cast<std::size_t>(threads), 0);
    const K sample = load(0);
    for_each_part(device, threads, cost, [&](std::int64_t t) {
        K bits = 0;
        for (std::int64_t i = bounds(t), end = bounds(t + 1); i < end; ++i) bits = static_cast<K>(bits | (load(i) ^ sample));
        differ[static_cast<std::size_t>(t)] = bits;
    });
    K varying = 0;
    for (const K bits : differ) varying = static_cast<K>(varying | bits);
    const auto digits = plan_digits<K>(varying, widest);
    const int passes = digits.size();
    if (passes == 0) {
        for_each_part(device, threads, cost, [&](std::int64_t t) {
            for (std::int64_t i = bounds(t), end = bounds(t + 1); i < end; ++i) {
                if constexpr (has_payload<P>)
                    store(i, load(i), static_cast<P>(i));
                else
                    store(i, load(i), P());
            }
        });
        return;
    }
    const int radix = 1 << widest;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(threads) * static_cast<std::size_t>(radix));
    const auto next_of = [&](std::int64_t t) { return counts.data() + t * radix; };

    // One pass: `source(i)` and `position(i)` give what lies at i, `put` takes it to its place. Elements go straight there: collecting a
    // cache line for each bucket first was tried, and is 40 % slower where the allocator's huge pages spare the TLB.
    const auto pass = [&](Digit digit, auto&& source, auto&& position, auto&& put) {
        const int buckets = 1 << digit.bits;
        for_each_part(device, threads, cost, [&](std::int64_t t) {
            std::int64_t* count = next_of(t);
            std::fill_n(count, buckets, 0);
            for (std::int64_t i = bounds(t), end = bounds(t + 1); i < end; ++i) ++count[digit_of(source(i), digit)];
        });
        std::int64_t sum = 0;
        for (int d = 0; d < buckets; ++d) {
            for (int t = 0; t < threads; ++t) sum += std::exchange(next_of(t)[d], sum);
        }
        for_each_part(device, threads, cost, [&](std::int64_t t) {
            std::int64_t* next = next_of(t);
            for (std::int64_t i = bounds(t), end = bounds(t + 1); i < end; ++i) {
                const K key = source(i);
                put(next[digit_of(key, digit)]++, key, position(i));
            }
        });
    };

    const auto own_position = [](std::int64_t i) {
        if constexpr (has_payload<P>)
            return static_cast<P>(i);
        else
            return P();
    };
    for (int p = 0; p < passes; ++p) {
        const K* keys = scratch.keys[(p + 1) & 1];
        const P* payload = scratch.payload[(p + 1) & 1];
        K* to = scratch.keys[p & 1];
        P* to_payload = scratch.payload[p & 1];
        const auto put = [=](std::int64_t at, K key, P position) {
            to[at] = key;
            if constexpr (has_payload<P>) to_payload[at] = position;
        };
        const auto key_at = [=](std::int64_t i) { return keys[i]; };
        const auto payload_at = [=](std::int64_t i) {
            if constexpr (has_payload<P>)
                return payload[i];
            else
                return P();
        };
        const bool last = p == passes - 1;
        if (p == 0 && last)
            pass(digits[p], load, own_position, store);
        else if (p == 0)
            pass(digits[p], load, own_position, put);
        else if (last)
            pass(digits[p], key_at, payload_at, store);
        else
            pass(digits[p], key_at, payload_at, put);
    }
}

}  // namespace pardo::routines::radix
