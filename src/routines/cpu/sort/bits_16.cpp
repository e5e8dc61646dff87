// src/routines/cpu/sort/bits_16.cpp: sorting integers and floats of 16 bits.
#include "routines/cpu/sort/real.h"

namespace pardo::routines {

template void sort_lines(device::Device*, const std::int16_t*, std::int16_t*, std::int64_t*, Lines, bool, char*, double);
template void sort_lines(device::Device*, const std::uint16_t*, std::uint16_t*, std::int64_t*, Lines, bool, char*, double);
template void sort_lines(device::Device*, const Half*, Half*, std::int64_t*, Lines, bool, char*, double);
template void sort_lines(device::Device*, const BFloat16*, BFloat16*, std::int64_t*, Lines, bool, char*, double);

}  // namespace pardo::routines
