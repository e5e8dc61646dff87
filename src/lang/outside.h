// src/lang/outside.h: numbers from outside of functions that changed: arguments of the kernel, unless the program depends on their values.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <pardo/binding/syntax.h>

namespace pardo::lang {

using OutsideNumber = std::shared_ptr<const syntax::Outside>;
/// Those that are constants of a program, and their values.
using FixedNumbers = std::vector<std::pair<OutsideNumber, Scalar>>;

/// The value of one that is fixed; null for others.
const Scalar* fixed_value(const FixedNumbers& fixed, const syntax::Outside* number);
/// Whether a function, or one that it calls, has any.
bool has_outside(const syntax::Function& function);
/// The function, and what it calls, with plain numbers in place of those that are fixed; itself where there are none.
std::shared_ptr<const syntax::Function> with_fixed(const std::shared_ptr<const syntax::Function>& function, const FixedNumbers& fixed);

}  // namespace pardo::lang
