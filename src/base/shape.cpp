// src/base/shape.cpp: counting, strides, broadcasting and axes.
#include "base/shape.h"

#include <pardo/error.h>

namespace pardo {

std::int64_t element_count(std::span<const std::int64_t> shape, const char* op_name) {
    std::int64_t count = 1;
    bool overflow = false;
    for (std::int64_t n : shape) {
        if (n < 0) {
            throw Error(ErrorCode::Value, std::string(op_name) + ": shape " + to_string(shape) + ": negative dimensions are not allowed");
        }
        if (n == 0) return 0;
        overflow |= __builtin_mul_overflow(count, n, &count);
    }
    if (!overflow) return count;
    throw Error(ErrorCode::Memory, std::string(op_name) + ": shape " + to_string(shape) + ": more elements than fit into 64 bits");
}

void check_rank(const char* op_name, std::size_t rank) {
    if (rank <= max_rank) return;
    throw Error(ErrorCode::Value, std::string(op_name) + ": maximum supported dimension for an array is " + std::to_string(max_rank) +
                                      ", found " + std::to_string(rank));
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

bool broadcast_into(Shape& shape, std::span<const std::int64_t> more) {
    const int rank = static_cast<int>(more.size());
    while (shape.size() < rank) shape.insert(0, 1);
    const int skip = shape.size() - rank;
    for (int d = 0; d < rank; ++d) {
        std::int64_t& extent = shape[skip + d];
        const std::int64_t wanted = more[static_cast<std::size_t>(d)];
        if (wanted == extent || wanted == 1) continue;
        if (extent != 1) return false;
        extent = wanted;
    }
    return true;
}

bool broadcasts_to(std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
    if (from.size() > to.size()) return false;
    const std::size_t skip = to.size() - from.size();
    for (std::size_t d = 0; d < from.size(); ++d) {
        if (from[d] != to[skip + d] && from[d] != 1) return false;
    }
    return true;
}

Shape broadcast(const char* op_name, std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
    check_rank(op_name, a.size() > b.size() ? a.size() : b.size());
    Shape result(a);
    if (broadcast_into(result, b)) return result;
    throw Error(ErrorCode::Value,
                std::string(op_name) + ": operands could not be broadcast together with shapes " + to_string(a) + " " + to_string(b));
}

std::string to_string(std::span<const std::int64_t> shape) {
    std::string text = "(";
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (d) text += ", ";
        text += std::to_string(shape[d]);
    }
    return text + (shape.size() == 1 ? ",)" : ")");
}

int normalize_axis(const char* op_name, std::int64_t axis, int rank) {
    if (axis < -rank || axis >= rank) {
        throw Error(ErrorCode::Axis, std::string(op_name) + ": axis " + std::to_string(axis) + " is out of bounds for array of dimension " +
                                         std::to_string(rank));
    }
    return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace pardo
