// tests/unit/base/dtype_test.cpp: dtype rules are NumPy 2's; the tables were printed by NumPy 2.4.
#include <pardo/dtype.h>
#include <pardo/error.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/narrow.h"

namespace pardo {
namespace {

// bfloat16, which NumPy has not, is promoted by the same rule. Row: first dtype, column: second, in the order of DType; a hexadecimal digit
// names the result.
constexpr const char* promotions[] = {"0123456789abcde", "11234234b9abcde", "22234234baabcda", "33334334bbbbddb", "44444444bbbbddb",
                                      "5223456789abcde", "633346678aabcda", "744447778bbbddb", "8bbbb8888bbbddb", "99abb9abb9abcda",
                                      "aaabbaabbaabcda", "bbbbbbbbbbbbddb", "cccddccddccdcdc", "ddddddddddddddd", "eeabbeabbaabcde"};
constexpr const char* safe[] = {"111111111111111", "011110000111111", "001110000011110", "000110000001010", "000010000001010",
                                "001111111111111", "000110111011110", "000010011001010", "000000001001010", "000000000111110",
                                "000000000011110", "000000000001010", "000000000000110", "000000000000010", "000000000011111"};
constexpr const char* same_kind[] = {"111111111111111", "011110000111111", "011110000111111", "011110000111111", "011110000111111",
                                     "011111111111111", "011111111111111", "011111111111111", "011111111111111", "000000000111111",
                                     "000000000111111", "000000000111111", "000000000000110", "000000000000110", "000000000111111"};

TEST(DTypes, PromotionAndCastingTables) {
    for (int a = 0; a < dtype_count; ++a) {
        for (int b = 0; b < dtype_count; ++b) {
            const auto from = static_cast<DType>(a), to = static_cast<DType>(b);
            const std::string what = std::string(dtype_name(from)) + ", " + std::string(dtype_name(to));
            EXPECT_EQ(static_cast<int>(promote(from, to)), std::stoi(std::string(1, promotions[a][b]), nullptr, 16)) << what;
            EXPECT_EQ(can_cast_safe(from, to), safe[a][b] == '1') << what;
            EXPECT_EQ(can_cast_same_kind(from, to), same_kind[a][b] == '1') << what;
        }
    }
}

TEST(DTypes, WeakScalars) {
    EXPECT_EQ(promote_weak(DType::UInt8, Scalar(255)), DType::UInt8);
    EXPECT_EQ(promote_weak(DType::Int8, Scalar(-128)), DType::Int8);
    EXPECT_EQ(promote_weak(DType::Bool, Scalar(3)), DType::Int64);
    EXPECT_EQ(promote_weak(DType::Float16, Scalar(std::int64_t{1} << 40)), DType::Float16);
    EXPECT_EQ(promote_weak(DType::BFloat16, Scalar(1.5)), DType::BFloat16);
    EXPECT_EQ(promote_weak(DType::BFloat16, Scalar(std::complex<double>(1, 2))), DType::Complex64);
    EXPECT_EQ(promote_weak(DType::Int32, Scalar(1.5)), DType::Float64);
    EXPECT_EQ(promote_weak(DType::Float32, Scalar(1.5)), DType::Float32);
    EXPECT_EQ(promote_weak(DType::Float16, Scalar(std::complex<double>(1, 2))), DType::Complex64);
    EXPECT_EQ(promote_weak(DType::Int8, Scalar(std::complex<double>(1, 2))), DType::Complex128);
    EXPECT_EQ(promote_weak(DType::Complex64, Scalar(1.5)), DType::Complex64);
    EXPECT_EQ(promote_weak(DType::Int8, Scalar(true)), DType::Int8);
    EXPECT_EQ(promote_weak(DType::UInt64, Scalar(std::numeric_limits<std::uint64_t>::max())), DType::UInt64);
    Scalar strong(1000);
    strong.weak = false;
    EXPECT_EQ(promote_weak(DType::Int8, strong), DType::Int64);
}

TEST(DTypes, WeakIntegersOutOfRange) {
    const auto message = [](DType t, Scalar s) {
        try {
            promote_weak(t, s, "add");
        } catch (const Error& e) {
            EXPECT_EQ(e.code(), ErrorCode::Overflow);
            return e.message();
        }
        return std::string("nothing");
    };
    EXPECT_EQ(message(DType::UInt8, Scalar(300)), "add: Python integer 300 out of bounds for uint8");
    EXPECT_EQ(message(DType::UInt64, Scalar(-1)), "add: Python integer -1 out of bounds for uint64");
    EXPECT_EQ(message(DType::Int16, Scalar(std::int64_t{1} << 40)), "add: Python integer 1099511627776 out of bounds for int16");
    EXPECT_EQ(message(DType::Int64, Scalar(std::uint64_t{1} << 63)), "add: Python integer 9223372036854775808 out of bounds for int64");
    EXPECT_EQ(message(DType::Bool, Scalar(std::uint64_t{1} << 63)), "add: Python integer 9223372036854775808 out of bounds for int64");
    EXPECT_EQ(message(DType::Int8, Scalar(-129)), "add: Python integer -129 out of bounds for int8");
}

TEST(Scalars, FloatToIntegerAsNumPyOnX86) {
    struct Row {
        double value;
        std::int64_t i[4];   // int8, int16, int32, int64
        std::uint64_t u[4];  // uint8 … uint64
    };
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), least32 = std::numeric_limits<std::int32_t>::min();
    constexpr std::uint64_t top = std::uint64_t{1} << 63;
    const Row rows[] = {
        {1.9, {1, 1, 1, 1}, {1, 1, 1, 1}},
        {-1.9, {-1, -1, -1, -1}, {255, 65535, 4294967295u, 18446744073709551615u}},
        {-129.0, {127, -129, -129, -129}, {127, 65407, 4294967167u, 18446744073709551487u}},
        {70000.0, {112, 4464, 70000, 70000}, {112, 4464, 70000, 70000}},
        {2147483648.0, {0, 0, least32, 2147483648}, {0, 0, 2147483648u, 2147483648u}},
        {-2147483649.0, {0, 0, least32, -2147483649}, {0, 0, 2147483647u, 18446744071562067967u}},
        {1e10, {0, 0, least32, 10000000000}, {0, 0, 1410065408u, 10000000000u}},
        {9.3e18, {0, 0, least32, least}, {0, 0, 0, 9300000000000000000u}},
        {1.9e19, {0, 0, least32, least}, {0, 0, 0, 0}},
        {-9.3e18, {0, 0, least32, least}, {0, 0, 0, top}},
        {INFINITY, {0, 0, least32, least}, {0, 0, 0, 0}},
        {-INFINITY, {0, 0, least32, least}, {0, 0, 0, top}},
        {NAN, {0, 0, least32, least}, {0, 0, 0, top}},
    };
    for (const Row& row : rows) {
        for (int k = 0; k < 4; ++k) {
            EXPECT_EQ(Scalar(row.value).cast(static_cast<DType>(1 + k)).i, row.i[k]) << row.value << " int " << k;
            EXPECT_EQ(Scalar(row.value).cast(static_cast<DType>(5 + k)).u, row.u[k]) << row.value << " uint " << k;
        }
    }
}

TEST(Scalars, OtherCasts) {
    EXPECT_EQ(Scalar(300).cast(DType::UInt8).u, 44u);
    EXPECT_EQ(Scalar(-1).cast(DType::UInt64).u, ~std::uint64_t{0});
    EXPECT_EQ(Scalar(200).cast(DType::Int8).i, -56);
    EXPECT_TRUE(Scalar(double(NAN)).cast(DType::Bool).b);
    EXPECT_FALSE(Scalar(-0.0).cast(DType::Bool).b);
    EXPECT_TRUE(Scalar(std::complex<double>(0, 1)).cast(DType::Bool).b);
    EXPECT_EQ(Scalar(std::complex<double>(2.5, 1)).cast(DType::Int32).i, 2);
    EXPECT_EQ(Scalar(0.1).cast(DType::Float32).f, static_cast<double>(0.1f));
    EXPECT_EQ(Scalar((std::int64_t{1} << 24) + 1).cast(DType::Float32).f, 16777216.0);
    EXPECT_EQ(Scalar(65519).cast(DType::Float16).f, 65504.0);
    EXPECT_TRUE(std::isinf(Scalar(65520.0).cast(DType::Float16).f));
    EXPECT_EQ(Scalar(257).cast(DType::BFloat16).f, 256.0);  // between two: to even
    EXPECT_EQ(Scalar(259).cast(DType::BFloat16).f, 260.0);
    EXPECT_EQ(Scalar(257 + 1e-12).cast(DType::BFloat16).f, 258.0);  // rounded once
    EXPECT_EQ(Scalar(3.4e38).cast(DType::BFloat16).f, HUGE_VAL);
    EXPECT_EQ(Scalar(0x1p-133).cast(DType::BFloat16).f, 0x1p-133);
    const Scalar c = Scalar(std::complex<double>(0.1, 0.2)).cast(DType::Complex64);
    EXPECT_EQ(c.c.re, static_cast<double>(0.1f));
    EXPECT_EQ(c.c.im, static_cast<double>(0.2f));
    EXPECT_EQ(Scalar(true).cast(DType::Complex128).c.re, 1.0);
    EXPECT_EQ(Scalar(std::uint64_t{1} << 63).as_double(), 0x1p63);
    EXPECT_EQ(Scalar(-2.9).as_int(), -2);
    EXPECT_FALSE(Scalar(1).cast(DType::Int64).weak);
}

TEST(Half, EveryValueThereAndBack) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const Half h{static_cast<std::uint16_t>(bits)};
        const float f = half_to_float(h);
        if (std::isnan(f)) {
            EXPECT_TRUE((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff));
            EXPECT_TRUE(std::isnan(half_to_float(float_to_half(f))));
        } else {
            EXPECT_EQ(float_to_half(f).bits, bits);
            EXPECT_EQ(double_to_half(f).bits, bits);
        }
    }
}

TEST(Half, RoundsToNearestEven) {
    for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
        const double low = half_to_float({static_cast<std::uint16_t>(bits)}), high = half_to_float({static_cast<std::uint16_t>(bits + 1)});
        const double middle = (low + high) / 2;
        EXPECT_EQ(double_to_half(middle).bits, bits % 2 ? bits + 1 : bits);
        EXPECT_EQ(double_to_half(std::nextafter(middle, 0)).bits, bits);
        EXPECT_EQ(double_to_half(std::nextafter(middle, 1e9)).bits, bits + 1);
        EXPECT_EQ(double_to_half(-std::nextafter(middle, 1e9)).bits, 0x8000 | (bits + 1));
    }
    EXPECT_EQ(double_to_half(0x1p-26).bits, 0);
    EXPECT_EQ(double_to_half(std::nextafter(0x1p-25, 1)).bits, 1);
    EXPECT_EQ(double_to_half(65519.999).bits, 0x7bff);
    EXPECT_EQ(double_to_half(1e300).bits, 0x7c00);
    EXPECT_EQ(double_to_half(-INFINITY).bits, 0xfc00);
}

/// Eight bits of exponent and seven of mantissa: the upper half of a float32.
TEST(Narrow, UpperHalvesOfFloats) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const float f = from_narrow(static_cast<std::uint16_t>(bits), 8, 7);
        EXPECT_EQ(std::bit_cast<std::uint32_t>(f), bits << 16);
        EXPECT_EQ(to_narrow(f, 8, 7), std::isnan(f) ? bits | 0x40 : bits);  // quiet, once it has been a double
    }
    for (std::uint32_t bits = 0; bits < 0x7f80; ++bits) {
        const float low = std::bit_cast<float>(bits << 16);
        const double step = bits == 0x7f7f ? 0x1p120 : static_cast<double>(std::bit_cast<float>((bits + 1) << 16)) - low;
        EXPECT_EQ(to_narrow(low + step / 2, 8, 7), bits % 2 ? bits + 1 : bits);
        EXPECT_EQ(to_narrow(std::nextafter(low + step / 2, 0), 8, 7), bits);
        EXPECT_EQ(to_narrow(-std::nextafter(low + step / 2, 1e300), 8, 7), 0x8000 | (bits + 1));
    }
    EXPECT_EQ(to_narrow(1e300, 8, 7), 0x7f80);
}

}  // namespace
}  // namespace pardo
