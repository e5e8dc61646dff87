// src/routines/cpu/keys.h: elements as keys whose plain order is NumPy's (NaN last), and lines along any axis as contiguous memory.
#pragma once

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "base/narrow.h"
#include "routines/cpu/task.h"

namespace pardo::routines {

/// The unsigned type of a size.
template <int bytes> struct UnsignedOf;
template <> struct UnsignedOf<1> { using type = std::uint8_t; };
template <> struct UnsignedOf<2> { using type = std::uint16_t; };
template <> struct UnsignedOf<4> { using type = std::uint32_t; };
template <> struct UnsignedOf<8> { using type = std::uint64_t; };

/// Keys of real elements: unsigned integers that order as the elements do.
template <class T> struct Codec {
    using Key = typename UnsignedOf<sizeof(T)>::type;
    static constexpr Key sign = static_cast<Key>(Key{1} << (8 * sizeof(T) - 1));
    static constexpr bool is_float = NarrowFloat<T> || std::is_floating_point_v<T>;

    /// Bits of infinity: what is above it, sign apart, is NaN.
    static constexpr Key infinity() {
        if constexpr (NarrowFloat<T>)
            return static_cast<Key>(((1u << facts_of(dtype_of<T>).exponent) - 1) << facts_of(dtype_of<T>).mantissa);
        else if constexpr (sizeof(T) == 4)
            return static_cast<Key>(0x7f800000u);
        else
            return static_cast<Key>(0x7ff0000000000000u);
    }
    /// A key that `decode` turns back (into the positive NaN of that payload for a negative one).
    static Key encode(T value) {
        const Key bits = std::bit_cast<Key>(value);
        if constexpr (is_float) {
            const Key magnitude = static_cast<Key>(bits & static_cast<Key>(~sign));
            const Key ordered = bits & sign ? static_cast<Key>(~bits) : static_cast<Key>(bits | sign);
            return magnitude > infinity() ? static_cast<Key>(magnitude | sign) : ordered;
        } else if constexpr (std::is_signed_v<T>) {
            return static_cast<Key>(bits ^ sign);
        } else {
            return bits;
        }
    }
    static T decode(Key key) {
        if constexpr (is_float)
            return std::bit_cast<T>(key & sign ? static_cast<Key>(key ^ sign) : static_cast<Key>(~key));
        else if constexpr (std::is_signed_v<T>)
            return std::bit_cast<T>(static_cast<Key>(key ^ sign));
        else
            return std::bit_cast<T>(key);
    }
    /// A key that is equal for equal elements: one for both zeros, one for all NaNs.
    static Key rank(T value) {
        if constexpr (is_float) {
            const Key bits = std::bit_cast<Key>(value), magnitude = static_cast<Key>(bits & static_cast<Key>(~sign));
            if (magnitude > infinity()) return static_cast<Key>(~Key{0});
            if (magnitude == 0) return sign;
        }
        return encode(value);
    }
    static bool less(Key a, Key b) { return a < b; }
    static Key reversed(Key key, bool descending) { return descending ? static_cast<Key>(~key) : key; }
};
/// Bools are 0 or 1 whatever foreign memory holds.
template <> struct Codec<bool> {
    using Key = std::uint8_t;
    static Key encode(bool value) { return std::bit_cast<Key>(value) != 0; }
    static bool decode(Key key) { return key & 1; }
    static Key rank(bool value) { return encode(value); }
    static bool less(Key a, Key b) { return a < b; }
    static Key reversed(Key key, bool descending) { return descending ? static_cast<Key>(~key) : key; }
};
/// Complex elements are their own keys: by real part, then imaginary part, with those that hold a NaN behind, as NumPy orders them.
template <class R> struct Codec<std::complex<R>> {
    using Key = std::complex<R>;
    static Key encode(Key value) { return value; }
    static Key decode(Key key) { return key; }
    static Key rank(Key value) { return value; }
    static bool less(const Key& a, const Key& b) {
        const int nan_a = 2 * (a.real() != a.real()) + (a.imag() != a.imag()), nan_b = 2 * (b.real() != b.real()) + (b.imag() != b.imag());
        if (nan_a != nan_b) return nan_a < nan_b;
        if (nan_a < 2 && a.real() != b.real()) return a.real() < b.real();
        return !(nan_a & 1) && a.imag() < b.imag();
    }
};
template <class T> using KeyOf = typename Codec<T>::Key;
template <class T> inline constexpr bool has_integer_keys = std::is_integral_v<KeyOf<T>>;

namespace keys {

// Loops of their own, because they are worth the widest vectors: every element of a sort passes them.
template <class T> [[gnu::always_inline]] inline void encode_loop(const T* in, KeyOf<T>* out, std::int64_t n, bool descending) {
    const auto flip = static_cast<KeyOf<T>>(descending ? ~KeyOf<T>{0} : 0);
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<KeyOf<T>>(Codec<T>::encode(in[i]) ^ flip);
}
template <class T> [[gnu::always_inline]] inline void decode_loop(const KeyOf<T>* in, T* out, std::int64_t n, bool descending) {
    const auto flip = static_cast<KeyOf<T>>(descending ? ~KeyOf<T>{0} : 0);
    for (std::int64_t i = 0; i < n; ++i) {
        // `out` may be the keys' own memory.
        const T value = Codec<T>::decode(static_cast<KeyOf<T>>(in[i] ^ flip));
        std::memcpy(static_cast<void*>(out + i), &value, sizeof(T));
    }
}
#if defined(__x86_64__)
template <class T> PARDO_TARGET_AVX512 void encode_avx512(const T* in, KeyOf<T>* out, std::int64_t n, bool descending) {
    encode_loop(in, out, n, descending);
}
template <class T> PARDO_TARGET_AVX512 void decode_avx512(const KeyOf<T>* in, T* out, std::int64_t n, bool descending) {
    decode_loop(in, out, n, descending);
}
#endif

}  // namespace keys

/// Keys of n elements; in the order of descending elements if asked.
template <class T> void encode_all(const T* in, KeyOf<T>* out, std::int64_t n, bool descending) {
#if defined(__x86_64__)
    if (host_simd() == Simd::Avx512) return keys::encode_avx512(in, out, n, descending);
#endif
    keys::encode_loop(in, out, n, descending);
}
/// The way back; `out` may be the memory of the keys.
template <class T> void decode_all(const KeyOf<T>* in, T* out, std::int64_t n, bool descending) {
#if defined(__x86_64__)
    if (host_simd() == Simd::Avx512) return keys::decode_avx512(in, out, n, descending);
#endif
    keys::decode_loop(in, out, n, descending);
}

/// "a before b" in ascending or descending order.
template <class T> struct KeyOrder {
    bool descending;
    bool operator()(const KeyOf<T>& a, const KeyOf<T>& b) const { return descending ? Codec<T>::less(b, a) : Codec<T>::less(a, b); }
};

/// Calls line(in, values, indices) for every line, contiguous in and out (values and indices hold `out_length` elements; those absent are
/// null). `make()` gives each thread its own `line`. Lines along an inner axis are copied together in groups as wide as a cache line.
template <class T, class Make>
void for_each_line(device::Device* device, const T* x, T* values, std::int64_t* indices, Lines lines, std::int64_t out_length, double cost,
                   Make&& make) {
    const std::int64_t n = lines.length, inner = lines.inner;
    if (inner == 1) {
        cpu::parallel_for(device, lines.outer, cost, [&](std::int64_t begin, std::int64_t end) {
            auto line = make();
            for (std::int64_t o = begin; o < end; ++o)
                line(x + o * n, values ? values + o * out_length : nullptr, indices ? indices + o * out_length : nullptr);
        });
        return;
    }
    constexpr std::int64_t width = std::max<std::int64_t>(64 / static_cast<std::int64_t>(sizeof(T)), 8);
    const std::int64_t groups = (inner + width - 1) / width;
    cpu::parallel_for(device, lines.outer * groups, cost, [&](std::int64_t begin, std::int64_t end) {
        auto line = make();
        const auto in = std::make_unique<T[]>(static_cast<std::size_t>(width * n));
        const auto out = std::make_unique<T[]>(static_cast<std::size_t>(values ? width * out_length : 0));
        const auto positions = std::make_unique<std::int64_t[]>(static_cast<std::size_t>(indices ? width * out_length : 0));
        for (std::int64_t part = begin; part < end; ++part) {
            const std::int64_t o = part / groups, first = part % groups * width, count = std::min(width, inner - first);
            const T* from = x + o * n * inner + first;
            for (std::int64_t i = 0; i < n; ++i) {
                for (std::int64_t j = 0; j < count; ++j) in[j * n + i] = from[i * inner + j];
            }
            for (std::int64_t j = 0; j < count; ++j)
                line(in.get() + j * n, values ? out.get() + j * out_length : nullptr, indices ? positions.get() + j * out_length : nullptr);
            const std::int64_t base = o * out_length * inner + first;
            for (std::int64_t i = 0; i < out_length; ++i) {
                for (std::int64_t j = 0; j < count; ++j) {
                    if (values) values[base + i * inner + j] = out[j * out_length + i];
                    if (indices) indices[base + i * inner + j] = positions[j * out_length + i];
                }
            }
        }
    });
}

}  // namespace pardo::routines
