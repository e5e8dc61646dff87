// src/routines/element_types.h: the four element types of linear algebra, and a library's functions for each.
#pragma once

#include <complex>
#include <type_traits>
#include <utility>

#include <pardo/dtype.h>

namespace pardo::routines {

template <class T> struct RealNumber { using type = T; };
template <class R> struct RealNumber<std::complex<R>> { using type = R; };
/// The real type of a real or complex one.
template <class T> using Real = typename RealNumber<T>::type;
template <class T> inline constexpr bool is_complex_number = !std::is_same_v<T, Real<T>>;

/// What a library has for each type, under the letters that BLAS gives them.
template <template <class> class Functions> struct ByElementType {
    Functions<float> s;
    Functions<double> d;
    Functions<std::complex<float>> c;
    Functions<std::complex<double>> z;

    template <class T> const Functions<T>& get() const {
        if constexpr (std::is_same_v<T, float>)
            return s;
        else if constexpr (std::is_same_v<T, double>)
            return d;
        else if constexpr (std::is_same_v<T, std::complex<float>>)
            return c;
        else
            return z;
    }
};

/// Calls f(std::type_identity<T>()) with the type of float32, float64, complex64 or complex128.
template <class F> decltype(auto) visit_element_type(DType dtype, F&& f) {
    switch (dtype) {
        case DType::Float32: return f(std::type_identity<float>());
        case DType::Float64: return f(std::type_identity<double>());
        case DType::Complex64: return f(std::type_identity<std::complex<float>>());
        default: return f(std::type_identity<std::complex<double>>());
    }
}

}  // namespace pardo::routines
