// src/routines/cpu/sort/real.h: real elements: vectorised quicksort or radix sort of keys. For the files that compile sort_lines.
#pragma once

#include <vector>

#include "routines/cpu/keys.h"
#include "routines/cpu/sort/quicksort.h"
#include "routines/cpu/sort/radix.h"
#include "routines/cpu/sort/sort.h"

namespace pardo::routines {

template <class K> inline constexpr bool has_quicksort = sizeof(K) >= 4;

/// Sorted keys have one order for zeros, and the elements have none: both signs stay as they were, like all that is equal.
template <class T> void keep_zeros_in_order(const T* in, T* values, std::int64_t n, bool descending) {
    if constexpr (NarrowFloat<T> || std::is_floating_point_v<T>) {
        constexpr KeyOf<T> last = Codec<T>::sign, first = static_cast<KeyOf<T>>(~Codec<T>::sign);  // of zeros, whatever the direction
        const auto key = [=](T value) { return Codec<T>::reversed(Codec<T>::encode(value), descending); };
        T* const begin = std::partition_point(values, values + n, [=](T value) { return key(value) < first; });
        if (begin == values + n || key(*begin) != first) return;
        T* const end = std::partition_point(begin, values + n, [=](T value) { return key(value) <= last; });
        if (key(end[-1]) == first) return;
        for (T* to = begin; to < end; ++in) {
            if (Codec<T>::rank(*in) == Codec<T>::sign) *to++ = *in;
        }
    }
}

// ---- one line on one thread -----------------------------------------------------------------------------------------------------------

/// Values of a line of real elements; keeps its scratch memory from line to line.
template <class T> class ValueLine {
public:
    using K = KeyOf<T>;
    ValueLine(std::int64_t n, bool descending) : n_(n), descending_(descending), keys_(new K[static_cast<std::size_t>(2 * n)]) {}
    void operator()(const T* in, T* values, std::int64_t*) {
        K* keys = keys_.get();
        encode_all(in, keys, n_, descending_);
        sort_keys(keys, keys + n_, n_);
        decode_all(keys, values, n_, descending_);
        keep_zeros_in_order(in, values, n_, descending_);
    }

private:
    static void sort_keys(K* keys, K* tmp, std::int64_t n) {
        if constexpr (has_quicksort<K>) {
            if (quicksort::available()) return quicksort::sort(keys, tmp, n);
        }
        if (n < 200) return std::sort(keys, keys + n);
        radix::sort_serial<K, radix::Nothing>(keys, tmp, nullptr, nullptr, n);
    }
    std::int64_t n_;
    bool descending_;
    std::unique_ptr<K[]> keys_;
};

/// Positions of a line of real elements.
template <class T, class P> class IndexLine {
public:
    using K = KeyOf<T>;
    IndexLine(std::int64_t n, bool descending)
        : n_(n),
          descending_(descending),
          keys_(new K[static_cast<std::size_t>(2 * n)]),
          positions_(new P[static_cast<std::size_t>(2 * n)]) {}
    void operator()(const T* in, T*, std::int64_t* indices) {
        K* keys = keys_.get();
        P* positions = positions_.get();
        for (std::int64_t i = 0; i < n_; ++i) {
            keys[i] = Codec<T>::reversed(Codec<T>::rank(in[i]), descending_);
            positions[i] = static_cast<P>(i);
        }
        if (n_ <= 48)
            insertion_sort(keys, positions);
        else
            radix::sort_serial<K, P>(keys, keys + n_, positions, positions + n_, n_);
        for (std::int64_t i = 0; i < n_; ++i) indices[i] = static_cast<std::int64_t>(positions[i]);
    }

private:
    void insertion_sort(K* keys, P* positions) const {
        for (std::int64_t i = 1; i < n_; ++i) {
            const K key = keys[i];
            const P position = positions[i];
            std::int64_t j = i;
            for (; j > 0 && key < keys[j - 1]; --j) {
                keys[j] = keys[j - 1];
                positions[j] = positions[j - 1];
            }
            keys[j] = key;
            positions[j] = position;
        }
    }
    std::int64_t n_;
    bool descending_;
    std::unique_ptr<K[]> keys_;
    std::unique_ptr<P[]> positions_;
};

// ---- one long line of real elements on all threads --------------------------------------------------------------------------------------

/// Elements that are cut into buckets at a time; with the copy they are moved through, they stay in a core's L2 cache.
constexpr std::int64_t sample_chunk = 65536;

/// Cuts keys[0, n) at splitters[first .. last - 1) in place, recursively, and counts what is between them.
template <class K> void cut(K* keys, K* tmp, std::int64_t n, const K* splitters, std::int64_t* counts, int first, int last) {
    if (last - first == 1) {
        counts[first] = n;
        return;
    }
    const int middle = (first + last) / 2;
    const std::int64_t below = n == 0 ? 0 : quicksort::partition(keys, tmp, n, splitters[middle - 1]);
    cut(keys, tmp, below, splitters, counts, first, middle);
    cut(keys + below, tmp, n - below, splitters, counts, middle, last);
}

/// Sample sort: chunks are cut into buckets in cache, buckets are collected into their places of the result and sorted there.
template <class T>
void sort_samples(device::Device* device, const T* x, T* out, std::int64_t n, bool descending, KeyOf<T>* keys, double cost) {
    using K = KeyOf<T>;
    const int buckets =
        static_cast<int>(std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n / 65536))), 2, 256));
    const std::int64_t chunks = (n + sample_chunk - 1) / sample_chunk;
    const auto encode = [=](T value) { return Codec<T>::reversed(Codec<T>::encode(value), descending); };

    constexpr std::int64_t oversampling = 32;
    const std::int64_t samples = oversampling * buckets;
    std::vector<K> sample(static_cast<std::size_t>(samples)), sample_tmp(sample.size());
    std::uint64_t state = 0x9e3779b97f4a7c15u;
    for (K& key : sample) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        key = encode(x[static_cast<std::int64_t>((state >> 20) % static_cast<std::uint64_t>(n))]);
    }
    quicksort::sort(sample.data(), sample_tmp.data(), samples);
    std::vector<K> splitters;
    for (int b = 1; b < buckets; ++b) splitters.push_back(sample[static_cast<std::size_t>(b * oversampling)]);

    std::vector<std::int64_t> counts(static_cast<std::size_t>(chunks * buckets));
    for_each_part_with(
        device, chunks, cost, [] { return std::unique_ptr<K[]>(new K[sample_chunk]); },
        [&](auto& tmp, std::int64_t c) {
            const std::int64_t begin = c * sample_chunk, count = std::min(sample_chunk, n - begin);
            encode_all(x + begin, keys + begin, count, descending);
            cut(keys + begin, tmp.get(), count, splitters.data(), counts.data() + c * buckets, 0, buckets);
        });

    std::vector<std::int64_t> start(static_cast<std::size_t>(buckets + 1), 0);
    std::vector<std::int64_t> piece(counts.size());  // where each chunk's part of each bucket starts in `keys`
    std::int64_t largest = 0;
    for (std::int64_t c = 0; c < chunks; ++c) {
        std::int64_t at = c * sample_chunk;
        for (int b = 0; b < buckets; ++b) {
            const auto k = static_cast<std::size_t>(c * buckets + b);
            piece[k] = at;
            at += counts[k];
            start[static_cast<std::size_t>(b) + 1] += counts[k];
        }
    }
    for (int b = 0; b < buckets; ++b) {
        const auto k = static_cast<std::size_t>(b);
        largest = std::max(largest, start[k + 1]);
        start[k + 1] += start[k];
    }
    const auto make_tmp = [=] { return std::unique_ptr<K[]>(new K[static_cast<std::size_t>(largest)]); };
    for_each_part_with(device, buckets, cost, make_tmp, [&](auto& tmp, std::int64_t b) {
        // The result's own memory holds the keys until they are decoded.
        K* bucket = reinterpret_cast<K*>(out) + start[static_cast<std::size_t>(b)];
        std::int64_t size = 0;
        for (std::int64_t c = 0; c < chunks; ++c) {
            const auto k = static_cast<std::size_t>(c * buckets + b);
            std::memcpy(bucket + size, keys + piece[k], static_cast<std::size_t>(counts[k]) * sizeof(K));
            size += counts[k];
        }
        quicksort::sort(bucket, tmp.get(), size);
        decode_all(bucket, reinterpret_cast<T*>(bucket), size, descending);
    });
}

/// Widest digit of the parallel radix sort: wide ones save passes, as long as the counters stay in the L1 cache.
template <class K> constexpr int widest_digit = sizeof(K) == 1 ? 8 : 11;

template <class T, class P>
void argsort_parallel(device::Device* device, const T* x, std::int64_t* indices, std::int64_t n, bool descending, char* scratch) {
    using K = KeyOf<T>;
    auto* keys = reinterpret_cast<K*>(scratch);
    auto* positions = reinterpret_cast<P*>(scratch + argsort_positions(n, sizeof(K)));
    radix::sort_parallel<K, P>(
        device, n, {{keys, keys + n}, {positions, positions + n}}, widest_digit<K>,
        [=](std::int64_t i) { return Codec<T>::reversed(Codec<T>::rank(x[i]), descending); },
        [=](std::int64_t at, K, P position) { indices[at] = static_cast<std::int64_t>(position); });
}

template <class T>
void sort_parallel(device::Device* device, const T* x, T* values, std::int64_t n, bool descending, char* scratch, double cost) {
    using K = KeyOf<T>;
    auto* keys = reinterpret_cast<K*>(scratch);
    if constexpr (has_quicksort<K>) {
        if (quicksort::available()) return sort_samples(device, x, values, n, descending, keys, cost);
    }
    radix::sort_parallel<K, radix::Nothing>(
        device, n, {{keys, keys + n}, {nullptr, nullptr}}, widest_digit<K>,
        [=](std::int64_t i) { return Codec<T>::reversed(Codec<T>::encode(x[i]), descending); },
        [=](std::int64_t at, K key, radix::Nothing) { values[at] = Codec<T>::decode(Codec<T>::reversed(key, descending)); });
}

// ---- all lines ------------------------------------------------------------------------------------------------------------------------

template <class T>
void sort_lines(device::Device* device, const T* x, T* values, std::int64_t* indices, Lines lines, bool descending, char* scratch,
                double cost) {
    const std::int64_t n = lines.length;
    const bool small_positions = has_small_positions(n);
    if (scratch) {
        for (std::int64_t o = 0; o < lines.outer; ++o) {
            if (values) {
                sort_parallel(device, x + o * n, values + o * n, n, descending, scratch, cost);
                keep_zeros_in_order(x + o * n, values + o * n, n, descending);
            }
            if (!indices) continue;
            if (small_positions)
                argsort_parallel<T, std::uint32_t>(device, x + o * n, indices + o * n, n, descending, scratch);
            else
                argsort_parallel<T, std::uint64_t>(device, x + o * n, indices + o * n, n, descending, scratch);
        }
        return;
    }
    if (values) for_each_line(device, x, values, nullptr, lines, n, cost, [=] { return ValueLine<T>(n, descending); });
    if (!indices) return;
    if (small_positions)
        for_each_line<T>(device, x, nullptr, indices, lines, n, cost, [=] { return IndexLine<T, std::uint32_t>(n, descending); });
    else
        for_each_line<T>(device, x, nullptr, indices, lines, n, cost, [=] { return IndexLine<T, std::uint64_t>(n, descending); });
}

}  // namespace pardo::routines
