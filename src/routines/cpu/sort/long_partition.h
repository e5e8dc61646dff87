// src/routines/cpu/sort/long_partition.h: partition and argpartition of one long line by all threads.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "routines/cpu/sort/brackets.h"
#include "routines/cpu/task.h"

namespace pardo::routines {

/// A key and where it came from.
template <class K> struct Entry {
    K key;
    std::int64_t position;
};
/// By key, then by position: the order of a stable sort.
template <class K> bool entry_before(const Entry<K>& a, const Entry<K>& b) {
    if (before(a.key, b.key)) return true;
    return !before(b.key, a.key) && a.position < b.position;
}

/// f(first, k) places element k of what begins at `first`, for each of some places, which ascend, in a line that begins at place `start`.
template <class F> void for_each_place(std::span<const std::int64_t> places, std::int64_t start, const F& f) {
    std::int64_t done = 0;  // everything before is in place
    for (const std::int64_t place : places) {
        const std::int64_t k = place - start;
        if (k < done) continue;
        f(done, k - done);
        done = k + 1;
    }
}

/// A sample gives brackets, which cut the keys into classes: below the first one, in it, between it and the second one, and so on. Parts of
/// the line are put in the order of classes, one part after the other for each class; of what lies in a bracket elements are then selected
/// as of a short line. Both functions give false, with nothing done, where the sample was wrong.
template <class K> class LongPartition {
public:
    /// The length from which on it is worth it, and the most elements to place.
    static constexpr std::int64_t least_length = 131072;
    static constexpr std::size_t most_places = 8;

    LongPartition(device::Device* device, const Bits<K>& bits, const K* in, std::int64_t n, std::span<const std::int64_t> kth, double cost)
        : device_(device), bits_(bits), in_(in), n_(n), kth_(kth), cost_(cost), parts_((n + part_size - 1) / part_size) {}

    /// `keys` has room for 2 n. Needs quicksort::available().
    bool values(K* keys, K* out) {
        prepare(bits_.encode);
        each_part([&](std::int64_t part, std::int64_t begin, std::int64_t count) {
            K *rest = keys + begin, *tmp = keys + n_ + begin;
            bits_.encode(in_ + begin, rest, count, false);
            std::int64_t* counts = counts_of(part);
            const auto take = [&](std::int64_t taken) {
                *counts++ = taken;
                rest += taken;
                count -= taken;
            };
            for (const Bracket<K>& b : brackets_) {
                take(quicksort::partition(rest, tmp, count, b.low));
                take(b.high == std::numeric_limits<K>::max() ? count : quicksort::partition(rest, tmp, count, static_cast<K>(b.high + 1)));
            }
            take(count);
        });
        std::vector<std::int64_t> sizes(counts_);
        if (!make_starts()) return false;
        each_part([&](std::int64_t part, std::int64_t begin, std::int64_t) {
            const K* run = keys + begin;
            for (std::size_t c = 0; c < classes(); ++c) {
                const std::int64_t size = sizes[static_cast<std::size_t>(part) * classes() + c], to = counts_of(part)[c];
                if (c % 2 == 0)
                    bits_.decode(run, out + to, size, false);
                else
                    std::copy_n(run, size, keys + n_ + to);
                run += size;
            }
        });
        each_bracket([&](const Bracket<K>& b, std::int64_t start, std::int64_t size) {
            K *inside = keys + n_ + start, *tmp = keys + start;
            if (b.low != b.high)
                for_each_place(places_of(b), start,
                               [&](std::int64_t first, std::int64_t k) { select(inside + first, tmp + first, size - first, k); });
            bits_.decode(inside, out + start, size, false);
        });
        return true;
    }

    bool indices(std::int64_t* out) {
        prepare(bits_.rank);
        each_part([&](std::int64_t part, std::int64_t begin, std::int64_t count) {
            std::int64_t* counts = counts_of(part);
            each_class(begin, count, [=](std::size_t c, std::int64_t) { ++counts[c]; });
        });
        if (!make_starts()) return false;
        each_part([&](std::int64_t part, std::int64_t begin, std::int64_t count) {
            std::int64_t* places = counts_of(part);
            each_class(begin, count, [=](std::size_t c, std::int64_t position) { out[places[c]++] = position; });
        });
        each_bracket([&](const Bracket<K>& b, std::int64_t start, std::int64_t size) {
            std::vector<Entry<K>> entries(static_cast<std::size_t>(size));
            for (std::int64_t i = 0; i < size; ++i) {
                Entry<K>& entry = entries[static_cast<std::size_t>(i)];
                entry.position = out[start + i];
                bits_.rank(in_ + entry.position, &entry.key, 1, false);
            }
            const auto at = [&](std::int64_t i) { return entries.begin() + static_cast<std::ptrdiff_t>(i); };
            for_each_place(places_of(b), start, [&](std::int64_t first, std::int64_t k) {
                std::nth_element(at(first), at(first + k), entries.end(), entry_before<K>);
            });
            for (std::int64_t i = 0; i < size; ++i) out[start + i] = entries[static_cast<std::size_t>(i)].position;
        });
        return true;
    }

private:
    static constexpr std::int64_t part_size = 65536;

    std::size_t classes() const { return 2 * brackets_.size() + 1; }
    std::int64_t* counts_of(std::int64_t part) { return counts_.data() + static_cast<std::size_t>(part) * classes(); }

    void prepare(void (*encode)(const K*, K*, std::int64_t, bool)) {
        brackets_ = find_brackets(in_, n_, kth_, encode);
        counts_.assign(static_cast<std::size_t>(parts_) * classes(), 0);
    }
    /// f(part, begin, count) by the threads.
    template <class F> void each_part(const F& f) {
        for_each_near_part(device_, parts_, cost_, [&](std::int64_t part) {
            const std::int64_t begin = part * part_size;
            f(part, begin, std::min(part_size, n_ - begin));
        });
    }
    /// f(class, position) for the elements of a part, in order.
    template <class F> void each_class(std::int64_t begin, std::int64_t count, const F& f) const {
        constexpr std::int64_t chunk = 1024;
        K keys[chunk];
        for (std::int64_t first = begin; first < begin + count; first += chunk) {
            const std::int64_t length = std::min(chunk, begin + count - first);
            bits_.rank(in_ + first, keys, length, false);
            for (std::int64_t i = 0; i < length; ++i) {
                std::size_t c = 0;
                for (const Bracket<K>& b : brackets_) c += std::size_t{keys[i] >= b.low} + std::size_t{keys[i] > b.high};
                f(c, first + i);
            }
        }
    }
    /// Of the numbers of elements in the classes of each part: where these begin. False if a bracket has not what it was made for.
    bool make_starts() {
        starts_.assign(classes() + 1, 0);
        std::int64_t start = 0;
        for (std::size_t c = 0; c < classes(); ++c) {
            starts_[c] = start;
            for (std::int64_t part = 0; part < parts_; ++part) start += std::exchange(counts_of(part)[c], start);
        }
        starts_[classes()] = start;
        for (std::size_t b = 0; b < brackets_.size(); ++b) {
            const Bracket<K>& bracket = brackets_[b];
            if (kth_[bracket.first_rank] < starts_[2 * b + 1] || kth_[bracket.first_rank + bracket.ranks - 1] >= starts_[2 * b + 2])
                return false;
        }
        return true;
    }
    /// f(bracket, start, size) by the threads.
    template <class F> void each_bracket(const F& f) {
        for_each_part(device_, static_cast<std::int64_t>(brackets_.size()), cost_, [&](std::int64_t i) {
            const auto b = static_cast<std::size_t>(i);
            f(brackets_[b], starts_[2 * b + 1], starts_[2 * b + 2] - starts_[2 * b + 1]);
        });
    }
    std::span<const std::int64_t> places_of(const Bracket<K>& b) const { return kth_.subspan(b.first_rank, b.ranks); }

    device::Device* device_;
    Bits<K> bits_;
    const K* in_;
    std::int64_t n_;
    std::span<const std::int64_t> kth_;
    double cost_;
    std::int64_t parts_;
    std::vector<Bracket<K>> brackets_;
    std::vector<std::int64_t> counts_;  // of a part's elements in each class; then where they go
    std::vector<std::int64_t> starts_;  // of the classes
};

}  // namespace pardo::routines
