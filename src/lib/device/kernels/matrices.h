// src/lib/device/kernels/matrices.h: kernel text: what factorizations of large matrices need beside products.
#pragma once

namespace pardo::lib::kernels {

/// Square matrices with ones on the diagonal.
inline constexpr char unit_matrices[] = R"(
KERNEL(256) unit_matrices(ARG(T, x), i64 total, i64 n) {
    BEGIN;
    PTR(T, x);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at >= total) return;
    const i64 place = at % (n * n);
    x[at] = place / n == place % n ? ONE : ZERO;
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

/// Of the numbers that a library leaves, one for each matrix: which is not 0. What reads the results waits for this.
inline constexpr char note_info[] = R"(
KERNEL(256) note_info(CONST_ARG(i32, info), ARG(i32, status), ARG(u8, first), ARG(u8, second), ARG(u8, third), i64 count) {
    BEGIN;
    CONST_PTR(i32, info);
    PTR(i32, status);
    const i64 at = GROUP_ID * 256 + LOCAL_ID;
    if (at < count && info[at] != 0) note_failure(status, at, 1);
}
)";

}  // namespace pardo::lib::kernels
