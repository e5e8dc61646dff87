// src/routines/device/kernels/small_matrices.h: kernel text: stacks of small matrices, a team of items each, an item a row or a column.
#pragma once

namespace pardo::routines::kernels {

/// Arithmetic of real and complex values under the same names; SIZE(x) is what pivots are compared by, POWER(x, by) is x by a power of two.
inline constexpr char arithmetic[] = R"(
/* OpenCL may fuse a product and a sum if the processor can; CUDA's processors all can, if they are told to. */
#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT ON
#define FUSED(a, b, s) ((s) + (a) * (b))
#else
#define FUSED(a, b, s) fma(a, b, s)
#endif
#if IS_COMPLEX
#define ZERO make_complex((R)0, (R)0)
#define ONE make_complex((R)1, (R)0)
#define RE(x) ((x).re)
#define SIZE(x) (fabs((x).re) + fabs((x).im))
#define POWER(x, by) make_complex(ldexp((x).re, by), ldexp((x).im, by))
#define IS_ZERO(x) ((x).re == 0 && (x).im == 0)
#define IS_FINITE(x) ((x).re - (x).re == 0 && (x).im - (x).im == 0)
FN V minus_product(V s, V a, V b) {
    s.re = FUSED(a.im, b.im, FUSED(-a.re, b.re, s.re));
    s.im = FUSED(-a.im, b.re, FUSED(-a.re, b.im, s.im));
    return s;
}
FN V product(V a, V b) { return minus_product(ZERO, make_complex(-a.re, -a.im), b); }
FN V scaled(V a, R by) { return make_complex(a.re * by, a.im * by); }
FN V conjugate(V a) { return make_complex(a.re, -a.im); }
/* Smith's method. */
FN V quotient(V a, V b) {
    if (fabs(b.re) >= fabs(b.im)) {
        const R ratio = b.im / b.re, below = b.re + b.im * ratio;
        return make_complex((a.re + a.im * ratio) / below, (a.im - a.re * ratio) / below);
    }
    const R ratio = b.re / b.im, below = b.im + b.re * ratio;
    return make_complex((a.re * ratio + a.im) / below, (a.im * ratio - a.re) / below);
}
#else
#define ZERO ((V)0)
#define ONE ((V)1)
#define RE(x) (x)
#define SIZE(x) fabs(x)
#define POWER(x, by) ldexp(x, by)
#define IS_ZERO(x) ((x) == 0)
#define IS_FINITE(x) ((x) - (x) == 0)
#define minus_product(s, a, b) FUSED(-(a), b, s)
#define product(a, b) ((a) * (b))
#define scaled(a, by) ((a) * (by))
#define conjugate(a) (a)
#define quotient(a, b) ((a) / (b))
#endif
#if T_SIZE / (1 + IS_COMPLEX) == 4
#define INFINITE F32_BITS(0x7f800000u)
#else
#define INFINITE F64_BITS(0x7ff0000000000000u)
#endif
)";

/// A matrix that cannot be worked on: the first one stays. Elements that are not finite are noted as 0, all else as 1.
inline constexpr char noting[] = R"(
FN void note_failure(GLOBAL i32* status, i64 matrix, int reason) {
    ATOMIC_MAX_GLOBAL(status, 0x7fffffff - (2 * (int)matrix + reason));
}
)";

/// Determinants by their pivots: TASK 0, or their signs and logarithms: TASK 1.
inline constexpr char determinants[] = R"(
/* A pivot as a factor, and what is added up beside: TASK 0: a number near 1, and its exponent; 1: a sign, and a logarithm. */
FN V factor_of(V pivot, R* sum) {
#if TASK == 1
#if IS_COMPLEX
    const R size = hypot(pivot.re, pivot.im);
    *sum += log(size);
    return make_complex(pivot.re / size, pivot.im / size);
#else
    *sum += log(fabs(pivot));
    return pivot < 0 ? (V)-1 : pivot > 0 ? (V)1 : pivot;
#endif
#else
#if IS_COMPLEX
    const R size = fabs(pivot.re) > fabs(pivot.im) ? fabs(pivot.re) : fabs(pivot.im);
#else
    const R size = fabs(pivot);
#endif
    int exponent = 0;
    frexp(size, &exponent);
    if (!(size > 0) || size - size != 0) exponent = 0;
    *sum += (R)exponent;
    return POWER(pivot, -exponent);
#endif
}
FN void store_determinant(V value, R sum, int zero, GLOBAL T* out, GLOBAL R* logs) {
#if TASK == 1
    *out = zero ? ZERO : value;
    *logs = zero ? -INFINITE : sum;
#else
    /* Exponents may be many, and ldexp takes an int. */
    const int by = sum > 100000 ? 100000 : sum < -100000 ? -100000 : (int)sum;
    *out = zero ? ZERO : POWER(value, by);
#endif
}
)";

/// What lu_small and lu_alone are given.
inline constexpr char lu_arguments[] = R"(
#define LU_ARGS                                                                                                                     \
    CONST_ARG(T, a), CONST_ARG(T, b), ARG(T, out), ARG(R, logs), ARG(i32, status), i64 count, i64 extent, i64 a_row, i64 a_column, \
        i64 sides, i64 slices, i64 width, i64 out_row, i64 out_column, i64 check_finite, i64 nan_where_singular
#define LU_POINTERS   \
    CONST_PTR(T, a);  \
    CONST_PTR(T, b);  \
    PTR(T, out);      \
    PTR(R, logs);     \
    PTR(i32, status)
)";

/// EXTENT items, a power of two up to 32, are a team; the items of a team are next to each other in a group of 256.
inline constexpr char teams[] = R"(
#define TEAMS (256 / EXTENT)
#ifdef __OPENCL_VERSION__
#define TEAM_BARRIER BARRIER
#else
#define TEAM_BARRIER __syncwarp()
#endif
)";

/// LU factorization with partial pivoting, an item a row. TASK 0: determinants, 1: their signs and logarithms, 2: solutions for `sides`
/// columns of b, 3: the same for the unit matrix. SIDES columns are worked on at a time, `width` (a multiple) by one team.
///
/// After each step all rows are turned by one element, so that the column at hand is always the first: registers have no numbers that only
/// the running program knows. Rows stay where they are; each item knows the step whose pivot its row was.
inline constexpr char lu_small[] = R"(
#define WIDE (EXTENT + SIDES)
/* The first item with the largest number. */
#ifdef __OPENCL_VERSION__
FN int largest(R size, int lane, LOCAL R* sizes) {
    sizes[lane] = size;
    BARRIER;
    int best = 0;
    for (int i = 1; i < EXTENT; ++i) best = sizes[i] > sizes[best] ? i : best;
    return best;
}
#else
FN int largest(R size, int lane, R* sizes) {
    int best = lane;
    UNROLL for (int step = EXTENT / 2; step > 0; step /= 2) {
        const R other = __shfl_xor_sync(0xffffffffu, size, step, EXTENT);
        const int place = __shfl_xor_sync(0xffffffffu, best, step, EXTENT);
        const int better = other > size || (other == size && place < best);
        size = better ? other : size;
        best = better ? place : best;
    }
    return best;
}
#endif
#if TASK >= 2
/* x / d: x * r where has_inverse, with r = 1 / d; else by division, because 1 / d overflows. */
FN V divide_by(V x, V d, V r, int has_inverse) { return has_inverse ? product(x, r) : quotient(x, d); }
#endif
KERNEL(256) lu_small(LU_ARGS) {
    BEGIN;
    LU_POINTERS;
    SHARED V rows[2 * TEAMS * WIDE];
#ifdef __OPENCL_VERSION__
    SHARED R sizes[256];
    LOCAL R* team_sizes = sizes + LOCAL_ID / EXTENT * EXTENT;
#else
    R* team_sizes = 0;
#endif
    const int n = (int)extent, lane = LOCAL_ID % EXTENT, team = LOCAL_ID / EXTENT, all = (int)width;
    /* Teams without a matrix do what the last one does, and store nothing. */
    const i64 last = count * slices - 1, asked = GROUP_ID * TEAMS + team, task = asked < last ? asked : last;
    const i64 matrix = task / slices;
    const int here = asked <= last && lane < n;
    GLOBAL const T* from = a + matrix * n * n + lane * a_row;
    V own[EXTENT];
    int finite = 1;
    UNROLL for (int j = 0; j < EXTENT; ++j) {
        own[j] = ZERO;
        if (lane < n && j < n) own[j] = from[j * a_column];
        finite = finite && IS_FINITE(own[j]);
    }
#if TASK >= 2
    const i64 begin = (task - matrix * slices) * width;
    GLOBAL const T* sides_from = b + (matrix * n + lane) * sides;
    V right[SIDES];
#define LOAD_SIDES(first)                                                                              \
    UNROLL for (int c = 0; c < SIDES; ++c) {                                                           \
        right[c] = ZERO;                                                                               \
        if (TASK == 2 && lane < n && begin + (first) + c < sides) right[c] = sides_from[begin + (first) + c]; \
        if (TASK == 3 && lane == begin + (first) + c) right[c] = ONE;                                  \
        finite = finite && IS_FINITE(right[c]);                                                        \
    }
    LOAD_SIDES(0)
#endif
    V pivot_here = ONE;
    int step = lane < n ? -1 : EXTENT, singular = 0, odd = 0, turn = 0;
    u32 left = 0xffffffffu >> (32 - n);
#define NEXT_ROW (rows + ((turn ^= 1) * TEAMS + team) * WIDE)
    for (int p = 0; p < n; ++p) {
        R size = step < 0 ? SIZE(own[0]) : (R)-1;
        if (size != size) size = INFINITE;
        const int best = largest(size, lane, team_sizes);
        LOCAL V* row = NEXT_ROW;
        if (lane == best) {
            step = p;
            /* What has been turned past the end is the lower factor, of which nothing is taken away. */
            UNROLL for (int j = 0; j < EXTENT; ++j) row[j] = p + j < EXTENT ? own[j] : ZERO;
#if TASK >= 2
            UNROLL for (int c = 0; c < SIDES; ++c) row[EXTENT + c] = right[c];
            pivot_here = own[0];
#endif
        }
        TEAM_BARRIER;
        const V pivot = row[0], first = own[0];
        singular = singular || IS_ZERO(pivot);
#if TASK < 2
        if (lane == p) pivot_here = pivot;
        odd ^= POPCOUNT(left & ((1u << best) - 1u)) & 1;
        left &= ~(1u << best);
#endif
        if (step < 0) {
            const V factor = IS_ZERO(pivot) ? ZERO : quotient(first, pivot);
            UNROLL for (int j = 1; j < EXTENT; ++j) own[j - 1] = minus_product(own[j], factor, row[j]);
            own[EXTENT - 1] = factor;
#if TASK >= 2
            UNROLL for (int c = 0; c < SIDES; ++c) right[c] = minus_product(right[c], factor, row[EXTENT + c]);
#endif
        } else {
            UNROLL for (int j = 1; j < EXTENT; ++j) own[j - 1] = own[j];
            own[EXTENT - 1] = first;
        }
    }
#if TASK >= 2
    if (here && check_finite && !finite) note_failure(status, matrix, 0);
    if (here && singular && !nan_where_singular) note_failure(status, matrix, 1);
    const V inverse = quotient(ONE, pivot_here);
    const V rest = minus_product(ONE, inverse, pivot_here);
    const int has_inverse = SIZE(rest) * 1024 < 1;
    for (int c0 = 0; c0 < all; c0 += SIDES) {
        if (c0 > 0) {
            LOAD_SIDES(c0)
            if (here && check_finite && !finite) note_failure(status, matrix, 0);
            for (int p = 0; p < n; ++p) {
                LOCAL V* row = NEXT_ROW;
                if (step == p) {
                    UNROLL for (int c = 0; c < SIDES; ++c) row[c] = right[c];
                }
                TEAM_BARRIER;
                const V first = own[0];
                if (step > p && lane < n) {
                    UNROLL for (int c = 0; c < SIDES; ++c) right[c] = minus_product(right[c], first, row[c]);
                }
                UNROLL for (int j = 1; j < EXTENT; ++j) own[j - 1] = own[j];
                own[EXTENT - 1] = first;
            }
        }
        /* The rows have been turned n times: column n - 1 is the last. */
        for (int p = n - 1; p >= 0; --p) {
            LOCAL V* row = NEXT_ROW;
            const V end = own[EXTENT - 1];
            if (step == p) {
                UNROLL for (int c = 0; c < SIDES; ++c) {
                    right[c] = divide_by(right[c], end, inverse, has_inverse);
                    row[c] = right[c];
                }
            }
            TEAM_BARRIER;
            if (step < p) {
                UNROLL for (int c = 0; c < SIDES; ++c) right[c] = minus_product(right[c], end, row[c]);
            }
            UNROLL for (int j = EXTENT - 1; j > 0; --j) own[j] = own[j - 1];
            own[0] = end;
        }
        const V no_number = scaled(ONE, INFINITE - INFINITE);
        GLOBAL T* to = out + matrix * n * sides + step * out_row;
        UNROLL for (int c = 0; c < SIDES; ++c) {
            if (here && begin + c0 + c < sides && c0 + c < all) to[(begin + c0 + c) * out_column] = singular ? no_number : right[c];
        }
    }
#else
    /* What is made of each pivot, then its product or sum by the first item. */
    LOCAL V* numbers = rows + team * WIDE;
    SHARED R reals[256];
    LOCAL R* real = reals + team * EXTENT;
    TEAM_BARRIER;
    R part = 0;
    numbers[lane] = factor_of(pivot_here, &part);
    real[lane] = part;
    TEAM_BARRIER;
    if (lane > 0 || !here) return;
    V value = odd ? scaled(ONE, (R)-1) : ONE;
    R sum = 0;
    for (int p = 0; p < n; ++p) {
        value = product(value, numbers[p]);
        sum += real[p];
    }
    store_determinant(value, sum, singular, out + matrix, logs + matrix);
#endif
}
)";

/// Cholesky factorization, an item a column of the lower factor, with zeros above it; columns are turned as the rows of lu_small. With
/// steps of rows and columns exchanged it is the upper factor of the upper triangle.
inline constexpr char cholesky_small[] = R"(
KERNEL(256) cholesky_small(CONST_ARG(T, a), ARG(T, out), ARG(i32, status), i64 count, i64 extent, i64 step, i64 row, i64 column,
                           i64 check_finite) {
    BEGIN;
    CONST_PTR(T, a);
    PTR(T, out);
    PTR(i32, status);
    SHARED V columns[2 * 256];
    const int n = (int)extent, lane = LOCAL_ID % EXTENT, team = LOCAL_ID / EXTENT;
    const i64 asked = GROUP_ID * TEAMS + team, matrix = asked < count ? asked : count - 1;
    const int here = asked < count && lane < n;
    const i64 at = matrix * step + lane * column;
    V own[EXTENT];
    int finite = 1, failed = 0, turn = 0;
    UNROLL for (int i = 0; i < EXTENT; ++i) {
        own[i] = ZERO;
        if (lane < n && i < n) own[i] = a[at + i * row];
        finite = finite && IS_FINITE(own[i]);
    }
    for (int p = 0; p < n; ++p) {
        LOCAL V* pivot = columns + ((turn ^= 1) * TEAMS + team) * EXTENT;
        if (lane == p) {
            const R square = RE(own[0]), root = sqrt(square), inverse = (R)1 / root;
            failed = square <= 0;
            own[0] = scaled(ONE, root);
            pivot[0] = own[0];
            UNROLL for (int i = 1; i < EXTENT; ++i) {
                own[i] = scaled(own[i], inverse);
                pivot[i] = own[i];
            }
        }
        TEAM_BARRIER;
        const V first = own[0];
        if (lane > p) {
            const V factor = conjugate(pivot[lane - p]);
            UNROLL for (int i = 1; i < EXTENT; ++i) own[i - 1] = minus_product(own[i], pivot[i], factor);
        } else {
            UNROLL for (int i = 1; i < EXTENT; ++i) own[i - 1] = own[i];
        }
        own[EXTENT - 1] = first;
    }
    if (here && check_finite && !finite) note_failure(status, matrix, 0);
    if (here && failed) note_failure(status, matrix, 1);
    UNROLL for (int i = 0; i < EXTENT; ++i) {
        const int place = (i + n) % EXTENT;
        if (here && place < n) out[at + place * row] = place >= lane ? own[i] : ZERO;
    }
}
)";

/// The same with one item for each matrix, for processors, whose compilers take long for items that wait for each other.
inline constexpr char lu_alone[] = R"(
KERNEL(256) lu_alone(LU_ARGS) {
    BEGIN;
    LU_POINTERS;
    const i64 task = GROUP_ID * 256 + LOCAL_ID, matrix = task / slices;
    if (task >= count * slices) return;
    const int n = (int)extent;
    V m[EXTENT][EXTENT];
    int from[EXTENT];
    int finite = 1, singular = 0, odd = 0;
    for (int i = 0; i < n; ++i) {
        from[i] = i;
        for (int j = 0; j < n; ++j) {
            m[i][j] = a[matrix * n * n + i * a_row + j * a_column];
            finite = finite && IS_FINITE(m[i][j]);
        }
    }
    for (int p = 0; p < n; ++p) {
        int best = p;
        R most = SIZE(m[p][p]);
        for (int i = p + 1; i < n; ++i) {
            const R size = SIZE(m[i][p]);
            if (size > most || (size != size && most == most)) {
                best = i;
                most = size;
            }
        }
        const V pivot = m[best][p];
        singular = singular || IS_ZERO(pivot);
        odd ^= best != p;
        const int row = from[best];
        from[best] = from[p];
        from[p] = row;
        for (int j = 0; j < n; ++j) {
            const V moved = m[best][j];
            m[best][j] = m[p][j];
            m[p][j] = moved;
        }
        for (int i = p + 1; i < n; ++i) {
            const V factor = IS_ZERO(pivot) ? ZERO : quotient(m[i][p], pivot);
            m[i][p] = factor;
            for (int j = p + 1; j < n; ++j) m[i][j] = minus_product(m[i][j], factor, m[p][j]);
        }
    }
#if TASK >= 2
    const V no_number = scaled(ONE, INFINITE - INFINITE);
    const i64 begin = (task - matrix * slices) * width;
    for (i64 c = begin; c < begin + width && c < sides; ++c) {
        V x[EXTENT];
        for (int i = 0; i < n; ++i) {
#if TASK == 2
            x[i] = b[(matrix * n + from[i]) * sides + c];
            finite = finite && IS_FINITE(x[i]);
#else
            x[i] = from[i] == c ? ONE : ZERO;
#endif
            for (int p = 0; p < i; ++p) x[i] = minus_product(x[i], m[i][p], x[p]);
        }
        for (int i = n - 1; i >= 0; --i) {
            for (int p = i + 1; p < n; ++p) x[i] = minus_product(x[i], m[i][p], x[p]);
            x[i] = quotient(x[i], m[i][i]);
            out[matrix * n * sides + i * out_row + c * out_column] = singular ? no_number : x[i];
        }
    }
    if (check_finite && !finite) note_failure(status, matrix, 0);
    if (singular && !nan_where_singular) note_failure(status, matrix, 1);
#else
    V value = odd ? scaled(ONE, (R)-1) : ONE;
    R sum = 0;
    for (int p = 0; p < n; ++p) value = product(value, factor_of(m[p][p], &sum));
    store_determinant(value, sum, singular, out + matrix, logs + matrix);
#endif
}
)";

/// As cholesky_small.
inline constexpr char cholesky_alone[] = R"(
KERNEL(256) cholesky_alone(CONST_ARG(T, a), ARG(T, out), ARG(i32, status), i64 count, i64 extent, i64 step, i64 row, i64 column,
                           i64 check_finite) {
    BEGIN;
    CONST_PTR(T, a);
    PTR(T, out);
    PTR(i32, status);
    const i64 matrix = GROUP_ID * 256 + LOCAL_ID, at = matrix * step;
    if (matrix >= count) return;
    const int n = (int)extent;
    V m[EXTENT][EXTENT];
    int finite = 1, failed = 0;
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
            m[i][j] = a[at + i * row + j * column];
            finite = finite && IS_FINITE(m[i][j]);
        }
    }
    for (int p = 0; p < n; ++p) {
        const R square = RE(m[p][p]), root = sqrt(square), inverse = (R)1 / root;
        failed = failed || square <= 0;
        m[p][p] = scaled(ONE, root);
        for (int i = p + 1; i < n; ++i) m[i][p] = scaled(m[i][p], inverse);
        for (int i = p + 1; i < n; ++i) {
            for (int j = p + 1; j <= i; ++j) m[i][j] = minus_product(m[i][j], m[i][p], conjugate(m[j][p]));
        }
    }
    if (check_finite && !finite) note_failure(status, matrix, 0);
    if (failed) note_failure(status, matrix, 1);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) out[at + i * row + j * column] = j <= i ? m[i][j] : ZERO;
    }
}
)";

}  // namespace pardo::routines::kernels
