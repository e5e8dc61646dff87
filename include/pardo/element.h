// include/pardo/element.h: single elements, without a kernel where they lie in memory that the host computes on and nothing is under way.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <pardo/array.h>

namespace pardo {

/// x[i, j, …] with an integer for each dimension, as the index expression gives it; nothing where its element has to be waited for, where
/// it lies elsewhere or where an index is out of bounds: index as usual.
PARDO_API std::optional<Array> element_of(const Array& x, std::span<const std::int64_t> index);
/// x[i, j, …] = value in the same way; false where nothing has been done.
PARDO_API bool set_element(const Array& x, std::span<const std::int64_t> index, const Scalar& value);
/// The value of an array of one element, if it is there.
PARDO_API std::optional<Scalar> known_item(const Array& x);

}  // namespace pardo
