// src/base/view_bounds.h: whether a view stays inside of its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pardo {

/// True if all elements, of `item` bytes each, lie in memory of so many bytes; offset and strides are in elements. A view without elements
/// lies everywhere; one with a negative extent nowhere.
inline bool lies_within(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides, std::int64_t offset, std::int64_t item,
                        std::uint64_t bytes) {
    __extension__ using Wide = __int128;
    Wide least = offset, most = least;
    bool empty = false;
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] < 0) return false;
        empty = empty || shape[d] == 0;
        const Wide reach = static_cast<Wide>(shape[d] - 1) * strides[d];
        (reach < 0 ? least : most) += reach;
    }
    return empty || (least >= 0 && (most + 1) * item <= static_cast<Wide>(bytes));
}

}  // namespace pardo
