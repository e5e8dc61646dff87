// include/pardo/dtype.h: element types, their facts, promotion, and single values of them.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <pardo/export.h>

namespace pardo {

/// Element types: the rows of dtype.def, the 13 of the array API and the two floats of 16 bits.
enum class DType : std::uint8_t {
#define PARDO_DTYPE(name, text, type, bytes, kind, exponent, mantissa, computed) name,
#include <pardo/dtype.def>
};

/// The family a dtype belongs to.
enum class DKind : std::uint8_t { Bool, Signed, Unsigned, Float, Complex };

/// What dtype.def says of a dtype; exponent and mantissa are the bits of a float, or of a part of a complex number.
struct DTypeFacts {
    std::uint8_t bytes;               ///< of an element
    DKind kind;                       ///< its family
    std::uint8_t exponent, mantissa;  ///< bits of a float
    DType computed_in;                ///< a wider dtype for floats of 16 bits, else itself
};
/// Of each dtype, in the order of DType.
inline constexpr DTypeFacts dtype_facts[] = {
#define PARDO_DTYPE(name, text, type, bytes, kind, exponent, mantissa, computed) {bytes, DKind::kind, exponent, mantissa, DType::computed},
#include <pardo/dtype.def>
};
inline constexpr int dtype_count = sizeof dtype_facts / sizeof *dtype_facts;  ///< how many dtypes there are

/// What is known of a dtype.
constexpr const DTypeFacts& facts_of(DType t) { return dtype_facts[static_cast<int>(t)]; }

/// Size of one element in bytes.
constexpr int itemsize(DType t) { return facts_of(t).bytes; }

/// The family of a dtype.
constexpr DKind kind_of(DType t) { return facts_of(t).kind; }
/// with or without a sign; bools are none
constexpr bool is_integer(DType t) { return kind_of(t) == DKind::Signed || kind_of(t) == DKind::Unsigned; }
constexpr bool is_float(DType t) { return kind_of(t) == DKind::Float; }      ///< real floating-point numbers
constexpr bool is_complex(DType t) { return kind_of(t) == DKind::Complex; }  ///< complex numbers
constexpr bool is_inexact(DType t) { return is_float(t) || is_complex(t); }  ///< floats and complex numbers

/// The dtype that its values are held as while they are computed with (Float16 and BFloat16 -> Float32), any other unchanged.
constexpr DType computed_in(DType t) { return facts_of(t).computed_in; }
/// True of a float that is computed in a wider one, and rounded where it is stored.
constexpr bool is_narrow_float(DType t) { return computed_in(t) != t; }

/// The real dtype of a complex one (Complex64 -> Float32), any other unchanged.
constexpr DType real_of(DType t) { return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t; }
/// The complex dtype that holds a float dtype (Float64 -> Complex128, else Complex64).
constexpr DType complex_of(DType t) {
    if (is_complex(t)) return t;
    return computed_in(t) == DType::Float32 ? DType::Complex64 : DType::Complex128;
}

/// NumPy's name: "float64".
PARDO_API std::string_view dtype_name(DType t);

/// NumPy 2's promotion of two array dtypes (never fails).
PARDO_API DType promote(DType a, DType b);

/// True if NumPy's `can_cast(from, to, "safe")`.
PARDO_API bool can_cast_safe(DType from, DType to);
PARDO_API bool can_cast_same_kind(DType from, DType to);  ///< true if NumPy's `can_cast(from, to, "same_kind")`

/// C++ types of a dtype's elements; floats of 16 bits travel as their bits.
struct Half {
    std::uint16_t bits;  ///< as in memory
};
/// The bits of a bfloat16.
struct BFloat16 {
    std::uint16_t bits;  ///< as in memory
};
PARDO_API float half_to_float(Half h);            ///< exact
PARDO_API Half float_to_half(float f);            ///< rounded to nearest, halves to even
PARDO_API Half double_to_half(double f);          ///< rounded once
PARDO_API float bfloat16_to_float(BFloat16 b);    ///< exact
PARDO_API BFloat16 float_to_bfloat16(float f);    ///< rounded to nearest, halves to even
PARDO_API BFloat16 double_to_bfloat16(double f);  ///< rounded once

template <class T> struct dtype_of_impl;
#define PARDO_DTYPE(name, text, type, bytes, kind, exponent, mantissa, computed) \
    template <> struct dtype_of_impl<type> { static constexpr DType value = DType::name; };
#include <pardo/dtype.def>
template <> struct dtype_of_impl<long long> { static constexpr DType value = DType::Int64; };
template <> struct dtype_of_impl<unsigned long long> { static constexpr DType value = DType::UInt64; };
template <class T> inline constexpr DType dtype_of = dtype_of_impl<T>::value;  ///< the dtype whose elements have a type of C++
/// A C++ type of elements: those that dtype_of knows.
template <class T>
concept Element = requires {
    dtype_of_impl<T>::value;
};

/// One of several types.
template <class T, class... U>
concept OneOf = (std::same_as<T, U> || ...);
/// An integer that counts or computes: neither bool nor a character.
template <class T>
concept Integer = std::integral<T> && sizeof(T) <= 8 && !OneOf<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;
/// A plain number of C++, as operators take it beside an array.
template <class T>
concept Number = Integer<T> || std::floating_point<T> || OneOf<T, bool, std::complex<float>, std::complex<double>>;

/// One value with a dtype. `weak` marks a Python scalar, which takes the dtype of what it meets (NEP 50).
struct Scalar {
    DType dtype = DType::Float64;  ///< of the value
    bool weak = false;             ///< takes the dtype of what it meets
    union {
        bool b;
        std::int64_t i;   ///< signed kinds
        std::uint64_t u;  ///< unsigned kinds
        double f;         ///< float kinds, already rounded to the dtype
        struct {
            double re, im;  ///< complex kinds
        } c;
    };

    Scalar() : c{0, 0} {}
    /// Weak but for bool, as Python's numbers: int64 (uint64 of 64 bits without a sign), float64 or complex128.
    template <Number T> Scalar(T v) : weak(!std::same_as<T, bool>), c{0, 0} {
        if constexpr (std::same_as<T, bool>) {
            dtype = DType::Bool;
            b = v;
        } else if constexpr (Integer<T> && std::is_unsigned_v<T> && sizeof(T) == 8) {
            dtype = DType::UInt64;
            u = v;
        } else if constexpr (Integer<T>) {
            dtype = DType::Int64;
            i = v;
        } else if constexpr (std::floating_point<T>) {
            f = static_cast<double>(v);
        } else {
            dtype = DType::Complex128;
            c.re = v.real();
            c.im = v.imag();
        }
    }

    /// The same value in another dtype, converted as NumPy's astype does; never weak.
    PARDO_API Scalar cast(DType to) const;
    /// The value as a double (real part of a complex one).
    PARDO_API double as_double() const;
    /// The value as an int64 (truncated).
    PARDO_API std::int64_t as_int() const;
    /// The value as a C++ type of elements, converted as NumPy's astype does.
    template <Element T> T as() const {
        const Scalar s = cast(dtype_of<T>);
        if constexpr (std::same_as<T, bool>) {
            return s.b;
        } else if constexpr (std::same_as<T, Half>) {
            return double_to_half(s.f);
        } else if constexpr (std::same_as<T, BFloat16>) {
            return double_to_bfloat16(s.f);
        } else if constexpr (std::floating_point<T>) {
            return static_cast<T>(s.f);
        } else if constexpr (std::is_unsigned_v<T>) {
            return static_cast<T>(s.u);
        } else if constexpr (std::integral<T>) {
            return static_cast<T>(s.i);
        } else {
            return T(static_cast<typename T::value_type>(s.c.re), static_cast<typename T::value_type>(s.c.im));
        }
    }
};

/// The dtype of `array op scalar` by NEP 50: a weak scalar keeps the array's dtype unless its kind is higher.
/// Throws Overflow as "<op_name>: …" if a weak integer does not fit the integer dtype.
PARDO_API DType promote_weak(DType array, const Scalar& scalar, const char* op_name = "promote_weak");

}  // namespace pardo
