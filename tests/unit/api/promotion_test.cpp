// tests/unit/api/promotion_test.cpp: every operator between arrays of every dtype and numbers of every type of C++, on both sides: the
// dtype is what NumPy 2 gives for Python's numbers, and the values are those of two arrays of the dtype that is computed in.
#include <gtest/gtest.h>

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <pardo/ops.h>

#include "values.h"

namespace pardo {
namespace {

enum class Sort : std::uint8_t { Arithmetic, Difference, Quotient, Remainder, Bits, Shift, Comparison };

/// The dtype that an array and a number are computed in.
DType met(DType array, DKind number) {
    const bool whole = array == DType::Bool || is_integer(array);
    switch (number) {
        case DKind::Bool: return array;
        case DKind::Signed:
        case DKind::Unsigned: return array == DType::Bool ? DType::Int64 : array;
        case DKind::Float: return whole ? DType::Float64 : array;
        default: return whole ? DType::Complex128 : complex_of(array);
    }
}

/// What an operator gives for operands of one dtype; nothing: it is refused.
std::optional<DType> given(Sort sort, DType t) {
    const bool is_bool = t == DType::Bool;
    switch (sort) {
        case Sort::Arithmetic: return t;
        case Sort::Difference: return is_bool ? std::nullopt : std::optional(t);
        case Sort::Quotient: return is_bool || is_integer(t) ? DType::Float64 : t;
        case Sort::Remainder: return is_complex(t) ? std::nullopt : std::optional(is_bool ? DType::Int8 : t);
        case Sort::Bits: return is_inexact(t) ? std::nullopt : std::optional(t);
        case Sort::Shift: return is_inexact(t) ? std::nullopt : std::optional(is_bool ? DType::Int8 : t);
        default: return DType::Bool;
    }
}

/// The dtype of an expression, "Type" or another word where it throws.
template <class F> std::string dtype_given(F&& f) {
    try {
        return std::string(dtype_name(f().dtype()));
    } catch (const Error& e) {
        return e.code() == ErrorCode::Type ? "refused" : e.message();
    }
}

std::vector<DType> all_dtypes() {
    std::vector<DType> dtypes;
    dtypes.reserve(dtype_count);
    for (int i = 0; i < dtype_count; ++i) dtypes.push_back(static_cast<DType>(i));
    return dtypes;
}

/// Calls f(operator, its text, sort) for each.
template <class F> void for_each_operator(F&& f) {
#define OPERATOR(text, sort) f([](auto&& a, auto&& b) { return a text b; }, #text, Sort::sort);
    OPERATOR(+, Arithmetic)
    OPERATOR(*, Arithmetic)
    OPERATOR(-, Difference)
    OPERATOR(/, Quotient)
    OPERATOR(%, Remainder)
    OPERATOR(&, Bits)
    OPERATOR(|, Bits)
    OPERATOR(^, Bits)
    OPERATOR(<<, Shift)
    OPERATOR(>>, Shift)
    OPERATOR(<, Comparison)
    OPERATOR(<=, Comparison)
    OPERATOR(>, Comparison)
    OPERATOR(>=, Comparison)
    OPERATOR(==, Comparison)
    OPERATOR(!=, Comparison)
#undef OPERATOR
}

template <class T> class Numbers : public testing::Test {};
using NumberTypes = testing::Types<bool, signed char, short, int, long, long long, unsigned char, unsigned short, unsigned, unsigned long,
                                   unsigned long long, float, double, long double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Numbers, NumberTypes);

TYPED_TEST(Numbers, KeepTheDtypeOfTheArrayUnlessTheirKindIsHigher) {
    const TypeParam number(1);
    for (const DType dtype : all_dtypes()) {
        const Array x = ones({2}, dtype);
        const DType computed = met(dtype, kind_of(Scalar(number).dtype));
        for_each_operator([&](auto op, const char* text, Sort sort) {
            const std::optional<DType> result = given(sort, computed);
            const std::string expected(result ? dtype_name(*result) : "refused");
            EXPECT_EQ(dtype_given([&] { return op(x, number); }), expected) << dtype_name(dtype) << ' ' << text << " number";
            EXPECT_EQ(dtype_given([&] { return op(number, x); }), expected) << "number " << text << ' ' << dtype_name(dtype);
        });
    }
}

TYPED_TEST(Numbers, GiveTheValuesOfTwoArrays) {
    const TypeParam number(1);
    for (const DType dtype : {DType::Int64, DType::UInt8, DType::Float32, DType::Complex64}) {
        const Array x = array({0, 1, 2, 3}).astype(dtype);
        const DType computed = met(dtype, kind_of(Scalar(number).dtype));
        const Array like = x.astype(computed), other = full({}, number).astype(computed);
        for_each_operator([&](auto op, const char* text, Sort sort) {
            if (!given(sort, computed)) return;
            if (sort == Sort::Remainder || sort == Sort::Quotient) {  // not by 0, on either side
                EXPECT_EQ(shown(op(x[Slice{1}], number)), shown(op(like[Slice{1}], other))) << dtype_name(dtype) << ' ' << text;
                EXPECT_EQ(shown(op(number, x[Slice{1}])), shown(op(other, like[Slice{1}]))) << text << ' ' << dtype_name(dtype);
                return;
            }
            EXPECT_EQ(shown(op(x, number)), shown(op(like, other))) << dtype_name(dtype) << ' ' << text;
            EXPECT_EQ(shown(op(number, x)), shown(op(other, like))) << text << ' ' << dtype_name(dtype);
        });
    }
}

TYPED_TEST(Numbers, InPlaceStayInTheDtypeOfTheArray) {
    const TypeParam number(1);
    for (const DType dtype : all_dtypes()) {
        const DType computed = met(dtype, kind_of(Scalar(number).dtype));
        const auto expect = [&](Sort sort, const char* text, auto op) {
            Array x = ones({2}, dtype);
            const std::optional<DType> result = given(sort, computed);
            const bool taken = result && can_cast_same_kind(*result, dtype);
            EXPECT_EQ(dtype_given([&] {
                          op(x);
                          return x;
                      }),
                      taken ? dtype_name(dtype) : "refused")
                << dtype_name(dtype) << ' ' << text << " number";
        };
        expect(Sort::Arithmetic, "+=", [&](Array& x) { x += number; });
        expect(Sort::Difference, "-=", [&](Array& x) { x -= number; });
        expect(Sort::Arithmetic, "*=", [&](Array& x) { x *= number; });
        expect(Sort::Quotient, "/=", [&](Array& x) { x /= number; });
        expect(Sort::Remainder, "%=", [&](Array& x) { x %= number; });
        expect(Sort::Bits, "&=", [&](Array& x) { x &= number; });
        expect(Sort::Bits, "|=", [&](Array& x) { x |= number; });
        expect(Sort::Bits, "^=", [&](Array& x) { x ^= number; });
        expect(Sort::Shift, "<<=", [&](Array& x) { x <<= number; });
        expect(Sort::Shift, ">>=", [&](Array& x) { x >>= number; });
    }
}

TEST(Promotion, OfTwoArraysIsTheSameOnEitherSide) {
    for (const DType a : all_dtypes()) {
        for (const DType b : all_dtypes()) {
            const Array x = ones({2}, a), y = ones({2}, b);
            const std::optional<DType> expected = given(Sort::Arithmetic, promote(a, b));
            EXPECT_EQ((x + y).dtype(), *expected) << dtype_name(a) << " + " << dtype_name(b);
            EXPECT_EQ((y * x).dtype(), *expected) << dtype_name(b) << " * " << dtype_name(a);
            EXPECT_EQ((x < y).dtype(), DType::Bool);
        }
    }
}

}  // namespace
}  // namespace pardo
