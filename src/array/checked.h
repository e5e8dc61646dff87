// src/array/checked.h: late errors of values: readers fail if a condition on the data, which the device tests, holds.
#pragma once

#include <pardo/array.h>

namespace pardo::arrays {

inline constexpr const char* negative_power = "power: Integers to negative integer powers are not allowed.";
/// The exponents; what reads them fails with `negative_power` if the device finds a negative one.
Array checked_exponents(const Array& y);

}  // namespace pardo::arrays
