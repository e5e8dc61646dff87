// src/routines/device/kernels/matrices.h: kernel text: what factorizations of large matrices need beside products.
#pragma once

namespace pardo::routines::kernels {

/// Matrices with ones on the diagonal; SIGNS: with the signs of the diagonal of `like`.
inline constexpr char unit_matrices[] = R"(
KERNEL(256) unit_matrices(ARG(T, x), CONST_ARG(T, like), i64 total, i64 rows, i64 columns) {
    BEGIN;
    PTR(T, x);
    CONST_PTR(T, like);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at >= total) return;
    const i64 row = at / columns % rows, column = at % columns;
    V value = row == column ? ONE : ZERO;
#if SIGNS
    if (RE(like[at]) < 0) value = scaled(value, (R)-1);
#endif
    x[at] = value;
}
)";

/// Zeros outside of the upper, or lower, triangle.
inline constexpr char keep_triangle[] = R"(
KERNEL(256) keep_triangle(ARG(T, x), i64 total, i64 rows, i64 columns, i64 upper) {
    BEGIN;
    PTR(T, x);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at >= total) return;
    const i64 row = at / columns % rows, column = at % columns;
    if (upper ? column < row : column > row) x[at] = ZERO;
}
)";

/// Libraries may take NaN for 0. STAGE 0: the numbers of matrices with a NaN become NAN_FOUND; 1: all their results become NaN.
inline constexpr char nan_matrices[] = R"(
#define NAN_FOUND (-2147483647 - 1)
KERNEL(256) nan_matrices(ARG(T, x), ARG(i32, info), i64 total, i64 size) {
    BEGIN;
    PTR(T, x);
    PTR(i32, info);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at >= total) return;
#if STAGE == 0
    const R number = SIZE(x[at]);
    if (number != number) info[at / size] = NAN_FOUND;
#else
    const R zero = info[at / size] == NAN_FOUND ? (R)0 : (R)1;
    if (zero == 0) x[at] = scaled(ONE, zero / zero);
#endif
}
)";

/// Of the numbers that a library leaves, one for each matrix: which is neither 0 nor NAN_FOUND. What reads the results waits for
/// this.
inline constexpr char note_info[] = R"(
KERNEL(256) note_info(CONST_ARG(i32, info), ARG(i32, status), ARG(u8, first), ARG(u8, second), ARG(u8, third), i64 count) {
    BEGIN;
    CONST_PTR(i32, info);
    PTR(i32, status);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at < count && info[at] != 0 && info[at] != -2147483647 - 1) note_failure(status, at, 1);
}
)";

/// Eigenvectors as columns, of those that geev leaves: column by column, and of two that are conjugate the real and the imaginary part.
inline constexpr char eigen_columns[] = R"(
KERNEL(256) eigen_columns(CONST_ARG(T, vectors), CONST_ARG(R, values), ARG(R, out), i64 total, i64 n) {
    BEGIN;
    CONST_PTR(T, vectors);
    CONST_PTR(R, values);
    PTR(R, out);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at >= total) return;
    const i64 matrix = at / (n * n), row = at / n % n, column = at % n;
    GLOBAL const T* own = vectors + matrix * n * n + row;
#if IS_COMPLEX
    const V value = own[column * n];
    const R re = value.re, im = value.im;
#else
    const R side = values[2 * (matrix * n + column) + 1];
    const i64 first = side < 0 && column > 0 ? column - 1 : column;
    const R re = own[first * n], size = side != 0 && first + 1 < n ? own[(first + 1) * n] : (R)0, im = side < 0 ? -size : size;
#endif
    out[2 * at] = re;
    out[2 * at + 1] = im;
}
)";

/// Zeros in the place of elements that are not finite.
inline constexpr char finite_only[] = R"(
KERNEL(256) finite_only(CONST_ARG(T, x), ARG(T, out), i64 total) {
    BEGIN;
    CONST_PTR(T, x);
    PTR(T, out);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at >= total) return;
    const T value = x[at];
    out[at] = IS_FINITE(value) ? value : ZERO;
}
)";

/// Notes matrices with elements that are not finite, for `reason`.
inline constexpr char note_infinite[] = R"(
KERNEL(256) note_infinite(CONST_ARG(T, x), ARG(i32, status), i64 total, i64 size, i64 reason) {
    BEGIN;
    CONST_PTR(T, x);
    PTR(i32, status);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at >= total) return;
    const T value = x[at];
    if (!IS_FINITE(value)) note_failure(status, at / size, (int)reason);
}
)";

/// x with t x = b, in the place of b, for lower triangles t of n <= 32 rows and any number of columns, one an item, `across` groups a
/// matrix. CONJUGATE: t is conjugated; UNIT: its diagonal counts as ones. Each step turns the column by one element, as in
/// small_matrices.h.
inline constexpr char triangle_solve[] = R"(
#define N 32
KERNEL(256) triangle_solve(CONST_ARG(T, t), ARG(T, x), i64 extent, i64 columns, i64 across, i64 t_step, i64 t_row, i64 t_column, i64 x_step,
                           i64 x_row, i64 x_column) {
    BEGIN;
    CONST_PTR(T, t);
    PTR(T, x);
    SHARED V triangle[N * N + N];
    SHARED V inverses[N];
    const int n = (int)extent;
    const i64 matrix = GROUP_ID / across, column = (GROUP_ID - matrix * across) * 256 + LOCAL_ID;
    for (int e = LOCAL_ID; e < N * N + N; e += 256) {
        const int j = e / N, i = e % N;
        V value = ZERO;
        if (i < n && j < n && i >= j) value = t[matrix * t_step + i * t_row + j * t_column];
#if CONJUGATE
        value = conjugate(value);
#endif
        triangle[e] = value;
        if (i == j && i < n) inverses[i] = quotient(ONE, value);
    }
    BARRIER;
    if (column >= columns) return;
    GLOBAL T* own = x + matrix * x_step + column * x_column;
    V v[N];
    UNROLL for (int i = 0; i < N; ++i) {
        v[i] = ZERO;
        if (i < n) v[i] = own[i * x_row];
    }
    for (int p = 0; p < n; ++p) {
        LOCAL const V* below = triangle + p * N + p;
#if UNIT
        const V value = v[0];
#else
        const V rest = minus_product(ONE, inverses[p], below[0]);
        const V value = SIZE(rest) * 1024 < 1 ? product(v[0], inverses[p]) : quotient(v[0], below[0]);
#endif
        own[p * x_row] = value;
        UNROLL for (int i = 1; i < N; ++i) v[i - 1] = minus_product(v[i], below[i], value);
    }
}
)";

/// LU factorization with partial pivoting of some columns of matrices, a group for each matrix, in place. Pivots are counted from `first`.
inline constexpr char lu_panel[] = R"(
KERNEL(256) lu_panel(ARG(T, a), ARG(i32, pivots), i64 step, i64 row, i64 column, i64 rows, i64 columns, i64 first, i64 pivots_step) {
    BEGIN;
    PTR(T, a);
    PTR(i32, pivots);
    SHARED R sizes[256];
    SHARED i32 places[256];
    const int t = LOCAL_ID;
    GLOBAL T* m = a + GROUP_ID * step;
    const i64 wanted = rows < columns ? rows : columns;
    for (i64 p = 0; p < wanted; ++p) {
        R most = (R)-1;
        i32 best = (i32)p;
        for (i64 i = p + t; i < rows; i += 256) {
            const V value = m[i * row + p * column];
            const R size = SIZE(value);
            if (size > most || (size != size && most == most)) {
                most = size;
                best = (i32)i;
            }
        }
        sizes[t] = most;
        places[t] = best;
        BARRIER;
        for (int stride = 128; stride > 0; stride /= 2) {
            if (t < stride) {
                const R one = sizes[t], other = sizes[t + stride];
                if (other > one || (other != other && one == one) || (other == one && places[t + stride] < places[t])) {
                    sizes[t] = other;
                    places[t] = places[t + stride];
                }
            }
            BARRIER;
        }
        const i64 q = places[0];
        if (t == 0) pivots[GROUP_ID * pivots_step + first + p] = (i32)(first + q);
        for (i64 j = t; j < columns && q != p; j += 256) {
            const V value = m[q * row + j * column];
            m[q * row + j * column] = m[p * row + j * column];
            m[p * row + j * column] = value;
        }
        BARRIER;
        const V pivot = m[p * row + p * column];
        for (i64 i = p + 1 + t; i < rows; i += 256) {
            GLOBAL T* own = m + i * row;
            const V factor = IS_ZERO(pivot) ? ZERO : quotient(own[p * column], pivot);
            own[p * column] = factor;
            for (i64 j = p + 1; j < columns; ++j)
                own[j * column] = minus_product(own[j * column], factor, m[p * row + j * column]);
        }
        BARRIER;
    }
}
)";

/// Exchanges rows of matrices by the pivots from `first` to `last`, an item a column, `across` groups a matrix. BASE is what pivots are
/// counted from; BACK: the last one comes first.
inline constexpr char exchange_rows[] = R"(
KERNEL(256) exchange_rows(ARG(T, x), CONST_ARG(i32, pivots), i64 columns, i64 across, i64 step, i64 row, i64 column, i64 first, i64 last,
                          i64 pivots_step, i64 rows) {
    BEGIN;
    PTR(T, x);
    CONST_PTR(i32, pivots);
    const i64 matrix = GROUP_ID / across, at = (GROUP_ID - matrix * across) * 256 + LOCAL_ID;
    if (at >= columns) return;
    GLOBAL T* own = x + matrix * step + at * column;
    for (i64 k = first; k < last; ++k) {
#if BACK
        const i64 p = last - 1 - (k - first);
#else
        const i64 p = k;
#endif
        const i64 q = pivots[matrix * pivots_step + p] - BASE;
        if (q == p || q < 0 || q >= rows) continue;
        const T value = own[q * row];
        own[q * row] = own[p * row];
        own[p * row] = value;
    }
}
)";

/// The determinant of what LU factorization has left, or its sign and logarithm; a group a matrix. Pivots are counted from BASE.
inline constexpr char lu_determinant[] = R"(
KERNEL(256) lu_determinant(CONST_ARG(T, lu), CONST_ARG(i32, pivots), ARG(T, out), ARG(R, logs), i64 n) {
    BEGIN;
    CONST_PTR(T, lu);
    CONST_PTR(i32, pivots);
    PTR(T, out);
    PTR(R, logs);
    SHARED V values[256];
    SHARED R sums[256];
    SHARED i32 zeros[256];
    const int t = LOCAL_ID;
    GLOBAL const T* diagonal = lu + GROUP_ID * n * n;
    V value = ONE;
    R sum = 0;
    int zero = 0;
    for (i64 p = t; p < n; p += 256) {
        V x = diagonal[p * (n + 1)];
        if (pivots[GROUP_ID * n + p] - BASE != p) x = scaled(x, (R)-1);
        zero = zero || IS_ZERO(x);
        value = factor_of(product(value, factor_of(x, &sum)), &sum);
    }
    values[t] = value;
    sums[t] = sum;
    zeros[t] = zero;
    BARRIER;
    if (t > 0) return;
    for (int k = 1; k < 256 && k < n; ++k) {
        value = factor_of(product(value, values[k]), &sum);
        sum += sums[k];
        zero = zero || zeros[k];
    }
    store_determinant(value, sum, zero, out + GROUP_ID, logs + GROUP_ID);
}
)";

/// Where each of `rows` rows has gone by the exchanges of a matrix, in `places`; a group a matrix. Pivots are counted from BASE, and from 0
/// afterwards. SHORT: no more than 4096 rows; else `order` is memory to work in.
inline constexpr char row_places[] = R"(
KERNEL(256) row_places(ARG(i32, pivots), ARG(i32, order), ARG(i64, places), i64 rows, i64 exchanges) {
    BEGIN;
    PTR(i32, pivots);
    PTR(i32, order);
    PTR(i64, places);
    GLOBAL i32* with = pivots + GROUP_ID * exchanges;
#if SHORT
    SHARED i32 own[4096];
#else
    GLOBAL i32* own = order + GROUP_ID * rows;
#endif
    for (i64 i = LOCAL_ID; i < rows; i += 256) own[i] = (i32)i;
    for (i64 p = LOCAL_ID; p < exchanges; p += 256) with[p] -= BASE;
    BARRIER;
    for (i64 p = 0; p < exchanges && LOCAL_ID == 0; ++p) {
        const i32 q = with[p], row = own[p];
        own[p] = own[q];
        own[q] = row;
    }
    BARRIER;
    for (i64 i = LOCAL_ID; i < rows; i += 256) places[GROUP_ID * rows + own[i]] = i;
}
)";

/// Notes exchanges with rows that are not there, `n` for each matrix.
inline constexpr char note_exchanges[] = R"(
KERNEL(256) note_exchanges(CONST_ARG(i32, pivots), ARG(i32, status), i64 total, i64 n) {
    BEGIN;
    CONST_PTR(i32, pivots);
    PTR(i32, status);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at < total && (pivots[at] < 0 || pivots[at] >= n)) note_failure(status, at / n, 1);
}
)";

/// Notes matrices of which an element of the diagonal is zero.
inline constexpr char note_zeros[] = R"(
KERNEL(256) note_zeros(CONST_ARG(T, x), ARG(i32, status), i64 total, i64 n) {
    BEGIN;
    CONST_PTR(T, x);
    PTR(i32, status);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at >= total) return;
    const i64 matrix = at / n, p = at - matrix * n;
    const T value = x[matrix * n * n + p * (n + 1)];
    if (IS_ZERO(value)) note_failure(status, matrix, 1);
}
)";

}  // namespace pardo::routines::kernels
