// tests/unit/saving/formula_test.cpp: formulas of numbers that follow from sizes.
#include "saving/formula.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace pardo::saving {
namespace {

std::vector<Sizes> grid() {
    std::vector<Sizes> points;
    for (const std::int64_t n : {2, 3, 5, 8, 33, 1000, 1000003})
        for (const std::int64_t m : {2, 3, 7, 17, 257, 4099}) points.push_back({n, m});
    return points;
}

/// Whether the formula that is found holds for other sizes too.
bool follows(const std::function<std::int64_t(std::int64_t, std::int64_t)>& f) {
    Formulas formulas(grid());
    std::vector<std::int64_t> values;
    for (const Sizes& p : grid()) values.push_back(f(p[0], p[1]));
    const auto shown = [&](const std::function<std::int64_t(std::int64_t, std::int64_t)>& extent) {
        std::vector<std::int64_t> extents;
        for (const Sizes& p : grid()) extents.push_back(extent(p[0], p[1]));
        EXPECT_TRUE(formulas.find(extents));
    };
    shown([](auto n, auto) { return (n + 1) / 2; });  // extents of views, which strides are products of
    shown([](auto n, auto) { return n / 2; });
    shown([](auto, auto m) { return m / 3; });
    const std::optional<Formula> found = formulas.find(values);
    if (!found) return false;
    for (const std::int64_t n : {4, 11, 12, 77, 65536})
        for (const std::int64_t m : {4, 5, 100, 12345})
            if (formulas.at(*found, {n, m}) != f(n, m)) return false;
    return true;
}

TEST(Formulas, FindWhatArraysLeadTo) {
    EXPECT_TRUE(follows([](auto, auto) { return 7; }));
    EXPECT_TRUE(follows([](auto, auto) { return 0; }));
    EXPECT_TRUE(follows([](auto n, auto) { return n; }));
    EXPECT_TRUE(follows([](auto, auto m) { return m - 2; }));
    EXPECT_TRUE(follows([](auto n, auto) { return 1 - 3 * n; }));
    EXPECT_TRUE(follows([](auto n, auto m) { return n * m; }));
    EXPECT_TRUE(follows([](auto n, auto m) { return 8 * n * m - 8 * m; }));
    EXPECT_TRUE(follows([](auto n, auto m) { return (n - 2) * (m - 2); }));
    EXPECT_TRUE(follows([](auto n, auto m) { return n + m; }));
    EXPECT_TRUE(follows([](auto n, auto) { return n * n; }));
    EXPECT_TRUE(follows([](auto n, auto m) { return 8 * n * n * m - n; }));
    EXPECT_TRUE(follows([](auto n, auto) { return (n + 1) / 2; }));
    EXPECT_TRUE(follows([](auto n, auto) { return (n - 1 + 2) / 3; }));
    EXPECT_TRUE(follows([](auto n, auto m) { return ((n + 1) / 2) * m; }));
    EXPECT_TRUE(follows([](auto n, auto m) { return (n / 2) * (m / 3); }));
}

TEST(Formulas, OfTheSmallerSize) {
    Formulas formulas(grid());
    const auto holds = [&](const std::function<std::int64_t(std::int64_t, std::int64_t)>& f) {
        std::vector<std::int64_t> values;
        for (const Sizes& p : grid()) values.push_back(f(p[0], p[1]));
        const std::optional<Formula> found = formulas.find(values);
        return found && formulas.at(*found, {12, 50}) == f(12, 50) && formulas.at(*found, {50, 12}) == f(50, 12);
    };
    EXPECT_TRUE(holds([](auto n, auto m) { return std::min(n, m); }));
    EXPECT_TRUE(holds([](auto n, auto m) { return std::max(n, m); }));
    EXPECT_TRUE(holds([](auto n, auto m) { return 8 * n * std::min(n, m); }));
}

TEST(Formulas, AreNotFoundForOtherNumbers) {
    const auto found = [](const std::function<std::int64_t(std::int64_t, std::int64_t)>& f) {
        Formulas formulas(grid());
        std::vector<std::int64_t> values;
        for (const Sizes& p : grid()) values.push_back(f(p[0], p[1]));
        return formulas.find(values).has_value();
    };
    EXPECT_FALSE(found([](auto n, auto) { return n > 100 ? n : n - 1; }));
    EXPECT_FALSE(found([](auto n, auto) { return n % 5; }));
}

TEST(Formulas, RoundScalarsAsTheirDtypes) {
    std::vector<Sizes> points;
    std::vector<std::int64_t> values;
    for (const std::int64_t n : {2, 3, 5, 1000, 16777217, 100000007}) {
        points.push_back({n});
        values.push_back(in_dtype(n, DType::Float32));
    }
    EXPECT_NE(values.back(), 100000007);
    Formulas formulas(points);
    EXPECT_FALSE(formulas.find(values));
    const std::optional<Formula> found = formulas.find(values, DType::Float32);
    ASSERT_TRUE(found);
    EXPECT_EQ(formulas.at(*found, {12}), 12);
}

TEST(Formulas, OfRealsAreQuotients) {
    const auto found = [](const std::function<double(double, double)>& f, DType dtype = DType::Float64) {
        Formulas formulas(grid());
        std::vector<double> values;
        for (const Sizes& p : grid()) values.push_back(f(static_cast<double>(p[0]), static_cast<double>(p[1])));
        const std::optional<RealFormula> formula = formulas.find_real(values, dtype);
        return formula && in_dtype(*formulas.at(*formula, {12, 5}), dtype) == f(12, 5);
    };
    EXPECT_TRUE(found([](double, double) { return 0.1; }));
    EXPECT_TRUE(found([](double n, double) { return 1 / n; }));
    EXPECT_TRUE(found([](double n, double m) { return 1 / (n * m); }));
    EXPECT_TRUE(found([](double n, double m) { return 1 / std::sqrt(n * m); }));
    EXPECT_TRUE(found([](double, double m) { return std::sqrt(m); }));
    EXPECT_TRUE(found([](double n, double) { return double{static_cast<float>(std::sqrt(n))}; }, DType::Float32));
    EXPECT_TRUE(found([](double n, double) { return double{static_cast<float>(1 / std::sqrt(n))}; }, DType::Float32));
    EXPECT_TRUE(found([](double n, double) { return 1 / (2 * n - 2); }));
    EXPECT_TRUE(found([](double n, double m) { return 3 * n * m; }));
    EXPECT_TRUE(found([](double n, double) { return 0.3 / (n - 1); }));
    EXPECT_TRUE(found([](double, double m) { return 0.1 * (m + 2); }));
    EXPECT_TRUE(found([](double, double m) { return -7.25 / (m + 3); }));
    EXPECT_TRUE(found([](double n, double) { return double{static_cast<float>(5 / (n - 1))}; }, DType::Float32));
    EXPECT_FALSE(found([](double n, double) { return std::log(n); }));
    EXPECT_FALSE(found([](double n, double m) { return n / m; }));
}

TEST(Formulas, RefuseOverflow) {
    Formulas formulas(grid());
    const Formula square{{{1, {0, 1}}}};
    EXPECT_EQ(formulas.at(square, {std::int64_t{1} << 40, std::int64_t{1} << 40}), std::nullopt);
}

}  // namespace
}  // namespace pardo::saving
