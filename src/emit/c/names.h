// src/emit/c/names.h: names for the text, of names that users give.
#pragma once

#include <string>
#include <vector>

#include "emit/c/target.h"
#include "ir/ir.h"

namespace pardo::emit {

/// A name for the text, of a name that a user gave.
std::string c_identifier(const std::string& name);

/// One a parameter, one an array.
struct CNames {
    std::vector<std::string> params, arrays;
};

/// The kernel's own names, where the program has no other use for them. `loads`: the program has a function of early loads.
CNames choose_names(const ir::Kernel& kernel, const CFeatures& features, bool loads);

}  // namespace pardo::emit
