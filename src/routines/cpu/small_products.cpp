// src/routines/cpu/small_products.cpp: a row of the result is one vector; several rows at a time keep the units busy.
#include "routines/cpu/small_products.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "routines/cpu/task.h"

namespace pardo::routines {
namespace {

template <class T> constexpr int most_columns = 64 / static_cast<int>(sizeof(T));  // with more, BLAS takes no longer
constexpr std::int64_t most_work = 65536;  // multiplications: above, copies of both matrices gain, and threads

/// A row of N elements as vectors of at most `Width` bytes: as many lanes as the next power of two has, four at least.
template <class T, int N, int Width> struct Row {
    static constexpr int lanes = N <= 4 ? 4 : N <= 8 ? 8 : 16, bytes = std::min(Width, lanes*static_cast<int>(sizeof(T)));
    static constexpr int in_one = bytes / static_cast<int>(sizeof(T)), count = lanes / in_one;
    using V __attribute__((vector_size(bytes))) = T;
    V parts[count];

    /// `whole`: all lanes may be read.
    [[gnu::always_inline]] inline void load(const T* from, bool whole) {
        if (N == lanes || whole) {
            std::memcpy(&parts, from, sizeof parts);
            return;
        }
        for (int c = 0; c < count; ++c) parts[c] = V{};
        for (int j = 0; j < N; ++j) parts[j / in_one][j % in_one] = from[j];  // no copy through memory, which would stall
    }
};

template <class T, int N, int Width, int R>
[[gnu::always_inline]] inline void multiply_rows(const SmallProduct& p, const T* a, const T* b, T* out) {
    using Columns = Row<T, N, Width>;
    Columns sums[R] = {}, row;
    const bool dense = p.b_row == N;  // then what follows a row is the next one
    for (std::int64_t k = 0; k < p.k; ++k) {
        row.load(b + k * p.b_row, dense && k * N + Columns::lanes <= p.k * N);
        for (int r = 0; r < R; ++r) {
            const T factor = a[r * p.a_row + k * p.a_column];
            for (int c = 0; c < Columns::count; ++c) sums[r].parts[c] += factor * row.parts[c];
        }
    }
    for (int r = 0; r < R; ++r) std::memcpy(out + r * N, &sums[r].parts, N * sizeof(T));
}

/// `R`: rows at a time, whose sums fit into the registers.
template <class T, int N, int Width, int R>
[[gnu::always_inline]] inline void multiply(const SmallProduct& p, const T* a, const T* b, T* out) {
    std::int64_t i = 0;
    for (; i + R <= p.m; i += R) multiply_rows<T, N, Width, R>(p, a + i * p.a_row, b, out + i * N);
    if constexpr (R > 1) {
        const SmallProduct rest{p.m - i, p.n, p.k, p.a_row, p.a_column, p.b_row};
        if (rest.m > 0) multiply<T, N, Width, R / 2>(rest, a + i * p.a_row, b, out + i * N);
    }
}

#if defined(__x86_64__)
template <class T, int N> PARDO_TARGET_AVX2 void multiply_avx2(const SmallProduct& p, const T* a, const T* b, T* out) {
    multiply<T, N, 32, 8 / Row<T, N, 32>::count>(p, a, b, out);
}
template <class T, int N> PARDO_TARGET_AVX512 void multiply_avx512(const SmallProduct& p, const T* a, const T* b, T* out) {
    multiply<T, N, 64, 8>(p, a, b, out);
}
template <class T, int... N> MultiplySmall<T> choose(int columns, std::integer_sequence<int, N...>) {
    static constexpr std::array<MultiplySmall<T>, sizeof...(N)> avx2{multiply_avx2<T, N + 2>...}, avx512{multiply_avx512<T, N + 2>...};
    const auto at = static_cast<std::size_t>(columns - 2);
    return host_simd() == Simd::Avx512 ? avx512[at] : host_simd() == Simd::Avx2 ? avx2[at] : nullptr;
}
#else
template <class T, int... N> MultiplySmall<T> choose(int, std::integer_sequence<int, N...>) { return nullptr; }
#endif

}  // namespace

template <class T> MultiplySmall<T> small_product(const SmallProduct& p) {
    if (p.n < 2 || p.n > most_columns<T> || p.m * p.n * p.k > most_work) return nullptr;
    return choose<T>(static_cast<int>(p.n), std::make_integer_sequence<int, most_columns<T> - 1>());
}

template MultiplySmall<float> small_product<float>(const SmallProduct&);
template MultiplySmall<double> small_product<double>(const SmallProduct&);

}  // namespace pardo::routines
