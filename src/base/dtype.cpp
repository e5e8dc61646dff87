// src/base/dtype.cpp: names, casting rules and promotion of element types, as NumPy 2 has them.
#include <pardo/dtype.h>

#include <array>
#include <string>

#include <pardo/error.h>

#include "base/promotion.h"

namespace pardo {
namespace {

constexpr std::string_view names[] = {
#define PARDO_DTYPE(name, text, type, bytes, kind, exponent, mantissa, computed) text,
#include <pardo/dtype.def>
};

constexpr auto promotions = [] {
    std::array<std::array<DType, dtype_count>, dtype_count> table{};
    for (int a = 0; a < dtype_count; ++a) {
        for (int b = 0; b < dtype_count; ++b) table[a][b] = static_cast<DType>(promoted(dtype_facts, a, b));
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

bool can_cast_safe(DType from, DType to) { return holds(facts_of(to), facts_of(from)); }

bool can_cast_same_kind(DType from, DType to) { return can_cast_safe(from, to) || kind_rank(from) <= kind_rank(to); }

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
