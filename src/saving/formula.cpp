// src/saving/formula.cpp: constants, sizes and their multiples, rounded quotients, and sums of products of these.
#include "saving/formula.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace pardo::saving {
namespace {

constexpr std::int64_t most_divisor = 64;
constexpr std::size_t most_atoms = 4, most_monomials = 16, most_choices = 256;  // of one polynomial
constexpr int most_power = 3;
__extension__ using Wide = __int128;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

std::int64_t in_dtype(std::int64_t number, DType dtype) {
    const DType real = real_of(dtype);
    return is_float(real) ? static_cast<std::int64_t>(Scalar(number).cast(real).as_double()) : number;
}

std::int64_t Atom::at(const Sizes& sizes) const {
    if (other >= 0) return std::min(sizes[static_cast<std::size_t>(size)], sizes[static_cast<std::size_t>(other)]);
    return floor_divide(scale * sizes[static_cast<std::size_t>(size)] + shift, divisor);
}

Formulas::Formulas(std::vector<Sizes> points) : points_(std::move(points)) {
    const std::size_t sizes = points_.empty() ? 0 : points_[0].size();
    for (std::size_t k = 0; k < sizes; ++k) {
        atoms_.push_back({static_cast<std::int32_t>(k)});
        varies_.push_back(std::ranges::any_of(points_, [&](const Sizes& p) { return p[k] != points_[0][k]; }));
    }
}

std::optional<std::int64_t> Formulas::at(const Formula& formula, const Sizes& sizes) const {
    constexpr Wide most = std::numeric_limits<std::int64_t>::max();
    Wide sum = 0;
    for (const Formula::Term& term : formula.terms) {
        Wide product = term.factor;
        for (const std::int32_t atom : term.atoms) {
            product *= atoms_[static_cast<std::size_t>(atom)].at(sizes);
            if (product > most || product < -most - 1) return std::nullopt;
        }
        sum += product;
    }
    if (sum > most || sum < -most - 1) return std::nullopt;
    return static_cast<std::int64_t>(sum);
}

bool Formulas::holds(const Formula& formula, std::span<const std::int64_t> values) const {
    for (std::size_t i = 0; i < points_.size(); ++i)
        if (const auto value = at(formula, points_[i]); !value || in_dtype(*value, rounded_to_) != values[i]) return false;
    return true;
}

std::optional<Formula> Formulas::linear(std::span<const std::int64_t> values) const {
    for (std::size_t k = 0; k < varies_.size(); ++k) {
        if (!varies_[k]) continue;
        // Of a number that depends on this size alone any two points tell the slope.
        const auto other = static_cast<std::size_t>(std::ranges::find_if(points_, [&](const Sizes& p) { return p[k] != points_[0][k]; }) -
                                                    points_.begin());
        const std::int64_t run = points_[other][k] - points_[0][k], rise = values[other] - values[0];
        if (rise % run != 0) continue;
        const std::int64_t scale = rise / run, shift = values[0] - scale * points_[0][k];
        Formula formula;
        formula.terms.push_back({scale, {static_cast<std::int32_t>(k)}});
        if (shift != 0) formula.terms.push_back({shift, {}});
        if (holds(formula, values)) return formula;
    }
    return std::nullopt;
}

/// (size + shift) / divisor: what x[a:b:c] has.
std::optional<Formula> Formulas::rounded(std::span<const std::int64_t> values) {
    const auto fits = [&](const Atom& atom) {
        for (std::size_t i = 0; i < points_.size(); ++i)
            if (atom.at(points_[i]) != values[i]) return false;
        return true;
    };
    const auto formula_of = [](std::size_t atom) { return Formula{{{1, {static_cast<std::int32_t>(atom)}}}}; };
    for (std::size_t i = varies_.size(); i < atoms_.size(); ++i)
        if (fits(atoms_[i])) return formula_of(i);
    for (std::size_t k = 0; k < varies_.size(); ++k) {
        if (!varies_[k]) continue;
        for (std::int64_t divisor = 2; divisor <= most_divisor; ++divisor) {
            for (const std::int64_t scale : {std::int64_t{1}, std::int64_t{-1}}) {
                // The shift is known but for its rest.
                const std::int64_t least = divisor * values[0] - scale * points_[0][k];
                for (std::int64_t shift = least; shift < least + divisor; ++shift) {
                    const Atom atom{static_cast<std::int32_t>(k), scale, shift, divisor};
                    if (!fits(atom)) continue;
                    atoms_.push_back(atom);
                    return formula_of(atoms_.size() - 1);
                }
            }
        }
    }
    return std::nullopt;
}

/// The smaller of two sizes.
std::optional<Formula> Formulas::smaller(std::span<const std::int64_t> values) {
    for (std::size_t k = 0; k < varies_.size(); ++k) {
        for (std::size_t other = k + 1; other < varies_.size(); ++other) {
            if (!varies_[k] || !varies_[other]) continue;
            const Atom atom{static_cast<std::int32_t>(k), 1, 0, 1, static_cast<std::int32_t>(other)};
            bool fits = true;
            for (std::size_t i = 0; fits && i < points_.size(); ++i) fits = atom.at(points_[i]) == values[i];
            if (!fits) continue;
            atoms_.push_back(atom);
            return Formula{{{1, {static_cast<std::int32_t>(atoms_.size() - 1)}}}};
        }
    }
    return std::nullopt;
}

namespace {

/// An atom, and up to which power a polynomial has it.
struct Variable {
    std::int32_t atom;
    int most;
};
using Variables = std::vector<Variable>;

std::size_t monomials_of(const Variables& variables) {
    std::size_t count = 1;
    for (const Variable& v : variables) count *= static_cast<std::size_t>(v.most) + 1;
    return count;
}

/// The powers of the variables in a monomial.
std::vector<int> powers_of(const Variables& variables, std::size_t monomial) {
    std::vector<int> powers;
    for (const Variable& v : variables) {
        powers.push_back(static_cast<int>(monomial % (static_cast<std::size_t>(v.most) + 1)));
        monomial /= static_cast<std::size_t>(v.most) + 1;
    }
    return powers;
}

/// All choices of variables with few enough monomials, the simplest first.
std::vector<Variables> choices_of(const std::vector<std::int32_t>& atoms) {
    std::vector<Variables> choices{{}};
    for (const std::int32_t atom : atoms) {
        const std::size_t known = choices.size();
        for (std::size_t i = 0; i < known && choices.size() < most_choices; ++i) {
            for (int power = 1; power <= most_power; ++power) {
                Variables more = choices[i];
                more.push_back({atom, power});
                if (more.size() <= most_atoms && monomials_of(more) <= most_monomials) choices.push_back(std::move(more));
            }
        }
    }
    std::ranges::stable_sort(choices, {}, monomials_of);
    std::erase_if(choices, [](const Variables& v) { return monomials_of(v) < 3; });
    return choices;
}

std::size_t first_of(const std::vector<long double>& row) {
    return static_cast<std::size_t>(std::ranges::find_if(row, [](long double x) { return x != 0; }) - row.begin());
}

}  // namespace

std::optional<Formula> Formulas::polynomial(std::span<const std::int64_t> values) const {
    std::vector<std::int32_t> used;
    for (std::size_t a = 0; a < atoms_.size(); ++a)
        if (varies_[static_cast<std::size_t>(atoms_[a].size)]) used.push_back(static_cast<std::int32_t>(a));
    // The points with the smallest sizes: there the equations are solved exactly enough, and all points check the result.
    std::vector<std::size_t> order(points_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto large = [&](std::size_t i) { return *std::ranges::max_element(points_[i]); };
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return large(a) < large(b); });
    const auto try_with = [&](const Variables& variables) -> std::optional<Formula> {
        const std::size_t monomials = monomials_of(variables);
        std::vector<std::vector<long double>> rows;  // in echelon form
        for (const std::size_t i : order) {
            std::vector<long double> row(monomials + 1);
            for (std::size_t m = 0; m < monomials; ++m) {
                const std::vector<int> powers = powers_of(variables, m);
                row[m] = 1;
                for (std::size_t v = 0; v < variables.size(); ++v)
                    for (int p = 0; p < powers[v]; ++p)
                        row[m] *= static_cast<long double>(atoms_[static_cast<std::size_t>(variables[v].atom)].at(points_[i]));
            }
            row[monomials] = static_cast<long double>(values[i]);
            for (const auto& pivot : rows) {
                const std::size_t at = first_of(pivot);
                const long double share = row[at] / pivot[at];
                for (std::size_t m = at; m <= monomials; ++m) row[m] -= share * pivot[m];
                row[at] = 0;
            }
            long double largest = 0;
            for (std::size_t m = 0; m < monomials; ++m) {
                if (std::fabs(row[m]) < 1e-9L) row[m] = 0;
                largest = std::max(largest, std::fabs(row[m]));
            }
            if (largest == 0) continue;
            rows.push_back(std::move(row));
            std::ranges::sort(rows, {}, first_of);
            if (rows.size() == monomials) break;
        }
        if (rows.size() < monomials) return std::nullopt;
        std::vector<long double> factors(monomials);
        for (std::size_t m = monomials; m-- > 0;) {
            long double rest = rows[m][monomials];
            for (std::size_t n = m + 1; n < monomials; ++n) rest -= rows[m][n] * factors[n];
            factors[m] = std::round(rest / rows[m][m]);
            if (!(std::fabs(factors[m]) < 1e15L)) return std::nullopt;
        }
        Formula formula;
        for (std::size_t m = monomials; m-- > 0;) {
            if (factors[m] == 0) continue;
            Formula::Term term{static_cast<std::int64_t>(factors[m]), {}};
            const std::vector<int> powers = powers_of(variables, m);
            for (std::size_t v = 0; v < variables.size(); ++v)
                term.atoms.insert(term.atoms.end(), static_cast<std::size_t>(powers[v]), variables[v].atom);
            formula.terms.push_back(std::move(term));
        }
        return holds(formula, values) ? std::optional(formula) : std::nullopt;
    };
    for (const Variables& choice : choices_of(used))
        if (std::optional<Formula> formula = try_with(choice)) return formula;
    return std::nullopt;
}

std::optional<Formula> Formulas::find(std::span<const std::int64_t> values, DType rounded_to) {
    rounded_to_ = rounded_to;
    if (std::ranges::all_of(values, [&](std::int64_t v) { return v == values[0]; }))
        return values[0] == 0 ? Formula{} : Formula{{{values[0], {}}}};
    if (auto formula = linear(values)) return formula;
    if (auto formula = rounded(values)) return formula;
    if (auto formula = smaller(values)) return formula;
    return polynomial(values);
}

double in_dtype(double number, DType dtype) { return Scalar(number).cast(dtype).as_double(); }
bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

std::optional<double> Formulas::at(const RealFormula& formula, const Sizes& sizes) const {
    if (formula.kind == saved::Real::Kind::Literal) return formula.literal;
    const std::optional<std::int64_t> of = at(formula.of, sizes);
    if (!of) return std::nullopt;
    return saved::Real{formula.kind, formula.literal, {*of, -1}}.in({});
}

bool Formulas::holds(const RealFormula& formula, std::span<const double> values, DType rounded_to) const {
    for (std::size_t i = 0; i < points_.size(); ++i) {
        const std::optional<double> there = at(formula, points_[i]);
        if (!there || !same_bits(in_dtype(*there, rounded_to), values[i])) return false;
    }
    return true;
}

/// literal * (size + shift), literal / (size + shift): two points tell both.
std::optional<RealFormula> Formulas::of_one_size(std::span<const double> values, DType rounded_to) const {
    using Kind = saved::Real::Kind;
    for (std::size_t k = 0; k < varies_.size(); ++k) {
        if (!varies_[k]) continue;
        const auto other = static_cast<std::size_t>(std::ranges::find_if(points_, [&](const Sizes& p) { return p[k] != points_[0][k]; }) -
                                                    points_.begin());
        const auto a = static_cast<double>(points_[0][k]), b = static_cast<double>(points_[other][k]);
        const double v = values[0], w = values[other];
        for (const Kind kind : {Kind::Product, Kind::Quotient}) {
            const double shift = std::round(kind == Kind::Product ? (w * a - v * b) / (v - w) : (w * b - v * a) / (v - w));
            if (!(std::fabs(shift) < 0x1p53)) continue;
            const double near = kind == Kind::Product ? v / (a + shift) : v * (a + shift);
            for (const double literal :
                 {near, in_dtype(near, DType::Float32), std::nextafter(near, HUGE_VAL), std::nextafter(near, -HUGE_VAL)}) {
                RealFormula formula{kind, literal, {{{1, {static_cast<std::int32_t>(k)}}}}};
                if (shift != 0) formula.of.terms.push_back({static_cast<std::int64_t>(shift), {}});
                if (holds(formula, values, rounded_to)) return formula;
            }
        }
    }
    return std::nullopt;
}

std::optional<RealFormula> Formulas::find_real(std::span<const double> values, DType rounded_to) {
    using Kind = saved::Real::Kind;
    if (std::ranges::all_of(values, [&](double v) { return same_bits(v, values[0]); })) return RealFormula{Kind::Literal, values[0], {}};
    for (const Kind kind : {Kind::Product, Kind::Quotient, Kind::RootReciprocal}) {
        std::vector<std::int64_t> of;
        for (const double v : values) {
            const double number = kind == Kind::Product ? v : kind == Kind::Quotient ? 1 / v : 1 / (v * v);
            if (!(std::fabs(number) < 0x1p62)) break;
            of.push_back(std::llround(number));
            if (!same_bits(saved::Real{kind, 1, {of.back(), -1}}.in({}), v)) break;
        }
        if (of.size() < values.size()) continue;
        const std::optional<Formula> formula = find(of, kind == Kind::Product ? rounded_to : DType::Int64);
        if (!formula) continue;
        const RealFormula found{kind, 1, *formula};
        if (holds(found, values, rounded_to)) return found;
    }
    for (const Kind kind : {Kind::Root, Kind::RootReciprocal}) {
        for (std::size_t k = 0; k < varies_.size(); ++k) {
            const RealFormula found{kind, 1, {{{1, {static_cast<std::int32_t>(k)}}}}};
            if (varies_[k] && holds(found, values, rounded_to)) return found;
        }
    }
    return of_one_size(values, rounded_to);
}

}  // namespace pardo::saving
