// src/routines/cpu/sort/select.cpp: partition, argpartition and top_k on the CPU: selection without sorting everything.
#include <vector>

#include "routines/cpu/sort/long_partition.h"
#include "routines/memory.h"
#include "routines/routines.h"

namespace pardo::routines {

namespace {

/// Keys of a line and as many to work with: the device's memory when it is given, else its own.
template <class K> class LineKeys {
public:
    LineKeys(std::int64_t n, char* scratch)
        : own_(scratch ? nullptr : new K[static_cast<std::size_t>(2 * n)]), keys_(scratch ? reinterpret_cast<K*>(scratch) : own_.get()) {}
    K* get() const { return keys_; }

private:
    std::unique_ptr<K[]> own_;
    K* keys_;
};
/// A line from this length on gets memory from the device's allocator, which is ready to be touched.
constexpr std::int64_t long_line = 65536;

template <class K> class PartitionValues {
public:
    PartitionValues(const Bits<K>& bits, std::int64_t n, std::span<const std::int64_t> kth, char* scratch)
        : bits_(bits), n_(n), kth_(kth), keys_(n, scratch) {}
    void operator()(const K* in, K* values, std::int64_t*) {
        K* keys = keys_.get();
        bits_.encode(in, keys, n_, false);
        for_each_place(kth_, 0, [&](std::int64_t first, std::int64_t k) { select(keys + first, keys + n_, n_ - first, k); });
        bits_.decode(keys, values, n_, false);
    }

private:
    Bits<K> bits_;
    std::int64_t n_;
    std::span<const std::int64_t> kth_;
    LineKeys<K> keys_;
};

template <class K> class PartitionIndices {
public:
    PartitionIndices(const Bits<K>& bits, std::int64_t n, std::span<const std::int64_t> kth)
        : bits_(bits), n_(n), kth_(kth), keys_(new K[static_cast<std::size_t>(n)]), entries_(static_cast<std::size_t>(n)) {}
    void operator()(const K* in, K*, std::int64_t* indices) {
        bits_.rank(in, keys_.get(), n_, false);
        for (std::int64_t i = 0; i < n_; ++i) entries_[static_cast<std::size_t>(i)] = {keys_[i], i};
        for_each_place(kth_, 0, [&](std::int64_t first, std::int64_t k) {
            std::nth_element(entries_.begin() + first, entries_.begin() + first + k, entries_.end(), entry_before<K>);
        });
        for (std::int64_t i = 0; i < n_; ++i) indices[i] = entries_[static_cast<std::size_t>(i)].position;
    }

private:
    Bits<K> bits_;
    std::int64_t n_;
    std::span<const std::int64_t> kth_;
    std::unique_ptr<K[]> keys_;
    std::vector<Entry<K>> entries_;
};

/// The k first of a line in order: the kth key is a threshold; what is before it, and as many of its equals as are missing, are collected
/// and sorted.
template <class K> class TopLine {
public:
    TopLine(const Bits<K>& bits, std::int64_t n, std::int64_t k, bool largest)
        : bits_(bits), n_(n), k_(k), largest_(largest), keys_(new K[static_cast<std::size_t>(3 * n)]) {
        found_.reserve(static_cast<std::size_t>(k));
    }
    void operator()(const K* in, K* values, std::int64_t* indices) {
        const bool turned = largest_ && !std::is_integral_v<K>;  // integers are reversed by rank()
        const auto comes = [=](const K& a, const K& b) { return turned ? before(b, a) : before(a, b); };
        K *keys = keys_.get(), *ranks = keys + 2 * n_;
        bits_.rank(in, ranks, n_, largest_);
        std::copy_n(ranks, n_, keys);
        if constexpr (std::is_integral_v<K>)
            select(keys, keys + n_, n_, k_ - 1);
        else
            std::nth_element(keys, keys + k_ - 1, keys + n_, comes);
        const K threshold = keys[k_ - 1];
        std::int64_t equals = k_ - std::count_if(keys, keys + k_, [&](const K& key) { return comes(key, threshold); });
        found_.clear();
        for (std::int64_t i = 0; i < n_; ++i) {
            if (comes(ranks[i], threshold) || (equals > 0 && !comes(threshold, ranks[i]) && equals-- > 0)) found_.push_back({ranks[i], i});
        }
        std::ranges::stable_sort(found_, [=](const Entry<K>& a, const Entry<K>& b) { return comes(a.key, b.key); });
        for (std::int64_t j = 0; j < k_; ++j) {
            indices[j] = found_[static_cast<std::size_t>(j)].position;
            values[j] = in[indices[j]];
        }
    }

private:
    Bits<K> bits_;
    std::int64_t n_, k_;
    bool largest_;
    std::unique_ptr<K[]> keys_;  // to select from, with room for that, and the ranks in order
    std::vector<Entry<K>> found_;
};

/// One long line: the best of every chunk, then the best of those. Chunks are in order and equals within them too, so ties stay stable.
template <class K>
void top_of_chunks(device::Device* device, const Bits<K>& bits, const K* in, K* values, std::int64_t* indices, std::int64_t n,
                   std::int64_t k, bool largest, double cost) {
    const std::int64_t chunk = std::max<std::int64_t>(16384, 16 * k), chunks = n / chunk;
    const auto best = std::make_unique<K[]>(static_cast<std::size_t>(chunks * k));
    std::vector<std::int64_t> places(static_cast<std::size_t>(chunks * k)), order(static_cast<std::size_t>(k));
    const auto bound = [=](std::int64_t c) { return n * c / chunks; };
    for_each_part(device, chunks, cost, [&](std::int64_t c) {
        TopLine<K>(bits, bound(c + 1) - bound(c), k, largest)(in + bound(c), best.get() + c * k, places.data() + c * k);
        for (std::int64_t j = c * k; j < (c + 1) * k; ++j) places[static_cast<std::size_t>(j)] += bound(c);
    });
    TopLine<K>(bits, chunks * k, k, largest)(best.get(), values, order.data());
    for (std::int64_t j = 0; j < k; ++j) indices[j] = places[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])];
}

template <class K> K* typed(const Memory& memory) { return memory ? reinterpret_cast<K*>(memory.address()) : nullptr; }

void cpu_partition(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
                   std::span<const std::int64_t> kth) {
    const double cost = static_cast<double>(x.size()) * (indices ? 12 : 4) + 200;
    const std::vector<std::int64_t> places(kth.begin(), kth.end());
    const bool single = values && lines.outer * lines.inner == 1 && lines.length >= long_line;
    const Memory scratch = single ? make_scratch_bytes(queue, 2 * x.nbytes()) : Memory();
    submit(queue, indices ? "argpartition" : "partition", cost, {&x}, {&values, &indices, &scratch}, [=, device = processor_of(queue)] {
        char* memory = scratch ? scratch.address() : nullptr;
        visit_bits(x.dtype, [&]<class K>(const Bits<K>& bits) {
            const std::int64_t n = lines.length;
            if constexpr (std::is_integral_v<K>) {
                using Long = LongPartition<K>;
                if (lines.outer * lines.inner == 1 && n >= Long::least_length && places.size() <= Long::most_places) {
                    Long line(device, bits, typed<const K>(x), n, places, cost);
                    if (indices && line.indices(typed<std::int64_t>(indices))) return;
                    if constexpr (sizeof(K) >= 4) {
                        if (values && quicksort::available() && line.values(reinterpret_cast<K*>(memory), typed<K>(values))) return;
                    }
                }
            }
            if (values)
                for_each_line(device, typed<const K>(x), typed<K>(values), nullptr, lines, n, cost,
                              [&] { return PartitionValues<K>(bits, n, places, memory); });
            else
                for_each_line<K>(device, typed<const K>(x), nullptr, typed<std::int64_t>(indices), lines, n, cost,
                                 [&] { return PartitionIndices<K>(bits, n, places); });
        });
    });
}

void cpu_top_k(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, std::int64_t k,
               bool largest) {
    const double cost = static_cast<double>(x.size()) * 5 + static_cast<double>(values.size()) * 20 + 200;
    submit(queue, "top_k", cost, {&x}, {&values, &indices}, [=, device = processor_of(queue)] {
        visit_bits(x.dtype, [&]<class K>(const Bits<K>& bits) {
            const K* in = typed<const K>(x);
            K* out = typed<K>(values);
            auto* positions = typed<std::int64_t>(indices);
            if (lines.outer * lines.inner == 1 && lines.length >= std::max(long_line, 64 * k))
                return top_of_chunks(device, bits, in, out, positions, lines.length, k, largest, cost);
            for_each_line(device, in, out, positions, lines, k, cost, [&] { return TopLine<K>(bits, lines.length, k, largest); });
        });
    });
}

const Registered partition_here(routines::partition, {"threads", DeviceKinds::Processor, cpu_partition});
const Registered top_k_here(routines::top_k, {"threads", DeviceKinds::Processor, cpu_top_k});

}  // namespace

}  // namespace pardo::routines
