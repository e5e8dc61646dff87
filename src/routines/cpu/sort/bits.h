// src/routines/cpu/sort/bits.h: what a dtype does with the bits of its elements, so that what works on keys is compiled once for each size.
#pragma once

#include "routines/cpu/keys.h"
#include "routines/cpu/sort/quicksort.h"

namespace pardo::routines {

/// The order of keys: unsigned integers', or that of complex elements, which are their own keys.
template <class K> bool before(const K& a, const K& b) { return Codec<K>::less(a, b); }

/// For complex elements all three copy.
template <class K> struct Bits {
    void (*encode)(const K* elements, K* keys, std::int64_t n, bool);
    void (*decode)(const K* keys, K* elements, std::int64_t n, bool);
    void (*rank)(const K* elements, K* keys, std::int64_t n, bool descending);
};
// noipa: the compiler must not conclude from the types of pointers that these touch other memory than their callers.
template <class T> [[gnu::noipa]] void encode_bits(const KeyOf<T>* elements, KeyOf<T>* keys, std::int64_t n, bool descending) {
    encode_all(reinterpret_cast<const T*>(elements), keys, n, descending);
}
template <class T> [[gnu::noipa]] void decode_bits(const KeyOf<T>* keys, KeyOf<T>* elements, std::int64_t n, bool descending) {
    decode_all(keys, reinterpret_cast<T*>(elements), n, descending);
}
template <class T> [[gnu::noipa]] void rank_bits(const KeyOf<T>* elements, KeyOf<T>* keys, std::int64_t n, bool descending) {
    const T* in = reinterpret_cast<const T*>(elements);
    for (std::int64_t i = 0; i < n; ++i) keys[i] = Codec<T>::reversed(Codec<T>::rank(in[i]), descending);
}
template <class K> void copy_bits(const K* from, K* to, std::int64_t n, bool) { std::copy_n(from, n, to); }

/// Calls f(bits) with those of a dtype.
template <class F> void visit_bits(DType dtype, F&& f) {
    visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
        using K = KeyOf<T>;
        if constexpr (has_integer_keys<T>)
            f(Bits<K>{encode_bits<T>, decode_bits<T>, rank_bits<T>});
        else
            f(Bits<K>{copy_bits<K>, copy_bits<K>, copy_bits<K>});
    });
}

/// Places the kth key of keys[0, n); `tmp` has room for n where the vectorised selection is used.
template <class K> void select(K* keys, K* tmp, std::int64_t n, std::int64_t kth) {
    if constexpr (std::is_integral_v<K> && sizeof(K) >= 4) {
        if (quicksort::available()) return quicksort::select(keys, tmp, n, kth);
    }
    std::nth_element(keys, keys + kth, keys + n, before<K>);
}

}  // namespace pardo::routines
