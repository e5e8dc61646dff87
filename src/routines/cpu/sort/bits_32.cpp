// src/routines/cpu/sort/bits_32.cpp: sorting 32-bit integers and float32.
#include "routines/cpu/sort/real.h"

namespace pardo::routines {

template void sort_lines(device::Device*, const std::int32_t*, std::int32_t*, std::int64_t*, Lines, bool, char*, double);
template void sort_lines(device::Device*, const std::uint32_t*, std::uint32_t*, std::int64_t*, Lines, bool, char*, double);
template void sort_lines(device::Device*, const float*, float*, std::int64_t*, Lines, bool, char*, double);

}  // namespace pardo::routines
