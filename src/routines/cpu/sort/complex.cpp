// src/routines/cpu/sort/complex.cpp: sorting complex elements: merge sort.
#include <numeric>

#include "routines/cpu/keys.h"
#include "routines/cpu/sort/sort.h"

namespace pardo::routines {

namespace {

/// Merges the stretch [begin, end) of the result of merging two sorted ranges, stable: equal elements of `a` come first.
template <class E, class Less>
void merge_stretch(const E* a, std::int64_t size_a, const E* b, std::int64_t size_b, E* out, std::int64_t begin, std::int64_t end,
                   const Less& less) {
    // The number of elements of a among the first `rank` of the result.
    const auto split = [&](std::int64_t rank) {
        std::int64_t low = std::max<std::int64_t>(0, rank - size_b), high = std::min(rank, size_a);
        while (low < high) {
            const std::int64_t i = (low + high) / 2;
            if (less(b[rank - i - 1], a[i]))
                high = i;
            else
                low = i + 1;
        }
        return low;
    };
    const std::int64_t a0 = split(begin), a1 = split(end);
    std::merge(a + a0, a + a1, b + (begin - a0), b + (end - a1), out + begin, less);
}

/// Stable sort of items[0, n) on all threads; the result lies in `items`. `tmp` has room for n.
template <class E, class Less>
void merge_sort_parallel(device::Device* device, E* items, E* tmp, std::int64_t n, const Less& less, double cost) {
    const auto runs = static_cast<std::int64_t>(std::bit_ceil(static_cast<unsigned>(cpu::thread_count(device))));
    const auto bound = [=](std::int64_t run) { return n * run / runs; };
    for_each_part(device, runs, cost, [&](std::int64_t r) { std::stable_sort(items + bound(r), items + bound(r + 1), less); });
    E *from = items, *to = tmp;
    for (std::int64_t width = 1; width < runs; width *= 2) {
        // Every pair is merged by 2 * width threads, each a stretch of the result.
        for_each_part(device, runs, cost, [&](std::int64_t part) {
            const std::int64_t pair = part / (2 * width), share = part % (2 * width);
            const std::int64_t first = bound(pair * 2 * width), middle = bound(pair * 2 * width + width),
                               last = bound((pair + 1) * 2 * width);
            const std::int64_t size = last - first;
            merge_stretch(from + first, middle - first, from + middle, last - middle, to + first, size * share / (2 * width),
                          size * (share + 1) / (2 * width), less);
        });
        std::swap(from, to);
    }
    if (from == items) return;
    cpu::parallel_for(device, n, cost, [=](std::int64_t begin, std::int64_t end) { std::copy(from + begin, from + end, items + begin); });
}

}  // namespace

template <class T>
void sort_lines(device::Device* device, const T* x, T* values, std::int64_t* indices, Lines lines, bool descending, char* scratch,
                double cost) {
    const std::int64_t n = lines.length;
    const KeyOrder<T> before{descending};
    if (!scratch) {
        for_each_line(device, x, values, indices, lines, n, cost, [=] {
            return [=](const T* in, T* out, std::int64_t* positions) {
                if (out) {
                    std::copy_n(in, n, out);
                    std::stable_sort(out, out + n, before);
                }
                if (positions) {
                    std::iota(positions, positions + n, 0);
                    std::stable_sort(positions, positions + n, [=](std::int64_t a, std::int64_t b) { return before(in[a], in[b]); });
                }
            };
        });
        return;
    }
    const std::unique_ptr<T[]> tmp(new T[static_cast<std::size_t>(values ? n : 0)]);
    const std::unique_ptr<std::int64_t[]> tmp_positions(new std::int64_t[static_cast<std::size_t>(indices ? n : 0)]);
    for (std::int64_t o = 0; o < lines.outer; ++o) {
        const T* in = x + o * n;
        if (values) {
            std::copy_n(in, n, values + o * n);
            merge_sort_parallel(device, values + o * n, tmp.get(), n, before, cost);
        }
        if (indices) {
            std::iota(indices + o * n, indices + (o + 1) * n, 0);
            merge_sort_parallel(
                device, indices + o * n, tmp_positions.get(), n, [=](std::int64_t a, std::int64_t b) { return before(in[a], in[b]); },
                cost);
        }
    }
}

template void sort_lines(device::Device*, const std::complex<float>*, std::complex<float>*, std::int64_t*, Lines, bool, char*, double);
template void sort_lines(device::Device*, const std::complex<double>*, std::complex<double>*, std::int64_t*, Lines, bool, char*, double);

}  // namespace pardo::routines
