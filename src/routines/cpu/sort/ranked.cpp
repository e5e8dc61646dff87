// src/routines/cpu/sort/ranked.cpp: the elements that sorting would put at a few positions, on the CPU, without moving the others.
#include <vector>

#include "routines/cpu/sort/brackets.h"
#include "routines/memory.h"
#include "routines/routines.h"

namespace pardo::routines {

namespace {

/// Writes the keys of the given ranks among keys[0, n), which it moves; `tmp` has room for n.
template <class K, class F> void select_all(K* keys, K* tmp, std::int64_t n, std::span<const std::int64_t> ranks, const F& found) {
    std::int64_t done = 0;  // everything before is in place
    for (const std::int64_t rank : ranks) {
        if (rank == n - 1 || rank == done) {
            // The greatest or the least of the rest.
            std::int64_t best = done;
            for (std::int64_t i = done + 1; i < n; ++i) {
                if (rank == done ? before(keys[i], keys[best]) : before(keys[best], keys[i])) best = i;
            }
            std::swap(keys[best], keys[rank]);
        } else {
            select(keys + done, tmp, n - done, rank - done);
        }
        found(keys[rank]);
        done = rank + 1;
    }
}

template <class K> class RankedLine {
public:
    RankedLine(const Bits<K>& bits, std::int64_t n, std::span<const std::int64_t> ranks)
        : bits_(bits), n_(n), ranks_(ranks), keys_(static_cast<std::size_t>(2 * n)) {}
    void operator()(const K* in, K* out, std::int64_t*) {
        K *keys = keys_.data(), *to = out;
        bits_.encode(in, keys, n_, false);
        select_all(keys, keys + n_, n_, ranks_, [&](const K& key) { *to++ = key; });
        bits_.decode(out, out, to - out, false);
    }

private:
    Bits<K> bits_;
    std::int64_t n_;
    std::span<const std::int64_t> ranks_;
    std::vector<K> keys_;
};

/// What one pass over all keys finds in a bracket.
template <class K> struct Searched : Bracket<K> {
    std::int64_t below = 0, inside = 0;
    std::vector<std::vector<K>> parts{};  // of the keys inside, unless low is high
};

/// One long line: a sample says between which keys the elements lie, a pass by all threads counts what is below and collects what is
/// between. False where the sample was wrong.
template <class K> class LongLine {
public:
    LongLine(device::Device* device, const Bits<K>& bits, const K* in, std::int64_t n, std::span<const std::int64_t> ranks, double cost)
        : device_(device), bits_(bits), in_(in), n_(n), ranks_(ranks), cost_(cost) {}

    bool run(K* out) {
        for (const Bracket<K>& b : find_brackets(in_, n_, ranks_, bits_.encode)) brackets_.push_back({b});
        const std::int64_t parts = std::min<std::int64_t>((n_ + part_size - 1) / part_size, 256);
        for (Searched<K>& b : brackets_) b.parts.resize(static_cast<std::size_t>(parts));
        std::vector<std::int64_t> counts(static_cast<std::size_t>(parts) * brackets_.size() * 2);
        for_each_part(device_, parts, cost_, [&](std::int64_t part) {
            look_through(n_ * part / parts, n_ * (part + 1) / parts, static_cast<std::size_t>(part),
                         counts.data() + static_cast<std::size_t>(part) * brackets_.size() * 2);
        });
        for (std::size_t i = 0; i < counts.size(); i += 2) {
            brackets_[i / 2 % brackets_.size()].below += counts[i];
            brackets_[i / 2 % brackets_.size()].inside += counts[i + 1];
        }
        for (Searched<K>& b : brackets_) {
            if (ranks_[b.first_rank] < b.below || ranks_[b.first_rank + b.ranks - 1] >= b.below + b.inside) return false;
        }
        for_each_part(device_, static_cast<std::int64_t>(brackets_.size()), cost_,
                      [&](std::int64_t i) { choose(brackets_[static_cast<std::size_t>(i)], out); });
        bits_.decode(out, out, static_cast<std::int64_t>(ranks_.size()), false);
        return true;
    }

private:
    static constexpr std::int64_t part_size = 65536, chunk = 1024;

    static PARDO_CLONES void count(const K* keys, std::int64_t n, K low, K high, std::int64_t& below, std::int64_t& inside) {
        std::int64_t less = 0, within = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            less += keys[i] < low;
            within += static_cast<K>(keys[i] - low) <= static_cast<K>(high - low);
        }
        below += less;
        inside += within;
    }

    void look_through(std::int64_t begin, std::int64_t end, std::size_t part, std::int64_t* counts) {
        K keys[chunk];
        for (std::int64_t first = begin; first < end; first += chunk) {
            const std::int64_t length = std::min(chunk, end - first);
            bits_.encode(in_ + first, keys, length, false);
            for (std::size_t b = 0; b < brackets_.size(); ++b) {
                Searched<K>& bracket = brackets_[b];
                const K low = bracket.low, width = static_cast<K>(bracket.high - low);
                const std::int64_t before = counts[2 * b + 1];
                count(keys, length, low, bracket.high, counts[2 * b], counts[2 * b + 1]);
                if (width == 0 || counts[2 * b + 1] == before) continue;
                std::vector<K>& found = bracket.parts[part];
                const auto room = static_cast<std::size_t>(before + chunk);
                if (found.size() < room) found.resize(std::max(room, 2 * found.size()));
                K* to = found.data() + before;
                std::int64_t taken = 0;
                for (std::int64_t i = 0; i < length; ++i) {
                    to[taken] = keys[i];
                    taken += static_cast<K>(keys[i] - low) <= width;
                }
            }
        }
        for (std::size_t b = 0; b < brackets_.size(); ++b) {
            if (brackets_[b].low != brackets_[b].high) brackets_[b].parts[part].resize(static_cast<std::size_t>(counts[2 * b + 1]));
        }
    }

    /// Keys, which are decoded when all are there.
    void choose(Searched<K>& b, K* out) const {
        out += b.first_rank;
        if (b.low == b.high) {
            std::fill_n(out, b.ranks, b.low);
            return;
        }
        std::vector<K> keys;
        keys.reserve(static_cast<std::size_t>(2 * b.inside));
        for (const std::vector<K>& part : b.parts) keys.insert(keys.end(), part.begin(), part.end());
        keys.resize(static_cast<std::size_t>(2 * b.inside));
        std::vector<std::int64_t> ranks;
        for (std::size_t r = 0; r < b.ranks; ++r) ranks.push_back(ranks_[b.first_rank + r] - b.below);
        select_all(keys.data(), keys.data() + b.inside, b.inside, ranks, [&](K key) { *out++ = key; });
    }

    device::Device* device_;
    Bits<K> bits_;
    const K* in_;
    std::int64_t n_;
    std::span<const std::int64_t> ranks_;
    double cost_;
    std::vector<Searched<K>> brackets_;
};

void cpu_ranked(device::Queue* queue, const Memory& x, const Memory& out, Lines lines, std::span<const std::int64_t> kth) {
    constexpr std::int64_t long_line = 262144;
    const double cost = static_cast<double>(x.size()) * 4 + 200;
    const std::vector<std::int64_t> ranks(kth.begin(), kth.end());
    submit(queue, "partition", cost, {&x}, {&out}, [=, device = processor_of(queue)] {
        visit_bits(x.dtype, [&]<class K>(const Bits<K>& bits) {
            const K* in = reinterpret_cast<const K*>(x.address());
            K* to = reinterpret_cast<K*>(out.address());
            if constexpr (std::is_integral_v<K>) {
                if (lines.outer * lines.inner == 1 && lines.length >= long_line &&
                    LongLine<K>(device, bits, in, lines.length, ranks, cost).run(to))
                    return;
            }
            for_each_line(device, in, to, nullptr, lines, static_cast<std::int64_t>(ranks.size()), cost,
                          [&] { return RankedLine<K>(bits, lines.length, ranks); });
        });
    });
}

const Registered ranked_here(routines::ranked, {"threads", DeviceKinds::Processor, cpu_ranked});

}  // namespace

}  // namespace pardo::routines
