// tests/unit/emit/math.cpp: mathematical functions: accuracy on ordinary values, and the special values of C's annex F, at every lane
// count.
#include "support.h"

namespace pardo::test {
namespace {

using ir::Access;
using ir::Builder;
using ir::Math;
using ir::Value;

struct Row {
    Math fn;
    double low, high;  // ordinary arguments
};
constexpr Row unary[] = {
    {Math::sqrt, 0, 1e6},         {Math::cbrt, -1e6, 1e6},  {Math::exp, -700, 700},   {Math::exp2, -1000, 1000}, {Math::expm1, -30, 80},
    {Math::log, 1e-9, 1e9},       {Math::log2, 1e-9, 1e9},  {Math::log10, 1e-9, 1e9}, {Math::log1p, -0.99, 1e6}, {Math::sin, -1e5, 1e5},
    {Math::cos, -1e5, 1e5},       {Math::tan, -1e5, 1e5},   {Math::asin, -1, 1},      {Math::acos, -1, 1},       {Math::atan, -50, 50},
    {Math::sinh, -80, 80},        {Math::cosh, -80, 80},    {Math::tanh, -10, 10},    {Math::asinh, -1e4, 1e4},  {Math::acosh, 1, 1e4},
    {Math::atanh, -0.999, 0.999}, {Math::floor, -1e4, 1e4}, {Math::ceil, -1e4, 1e4},  {Math::trunc, -1e4, 1e4},  {Math::rint, -1e3, 1e3},
    {Math::erf, -4, 4},           {Math::erfc, -4, 20},     {Math::tgamma, 0.1, 20},  {Math::lgamma, 0.1, 100},
};
constexpr Row binary[] = {{Math::atan2, -20, 20},   {Math::hypot, -1e3, 1e3},   {Math::pow, 0.01, 8},       {Math::copysign, -5, 5},
                          {Math::nextafter, -5, 5}, {Math::logaddexp, -50, 50}, {Math::logaddexp2, -50, 50}};

constexpr double specials[] = {0.0, -0.0,   1.0,      -1.0,      0.5, -0.5,   2.0,     -2.0,  3.0,    -3.0,
                               2.5, -2.5,   INFINITY, -INFINITY, NAN, 1e-300, -1e-300, 1e300, -1e300, 5e-324,
                               1e5, 0x1p53, 710.0,    -746.0,    1.5, 170.5,  172.0,   -7.0,  1e22};

void put(DType t, std::vector<std::uint8_t>& bytes, double v) {
    const std::size_t at = bytes.size();
    bytes.resize(at + static_cast<std::size_t>(itemsize(t)));
    const auto f = static_cast<float>(v);
    if (t == DType::Float64) std::memcpy(&bytes[at], &v, 8);
    if (t == DType::Float32) std::memcpy(&bytes[at], &f, 4);
    if (!is_narrow_float(t)) return;
    const std::uint16_t narrow = to_narrow(v, facts_of(t).exponent, facts_of(t).mantissa);
    std::memcpy(&bytes[at], &narrow, 2);
}

Argument numbers(DType t, double low, double high, int count, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> spread(low, high);
    const double most = t == DType::Float16 ? 60000 : t == DType::Float64 ? 1e308 : 3e38;
    Argument a;
    a.type = t;
    for (int k = 0; k < count; ++k) put(t, a.bytes, std::clamp(spread(random), -most, most));
    return a;
}

class Functions : public testing::TestWithParam<DType> {};

TEST_P(Functions, OfOneArgument) {
    const DType t = GetParam();
    for (const Row& row : unary)
        for (bool lanes : {true, false}) {
            Builder b(ir::name(row.fn), 1, lanes);
            const Value x = b.pointer("x", t, Access::Read, true), o = b.pointer("o", t, Access::Write, true);
            b.store(o, b.dim(0), b.call(row.fn, b.load(x, b.dim(0))));
            const ir::Kernel kernel = b.finish();
            const std::string what = std::string(ir::name(row.fn)) + " " + std::string(dtype_name(t)) + (lanes ? "" : " scalar");
            const double limit = t == DType::Float64 ? 700 : t == DType::Float32 ? 85 : 10;
            const bool exponential = row.fn == Math::exp || row.fn == Math::expm1 || row.fn == Math::sinh || row.fn == Math::cosh;
            const double low = exponential ? std::max(row.low, -limit) : row.low, high = exponential ? std::min(row.high, limit) : row.high;
            check(kernel, {numbers(t, low, high, 1003, 3), array(t, 1003)}, {1003}, 4, what);
            Argument s;
            s.type = t;
            for (double v : specials) put(t, s.bytes, v);
            const auto count = static_cast<std::int64_t>(std::size(specials));
            check(kernel, {s, array(t, count)}, {count}, 8, what + " special");
        }
}

TEST_P(Functions, OfTwoArguments) {
    const DType t = GetParam();
    for (const Row& row : binary)
        for (bool lanes : {true, false}) {
            Builder b(ir::name(row.fn), 1, lanes);
            const Value x = b.pointer("x", t, Access::Read, true), y = b.pointer("y", t, Access::Read, true),
                        o = b.pointer("o", t, Access::Write, true);
            b.store(o, b.dim(0), b.call(row.fn, b.load(x, b.dim(0)), b.load(y, b.dim(0))));
            const ir::Kernel kernel = b.finish();
            const std::string what = std::string(ir::name(row.fn)) + " " + std::string(dtype_name(t)) + (lanes ? "" : " scalar");
            check(kernel, {numbers(t, row.low, row.high, 1003, 3), numbers(t, row.low, row.high, 1003, 4), array(t, 1003)}, {1003}, 4,
                  what);
            Argument p, q;
            p.type = q.type = t;
            for (double u : specials)
                for (double v : specials) {
                    put(t, p.bytes, u);
                    put(t, q.bytes, v);
                }
            const auto count = static_cast<std::int64_t>(std::size(specials) * std::size(specials));
            check(kernel, {p, q, array(t, count)}, {count}, 8, what + " special");
        }
}

INSTANTIATE_TEST_SUITE_P(Floats, Functions, testing::Values(DType::Float64, DType::Float32, DType::Float16, DType::BFloat16),
                         [](const auto& info) { return std::string(dtype_name(info.param)); });

}  // namespace
}  // namespace pardo::test
