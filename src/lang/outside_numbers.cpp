// src/lang/outside_numbers.cpp: which numbers from outside are arguments, and what is known of them.
#include "lang/outside_numbers.h"

#include <algorithm>

namespace pardo::lang {

TypedExpr OutsideNumbers::expression(const OutsideNumber& number) {
    if (!use_) return lang::number(number->value());
    if (const Scalar* fixed = fixed_value(use_->fixed, number.get())) return lang::number(*fixed);
    const auto found = std::ranges::find(met_, number);
    const auto k = static_cast<std::size_t>(found - met_.begin());
    if (found == met_.end()) {
        met_.push_back(number);
        use_->met.push_back(number);
    }
    if (!fp64_ && !number->weak && (number->dtype == DType::Float64 || number->dtype == DType::Complex128))
        throw Error(ErrorCode::Type, "the device has no " + std::string(dtype_name(number->dtype)));
    TypedExpr n = k < parameters_.size() ? parameters_[k] : lang::number({number->dtype, number->weak}, ir::no_value);
    if (number->weak && is_integer(number->dtype)) n.number().argument = static_cast<int>(arguments_ + k);
    n.number().given = n.number().argument >= 0;
    if (small_ && n.number().argument >= 0 && number->dtype == DType::Int64) {
        n.number().assumed = true;
        n.number().most = (std::int64_t{1} << assumed_bits) - 1;
        n.number().least = -n.number().most;
        n.number().bits = assumed_bits;
    }
    return n;
}

void OutsideNumbers::declare(ir::Builder& builder, std::vector<Slot>& slots) {
    for (std::size_t k = 0; k < met_.size(); ++k) {
        const NumberType type{met_[k]->dtype, met_[k]->weak};
        const DType dtype = type.weak ? weak_dtype(type.dtype, fp64_) : type.dtype;
        parameters_.push_back(number(type, builder.scalar_param(met_[k]->name, dtype)));
        slots.push_back({Slot::Kind::Number, static_cast<int>(arguments_ + k), 0});
    }
}

}  // namespace pardo::lang
