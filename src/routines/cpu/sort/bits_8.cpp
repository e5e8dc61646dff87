// src/routines/cpu/sort/bits_8.cpp: sorting bool and 8-bit integers.
#include "routines/cpu/sort/real.h"

namespace pardo::routines {

template void sort_lines(device::Device*, const bool*, bool*, std::int64_t*, Lines, bool, char*, double);
template void sort_lines(device::Device*, const std::int8_t*, std::int8_t*, std::int64_t*, Lines, bool, char*, double);
template void sort_lines(device::Device*, const std::uint8_t*, std::uint8_t*, std::int64_t*, Lines, bool, char*, double);

}  // namespace pardo::routines
