// src/lib/cpu/scan.cpp: running sums, products, minima and maxima on the CPU: blocks of cache size, each read from memory once.
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "lib/cpu/task.h"
#include "lib/routines.h"

namespace pardo::lib {

using graph::ReduceOp;

namespace {

/// Elements a block: two of them (input and output) stay in a core's L2 cache. Fixed, so that results do not depend on the threads.
constexpr std::int64_t scan_block = 32768;

// ---- the four operations on scalars and on vectors --------------------------------------------------------------------------------

template <class T> inline constexpr bool is_complex_type = false;
template <class T> inline constexpr bool is_complex_type<std::complex<T>> = true;
template <class T> using Unsigned = std::make_unsigned_t<std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, T, int>>;

struct SumOp {
    template <class T> static T identity() { return T(0); }
    /// What may be added without changing anything, not even the sign of a zero.
    template <class T> static T neutral() { return -T(0); }
    template <class T> [[gnu::always_inline]] static T apply(T a, T b) {
        if constexpr (std::is_same_v<T, bool>)
            return a || b;
        else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
        else
            return a + b;
    }
    template <class V> [[gnu::always_inline]] static void vector(V& a, const V& b) { a = a + b; }
};
struct ProdOp {
    template <class T> static T identity() { return T(1); }
    template <class T> static T neutral() { return T(1); }
    template <class T> [[gnu::always_inline]] static T apply(T a, T b) {
        if constexpr (std::is_same_v<T, bool>)
            return a && b;
        else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<std::uint64_t>(static_cast<Unsigned<T>>(a)) *
                                  static_cast<std::uint64_t>(static_cast<Unsigned<T>>(b)));
        else if constexpr (is_complex_type<T>)
            return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
        else
            return a * b;
    }
    template <class V> [[gnu::always_inline]] static void vector(V& a, const V& b) { a = a * b; }
};
/// True if NumPy's maximum (minimum) of a later b keeps a: NaN wins, the first one of several.
template <bool maximum, class T> [[gnu::always_inline]] inline bool keeps(T a, T b) {
    if constexpr (is_complex_type<T>) {
        const bool nan_a = a.real() != a.real() || a.imag() != a.imag(), nan_b = b.real() != b.real() || b.imag() != b.imag();
        if (nan_a || nan_b) return nan_a;
        if (a.real() != b.real()) return maximum ? a.real() > b.real() : a.real() < b.real();
        return maximum ? a.imag() >= b.imag() : a.imag() <= b.imag();
    } else {
        return (maximum ? a >= b : a <= b) || a != a;  // NOLINT(misc-redundant-expression): NaN
    }
}
template <bool maximum> struct ExtremeOp {
    // Never combined with an element: scans start from their first element.
    template <class T> static T identity() { return T(0); }
    template <class T> [[gnu::always_inline]] static T apply(T a, T b) { return keeps<maximum>(a, b) ? a : b; }
};

/// Types whose lines are scanned in vectors of 64 bytes.
template <class T, class Op>
inline constexpr bool has_vector_scan = (std::is_same_v<Op, SumOp> || std::is_same_v<Op, ProdOp>)&&(sizeof(T) == 4 || sizeof(T) == 8) &&
                                        !is_complex_type<T>;

// ---- one contiguous line ----------------------------------------------------------------------------------------------------------

/// Vectors of unsigned integers in place of signed ones, whose overflow would be undefined.
template <class T> struct LaneOf { using type = T; };
template <> struct LaneOf<std::int32_t> { using type = std::uint32_t; };
template <> struct LaneOf<std::int64_t> { using type = std::uint64_t; };
template <class T> struct Vec {
    using Lane = typename LaneOf<T>::type;
    static constexpr int lanes = 64 / sizeof(T);
    typedef Lane type __attribute__((vector_size(64), may_alias, aligned(alignof(T))));
};

/// Lanes moved up by `by`, `fill` moved in; by reference, because a vector's way of being returned depends on the target.
template <class T, int by, int... i>
[[gnu::always_inline]] inline void shift_lanes(const typename Vec<T>::type& v, const typename Vec<T>::type& fill,
                                               typename Vec<T>::type& out, std::integer_sequence<int, i...>) {
    out = __builtin_shufflevector(fill, v, (i < by ? i : Vec<T>::lanes + i - by)...);
}
template <class T, int by>
[[gnu::always_inline]] inline void shifted(const typename Vec<T>::type& v, const typename Vec<T>::type& fill, typename Vec<T>::type& out) {
    shift_lanes<T, by>(v, fill, out, std::make_integer_sequence<int, Vec<T>::lanes>());
}
/// The last lane in all lanes.
template <class T, int... i>
[[gnu::always_inline]] inline void spread_lane(const typename Vec<T>::type& v, typename Vec<T>::type& out,
                                               std::integer_sequence<int, i...>) {
    out = __builtin_shufflevector(v, v, (Vec<T>::lanes - 1 + 0 * i)...);
}
template <class T> [[gnu::always_inline]] inline void spread_last(const typename Vec<T>::type& v, typename Vec<T>::type& out) {
    spread_lane<T>(v, out, std::make_integer_sequence<int, Vec<T>::lanes>());
}

/// Scans a line, starting with `carry`; returns the last value.
template <class T, class Op> [[gnu::always_inline]] inline T scan_vectors(const T* x, T* out, std::int64_t count, T carry) {
    using V = typename Vec<T>::type;
    using Lane = typename Vec<T>::Lane;
    constexpr int lanes = Vec<T>::lanes;
    const V fill = Op::template neutral<Lane>() - V{};
    V running = static_cast<Lane>(carry) - V{};
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        V v = *reinterpret_cast<const V*>(x + i), moved;
        shifted<T, 1>(v, fill, moved);
        Op::vector(v, moved);
        shifted<T, 2>(v, fill, moved);
        Op::vector(v, moved);
        shifted<T, 4>(v, fill, moved);
        Op::vector(v, moved);
        if constexpr (lanes > 8) {
            shifted<T, 8>(v, fill, moved);
            Op::vector(v, moved);
        }
        // The block's total joins the carry beside the sums themselves: the chain from vector to vector is one operation long.
        V total;
        spread_last<T>(v, total);
        Op::vector(v, running);
        Op::vector(running, total);
        *reinterpret_cast<V*>(out + i) = v;
    }
    T value = static_cast<T>(running[0]);
    for (; i < count; ++i) out[i] = value = Op::apply(value, x[i]);
    return value;
}

/// The operation over a line, in a fixed order of its own.
template <class T, class Op> [[gnu::always_inline]] inline T total_vectors(const T* x, std::int64_t count) {
    using V = typename Vec<T>::type;
    using Lane = typename Vec<T>::Lane;
    constexpr int lanes = Vec<T>::lanes;
    V sums[4];
    for (V& s : sums) s = Op::template neutral<Lane>() - V{};
    std::int64_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
        for (int k = 0; k < 4; ++k) {
            // By value: to a template a reference to a vector that may lie anywhere is one to an aligned vector.
            const V values = *reinterpret_cast<const V*>(x + i + k * lanes);
            Op::vector(sums[k], values);
        }
    }
    Op::vector(sums[0], sums[1]);
    Op::vector(sums[2], sums[3]);
    Op::vector(sums[0], sums[2]);
    T value = static_cast<T>(sums[0][0]);
    for (int k = 1; k < lanes; ++k) value = Op::apply(value, static_cast<T>(sums[0][k]));
    for (; i < count; ++i) value = Op::apply(value, x[i]);
    return value;
}

template <class T, class Op> struct LineFunctions {
    T (*scan)(const T*, T*, std::int64_t, T);
    T (*total)(const T*, std::int64_t);
};
#if defined(__x86_64__)
template <class T, class Op> PARDO_TARGET_AVX512 T scan_avx512(const T* x, T* out, std::int64_t n, T carry) {
    return scan_vectors<T, Op>(x, out, n, carry);
}
template <class T, class Op> PARDO_TARGET_AVX512 T total_avx512(const T* x, std::int64_t n) { return total_vectors<T, Op>(x, n); }
template <class T, class Op> PARDO_TARGET_AVX2 T scan_avx2(const T* x, T* out, std::int64_t n, T carry) {
    return scan_vectors<T, Op>(x, out, n, carry);
}
template <class T, class Op> PARDO_TARGET_AVX2 T total_avx2(const T* x, std::int64_t n) { return total_vectors<T, Op>(x, n); }
#endif
template <class T, class Op> T scan_portable(const T* x, T* out, std::int64_t n, T carry) {
    for (std::int64_t i = 0; i < n; ++i) out[i] = carry = Op::apply(carry, x[i]);
    return carry;
}
template <class T, class Op> T total_portable(const T* x, std::int64_t n) {
    T value = x[0];
    for (std::int64_t i = 1; i < n; ++i) value = Op::apply(value, x[i]);
    return value;
}

template <class T, class Op> LineFunctions<T, Op> line_functions() {
    if constexpr (has_vector_scan<T, Op>) {
#if defined(__x86_64__)
        if (host_simd() == Simd::Avx512) return {scan_avx512<T, Op>, total_avx512<T, Op>};
        if (host_simd() == Simd::Avx2) return {scan_avx2<T, Op>, total_avx2<T, Op>};
#endif
    }
    return {scan_portable<T, Op>, total_portable<T, Op>};
}

// ---- rows: an inner extent above one ----------------------------------------------------------------------------------------------

/// out = op(carry, row), carry = out, over columns that are adjacent.
template <class T, class Op> void scan_row(const T* __restrict row, T* __restrict out, const T* __restrict carry, std::int64_t columns) {
    for (std::int64_t j = 0; j < columns; ++j) out[j] = Op::apply(carry[j], row[j]);
}

// ---- all lines of an array --------------------------------------------------------------------------------------------------------

template <class T, class Op> void scan_lines(device::Device* device, const T* x, T* out, Lines lines, bool initial, double cost) {
    const std::int64_t n = lines.length, columns = lines.inner, out_length = n + initial;
    const LineFunctions<T, Op> line = line_functions<T, Op>();
    if (initial) {
        for (std::int64_t o = 0; o < lines.outer; ++o) std::fill_n(out + o * out_length * columns, columns, Op::template identity<T>());
        out += columns;
    }
    if (n == 0) return;
    const std::int64_t out_step = out_length * columns;
    const std::int64_t block = std::max<std::int64_t>(scan_block / columns, 1);
    const std::int64_t blocks = (n + block - 1) / block;

    if (blocks == 1 && columns == 1) {
        cpu::parallel_for(device, lines.outer, cost, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t o = begin; o < end; ++o) {
                out[o * out_step] = x[o * n];
                line.scan(x + o * n + 1, out + o * out_step + 1, n - 1, x[o * n]);
            }
        });
        return;
    }
    // Wide rows, or enough lines for every thread: whole panels of columns, from top to bottom.
    constexpr std::int64_t panel = 4096 / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t panels = (columns + panel - 1) / panel;
    if (columns > 1 && (lines.outer * panels >= 2 * cpu::thread_count(device) || blocks == 1 || columns >= scan_block)) {
        cpu::parallel_for(device, lines.outer * panels, cost, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t part = begin; part < end; ++part) {
                const std::int64_t o = part / panels, first = part % panels * panel, width = std::min(panel, columns - first);
                const T* from = x + o * n * columns + first;
                T* to = out + o * out_step + first;
                std::copy_n(from, width, to);
                for (std::int64_t i = 1; i < n; ++i) scan_row<T, Op>(from + i * columns, to + i * columns, to + (i - 1) * columns, width);
            }
        });
        return;
    }
    // Long lines: blocks are given out in order. Each thread reduces a block (which brings it into its cache), waits until the blocks
    // before have published their totals, publishes its own, and scans.
    struct alignas(64) Flag {
        std::atomic<bool> ready{false};
    };
    std::vector<Flag> flags(static_cast<std::size_t>(blocks + 1));
    // Not a vector, for bool's sake.
    const auto carries = std::make_unique<T[]>(static_cast<std::size_t>((blocks + 1) * columns));
    for (std::int64_t o = 0; o < lines.outer; ++o) {
        const T* from = x + o * n * columns;
        T* to = out + o * out_step;
        for (Flag& flag : flags) flag.ready.store(false, std::memory_order_relaxed);
        for_each_part(device, blocks, cost / static_cast<double>(lines.outer), [&](std::int64_t b) {
            const std::int64_t begin = b * block, count = std::min(block, n - begin);
            const T* rows = from + begin * columns;
            // The block's total waits where the carry behind it will be: a part that allocated could fail, and leave the others waiting.
            const T* carry = carries.get() + b * columns;
            T* next = carries.get() + (b + 1) * columns;
            if (columns == 1) {
                next[0] = line.total(rows, count);
            } else {
                std::copy_n(rows, columns, next);
                for (std::int64_t i = 1; i < count; ++i) {
                    for (std::int64_t j = 0; j < columns; ++j) next[j] = Op::apply(next[j], rows[i * columns + j]);
                }
            }
            Flag& mine = flags[static_cast<std::size_t>(b)];
            for (int spins = 0; b > 0 && !mine.ready.load(std::memory_order_acquire); ++spins) {
                if (spins > 200) std::this_thread::yield();
            }
            for (std::int64_t j = 0; j < columns && b > 0; ++j) next[j] = Op::apply(carry[j], next[j]);
            flags[static_cast<std::size_t>(b + 1)].ready.store(true, std::memory_order_release);
            T* target = to + begin * columns;
            if (b == 0) {
                std::copy_n(rows, columns, target);
                if (columns == 1) line.scan(rows + 1, target + 1, count - 1, rows[0]);
            } else {
                if (columns == 1)
                    line.scan(rows, target, count, carry[0]);
                else
                    scan_row<T, Op>(rows, target, carry, columns);
            }
            if (columns == 1) return;
            for (std::int64_t i = 1; i < count; ++i)
                scan_row<T, Op>(rows + i * columns, target + i * columns, target + (i - 1) * columns, columns);
        });
    }
}

/// float16: the carry is a float32, each result is rounded once.
template <class Op> void scan_half(device::Device* device, const Half* x, Half* out, Lines lines, bool initial, double cost) {
    const std::int64_t n = lines.length, columns = lines.inner, out_length = n + initial;
    cpu::parallel_for(device, lines.outer * columns, cost, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part) {
            const std::int64_t o = part / columns, j = part % columns;
            const Half* from = x + o * n * columns + j;
            Half* to = out + o * out_length * columns + j;
            if (initial) {
                *to = float_to_half(Op::template identity<float>());
                to += columns;
            }
            if (n == 0) continue;
            float value = half_to_float(*from);
            *to = *from;
            for (std::int64_t i = 1; i < n; ++i) {
                value = Op::apply(value, half_to_float(from[i * columns]));
                to[i * columns] = float_to_half(value);
            }
        }
    });
}

template <class Op> void scan_dtype(device::Device* device, const Memory& x, const Memory& out, Lines lines, bool initial, double cost) {
    visit_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
        const T* from = reinterpret_cast<const T*>(x.address());
        T* to = reinterpret_cast<T*>(out.address());
        if constexpr (std::is_same_v<T, Half>)
            scan_half<Op>(device, from, to, lines, initial, cost);
        else
            scan_lines<T, Op>(device, from, to, lines, initial, cost);
    });
}

void cpu_cumulative(device::Queue* queue, ReduceOp op, const Memory& x, const Memory& out, Lines lines, bool initial) {
    const double cost = static_cast<double>(out.size()) * (x.dtype == DType::Float16 ? 6.0 : 0.8) + 200;
    submit(queue, "cumulative", cost, {&x}, {&out}, [=, device = queue->device()] {
        switch (op) {
            case ReduceOp::Sum: return scan_dtype<SumOp>(device, x, out, lines, initial, cost);
            case ReduceOp::Prod: return scan_dtype<ProdOp>(device, x, out, lines, initial, cost);
            case ReduceOp::Min: return scan_dtype<ExtremeOp<false>>(device, x, out, lines, initial, cost);
            default: return scan_dtype<ExtremeOp<true>>(device, x, out, lines, initial, cost);
        }
    });
}

const Registered cumulative_here(routines::cumulative, {"threads", Place::Host, cpu_cumulative});

}  // namespace

}  // namespace pardo::lib
