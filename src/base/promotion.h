// src/base/promotion.h: the dtype that several dtypes promote to, from what is known of each.
#pragma once

#include <algorithm>
#include <span>

#include <pardo/dtype.h>

namespace pardo {

/// As NumPy's result_type: the order does not matter, and integers of both signs beside a float do not widen it.
DType promote_all(std::span<const DType> dtypes);

/// True where NumPy calls a cast safe: all values of one are values of the other, but that float64 counts as holding all integers.
constexpr bool holds(const DTypeFacts& to, const DTypeFacts& from) {
    const bool inexact = to.mantissa != 0;
    switch (from.kind) {
        case DKind::Bool: return true;
        case DKind::Signed:
        case DKind::Unsigned: {
            const bool has_sign = from.kind == DKind::Signed;
            if (inexact) return to.mantissa + 1 >= std::min(8 * from.bytes - has_sign, 53);
            if (to.kind == from.kind) return to.bytes >= from.bytes;
            return to.kind == DKind::Signed && to.bytes > from.bytes;
        }
        case DKind::Complex:
            if (to.kind != DKind::Complex) return false;
            break;
        case DKind::Float: break;
    }
    return to.exponent >= from.exponent && to.mantissa >= from.mantissa;
}

/// Which of these dtypes two of them promote to: the smallest of the lowest family that holds both.
constexpr int promoted(std::span<const DTypeFacts> dtypes, int a, int b) {
    constexpr int families[] = {0, 1, 1, 2, 3};  // of DKind
    const auto is_before = [&](const DTypeFacts& x, const DTypeFacts& y) {
        const int first = families[static_cast<int>(x.kind)], second = families[static_cast<int>(y.kind)];
        return first != second ? first < second : x.bytes < y.bytes;
    };
    int least = -1;
    for (int t = 0; t < static_cast<int>(dtypes.size()); ++t) {
        if (holds(dtypes[t], dtypes[a]) && holds(dtypes[t], dtypes[b]) && (least < 0 || is_before(dtypes[t], dtypes[least]))) least = t;
    }
    return least;
}

}  // namespace pardo
