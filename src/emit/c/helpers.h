// src/emit/c/helpers.h: functions that C-family languages lack, as text; a program holds those that it calls.
#pragma once

#include <string>
#include <vector>

#include "base/short_name.h"
#include "emit/c/target.h"
#include "ir/ir.h"

namespace pardo::emit {

/// Collects the helpers of one program.
class CHelpers {
public:
    explicit CHelpers(const CFeatures& features) : features_(features), target_(*features.target) {}
    /// The name of helper `row` for a dtype, as "pardo_floor_divide_i32"; its text joins the program.
    std::string use(const std::string& row, DType dtype);
    /// The float that bits of a narrow dtype stand for, and the bits of what a float or double is rounded to.
    std::string of_bits(DType dtype, const std::string& bits);
    std::string to_bits(DType dtype, DType from, const std::string& number);
    /// A call of the reduction of `value` over a team, which goes through an array of `exchanged()`.
    std::string use_team(const std::string& combine, DType dtype, int team, const std::string& value);
    /// An atomic operation on a float by compare-and-exchange; the function takes (pointer, value) and gives what was there before.
    /// `group`: in memory that a group shares. `suffix`: of the language's function.
    std::string use_float_atomic(ir::AtomicOp op, DType dtype, bool group, const std::string& suffix);
    const std::string& text() const { return text_; }
    /// True once a helper lets the items of a sub-group exchange values.
    bool shuffles() const { return shuffles_; }
    /// The dtypes that teams exchange: each has an array of the group, "shared_f32".
    const std::vector<DType>& exchanged() const { return exchanged_; }

private:
    bool add(const std::string& name);
    std::string filled(std::string text, DType dtype) const;
    std::string combined(const std::string& combine, DType dtype, const std::string& a, const std::string& b);
    std::string team_function(const std::string& combine, DType dtype, int team);

    const CFeatures& features_;
    const CTarget& target_;
    std::vector<std::string> names_;
    std::string text_;
    bool shuffles_ = false;
    std::vector<DType> exchanged_;
};

}  // namespace pardo::emit
