// src/routines/strided_iterator.h: row-major order over strided memory, in runs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/shape.h"

namespace pardo::routines {

/// The elements of a strided array in row-major order, after merging dimensions that form one.
class StridedIterator {
public:
    StridedIterator(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (shape[d] == 1) continue;
            if (!shape_.empty() && strides_.back() == strides[d] * shape[d]) {
                shape_.back() *= shape[d];
                strides_.back() = strides[d];
            } else {
                shape_.push_back(shape[d]);
                strides_.push_back(strides[d]);
            }
        }
        if (shape_.empty()) {
            shape_.push_back(1);
            strides_.push_back(1);
        }
    }

    /// Offset of a row-major position, elements.
    std::int64_t offset(std::int64_t position) const {
        std::int64_t offset = 0;
        for (int d = shape_.size() - 1; d > 0; --d) {
            offset += position % shape_[d] * strides_[d];
            position /= shape_[d];
        }
        return offset + position * strides_[0];
    }

    /// Calls f(position, offset, step, count) for the pieces of [begin, end) that lie in one row.
    template <class F> void runs(std::int64_t begin, std::int64_t end, F&& f) const {
        const std::int64_t row = shape_.back(), step = strides_.back();
        while (begin < end) {
            const std::int64_t count = std::min(end - begin, row - begin % row);
            f(begin, offset(begin), step, count);
            begin += count;
        }
    }

    /// The merged dimensions.
    std::span<const std::int64_t> shape() const { return shape_; }
    std::span<const std::int64_t> strides() const { return strides_; }
    /// Elements that lie `inner_step()` apart.
    std::int64_t inner() const { return shape_.back(); }
    std::int64_t inner_step() const { return strides_.back(); }

private:
    SmallVector<std::int64_t, 4> shape_, strides_;
};

}  // namespace pardo::routines
