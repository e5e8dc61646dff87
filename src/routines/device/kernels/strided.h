// src/routines/device/kernels/strided.h: kernel text: offsets of row-major positions in strided memory.
#pragma once

namespace pardo::routines::kernels {

/// A_ARGS(w) and OFFSET(w, position) for RANK merged dimensions: 0 (one element), 1, 2 … 4 (four, the first ones may be of extent one),
/// 5: any number, described by memory (rank, extents, strides). Two layouts, A and B; ranks are A_RANK and B_RANK.
inline constexpr char strided[] = R"(
FN i64 offset_4(i64 at, i64 n1, i64 n2, i64 n3, i64 s0, i64 s1, i64 s2, i64 s3) {
    i64 above = at / n3, offset = (at - above * n3) * s3;
    at = above;
    above = at / n2;
    offset += (at - above * n2) * s2;
    at = above;
    above = at / n1;
    return offset + (at - above * n1) * s1 + above * s0;
}
FN i64 offset_any(i64 at, GLOBAL const i64* layout) {
    const i64 rank = layout[0];
    i64 offset = 0;
    for (i64 d = rank - 1; d >= 0; --d) {
        const i64 above = at / layout[1 + d];
        offset += (at - above * layout[1 + d]) * layout[1 + rank + d];
        at = above;
    }
    return offset;
}
#if A_RANK == 5
#define A_ARGS CONST_ARG(i64, strides_a)
#define A_PTR CONST_PTR(i64, strides_a)
#define A_OFFSET(at) offset_any(at, strides_a)
#elif A_RANK > 1
#define A_ARGS i64 a_n1, i64 a_n2, i64 a_n3, i64 a_s0, i64 a_s1, i64 a_s2, i64 a_s3
#define A_PTR
#define A_OFFSET(at) offset_4(at, a_n1, a_n2, a_n3, a_s0, a_s1, a_s2, a_s3)
#else
#define A_ARGS i64 a_s3
#define A_PTR
#define A_OFFSET(at) ((at) * a_s3)
#endif
#if B_RANK == 5
#define B_ARGS CONST_ARG(i64, strides_b)
#define B_PTR CONST_PTR(i64, strides_b)
#define B_OFFSET(at) offset_any(at, strides_b)
#elif B_RANK > 1
#define B_ARGS i64 b_n1, i64 b_n2, i64 b_n3, i64 b_s0, i64 b_s1, i64 b_s2, i64 b_s3
#define B_PTR
#define B_OFFSET(at) offset_4(at, b_n1, b_n2, b_n3, b_s0, b_s1, b_s2, b_s3)
#else
#define B_ARGS i64 b_s3
#define B_PTR
#define B_OFFSET(at) ((at) * b_s3)
#endif
)";

}  // namespace pardo::routines::kernels
