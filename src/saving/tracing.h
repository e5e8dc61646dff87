// src/saving/tracing.h: how the numbers of a step, or of a regime, follow from the sizes.
#pragma once

#include <algorithm>
#include <utility>

#include "saving/run.h"

namespace pardo::saving {

/// A trace over the sizes, to which the formulas of some numbers are known.
class Run::Tracing {
    using Size = plan::Size;
    using Trace = plan::Trace;

public:
    Tracing(const Sizes& sizes, const KnownNumbers& known) : known_(known), trace_(sizes, Trace::Any()) {
        for (std::size_t k = 0; k < sizes.size(); ++k) given_.push_back(Trace::number(sizes[k], static_cast<std::int32_t>(k)));
    }

    /// The size that the number at a place is; the planner may be given it from now on.
    Size know(std::size_t at) { return size_of(known_.of[at]); }
    Size size_of(const Formula& formula) {
        const auto same = std::ranges::find(made_, formula, &std::pair<Formula, Size>::first);
        if (same != made_.end()) return same->second;
        Size sum = 0;
        for (const Formula::Term& term : formula.terms) {
            Size product = 1;
            for (const std::int32_t atom : term.atoms)
                product = product * size_of(known_.formulas->atoms()[static_cast<std::size_t>(atom)]);
            sum = sum + (term.factor == 1 ? product : product * Size(term.factor));
        }
        trace_.know(sum);
        made_.emplace_back(formula, sum);
        return sum;
    }
    saved::Number number(Size size) {
        return size.literal() ? saved::Number{size.value(), -1} : saved::Number{size.value(), trace_.expression(size)};
    }
    saved::Number number_at(std::size_t at) { return number(know(at)); }
    saved::Real real_at(std::size_t at) {
        const RealFormula& formula = known_.reals[at];
        if (formula.kind == saved::Real::Kind::Literal) return {formula.kind, formula.literal, {}};
        return {formula.kind, formula.literal, number(size_of(formula.of))};
    }

    /// What is left; false where it holds for these sizes alone.
    bool take(Sizing& sizing) {
        if (!trace_.adaptable()) return false;
        sizing = trace_.take();
        return true;
    }

private:
    Size size_of(const Atom& a) const {
        Size value = given_[static_cast<std::size_t>(a.size)];
        if (a.other >= 0) return min(value, given_[static_cast<std::size_t>(a.other)]);
        if (a.scale != 1) value = value * Size(a.scale);
        if (a.shift != 0) value = value + Size(a.shift);
        if (a.divisor == 1) return value;
        // Rounded towards minus infinity, of what may be negative: without a rest that is not negative.
        const Size d(a.divisor), rest = ((value % d) + d) % d;
        return (value - rest) / d;
    }
    const KnownNumbers& known_;
    Trace trace_;
    std::vector<Size> given_;
    std::vector<std::pair<Formula, Size>> made_;
};

}  // namespace pardo::saving
