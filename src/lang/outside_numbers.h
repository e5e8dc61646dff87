// src/lang/outside_numbers.h: numbers from outside of the function that is walked: constants of its program, or arguments behind the
// others.
#pragma once

#include <vector>

#include "ir/builder.h"
#include "lang/lower.h"

namespace pardo::lang {

class OutsideNumbers {
public:
    /// `arguments`: how many others there are; `use`: null where all of them are constants.
    OutsideNumbers(OutsideUse* use, std::size_t arguments, const Options& options)
        : use_(use), arguments_(arguments), fp64_(options.fp64), small_(options.small_outside) {}

    /// What one is: an argument, unless the program depends on its value.
    TypedExpr expression(const OutsideNumber& number);
    /// Makes parameters of those that the first walk has met.
    void declare(ir::Builder& builder, std::vector<Slot>& slots);
    /// The arguments, in their order.
    const std::vector<OutsideNumber>& met() const { return met_; }

private:
    OutsideUse* use_;
    std::size_t arguments_;
    bool fp64_, small_;  // Python integers from outside have fewer than 32 bits
    std::vector<OutsideNumber> met_;
    std::vector<TypedExpr> parameters_;  // in the walk that builds, one for each
};

}  // namespace pardo::lang
