// src/routines/cpu/sort/sort.h: sorting the lines of an array: one function a dtype, compiled in several files because each is large.
// This folder: sorting and selecting. bits_8.cpp to bits_64.cpp compile real.h for the dtypes of that size.
#pragma once

#include "routines/routines.h"

namespace pardo::routines {

/// Positions in lines of this length take four bytes while they are sorted, else eight.
constexpr bool has_small_positions(std::int64_t length) { return length <= 0xffffffff; }
/// Where in the scratch memory of a line of real elements the positions are: behind two keys for each element.
constexpr std::int64_t argsort_positions(std::int64_t length, std::int64_t itemsize) { return (2 * length * itemsize + 7) / 8 * 8; }

/// Sorts each line of x into `values`, positions into `indices`; either may be null. With `scratch` (two keys for each element of a line,
/// and two positions where those are asked for) all threads work on one line after the other.
template <class T>
void sort_lines(device::Device* device, const T* x, T* values, std::int64_t* indices, Lines lines, bool descending, char* scratch,
                double cost);

}  // namespace pardo::routines
