// src/base/hash.cpp: XXH3 of bytes, and digests as text.
#include "base/hash.h"

#include <xxhash.h>

namespace pardo {

Hash128 hash128(const void* data, std::size_t bytes) {
    const XXH128_hash_t digest = XXH3_128bits(data, bytes);
    return {digest.low64, digest.high64};
}

std::string Hash128::hex() const {
    constexpr char digits[] = "0123456789abcdef";
    std::string text(32, '0');
    for (int i = 0; i < 32; ++i) {
        const std::uint64_t word = i < 16 ? hi : lo;
        text[static_cast<std::size_t>(i)] = digits[word >> (60 - 4 * (i % 16)) & 15];
    }
    return text;
}

}  // namespace pardo
