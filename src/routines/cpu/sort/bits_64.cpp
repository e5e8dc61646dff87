// src/routines/cpu/sort/bits_64.cpp: sorting 64-bit integers and float64.
#include "routines/cpu/sort/real.h"

namespace pardo::routines {

template void sort_lines(device::Device*, const std::int64_t*, std::int64_t*, std::int64_t*, Lines, bool, char*, double);
template void sort_lines(device::Device*, const std::uint64_t*, std::uint64_t*, std::int64_t*, Lines, bool, char*, double);
template void sort_lines(device::Device*, const double*, double*, std::int64_t*, Lines, bool, char*, double);

}  // namespace pardo::routines
