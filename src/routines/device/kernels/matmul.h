// src/routines/device/kernels/matmul.h: kernel text: products of stacks of matrices with any strides.
#pragma once

namespace pardo::routines::kernels {

/// What makes matmul take products away.
inline constexpr char minus[] = "#define MINUS 1\n";

/// Sums of products: of floating-point numbers in their own precision or float32, of integers in a wide one, of booleans "any".
inline constexpr char product_sums[] = R"(
/* OpenCL may fuse a product and a sum if the processor can; CUDA's processors all can, if they are told to. */
#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT ON
#define FUSED(a, b, s) ((s) + (a) * (b))
#else
#define FUSED(a, b, s) fma(a, b, s)
#endif
#if IS_BOOL || IS_INTEGER
typedef WIDE SUM;
#define OPERAND(x) ((SUM)LOAD(x))
#define RESULT(v) ((T)(v))
#else
typedef V SUM;
#define OPERAND(x) LOAD(x)
#define RESULT(v) STORE(v)
#endif
#if IS_COMPLEX
#define ZERO make_complex((R)0, (R)0)
FN SUM plus_product(SUM s, SUM a, SUM b) {
    s.re = FUSED(-a.im, b.im, FUSED(a.re, b.re, s.re));
    s.im = FUSED(a.im, b.re, FUSED(a.re, b.im, s.im));
    return s;
}
FN SUM plus(SUM a, SUM b) { return make_complex(a.re + b.re, a.im + b.im); }
#else
#define ZERO ((SUM)0)
#if IS_BOOL
#define plus_product(s, a, b) ((s) | ((a) & (b)))
#elif IS_INTEGER
#define plus_product(s, a, b) ((s) + (a) * (b))
#else
#define plus_product(s, a, b) FUSED(a, b, s)
#endif
#define plus(a, b) ((a) + (b))
#endif
)";

/// A group computes 16 ROWS x 16 COLUMNS results, an item ROWS x COLUMNS of them; both operands go through shared memory, DEPTH at a time.
/// Float sums are cut in blocks of 256 products, whose totals are added up apart. Strides A and B: where the matrices of a batch begin.
/// MINUS: they are taken away from out, which has strides too: only on and below its diagonal if `part` is 1, from zero if it is 2;
/// CONJUGATE is 1 where b is conjugated, 2 where a is.
inline constexpr char matmul[] = R"(
#define DEPTH 16
#define BLOCK 256
#define HIGH (16 * ROWS)
#define BROAD (16 * COLUMNS)
#define IN_BLOCKS (!IS_BOOL && !IS_INTEGER)
#ifdef MINUS
#define OUT_ARGS , i64 out_step, i64 out_row, i64 out_column, i64 part
#else
#define OUT_ARGS
#endif
#if IS_COMPLEX && defined(MINUS)
FN SUM of_a(SUM x) { return CONJUGATE == 2 ? make_complex(x.re, -x.im) : x; }
FN SUM of_b(SUM x) { return CONJUGATE == 1 ? make_complex(x.re, -x.im) : x; }
#else
#define of_a(x) (x)
#define of_b(x) (x)
#endif
KERNEL(256) matmul(CONST_ARG(T, a), CONST_ARG(T, b), ARG(T, out), i64 rows, i64 columns, i64 depth, i64 a_row, i64 a_column, i64 b_row,
                   i64 b_column, A_ARGS, B_ARGS OUT_ARGS) {
    BEGIN;
    CONST_PTR(T, a);
    CONST_PTR(T, b);
    PTR(T, out);
    A_PTR;
    B_PTR;
    SHARED SUM left[DEPTH * (HIGH + 1)];
    SHARED SUM right[DEPTH * (BROAD + 1)];
    const int t = LOCAL_ID, y = t / 16, x = t % 16;
    const i64 across = (columns + BROAD - 1) / BROAD, down = (rows + HIGH - 1) / HIGH, tiles = across * down;
    const i64 batch = GROUP_ID / tiles, tile = GROUP_ID - batch * tiles;
    const i64 row = tile / across * HIGH, column = (tile - tile / across * across) * BROAD;
#ifdef MINUS
    if (part == 1 && column >= row + HIGH) return;
#endif
    GLOBAL const T* from_a = a + A_OFFSET(batch) + row * a_row;
    GLOBAL const T* from_b = b + B_OFFSET(batch) + column * b_column;
    /* Neighbouring items read along the axis whose elements lie closest. */
    const int a_along_depth = (a_column < 0 ? -a_column : a_column) <= (a_row < 0 ? -a_row : a_row);
    const int b_along_depth = (b_row < 0 ? -b_row : b_row) < (b_column < 0 ? -b_column : b_column);
    SUM sum[ROWS][COLUMNS];
    UNROLL for (int i = 0; i < ROWS; ++i) UNROLL for (int j = 0; j < COLUMNS; ++j) sum[i][j] = ZERO;
#if IN_BLOCKS
    SUM total[ROWS][COLUMNS];
    UNROLL for (int i = 0; i < ROWS; ++i) UNROLL for (int j = 0; j < COLUMNS; ++j) total[i][j] = ZERO;
#endif
    for (i64 k = 0; k < depth; k += DEPTH) {
        UNROLL for (int r = 0; r < ROWS; ++r) {
            const int e = t + r * 256, m = a_along_depth ? e / DEPTH : e % HIGH, d = a_along_depth ? e % DEPTH : e / HIGH;
            left[d * (HIGH + 1) + m] = row + m < rows && k + d < depth ? of_a(OPERAND(from_a[m * a_row + (k + d) * a_column])) : ZERO;
        }
        UNROLL for (int r = 0; r < COLUMNS; ++r) {
            const int e = t + r * 256, m = b_along_depth ? e / DEPTH : e % BROAD, d = b_along_depth ? e % DEPTH : e / BROAD;
            right[d * (BROAD + 1) + m] = column + m < columns && k + d < depth ? of_b(OPERAND(from_b[m * b_column + (k + d) * b_row])) : ZERO;
        }
        BARRIER;
        UNROLL for (int d = 0; d < DEPTH; ++d) {
            SUM p[ROWS], q[COLUMNS];
            UNROLL for (int i = 0; i < ROWS; ++i) p[i] = left[d * (HIGH + 1) + y + 16 * i];
            UNROLL for (int j = 0; j < COLUMNS; ++j) q[j] = right[d * (BROAD + 1) + x + 16 * j];
            UNROLL for (int i = 0; i < ROWS; ++i) {
                UNROLL for (int j = 0; j < COLUMNS; ++j) sum[i][j] = plus_product(sum[i][j], p[i], q[j]);
            }
        }
        BARRIER;
#if IN_BLOCKS
        if ((k + DEPTH) % BLOCK == 0) {
            UNROLL for (int i = 0; i < ROWS; ++i) {
                UNROLL for (int j = 0; j < COLUMNS; ++j) {
                    total[i][j] = plus(total[i][j], sum[i][j]);
                    sum[i][j] = ZERO;
                }
            }
        }
#endif
    }
    UNROLL for (int i = 0; i < ROWS; ++i) {
        UNROLL for (int j = 0; j < COLUMNS; ++j) {
            const i64 m = row + y + 16 * i, n = column + x + 16 * j;
#if IN_BLOCKS
            const SUM value = plus(total[i][j], sum[i][j]);
#else
            const SUM value = sum[i][j];
#endif
#ifdef MINUS
            GLOBAL T* to = out + batch * out_step + m * out_row + n * out_column;
            if (m >= rows || n >= columns) continue;
            SUM before = ZERO;
            if (part != 2) before = *to;
#if IS_COMPLEX
            *to = make_complex(before.re - value.re, before.im - value.im);
#else
            *to = before - value;
#endif
#else
            if (m < rows && n < columns) out[(batch * rows + m) * columns + n] = RESULT(value);
#endif
        }
    }
}
)";

/// Stacks of matrices of at most EDGE x EDGE elements: a team of EDGE * EDGE / 4 items computes one product, an item four neighbours of a
/// row. The matrices of a group lie one after the other in out, and are stored as one line. Strides A and B: where the matrices begin.
inline constexpr char matmul_small[] = R"(
#define TEAM (EDGE * EDGE / 4)
#define MATRICES (256 / TEAM)
#define LINE (EDGE + 1)
KERNEL(256) matmul_small(CONST_ARG(T, a), CONST_ARG(T, b), ARG(T, out), i64 count, i64 rows, i64 columns, i64 depth, i64 a_row, i64 a_column,
                         i64 b_row, i64 b_column, A_ARGS, B_ARGS) {
    BEGIN;
    CONST_PTR(T, a);
    CONST_PTR(T, b);
    PTR(T, out);
    A_PTR;
    B_PTR;
    SHARED SUM left[MATRICES * EDGE * LINE];
    SHARED SUM right[MATRICES * EDGE * LINE];
    const int team = LOCAL_ID / TEAM, t = LOCAL_ID % TEAM, high = (int)rows, broad = (int)columns, deep = (int)depth;
    const i64 first = GROUP_ID * MATRICES, matrix = first + team;
    const int place = team * EDGE * LINE;
    /* Neighbouring items read along the axis whose elements lie closest; the places of an item are EDGE / 4 lines apart. What is beyond an end
       counts as zero. */
    const int far = t / EDGE, near = t % EDGE;
    if (matrix < count) {
        const int along_depth = (a_column < 0 ? -a_column : a_column) <= (a_row < 0 ? -a_row : a_row);
        const i64 far_step = along_depth ? a_row : a_column;
        const int end = along_depth ? high : deep, inside = near < (along_depth ? deep : high);
        const int line = along_depth ? LINE : 1, first_place = place + far * line + near * (along_depth ? 1 : LINE);
        GLOBAL const T* from = a + A_OFFSET(matrix) + far * far_step + near * (along_depth ? a_column : a_row);
        UNROLL for (int r = 0; r < 4; ++r)
            left[first_place + r * (EDGE / 4) * line] = inside && far + r * (EDGE / 4) < end ? OPERAND(from[r * (EDGE / 4) * far_step]) : ZERO;
    }
    if (matrix < count) {
        const int along_depth = (b_row < 0 ? -b_row : b_row) < (b_column < 0 ? -b_column : b_column);
        const i64 far_step = along_depth ? b_column : b_row;
        const int end = along_depth ? broad : deep, inside = near < (along_depth ? deep : broad);
        const int line = along_depth ? 1 : LINE, first_place = place + far * line + near * (along_depth ? LINE : 1);
        GLOBAL const T* from = b + B_OFFSET(matrix) + far * far_step + near * (along_depth ? b_row : b_column);
        UNROLL for (int r = 0; r < 4; ++r)
            right[first_place + r * (EDGE / 4) * line] = inside && far + r * (EDGE / 4) < end ? OPERAND(from[r * (EDGE / 4) * far_step]) : ZERO;
    }
    BARRIER;
    const int y = t / (EDGE / 4), x = t % (EDGE / 4) * 4;
    SUM sum[4];
    UNROLL for (int j = 0; j < 4; ++j) sum[j] = ZERO;
    if (matrix < count && y < high && x < broad) {
        for (int d = 0; d < deep; d += 4) {
            UNROLL for (int i = 0; i < 4; ++i) {
                const SUM p = left[place + y * LINE + d + i];
                UNROLL for (int j = 0; j < 4; ++j) sum[j] = plus_product(sum[j], p, right[place + (d + i) * LINE + x + j]);
            }
        }
    }
    BARRIER;
    const int size = high * broad;
    if (matrix < count && y < high) {
        UNROLL for (int j = 0; j < 4; ++j) if (x + j < broad) left[team * size + y * broad + x + j] = sum[j];
    }
    BARRIER;
    const i64 rest = count - first;
    const int line = (rest < MATRICES ? (int)rest : MATRICES) * size;
    for (int e = LOCAL_ID; e < line; e += 256) out[first * size + e] = RESULT(left[e]);
}
)";

}  // namespace pardo::routines::kernels
