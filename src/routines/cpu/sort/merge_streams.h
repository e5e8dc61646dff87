// src/routines/cpu/sort/merge_streams.h: merging in vector registers. Included once for each vector extension, inside of a namespace.
// No lambdas: GCC compiles those of templates for the processor that the file is for.

template <class K, int lanes> struct VectorOf { using Type [[gnu::vector_size(lanes * sizeof(K))]] = K; };
template <class K, int lanes> using Vector = typename VectorOf<K, lanes>::Type;

/// Both vectors are sorted into a lower and a higher one of each lane.
template <class V, bool descending> [[gnu::always_inline]] inline void exchange(V& first, V& second) {
    const V low = first < second ? first : second, high = first < second ? second : first;
    first = descending ? high : low;
    second = descending ? low : high;
}
template <class V, int... k> [[gnu::always_inline]] inline void reverse(V& v, std::integer_sequence<int, k...>) {
    v = __builtin_shufflevector(v, v, (static_cast<int>(sizeof...(k)) - 1 - k)...);
}
/// A bitonic half-cleaner: lanes at this distance are exchanged.
template <class V, bool descending, int distance, int... k>
[[gnu::always_inline]] inline void clean_once(V& v, std::integer_sequence<int, k...>) {
    V first = v, second = __builtin_shufflevector(v, v, (k ^ distance)...);
    exchange<V, descending>(first, second);
    v = __builtin_shufflevector(first, second, ((k & distance) ? static_cast<int>(sizeof...(k)) + k : k)...);
}
/// Those of this distance and of the smaller ones: sorts a bitonic vector.
template <class V, int lanes, bool descending, int distance = lanes / 2> [[gnu::always_inline]] inline void clean(V& v) {
    clean_once<V, descending, distance>(v, std::make_integer_sequence<int, lanes>());
    if constexpr (distance > 1) clean<V, lanes, descending, distance / 2>(v);
}

/// Integers that order as floats of these bits do, and back. NaN apart; the negative zero goes before the other one.
template <class K, bool floats, class V> [[gnu::always_inline]] inline void turn(V& bits) {
    if constexpr (floats) bits ^= (bits >> (8 * sizeof(K) - 1)) & std::numeric_limits<K>::max();
}
/// The same for one float, both zeros alike: the run that is next is the one that a stable merge would take from.
template <class K, bool floats> [[gnu::always_inline]] inline K rank(K bits) {
    if constexpr (floats) {
        const K negative = static_cast<K>(bits >> (8 * sizeof(K) - 1));
        return static_cast<K>(((bits & std::numeric_limits<K>::max()) ^ negative) - negative);
    } else {
        return bits;
    }
}

/// A vector of the run whose next element comes first. Without a branch: the compiler does not see that the mask is all ones or nothing.
template <class K, class V, int lanes, bool floats, bool descending>
[[gnu::always_inline]] inline void take(const K*& a, const K*& b, V& v) {
    const K here = rank<K, floats>(*a), there = rank<K, floats>(*b);
    std::intptr_t second = -static_cast<std::intptr_t>(descending ? here < there : there < here);
    asm("" : "+r"(second));
    const char* const from = reinterpret_cast<const char*>(a);
    std::memcpy(&v, from + ((reinterpret_cast<const char*>(b) - from) & second), sizeof(V));
    turn<K, floats>(v);
    b += lanes & second;
    a += lanes & ~second;
}

/// See stream_merge. Of two sorted vectors the network makes what comes first, and what is held until the next vector is there.
template <class K, int lanes, bool floats, bool descending>
void merge_streams(const K* a, const K* b, K* out, const std::int64_t* from_a, std::int64_t first, std::int64_t each) {
    using V = Vector<K, lanes>;
    const K *x[vector_streams], *y[vector_streams];
    V held[vector_streams];
    for (int s = 0; s < vector_streams; ++s) {
        x[s] = a + from_a[s];
        y[s] = b + (first + s * each - from_a[s]);
        take<K, V, lanes, floats, descending>(x[s], y[s], held[s]);
    }
    K* to = out + first;
    for (std::int64_t k = 0; k < each; k += lanes) {
#pragma GCC unroll 4
        for (int s = 0; s < vector_streams; ++s) {
            V done = held[s], next;
            take<K, V, lanes, floats, descending>(x[s], y[s], next);
            reverse(next, std::make_integer_sequence<int, lanes>());
            exchange<V, descending>(done, next);
            clean<V, lanes, descending>(done);
            clean<V, lanes, descending>(next);
            held[s] = next;
            turn<K, floats>(done);
            std::memcpy(to + s * each + k, &done, sizeof(V));
        }
    }
}
