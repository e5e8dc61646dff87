// src/routines/cpu/scan.cpp: running sums, products, minima and maxima on the CPU: blocks of cache size, each read from memory once.
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/narrow.h"
#include "routines/cpu/task.h"
#include "routines/routines.h"

namespace pardo::routines {

using graph::ReduceOp;

namespace {

/// Elements a block: two of them (input and output) stay in a core's L2 cache. Fixed, so that results do not depend on the threads.
constexpr std::int64_t scan_block = 32768;

// ---- the four operations on scalars and on vectors --------------------------------------------------------------------------------

template <class T> inline constexpr bool is_complex_type = false;
template <class T> inline constexpr bool is_complex_type<std::complex<T>> = true;

struct SumOp {
    template <class T> static T identity() { return T(0); }
    /// What may be added without changing anything, not even the sign of a zero.
    template <class T> static T neutral() { return -T(0); }
    template <class T> [[gnu::always_inline]] static T apply(T a, T b) {
        if constexpr (std::is_same_v<T, bool>)
            return a || b;
        else
            return static_cast<T>(a + b);
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
            return static_cast<T>(static_cast<std::uint64_t>(a) * b);
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

template <class T> struct Vec {
    static constexpr int lanes = 64 / sizeof(T);
    typedef T type __attribute__((vector_size(64)));
    typedef T InArray __attribute__((vector_size(64), may_alias, aligned(alignof(T))));

    // A reference to a vector in an array must not be passed on: a template deduces its type without the attribute, aligned to its size.
    [[gnu::always_inline]] static inline void load(const T* x, type& v) { v = *reinterpret_cast<const InArray*>(x); }
    [[gnu::always_inline]] static inline void store(T* x, const type& v) { *reinterpret_cast<InArray*>(x) = v; }
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

/// Scans a line, starting with `carry`.
template <class T, class Op> [[gnu::always_inline]] inline void scan_vectors(const T* x, T* out, std::int64_t count, T carry) {
    using V = typename Vec<T>::type;
    constexpr int lanes = Vec<T>::lanes;
    const V fill = Op::template neutral<T>() - V{};
    V running = carry - V{};
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        V v, moved;
        Vec<T>::load(x + i, v);
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
        Vec<T>::store(out + i, v);
    }
    T value = running[0];
    for (; i < count; ++i) out[i] = value = Op::apply(value, x[i]);
}

/// The operation over a line, in a fixed order of its own.
template <class T, class Op> [[gnu::always_inline]] inline T total_vectors(const T* x, std::int64_t count) {
    using V = typename Vec<T>::type;
    constexpr int lanes = Vec<T>::lanes;
    V sums[4];
    for (V& s : sums) s = Op::template neutral<T>() - V{};
    std::int64_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
        for (int k = 0; k < 4; ++k) {
            V v;
            Vec<T>::load(x + i + k * lanes, v);
            Op::vector(sums[k], v);
        }
    }
    Op::vector(sums[0], sums[1]);
    Op::vector(sums[2], sums[3]);
    Op::vector(sums[0], sums[2]);
    T value = sums[0][0];
    for (int k = 1; k < lanes; ++k) value = Op::apply(value, sums[0][k]);
    for (; i < count; ++i) value = Op::apply(value, x[i]);
    return value;
}

/// The loops that depend on the elements' type and on the operation: all else is compiled once.
struct Loops {
    std::int64_t bytes;  // of an element
    void (*identity)(char* out, std::int64_t count);
    void (*scan)(const char* x, char* out, std::int64_t count, const char* carry);     // one line, which starts with the carry
    void (*total)(const char* x, std::int64_t count, char* out);                       // of one line
    void (*row)(const char* row, char* out, const char* carry, std::int64_t columns);  // out = op(carry, row)
    void (*fold)(char* into, const char* row, std::int64_t columns);                   // into = op(into, row)
    void (*join)(const char* carry, char* into, std::int64_t columns);                 // into = op(carry, into)
};
template <class T, class Op> struct LoopsOf {
    static T* typed(char* memory) { return reinterpret_cast<T*>(memory); }
    static const T* typed(const char* memory) { return reinterpret_cast<const T*>(memory); }

    static void identity(char* out, std::int64_t count) { std::fill_n(typed(out), count, Op::template identity<T>()); }
    static void scan(const char* x, char* out, std::int64_t count, const char* carry) {
        T value = *typed(carry);
        for (std::int64_t i = 0; i < count; ++i) typed(out)[i] = value = Op::apply(value, typed(x)[i]);
    }
    static void total(const char* x, std::int64_t count, char* out) {
        T value = *typed(x);
        for (std::int64_t i = 1; i < count; ++i) value = Op::apply(value, typed(x)[i]);
        *typed(out) = value;
    }
    static void row(const char* row, char* out, const char* carry, std::int64_t columns) {
        const T* __restrict from = typed(row);
        const T* __restrict before = typed(carry);
        T* __restrict to = typed(out);
        for (std::int64_t j = 0; j < columns; ++j) to[j] = Op::apply(before[j], from[j]);
    }
    static void fold(char* into, const char* row, std::int64_t columns) {
        const T* __restrict from = typed(row);
        T* __restrict to = typed(into);
        for (std::int64_t j = 0; j < columns; ++j) to[j] = Op::apply(to[j], from[j]);
    }
    static void join(const char* carry, char* into, std::int64_t columns) {
        const T* __restrict before = typed(carry);
        T* __restrict to = typed(into);
        for (std::int64_t j = 0; j < columns; ++j) to[j] = Op::apply(before[j], to[j]);
    }
#if defined(__x86_64__)
    PARDO_TARGET_AVX512 static void scan_avx512(const char* x, char* out, std::int64_t count, const char* carry) {
        scan_vectors<T, Op>(typed(x), typed(out), count, *typed(carry));
    }
    PARDO_TARGET_AVX512 static void total_avx512(const char* x, std::int64_t count, char* out) {
        *typed(out) = total_vectors<T, Op>(typed(x), count);
    }
    PARDO_TARGET_AVX2 static void scan_avx2(const char* x, char* out, std::int64_t count, const char* carry) {
        scan_vectors<T, Op>(typed(x), typed(out), count, *typed(carry));
    }
    PARDO_TARGET_AVX2 static void total_avx2(const char* x, std::int64_t count, char* out) {
        *typed(out) = total_vectors<T, Op>(typed(x), count);
    }
#endif

    static Loops loops() {
        Loops out = {sizeof(T), identity, scan, total, row, fold, join};
#if defined(__x86_64__)
        if constexpr (has_vector_scan<T, Op>) {
            const Simd simd = host_simd();
            if (simd != Simd::Portable) {
                out.scan = simd == Simd::Avx512 ? scan_avx512 : scan_avx2;
                out.total = simd == Simd::Avx512 ? total_avx512 : total_avx2;
            }
        }
#endif
        return out;
    }
};

// ---- all lines of an array --------------------------------------------------------------------------------------------------------

void scan_lines(device::Device* device, const Loops& loops, const char* x, char* out, Lines lines, bool initial, double cost) {
    // In bytes: a row is what lies between an element of a line and the next one.
    const std::int64_t n = lines.length, columns = lines.inner, out_length = n + initial, row = columns * loops.bytes;
    if (initial) {
        for (std::int64_t o = 0; o < lines.outer; ++o) loops.identity(out + o * out_length * row, columns);
        out += row;
    }
    if (n == 0) return;
    const std::int64_t block = std::max<std::int64_t>(scan_block / columns, 1);
    const std::int64_t blocks = (n + block - 1) / block;
    const auto copy = [&](const char* from, char* to, std::int64_t count) {
        std::memcpy(to, from, static_cast<std::size_t>(count * loops.bytes));
    };

    if (blocks == 1 && columns == 1) {
        cpu::parallel_for(device, lines.outer, cost, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t o = begin; o < end; ++o) {
                const char* from = x + o * n * row;
                char* to = out + o * out_length * row;
                copy(from, to, 1);
                loops.scan(from + row, to + row, n - 1, from);
            }
        });
        return;
    }
    // Wide rows: panels of columns, from top to bottom, as narrow as it takes for every thread to have some. Where they are taken depends
    // on the shape alone, because blocks round sums in another way.
    constexpr std::int64_t widest = 4096, narrowest = 256, some = 16;  // bytes, panels
    const auto panels_of = [&](std::int64_t bytes) { return (row + bytes - 1) / bytes; };
    if (columns > 1 && (blocks == 1 || lines.outer * panels_of(narrowest) >= some)) {
        std::int64_t bytes = widest;
        while (bytes > narrowest && lines.outer * panels_of(bytes) < 2 * cpu::thread_count(device)) bytes /= 2;
        const std::int64_t panel = bytes / loops.bytes, panels = panels_of(bytes);
        cpu::parallel_for(device, lines.outer * panels, cost, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t part = begin; part < end; ++part) {
                const std::int64_t o = part / panels, first = part % panels * panel, width = std::min(panel, columns - first);
                const char* from = x + o * n * row + first * loops.bytes;
                char* to = out + o * out_length * row + first * loops.bytes;
                copy(from, to, width);
                for (std::int64_t i = 1; i < n; ++i) loops.row(from + i * row, to + i * row, to + (i - 1) * row, width);
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
    const auto carries = std::make_unique<std::max_align_t[]>(static_cast<std::size_t>((blocks + 1) * row) / sizeof(std::max_align_t) + 1);
    for (std::int64_t o = 0; o < lines.outer; ++o) {
        const char* from = x + o * n * row;
        char* to = out + o * out_length * row;
        for (Flag& flag : flags) flag.ready.store(false, std::memory_order_relaxed);
        for_each_part(device, blocks, cost / static_cast<double>(lines.outer), [&](std::int64_t b) {
            const std::int64_t begin = b * block, count = std::min(block, n - begin);
            const char* rows = from + begin * row;
            // The block's total waits where the carry behind it will be: a part that allocated could fail, and leave the others waiting.
            const char* carry = reinterpret_cast<const char*>(carries.get()) + b * row;
            char* next = reinterpret_cast<char*>(carries.get()) + (b + 1) * row;
            if (columns == 1) {
                loops.total(rows, count, next);
            } else {
                copy(rows, next, columns);
                for (std::int64_t i = 1; i < count; ++i) loops.fold(next, rows + i * row, columns);
            }
            Flag& mine = flags[static_cast<std::size_t>(b)];
            for (int spins = 0; b > 0 && !mine.ready.load(std::memory_order_acquire); ++spins) {
                if (spins > 200) std::this_thread::yield();
            }
            if (b > 0) loops.join(carry, next, columns);
            flags[static_cast<std::size_t>(b + 1)].ready.store(true, std::memory_order_release);
            char* target = to + begin * row;
            if (b == 0) {
                copy(rows, target, columns);
                if (columns == 1) loops.scan(rows + row, target + row, count - 1, rows);
            } else if (columns == 1) {
                loops.scan(rows, target, count, carry);
            } else {
                loops.row(rows, target, carry, columns);
            }
            if (columns == 1) return;
            for (std::int64_t i = 1; i < count; ++i) loops.row(rows + i * row, target + i * row, target + (i - 1) * row, columns);
        });
    }
}

/// Floats of 16 bits: the carry is a float32, each result is rounded once.
template <class Op, NarrowFloat T> void scan_narrow(device::Device* device, const T* x, T* out, Lines lines, bool initial, double cost) {
    const std::int64_t n = lines.length, columns = lines.inner, out_length = n + initial;
    cpu::parallel_for(device, lines.outer * columns, cost, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part) {
            const std::int64_t o = part / columns, j = part % columns;
            const T* from = x + o * n * columns + j;
            T* to = out + o * out_length * columns + j;
            if (initial) {
                *to = narrowed_to<T>(Op::template identity<float>());
                to += columns;
            }
            if (n == 0) continue;
            float value = widened_to_float(*from);
            *to = *from;
            for (std::int64_t i = 1; i < n; ++i) {
                value = Op::apply(value, widened_to_float(from[i * columns]));
                to[i * columns] = narrowed_to<T>(value);
            }
        }
    });
}

/// Those of a dtype that is no float of 16 bits. Sums and products of signed integers are those of unsigned ones, bit by bit.
template <class Op> Loops loops_for(DType dtype) {
    Loops loops{};
    visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
        if constexpr (NarrowFloat<T>)
            return;
        else if constexpr ((std::is_same_v<Op, SumOp> || std::is_same_v<Op, ProdOp>)&&std::is_integral_v<T> && !std::is_same_v<T, bool>)
            loops = LoopsOf<std::make_unsigned_t<T>, Op>::loops();
        else
            loops = LoopsOf<T, Op>::loops();
    });
    return loops;
}

template <class Op> void scan_dtype(device::Device* device, const Memory& x, const Memory& out, Lines lines, bool initial, double cost) {
    if (!is_narrow_float(x.dtype)) return scan_lines(device, loops_for<Op>(x.dtype), x.address(), out.address(), lines, initial, cost);
    visit_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
        if constexpr (NarrowFloat<T>)
            scan_narrow<Op>(device, reinterpret_cast<const T*>(x.address()), reinterpret_cast<T*>(out.address()), lines, initial, cost);
    });
}

void cpu_cumulative(device::Queue* queue, ReduceOp op, const Memory& x, const Memory& out, Lines lines, bool initial) {
    const double cost = static_cast<double>(out.size()) * (is_narrow_float(x.dtype) ? 6.0 : 0.8) + 200;
    submit(queue, "cumulative", cost, {&x}, {&out}, [=, device = processor_of(queue)] {
        switch (op) {
            case ReduceOp::Sum: return scan_dtype<SumOp>(device, x, out, lines, initial, cost);
            case ReduceOp::Prod: return scan_dtype<ProdOp>(device, x, out, lines, initial, cost);
            case ReduceOp::Min: return scan_dtype<ExtremeOp<false>>(device, x, out, lines, initial, cost);
            default: return scan_dtype<ExtremeOp<true>>(device, x, out, lines, initial, cost);
        }
    });
}

const Registered cumulative_here(routines::cumulative, {"threads", DeviceKinds::Processor, cpu_cumulative});

}  // namespace

}  // namespace pardo::routines
