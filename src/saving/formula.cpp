// src/saving/formula.cpp: constants, sizes and their multiples, rounded quotients, and sums of products of these.
#include "saving/formula.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pardo::saving {
namespace {

constexpr std::int64_t most_divisor = 64;
constexpr std::size_t most_atoms = 4;  // of one polynomial: 16 products
__extension__ using Wide = __int128;

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

std::int64_t in_dtype(std::int64_t number, DType dtype) {
    return is_float(dtype) ? static_cast<std::int64_t>(Scalar(number).cast(dtype).as_double()) : number;
}

std::int64_t Atom::at(const Sizes& sizes) const { return floor_divide(scale * sizes[static_cast<std::size_t>(size)] + shift, divisor); }

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
            if (product > most || product < -most) return std::nullopt;
        }
        sum += product;
    }
    if (sum > most || sum < -most) return std::nullopt;
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
        const auto along = [&](const Sizes& p) {  // another point on the line of this size
            for (std::size_t i = 0; i < p.size(); ++i)
                if ((p[i] != points_[0][i]) != (i == k)) return false;
            return true;
        };
        const auto found = std::ranges::find_if(points_, along);
        if (found == points_.end()) continue;
        const auto other = static_cast<std::size_t>(found - points_.begin());
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

std::optional<Formula> Formulas::polynomial(std::span<const std::int64_t> values) const {
    std::vector<std::int32_t> used;
    for (std::size_t a = 0; a < atoms_.size(); ++a)
        if (varies_[static_cast<std::size_t>(atoms_[a].size)]) used.push_back(static_cast<std::int32_t>(a));
    const auto try_with = [&](const std::vector<std::int32_t>& atoms) -> std::optional<Formula> {
        const std::size_t monomials = std::size_t{1} << atoms.size();
        // The points with the smallest sizes: there the equations are solved exactly enough, and all points check the result.
        std::vector<std::size_t> order(points_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        const auto large = [&](std::size_t i) { return *std::ranges::max_element(points_[i]); };
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return large(a) < large(b); });
        std::vector<std::vector<long double>> rows;  // in echelon form
        for (const std::size_t i : order) {
            std::vector<long double> row(monomials + 1);
            for (std::size_t m = 0; m < monomials; ++m) {
                row[m] = 1;
                for (std::size_t a = 0; a < atoms.size(); ++a)
                    if (m >> a & 1) row[m] *= static_cast<long double>(atoms_[static_cast<std::size_t>(atoms[a])].at(points_[i]));
            }
            row[monomials] = static_cast<long double>(values[i]);
            for (const auto& pivot : rows) {
                const auto at = static_cast<std::size_t>(std::ranges::find_if(pivot, [](long double x) { return x != 0; }) - pivot.begin());
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
            std::ranges::sort(rows, [](const auto& a, const auto& b) {
                const auto first = [](const auto& r) { return std::ranges::find_if(r, [](long double x) { return x != 0; }) - r.begin(); };
                return first(a) < first(b);
            });
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
            for (std::size_t a = 0; a < atoms.size(); ++a)
                if (m >> a & 1) term.atoms.push_back(atoms[a]);
            formula.terms.push_back(std::move(term));
        }
        return holds(formula, values) ? std::optional(formula) : std::nullopt;
    };
    // Few atoms first; no product takes two atoms of one size before it takes each once.
    std::vector<std::vector<std::int32_t>> choices{{}};
    for (const std::int32_t atom : used) {
        const std::size_t known = choices.size();
        for (std::size_t i = 0; i < known; ++i) {
            if (choices[i].size() == most_atoms) continue;
            std::vector<std::int32_t> more = choices[i];
            more.push_back(atom);
            choices.push_back(std::move(more));
        }
        if (choices.size() > 512) break;
    }
    std::ranges::stable_sort(choices, [](const auto& a, const auto& b) { return a.size() < b.size(); });
    for (const auto& choice : choices) {
        if (choice.size() < 2) continue;
        if (std::optional<Formula> formula = try_with(choice)) return formula;
    }
    return std::nullopt;
}

std::optional<Formula> Formulas::find(std::span<const std::int64_t> values, DType rounded_to) {
    rounded_to_ = rounded_to;
    if (std::ranges::all_of(values, [&](std::int64_t v) { return v == values[0]; }))
        return values[0] == 0 ? Formula{} : Formula{{{values[0], {}}}};
    if (auto formula = linear(values)) return formula;
    if (auto formula = rounded(values)) return formula;
    return polynomial(values);
}

}  // namespace pardo::saving
