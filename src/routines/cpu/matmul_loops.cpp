// src/routines/cpu/matmul_loops.cpp: matrix products of dtypes that BLAS does not know: blocks of rows, vectorised along the columns.
#include <algorithm>
#include <memory>
#include <vector>

#include "base/narrow.h"
#include "routines/cpu/task.h"
#include "routines/strided_iterator.h"

namespace pardo::routines {

namespace {

/// What a dtype is computed in: unsigned, so that overflow wraps; bools as bytes of 0 and 1; floats of 16 bits in float32.
template <class T> struct Accumulator { using type = std::make_unsigned_t<T>; };
template <> struct Accumulator<bool> { using type = std::uint8_t; };
template <NarrowFloat T> struct Accumulator<T> { using type = float; };

template <class T> typename Accumulator<T>::type load(const T& value) {
    if constexpr (NarrowFloat<T>)
        return widened_to_float(value);
    else if constexpr (std::is_same_v<T, bool>)
        return reinterpret_cast<const std::uint8_t&>(value) != 0;  // shared memory may hold bytes other than 0 and 1
    else
        return static_cast<typename Accumulator<T>::type>(value);
}
template <class T> T finish(typename Accumulator<T>::type value) {
    if constexpr (NarrowFloat<T>)
        return narrowed_to<T>(value);
    else
        return static_cast<T>(value);
}

/// sum + a * b. Narrow operands would be promoted to int, which the product of two uint16 overflows.
template <class A> [[gnu::always_inline]] inline A multiply_add(A sum, A a, A b) {
    if constexpr (sizeof(A) < sizeof(unsigned))
        return static_cast<A>(static_cast<unsigned>(sum) + static_cast<unsigned>(a) * static_cast<unsigned>(b));
    else
        return sum + a * b;
}

constexpr std::int64_t block_rows = 4, block_columns = 512;

/// sums[r][j] += a[r] * row[j]; for bools or and and.
template <class T, class A>
[[gnu::always_inline]] inline void add_products(A* __restrict s0, A* __restrict s1, A* __restrict s2, A* __restrict s3,
                                                const A* __restrict row, const A* a, std::int64_t columns) {
    const A a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
#pragma GCC ivdep
    for (std::int64_t j = 0; j < columns; ++j) {
        if constexpr (std::is_same_v<T, bool>) {
            s0[j] |= a0 & row[j];
            s1[j] |= a1 & row[j];
            s2[j] |= a2 & row[j];
            s3[j] |= a3 & row[j];
        } else {
            s0[j] = multiply_add(s0[j], a0, row[j]);
            s1[j] = multiply_add(s1[j], a1, row[j]);
            s2[j] = multiply_add(s2[j], a2, row[j]);
            s3[j] = multiply_add(s3[j], a3, row[j]);
        }
    }
}
template <class A> using AddProducts = void (*)(A*, A*, A*, A*, const A*, const A*, std::int64_t);
template <class T, class A>
__attribute__((optimize("O3"))) void add_portable(A* s0, A* s1, A* s2, A* s3, const A* row, const A* a, std::int64_t n) {
    add_products<T, A>(s0, s1, s2, s3, row, a, n);
}
#if defined(__x86_64__)
template <class T, class A>
PARDO_TARGET_AVX2 __attribute__((optimize("O3"))) void add_avx2(A* s0, A* s1, A* s2, A* s3, const A* row, const A* a, std::int64_t n) {
    add_products<T, A>(s0, s1, s2, s3, row, a, n);
}
template <class T, class A>
PARDO_TARGET_AVX512 __attribute__((optimize("O3"))) void add_avx512(A* s0, A* s1, A* s2, A* s3, const A* row, const A* a, std::int64_t n) {
    add_products<T, A>(s0, s1, s2, s3, row, a, n);
}
#endif
template <class T, class A> AddProducts<A> choose() {
#if defined(__x86_64__)
    if (host_simd() == Simd::Avx512) return add_avx512<T, A>;
    if (host_simd() == Simd::Avx2) return add_avx2<T, A>;
#endif
    return add_portable<T, A>;
}

/// One block of up to four rows and 512 columns of one product.
template <class T> struct Block {
    using A = typename Accumulator<T>::type;
    const T *a, *b;
    T* out;
    std::int64_t a_row, b_row, out_row;  // strides
    std::int64_t rows, columns, depth;

    void run(AddProducts<A> add, A (*sums)[block_columns], A* row_copy) const {
        for (int r = 0; r < block_rows; ++r) std::fill_n(sums[r], columns, A(0));
        for (std::int64_t k = 0; k < depth; ++k) {
            A factors[block_rows] = {};
            for (std::int64_t r = 0; r < rows; ++r) factors[r] = load(a[r * a_row + k]);
            const T* row = b + k * b_row;
            const A* values;
            if constexpr (sizeof(A) == sizeof(T) && !std::is_same_v<T, bool>) {
                values = reinterpret_cast<const A*>(row);
            } else {
                for (std::int64_t j = 0; j < columns; ++j) row_copy[j] = load(row[j]);
                values = row_copy;
            }
            add(sums[0], sums[1], sums[2], sums[3], values, factors, columns);
        }
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t j = 0; j < columns; ++j) out[r * out_row + j] = finish<T>(sums[r][j]);
        }
    }
};

template <class T> void multiply(device::Device* device, const Memory& a, const Memory& b, const Memory& out, double cost) {
    using A = typename Accumulator<T>::type;
    const int rank = out.shape.size();
    const std::int64_t m = out.shape[rank - 2], n = out.shape[rank - 1], depth = a.shape[rank - 1];
    const auto batch_of = [rank](const Memory& x) {
        const auto outer = static_cast<std::size_t>(rank - 2);
        return StridedIterator(static_cast<std::span<const std::int64_t>>(x.shape).first(outer),
                               static_cast<std::span<const std::int64_t>>(x.strides).first(outer));
    };
    const StridedIterator batch_a = batch_of(a), batch_b = batch_of(b);
    const std::int64_t down = (m + block_rows - 1) / block_rows, across = (n + block_columns - 1) / block_columns,
                       stack = out.size() / (m * n);
    const T *from_a = reinterpret_cast<const T*>(a.address()), *from_b = reinterpret_cast<const T*>(b.address());
    T* to = reinterpret_cast<T*>(out.address());
    const AddProducts<A> add = choose<T, A>();
    cpu::parallel_for(device, stack * across * down, cost, [&](std::int64_t begin, std::int64_t end) {
        const auto sums = std::make_unique<A[][block_columns]>(block_rows);
        const auto row_copy = std::make_unique<A[]>(block_columns);
        for (std::int64_t part = begin; part < end; ++part) {
            const std::int64_t product = part / (across * down), column = part / down % across * block_columns,
                               row = part % down * block_rows;
            const Block<T> block{from_a + batch_a.offset(product) + row * a.strides[rank - 2],
                                 from_b + batch_b.offset(product) + column,
                                 to + product * m * n + row * n + column,
                                 a.strides[rank - 2],
                                 b.strides[rank - 2],
                                 n,
                                 std::min(block_rows, m - row),
                                 std::min(block_columns, n - column),
                                 depth};
            block.run(add, sums.get(), row_copy.get());
        }
    });
}

/// Integers (modulo 2^bits), bools (or of ands) and floats of 16 bits (accumulated in float32). Columns of a and b are contiguous.
void matmul_loops(device::Queue* queue, const Memory& a, const Memory& b, const Memory& out) {
    const std::int64_t depth = a.shape[a.shape.size() - 1];
    const double cost = static_cast<double>(out.size()) * static_cast<double>(depth) * 0.3 + 300;
    device::Device* device = processor_of(queue);
    const auto task = [=] {
        visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
            if constexpr (std::is_integral_v<T> || NarrowFloat<T>) multiply<T>(device, a, b, out, cost);
        });
    };
    // A multiplication and an addition for each pair.
    submit(queue, "matmul", cost, {&a, &b}, {&out}, task, is_inexact(out.dtype) ? out.size() * depth * 2 : 0);
}

const Registered loops(routines::matmul,
                       {"loops", DeviceKinds::Processor, matmul_loops,
                        [](device::Queue*, const Memory&, const Memory&, const Memory& out) { return !is_blas(out.dtype); }});

}  // namespace

}  // namespace pardo::routines
