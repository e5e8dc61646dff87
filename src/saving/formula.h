// src/saving/formula.h: how a number that a function leads to follows from the sizes of its arguments: found from samples, and checked on
// all.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <pardo/dtype.h>

#include "saved/program.h"

namespace pardo::saving {

using Sizes = std::vector<std::int64_t>;

/// (scale * size + shift) / divisor, rounded towards minus infinity: a size itself, or what a slice leaves of it. Or the smaller of two
/// sizes.
struct Atom {
    std::int32_t size = 0;
    std::int64_t scale = 1, shift = 0, divisor = 1;
    std::int32_t other = -1;  // the second of two
    std::int64_t at(const Sizes& sizes) const;
    friend bool operator==(const Atom&, const Atom&) = default;
};

/// A sum of products of atoms.
struct Formula {
    struct Term {
        std::int64_t factor;
        std::vector<std::int32_t> atoms;
        friend bool operator==(const Term&, const Term&) = default;
    };
    std::vector<Term> terms;
    friend bool operator==(const Formula&, const Formula&) = default;
};

/// A float, as saved::Real.
struct RealFormula {
    saved::Real::Kind kind = saved::Real::Kind::Literal;
    double literal = 0;
    Formula of;
};

/// The value that a number has in a dtype.
std::int64_t in_dtype(std::int64_t number, DType dtype);
double in_dtype(double number, DType dtype);
/// The bits of two numbers are the same.
bool same_bits(double a, double b);
/// Formulas of one set of samples: points, each a value for each size, and for each number what it was there.
class Formulas {
public:
    /// At least two values of each size that varies are among the points.
    explicit Formulas(std::vector<Sizes> points);
    /// The formula that gives these values, one a point; none if there is none of this kind. Values are as a dtype has them: rounded.
    std::optional<Formula> find(std::span<const std::int64_t> values, DType rounded_to = DType::Int64);
    /// The same of floats, bit by bit.
    std::optional<RealFormula> find_real(std::span<const double> values, DType rounded_to = DType::Float64);
    const std::vector<Atom>& atoms() const { return atoms_; }
    /// In 128 bits nothing overflows: none where the value takes more than 63.
    std::optional<std::int64_t> at(const Formula& formula, const Sizes& sizes) const;
    std::optional<double> at(const RealFormula& formula, const Sizes& sizes) const;

private:
    DType rounded_to_ = DType::Int64;
    std::optional<RealFormula> of_one_size(std::span<const double> values, DType rounded_to) const;
    bool holds(const RealFormula& formula, std::span<const double> values, DType rounded_to) const;
    std::optional<Formula> linear(std::span<const std::int64_t> values) const;
    std::optional<Formula> rounded(std::span<const std::int64_t> values);
    std::optional<Formula> smaller(std::span<const std::int64_t> values);
    std::optional<Formula> polynomial(std::span<const std::int64_t> values) const;
    bool holds(const Formula& formula, std::span<const std::int64_t> values) const;
    std::vector<Sizes> points_;
    std::vector<bool> varies_;  // by size
    std::vector<Atom> atoms_;   // the sizes, and behind them what slices leave
};

}  // namespace pardo::saving
