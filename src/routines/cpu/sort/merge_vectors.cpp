// src/routines/cpu/sort/merge_vectors.cpp: merging keys in vector registers, by bitonic networks.
// Reference: J. Chhugani et al., "Efficient Implementation of Sorting on Multi-Core SIMD CPU Architecture", VLDB 2008.
#include "routines/cpu/sort/merge_vectors.h"

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "routines/cpu/task.h"

namespace pardo::routines::merging {

#if defined(__x86_64__)

#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2")
namespace avx2 {
#include "routines/cpu/sort/merge_streams.h"
}
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,bmi,bmi2")
namespace avx512 {
#include "routines/cpu/sort/merge_streams.h"
}
#pragma GCC pop_options

namespace {

template <class K, bool floats, bool descending> StreamMerge<K> chosen() {
    constexpr int bytes = sizeof(K) >= 4 ? 64 : 32;  // networks of more lanes have more steps
    static_assert(bytes / sizeof(K) <= most_lanes);
    if (host_simd() == Simd::Avx512) return avx512::merge_streams<K, bytes / sizeof(K), floats, descending>;
    if constexpr (sizeof(K) < 8) {  // four lanes are not worth it
        if (host_simd() == Simd::Avx2) return avx2::merge_streams<K, 32 / sizeof(K), floats, descending>;
    }
    return nullptr;
}

}  // namespace

template <class K> StreamMerge<K> stream_merge(bool floats, bool descending) {
    if constexpr (std::is_signed_v<K> && sizeof(K) > 1) {
        if (floats) return descending ? chosen<K, true, true>() : chosen<K, true, false>();
    }
    return descending ? chosen<K, false, true>() : chosen<K, false, false>();
}

#else

template <class K> StreamMerge<K> stream_merge(bool, bool) { return nullptr; }

#endif

template StreamMerge<std::int8_t> stream_merge(bool, bool);
template StreamMerge<std::int16_t> stream_merge(bool, bool);
template StreamMerge<std::int32_t> stream_merge(bool, bool);
template StreamMerge<std::int64_t> stream_merge(bool, bool);
template StreamMerge<std::uint8_t> stream_merge(bool, bool);
template StreamMerge<std::uint16_t> stream_merge(bool, bool);
template StreamMerge<std::uint32_t> stream_merge(bool, bool);
template StreamMerge<std::uint64_t> stream_merge(bool, bool);

}  // namespace pardo::routines::merging
