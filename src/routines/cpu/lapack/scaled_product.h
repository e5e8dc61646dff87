// src/routines/cpu/lapack/scaled_product.h: products that neither overflow nor underflow on the way.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>

#include "routines/cpu/lapack/lapack.h"

namespace pardo::routines {

/// A product of numbers, as a number and a power of two.
template <class T> class ScaledProduct {
public:
    void multiply(T x) {
        exponent_ += normalize(x);
        value_ *= x;
        exponent_ += normalize(value_);
    }
    T value() const { return scaled(value_, exponent_); }

private:
    static T scaled(T x, int by) {
        if constexpr (is_complex_number<T>)
            return {std::scalbn(x.real(), by), std::scalbn(x.imag(), by)};
        else
            return std::scalbn(x, by);
    }
    static int normalize(T& x) {
        const Real<T> size = std::max(std::abs(std::real(x)), std::abs(std::imag(x)));
        if (!(size > 0) || !std::isfinite(size)) return 0;
        const int exponent = std::ilogb(size);
        x = scaled(x, -exponent);
        return exponent;
    }
    T value_ = T(1);
    int exponent_ = 0;
};

}  // namespace pardo::routines
