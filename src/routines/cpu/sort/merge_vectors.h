// src/routines/cpu/sort/merge_vectors.h: merging keys in vector registers, where the processor has them.
#pragma once

#include <cstdint>

namespace pardo::routines::merging {

/// Stretches of the result that are merged side by side, so that what one waits for does not hold up the others.
inline constexpr int vector_streams = 2;
/// The lengths of these are multiples of this.
inline constexpr std::int64_t most_lanes = 32;

/// out[first + s * each + k], for each stream s and k < each, are what follows a[from_a[s]] and b[first + s * each - from_a[s]] in the
/// merged order. Behind what goes to `out` each run has 2 * most_lanes elements more. Equal keys are the same bits.
template <class K>
using StreamMerge = void (*)(const K* a, const K* b, K* out, const std::int64_t* from_a, std::int64_t first, std::int64_t each);

/// The one for integers, or for the bits of floats other than NaN, whose zeros may change places. Null where one element at a time is as
/// fast. PARDO_CPU_VECTOR_BYTES lowers what the processor is taken to have.
template <class K> StreamMerge<K> stream_merge(bool floats, bool descending);

}  // namespace pardo::routines::merging
