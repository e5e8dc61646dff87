// src/lib/cpu/sort/sort.h: sorting the lines of an array: one function a dtype, compiled in several files because each is large.
// This folder: sorting and selecting. bits_8.cpp to bits_64.cpp compile real.h for the dtypes of that size.
#pragma once

#include "lib/routines.h"

namespace pardo::lib {

/// Sorts each line of x into `values`, positions into `indices`; either may be null. With `scratch` (16 bytes an element of a line, 32 for
/// positions) all threads work on one line after the other.
template <class T>
void sort_lines(device::Device* device, const T* x, T* values, std::int64_t* indices, Lines lines, bool descending, char* scratch,
                double cost);

}  // namespace pardo::lib
