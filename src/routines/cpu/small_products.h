// src/routines/cpu/small_products.h: products of small real matrices, of which a call of BLAS takes longer than the arithmetic.
#pragma once

#include <cstdint>

namespace pardo::routines {

/// The shape of a product and the strides of its operands: a is (m, k), b (k, n) with contiguous rows, the result (m, n) C-contiguous.
struct SmallProduct {
    std::int64_t m, n, k;
    std::int64_t a_row, a_column, b_row;  // strides, elements
};

template <class T> using MultiplySmall = void (*)(const SmallProduct&, const T* a, const T* b, T* out);

/// The function for products of that shape, by the host's vectors: T is float or double. Null where BLAS is to be called.
template <class T> MultiplySmall<T> small_product(const SmallProduct& product);

}  // namespace pardo::routines
