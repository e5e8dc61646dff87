// src/base/hash.h: 128-bit hashes by xxHash (XXH3), for cache keys and files.
#pragma once

#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace pardo {

/// A 128-bit digest.
struct Hash128 {
    std::uint64_t lo = 0, hi = 0;
    friend auto operator<=>(const Hash128&, const Hash128&) = default;
    /// 32 hexadecimal digits.
    std::string hex() const;
};

/// XXH3 of a block of bytes.
Hash128 hash128(const void* data, std::size_t bytes);
inline Hash128 hash128(std::string_view s) { return hash128(s.data(), s.size()); }

}  // namespace pardo

template <> struct std::hash<pardo::Hash128> {
    std::size_t operator()(const pardo::Hash128& h) const noexcept { return h.lo; }
};
