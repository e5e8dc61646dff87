// src/emit/c/signature.h: what the kernel's function and the item's take, and what the one gives the other.
#pragma once

#include <string>

#include "emit/c/helpers.h"
#include "emit/c/source.h"

namespace pardo::emit {

/// The kernel function's name: that of a user's kernel may be a function of the language, those that the array engine gives never are.
std::string entry_name(const ir::Kernel& kernel);
/// CText::params.
std::string parameter_letters(const CSource& source);
/// Of the kernel's function, which may get its pointers in two parts.
std::string kernel_parameters(const CSource& source);
/// Of the function of one item, and of that of its early loads.
std::string item_parameters(const CSource& source, const CHelpers& helpers);
/// What the kernel's function calls these with.
std::string item_arguments(const CSource& source, const CHelpers& helpers);

}  // namespace pardo::emit
