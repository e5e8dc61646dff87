// src/routines/device/kernels/values.h: kernel text: how elements of a dtype are loaded, stored, compared and ordered.
// This folder: sources in what OpenCL C and CUDA C++ have in common; the files above hand over dtypes and sizes as defines.
#pragma once

namespace pardo::routines::kernels {

/// The host defines one of IS_BOOL, IS_SIGNED, IS_UNSIGNED, IS_NARROW (a float of 16 bits, with its LOAD and STORE), IS_FLOAT, IS_COMPLEX
/// as 1 (the others 0), T_SIZE (bytes of an element), R (the real type of a float or complex dtype) and INFINITY_BITS (the bits of its
/// infinity). T is an element in memory, V a value, U unsigned bits of an element's size.
inline constexpr char values[] = R"(
#if IS_COMPLEX
typedef struct { R re, im; } T;
typedef T V;
#define LOAD(x) (x)
#define STORE(v) (v)
#if T_SIZE == 8
typedef u32 U;
#else
typedef u64 U;
#endif
#define U_SIZE (T_SIZE / 2)
FN V make_complex(R re, R im) { V v; v.re = re; v.im = im; return v; }
#else
#if T_SIZE == 1
typedef u8 U;
typedef i8 S;
#elif T_SIZE == 2
typedef u16 U;
typedef i16 S;
#elif T_SIZE == 4
typedef u32 U;
typedef i32 S;
#else
typedef u64 U;
typedef i64 S;
#endif
#define U_SIZE T_SIZE
#if IS_NARROW
typedef u16 T;
typedef f32 V;
#elif IS_BOOL
typedef u8 T;
typedef u8 V;
#define LOAD(x) ((V)((x) != 0))
#define STORE(v) (v)
#elif IS_FLOAT
typedef R T;
typedef R V;
#define LOAD(x) (x)
#define STORE(v) (v)
#else
#if IS_SIGNED
typedef S T;
#else
typedef U T;
#endif
typedef T V;
#define LOAD(x) (x)
#define STORE(v) (v)
#endif
#endif
#if T_SIZE == 8 && !IS_COMPLEX
typedef u64 WIDE;
#else
typedef u32 WIDE;
#endif
#define IS_INTEGER (IS_SIGNED || IS_UNSIGNED)
)";

/// Order-preserving keys of real elements, from their bits; `rank_key` is equal for equal elements (zeros, NaNs), `exact_key` can be
/// turned back. Complex elements are ordered by `less_complex`.
inline constexpr char order[] = R"(
#define SIGN ((U)((U)1 << (8 * U_SIZE - 1)))
#if IS_NARROW || IS_FLOAT || IS_COMPLEX
FN U float_key(U bits) {
    const U magnitude = (U)(bits & (U)~SIGN);
    if (magnitude > INFINITY_BITS) return (U)(magnitude | SIGN);
    return bits & SIGN ? (U)~bits : (U)(bits | SIGN);
}
FN U float_rank(U bits) {
    const U magnitude = (U)(bits & (U)~SIGN);
    if (magnitude > INFINITY_BITS) return (U)~(U)0;
    return magnitude == 0 ? SIGN : float_key(bits);
}
#endif
#if !IS_COMPLEX
FN U exact_key(U bits) {
#if IS_NARROW || IS_FLOAT
    return float_key(bits);
#elif IS_SIGNED
    return (U)(bits ^ SIGN);
#elif IS_BOOL
    return (U)(bits != 0);
#else
    return bits;
#endif
}
FN U key_bits(U key) {
#if IS_NARROW || IS_FLOAT
    return key & SIGN ? (U)(key ^ SIGN) : (U)~key;
#elif IS_SIGNED
    return (U)(key ^ SIGN);
#else
    return key;
#endif
}
FN U rank_key(U bits) {
#if IS_NARROW || IS_FLOAT
    return float_rank(bits);
#else
    return exact_key(bits);
#endif
}
#else
typedef struct { U re, im; } BITS;
FN int is_nan_bits(U bits) { return (U)(bits & (U)~SIGN) > INFINITY_BITS; }
/* NumPy's order as two keys: the first holds the real part, or that and which parts are NaN; then the imaginary part. */
FN U complex_high(BITS x) {
    const int nan_re = is_nan_bits(x.re), nan_im = is_nan_bits(x.im);
    const U top = (U)(INFINITY_BITS | SIGN);
    return nan_re || nan_im ? (U)(top + 2 * nan_re + nan_im) : float_rank(x.re);
}
FN U complex_low(BITS x) {
    const int nan_re = is_nan_bits(x.re), nan_im = is_nan_bits(x.im);
    return nan_re && nan_im ? (U)0 : nan_im ? float_rank(x.re) : float_rank(x.im);
}
#endif
)";

/// KEY with make_key(bits, flip) and before(a, b): the order of a dtype's elements, descending where flip is set.
inline constexpr char keys[] = R"(
#if !IS_COMPLEX
typedef U BITS;
typedef U KEY;
FN KEY make_key(BITS bits, int flip) { return flip ? (U)~rank_key(bits) : rank_key(bits); }
#define before(a, b) ((a) < (b))
#define same(a, b) ((a) == (b))
#elif T_SIZE == 8
typedef u64 KEY;
FN KEY make_key(BITS bits, int flip) {
    const u64 key = (u64)complex_high(bits) << 32 | complex_low(bits);
    return flip ? ~key : key;
}
#define before(a, b) ((a) < (b))
#define same(a, b) ((a) == (b))
#else
typedef struct { u64 high, low; } KEY;
FN KEY make_key(BITS bits, int flip) {
    KEY key;
    key.high = flip ? ~complex_high(bits) : complex_high(bits);
    key.low = flip ? ~complex_low(bits) : complex_low(bits);
    return key;
}
FN int before(KEY a, KEY b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }
FN int same(KEY a, KEY b) { return a.high == b.high && a.low == b.low; }
#endif
)";

/// Elements that are only moved about: T by T_SIZE.
inline constexpr char moved[] = R"(
#if T_SIZE == 1
typedef u8 T;
#elif T_SIZE == 2
typedef u16 T;
#elif T_SIZE == 4
typedef u32 T;
#elif T_SIZE == 8
typedef u64 T;
#else
typedef struct { u64 low, high; } T;
#endif
)";

}  // namespace pardo::routines::kernels
