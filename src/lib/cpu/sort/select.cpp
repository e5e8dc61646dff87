// src/lib/cpu/sort/select.cpp: partition, argpartition and top_k on the CPU: selection without sorting everything.
#include <vector>

#include "lib/cpu/keys.h"
#include "lib/cpu/sort/quicksort.h"
#include "lib/operand.h"
#include "lib/routines.h"

namespace pardo::lib {

namespace {

/// Places the kth key of keys[0, n); `tmp` has room for n where the vectorised selection is used.
template <class T> void select(KeyOf<T>* keys, KeyOf<T>* tmp, std::int64_t n, std::int64_t kth) {
    if constexpr (has_integer_keys<T> && sizeof(T) >= 4) {
        if (quicksort::available()) return quicksort::select(keys, tmp, n, kth);
    }
    std::nth_element(keys, keys + kth, keys + n, Codec<T>::less);
}

/// Keys of a line and as many to work with: the device's memory when it is given, else its own.
template <class T> class LineKeys {
public:
    LineKeys(std::int64_t n, char* scratch)
        : own_(scratch ? nullptr : new KeyOf<T>[static_cast<std::size_t>(2 * n)]),
          keys_(scratch ? reinterpret_cast<KeyOf<T>*>(scratch) : own_.get()) {}
    KeyOf<T>* get() const { return keys_; }

private:
    std::unique_ptr<KeyOf<T>[]> own_;
    KeyOf<T>* keys_;
};
/// A line from this length on gets memory from the device's allocator, which is ready to be touched.
constexpr std::int64_t long_line = 65536;

template <class T> class PartitionValues {
public:
    PartitionValues(std::int64_t n, std::span<const std::int64_t> kth, char* scratch) : n_(n), kth_(kth), keys_(n, scratch) {}
    void operator()(const T* in, T* values, std::int64_t*) {
        KeyOf<T>* keys = keys_.get();
        if constexpr (has_integer_keys<T>)
            encode_all(in, keys, n_, false);
        else
            std::copy_n(in, n_, keys);
        std::int64_t done = 0;  // everything before is in place
        for (const std::int64_t k : kth_) {
            if (k < done) continue;
            select<T>(keys + done, keys + n_, n_ - done, k - done);
            done = k + 1;
        }
        if constexpr (has_integer_keys<T>)
            decode_all(keys, values, n_, false);
        else
            std::copy_n(keys, n_, values);
    }

private:
    std::int64_t n_;
    std::span<const std::int64_t> kth_;
    LineKeys<T> keys_;
};

/// A key and where it came from.
template <class T> struct Entry {
    KeyOf<T> key;
    std::int64_t position;
};
/// By key, then by position: the order of a stable sort.
template <class T> bool entry_before(const Entry<T>& a, const Entry<T>& b) {
    if (Codec<T>::less(a.key, b.key)) return true;
    return !Codec<T>::less(b.key, a.key) && a.position < b.position;
}

template <class T> class PartitionIndices {
public:
    PartitionIndices(std::int64_t n, std::span<const std::int64_t> kth) : n_(n), kth_(kth), entries_(static_cast<std::size_t>(n)) {}
    void operator()(const T* in, T*, std::int64_t* indices) {
        for (std::int64_t i = 0; i < n_; ++i) entries_[static_cast<std::size_t>(i)] = {Codec<T>::rank(in[i]), i};
        std::int64_t done = 0;
        for (const std::int64_t k : kth_) {
            if (k < done) continue;
            std::nth_element(entries_.begin() + done, entries_.begin() + k, entries_.end(), entry_before<T>);
            done = k + 1;
        }
        for (std::int64_t i = 0; i < n_; ++i) indices[i] = entries_[static_cast<std::size_t>(i)].position;
    }

private:
    std::int64_t n_;
    std::span<const std::int64_t> kth_;
    std::vector<Entry<T>> entries_;
};

/// The k first of a line in order: the kth key is a threshold; what is before it, and as many of its equals as are missing, are collected
/// and sorted.
template <class T> class TopLine {
public:
    using K = KeyOf<T>;
    TopLine(std::int64_t n, std::int64_t k, bool largest) : n_(n), k_(k), largest_(largest), keys_(new K[static_cast<std::size_t>(2 * n)]) {
        found_.reserve(static_cast<std::size_t>(k));
    }
    void operator()(const T* in, T* values, std::int64_t* indices) {
        const KeyOrder<T> before{largest_ && !has_integer_keys<T>};
        const auto key_of = [this](T value) {
            if constexpr (has_integer_keys<T>)
                return Codec<T>::reversed(Codec<T>::rank(value), largest_);
            else
                return value;
        };
        K* keys = keys_.get();
        for (std::int64_t i = 0; i < n_; ++i) keys[i] = key_of(in[i]);
        if constexpr (has_integer_keys<T>)
            select<T>(keys, keys + n_, n_, k_ - 1);
        else
            std::nth_element(keys, keys + k_ - 1, keys + n_, before);
        const K threshold = keys[k_ - 1];
        std::int64_t equals = k_ - std::count_if(keys, keys + k_, [&](const K& key) { return before(key, threshold); });
        found_.clear();
        for (std::int64_t i = 0; i < n_; ++i) {
            const K key = key_of(in[i]);
            if (before(key, threshold) || (equals > 0 && !before(threshold, key) && equals-- > 0)) found_.push_back({key, i});
        }
        std::ranges::stable_sort(found_, [=](const Entry<T>& a, const Entry<T>& b) { return before(a.key, b.key); });
        for (std::int64_t j = 0; j < k_; ++j) {
            indices[j] = found_[static_cast<std::size_t>(j)].position;
            values[j] = in[indices[j]];
        }
    }

private:
    std::int64_t n_, k_;
    bool largest_;
    std::unique_ptr<K[]> keys_;
    std::vector<Entry<T>> found_;
};

/// One long line: the best of every chunk, then the best of those. Chunks are in order and equals within them too, so ties stay stable.
template <class T>
void top_of_chunks(device::Device* device, const T* in, T* values, std::int64_t* indices, std::int64_t n, std::int64_t k, bool largest,
                   double cost) {
    const std::int64_t chunk = std::max<std::int64_t>(16384, 16 * k), chunks = n / chunk;
    const auto best = std::make_unique<T[]>(static_cast<std::size_t>(chunks * k));
    std::vector<std::int64_t> places(static_cast<std::size_t>(chunks * k)), order(static_cast<std::size_t>(k));
    const auto bound = [=](std::int64_t c) { return n * c / chunks; };
    for_each_part(device, chunks, cost, [&](std::int64_t c) {
        TopLine<T>(bound(c + 1) - bound(c), k, largest)(in + bound(c), best.get() + c * k, places.data() + c * k);
        for (std::int64_t j = c * k; j < (c + 1) * k; ++j) places[static_cast<std::size_t>(j)] += bound(c);
    });
    TopLine<T>(chunks * k, k, largest)(best.get(), values, order.data());
    for (std::int64_t j = 0; j < k; ++j) indices[j] = places[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])];
}

template <class T> T* typed(const Memory& memory) { return memory ? reinterpret_cast<T*>(memory.address()) : nullptr; }

void cpu_partition(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines,
                   std::span<const std::int64_t> kth) {
    const double cost = static_cast<double>(x.size()) * (indices ? 12 : 4) + 200;
    const std::vector<std::int64_t> places(kth.begin(), kth.end());
    const bool single = values && lines.outer * lines.inner == 1 && lines.length >= long_line;
    const Memory scratch = single ? make_scratch_bytes(queue, 2 * x.nbytes()) : Memory();
    submit(queue, indices ? "argpartition" : "partition", cost, {&x}, {&values, &indices, &scratch}, [=, device = queue->device()] {
        char* memory = scratch ? scratch.address() : nullptr;
        visit_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
            const std::int64_t n = lines.length;
            if (values)
                for_each_line(device, typed<const T>(x), typed<T>(values), nullptr, lines, n, cost,
                              [&] { return PartitionValues<T>(n, places, memory); });
            else
                for_each_line<T>(device, typed<const T>(x), nullptr, typed<std::int64_t>(indices), lines, n, cost,
                                 [&] { return PartitionIndices<T>(n, places); });
        });
    });
}

void cpu_top_k(device::Queue* queue, const Memory& x, const Memory& values, const Memory& indices, Lines lines, std::int64_t k,
               bool largest) {
    const double cost = static_cast<double>(x.size()) * 5 + static_cast<double>(values.size()) * 20 + 200;
    submit(queue, "top_k", cost, {&x}, {&values, &indices}, [=, device = queue->device()] {
        visit_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
            const T* in = typed<const T>(x);
            T* out = typed<T>(values);
            auto* positions = typed<std::int64_t>(indices);
            if (lines.outer * lines.inner == 1 && lines.length >= std::max(long_line, 64 * k))
                return top_of_chunks(device, in, out, positions, lines.length, k, largest, cost);
            for_each_line(device, in, out, positions, lines, k, cost, [&] { return TopLine<T>(lines.length, k, largest); });
        });
    });
}

const Registered partition_here(routines::partition, {"threads", Place::Host, cpu_partition});
const Registered top_k_here(routines::top_k, {"threads", Place::Host, cpu_top_k});

}  // namespace

}  // namespace pardo::lib
