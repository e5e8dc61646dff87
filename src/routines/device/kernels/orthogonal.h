// src/routines/device/kernels/orthogonal.h: kernel text: orthogonal transformations: Householder's reflections, Jacobi's rotations.
#pragma once

namespace pardo::routines::kernels {

/// 1 << TEAM_BITS items, next to each other in a group, work on one thing: 1, up to 32, or all 256. Teams without anything to do go
/// along, because barriers of OpenCL are for whole groups, and store nothing.
inline constexpr char team_sums[] = R"(
#define TEAM (1 << TEAM_BITS)
#define TEAMS (256 / TEAM)
#if TEAM == 1
#define TEAM_BARRIER
#define TEAM_NUMBERS LOCAL R* numbers = 0
#else
#define TEAM_NUMBERS SHARED R numbers[256]
#if defined(__OPENCL_VERSION__) || TEAM > 32
#define TEAM_BARRIER BARRIER
#else
#define TEAM_BARRIER __syncwarp()
#endif
#endif
#define larger(a, b) ((b) > (a) ? (b) : (a))
#define sum_of(a, b) ((a) + (b))
#if TEAM == 1
#define TEAM_FUNCTION(name, of) \
    FN R name(R x, LOCAL R* numbers) { return x; }
#elif defined(__OPENCL_VERSION__) || TEAM > 32
#define TEAM_FUNCTION(name, of)                                                   \
    FN R name(R x, LOCAL R* numbers) {                                            \
        const int t = LOCAL_ID, lane = t % TEAM;                                  \
        TEAM_BARRIER;                                                             \
        numbers[t] = x;                                                           \
        TEAM_BARRIER;                                                             \
        for (int step = TEAM / 2; step > 0; step /= 2) {                          \
            if (lane < step) numbers[t] = of(numbers[t], numbers[t + step]);      \
            TEAM_BARRIER;                                                         \
        }                                                                         \
        return numbers[t - lane];                                                 \
    }
#else
#define TEAM_FUNCTION(name, of)                                                   \
    FN R name(R x, LOCAL R* numbers) {                                            \
        UNROLL for (int step = TEAM / 2; step > 0; step /= 2) {                   \
            const R other = __shfl_xor_sync(0xffffffffu, x, step, TEAM);          \
            x = of(x, other);                                                     \
        }                                                                         \
        return x;                                                                 \
    }
#endif
TEAM_FUNCTION(team_sum, sum_of)
TEAM_FUNCTION(team_most, larger)
/* s + conj(a) b, and the sum of its parts over a team. */
#if IS_COMPLEX
#define LENGTH(x) hypot((x).re, (x).im)
#define SQUARE(x) ((x).re * (x).re + (x).im * (x).im)
FN V plus_inner(V s, V a, V b) {
    s.re = FUSED(a.im, b.im, FUSED(a.re, b.re, s.re));
    s.im = FUSED(-a.im, b.re, FUSED(a.re, b.im, s.im));
    return s;
}
FN V team_total(V x, LOCAL R* numbers) {
    const R re = team_sum(x.re, numbers);
    return make_complex(re, team_sum(x.im, numbers));
}
#else
#define LENGTH(x) fabs(x)
#define SQUARE(x) ((x) * (x))
#define plus_inner(s, a, b) FUSED(a, b, s)
#define team_total(x, numbers) team_sum(x, numbers)
#endif
)";

/// Householder's reflections I - f v vᴴ of a panel's columns, whose product's adjoint makes the panel an upper triangle, in its place;
/// below it the vectors without their ones. In `v` they are whole, and zero where nothing is reflected; `factors` are f. The product is I -
/// V T Vᴴ: `m` gets -T⁻¹, upper triangles, of 16 columns. A team a matrix.
inline constexpr char qr_panel[] = R"(
#if IS_COMPLEX
FN V share(V x, R unit) { return make_complex(x.re / unit, x.im / unit); }
#else
#define share(x, unit) ((x) / (unit))
#endif
KERNEL(256) qr_panel(ARG(T, a), ARG(T, v), ARG(T, m), ARG(T, factors), i64 count, i64 rows, i64 columns, i64 a_step, i64 a_row,
                     i64 a_column, i64 v_step, i64 v_row, i64 m_step, i64 factors_step) {
    BEGIN;
    PTR(T, a);
    PTR(T, v);
    PTR(T, m);
    PTR(T, factors);
    TEAM_NUMBERS;
    const int lane = LOCAL_ID % TEAM;
    const i64 asked = GROUP_ID * TEAMS + LOCAL_ID / TEAM, matrix = asked < count ? asked : count - 1;
    const int here = asked < count;
#if TEAM == 1
    if (!here) return;
#endif
    GLOBAL T* panel = a + matrix * a_step;
    GLOBAL T* vectors = v + matrix * v_step;
    GLOBAL T* triangle = m + matrix * m_step;
    const i64 reflections = rows < columns ? rows : columns;
    for (i64 p = 0; p < reflections; ++p) {
        GLOBAL T* column = panel + p * a_column;
        TEAM_BARRIER;
        /* All is computed as a share of the largest element, which may have few digits. */
        R most = 0;
        for (i64 i = p + lane; i < rows; i += TEAM) {
            const V x = column[i * a_row];
            most = larger(most, SIZE(x));
        }
        most = team_most(most, numbers);
        const R unit = most > 0 && most - most == 0 ? most : (R)1;
        R sum = 0;
        for (i64 i = p + 1 + lane; i < rows; i += TEAM) {
            const V x = share(column[i * a_row], unit);
            sum += SQUARE(x);
        }
        const R rest = sqrt(team_sum(sum, numbers));
        const V first = share(column[p * a_row], unit);
        const R size = LENGTH(first), length = hypot(size, rest), image = RE(first) >= 0 ? -length : length;
#if IS_COMPLEX
        const int reflects = !(rest == 0 && first.im == 0);
        const V below = make_complex(first.re - image, first.im);
        const V factor = reflects ? make_complex((image - first.re) / image, -first.im / image) : ZERO;
#else
        const int reflects = !(rest == 0);
        const V below = first - image;
        const V factor = reflects ? (image - first) / image : ZERO;
#endif
        TEAM_BARRIER;
        for (i64 i = lane; i < rows && here; i += TEAM) {
            V x = ZERO;
            if (i == p && reflects) x = ONE;
            if (i > p && reflects) x = quotient(share(column[i * a_row], unit), below);
            vectors[i * v_row + p] = x;
            if (i > p) column[i * a_row] = x;
            if (i == p && reflects) column[p * a_row] = scaled(ONE, image * unit);
            if (i == p) {
                factors[matrix * factors_step + p] = factor;
                triangle[p * 16 + p] = reflects ? quotient(scaled(ONE, (R)-1), factor) : scaled(ONE, (R)-1);
            }
        }
        TEAM_BARRIER;
        for (i64 j = 0; j < columns; ++j) {
            if (j == p) continue;
            GLOBAL const T* with = j < p ? vectors + j : panel + j * a_column;
            const i64 step = j < p ? v_row : a_row;
            V inner = ZERO;
            for (i64 i = p + lane; i < rows; i += TEAM) {
                const V one = with[i * step], own = vectors[i * v_row + p];
                inner = j < p ? plus_inner(inner, one, own) : plus_inner(inner, own, one);
            }
            inner = team_total(inner, numbers);
            if (j < p) {
                if (lane == 0 && here) triangle[j * 16 + p] = scaled(inner, (R)-1);
                continue;
            }
            inner = product(conjugate(factor), inner);
            for (i64 i = p + lane; i < rows && here; i += TEAM) {
                GLOBAL T* changed = panel + j * a_column + i * a_row;
                *changed = minus_product(*changed, vectors[i * v_row + p], inner);
            }
        }
    }
}
)";

/// What Jacobi's rotations begin with: rows of a matrix, by a power of two near 1: FORM 0: the matrix, 1: its upper triangle; 2 and 3: the
/// hermitian matrix that its upper, or lower, triangle says, which `plain` gets, and a multiple of the unit matrix that leaves no
/// eigenvalue negative. `powers` get the power's exponent. `turns` become unit matrices. A matrix that is not finite is noted. A team a
/// matrix.
inline constexpr char jacobi_start[] = R"(
FN V element(GLOBAL const T* a, i64 i, i64 j, i64 row, i64 column) {
#if FORM == 1
    if (i > j) return ZERO;
#endif
#if FORM < 2
    return a[i * row + j * column];
#else
    if (FORM == 2 ? i < j : i > j) return a[i * row + j * column];
    if (i != j) return conjugate(a[j * row + i * column]);
    return scaled(ONE, RE(a[i * (row + column)]));
#endif
}
KERNEL(256) jacobi_start(CONST_ARG(T, a), ARG(T, x), ARG(T, turns), ARG(T, plain), ARG(i32, powers), ARG(i32, turned), ARG(i32, status), i64 count, i64 n,
                         i64 step, i64 row, i64 column, i64 sweeps, i64 vectors) {
    BEGIN;
    CONST_PTR(T, a);
    PTR(T, x);
    PTR(T, turns);
    PTR(T, plain);
    PTR(i32, powers);
    PTR(i32, turned);
    PTR(i32, status);
    TEAM_NUMBERS;
    const int lane = LOCAL_ID % TEAM;
    const i64 asked = GROUP_ID * TEAMS + LOCAL_ID / TEAM, matrix = asked < count ? asked : count - 1;
    const int here = asked < count;
#if TEAM == 1
    if (!here) return;
#endif
    GLOBAL const T* from = a + matrix * step;
    R most = 0;
    int finite = 1;
    for (i64 e = lane; e < n * n; e += TEAM) {
        const V value = element(from, e / n, e % n, row, column);
        most = larger(most, SIZE(value));
        finite = finite && IS_FINITE(value);
    }
    most = team_most(most, numbers);
    if (!finite && here) note_failure(status, matrix, 1);
    int exponent = 0;
    frexp(most, &exponent);
    if (!(most > 0) || most - most != 0) exponent = 0;
    R shift = 0;
#if FORM >= 2
    /* By Gershgorin's circles. */
    for (i64 i = lane; i < n; i += TEAM) {
        R radius = 0, middle = 0;
        for (i64 j = 0; j < n; ++j) {
            const V value = POWER(element(from, i, j, row, column), -exponent);
            if (i == j)
                middle = RE(value);
            else
                radius += SIZE(value);
        }
        shift = larger(shift, radius - middle);
    }
    shift = team_most(shift, numbers);
#endif
    for (i64 e = lane; e < n * n && here; e += TEAM) {
        const int diagonal = e / n == e % n;
        V value = POWER(element(from, e / n, e % n, row, column), -exponent);
#if FORM >= 2
        plain[matrix * n * n + e] = value;
#if IS_COMPLEX
        if (diagonal) value.re += shift;
#else
        if (diagonal) value += shift;
#endif
#endif
        x[matrix * n * n + e] = value;
        if (vectors) turns[matrix * n * n + e] = diagonal ? ONE : ZERO;
    }
    for (i64 s = lane; s < sweeps && here; s += TEAM) turned[s * count + matrix] = 0;
    if (lane == 0 && here) powers[matrix] = exponent;
}
)";

/// Rotations of pairs of rows until all are orthogonal to each other; the same is done to `turns` if `vectors` are wanted. The pairs of a
/// round have no row in common, and n - 1 rounds (n if that is odd) are a sweep. WHOLE: all of it, by one item a matrix (TEAM 1) or one
/// group; `turned` says in the end of which matrices rows had still to be turned in the last sweep. Else one round of one sweep, a team a
/// pair, `across` groups a matrix; `turned` says so for each sweep, and nothing is done after one without rotations.
inline constexpr char jacobi[] = R"(
#if T_SIZE / (1 + IS_COMPLEX) == 4
#define EPSILON ((R)1.1920929e-7f)
#else
#define EPSILON ((R)2.220446049250313e-16)
#endif
/* The longer row comes first. Returns whether they were not orthogonal; nothing is stored unless `here`. */
FN int rotate(GLOBAL T* x, GLOBAL T* turns, i64 n, i64 p, i64 q, int here, i64 vectors, R tolerance, LOCAL R* numbers) {
    const int lane = LOCAL_ID % TEAM;
    R pp = 0, qq = 0;
    V inner = ZERO;
    for (i64 i = lane; i < n && here; i += TEAM) {
        const V u = x[p * n + i], w = x[q * n + i];
        pp += SQUARE(u);
        qq += SQUARE(w);
        inner = plus_inner(inner, w, u);
    }
    pp = team_sum(pp, numbers);
    qq = team_sum(qq, numbers);
    inner = team_total(inner, numbers);
    const R size = LENGTH(inner);
    /* Rows so short that no digit of a result is theirs: what rounding leaves of rows that depend on each other. */
    const R least = EPSILON / 1024 * (EPSILON / 1024);
    const int turns_now = here && pp > least && qq > least && size > tolerance * sqrt(pp) * sqrt(qq);
    if (!turns_now) return 0;
    const R zeta = (pp - qq) / (2 * size), steep = fabs(zeta) + hypot(zeta, (R)1);
    const R tangent = (zeta >= 0 ? (R)-1 : (R)1) / steep, cosine = 1 / sqrt(1 + tangent * tangent), sine = tangent * cosine;
#if IS_COMPLEX
    const V forth = make_complex(sine * (inner.re / size), sine * (inner.im / size));
#else
    const V forth = inner < 0 ? -sine : sine;
#endif
    const V back = scaled(conjugate(forth), (R)-1);
    const i64 to_u = qq > pp ? q : p, to_w = p + q - to_u;
    for (int which = 0; which < 1 + (vectors != 0); ++which) {
        GLOBAL T* rows = which ? turns : x;
        for (i64 i = lane; i < n; i += TEAM) {
            const V u = rows[p * n + i], w = rows[q * n + i];
            rows[to_u * n + i] = minus_product(scaled(u, cosine), forth, w);
            rows[to_w * n + i] = minus_product(scaled(w, cosine), back, u);
        }
    }
    return 1;
}
KERNEL(256) jacobi(ARG(T, x), ARG(T, turns), ARG(i32, turned), i64 count, i64 n, i64 across, i64 sweep, i64 round, i64 sweeps, i64 vectors) {
    BEGIN;
    PTR(T, x);
    PTR(T, turns);
    PTR(i32, turned);
    TEAM_NUMBERS;
    const int team = LOCAL_ID / TEAM;
    const i64 pairs = (n + 1) / 2, places = 2 * pairs - 1;
    const R tolerance = EPSILON * larger((R)4, sqrt((R)n));
    int any = 0;
#if WHOLE && TEAM == 1
    const i64 matrix = GROUP_ID * 256 + LOCAL_ID, first = 0;
    const int together = 1;
    if (matrix >= count) return;
#elif WHOLE
    const i64 matrix = GROUP_ID, first = team;
    const int together = TEAMS;
    SHARED i32 more[1];
#else
    const i64 matrix = GROUP_ID / across, first = (GROUP_ID - matrix * across) * TEAMS + team;
    if (sweep > 0 && turned[(sweep - 1) * count + matrix] == 0) return;
#endif
    GLOBAL T* own = x + matrix * n * n;
    GLOBAL T* own_turns = turns + (vectors ? matrix * n * n : 0);
#if WHOLE
    for (i64 s = 0; s < sweeps; ++s) {
        any = 0;
        for (i64 r = 0; r < places; ++r) {
            for (i64 begin = 0; begin < pairs; begin += together) {
                const i64 pair = begin + first;
#else
                const i64 r = round, pair = first;
#endif
                const i64 one = pair == 0 ? places : (r + pair) % places, two = pair == 0 ? r : (r - pair + places) % places;
                const i64 p = one < two ? one : two, q = one < two ? two : one;
                any = rotate(own, own_turns, n, p, q, pair < pairs && q < n, vectors, tolerance, numbers) || any;
#if WHOLE
            }
#if TEAM > 1
            BARRIER;
#endif
        }
#if TEAM > 1
        if (LOCAL_ID == 0) more[0] = 0;
        BARRIER;
        if (any) more[0] = 1;
        BARRIER;
        any = more[0];
        BARRIER;
#endif
        if (!any) break;
    }
    if (TEAM == 1 || LOCAL_ID == 0) turned[matrix] = any;
#else
    if (any) turned[sweep * count + matrix] = 1;
#endif
}
)";

/// Lengths of rows of n elements; or, of pairs of rows, their inner products, negative and real (PRODUCT). A team a row.
inline constexpr char row_numbers[] = R"(
KERNEL(256) row_numbers(CONST_ARG(T, x), CONST_ARG(T, y), ARG(R, numbers_of_rows), i64 rows, i64 n) {
    BEGIN;
    CONST_PTR(T, x);
    CONST_PTR(T, y);
    PTR(R, numbers_of_rows);
    TEAM_NUMBERS;
    const i64 asked = GROUP_ID * TEAMS + LOCAL_ID / TEAM, row = asked < rows ? asked : rows - 1;
    V sum = ZERO;
    for (i64 i = LOCAL_ID % TEAM; i < n; i += TEAM) sum = plus_inner(sum, x[row * n + i], y[row * n + i]);
    const R total = team_sum(RE(sum), numbers);
    if (LOCAL_ID % TEAM == 0 && asked < rows) numbers_of_rows[row] = PRODUCT ? -total : sqrt(total);
}
)";

/// Rows in the order of their numbers, n a matrix, an item a row: the largest one first, or last (ASCENDING), NaN after all.
/// `values` get `wanted` of them, from `first` on, by the powers that jacobi_start has divided by.
inline constexpr char order_rows[] = R"(
KERNEL(256) order_rows(CONST_ARG(R, numbers), CONST_ARG(i32, powers), ARG(i32, order), ARG(R, values), i64 total, i64 n, i64 first, i64 wanted) {
    BEGIN;
    CONST_PTR(R, numbers);
    CONST_PTR(i32, powers);
    PTR(i32, order);
    PTR(R, values);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at >= total) return;
    const i64 matrix = at / n, row = at - matrix * n;
    const R own = numbers[at];
    i64 place = 0;
    for (i64 i = 0; i < n; ++i) {
        const R other = numbers[matrix * n + i];
        const int before = (ASCENDING ? other < own : other > own) || (own != own && other == other);
        const int same = other == own || (own != own && other != other);
        if (before || (same && i < row)) ++place;
    }
    order[matrix * n + place] = (i32)row;
    if (place >= first && place < first + wanted) values[matrix * wanted + place - first] = ldexp(own, powers[matrix]);
}
)";

/// Rows of matrices to others, with any steps; in another order if ORDERED, conjugated if CONJUGATE.
inline constexpr char copy_rows[] = R"(
KERNEL(256) copy_rows(CONST_ARG(T, from), CONST_ARG(i32, order), ARG(T, to), i64 total, i64 rows, i64 columns, i64 order_step, i64 from_step,
                      i64 from_row, i64 from_column, i64 to_step, i64 to_row, i64 to_column) {
    BEGIN;
    CONST_PTR(T, from);
    CONST_PTR(i32, order);
    PTR(T, to);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at >= total) return;
    const i64 column = at % columns, row = at / columns % rows, matrix = at / columns / rows;
#if ORDERED
    const i64 source = order[matrix * order_step + row];
#else
    const i64 source = row;
#endif
    const T value = from[matrix * from_step + source * from_row + column * from_column];
#if CONJUGATE
    to[matrix * to_step + row * to_row + column * to_column] = conjugate(value);
#else
    to[matrix * to_step + row * to_row + column * to_column] = value;
#endif
}
)";

/// Least squares: rows of x by the inverses of singular values, or by 0 where these are no more than `rcond`, the bits of a number, of the
/// largest one; `rank` counts the others. An item an element.
inline constexpr char divide_rows[] = R"(
KERNEL(256) divide_rows(ARG(T, x), CONST_ARG(R, values), ARG(i64, rank), i64 rows, i64 columns, i64 rcond) {
    BEGIN;
    PTR(T, x);
    CONST_PTR(R, values);
    PTR(i64, rank);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
#if T_SIZE / (1 + IS_COMPLEX) == 4
    const R least = F32_BITS((u32)rcond) * values[0];
#else
    const R least = F64_BITS(rcond) * values[0];
#endif
    if (at == 0) {
        i64 known = 0;
        while (known < rows && values[known] > least) ++known;
        rank[0] = known;
    }
    if (at >= rows * columns) return;
    const R value = values[at / columns];
#if IS_COMPLEX
    const T own = x[at];
    x[at] = value > least ? make_complex(own.re / value, own.im / value) : ZERO;
#else
    x[at] = value > least ? x[at] / value : ZERO;
#endif
}
)";

/// Sums of squares of what is left of b without c, a group a column.
inline constexpr char residuals[] = R"(
KERNEL(256) residuals(CONST_ARG(T, b), CONST_ARG(T, c), ARG(R, sums), i64 rows, i64 columns) {
    BEGIN;
    CONST_PTR(T, b);
    CONST_PTR(T, c);
    PTR(R, sums);
    TEAM_NUMBERS;
    R sum = 0;
    for (i64 i = LOCAL_ID; i < rows; i += 256) {
        const i64 at = i * columns + GROUP_ID;
        const V rest = minus_product(b[at], ONE, c[at]);
        sum += SQUARE(rest);
    }
    sum = team_sum(sum, numbers);
    if (LOCAL_ID == 0) sums[GROUP_ID] = sum;
}
)";

}  // namespace pardo::routines::kernels
