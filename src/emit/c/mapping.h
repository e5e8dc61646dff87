// src/emit/c/mapping.h: the kernel function: which items there are, and how they lie over the items and groups of the language.
#pragma once

#include <string>

#include "emit/c/helpers.h"
#include "emit/c/source.h"

namespace pardo::emit {

/// Calls the item's function, whose helpers are known by now.
std::string kernel_function(const CSource& source, const CHelpers& helpers);
/// All lines, so many levels deeper; directives stay where they are.
std::string indented(const std::string& text, int by);

}  // namespace pardo::emit
