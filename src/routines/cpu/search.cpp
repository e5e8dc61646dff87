// src/routines/cpu/search.cpp: binary search in a sorted array, and the runs of equal elements in one.
#include <cmath>
#include <memory>
#include <vector>

#include "routines/cpu/keys.h"
#include "routines/routines.h"

namespace pardo::routines {

namespace {

/// Number of keys before which `wanted` is not to be put; eight searches go at the same time, so that their cache misses overlap.
template <class T, bool right, int lanes> void search(const T* sorted, std::int64_t n, const T* wanted, std::int64_t* out) {
    KeyOf<T> keys[lanes];
    const T* base[lanes];
    for (int k = 0; k < lanes; ++k) {
        keys[k] = Codec<T>::rank(wanted[k]);
        base[k] = sorted;
    }
    const auto passes = [](const KeyOf<T>& element, const KeyOf<T>& key) {
        return right ? !Codec<T>::less(key, element) : Codec<T>::less(element, key);
    };
    std::int64_t length = n;
    while (length > 1) {
        const std::int64_t half = length / 2;
        for (int k = 0; k < lanes; ++k) base[k] += passes(Codec<T>::rank(base[k][half - 1]), keys[k]) ? half : 0;
        length -= half;
    }
    for (int k = 0; k < lanes; ++k) out[k] = base[k] - sorted + (n > 0 && passes(Codec<T>::rank(*base[k]), keys[k]));
}

/// A short table whose elements lie about evenly: cells of one width hold few of them each, and only those of a value's own cell have to be
/// compared with it. The cell of a value never decreases with the value, whatever is rounded.
template <class T> class Grid {
public:
    static constexpr std::int64_t shortest = 4, longest = 16384, most = 4;  // of the table; in a cell

    Grid(const T* sorted, std::int64_t n) : n_(n) {
        if constexpr (usable) {
            if (n < shortest || n > longest) return;
            first_ = static_cast<double>(sorted[0]);
            const double range = static_cast<double>(sorted[n - 1]) - first_;
            cells_ = 4 * n;
            scale_ = static_cast<double>(cells_) / range;
            if (!(range > 0) || !std::isfinite(range) || !std::isfinite(scale_)) return;
            std::vector<std::int32_t> held(static_cast<std::size_t>(cells_));
            for (std::int64_t i = 0; i < n; ++i) {
                if (i && !(sorted[i - 1] <= sorted[i])) return;  // not sorted: whatever the search gives
                steps_ = std::max<std::int64_t>(steps_, ++held[static_cast<std::size_t>(cell(sorted[i]))]);
            }
            if (steps_ > most) return;
            before_.resize(static_cast<std::size_t>(cells_));
            std::int32_t before = 0;
            for (std::size_t c = 0; c < held.size(); before += held[c++]) before_[c] = before;
            table_.assign(sorted, sorted + n);
            table_.insert(table_.end(), most, sorted[n - 1]);
        }
    }
    explicit operator bool() const { return !before_.empty(); }

    template <bool right> void search(const T* wanted, std::int64_t count, std::int64_t* out) const {
        if constexpr (usable) {
            const auto go = [&]<int steps>(std::integral_constant<int, steps>) {
                for (std::int64_t k = 0; k < count; ++k) {
                    const T x = wanted[k];
                    std::int64_t at = before_[static_cast<std::size_t>(cell(x))];
                    for (int step = 0; step < steps; ++step) {
                        const T element = table_[static_cast<std::size_t>(at)];
                        at += static_cast<std::int64_t>(at < n_) & static_cast<std::int64_t>(right ? element <= x : element < x);
                    }
                    if constexpr (std::is_floating_point_v<T>) at = x != x ? n_ : at;  // NOLINT(misc-redundant-expression)
                    out[k] = at;
                }
            };
            switch (steps_) {
                case 1: return go(std::integral_constant<int, 1>());
                case 2: return go(std::integral_constant<int, 2>());
                default: return go(std::integral_constant<int, static_cast<int>(most)>());
            }
        }
    }

private:
    static constexpr bool usable = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;
    std::int64_t cell(T x) const {
        const double at = (static_cast<double>(x) - first_) * scale_;
        return static_cast<std::int64_t>(std::min(at > 0 ? at : 0.0, static_cast<double>(cells_ - 1)));
    }

    std::int64_t n_, cells_ = 0, steps_ = 0;
    double first_ = 0, scale_ = 0;
    std::vector<std::int32_t> before_;  // elements in the cells before each
    std::vector<T> table_;
};
constexpr std::int64_t values_for_a_grid = 8;  // a value of the table

template <class T, bool right>
void search_all(device::Device* device, const T* sorted, std::int64_t n, const T* wanted, std::int64_t count, std::int64_t* out,
                double cost) {
    if (count >= values_for_a_grid * n) {
        if (const Grid<T> grid(sorted, n); grid) {
            return cpu::parallel_for(device, count, cost, [&](std::int64_t begin, std::int64_t end) {
                grid.template search<right>(wanted + begin, end - begin, out + begin);
            });
        }
    }
    cpu::parallel_for(device, count, cost, [=](std::int64_t begin, std::int64_t end) {
        constexpr int lanes = 8;
        std::int64_t i = begin;
        for (; i + lanes <= end; i += lanes) search<T, right, lanes>(sorted, n, wanted + i, out + i);
        for (; i < end; ++i) search<T, right, 1>(sorted, n, wanted + i, out + i);
    });
}

template <class T> bool starts_run(const T* x, std::int64_t i, bool equal_nan) {
    if (i == 0) return true;
    const T a = x[i - 1], b = x[i];
    const auto is_nan = [](T v) {
        if constexpr (NarrowFloat<T>)
            return (v.bits & 0x7fff) > Codec<T>::infinity();
        else
            return v != v;  // NOLINT(misc-redundant-expression): NaN, complex too
    };
    if (is_nan(a) || is_nan(b)) return !equal_nan || is_nan(a) != is_nan(b);
    if constexpr (NarrowFloat<T>)
        return Codec<T>::rank(a) != Codec<T>::rank(b);
    else
        return a != b;
}

void cpu_searchsorted(device::Queue* queue, const Memory& sorted, const Memory& values, const Memory& out, bool right) {
    const std::int64_t n = sorted.size(), count = values.size();
    const double cost = static_cast<double>(count) * (2 + 3 * std::bit_width(static_cast<std::uint64_t>(n))) + 200;
    submit(queue, "searchsorted", cost, {&sorted, &values}, {&out}, [=, device = processor_of(queue)] {
        visit_dtype(sorted.dtype, [&]<class T>(std::type_identity<T>) {
            const T *table = reinterpret_cast<const T*>(sorted.address()), *wanted = reinterpret_cast<const T*>(values.address());
            auto* to = reinterpret_cast<std::int64_t*>(out.address());
            if (right)
                search_all<T, true>(device, table, n, wanted, count, to, cost);
            else
                search_all<T, false>(device, table, n, wanted, count, to, cost);
        });
    });
}

std::int64_t cpu_count_runs(device::Queue* queue, const Memory& sorted, bool equal_nan, const Memory& blocks) {
    const std::int64_t size = sorted.size(), count = mask_blocks(size);
    const double cost = static_cast<double>(size) * 0.8 + 100;
    const auto total = std::make_shared<std::int64_t>(0);  // the task outlives an interrupted wait
    submit(queue, "count_runs", cost, {&sorted}, {&blocks}, [=, device = processor_of(queue)] {
        auto* before = reinterpret_cast<std::int64_t*>(blocks.address());
        visit_dtype(sorted.dtype, [&]<class T>(std::type_identity<T>) {
            const T* x = reinterpret_cast<const T*>(sorted.address());
            cpu::parallel_for(device, count, cost, [=](std::int64_t begin, std::int64_t end) {
                for (std::int64_t b = begin; b < end; ++b) {
                    std::int64_t starts = 0;
                    for (std::int64_t i = b * mask_block, last = std::min(size, i + mask_block); i < last; ++i)
                        starts += starts_run(x, i, equal_nan);
                    before[b + 1] = starts;
                }
            });
        });
        before[0] = 0;
        for (std::int64_t b = 0; b < count; ++b) before[b + 1] += before[b];
        *total = before[count];
    }).wait();
    return *total;
}

void cpu_fill_runs(device::Queue* queue, const Memory& sorted, const Memory& order, bool equal_nan, const Memory& blocks,
                   const Memory& values, const Memory& indices, const Memory& inverse, const Memory& counts) {
    const std::int64_t size = sorted.size(), runs = values.size(), block_count = mask_blocks(size);
    const double cost = static_cast<double>(size) * (order ? 6 : 1) + 200;
    submit(queue, "unique", cost, {&sorted, &order, &blocks}, {&values, &indices, &inverse, &counts}, [=, device = processor_of(queue)] {
        const auto* before = reinterpret_cast<const std::int64_t*>(blocks.address());
        const auto long_of = [](const Memory& memory) { return memory ? reinterpret_cast<std::int64_t*>(memory.address()) : nullptr; };
        const std::int64_t* from = long_of(order);
        std::int64_t *first = long_of(indices), *run_of = long_of(inverse), *length = long_of(counts);
        visit_dtype(sorted.dtype, [&]<class T>(std::type_identity<T>) {
            const T* x = reinterpret_cast<const T*>(sorted.address());
            T* out = reinterpret_cast<T*>(values.address());
            cpu::parallel_for(device, block_count, cost, [=](std::int64_t begin, std::int64_t end) {
                std::int64_t run = before[begin] - 1;
                for (std::int64_t i = begin * mask_block, last = std::min(size, end * mask_block); i < last; ++i) {
                    if (starts_run(x, i, equal_nan)) {
                        ++run;
                        out[run] = x[i];
                        // Sorted stably: the first of a run comes first in the input too. `length` holds where runs start until the end.
                        if (from) {
                            first[run] = from[i];
                            length[run] = i;
                        }
                    }
                    if (from) run_of[from[i]] = run;
                }
            });
        });
        if (!from) return;
        for (std::int64_t run = 0; run < runs; ++run) length[run] = (run + 1 < runs ? length[run + 1] : size) - length[run];
    });
}

const Registered searchsorted_here(routines::searchsorted, {"threads", DeviceKinds::Processor, cpu_searchsorted});
const Registered count_runs_here(routines::count_runs, {"threads", DeviceKinds::Processor, cpu_count_runs});
const Registered fill_runs_here(routines::fill_runs, {"threads", DeviceKinds::Processor, cpu_fill_runs});

}  // namespace

}  // namespace pardo::routines
