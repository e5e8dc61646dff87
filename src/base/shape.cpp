// src/base/shape.cpp: counting, strides, broadcasting and axes.
#include "base/shape.h"

#include <pardo/error.h>

namespace pardo {

std::int64_t element_count(std::span<const std::int64_t> shape) {
    std::int64_t count = 1;
    bool overflow = false;
    for (std::int64_t n : shape) {
        if (n < 0) throw Error(ErrorCode::Value, "shape " + to_string(shape) + ": negative dimensions are not allowed");
        if (n == 0) return 0;
        overflow |= __builtin_mul_overflow(count, n, &count);
    }
    if (overflow) throw Error(ErrorCode::Memory, "shape " + to_string(shape) + ": more elements than fit into 64 bits");
    return count;
}

Strides contiguous_strides(std::span<const std::int64_t> shape) {
    Strides strides(static_cast<int>(shape.size()));
    std::uint64_t step = 1;  // unsigned: empty arrays may have other extents whose product overflows
    for (int d = strides.size() - 1; d >= 0; --d) {
        strides[d] = static_cast<std::int64_t>(step);
        step *= static_cast<std::uint64_t>(shape[static_cast<std::size_t>(d)] > 1 ? shape[static_cast<std::size_t>(d)] : 1);
    }
    return strides;
}

bool is_contiguous(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
    std::int64_t expected = 1;
    bool contiguous = true;
    for (std::size_t d = shape.size(); d-- > 0;) {
        if (shape[d] == 0) return true;
        if (shape[d] == 1) continue;
        contiguous &= strides[d] == expected;
        expected *= shape[d];
    }
    return contiguous;
}

Shape broadcast(const char* who, std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
    const std::size_t rank = a.size() > b.size() ? a.size() : b.size();
    if (rank > max_rank) {
        throw Error(ErrorCode::Value,
                    std::string(who) + ": " + std::to_string(rank) + " dimensions; at most " + std::to_string(max_rank) + " are supported");
    }
    Shape result(static_cast<int>(rank), 1);
    for (std::size_t d = 0; d < rank; ++d) {  // from the right
        const std::int64_t x = d < a.size() ? a[a.size() - 1 - d] : 1;
        const std::int64_t y = d < b.size() ? b[b.size() - 1 - d] : 1;
        if (x != y && x != 1 && y != 1) {
            throw Error(ErrorCode::Value,
                        std::string(who) + ": operands could not be broadcast together with shapes " + to_string(a) + " " + to_string(b));
        }
        result[static_cast<int>(rank - 1 - d)] = x == 1 ? y : x;
    }
    return result;
}

std::string to_string(std::span<const std::int64_t> shape) {
    std::string text = "(";
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (d) text += ", ";
        text += std::to_string(shape[d]);
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

int normalize_axis(const char* who, std::int64_t axis, int rank) {
    if (axis < -rank || axis >= rank) {
        throw Error(ErrorCode::Axis, std::string(who) + ": axis " + std::to_string(axis) + " is out of bounds for array of dimension " +
                                         std::to_string(rank));
    }
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace pardo
