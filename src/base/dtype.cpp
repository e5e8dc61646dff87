// src/base/dtype.cpp: names, casting rules and promotion of element types, as NumPy 2 has them.
#include <pardo/dtype.h>

#include <array>
#include <string>

#include <pardo/error.h>

#include "base/promotion.h"

namespace pardo {
namespace {

constexpr std::string_view names[dtype_count] = {"bool",   "int8",   "int16",   "int32",   "int64",   "uint8",     "uint16",
                                                 "uint32", "uint64", "float16", "float32", "float64", "complex64", "complex128"};

/// Smallest float size in bytes that NumPy calls safe for an integer of `size` bytes (int64 -> float64 counts as safe there).
constexpr int float_bytes_for_integer(int size) { return size == 1 ? 2 : size == 2 ? 4 : 8; }

constexpr bool safe(DType from, DType to) {
    const DKind f = kind_of(from), t = kind_of(to);
    const int from_size = itemsize(from), to_size = itemsize(to), to_real = itemsize(real_of(to));
    if (f == DKind::Bool) return true;
    if (t == DKind::Bool) return false;
    switch (f) {
        case DKind::Signed:
            if (t == DKind::Signed) return from_size <= to_size;
            return is_inexact(to) && float_bytes_for_integer(from_size) <= to_real;
        case DKind::Unsigned:
            if (t == DKind::Unsigned) return from_size <= to_size;
            if (t == DKind::Signed) return from_size < to_size;
            return float_bytes_for_integer(from_size) <= to_real;
        case DKind::Float: return is_inexact(to) && from_size <= to_real;
        default: return t == DKind::Complex && from_size <= to_size;
    }
}

/// Candidates from small to large: the first one that both can be cast to safely is the promotion.
constexpr DType by_size[] = {DType::Bool,    DType::Int8,    DType::UInt8,     DType::Int16,     DType::UInt16,
                             DType::Int32,   DType::UInt32,  DType::Int64,     DType::UInt64,    DType::Float16,
                             DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};

constexpr auto promotions = [] {
    std::array<std::array<DType, dtype_count>, dtype_count> table{};
    for (int a = 0; a < dtype_count; ++a) {
        for (int b = 0; b < dtype_count; ++b) {
            for (DType t : by_size) {
                if (!safe(static_cast<DType>(a), t) || !safe(static_cast<DType>(b), t)) continue;
                table[a][b] = t;
                break;
            }
        }
    }
    return table;
}();

/// NumPy's order of kinds for "same_kind": bool < unsigned < signed < float < complex.
constexpr int kind_rank(DType t) {
    constexpr int ranks[] = {0, 2, 1, 3, 4};
    return ranks[static_cast<int>(kind_of(t))];
}

[[noreturn]] void out_of_bounds(const char* op_name, const std::string& value, DType t) {
    throw Error(ErrorCode::Overflow,
                std::string(op_name) + ": Python integer " + value + " out of bounds for " + std::string(dtype_name(t)));
}

/// Throws Overflow unless the weak integer fits the integer dtype.
void check_range(const char* op_name, DType t, const Scalar& s) {
    const int bits = 8 * itemsize(t);
    if (kind_of(s.dtype) == DKind::Unsigned) {
        const int value_bits = kind_of(t) == DKind::Signed ? bits - 1 : bits;
        if (value_bits < 64 && (s.u >> value_bits) != 0) out_of_bounds(op_name, std::to_string(s.u), t);
        return;
    }
    if (kind_of(t) == DKind::Unsigned) {
        if (s.i < 0 || (bits < 64 && (s.i >> bits) != 0)) out_of_bounds(op_name, std::to_string(s.i), t);
        return;
    }
    if (bits < 64 && (s.i < -(std::int64_t{1} << (bits - 1)) || s.i >= (std::int64_t{1} << (bits - 1))))
        out_of_bounds(op_name, std::to_string(s.i), t);
}

}  // namespace

std::string_view dtype_name(DType t) { return names[static_cast<int>(t)]; }

DType promote(DType a, DType b) { return promotions[static_cast<int>(a)][static_cast<int>(b)]; }

DType promote_all(std::span<const DType> dtypes) {
    DType result = dtypes.front();
    const auto rank = [](DType t) { return is_complex(t) ? 2 : is_float(t) ? 1 : 0; };
    for (const DType t : dtypes) {
        if (rank(t) > rank(result)) result = t;
    }
    for (const DType t : dtypes) result = promote(result, t);
    return result;
}

bool can_cast_safe(DType from, DType to) { return safe(from, to); }

bool can_cast_same_kind(DType from, DType to) { return safe(from, to) || kind_rank(from) <= kind_rank(to); }

DType promote_weak(DType array, const Scalar& scalar, const char* op_name) {
    if (!scalar.weak) return promote(array, scalar.dtype);
    switch (kind_of(scalar.dtype)) {
        case DKind::Bool: return array;
        case DKind::Signed:
        case DKind::Unsigned: {
            const DType result = array == DType::Bool ? DType::Int64 : array;
            if (is_integer(result)) check_range(op_name, result, scalar);
            return result;
        }
        case DKind::Float: return is_inexact(array) ? array : DType::Float64;
        default: return is_inexact(array) ? complex_of(array) : DType::Complex128;
    }
}

}  // namespace pardo
