// src/lib/cpu_radix.h: stable radix sort of unsigned keys, alone or with positions, on one thread or on all.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

#include "lib/cpu_task.h"

namespace pardo::lib::radix {

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

/// Where keys come from, and the first array of positions: `load(i)` gives key i.
/// Where the last pass puts them: `store(position, key, payload)`.

/// Plain scatter of one part; for what fits the caches.
template <class K, class P, class Load, class Position, class Store>
[[gnu::always_inline]] inline void scatter_part(std::int64_t begin, std::int64_t end, Digit digit, std::int64_t* next, Load&& load,
                                                Position&& position, Store&& store) {
    for (std::int64_t i = begin; i < end; ++i) {
        const K key = load(i);
        store(next[digit_of(key, digit)]++, key, position(i));
    }
}

/// Scatter through one cache line a bucket, which goes to memory when it is full: memory sees whole lines only.
template <class K, class P> class LineBuffers {
public:
    static constexpr int capacity = 64 / static_cast<int>(sizeof(K));

    explicit LineBuffers(int buckets)
        : keys_(std::make_unique<Line[]>(static_cast<std::size_t>(buckets))), start_(static_cast<std::size_t>(buckets)), buckets_(buckets) {
        if constexpr (has_payload<P>) payload_ = std::make_unique<std::array<P, capacity>[]>(static_cast<std::size_t>(buckets));
    }

    template <class Load, class Position, class FlushLine, class StoreOne>
    [[gnu::always_inline]] void scatter(std::int64_t begin, std::int64_t end, Digit digit, std::int64_t* next, Load&& load,
                                        Position&& position, FlushLine&& flush, StoreOne&& store_one) {
        for (int d = 0; d < buckets_; ++d) start_[static_cast<std::size_t>(d)] = next[d];
        for (std::int64_t i = begin; i < end; ++i) {
            const K key = load(i);
            const std::uint32_t d = digit_of(key, digit);
            const std::int64_t to = next[d]++;
            const int slot = static_cast<int>(to & (capacity - 1));
            keys_[d].values[slot] = key;
            if constexpr (has_payload<P>) payload_[d][static_cast<std::size_t>(slot)] = position(i);
            if (slot == capacity - 1) {
                const std::int64_t line = to - (capacity - 1);
                if (line >= start_[d]) [[likely]]
                    flush(line, keys_[d].values, payload(d));
                else
                    drain(d, start_[d], to + 1, store_one);
            }
        }
        for (int d = 0; d < buckets_; ++d) {
            const std::int64_t stop = next[d], line = stop & ~static_cast<std::int64_t>(capacity - 1);
            drain(static_cast<std::uint32_t>(d), std::max(line, start_[static_cast<std::size_t>(d)]), stop, store_one);
        }
    }

private:
    struct alignas(64) Line {
        K values[capacity];
    };
    const P* payload(std::uint32_t d) const {
        if constexpr (has_payload<P>)
            return payload_[d].data();
        else
            return nullptr;
    }
    template <class StoreOne> void drain(std::uint32_t d, std::int64_t from, std::int64_t stop, StoreOne&& store_one) {
        for (std::int64_t i = from; i < stop; ++i) {
            const auto slot = static_cast<std::size_t>(i & (capacity - 1));
            if constexpr (has_payload<P>)
                store_one(i, keys_[d].values[slot], payload_[d][slot]);
            else
                store_one(i, keys_[d].values[slot], P());
        }
    }

    std::unique_ptr<Line[]> keys_;
    std::unique_ptr<std::array<P, capacity>[]> payload_;
    std::vector<std::int64_t> start_;
    int buckets_;
};

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

    // One pass: `source(i)` and `position(i)` give what lies at i; `flush` and `one` put a line or an element to its place.
    const auto pass = [&](Digit digit, auto&& source, auto&& position, auto&& flush, auto&& one) {
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
            LineBuffers<K, P> buffers(buckets);
            buffers.scatter(bounds(t), bounds(t + 1), digit, next_of(t), source, position, flush, one);
        });
    };

    constexpr int line = LineBuffers<K, P>::capacity;
    for (int p = 0; p < passes; ++p) {
        const K* keys = scratch.keys[(p + 1) & 1];
        const P* payload = scratch.payload[(p + 1) & 1];
        K* to = scratch.keys[p & 1];
        P* to_payload = scratch.payload[p & 1];
        const auto inner_flush = [=](std::int64_t at, const K* values, const P* positions) {
            std::memcpy(to + at, values, sizeof(K) * line);
            if constexpr (has_payload<P>) std::memcpy(to_payload + at, positions, sizeof(P) * line);
        };
        const auto inner_one = [=](std::int64_t at, K key, P position) {
            to[at] = key;
            if constexpr (has_payload<P>) to_payload[at] = position;
        };
        const auto last_flush = [&](std::int64_t at, const K* values, const P* positions) {
            for (int k = 0; k < line; ++k) {
                if constexpr (has_payload<P>)
                    store(at + k, values[k], positions[k]);
                else
                    store(at + k, values[k], P());
            }
        };
        const auto key_at = [=](std::int64_t i) { return keys[i]; };
        const auto payload_at = [=](std::int64_t i) {
            if constexpr (has_payload<P>)
                return payload[i];
            else
                return P();
        };
        const auto own_position = [](std::int64_t i) {
            if constexpr (has_payload<P>)
                return static_cast<P>(i);
            else
                return P();
        };
        const bool last = p == passes - 1;
        if (p == 0 && last)
            pass(digits[p], load, own_position, last_flush, store);
        else if (p == 0)
            pass(digits[p], load, own_position, inner_flush, inner_one);
        else if (last)
            pass(digits[p], key_at, payload_at, last_flush, store);
        else
            pass(digits[p], key_at, payload_at, inner_flush, inner_one);
    }
}

}  // namespace pardo::lib::radix
