// src/routines/cpu/sort/merge.cpp: two sorted runs as one on the CPU. The result is cut into stretches, which threads merge by themselves.
// Reference for the cuts: S. Odeh, O. Green, Z. Mwassi, O. Shmueli, Y. Birk, "Merge Path - Parallel Merging Made Simple", IPDPS Workshops
// 2012. An element is chosen by a select, not by a branch, which could not be foreseen; and each stretch is cut again into streams that are
// merged side by side, because each of them waits for its own elements most of the time. (Merging from both ends at once, as O. Peters and
// L. Bergdoll do in glidesort, gives two streams; cuts give any number.)
#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "routines/cpu/keys.h"
#include "routines/cpu/sort/merge_vectors.h"
#include "routines/cpu/task.h"
#include "routines/memory.h"
#include "routines/runs.h"

namespace pardo::routines {

namespace {

constexpr std::int64_t stretch = 16384;                   // elements that are cut into streams: they stay in a core's L2 cache
constexpr std::int64_t part = 4 * stretch;                // that a thread takes
constexpr std::int64_t shortest = 512;                    // of a stretch that is cut
constexpr std::int64_t margin = 2 * merging::most_lanes;  // elements of each run behind a stretch that is merged in streams

/// Two runs, and what is made of them.
template <class T> struct Runs {
    const T *a, *b;
    std::int64_t n, m;                        // elements of each
    const std::int64_t *a_places, *b_places;  // null: elements alone
    T* out;
    std::int64_t* places;

    std::int64_t size() const { return n + m; }
    /// Elements [i, i + n) of a and [j, j + m) of b, whose result begins at i + j, or where it is said.
    Runs between(std::int64_t i, std::int64_t of_a, std::int64_t j, std::int64_t of_b, std::int64_t at) const {
        const auto moved = [](auto* p, std::int64_t by) { return p ? p + by : p; };
        return {a + i, b + j, of_a, of_b, moved(a_places, i), moved(b_places, j), out + at, moved(places, at)};
    }
    void copy_a(std::int64_t i, std::int64_t at, std::int64_t count) const {
        std::copy_n(a + i, count, out + at);
        if (places) std::copy_n(a_places + i, count, places + at);
    }
    void copy_b(std::int64_t j, std::int64_t at, std::int64_t count) const {
        std::copy_n(b + j, count, out + at);
        if (places) std::copy_n(b_places + j, count, places + at);
    }
};

// ---- orders ---------------------------------------------------------------------------------------------------------------------------

template <class T> inline constexpr bool is_float = NarrowFloat<T> || std::is_floating_point_v<T>;
template <class T> inline constexpr bool is_complex_number = !has_integer_keys<T>;
/// Vectors hold these, as they are or as their bits; complex numbers do not fit.
template <class T, bool = is_complex_number<T>> struct VectorKey { using Type = void; };
template <class T> struct VectorKey<T, false> { using Type = std::conditional_t<is_float<T>, std::make_signed_t<KeyOf<T>>, T>; };

/// All ones for true, nothing for false. The compiler does not see that, so it makes no branch of what is chosen by it.
[[gnu::always_inline]] inline std::int64_t mask_of(bool condition) {
    std::int64_t mask = -static_cast<std::int64_t>(condition);
    asm("" : "+r"(mask));
    return mask;
}

/// Numbers other than NaN, without a branch.
template <class T> [[gnu::always_inline]] inline bool less(T x, T y) {
    if constexpr (NarrowFloat<T>) {
        const auto value = [](T v) {
            const auto bits = std::bit_cast<std::int16_t>(v);
            const int negative = bits >> 15;
            return ((bits & 0x7fff) ^ negative) - negative;
        };
        return value(x) < value(y);
    } else if constexpr (is_complex_number<T>) {
        return (mask_of(x.real() < y.real()) | (~mask_of(y.real() < x.real()) & mask_of(x.imag() < y.imag()))) != 0;
    } else {
        return x < y;
    }
}
/// Whether an element of the second run comes before one of the first.
template <class T, bool descending> struct Before {
    static constexpr bool in_streams = true;
    [[gnu::always_inline]] bool operator()(const T& second, const T& first) const {
        return descending ? less(first, second) : less(second, first);
    }
};
/// Of what holds a NaN: real elements are all equal.
template <class T, bool descending> struct BeforeNan {
    static constexpr bool in_streams = false;
    bool operator()(const T& second, const T& first) const {
        if constexpr (is_complex_number<T>)
            return KeyOrder<T>{descending}(second, first);
        else
            return false;
    }
};
template <class T> bool has_nan(T x) {
    if constexpr (NarrowFloat<T>)
        return (std::bit_cast<KeyOf<T>>(x) & 0x7fff) > Codec<T>::infinity();
    else if constexpr (is_complex_number<T>)
        return x.real() != x.real() || x.imag() != x.imag();
    else
        return x != x;  // NOLINT(misc-redundant-expression)
}

// ---- one stretch ------------------------------------------------------------------------------------------------------------------------

/// How many of the first `count` elements of the result come from a, which is known to be in [low, high].
template <class T, class Order> std::int64_t from_first(const Runs<T>& r, std::int64_t count, std::int64_t low, std::int64_t high) {
    low = std::max(low, count - r.m);
    high = std::min({high, count, r.n});
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (Order()(r.b[count - 1 - middle], r.a[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/// Elements [first, last) of the result, wherever the runs end; i of those before come from a.
template <class T, class Order> void merge_to_the_end(const Runs<T>& r, std::int64_t first, std::int64_t last, std::int64_t i) {
    std::int64_t j = first - i;
    for (std::int64_t k = first; k < last; ++k) {
        if (i >= r.n) return r.copy_b(j, k, last - k);
        if (j >= r.m) return r.copy_a(i, k, last - k);
        const bool second = Order()(r.b[j], r.a[i]);
        r.out[k] = second ? r.b[j] : r.a[i];
        if (r.places) r.places[k] = second ? r.b_places[j] : r.a_places[i];
        (second ? j : i) += 1;
    }
}

/// The second where the mask is all ones, the first where it is nothing.
template <class P> [[gnu::always_inline]] inline const P* either(const P* first, const P* second, std::int64_t mask) {
    const auto x = reinterpret_cast<std::intptr_t>(first), y = reinterpret_cast<std::intptr_t>(second);
    return reinterpret_cast<const P*>(x + ((y - x) & mask));
}

/// out[first + s * each + k] for each stream s, of which i[s] elements come from a before; runs do not end there.
template <class T, class Order, int streams, bool with_places>
[[gnu::noinline]] void merge_streams(const Runs<T>& r, std::int64_t first, std::int64_t each, std::array<std::int64_t, streams> i) {
    const T *const a = r.a, *const b = r.b;
    const std::int64_t *const a_places = r.a_places, *const b_places = r.b_places;
    T* const out = r.out;
    std::int64_t* const places = r.places;
    std::array<std::int64_t, streams> j;
    for (int s = 0; s < streams; ++s) j[static_cast<std::size_t>(s)] = first + s * each - i[static_cast<std::size_t>(s)];
    for (std::int64_t k = 0; k < each; ++k) {
#pragma GCC unroll 8
        for (std::size_t s = 0; s < streams; ++s) {
            const T x = a[i[s]], y = b[j[s]];
            const bool second = Order()(y, x);
            const std::int64_t mask = mask_of(second), to = i[s] + j[s];
            if constexpr (std::is_arithmetic_v<T>)
                out[to] = second ? y : x;
            else
                out[to] = *either(a + i[s], b + j[s], mask);
            if constexpr (with_places) places[to] = *either(a_places + i[s], b_places + j[s], mask);
            j[s] -= mask;
            i[s] += 1 + mask;
        }
    }
}

/// What there is to know of runs for all stretches.
template <class T> struct Ways {
    using K = typename VectorKey<T>::Type;
    static constexpr bool in_vectors = !std::is_void_v<K>;
    using Merge = std::conditional_t<in_vectors, merging::StreamMerge<std::conditional_t<in_vectors, K, int>>, std::nullptr_t>;
    Merge vectors = nullptr;
    // Zeros of floats, which vectors may have exchanged: in a, and in b.
    std::int64_t a_zeros = 0, a_positive = 0, b_zeros = 0, b_positive = 0;
};

/// Zeros of the result's elements [first, last) in their order: those of a, then those of b.
template <class T> void put_zeros(const Runs<T>& r, const Ways<T>& ways, std::int64_t first, std::int64_t last) {
    const std::int64_t begin = ways.a_zeros + ways.b_zeros, middle = ways.a_positive + ways.b_zeros,
                       end = ways.a_positive + ways.b_positive;
    if (first < middle && begin < last) {
        const std::int64_t from = std::max(first, begin), to = std::min(last, middle);
        if (from < to) r.copy_a(ways.a_zeros + from - begin, from, to - from);
    }
    const std::int64_t from = std::max(first, middle), to = std::min(last, end);
    if (from < to) r.copy_b(ways.b_zeros + from - middle, from, to - from);
}

/// Elements [first, last) of the result, in streams; i of those before come from a, and up to i_last of those inside.
template <class T, class Order>
void merge_in_streams(const Runs<T>& r, const Ways<T>& ways, std::int64_t first, std::int64_t last, std::int64_t i, std::int64_t i_last) {
    const auto go = [&]<int streams>(std::integral_constant<int, streams>, std::int64_t unit, auto&& merge) {
        const std::int64_t each = (last - first) / (streams * unit) * unit;
        std::array<std::int64_t, streams> starts{i};
        for (int s = 1; s < streams; ++s) {
            const auto k = static_cast<std::size_t>(s);
            starts[k] = from_first<T, Order>(r, first + s * each, starts[k - 1], i_last);
        }
        merge(each, starts);
        const std::int64_t rest = first + streams * each;
        merge_to_the_end<T, Order>(r, rest, last, from_first<T, Order>(r, rest, starts[streams - 1], i_last));
    };
    if constexpr (Ways<T>::in_vectors) {
        if (ways.vectors) {
            using K = typename Ways<T>::K;
            go(std::integral_constant<int, merging::vector_streams>(), merging::most_lanes, [&](std::int64_t each, const auto& starts) {
                ways.vectors(reinterpret_cast<const K*>(r.a), reinterpret_cast<const K*>(r.b), reinterpret_cast<K*>(r.out), starts.data(),
                             first, each);
            });
            return put_zeros(r, ways, first, last);
        }
    }
    constexpr int streams = 4;
    go(std::integral_constant<int, streams>(), 1, [&](std::int64_t each, const auto& starts) {
        if (r.places)
            merge_streams<T, Order, streams, true>(r, first, each, starts);
        else
            merge_streams<T, Order, streams, false>(r, first, each, starts);
    });
}

/// Elements [first, last) of the result; i and i_last of those before both come from a.
template <class T, class Order>
void merge_stretch(const Runs<T>& r, const Ways<T>& ways, std::int64_t first, std::int64_t last, std::int64_t i, std::int64_t i_last) {
    const std::int64_t j = first - i, j_last = last - i_last;
    if (i == i_last) return r.copy_b(j, first, last - first);
    if (j == j_last) return r.copy_a(i, first, last - first);
    if (last - first < shortest) return merge_to_the_end<T, Order>(r, first, last, i);
    if constexpr (Order::in_streams) {
        if (i_last + margin <= r.n && j_last + margin <= r.m) return merge_in_streams<T, Order>(r, ways, first, last, i, i_last);
    }
    const std::int64_t middle = first + (last - first) / 2, i_middle = from_first<T, Order>(r, middle, i, i_last);
    merge_stretch<T, Order>(r, ways, first, middle, i, i_middle);
    merge_stretch<T, Order>(r, ways, middle, last, i_middle, i_last);
}

// ---- all ------------------------------------------------------------------------------------------------------------------------------

template <class T, class Order> void merge_all(device::Device* device, const Runs<T>& r, const Ways<T>& ways, double cost) {
    const std::int64_t total = r.size();
    for_each_near_part(device, (total + part - 1) / part, cost, [&](std::int64_t p) {
        const std::int64_t end = std::min(total, (p + 1) * part);
        std::int64_t first = p * part, i = from_first<T, Order>(r, first, 0, r.n);
        while (first < end) {
            const std::int64_t last = std::min(end, first + stretch), i_last = from_first<T, Order>(r, last, i, i + (last - first));
            merge_stretch<T, Order>(r, ways, first, last, i, i_last);
            first = last;
            i = i_last;
        }
    });
}

template <class T, bool descending> void merge_numbers(device::Device* device, const Runs<T>& r, double cost) {
    Ways<T> ways;
    if constexpr (Ways<T>::in_vectors) {
        if (!r.places) ways.vectors = merging::stream_merge<typename Ways<T>::K>(is_float<T>, descending);
        if constexpr (is_float<T>) {
            const T zero{};
            const Before<T, descending> before;
            const auto begins = [&](const T* x, std::int64_t n) {
                return std::partition_point(x, x + n, [&](const T& v) { return before(v, zero); }) - x;
            };
            const auto ends = [&](const T* x, std::int64_t n) {
                return std::partition_point(x, x + n, [&](const T& v) { return !before(zero, v); }) - x;
            };
            ways.a_zeros = begins(r.a, r.n);
            ways.a_positive = ends(r.a, r.n);
            ways.b_zeros = begins(r.b, r.m);
            ways.b_positive = ends(r.b, r.m);
        }
    }
    merge_all<T, Before<T, descending>>(device, r, ways, cost);
}

template <class T, bool descending> void merge_runs(device::Device* device, const Runs<T>& r, double cost) {
    if constexpr (!is_float<T> && !is_complex_number<T>) {
        merge_numbers<T, descending>(device, r, cost);
    } else {
        // NaN come last, or first.
        const auto turn = [](const T* x, std::int64_t n) {
            return std::partition_point(x, x + n, [](const T& v) { return has_nan(v) == descending; }) - x;
        };
        const std::int64_t i = turn(r.a, r.n), j = turn(r.b, r.m);
        const Runs<T> front = r.between(0, i, 0, j, 0), back = r.between(i, r.n - i, j, r.m - j, i + j);
        const Runs<T>&numbers = descending ? back : front, &others = descending ? front : back;
        if (numbers.size() > 0) merge_numbers<T, descending>(device, numbers, cost);
        if (others.size() > 0) merge_all<T, BeforeNan<T, descending>>(device, others, {}, cost);
    }
}

void cpu_merge_runs(device::Queue* queue, const Memory& a, const Memory& b, const Memory& a_places, const Memory& b_places,
                    const Memory& out, const Memory& places, bool descending) {
    const double cost = static_cast<double>(out.size()) * (places ? 2.5 : 1.2) + 200;
    submit(queue, "merge_runs", cost, {&a, &b, &a_places, &b_places}, {&out, &places}, [=, device = processor_of(queue)] {
        const auto longs = [](const Memory& memory) { return memory ? reinterpret_cast<std::int64_t*>(memory.address()) : nullptr; };
        visit_dtype(out.dtype, [&]<class D>(std::type_identity<D>) {
            using T = std::conditional_t<std::is_same_v<D, bool>, std::uint8_t, D>;  // false before true
            const Runs<T> runs{reinterpret_cast<const T*>(a.address()),
                               reinterpret_cast<const T*>(b.address()),
                               a.size(),
                               b.size(),
                               longs(a_places),
                               longs(b_places),
                               reinterpret_cast<T*>(out.address()),
                               longs(places)};
            if (descending)
                merge_runs<T, true>(device, runs, cost);
            else
                merge_runs<T, false>(device, runs, cost);
        });
    });
}

const Registered merge_runs_here(routines::merge_runs, {"threads", DeviceKinds::Processor, cpu_merge_runs});

}  // namespace

}  // namespace pardo::routines
