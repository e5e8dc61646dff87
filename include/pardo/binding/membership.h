// include/pardo/binding/membership.h: what Python's isin is made of.
// For pardo's own bindings: no stability.
#pragma once

#include <pardo/array.h>

namespace pardo {

/// Whether each x is among `elements`, which lie in [low, low + count), by a table of `count` bools. Both are of integers or bools, and
/// `elements` has some; `low` is given by its bits.
PARDO_API Array is_member(const Array& x, const Array& elements, std::int64_t low, std::int64_t count, bool invert);

}  // namespace pardo
