// tests/unit/api/printing_test.cpp: arrays and numbers are printed as NumPy's str prints them: texts of NumPy 2.4.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <pardo/ops.h>

namespace pardo {
namespace {

void expect_printed(const Array& values, DType dtype, const std::vector<std::int64_t>& shape, const char* expected) {
    std::ostringstream text;
    text << reshape(values.astype(dtype), shape);
    EXPECT_EQ(text.str(), expected);
}

TEST(Printing, IsThatOfNumPy) {
    expect_printed(array(std::vector<double>{0.1, 0.3333333333333333, 2.0, 100.5}), DType::Float64, {4},
                   R"([1.00000000e-01 3.33333333e-01 2.00000000e+00 1.00500000e+02])");
    expect_printed(array(std::vector<double>{1e+300, -0.1}), DType::Float64, {2}, R"([ 1.e+300 -1.e-001])");
    expect_printed(array(std::vector<double>{100000000.0, 1.0}), DType::Float64, {2}, R"([1.e+08 1.e+00])");
    expect_printed(array(std::vector<double>{99999999.0, 1.0}), DType::Float64, {2}, R"([9.9999999e+07 1.0000000e+00])");
    expect_printed(array(std::vector<double>{1e-05, 1.0}), DType::Float64, {2}, R"([1.e-05 1.e+00])");
    expect_printed(array(std::vector<double>{0.0001, 0.1}), DType::Float64, {2}, R"([0.0001 0.1   ])");
    expect_printed(array(std::vector<double>{1.0, 1000.5}), DType::Float64, {2}, R"([1.0000e+00 1.0005e+03])");
    expect_printed(array(std::vector<double>{1.0, 1001.0, 0.5}), DType::Float64, {3}, R"([1.000e+00 1.001e+03 5.000e-01])");
    expect_printed(array(std::vector<double>{NAN, 1.5, -INFINITY}), DType::Float64, {3}, R"([ nan  1.5 -inf])");
    expect_printed(array(std::vector<double>{NAN}), DType::Float64, {1}, R"([nan])");
    expect_printed(array(std::vector<double>{INFINITY, -INFINITY}), DType::Float64, {2}, R"([ inf -inf])");
    expect_printed(array(std::vector<double>{NAN, INFINITY}), DType::Float64, {2}, R"([nan inf])");
    expect_printed(array(std::vector<double>{10000000000.0, NAN, -INFINITY}), DType::Float64, {3}, R"([1.e+10    nan   -inf])");
    expect_printed(array(std::vector<double>{0.0, -0.0}), DType::Float64, {2}, R"([ 0. -0.])");
    expect_printed(array(std::vector<double>{1.123456789012, 2.5}), DType::Float64, {2}, R"([1.12345679 2.5       ])");
    expect_printed(array(std::vector<double>{123456.123456789, 2000.0}), DType::Float64, {2}, R"([123456.12345679   2000.        ])");
    expect_printed(array(std::vector<double>{1000000.0, 1.0}), DType::Float32, {2}, R"([1.e+06 1.e+00])");
    expect_printed(array(std::vector<double>{123456.0, 0.5}), DType::Float32, {2}, R"([1.23456e+05 5.00000e-01])");
    expect_printed(array(std::vector<double>{0.10000000149011612, 16777216.0}), DType::Float32, {2}, R"([1.0000000e-01 1.6777216e+07])");
    expect_printed(array(std::vector<double>{0.3333333432674408, 0.6666666865348816}), DType::Float32, {2}, R"([0.33333334 0.6666667 ])");
    expect_printed(array(std::vector<double>{1000.0, 1.0}), DType::Float16, {2}, R"([1.e+03 1.e+00])");
    expect_printed(array(std::vector<double>{0.0999755859375, 65504.0, 1.0009765625, 5.960464477539063e-08}), DType::Float16, {4},
                   R"([9.998e-02 6.550e+04 1.001e+00 5.960e-08])");
    expect_printed(array(std::vector<double>{0.12493896484375}), DType::Float16, {1}, R"([0.12494])");
    expect_printed(array(std::vector<double>{999.0, 0.5}), DType::Float16, {2}, R"([9.99e+02 5.00e-01])");
    expect_printed(array(std::vector<std::complex<double>>{{1.0, -2.0}, {0.5, 1.0}}), DType::Complex128, {2}, R"([1. -2.j 0.5+1.j])");
    expect_printed(array(std::vector<std::complex<double>>{{10000000000.0, 1.0}, {-0.0, -1.0}}), DType::Complex128, {2},
                   R"([ 1.e+10+1.j -0.e+00-1.j])");
    expect_printed(array(std::vector<std::complex<double>>{{NAN, INFINITY}, {1.0, 0.0}}), DType::Complex128, {2}, R"([nan+infj  1. +0.j])");
    expect_printed(array(std::vector<std::complex<double>>{{1.5, -2.0}, {3.0, 0.0}}), DType::Complex64, {2}, R"([1.5-2.j 3. +0.j])");
    expect_printed(array(std::vector<std::complex<double>>{{-0.0, -0.0}, {0.0, 1e-07}}), DType::Complex128, {2},
                   R"([-0.-0.e+00j  0.+1.e-07j])");
    expect_printed(array(std::vector<double>{0.20409191213851827, -0.025556650313141818, 4.180988467257788, -5.677696061279298,
                                             -0.004526492921104458, -0.0021559716308976592, -2.019986129147251}),
                   DType::Float64, {7}, R"([ 2.04091912e-01 -2.55566503e-02  4.18098847e+00 -5.67769606e+00
 -4.52649292e-03 -2.15597163e-03 -2.01998613e+00])");
    expect_printed(array(std::vector<double>{-0.3526307943415954, -0.2812874181513504, -0.6680463461089501, -1.0551505512051214,
                                             -0.39080097723465473, 0.48194538850678587, -0.2385536065733667, 0.9577587029597641,
                                             -0.19980212906658, 0.024259565076664623, 1.545820851212812, 0.5451055226876446}),
                   DType::Float64, {3, 4}, R"([[-0.35263079 -0.28128742 -0.66804635 -1.05515055]
 [-0.39080098  0.48194539 -0.23855361  0.9577587 ]
 [-0.19980213  0.02425957  1.54582085  0.54510552]])");
    expect_printed(array(std::vector<double>{-0.5052287578582764, -0.18283897638320923, 0.5405251383781433, 1.935088038444519,
                                             -0.2696203291416168, -0.24355867505073547, 1.0023136138916016, -0.8864599466323853,
                                             -0.2917202413082123, 0.8825389742851257, 0.5803500413894653, 0.09151670336723328}),
                   DType::Float32, {12}, R"([-0.50522876 -0.18283898  0.54052514  1.935088   -0.26962033 -0.24355868
  1.0023136  -0.88645995 -0.29172024  0.882539    0.58035004  0.0915167 ])");
    expect_printed(array(std::vector<double>{670104354.8284794, -2828162306.843763, 1021306817.5000799, -959644759.8081417,
                                             -1668619842.6559696, 276445759.52099967, 700544885.34939, -444767455.6827841,
                                             -1076405840.1008077, 26124833.534033623, -52747308.24287927, 1405598166.0180924}),
                   DType::Float64, {2, 2, 3}, R"([[[ 6.70104355e+08 -2.82816231e+09  1.02130682e+09]
  [-9.59644760e+08 -1.66861984e+09  2.76445760e+08]]

 [[ 7.00544885e+08 -4.44767456e+08 -1.07640584e+09]
  [ 2.61248335e+07 -5.27473082e+07  1.40559817e+09]]])");
    expect_printed(array(std::vector<std::int64_t>{-217543620, 186844607, 699536674, -212145336, -40632154, -228613460, -707330861,
                                                   -574835835, 396852689, 598325802, -416042769, 257421023, 742278299, -703264567,
                                                   -449251247, 48262539, 123619437, -200687558}),
                   DType::Int64, {2, 9}, R"([[-217543620  186844607  699536674 -212145336  -40632154 -228613460
  -707330861 -574835835  396852689]
 [ 598325802 -416042769  257421023  742278299 -703264567 -449251247
    48262539  123619437 -200687558]])");
    expect_printed(array(std::vector<bool>{true, false}), DType::Bool, {2}, R"([ True False])");
    expect_printed(array(std::vector<std::int64_t>{1, -22}), DType::Int64, {2, 1}, R"([[  1]
 [-22]])");
    expect_printed(array(std::vector<double>{}), DType::Float64, {2, 0}, R"([])");
    expect_printed(
        array(std::vector<std::int64_t>{0,     1001,  2002,  3003,  4004,  5005,  6006,  7007,  8008,  9009,  10010, 11011, 12012, 13013,
                                        14014, 15015, 16016, 17017, 18018, 19019, 20020, 21021, 22022, 23023, 24024, 25025, 26026, 27027,
                                        28028, 29029, 30030, 31031, 32032, 33033, 34034, 35035, 36036, 37037, 38038, 39039}),
        DType::Int64, {40}, R"([    0  1001  2002  3003  4004  5005  6006  7007  8008  9009 10010 11011
 12012 13013 14014 15015 16016 17017 18018 19019 20020 21021 22022 23023
 24024 25025 26026 27027 28028 29029 30030 31031 32032 33033 34034 35035
 36036 37037 38038 39039])");
    expect_printed(array(std::vector<std::uint64_t>{255U, 0U}), DType::UInt8, {2}, R"([255   0])");
    expect_printed(array(std::vector<std::uint64_t>{18446744073709551615ULL, 1U}), DType::UInt64, {2},
                   R"([18446744073709551615                    1])");
    expect_printed(array(std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()}), DType::Int64, {1},
                   R"([-9223372036854775808])");
    expect_printed(array(std::vector<std::complex<double>>{{-2.4938942784579905, 0.7572210447581504},
                                                           {0.690124770162812, -2.034167273443428},
                                                           {0.4913682607449912, -0.9144945379945887},
                                                           {-1.6388571438904884, 0.7095799877420675},
                                                           {0.06135350983817159, 1.156401048432157},
                                                           {-0.9640996635412404, -2.158005380126208}}),
                   DType::Complex128, {6}, R"([-2.49389428+0.75722104j  0.69012477-2.03416727j  0.49136826-0.91449454j
 -1.63885714+0.70957999j  0.06135351+1.15640105j -0.96409966-2.15800538j])");
    expect_printed(array(std::vector<double>{0.1}), DType::Float64, {}, R"(0.1)");
    expect_printed(array(std::vector<double>{0.3333333333333333}), DType::Float64, {}, R"(0.3333333333333333)");
    expect_printed(array(std::vector<double>{1e+16}), DType::Float64, {}, R"(1e+16)");
    expect_printed(array(std::vector<double>{123456789012345.6}), DType::Float64, {}, R"(123456789012345.6)");
    expect_printed(array(std::vector<double>{1e-05}), DType::Float64, {}, R"(1e-05)");
    expect_printed(array(std::vector<double>{0.0001}), DType::Float64, {}, R"(0.0001)");
    expect_printed(array(std::vector<double>{2.0}), DType::Float64, {}, R"(2.0)");
    expect_printed(array(std::vector<double>{NAN}), DType::Float64, {}, R"(nan)");
    expect_printed(array(std::vector<double>{-INFINITY}), DType::Float64, {}, R"(-inf)");
    expect_printed(array(std::vector<double>{0.10000000149011612}), DType::Float32, {}, R"(0.1)");
    expect_printed(array(std::vector<double>{1.0000000200408773e+20}), DType::Float32, {}, R"(1e+20)");
    expect_printed(array(std::vector<double>{65504.0}), DType::Float16, {}, R"(6.55e+04)");
    expect_printed(array(std::vector<bool>{true}), DType::Bool, {}, R"(True)");
    expect_printed(array(std::vector<std::int64_t>{7}), DType::Int64, {}, R"(7)");
    expect_printed(array(std::vector<std::int64_t>{-3}), DType::Int64, {}, R"(-3)");
    expect_printed(array(std::vector<std::complex<double>>{{1.0, -2.0}}), DType::Complex128, {}, R"((1-2j))");
    expect_printed(array(std::vector<std::complex<double>>{{0.0, 1.0}}), DType::Complex128, {}, R"(1j)");
    expect_printed(array(std::vector<std::complex<double>>{{-0.0, 1.0}}), DType::Complex128, {}, R"((-0+1j))");
    expect_printed(array(std::vector<std::complex<double>>{{NAN, 0.0}}), DType::Complex128, {}, R"((nan+0j))");
    expect_printed(array(std::vector<std::complex<double>>{{1e+300, 0.5}}), DType::Complex128, {}, R"((1e+300+0.5j))");
    expect_printed(array(std::vector<std::complex<double>>{{2.0, INFINITY}}), DType::Complex128, {}, R"((2+infj))");
    expect_printed(array(std::vector<std::complex<double>>{{0.10000000149011612, 0.20000000298023224}}), DType::Complex64, {},
                   R"((0.1+0.2j))");
    expect_printed(array(std::vector<double>{5e-324}), DType::Float64, {}, R"(5e-324)");
    expect_printed(array(std::vector<double>{1.7976931348623157e+308}), DType::Float64, {}, R"(1.7976931348623157e+308)");
}

TEST(Printing, LargeArraysShowTheirEnds) {
    const auto printed = [](const Array& x) {
        std::ostringstream text;
        text << x;
        return text.str();
    };
    EXPECT_EQ(printed(arange(0, 2000, 1)), "[   0    1    2 ... 1997 1998 1999]");
    EXPECT_EQ(printed(zeros({2, 600}, DType::Int8)), "[[0 0 0 ... 0 0 0]\n [0 0 0 ... 0 0 0]]");
    EXPECT_EQ(printed(zeros({600, 2}, DType::Int8)), "[[0 0]\n [0 0]\n [0 0]\n ...\n [0 0]\n [0 0]\n [0 0]]");
    EXPECT_EQ(printed(zeros({1, 2, 2}, DType::Int8)), "[[[0 0]\n  [0 0]]]");
    EXPECT_EQ(printed(array({0.1, 3.0}).astype(DType::BFloat16)), "[0.1 3. ]");
}

}  // namespace
}  // namespace pardo
